/* solver_manifold.c - closures and constraints of a mechanism in the speeds of its tree: Jacobian, mobility,
 * a basis of the admissible speeds, and the mass matrix in it.
 *
 *   G v = 0,   T'Pi = Q R with pivoting,   T := Pi R',   T'M T
 *
 * Source   docs/theory/inverse_loops.md, 3.
 * Cost     Jacobian O(rows nv); mobility that of tangent_space.c; basis O(nv mobility^2) in the speeds that
 *          rows touch; mass matrix O(n) for each column and O(nv columns^2). No allocation.
 */
#include "simulation/solver/solver_parts.h"

#include <math.h>
#include <string.h>

int lw_solver_row_count(const lw_solver *s) { return s ? s->inverse->rows->count : 0; }

const char *lw_solver_row_name(const lw_solver *s, int row) {
    return row >= 0 && row < lw_solver_row_count(s) ? s->row_names[row] : NULL;
}

static lw_status missing(const char *what, lw_error *error) {
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a solver, q and places for the results",
                   "%s needs a position", what);
}

lw_status lw_solver_closure_jacobian(lw_solver *s, double t, const double *q, const double *v,
                                     double *jacobian, double *bias, lw_error *error) {
    if (!s || !q || !jacobian || (bias && !v)) return missing("the Jacobian of the closures", error);
    lw_loop_inverse *inverse = s->inverse;
    lw_loop_inverse_at(inverse, t, q, v);
    lw_tangent_matrix(inverse->tangent, jacobian);
    if (!bias) return LW_OK;
    lw_loop_accelerations(s->model, inverse->data, inverse->rows, NULL, inverse->bodies, bias);
    for (int r = 0; r < inverse->rows->count; r++) bias[r] = -bias[r];
    return LW_OK;
}

lw_status lw_solver_mobility(lw_solver *s, double t, const double *q, int *mobility, lw_error *error) {
    if (!s || !q || !mobility) return missing("mobility", error);
    lw_loop_inverse_at(s->inverse, t, q, NULL);
    lw_tangent_factor(s->inverse->tangent, s->inverse->prescribed);
    *mobility = s->inverse->tangent->freedom;
    return LW_OK;
}

/* --- the basis ------------------------------------------------------------------------------------- */

/* T' of the speeds that rows touch, freedom x count, one column after another: the columns of Q that belong
 * to it, or the rows of those speeds, whichever meets fewer fronts. */
static int gather(lw_solver *s, int freedom, double *matrix) {
    lw_tangent *t = s->inverse->tangent;
    const int nv = s->model->nv;
    int count = 0, *touched = s->own, *null = s->order;
    double by_rows = 0, by_columns = (double)freedom * t->loops->count;
    for (int v = 0, j = 0; v < nv; v++) {
        if (t->first[v] < 0 || t->out[v]) continue;
        if (!t->range[v]) null[j++] = v;
        by_rows += t->fronts[t->first[v]].depth;
        touched[count++] = v;
    }
    for (int j = 0; by_columns < by_rows && j < freedom; j++) {
        memset(s->scratch, 0, (size_t)nv * sizeof *s->scratch);
        s->scratch[null[j]] = 1;
        lw_tangent_apply(t, false, s->scratch);
        for (int c = 0; c < count; c++)
            matrix[(size_t)j + (size_t)c * (size_t)freedom] = s->scratch[touched[c]];
    }
    for (int c = 0; by_columns >= by_rows && c < count; c++) {
        memset(s->scratch, 0, (size_t)nv * sizeof *s->scratch);
        lw_tangent_row(t, touched[c], s->scratch);
        for (int j = 0; j < freedom; j++)
            matrix[(size_t)j + (size_t)c * (size_t)freedom] = s->scratch[null[j]];
    }
    return count;
}

/* Turns the basis: T' becomes R P' with a positive diagonal. order[j] is then the column of pivot j. */
static void turn(lw_solver *s, int freedom, int count, double *matrix) {
    if (freedom == 0) return;
    lw_qr_factor(s->turn, freedom, count, matrix, s->order, 0);
    for (int j = 0; j < freedom; j++) { /* A basis has full rank: pivot j is in row j. */
        double sign = matrix[(size_t)j * ((size_t)freedom + 1)] < 0 ? -1 : 1;
        for (int c = j; c < count; c++) matrix[(size_t)j + (size_t)c * (size_t)freedom] *= sign;
        for (int c = 0; c < j; c++) matrix[(size_t)j + (size_t)c * (size_t)freedom] = 0;
    }
    for (int start = 0; start < count; start++) s->own[start] = s->order[start];
    /* Column c goes to place own[c], along the cycles of the permutation. */
    for (int start = 0; start < count; start++)
        while (s->own[start] != start) {
            int to = s->own[start];
            double *a = matrix + (size_t)start * (size_t)freedom, *b = matrix + (size_t)to * (size_t)freedom;
            for (int j = 0; j < freedom; j++) {
                double keep = a[j];
                a[j] = b[j], b[j] = keep;
            }
            s->own[start] = s->own[to], s->own[to] = to;
        }
}

/* The speed with number c among those that rows touch, for all c: into order, as speeds. */
static void name_pivots(lw_solver *s, int freedom) {
    const lw_tangent *t = s->inverse->tangent;
    int count = 0;
    for (int v = 0; v < s->model->nv; v++)
        if (t->first[v] >= 0 && !t->out[v]) s->own[count++] = v;
    for (int j = 0; j < freedom; j++) s->order[j] = s->own[s->order[j]];
}

lw_status lw_solver_tangent_basis(lw_solver *s, double t, const double *q, int columns, double *basis,
                                  int *own, lw_error *error) {
    if (!s || !q || (!basis && columns > 0)) return missing("a basis of the admissible speeds", error);
    int mobility, touched = 0;
    lw_solver_mobility(s, t, q, &mobility, error);
    if (columns != mobility)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "ask lw_solver_mobility at this position first",
                       "there is room for %d admissible speeds, and there are %d", columns, mobility);
    const lw_tangent *tangent = s->inverse->tangent;
    const int nv = s->model->nv;
    for (int v = 0; v < nv; v++) touched += tangent->first[v] >= 0 && !tangent->out[v] && !tangent->range[v];
    int count = gather(s, touched, basis);
    turn(s, touched, count, basis);
    name_pivots(s, touched);
    /* Columns of the result are in the order of the speeds that stand for them. */
    for (int v = 0; v < nv; v++) s->own[v] = -1;
    for (int j = 0; j < touched; j++) s->own[s->order[j]] = j;
    for (int v = 0, column = 0; v < nv; v++) {
        bool alone = tangent->first[v] < 0 && !tangent->out[v];
        if (s->own[v] < 0 && !alone) continue;
        if (own) own[column] = v;
        if (s->own[v] >= 0) s->order[s->own[v]] = column;
        s->own[v] = column++;
    }
    /* From the last speed to the first, since rows of the result are longer than those gathered. */
    for (int v = nv - 1, c = count - 1; v >= 0; v--) {
        double *row = basis + (size_t)v * (size_t)mobility;
        bool alone = tangent->first[v] < 0;
        if (!alone && !tangent->out[v] && touched > 0)
            memcpy(s->scratch, basis + (size_t)c-- * (size_t)touched, (size_t)touched * sizeof *row);
        for (int j = 0; j < mobility; j++) row[j] = 0;
        if (tangent->out[v]) continue;
        if (alone) row[s->own[v]] = tangent->unit[v];
        for (int j = 0; j < touched && !alone; j++) row[s->order[j]] = tangent->unit[v] * s->scratch[j];
    }
    return LW_OK;
}

/* --- mass matrix ----------------------------------------------------------------------------------- */

/* force = M speeds at the positions in data; momenta: 6 per body, 0 .. n. */
static void momentum(const lw_solver *s, const double *speeds, double *momenta, double *force) {
    const lw_model *model = s->model;
    const lw_data *data = s->inverse->data;
    memset(momenta, 0, 6 * sizeof *momenta);
    for (int i = 1; i <= model->body_count; i++) { /* twists */
        const lw_link *link = &model->links[i];
        double *V = momenta + 6 * i;
        lw_twist_to_child(data->motion[i].R, data->motion[i].p, momenta + 6 * link->parent, V);
        for (int k = 0; k < link->joint.nv; k++)
            lw_v6_axpy(speeds[link->v + k], data->S + 6 * (link->v + k), V);
    }
    for (int i = model->body_count; i >= 1; i--) { /* A parent's twist is not needed any more by then. */
        const lw_rigid_inertia I = lw_true_inertia(model, i);
        double V[6];
        memcpy(V, momenta + 6 * i, sizeof V);
        lw_rigid_mul(&I, V, momenta + 6 * i);
    }
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        double up[6];
        for (int k = 0; k < link->joint.nv; k++)
            force[link->v + k] = lw_v6_dot(data->S + 6 * (link->v + k), momenta + 6 * i);
        lw_wrench_to_parent(data->motion[i].R, data->motion[i].p, momenta + 6 * i, up);
        if (link->parent > 0) lw_v6_axpy(1, up, momenta + 6 * link->parent);
    }
    for (int k = 0; model->armature && k < model->nv; k++) force[k] += model->armature[k] * speeds[k];
}

lw_status lw_solver_mass_matrix(lw_solver *s, double t, const double *q, int columns, const double *basis,
                                double *mass, lw_error *error) {
    if (!s || !q || columns < 0 || (columns > 0 && (!basis || !mass))) return missing("a mass matrix", error);
    const int nv = s->model->nv;
    const size_t wide = (size_t)columns;
    double *force = s->inverse->force;
    lw_take_state(s->model, s->inverse->data, t, q, NULL);
    lw_positions(s->model, s->inverse->data);
    for (size_t j = 0; j < wide; j++) {
        for (int v = 0; v < nv; v++) s->scratch[v] = basis[(size_t)v * wide + j];
        momentum(s, s->scratch, s->inverse->bodies, force);
        for (size_t i = 0; i < wide; i++) mass[i * wide + j] = 0;
        for (int v = 0; v < nv; v++)
            for (size_t i = 0; i <= j && force[v] != 0; i++)
                mass[i * wide + j] += basis[(size_t)v * wide + i] * force[v];
        for (size_t i = 0; i < j; i++) mass[j * wide + i] = mass[i * wide + j];
    }
    return LW_OK;
}
