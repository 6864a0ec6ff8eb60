/* loop_constraints.c - segments of closures and constraints along the spanning tree, and the order in which
 * they are eliminated.
 *
 * A tie can be eliminated at its base, when everything beyond has been. Ties with the same base, such as the
 * cells of a ladder that hangs on ground, are ordered by minimum degree so that few of them get coupled on
 * the way.
 *
 * Source   docs/theory/rcr.md, 3.
 * Cost     compile time only: O(segments x width^2), and as much again for the order.
 */
#include "constraints/loop_constraints.h"

#include <stdlib.h>
#include <string.h>

/* --- lists that grow ------------------------------------------------------------------------------ */

typedef struct list {
    int *item, count, room;
} list;

static bool append(list *l, int x) {
    if (l->count == l->room) {
        int room = l->room ? 2 * l->room : 8;
        int *item = realloc(l->item, (size_t)room * sizeof *item);
        if (!item) return false;
        l->item = item, l->room = room;
    }
    l->item[l->count++] = x;
    return true;
}

static void take_out(list *l, int x) {
    for (int k = 0; k < l->count; k++)
        if (l->item[k] == x) {
            l->item[k] = l->item[--l->count];
            return;
        }
}

/* --- the draft, in the order of the rows ---------------------------------------------------------- */

typedef struct draft {
    const lw_model *model;
    const lw_rows *rows;
    int count;
    int *first, *size, *base; /* per tie */
    list *at_body;            /* per body: ties with a segment there */
    list *neighbours;         /* per tie: coupled and not yet eliminated, or those left at its elimination */
    int *order;               /* ties in the order of elimination */
    int *rank;                /* per tie: its place in that order */
    int *seen;                /* per tie: the last visit that has met it */
    int visit;
} draft;

static void discard(draft *d) {
    for (int i = 0; d->at_body && i <= d->model->body_count; i++) free(d->at_body[i].item);
    for (int t = 0; d->neighbours && t < d->count; t++) free(d->neighbours[t].item);
    free(d->first), free(d->size), free(d->base), free(d->at_body), free(d->neighbours), free(d->order),
        free(d->rank), free(d->seen);
}

static bool same_tie(const lw_row *a, const lw_row *b) {
    return a->joint == b->joint && a->constraint == b->constraint;
}

/* Where the ways of two bodies to ground meet; -1 stands for no body yet. */
static int meet(const lw_model *model, int a, int b) {
    if (a < 0) return b;
    while (a != b)
        if (a > b)
            a = model->links[a].parent;
        else
            b = model->links[b].parent;
    return a;
}

/* Where the branches of all bodies of a tie meet. Ground has no block in the rows, but may be one of them. */
static int base_of(const lw_model *model, const lw_rows *rows, int row) {
    const lw_row *r = &rows->rows[row];
    if (r->joint >= 0) {
        const int *bodies = model->joints[r->joint].info.bodies;
        return meet(model, bodies[0], bodies[1]);
    }
    const lw_constraint *constraint = &model->constraints[r->constraint];
    if (constraint->type != LW_CONSTRAINT_COUPLING)
        return meet(model, constraint->bodies[0], constraint->bodies[1]);
    int base = -1;
    for (int k = 0; k < constraint->terms; k++) {
        const int *bodies =
            model->joints[rows->coupling_joint[LW_COUPLING_MAX * r->constraint + k]].info.bodies;
        base = meet(model, meet(model, base, bodies[0]), bodies[1]);
    }
    return base;
}

/* Marks the neighbours of a tie, and itself, as seen by this visit. */
static void see(draft *d, int tie) {
    d->seen[tie] = ++d->visit;
    for (int k = 0; k < d->neighbours[tie].count; k++) d->seen[d->neighbours[tie].item[k]] = d->visit;
}

static bool lay_segments(draft *d, int tie) {
    const lw_row *row = &d->rows->rows[d->first[tie]];
    see(d, tie);
    for (int k = row->block; k < row->block + row->count; k++)
        for (int i = d->rows->body[k]; i != d->base[tie]; i = d->model->links[i].parent) {
            list *at = &d->at_body[i];
            if (at->count && at->item[at->count - 1] == tie) break; /* laid from another body of the tie */
            for (int n = 0; n < at->count; n++) {
                int other = at->item[n];
                if (d->seen[other] == d->visit) continue;
                d->seen[other] = d->visit;
                if (!append(&d->neighbours[tie], other) || !append(&d->neighbours[other], tie)) return false;
            }
            if (!append(at, tie)) return false;
        }
    return true;
}

/* Eliminates a tie from the graph: its neighbours become each other's. */
static bool eliminate(draft *d, int tie, int place) {
    list *near = &d->neighbours[tie];
    d->order[place] = tie;
    d->rank[tie] = place;
    for (int j = 0; j < near->count; j++) {
        list *other = &d->neighbours[near->item[j]];
        take_out(other, tie);
        see(d, near->item[j]);
        for (int k = 0; k < near->count; k++)
            if (d->seen[near->item[k]] != d->visit && !append(other, near->item[k])) return false;
    }
    return true;
}

/* Ties waiting with the same number of neighbours, first come, first served. */
typedef struct queue {
    list waiting;
    int next;
} queue;

/* The ties of one base: always one with the fewest neighbours, and of these the one that has had so few for
 * the longest time. So eliminations in turn rarely depend on each other, and the processor can work on
 * several at once. */
static bool order_group(draft *d, const int *group, int count, bool *inside, int *place) {
    int most = 0;
    for (int k = 0; k < count; k++) {
        inside[group[k]] = true;
        if (d->neighbours[group[k]].count > most) most = d->neighbours[group[k]].count;
    }
    int room = d->count > most ? d->count : most, left = count, fewest = 0;
    queue *queues = calloc((size_t)room + 1, sizeof *queues);
    bool fine = queues != NULL;
    for (int k = 0; fine && k < count; k++)
        fine = append(&queues[d->neighbours[group[k]].count].waiting, group[k]);
    while (fine && left > 0) {
        queue *q = &queues[fewest];
        if (q->next == q->waiting.count) {
            fewest++;
            continue;
        }
        int tie = q->waiting.item[q->next++];
        if (!inside[tie] || d->neighbours[tie].count != fewest) continue; /* it has moved to another queue */
        inside[tie] = false;
        left--;
        fine = eliminate(d, tie, (*place)++);
        const list *near = &d->neighbours[tie];
        for (int k = 0; fine && k < near->count; k++) {
            int other = near->item[k], neighbours = d->neighbours[other].count;
            if (!inside[other]) continue;
            fine = append(&queues[neighbours].waiting, other);
            if (neighbours < fewest) fewest = neighbours;
        }
    }
    for (int k = 0; queues && k <= room; k++) free(queues[k].waiting.item);
    free(queues);
    return fine;
}

static bool order_ties(draft *d) {
    int n = d->model->body_count, place = 0;
    int *count = calloc((size_t)n + 2, sizeof *count), *group = calloc((size_t)d->count + 1, sizeof *group);
    bool *inside = calloc((size_t)d->count + 1, sizeof *inside);
    bool fine = count && group && inside;
    for (int t = 0; fine && t < d->count; t++) count[d->base[t] + 1]++;
    for (int b = 0; fine && b <= n; b++) count[b + 1] += count[b];
    for (int t = 0; fine && t < d->count; t++)
        group[count[d->base[t]]++] = t; /* count[b] is now the end of b */
    for (int b = n; fine && b >= 0; b--) {
        int from = b > 0 ? count[b - 1] : 0, size = count[b] - from;
        if (size > 0) fine = order_group(d, group + from, size, inside, &place);
    }
    free(count), free(group), free(inside);
    return fine;
}

/* whole, active: NULL, or the ties whose order to keep, and which of them take part. */
static bool make_draft(draft *d, const lw_loop_constraints *whole, const bool *active) {
    const lw_rows *rows = d->rows;
    size_t m = (size_t)rows->count + 1, n = (size_t)d->model->body_count + 1;
    d->first = calloc(m, sizeof *d->first);
    d->size = calloc(m, sizeof *d->size);
    d->base = calloc(m, sizeof *d->base);
    d->order = calloc(m, sizeof *d->order);
    d->rank = calloc(m, sizeof *d->rank);
    d->at_body = calloc(n, sizeof *d->at_body);
    d->neighbours = calloc(m, sizeof *d->neighbours);
    d->seen = calloc(m, sizeof *d->seen);
    if (!d->first || !d->size || !d->base || !d->order || !d->rank || !d->at_body || !d->neighbours ||
        !d->seen)
        return false;
    for (int r = 0; r < rows->count; r++) {
        if (r == 0 || !same_tie(&rows->rows[r], &rows->rows[r - 1])) d->first[d->count++] = r;
        d->size[d->count - 1]++;
    }
    for (int t = 0; t < d->count; t++) {
        d->base[t] = base_of(d->model, rows, d->first[t]);
        if ((!whole || active[whole->tie_of_row[d->first[t]]]) && !lay_segments(d, t)) return false;
    }
    if (!whole) return order_ties(d);
    for (int t = 0; t < d->count; t++) d->order[whole->tie_of_row[d->first[t]]] = t;
    for (int place = 0; place < d->count; place++)
        if (!eliminate(d, d->order[place], place)) return false;
    return true;
}

/* --- the result ----------------------------------------------------------------------------------- */

static int segment_of(const lw_loop_constraints *ties, int tie, int body) {
    for (int s = ties->segment_start[body]; s < ties->segment_start[body + 1]; s++)
        if (ties->segments[s].tie == tie) return s;
    return -1;
}

/* Where the wrenches of a tie at a body on its way, or at its base, start. */
static int wrenches_at(const lw_loop_constraints *ties, int tie, int body) {
    int segment = ties->ties[tie].base == body ? -1 : segment_of(ties, tie, body);
    return segment < 0 ? ties->ties[tie].K : ties->segments[segment].K;
}

static int block_of(const lw_loop_constraints *ties, int t, int s) {
    if (t == s) return ties->ties[t].block;
    int first = t < s ? t : s, second = t < s ? s : t;
    const lw_loop_constraint *tie = &ties->ties[first];
    int low = tie->coupling, high = tie->coupling + tie->couplings; /* sorted by tie */
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (ties->couplings[middle].tie < second)
            low = middle + 1;
        else
            high = middle;
    }
    return ties->couplings[low].block;
}

static int compare_ints(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static bool number_ties(draft *d, lw_loop_constraints *ties, lw_arena *arena) {
    int couplings = 0, targets = 0;
    ties->count = d->count;
    for (int t = 0; t < d->count; t++) {
        int k = d->neighbours[t].count;
        couplings += k;
        targets += k * (k + 1) / 2;
    }
    ties->ties = LW_NEW(arena, lw_loop_constraint, d->count + 1);
    ties->couplings = LW_NEW(arena, lw_coupling, couplings + 1);
    ties->targets = LW_NEW(arena, int, targets + 1);
    ties->target_adds = LW_NEW(arena, bool, targets + 1);
    ties->tie_of_row = LW_NEW(arena, int, d->rows->count + 1);
    ties->at_base = LW_NEW(arena, int, d->model->body_count + 2);
    ties->based = LW_NEW(arena, int, d->model->body_count + 2);
    if (lw_arena_failed(arena)) return false;
    int coupling = 0, target = 0;
    for (int place = 0; place < d->count; place++) {
        int t = d->order[place], m = d->size[t];
        list *near = &d->neighbours[t];
        lw_loop_constraint *tie = &ties->ties[place];
        *tie = (lw_loop_constraint){.first = d->first[t],
                                    .count = m,
                                    .base = d->base[t],
                                    .K = ties->K_size,
                                    .block = ties->block_size,
                                    .coupling = coupling,
                                    .couplings = near->count,
                                    .target = target};
        ties->K_size += 6 * LW_ABREAST(m);
        ties->block_size += m * LW_ABREAST(m);
        if (m > ties->row_max) ties->row_max = m;
        if (ties->based[tie->base]++ == 0) ties->at_base[tie->base] = place;
        for (int r = 0; r < m; r++) ties->tie_of_row[tie->first + r] = place;
        for (int k = 0; k < near->count; k++) near->item[k] = d->rank[near->item[k]];
        if (near->count) qsort(near->item, (size_t)near->count, sizeof *near->item, compare_ints);
        for (int k = 0; k < near->count; k++) {
            ties->couplings[coupling++] = (lw_coupling){.tie = near->item[k], .block = ties->block_size};
            ties->block_size += m * LW_ABREAST(d->size[d->order[near->item[k]]]);
        }
        target += near->count * (near->count + 1) / 2;
    }
    return true;
}

static bool number_segments(draft *d, lw_loop_constraints *ties, lw_arena *arena) {
    int n = d->model->body_count, segments = 0, pairs = 0;
    for (int i = 0; i <= n; i++) {
        int k = d->at_body[i].count;
        segments += k;
        pairs += k * (k + 1) / 2;
    }
    ties->segment_start = LW_NEW(arena, int, n + 2);
    ties->pair_start = LW_NEW(arena, int, n + 2);
    ties->segments = LW_NEW(arena, lw_segment, segments + 1);
    ties->pairs = LW_NEW(arena, lw_segment_pair, pairs + 1);
    ties->place = LW_NEW(arena, int, d->rows->block_count + 1);
    if (lw_arena_failed(arena)) return false;
    int segment = 0;
    for (int i = 0; i <= n; i++) {
        list *at = &d->at_body[i];
        ties->segment_start[i] = segment;
        for (int k = 0; k < at->count; k++) at->item[k] = d->rank[at->item[k]];
        if (at->count) qsort(at->item, (size_t)at->count, sizeof *at->item, compare_ints);
        for (int k = 0; k < at->count; k++) {
            const lw_loop_constraint *tie = &ties->ties[at->item[k]];
            ties->segments[segment++] = (lw_segment){
                .tie = at->item[k], .row = tie->first, .parent = -1, .K = ties->K_size, .Y = ties->Y_size};
            ties->K_size += 6 * LW_ABREAST(tie->count);
            ties->Y_size += LW_ABREAST(tie->count) * d->model->links[i].joint.nv;
        }
        int here = at->count ? ties->Y_size - ties->segments[ties->segment_start[i]].Y : 0;
        if (here > ties->Z_size) ties->Z_size = here;
    }
    ties->segment_start[n + 1] = segment;
    int pair = 0;
    for (int i = 0; i <= n; i++) {
        ties->pair_start[i] = pair;
        for (int a = ties->segment_start[i]; a < ties->segment_start[i + 1]; a++) {
            lw_segment *s = &ties->segments[a];
            int parent = d->model->links[i].parent;
            if (parent != ties->ties[s->tie].base) s->parent = segment_of(ties, s->tie, parent);
            for (int b = a; b < ties->segment_start[i + 1]; b++)
                ties->pairs[pair++] = (lw_segment_pair){
                    .first = a, .second = b, .block = block_of(ties, s->tie, ties->segments[b].tie)};
        }
    }
    ties->pair_start[n + 1] = pair;
    return true;
}

static void connect(const draft *d, const int *closure_of_joint, lw_loop_constraints *ties) {
    for (int t = 0; t < ties->count; t++) {
        const lw_loop_constraint *tie = &ties->ties[t];
        lw_coupling *near = ties->couplings + tie->coupling;
        int at = tie->target;
        for (int j = 0; j < tie->couplings; j++) {
            near[j].K = wrenches_at(ties, near[j].tie, tie->base);
            for (int k = j; k < tie->couplings; k++)
                ties->targets[at++] = block_of(ties, near[j].tie, near[k].tie);
        }
    }
    for (int r = 0; r < d->rows->count; r++) {
        const lw_row *row = &d->rows->rows[r];
        int tie = ties->tie_of_row[r];
        for (int k = row->block; k < row->block + row->count; k++)
            ties->place[k] = wrenches_at(ties, tie, d->rows->body[k]);
    }
    for (int t = 0; t < ties->count; t++) {
        lw_loop_constraint *tie = &ties->ties[t];
        const lw_row *row = &d->rows->rows[tie->first];
        tie->closure = tie->K_first = tie->K_second = -1;
        if (row->joint < 0) continue;
        tie->closure = closure_of_joint[row->joint];
        for (int side = 0; side < 2; side++)
            tie->bodies[side] = d->model->joints[row->joint].info.bodies[side];
        if (tie->bodies[0]) tie->K_first = wrenches_at(ties, t, tie->bodies[0]);
        if (tie->bodies[1]) tie->K_second = wrenches_at(ties, t, tie->bodies[1]);
    }
}

/* What a run writes first to, and what it adds to, in the order of a sweep inwards: so nothing has to be
 * cleared before. */
static bool find_first(const draft *d, lw_loop_constraints *ties) {
    bool *K = calloc((size_t)ties->K_size + 1, sizeof *K),
         *L = calloc((size_t)ties->block_size + 1, sizeof *L);
    bool fine = K && L;
    for (int k = 0; fine && k < d->rows->block_count; k++) K[ties->place[k]] = true;
    for (int i = d->model->body_count; fine && i >= 0; i--) {
        for (int t = ties->at_base[i]; t < ties->at_base[i] + ties->based[i]; t++) {
            int count = ties->ties[t].couplings, target = ties->ties[t].target;
            for (int at = target; at < target + count * (count + 1) / 2; at++) {
                ties->target_adds[at] = L[ties->targets[at]];
                L[ties->targets[at]] = true;
            }
        }
        for (int k = ties->segment_start[i]; k < ties->segment_start[i + 1]; k++) {
            lw_segment *segment = &ties->segments[k];
            int to = segment->parent < 0 ? ties->ties[segment->tie].K : ties->segments[segment->parent].K;
            segment->to = d->model->links[i].parent == 0 ? -1 : to;
            segment->adds = K[to];
            K[to] = true;
        }
        for (int k = ties->pair_start[i]; k < ties->pair_start[i + 1]; k++) {
            ties->pairs[k].adds = L[ties->pairs[k].block];
            L[ties->pairs[k].block] = true;
        }
    }
    free(K), free(L);
    return fine;
}

static lw_loop_constraints *make_ties(const lw_model *model, const lw_rows *rows,
                                      const lw_loop_constraints *whole, const bool *active, lw_arena *arena) {
    draft d = {.model = model, .rows = rows};
    lw_loop_constraints *ties = LW_NEW(arena, lw_loop_constraints, 1);
    int *closure = calloc((size_t)model->joint_count + 1, sizeof *closure);
    bool fine = ties && closure && make_draft(&d, whole, active) && number_ties(&d, ties, arena) &&
                number_segments(&d, ties, arena);
    for (int k = 0; fine && k < model->closure_count; k++) closure[model->closures[k]] = k;
    if (fine) connect(&d, closure, ties);
    fine = fine && find_first(&d, ties);
    free(closure);
    discard(&d);
    return fine ? ties : NULL;
}

lw_loop_constraints *lw_loop_constraints_create(const lw_model *model, const lw_rows *rows, lw_arena *arena) {
    return make_ties(model, rows, NULL, NULL, arena);
}

lw_loop_constraints *lw_loop_constraints_reduce(const lw_model *model, const lw_rows *rows,
                                                const lw_loop_constraints *whole, const bool *active,
                                                lw_arena *arena) {
    return make_ties(model, rows, whole, active, arena);
}

/* Adds a wrench (torque; force) acting at x, times factor, to (force; torque) at `at`. */
static void add_reaction(double factor, const double w[6], const double x[3], const double at[3],
                         double *reaction) {
    double arm[3], moment[3];
    lw_v3_sub(x, at, arm);
    lw_v3_cross(arm, w + 3, moment);
    lw_v3_axpy(factor, w + 3, reaction);
    lw_v3_axpy(factor, w, reaction + 3);
    lw_v3_axpy(factor, moment, reaction + 3);
}

void lw_loop_constraint_reactions(const lw_model *model, const lw_data *data, const lw_rows *rows,
                                  const double *lambda, double *body, double *reactions) {
    memset(body, 0, 6 * (size_t)model->body_count * sizeof *body);
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        for (int b = row->block; b < row->block + row->count; b++)
            lw_v6_axpy(lambda[r], rows->H + 6 * b, body + 6 * (rows->body[b] - 1));
        if (row->joint < 0) continue;
        const double *w = rows->joints[row->joint].W + 6 * row->component;
        lw_v3_axpy(lambda[r], w + 3, reactions + 6 * row->joint);
        lw_v3_axpy(lambda[r], w, reactions + 6 * row->joint + 3);
    }
    /* a joint of the tree holds what acts on everything beyond it */
    for (int i = model->body_count; i >= 1; i--) {
        const lw_joint_entry *entry = &model->joints[model->bodies[i].joint_index];
        const lw_pose *second = &data->world[entry->info.bodies[1]];
        const double *x = rows->bodies[i].r;
        double at[3], *w = body + 6 * (i - 1), beyond[6];
        int parent = model->links[i].parent;
        lw_pose_point(second->R, second->p, entry->frames[1].p, at);
        add_reaction(entry->info.reversed ? 1 : -1, w, x, at, reactions + 6 * model->bodies[i].joint_index);
        if (parent == 0) continue;
        double arm[3];
        memcpy(beyond, w, sizeof beyond);
        lw_v3_sub(x, rows->bodies[parent].r, arm);
        lw_v3_add_cross(arm, w + 3, beyond);
        lw_v6_axpy(1, beyond, body + 6 * (parent - 1));
    }
}

void lw_loop_constraint_matrix(const lw_model *model, const lw_data *data, const lw_rows *rows, double *G) {
    size_t nv = (size_t)model->nv;
    memset(G, 0, nv * (size_t)(rows->count - rows->tree_count) * sizeof *G);
    for (int r = rows->tree_count; r < rows->count; r++, G += nv) {
        const lw_row *row = &rows->rows[r];
        for (int b = row->block; b < row->block + row->count; b++) {
            int body = rows->body[b];
            const double *h = rows->H + 6 * b;
            for (int i = body; i > 0; i = model->links[i].parent) {
                const lw_link *link = &model->links[i];
                const lw_pose *world = &data->world[i];
                double arm[3], moment[3], w[3], l[3];
                lw_v3_sub(rows->bodies[body].r, world->p, arm);
                lw_v3_cross(arm, h + 3, moment);
                lw_v3_add(moment, h, moment); /* of the row, about the joint */
                for (int k = 0; k < link->joint.nv; k++) {
                    const double *S = data->S + 6 * (link->v + k);
                    lw_m3_mul_v(world->R, S, w);
                    lw_m3_mul_v(world->R, S + 3, l);
                    G[link->v + k] += lw_v3_dot(w, moment) + lw_v3_dot(l, h + 3);
                }
            }
        }
    }
}
