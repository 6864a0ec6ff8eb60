/* loop_constraints.c - segments of closures and constraints along the spanning tree, and the order in which
 * they are eliminated.
 *
 * A loop can be eliminated at its base, when everything beyond has been. Loops with the same base, such as
 * the cells of a ladder that hangs on ground, are ordered by minimum degree so that few of them get coupled
 * on the way.
 *
 * Source   docs/theory/rcr.md, 3.
 * Cost     compile time only: O(segments x width^2), and as much again for the order.
 */
#include "constraints/loop_constraints.h"

#include <stdlib.h>
#include <string.h>

static void take_out(lw_list *l, int x) {
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
    lw_arena *scratch;
    int count;
    int *first, *size, *base; /* per loop */
    lw_list *at_body;         /* per body: loops with a segment there */
    /* Per loop: coupled loops that are not yet eliminated or, after its elimination, those left at that
     * time. */
    lw_list *neighbours;
    int *order; /* loops in the order of elimination */
    int *rank;  /* Per loop: its position in that order. */
    int *seen;  /* Per loop: the last visit that has reached it. */
    int visit;
} draft;

static bool same_loop(const lw_row *a, const lw_row *b) {
    return a->joint == b->joint && a->constraint == b->constraint;
}

/* The body where the paths of two bodies to ground meet; a < 0 stands for no body yet. */
static int meet(const lw_model *model, int a, int b) {
    if (a < 0) return b;
    while (a != b)
        if (a > b)
            a = model->links[a].parent;
        else
            b = model->links[b].parent;
    return a;
}

/* The body where the paths of all bodies of a loop meet. Ground has no block in the rows, but may be one of
 * them. */
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

/* Marks the neighbours of a loop, and itself, as seen by this visit. */
static void see(draft *d, int loop) {
    d->seen[loop] = ++d->visit;
    for (int k = 0; k < d->neighbours[loop].count; k++) d->seen[d->neighbours[loop].item[k]] = d->visit;
}

static void lay_segments(draft *d, int loop) {
    const lw_row *row = &d->rows->rows[d->first[loop]];
    see(d, loop);
    for (int k = row->block; k < row->block + row->count; k++)
        for (int i = d->rows->body[k]; i != d->base[loop]; i = d->model->links[i].parent) {
            lw_list *at = &d->at_body[i];
            /* The segment exists already, from another body of the loop. */
            if (at->count && at->item[at->count - 1] == loop) break;
            for (int n = 0; n < at->count; n++) {
                int other = at->item[n];
                if (d->seen[other] == d->visit) continue;
                d->seen[other] = d->visit;
                lw_list_append(&d->neighbours[loop], other, d->scratch);
                lw_list_append(&d->neighbours[other], loop, d->scratch);
            }
            lw_list_append(at, loop, d->scratch);
        }
}

/* Eliminates a loop from the graph: its neighbours become each other's. */
static void eliminate(draft *d, int loop, int position) {
    lw_list *near = &d->neighbours[loop];
    d->order[position] = loop;
    d->rank[loop] = position;
    for (int j = 0; j < near->count; j++) {
        lw_list *other = &d->neighbours[near->item[j]];
        take_out(other, loop);
        see(d, near->item[j]);
        for (int k = 0; k < near->count; k++)
            if (d->seen[near->item[k]] != d->visit) lw_list_append(other, near->item[k], d->scratch);
    }
}

/* Loops waiting with the same number of neighbours, first come, first served. */
typedef struct queue {
    lw_list waiting;
    int next;
} queue;

/* Orders the loops of one base: the next is one with the fewest neighbours, and among these the one that has
 * had so few for the longest time. Consecutive eliminations then rarely depend on each other, so that the
 * processor can overlap them. */
static void order_group(draft *d, const int *group, int count, bool *inside, int *position) {
    int most = 0;
    for (int k = 0; k < count; k++) {
        inside[group[k]] = true;
        if (d->neighbours[group[k]].count > most) most = d->neighbours[group[k]].count;
    }
    int room = d->count > most ? d->count : most, left = count, fewest = 0;
    queue *queues = LW_NEW(d->scratch, queue, room + 1);
    for (int k = 0; queues && k < count; k++)
        lw_list_append(&queues[d->neighbours[group[k]].count].waiting, group[k], d->scratch);
    while (!lw_arena_failed(d->scratch) && left > 0) {
        queue *q = &queues[fewest];
        if (q->next == q->waiting.count) {
            fewest++;
            continue;
        }
        int loop = q->waiting.item[q->next++];
        if (!inside[loop] || d->neighbours[loop].count != fewest)
            continue; /* It has moved to another queue. */
        inside[loop] = false;
        left--;
        eliminate(d, loop, (*position)++);
        const lw_list *near = &d->neighbours[loop];
        for (int k = 0; k < near->count; k++) {
            int other = near->item[k], neighbours = d->neighbours[other].count;
            if (!inside[other]) continue;
            lw_list_append(&queues[neighbours].waiting, other, d->scratch);
            if (neighbours < fewest) fewest = neighbours;
        }
    }
}

static void order_loops(draft *d) {
    int n = d->model->body_count, position = 0;
    int *count = LW_NEW(d->scratch, int, n + 2), *group = LW_NEW(d->scratch, int, d->count + 1);
    bool *inside = LW_NEW(d->scratch, bool, d->count + 1);
    if (lw_arena_failed(d->scratch)) return;
    for (int t = 0; t < d->count; t++) count[d->base[t] + 1]++;
    for (int b = 0; b <= n; b++) count[b + 1] += count[b];
    for (int t = 0; t < d->count; t++) group[count[d->base[t]]++] = t; /* count[b] is now the end of b */
    for (int b = n; b >= 0; b--) {
        int from = b > 0 ? count[b - 1] : 0, size = count[b] - from;
        if (size > 0) order_group(d, group + from, size, inside, &position);
    }
}

/* whole, active: NULL, or the loops whose order is kept, and which of them take part. */
static bool make_draft(draft *d, const lw_loop_constraints *whole, const bool *active) {
    const lw_rows *rows = d->rows;
    size_t m = (size_t)rows->count + 1, n = (size_t)d->model->body_count + 1;
    d->first = LW_NEW(d->scratch, int, m);
    d->size = LW_NEW(d->scratch, int, m);
    d->base = LW_NEW(d->scratch, int, m);
    d->order = LW_NEW(d->scratch, int, m);
    d->rank = LW_NEW(d->scratch, int, m);
    d->at_body = LW_NEW(d->scratch, lw_list, n);
    d->neighbours = LW_NEW(d->scratch, lw_list, m);
    d->seen = LW_NEW(d->scratch, int, m);
    if (lw_arena_failed(d->scratch)) return false;
    for (int r = 0; r < rows->count; r++) {
        if (r == 0 || !same_loop(&rows->rows[r], &rows->rows[r - 1])) d->first[d->count++] = r;
        d->size[d->count - 1]++;
    }
    for (int t = 0; t < d->count; t++) {
        d->base[t] = base_of(d->model, rows, d->first[t]);
        if (!whole || active[whole->loop_of_row[d->first[t]]]) lay_segments(d, t);
    }
    if (!whole) {
        order_loops(d);
        return !lw_arena_failed(d->scratch);
    }
    for (int t = 0; t < d->count; t++) d->order[whole->loop_of_row[d->first[t]]] = t;
    for (int position = 0; position < d->count; position++) eliminate(d, d->order[position], position);
    return !lw_arena_failed(d->scratch);
}

/* --- the result ----------------------------------------------------------------------------------- */

static int segment_of(const lw_loop_constraints *loops, int loop, int body) {
    for (int s = loops->segment_start[body]; s < loops->segment_start[body + 1]; s++)
        if (loops->segments[s].loop == loop) return s;
    return -1;
}

/* Where the wrenches of a loop at a body on its path, or at its base, start. */
static int wrenches_at(const lw_loop_constraints *loops, int loop, int body) {
    int segment = loops->loops[loop].base == body ? -1 : segment_of(loops, loop, body);
    return segment < 0 ? loops->loops[loop].K : loops->segments[segment].K;
}

static int block_of(const lw_loop_constraints *loops, int t, int s) {
    if (t == s) return loops->loops[t].block;
    int first = t < s ? t : s, second = t < s ? s : t;
    const lw_loop_constraint *loop = &loops->loops[first];
    int low = loop->coupling, high = loop->coupling + loop->couplings; /* sorted by loop */
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (loops->couplings[middle].loop < second)
            low = middle + 1;
        else
            high = middle;
    }
    return loops->couplings[low].block;
}

static int compare_ints(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static bool number_loops(draft *d, lw_loop_constraints *loops, lw_arena *arena) {
    int couplings = 0, targets = 0;
    loops->count = d->count;
    for (int t = 0; t < d->count; t++) {
        int k = d->neighbours[t].count;
        couplings += k;
        targets += k * (k + 1) / 2;
    }
    loops->loops = LW_NEW(arena, lw_loop_constraint, d->count + 1);
    loops->couplings = LW_NEW(arena, lw_coupling, couplings + 1);
    loops->targets = LW_NEW(arena, int, targets + 1);
    loops->target_adds = LW_NEW(arena, bool, targets + 1);
    loops->loop_of_row = LW_NEW(arena, int, d->rows->count + 1);
    loops->at_base = LW_NEW(arena, int, d->model->body_count + 2);
    loops->based = LW_NEW(arena, int, d->model->body_count + 2);
    if (lw_arena_failed(arena)) return false;
    int coupling = 0, target = 0;
    for (int position = 0; position < d->count; position++) {
        int t = d->order[position], m = d->size[t];
        lw_list *near = &d->neighbours[t];
        lw_loop_constraint *loop = &loops->loops[position];
        *loop = (lw_loop_constraint){.first = d->first[t],
                                     .count = m,
                                     .base = d->base[t],
                                     .K = loops->K_size,
                                     .block = loops->block_size,
                                     .coupling = coupling,
                                     .couplings = near->count,
                                     .target = target};
        loops->K_size += 6 * LW_ABREAST(m);
        loops->block_size += m * LW_ABREAST(m);
        if (m > loops->row_max) loops->row_max = m;
        if (loops->based[loop->base]++ == 0) loops->at_base[loop->base] = position;
        for (int r = 0; r < m; r++) loops->loop_of_row[loop->first + r] = position;
        for (int k = 0; k < near->count; k++) near->item[k] = d->rank[near->item[k]];
        if (near->count) qsort(near->item, (size_t)near->count, sizeof *near->item, compare_ints);
        for (int k = 0; k < near->count; k++) {
            loops->couplings[coupling++] = (lw_coupling){.loop = near->item[k], .block = loops->block_size};
            loops->block_size += m * LW_ABREAST(d->size[d->order[near->item[k]]]);
        }
        target += near->count * (near->count + 1) / 2;
    }
    return true;
}

static bool allocate_segments(const draft *d, lw_loop_constraints *loops, lw_arena *arena) {
    int n = d->model->body_count, segments = 0, pairs = 0;
    for (int i = 0; i <= n; i++) {
        int k = d->at_body[i].count;
        segments += k;
        pairs += k * (k + 1) / 2;
    }
    loops->segment_start = LW_NEW(arena, int, n + 2);
    loops->pair_start = LW_NEW(arena, int, n + 2);
    loops->segments = LW_NEW(arena, lw_segment, segments + 1);
    loops->pairs = LW_NEW(arena, lw_segment_pair, pairs + 1);
    loops->wrench_start = LW_NEW(arena, int, d->rows->block_count + 1);
    return !lw_arena_failed(arena);
}

/* The segments of every body, in the order of their loops. */
static void number_segments(draft *d, lw_loop_constraints *loops) {
    int n = d->model->body_count, segment = 0;
    for (int i = 0; i <= n; i++) {
        lw_list *at = &d->at_body[i];
        loops->segment_start[i] = segment;
        for (int k = 0; k < at->count; k++) at->item[k] = d->rank[at->item[k]];
        if (at->count) qsort(at->item, (size_t)at->count, sizeof *at->item, compare_ints);
        for (int k = 0; k < at->count; k++) {
            const lw_loop_constraint *loop = &loops->loops[at->item[k]];
            loops->segments[segment++] = (lw_segment){.loop = at->item[k],
                                                      .row = loop->first,
                                                      .parent = -1,
                                                      .K = loops->K_size,
                                                      .Y = loops->Y_size};
            loops->K_size += 6 * LW_ABREAST(loop->count);
            loops->Y_size += LW_ABREAST(loop->count) * d->model->links[i].joint.nv;
        }
        int here = at->count ? loops->Y_size - loops->segments[loops->segment_start[i]].Y : 0;
        if (here > loops->Z_size) loops->Z_size = here;
    }
    loops->segment_start[n + 1] = segment;
}

/* Pairs of segments at one body, and where each segment goes on at the body's parent. */
static void number_pairs(const draft *d, lw_loop_constraints *loops) {
    int n = d->model->body_count, pair = 0;
    for (int i = 0; i <= n; i++) {
        loops->pair_start[i] = pair;
        for (int a = loops->segment_start[i]; a < loops->segment_start[i + 1]; a++) {
            lw_segment *s = &loops->segments[a];
            int parent = d->model->links[i].parent;
            if (parent != loops->loops[s->loop].base) s->parent = segment_of(loops, s->loop, parent);
            for (int b = a; b < loops->segment_start[i + 1]; b++)
                loops->pairs[pair++] = (lw_segment_pair){
                    .first = a, .second = b, .block = block_of(loops, s->loop, loops->segments[b].loop)};
        }
    }
    loops->pair_start[n + 1] = pair;
}

static bool connect(const draft *d, lw_loop_constraints *loops) {
    int *closure_of_joint = LW_NEW(d->scratch, int, d->model->joint_count + 1);
    if (!closure_of_joint) return false;
    for (int k = 0; k < d->model->closure_count; k++) closure_of_joint[d->model->closures[k]] = k;
    for (int t = 0; t < loops->count; t++) {
        const lw_loop_constraint *loop = &loops->loops[t];
        lw_coupling *near = loops->couplings + loop->coupling;
        int at = loop->target;
        for (int j = 0; j < loop->couplings; j++) {
            near[j].K = wrenches_at(loops, near[j].loop, loop->base);
            for (int k = j; k < loop->couplings; k++)
                loops->targets[at++] = block_of(loops, near[j].loop, near[k].loop);
        }
    }
    for (int r = 0; r < d->rows->count; r++) {
        const lw_row *row = &d->rows->rows[r];
        int loop = loops->loop_of_row[r];
        for (int k = row->block; k < row->block + row->count; k++)
            loops->wrench_start[k] = wrenches_at(loops, loop, d->rows->body[k]);
    }
    for (int t = 0; t < loops->count; t++) {
        lw_loop_constraint *loop = &loops->loops[t];
        const lw_row *row = &d->rows->rows[loop->first];
        loop->closure = loop->K_first = loop->K_second = -1;
        if (row->joint < 0) continue;
        loop->closure = closure_of_joint[row->joint];
        for (int side = 0; side < 2; side++)
            loop->bodies[side] = d->model->joints[row->joint].info.bodies[side];
        if (loop->bodies[0]) loop->K_first = wrenches_at(loops, t, loop->bodies[0]);
        if (loop->bodies[1]) loop->K_second = wrenches_at(loops, t, loop->bodies[1]);
    }
    return true;
}

/* Marks which entries a run writes first and to which it adds, in the order of the inward pass, so that
 * nothing has to be cleared beforehand. */
static bool find_first(const draft *d, lw_loop_constraints *loops) {
    bool *K = LW_NEW(d->scratch, bool, loops->K_size + 1),
         *L = LW_NEW(d->scratch, bool, loops->block_size + 1);
    if (lw_arena_failed(d->scratch)) return false;
    for (int k = 0; k < d->rows->block_count; k++) K[loops->wrench_start[k]] = true;
    for (int i = d->model->body_count; i >= 0; i--) {
        for (int t = loops->at_base[i]; t < loops->at_base[i] + loops->based[i]; t++) {
            int count = loops->loops[t].couplings, target = loops->loops[t].target;
            for (int at = target; at < target + count * (count + 1) / 2; at++) {
                loops->target_adds[at] = L[loops->targets[at]];
                L[loops->targets[at]] = true;
            }
        }
        for (int k = loops->segment_start[i]; k < loops->segment_start[i + 1]; k++) {
            lw_segment *segment = &loops->segments[k];
            int to = segment->parent < 0 ? loops->loops[segment->loop].K : loops->segments[segment->parent].K;
            segment->to = d->model->links[i].parent == 0 ? -1 : to;
            segment->adds = K[to];
            K[to] = true;
        }
        for (int k = loops->pair_start[i]; k < loops->pair_start[i + 1]; k++) {
            loops->pairs[k].adds = L[loops->pairs[k].block];
            L[loops->pairs[k].block] = true;
        }
    }
    return true;
}

static lw_loop_constraints *make_loops(const lw_model *model, const lw_rows *rows,
                                       const lw_loop_constraints *whole, const bool *active,
                                       lw_arena *arena) {
    draft d = {.model = model, .rows = rows, .scratch = lw_arena_create(NULL)};
    lw_loop_constraints *loops = LW_NEW(arena, lw_loop_constraints, 1);
    bool fine = loops && make_draft(&d, whole, active) && number_loops(&d, loops, arena) &&
                allocate_segments(&d, loops, arena);
    if (fine) {
        number_segments(&d, loops);
        number_pairs(&d, loops);
        fine = connect(&d, loops) && find_first(&d, loops);
    }
    lw_arena_destroy(d.scratch);
    return fine ? loops : NULL;
}

lw_loop_constraints *lw_loop_constraints_create(const lw_model *model, const lw_rows *rows, lw_arena *arena) {
    return make_loops(model, rows, NULL, NULL, arena);
}

lw_loop_constraints *lw_loop_constraints_reduce(const lw_model *model, const lw_rows *rows,
                                                const lw_loop_constraints *whole, const bool *active,
                                                lw_arena *arena) {
    return make_loops(model, rows, whole, active, arena);
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
    /* A joint of the tree carries the forces on everything beyond it. */
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
