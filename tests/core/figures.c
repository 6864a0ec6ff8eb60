/* figures.c - what a library computes of a model, as text.
 */
#include "figures.h"

#include <linkwork/assemble.h>

#include <stdlib.h>
#include <string.h>

typedef struct subject {
    const char *problem;
    const lw_model *model;
    int nq, nv, joints;
    double *q, *v, *numbers;
    FILE *out;
} subject;

static void write_line(const subject *s, const char *what, const char *method, lw_status status, int count,
                       const double *numbers) {
    if (status != LW_OK) count = 0;
    fprintf(s->out, "%s %s %s %d %d", s->problem, what, method, (int)status, count);
    for (int k = 0; k < count; k++) fprintf(s->out, " %a", numbers[k]);
    fputc('\n', s->out);
}

static void write_accelerations(const subject *s, const char *method) {
    const lw_solver_options options = {.method = method};
    lw_solver *solver = NULL;
    lw_status status = lw_solver_create(s->model, &options, NULL, &solver, NULL);
    if (status == LW_OK) status = lw_solver_accelerations(solver, 0, s->q, s->v, NULL, s->numbers, NULL);
    write_line(s, "accelerations", method, status, s->nv, s->numbers);
    if (status == LW_OK) status = lw_solver_reactions(solver, s->numbers, NULL, NULL);
    write_line(s, "reactions", method, status, 6 * s->joints, s->numbers);
    lw_solver_destroy(solver);
}

/* The state after a while; on the way a snapshot is taken, and what follows it is done twice. */
static void write_run(const subject *s, const char *method, const char *integrator) {
    lw_run_options options;
    lw_run_defaults(s->model, &options);
    options.method = method;
    options.integrator = integrator;
    const bool fixed = strcmp(integrator, "erk") != 0;
    options.step = fixed ? 1e-4 : 0;
    options.tolerance = fixed ? 0 : 1e-8;
    options.drift = NULL;
    lw_simulation *simulation = NULL;
    double *first = s->numbers, *again = first + s->nq + s->nv;
    lw_status status = lw_simulation_create(s->model, &options, NULL, &simulation, NULL);
    if (status == LW_OK) status = lw_simulation_advance(simulation, options.start + 1e-3, NULL);
    const size_t size = lw_simulation_snapshot_size(simulation);
    void *snapshot = malloc(size + 1);
    if (status == LW_OK) status = snapshot ? lw_simulation_save(simulation, snapshot, size) : LW_ERROR_MEMORY;
    if (status == LW_OK) status = lw_simulation_advance(simulation, options.start + 2e-3, NULL);
    if (status == LW_OK) status = lw_simulation_state(simulation, first, first + s->nq);
    if (status == LW_OK) status = lw_simulation_restore(simulation, snapshot, size, NULL);
    if (status == LW_OK) status = lw_simulation_advance(simulation, options.start + 2e-3, NULL);
    if (status == LW_OK) status = lw_simulation_state(simulation, again, again + s->nq);
    const size_t bytes = (size_t)(s->nq + s->nv) * sizeof *first;
    write_line(s, integrator, method, status, s->nq + s->nv, first);
    if (status == LW_OK)
        fprintf(s->out, "%s again %s %d 0\n", s->problem, method, memcmp(first, again, bytes) != 0);
    free(snapshot);
    lw_simulation_destroy(simulation);
}

bool write_figures(const char *problem, const lw_spec *spec, FILE *out) {
    lw_model *model = NULL;
    if (lw_model_compile(spec, NULL, NULL, &model) != LW_OK) return false;
    subject s = {problem,
                 model,
                 lw_model_q_size(model),
                 lw_model_v_size(model),
                 lw_model_joint_count(model),
                 NULL,
                 NULL,
                 NULL,
                 out};
    const size_t room = 6 * (size_t)(s.nq + s.nv + s.joints) + 1;
    s.q = calloc(room, sizeof *s.q), s.v = calloc(room, sizeof *s.v);
    s.numbers = calloc(room, sizeof *s.numbers);
    const bool enough = s.q && s.v && s.numbers;
    if (enough) {
        lw_model_initial_state(model, s.q, s.v);
        lw_status status = lw_assemble(model, 0, s.q, s.v, NULL, NULL);
        write_line(&s, "assembled", "q", status, s.nq, s.q);
        write_line(&s, "assembled", "v", status, s.nv, s.v);
        fprintf(out, "%s cuts of 0 %d\n", problem, lw_model_loop_count(model));
        const char *automatic = lw_method_auto(model, NULL, 0, NULL);
        fprintf(out, "%s auto %s 0 0\n", problem, automatic ? automatic : "none");
        for (int m = 0; m < lw_method_count(); m++) write_accelerations(&s, lw_method_at(m).name);
        static const char *const runs[][2] = {{"auto", "rk4"},
                                              {"auto", "erk"},
                                              {"auto", "rosenbrock"},
                                              {"lagrange", "rk4"},
                                              {"partition", "erk"},
                                              {"director", "energy-momentum"},
                                              {"director", "energy-momentum-4"}};
        for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) write_run(&s, runs[k][0], runs[k][1]);
    }
    free(s.q), free(s.v), free(s.numbers);
    lw_model_destroy(model);
    return enough;
}
