/* code_batch.c - forward dynamics of several states at a time in generated C, in double.
 *
 * The statements of one state, on vectors (an extension that gcc and clang share, within #if): number k of
 * state i stands at [k][i]. Other compilers, and mechanisms whose equations hold functions other than sines
 * and cosines of joints' angles, get a loop over the function of one state.
 */
#include "export/code/code_files.h"

#include <string.h>

void code_print_batch_header(const code_plan *plan, FILE *file) {
    const lw_model *model = plan->dynamics;
    const int w = plan->options.batch;
    const char *n = plan->name, *u = plan->upper;
    const struct {
        const char *name, *size;
        int count;
    } members[] = {{"q", "Q", model->nq},
                   {"v", "V", model->nv},
                   {"inputs", "INPUTS", model->values.input_count},
                   {"states", "STATES", model->values.state_count}};
    fprintf(
        file,
        "\n/* %d states at a time: number k of state i at [k][i]. SINGULAR: of one of them an acceleration\n"
        " * is not finite. */\ntypedef struct %s_states {\n    double t[%d];\n",
        w, n, w);
    for (size_t k = 0; k < sizeof members / sizeof *members; k++)
        if (members[k].count)
            fprintf(file, "    double %s[%s_%s][%d];\n", members[k].name, u, members[k].size, w);
    fprintf(
        file,
        "} %s_states;\nint %s_forward_batch(const %s_states *restrict s, const double (*restrict tau)[%d],\n"
        "    double (*restrict vdot)[%d], %s_workspace *restrict w);\n",
        n, n, n, w, w, n);
}

static void print_loop(const code_plan *plan, FILE *file) {
    const lw_model *model = plan->dynamics;
    const char *n = plan->name;
    fprintf(
        file,
        "int %s_forward_batch(const %s_states *restrict s, const double (*restrict tau)[%d], double "
        "(*restrict vdot)[%d], %s_workspace *restrict w) {\n"
        "    int i, k;\n    for (i = 0; i < %d; i++) {\n        int status;\n        w->one.t = s->t[i];\n",
        n, n, plan->options.batch, plan->options.batch, n, plan->options.batch);
    fprintf(file, "        for (k = 0; k < %d; k++) w->one.q[k] = s->q[k][i];\n", model->nq);
    fprintf(file, "        for (k = 0; k < %d; k++) w->one.v[k] = s->v[k][i], w->part[0][k] = tau[k][i];\n",
            model->nv);
    if (model->values.input_count)
        fprintf(file, "        for (k = 0; k < %d; k++) w->one.inputs[k] = s->inputs[k][i];\n",
                model->values.input_count);
    if (model->values.state_count)
        fprintf(file, "        for (k = 0; k < %d; k++) w->one.states[k] = s->states[k][i];\n",
                model->values.state_count);
    fprintf(file,
            "        status = %s_forward(&w->one, w->part[0], w->part[1], w);\n"
            "        if (status) return status;\n"
            "        for (k = 0; k < %d; k++) vdot[k][i] = w->part[1][k];\n    }\n    return %s_OK;\n}\n",
            n, model->nv, plan->upper);
}

void code_print_batch(code_plan *plan, FILE *file) {
    const int w = plan->options.batch, nv = plan->dynamics->nv;
    code_routine vector = plan->routines[CODE_FORWARD];
    char parameters[160], type[96];
    if (!code_routine_is_arithmetic(&plan->graph, &vector)) {
        print_loop(plan, file);
        return;
    }
    fprintf(file,
            "#if defined(__GNUC__)\n"
            "typedef double %s_vector __attribute__((vector_size(%d), aligned(8), may_alias));\n"
            "#define %s_FROM(x) (*(const %s_vector *)(x))\n#define %s_TO(x) (*(%s_vector *)(x))\n\n",
            plan->name, 8 * w, plan->upper, plan->name, plan->upper, plan->name);
    (void)snprintf(parameters, sizeof parameters,
                   "const double (*restrict tau)[%d], double (*restrict vdot)[%d], ", w, w);
    (void)snprintf(type, sizeof type, "%s_vector", plan->name);
    code_writer writer = code_writer_for(plan, file);
    writer.lanes = w;
    writer.real = type;
    vector.parameters = parameters;
    vector.name = "forward_vector";
    vector.pivot_count = 0; /* what is not finite shows in the results */
    code_print_routine(&writer, &vector);
    plan->batch_kept = vector.kept;
    fprintf(file,
            "int %s_forward_batch(const %s_states *restrict s, const double (*restrict tau)[%d], double "
            "(*restrict vdot)[%d], %s_workspace *restrict w) {\n"
            "    const int status = %s_forward_vector_batch(s, tau, vdot, w);\n    double sum = 0.0;\n    "
            "int i, k;\n"
            "    for (k = 0; k < %d; k++)\n        for (i = 0; i < %d; i++) sum += vdot[k][i] - vdot[k][i];\n"
            "    if (!(sum >= 0.0)) return %s_SINGULAR;\n    return status;\n}\n#else\n",
            plan->name, plan->name, w, w, plan->name, plan->name, nv, w, plan->upper);
    print_loop(plan, file);
    fprintf(file, "#endif\n");
}
