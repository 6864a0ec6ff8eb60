/* partition.c - coordinate partitioning: choice of the set, dependent coordinates, tangent projection.
 *
 *   C_I v_I + C_D v_D + a = 0,  v_D = A v_I + eta,  vdot_D = A vdot_I + xi,  A = -C_D^-1 C_I         (6-8)
 *   D = [I A'],   M_d = D M D',   M_d vdot_I = D (h - M [0; xi])                                     (9-14)
 *
 * C_D = Q R by reflections. Where rows are redundant, C_D has more rows than columns and R is still regular.
 * Where redundant rows contradict each other slightly (loops that are not quite closed), the least-squares
 * solution satisfies them best and is smooth; no row is ever left out.
 *
 * Choice   by the projective criterion (projective_criterion.c). A set is given up when its worth is less
 *          than half of the best one's: errors of v_D, which are those of v_I times about 1/sqrt(worth), are
 *          then 1.4 times as large. To return to it, the ratio must change by a factor of four, so that two
 *          sets cannot alternate.
 *
 * Source   Blajer, Schiehlen & Schirm (1994), eqs 5-15, 38; docs/theory/partition.md.
 * Cost     O(n^2 m + n^2 k), dense; a choice O(n^3 + n^2 m) more; no allocation.
 */
#include "formulations/partition/partition.h"
#include "model/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double give_up = 0.5; /* Relative to the worth of the best set. */
/* The smallest pivot that can be distinguished from a loss of rank. At a distance x from a position where
 * rank is lost, the rounding of a closed loop, 1e-15, leaves an error of 1e-15 / x in positions across the
 * motion and rotates the tangent space by 1e-15 / x^2. */
static const double lost = 1e-4;
/* Rows that are independent with a tolerance larger by this factor are certainly independent. */
static const double doubt = 30;

lw_partition *lw_partition_create(int n, int m, const lw_model *model, lw_arena *arena) {
    lw_partition *p = LW_NEW(arena, lw_partition, 1);
    if (!p) return NULL;
    size_t N = (size_t)n + 1, rows = (size_t)m + 1;
    p->n = n, p->m = m, p->model = model;
    double **arrays[] = {&p->M, &p->MD, &p->Md, &p->D, &p->C, &p->CD, &p->columns};
    size_t sizes[] = {N * N, N * N, N * N, N * N, N * rows, N * rows, N * rows};
    double **vectors[] = {&p->units, &p->x, &p->pivots, &p->cos2, &p->right};
    int **lists[] = {&p->run.independent,
                     &p->query.independent,
                     &p->former.independent,
                     &p->fixed.independent,
                     &p->dependent,
                     &p->order,
                     &p->chosen};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) *arrays[k] = LW_NEW(arena, double, sizes[k]);
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        *vectors[k] = LW_NEW(arena, double, N + rows);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k] = LW_NEW(arena, int, N);
    p->run.count = p->query.count = p->former.count = p->fixed.count = -1;
    p->latest = -HUGE_VAL;
    p->criterion = lw_criterion_create(n, m, arena);
    p->orthogonal = lw_orthogonal_create(m, n, false);
    p->symmetric = lw_symmetric_create(n);
    if (lw_arena_failed(arena) || !p->criterion || !p->orthogonal || !p->symmetric) {
        lw_partition_destroy(p);
        return NULL;
    }
    for (size_t k = 0; k < N; k++) p->units[k] = 1;
    return p;
}

void lw_partition_destroy(lw_partition *p) {
    if (!p) return;
    lw_criterion_destroy(p->criterion);
    lw_orthogonal_destroy(p->orthogonal);
    lw_symmetric_destroy(p->symmetric);
    p->criterion = NULL, p->orthogonal = NULL, p->symmetric = NULL;
}

void lw_partition_scale(lw_partition *p) {
    size_t n = (size_t)p->n;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) p->M[i + j * n] *= p->units[i] * p->units[j];
    for (size_t r = 0; r < (size_t)p->m; r++)
        for (size_t i = 0; i < n; i++) p->C[r * n + i] *= p->units[i];
}

/* --- the set --------------------------------------------------------------------------------------- */

static lw_status evaluate(lw_partition *p, double tolerance, int *freedom, lw_error *error) {
    return lw_criterion_evaluate(p->criterion, p->n, p->m, p->M, p->C, NULL, tolerance, p->cos2, NULL,
                                 freedom, error);
}

static void take(lw_partition *p, lw_coordinate_set *set, int count, const int *chosen) {
    set->count = count;
    p->choices += set == &p->run;
    memcpy(set->independent, chosen, (size_t)count * sizeof *chosen);
}

lw_status lw_partition_choose(lw_partition *p, lw_coordinate_set *set, lw_error *error) {
    int freedom;
    lw_status status = evaluate(p, p->tolerance, &freedom, error);
    if (status != LW_OK) return status;
    if (p->fixed.count >= 0) {
        if (p->fixed.count != freedom)
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                           "name as many coordinates as there are degrees of freedom",
                           "%d independent coordinate%s named, but there %s %d degree%s of freedom here",
                           p->fixed.count, p->fixed.count == 1 ? " is" : "s are", freedom == 1 ? "is" : "are",
                           freedom, freedom == 1 ? "" : "s");
        take(p, set, p->fixed.count, p->fixed.independent);
        return LW_OK;
    }
    take(p, set, lw_criterion_choose(p->criterion, NULL, p->chosen, p->pivots), p->chosen);
    return LW_OK;
}

static bool contains(const lw_coordinate_set *set, int coordinate) {
    for (int k = 0; k < set->count; k++)
        if (set->independent[k] == coordinate) return true;
    return false;
}

static int find_coordinate(const lw_partition *p, const char *word, size_t length) {
    for (int k = 0; k < p->n; k++) {
        char name[128];
        p->name(p->model, k, name, sizeof name);
        if (strlen(name) == length && memcmp(name, word, length) == 0) return k;
    }
    return -1;
}

lw_status lw_partition_fix(lw_partition *p, const char *names, lw_error *error) {
    p->fixed.count = names ? 0 : -1;
    for (const char *word = names; word && *word;) {
        word += strspn(word, ", ");
        size_t length = strcspn(word, ",");
        const char *next = word + length;
        while (length > 0 && word[length - 1] == ' ') length--;
        int k = length > 0 ? find_coordinate(p, word, length) : -1;
        if (length > 0 && (k < 0 || contains(&p->fixed, k))) {
            char first[128] = "";
            if (p->n > 0) p->name(p->model, 0, first, sizeof first);
            return lw_fail(
                error, LW_ERROR_ARGUMENT, NULL,
                k < 0 ? "name joints of the tree, or joint.x where a joint has several; linkwork info "
                        "--criterion lists them"
                      : "name it once",
                k < 0 ? "there is no coordinate \"%.*s\"; the first one is \"%s\""
                      : "coordinate \"%.*s\" is named twice%.0s",
                (int)(length < 80 ? length : 80), word, first);
        }
        if (k >= 0) p->fixed.independent[p->fixed.count++] = k;
        word = next;
    }
    return LW_OK;
}

static void append(char *text, size_t size, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", more);
}

/* Names and cos^2 of the coordinates in one set that are not in the other (NULL: of all). */
static void list(const lw_partition *p, const lw_coordinate_set *set, const lw_coordinate_set *other,
                 char *names, char *values, size_t size) {
    names[0] = values[0] = '\0';
    for (int k = 0; k < set->count; k++) {
        int coordinate = set->independent[k];
        char word[96];
        if (other && contains(other, coordinate)) continue;
        p->name(p->model, coordinate, word, sizeof word);
        append(names, size, word);
        snprintf(word, sizeof word, "%.3g", p->cos2[coordinate]);
        append(values, size, word);
    }
}

static void tell_change(const lw_partition *p, const lw_method_options *options, double t, double present,
                        double best) {
    enum { SIZE = 160 };
    char names[2][SIZE], values[2][SIZE], pivots[64] = "";
    list(p, &p->former, &p->run, names[0], values[0], SIZE);
    list(p, &p->run, &p->former, names[1], values[1], SIZE);
    if (p->run.count > 1) snprintf(pivots, sizeof pivots, "; smallest pivot %.3g -> %.3g", present, best);
    if (p->run.count < p->former.count)
        lw_note(options, t, "coordinates", "%s are no longer independent: %d degrees of freedom are left",
                names[0], p->run.count);
    else
        lw_note(options, t, "coordinates", "%s -> %s; cos^2 %s -> %s%s", names[0], names[1], values[0],
                values[1], pivots);
}

lw_status lw_partition_reconsider(lw_partition *p, const lw_method_options *options, double t, bool *changed,
                                  lw_error *error) {
    int freedom;
    *changed = p->run.count < 0;
    if (*changed) return lw_partition_choose(p, &p->run, error);
    if (p->fixed.count >= 0) return LW_OK;
    lw_status status = evaluate(p, p->tolerance, &freedom, error);
    /* The change is permanent, so the decision must be beyond doubt. */
    if (status == LW_OK && freedom < p->run.count)
        status = evaluate(p, doubt * p->tolerance, &freedom, error);
    if (status != LW_OK) return status;
    if (freedom > p->run.count)
        return LW_OK; /* Rank is lost for a moment only: motions that are possible here may not continue. */
    double present = lw_criterion_worth(p->criterion, p->run.independent, p->run.count);
    int count = lw_criterion_choose(p->criterion, NULL, p->chosen, p->pivots);
    double best = 1;
    for (int k = 0; k < count; k++) best = fmin(best, p->pivots[k]);
    if (count == p->run.count && !(present < give_up * best)) return LW_OK;
    take(p, &p->former, p->run.count, p->run.independent);
    take(p, &p->run, count, p->chosen);
    *changed = true;
    tell_change(p, options, t, present, best);
    return LW_OK;
}

void lw_partition_begin(lw_partition *p, double t) {
    p->latest = t;
    p->crossed = false;
    if (lw_partition_choose(p, &p->run, NULL) != LW_OK) p->run.count = -1;
}

bool lw_partition_due(lw_partition *p, double t) {
    if (p->run.count >= 0 && !(t > p->latest)) return false;
    p->latest = t;
    return true;
}

void lw_partition_archive(lw_partition *p, lw_archive *archive) {
    LW_ARCHIVE_ONE(archive, p->run.count);
    LW_ARCHIVE_MANY(archive, p->run.independent, p->n);
    LW_ARCHIVE_ONE(archive, p->choices);
    LW_ARCHIVE_ONE(archive, p->latest);
    LW_ARCHIVE_ONE(archive, p->crossing);
    LW_ARCHIVE_ONE(archive, p->crossed);
}

void lw_partition_accept(lw_partition *p, double t) {
    if (!(t < p->latest)) p->crossed = p->crossing;
}

/* --- dependent coordinates ------------------------------------------------------------------------- */

static lw_status singular_set(const lw_partition *p, const lw_coordinate_set *set, lw_error *error) {
    char names[160], values[160];
    list(p, set, NULL, names, values, sizeof names);
    return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                   p->fixed.count >= 0
                       ? "name other coordinates, or none, so that they are chosen automatically"
                       : "take smaller steps (an adaptive integrator does so automatically), "
                         "so that other coordinates are chosen before; or start from another state",
                   "the independent coordinates %s no longer determine the others: %d of %d do not follow",
                   names[0] ? names : "(none)", p->d - p->rank, p->d);
}

lw_status lw_partition_factor(lw_partition *p, const lw_coordinate_set *set, bool deficient,
                              lw_error *error) {
    size_t n = (size_t)p->n, m = (size_t)p->m;
    int k = p->k = set->count, d = 0;
    p->independent = set->independent;
    for (int i = 0; i < p->n; i++)
        if (!contains(set, i)) p->chosen[d++] = i;
    p->d = d;
    for (size_t j = 0; j < (size_t)d; j++)
        for (size_t r = 0; r < m; r++) p->CD[r + j * m] = p->C[r * n + (size_t)p->chosen[j]];
    for (int j = 0; j < d; j++) p->order[j] = j;
    int pivots = lw_qr_factor(p->orthogonal, p->m, d, p->CD, p->order, 0);
    p->rank = 0;
    while (p->rank < pivots &&
           fabs(p->CD[(size_t)p->rank * (m + 1)]) > p->tolerance * fmax(1, fabs(p->CD[0])))
        p->rank++;
    for (int j = 0; j < d; j++) p->dependent[j] = p->chosen[p->order[j]];
    if (p->rank < d && !deficient) return singular_set(p, set, error);

    double *X = p->columns; /* Q'(-C_I), then A */
    for (size_t i = 0; i < (size_t)k; i++)
        for (size_t r = 0; r < m; r++) X[r + i * m] = -p->C[r * n + (size_t)set->independent[i]];
    lw_qr_apply(p->orthogonal, true, p->m, d, p->CD, k, X);
    lw_qr_triangle(false, p->rank, p->m, p->CD, k, X, p->m);
    memset(p->D, 0, n * (size_t)k * sizeof *p->D);
    for (size_t i = 0; i < (size_t)k; i++) {
        double *column = p->D + i * n;
        column[set->independent[i]] = 1;
        for (size_t j = 0; j < (size_t)p->rank; j++) column[p->dependent[j]] = X[j + i * m];
    }
    return LW_OK;
}

lw_status lw_partition_factor_run(lw_partition *p, lw_error *error) {
    lw_status status = p->run.count < 0 ? lw_partition_choose(p, &p->run, error) : LW_OK;
    if (status != LW_OK) return status;
    p->crossing = false;
    status = lw_partition_factor(p, &p->run, false, error);
    double last = p->rank < p->d ? 0 : p->d > 0 ? fabs(p->CD[(size_t)(p->d - 1) * (size_t)(p->m + 1)]) : 1;
    if (last > lost) return status;
    double tolerance = p->tolerance;
    p->tolerance = fmax(tolerance, lost);
    bool larger = lw_partition_choose(p, &p->query, NULL) == LW_OK &&
                  p->query.count > p->run.count; /* Otherwise the set is at fault. */
    p->tolerance = tolerance;
    if (!larger) return status == LW_OK ? lw_partition_factor(p, &p->run, false, error) : status;
    p->crossing = p->crossed = true;
    return lw_partition_factor(p, &p->query, false, error);
}

static bool in_loop(const lw_graph *graph, int loop, int joint) {
    for (int i = graph->loop_start[loop]; i < graph->loop_start[loop + 1]; i++)
        if (graph->loop_edge[i] == joint) return true;
    return false;
}

/* The shortest loop with this joint in which coordinates are prescribed, and these coordinates with their
 * values; -1 if there is none. */
static int driven_loop(const lw_model *model, int joint, const double *q, char *text, size_t size) {
    const lw_graph *graph = &model->graph;
    int best = -1, length = 0;
    for (int loop = 0; joint >= 0 && loop < graph->loop_count; loop++) {
        int edges = graph->loop_start[loop + 1] - graph->loop_start[loop];
        char names[160] = "", one[96];
        if (!in_loop(graph, loop, joint) || (best >= 0 && edges >= length)) continue;
        for (int i = graph->loop_start[loop]; i < graph->loop_start[loop + 1]; i++) {
            const lw_joint_info *info = &model->joints[graph->loop_edge[i]].info;
            for (int k = 0; !info->cut && k < info->v_count; k++) {
                int coordinate = lw_joint_coordinate_of_speed(info->type, k);
                if (!(info->prescribed >> k & 1) || coordinate < 0) continue;
                snprintf(one, sizeof one, "\"%.50s\" at %.9g %s", info->name, q[info->q + coordinate],
                         lw_joint_speed_turns(info->type, k) ? "rad" : "m");
                append(names, sizeof names, one);
            }
        }
        if (!names[0]) continue;
        best = loop, length = edges;
        snprintf(text, size, "%s", names);
    }
    return best;
}

lw_status lw_stays_open(const lw_model *model, const lw_data *data, const lw_rows *rows,
                        const double *violation, const char *level, lw_error *error) {
    int worst = 0;
    for (int r = 1; r < rows->count; r++)
        if (!(fabs(violation[r]) <= fabs(violation[worst]))) worst = r;
    char what[160], driven[160];
    lw_row_describe(model, &rows->rows[worst], what, sizeof what);
    int loop = driven_loop(model, rows->rows[worst].joint, data->q, driven, sizeof driven);
    if (loop >= 0)
        return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                       "turn the motion back before it, or drive another joint of the loop",
                       "loop \"%s\" is driven to a dead point, or beyond, with %s: its %s cannot be made "
                       "consistent, %s is off by %.3g",
                       model->joints[model->graph.loop_edge[model->graph.loop_start[loop]]].name, driven,
                       level, what, violation[worst]);
    return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                   model->motion_count
                       ? lw_rows_remedy(model)
                       : "no coordinates determine the others where a mechanism can branch off; method rcr "
                         "passes such positions",
                   "the %s cannot be made consistent: %s is off by %.3g", level, what, violation[worst]);
}

void lw_partition_dependent(lw_partition *p, const double *right, double *x) {
    size_t n = (size_t)p->n;
    memcpy(p->right, right, (size_t)p->m * sizeof *right);
    for (int i = 0; i < p->k; i++) {
        int c = p->independent[i];
        double z = x[c] / p->units[c];
        for (size_t r = 0; z != 0 && r < (size_t)p->m; r++) p->right[r] -= p->C[r * n + (size_t)c] * z;
    }
    lw_qr_apply(p->orthogonal, true, p->m, p->d, p->CD, 1, p->right);
    lw_qr_triangle(false, p->rank, p->m, p->CD, 1, p->right, p->m > 0 ? p->m : 1);
    for (int j = 0; j < p->d; j++) {
        int c = p->dependent[j];
        x[c] = j < p->rank ? p->right[j] * p->units[c] : 0;
    }
}

void lw_partition_multipliers(lw_partition *p, const double *force, double *lambda) {
    for (int r = 0; r < p->m; r++) lambda[r] = 0;
    for (int j = 0; j < p->rank; j++) lambda[j] = force[p->dependent[j]] * p->units[p->dependent[j]];
    lw_qr_triangle(true, p->rank, p->m, p->CD, 1, lambda, p->m > 0 ? p->m : 1);
    lw_qr_apply(p->orthogonal, false, p->m, p->d, p->CD, 1, lambda);
}

void lw_partition_tangent(lw_partition *p, const double *right, double *x) {
    for (int i = 0; i < p->n; i++) p->cos2[i] = 0;
    lw_partition_dependent(p, right, p->cos2); /* cos2 is unused here; it receives any x with C x = right. */
    for (int i = 0; i < p->n; i++) p->x[i] = (x[i] - p->cos2[i]) / p->units[i];
    lw_dense_times(false, p->n, p->n, 1, p->M, p->x, 0, p->right);
    for (int i = 0; i < p->n; i++) {
        p->right[i] /= p->units[i];
        x[i] = p->cos2[i];
    }
    lw_partition_move(p, p->right, x);
}

/* --- motion ---------------------------------------------------------------------------------------- */

lw_status lw_partition_reduce(lw_partition *p, lw_error *error) {
    const double largest_condition = 1e13; /* Beyond this, no digits of the lightest motion are left. */
    int n = p->n, k = p->k;
    lw_dense_multiply(false, false, n, k, n, 1, p->M, p->D, 0, p->MD);
    lw_dense_multiply(true, false, k, k, n, 1, p->D, p->MD, 0, p->Md);
    bool definite = lw_cholesky_factor(p->symmetric, k, p->Md, &p->condition);
    if (!definite || !(p->condition < largest_condition))
        return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                       "give mass or inertia to the bodies that move freely without any",
                       "the equations of motion are singular: some acceleration is not determined");
    return LW_OK;
}

void lw_partition_move(lw_partition *p, const double *force, double *x) {
    int n = p->n, k = p->k;
    for (int i = 0; i < n; i++) p->x[i] = force[i] * p->units[i];
    double *a = p->pivots; /* pivots is unused here. */
    lw_dense_times(true, n, k, 1, p->D, p->x, 0, a);
    lw_cholesky_solve(p->symmetric, k, p->Md, 1, a);
    lw_dense_times(false, n, k, 1, p->D, a, 0, p->x);
    for (int i = 0; i < n; i++) x[i] += p->x[i] * p->units[i];
}
