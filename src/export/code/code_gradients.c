/* code_gradients.c - derivatives in generated C: of the forces of inverse dynamics, as nodes; of the
 * accelerations, which follow from these by the mass matrix.
 *
 * Equation M vdot + c = tau gives, with f(q, v, a) the forces of inverse dynamics,
 *     M d(vdot) = -(df/dq dq + df/dv dv) at a = vdot                                    (generated-c.md, 7)
 * Columns for q are motions along single speeds (linkwork/derivatives.h).
 * Cost     the nodes of inverse dynamics, for each of the 2 nv columns those that depend on it; at run time
 *          nv^3 operations more in three loops.
 */
#include "export/code/code_files.h"
#include <linkwork/derivatives.h>

#include <stdlib.h>

/* What coordinates do while speed k of a joint is one and all others are zero. */
static int seeds_of(code_build *b, const lw_link *link, int k, code_seed *seeds) {
    code_node v[LW_JOINT_MAX_V] = {0}, rates[LW_JOINT_MAX_Q];
    v[k] = code_constant(b->g, 1);
    code_joint_rate(b->g, &link->joint, b->q + link->q, v, rates);
    int count = 0;
    for (int i = 0; i < link->joint.nq; i++)
        if (rates[i] != 0) seeds[count++] = (code_seed){code_input(b->g, CODE_Q, link->q + i), rates[i]};
    return count;
}

void code_add_gradients(code_plan *plan, code_build *b, const code_node *tau) {
    const lw_model *model = plan->dynamics;
    const int n = model->nv;
    code_graph *g = b->g;
    code_routine *r = &plan->routines[CODE_GRADIENTS];
    *r = (code_routine){.name = "inverse_derivatives",
                        .parameters =
                            plan->options.single
                                ? "const float *restrict vdot, float *restrict dq, float *restrict dv, "
                                : "const double *restrict vdot, double *restrict dq, double *restrict dv, ",
                        .arguments = "vdot, dq, dv, "};
    code_node *column = calloc((size_t)n + 1, sizeof *column);
    if (!column) g->failed = true;
    for (int i = 1; i <= model->body_count && !g->failed; i++) {
        const lw_link *link = &model->links[i];
        for (int k = 0; k < link->joint.nv && !g->failed; k++) {
            const int at = link->v + k;
            const bool follows = link->prescribed >> k & 1;
            code_seed seeds[LW_JOINT_MAX_Q];
            const int count = follows ? 0 : seeds_of(b, link, k, seeds);
            (void)code_derive(g, seeds, count, tau, n, column);
            for (int row = 0; row < n; row++) code_routine_add(r, g, column[row], "dq[%d]", n * row + at);
            seeds[0] = (code_seed){code_input(g, CODE_V, at), code_constant(g, 1)};
            (void)code_derive(g, seeds, follows ? 0 : 1, tau, n, column);
            for (int row = 0; row < n; row++) code_routine_add(r, g, column[row], "dv[%d]", n * row + at);
        }
    }
    free(column);
}

void code_print_gradients_header(const code_plan *plan, FILE *file, const char *real) {
    const char *n = plan->name, *u = plan->upper;
    fprintf(file,
            "\n/* Derivatives of the forces of %s_inverse for accelerations that keep, and of the "
            "accelerations of\n"
            " * %s_forward for forces that keep: %s_V x %s_V, row by row. Column k of dq is that of the "
            "motion that\n"
            " * speed k makes, of dv that of speed k. Columns and, of accelerations, rows of prescribed "
            "speeds are 0. */\n",
            n, n, u, u);
    fprintf(file,
            "int %s_inverse_derivatives(const %s_state *restrict s, const %s *restrict vdot, %s *restrict "
            "dq, %s *restrict dv, %s_workspace *restrict w);\n"
            "int %s_derivatives(const %s_state *restrict s, const %s *restrict tau, %s *restrict dq, %s "
            "*restrict dv, %s_workspace *restrict w);\n",
            n, n, real, real, real, n, n, n, real, real, real, n);
}

void code_print_gradients(const code_plan *plan, const code_writer *w) {
    const lw_model *model = plan->dynamics;
    const int n = model->nv;
    const char *p = plan->name, *u = plan->upper, *real = w->real, *zero = w->single ? "0.0f" : "0.0",
               *one = w->single ? "1.0f" : "1.0";
    FILE *file = w->file;
    fprintf(file,
            "int %s_derivatives(const %s_state *restrict s, const %s *restrict tau, %s *restrict dq, %s "
            "*restrict dv, %s_workspace *restrict w) {\n",
            p, p, real, real, real, p);
    fprintf(file, "    static const unsigned char follows[%d] = {", n);
    for (int i = 1, at = 0; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++, at++)
            fprintf(file, "%s%d",
                    at == 0   ? ""
                    : at % 30 ? ", "
                              : ",\n        ",
                    model->links[i].prescribed >> k & 1);
    fprintf(file,
            "};\n    enum { N = %d };\n    %s *m = w->mass;\n    int i, j, k, status = %s_forward(s, tau, "
            "w->vdot, w);\n"
            "    if (status == %s_OK) status = %s_inverse_derivatives(s, w->vdot, dq, dv, w);\n"
            "    if (status == %s_OK) status = %s_mass_matrix(s, m, w);\n"
            "    if (status != %s_OK) return status;\n",
            n, real, p, u, p, u, p, u);
    fprintf(file,
            "    for (i = 0; i < N; i++) /* prescribed speeds accelerate as they do */\n"
            "        for (j = 0; j < N; j++) {\n"
            "            if (follows[i] || follows[j]) m[N * i + j] = i == j ? %s : %s;\n"
            "            dq[N * i + j] = follows[i] ? %s : -dq[N * i + j];\n"
            "            dv[N * i + j] = follows[i] ? %s : -dv[N * i + j];\n"
            "        }\n",
            one, zero, zero, zero);
    fprintf(file,
            "    for (k = 0; k < N; k++) { /* m = L D L', and L x = x */\n"
            "        if (!(m[N * k + k] > %s)) return %s_SINGULAR;\n"
            "        for (i = k + 1; i < N; i++) {\n"
            "            const %s factor = m[N * i + k] / m[N * k + k];\n"
            "            if (!(factor < %s || factor > %s)) continue;\n"
            "            for (j = k + 1; j <= i; j++) m[N * i + j] -= factor * m[N * j + k];\n"
            "            for (j = 0; j < N; j++) {\n"
            "                dq[N * i + j] -= factor * dq[N * k + j];\n"
            "                dv[N * i + j] -= factor * dv[N * k + j];\n"
            "            }\n        }\n    }\n",
            zero, u, real, zero, zero);
    fprintf(file,
            "    for (k = N - 1; k >= 0; k--) /* D L' x = x */\n"
            "        for (j = 0; j < N; j++) {\n"
            "            %s q = dq[N * k + j], v = dv[N * k + j];\n"
            "            for (i = k + 1; i < N; i++) {\n"
            "                q -= m[N * i + k] * dq[N * i + j];\n"
            "                v -= m[N * i + k] * dv[N * i + j];\n"
            "            }\n"
            "            dq[N * k + j] = q / m[N * k + k];\n"
            "            dv[N * k + j] = v / m[N * k + k];\n"
            "        }\n"
            "    return %s_OK;\n}\n\n",
            real, u);
}

lw_status code_reference_gradients(const lw_model *model, const code_reference_state *at, const double *tau,
                                   const double *vdot, double *const out[4], lw_error *error) {
    lw_derivatives *derivatives = NULL;
    lw_solver_options options;
    lw_solver_defaults(model, &options);
    options.method = "tree";
    options.inputs = at->inputs, options.states = at->states;
    lw_status status = lw_derivatives_create(model, &options, NULL, &derivatives, error);
    if (status != LW_OK) return status;
    status = lw_derivatives_of_forces(derivatives, at->t, at->q, at->v, vdot, out[0], out[1], NULL, error);
    const lw_acceleration_derivatives rates = {.dq = out[2], .dv = out[3]};
    if (status == LW_OK)
        status = lw_derivatives_of_accelerations(derivatives, at->t, at->q, at->v, tau, &rates, error);
    lw_derivatives_destroy(derivatives);
    return status;
}
