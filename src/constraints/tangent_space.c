/* tangent_space.c - orthogonal factors of the rows of closures and constraints, one loop after another.
 *
 *   g_F' = Q (R; 0),   T = the columns of Q beyond the rank                                  (5)
 *
 * Each loop has a front: a dense matrix of the speeds for which it is the first loop, and of what earlier
 * loops have left, in the columns of its own rows and of the loops coupled with it. Reflections make it
 * triangular; own columns are chosen by pivoting, so that dependent rows are found; what is left goes to the
 * next coupled loop.
 *
 * Source   docs/theory/inverse_loops.md, 2 and 3, with the equation numbers above.
 * Symbols  columns of a front are rows of loops; rows of a front are combinations of speeds, each standing at
 *          the place of one speed.
 * Cost     sum over loops of (rows of the front) (columns)^2: linear in the loops where each is coupled with
 *          a bounded number of others. No allocation but in create.
 * Limits   rank is decided loop by loop, without pivoting among the rows of different loops.
 */
#include "constraints/tangent_space.h"
#include "constraints/projective_criterion.h"

#include <math.h>
#include <string.h>

/* --- structure ------------------------------------------------------------------------------------- */

static int smaller(int a, int b) { return a < b ? a : b; }

/* The column of a loop in a front that contains it. */
static int column_of(const lw_tangent *t, int front, int loop) {
    const lw_loop_constraint *own = &t->loops->loops[front];
    if (front == loop) return 0;
    for (int c = own->coupling; c < own->coupling + own->couplings; c++)
        if (t->loops->couplings[c].loop == loop) return t->column[c];
    return -1;
}

static void number_columns(lw_tangent *t) {
    const lw_loop_constraints *loops = t->loops;
    for (int f = 0; f < loops->count; f++) {
        const lw_loop_constraint *loop = &loops->loops[f];
        lw_front *front = &t->fronts[f];
        front->own = front->columns = loop->count;
        front->parent = loop->couplings ? loops->couplings[loop->coupling].loop : -1; /* sorted by loop */
        for (int c = loop->coupling; c < loop->coupling + loop->couplings; c++) {
            t->column[c] = front->columns;
            front->columns += loops->loops[loops->couplings[c].loop].count;
        }
    }
    for (int f = 0; f < loops->count; f++) {
        const lw_loop_constraint *loop = &loops->loops[f];
        for (int c = loop->coupling; c < loop->coupling + loop->couplings; c++)
            t->above[c] = column_of(t, t->fronts[f].parent, loops->couplings[c].loop);
    }
    for (int f = loops->count - 1; f >= 0; f--) {
        lw_front *front = &t->fronts[f];
        front->component = front->parent < 0 ? t->components++ : t->fronts[front->parent].component;
        front->depth = front->parent < 0 ? 1 : t->fronts[front->parent].depth + 1;
    }
}

static void number_entries(lw_tangent *t) {
    const lw_loop_constraints *loops = t->loops;
    int entry = 0;
    for (int v = 0; v < t->model->nv; v++) t->first[v] = -1;
    for (int i = 1; i <= t->model->body_count; i++) {
        const lw_link *link = &t->model->links[i];
        int from = loops->segment_start[i], to = loops->segment_start[i + 1];
        for (int s = from; s < to; s++) {
            const lw_loop_constraint *loop = &loops->loops[loops->segments[s].loop];
            t->entry[s] = entry;
            t->at[s] = column_of(t, loops->segments[from].loop, loops->segments[s].loop);
            for (int k = 0; k < link->joint.nv * loop->count; k++, entry++) {
                t->row_of[entry] = loop->first + k % loop->count;
                t->speed_of[entry] = link->v + k / loop->count;
            }
        }
        if (from == to) continue;
        for (int k = 0; k < link->joint.nv; k++) t->first[link->v + k] = loops->segments[from].loop;
        t->fronts[loops->segments[from].loop].room += link->joint.nv;
    }
    for (int r = 0; r < t->rows->count; r++)
        for (int b = t->rows->rows[r].block; b < t->rows->rows[r].block + t->rows->rows[r].count; b++) {
            int body = t->rows->body[b];
            t->segment[b] = -1;
            for (int s = loops->segment_start[body]; s < loops->segment_start[body + 1]; s++)
                if (loops->segments[s].loop == loops->loop_of_row[r]) t->segment[b] = s;
        }
}

/* The largest size of each front, and where it stands. Returns the largest number of rows or columns. */
static int number_fronts(lw_tangent *t, size_t *places, size_t *betas) {
    int most = 0;
    *places = *betas = 0;
    for (int f = 0; f < t->loops->count; f++) {
        lw_front *front = &t->fronts[f];
        int left = smaller(front->room, front->columns - front->own);
        if (front->parent >= 0) t->fronts[front->parent].room += left;
        front->store = t->store_size, front->place = *places, front->beta = *betas;
        t->store_size += (size_t)front->room * (size_t)front->columns;
        *places += (size_t)front->room;
        *betas += (size_t)smaller(front->room, front->columns);
        if (front->room > most) most = front->room;
    }
    return most;
}

static int count_entries(const lw_tangent *t) {
    int count = 0;
    for (int i = 1; i <= t->model->body_count; i++)
        for (int s = t->loops->segment_start[i]; s < t->loops->segment_start[i + 1]; s++)
            count += t->model->links[i].joint.nv * t->loops->loops[t->loops->segments[s].loop].count;
    return count;
}

lw_tangent *lw_tangent_create(const lw_model *model, const lw_rows *rows, lw_arena *arena) {
    lw_tangent *t = LW_NEW(arena, lw_tangent, 1);
    lw_loop_constraints *loops = lw_loop_constraints_create(model, rows, arena);
    if (!t || !loops) return NULL;
    *t = (lw_tangent){.model = model, .rows = rows, .loops = loops, .length = lw_longest_arm(model)};
    size_t nv = (size_t)model->nv + 1, count = (size_t)rows->count + 1;
    int couplings = 0;
    for (int f = 0; f < loops->count; f++) couplings += loops->loops[f].couplings;
    int segments = loops->segment_start[model->body_count + 1];
    t->unit = LW_NEW(arena, double, nv);
    t->first = LW_NEW(arena, int, nv);
    t->touch = LW_NEW(arena, double, nv);
    t->out = LW_NEW(arena, bool, nv);
    t->range = LW_NEW(arena, bool, nv);
    t->row_unit = LW_NEW(arena, double, count);
    t->norm = LW_NEW(arena, double, count);
    t->kept = LW_NEW(arena, bool, count);
    t->fronts = LW_NEW(arena, lw_front, loops->count + 1);
    t->column = LW_NEW(arena, int, couplings + 1);
    t->above = LW_NEW(arena, int, couplings + 1);
    t->entry = LW_NEW(arena, int, segments + 1);
    t->at = LW_NEW(arena, int, segments + 1);
    t->segment = LW_NEW(arena, int, rows->block_count + 1);
    t->entry_count = count_entries(t);
    t->entries = LW_NEW(arena, double, t->entry_count + 1);
    t->row_of = LW_NEW(arena, int, t->entry_count + 1);
    t->speed_of = LW_NEW(arena, int, t->entry_count + 1);
    if (lw_arena_failed(arena)) return NULL;
    lw_criterion_units(model, t->length, t->unit);
    number_columns(t);
    number_entries(t);
    size_t places, betas;
    int most = number_fronts(t, &places, &betas);
    t->store = LW_NEW(arena, double, t->store_size + 1);
    t->place = LW_NEW(arena, int, places + 1);
    t->beta = LW_NEW(arena, double, betas + 1);
    t->work = LW_NEW(arena, double, most + 1);
    return lw_arena_failed(arena) ? NULL : t;
}

/* --- entries --------------------------------------------------------------------------------------- */

static double row_unit(const lw_tangent *t, int r) {
    const lw_row *row = &t->rows->rows[r];
    const lw_constraint *constraint = row->joint >= 0 ? NULL : &t->model->constraints[row->constraint];
    if (!constraint || constraint->type != LW_CONSTRAINT_COUPLING)
        return lw_row_is_length(t->model, t->rows, r) ? 1 / t->length : 1;
    double largest = 0;
    for (int k = 0; k < constraint->terms; k++)
        largest = fmax(largest, fabs(t->rows->coupling_factor[LW_COUPLING_MAX * row->constraint + k]) *
                                    t->unit[constraint->speeds[k]]);
    return largest > 0 ? 1 / largest : 1;
}

void lw_tangent_rows(lw_tangent *t, const lw_data *data) {
    const lw_model *model = t->model;
    const lw_rows *rows = t->rows;
    const lw_segment *segments = t->loops->segments;
    memset(t->entries, 0, (size_t)t->entry_count * sizeof *t->entries);
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        const lw_loop_constraint *loop = &t->loops->loops[t->loops->loop_of_row[r]];
        double unit = t->row_unit[r] = row_unit(t, r);
        for (int b = row->block; b < row->block + row->count; b++) {
            int body = rows->body[b];
            const double *h = rows->H + 6 * b;
            for (int i = body, s = t->segment[b]; s >= 0;
                 i = model->links[i].parent, s = segments[s].parent) {
                const lw_link *link = &model->links[i];
                const lw_pose *world = &data->world[i];
                double arm[3], moment[3], w[3], l[3], *g = t->entries + t->entry[s] + (r - loop->first);
                lw_v3_sub(rows->bodies[body].r, world->p, arm);
                lw_v3_cross(arm, h + 3, moment);
                lw_v3_add(moment, h, moment); /* of the row, about the joint */
                for (int k = 0; k < link->joint.nv; k++) {
                    const double *S = data->S + 6 * (link->v + k);
                    lw_m3_mul_v(world->R, S, w);
                    lw_m3_mul_v(world->R, S + 3, l);
                    g[k * loop->count] +=
                        unit * t->unit[link->v + k] * (lw_v3_dot(w, moment) + lw_v3_dot(l, h + 3));
                }
            }
        }
    }
    memset(t->touch, 0, (size_t)model->nv * sizeof *t->touch);
    for (int e = 0; e < t->entry_count; e++) {
        double *touch = &t->touch[t->speed_of[e]];
        *touch = fmax(*touch, fabs(t->entries[e]));
    }
}

/* --- factors --------------------------------------------------------------------------------------- */

/* The reflection that maps x onto its first axis: x[0] becomes what is left, the others its vector, whose
 * first entry is 1. Returns its factor. */
static double reflection(int n, double *x) {
    double tail = 0;
    for (int i = 1; i < n; i++) tail += x[i] * x[i];
    if (tail == 0) return 0;
    double left = sqrt(x[0] * x[0] + tail);
    if (x[0] > 0) left = -left;
    double factor = (left - x[0]) / left;
    for (int i = 1; i < n; i++) x[i] /= x[0] - left;
    x[0] = left;
    return factor;
}

static void reflect(int n, const double *vector, double factor, double *y) {
    if (factor == 0) return;
    double sum = y[0];
    for (int i = 1; i < n; i++) sum += vector[i] * y[i];
    sum *= factor;
    y[0] -= sum;
    for (int i = 1; i < n; i++) y[i] -= sum * vector[i];
}

/* The speeds enter the fronts of their first loops. */
static void enter_speeds(lw_tangent *t) {
    const lw_loop_constraints *loops = t->loops;
    memset(t->norm, 0, (size_t)t->rows->count * sizeof *t->norm);
    for (int f = 0; f < loops->count; f++) t->fronts[f].count = 0;
    for (int i = 1; i <= t->model->body_count; i++) {
        const lw_link *link = &t->model->links[i];
        int from = loops->segment_start[i], to = loops->segment_start[i + 1];
        for (int k = 0; from < to && k < link->joint.nv; k++) {
            lw_front *front = &t->fronts[loops->segments[from].loop];
            if (t->out[link->v + k]) continue;
            t->place[front->place + (size_t)front->count] = link->v + k;
            double *row = t->store + front->store + front->count++;
            for (int s = from; s < to; s++) {
                const lw_loop_constraint *loop = &loops->loops[loops->segments[s].loop];
                const double *g = t->entries + t->entry[s] + k * loop->count;
                for (int c = 0; c < loop->count; c++) {
                    row[(size_t)(t->at[s] + c) * (size_t)front->room] = g[c];
                    t->norm[loop->first + c] += g[c] * g[c];
                }
            }
        }
    }
}

static double square_below(const double *column, int from, int to) {
    double sum = 0;
    for (int i = from; i < to; i++) sum += column[i] * column[i];
    return sum;
}

/* Own columns with pivoting, as far as pivots exceed `least`. */
static void eliminate_own(lw_tangent *t, lw_front *front, double least) {
    double *A = t->store + front->store, *beta = t->beta + front->beta;
    size_t room = (size_t)front->room;
    int n = front->count;
    front->rank = 0;
    for (int c = 0; c < front->own; c++) front->order[c] = c;
    for (int p = 0; p < smaller(n, front->own); p++) {
        int best = p;
        double most = -1;
        for (int c = p; c < front->own; c++) {
            double square = square_below(A + (size_t)c * room, p, n);
            if (square > most) most = square, best = c;
        }
        if (!(sqrt(most) > least)) break;
        for (int i = 0; best != p && i < n; i++) {
            double keep = A[(size_t)i + (size_t)p * room];
            A[(size_t)i + (size_t)p * room] = A[(size_t)i + (size_t)best * room];
            A[(size_t)i + (size_t)best * room] = keep;
        }
        int keep = front->order[p];
        front->order[p] = front->order[best], front->order[best] = keep;
        double *x = A + (size_t)p * room + p;
        beta[p] = reflection(n - p, x);
        for (int c = p + 1; c < front->columns; c++) reflect(n - p, x, beta[p], A + (size_t)c * room + p);
        front->rank++;
    }
}

/* The number of reflections of the other columns. */
static int others(const lw_front *front) {
    return smaller(front->columns - front->own, front->count - front->rank);
}

static void eliminate_others(lw_tangent *t, const lw_front *front) {
    double *A = t->store + front->store, *beta = t->beta + front->beta;
    size_t room = (size_t)front->room;
    for (int k = 0; k < others(front); k++) {
        int p = front->rank + k, left = front->count - p;
        double *x = A + (size_t)(front->own + k) * room + p;
        beta[p] = reflection(left, x);
        for (int c = front->own + k + 1; c < front->columns; c++)
            reflect(left, x, beta[p], A + (size_t)c * room + p);
    }
}

/* What is left, a trapezium, goes to the next coupled loop. */
static void hand_over(lw_tangent *t, int f) {
    const lw_front *front = &t->fronts[f];
    if (front->parent < 0) return;
    const lw_loop_constraint *loop = &t->loops->loops[f];
    lw_front *to = &t->fronts[front->parent];
    const double *A = t->store + front->store;
    for (int k = 0; k < others(front); k++) {
        int row = front->rank + k;
        t->place[to->place + (size_t)to->count] = t->place[front->place + (size_t)row];
        double *out = t->store + to->store + to->count++;
        for (int c = loop->coupling; c < loop->coupling + loop->couplings; c++) {
            int count = t->loops->loops[t->loops->couplings[c].loop].count;
            for (int j = 0; j < count; j++) {
                int column = t->column[c] + j;
                if (column < front->own + k) continue; /* a reflection */
                out[(size_t)(t->above[c] + j) * (size_t)to->room] =
                    A[(size_t)row + (size_t)column * (size_t)front->room];
            }
        }
    }
}

void lw_tangent_factor(lw_tangent *t, const bool *out) {
    const int nv = t->model->nv;
    int speeds = 0;
    for (int v = 0; v < nv; v++) {
        t->out[v] = out && out[v];
        t->range[v] = false;
        speeds += !t->out[v];
    }
    memset(t->store, 0, t->store_size * sizeof *t->store);
    enter_speeds(t);
    double largest = 1;
    for (int r = 0; r < t->rows->count; r++) {
        largest = fmax(largest, sqrt(t->norm[r]));
        t->kept[r] = false;
    }
    const double least = lw_criterion_tolerance(t->rows, t->length) * largest;
    t->rank = 0;
    for (int f = 0; f < t->loops->count; f++) {
        lw_front *front = &t->fronts[f];
        eliminate_own(t, front, least);
        eliminate_others(t, front);
        hand_over(t, f);
        for (int p = 0; p < front->rank; p++) {
            t->range[t->place[front->place + (size_t)p]] = true;
            t->kept[t->loops->loops[f].first + front->order[p]] = true;
        }
        t->rank += front->rank;
    }
    t->freedom = speeds - t->rank;
}

/* --- use of the factors ---------------------------------------------------------------------------- */

static void apply_front(lw_tangent *t, const lw_front *front, bool transpose, double *x) {
    const double *A = t->store + front->store, *beta = t->beta + front->beta;
    const int *place = t->place + front->place, count = front->rank + others(front);
    double *y = t->work;
    for (int i = 0; i < front->count; i++) y[i] = x[place[i]];
    for (int k = 0; k < count; k++) {
        int p = transpose ? k : count - 1 - k;
        int column = p < front->rank ? p : front->own + p - front->rank;
        reflect(front->count - p, A + (size_t)column * (size_t)front->room + p, beta[p], y + p);
    }
    for (int i = 0; i < front->count; i++) x[place[i]] = y[i];
}

void lw_tangent_apply(lw_tangent *t, bool transpose, double *x) {
    const int count = t->loops->count;
    for (int k = 0; k < count; k++) apply_front(t, &t->fronts[transpose ? k : count - 1 - k], transpose, x);
}

void lw_tangent_row(lw_tangent *t, int speed, double *x) {
    x[speed] = 1;
    for (int f = t->first[speed]; f >= 0; f = t->fronts[f].parent) apply_front(t, &t->fronts[f], true, x);
}

void lw_tangent_multipliers(const lw_tangent *t, const double *x, double *lambda) {
    memset(lambda, 0, (size_t)t->rows->count * sizeof *lambda);
    for (int f = t->loops->count - 1; f >= 0; f--) {
        const lw_front *front = &t->fronts[f];
        const lw_loop_constraint *loop = &t->loops->loops[f];
        const double *A = t->store + front->store;
        size_t room = (size_t)front->room;
        for (int i = front->rank - 1; i >= 0; i--) {
            double rest = x[t->place[front->place + (size_t)i]];
            for (int c = loop->coupling; c < loop->coupling + loop->couplings; c++) {
                const lw_loop_constraint *other = &t->loops->loops[t->loops->couplings[c].loop];
                for (int j = 0; j < other->count; j++)
                    rest -= A[(size_t)i + (size_t)(t->column[c] + j) * room] * lambda[other->first + j];
            }
            for (int k = i + 1; k < front->rank; k++)
                rest -= A[(size_t)i + (size_t)k * room] * lambda[loop->first + front->order[k]];
            lambda[loop->first + front->order[i]] = rest / A[(size_t)i + (size_t)i * room];
        }
    }
    for (int r = 0; r < t->rows->count; r++) lambda[r] *= t->row_unit[r];
}

void lw_tangent_shortest(const lw_tangent *t, const double *b, double *rest, double *y) {
    for (int r = 0; r < t->rows->count; r++) rest[r] = b[r] * t->row_unit[r];
    for (int f = 0; f < t->loops->count; f++) {
        const lw_front *front = &t->fronts[f];
        const lw_loop_constraint *loop = &t->loops->loops[f];
        const double *A = t->store + front->store;
        const size_t room = (size_t)front->room;
        for (int i = 0; i < front->rank; i++) { /* R'y = b: row i of R stands in this front */
            const double value = rest[loop->first + front->order[i]] / A[(size_t)i + (size_t)i * room];
            y[t->place[front->place + (size_t)i]] = value;
            for (int k = i + 1; k < front->rank; k++)
                rest[loop->first + front->order[k]] -= A[(size_t)i + (size_t)k * room] * value;
            for (int c = loop->coupling; c < loop->coupling + loop->couplings; c++) {
                const lw_loop_constraint *other = &t->loops->loops[t->loops->couplings[c].loop];
                for (int j = 0; j < other->count; j++)
                    rest[other->first + j] -= A[(size_t)i + (size_t)(t->column[c] + j) * room] * value;
            }
        }
    }
}

/* An entry of G. */
static double entry_in_units(const lw_tangent *t, int e) {
    return t->entries[e] / (t->row_unit[t->row_of[e]] * t->unit[t->speed_of[e]]);
}

void lw_tangent_forces(const lw_tangent *t, double factor, const double *lambda, double *tau) {
    for (int e = 0; e < t->entry_count; e++)
        tau[t->speed_of[e]] += factor * lambda[t->row_of[e]] * entry_in_units(t, e);
}

void lw_tangent_matrix(const lw_tangent *t, double *matrix) {
    const size_t nv = (size_t)t->model->nv;
    memset(matrix, 0, nv * (size_t)t->rows->count * sizeof *matrix);
    for (int e = 0; e < t->entry_count; e++)
        matrix[(size_t)t->row_of[e] * nv + (size_t)t->speed_of[e]] = entry_in_units(t, e);
}
