/* massless_dampers.c - what resists motions without mass: N'C N, and its factors.
 *
 *   N'C N = sum over dampers  c (h N)'(h N),      h v the rate of a damper, -c h v its force
 *
 * A damper is a joint's speed with a force that depends on it (torsion, friction, drive), the line of a spring, or one of the six
 * components of a bushing; c is the derivative of its force at the present rate, exact. The matrix is symmetric. It is factored
 * as L D L' in the order of the directions, from the leaves inwards, so that nothing fills in along a branch; directions that no
 * damper resists are known and left out: their pivots vanish, and so do their columns. Groups with such ones beside others choose
 * their pivots at each position (massless_mixed.c).
 *
 * Source   docs/theory/massless.md, 4.
 * Cost     O(dampers + entries of L), no allocation but in create.
 */
#include "formulations/massless_mixed.h"
#include "model/joint.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The part of a direction in a damper's rate: an entry of its speeds, or twists of the two bodies (-1: none). */
typedef struct share {
    int direction, first, second;
} share;

typedef struct damper {
    const lw_force *force;
    int component;    /* of a bushing */
    int share, count; /* its shares */
    int pair;         /* the place of each pair (a, b <= a) of its directions in the matrix, in this order */
    int speed;        /* in a joint: where it acts; else -1 */
    int bodies[2];    /* between bodies */
    bool constant;    /* in a joint or along a line, and linear: c does not change */
    bool line;        /* of a spring: lw_forces leaves h */
    double c;         /* at the last state */
    const double
        *h; /* between bodies: its rate is h V of the second less h V of the first, 6 each, internal axes */
} damper;

struct lw_dampers {
    const lw_null *null;
    int count;
    damper *dampers;
    share *shares;
    int *pairs;
    double *rate;   /* per share of an element between bodies: its rate along the direction */
    double *wrench; /* 12 per damper: h, where it is not that of a spring, which lw_forces leaves */
    bool linear;
    bool steady; /* linear, and no other element that such motions reach books power */
    /* the matrix: for each direction its columns up to the diagonal, which comes last */
    int size, *start, *column;
    double *value, *diagonal;
    /* L by columns, D */
    int *parent, *L_start, *L_count, *L_row, *flag, *pattern;
    double *L, *inverse, *pivot, *work;
    bool *skipped;
    double *floor;
    bool *loose; /* skipped, or without a pivot at this position */
    int loose_count;
    bool lost;  /* a pivot that is neither skipped nor positive */
    int driven; /* a direction with a negative pivot, or -1 */
    /* groups in which dampers resist some directions only; NULL: there are none */
    lw_mixed *mixed;
    const lw_dampers *follow; /* whose pivots they take; NULL: their own */
    bool *within;             /* per direction: it belongs to one of these */
    double *unit;
};

/* --- which ------------------------------------------------------------------------------------------- */

static bool uses(const lw_function *f, size_t variable) { return f && lw_function_uses(f, variable); }

/* Does the element resist speeds in this component at all? */
static bool resists(const lw_force *force, int component) {
    switch (force->type) {
    case LW_FORCE_SPRING:
    case LW_FORCE_TORSION:
        return component == 0 && (force->damping != 0 || uses(force->law, 1));
    case LW_FORCE_BUSHING:
        return force->bushing_damping[component] != 0;
    case LW_FORCE_DRIVE:
        return component == 0 && uses(force->drive, 2);
    case LW_FORCE_FRICTION:
        return component == 0 && (force->viscous != 0 || force->coulomb != 0);
    default:
        return false;
    }
}
static bool is_linear(const lw_force *force) {
    if (force->type == LW_FORCE_DRIVE) return false;
    if (force->type == LW_FORCE_FRICTION) return force->coulomb == 0;
    return !uses(force->law, 1);
}
/* Does its power depend on speeds otherwise than by damping? */
static bool pushes(const lw_force *force) {
    return force->type == LW_FORCE_APPLIED || force->type == LW_FORCE_DRIVE ||
           (force->law && !force->law_is_potential);
}
/* Derivative of a law of x, v, t by v. */
static double slope(const lw_function *law, double x, double v, double t) {
    const lw_jet at[3] = {{x, 0, 0}, {v, 1, 0}, {t, 0, 0}};
    return lw_function_jet(law, at).d;
}

/* c of an element in a joint, at coordinate q and speed v. */
static double joint_damping(const lw_force *force, double q, double v, double t) {
    if (force->type == LW_FORCE_DRIVE) {
        const lw_jet at[3] = {{t, 0, 0}, {q, 0, 0}, {v, 1, 0}};
        return -lw_function_jet(force->drive, at).d;
    }
    if (force->type == LW_FORCE_FRICTION) {
        if (force->coulomb == 0) return force->viscous;
        double share_of = tanh(v / force->smoothing);
        return force->viscous + force->coulomb / force->smoothing * (1 - share_of * share_of);
    }
    return force->damping + (uses(force->law, 1) ? slope(force->law, q - force->free_length, v, t) : 0);
}

/* Does it act on one joint speed, or between two bodies? */
static bool in_joint(const lw_force *force) {
    return force->closure < 0 && force->type != LW_FORCE_SPRING && force->type != LW_FORCE_BUSHING &&
           force->type != LW_FORCE_APPLIED;
}
static void bodies_of(const lw_model *model, const lw_force *force, int bodies[2]) {
    const int *from =
        force->closure < 0 ? force->bodies : model->joints[model->closures[force->closure]].info.bodies;
    bodies[0] = from[0], bodies[1] = from[1];
}

/* Lists of the entries of every speed and of the moved places of every body, by direction. */
typedef struct index {
    int *start, *item, *direction;
} index_lists;

static bool make_index(int keys, int directions, const int *start, const int *key, index_lists *out) {
    int items = directions ? start[directions] : 0;
    out->start = calloc((size_t)keys + 2, sizeof *out->start);
    out->item = calloc((size_t)items + 1, sizeof *out->item);
    out->direction = calloc((size_t)items + 1, sizeof *out->direction);
    if (!out->start || !out->item || !out->direction) return false;
    for (int e = 0; e < items; e++) out->start[key[e] + 1]++;
    for (int k = 0; k <= keys; k++) out->start[k + 1] += out->start[k];
    int *next = calloc((size_t)keys + 1, sizeof *next);
    if (!next) return false;
    for (int k = 0; k < directions; k++)
        for (int e = start[k]; e < start[k + 1]; e++) {
            int at = out->start[key[e]] + next[key[e]]++;
            out->item[at] = e;
            out->direction[at] = k;
        }
    free(next);
    return true;
}
static void free_index(index_lists *lists) { free(lists->start), free(lists->item), free(lists->direction); }

/* The shares of a force element, in the order of the directions; returns how many. out may be NULL. */
static int find_shares(const lw_model *model, const lw_force *force, const index_lists *speeds,
                       const index_lists *bodies, share *out) {
    int count = 0;
    if (in_joint(force)) {
        for (int at = speeds->start[force->v]; at < speeds->start[force->v + 1]; at++, count++)
            if (out) out[count] = (share){speeds->direction[at], speeds->item[at], -1};
        return count;
    }
    int pair[2], at[2], end[2];
    bodies_of(model, force, pair);
    for (int side = 0; side < 2; side++)
        at[side] = bodies->start[pair[side]], end[side] = bodies->start[pair[side] + 1];
    while (at[0] < end[0] || at[1] < end[1]) { /* merge by direction */
        int first = at[0] < end[0] ? bodies->direction[at[0]] : INT32_MAX,
            second = at[1] < end[1] ? bodies->direction[at[1]] : INT32_MAX;
        int k = first < second ? first : second;
        share s = {k, -1, -1};
        if (first == k) s.first = bodies->item[at[0]++];
        if (second == k) s.second = bodies->item[at[1]++];
        if (out) out[count] = s;
        count++;
    }
    return count;
}

/* --- structure of the matrix ------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Rows of the matrix from all pairs of directions that share a damper. */
static bool matrix_structure(lw_dampers *d, lw_arena *arena) {
    size_t pairs = (size_t)d->size;
    for (int k = 0; k < d->count; k++)
        pairs += (size_t)d->dampers[k].count * (size_t)(d->dampers[k].count + 1) / 2;
    int(*all)[2] = calloc(pairs + 1, sizeof *all);
    d->start = LW_NEW(arena, int, d->size + 1);
    d->pairs = LW_NEW(arena, int, pairs + 1);
    if (!all || !d->start || !d->pairs) {
        free(all);
        return false;
    }
    int count = 0;
    for (int k = 0; k < d->size; k++) all[count][0] = all[count][1] = k, count++;
    for (int k = 0; k < d->count; k++) {
        const share *s = d->shares + d->dampers[k].share;
        for (int a = 0; a < d->dampers[k].count; a++)
            for (int b = 0; b <= a; b++)
                all[count][0] = s[a].direction, all[count][1] = s[b].direction, count++;
    }
    qsort(all, (size_t)count, sizeof *all, ascending);
    int unique = 0;
    for (int k = 0; k < count; k++)
        if (k == 0 || ascending(all[k], all[unique - 1]))
            all[unique][0] = all[k][0], all[unique][1] = all[k][1], unique++;
    d->column = LW_NEW(arena, int, unique + 1);
    d->value = LW_NEW(arena, double, unique + 1);
    bool fine = d->column && d->value;
    for (int k = 0; k < unique && fine; k++) d->start[all[k][0] + 1] = k + 1, d->column[k] = all[k][1];
    int at = 0;
    for (int k = 0; k < d->count && fine; k++) {
        const share *s = d->shares + d->dampers[k].share;
        d->dampers[k].pair = at;
        for (int a = 0; a < d->dampers[k].count; a++)
            for (int b = 0; b <= a; b++) {
                const int key[2] = {s[a].direction, s[b].direction};
                const int(*found)[2] = bsearch(key, all, (size_t)unique, sizeof *all, ascending);
                d->pairs[at++] = (int)(found - (const int(*)[2])all);
            }
    }
    free(all);
    return fine;
}

/* The elimination tree and the columns of L. */
static bool factor_structure(lw_dampers *d, lw_arena *arena) {
    int n = d->size;
    d->parent = LW_NEW(arena, int, n + 1);
    d->flag = LW_NEW(arena, int, n + 1);
    d->pattern = LW_NEW(arena, int, n + 1);
    d->L_start = LW_NEW(arena, int, n + 2);
    d->L_count = LW_NEW(arena, int, n + 1);
    d->inverse = LW_NEW(arena, double, n + 1);
    d->pivot = LW_NEW(arena, double, n + 1);
    d->diagonal = LW_NEW(arena, double, n + 1);
    d->work = LW_NEW(arena, double, n + 1);
    d->skipped = LW_NEW(arena, bool, n + 1);
    d->floor = LW_NEW(arena, double, n + 1);
    d->loose = LW_NEW(arena, bool, n + 1);
    d->within = LW_NEW(arena, bool, n + 1);
    d->unit = LW_NEW(arena, double, n + 1);
    if (!d->parent || !d->flag || !d->pattern || !d->L_start || !d->L_count || !d->inverse || !d->pivot ||
        !d->diagonal || !d->work || !d->skipped || !d->floor || !d->loose || !d->within || !d->unit)
        return false;
    for (int k = 0; k < n; k++) {
        d->parent[k] = -1, d->flag[k] = k;
        for (int p = d->start[k]; p < d->start[k + 1]; p++)
            for (int i = d->column[p]; d->flag[i] != k; i = d->parent[i]) {
                if (d->parent[i] < 0) d->parent[i] = k;
                d->L_count[i]++;
                d->flag[i] = k;
            }
    }
    for (int k = 0; k < n; k++) d->L_start[k + 1] = d->L_start[k] + d->L_count[k];
    d->L_row = LW_NEW(arena, int, d->L_start[n] + 1);
    d->L = LW_NEW(arena, double, d->L_start[n] + 1);
    return d->L_row && d->L;
}

lw_dampers *lw_dampers_create(const lw_null *null, lw_arena *arena) {
    const lw_null_shape *shape = null->shape;
    const lw_model *model = shape->model;
    lw_dampers *d = LW_NEW(arena, lw_dampers, 1);
    index_lists speeds = {0}, bodies = {0};
    if (!d) return NULL;
    d->null = null;
    d->size = shape->count;
    d->linear = true;
    bool fine = make_index(model->nv, shape->count, shape->entry_start, shape->speed, &speeds) &&
                make_index(model->body_count + 1, shape->count, shape->moved_start, shape->body, &bodies);
    for (int pass = 0; pass < 2 && fine; pass++) { /* count, then take */
        int count = 0, shares = 0;
        for (int k = 0; k < model->force_count; k++)
            for (int c = 0; c < (model->forces[k].type == LW_FORCE_BUSHING ? 6 : 1); c++) {
                const lw_force *force = &model->forces[k];
                if (!resists(force, c)) continue;
                int own = find_shares(model, force, &speeds, &bodies, pass ? d->shares + shares : NULL);
                if (!own) continue;
                if (pass) {
                    bool line = force->type == LW_FORCE_SPRING;
                    bool constant = (in_joint(force) || line) && is_linear(force);
                    d->dampers[count] = (damper){.force = force,
                                                 .component = c,
                                                 .share = shares,
                                                 .count = own,
                                                 .speed = in_joint(force) ? force->v : -1,
                                                 .constant = constant,
                                                 .line = line,
                                                 .c = constant ? joint_damping(force, 0, 0, 0) : 0};
                    bodies_of(model, force, d->dampers[count].bodies);
                }
                d->linear &= is_linear(force);
                count++, shares += own;
            }
        d->count = count;
        if (pass) break;
        d->dampers = LW_NEW(arena, damper, count + 1);
        d->shares = LW_NEW(arena, share, shares + 1);
        d->rate = LW_NEW(arena, double, shares + 1);
        d->wrench = LW_NEW(arena, double, 12 * (size_t)count + 1);
        fine = d->dampers && d->shares && d->rate && d->wrench;
    }
    d->steady = d->linear && !shape->dense;
    for (int k = 0; k < model->force_count && fine; k++)
        if (pushes(&model->forces[k]) && find_shares(model, &model->forces[k], &speeds, &bodies, NULL))
            d->steady = false;
    fine = fine && matrix_structure(d, arena) && factor_structure(d, arena);
    free_index(&speeds), free_index(&bodies);
    return fine ? d : NULL;
}

bool lw_dampers_linear(const lw_dampers *d) { return d->linear; }
bool lw_dampers_steady(const lw_dampers *d) { return d->steady; }
const double *lw_dampers_diagonal(const lw_dampers *d) { return d->diagonal; }
const double *lw_dampers_pivots(const lw_dampers *d) { return d->pivot; }
bool *lw_dampers_skipped(lw_dampers *d) { return d->skipped; }
double *lw_dampers_floors(lw_dampers *d) { return d->floor; }
const bool *lw_dampers_loose(const lw_dampers *d) { return d->loose; }
bool lw_dampers_lost(const lw_dampers *d) { return d->lost; }
int lw_dampers_driven(const lw_dampers *d) { return d->driven; }
int lw_dampers_loose_count(const lw_dampers *d) { return d->loose_count; }
void lw_dampers_follow(lw_dampers *d, const lw_dampers *leader) { d->follow = leader; }

void lw_dampers_groups(const lw_dampers *d, int *of) {
    for (int k = d->size - 1; k >= 0; k--) of[k] = d->parent[k] < 0 ? k : of[d->parent[k]];
}

bool lw_dampers_mix(lw_dampers *d, lw_arena *arena) {
    int *of = LW_NEW(arena, int, d->size + 1);
    if (!of) return false;
    lw_dampers_groups(d, of);
    bool fine = lw_mixed_create(d->size, of, d->skipped, d->within, arena, &d->mixed);
    for (int k = 0; k < d->size; k++)
        if (d->within[k]) d->L_count[k] = 0;
    return fine;
}

/* --- values ------------------------------------------------------------------------------------------- */

/* A wrench (torque; force) at a world point, in a body's internal frame. */
static void wrench_on(const lw_pose *world, const double at[3], const double wrench[6], double out[6]) {
    double arm[3], n[3];
    lw_v3_sub(at, world->p, arm);
    lw_v3_cross(arm, wrench + 3, n);
    lw_v3_add(n, wrench, n);
    lw_m3_tmul_v(world->R, n, out);
    lw_m3_tmul_v(world->R, wrench + 3, out + 3);
}

/* Velocity of the world point x of a body. */
static void point_velocity(const lw_data *data, int body, const double x[3], double out[3]) {
    double arm[3], local[3], velocity[3];
    const double *V = data->motion[body].V;
    lw_v3_sub(x, data->world[body].p, arm);
    lw_m3_tmul_v(data->world[body].R, arm, local);
    lw_v3_copy(V + 3, velocity);
    lw_v3_add_cross(V, local, velocity);
    lw_m3_mul_v(data->world[body].R, velocity, out);
}

/* An element between two bodies: c, and the unit wrench of a component on the second body, world axes, with its point. */
static double body_damping(const lw_model *model, lw_data *data, const lw_force *force, int component,
                           double t, double wrench[6], double at[3]) {
    memset(wrench, 0, 6 * sizeof *wrench);
    if (force->closure >= 0) {
        double v[LW_JOINT_MAX_V], W[36];
        lw_cut_joint(model, data, force->closure, v, W, at);
        memcpy(wrench, W + 6 * force->v, 6 * sizeof *wrench);
        double q = force->q >= 0 ? data->cut_q[LW_JOINT_MAX_Q * force->closure + force->q] : 0;
        return joint_damping(force, q, v[force->v], t);
    }
    const lw_pose *first = &data->world[force->bodies[0]], *second = &data->world[force->bodies[1]];
    lw_pose_point(second->R, second->p, force->frames[1].p, at);
    if (force->type == LW_FORCE_BUSHING) {
        double R[9];
        lw_m3_mul(first->R, force->frames[0].R, R);
        for (int k = 0; k < 3; k++) wrench[(component < 3 ? 3 : 0) + k] = R[3 * k + component % 3];
        return force->bushing_damping[component];
    }
    double from[3], va[3], vb[3], line[3];
    lw_pose_point(first->R, first->p, force->frames[0].p, from);
    lw_v3_sub(at, from, line);
    double length = lw_v3_norm(line);
    if (!(length > 0)) return 0; /* as in force.c: no line, no force */
    for (int k = 0; k < 3; k++) wrench[3 + k] = line[k] / length;
    point_velocity(data, force->bodies[0], from, va);
    point_velocity(data, force->bodies[1], at, vb);
    double rate = lw_v3_dot(wrench + 3, vb) - lw_v3_dot(wrench + 3, va);
    return force->damping + slope(force->law, length - force->free_length, rate, t);
}

/* c and h of damper k, between bodies. */
static void look_between(lw_dampers *d, lw_data *data, int k, double t) {
    const lw_model *model = d->null->shape->model;
    damper *own = &d->dampers[k];
    double wrench[6], at[3], *h = d->wrench + 12 * (size_t)k;
    if (!own->constant) own->c = body_damping(model, data, own->force, own->component, t, wrench, at);
    own->h = own->line ? data->lines + LW_LINE * (own->force - model->forces) : h;
    for (int side = 0; side < 2 && !own->line; side++)
        wrench_on(&data->world[own->bodies[side]], at, wrench, h + 6 * side);
}

static void assemble(lw_dampers *d, lw_data *data, double t) {
    const lw_null *null = d->null;
    memset(d->value, 0, (size_t)d->start[d->size] * sizeof *d->value);
    for (int k = 0; k < d->count; k++) {
        damper *own = &d->dampers[k];
        const share *s = d->shares + own->share;
        const int *pair = d->pairs + own->pair;
        if (own->speed >= 0) {
            const lw_force *force = own->force;
            if (!own->constant)
                own->c = joint_damping(force, force->q >= 0 ? data->q[force->q] : 0, data->v[own->speed], t);
            for (int a = 0; a < own->count; a++)
                for (int b = 0; b <= a; b++)
                    d->value[*pair++] += own->c * null->value[s[a].first] * null->value[s[b].first];
            continue;
        }
        double *rate = d->rate + own->share;
        look_between(d, data, k, t);
        for (int a = 0; a < own->count; a++) {
            rate[a] = 0;
            if (s[a].first >= 0) rate[a] -= lw_v6_dot(own->h, null->twist + 6 * s[a].first);
            if (s[a].second >= 0) rate[a] += lw_v6_dot(own->h + 6, null->twist + 6 * s[a].second);
            for (int b = 0; b <= a; b++) d->value[*pair++] += own->c * rate[a] * rate[b];
        }
    }
}

void lw_dampers_advance(const lw_dampers *d, const double *z, lw_data *data) {
    const lw_null *null = d->null;
    for (int k = 0; k < d->count; k++) {
        const damper *own = &d->dampers[k];
        const share *s = d->shares + own->share;
        double change = 0, before;
        if (own->speed >= 0) {
            for (int a = 0; a < own->count; a++) change += null->value[s[a].first] * z[s[a].direction];
            before = data->v[own->speed];
            data->tau[own->speed] -= own->c * change;
        } else {
            const double *rate = d->rate + own->share, *h = own->h;
            const int first = own->bodies[0], second = own->bodies[1];
            for (int a = 0; a < own->count; a++) change += rate[a] * z[s[a].direction];
            before = own->line
                         ? h[12]
                         : lw_v6_dot(h + 6, data->motion[second].V) - lw_v6_dot(h, data->motion[first].V);
            lw_v6_axpy(own->c * change, h, data->load + 6 * first);
            lw_v6_axpy(-own->c * change, h + 6, data->load + 6 * second);
        }
        data->power.dissipation += own->c * change * (2 * before + change);
    }
}

/* What a direction is in lengths and angles: one of a speed that slides is a length. */
static double unit_of(const lw_null *null, int k) {
    const lw_link *link = &null->shape->model->links[null->shape->rep_body[k]];
    return lw_joint_speed_turns(link->joint.type, null->rep[k] - link->v) ? 1 : null->shape->length;
}

void lw_dampers_sizes(const lw_dampers *d, lw_data *data, double t, double *size) {
    const lw_null *null = d->null;
    const lw_null_shape *shape = null->shape;
    memset(size, 0, (size_t)d->size * sizeof *size);
    for (int k = 0; k < d->count; k++) {
        const damper *own = &d->dampers[k];
        const lw_force *force = own->force;
        double wrench[6], at[3];
        double c = own->constant ? own->c
                   : in_joint(force)
                       ? joint_damping(force, force->q >= 0 ? data->q[force->q] : 0, data->v[force->v], t)
                       : body_damping(shape->model, data, force, own->component, t, wrench, at);
        for (const share *s = d->shares + own->share; s < d->shares + own->share + own->count; s++)
            size[s->direction] += fabs(c);
    }
    for (int k = 0; k < d->size; k++) {
        double most = 0;
        for (int e = shape->entry_start[k]; e < shape->entry_start[k + 1]; e++)
            most = fmax(most, fabs(null->value[e]));
        size[k] *= most * most;
    }
}

/* --- L D L' -------------------------------------------------------------------------------------------- */

int lw_dampers_factor(lw_dampers *d, lw_data *data, double t) {
    int lost = -1, n = d->size;
    const lw_dampers *other = d->follow == d ? NULL : d->follow;
    d->loose_count = 0;
    d->driven = -1;
    assemble(d, data, t);
    double *y = d->work; /* zero between calls */
    for (int k = 0; k < n; k++) {
        if (d->within[k]) continue; /* no entry of L leads to or from it */
        int top = n, last = d->start[k + 1] - 1;
        d->flag[k] = k;
        d->L_count[k] = 0;
        for (int p = d->start[k]; p < last; p++) {
            int length = 0, i = d->column[p];
            y[i] += d->value[p];
            for (; d->flag[i] != k; i = d->parent[i]) d->pattern[length++] = i, d->flag[i] = k;
            while (length > 0) d->pattern[--top] = d->pattern[--length];
        }
        double pivot = d->diagonal[k] = d->value[last];
        for (; top < n; top++) {
            int i = d->pattern[top], end = d->L_start[i] + d->L_count[i];
            double yi = y[i];
            y[i] = 0;
            for (int p = d->L_start[i]; p < end; p++) y[d->L_row[p]] -= d->L[p] * yi;
            d->L[end] = yi * d->inverse[i];
            d->L_row[end] = k;
            d->L_count[i]++;
            pivot -= d->L[end] * yi;
        }
        d->pivot[k] = pivot;
        d->loose[k] = d->skipped[k] || (other ? other->loose[k] : !(pivot > d->floor[k]));
        d->inverse[k] = d->loose[k] ? 0 : 1 / pivot;
        d->loose_count += d->loose[k];
        if (lost < 0 && d->loose[k] && !d->skipped[k]) lost = k;
        if (d->driven < 0 && !d->skipped[k] && pivot < -d->floor[k]) d->driven = k;
    }
    d->lost = lost >= 0;
    if (!d->mixed) return lost;
    for (int k = 0; k < n; k++)
        if (d->within[k]) d->diagonal[k] = d->value[d->start[k + 1] - 1], d->unit[k] = unit_of(d->null, k);
    int bad = lw_mixed_factor(d->mixed, d->follow ? d->follow->mixed : NULL, d->start, d->column, d->value,
                              d->unit, d->floor, d->pivot, d->inverse, &d->driven);
    for (int k = 0; k < n; k++)
        if (d->within[k]) d->loose_count += d->loose[k] = d->inverse[k] == 0;
    d->lost |= bad >= 0;
    return lost >= 0 ? lost : bad;
}

void lw_dampers_lower(const lw_dampers *d, double *x) {
    for (int k = 0; k < d->size; k++)
        for (int p = d->L_start[k]; p < d->L_start[k] + d->L_count[k]; p++) x[d->L_row[p]] -= d->L[p] * x[k];
    if (d->mixed) lw_mixed_lower(d->mixed, x);
}
void lw_dampers_upper(const lw_dampers *d, double *x) {
    for (int k = d->size - 1; k >= 0; k--)
        for (int p = d->L_start[k]; p < d->L_start[k] + d->L_count[k]; p++) x[k] -= d->L[p] * x[d->L_row[p]];
    if (d->mixed) lw_mixed_upper(d->mixed, x);
}
void lw_dampers_solve(const lw_dampers *d, double *x) {
    lw_dampers_lower(d, x);
    for (int k = 0; k < d->size; k++) x[k] *= d->inverse[k];
    lw_dampers_upper(d, x);
}
