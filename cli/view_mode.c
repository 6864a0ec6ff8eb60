/* view_mode.c - linkwork view MODEL --mode N: a shape of vibration, as an animation.
 *
 * The mechanism is displaced by a (x cos p - y sin p) with the real and imaginary parts x, y of the shape; p
 * goes through two turns in four seconds, whatever the frequency is. Closures hold for small motions only, so
 * that each position is assembled anew. The size a lets all joints together turn by no more than about 0.6
 * rad, or slide by 0.6 of the longest arm.
 */
#include "view_mode.h"

#include <linkwork/assemble.h>
#include <linkwork/dynamics.h>
#include <linkwork/equilibrium.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 120, TURNS = 2 };

static const double seconds = 4, reach = 0.6, pi = 3.14159265358979323846;

static lw_status film(const lw_model *model, double t, const double *q, const lw_mode *mode, double size,
                      double *moved, double *change, lw_animation *animation, lw_error *error) {
    const int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    lw_status status = LW_OK;
    for (int k = 0; k <= FRAMES && status == LW_OK; k++) {
        const double p = 2 * pi * TURNS * k / FRAMES;
        for (int i = 0; i < nv; i++)
            change[i] = size * (mode->shape[i] * cos(p) - mode->imaginary[i] * sin(p));
        memcpy(moved, q, (size_t)nq * sizeof *q);
        status = lw_integrate_q(model, moved, change, 1);
        memset(change, 0, (size_t)nv * sizeof *change);
        if (status == LW_OK) status = lw_assemble(model, t, moved, change, NULL, error);
        memset(change, 0, (size_t)nv * sizeof *change);
        const lw_sample sample = {.t = seconds * k / FRAMES, .q = moved, .v = change};
        if (status == LW_OK) status = lw_animation_sample(animation, &sample);
    }
    return status;
}

int view_mode(const cli_command *command, const lw_model *model, const lw_run_options *options,
              const double *q, bool rest, int number, lw_animation **animation) {
    const int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    lw_linearise_options near;
    lw_modes *modes = NULL;
    lw_error error = {0};
    lw_linearise_defaults(model, &near);
    near.t = options->start, near.q = q, near.method = options->method;
    near.inputs = options->inputs, near.states = options->states;
    lw_equilibrium *e = NULL;
    lw_status status = rest ? lw_equilibrium_find(model, &near, &e, &error) : LW_OK;
    if (status == LW_OK && e && !e->converged) {
        const int said = cli_say(command, CLI_FAILED, "no equilibrium is reached: %s", e->unbalanced);
        lw_equilibrium_destroy(e);
        return said;
    }
    if (e) q = near.q = e->q;
    if (status == LW_OK) status = lw_modes_find(model, &near, &modes, &error);
    if (status != LW_OK) {
        lw_equilibrium_destroy(e);
        return cli_fault(command, status, &error);
    }
    if (number > modes->count) {
        const int count = modes->count, rigid = modes->rigid;
        lw_modes_destroy(modes);
        lw_equilibrium_destroy(e);
        return cli_say(command, CLI_WRONG,
                       "--mode %d: there are %d modes, and %d rigid-body ones beside them", number, count,
                       rigid);
    }
    const lw_mode *mode = &modes->modes[number - 1];
    if (modes->imbalance > 1e-6)
        cli_say(command, 0,
                "the position is no equilibrium: %s accelerates by %.6g; --equilibrium goes to one",
                modes->name, modes->imbalance);
    double *room = cli_numbers(command, nq + nv), far = 0;
    int result = room ? CLI_DONE : CLI_FAILED;
    for (int i = 0; i < nv; i++) far += hypot(mode->shape[i], mode->imaginary[i]);
    if (room) {
        char note[160];
        status = lw_animation_create(model, "coordinates", animation, &error);
        snprintf(note, sizeof note, "mode %d: %.6g Hz, damping ratio %.4g; shown slowly and enlarged", number,
                 mode->frequency, mode->damping_ratio);
        if (status == LW_OK)
            status = film(model, options->start, q, mode, reach / fmax(far, 2), room, room + nq, *animation,
                          &error);
        if (status == LW_OK) status = lw_animation_note(*animation, note);
        if (status == LW_OK) status = lw_animation_finish(*animation, NULL, NULL);
        if (status != LW_OK) result = cli_fault(command, status, &error);
    }
    free(room);
    lw_modes_destroy(modes);
    lw_equilibrium_destroy(e);
    return result;
}
