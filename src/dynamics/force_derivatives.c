/* force_derivatives.c - exact derivatives of the force elements in the spanning tree, and of the vector of
 * values that their expressions read.
 *
 * An element between two bodies is a pair (tree_derivatives.h): its wrench W, and the change dW for any small
 * motion of both bodies and any change of their twists. Its expressions add a slope for each entry of the
 * vector of values, times the derivatives of this entry.
 *
 * Source   docs/theory/derivatives.md, 15-21.
 * Cost     O(path^2) for an element whose bodies are `path` speeds apart, O(nv) more for each entry of the
 *          vector of values that it uses; no allocation.
 * Limits   At a kink the derivatives are those of the branch that the expression takes there. A spring whose
 *          ends coincide has no direction, and is refused.
 */
#include "dynamics/tree_derivatives.h"
#include "model/contact.h"
#include "model/signals.h"

#include <math.h>
#include <string.h>

/* --- the vector of values -------------------------------------------------------------------------- */

bool lw_function_derivatives(lw_tree_derivatives *d, const lw_function *function, const double *variables,
                             const double *values, double factor, double *row, double *slopes,
                             int variable_count) {
    const int *entries;
    const size_t count = lw_function_inputs(function, &entries), columns = (size_t)d->columns;
    lw_function_gradient(function, variables, values, d->slopes, slopes, (size_t)variable_count);
    bool finite = !slopes || lw_finite(slopes, variable_count);
    for (size_t e = 0; e < count; e++) {
        const double slope = factor * d->slopes[e], *of = d->values + (size_t)entries[e] * columns;
        finite &= isfinite(slope) != 0;
        for (size_t c = 0; c < columns && slope != 0; c++) row[c] += slope * of[c];
    }
    return finite;
}

static lw_status no_derivative(const char *what, const char *name, lw_error *error) {
    return lw_fail(error, LW_ERROR_SINGULAR, name,
                   "take a state beside this one, or an expression that is smooth here",
                   "%s has no derivatives in this state", what);
}

/* The acceleration of a joint of the tree, where these are known. */
static bool take_acceleration(const lw_tree_derivatives *d, const lw_state_quantity *quantity, double *row) {
    if (quantity->kind != LW_Q_ACCELERATION || !d->accelerations) return false;
    const lw_joint_info *info = &d->model->joints[quantity->object].info;
    if (info->cut) return false;
    const size_t columns = (size_t)d->columns;
    memcpy(row, d->accelerations + (size_t)(info->v + quantity->component) * columns, columns * sizeof *row);
    return true;
}

lw_status lw_value_derivatives(lw_tree_derivatives *d, const lw_value_order *order, lw_error *error) {
    const lw_values *values = &d->model->values;
    const lw_data *data = d->data;
    const int nv = d->model->nv, inputs = values->input_count, given = inputs + values->state_count,
              named = given + values->signal_count;
    const size_t columns = (size_t)d->columns;
    for (int k = 0; k < given; k++) {
        double *row = d->values + (size_t)k * columns;
        memset(row, 0, columns * sizeof *row);
        if (k >= inputs || !isnan(data->inputs[k])) row[2 * nv + k] = 1;
    }
    for (int k = 0; k < order->coordinate_count + order->speed_count + order->quantity_count; k++) {
        const int of_speed = k - order->coordinate_count, other = of_speed - order->speed_count;
        const int entry = of_speed < 0 ? order->coordinates[k].entry
                          : other < 0  ? order->speeds[of_speed].entry
                                       : order->entries[other];
        double *row = d->values + (size_t)entry * columns;
        memset(row, 0, columns * sizeof *row);
        if (take_acceleration(d, &values->quantities[entry - named], row)) continue;
        if (!lw_quantity_gradient(d->model, data, &values->quantities[entry - named], row, row + nv)) {
            for (size_t c = 0; c < columns && d->tolerant; c++) row[c] = NAN;
            if (d->tolerant) continue;
            char name[LW_QUANTITY_NAME];
            lw_quantity_print(d->model, &values->quantities[entry - named], name);
            return no_derivative("a quantity that an expression uses", name, error);
        }
        lw_tree_derivatives_prescribe(d, 1, d->columns, row);
    }
    for (int k = order->quantity_count; k < order->count; k++) {
        const int entry = order->entries[k];
        if (entry < given && !isnan(data->inputs[entry])) continue;
        double *row = d->values + (size_t)entry * columns;
        memset(d->row, 0, columns * sizeof *d->row);
        if (!lw_function_derivatives(d, values->functions[entry], &d->t, data->computed, 1, d->row, NULL,
                                     0) &&
            !d->tolerant)
            return no_derivative("a signal", NULL, error);
        memcpy(row, d->row, columns * sizeof *row);
        if (entry < given) row[2 * nv + entry] += 1; /* An input is its default and what is added to it. */
    }
    return LW_OK;
}

/* --- springs --------------------------------------------------------------------------------------- */

typedef struct spring_motion {
    const lw_tree_derivatives *d;
    const lw_force *force;
    lw_point_motion end[2];        /* on the first and second body */
    double unit[3], length, rate;  /* from the first to the second */
    double pull, by_x, by_v, F[3]; /* tension and its slopes; force on the second body */
} spring_motion;

static void spring_change(const void *context, const lw_variation *plus, const lw_variation *minus,
                          double dW[6], double rows[12]) {
    const spring_motion *s = context;
    lw_point_motion a, b;
    double line[3], rate[3], relative[3], turn[3], dF[3], part[3];
    (void)rows;
    lw_point_vary(s->d, s->force->bodies[0], &s->end[0], minus, &a);
    lw_point_vary(s->d, s->force->bodies[1], &s->end[1], plus, &b);
    lw_v3_sub(b.x, a.x, line);
    lw_v3_sub(b.v, a.v, rate);
    lw_v3_sub(s->end[1].v, s->end[0].v, relative);
    const double longer = lw_v3_dot(s->unit, line);
    for (int k = 0; k < 3; k++) turn[k] = (line[k] - longer * s->unit[k]) / s->length;
    const double faster = lw_v3_dot(turn, relative) + lw_v3_dot(s->unit, rate);
    const double more = s->by_x * longer + s->by_v * faster;
    for (int k = 0; k < 3; k++) dF[k] = -more * s->unit[k] - s->pull * turn[k];
    lw_wrench_of_force(s->end[1].x, dF, dW);
    lw_v3_cross(b.x, s->F, part);
    lw_v3_add(dW, part, dW);
}

/* The law's part of a tension: value and slopes are added; the row is that of its values. */
static bool law_slopes(lw_tree_derivatives *d, const lw_force *force, double x, double v, double *pull,
                       double *by_x, double *by_v) {
    *pull = force->stiffness * x + force->damping * v;
    *by_x = force->stiffness, *by_v = force->damping;
    memset(d->row, 0, (size_t)d->columns * sizeof *d->row);
    if (!force->law) return true;
    const double variables[3] = {x, v, d->t};
    double slopes[2];
    if (!lw_function_derivatives(d, force->law, variables, d->data->values, 1, d->row, slopes, 2))
        return false;
    *pull += lw_function_value(force->law, variables, d->data->values);
    *by_x += slopes[0], *by_v += slopes[1];
    return true;
}

static lw_status spring(lw_tree_derivatives *d, const lw_force *force, lw_error *error) {
    spring_motion s = {.d = d, .force = force};
    double line[3], rate[3];
    lw_pair pair = {.plus = force->bodies[1], .minus = force->bodies[0], .invariant = true};
    for (int k = 0; k < 2; k++) lw_point_of(d, force->bodies[k], force->frames[k].p, &s.end[k]);
    lw_v3_sub(s.end[1].x, s.end[0].x, line);
    lw_v3_sub(s.end[1].v, s.end[0].v, rate);
    s.length = lw_v3_norm(line);
    if (!(s.length > 0))
        return lw_fail(error, LW_ERROR_SINGULAR, force->name, "take a state in which they are apart",
                       "the ends of the spring coincide, so that its force has no derivatives");
    for (int k = 0; k < 3; k++) s.unit[k] = line[k] / s.length;
    s.rate = lw_v3_dot(s.unit, rate);
    if (!law_slopes(d, force, s.length - force->free_length, s.rate, &s.pull, &s.by_x, &s.by_v))
        return no_derivative("its law", force->name, error);
    double along[6];
    lw_wrench_of_force(s.end[1].x, s.unit, along);
    for (int k = 0; k < 3; k++) s.F[k] = -s.pull * s.unit[k];
    for (int k = 0; k < 6; k++) pair.W[k] = -s.pull * along[k], along[k] = -along[k];
    if (force->law && lw_function_uses_inputs(force->law)) lw_pair_wrench(d, &pair, along, d->row);
    lw_pair_derivatives(d, &pair, spring_change, &s, NULL);
    return LW_OK;
}

/* --- bushings -------------------------------------------------------------------------------------- */

typedef struct bushing_state {
    const lw_tree_derivatives *d;
    const lw_force *force;
    lw_point_motion a, b;
    double Ra[9], Rb[9];
    double gap[3], rate[3], w[3]; /* world axes */
    double phi[3], g, g_slope;    /* g of (17) and its derivative over the angle */
    double k_phi[3], F[3], damping_torque[3], spring_torque[3]; /* the last three in world axes */
} bushing_state;

/* g(a) = 1/a^2 - 1/(2 a tan(a/2)), and g'(a)/a; by series below 0.3, where the closed form of the second
 * cancels. */
static void jacobian_factors(double a, double *g, double *slope) {
    const double a2 = a * a;
    if (a < 0.3) {
        *g = 1.0 / 12 +
             a2 * (1.0 / 720 + a2 * (1.0 / 30240 + a2 * (1.0 / 1209600 + a2 * (1.0 / 47900160 +
                                                                               a2 * 691.0 / 1307674368000))));
        *slope =
            2.0 / 720 +
            a2 * (4.0 / 30240 + a2 * (6.0 / 1209600 + a2 * (8.0 / 47900160 + a2 * 6910.0 / 1307674368000)));
        return;
    }
    const double tangent = tan(0.5 * a), sine = sin(0.5 * a);
    *g = 1 / a2 - 0.5 / (a * tangent);
    *slope = -2 / (a2 * a2) + 0.5 / (a2 * a * tangent) + 0.25 / (a2 * sine * sine);
}

/* y = k - phi x k / 2 + g phi x (phi x k) */
static void inverse_transpose(const double phi[3], double g, const double k[3], double out[3]) {
    double first[3], second[3];
    lw_v3_cross(phi, k, first);
    lw_v3_cross(phi, first, second);
    for (int i = 0; i < 3; i++) out[i] = k[i] - 0.5 * first[i] + g * second[i];
}

static void look_at_bushing(lw_tree_derivatives *d, const lw_force *force, bushing_state *s) {
    const int one = force->bodies[0], two = force->bodies[1];
    const double *K = force->bushing_stiffness, *C = force->bushing_damping;
    double R[9], quaternion[4], spin[3], local[3], local_rate[3], local_w[3], f[3], n[3], y[3];
    *s = (bushing_state){.d = d, .force = force};
    lw_point_of(d, one, force->frames[0].p, &s->a);
    lw_point_of(d, two, force->frames[1].p, &s->b);
    lw_m3_mul(d->data->world[one].R, force->frames[0].R, s->Ra);
    lw_m3_mul(d->data->world[two].R, force->frames[1].R, s->Rb);
    lw_m3_tmul(s->Ra, s->Rb, R);
    lw_quat_rot(R, quaternion);
    lw_quat_log(quaternion, s->phi);
    jacobian_factors(lw_v3_norm(s->phi), &s->g, &s->g_slope);
    lw_v3_sub(s->b.x, s->a.x, s->gap);
    lw_v3_sub(s->b.v, s->a.v, s->rate);
    lw_v3_cross(d->V + 6 * one, s->gap, spin);
    lw_v3_sub(s->rate, spin, s->rate);
    lw_v3_sub(d->V + 6 * two, d->V + 6 * one, s->w);
    lw_m3_tmul_v(s->Ra, s->gap, local);
    lw_m3_tmul_v(s->Ra, s->rate, local_rate);
    lw_m3_tmul_v(s->Ra, s->w, local_w);
    for (int k = 0; k < 3; k++) {
        f[k] = -K[k] * local[k] - C[k] * local_rate[k];
        n[k] = -C[3 + k] * local_w[k];
        s->k_phi[k] = -K[3 + k] * s->phi[k];
    }
    inverse_transpose(s->phi, s->g, s->k_phi, y);
    lw_m3_mul_v(s->Ra, f, s->F);
    lw_m3_mul_v(s->Ra, n, s->damping_torque);
    lw_m3_mul_v(s->Rb, y, s->spring_torque);
}

/* The change of the torque of the springs about the second frame's axes for a small rotation e of it in its
 * own axes (18). */
static void spring_torque_change(const bushing_state *s, const double e[3], double out[3]) {
    const double *K = s->force->bushing_stiffness, *phi = s->phi, *k = s->k_phi;
    double dphi[3], dk[3], cross[3], twice[3], part[3], more[3];
    lw_v3_cross(phi, e, cross);
    lw_v3_cross(phi, cross, twice);
    for (int i = 0; i < 3; i++) dphi[i] = e[i] + 0.5 * cross[i] + s->g * twice[i];
    for (int i = 0; i < 3; i++) dk[i] = -K[3 + i] * dphi[i];
    inverse_transpose(phi, s->g, dk, out);
    lw_v3_cross(dphi, k, cross);
    lw_v3_axpy(-0.5, cross, out);
    lw_v3_cross(phi, cross, part);
    lw_v3_axpy(s->g, part, out);
    lw_v3_cross(phi, k, more);
    lw_v3_cross(dphi, more, part);
    lw_v3_axpy(s->g, part, out);
    lw_v3_cross(phi, more, part);
    lw_v3_axpy(s->g_slope * lw_v3_dot(phi, dphi), part, out);
}

/* out = Ra'(dx - theta x x), the change of a vector x as the turning first frame sees it. */
static void seen(const double Ra[9], const double theta[3], const double x[3], const double dx[3],
                 double out[3]) {
    double rest[3];
    lw_v3_cross(x, theta, rest);
    lw_v3_add(rest, dx, rest);
    lw_m3_tmul_v(Ra, rest, out);
}

static void bushing_change(const void *context, const lw_variation *plus, const lw_variation *minus,
                           double dW[6], double rows[12]) {
    const bushing_state *s = context;
    const lw_force *force = s->force;
    const double *K = force->bushing_stiffness, *C = force->bushing_damping, *turn = minus->place;
    const double *wa = s->d->V + 6 * force->bodies[0];
    lw_point_motion a, b;
    double gap[3], rate[3], w[3], local[3], local_rate[3], local_w[3], f[3], n[3], e[3], dy[3], dF[3], dn[3],
        part[3], relative[3];
    (void)rows;
    lw_point_vary(s->d, force->bodies[0], &s->a, minus, &a);
    lw_point_vary(s->d, force->bodies[1], &s->b, plus, &b);
    lw_v3_sub(b.x, a.x, gap);
    lw_v3_sub(b.v, a.v, rate);
    lw_v3_add_cross(s->gap, minus->V, rate);
    lw_v3_add_cross(gap, wa, rate);
    lw_v3_sub(plus->V, minus->V, w);
    seen(s->Ra, turn, s->gap, gap, local);
    seen(s->Ra, turn, s->rate, rate, local_rate);
    seen(s->Ra, turn, s->w, w, local_w);
    lw_v3_sub(plus->place, minus->place, relative);
    lw_m3_tmul_v(s->Rb, relative, e);
    spring_torque_change(s, e, dy);
    for (int k = 0; k < 3; k++) {
        f[k] = -K[k] * local[k] - C[k] * local_rate[k];
        n[k] = -C[3 + k] * local_w[k];
    }
    lw_m3_mul_v(s->Ra, f, dF);
    lw_v3_add_cross(turn, s->F, dF);
    lw_m3_mul_v(s->Ra, n, dn);
    lw_v3_add_cross(turn, s->damping_torque, dn);
    lw_m3_mul_v(s->Rb, dy, part);
    lw_v3_add(dn, part, dn);
    lw_v3_add_cross(plus->place, s->spring_torque, dn);
    lw_wrench_of_force(s->b.x, dF, dW);
    lw_v3_add_cross(b.x, s->F, dW);
    lw_v3_add(dW, dn, dW);
}

static void bushing(lw_tree_derivatives *d, const lw_force *force) {
    bushing_state s;
    look_at_bushing(d, force, &s);
    lw_pair pair = {.plus = force->bodies[1], .minus = force->bodies[0], .invariant = true};
    lw_wrench_of_force(s.b.x, s.F, pair.W);
    for (int k = 0; k < 3; k++) pair.W[k] += s.damping_torque[k] + s.spring_torque[k];
    lw_pair_derivatives(d, &pair, bushing_change, &s, NULL);
}

/* --- applied forces -------------------------------------------------------------------------------- */

typedef struct applied_state {
    const lw_tree_derivatives *d;
    const lw_force *force;
    lw_point_motion x;
    double F[3];
    const double *W;
} applied_state;

static void applied_change(const void *context, const lw_variation *plus, const lw_variation *minus,
                           double dW[6], double rows[12]) {
    const applied_state *s = context;
    lw_point_motion x;
    (void)minus;
    (void)rows;
    if (s->force->follows_body) {
        lw_wrench_cross(plus->place, s->W, dW);
        return;
    }
    lw_point_vary(s->d, s->force->bodies[0], &s->x, plus, &x);
    lw_v3_cross(x.x, s->F, dW);
}

static lw_status applied(lw_tree_derivatives *d, const lw_force *force, lw_error *error) {
    applied_state s = {.d = d, .force = force};
    lw_pair pair = {.plus = force->bodies[0], .minus = force->bodies[1]};
    double R[9], torque[3] = {0, 0, 0};
    lw_point_of(d, force->bodies[0], force->frames[0].p, &s.x);
    lw_m3_identity(R);
    if (force->follows_body) lw_m3_mul(d->data->world[force->bodies[0]].R, force->frames[0].R, R);
    for (int k = 0; k < 6; k++) {
        const lw_function *component = force->components[k];
        if (!component) continue;
        const double axis[3] = {R[k % 3], R[3 + k % 3], R[6 + k % 3]};
        double value = lw_function_value(component, &d->t, d->data->values), W[6] = {0};
        lw_v3_axpy(value, axis, k < 3 ? s.F : torque);
        if (!lw_function_uses_inputs(component)) continue;
        memset(d->row, 0, (size_t)d->columns * sizeof *d->row);
        if (!lw_function_derivatives(d, component, &d->t, d->data->values, 1, d->row, NULL, 0))
            return no_derivative("a component of it", force->name, error);
        if (k < 3)
            lw_wrench_of_force(s.x.x, axis, W);
        else
            lw_v3_copy(axis, W);
        lw_pair_wrench(d, &pair, W, d->row);
    }
    lw_wrench_of_force(s.x.x, s.F, pair.W);
    lw_v3_add(pair.W, torque, pair.W);
    s.W = pair.W;
    lw_pair_derivatives(d, &pair, applied_change, &s, NULL);
    return LW_OK;
}

/* --- elements in joints ---------------------------------------------------------------------------- */

bool lw_joint_force_slopes(lw_tree_derivatives *d, const lw_force *force, double q, double v, double *value,
                           double *by_q, double *by_v) {
    *value = *by_q = *by_v = 0;
    memset(d->row, 0, (size_t)d->columns * sizeof *d->row);
    if (force->type == LW_FORCE_TORSION) {
        if (!law_slopes(d, force, q - force->free_length, v, value, by_q, by_v)) return false;
        *value = -*value, *by_q = -*by_q, *by_v = -*by_v;
        for (int c = 0; c < d->columns; c++) d->row[c] = -d->row[c];
    } else if (force->type == LW_FORCE_DRIVE) {
        const double variables[3] = {d->t, q, v};
        double slopes[3];
        if (!lw_function_derivatives(d, force->drive, variables, d->data->values, 1, d->row, slopes, 3))
            return false;
        *value = lw_function_value(force->drive, variables, d->data->values);
        *by_q = slopes[1], *by_v = slopes[2];
    } else {
        *value = -force->viscous * v, *by_v = -force->viscous;
        if (force->coulomb != 0) {
            const double th = tanh(v / force->smoothing);
            *value -= force->coulomb * th;
            *by_v -= force->coulomb * (1 - th * th) / force->smoothing;
        }
    }
    return isfinite(*by_q) && isfinite(*by_v);
}

static lw_status in_joint(lw_tree_derivatives *d, const lw_force *force, lw_error *error) {
    const size_t columns = (size_t)d->columns;
    double value, by_q, by_v, *T = d->T + (size_t)force->v * (size_t)d->stride;
    const double q = force->q >= 0 ? d->data->q[force->q] : 0;
    if (!lw_joint_force_slopes(d, force, q, d->data->v[force->v], &value, &by_q, &by_v))
        return no_derivative("its law", force->name, error);
    if (force->q >= 0) T[force->v] -= by_q;
    T[d->model->nv + force->v] -= by_v;
    for (size_t c = 0; c < columns; c++) T[c] -= d->row[c];
    return LW_OK;
}

/* --- contacts -------------------------------------------------------------------------------------- */

typedef struct contact_state {
    const lw_tree_derivatives *d;
    const lw_force *force;
    lw_contact_body surface, shape; /* places relative to d->origin */
    lw_touch touch;
    double F[3], share, share_slope; /* of tanh(s)/s and its derivative over s, by s */
} contact_state;

/* The displacement of the point x by a small motion. */
static void moved(const double by[6], const double x[3], double out[3]) {
    lw_v3_copy(by + 3, out);
    lw_v3_add_cross(by, x, out);
}

/* docs/theory/contact.md, 10-13 */
static void contact_change(const void *context, const lw_variation *plus, const lw_variation *minus,
                           double dW[6], double rows[12]) {
    const contact_state *s = context;
    const lw_contact *c = s->force->contact;
    const lw_touch *at = &s->touch;
    const double *wa = s->d->V + 6 * s->force->bodies[0], *wb = s->d->V + 6 * s->force->bodies[1];
    double turns[2][3], moves[2][3], shift[3], dc[3], back[3], dn[3], dx[3], dv[3], w[3], du[3], dF[3];
    (void)rows;
    lw_v3_copy(minus->place, turns[0]), lw_v3_copy(plus->place, turns[1]);
    moved(minus->place, s->surface.p, moves[0]);
    moved(plus->place, s->shape.p, moves[1]);
    lw_contact_shift(c, &s->surface, &s->shape, at, (const double(*)[3])turns, (const double(*)[3])moves,
                     shift);
    moved(plus->place, at->c, dc);
    lw_v3_add(dc, shift, dc);
    moved(minus->place, at->c, back);
    lw_v3_sub(dc, back, back); /* of the centre, as the surface sees it */
    lw_m3_mul_v(at->H, back, dn);
    lw_v3_add_cross(minus->place, at->n, dn);
    const double dd = lw_v3_dot(at->n, back);
    lw_v3_copy(dc, dx);
    lw_v3_axpy(-0.5 * dd, at->n, dx);
    lw_v3_axpy(-(c->probe_radius - 0.5 * at->depth), dn, dx);
    moved(plus->V, at->x, dv);
    moved(minus->V, at->x, back);
    lw_v3_sub(dv, back, dv);
    lw_v3_sub(wb, wa, w);
    lw_v3_add_cross(w, dx, dv);
    const double faster = -lw_v3_dot(dn, at->v) - lw_v3_dot(at->n, dv); /* change of the rate of the depth */
    const double more = -at->by_depth * dd + at->by_rate * faster;
    for (int k = 0; k < 3; k++) du[k] = dv[k] + faster * at->n[k] + at->rate * dn[k];
    for (int k = 0; k < 3; k++) dF[k] = more * at->n[k] + at->normal * dn[k];
    if (c->friction != 0) {
        const double slow = c->smoothing;
        const double swing = s->share_slope * lw_v3_dot(at->u, du) / (slow * slow);
        for (int k = 0; k < 3; k++)
            dF[k] -= c->friction / slow *
                     (more * s->share * at->u[k] + at->normal * (s->share * du[k] + swing * at->u[k]));
    }
    lw_wrench_of_force(at->x, dF, dW);
    lw_v3_add_cross(dx, s->F, dW);
}

static void contact(lw_tree_derivatives *d, const lw_force *force) {
    contact_state s = {.d = d, .force = force};
    lw_contact_bodies(force, d->data, &s.surface, &s.shape);
    lw_v3_sub(s.surface.p, d->origin, s.surface.p);
    lw_v3_sub(s.shape.p, d->origin, s.shape.p);
    for (int k = 0; k < force->contact->probes; k++) {
        lw_pair pair = {.plus = force->bodies[1], .minus = force->bodies[0], .invariant = true};
        lw_contact_look(force->contact, &s.surface, &s.shape, k, &s.touch);
        lw_contact_forces(force->contact, NAN, &s.touch);
        if (!s.touch.acts) continue;
        for (int i = 0; i < 3; i++) s.F[i] = s.touch.normal * s.touch.n[i] + s.touch.friction[i];
        if (force->contact->friction != 0) {
            const double x = lw_v3_norm(s.touch.u) / force->contact->smoothing, th = tanh(x);
            /* (x (1 - th^2) - th) / x^3, by its series where that cancels */
            s.share = x < 1e-4 ? 1 - x * x / 3 : th / x;
            s.share_slope = x < 1e-2 ? -2.0 / 3 + x * x * (8.0 / 15 - x * x * 34.0 / 105)
                                     : (x * (1 - th * th) - th) / (x * x * x);
        }
        lw_wrench_of_force(s.touch.x, s.F, pair.W);
        lw_pair_derivatives(d, &pair, contact_change, &s, NULL);
    }
}

lw_status lw_tree_derivatives_forces(lw_tree_derivatives *d, lw_error *error) {
    const lw_model *model = d->model;
    lw_signals(model, d->data, d->t);
    lw_status status = lw_value_derivatives(d, &model->values.for_forces, error);
    for (int k = 0; k < model->force_count && status == LW_OK; k++) {
        const lw_force *force = &model->forces[k];
        if (force->type == LW_FORCE_SPRING)
            status = spring(d, force, error);
        else if (force->type == LW_FORCE_BUSHING)
            bushing(d, force);
        else if (force->type == LW_FORCE_APPLIED)
            status = applied(d, force, error);
        else if (force->type == LW_FORCE_CONTACT)
            contact(d, force);
        else if (lw_force_in_joint(force))
            status = in_joint(d, force, error);
    }
    return status;
}
