/* rcr_dependent_speeds.c - dependent speeds of closed loops from the independent ones, loop by loop.
 *
 *   column of speed j in a row:       s_j . w    s_j the joint's axis, w the wrench of the row on the bodies
 *                                                that the joint carries
 *   front of loop t:                  R_t = G_t - sum over loops u < t of R_t(D_u) R_u               (15)
 *   solved for its own set D_t:       R_t <- Delta_t^-1 R_t,   Delta_t = R_t(D_t)
 *   from the last loop to the first:  v_D,t = right_t - R_t v                                        (16)
 *
 * This is an LU factorisation of G_D by blocks. Only corrections are computed, so that the independent
 * speeds, whose correction is zero, need no columns.
 *
 * Source   docs/theory/rcr.md, 5; Anderson & Critchley (2003), eqs 34-47, with Delta as a block.
 * Cost     O(n + m) for loops of bounded width; only create allocates.
 * Limits   a front has memory for its own speeds and as many again. Where a choice would bring more speeds of
 *          other loops into it, there is no choice, and rcr.c projects instead.
 */
#include "formulations/rcr/rcr_coordinate_choice.h"

#include <math.h>
#include <string.h>

/* --- structure ------------------------------------------------------------------------------------- */

static int segment_at(const lw_loop_constraints *loops, int loop, int body) {
    for (int s = loops->segment_start[body]; s < loops->segment_start[body + 1]; s++)
        if (loops->segments[s].loop == loop) return s;
    return -1;
}

/* The ends of loop t with their paths; the first call, without arrays, only counts them. */
static void lay_paths(lw_choice *c, const lw_rows *rows, int t, int *ends, int *steps, int *speeds,
                      bool *seen) {
    const lw_loop_constraint *loop = &c->loops->loops[t];
    const lw_row *row = &rows->rows[loop->first];
    for (int b = row->block; b < row->block + row->count; b++) {
        int body = rows->body[b], segment = body == loop->base ? -1 : segment_at(c->loops, t, body);
        if (c->ends) c->ends[*ends] = (lw_path_end){.body = body, .block = b, .step = *steps, .steps = 0};
        for (int i = body; segment >= 0; segment = c->loops->segments[segment].parent) {
            const lw_link *link = &c->model->links[i];
            const lw_segment *s = &c->loops->segments[segment];
            if (c->ends) {
                c->steps[*steps] = (lw_path_step){.body = i, .segment = segment, .adds = seen[segment]};
                c->ends[*ends].steps++;
                for (int k = 0; !seen[segment] && k < link->joint.nv; k++)
                    if (!(link->prescribed >> k & 1))
                        c->path_speeds[(*speeds)++] =
                            (lw_path_speed){.speed = link->v + k, .at = s->Y + k, .stride = link->joint.nv};
                seen[segment] = true;
            }
            ++*steps;
            i = link->parent;
        }
        ++*ends;
    }
}

static bool build(lw_choice *c, const lw_rows *rows, bool *seen, lw_arena *arena) {
    const lw_loop_constraints *loops = c->loops;
    int ends = 0, steps = 0, speeds = 0, most = 0;
    for (int t = 0; t < loops->count; t++) lay_paths(c, rows, t, &ends, &steps, NULL, NULL);
    for (int i = 1; i <= c->model->body_count; i++)
        speeds += (loops->segment_start[i + 1] - loops->segment_start[i]) * c->model->links[i].joint.nv;
    c->steps = LW_NEW(arena, lw_path_step, steps + 1);
    c->path_speeds = LW_NEW(arena, lw_path_speed, speeds + 1);
    c->ends = LW_NEW(arena, lw_path_end, ends + 1);
    if (lw_arena_failed(arena)) return false;
    ends = steps = speeds = 0;
    for (int t = 0; t < loops->count; t++) {
        enum { EXTRA = 16 };
        lw_rcr_front *front = &c->fronts[t];
        front->end = ends, front->path_start = speeds;
        lay_paths(c, rows, t, &ends, &steps, &speeds, seen);
        front->ends = ends - front->end, front->path_length = speeds - front->path_start;
        front->capacity = 2 * front->path_length + EXTRA;
        front->speed = LW_NEW(arena, int, front->capacity);
        front->R = LW_NEW(arena, double, loops->loops[t].count * front->capacity);
        if (front->capacity > most) most = front->capacity;
    }
    double **wide[] = {&c->images, &c->left, &c->along, &c->mass};
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) *wide[k] = LW_NEW(arena, double, 6 * most + 6);
    c->square = LW_NEW(arena, double, most + 1);
    c->set = LW_NEW(arena, int, most + 6);
    c->present = LW_NEW(arena, int, most + 6);
    return !lw_arena_failed(arena);
}

lw_choice *lw_choice_create(const lw_model *model, const lw_rows *rows, const lw_rcr_system *system,
                            lw_arena *arena) {
    lw_choice *c = LW_NEW(arena, lw_choice, 1);
    const lw_loop_constraints *loops = system->loops;
    bool *seen = LW_NEW(arena, bool, loops->segment_start[model->body_count + 1] + 1);
    if (lw_arena_failed(arena)) return NULL;
    size_t nv = (size_t)model->nv + 1;
    c->model = model, c->rows = rows, c->loops = loops, c->system = system;
    c->fronts = LW_NEW(arena, lw_rcr_front, loops->count + 1);
    c->rank = LW_NEW(arena, int, loops->count + 1);
    c->worth = LW_NEW(arena, double, loops->count + 1);
    c->delta = LW_NEW(arena, double, loops->count + 1);
    c->dependent = LW_NEW(arena, int, rows->count + 1);
    c->row = LW_NEW(arena, int, rows->count + 1);
    c->owner = LW_NEW(arena, int, nv);
    c->where = LW_NEW(arena, int, nv);
    c->former = LW_NEW(arena, int, nv);
    c->body_of = LW_NEW(arena, int, nv);
    c->step = LW_NEW(arena, double, nv);
    c->axis = LW_NEW(arena, double, 6 * nv);
    c->momentum = LW_NEW(arena, double, 6 * nv);
    c->in_loops = LW_NEW(arena, int, nv);
    c->G = LW_NEW(arena, double, loops->Y_size + 1);
    c->composite = LW_NEW(arena, lw_rigid_inertia, model->body_count + 1);
    c->kept = (struct lw_choice_made){.rank = LW_NEW(arena, int, loops->count + 1),
                                      .worth = LW_NEW(arena, double, loops->count + 1),
                                      .delta = LW_NEW(arena, double, loops->count + 1),
                                      .dependent = LW_NEW(arena, int, rows->count + 1),
                                      .row = LW_NEW(arena, int, rows->count + 1),
                                      .owner = LW_NEW(arena, int, nv)};
    c->former_worth = LW_NEW(arena, double, loops->count + 1);
    if (lw_arena_failed(arena)) return NULL;
    for (int k = 0; k < model->nv; k++) c->owner[k] = c->where[k] = -1;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) {
            int speed = model->links[i].v + k;
            c->body_of[speed] = i;
            if (loops->segment_start[i] < loops->segment_start[i + 1] &&
                !(model->links[i].prescribed >> k & 1))
                c->in_loops[c->loop_speeds++] = speed;
        }
    return build(c, rows, seen, arena) ? c : NULL;
}

/* --- columns --------------------------------------------------------------------------------------- */

/* Axis of speed k of body i, world axes, at the origin of its internal frame. */
static void axis_of(const lw_link *link, const lw_data *data, const lw_pose *world, int k, double s[6]) {
    if (link->kernel < LW_KERNEL_SPHERICAL) {
        int turns = link->kernel < LW_KERNEL_PRISMATIC, along = link->kernel % 3;
        double *x = s + (turns ? 0 : 3), *other = s + (turns ? 3 : 0);
        for (int j = 0; j < 3; j++) x[j] = link->sign * world->R[3 * j + along], other[j] = 0;
        return;
    }
    const double *S = data->S + 6 * (link->v + k);
    lw_m3_mul_v(world->R, S, s);
    lw_m3_mul_v(world->R, S + 3, s + 3);
}

void lw_choice_columns(lw_choice *c, const lw_data *data, const lw_pose *world, bool all) {
    for (int t = 0; t < c->loops->count; t++) {
        const lw_rcr_front *front = &c->fronts[t];
        int rows = c->system->awake[t];
        for (int e = front->end; e < front->end + front->ends; e++) {
            const lw_path_end *end = &c->ends[e];
            const lw_pose *at = &world[end->body];
            double w[36];
            for (int r = 0; r < rows && end->steps > 0; r++) {
                double own[6];
                lw_wrench(c->system->K + c->system->loops->wrench_start[end->block], r, own);
                lw_m3_mul_v(at->R, own, w + 6 * r);
                lw_m3_mul_v(at->R, own + 3, w + 6 * r + 3);
            }
            for (int n = end->step; n < end->step + end->steps; n++) {
                const lw_path_step *step = &c->steps[n];
                const lw_link *link = &c->model->links[step->body];
                for (int k = 0; k < link->joint.nv; k++) {
                    int speed = link->v + k;
                    if (link->prescribed >> k & 1 || (!all && c->owner[speed] < 0)) continue;
                    /* The axis at the origin of the end, where the wrenches are known. */
                    double *s = c->axis + 6 * speed, arm[3], v[3];
                    double *G = c->G + c->loops->segments[step->segment].Y + k;
                    axis_of(link, data, &world[step->body], k, s);
                    lw_v3_sub(at->p, world[step->body].p, arm);
                    lw_v3_cross(s, arm, v);
                    lw_v3_add(v, s + 3, v);
                    for (int r = 0; r < rows; r++) {
                        double g = lw_v3_dot(s, w + 6 * r) + lw_v3_dot(v, w + 6 * r + 3);
                        G[link->joint.nv * r] = step->adds ? G[link->joint.nv * r] + g : g;
                    }
                }
            }
        }
    }
}

/* --- fronts ---------------------------------------------------------------------------------------- */

static void drop(lw_choice *c, lw_rcr_front *front, int rows, int slot) {
    int last = --front->count;
    c->where[front->speed[slot]] = -1;
    if (slot == last) return;
    front->speed[slot] = front->speed[last];
    c->where[front->speed[slot]] = slot;
    for (int r = 0; r < rows; r++)
        front->R[front->capacity * r + slot] = front->R[front->capacity * r + last];
}

static int find(lw_choice *c, lw_rcr_front *front, int rows, int speed) {
    int slot = c->where[speed];
    if (slot >= 0 || front->count == front->capacity) return slot;
    slot = c->where[speed] = front->count++;
    front->speed[slot] = speed;
    for (int r = 0; r < rows; r++) front->R[front->capacity * r + slot] = 0;
    return slot;
}

/* Eliminates the speeds that loop u determines from the rows of loop t; false if the list is too short. */
static bool take_out(lw_choice *c, int t, int u, int rows) {
    lw_rcr_front *own = &c->fronts[t];
    const lw_rcr_front *other = &c->fronts[u];
    int first = c->loops->loops[u].first, rank = c->rank[u];
    double F[36];
    for (int k = 0; k < rank; k++) {
        int slot = c->where[c->dependent[first + k]];
        for (int r = 0; r < rows; r++) F[6 * r + k] = slot < 0 ? 0 : own->R[own->capacity * r + slot];
        if (slot >= 0) drop(c, own, rows, slot);
    }
    for (int n = 0; n < other->count; n++) {
        int slot = find(c, own, rows, other->speed[n]);
        if (slot < 0) return false;
        for (int r = 0; r < rows; r++) {
            double total = 0;
            for (int k = 0; k < rank; k++) total += F[6 * r + k] * other->R[other->capacity * k + n];
            own->R[own->capacity * r + slot] -= total;
        }
    }
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < rank; k++) own->right[r] -= F[6 * r + k] * other->right[k];
    c->work += (long)rows * rank * (other->count + 1);
    return true;
}

bool lw_front_load(lw_choice *c, int t, bool all, int rows, const int *slot, const double *defect) {
    lw_rcr_front *front = &c->fronts[t];
    const int first = c->loops->loops[t].first;
    front->count = 0;
    for (const lw_path_speed *x = c->path_speeds + front->path_start;
         x < c->path_speeds + front->path_start + front->path_length; x++) {
        if (!all && c->owner[x->speed] < 0) continue;
        int n = c->where[x->speed] = front->count++;
        front->speed[n] = x->speed;
        for (int r = 0; r < rows; r++) front->R[front->capacity * r + n] = c->G[x->at + x->stride * slot[r]];
    }
    for (int r = 0; r < rows; r++)
        front->right[r] = defect ? -defect[first + c->system->row[first + slot[r]]] : 0;
    c->work += (long)rows * front->count;
    /* The elimination of u may bring in speeds of loops between u and t, so the earliest loop comes first. */
    for (;;) {
        int u = t;
        for (int n = 0; n < front->count; n++) {
            int owner = c->owner[front->speed[n]];
            if (owner >= 0 && owner < u) u = owner;
        }
        if (u == t) return true;
        if (!take_out(c, t, u, rows)) return false;
    }
}

void lw_front_release(lw_choice *c, int t) {
    const lw_rcr_front *front = &c->fronts[t];
    for (int n = 0; n < front->count; n++) c->where[front->speed[n]] = -1;
}

double lw_front_solve(lw_choice *c, int t, int rows, int *pick) {
    lw_rcr_front *front = &c->fronts[t];
    int capacity = front->capacity, *dependent = c->dependent + c->loops->loops[t].first;
    double scale[6], det = 1, *R = front->R;
    for (int r = 0; r < rows; r++) {
        scale[r] = 0;
        for (int k = 0; k < rows; k++) scale[r] = fmax(scale[r], fabs(R[capacity * r + pick[k]]));
        if (!(scale[r] > 0)) return 0;
    }
    for (int k = 0; k < rows; k++) {
        int best = k;
        for (int r = k + 1; r < rows; r++)
            if (fabs(R[capacity * r + pick[k]]) * scale[best] > fabs(R[capacity * best + pick[k]]) * scale[r])
                best = r;
        if (best != k) {
            double x = scale[k];
            scale[k] = scale[best], scale[best] = x;
            x = front->right[k], front->right[k] = front->right[best], front->right[best] = x;
            for (int n = 0; n < front->count; n++) {
                x = R[capacity * k + n];
                R[capacity * k + n] = R[capacity * best + n], R[capacity * best + n] = x;
            }
        }
        double pivot = R[capacity * k + pick[k]];
        det *= fabs(pivot);
        if (!(fabs(pivot) > 0)) return 0;
        for (int n = 0; n < front->count; n++) R[capacity * k + n] /= pivot;
        front->right[k] /= pivot;
        for (int r = 0; r < rows; r++) {
            double factor = R[capacity * r + pick[k]];
            if (r == k || factor == 0) continue;
            for (int n = 0; n < front->count; n++) R[capacity * r + n] -= factor * R[capacity * k + n];
            front->right[r] -= factor * front->right[k];
        }
    }
    for (int k = 0; k < rows; k++) dependent[k] = front->speed[pick[k]];
    for (int k = 0; k < rows; k++) drop(c, front, rows, c->where[dependent[k]]);
    return det;
}

/* --- speeds ---------------------------------------------------------------------------------------- */

/* The slots of the rows of the set in the list of loop t, or of those that are awake instead: any independent
 * rows of a closed loop give the same speeds. Returns false if there are too few. */
static bool rows_in_use(const lw_choice *c, int t, int slot[6], bool *same) {
    const lw_loop_constraint *loop = &c->loops->loops[t];
    const int *listed = c->system->row + loop->first, *wanted = c->row + loop->first;
    int awake = c->system->awake[t], rank = c->rank[t];
    *same = awake == rank || awake == loop->count;
    for (int k = 0; k < rank && *same; k++) {
        slot[k] = 0;
        while (slot[k] < awake && listed[slot[k]] != wanted[k]) slot[k]++;
        *same = slot[k] < awake;
    }
    for (int k = 0; k < rank && !*same; k++) slot[k] = k;
    return *same || awake == rank;
}

bool lw_choice_speeds(lw_choice *c, const double *defect, double *v) {
    /* Relative to Delta at the last step: a set that has deteriorated so much is not used. */
    const double small = 0.1;
    const lw_loop_constraints *loops = c->loops;
    if (!c->made) return false;
    for (int t = 0; t < loops->count; t++) {
        const int rank = c->rank[t], *dependent = c->dependent + loops->loops[t].first;
        int slot[6], pick[6];
        if (rank == 0) continue;
        bool same, fine = rows_in_use(c, t, slot, &same);
        if (!fine) return false;
        fine = lw_front_load(c, t, false, rank, slot, defect);
        for (int k = 0; k < rank && fine; k++) fine = (pick[k] = c->where[dependent[k]]) >= 0;
        fine = fine && lw_front_solve(c, t, rank, pick) > (same ? small * c->delta[t] : 0);
        lw_front_release(c, t);
        if (!fine) return false;
    }
    for (int t = loops->count - 1; t >= 0; t--) {
        const lw_rcr_front *front = &c->fronts[t];
        const int *dependent = c->dependent + loops->loops[t].first;
        for (int k = 0; k < c->rank[t]; k++) {
            double x = front->right[k];
            for (int n = 0; n < front->count; n++)
                x -= front->R[front->capacity * k + n] * c->step[front->speed[n]];
            c->step[dependent[k]] = x;
        }
    }
    for (int t = 0; t < loops->count; t++)
        for (int k = 0; k < c->rank[t]; k++) {
            int speed = c->dependent[loops->loops[t].first + k];
            v[speed] += c->step[speed];
        }
    return true;
}
