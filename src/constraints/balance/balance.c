/* balance.c - the Newton-Euler balance of every body, the transmitted force of every joint, the acceleration
 * of every row.
 *
 * Spatial accelerations in internal axes at the internal origin of body i (tree.md, 4-6):
 *
 *   A_i = X_i A_parent + S vdot + S° v + V_i x (S v),   A_0 = 0
 *   f_i = I_i A_i + V_i x* (I_i V_i) - (gravity) - (elements)
 *
 * f_i is the wrench that joints and constraints must supply. Then f_i - (reactions) - (constraint forces) = 0
 * for every body (1), S'(reaction) = tau for every joint (2), and H'a = gamma for every closure and
 * constraint (3). The residual is measured by
 *
 *   amount = max(0, |residual| - noise) / (own + k sum),   noise = c eps sum + g eps most             (5)
 *
 * where sum is the sum of the magnitudes of all terms of the equation; own that of the terms of the body
 * itself (inertia, weight, elements, tau); most the largest force in the mechanism, times the body's length
 * for a torque. Rounding explains the noise, whether it arises in the equation itself or in the solution of
 * all equations together. A light body between heavy ones transmits forces that are large compared with its
 * own inertia. Its residual is judged by its own terms, down to k times the transmitted forces.
 *
 * Source   Newton and Euler; docs/theory/balance.md, which has the equation numbers above. Nothing of the
 *          formulations is used; the kinematics of joints, the rows of closures and constraints
 *          (model/rows.h) and the force elements are those of the model.
 * Cost     O(bodies + joints + constraints + elements), about one inverse dynamics; only create allocates.
 * Limits   errors below the noise, about 1e-13 of the forces on a body, cannot be distinguished from
 *          rounding.
 */
#include "constraints/balance/balance_parts.h"
#include "model/joint.h"

#include <float.h>
#include <math.h>

/* c eps: rounding of sums of some tens of terms, rotated a few times. */
static const double sum_noise = 1024 * DBL_EPSILON;
/* g eps: the residual of a stable solution of all equations. */
static const double solution_noise = 128 * DBL_EPSILON;
/* Rounding of accelerations: each is rounded once, by half of this, and rotated on the path outwards. */
static const double last_digits = DBL_EPSILON;
static const double transmitted_share = 1e-6; /* k of equation (5). */
/* Relative to the longest arm: shorter arms are due to rounding (1e-16) or have no more effect than
 * rounding. */
static const double shortest_arm = 1e-9;
/* The largest admissible rounding of reactions, relative to the applied forces. */
static const double largest_hidden = 1e-6;

lw_balance *lw_balance_create(const lw_model *model) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_balance *b = LW_NEW(arena, lw_balance, 1);
    size_t n = (size_t)model->body_count + 1;
    if (b) {
        b->arena = arena;
        b->model = model;
        b->length = lw_longest_arm(model);
        b->extent = lw_model_extent(model);
        b->lightest = HUGE_VAL;
        for (int i = 1; i <= model->body_count; i++) {
            b->heaviest = fmax(b->heaviest, model->links[i].inertia.mass);
            b->lightest = fmin(b->lightest, model->links[i].inertia.mass);
        }
        b->rows = lw_rows_create_loops(model, arena);
        b->A = LW_NEW(arena, double, 6 * n);
        b->a = LW_NEW(arena, double, 6 * n);
        b->V = LW_NEW(arena, double, 6 * n);
        b->digits = LW_NEW(arena, double, 2 * n);
        b->scales = LW_NEW(arena, double, n);
        b->sums = LW_NEW(arena, lw_term_sum, n);
        b->gross = LW_NEW(arena, double, model->nv + 1);
        b->given_gross = LW_NEW(arena, double, model->nv + 1);
        b->parts = LW_NEW(arena, double, 2 * model->force_count + 1);
        b->blur = LW_NEW(arena, double, model->nv + 2 * n);
        b->plain = LW_NEW(arena, double, model->nv + 6 * n);
        b->displaced_q = LW_NEW(arena, double, model->nq + 1);
        b->displaced_v = LW_NEW(arena, double, model->nv + 1);
        if (b->rows) b->slack = LW_NEW(arena, double, b->rows->count + 1);
    }
    if (!b || !b->rows || lw_arena_failed(arena) || lw_data_create(model, NULL, &b->data) != LW_OK) {
        if (arena) lw_arena_destroy(arena);
        return NULL;
    }
    b->data->measuring = true;
    return b;
}

void lw_balance_destroy(lw_balance *b) {
    if (!b) return;
    lw_data_destroy(b->data);
    lw_arena_destroy(b->arena);
}

double lw_balance_enough(const lw_balance *b) {
    const double light = 1e-6, share = 0.2;
    return b->lightest >= light * b->heaviest && b->heaviest > 0 ? share * LW_BALANCE_ENOUGH
                                                                 : LW_BALANCE_ENOUGH;
}

int lw_balance_multiplier_count(const lw_model *model) {
    int count = 0;
    for (int k = 0; k < model->constraint_count; k++)
        count += model->constraints[k].type == LW_CONSTRAINT_ROLLING ? 3 : 1;
    return count;
}

/* --- terms ---------------------------------------------------------------------------------------- */

/* Adds factor times a wrench to the sum of a body. */
static void add_term(lw_term_sum *m, double factor, const double w[6], bool own) {
    double size[2] = {fabs(factor) * lw_v3_norm(w), fabs(factor) * lw_v3_norm(w + 3)};
    lw_v6_axpy(factor, w, m->rest);
    for (int k = 0; k < 2; k++) {
        m->sum[k] += size[k];
        if (own) m->own[k] += size[k];
    }
}

/* Equation (5); infinite if a number is not finite. floor: noise * most in the units of the residual. */
static double amount_of(double rest, double sum, double own, double floor) {
    if (!(fabs(rest) < HUGE_VAL) || !(sum < HUGE_VAL)) return HUGE_VAL;
    double excess = fabs(rest) - sum_noise * sum - floor;
    return excess > 0 ? excess / (own + transmitted_share * sum) : 0;
}

static void note_worst(lw_balance_result *worst, double amount, lw_balance_object object, int index) {
    if (amount > worst->amount) *worst = (lw_balance_result){amount, object, index};
}

/* --- motion --------------------------------------------------------------------------------------- */

/* A body's acceleration is the sum of the joint accelerations on the path to it. Where a light body moves
 * 1e10 times faster than the next one, these cancel, and the sum has lost ten digits, whichever method has
 * found them. */
static void round_digits(lw_balance *b, int i, const double *vdot) {
    const lw_link *link = &b->model->links[i];
    const double *S = b->data->S + 6 * link->v, *before = b->digits + 2 * link->parent;
    const double *A = b->A + 6 * link->parent, arm = lw_v3_norm(b->data->motion[i].p);
    double turn = lw_v3_norm(A), slide = lw_v3_norm(A + 3) + arm * turn;
    for (int k = 0; k < link->joint.nv; k++) {
        turn += fabs(vdot[k]) * lw_v3_norm(S + 6 * k);
        slide += fabs(vdot[k]) * lw_v3_norm(S + 6 * k + 3);
    }
    b->digits[2 * i] = before[0] + last_digits * turn;
    b->digits[2 * i + 1] = before[1] + arm * before[0] + last_digits * slide;
}

/* Spatial accelerations of all bodies from those of the joints. */
static void accelerate(lw_balance *b, const double *vdot) {
    const lw_model *model = b->model;
    const lw_data *data = b->data;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_body_motion *motion = &data->motion[i];
        const double *S = data->S + 6 * link->v, *v = data->v + link->v;
        double *A = b->A + 6 * i, R[9], p[3], again[6 * LW_JOINT_MAX_V], bias[6], joint[6] = {0}, turning[6];
        lw_twist_to_child(motion->R, motion->p, b->A + 6 * link->parent, A);
        lw_joint_motion(&link->joint, data->q + link->q, v, R, p, again, bias);
        for (int k = 0; k < link->joint.nv; k++) {
            lw_v6_axpy(v[k], S + 6 * k, joint);
            lw_v6_axpy(vdot[link->v + k], S + 6 * k, A);
        }
        lw_twist_cross(motion->V, joint, turning);
        for (int k = 0; k < 6; k++) A[k] += bias[k] + turning[k];
        round_digits(b, i, vdot + link->v);
    }
}

/* (angular acceleration; acceleration of the centre of mass) in world axes, for the rows. */
static void accelerate_centres(lw_balance *b) {
    for (int i = 1; i <= b->model->body_count; i++) {
        const double *A = b->A + 6 * i, *V = b->data->motion[i].V, *c = b->model->bodies[i].com;
        double local[3], swing[3];
        lw_v3_copy(A + 3, local);
        lw_v3_add_cross(V, V + 3, local); /* the origin's own acceleration */
        lw_v3_add_cross(A, c, local);
        lw_v3_cross(V, c, swing);
        lw_v3_add_cross(V, swing, local);
        lw_m3_mul_v(b->data->world[i].R, A, b->a + 6 * (i - 1));
        lw_m3_mul_v(b->data->world[i].R, local, b->a + 6 * (i - 1) + 3);
    }
}

/* --- (1) bodies ------------------------------------------------------------------------------------ */

static void measure_swirl(const lw_rigid_inertia *I, const double V[6], lw_term_sum *m) {
    double turn = lw_v3_norm(V), slide = lw_v3_norm(V + 3), moment = lw_v3_norm(I->moment);
    double linear = I->mass * slide + moment * turn;
    double angular = (I->second[0] + I->second[1] + I->second[2]) * turn + moment * slide;
    m->swirl[0] = turn * angular + slide * linear;
    m->swirl[1] = turn * linear;
    for (int k = 0; k < 2; k++) m->sum[k] += m->swirl[k];
}

/* Inertia, weight and elements: the body's own terms. */
static void add_own_terms(lw_balance *b, int i) {
    const lw_model *model = b->model;
    const lw_rigid_inertia own = lw_true_inertia(model, i), *I = &own;
    const double *V = b->data->motion[i].V, *load = b->data->load + 6 * i;
    lw_term_sum *m = &b->sums[i];
    double momentum[6], term[6], weight[6] = {0};
    *m = (lw_term_sum){.length = lw_v3_norm(model->bodies[i].com)};
    lw_rigid_mul(I, b->A + 6 * i, term);
    add_term(m, 1, term, true);
    lw_rigid_mul(I, V, momentum);
    lw_wrench_cross(V, momentum, term);
    add_term(m, 1, term, true);
    measure_swirl(I, V, m);
    lw_m3_tmul_v(b->data->world[i].R, model->gravity, term);
    lw_v3_cross(I->moment, term, weight);
    for (int k = 0; k < 3; k++) weight[3 + k] = I->mass * term[k];
    add_term(m, -1, weight, true);
    if (model->forces_need_world) add_term(m, -1, load, true);
}

/* A wrench (force, torque) in world axes that acts at the point `at` of a body (internal axes), as (torque;
 * force) at the body's internal origin. */
static void to_internal(const lw_pose *world, const double reaction[6], const double at[3], double w[6]) {
    lw_m3_tmul_v(world->R, reaction, w + 3);
    lw_m3_tmul_v(world->R, reaction + 3, w);
    lw_v3_add_cross(at, w + 3, w);
}

/* The point of a joint on its second body, relative to its first body's internal frame. For joints of the
 * tree no world positions are involved, so that the result is accurate far from the origin too. */
static void point_on_first(const lw_balance *b, const lw_joint_entry *entry, double at[3]) {
    const lw_joint_info *info = &entry->info;
    const double *p = entry->frames[1].p;
    double offset[3], x[3];
    if (info->cut) {
        const lw_pose *one = &b->data->world[info->bodies[0]], *two = &b->data->world[info->bodies[1]];
        lw_pose_point(two->R, two->p, p, x);
        lw_v3_sub(x, one->p, offset);
        lw_m3_tmul_v(one->R, offset, at);
        return;
    }
    const lw_body_motion *motion = &b->data->motion[info->child];
    if (!info->reversed) {
        lw_pose_point(motion->R, motion->p, p, at);
        return;
    }
    lw_v3_sub(p, motion->p, offset);
    lw_m3_tmul_v(motion->R, offset, at);
}

static void reach(lw_term_sum *m, double arm) { m->length = fmax(m->length, arm); }

/* Adds a reaction to its two bodies. Arms that are differences of world positions have their rounding. */
static void add_reaction(lw_balance *b, int joint, const double reaction[6]) {
    const lw_joint_entry *entry = &b->model->joints[joint];
    const lw_joint_info *info = &entry->info;
    double at[3], w[6];
    int first = info->bodies[0], second = info->bodies[1];
    to_internal(&b->data->world[second], reaction, entry->frames[1].p, w);
    add_term(&b->sums[second], -1, w, false);
    reach(&b->sums[second], lw_v3_norm(entry->frames[1].p));
    point_on_first(b, entry, at);
    to_internal(&b->data->world[first], reaction, at, w);
    add_term(&b->sums[first], 1, w, false);
    reach(&b->sums[first], lw_v3_norm(at));
    if (info->cut) {
        double far = lw_v3_norm(b->data->world[first].p) + lw_v3_norm(b->data->world[second].p);
        b->sums[first].sum[0] += lw_v3_norm(reaction) * far;
    }
}

/* The force of a constraint's row on its bodies. */
static void add_constraint_force(lw_balance *b, const lw_row *row, double multiplier) {
    for (int k = row->block; k < row->block + row->count; k++) {
        int body = b->rows->body[k];
        const double *h = b->rows->H + 6 * k; /* about the centre of mass, world axes */
        const lw_pose *world = &b->data->world[body];
        double w[6];
        lw_m3_tmul_v(world->R, h, w);
        lw_m3_tmul_v(world->R, h + 3, w + 3);
        lw_v3_add_cross(b->model->bodies[body].com, w + 3, w);
        add_term(&b->sums[body], -multiplier, w, false);
        b->sums[body].sum[0] += fabs(multiplier) * lw_v3_norm(h + 3) * lw_v3_norm(world->p);
    }
}

/* Elements in the joint of a body, and the caller's forces there, are applied forces too: motors that balance
 * each other leave bodies at rest that have no terms of their own. */
static double acting_in_joint(const lw_balance *b, int i) {
    const lw_link *link = &b->model->links[i];
    double size = 0;
    for (int k = 0; k < link->joint.nv; k++) {
        double length = lw_joint_speed_turns(link->joint.type, k) ? b->sums[i].length : 1;
        if (length > 0) size = fmax(size, b->gross[link->v + k] / length);
    }
    return size;
}

/* Finds the lengths of bodies and the largest force; a torque counts as a force at the body's length. Arms
 * due to rounding alone, of a body whose joints meet in its centre of mass, are replaced: otherwise the
 * torques that it transmits would count as unlimited forces. */
static void find_most(lw_balance *b, double accuracy) {
    double longest = 0;
    b->most = b->acting = 0;
    b->noise = fmax(solution_noise, accuracy);
    for (int i = 1; i <= b->model->body_count; i++) longest = fmax(longest, b->sums[i].length);
    /* There are only points: a torque counts by the distances between them. Points of a model that lies
     * turned in its world have arms, too, of rounding alone. */
    if (!(longest > shortest_arm * b->length)) longest = b->extent;
    for (int i = 1; i <= b->model->body_count; i++) {
        lw_term_sum *m = &b->sums[i];
        m->arm = m->length;
        if (!(m->length > shortest_arm * longest)) m->length = longest > 0 ? longest : b->length;
        double all = m->sum[1], own = m->own[1] + m->swirl[1];
        if (m->length > 0) {
            all = fmax(all, m->sum[0] / m->length);
            own = fmax(own, (m->own[0] + m->swirl[0]) / m->length);
        }
        if (!(all <= b->most)) b->most = all, b->strongest = i;
        b->acting = fmax(b->acting, fmax(own, acting_in_joint(b, i)));
    }
    b->floor = b->noise * b->most;
}

/* Rounding of accelerations times inertia. Reactions from inverse dynamics have the rounding of all bodies
 * beyond the joint, and of the forces that act on these (9). */
static void rounding(lw_balance *b) {
    const lw_model *model = b->model;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_rigid_inertia *I = &model->links[i].inertia;
        const double *d = b->digits + 2 * i, moment = lw_v3_norm(I->moment);
        const double *blur = b->blur + model->nv + 2 * i;
        lw_term_sum *m = &b->sums[i];
        m->rounding[0] = (I->second[0] + I->second[1] + I->second[2]) * d[0] + moment * d[1];
        m->rounding[1] = I->mass * d[1] + moment * d[0];
        for (int k = 0; k < 2; k++) m->beyond[k] = m->rounding[k] + blur[k];
    }
    for (int i = model->body_count; i >= 1; i--) {
        const lw_term_sum *m = &b->sums[i];
        const lw_link *link = &model->links[i];
        double *in = b->sums[link->parent].beyond;
        in[0] += m->beyond[0] + lw_v3_norm(b->data->motion[i].p) * m->beyond[1];
        in[1] += m->beyond[1];
        for (int k = 0; k < link->joint.nv; k++) { /* The joint's elements act on the parent. */
            const double *S = b->data->S + 6 * (link->v + k), turn = lw_v3_norm(S);
            in[turn > 0 ? 0 : 1] += b->blur[link->v + k] / (turn > 0 ? turn : lw_v3_norm(S + 3));
        }
    }
}

static void check_body(const lw_balance *b, int i, lw_balance_result *worst) {
    const lw_term_sum *m = &b->sums[i];
    double floor = b->floor;
    note_worst(worst,
               amount_of(lw_v3_norm(m->rest), m->sum[0] + m->length * m->sum[1], m->own[0],
                         floor * m->length + m->rounding[0]),
               LW_BALANCE_BODY, i);
    note_worst(worst, amount_of(lw_v3_norm(m->rest + 3), m->sum[1], m->own[1], floor + m->rounding[1]),
               LW_BALANCE_BODY, i);
}

/* If reactions are out of all proportion to the applied forces, their rounding hides every other error, and
 * the result cannot be confirmed. */
static void check_proportion(const lw_balance *b, lw_balance_result *worst) {
    if (b->acting > 0) {
        double hidden = solution_noise * b->most / b->acting;
        if (!(hidden <= largest_hidden)) note_worst(worst, hidden, LW_BALANCE_BODY, b->strongest);
    }
}

/* --- (2) joints ------------------------------------------------------------------------------------ */

/* A joint of the tree: the wrench that it transmits to its child along S, against elements and tau, of which
 * a rotor takes J vdot (docs/theory/armature.md, 6). Drives of prescribed speeds may transmit anything. */
static void check_tree_joint(const lw_balance *b, int i, const double reaction[6], const double *vdot,
                             lw_balance_result *worst) {
    const lw_model *model = b->model;
    const lw_link *link = &model->links[i];
    int j = model->bodies[i].joint_index;
    const lw_joint_entry *entry = &model->joints[j];
    const lw_term_sum *m = &b->sums[i];
    double at[3], w[6];
    if (entry->info.reversed)
        point_on_first(b, entry, at);
    else
        lw_v3_copy(entry->frames[1].p, at);
    to_internal(&b->data->world[i], reaction, at, w);
    double sign = entry->info.reversed ? -1 : 1;
    for (int k = 0; k < link->joint.nv; k++) {
        if (link->prescribed >> k & 1) continue;
        const double *S = b->data->S + 6 * (link->v + k);
        double turn = lw_v3_norm(S), slide = lw_v3_norm(S + 3);
        double rotor = model->armature ? model->armature[link->v + k] * vdot[link->v + k] : 0;
        double rest = sign * lw_v6_dot(S, w) - (b->data->tau[link->v + k] - rotor);
        double parts = b->gross[link->v + k] + fabs(rotor);
        double sum = turn * (lw_v3_norm(w) + m->length * lw_v3_norm(w + 3)) + slide * lw_v3_norm(w + 3) +
                     parts + b->given_gross[link->v + k];
        double own = turn * m->own[0] + slide * m->own[1] + parts;
        double floor = b->floor * (turn * m->length + slide) + turn * m->beyond[0] + slide * m->beyond[1] +
                       b->blur[link->v + k];
        note_worst(worst, amount_of(rest, sum, own, floor), LW_BALANCE_JOINT, j);
    }
}

/* A joint that closes a loop: apart from its elements it transmits the forces of its rows, and nothing along
 * S. */
static void check_cut_joint(const lw_balance *b, int closure, const double reaction[6],
                            lw_balance_result *worst) {
    const lw_model *model = b->model;
    int j = model->closures[closure];
    const lw_joint_entry *entry = &model->joints[j];
    const lw_joint_state *state = &b->rows->joints[j];
    const lw_pose *world = &b->data->world[entry->info.bodies[1]];
    const double *load = b->data->cut_load + 6 * closure;
    double frame[9], R[9], p[3], S[6 * LW_JOINT_MAX_V], wrench[6], elements[6];
    lw_joint_motion(&entry->joint, state->q, NULL, R, p, S, NULL);
    lw_m3_mul(world->R, entry->frames[1].R, frame);
    lw_m3_tmul_v(frame, reaction + 3, wrench);
    lw_m3_tmul_v(frame, reaction, wrench + 3);
    lw_m3_tmul_v(frame, load, elements);
    lw_m3_tmul_v(frame, load + 3, elements + 3);
    const lw_term_sum *one = &b->sums[entry->info.bodies[0]], *two = &b->sums[entry->info.bodies[1]];
    for (int k = 0; k < entry->joint.nv; k++) {
        const double *s = S + 6 * k;
        double turn = lw_v3_norm(s), slide = lw_v3_norm(s + 3), along = lw_v6_dot(s, elements);
        double rest = lw_v6_dot(s, wrench) - along;
        double sum = turn * lw_v3_norm(wrench) + slide * lw_v3_norm(wrench + 3) + fabs(along);
        double own =
            fabs(along) + turn * fmin(one->own[0], two->own[0]) + slide * fmin(one->own[1], two->own[1]);
        double floor = b->floor * (turn * fmax(one->length, two->length) + slide);
        note_worst(worst, amount_of(rest, sum, own, floor), LW_BALANCE_JOINT, j);
    }
}

/* --- (3) rows, (4) speeds --------------------------------------------------------------------------- */

static const double speed_rounding = 1e-9; /* Rounding of speeds that satisfy badly conditioned loops. */
/* The largest amplification of the loops' violation by the geometry of the rows. */
static const double magnified = 100;

/* The change of a row when the mechanism moves by one radian: a row of lengths counts by the length of the
 * mechanism. */
static double unit_of(const lw_balance *b, int row) {
    const lw_row *r = &b->rows->rows[row];
    double unit = 0;
    for (int k = r->block; k < r->block + r->count; k++) {
        const double *h = b->rows->H + 6 * k;
        unit = fmax(unit, lw_v3_norm(h) + b->length * lw_v3_norm(h + 3));
    }
    return unit > 0 ? unit : 1;
}

/* Violation of the loops: positions relative to lengths, and speeds; and the largest speed. The latter two in
 * radians per second or lengths of the mechanism per second. */
typedef struct lw_loop_violation {
    double gap, defect, speed;
} lw_loop_violation;

static void measure_violation(const lw_balance *b, lw_loop_violation *open) {
    const lw_rows *rows = b->rows;
    for (int i = 0; i < 6 * b->model->body_count; i++)
        open->speed = fmax(open->speed, fabs(b->V[i]) / (i % 6 < 3 ? 1 : b->length));
    for (int r = 0; r < rows->count; r++) {
        double unit = unit_of(b, r);
        open->gap = fmax(open->gap, fabs(rows->phi[r]) / unit);
        open->defect = fmax(open->defect, fabs(b->slack[r]) / unit);
    }
}

/* In equilibrium, accelerations are the rounding, or the accuracy of the method, of those that the forces on
 * a body would cause one by one: angular and linear. A body much lighter than others, or nearly without
 * inertia, moves as the others let it. */
static void unbalanced(const lw_balance *b, int body, double size[2]) {
    const double part = 1e-6; /* Relative to the heaviest body. */
    const lw_rigid_inertia *I = &b->model->links[body].inertia;
    const lw_term_sum *m = &b->sums[body];
    double least = part * b->heaviest, mass = fmax(I->mass, least);
    double moment = fmax(I->second[0] + I->second[1] + I->second[2], least * b->length * b->length);
    size[0] = moment > 0 ? (m->sum[0] + m->length * m->sum[1]) / moment : 0;
    size[1] = mass > 0 ? m->sum[1] / mass : 0;
}

/* The same in a row. */
static double unbalanced_row(const lw_balance *b, const lw_row *row) {
    double sum = 0, size[2];
    for (int k = row->block; k < row->block + row->count; k++) {
        const double *h = b->rows->H + 6 * k;
        unbalanced(b, b->rows->body[k], size);
        sum += lw_v3_norm(h) * size[0] + lw_v3_norm(h + 3) * size[1];
    }
    return sum;
}

/* The largest acceleration of a body, in radians or lengths of the mechanism per second squared. */
static double fastest_acceleration(const lw_balance *b) {
    double fastest = 0;
    for (int i = 0; i < 6 * b->model->body_count; i++)
        fastest = fmax(fastest, fabs(b->a[i]) / (i % 6 < 3 ? 1 : b->length));
    return fastest;
}

/* Contradictory rows, as those of an overconstrained loop that is slightly open, cannot all be satisfied. Let
 * combinations c'H of them vanish on closed loops. An open position contributes its share of all terms; and
 * d/dt (c'H) v = 0 gives c'gamma = (dc/dt)'(Hv), which is the speed times the velocity violation. Baumgarte's
 * terms contradict each other directly (6). These terms are not relative to the speeds: at rest the speeds
 * are rounding, and so is their violation. */
static void check_rows(const lw_balance *b, const lw_balance_state *s, const lw_loop_violation *open,
                       lw_balance_result *worst) {
    const lw_rows *rows = b->rows;
    const double fastest = fastest_acceleration(b);
    /* In 1/s^2. */
    const double contradicts = (open->speed + 2 * s->alpha) * open->defect + s->beta * s->beta * open->gap;
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        double wanted = rows->gamma[r] - 2 * s->alpha * b->slack[r] - s->beta * s->beta * rows->phi[r];
        double rest = -wanted, sum = fabs(wanted) + fabs(rows->gamma[r]);
        for (int k = row->block; k < row->block + row->count; k++) {
            const double *h = rows->H + 6 * k, *a = b->a + 6 * (rows->body[k] - 1);
            rest += lw_v6_dot(h, a);
            sum += lw_v3_norm(h) * lw_v3_norm(a) + lw_v3_norm(h + 3) * lw_v3_norm(a + 3);
        }
        if (row->constraint >= 0 && b->model->constraints[row->constraint].curves) {
            double terms, again = lw_balance_curve(b, s, &b->model->constraints[row->constraint], &terms);
            if (!(fabs(again) <= fabs(rest))) rest = again;
            sum = fmax(sum, terms);
        }
        double unit = unit_of(b, r);
        double excuse = magnified * (open->gap * (sum + unit * fastest) + unit * contradicts);
        double excused = fmax(0, fabs(rest) - excuse);
        bool closure = row->joint >= 0;
        note_worst(worst,
                   amount_of(isfinite(rest) ? excused : rest, sum, sum,
                             b->noise * (unit * fastest + unbalanced_row(b, row))),
                   closure ? LW_BALANCE_CLOSURE : LW_BALANCE_CONSTRAINT,
                   closure ? row->joint : row->constraint);
    }
}

/* A method may make the speeds consistent with the loops, but must not answer for another state. */
static void check_speeds(const lw_balance *b, const lw_balance_state *s, const lw_loop_violation *open,
                         lw_balance_result *worst) {
    const lw_model *model = b->model;
    double moved = 0, fastest = 0;
    int joint = -1;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = 0; k < link->joint.nv; k++) {
            if (link->prescribed >> k & 1) continue;
            bool turns = lw_joint_speed_turns(link->joint.type, k);
            double unit = turns ? 1 : b->length;
            double change = fabs(s->speeds[link->v + k] - s->v[link->v + k]) / unit;
            fastest = fmax(fastest, fmax(fabs(s->v[link->v + k]), fabs(s->speeds[link->v + k])) / unit);
            if (change > moved) moved = change, joint = model->bodies[i].joint_index;
        }
    }
    double excess = moved - magnified * (open->gap * fastest + open->defect) - speed_rounding * fastest;
    if (joint >= 0 && excess > 0) note_worst(worst, excess / fastest, LW_BALANCE_SPEED, joint);
}

/* Where speeds of bodies without mass follow from the forces, the change of speeds must move no mass. before:
 * 6 per body, the momenta of the given state at the internal origin. */
static void check_momenta(const lw_balance *b, const double *before, const lw_loop_violation *open,
                          lw_balance_result *worst) {
    const lw_model *model = b->model;
    double size = 0, moved = 0, fastest = open->speed;
    int body = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const double *p = before + 6 * i;
        double now[6], change[6];
        lw_rigid_mul(&model->links[i].inertia, b->data->motion[i].V, now);
        for (int k = 0; k < 6; k++) change[k] = now[k] - p[k];
        double by = fmax(lw_v3_norm(change) / b->length, lw_v3_norm(change + 3));
        size = fmax(size, fmax(lw_v3_norm(now), lw_v3_norm(p)) / b->length);
        size = fmax(size, fmax(lw_v3_norm(now + 3), lw_v3_norm(p + 3)));
        if (by > moved) moved = by, body = i;
        const double *V = b->data->motion[i].V;
        fastest = fmax(fastest, fmax(lw_v3_norm(V), lw_v3_norm(V + 3) / b->length));
    }
    double drawn = magnified * (open->gap * open->speed + open->defect) + speed_rounding * fastest;
    double excess = moved - b->heaviest * b->length * drawn;
    if (body && excess > 0)
        note_worst(worst, excess / size, LW_BALANCE_SPEED, model->bodies[body].joint_index);
}

/* The speeds to which the accelerations belong must satisfy the loops as well as the given speeds did;
 * otherwise they would excuse errors of the accelerations. given: the violation at the given speeds. */
static void check_defects(const lw_balance *b, const lw_loop_violation *given, const lw_loop_violation *open,
                          lw_balance_result *worst) {
    const lw_rows *rows = b->rows;
    const double fastest = fmax(given->speed, open->speed);
    const double allowed = given->defect + (magnified * given->gap + speed_rounding) * fastest;
    for (int r = 0; r < rows->count; r++) {
        double excess = fabs(b->slack[r]) / unit_of(b, r) - allowed;
        if (excess <= 0) continue;
        bool closure = rows->rows[r].joint >= 0;
        note_worst(worst, excess / fastest, closure ? LW_BALANCE_SPEED : LW_BALANCE_CONSTRAINT,
                   closure ? rows->rows[r].joint : rows->rows[r].constraint);
    }
}

/* A method that computes accelerations of bodies obtains those of joints from them, with their rounding, and
 * with that of the solution of all equations: a motor at constant speed has no acceleration of its own. */
static void check_drives(const lw_balance *b, const double *vdot, lw_balance_result *worst) {
    const lw_model *model = b->model;
    const double fastest = model->motion_count ? fastest_acceleration(b) : 0;
    for (int k = 0; k < model->motion_count; k++) {
        const lw_motion *motion = &model->motions[k];
        int first = model->links[motion->body].v + motion->speed;
        const double *digits = b->digits + 2 * motion->body;
        double own[2], before[2] = {0}, noise[2];
        unbalanced(b, motion->body, own);
        if (model->links[motion->body].parent > 0) unbalanced(b, model->links[motion->body].parent, before);
        for (int c = 0; c < 2; c++)
            noise[c] = digits[c] + b->noise * (fastest * (c ? b->length : 1) + own[c] + before[c]);
        for (int v = first; v < first + motion->count; v++) {
            double size = fabs(vdot[v]) + fabs(b->data->vdot[v]), *S = b->data->S + 6 * v;
            double turn = lw_v3_dot(S, S), slide = lw_v3_dot(S + 3, S + 3);
            double floor = fmax(turn > 0 ? noise[0] / sqrt(turn) : 0, slide > 0 ? noise[1] / sqrt(slide) : 0);
            note_worst(worst, amount_of(vdot[v] - b->data->vdot[v], size, size, floor), LW_BALANCE_DRIVE,
                       model->bodies[motion->body].joint_index);
        }
    }
}

/* --- the whole check -------------------------------------------------------------------------------- */

/* Poses, velocities, rows and the velocity violation, at given speeds. */
static void move(lw_balance *b, const lw_balance_state *s, const double *speeds) {
    lw_data_set_values(b->model, b->data, s->inputs, s->states);
    lw_take_state(b->model, b->data, s->t, s->q, speeds);
    lw_velocities(b->model, b->data);
    lw_world_poses(b->model, b->data);
    if (!b->rows->count) return;
    lw_rows_evaluate(b->model, b->data, false, b->rows);
    lw_rows_velocities(b->model, b->rows, b->V);
    lw_rows_transposed(b->rows, b->V, b->slack);
    for (int r = 0; r < b->rows->count; r++) b->slack[r] -= b->rows->rate[r];
}

/* Evaluates the elements one by one: their parts may cancel, as those of a spring and its damper do at a body
 * without mass, and the sum is then no more accurate than the rounding of the parts. */
static void evaluate_elements(lw_balance *b, const lw_balance_state *s) {
    const lw_model *model = b->model;
    lw_data *data = b->data;
    lw_data_hold(data, s->hold);
    lw_forces_clear(model, data, s->t);
    memset(b->gross, 0, (size_t)model->nv * sizeof *b->gross);
    for (int k = 0; k < model->force_count; k++) {
        lw_forces_add(model, data, k, k + 1, s->t, false);
        memcpy(b->parts + 2 * k, data->gross, sizeof data->gross);
        if (lw_force_in_joint(&model->forces[k])) b->gross[model->forces[k].v] += data->gross[0];
    }
    for (int k = 0; s->tau && k < model->nv; k++) {
        data->tau[k] += s->tau[k];
        b->gross[k] += fabs(s->tau[k]);
    }
}

/* The parts of an element count among the own terms of its bodies. */
static void add_element_parts(lw_balance *b, int element) {
    const lw_force *force = &b->model->forces[element];
    const double *parts = b->parts + 2 * element;
    if (lw_force_in_joint(force)) return;
    const int *bodies = force->closure >= 0 ? b->model->joints[b->model->closures[force->closure]].info.bodies
                                            : force->bodies;
    for (int side = 0; side < 2; side++) {
        lw_term_sum *m = &b->sums[bodies[side]];
        for (int k = 0; k < 2; k++) m->sum[k] += parts[k], m->own[k] += parts[k];
    }
}

/* All terms of the bodies: their own, reactions, constraint forces. */
static void add_all_terms(lw_balance *b, const lw_balance_state *s) {
    const lw_model *model = b->model;
    accelerate(b, s->vdot);
    accelerate_centres(b);
    evaluate_elements(b, s);
    for (int i = 1; i <= model->body_count; i++) add_own_terms(b, i);
    for (int k = 0; k < model->force_count; k++) add_element_parts(b, k);
    for (int j = 0; j < model->joint_count; j++)
        if (!model->joints[j].info.cut) add_reaction(b, j, s->reactions + 6 * j);
    /* The elements of a cut joint are among the loads of the bodies. */
    for (int k = 0; k < model->closure_count; k++) {
        const double *reaction = s->reactions + 6 * model->closures[k], *load = b->data->cut_load + 6 * k;
        double rest[6];
        lw_v3_sub(reaction, load + 3, rest);
        lw_v3_sub(reaction + 3, load, rest + 3);
        add_reaction(b, model->closures[k], rest);
    }
    for (int r = 0, next = 0; r < b->rows->count; r++)
        if (b->rows->rows[r].kind == LW_ROW_CONSTRAINT)
            add_constraint_force(b, &b->rows->rows[r], s->multipliers[next++]);
    find_most(b, s->accuracy);
    rounding(b);
}

lw_balance_result lw_balance_check(lw_balance *b, const lw_balance_state *s) {
    const lw_model *model = b->model;
    lw_balance_result worst = {0};
    lw_loop_violation given = {0}, open = {0};
    bool other = memcmp(s->speeds, s->v, (size_t)model->nv * sizeof *s->v) != 0;
    memset(b->given_gross, 0, (size_t)model->nv * sizeof *b->given_gross);
    if (other) {
        move(b, s, s->v);
        measure_violation(b, &given);
        open = given;
        if (!s->free_speeds) check_speeds(b, s, &given, &worst);
        evaluate_elements(b, s);
        memcpy(b->given_gross, b->gross, (size_t)model->nv * sizeof *b->gross);
        for (int i = 1; i <= model->body_count; i++) /* A is still unused. */
            lw_rigid_mul(&model->links[i].inertia, b->data->motion[i].V, b->A + 6 * i);
    }
    lw_balance_blur(b, s);
    move(b, s, s->speeds);
    if (other && s->free_speeds) check_momenta(b, b->A, &given, &worst);
    add_all_terms(b, s);
    check_proportion(b, &worst);
    for (int i = 1; i <= model->body_count; i++) check_body(b, i, &worst);
    for (int i = 1; i <= model->body_count; i++)
        check_tree_joint(b, i, s->reactions + 6 * model->bodies[i].joint_index, s->vdot, &worst);
    for (int k = 0; k < model->closure_count; k++)
        check_cut_joint(b, k, s->reactions + 6 * model->closures[k], &worst);
    if (b->rows->count) {
        measure_violation(b, &open);
        if (other) check_defects(b, &given, &open, &worst);
        check_rows(b, s, &open, &worst);
    }
    check_drives(b, s->vdot, &worst);
    return worst;
}

double lw_balance_effort(const lw_balance *b) { return b->most * b->length; }

/* --- messages ---------------------------------------------------------------------------------------- */

lw_status lw_balance_verdict(const lw_model *model, const lw_balance_result *result, double enough,
                             const char *method, double t, lw_error *error) {
    if (result->amount <= enough) return LW_OK;
    lw_place place = {0, 0};
    const char *kind = NULL, *name = NULL, *what = "";
    switch (result->object) {
    case LW_BALANCE_BODY:
        place = model->bodies[result->index].place;
        kind = "body", name = model->bodies[result->index].name;
        what = "forces and accelerations do not balance at it";
        break;
    case LW_BALANCE_JOINT:
        place = model->joints[result->index].place;
        kind = "joint", name = model->joints[result->index].name;
        what = "along its free directions it does not transmit the applied forces";
        break;
    case LW_BALANCE_CLOSURE:
        place = model->joints[result->index].place;
        kind = "joint", name = model->joints[result->index].name;
        what = "the accelerations do not keep the loop closed that it closes";
        break;
    case LW_BALANCE_DRIVE:
        place = model->joints[result->index].place;
        kind = "joint", name = model->joints[result->index].name;
        what = "it does not accelerate as its motion prescribes";
        break;
    case LW_BALANCE_SPEED:
        place = model->joints[result->index].place;
        kind = "joint", name = model->joints[result->index].name;
        what = "the accelerations belong to other speeds than those of the state";
        break;
    case LW_BALANCE_CONSTRAINT:
        place = model->constraints[result->index].place;
        kind = "constraint", name = model->constraints[result->index].name;
        what = "the accelerations do not keep it";
        break;
    case LW_BALANCE_NOWHERE:
        break;
    }
    if (!isfinite(result->amount))
        return lw_fail_at(
            error, LW_ERROR_SINGULAR, model->file, place, kind, name,
            "look at the forces and motions that act there: is one infinite, or of absurd size?",
            "method %s: forces or accelerations at t = %.9g are not finite", method, t);
    return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, place, kind, name, NULL,
                      "method %s at t = %.9g: %s (%.2g of the terms that act there)", method, t, what,
                      result->amount);
}
