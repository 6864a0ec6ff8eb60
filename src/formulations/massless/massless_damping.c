/* massless_damping.c - the dampers that resist massless motions, and the structure of N'C N with its factors.
 *
 * A damper is a speed of a joint with a force that depends on it (torsion, friction, drive), the line of a
 * spring, or a bushing with six rates. Dampers are ordered as the directions are, from the leaves inwards, so
 * that L has no fill-in along a branch.
 *
 * Source   docs/theory/massless.md, 3.
 * Cost     O(dampers log dampers + entries of L), once.
 */
#include "formulations/massless/massless_pivoted_ldl.h"
#include "model/joint.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- elements ---------------------------------------------------------------------------------------- */

/* Finds the range of the components of a bushing that damp. Translations come first. */
static void span(const lw_force *force, int *from, int *end) {
    const double *c = force->bushing_damping;
    *from = c[0] != 0 || c[1] != 0 || c[2] != 0 ? 0 : 3;
    *end = c[3] != 0 || c[4] != 0 || c[5] != 0 ? 6 : 3;
}

/* Tells whether the force of the element depends on speeds. */
static bool resists(const lw_force *force) {
    int from = 0, end = 0;
    switch (force->type) {
    case LW_FORCE_SPRING:
    case LW_FORCE_TORSION:
        return force->damping != 0 || law_uses(force->law, 1);
    case LW_FORCE_BUSHING:
        span(force, &from, &end);
        return from < end;
    case LW_FORCE_DRIVE:
        return law_uses(force->drive, 2);
    case LW_FORCE_FRICTION:
        return force->viscous != 0 || force->coulomb != 0;
    default:
        return false;
    }
}
/* Tells whether the force of the element is linear in the speeds. */
static bool is_linear(const lw_force *force) {
    if (force->type == LW_FORCE_DRIVE) return false;
    if (force->type == LW_FORCE_FRICTION) return force->coulomb == 0;
    return !law_uses(force->law, 1);
}
/* Tells whether the slope of the element depends on position, time or inputs, so that it may vanish in a
 * region. */
static bool is_latent(const lw_force *force) {
    const lw_function *f = force->type == LW_FORCE_DRIVE ? force->drive : force->law;
    bool drive = force->type == LW_FORCE_DRIVE; /* A drive depends on (t, q, v), a law on (x, v, t). */
    bool inputs = f && lw_function_uses_inputs(f);
    return drive ? law_uses(f, 2) && (law_uses(f, 0) || law_uses(f, 1) || inputs)
                 : force->damping == 0 && law_uses(f, 1) && (law_uses(f, 0) || law_uses(f, 2) || inputs);
}
/* Tells whether the power of the element depends on speeds in another way than by damping. */
static bool pushes(const lw_force *force) {
    return force->type == LW_FORCE_APPLIED || force->type == LW_FORCE_DRIVE ||
           (force->law && !force->law_is_potential);
}
/* The slope of a law may vanish or be infinite at rest, as for v |v| and for a root, though its force rises
 * with the speed. Where it does, the mean slope over an interval around the speed replaces it, and where it
 * is less than a small part of the mean slope, this part does, so that Newton's method converges. */
double lw_law_slope(const lw_function *f, const law_context *context, const double variables[3], int k) {
    /* width is half the interval of the mean slope, in the unit of the speed; little is a part of the mean
     * slope. */
    const double width = 1e-3 * context->unit, little = 1e-9;
    const double *inputs = context->inputs, *held = context->held;
    lw_jet at[3];
    double before[3], after[3];
    for (int c = 0; c < 3; c++) {
        at[c] = (lw_jet){variables[c], c == k, 0};
        before[c] = variables[c] - (c == k ? width : 0), after[c] = variables[c] + (c == k ? width : 0);
    }
    lw_jet now = lw_function_jet_held(f, at, inputs, held);
    double tangent = now.d;
    /* If the slope hardly changes over the interval, the mean slope is the same. */
    if (isfinite(tangent) && tangent != 0 && fabs(now.dd) * width <= fabs(tangent)) return tangent;
    double rise =
        lw_function_value_held(f, after, inputs, held) - lw_function_value_held(f, before, inputs, held);
    double mean = rise / (2 * width);
    if (!isfinite(tangent) || tangent == 0) return mean;
    return tangent * mean >= 0 && fabs(tangent) < little * fabs(mean) ? little * mean : tangent;
}

double lw_joint_damping(const lw_force *force, const law_context *context, double q, double v, double t) {
    if (force->type == LW_FORCE_DRIVE) {
        const double variables[3] = {t, q, v};
        return -lw_law_slope(force->drive, context, variables, 2);
    }
    if (force->type == LW_FORCE_FRICTION) {
        if (force->coulomb == 0) return force->viscous;
        double share_of = tanh(v / force->smoothing);
        return force->viscous + force->coulomb / force->smoothing * (1 - share_of * share_of);
    }
    const double variables[3] = {q - force->free_length, v, t};
    return force->damping + (law_uses(force->law, 1) ? lw_law_slope(force->law, context, variables, 1) : 0);
}

static damper_kind kind_of(const lw_force *force) {
    if (acts_in_joint(force)) return force->closure < 0 ? IN_JOINT : IN_CUT;
    return force->type == LW_FORCE_BUSHING ? IN_BUSHING : ON_LINE;
}
void lw_damper_bodies(const lw_model *model, const lw_force *force, int bodies[2]) {
    const int *from =
        force->closure < 0 ? force->bodies : model->joints[model->closures[force->closure]].info.bodies;
    bodies[0] = from[0], bodies[1] = from[1];
}

/* Lists, per key (a speed or a body), of the items (values or twists of directions) that belong to it, with
 * their directions, ascending. */
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

/* Finds the shares of a force element, in the order of the directions. Returns their number. */
static int find_shares(const lw_model *model, const lw_force *force, const index_lists *speeds,
                       const index_lists *bodies, share *out) {
    int count = 0;
    if (kind_of(force) == IN_JOINT) {
        for (int at = speeds->start[force->v]; at < speeds->start[force->v + 1]; at++, count++)
            out[count] = (share){speeds->direction[at], speeds->item[at], -1};
        return count;
    }
    int pair[2], at[2], end[2];
    lw_damper_bodies(model, force, pair);
    for (int side = 0; side < 2; side++)
        at[side] = bodies->start[pair[side]], end[side] = bodies->start[pair[side] + 1];
    while (at[0] < end[0] || at[1] < end[1]) { /* Both lists are merged by direction. */
        int first = at[0] < end[0] ? bodies->direction[at[0]] : INT32_MAX,
            second = at[1] < end[1] ? bodies->direction[at[1]] : INT32_MAX;
        int k = first < second ? first : second;
        share s = {k, -1, -1};
        if (first == k) s.first = bodies->item[at[0]++];
        if (second == k) s.second = bodies->item[at[1]++];
        out[count++] = s;
    }
    return count;
}

/* --- structure of the matrix ------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Finds the rows of the matrix from all pairs of directions that share a damper. */
static bool matrix_structure(lw_dampers *d, lw_arena *arena) {
    size_t pairs = (size_t)d->size;
    for (int k = 0; k < d->count; k++)
        pairs += (size_t)d->dampers[k].count * (size_t)(d->dampers[k].count + 1) / 2;
    int(*all)[2] = calloc(pairs + 1, sizeof *all);
    d->start = LW_NEW(arena, int, d->size + 1);
    d->pairs = LW_NEW(arena, int, pairs + 1);
    if (!all || lw_arena_failed(arena)) {
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

/* Finds the elimination tree, the columns of L, and the columns of each row in an order in which each comes
 * after those that it depends on. */
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
    d->held = LW_NEW(arena, bool, n + 1);
    d->latent = LW_NEW(arena, bool, n + 1);
    d->least = LW_NEW(arena, double, n + 1);
    d->within = LW_NEW(arena, bool, n + 1);
    d->unit = LW_NEW(arena, double, n + 1);
    bool fine = flag && pattern && !lw_arena_failed(arena);
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
    d->row_entry = LW_NEW(arena, int, entries + 1);
    fine = fine && !lw_arena_failed(arena);
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
            int i = pattern[top], entry = d->L_start[i] + d->L_count[i]++;
            d->row_column[at] = i;
            d->row_entry[at] = entry;
            d->L_row[entry] = k;
        }
    }
    free(flag), free(pattern);
    return fine;
}

/* What every damper is, once its element is known: `which` are the elements in the order of dampers. */
static void describe_dampers(lw_dampers *d, int (*which)[2], const index_lists *speeds,
                             const index_lists *bodies) {
    const lw_model *model = d->null->shape->model;
    int shares = 0;
    for (int k = 0; k < d->count; k++) {
        const lw_force *force = &model->forces[which[k][1]];
        damper *to = &d->dampers[k];
        *to = (damper){.share = shares, .speed = force->v, .kind = kind_of(force)};
        d->forces[k] = force;
        to->line = d->line_of[which[k][1]];
        to->count = find_shares(model, force, speeds, bodies, d->shares + shares);
        shares += to->count;
        to->constant = (to->kind == IN_JOINT || to->kind == ON_LINE) && is_linear(force);
        to->latent = is_latent(force);
        if (to->constant) to->c = lw_joint_damping(force, NULL, 0, 0, 0);
        if (to->kind == IN_BUSHING) {
            int from, end;
            span(force, &from, &end);
            to->from = (unsigned char)from, to->end = (unsigned char)end;
        }
        lw_damper_bodies(model, force, to->bodies);
        for (const share *s = d->shares + to->share; s < d->shares + to->share + to->count; s++)
            to->moves[0] |= s->first >= 0, to->moves[1] |= s->second >= 0;
    }
}

/* Marks the directions of latent dampers, and their elements. */
static bool mark_latent(lw_dampers *d, lw_arena *arena) {
    const lw_model *model = d->null->shape->model;
    for (int k = 0; k < d->count; k++) {
        const damper *own = &d->dampers[k];
        if (!own->latent) continue;
        for (const share *s = d->shares + own->share; s < d->shares + own->share + own->count; s++)
            d->latent[s->direction] = true;
        if (!d->still) d->still = LW_NEW(arena, bool, model->force_count);
        if (!d->still) return false;
        d->still[d->forces[k] - model->forces] = true;
    }
    return true;
}

lw_dampers *lw_dampers_create(const lw_null *null, lw_arena *arena) {
    const lw_null_shape *shape = null->shape;
    const lw_model *model = shape->model;
    lw_dampers *d = LW_NEW(arena, lw_dampers, 1);
    index_lists speeds = {0}, bodies = {0};
    int(*order)[2] = calloc((size_t)model->force_count + 1, sizeof *order); /* (first direction, element) */
    share *found = calloc((size_t)shape->count + 1, sizeof *found);         /* the shares of one element */
    if (!d || !order || !found) {
        free(order), free(found);
        return NULL;
    }
    d->null = null;
    d->size = shape->count;
    d->linear = true;
    bool fine = make_index(model->nv, shape->count, shape->entry_start, shape->speed, &speeds) &&
                make_index(model->body_count + 1, shape->count, shape->moved_start, shape->body, &bodies);
    d->steady = !shape->dense;
    d->line_of = LW_NEW(arena, int, model->force_count + 1);
    fine = fine && d->line_of;
    int shares = 0, most = 0;
    for (int k = 0; k < model->force_count && fine; k++) {
        const lw_force *force = &model->forces[k];
        int own = find_shares(model, force, &speeds, &bodies, found);
        d->line_of[k] = -1;
        if (!own) continue;
        if (pushes(force)) d->steady = false;
        if (!resists(force)) continue;
        if (own > most) most = own;
        order[d->count][0] = found[0].direction, order[d->count][1] = k;
        d->linear &= is_linear(force);
        if (kind_of(force) == ON_LINE || kind_of(force) == IN_BUSHING) d->line_of[k] = d->line_count++;
        d->count++, shares += own;
    }
    d->steady &= d->linear;
    qsort(order, (size_t)d->count, sizeof *order, ascending);
    d->dampers = LW_NEW(arena, damper, d->count + 1);
    d->forces = LW_NEW(arena, const lw_force *, d->count + 1);
    d->shares = LW_NEW(arena, share, shares + 1);
    d->rate = LW_NEW(arena, double, 6 * (size_t)most + 1);
    d->wrench = LW_NEW(arena, double, shape->dense ? 12 * (size_t)d->count + 1 : 1);
    fine = fine && !lw_arena_failed(arena);
    if (fine) describe_dampers(d, order, &speeds, &bodies);
    fine = fine && matrix_structure(d, arena) && factor_structure(d, arena) && mark_latent(d, arena);
    free_index(&speeds), free_index(&bodies), free(order), free(found);
    return fine ? d : NULL;
}

int lw_dampers_driver(const lw_dampers *d, const double *z) {
    double most = 0;
    int speed = -1;
    for (const damper *own = d->dampers; own < d->dampers + d->count; own++) {
        double rate = 0;
        if (own->kind != IN_JOINT || !(own->c < 0)) continue;
        for (const share *s = d->shares + own->share; s < d->shares + own->share + own->count; s++)
            rate += d->null->value[s->first] * z[s->direction];
        if (-own->c * rate * rate > most) most = -own->c * rate * rate, speed = own->speed;
    }
    return speed;
}
int lw_dampers_latent_element(const lw_dampers *d, int k) {
    for (const damper *own = d->dampers; own < d->dampers + d->count; own++)
        for (const share *s = d->shares + own->share; s < d->shares + own->share + own->count; s++)
            if (own->latent && s->direction == k)
                return (int)(d->forces[own - d->dampers] - d->null->shape->model->forces);
    return -1;
}
int lw_dampers_curved_element(const lw_dampers *d, int k) {
    for (const damper *own = d->dampers; own < d->dampers + d->count; own++)
        for (const share *s = d->shares + own->share; s < d->shares + own->share + own->count; s++)
            if (!own->latent && s->direction == k && !is_linear(d->forces[own - d->dampers]))
                return (int)(d->forces[own - d->dampers] - d->null->shape->model->forces);
    return -1;
}
const bool *lw_dampers_held(const lw_dampers *d) { return d->frozen || d->any_held ? d->held : NULL; }
void lw_dampers_freeze(lw_dampers *d, const bool *held) {
    d->frozen = held != NULL;
    d->any_held = false;
    for (int k = 0; k < d->size; k++) {
        d->any_held |= d->held[k] = held && held[k];
        d->least[k] = d->floor[k] > 0 ? d->floor[k] / 4 : 1e-300;
    }
}
void lw_dampers_hold(lw_dampers *d, const bool *held) {
    d->missing = -1;
    for (int k = 0; k < d->size; k++) {
        d->any_held |= d->held[k] = held[k];
        if (d->missing < 0 && d->loose[k] && !d->skipped[k] && !held[k]) d->missing = k;
    }
}

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
