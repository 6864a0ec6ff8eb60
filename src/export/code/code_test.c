/* code_test.c - NAME_test.c: states, the library's figures for them, and a main that compares.
 *
 * Tolerance  1e-12 (double) or 1e-4 (float) of the largest number of a vector, or of 1. Accelerations of an
 *            ill-conditioned mechanism cannot be as close: they may differ by SLACK times what they change by
 *            when the last bit of every coordinate, speed and force changes, which is measured here. Beyond
 *            20 bodies the bound grows with their number, since regrouped inertias add and subtract the
 *            masses of all bodies further out: 1.03e-12 was measured on a chain of 64.
 * Loops      Accelerations to 4e-12: the matrix of the multipliers squares the condition of the rows, which
 *            the measure above does not see; 1.05e-12 was the worst of 130 random mechanisms. Figures are
 *            those of a solver at closed states; vdot of inverse dynamics satisfies the rows. A step leaves
 *            the closures within it, where methods differ by what the step is wrong anyway: so rk4 may differ
 *            by four times what two half steps differ from a whole one; and by twice the way back onto the
 *            closures, since the library's projection gives light bodies more mass (projection.md, 2), and a
 *            smallest motion in one metric is not so in another. NAME_close is given a state off by 1e-6;
 *            what it leaves open is the test, and it may go to a place twice as far from the library's as
 *            this is from there.
 */
#include "export/code/code_files.h"
#include "core/pseudo_random.h"
#include "model/signals.h"
#include <linkwork/linkwork.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 3, SLACK = 16, TRIALS = 6 };
static const double STEP = 0.01; /* s, of the steps that are compared */
static const char *const steps[2] = {"rk4", "semi_implicit"};

typedef struct reference {
    lw_data *data;
    lw_solver *solver, *stages; /* of loops; for states within steps, unchecked */
    code_closer *closer;
    double *off, *closed; /* a state off the closures, and where the library's projection takes it: q, v */
    double step, step_noise[2], moved;                   /* moved: from off to closed */
    double *q, *v, *inputs, *states, *tau, *vdot, *push; /* push: forces that make vdot */
    double *results[CODE_ROUTINES];
    double *steps[2];     /* rk4, semi-implicit: q, v, user states */
    double *gradients[4]; /* of forces by q, v; of accelerations by q, v */
    double noise[2];      /* of the accelerations, of the forces of inverse dynamics, relative */
    int sizes[CODE_ROUTINES];
} reference;

static double *numbers(int count) { return calloc((size_t)count + 1, sizeof(double)); }

static bool reference_create(const code_plan *plan, reference *r) {
    const lw_model *model = plan->model;
    const int n = model->nv;
    *r = (reference){
        .sizes = {n, n, n * n, 18 * (model->body_count + 1), model->nq + model->values.state_count}};
    if (lw_data_create(model, NULL, &r->data) != LW_OK) return false;
    r->q = numbers(model->nq), r->v = numbers(n), r->tau = numbers(n), r->vdot = numbers(n);
    r->inputs = numbers(model->values.input_count), r->states = numbers(model->values.state_count);
    bool good = r->q && r->v && r->tau && r->vdot && r->inputs && r->states;
    for (int k = 0; k < 4; k++) good = (r->gradients[k] = numbers(n * n)) && good;
    for (int k = 0; k < 2; k++)
        good = (r->steps[k] = numbers(model->nq + n + model->values.state_count)) && good;
    for (int k = 0; k < CODE_ROUTINES; k++) good = (r->results[k] = numbers(r->sizes[k])) && good;
    r->off = numbers(model->nq + n), r->closed = numbers(model->nq + n), r->push = numbers(n);
    return good && r->off && r->closed && r->push;
}

/* A solver for loops, which reads the inputs and states of the case. */
static lw_status create_solver(const code_plan *plan, reference *r, lw_error *error) {
    lw_solver_options options;
    if (!plan->loops) return LW_OK;
    lw_solver_defaults(plan->model, &options);
    options.q = plan->q0, options.v = plan->v0;
    options.inputs = r->inputs, options.states = r->states;
    options.driven = plan->options.driven, options.driven_count = plan->options.driven_count;
    memcpy(r->inputs, plan->model->input_defaults,
           (size_t)plan->model->values.input_count * sizeof *r->inputs);
    memcpy(r->states, plan->model->values.starts,
           (size_t)plan->model->values.state_count * sizeof *r->states);
    const lw_status status = lw_solver_create(plan->model, &options, NULL, &r->solver, error);
    options.unchecked = true;
    return status == LW_OK ? lw_solver_create(plan->model, &options, NULL, &r->stages, error) : status;
}

static lw_status forward(const code_plan *plan, reference *r, double t, const double *q, const double *v,
                         const double *tau, double *vdot, lw_error *error) {
    if (plan->loops) return lw_solver_accelerations(r->solver, t, q, v, tau, vdot, error);
    return lw_tree_forward_dynamics(plan->model, r->data, t, q, v, tau, vdot, error);
}

static void reference_destroy(reference *r) {
    lw_data_destroy(r->data);
    lw_solver_destroy(r->solver);
    lw_solver_destroy(r->stages);
    free(r->off);
    free(r->closed);
    free(r->push);
    free(r->q);
    free(r->v);
    free(r->inputs);
    free(r->states);
    free(r->tau);
    free(r->vdot);
    for (int k = 0; k < 4; k++) free(r->gradients[k]);
    for (int k = 0; k < 2; k++) free(r->steps[k]);
    for (int k = 0; k < CODE_ROUTINES; k++) free(r->results[k]);
}

/* The state of a case: at first that of the model, then others. */
static void choose_state(const code_plan *plan, int number, double *t, uint64_t *random, reference *r) {
    const lw_model *model = plan->model;
    const double size = number == 0 ? 0 : 0.3 * number;
    for (int k = 0; k < model->nq; k++) r->q[k] = model->q0[k] + size * lw_pseudo_random(random);
    (void)lw_normalise_q(model, r->q);
    for (int k = 0; k < model->nv; k++) {
        r->v[k] = model->v0[k] + (size + 0.1) * lw_pseudo_random(random);
        r->tau[k] = lw_pseudo_random(random), r->vdot[k] = r->push[k] = lw_pseudo_random(random);
    }
    /* Motions may lead out of reach. */
    if (plan->loops && !code_closer_state(r->closer, *t, 0.5 * size, random, r->q, r->v)) {
        *t = 0;
        (void)code_closer_state(r->closer, *t, 0.1 * size, random, r->q, r->v);
    }
    if (plan->loops) {
        const double slight = 1e-6;
        memcpy(r->off, r->q, (size_t)model->nq * sizeof *r->off);
        memcpy(r->off + model->nq, r->v, (size_t)model->nv * sizeof *r->off);
        for (int k = 0; k < model->nq + model->nv; k++) r->off[k] += slight * lw_pseudo_random(random);
        (void)lw_normalise_q(model, r->off);
        memcpy(r->closed, r->off, (size_t)(model->nq + model->nv) * sizeof *r->off);
        const bool good = code_closer_close(r->closer, *t, r->closed, r->closed + model->nq);
        code_keep_prescribed(model, r->off, r->closed);
        if (!good) { /* of no use */
            memcpy(r->off, r->q, (size_t)model->nq * sizeof *r->off);
            memcpy(r->off + model->nq, r->v, (size_t)model->nv * sizeof *r->off);
            memcpy(r->closed, r->off, (size_t)(model->nq + model->nv) * sizeof *r->off);
        }
        r->moved = 0;
        for (int k = 0; k < model->nq + model->nv; k++)
            r->moved = fmax(r->moved, fabs(r->closed[k] - r->off[k]));
    }
    for (int k = 0; k < model->values.input_count; k++)
        r->inputs[k] = model->input_defaults[k] + size * lw_pseudo_random(random);
    for (int k = 0; k < model->values.input_count && plan->loops && model->values.moving_count; k++)
        r->inputs[k] = model->input_defaults[k]; /* on which the place of the loops depends */
    for (int k = 0; k < model->values.state_count; k++)
        r->states[k] = model->values.starts[k] +
                       (plan->loops && model->values.moving_count ? 0 : size) * lw_pseudo_random(random);
    lw_data_set_values(model, r->data, r->inputs, r->states);
}

/* Changes the last bits of some numbers. */
static void jog(double *x, int count, uint64_t *random) {
    for (int k = 0; k < count; k++) x[k] *= 1 + 2.2e-16 * (lw_pseudo_random(random) > 0 ? 1 : -1);
}

/* How much the accelerations, or the forces of inverse dynamics, differ when the last bits of the state do,
 * relative to the largest of them, or to 1. */
static lw_status measure_noise(const code_plan *plan, double t, bool inverse, reference *r, lw_error *error) {
    const lw_model *model = plan->model;
    const double *expected = r->results[inverse ? CODE_INVERSE : CODE_FORWARD];
    uint64_t random = 7;
    double size = 1, most = 0;
    r->noise[inverse] = 0;
    if (!plan->wanted[inverse ? CODE_INVERSE : CODE_FORWARD] || model->nv == 0) return LW_OK;
    if (inverse && !plan->loops) return LW_OK;
    double *q = numbers(model->nq), *v = numbers(model->nv), *in = numbers(model->nv),
           *out = numbers(model->nv);
    lw_status status = q && v && in && out ? LW_OK : lw_out_of_memory(error);
    for (int k = 0; status == LW_OK && k < 3; k++) {
        memcpy(q, r->q, (size_t)model->nq * sizeof *q);
        memcpy(v, r->v, (size_t)model->nv * sizeof *v);
        memcpy(in, inverse ? r->vdot : r->tau, (size_t)model->nv * sizeof *in);
        jog(q, model->nq, &random), jog(v, model->nv, &random), jog(in, model->nv, &random);
        status = inverse ? lw_solver_inverse_dynamics(r->solver, t, q, v, in, out, error)
                         : forward(plan, r, t, q, v, in, out, error);
        for (int i = 0; i < model->nv; i++) {
            most = fmax(most, fabs(out[i] - expected[i]));
            size = fmax(size, fabs(expected[i]));
        }
    }
    r->noise[inverse] = most / size;
    free(q);
    free(v);
    free(in);
    free(out);
    return status;
}

/* One step of length r->step; of loops also by how much another way to it may differ: see above. */
static lw_status reference_step(const code_plan *plan, reference *r, const code_reference_state *from,
                                int kind, lw_error *error) {
    const lw_model *model = plan->model;
    const int nq = model->nq, nv = model->nv, count = nq + nv + model->values.state_count;
    code_reference_loops loops = {r->stages, r->states, r->closer, 0}, *with = plan->loops ? &loops : NULL;
    lw_status status =
        code_reference_step(model, r->data, from, r->tau, r->step, kind == 1, with, r->steps[kind], error);
    r->step_noise[kind] = 2 * loops.drift;
    if (!plan->loops || kind == 1 || status != LW_OK) return status;
    const size_t states = (size_t)model->values.state_count * sizeof(double);
    double *half = numbers(count), *two = numbers(count), *kept = numbers(model->values.state_count);
    if (!half || !two || !kept) status = lw_out_of_memory(error);
    if (kept) memcpy(kept, r->states, states);
    if (status == LW_OK)
        status = code_reference_step(model, r->data, from, r->tau, 0.5 * r->step, false, with, half, error);
    const code_reference_state middle = {from->t + 0.5 * r->step, half, half + nq, from->inputs,
                                         half + nq + nv};
    if (status == LW_OK)
        status = code_reference_step(model, r->data, &middle, r->tau, 0.5 * r->step, false, with, two, error);
    for (int k = 0; status == LW_OK && k < nq + nv; k++)
        r->step_noise[kind] = fmax(r->step_noise[kind], 4 * fabs(two[k] - r->steps[kind][k]));
    if (kept) memcpy(r->states, kept, states); /* which the second half began with others */
    free(kept);
    free(half);
    free(two);
    return status;
}

/* Both steps. Those of loops are short beside the motion, and beside what is stiff, so that little is left
 * open. */
static lw_status reference_steps(const code_plan *plan, reference *r, const code_reference_state *from,
                                 lw_error *error) {
    const double slight = 1e-4;
    lw_status status = LW_OK;
    r->step = STEP;
    for (int k = 0; k < plan->model->nv && plan->loops; k++)
        r->step = fmin(r->step, STEP / fmax(fabs(r->v[k]), sqrt(fabs(r->results[CODE_FORWARD][k]))));
    for (int trial = 0; trial < TRIALS && status == LW_OK; trial++) {
        if (trial > 0) r->step *= 0.25;
        for (int k = 0; k < 2 && status == LW_OK; k++) status = reference_step(plan, r, from, k, error);
        if (!plan->loops || fmax(r->step_noise[0], r->step_noise[1]) <= slight) break;
    }
    return status;
}

static lw_status compute(const code_plan *plan, double t, reference *r, lw_error *error) {
    const lw_model *model = plan->model;
    lw_status status = LW_OK;
    if (plan->wanted[CODE_FORWARD])
        status = forward(plan, r, t, r->q, r->v, r->tau, r->results[CODE_FORWARD], error);
    if (status == LW_OK && plan->wanted[CODE_INVERSE] && plan->loops) {
        status = forward(plan, r, t, r->q, r->v, r->push, r->vdot, error);
        if (status == LW_OK)
            status = lw_solver_inverse_dynamics(r->solver, t, r->q, r->v, r->vdot, r->results[CODE_INVERSE],
                                                error);
    } else if (status == LW_OK && plan->wanted[CODE_INVERSE])
        status =
            lw_tree_inverse_dynamics(model, r->data, t, r->q, r->v, r->vdot, r->results[CODE_INVERSE], error);
    if (status == LW_OK && plan->wanted[CODE_MASS_MATRIX])
        status = lw_tree_mass_matrix(model, r->data, t, r->q, r->results[CODE_MASS_MATRIX]);
    for (int b = 0; status == LW_OK && plan->wanted[CODE_KINEMATICS] && b <= model->body_count; b++) {
        const double origin[3] = {0, 0, 0};
        double *at = r->results[CODE_KINEMATICS] + 18 * b;
        status = lw_body_pose(model, r->data, t, r->q, b, at, at + 3);
        if (status == LW_OK)
            status = lw_body_velocity(model, r->data, t, r->q, r->v, b, origin, at + 15, at + 12);
    }
    if (status == LW_OK && plan->wanted[CODE_RATES]) {
        double *rates = r->results[CODE_RATES];
        lw_take_state(model, r->data, t, r->q, r->v);
        status = lw_q_rate(model, r->data->q, r->data->v, rates);
        lw_velocities(model, r->data);
        lw_world_poses(model, r->data);
        lw_state_rates(model, r->data, t, rates + model->nq);
    }
    const code_reference_state from = {t, r->q, r->v, r->inputs, r->states};
    if (status == LW_OK && plan->wanted[CODE_GRADIENTS])
        status = code_reference_gradients(model, &from, r->tau, r->vdot, r->gradients, error);
    if (status == LW_OK && plan->step) status = reference_steps(plan, r, &from, error);
    return status;
}

static void print_array(const code_writer *w, const char *type, const char *name, int number,
                        const double *values, int count) {
    char text[40];
    if (count == 0) return;
    fprintf(w->file, "static const %s %s_%d[%d] = {", type, name, number, count);
    for (int k = 0; k < count; k++) {
        code_print_number(w, values[k], text);
        fprintf(w->file, "%s%s", k == 0 ? "" : k % 5 ? ", " : ",\n    ", text);
    }
    fprintf(w->file, "};\n");
}

static const char *const names[CODE_ROUTINES] = {"forward", "inverse",     "mass_matrix", "kinematics",
                                                 "rates",   "derivatives", NULL,          NULL};

static void print_case(code_plan *plan, const code_writer *w, int number, const reference *r) {
    const lw_model *model = plan->model;
    print_array(w, w->real, "q", number, r->q, model->nq);
    print_array(w, w->real, "v", number, r->v, model->nv);
    print_array(w, w->real, "inputs", number, r->inputs, model->values.input_count);
    print_array(w, w->real, "states", number, r->states, model->values.state_count);
    if (plan->wanted[CODE_FORWARD]) print_array(w, w->real, "tau", number, r->tau, model->nv);
    if (plan->wanted[CODE_INVERSE]) print_array(w, w->real, "vdot", number, r->vdot, model->nv);
    for (int k = 0; k < CODE_ROUTINES; k++)
        if (plan->wanted[k] && names[k] && k != CODE_GRADIENTS)
            print_array(w, w->real, names[k], number, r->results[k], r->sizes[k]);
    static const char *const gradients[4] = {"forces_dq", "forces_dv", "accelerations_dq",
                                             "accelerations_dv"};
    for (int k = 0; plan->wanted[CODE_GRADIENTS] && k < 4; k++)
        print_array(w, w->real, gradients[k], number, r->gradients[k], model->nv * model->nv);
    for (int k = 0; plan->step && k < 2; k++)
        print_array(w, w->real, steps[k], number, r->steps[k],
                    model->nq + model->nv + model->values.state_count);
    if (plan->wanted[CODE_CLOSE_Q]) {
        print_array(w, w->real, "off", number, r->off, model->nq + model->nv);
        print_array(w, w->real, "closed", number, r->closed, model->nq + model->nv);
    }
}

/* A state off the closures, closed. */
static void print_close_checks(const code_plan *plan, const code_writer *w, int number, double moved) {
    const lw_model *model = plan->model;
    char near[40];
    if (!plan->wanted[CODE_CLOSE_Q]) return;
    code_print_number(w, fmax(2 * moved, w->single ? 1e-4 : 1e-11), near);
    fprintf(w->file,
            "    rates = s;\n    for (k = 0; k < %d; k++) rates.q[k] = off_%d[k];\n"
            "    for (k = 0; k < %d; k++) rates.v[k] = off_%d[%d + k];\n"
            "    wrong += %s_close(&rates, &residual, &w) != 0 || !(residual <= %s) ||\n"
            "             differs(rates.q, closed_%d, %d, %s) || differs(rates.v, closed_%d + %d, %d, %s);\n",
            model->nq, number, model->nv, number, model->nq, plan->name, w->single ? "1e-4f" : "1e-11",
            number, model->nq, near, number, model->nq, model->nv, near);
}

/* One step from the state of a case. Prescribed entries count, too: both integrate their rates. */
static void print_step_checks(const code_plan *plan, const code_writer *w, int number, double step,
                              const double tolerance[2]) {
    const lw_model *model = plan->model;
    const int nq = model->nq, nv = model->nv, nx = model->values.state_count;
    char text[40], allowed[40];
    code_print_number(w, step, text);
    for (int k = 0; plan->step && k < 2; k++) {
        code_print_number(w, tolerance[k], allowed);
        fprintf(w->file, "    rates = s;\n    wrong += %s_step_%s(&rates, tau_%d, %s, &w) != 0;\n",
                plan->name, steps[k], number, text);
        if (nq)
            fprintf(w->file, "    wrong += differs(rates.q, %s_%d, %d, %s);\n", steps[k], number, nq,
                    allowed);
        if (nv)
            fprintf(w->file, "    wrong += differs(rates.v, %s_%d + %d, %d, %s);\n", steps[k], number, nq, nv,
                    allowed);
        if (nx)
            fprintf(w->file, "    wrong += differs(rates.states, %s_%d + %d, %d, %s);\n", steps[k], number,
                    nq + nv, nx, allowed);
    }
}

static void print_checks(code_plan *plan, const code_writer *w, int number, double t, const double noise[2],
                         double step, const double step_noise[2], double moved) {
    const lw_model *model = plan->model;
    const char *n = plan->name;
    FILE *file = w->file;
    const struct {
        const char *member;
        int count;
    } members[] = {{"q", model->nq},
                   {"v", model->nv},
                   {"inputs", model->values.input_count},
                   {"states", model->values.state_count}};
    char text[40], forward[40], inverse[40];
    const bool single = plan->options.single;
    const double usual = fmax((single        ? 1e-4
                               : plan->loops ? 4e-12
                                             : 1e-12) *
                                  fmax(1, model->body_count / 20.0),
                              SLACK * noise[0] * (single ? 5.4e8 : 1));
    code_print_number(w, usual, forward);
    code_print_number(w, fmax(single ? 1e-4 : 1e-12, SLACK * noise[1] * (single ? 5.4e8 : 1)), inverse);
    code_print_number(w, t, text);
    fprintf(file, "    s.t = %s;\n", text);
    for (int k = 0; k < 4; k++)
        if (members[k].count)
            fprintf(file, "    for (k = 0; k < %d; k++) s.%s[k] = %s_%d[k];\n", members[k].count,
                    members[k].member, members[k].member, number);
    if (plan->wanted[CODE_FORWARD])
        fprintf(file, "    wrong += %s_forward(&s, tau_%d, x, &w) != 0 || differs(x, forward_%d, %d, %s);\n",
                n, number, number, model->nv, forward);
    if (plan->wanted[CODE_INVERSE])
        fprintf(file, "    wrong += %s_inverse(&s, vdot_%d, x, &w) != 0 || differs(x, inverse_%d, %d, %s);\n",
                n, number, number, model->nv, inverse);
    if (plan->wanted[CODE_MASS_MATRIX])
        fprintf(file,
                "    wrong += %s_mass_matrix(&s, x, &w) != 0 || differs(x, mass_matrix_%d, %d, usual);\n", n,
                number, model->nv * model->nv);
    if (plan->wanted[CODE_KINEMATICS])
        fprintf(file,
                "    wrong += %s_kinematics(&s, bodies, &w) != 0;\n"
                "    for (k = 0; k < %d; k++)\n"
                "        wrong += differs(bodies[k].position, kinematics_%d + 18 * k, 3, usual) ||\n"
                "                 differs(bodies[k].rotation, kinematics_%d + 18 * k + 3, 9, usual) ||\n"
                "                 differs(bodies[k].velocity, kinematics_%d + 18 * k + 12, 3, usual) ||\n"
                "                 differs(bodies[k].angular, kinematics_%d + 18 * k + 15, 3, usual);\n",
                n, model->body_count + 1, number, number, number, number);
    if (plan->wanted[CODE_RATES]) {
        fprintf(file, "    wrong += %s_rates(&s, &rates, &w) != 0;\n", n);
        if (model->nq)
            fprintf(file, "    wrong += differs(rates.q, rates_%d, %d, usual);\n", number, model->nq);
        if (model->values.state_count)
            fprintf(file, "    wrong += differs(rates.states, rates_%d + %d, %d, usual);\n", number,
                    model->nq, model->values.state_count);
    }
    if (plan->options.batch) {
        const int lanes = plan->options.batch;
        fprintf(file, "    for (i = 0; i < %d; i++) {\n        all.t[i] = s.t;\n", lanes);
        for (int k = 0; k < 4; k++)
            if (members[k].count)
                fprintf(file, "        for (k = 0; k < %d; k++) all.%s[k][i] = s.%s[k];\n", members[k].count,
                        members[k].member, members[k].member);
        fprintf(file, "        for (k = 0; k < %d; k++) batch_tau[k][i] = tau_%d[k];\n    }\n", model->nv,
                number);
        fprintf(
            file,
            "    wrong += %s_forward_batch(&all, (const double (*)[%d])batch_tau, batch_vdot, &w) != 0;\n", n,
            lanes);
        fprintf(file,
                "    for (i = 0; i < %d; i++) {\n        for (k = 0; k < %d; k++) x[k] = batch_vdot[k][i];\n"
                "        wrong += differs(x, forward_%d, %d, %s);\n    }\n",
                lanes, model->nv, number, model->nv, forward);
    }
    if (plan->wanted[CODE_GRADIENTS]) {
        const int size = model->nv * model->nv;
        fprintf(file, "    wrong += %s_inverse_derivatives(&s, vdot_%d, x, y, &w) != 0;\n", n, number);
        fprintf(file,
                "    wrong += differs(x, forces_dq_%d, %d, usual) || differs(y, forces_dv_%d, %d, usual);\n",
                number, size, number, size);
        fprintf(file, "    wrong += %s_derivatives(&s, tau_%d, x, y, &w) != 0;\n", n, number);
        fprintf(file,
                "    wrong += differs(x, accelerations_dq_%d, %d, %s) || differs(y, accelerations_dv_%d, %d, "
                "%s);\n",
                number, size, forward, number, size, forward);
    }
    const double allowed[2] = {fmax(usual, step_noise[0]), fmax(usual, step_noise[1])};
    print_step_checks(plan, w, number, step, allowed);
    print_close_checks(plan, w, number, moved);
}

/* A state and its figures. Where a state of loops turns out singular, another one is taken. */
static lw_status find_case(const code_plan *plan, int number, double *t, uint64_t *random, reference *r,
                           lw_error *error) {
    lw_status status = LW_OK;
    for (int trial = 0; trial < TRIALS; trial++) {
        *t = 0.37 * number;
        choose_state(plan, number, t, random, r);
        status = compute(plan, *t, r, error);
        if (status == LW_OK) status = measure_noise(plan, *t, false, r, error);
        if (status == LW_OK) status = measure_noise(plan, *t, true, r, error);
        if (status == LW_OK || !plan->loops || number == 0) break;
    }
    return status;
}

lw_status code_write_test(code_plan *plan, code_closer *closer, const char *folder, lw_error *error) {
    reference r;
    char path[4096];
    double times[CASES], noises[CASES][2], step_noises[CASES][2], steps_of[CASES], moves[CASES];
    uint64_t random = 30;
    lw_status status = reference_create(plan, &r) ? LW_OK : lw_out_of_memory(error);
    r.closer = closer;
    if (status == LW_OK) status = create_solver(plan, &r, error);
    FILE *file = status == LW_OK ? code_open(plan, folder, "_test.c", path, error) : NULL;
    if (status == LW_OK && !file) status = LW_ERROR_FILE;
    if (status != LW_OK) {
        reference_destroy(&r);
        return status;
    }
    const code_writer w = code_writer_for(plan, file);
    fprintf(file,
            "/* %s_test.c - figures of Linkwork " LW_VERSION
            " for some states; returns 0 if those of %s.c agree.\n *\n *     cc %s_test.c %s.c -lm && "
            "./a.out\n */\n"
            "#include \"%s.h\"\n\n",
            plan->name, plan->name, plan->name, plan->name, plan->name);
    for (int k = 0; k < CASES && status == LW_OK; k++) {
        status = find_case(plan, k, &times[k], &random, &r, error);
        if (status == LW_OK) print_case(plan, &w, k, &r);
        for (int i = 0; i < 2; i++) noises[k][i] = r.noise[i];
        steps_of[k] = r.step, moves[k] = r.moved;
        for (int i = 0; i < 2; i++) step_noises[k][i] = r.step_noise[i];
    }
    fprintf(file,
            "\n/* Is a number further from its reference than this part of the largest, or of 1? */\n"
            "static int differs(const %s *x, const %s *expected, int count, %s tolerance) {\n"
            "    %s most = 0, size = 1;\n    int k;\n    for (k = 0; k < count; k++) {\n"
            "        const %s d = x[k] - expected[k], apart = d < 0 ? -d : d;\n"
            "        const %s own = expected[k] < 0 ? -expected[k] : expected[k];\n"
            "        if (!(apart <= most)) most = apart;\n        if (own > size) size = own;\n    }\n"
            "    return !(most <= tolerance * size);\n}\n\n",
            w.real, w.real, w.real, w.real, w.real, w.real);
    fprintf(file, "static const %s usual = %s;\n", w.real, plan->options.single ? "1e-4f" : "1e-12");
    int most = plan->model->nv * plan->model->nv;
    fprintf(file, "static %s_state s;\nstatic %s_workspace w;\nstatic %s x[%d];\n", plan->name, plan->name,
            w.real, most > 0 ? most : 1);
    if (plan->wanted[CODE_KINEMATICS])
        fprintf(file, "static %s_body bodies[%s_BODIES];\n", plan->name, plan->upper);
    if (plan->options.batch)
        fprintf(file, "static %s_states all;\nstatic double batch_tau[%d][%d], batch_vdot[%d][%d];\n",
                plan->name, plan->model->nv, plan->options.batch, plan->model->nv, plan->options.batch);
    if (plan->wanted[CODE_GRADIENTS]) fprintf(file, "static %s y[%d];\n", w.real, most);
    if (plan->wanted[CODE_RATES]) fprintf(file, "static %s_state rates;\n", plan->name);
    if (plan->wanted[CODE_CLOSE_Q]) fprintf(file, "static %s residual;\n", w.real);
    fprintf(file,
            "\nint main(void) {\n    int wrong = 0, k, i;\n    %s_start(&s);\n    (void)k, (void)i, (void)x, "
            "(void)usual;\n",
            plan->name);
    for (int k = 0; k < CASES; k++)
        print_checks(plan, &w, k, times[k], noises[k], steps_of[k], step_noises[k], moves[k]);
    fprintf(file, "    return wrong;\n}\n");
    const lw_status closed = code_close(file, path, error);
    reference_destroy(&r);
    return status == LW_OK ? closed : status;
}
