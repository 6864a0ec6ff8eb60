/* code_files.c - NAME.h and NAME.c of generated C: types, sizes, start, routines (docs/generated-c.md).
 */
#include "export/code/code_files.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

void code_identifier(const char *name, char *out, size_t size) {
    size_t length = 0;
    for (const char *c = name; *c && length + 1 < size; c++) {
        if (isalnum((unsigned char)*c))
            out[length++] = (char)tolower((unsigned char)*c);
        else if (length > 0 && out[length - 1] != '_')
            out[length++] = '_';
    }
    while (length > 0 && out[length - 1] == '_') length--;
    out[length] = '\0';
}

FILE *code_open(const code_plan *plan, const char *folder, const char *ending, char path[4096],
                lw_error *error) {
    FILE *file = NULL;
    const int size = snprintf(path, 4096, "%s/%s%s", folder, plan->name, ending);
    if (size > 0 && size < 4096) file = fopen(path, "w");
    if (!file)
        (void)lw_fail(error, LW_ERROR_FILE, path, "give a folder in which files may be written",
                      "the file cannot be written: %s", strerror(errno));
    return file;
}

lw_status code_close(FILE *file, const char *path, lw_error *error) {
    const bool good = !ferror(file);
    if (fclose(file) == 0 && good) return LW_OK;
    return lw_fail(error, LW_ERROR_FILE, path, "look whether the disk is full", "the file cannot be written");
}

code_writer code_writer_for(code_plan *plan, FILE *file) {
    return (code_writer){.file = file,
                         .g = &plan->graph,
                         .prefix = plan->name,
                         .upper = plan->upper,
                         .real = plan->options.single ? "float" : "double",
                         .single = plan->options.single,
                         .lanes = 1};
}

/* A text of the model within a comment. */
static void print_text(FILE *file, const char *text) {
    for (const char *c = text ? text : ""; *c; c++) {
        if (c[0] == '*' && c[1] == '/') continue;
        fputc((unsigned char)*c < ' ' ? ' ' : *c, file);
    }
}

static void print_origin(const code_plan *plan, FILE *file, const char *ending, const char *what) {
    fprintf(file, "/* %s%s - %s\n *\n * Model      ", plan->name, ending, what);
    print_text(file, plan->model->name);
    fprintf(file, "\n * Hash       %016llx\n * Made by    Linkwork " LW_VERSION "\n",
            (unsigned long long)plan->model->kept.fingerprint);
}

static const char *const titles[CODE_ROUTINES] = {
    "forward dynamics", "inverse dynamics",  "mass matrix",   "kinematics", "rates",
    "derivatives",      "closing positions", "closing speeds"};

static void print_costs(const code_plan *plan, FILE *file) {
    for (int k = 0; k < CODE_ROUTINES; k++) {
        const code_routine *r = &plan->routines[k];
        if (!plan->wanted[k]) continue;
        fprintf(file, " * %-17s  %d flops: %d additions, %d multiplications, %d divisions; %d functions\n",
                titles[k], r->additions + r->multiplications + r->divisions, r->additions, r->multiplications,
                r->divisions, r->functions);
    }
}

/* The names of bodies, coordinates and speeds, in order. */
static void print_layout(const code_plan *plan, FILE *file) {
    const lw_model *model = plan->model;
    fprintf(file, "\n/* Coordinates q and speeds v of joints:\n");
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        if (info->cut || info->v_count == 0) continue;
        fprintf(file, " *   ");
        print_text(file, model->joints[j].name);
        fprintf(file, ": q[%d] .. q[%d], v[%d] .. v[%d] (%s%s)\n", info->q, info->q + info->q_count - 1,
                info->v, info->v + info->v_count - 1, lw_joint_describe(info->type)->name,
                info->prescribed ? ", prescribed" : "");
    }
    fprintf(file, " * Angles are in rad, lengths in m, quaternions are w, x, y, z. */\n");
}

static void print_member(FILE *file, const char *real, const char *name, const char *upper, const char *size,
                         int count, const char *comment) {
    if (count > 0) fprintf(file, "    %s %s[%s_%s]; /* %s */\n", real, name, upper, size, comment);
}

lw_status code_write_header(code_plan *plan, const char *folder, lw_error *error) {
    const lw_model *model = plan->dynamics;
    const char *n = plan->name, *u = plan->upper, *real = plan->options.single ? "float" : "double";
    char path[4096];
    FILE *file = code_open(plan, folder, ".h", path, error);
    if (!file) return LW_ERROR_FILE;
    print_origin(plan, file, ".h", "the equations of motion of one mechanism, in C99");
    print_costs(plan, file);
    fprintf(file,
            " *\n * Generated: changes belong into the model. Nothing but libm is needed; no function\n"
            " * allocates, recurs or keeps anything but in its workspace. Arrays must not overlap.\n */\n");
    fprintf(file,
            "#ifndef %s_H\n#define %s_H\n\n#ifdef __cplusplus\nextern \"C\" {\n#define restrict\n#endif\n", u,
            u);
    print_layout(plan, file);
    fprintf(file, "\nenum {\n    %s_Q = %d,\n    %s_V = %d,\n    %s_INPUTS = %d,\n    %s_STATES = %d,\n", u,
            model->nq, u, model->nv, u, model->values.input_count, u, model->values.state_count);
    fprintf(file, "    %s_BODIES = %d\n};\n\n", u, plan->model->body_count + 1);
    fprintf(file,
            "/* What functions return: OK, or the state has an inertia that is zero or not a number%s. */\n",
            plan->loops ? ", or\n * rows of loops that depend on each other there; OPEN: a loop stays open"
                        : "");
    fprintf(file, "enum { %s_OK = 0, %s_SINGULAR = 1, %s_NOT_FINITE = 2%s%s%s };\n\n", u, u, u,
            plan->loops ? ", " : "", plan->loops ? u : "", plan->loops ? "_OPEN = 3" : "");
    fprintf(file, "typedef struct %s_state {\n    %s t;\n", n, real);
    print_member(file, real, "q", u, "Q", model->nq, "coordinates");
    print_member(file, real, "v", u, "V", model->nv, "speeds");
    print_member(file, real, "inputs", u, "INPUTS", model->values.input_count, "inputs of the model");
    print_member(file, real, "states", u, "STATES", model->values.state_count, "states of the user");
    fprintf(file, "} %s_state;\n\n", n);
    int kept = 1;
    for (int k = 0; k < CODE_ROUTINES; k++)
        if (plan->wanted[k] && plan->routines[k].kept > kept) kept = plan->routines[k].kept;
    fprintf(file,
            "/* What functions keep while they run; one for each thread. */\n"
            "typedef struct %s_workspace {\n    %s x[%d];\n",
            n, real, kept);
    if (plan->step) code_print_step_members(plan, file);
    if (plan->wanted[CODE_CLOSE_Q]) code_print_close_members(plan, file, real);
    if (plan->step || plan->wanted[CODE_GRADIENTS])
        fprintf(file, "    %s vdot[%d];\n", real, model->nv > 0 ? model->nv : 1);
    if (plan->wanted[CODE_GRADIENTS]) fprintf(file, "    %s mass[%d];\n", real, model->nv * model->nv);
    if (plan->options.batch)
        fprintf(file, "    double lanes[%d][%d]; /* of batches */\n    %s_state one;\n",
                plan->batch_kept > 1 ? plan->batch_kept : 1, plan->options.batch, n);
    if (plan->options.batch) fprintf(file, "    double part[2][%d];\n", model->nv > 0 ? model->nv : 1);
    fprintf(file, "} %s_workspace;\n\n", n);
    fprintf(file,
            "/* The initial state of the model: coordinates, speeds, inputs, states. */\nvoid "
            "%s_start(%s_state *s);\n",
            n, n);
    if (plan->wanted[CODE_FORWARD])
        fprintf(file,
                "\n/* vdot from the state and additional forces tau at the speeds; all elements of the model "
                "act. */\n"
                "int %s_forward(const %s_state *restrict s, const %s *restrict tau, %s *restrict vdot, "
                "%s_workspace *restrict w);\n",
                n, n, real, real, n);
    if (plan->wanted[CODE_INVERSE])
        fprintf(file,
                "\n/* The additional forces tau with which the mechanism accelerates by vdot. At prescribed "
                "speeds\n"
                " * vdot is that of the motion, and tau what drives it. */\n"
                "int %s_inverse(const %s_state *restrict s, const %s *restrict vdot, %s *restrict tau, "
                "%s_workspace *restrict w);\n",
                n, n, real, real, n);
    if (plan->wanted[CODE_MASS_MATRIX])
        fprintf(
            file,
            "\n/* The mass matrix, %s_V x %s_V, row by row. */\n"
            "int %s_mass_matrix(const %s_state *restrict s, %s *restrict mass, %s_workspace *restrict w);\n",
            u, u, n, n, real, n);
    if (plan->wanted[CODE_KINEMATICS]) {
        fprintf(file, "\n/* Place and motion of a body's frame in the world; rotation row by row. Bodies:\n");
        for (int k = 0; k <= plan->model->body_count; k++) {
            fprintf(file, " *   %d ", k);
            print_text(file, plan->model->bodies[k].name);
            fputc('\n', file);
        }
        fprintf(file,
                " */\ntypedef struct %s_body {\n    %s position[3], rotation[9], velocity[3], angular[3];\n} "
                "%s_body;\n"
                "int %s_kinematics(const %s_state *restrict s, %s_body *restrict bodies, %s_workspace "
                "*restrict w);\n",
                n, real, n, n, n, n, n);
    }
    if (plan->wanted[CODE_RATES])
        fprintf(
            file,
            "\n/* The rates of coordinates and of the states of the user: rates->q, rates->states. */\n"
            "int %s_rates(const %s_state *restrict s, %s_state *restrict rates, %s_workspace *restrict w);\n",
            n, n, n, n);
    if (plan->wanted[CODE_CLOSE_Q]) code_print_close_header(plan, file, real);
    if (plan->wanted[CODE_GRADIENTS]) code_print_gradients_header(plan, file, real);
    if (plan->options.batch) code_print_batch_header(plan, file);
    if (plan->step) code_print_step_header(plan, file, real);
    fprintf(file, "\n#ifdef __cplusplus\n}\n#undef restrict\n#endif\n#endif\n");
    return code_close(file, path, error);
}

static void print_start(const code_plan *plan, const code_writer *w) {
    const lw_model *model = plan->dynamics;
    char text[40];
    FILE *file = w->file;
    fprintf(file, "void %s_start(%s_state *s) {\n", w->prefix, w->prefix);
    code_print_number(w, 0.0, text);
    fprintf(file, "    s->t = %s;\n", text);
    for (int k = 0; k < model->nq; k++) {
        code_print_number(w, plan->q0[k], text);
        fprintf(file, "    s->q[%d] = %s;\n", k, text);
    }
    for (int k = 0; k < model->nv; k++) {
        code_print_number(w, plan->v0[k], text);
        fprintf(file, "    s->v[%d] = %s;\n", k, text);
    }
    for (int k = 0; k < model->values.input_count; k++) {
        code_print_number(w, model->input_defaults[k], text);
        if (isnan(model->input_defaults[k])) /* its default is an expression */
            fprintf(file, "    s->inputs[%d] = (%s)NAN;\n", k, w->real);
        else
            fprintf(file, "    s->inputs[%d] = %s;\n", k, text);
    }
    for (int k = 0; k < model->values.state_count; k++) {
        code_print_number(w, model->values.starts[k], text);
        fprintf(file, "    s->states[%d] = %s;\n", k, text);
    }
    fprintf(file, "}\n\n");
}

lw_status code_write_source(code_plan *plan, const char *folder, lw_error *error) {
    char path[4096];
    FILE *file = code_open(plan, folder, ".c", path, error);
    if (!file) return LW_ERROR_FILE;
    code_writer w = code_writer_for(plan, file);
    print_origin(plan, file, ".c", "the equations of motion of one mechanism, in C99");
    fprintf(file,
            " *\n * Generated: changes belong into the model.\n */\n#include \"%s.h\"\n\n#include "
            "<math.h>\n#include <string.h>\n",
            plan->name);
    if (plan->options.single) fprintf(file, "#include <float.h>\n");
    fprintf(file,
            "\n/* Parts of long functions stay functions of their own: compilers take less time. */\n"
            "#if defined(__GNUC__)\n#define %s_PART static __attribute__((noinline))\n#else\n#define %s_PART "
            "static\n#endif\n\n",
            plan->upper, plan->upper);
    code_routine list[CODE_ROUTINES];
    int count = 0;
    for (int k = 0; k < CODE_ROUTINES; k++)
        if (plan->wanted[k]) list[count++] = plan->routines[k];
    code_print_helpers(&w, list, count);
    print_start(plan, &w);
    for (int k = 0; k < CODE_ROUTINES; k++)
        if (plan->wanted[k]) code_print_routine(&w, &plan->routines[k]);
    if (plan->wanted[CODE_GRADIENTS]) code_print_gradients(plan, &w);
    if (plan->step || plan->wanted[CODE_CLOSE_Q]) code_print_unit(plan, &w);
    if (plan->wanted[CODE_CLOSE_Q]) code_print_close(plan, &w);
    if (plan->step) code_print_steps(plan, &w);
    if (plan->options.batch) code_print_batch(plan, file);
    const lw_status status = code_close(file, path, error);
    return plan->graph.failed ? lw_out_of_memory(error) : status;
}
