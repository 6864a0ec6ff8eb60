/* massless_kinds.c - what determines each motion without mass: a damper, a spring, or nothing; and how to say so.
 *
 * At the initial position and at some beside it N'C N is factored; a direction whose pivot vanishes against its diagonal at all of
 * them has no damper of its own. If the balance of these directions changes with position, springs hold them; the others are
 * undetermined.
 *
 * Source   Arnold (2013), sect. 3.5: the regularity of d gamma / d zeta; docs/theory/massless.md, 4-6.
 * Cost     that of a few evaluations; allocates.
 */
#include "formulations/massless.h"
#include "formulations/massless_loops.h"
#include "formulations/projection.h"
#include "model/joint.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- sentences --------------------------------------------------------------------------------------- */

void lw_null_describe(const lw_null *null, int k, char *text, size_t size) {
    const lw_null_shape *shape = null->shape;
    const lw_body *body = &shape->model->bodies[shape->rep_body[k]];
    const double *S = NULL;
    double own[6], axis[3];
    const lw_link *link = &shape->model->links[shape->rep_body[k]];
    int speed = shape->rep[k] - link->v;
    /* the joint's own part of it, at zero displacement: the motion that a user knows */
    double q[LW_JOINT_MAX_Q], R[9], p[3], all[6 * LW_JOINT_MAX_V];
    lw_joint_zero(link->joint.type, q);
    lw_joint_motion(&link->joint, q, NULL, R, p, all, NULL);
    S = all + 6 * speed;
    memcpy(own, S, sizeof own);
    bool turns = lw_v3_norm(own) > 0;
    lw_m3_tmul_v(body->frame.R, turns ? own : own + 3, axis);
    double norm = lw_v3_norm(axis);
    for (int i = 0; i < 3; i++) axis[i] = norm > 0 ? axis[i] / norm : 0;
    int along = -1;
    for (int i = 0; i < 3; i++)
        if (fabs(axis[i]) > 1 - 1e-9) along = i;
    const char *what = turns ? "rotation about" : "translation along";
    if (along >= 0)
        snprintf(text, size, "%s %c", what, "xyz"[along]);
    else
        snprintf(text, size, "%s [%.3g, %.3g, %.3g]", what, axis[0] + 0.0, axis[1] + 0.0, axis[2] + 0.0);
}

lw_status lw_null_undetermined(const lw_null *null, int k, bool driven, lw_error *error) {
    const lw_model *model = null->shape->model;
    int i = null->shape->rep_body[k];
    const lw_body *body = &model->bodies[i];
    const char *joint = model->joints[body->joint_index].name;
    char what[96];
    lw_null_describe(null, k, what, sizeof what);
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

static double chance(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)(int64_t)(z ^ (z >> 31)) / 9.3e18;
}

enum { STATES = 4 };
static const double vanished = 1e-9; /* of a pivot against its diagonal */

/* State number s: the initial one at rest, then others beside it, closed where there are loops. */
static void look_at(lw_flow *flow, lw_projection *projection, int s, double *q, double *v) {
    const lw_model *model = flow->model;
    uint64_t random = 4711u + (uint64_t)s;
    memcpy(q, model->q0, (size_t)model->nq * sizeof *q);
    for (int k = 0; k < model->nv; k++) v[k] = s ? 0.3 * chance(&random) * fmin(1, flow->shape->length) : 0;
    lw_integrate_q(model, q, v, s ? 1 : 0);
    if (projection) {
        lw_violation left;
        lw_project_positions(projection, 0, q, 40, &left, NULL);
        lw_project_velocities(projection, 0, q, v, &left, NULL);
    }
    for (int k = 0; k < model->nv; k++) v[k] *= 1e-3; /* smoothed friction resists near rest */
    lw_take_state(model, flow->data, 0, q, v);
}

/* Pivots at the state in the flow: which vanish, and which are negative. */
static void inspect(lw_flow *flow, bool *none, bool *negative, double *floor) {
    int n = flow->shape->count;
    bool *skipped = lw_dampers_skipped(flow->dampers);
    double *floors = lw_dampers_floors(flow->dampers);
    const double *diagonal = lw_dampers_diagonal(flow->dampers), *pivot = lw_dampers_pivots(flow->dampers);
    for (int k = 0; k < n; k++) skipped[k] = true;
    if (lw_flow_at(flow, 0, NULL, NULL) != LW_OK) return;
    for (int k = 0; k < n; k++) skipped[k] = false, floors[k] = vanished * fabs(diagonal[k]);
    lw_dampers_factor(flow->dampers, flow->data, 0);
    for (int k = 0; k < n; k++) {
        bool sound = fabs(pivot[k]) > vanished * fabs(diagonal[k]) && isfinite(pivot[k]);
        if (sound) none[k] = false;
        if (sound && pivot[k] < 0) negative[k] = true;
        if (sound) floor[k] = fmax(floor[k], 0.1 * vanished * fabs(diagonal[k]));
    }
}

/* Algebraic directions that springs do not hold at any of the states become undetermined. */
static bool test_springs(lw_flow *flow, lw_flow *probe, lw_projection *projection, const bool *none,
                         double *q, double *v, lw_null_kinds *kinds) {
    int n = flow->shape->count, loose = -1;
    lw_arena *arena = lw_arena_create(NULL);
    lw_springs *springs = arena ? lw_springs_create(flow, probe, none, arena) : NULL;
    for (int s = 0; s < STATES && springs; s++) {
        look_at(flow, projection, s, q, v);
        lw_flow *both[2] = {flow, probe};
        for (int b = 0; b < 2; b++) {
            memcpy(lw_dampers_skipped(both[b]->dampers), none, (size_t)n * sizeof *none);
            memset(lw_dampers_floors(both[b]->dampers), 0, (size_t)n * sizeof(double));
        }
        if (lw_flow_at(flow, 0, NULL, NULL) != LW_OK) continue;
        loose = lw_springs_factor(springs, 0, NULL);
        if (loose < 0) break;
    }
    for (int k = 0; k < n && loose >= 0; k++)
        if (none[k] && lw_springs_lost(springs, k)) kinds->kind[k] = LW_DIRECTION_UNDETERMINED;
    bool fine = springs != NULL;
    if (arena) lw_arena_destroy(arena);
    return fine;
}

lw_status lw_null_classify(lw_null_shape *shape, lw_null_kinds *kinds, lw_arena *arena, lw_error *error) {
    const lw_model *model = shape->model;
    int n = shape->count;
    kinds->undetermined = -1;
    kinds->algebraic = 0;
    kinds->kind = LW_NEW(arena, lw_direction_kind, n + 1);
    kinds->driven = LW_NEW(arena, bool, n + 1);
    kinds->floor = LW_NEW(arena, double, n + 1);
    bool *none = LW_NEW(arena, bool, n + 1);
    double *q = LW_NEW(arena, double, model->nq + 1), *v = LW_NEW(arena, double, model->nv + 1);
    if (!kinds->kind || !kinds->driven || !kinds->floor || !none || !q || !v)
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "out of memory");
    if (!n) return LW_OK;
    lw_flow *flow = lw_flow_create(shape), *probe = NULL;
    lw_projection *projection = shape->dense ? lw_projection_create(model, LW_HOLD_NONE) : NULL;
    bool fine = flow && (!shape->dense || projection);
    if (fine) {
        for (int k = 0; k < n; k++) none[k] = true;
        for (int s = 0; s < STATES; s++) {
            look_at(flow, projection, s, q, v);
            inspect(flow, none, kinds->driven, kinds->floor);
        }
        for (int k = 0; k < n; k++) {
            kinds->kind[k] = kinds->driven[k] ? LW_DIRECTION_UNDETERMINED
                             : none[k]        ? LW_DIRECTION_ALGEBRAIC
                                              : LW_DIRECTION_FIRST_ORDER;
            kinds->algebraic += none[k];
        }
        if (kinds->algebraic) {
            probe = lw_flow_create(shape);
            fine = probe && test_springs(flow, probe, projection, none, q, v, kinds);
        }
        for (int k = 0; k < n; k++)
            if (kinds->kind[k] == LW_DIRECTION_UNDETERMINED && kinds->undetermined < 0)
                kinds->undetermined = k;
    }
    lw_projection_destroy(projection);
    lw_flow_destroy(flow), lw_flow_destroy(probe);
    return fine ? LW_OK : lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "out of memory");
}
