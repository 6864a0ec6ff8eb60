/* own_force.c - a controller of the caller's own: a callback that adds torques while the model moves. */
#include <linkwork/linkwork.h>
#include <stdio.h>

typedef struct controller {
    double target, kp, kd;
} controller;

/* A PD controller at the first speed. It may depend on its arguments only: integrators try states that they
 * give up. */
static void hold(double t, const double *q, const double *v, double *tau, void *context) {
    const controller *c = context;
    (void)t;
    tau[0] += c->kp * (c->target - q[0]) - c->kd * v[0];
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "call: own_force MODEL.yaml\n"), 2;
    lw_spec *spec;
    lw_model *model;
    lw_error error = {0};
    if (lw_read_model(argv[1], NULL, 0, NULL, &spec) != LW_OK) return 1;
    if (lw_model_compile(spec, NULL, NULL, &model) != LW_OK) return 1;
    controller c = {.target = 1.0, .kp = 400, .kd = 40};
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.force = hold;
    options.context = &c;
    lw_simulation *simulation;
    lw_status status = lw_simulation_create(model, &options, NULL, &simulation, &error);
    double q[64], v[64];
    for (int k = 1; k <= 5 && status == LW_OK && lw_model_q_size(model) <= 64; k++) {
        status = lw_simulation_advance(simulation, 0.5 * k, &error);
        lw_simulation_state(simulation, q, v);
        printf("t = %.1f s: %.6f of %.6f\n", lw_simulation_time(simulation), q[0], c.target);
    }
    lw_ledger ledger;
    if (status == LW_OK && lw_simulation_ledger(simulation, &ledger) == LW_OK)
        printf("the controller has done %.6f J of work\n", ledger.forces);
    if (status != LW_OK) fprintf(stderr, "%s\n", error.message);
    lw_simulation_destroy(simulation);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return status == LW_OK ? 0 : 1;
}
