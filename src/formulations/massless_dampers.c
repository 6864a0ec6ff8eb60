/* massless_dampers.c - what resists motions without mass: N'C N, and its factors.
 *
 *   N'C N = sum over dampers  c (h N)'(h N),      h v the rate of a damper, -c h v its force
 *
 * A damper is a joint's speed with a force that depends on it (torsion, friction, drive), the line of a spring, or a
 * bushing with six rates; c is the derivative of its force at the present rate, exact. The matrix is symmetric. It is factored
 * as L D L' in the order of the directions, from the leaves inwards, so that nothing fills in along a branch; directions that no
 * damper resists are known and left out: their pivots vanish, and so do their columns. Groups with such ones beside others choose
 * their pivots at each position (massless_mixed.c).
 *
 * Source   docs/theory/massless.md, 4.
 * Cost     O(dampers + entries of L), no allocation but in create.
 */
#include "formulations/massless_full.h"
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

typedef enum damper_kind { IN_JOINT, ON_LINE, IN_BUSHING, IN_CUT } damper_kind;

typedef struct damper {
    const lw_force *force;
    damper_kind kind;
    int share, count; /* its shares */
    int pair;         /* the place of each pair (a, b <= a) of its directions in the matrix, in this order */
    int rate;         /* between bodies: the first of its rates */
    int speed;        /* in a joint: where it acts */
    int bodies[2];    /* between bodies */
    bool constant;    /* in a joint or along a line, and linear: c does not change */
    int from, end;    /* bushing: the components that damp */
    int solid; /* bushing: 1 + the side of a free body whose six speeds are all its shares, apart from other dampers; or 0 */
    double c; /* at the last state; of a bushing each component has its own */
    const double *
        h; /* line, cut: its rate is h V of the second less h V of the first, 6 each, internal axes; bushing: see LW_LINE */
} damper;

struct lw_dampers {
    const lw_null *null;
    int count;
    damper *dampers;
    share *shares;
    int *pairs;
    double *rate; /* per share of an element between bodies: its rate along the direction; of a bushing six */
    double *wrench; /* 12 per damper: h at a cut joint; other elements between bodies leave it themselves */
    bool linear;
    bool steady; /* linear, and no other element that such motions reach books power */
    /* the matrix: for each direction its columns up to the diagonal, which comes last */
    int size, *start, *column;
    double *value, *diagonal;
    /* L by columns, D; of each row its columns, in the order in which they are known, and the places in L */
    int *parent, *L_start, *L_count, *L_row, *row_start, *row_column, *row_place;
    double *L, *inverse, *pivot, *work;
    unsigned char *
        full; /* per direction: of so many from here on each shares dampers with each, and with no other; or 0 */
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

/* Components of a bushing that damp: translations come first. */
static void span(const lw_force *force, int *from, int *end) {
    const double *c = force->bushing_damping;
    *from = c[0] != 0 || c[1] != 0 || c[2] != 0 ? 0 : 3;
    *end = c[3] != 0 || c[4] != 0 || c[5] != 0 ? 6 : 3;
}

/* Does the element resist speeds at all? */
static bool resists(const lw_force *force) {
    int from = 0, end = 0;
    switch (force->type) {
    case LW_FORCE_SPRING:
    case LW_FORCE_TORSION:
        return force->damping != 0 || uses(force->law, 1);
    case LW_FORCE_BUSHING:
        span(force, &from, &end);
        return from < end;
    case LW_FORCE_DRIVE:
        return uses(force->drive, 2);
    case LW_FORCE_FRICTION:
        return force->viscous != 0 || force->coulomb != 0;
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
/* Derivative by the speed (variable k) of a law or drive. It may vanish or be infinite at rest, as those of v |v| and of a root do, though the
 * force rises with the speed: there the mean slope around counts, and next to it a little of that at least, with which Newton's method finds
 * its way. */
static double slope(const lw_function *f, const double variables[3], int k) {
    const double width = 1e-3, little = 1e-9; /* of a speed, m/s or rad/s; of the mean slope */
    lw_jet at[3];
    double before[3], after[3];
    for (int c = 0; c < 3; c++) {
        at[c] = (lw_jet){variables[c], c == k, 0};
        before[c] = variables[c] - (c == k ? width : 0), after[c] = variables[c] + (c == k ? width : 0);
    }
    double tangent = lw_function_jet(f, at).d;
    double mean = (lw_function_value(f, after) - lw_function_value(f, before)) / (2 * width);
    if (!isfinite(tangent) || tangent == 0) return mean;
    return tangent * mean >= 0 && fabs(tangent) < little * fabs(mean) ? little * mean : tangent;
}

/* c of an element in a joint, at coordinate q and speed v. */
static double joint_damping(const lw_force *force, double q, double v, double t) {
    if (force->type == LW_FORCE_DRIVE) {
        const double variables[3] = {t, q, v};
        return -slope(force->drive, variables, 2);
    }
    if (force->type == LW_FORCE_FRICTION) {
        if (force->coulomb == 0) return force->viscous;
        double share_of = tanh(v / force->smoothing);
        return force->viscous + force->coulomb / force->smoothing * (1 - share_of * share_of);
    }
    const double variables[3] = {q - force->free_length, v, t};
    return force->damping + (uses(force->law, 1) ? slope(force->law, variables, 1) : 0);
}

/* Does it act on one joint speed, or between two bodies? */
static bool in_joint(const lw_force *force) {
    return force->closure < 0 && force->type != LW_FORCE_SPRING && force->type != LW_FORCE_BUSHING &&
           force->type != LW_FORCE_APPLIED;
}
static damper_kind kind_of(const lw_force *force) {
    if (in_joint(force)) return IN_JOINT;
    if (force->closure >= 0) return IN_CUT;
    return force->type == LW_FORCE_BUSHING ? IN_BUSHING : ON_LINE;
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

/* Runs of directions each of which shares dampers with each, and with no other. */
static void find_full(lw_dampers *d) {
    int n = d->size, count;
    for (int k = 0; k < n; k += count) {
        int last = k;
        while (d->parent[last] == last + 1) last++;
        count = last - k + 1;
        bool full = d->parent[last] < 0 && (count == 2 || count == 3 || count == 6); /* those with kernels */
        for (int l = k; l <= last && full; l++)                                      /* columns k .. l */
            full = d->start[l + 1] - d->start[l] == l - k + 1 && d->column[d->start[l]] == k;
        if (full) d->full[k] = (unsigned char)count;
    }
}

/* The elimination tree, the columns of L, and of each row its columns, so that each comes after those that it needs. */
static bool factor_structure(lw_dampers *d, lw_arena *arena) {
    int n = d->size, *flag = calloc((size_t)n + 1, sizeof *flag),
        *pattern = calloc((size_t)n + 1, sizeof *flag);
    d->parent = LW_NEW(arena, int, n + 1);
    d->L_start = LW_NEW(arena, int, n + 2);
    d->L_count = LW_NEW(arena, int, n + 1);
    d->row_start = LW_NEW(arena, int, n + 2);
    d->inverse = LW_NEW(arena, double, n + 1);
    d->pivot = LW_NEW(arena, double, n + 1);
    d->diagonal = LW_NEW(arena, double, n + 1);
    d->work = LW_NEW(arena, double, n + 1);
    d->skipped = LW_NEW(arena, bool, n + 1);
    d->floor = LW_NEW(arena, double, n + 1);
    d->loose = LW_NEW(arena, bool, n + 1);
    d->within = LW_NEW(arena, bool, n + 1);
    d->full = LW_NEW(arena, unsigned char, n + 1);
    d->unit = LW_NEW(arena, double, n + 1);
    bool fine = flag && pattern && d->parent && d->L_start && d->L_count && d->row_start && d->inverse &&
                d->pivot && d->diagonal && d->work && d->skipped && d->floor && d->loose && d->within &&
                d->full && d->unit;
    for (int k = 0; k < n && fine; k++) {
        d->parent[k] = -1, flag[k] = k;
        d->row_start[k + 1] = d->row_start[k];
        for (int p = d->start[k]; p < d->start[k + 1]; p++)
            for (int i = d->column[p]; flag[i] != k; i = d->parent[i]) {
                if (d->parent[i] < 0) d->parent[i] = k;
                d->L_count[i]++;
                d->row_start[k + 1]++;
                flag[i] = k;
            }
    }
    for (int k = 0; k < n && fine; k++) d->L_start[k + 1] = d->L_start[k] + d->L_count[k], d->L_count[k] = 0;
    int entries = fine ? d->L_start[n] : 0;
    d->L_row = LW_NEW(arena, int, entries + 1);
    d->L = LW_NEW(arena, double, entries + 1);
    d->row_column = LW_NEW(arena, int, entries + 1);
    d->row_place = LW_NEW(arena, int, entries + 1);
    fine = fine && d->L_row && d->L && d->row_column && d->row_place;
    for (int k = 0; k < n && fine; k++) flag[k] = -1;
    for (int k = 0; k < n && fine; k++) {
        int top = n, at = d->row_start[k];
        flag[k] = k;
        for (int p = d->start[k]; p < d->start[k + 1]; p++) {
            int length = 0;
            for (int i = d->column[p]; flag[i] != k; i = d->parent[i]) pattern[length++] = i, flag[i] = k;
            while (length > 0) pattern[--top] = pattern[--length];
        }
        for (; top < n; top++, at++) {
            int i = pattern[top], place = d->L_start[i] + d->L_count[i]++;
            d->row_column[at] = i;
            d->row_place[at] = place;
            d->L_row[place] = k;
        }
    }
    free(flag), free(pattern);
    if (fine) find_full(d);
    return fine;
}

/* Bushings of a free body whose six speeds stand for directions that no damper joins with others. */
static void find_solid(lw_dampers *d) {
    const lw_null_shape *shape = d->null->shape;
    for (damper *own = d->dampers; own < d->dampers + d->count; own++) {
        const share *s = d->shares + own->share;
        const lw_link *link = &shape->model->links[shape->rep_body[s->direction]];
        if (own->kind != IN_BUSHING || own->count != 6 || d->full[s->direction] != 6 ||
            link->kernel != LW_KERNEL_FREE)
            continue;
        int side = s->second >= 0, place = side ? s->second : s->first;
        bool fits = shape->body[place] == shape->rep_body[s->direction];
        for (int a = 0; a < 6 && fits; a++)
            fits = (side ? s[a].second : s[a].first) == place + a && (side ? s[a].first : s[a].second) < 0 &&
                   shape->rep[s[a].direction] == link->v + a;
        if (fits) own->solid = 1 + side;
    }
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
        int count = 0, shares = 0, rates = 0;
        for (int k = 0; k < model->force_count; k++) {
            const lw_force *force = &model->forces[k];
            if (!resists(force)) continue;
            int own = find_shares(model, force, &speeds, &bodies, pass ? d->shares + shares : NULL);
            if (!own) continue;
            if (pass) {
                damper *to = &d->dampers[count];
                *to =
                    (damper){.force = force, .share = shares, .count = own, .rate = rates, .speed = force->v};
                to->kind = kind_of(force);
                to->constant = (to->kind == IN_JOINT || to->kind == ON_LINE) && is_linear(force);
                if (to->constant) to->c = joint_damping(force, 0, 0, 0);
                if (to->kind == IN_BUSHING) span(force, &to->from, &to->end);
                bodies_of(model, force, to->bodies);
            }
            d->linear &= is_linear(force);
            count++, shares += own;
            rates += in_joint(force) ? 0 : force->type == LW_FORCE_BUSHING ? 6 * own : own;
        }
        d->count = count;
        if (pass) break;
        d->dampers = LW_NEW(arena, damper, count + 1);
        d->shares = LW_NEW(arena, share, shares + 1);
        d->rate = LW_NEW(arena, double, rates + 1);
        d->wrench = LW_NEW(arena, double, shape->dense ? 12 * (size_t)count + 1 : 1);
        fine = d->dampers && d->shares && d->rate && d->wrench;
    }
    d->steady = d->linear && !shape->dense;
    for (int k = 0; k < model->force_count && fine; k++)
        if (pushes(&model->forces[k]) && find_shares(model, &model->forces[k], &speeds, &bodies, NULL))
            d->steady = false;
    fine = fine && matrix_structure(d, arena) && factor_structure(d, arena);
    if (fine && !shape->dense) find_solid(d);
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
        if (d->within[k]) d->L_count[k] = d->full[k] = 0;
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

/* c of an element at a cut joint; h, if it is wanted, 6 for each body. */
static double cut_damping(const lw_model *model, lw_data *data, const lw_force *force, double t, double *h) {
    double v[LW_JOINT_MAX_V], W[36], at[3];
    int bodies[2];
    lw_cut_joint(model, data, force->closure, v, W, at);
    bodies_of(model, force, bodies);
    for (int side = 0; h && side < 2; side++)
        wrench_on(&data->world[bodies[side]], at, W + 6 * force->v, h + 6 * side);
    double q = force->q >= 0 ? data->cut_q[LW_JOINT_MAX_Q * force->closure + force->q] : 0;
    return joint_damping(force, q, v[force->v], t);
}

/* c of a spring, whose line lw_forces has left. */
static double line_damping(const lw_data *data, const lw_force *force, const double line[LW_LINE], double t) {
    if (!uses(force->law, 1)) return force->damping;
    const lw_pose *first = &data->world[force->bodies[0]], *second = &data->world[force->bodies[1]];
    double a[3], b[3], along[3];
    lw_pose_point(first->R, first->p, force->frames[0].p, a);
    lw_pose_point(second->R, second->p, force->frames[1].p, b);
    lw_v3_sub(b, a, along);
    double length = lw_v3_norm(along);
    if (!(length > 0)) return 0; /* as in force.c: no line, no force */
    const double variables[3] = {length - force->free_length, line[12], t};
    return force->damping + slope(force->law, variables, 1);
}

/* c of a damper other than a bushing. */
static double damping(const lw_dampers *d, const damper *own, lw_data *data, double t, double *h) {
    const lw_model *model = d->null->shape->model;
    const lw_force *force = own->force;
    if (own->constant) return own->c;
    if (own->kind == IN_CUT) return cut_damping(model, data, force, t, h);
    if (own->kind == ON_LINE)
        return line_damping(data, force, data->lines + LW_LINE * (force - model->forces), t);
    return joint_damping(force, force->q >= 0 ? data->q[force->q] : 0, data->v[own->speed], t);
}

/* rate += sign times the rates of a bushing for a twist of a body: axes (columns) and point as seen from it. */
INLINE void bushing_rate(const double twist[6], const double axes[9], const double at[3], double sign,
                         int from, int end, double rate[6]) {
    if (from == 0) {
        double velocity[3];
        lw_v3_cross(twist, at, velocity);
        lw_v3_add(velocity, twist + 3, velocity);
        for (int k = 0; k < 3; k++)
            rate[k] += sign * (axes[k] * velocity[0] + axes[3 + k] * velocity[1] + axes[6 + k] * velocity[2]);
    }
    if (end == 6)
        for (int k = 0; k < 3; k++)
            rate[3 + k] += sign * (axes[k] * twist[0] + axes[3 + k] * twist[1] + axes[6 + k] * twist[2]);
}
/* load += sign times the wrench of forces along (then torques about) these axes. */
INLINE void bushing_load(const double force[6], const double axes[9], const double at[3], double sign,
                         int from, int end, double load[6]) {
    if (from == 0) {
        double f[3], n[3];
        lw_m3_mul_v(axes, force, f);
        lw_v3_cross(at, f, n);
        for (int k = 0; k < 3; k++) load[k] += sign * n[k], load[3 + k] += sign * f[k];
    }
    if (end == 6) {
        double n[3];
        lw_m3_mul_v(axes, force + 3, n);
        for (int k = 0; k < 3; k++) load[k] += sign * n[k];
    }
}

/* count: how many shares it has, a constant where that pays. */
INLINE void assemble_bushing(lw_dampers *d, const damper *own, int from, int end, int count) {
    const double *C = own->force->bushing_damping, *twist = d->null->twist, *line = own->h;
    const lw_pose *frames = own->force->frames;
    const share *s = d->shares + own->share;
    const int *pair = d->pairs + own->pair;
    double *rate = d->rate + own->rate;
    for (int a = 0; a < count; a++) {
        double *x = rate + 6 * a, scaled[6];
        for (int c = from; c < end; c++) x[c] = 0;
        if (s[a].first >= 0) bushing_rate(twist + 6 * s[a].first, frames[0].R, line + 9, -1, from, end, x);
        if (s[a].second >= 0) bushing_rate(twist + 6 * s[a].second, line, frames[1].p, 1, from, end, x);
        for (int c = from; c < end; c++) scaled[c] = C[c] * x[c];
        for (int b = 0; b <= a; b++) {
            double sum = 0;
            for (int c = from; c < end; c++) sum += scaled[c] * rate[6 * b + c];
            d->value[*pair++] += sum;
        }
    }
}

/* The same of a solid one: the twists are S of the free joint, (0; R') and (1; 0); their matrix is full. */
static void assemble_solid(lw_dampers *d, const damper *own) {
    const double *C = own->force->bushing_damping, *line = own->h;
    const lw_pose *frames = own->force->frames;
    const share *s = d->shares + own->share;
    bool second = own->solid == 2;
    const double *S = d->null->twist + 6 * (second ? s->second : s->first),
                 *axes = second ? line : frames[0].R, *at = second ? frames[1].p : line + 9;
    double *rate = d->rate + own->rate, *value = d->value + d->pairs[own->pair], scaled[36];
    const double sign = second ? 1 : -1;
    for (int k = 0; k < 3; k++) {
        double *x = rate + 6 * k, *y = rate + 18 + 6 * k;
        int i = (k + 1) % 3, j = (k + 2) % 3; /* e_k x at = at_i e_j - at_j e_i */
        for (int c = 0; c < 3; c++) {
            x[c] = sign * (axes[c] * S[6 * k + 3] + axes[3 + c] * S[6 * k + 4] + axes[6 + c] * S[6 * k + 5]);
            y[c] = sign * (at[i] * axes[3 * j + c] - at[j] * axes[3 * i + c]);
            x[3 + c] = 0, y[3 + c] = sign * axes[3 * k + c];
            scaled[6 * k + c] = C[c] * x[c];
            scaled[18 + 6 * k + c] = C[c] * y[c], scaled[21 + 6 * k + c] = C[3 + c] * y[3 + c];
        }
    }
    for (int a = 0; a < 6; a++)
        for (int b = 0; b <= a; b++) {
            double sum = lw_v3_dot(scaled + 6 * a, rate + 6 * b);
            if (b > 2) sum += lw_v3_dot(scaled + 6 * a + 3, rate + 6 * b + 3);
            *value++ += sum;
        }
}

static void assemble(lw_dampers *d, lw_data *data, double t) {
    const lw_null *null = d->null;
    const lw_force *forces = null->shape->model->forces;
    memset(d->value, 0, (size_t)d->start[d->size] * sizeof *d->value);
    for (int k = 0; k < d->count; k++) {
        damper *own = &d->dampers[k];
        const share *s = d->shares + own->share;
        const int *pair = d->pairs + own->pair;
        if (own->kind == IN_BUSHING) {
            own->h = data->lines + LW_LINE * (own->force - forces);
            if (own->solid)
                assemble_solid(d, own);
            else if (own->from == 3 && own->count == 3)
                assemble_bushing(d, own, 3, 6, 3);
            else if (own->from == 3)
                assemble_bushing(d, own, 3, 6, own->count);
            else if (own->end == 3)
                assemble_bushing(d, own, 0, 3, own->count);
            else if (own->count == 6)
                assemble_bushing(d, own, 0, 6, 6);
            else
                assemble_bushing(d, own, 0, 6, own->count);
            continue;
        }
        if (!own->constant) own->c = damping(d, own, data, t, d->wrench + (own->kind == IN_CUT ? 12 * k : 0));
        if (own->kind == IN_JOINT) {
            for (int a = 0; a < own->count; a++)
                for (int b = 0; b <= a; b++)
                    d->value[*pair++] += own->c * null->value[s[a].first] * null->value[s[b].first];
            continue;
        }
        double *rate = d->rate + own->rate;
        own->h = own->kind == IN_CUT ? d->wrench + 12 * k : data->lines + LW_LINE * (own->force - forces);
        for (int a = 0; a < own->count; a++) {
            rate[a] = 0;
            if (s[a].first >= 0) rate[a] -= lw_v6_dot(own->h, null->twist + 6 * s[a].first);
            if (s[a].second >= 0) rate[a] += lw_v6_dot(own->h + 6, null->twist + 6 * s[a].second);
            for (int b = 0; b <= a; b++) d->value[*pair++] += own->c * rate[a] * rate[b];
        }
    }
}

INLINE void advance_bushing(const lw_dampers *d, const damper *own, const double *z, lw_data *data, int from,
                            int end, int count) {
    const double *C = own->force->bushing_damping, *rate = d->rate + own->rate, *line = own->h;
    const lw_pose *frames = own->force->frames;
    const share *s = d->shares + own->share;
    double change[6] = {0}, force[6], power = 0;
    for (int a = 0; a < count; a++)
        for (int c = from; c < end; c++) change[c] += rate[6 * a + c] * z[s[a].direction];
    for (int c = from; c < end; c++) {
        force[c] = C[c] * change[c];
        power += force[c] * (2 * line[12 + c] + change[c]);
    }
    bushing_load(force, frames[0].R, line + 9, 1, from, end, data->load + 6 * own->bodies[0]);
    bushing_load(force, line, frames[1].p, -1, from, end, data->load + 6 * own->bodies[1]);
    data->power.dissipation += power;
}

void lw_dampers_advance(const lw_dampers *d, const double *z, lw_data *data) {
    const lw_null *null = d->null;
    for (int k = 0; k < d->count; k++) {
        const damper *own = &d->dampers[k];
        const share *s = d->shares + own->share;
        double change = 0, before;
        if (own->kind == IN_BUSHING) {
            if (own->from == 3)
                advance_bushing(d, own, z, data, 3, 6, own->count);
            else if (own->end == 3)
                advance_bushing(d, own, z, data, 0, 3, own->count);
            else if (own->count == 6)
                advance_bushing(d, own, z, data, 0, 6, 6);
            else
                advance_bushing(d, own, z, data, 0, 6, own->count);
            continue;
        }
        if (own->kind == IN_JOINT) {
            for (int a = 0; a < own->count; a++) change += null->value[s[a].first] * z[s[a].direction];
            before = data->v[own->speed];
            data->tau[own->speed] -= own->c * change;
        } else { /* a spring: closed loops are not steady */
            const double *rate = d->rate + own->rate, *h = own->h;
            for (int a = 0; a < own->count; a++) change += rate[a] * z[s[a].direction];
            before = h[12];
            lw_v6_axpy(own->c * change, h, data->load + 6 * own->bodies[0]);
            lw_v6_axpy(-own->c * change, h + 6, data->load + 6 * own->bodies[1]);
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
        double c = 0;
        if (own->kind == IN_BUSHING)
            for (int part = 0; part < 6; part++) c += fabs(own->force->bushing_damping[part]);
        else
            c = fabs(damping(d, own, data, t, NULL));
        for (const share *s = d->shares + own->share; s < d->shares + own->share + own->count; s++)
            size[s->direction] += c;
    }
    for (int k = 0; k < d->size; k++) {
        double most = 0;
        for (int e = shape->entry_start[k]; e < shape->entry_start[k + 1]; e++)
            most = fmax(most, fabs(null->value[e]));
        size[k] *= most * most;
    }
}

/* --- L D L' -------------------------------------------------------------------------------------------- */

/* The pivot of direction k is known: takes it or leaves it. Returns its inverse. */
INLINE double take_pivot(lw_dampers *d, const lw_dampers *other, int k, double pivot, int *lost) {
    d->pivot[k] = pivot;
    d->loose[k] = d->skipped[k] || (other ? other->loose[k] : !(pivot > d->floor[k]));
    d->inverse[k] = d->loose[k] ? 0 : 1 / pivot;
    d->loose_count += d->loose[k];
    if (*lost < 0 && d->loose[k] && !d->skipped[k]) *lost = k;
    if (d->driven < 0 && !d->skipped[k] && pivot < -d->floor[k]) d->driven = k;
    return d->inverse[k];
}

/* n directions from `first` on, which are full (massless_full.h). */
INLINE void factor_full(lw_dampers *d, const lw_dampers *other, int first, int n, int *lost) {
    const double *value = d->value + d->start[first];
    double *L = d->L + d->L_start[first], rows[LW_FULL_MAX][LW_FULL_MAX], inverse[LW_FULL_MAX];
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) {
        d->diagonal[first + i] = value[i * (i + 1) / 2 + i];
        double pivot = full_row(n, i, value, inverse, rows, L);
        inverse[i] = take_pivot(d, other, first + i, pivot, lost);
    }
}

int lw_dampers_factor(lw_dampers *d, lw_data *data, double t) {
    int lost = -1, n = d->size;
    const lw_dampers *other = d->follow == d ? NULL : d->follow;
    d->loose_count = 0;
    d->driven = -1;
    assemble(d, data, t);
    double *y = d->work; /* zero between calls */
    for (int k = 0; k < n; k++) {
        if (d->within[k]) continue; /* no entry of L leads to or from it */
        if (d->full[k]) {
            int count = d->full[k];
            if (count == 6)
                factor_full(d, other, k, 6, &lost);
            else if (count == 3)
                factor_full(d, other, k, 3, &lost);
            else
                factor_full(d, other, k, 2, &lost);
            k += count - 1;
            continue;
        }
        int last = d->start[k + 1] - 1;
        for (int p = d->start[k]; p < last; p++) y[d->column[p]] = d->value[p];
        double pivot = d->diagonal[k] = d->value[last];
        for (int e = d->row_start[k]; e < d->row_start[k + 1]; e++) {
            int i = d->row_column[e], end = d->row_place[e];
            double yi = y[i];
            y[i] = 0;
            for (int p = d->L_start[i]; p < end; p++) y[d->L_row[p]] -= d->L[p] * yi;
            d->L[end] = yi * d->inverse[i];
            pivot -= d->L[end] * yi;
        }
        take_pivot(d, other, k, pivot, &lost);
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
        if (d->full[k] == 6)
            full_lower(6, d->L + d->L_start[k], x + k), k += 5;
        else
            for (int p = d->L_start[k]; p < d->L_start[k] + d->L_count[k]; p++)
                x[d->L_row[p]] -= d->L[p] * x[k];
    if (d->mixed) lw_mixed_lower(d->mixed, x);
}
void lw_dampers_upper(const lw_dampers *d, double *x) {
    for (int k = d->size - 1; k >= 0; k--)
        if (k >= 5 && d->full[k - 5] == 6)
            k -= 5, full_upper(6, d->L + d->L_start[k], x + k);
        else
            for (int p = d->L_start[k]; p < d->L_start[k] + d->L_count[k]; p++)
                x[k] -= d->L[p] * x[d->L_row[p]];
    if (d->mixed) lw_mixed_upper(d->mixed, x);
}
void lw_dampers_solve(const lw_dampers *d, double *x) {
    lw_dampers_lower(d, x);
    for (int k = 0; k < d->size; k++) x[k] *= d->inverse[k];
    lw_dampers_upper(d, x);
}
