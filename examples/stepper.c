/* stepper.c - a loop in real time: inputs at every millisecond, and a look ahead that is taken back. */
#include <linkwork/linkwork.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char model_text[] =
    "linkwork: 1\n"
    "name: cart\n"
    "inputs: {push: 0 N}\n"
    "bodies: {cart: {kind: point, mass: 2 kg}}\n"
    "joints: {rail: {type: prismatic, axis: [1, 0, 0], between: [ground, cart]}}\n"
    "forces: {motor: {type: drive, joint: rail, force: push}}\n"
    "run: {step: 1 ms, end: 1 s}\n"; /* a fixed step: rk4 */

int main(void) {
    lw_spec *spec;
    lw_model *model;
    lw_simulation *simulation;
    lw_error error = {0};
    if (lw_read_model_text(model_text, strlen(model_text), "cart", NULL, 0, NULL, &spec) != LW_OK) return 1;
    if (lw_model_compile(spec, NULL, NULL, &model) != LW_OK) return 1;
    lw_run_options options;
    lw_run_defaults(model, &options);
    lw_status status = lw_simulation_create(model, &options, NULL, &simulation, &error);
    if (status != LW_OK) return fprintf(stderr, "%s\n", error.message), 1;
    const int push = lw_model_input(model, "push");
    const size_t size = lw_simulation_snapshot_size(simulation);
    void *snapshot = malloc(size);
    double q = 0, v = 0, ahead = 0;
    for (int k = 0; k < 1000 && status == LW_OK; k++) {
        lw_simulation_state(simulation, &q, &v);
        lw_simulation_set_input(simulation, push, 50 * (1 - q) - 20 * v); /* a sampled controller */
        if (k == 500) { /* where would it be in a second with this push? */
            lw_simulation_save(simulation, snapshot, size);
            status = lw_simulation_advance(simulation, 1.5, &error);
            lw_simulation_state(simulation, &ahead, NULL);
            lw_simulation_restore(simulation, snapshot, size, &error);
        }
        if (status == LW_OK) status = lw_simulation_advance(simulation, 1e-3 * (k + 1), &error);
    }
    printf("t = %g s: the cart is at %.6f m; with the push held from 0.5 s on it would come to %.6f m\n",
           lw_simulation_time(simulation), q, ahead);
    free(snapshot);
    lw_simulation_destroy(simulation);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return status == LW_OK ? 0 : 1;
}
