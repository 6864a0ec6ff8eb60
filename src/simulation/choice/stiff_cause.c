/* stiff_cause.c - finds the cause of fast changes of the accelerations between two states a and b of a run.
 *
 * Let x = vdot_b - vdot_a. With the mass matrix M, force elements e with generalised forces F_e, and the
 * remainder R from inertia and prescribed motions,
 *
 *     x'M x = sum_e x'(F_e,b - F_e,a) + R,
 *
 * since joints and closures do no work along x. If the elements have at least the part good_part of x'M x,
 * the one with the largest share is the cause; otherwise the motion itself is, and the joint is named whose
 * acceleration changes most. x'F_e is the power of the element's loads when the speeds are x.
 *
 * An element whose force jumps is distinguished from a stiff one by repeated halving of the interval from a
 * to b: the change within the interval remains for a jump, and otherwise tends to zero.
 *
 * Of several states the two with the largest x'M x are taken, so that a force that jumps to and fro is
 * examined on both sides.
 *
 * Cost     O(elements x bodies), with memory of its own: for messages, not for steps.
 */
#include "simulation/choice/stiff_cause.h"
#include "model/signals.h"
#include "formulations/common/method_create.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double good_part = 0.3; /* of x'M x, for all elements together */

typedef struct {
    const lw_model *model;
    lw_method *method;
    lw_data *data;
    double *q, *v;         /* coordinates and speeds of the present state */
    double *vdot[2], *x;   /* accelerations at a and b, and their difference */
    double *twists;        /* 6 per body: twists with speeds x at b */
    double *y;             /* a state between a and b */
    const double *ends[2]; /* states a and b */
    double times[2];       /* times of a and b */
} search;

static void look(search *s, double t, const double *y) {
    s->method->formulation->from_state(s->method, t, y, s->q, s->v);
    lw_take_state(s->model, s->data, t, s->q, s->v);
    lw_velocities(s->model, s->data);
    lw_world_poses(s->model, s->data);
    lw_signals(s->model, s->data, t);
}

/* Computes the loads of one element alone, in the state of the last look. */
static void load(search *s, int element, double t) {
    lw_data *d = s->data;
    memset(d->load, 0, 6 * ((size_t)s->model->body_count + 1) * sizeof *d->load);
    memset(d->tau, 0, (size_t)s->model->nv * sizeof *d->tau);
    if (s->model->closure_count)
        memset(d->cut_load, 0, 6 * (size_t)s->model->closure_count * sizeof *d->cut_load);
    d->power = (lw_power){0, 0, 0};
    lw_forces_add(s->model, d, element, element + 1, t, false);
}

/* x'F of the element's loads. */
static double along(const search *s) {
    double sum = 0;
    for (int k = 0; k < 6 * (s->model->body_count + 1); k++) sum += s->data->load[k] * s->twists[k];
    for (int k = 0; k < s->model->nv; k++) sum += s->data->tau[k] * s->x[k];
    return sum;
}

/* Computes the twists; returns x'M x at b. */
static double find_twists(search *s) {
    lw_take_state(s->model, s->data, s->times[1], s->q, s->v);
    memcpy(s->data->v, s->x, (size_t)s->model->nv * sizeof *s->x);
    lw_velocities(s->model, s->data);
    double sum = 0;
    for (int b = 0; b <= s->model->body_count; b++) {
        double *twist = s->twists + 6 * b, momentum[6];
        memcpy(twist, s->data->motion[b].V, 6 * sizeof *twist);
        if (b == 0) continue;
        lw_rigid_mul(&s->model->links[b].inertia, twist, momentum);
        sum += lw_v6_dot(twist, momentum);
    }
    return sum + 2 * lw_rotor_energy(s->model, s->x);
}

static bool is_jump(search *s, int element, double at_a, double at_b) {
    enum { HALVINGS = 40 };
    const int n = s->method->state_size;
    double low = 0, high = 1, of_low = at_a, of_high = at_b;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high), t = s->times[0] + middle * (s->times[1] - s->times[0]);
        for (int k = 0; k < n; k++) s->y[k] = s->ends[0][k] + middle * (s->ends[1][k] - s->ends[0][k]);
        look(s, t, s->y);
        load(s, element, t);
        double of_middle = along(s);
        if (fabs(of_middle - of_low) > fabs(of_high - of_middle))
            high = middle, of_high = of_middle;
        else
            low = middle, of_low = of_middle;
    }
    return fabs(of_high - of_low) > 0.5 * fabs(at_b - at_a);
}

/* The largest force or torque of the element, in the state loaded last. */
static double strength(const search *s) {
    double force = 0, torque = 0;
    for (int b = 0; b <= s->model->body_count; b++) {
        force = fmax(force, lw_v3_norm(s->data->load + 6 * b + 3));
        torque = fmax(torque, lw_v3_norm(s->data->load + 6 * b));
    }
    for (int k = 0; k < s->model->nv; k++) torque = fmax(torque, fabs(s->data->tau[k]));
    return fmax(force, torque);
}

static void name_element(search *s, int element, lw_cause *cause) {
    double of[2], most = 0;
    for (int side = 0; side < 2; side++) {
        look(s, s->times[side], s->ends[side]);
        load(s, element, s->times[side]);
        of[side] = along(s);
        most = fmax(most, strength(s));
    }
    const lw_power *power = &s->data->power;
    cause->element = true;
    cause->feeds = power->dissipation < 0 || power->drives > 0 || power->forces > 0;
    cause->jumps = is_jump(s, element, of[0], of[1]);
    snprintf(cause->object, sizeof cause->object, "force \"%s\"", s->model->forces[element].name);
    snprintf(cause->text, sizeof cause->text,
             cause->jumps ? "its force, up to %.3g N or N m, jumps there"
                          : "its force, up to %.3g N or N m, changes faster there than anything else",
             most);
}

static void name_joint(search *s, lw_cause *cause) {
    const lw_model *model = s->model;
    int fastest = -1;
    double most = 0;
    look(s, s->times[1], s->ends[1]);
    for (int k = 0; k < model->nv; k++) {
        double size = fabs(s->x[k]) / (1 + fabs(s->v[k]));
        if (size > most) most = size, fastest = k;
    }
    if (fastest < 0) return;
    int i = model->body_count;
    while (model->links[i].v > fastest) i--;
    const lw_joint_entry *joint = &model->joints[model->bodies[i].joint_index];
    snprintf(cause->object, sizeof cause->object, "joint \"%s\"", joint->name);
    snprintf(cause->text, sizeof cause->text, "its speed is %.3g, its acceleration %.3g, in SI units",
             s->v[fastest], s->vdot[1][fastest]);
}

static bool accelerations(search *s, double t, const double *y, double *vdot) {
    lw_error error = {0};
    look(s, t, y);
    return s->method->formulation->accelerations(s->method, t, s->q, s->v, NULL, vdot, NULL, NULL, &error) ==
           LW_OK;
}

/* Computes x of two states; returns x'M x, or 0 if one of them has no accelerations. */
static double compare(search *s, const double *times, const double *const *states, const int pair[2]) {
    for (int side = 0; side < 2; side++) {
        s->ends[side] = states[pair[side]], s->times[side] = times[pair[side]];
        if (!accelerations(s, s->times[side], s->ends[side], s->vdot[side])) return 0;
    }
    for (int k = 0; k < s->model->nv; k++) s->x[k] = s->vdot[1][k] - s->vdot[0][k];
    return find_twists(s);
}

/* The element with the largest share in the change between the two states compared last, whose x'M x is
 * `all`; -1 if the elements together have less than good_part of it. */
static int largest_share(search *s, double all) {
    int best = -1;
    double most = 0, sum = 0;
    for (int e = 0; e < s->model->force_count; e++) {
        double of[2];
        for (int side = 0; side < 2; side++) {
            look(s, s->times[side], s->ends[side]);
            load(s, e, s->times[side]);
            of[side] = along(s);
        }
        double part = (of[1] - of[0]) / all;
        sum += part;
        if (part > most) most = part, best = e;
    }
    return sum > good_part ? best : -1;
}

/* Examines pairs of states in the order of their difference, the largest first. If bodies move so fast that
 * their own inertia is the cause of the largest difference, a force may still be found in the next ones. */
static void judge(search *s, int count, const double *times, const double *const *states, lw_cause *cause) {
    enum { PAIRS = 5 };
    int pairs[PAIRS][2], known = 0;
    double sizes[PAIRS];
    for (int b = 1; b < count; b++)
        for (int a = 0; a < b; a++) {
            const int pair[2] = {a, b};
            const double size = compare(s, times, states, pair);
            int at = known;
            while (at > 0 && size > sizes[at - 1]) at--;
            if (at == PAIRS) continue;
            if (known < PAIRS) known++;
            for (int k = known - 1; k > at; k--) {
                sizes[k] = sizes[k - 1];
                memcpy(pairs[k], pairs[k - 1], sizeof pair);
            }
            sizes[at] = size;
            memcpy(pairs[at], pair, sizeof pair);
        }
    for (int k = 0; k < known && sizes[k] > 0; k++) {
        const int element = largest_share(s, compare(s, times, states, pairs[k]));
        if (element < 0) continue;
        name_element(s, element, cause);
        return;
    }
    if (known && sizes[0] > 0) {
        compare(s, times, states, pairs[0]);
        name_joint(s, cause);
    }
}

void lw_find_cause(const lw_model *model, const lw_formulation *formulation, const lw_method_options *options,
                   int count, const double *times, const double *const *states, lw_cause *cause) {
    *cause = (lw_cause){0};
    search s = {.model = model};
    lw_method_options quiet = *options;
    quiet.note = NULL;
    lw_error error = {0};
    size_t nq = (size_t)lw_model_q_size(model) + 1, nv = (size_t)lw_model_v_size(model) + 1;
    if (lw_method_create(formulation, model, &quiet, &s.method, &error) == LW_OK &&
        lw_data_create(model, NULL, &s.data) == LW_OK) {
        lw_data_set_values(model, s.data, options->inputs, options->states);
        size_t bodies = 6 * ((size_t)model->body_count + 1);
        double *memory = calloc(nq + 4 * nv + bodies + (size_t)s.method->state_size, sizeof *memory);
        if (memory) {
            s.q = memory, s.v = s.q + nq, s.vdot[0] = s.v + nv, s.vdot[1] = s.vdot[0] + nv;
            s.x = s.vdot[1] + nv, s.twists = s.x + nv, s.y = s.twists + bodies;
            judge(&s, count, times, states, cause);
        }
        free(memory);
    }
    lw_method_destroy(s.method);
    lw_data_destroy(s.data);
}
