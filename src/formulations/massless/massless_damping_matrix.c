/* massless_damping_matrix.c - the damping matrix N'C N of massless motions at one state, and its factors.
 *
 *   N'C N = sum over dampers  c (h N)'(h N),      h v the rate of a damper, -c h v its force
 *
 * c is the derivative of a damper's force at the present rate, exact. The matrix is symmetric, and is
 * factored as L D L' in the order of the directions. Directions that no damper resists are known and left
 * out: their pivots vanish, and so do their columns. Groups that contain such directions beside others choose
 * their pivots at each position (massless_pivoted_ldl.c).
 *
 * Source   docs/theory/massless.md, 3.
 * Cost     O(dampers + entries of L), no allocation.
 */
#include "formulations/massless/massless_pivoted_ldl.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Transforms a wrench (torque; force) at a point of the world into the internal frame of a body. */
static void wrench_on(const lw_pose *world, const double at[3], const double wrench[6], double out[6]) {
    double arm[3], n[3];
    lw_v3_sub(at, world->p, arm);
    lw_v3_cross(arm, wrench + 3, n);
    lw_v3_add(n, wrench, n);
    lw_m3_tmul_v(world->R, n, out);
    lw_m3_tmul_v(world->R, wrench + 3, out + 3);
}

static const double *held_of(const lw_model *model, const lw_data *data, const lw_force *force) {
    return lw_held(data, (int)(force - model->forces));
}

/* Returns c of an element at a cut joint, and stores h, 6 numbers for each body, unless h is NULL. */
static double cut_damping(const lw_null_shape *shape, lw_data *data, const lw_force *force, double t,
                          double *h) {
    const lw_model *model = shape->model;
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3];
    int bodies[2];
    lw_cut_joint(model, data, force->closure, q, v, W, at);
    lw_damper_bodies(model, force, bodies);
    for (int side = 0; h && side < 2; side++)
        wrench_on(&data->world[bodies[side]], at, W + 6 * force->v, h + 6 * side);
    const lw_joint_type type = model->joints[model->closures[force->closure]].info.type;
    const law_context context = {data->values, held_of(model, data, force),
                                 lw_joint_speed_turns(type, force->v) ? 1 : shape->length};
    return lw_joint_damping(force, &context, force->q >= 0 ? q[force->q] : 0, v[force->v], t);
}

/* Returns the line (LW_LINE) that the damper's element has stored. */
static const double *line_of(const lw_data *data, const damper *own) {
    return data->lines + LW_LINE * (size_t)own->line;
}

/* Returns c of a spring, whose line lw_forces has stored. */
static double line_damping(const lw_data *data, const lw_force *force, const law_context *context,
                           const double line[LW_LINE], double t) {
    if (!law_uses(force->law, 1)) return force->damping;
    const lw_pose *first = &data->world[force->bodies[0]], *second = &data->world[force->bodies[1]];
    double a[3], b[3], along[3];
    lw_pose_point(first->R, first->p, force->frames[0].p, a);
    lw_pose_point(second->R, second->p, force->frames[1].p, b);
    lw_v3_sub(b, a, along);
    double length = lw_v3_norm(along);
    if (!(length > 0)) return 0; /* A spring of no length has no force, as in force.c. */
    const double variables[3] = {length - force->free_length, line[12], t};
    return force->damping + lw_law_slope(force->law, context, variables, 1);
}

/* Returns c of a damper other than a bushing. At a cut joint h is stored unless it is NULL. */
static double damping(const lw_dampers *d, const damper *own, lw_data *data, double t, double *h) {
    const lw_null_shape *shape = d->null->shape;
    const lw_model *model = shape->model;
    const lw_force *force = d->forces[own - d->dampers];
    if (own->constant) return own->c;
    if (own->kind == IN_CUT) return cut_damping(shape, data, force, t, h);
    const law_context context = {data->values, held_of(model, data, force),
                                 own->kind == ON_LINE ? shape->length : shape->unit[own->speed]};
    if (own->kind == ON_LINE) return line_damping(data, force, &context, line_of(data, own), t);
    return lw_joint_damping(force, &context, force->q >= 0 ? data->q[force->q] : 0, data->v[own->speed], t);
}

/* Adds to rate the rates of a bushing for a twist of a body, times sign. axes (columns) and at: the axes and
 * the point of the bushing in the internal frame of the body. */
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
/* Adds to load the wrench of forces along these axes and of torques about them, times sign. */
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

/* Adds a bushing to the matrix. from, end: the components that damp, constants at each
 * call. */
INLINE void assemble_bushing(lw_dampers *d, const damper *own, const double *line, int from, int end) {
    const lw_force *element = d->forces[own - d->dampers];
    const double *C = element->bushing_damping, *twist = d->null->twist;
    const share *s = d->shares + own->share;
    const int *pair = d->pairs + own->pair;
    double *rate = d->rate;
    for (int a = 0; a < own->count; a++) {
        double *x = rate + 6 * a, scaled[6];
        for (int c = from; c < end; c++) x[c] = 0;
        if (s[a].first >= 0)
            bushing_rate(twist + 6 * s[a].first, element->frames[0].R, line + 9, -1, from, end, x);
        if (s[a].second >= 0)
            bushing_rate(twist + 6 * s[a].second, line, element->frames[1].p, 1, from, end, x);
        for (int c = from; c < end; c++) scaled[c] = C[c] * x[c];
        for (int b = 0; b <= a; b++) {
            double sum = 0;
            for (int c = from; c < end; c++) sum += scaled[c] * rate[6 * b + c];
            d->value[*pair++] += sum;
        }
    }
}

/* Calls a function of a bushing with the range of its components that damp as constants. */
#define BY_COMPONENTS(own, function, ...)                                                                    \
    {                                                                                                        \
        if ((own)->from == 3)                                                                                \
            function(__VA_ARGS__, 3, 6);                                                                     \
        else if ((own)->end == 3)                                                                            \
            function(__VA_ARGS__, 0, 3);                                                                     \
        else                                                                                                 \
            function(__VA_ARGS__, 0, 6);                                                                     \
    }

/* Assembles the matrix. */
static void assemble(lw_dampers *d, lw_data *data, double t) {
    const lw_null *null = d->null;
    double *value = d->value;
    memset(value, 0, (size_t)d->start[d->size] * sizeof *value);
    for (int k = 0; k < d->count; k++) {
        damper *own = &d->dampers[k];
        const share *s = d->shares + own->share;
        const int *pair = d->pairs + own->pair;
        double *h = d->wrench + (own->kind == IN_CUT ? 12 * k : 0), *rate = d->rate;
        if (!own->constant && own->kind != IN_BUSHING) {
            own->c = damping(d, own, data, t, h);
            if (own->latent && d->without_latent) own->c = 0;
        }
        if (own->kind == IN_JOINT)
            for (int a = 0; a < own->count; a++) {
                double force = own->c * null->value[s[a].first];
                for (int b = 0; b <= a; b++) value[*pair++] += force * null->value[s[b].first];
            }
        else if (own->kind == IN_BUSHING)
            BY_COMPONENTS(own, assemble_bushing, d, own, line_of(data, own))
        else {
            const double *line = own->kind == IN_CUT ? h : line_of(data, own);
            for (int a = 0; a < own->count; a++) {
                rate[a] = 0;
                if (s[a].first >= 0) rate[a] -= lw_v6_dot(line, null->twist + 6 * s[a].first);
                if (s[a].second >= 0) rate[a] += lw_v6_dot(line + 6, null->twist + 6 * s[a].second);
                for (int b = 0; b <= a; b++) value[*pair++] += own->c * rate[a] * rate[b];
            }
        }
    }
}

/* Updates the forces and the power of a bushing. E: 6 per body, the change of its twist. */
INLINE void advance_bushing(const lw_dampers *d, const damper *own, const double *E, lw_data *data, int from,
                            int end) {
    const lw_force *element = d->forces[own - d->dampers];
    const double *C = element->bushing_damping, *line = line_of(data, own);
    double change[6] = {0}, force[6], power = 0;
    if (own->moves[0])
        bushing_rate(E + 6 * own->bodies[0], element->frames[0].R, line + 9, -1, from, end, change);
    if (own->moves[1]) bushing_rate(E + 6 * own->bodies[1], line, element->frames[1].p, 1, from, end, change);
    for (int c = from; c < end; c++) {
        force[c] = C[c] * change[c];
        power += force[c] * (2 * line[12 + c] + change[c]);
    }
    bushing_load(force, element->frames[0].R, line + 9, 1, from, end, data->load + 6 * own->bodies[0]);
    bushing_load(force, line, element->frames[1].p, -1, from, end, data->load + 6 * own->bodies[1]);
    data->power.dissipation += power;
}

void lw_dampers_advance(const lw_dampers *d, const double *e, const double *E, lw_data *data) {
    for (int k = 0; k < d->count; k++) {
        const damper *own = &d->dampers[k];
        double change = 0, before;
        if (own->kind == IN_BUSHING) {
            BY_COMPONENTS(own, advance_bushing, d, own, E, data)
            continue;
        }
        if (own->kind == IN_JOINT) {
            change = e[own->speed];
            before = data->v[own->speed] - change;
            data->tau[own->speed] -= own->c * change;
        } else { /* a spring, since mechanisms with cut joints are not steady */
            const double *h = line_of(data, own);
            if (own->moves[0]) change -= lw_v6_dot(h, E + 6 * own->bodies[0]);
            if (own->moves[1]) change += lw_v6_dot(h + 6, E + 6 * own->bodies[1]);
            before = h[12];
            lw_v6_axpy(own->c * change, h, data->load + 6 * own->bodies[0]);
            lw_v6_axpy(-own->c * change, h + 6, data->load + 6 * own->bodies[1]);
        }
        data->power.dissipation += own->c * change * (2 * before + change);
    }
}

void lw_dampers_sizes(const lw_dampers *d, lw_data *data, double t, double *size) {
    const lw_null *null = d->null;
    const lw_null_shape *shape = null->shape;
    memset(size, 0, (size_t)d->size * sizeof *size);
    for (int k = 0; k < d->count; k++) {
        const damper *own = &d->dampers[k];
        double c = 0;
        if (own->kind == IN_BUSHING)
            for (int part = 0; part < 6; part++) c += fabs(d->forces[k]->bushing_damping[part]);
        else
            c = fabs(damping(d, own, data, t, NULL));
        for (const share *s = d->shares + own->share; s < d->shares + own->share + own->count; s++)
            size[s->direction] += c;
    }
    for (int k = 0; k < d->size; k++) {
        double most = 0;
        for (int e = shape->entry_start[k]; e < shape->entry_start[k + 1]; e++)
            most = fmax(most, fabs(null->value[e]));
        size[k] *= most * most * shape->square[null->rep[k]];
    }
}

/* --- L D L' -------------------------------------------------------------------------------------------- */

/* Stores the diagonal entry and the pivot of direction k, and decides whether the direction is loose. */
INLINE void take_pivot(lw_dampers *d, const lw_dampers *other, int k, double diagonal, double pivot) {
    const double square = d->null->shape->square[d->null->rep[k]];
    double floor = d->floor[k];
    d->diagonal[k] = square * diagonal;
    pivot *= square;
    if (d->frozen && d->latent[k])
        floor = 0, pivot = fmax(pivot, d->least[k]); /* The direction is damped unless it is held. */
    d->pivot[k] = pivot;
    d->loose[k] = d->skipped[k] || d->held[k] || (other ? other->loose[k] : !(pivot > floor));
    d->inverse[k] = d->loose[k] ? 0 : square / pivot;
    d->loose_count += d->loose[k];
    if (d->missing < 0 && d->loose[k] && !d->skipped[k] && !d->held[k]) d->missing = k;
    if (d->driven < 0 && !d->skipped[k] && !d->held[k] && pivot < -d->floor[k]) d->driven = k;
}

/* Factors the matrix but for the groups in which dampers resist some directions only. other: the dampers
 * whose choice of loose directions is taken over, or NULL. */
static void factor_sparse(lw_dampers *d, const lw_dampers *other) {
    double *y = d->work; /* It is zero between calls. */
    for (int k = 0; k < d->size; k++) {
        if (d->within[k]) continue; /* L has no entry in its row or column. */
        int last = d->start[k + 1] - 1;
        for (int p = d->start[k]; p < last; p++) y[d->column[p]] = d->value[p];
        double pivot = d->value[last];
        for (int e = d->row_start[k]; e < d->row_start[k + 1]; e++) {
            int i = d->row_column[e], end = d->row_entry[e];
            double yi = y[i];
            y[i] = 0;
            for (int p = d->L_start[i]; p < end; p++) y[d->L_row[p]] -= d->L[p] * yi;
            d->L[end] = yi * d->inverse[i];
            pivot -= d->L[end] * yi;
        }
        take_pivot(d, other, k, d->value[last], pivot);
    }
}

int lw_dampers_factor(lw_dampers *d, lw_data *data, double t) {
    if (d->any_held && !d->frozen) { /* The held directions belong to another state. */
        memset(d->held, 0, (size_t)d->size * sizeof *d->held);
        d->any_held = false;
    }
    d->loose_count = 0;
    d->driven = d->missing = -1;
    assemble(d, data, t);
    factor_sparse(d, d->follow == d ? NULL : d->follow);
    if (d->mixed) lw_mixed_factor(d);
    return d->missing;
}

void lw_dampers_lower(const lw_dampers *d, double *x) {
    for (int k = 0; k < d->size; k++)
        for (int p = d->L_start[k]; p < d->L_start[k] + d->L_count[k]; p++) x[d->L_row[p]] -= d->L[p] * x[k];
    if (d->mixed) lw_mixed_lower(d->mixed, x);
}
void lw_dampers_upper(const lw_dampers *d, double *x) {
    for (int k = d->size - 1; k >= 0; k--)
        for (int p = d->L_start[k]; p < d->L_start[k] + d->L_count[k]; p++) x[k] -= d->L[p] * x[d->L_row[p]];
    if (d->mixed) lw_mixed_upper(d->mixed, x);
}
void lw_dampers_solve(const lw_dampers *d, double *x) {
    lw_dampers_lower(d, x);
    for (int k = 0; k < d->size; k++) x[k] *= d->inverse[k];
    lw_dampers_upper(d, x);
}
