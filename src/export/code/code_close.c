/* code_close.c - NAME_close of generated C: a state back onto the closures, in a fixed number of Newton
 * steps, and what is left, measured.
 *
 * A step is the smallest motion in the metric of the masses that takes the rows away to first order
 * (generated-c.md, 10). From the drift of a step of integration two rounds are usual; velocities, which are
 * linear, take one.
 */
#include "export/code/code_files.h"

enum { ROUNDS = 5 };

void code_print_unit(const code_plan *plan, const code_writer *w) {
    const lw_model *model = plan->dynamics;
    const char *real = w->real;
    FILE *file = w->file;
    fprintf(file, "static void %s_unit(%s *q) {\n    (void)q;\n", plan->name, real);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const int at = lw_joint_quaternion(link->joint.type);
        if (at < 0) continue;
        const int q = link->q + at;
        fprintf(
            file,
            "    {\n        const %s n = %s(q[%d] * q[%d] + q[%d] * q[%d] + q[%d] * q[%d] + q[%d] * q[%d]);\n"
            "        int k;\n        for (k = %d; k < %d; k++) q[k] /= n;\n    }\n",
            real, w->single ? "sqrtf" : "sqrt", q, q, q + 1, q + 1, q + 2, q + 2, q + 3, q + 3, q, q + 4);
    }
    fprintf(file, "}\n\n");
}

void code_print_close_members(const code_plan *plan, FILE *file, const char *real) {
    const lw_model *model = plan->dynamics;
    const int rows = plan->rows.count, moves = model->nq > model->nv ? model->nq : model->nv;
    fprintf(
        file,
        "    %s_state closing;\n    %s move[%d], gap[%d];\n    %s residual; /* of steps: what is open */\n",
        plan->name, real, moves > 0 ? moves : 1, rows > 0 ? rows : 1, real);
}

void code_print_close_header(const code_plan *plan, FILE *file, const char *real) {
    const char *n = plan->name, *u = plan->upper;
    fprintf(
        file,
        "\n/* Closes the loops: positions by at most %d Newton steps from where they are, each the smallest "
        "in\n"
        " * the metric of the masses, then speeds. residual: what stays open of the worst of all %d rows of\n"
        " * closures and constraints, in rad, or in lengths of the longest arm. %d rows are independent. "
        "The\n"
        " * state is as it was, and OPEN is returned, if that is more than %s. */\n"
        "int %s_close(%s_state *s, %s *residual, %s_workspace *w);\n",
        ROUNDS, plan->rows.count, plan->rows.rank, plan->options.single ? "1e-4" : "1e-9", n, n, real, n);
    (void)u;
}

void code_print_close(const code_plan *plan, const code_writer *w) {
    const lw_model *model = plan->dynamics;
    const char *n = plan->name, *u = plan->upper, *real = w->real;
    FILE *file = w->file;
    fprintf(file,
            "int %s_close(%s_state *s, %s *residual, %s_workspace *w) {\n"
            "    %s open = %s;\n    int round, k, status;\n    w->closing = *s;\n"
            "    for (round = 0;; round++) {\n"
            "        status = %s_close_positions(&w->closing, w->move, w->gap, w);\n"
            "        if (status != %s_OK) return status;\n        open = %s;\n"
            "        for (k = 0; k < %d; k++) {\n"
            "            const %s off = w->gap[k] < %s ? -w->gap[k] : w->gap[k];\n"
            "            if (!(off <= open)) open = off;\n        }\n"
            "        if (open <= %s || round == %d) break;\n"
            "        for (k = 0; k < %d; k++) w->closing.q[k] += w->move[k];\n"
            "        %s_unit(w->closing.q);\n    }\n    *residual = open;\n"
            "    if (!(open <= %s)) return %s_OPEN;\n",
            n, n, real, n, real, w->single ? "0.0f" : "0.0", n, u, w->single ? "0.0f" : "0.0",
            plan->rows.count, real, w->single ? "0.0f" : "0.0", w->single ? "2e-6f" : "4e-14", ROUNDS,
            model->nq, n, w->single ? "1e-4f" : "1e-9", u);
    fprintf(file,
            "    status = %s_close_velocities(&w->closing, w->move, w);\n    if (status != %s_OK) return "
            "status;\n"
            "    for (k = 0; k < %d; k++) w->closing.v[k] += w->move[k];\n"
            "    *s = w->closing;\n    return %s_OK;\n}\n\n",
            n, u, model->nv, u);
}
