/* massless_kinds.c - classifies massless motions by what determines them, a damper, a spring or nothing, and
 * describes them in messages.
 *
 * N'C N is factored at the initial position and at some positions beside it. A direction whose pivot vanishes
 * against its diagonal at all of them has no damper of its own. If the balance of these directions changes
 * with position, springs hold them; the others are undetermined.
 *
 * Source   Arnold (2013), sect. 3.5: the regularity of d gamma / d zeta; docs/theory/massless.md, 3, 4 and 8.
 * Cost     that of a few evaluations; allocates.
 */
#include "formulations/massless/massless_springs.h"
#include "formulations/massless/massless_loops.h"
#include "constraints/projection.h"
#include "model/joint.h"
#include "core/pseudo_random.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- messages ---------------------------------------------------------------------------------------- */

int lw_body_of_speed(const lw_model *model, int speed) {
    int body = model->body_count;
    while (model->links[body].v > speed) body--;
    return body;
}

void lw_describe_speed(const lw_model *model, int speed, char *text, size_t size) {
    int i = lw_body_of_speed(model, speed);
    const lw_body *body = &model->bodies[i];
    const lw_link *link = &model->links[i];
    /* The motion of the joint alone at zero displacement, which is the motion that a user knows. */
    double q[LW_JOINT_MAX_Q], R[9], p[3], all[6 * LW_JOINT_MAX_V], axis[3];
    lw_joint_zero(link->joint.type, q);
    lw_joint_motion(&link->joint, q, NULL, R, p, all, NULL);
    const double *own = all + 6 * (speed - link->v);
    bool turns = lw_v3_norm(own) > 0;
    lw_m3_tmul_v(body->frame.R, turns ? own : own + 3, axis);
    double norm = lw_v3_norm(axis);
    for (int k = 0; k < 3; k++) axis[k] = norm > 0 ? axis[k] / norm : 0;
    int along = -1;
    for (int k = 0; k < 3; k++)
        if (fabs(axis[k]) > 1 - 1e-9) along = k;
    const char *what = turns ? "rotation about" : "translation along";
    if (along >= 0)
        snprintf(text, size, "%s %c", what, "xyz"[along]);
    else
        snprintf(text, size, "%s [%.3g, %.3g, %.3g]", what, axis[0] + 0.0, axis[1] + 0.0, axis[2] + 0.0);
}

lw_status lw_undetermined_speed(const lw_model *model, int speed, bool driven, lw_error *error) {
    int i = lw_body_of_speed(model, speed);
    const lw_body *body = &model->bodies[i];
    const char *joint = model->joints[body->joint_index].name;
    char what[96];
    lw_describe_speed(model, speed, what, sizeof what);
    const char *lacks = model->links[i].inertia.mass > 0 ? "no inertia there" : "no mass";
    if (driven)
        return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, body->place, "body", body->name,
                          "add inertia, or more damping than drives and laws take away there",
                          "has %s, and its %s (joint \"%s\") is driven rather than damped by what acts there",
                          lacks, what, joint);
    return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, body->place, "body", body->name,
                      "add inertia, a damper or a spring there, or weld it",
                      "has %s, and nothing resists its %s (joint \"%s\")", lacks, what, joint);
}

/* --- kinds ---------------------------------------------------------------------------------------------- */

enum { STATES = 4 };
/* A pivot has vanished if it does not exceed this part of its diagonal. */
static const double vanished = 1e-9;
/* A pivot is rounding if it does not exceed this part of lw_dampers_sizes: dampers see 1e-10 of the speed. */
static const double rounding = 1e-20;

/* Takes state number s: 0 is the initial position at rest, others are beside it; loops are closed. */
static void look_at(lw_flow *flow, lw_projection *projection, int s, double *q, double *v) {
    const lw_model *model = flow->model;
    uint64_t random = 4711u + (uint64_t)s;
    memcpy(q, model->q0, (size_t)model->nq * sizeof *q);
    for (int k = 0; k < model->nv; k++) v[k] = s ? 0.3 * lw_pseudo_random(&random) * flow->shape->unit[k] : 0;
    lw_integrate_q(model, q, v, s ? 1 : 0);
    if (projection) {
        lw_violation left;
        lw_project_positions(projection, 0, q, 40, &left, NULL);
        lw_project_velocities(projection, 0, q, v, &left, NULL);
    }
    for (int k = 0; k < model->nv; k++) v[k] *= 1e-3; /* Smoothed friction resists near rest only. */
    lw_take_state(model, flow->data, 0, q, v);
}

/* The pivots of several states. The directions of a group that are damped may change from one state to the
 * next, as the speeds that represent them do; their number does not change but in singular positions. */
typedef struct pivots {
    /* Per direction: it has no damper of its own, at the first state at which the fewest directions of its
     * group have none. */
    bool *none;
    bool *sound; /* Per direction: its pivot does not vanish at the last state. */
    int *of;     /* Per direction: its group. */
    /* Per group: the number of damped directions, at the state with the most of them and at the last
     * state. */
    int *most, *now;
} pivots;

static bool pivots_create(const lw_flow *flow, pivots *p, lw_arena *arena) {
    size_t n = (size_t)flow->shape->count + 1;
    p->none = LW_NEW(arena, bool, n);
    p->sound = LW_NEW(arena, bool, n);
    p->of = LW_NEW(arena, int, n);
    p->most = LW_NEW(arena, int, n);
    p->now = LW_NEW(arena, int, n);
    if (lw_arena_failed(arena)) return false;
    lw_dampers_groups(flow->dampers, p->of);
    for (int k = 0; k < flow->shape->count; k++) p->none[k] = true;
    return true;
}

/* Examines the pivots at the state in the flow: those that vanish, and those that are negative. floor: per
 * direction, raised to a part of the diagonal. */
static void inspect(lw_flow *flow, pivots *p, bool *negative, double *floor) {
    int n = flow->shape->count;
    bool *skipped = flow->dampers->skipped;
    double *floors = flow->dampers->floor;
    const double *diagonal = flow->dampers->diagonal, *pivot = flow->dampers->pivot;
    for (int k = 0; k < n; k++) skipped[k] = true;
    if (lw_flow_at(flow, 0, NULL, NULL) != LW_OK) return;
    for (int k = 0; k < n; k++) skipped[k] = false, floors[k] = vanished * fabs(diagonal[k]);
    lw_dampers_factor(flow->dampers, flow->data, 0);
    /* The sizes contain latent dampers, too, but they only measure rounding. */
    lw_dampers_sizes(flow->dampers, flow->data, 0, flow->weight);
    memset(p->now, 0, (size_t)n * sizeof *p->now);
    for (int k = 0; k < n; k++) {
        bool sound = fabs(pivot[k]) > fmax(vanished * fabs(diagonal[k]), rounding * flow->weight[k]) &&
                     isfinite(pivot[k]);
        p->sound[k] = sound;
        p->now[p->of[k]] += sound;
        if (sound && pivot[k] < 0) negative[k] = true;
        if (sound) floor[k] = fmax(floor[k], 0.1 * vanished * fabs(diagonal[k]));
    }
    for (int k = 0; k < n; k++)
        if (p->now[p->of[k]] > p->most[p->of[k]]) p->none[k] = !p->sound[k];
    for (int k = 0; k < n; k++)
        if (p->now[k] > p->most[k]) p->most[k] = p->now[k];
}

/* Returns the speed that names the motion N z = u best: the largest one of a joint whose body moves. */
static int best_speed(const lw_flow *flow, const double *z, const double *u) {
    const lw_model *model = flow->model;
    double best = 0;
    int speed = -1;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        double twist[6] = {0}, length = flow->shape->length;
        for (int k = 0; k < flow->shape->count; k++)
            for (int m = flow->shape->moved_start[k]; m < flow->shape->moved_start[k + 1]; m++)
                if (flow->shape->body[m] == i) lw_v6_axpy(z[k], flow->null->twist + 6 * m, twist);
        bool moves = lw_v3_norm(twist) > 1e-6 || lw_v3_norm(twist + 3) > 1e-6 * length;
        for (int v = 0; v < link->joint.nv && moves; v++) {
            double size = fabs(u[link->v + v]) / flow->shape->unit[link->v + v];
            if (!(link->prescribed >> v & 1) && size > 1.0001 * best) best = size, speed = link->v + v;
        }
    }
    return speed;
}

/* The motions that have names. No later motion has a part at the speed that names an earlier one. So all
 * names differ, and the speeds that are names are coordinates of all massless motions. */
typedef struct names {
    int count;
    double *z, *u; /* Per motion: z in directions, and u = N z in speeds. */
    int *speed;    /* Per motion: the speed that names it. */
} names;

static bool names_create(const lw_flow *flow, names *named, lw_arena *arena) {
    size_t n = (size_t)flow->shape->count, nv = (size_t)flow->model->nv;
    *named = (names){.z = LW_NEW(arena, double, n *n + 1),
                     .u = LW_NEW(arena, double, n *nv + 1),
                     .speed = LW_NEW(arena, int, n + 1)};
    return named->z && named->u && named->speed;
}

/* Returns z of the next motion, set to zero. */
static double *next_motion(const lw_flow *flow, const names *named) {
    double *z = named->z + (size_t)named->count * (size_t)flow->shape->count;
    memset(z, 0, (size_t)flow->shape->count * sizeof *z);
    return z;
}

/* Names the next motion, and returns the speed: the wanted one if the motion, without its parts along named
 * motions, has kept at least half of its size there, else that of best_speed. Returns -1 if the motion is a
 * combination of motions that have names. */
static int name_next(const lw_flow *flow, names *named, int wanted) {
    int n = flow->shape->count, nv = flow->model->nv;
    double *z = named->z + (size_t)named->count * (size_t)n,
           *u = named->u + (size_t)named->count * (size_t)nv;
    memset(u, 0, (size_t)nv * sizeof *u);
    lw_null_times(flow->null, z, u);
    double size = wanted >= 0 ? fabs(u[wanted]) : 0;
    for (int before = 0; before < named->count; before++) { /* The parts along named motions are removed. */
        const double *other = named->u + (size_t)before * (size_t)nv;
        double part = u[named->speed[before]] / other[named->speed[before]];
        for (int i = 0; i < nv; i++) u[i] -= part * other[i];
        for (int i = 0; i < n; i++) z[i] -= part * named->z[(size_t)before * (size_t)n + (size_t)i];
        u[named->speed[before]] = 0;
    }
    int best = size > 0 && fabs(u[wanted]) > 0.5 * size ? wanted : best_speed(flow, z, u);
    if (best >= 0) named->speed[named->count++] = best;
    return best;
}

/* Names all directions at the state in the flow: by the speeds that represent them, or in closed loops by
 * speeds of joints whose bodies move. */
static bool name_by_speeds(lw_flow *flow, lw_null_kinds *kinds, lw_arena *arena) {
    names named;
    for (int k = 0; k < flow->shape->count; k++) kinds->speed[k] = flow->null->rep[k];
    if (!flow->shape->dense) return true;
    if (!names_create(flow, &named, arena)) return false;
    for (int k = 0; k < flow->shape->count; k++) {
        next_motion(flow, &named)[k] = 1;
        int best = name_next(flow, &named, -1);
        if (best >= 0) kinds->speed[k] = best;
    }
    return true;
}

/* Names direction k, whose pivot is negative in the last factor, by the speed at which a negative damper
 * drives the motion L^-T e_k, or else by the largest speed of this motion: damping that is added there
 * opposes it. The direction that had this name gets the former name of k. */
static bool name_driven(lw_flow *flow, int k, lw_null_kinds *kinds) {
    const int n = flow->shape->count, nv = flow->model->nv;
    double *z = calloc((size_t)(n + nv) + 1, sizeof *z), *u = z + n;
    if (!z) return false;
    z[k] = 1;
    lw_dampers_upper(flow->dampers, z);
    lw_null_times(flow->null, z, u);
    int best = lw_dampers_driver(flow->dampers, z);
    if (best < 0) best = best_speed(flow, z, u);
    for (int other = 0; other < n && best >= 0; other++)
        if (kinds->speed[other] == best) kinds->speed[other] = kinds->speed[k];
    if (best >= 0) kinds->speed[k] = best;
    free(z);
    return true;
}

/* Names the motions that nothing holds, each by a different speed: a damper or spring that is added there
 * determines the motion. Other directions that had such a name get a new one. */
static bool name_free(lw_flow *flow, lw_springs *springs, lw_null_kinds *kinds, lw_arena *arena) {
    names named;
    if (!names_create(flow, &named, arena)) return false;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < flow->shape->count; k++) {
            bool loose = kinds->kind[k] == LW_DIRECTION_UNDETERMINED && !kinds->driven[k];
            if (loose != (pass == 0)) continue;
            double *z = next_motion(flow, &named);
            if (loose)
                lw_springs_free(springs, k, z);
            else
                z[k] = 1;
            /* In a group that chooses its pivots, k is a slot of the factor. The motions L^-T e_k of the
             * slots span the group; the directions themselves beside free motions might not. */
            if (!loose && flow->dampers->within[k]) lw_dampers_upper(flow->dampers, z);
            int best = name_next(flow, &named, loose ? -1 : kinds->speed[k]);
            if (best >= 0) kinds->speed[k] = best;
        }
    return true;
}

/* Returns the least pivot at which a latent damper takes effect: 1e-6 of the critical damping of the whole
 * mechanism's mass on the springs of direction k. */
static double least_latent(const lw_null_shape *shape, const lw_springs *springs, int k, int speed) {
    const lw_model *model = shape->model;
    double mass = 0;
    for (int i = 1; i <= model->body_count; i++) { /* Rotors have inertia and may have no mass. */
        const lw_rigid_inertia *I = &model->links[i].inertia;
        mass +=
            I->mass + 0.5 * (I->second[0] + I->second[1] + I->second[2]) / (shape->length * shape->length);
    }
    double arm =
        shape->length / shape->unit[speed]; /* the arm of the mass about the axis of a rotation; else 1 */
    double least = 1e-6 * sqrt(lw_springs_stiffness(springs, k) * mass) * arm * shape->square[speed];
    return isfinite(least) ? least : 0;
}

/* Sets the floors of latent directions by the stiffness of the springs that hold them without their
 * damper. */
static bool floor_latent(lw_flow *flow, lw_flow *probe, lw_projection *projection, const bool *none,
                         double *q, double *v, lw_null_kinds *kinds) {
    int n = flow->shape->count;
    lw_arena *arena = lw_arena_create(NULL);
    bool *held = LW_NEW(arena, bool, n + 1);
    for (int k = 0; k < n && held; k++) held[k] = none[k] || kinds->latent[k];
    lw_springs *springs = held ? lw_springs_create(flow, probe, held, arena) : NULL;
    lw_flow *both[2] = {flow, probe};
    for (int b = 0; b < 2 && springs; b++) {
        memcpy(both[b]->dampers->skipped, held, (size_t)n * sizeof *held);
        memset(both[b]->dampers->floor, 0, (size_t)n * sizeof(double));
    }
    if (springs) look_at(flow, projection, 0, q, v);
    if (springs && lw_flow_at(flow, 0, NULL, NULL) == LW_OK) {
        lw_springs_factor(springs, 0, NULL);
        for (int k = 0; k < n; k++)
            if (kinds->latent[k])
                kinds->floor[k] =
                    fmax(kinds->floor[k], least_latent(flow->shape, springs, k, flow->null->rep[k]));
    }
    if (arena) lw_arena_destroy(arena);
    return springs != NULL;
}

/* Makes algebraic directions undetermined that springs hold at none of the states. */
static bool test_springs(lw_flow *flow, lw_flow *probe, lw_projection *projection, const bool *none,
                         double *q, double *v, lw_null_kinds *kinds) {
    int n = flow->shape->count, loose = -1;
    lw_arena *arena = lw_arena_create(NULL);
    lw_springs *springs = arena ? lw_springs_create(flow, probe, none, arena) : NULL;
    lw_flow *both[2] = {flow, probe};
    bool fine = springs != NULL;
    for (int b = 0; b < 2; b++) {
        memcpy(both[b]->dampers->skipped, none, (size_t)n * sizeof *none);
        memset(both[b]->dampers->floor, 0, (size_t)n * sizeof(double));
        both[b]->classifying = true;
        fine = fine && lw_dampers_mix(both[b]->dampers, arena);
    }
    for (int s = 0; s < STATES && fine; s++) {
        look_at(flow, projection, s, q, v);
        if (lw_flow_at(flow, 0, NULL, NULL) != LW_OK) continue;
        loose = lw_springs_factor(springs, 0, NULL);
        if (loose < 0) break;
    }
    for (int k = 0; k < n && loose >= 0; k++)
        if (none[k] && lw_springs_lost(springs, k)) kinds->kind[k] = LW_DIRECTION_UNDETERMINED;
    if (fine && loose >= 0 && n <= LW_LOOSE_LIMIT) fine = name_free(flow, springs, kinds, arena);
    if (arena) lw_arena_destroy(arena);
    return fine;
}

/* Tests the initial state itself, where a run begins: a direction that has lost its damper there must be held
 * by springs, or it is undetermined, whatever it is elsewhere. The flows are new, with the kinds and floors
 * that the method uses. */
static bool test_start(lw_null_shape *shape, lw_projection *projection, double *q, double *v,
                       lw_null_kinds *kinds) {
    int n = shape->count;
    const lw_model *model = shape->model;
    lw_flow *both[2] = {lw_flow_create(shape), lw_flow_create(shape)}, *flow = both[0];
    lw_arena *arena = lw_arena_create(NULL);
    bool fine = both[0] && both[1] && arena, *candidate = fine ? LW_NEW(arena, bool, n + 1) : NULL;
    fine = fine && candidate;
    for (int b = 0; b < 2 && fine; b++) {
        for (int k = 0; k < n; k++) {
            both[b]->dampers->skipped[k] = kinds->kind[k] == LW_DIRECTION_ALGEBRAIC && !kinds->latent[k];
            both[b]->dampers->floor[k] = kinds->floor[k];
        }
        both[b]->sprung = true;
        fine = lw_dampers_mix(both[b]->dampers, arena);
    }
    for (int k = 0; k < n && fine; k++) candidate[k] = n <= LW_LOOSE_LIMIT;
    lw_springs *springs = fine ? lw_springs_create(flow, both[1], candidate, arena) : NULL;
    fine = springs != NULL;
    if (fine) {
        look_at(flow, projection, 0, q, v);
        lw_take_state(model, flow->data, 0, q, model->v0);
        lw_flow_velocity(flow, 0, NULL, NULL); /* Other failures do not concern the directions. */
        const bool *loose = flow->dampers->loose;
        bool lost = flow->dampers->missing >= 0;
        int driven = flow->dampers->driven;
        if (lost && driven < 0 && n <= LW_LOOSE_LIMIT) lw_springs_factor(springs, 0, NULL);
        for (int k = 0; k < n && lost; k++) {
            if (!loose[k] || kinds->kind[k] != LW_DIRECTION_FIRST_ORDER) continue;
            if (k != driven && n <= LW_LOOSE_LIMIT && !lw_springs_lost(springs, k)) continue;
            kinds->kind[k] = LW_DIRECTION_UNDETERMINED;
            kinds->driven[k] = k == driven;
        }
    }
    lw_flow_destroy(both[0]), lw_flow_destroy(both[1]);
    if (arena) lw_arena_destroy(arena);
    return fine;
}

/* Finds the directions that no damper but latent ones resists, if anything does. They are algebraic if their
 * damper has no effect at the initial state. */
static bool find_latent(lw_flow *flow, lw_projection *projection, pivots *seen, double *q, double *v,
                        lw_null_kinds *kinds, lw_arena *arena) {
    int n = flow->shape->count;
    const bool *latent = flow->dampers->latent;
    bool any = false, *negative = LW_NEW(arena, bool, n + 1);
    double *floor = LW_NEW(arena, double, n + 1), *u = LW_NEW(arena, double, flow->model->nv + 1);
    pivots bare = {0};
    if (lw_arena_failed(arena) || !pivots_create(flow, &bare, arena)) return false;
    for (int k = 0; k < n; k++) any |= latent[k];
    flow->dampers->without_latent = any;
    for (int s = 0; s < STATES && any; s++) {
        look_at(flow, projection, s, q, v);
        inspect(flow, &bare, negative, floor);
    }
    flow->dampers->without_latent = false;
    for (int k = 0; k < n; k++) {
        kinds->wanting[k] = any ? bare.none[k] : seen->none[k];
        kinds->latent[k] = kinds->wanting[k] && latent[k];
    }
    if (!any) return true;
    for (int k = 0; k < n; k++) {
        if (!kinds->latent[k] || seen->none[k]) continue;
        look_at(flow, projection, 0, q, v);
        inspect(flow, &bare, negative, floor);
        if (bare.sound[k]) continue;
        memset(u, 0, (size_t)flow->model->nv * sizeof *u);
        lw_null_add(flow->null, k, flow->shape->unit[flow->null->rep[k]], u);
        flow->dampers->floor[k] = kinds->floor[k];
        flow->sprung = true;
        seen->none[k] = lw_pivot_vanishes(flow, k, 0, NULL, q, v, u);
        flow->sprung = false;
    }
    return true;
}

lw_status lw_null_classify(lw_null_shape *shape, lw_null_kinds *kinds, lw_arena *arena, lw_error *error) {
    const lw_model *model = shape->model;
    int n = shape->count;
    kinds->undetermined = -1;
    kinds->algebraic = 0;
    kinds->kind = LW_NEW(arena, lw_direction_kind, n + 1);
    kinds->driven = LW_NEW(arena, bool, n + 1);
    kinds->floor = LW_NEW(arena, double, n + 1);
    kinds->speed = LW_NEW(arena, int, n + 1);
    kinds->wanting = LW_NEW(arena, bool, n + 1);
    kinds->latent = LW_NEW(arena, bool, n + 1);
    pivots seen = {0};
    double *q = LW_NEW(arena, double, model->nq + 1), *v = LW_NEW(arena, double, model->nv + 1);
    bool *before = LW_NEW(arena, bool, n + 1); /* Per direction: it was driven at an earlier state. */
    if (lw_arena_failed(arena)) return lw_out_of_memory(error);
    if (!n) return LW_OK;
    lw_flow *flow = lw_flow_create(shape), *probe = NULL;
    lw_projection *projection = shape->dense ? lw_projection_create(model, LW_HOLD_NONE) : NULL;
    bool fine = flow && (!shape->dense || projection) && pivots_create(flow, &seen, arena);
    const bool *none = seen.none;
    if (fine) {
        for (int s = 0; s < STATES && fine; s++) {
            look_at(flow, projection, s, q, v);
            memcpy(before, kinds->driven, (size_t)n * sizeof *before);
            inspect(flow, &seen, kinds->driven, kinds->floor);
            if (!s) fine = name_by_speeds(flow, kinds, arena);
            for (int k = 0; k < n && fine; k++)
                if (kinds->driven[k] && !before[k]) fine = name_driven(flow, k, kinds);
        }
        if (fine) fine = find_latent(flow, projection, &seen, q, v, kinds, arena);
        for (int k = 0; k < n; k++) {
            kinds->kind[k] = kinds->driven[k] ? LW_DIRECTION_UNDETERMINED
                             : none[k]        ? LW_DIRECTION_ALGEBRAIC
                                              : LW_DIRECTION_FIRST_ORDER;
            kinds->algebraic += none[k];
        }
        bool latent = false;
        for (int k = 0; k < n; k++) latent |= kinds->latent[k];
        if (kinds->algebraic || latent) fine = fine && (probe = lw_flow_create(shape)) != NULL;
        if (latent && fine && n <= LW_LOOSE_LIMIT)
            fine = floor_latent(flow, probe, projection, none, q, v, kinds);
        if (kinds->algebraic) {
            fine = fine && test_springs(flow, probe, projection, none, q, v, kinds);
        }
        bool loose = false;
        for (int k = 0; k < n; k++) loose |= kinds->kind[k] == LW_DIRECTION_UNDETERMINED;
        if (fine && !loose) fine = test_start(shape, projection, q, v, kinds);
        for (int k = 0; k < n; k++)
            if (kinds->kind[k] == LW_DIRECTION_UNDETERMINED && kinds->undetermined < 0)
                kinds->undetermined = k;
    }
    lw_projection_destroy(projection);
    lw_flow_destroy(flow), lw_flow_destroy(probe);
    return fine ? LW_OK : lw_out_of_memory(error);
}
