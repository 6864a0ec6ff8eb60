/* massless_damping.c - the dampers that resist massless motions, and the structure of N'C N with its factors.
 *
 * A damper is a speed of a joint with a force that depends on it (torsion, friction, drive), the line of a
 * spring, or a bushing with six rates. Dampers are ordered as the directions are, from the leaves inwards, so
 * that L has no fill-in along a branch. They are divided into pieces that share nothing, so that one piece
 * can be finished before the next is begun.
 *
 * Source   docs/theory/massless.md, 3.
 * Cost     O(dampers log dampers + entries of L), once.
 */
#include "formulations/massless/massless_damping.h"
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

/* Tells whether the element acts on one joint speed, not between two bodies. */
static bool in_joint(const lw_force *force) {
    return force->closure < 0 && force->type != LW_FORCE_SPRING && force->type != LW_FORCE_BUSHING &&
           force->type != LW_FORCE_APPLIED;
}
static damper_kind kind_of(const lw_force *force) {
    if (in_joint(force)) return IN_JOINT;
    if (force->closure >= 0) return IN_CUT;
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

/* Finds the shares of a force element, in the order of the directions. Returns their number. out may be
 * NULL. */
static int find_shares(const lw_model *model, const lw_force *force, const index_lists *speeds,
                       const index_lists *bodies, share *out) {
    int count = 0;
    if (in_joint(force)) {
        for (int at = speeds->start[force->v]; at < speeds->start[force->v + 1]; at++, count++)
            if (out) out[count] = (share){speeds->direction[at], speeds->item[at], -1};
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
        if (out) out[count] = s;
        count++;
    }
    return count;
}

/* Returns the first direction on which a force element acts, or -1. */
static int first_direction(const lw_model *model, const lw_force *force, const index_lists *speeds,
                           const index_lists *bodies) {
    if (in_joint(force))
        return speeds->start[force->v] < speeds->start[force->v + 1]
                   ? speeds->direction[speeds->start[force->v]]
                   : -1;
    int pair[2], first = -1;
    lw_damper_bodies(model, force, pair);
    for (int side = 0; side < 2; side++) {
        int at = bodies->start[pair[side]];
        if (at == bodies->start[pair[side] + 1]) continue;
        if (first < 0 || bodies->direction[at] < first) first = bodies->direction[at];
    }
    return first;
}

/* --- structure of the matrix ------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static int by_number(const void *a, const void *b) {
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
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
    d->row_place = LW_NEW(arena, int, entries + 1);
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
            int i = pattern[top], place = d->L_start[i] + d->L_count[i]++;
            d->row_column[at] = i;
            d->row_place[at] = place;
            d->L_row[place] = k;
        }
    }
    free(flag), free(pattern);
    return fine;
}

/* Tells whether dampers connect all directions of this block with one another, so that the matrix of the
 * block is at the ends of its rows. */
static bool is_joined(const lw_dampers *d, const lw_null_block *block) {
    for (int k = block->first; k < block->first + block->count; k++) {
        int own = k - block->first, last = d->start[k + 1] - 1;
        if (last - own < d->start[k] || d->column[last - own] != block->first) return false;
    }
    return true;
}
/* Removes from the list the constant dampers in joints that act on the directions of a single block, and adds
 * them up per speed. Negative dampers stay in the list, so that the sums are sums of sizes, too. */
static bool gather_joints(lw_dampers *d, lw_arena *arena) {
    const lw_null_shape *shape = d->null->shape;
    int *block_of = calloc((size_t)d->size + 1, sizeof *block_of), kept = 0, shares = 0, pairs = 0;
    d->in_joints = LW_NEW(arena, double, shape->model->nv + 1);
    d->gathered = LW_NEW(arena, bool, shape->block_count + 1);
    bool fine = block_of && !lw_arena_failed(arena);
    for (int b = 0; b < shape->block_count && fine; b++)
        for (int k = 0; k < shape->blocks[b].count; k++) block_of[shape->blocks[b].first + k] = b;
    for (int k = 0; k < d->count && fine; k++) {
        damper own = d->dampers[k];
        int block = block_of[own.direction], last = d->shares[own.share + own.count - 1].direction;
        if (!shape->dense && own.kind == IN_JOINT && own.constant && own.c > 0 && block_of[last] == block &&
            is_joined(d, &shape->blocks[block])) {
            d->in_joints[own.speed] += own.c;
            d->gathered[block] = d->any_gathered = true;
            continue;
        }
        memmove(d->shares + shares, d->shares + own.share, (size_t)own.count * sizeof *d->shares);
        memmove(d->pairs + pairs, d->pairs + own.pair,
                (size_t)own.count * (size_t)(own.count + 1) / 2 * sizeof *d->pairs);
        own.share = shares, own.pair = pairs;
        shares += own.count, pairs += own.count * (own.count + 1) / 2;
        d->forces[kept] = d->forces[k];
        d->dampers[kept++] = own;
    }
    if (fine) d->count = kept;
    free(block_of);
    return fine;
}

/* Finds, per direction, the last direction with which it shares a key, a body or a speed. The keys of
 * direction k are key[start[k]] to key[start[k + 1] - 1]. */
static void reach(int directions, const int *start, const int *key, int *last_of_key, int *farthest) {
    for (int k = 0; k < directions; k++)
        for (int e = start[k]; e < start[k + 1]; e++) last_of_key[key[e]] = k;
    for (int k = 0; k < directions; k++)
        for (int e = start[k]; e < start[k + 1]; e++)
            if (last_of_key[key[e]] > farthest[k]) farthest[k] = last_of_key[key[e]];
}

/* Divides the directions into pieces that share no damper, body or speed with one another. */
static bool find_pieces(lw_dampers *d, lw_arena *arena) {
    /* A piece may end when it has so many directions or bodies: its data fit into the second-level cache, and
     * each array is still read in long runs. */
    enum { ENOUGH = 512 };
    const lw_null_shape *shape = d->null->shape;
    const lw_model *model = shape->model;
    lw_null_piece piece = {.constant = true};
    int next = 0, nodes = 0, last = -1; /* Directions up to `last` share something with earlier ones. */
    int keys = (model->nv > model->body_count ? model->nv : model->body_count) + 1;
    int *farthest = calloc((size_t)d->size + 1, sizeof *farthest),
        *scratch = calloc((size_t)keys, sizeof *scratch);
    int most = (d->size + shape->node_start[d->size]) / ENOUGH + 2;
    d->pieces = LW_NEW(arena, lw_null_piece, most);
    d->known = LW_NEW(arena, unsigned, most);
    bool fine = !lw_arena_failed(arena) && farthest && scratch;
    if (fine) {
        reach(d->size, shape->entry_start, shape->speed, scratch, farthest);
        reach(d->size, shape->moved_start, shape->body, scratch, farthest);
    }
    for (int b = 0; b < shape->block_count && fine; b++) {
        const lw_null_block *block = &shape->blocks[b];
        int end = block->first + block->count;
        for (; next < d->count && d->dampers[next].direction < end; next++) {
            const damper *own = &d->dampers[next];
            int with = d->shares[own->share + own->count - 1].direction;
            if (with > last) last = with;
        }
        for (int k = block->first; k < end; k++)
            if (farthest[k] > last) last = farthest[k];
        piece.constant &= block->constant;
        nodes += shape->node_start[block->first + 1] - shape->node_start[block->first];
        if (last >= end || (end - piece.first < ENOUGH && nodes < ENOUGH && end < d->size)) continue;
        nodes = 0;
        piece.end = end, piece.block_end = b + 1, piece.damper_end = next;
        if (piece.constant && piece.damper == next) piece.known = &d->known[d->piece_count];
        d->pieces[d->piece_count++] = piece;
        piece = (lw_null_piece){.first = end, .block = b + 1, .damper = next, .constant = true};
    }
    d->whole = (lw_null_piece){.end = d->size, .block_end = shape->block_count, .damper_end = d->count};
    free(farthest), free(scratch);
    return fine;
}

/* Finds what each piece needs before it is computed: the first of the elements that act on its speeds or
 * bodies, and the bodies whose relative poses no earlier piece needs. */
static bool find_needs(lw_dampers *d, int most, const index_lists *speeds, const index_lists *bodies,
                       lw_arena *arena) {
    const lw_null_shape *shape = d->null->shape;
    const lw_model *model = shape->model;
    int *piece_of = calloc((size_t)d->size + 1, sizeof *piece_of), count = 0;
    share *shares = calloc((size_t)most + 1, sizeof *shares);
    bool *taken = calloc((size_t)model->body_count + 1, sizeof *taken);
    d->placed = LW_NEW(arena, int, model->body_count + 1);
    bool fine = piece_of && shares && taken && d->placed;
    for (int p = 0; p < d->piece_count && fine; p++) {
        lw_null_piece *piece = &d->pieces[p];
        piece->element = model->force_count;
        piece->placed = count;
        for (int k = piece->first; k < piece->end; k++) piece_of[k] = p;
        for (int n = shape->node_start[piece->first]; n < shape->node_start[piece->end]; n++) {
            int body = shape->nodes[n].body;
            if (shape->nodes[n].kernel >= LW_KERNEL_PRISMATIC && !taken[body])
                taken[body] = true, d->placed[count++] = body;
        }
        piece->placed_end = count;
        qsort(d->placed + piece->placed, (size_t)(count - piece->placed), sizeof *d->placed, by_number);
    }
    d->whole.placed_end = count;
    for (int k = model->force_count - 1; k >= 0 && fine; k--) {
        int own = find_shares(model, &model->forces[k], speeds, bodies, shares);
        for (int a = 0; a < own; a++) d->pieces[piece_of[shares[a].direction]].element = k;
    }
    free(piece_of), free(shares), free(taken);
    return fine;
}

static int least(int count, const int *numbers, int than) {
    for (int k = 0; k < count; k++)
        if (numbers[k] < than) than = numbers[k];
    return than;
}

/* Goes through the pieces as lw_flow_steady does, and finds which elements, and with them which speeds and
 * bodies, have been evaluated when each piece is computed. The lines that elements store for a piece are not
 * needed after it; if no line waits for a later piece, the next piece uses the lines from the first on. */
static void go_through(lw_dampers *d) {
    const lw_null_shape *shape = d->null->shape;
    const lw_model *model = shape->model;
    int live = 0, next = 0, element = model->force_count, speed = model->nv, body = model->body_count + 1;
    for (int p = 0; p < d->piece_count; p++) {
        lw_null_piece *piece = &d->pieces[p];
        if (!live) next = 0;
        for (int k = piece->element; k < element; k++) {
            const lw_force *force = &model->forces[k];
            if (d->line_of[0][k] >= 0) d->line_of[1][k] = next++, live++;
            if (in_joint(force))
                speed = least(1, &force->v, speed);
            else
                body = least(2, force->bodies, body);
        }
        int entry = shape->entry_start[piece->first], moved = shape->moved_start[piece->first];
        piece->speed = speed = least(shape->entry_start[piece->end] - entry, shape->speed + entry, speed);
        piece->body = body = least(shape->moved_start[piece->end] - moved, shape->body + moved, body);
        piece->element = element = least(1, &piece->element, element);
        for (damper *own = d->dampers + piece->damper; own < d->dampers + piece->damper_end; own++) {
            if (own->line[0] < 0) continue;
            own->line[1] = d->line_of[1][d->forces[own - d->dampers] - model->forces];
            live--;
        }
    }
}

lw_dampers *lw_dampers_create(const lw_null *null, lw_arena *arena) {
    const lw_null_shape *shape = null->shape;
    const lw_model *model = shape->model;
    lw_dampers *d = LW_NEW(arena, lw_dampers, 1);
    index_lists speeds = {0}, bodies = {0};
    int(*order)[2] = calloc((size_t)model->force_count + 1, sizeof *order); /* (first direction, element) */
    if (!d || !order) {
        free(order);
        return NULL;
    }
    d->null = null;
    d->size = shape->count;
    d->linear = true;
    d->epoch = 1;
    bool fine = make_index(model->nv, shape->count, shape->entry_start, shape->speed, &speeds) &&
                make_index(model->body_count + 1, shape->count, shape->moved_start, shape->body, &bodies);
    d->steady = !shape->dense;
    for (int k = 0; k < 2; k++) d->line_of[k] = LW_NEW(arena, int, model->force_count + 1);
    fine = fine && d->line_of[0] && d->line_of[1];
    int shares = 0, most = 0;
    for (int k = 0; k < model->force_count && fine; k++) {
        const lw_force *force = &model->forces[k];
        int first = first_direction(model, force, &speeds, &bodies);
        d->line_of[0][k] = d->line_of[1][k] = -1;
        if (first < 0) continue;
        if (pushes(force)) d->steady = false;
        int own = find_shares(model, force, &speeds, &bodies, NULL);
        if (own > most) most = own;
        if (!resists(force)) continue;
        order[d->count][0] = first, order[d->count][1] = k;
        d->linear &= is_linear(force);
        if (kind_of(force) == ON_LINE || kind_of(force) == IN_BUSHING) d->line_of[0][k] = d->line_count++;
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
    shares = 0;
    for (int k = 0; k < d->count && fine; k++) {
        const lw_force *force = &model->forces[order[k][1]];
        damper *to = &d->dampers[k];
        *to = (damper){.share = shares, .direction = order[k][0], .speed = force->v, .kind = kind_of(force)};
        d->forces[k] = force;
        to->line[0] = d->line_of[0][order[k][1]];
        to->count = find_shares(model, force, &speeds, &bodies, d->shares + shares);
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
    fine = fine && matrix_structure(d, arena) && factor_structure(d, arena) && gather_joints(d, arena) &&
           find_pieces(d, arena) && find_needs(d, most, &speeds, &bodies, arena);
    for (int k = 0; k < d->count && fine; k++)
        for (const share *s = d->shares + d->dampers[k].share;
             s < d->shares + d->dampers[k].share + d->dampers[k].count; s++)
            d->latent[s->direction] |= d->dampers[k].latent;
    for (int k = 0; k < d->count && fine; k++) {
        if (!d->dampers[k].latent) continue;
        if (!d->still) fine = (d->still = LW_NEW(arena, bool, model->force_count)) != NULL;
        if (fine) d->still[d->forces[k] - model->forces] = true;
    }
    if (fine && !shape->dense) go_through(d);
    free_index(&speeds), free_index(&bodies), free(order);
    return fine ? d : NULL;
}

int lw_dampers_line_count(const lw_dampers *d) { return d->line_count; }
const int *lw_dampers_lines(lw_dampers *d, bool brief) {
    d->brief = brief && !d->mixed;
    return d->line_of[d->brief];
}
const int *lw_dampers_placed(const lw_dampers *d) { return d->placed; }
const double *lw_dampers_in_joints(const lw_dampers *d) { return d->any_gathered ? d->in_joints : NULL; }
bool lw_dampers_linear(const lw_dampers *d) { return d->linear; }
bool lw_dampers_steady(const lw_dampers *d) { return d->steady; }
const double *lw_dampers_diagonal(const lw_dampers *d) { return d->diagonal; }
const double *lw_dampers_pivots(const lw_dampers *d) { return d->pivot; }
bool *lw_dampers_skipped(lw_dampers *d) {
    d->epoch++;
    return d->skipped;
}
double *lw_dampers_floors(lw_dampers *d) {
    d->epoch++;
    return d->floor;
}
const bool *lw_dampers_loose(const lw_dampers *d) { return d->loose; }
int lw_dampers_missing(const lw_dampers *d) { return d->missing; }
bool lw_dampers_lost(const lw_dampers *d) { return d->missing >= 0; }
int lw_dampers_driven(const lw_dampers *d) { return d->driven; }
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
const lw_null_piece *lw_dampers_pieces(const lw_dampers *d, int *count) {
    *count = d->mixed ? 1 : d->piece_count;
    return d->mixed ? &d->whole : d->pieces;
}
const bool *lw_dampers_latent(const lw_dampers *d) { return d->latent; }
int lw_dampers_latent_element(const lw_dampers *d, int k) {
    for (const damper *own = d->dampers; own < d->dampers + d->count; own++)
        for (const share *s = d->shares + own->share; s < d->shares + own->share + own->count; s++)
            if (own->latent && s->direction == k)
                return (int)(d->forces[own - d->dampers] - d->null->shape->model->forces);
    return -1;
}
const bool *lw_dampers_still(const lw_dampers *d) { return d->still; }
void lw_dampers_without_latent(lw_dampers *d, bool without) { d->without_latent = without; }
const bool *lw_dampers_held(const lw_dampers *d) { return d->frozen || d->any_held ? d->held : NULL; }
const bool *lw_dampers_within(const lw_dampers *d) { return d->within; }
bool lw_dampers_frozen(const lw_dampers *d) { return d->frozen; }
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
