/* state_scale.c - the sizes below which errors of states count absolutely, from the model and its start.
 *
 * A step is accepted if its error is below tolerance (scale + |y|). With the scale L for lengths, 1 for
 * angles, L/T and 1/T for their speeds and m (L/T)^2 for energies, a run does not depend on the units in
 * which its model was written.
 *
 *     L   how large the bodies are; if they have no extent, how far slides have moved at the start or, with
 *         the largest speed V and acceleration A of slides, or gravity, and the spectral radius rho of the
 *         equations, max(V/rho, A/rho^2), the amplitude of a vibration that starts like this
 *     T   with gravity g: pi sqrt(L/g), the time that a pendulum of this length swings to one side; without,
 *         the inverse of the largest rate at the start, or of a tenth of sqrt(acceleration); at most the
 *         duration of the run, which it is in equilibrium at rest
 *
 * User states have units of their own: their scale is the start value, or what rates make of it in the time
 * T: the rate at the start, or its change when the mechanism moves by its own scales. If these are zero, it
 * is 1.
 *
 * Source   docs/theory/integrators.md, "Tolerance".
 * Cost     O(model); one evaluation of the derivative where gravity or length is missing or a user state
 *          starts at zero (then one more), 13 more where there is no length at all.
 */
#include "simulation/state_scale.h"
#include "model/joint_types.h"
#include "simulation/choice/stiffness.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
/* In metres; less may be rounding of a state at rest. */
static const double least_length = 1e-12;

/* --- the length of the model ------------------------------------------------------------------------ */

static void reach(double *length, int body, const double *point) {
    if (body > 0) *length = fmax(*length, lw_v3_norm(point));
}

/* How large moving bodies are. */
static double size_of_bodies(const lw_model *model) {
    double length = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_rigid_inertia I = lw_true_inertia(model, i);
        reach(&length, i, model->bodies[i].com);
        const double sum = I.second[0] + I.second[1] + I.second[2];
        if (I.mass > 0 && sum > 0) length = fmax(length, sqrt(sum / (2 * I.mass)));
    }
    for (int side = 0; side < 2; side++) {
        for (int j = 0; j < model->joint_count; j++)
            reach(&length, model->joints[j].info.bodies[side], model->joints[j].frames[side].p);
        for (int k = 0; k < model->constraint_count; k++)
            reach(&length, model->constraints[k].bodies[side], model->constraints[k].points[side]);
    }
    for (int k = 0; k < model->constraint_count; k++)
        length = fmax(length, fmax(model->constraints[k].length, model->constraints[k].radius));
    return length;
}

/* How large forces and ground are, where bodies are points at their joints. */
static double size_of_surroundings(const lw_model *model) {
    const double *first = NULL;
    double length = 0;
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        length = fmax(length, force->free_length);
        if (lw_force_type_in_joint(force->type)) continue;
        for (int side = 0; side < 2; side++) reach(&length, force->bodies[side], force->frames[side].p);
    }
    for (int j = 0; j < model->joint_count; j++)
        for (int side = 0; side < 2; side++) {
            if (model->joints[j].info.bodies[side] != 0) continue;
            const double *p = model->joints[j].frames[side].p;
            double between[3];
            if (!first) first = p;
            lw_v3_sub(p, first, between);
            length = fmax(length, lw_v3_norm(between));
        }
    return length;
}

double lw_model_length(const lw_model *model) {
    const double length = size_of_bodies(model);
    return length > 0 ? length : size_of_surroundings(model);
}

/* --- what each state is ----------------------------------------------------------------------------- */

/* A coordinate or speed, of a translation or a rotation. */
enum { ANGLE, SLIDE, TURNING, SLIDING };

static bool is_speed(double kind) { return kind >= TURNING; }
static bool is_length(double kind) { return kind == SLIDE || kind == SLIDING; }

static void joint_states(const lw_model *model, double *kind) {
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const int slides = lw_joint_describe(link->joint.type)->slides;
        for (int k = 0; k < slides && k < link->joint.nv; k++) {
            kind[link->q + k] = SLIDE;
            kind[model->nq + link->v + k] = SLIDING;
        }
    }
}

/* The kind of each state of the method, as its coordinates are laid out: q and v of joints; position,
 * quaternion and velocities of each body; position and directors of all bodies, then their velocities. What
 * follows these are angles. */
static void find_kinds(const lw_method *method, double *kind) {
    const lw_model *model = method->model;
    const int bodies = model->body_count;
    for (int k = 0; k < method->state_size; k++) kind[k] = ANGLE;
    switch (method->formulation->coordinates) {
    case LW_COORDINATES_JOINT:
        for (int k = 0; k < model->nv; k++) kind[model->nq + k] = TURNING;
        joint_states(model, kind);
        break;
    case LW_COORDINATES_ABSOLUTE:
        for (int i = 0; i < bodies; i++)
            for (int k = 0; k < 3; k++) {
                kind[13 * i + k] = SLIDE;
                kind[13 * i + 7 + k] = SLIDING;
                kind[13 * i + 10 + k] = TURNING;
            }
        break;
    default:
        for (int k = 0; k < 12 * bodies; k++) {
            if (k % 12 < 3) kind[k] = SLIDE;
            kind[12 * bodies + k] = k % 12 < 3 ? SLIDING : TURNING;
        }
        break;
    }
}

static double largest(const double *kind, int n, int wanted, const double *x) {
    double most = 0;
    for (int k = 0; k < n; k++)
        if (kind[k] == wanted && isfinite(x[k])) most = fmax(most, fabs(x[k]));
    return most;
}

/* --- length, time, energy --------------------------------------------------------------------------- */

/* The start of a run, as the scales see it. */
typedef struct start {
    lw_system *system;
    const lw_method *method;
    double duration, t; /* duration: 0 if it is not known */
    const double *y;
    double *kind, *rate; /* rate: zeros if they cannot be had */
    bool rate_known;
    double *scale, *work;
} start;

static void take_rates(start *s) {
    lw_system *system = s->system;
    if (s->rate_known) return;
    s->rate_known = true;
    if (!system->derivative || system->derivative(system, s->t, s->y, s->rate, NULL) != LW_OK)
        memset(s->rate, 0, (size_t)system->size * sizeof *s->rate);
}

static void fill(const start *s, double length, double time) {
    for (int k = 0; k < s->method->state_size; k++)
        s->scale[k] = (is_length(s->kind[k]) ? length : 1) / (is_speed(s->kind[k]) ? time : 1);
}

/* The length of a motion that has none but its own: of points on slides, the coordinates of which are at most
 * `from` at the start. */
static double length_of_motion(start *s, double from) {
    const int n = s->method->state_size;
    const double part = 0.01; /* of the run is early in a flight */
    take_rates(s);
    const double V = largest(s->kind, n, SLIDING, s->y);
    const double A = fmax(largest(s->kind, n, SLIDING, s->rate), lw_v3_norm(s->method->model->gravity));
    const double T = s->duration > 0 ? s->duration : 1, early = part * T;
    const double flight = V > 0 && A > 0 ? fmin(V * V / A, V * early) : fmax(V * early, A * early * early);
    if (!(fmax(from, flight) > 0)) return 0;
    for (int k = 0; k < s->system->size; k++) s->scale[k] = 1;
    fill(s, from > least_length ? from : flight, T); /* in these units the system is linearised */
    const double rho = s->system->derivative ? lw_spectral_radius(s->system, s->t, s->y, s->work) : 0;
    if (rho * T > 1) return fmax(from, fmax(V / rho, A / (rho * rho)));
    return from > least_length ? from : flight;
}

static double find_length(start *s) {
    double length = lw_model_length(s->method->model);
    if (!(length > 0)) length = length_of_motion(s, largest(s->kind, s->method->state_size, SLIDE, s->y));
    return length > least_length && isfinite(length) ? length : 1;
}

static double find_time(start *s, double length) {
    const double *g = s->method->model->gravity, share = 0.1;
    const int n = s->method->state_size;
    const double weight = lw_v3_norm(g);
    if (weight > 0) return pi * sqrt(length / weight);
    take_rates(s);
    const double speed =
        fmax(largest(s->kind, n, TURNING, s->y), largest(s->kind, n, SLIDING, s->y) / length);
    const double acceleration =
        fmax(largest(s->kind, n, TURNING, s->rate), largest(s->kind, n, SLIDING, s->rate) / length);
    const double fastest = fmax(speed, share * sqrt(acceleration));
    const double longest = s->duration > 0 ? s->duration : 1; /* What takes longer may be rounding. */
    return fastest * longest > 1 ? 1 / fastest : longest;
}

static double find_energy(const lw_model *model, double length, double time) {
    double mass = 0, inertia = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_rigid_inertia I = lw_true_inertia(model, i);
        mass += I.mass;
        inertia += fmax(0, I.second[0] + I.second[1] + I.second[2]) / 2;
        const lw_link *link = &model->links[i];
        for (int k = 0; model->armature && k < link->joint.nv; k++)
            *(lw_joint_speed_turns(link->joint.type, k) ? &inertia : &mass) += model->armature[link->v + k];
    }
    const double energy = fmax(mass * length * length, inertia) / (time * time);
    return energy > 0 && isfinite(energy) ? energy : 1;
}

/* The sizes of user states. */
static void fill_user_states(start *s, int first, int count, double time) {
    const double part = 1e-3, nothing = 1e-12;
    lw_system *system = s->system;
    bool zero = false, moved = false;
    for (int k = first; k < first + count; k++) {
        s->scale[k] = fabs(s->y[k]);
        zero |= !(s->scale[k] > 0);
    }
    if (!zero) return;
    double *there = s->work, *rate = s->work + system->size;
    take_rates(s);
    memcpy(there, s->y, (size_t)system->size * sizeof *there);
    for (int k = 0; k < first; k++) there[k] += part * (0.6 + 0.4 * cos(7.0 * k)) * s->scale[k];
    if (system->derivative)
        moved = system->derivative(system, s->t + part * time, there, rate, NULL) == LW_OK;
    for (int k = first; k < first + count; k++) {
        if (s->scale[k] > 0) continue;
        const double change = moved ? fabs(rate[k] - s->rate[k]) / part : 0;
        s->scale[k] = fmax(fabs(s->rate[k]), change) * time;
        if (!(s->scale[k] > nothing && isfinite(s->scale[k]))) s->scale[k] = 1; /* less is rounding */
    }
}

lw_scales lw_state_scales(lw_system *system, const lw_method *method, double duration, double t,
                          const double *y, double *scale, double *work) {
    const int size = system->size, own = method->state_size, states = method->model->values.state_count;
    start s = {.system = system,
               .method = method,
               .duration = isfinite(duration) ? duration : 0,
               .t = t,
               .y = y,
               .kind = work,
               .rate = work + size,
               .scale = scale,
               .work = work + 2 * (size_t)size};
    lw_scales found;
    find_kinds(method, s.kind);
    system->scale = scale;
    found.length = find_length(&s);
    found.time = find_time(&s, found.length);
    found.energy = find_energy(method->model, found.length, found.time);
    fill(&s, found.length, found.time);
    fill_user_states(&s, own, states, found.time);
    for (int k = own + states; k < size; k++) scale[k] = found.energy;
    return found;
}
