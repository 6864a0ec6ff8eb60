/* stiff_bodies.c - the light bodies that make a run stiff, by the fastest rates of the initial state.
 *
 * About a state the accelerations change by -B_K dq and -B_D dv, with B_K = M^-1 K and B_D = M^-1 D, K and D
 * the stiffness and damping of all elements together. The fastest rate is the larger of sqrt(rho(B_K)), an
 * oscillation, and rho(B_D), a decay; both radii are real and come from power iteration with differences of
 * forward dynamics. In the vector found the light body has most of the kinetic energy, in any coordinates.
 *
 * The rate is compared with that of the same mechanism in which the inertia of every light body is raised to
 * its reference value (neglect_ratios.h); such a body is called lifted. Bodies without inertia are always
 * lifted: they are not stiff, but belong to method massless. If the rate is much larger, small inertia is the
 * cause. The body is named and lifted, and the next one is sought. Light bodies connected to it by joints are
 * named with it: the forces on it act on them once its own inertia is neglected.
 *
 * Cost     O(n) for each of at most ROUNDS + 1 times 4 ITERATIONS calls.
 */
#include "analyses/neglect_ratios.h"
#include "dynamics/tree_dynamics.h"
#include "model/data.h"
#include <linkwork/neglect.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double light = 1e-2; /* ratio below which a body may be the cause */
static const double much = 30;    /* times the rate of the rest */
static const double shared = 0.2; /* bodies with this part of the largest energy are as fast */
/* The number of radians or decay times within a run from which an explicit integrator is affected. */
static const double per_run = 1000;
enum { ITERATIONS = 24, ROUNDS = 16 };

typedef struct search {
    lw_spec *spec;
    size_t count;
    lw_neglect_ratios *bodies;
    bool *lifted;
    /* The present model. */
    lw_model *model;
    lw_data *data;
    double *q, *v, *x, *energy; /* initial state, the vector, kinetic energies of the bodies */
    double *moved, *there, *back;
    /* Bodies that are connected by joints; -1 for ground. */
    int (*edges)[2];
    int edge_count;
} search;

/* --- one mechanism -------------------------------------------------------------------------------- */

static void close_model(search *s) {
    lw_data_destroy(s->data);
    lw_model_destroy(s->model);
    s->data = NULL, s->model = NULL;
}

static lw_status open_model(search *s, lw_error *error) {
    lw_status status = lw_compile_quietly(s->spec, &s->model, error);
    if (status == LW_OK) status = lw_data_create(s->model, NULL, &s->data);
    if (status == LW_OK) lw_model_initial_state(s->model, s->q, s->v);
    return status;
}

/* there = M^-1 (K or D) x by a central difference. */
static lw_status apply(search *s, bool damping, lw_error *error) {
    int nq = s->model->nq, nv = s->model->nv;
    const double h = damping ? 1e-4 : 1e-6; /* x has size 1: m/s and m, rad/s and rad */
    for (int side = 0; side < 2; side++) {
        double step = side ? -h : h, *result = side ? s->back : s->there;
        memcpy(s->moved, s->q, (size_t)nq * sizeof *s->q);
        memcpy(s->moved + nq, s->v, (size_t)nv * sizeof *s->v);
        if (damping)
            for (int k = 0; k < nv; k++) s->moved[nq + k] += step * s->x[k];
        else
            lw_integrate_q(s->model, s->moved, s->x, step);
        lw_status status =
            lw_open_forward(s->model, s->data, 0, s->moved, s->moved + nq, NULL, result, error);
        if (status != LW_OK) return status;
    }
    for (int k = 0; k < nv; k++) s->there[k] = (s->there[k] - s->back[k]) / (2 * h);
    return LW_OK;
}

static double largest(const double *x, int n) {
    double most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
    return most;
}

/* rho(B_K) or rho(B_D); its vector remains in x. The starting vector has components in all directions. */
static lw_status radius(search *s, bool damping, double *rho, lw_error *error) {
    int nv = s->model->nv;
    *rho = 0;
    for (int k = 0; k < nv; k++) s->x[k] = 0.5 + 0.5 * cos(7.0 * k);
    for (int i = 0; i < ITERATIONS; i++) {
        lw_status status = apply(s, damping, error);
        if (status != LW_OK) return status;
        *rho = largest(s->there, nv);
        if (!(*rho > 0) || !isfinite(*rho)) {
            *rho = 0;
            return LW_OK;
        }
        for (int k = 0; k < nv; k++) s->x[k] = s->there[k] / *rho;
    }
    return LW_OK;
}

/* Kinetic energy of each body when the speeds are x. */
static void find_energies(search *s) {
    lw_take_state(s->model, s->data, 0, s->q, s->x);
    lw_velocities(s->model, s->data);
    for (size_t k = 0; k < s->count; k++) { /* labels may change with masses */
        int b = lw_model_body(s->model, lw_spec_body(s->spec, k)->name);
        double momentum[6];
        lw_rigid_mul(&s->model->links[b].inertia, s->data->motion[b].V, momentum);
        s->energy[k] = lw_v6_dot(s->data->motion[b].V, momentum);
    }
}

/* The fastest rate, and the energies of the bodies in its motion. */
static lw_status fastest(search *s, double *rate, bool *oscillates, lw_error *error) {
    double decay = 0, square = 0;
    lw_status status = open_model(s, error);
    if (status == LW_OK) status = radius(s, true, &decay, error);
    if (status == LW_OK) find_energies(s);
    if (status == LW_OK) status = radius(s, false, &square, error);
    *oscillates = sqrt(square) > decay;
    *rate = fmax(sqrt(square), decay);
    if (status == LW_OK && *oscillates) find_energies(s);
    close_model(s);
    return status;
}

/* --- lifting -------------------------------------------------------------------------------------- */

/* The reference values are added to the moments of the body, so that it remains a possible one. */
static void lift(search *s, size_t k) {
    const lw_neglect_ratios *b = &s->bodies[k];
    lw_body_spec *body = lw_spec_body(s->spec, k);
    body->mass = b->heaviest;
    if (b->moments == 1) body->inertia[2] = b->inertia[2] + b->reference[2];
    for (int i = 0; i < 6 && b->moments == 3; i++) body->inertia[i] = b->inertia[i] + b->reference[i];
    s->lifted[k] = true;
}

static bool without_inertia(const lw_neglect_ratios *b) {
    return b->mass == 0 || (b->moments > 0 && !(b->principal[0] > 1e-13 * b->principal[2]));
}

static double ratio_of(const lw_neglect_ratios *b) {
    double moment = b->moments == 0             ? 0
                    : b->ratio < light          ? b->ratio
                    : b->smallest_ratio < light ? b->smallest_ratio
                                                : 0;
    return fmax(b->mass_ratio < light ? b->mass_ratio : 0, moment);
}

static void restore(search *s) {
    for (size_t k = 0; k < s->count; k++) {
        lw_body_spec *body = lw_spec_body(s->spec, k);
        body->mass = s->bodies[k].mass;
        memcpy(body->inertia, s->bodies[k].inertia, sizeof body->inertia);
        s->lifted[k] = false;
    }
}

/* --- the search ----------------------------------------------------------------------------------- */

static bool is_candidate(const search *s, size_t k) { return !s->lifted[k] && ratio_of(&s->bodies[k]) > 0; }

static void name_body(search *s, size_t k, const lw_stiff_body *as, lw_stiff_body *found, int room,
                      int *count) {
    lift(s, k);
    if (*count >= room) return;
    lw_stiff_body *b = &found[(*count)++];
    *b = *as;
    b->body = lw_spec_body(s->spec, k)->name;
    b->mass = s->bodies[k].mass;
    b->ratio = ratio_of(&s->bodies[k]);
}

/* Light bodies next to those named, and next to these, and so on. */
static void name_attached(search *s, const lw_stiff_body *as, lw_stiff_body *found, int room, int *count) {
    for (bool again = true; again;) {
        again = false;
        for (int t = 0; t < s->edge_count; t++)
            for (int side = 0; side < 2; side++) {
                int a = s->edges[t][side], b = s->edges[t][1 - side];
                if (a < 0 || b < 0 || !s->lifted[a] || without_inertia(&s->bodies[a])) continue;
                if (!is_candidate(s, (size_t)b)) continue;
                name_body(s, (size_t)b, as, found, room, count);
                again = true;
            }
    }
}

static lw_status look(search *s, lw_stiff_body *found, int room, int *count, lw_error *error) {
    double rest, rate;
    bool oscillates;
    for (size_t k = 0; k < s->count; k++)
        if (ratio_of(&s->bodies[k]) > 0 || without_inertia(&s->bodies[k])) lift(s, k);
    lw_status status = fastest(s, &rest, &oscillates, error);
    restore(s);
    const double end = lw_spec_run(s->spec)->end > 0 ? lw_spec_run(s->spec)->end : 10;
    rest = fmax(rest, 10 / end); /* Slower rates do not matter in such a run. */
    for (size_t k = 0; k < s->count; k++)
        if (without_inertia(&s->bodies[k])) lift(s, k);
    for (int round = 0; status == LW_OK && round < ROUNDS && *count < room; round++) {
        status = fastest(s, &rate, &oscillates, error);
        if (status != LW_OK || rate < much * rest || rate * end < per_run) break;
        double most = 0;
        for (size_t k = 0; k < s->count; k++)
            if (is_candidate(s, k)) most = fmax(most, s->energy[k]);
        if (!(most > 0)) break; /* Something else is fast. */
        const lw_stiff_body as = {.rate = rate, .rest = rest, .oscillates = oscillates};
        for (size_t k = 0; k < s->count; k++)
            if (is_candidate(s, k) && s->energy[k] >= shared * most) name_body(s, k, &as, found, room, count);
        name_attached(s, &as, found, room, count);
    }
    restore(s);
    return status;
}

/* Which bodies of the spec are connected by joints. */
static bool find_edges(search *s, const lw_model *model) {
    int *index = calloc((size_t)model->body_count + 1, sizeof *index); /* by label */
    s->edges = calloc((size_t)model->joint_count + 1, sizeof *s->edges);
    bool good = index && s->edges;
    if (good) {
        for (size_t k = 0; k < s->count; k++) index[s->bodies[k].label] = (int)k;
        index[0] = -1;
        s->edge_count = model->joint_count;
        for (int j = 0; j < model->joint_count; j++)
            for (int side = 0; side < 2; side++)
                s->edges[j][side] = index[model->joints[j].info.bodies[side]];
    }
    free(index);
    return good;
}

lw_status lw_stiff_bodies(lw_spec *spec, lw_stiff_body *bodies, int room, int *count, lw_error *error) {
    if (count) *count = 0;
    if (!spec || !count || room < 0 || (room > 0 && !bodies))
        return lw_call_needs("a spec, room for bodies and a place for their number", error);
    search s = {.spec = spec, .count = lw_spec_body_count(spec)};
    bool small = false;
    lw_status status = lw_weigh_bodies(spec, &s.bodies, error);
    for (size_t k = 0; status == LW_OK && k < s.count; k++) small = small || ratio_of(&s.bodies[k]) > 0;
    if (!small) {
        free(s.bodies);
        return status;
    }
    lw_model *model;
    status = lw_compile_quietly(spec, &model, error);
    if (status == LW_OK) {
        /* The coordinates of other trees of the same mechanism are at most this many. */
        size_t n = LW_JOINT_MAX_Q * s.count + 1;
        s.lifted = calloc(s.count, sizeof *s.lifted);
        s.q = calloc(7 * n + s.count, sizeof(double));
        if (!s.lifted || !s.q || !find_edges(&s, model)) {
            status = lw_out_of_memory(error);
        } else {
            s.v = s.q + n, s.x = s.v + n, s.there = s.x + n, s.back = s.there + n;
            s.moved = s.back + n, s.energy = s.moved + 2 * n;
        }
    }
    lw_model_destroy(model);
    if (status == LW_OK) status = look(&s, bodies, room, count, error);
    /* If no accelerations follow from the forces even so, no rates can be determined. */
    if (status == LW_ERROR_SINGULAR) *count = 0, status = LW_OK;
    free(s.bodies), free(s.lifted), free(s.q), free(s.edges);
    return status;
}
