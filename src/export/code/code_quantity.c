/* code_quantity.c - the quantities of a state that expressions read, as nodes: those of kinematics.
 *
 * Formulas and symbols as in model/quantity/quantity_value.c.
 */
#include "export/code/code_closures.h"
#include "model/quantity/quantity.h"

void code_numbers3(code_graph *g, const double x[3], double scale, code_node out[3]) {
    for (int k = 0; k < 3; k++) out[k] = code_number(g, x[k], scale);
}

static void numbers9(code_graph *g, const double R[9], code_node out[9]) {
    for (int k = 0; k < 9; k++) out[k] = code_number(g, R[k], 1);
}

void code_point(code_build *b, int body, const code_node at[3], code_node x[3], code_node xdot[3]) {
    code_graph *g = b->g;
    const code_body *own = &b->bodies[body];
    code_node local[3];
    code_pose_point(g, own->R, own->p, at, x);
    code3_copy(own->V + 3, local);
    code3_add_cross(g, own->V, at, local);
    code3_turn(g, own->R, local, xdot);
}

static void body_rotation(code_build *b, int body, int marker, code_node R[9]) {
    code_node axes[9];
    numbers9(b->g, lw_marker_axes(b->model, body, marker), axes);
    code33_mul(b->g, b->bodies[body].R, axes, R);
}

void code_quaternion_of(code_graph *g, const code_node R[9], code_node q[4]) {
    /* 4 q_k^2 of all four components; the largest one is divided by. */
    const code_node unit = code_constant(g, 1), half = code_constant(g, 0.5);
    code_node size[4], all[4][4];
    for (int k = 0; k < 4; k++) {
        code_node sum = unit;
        for (int i = 0; i < 3; i++)
            sum = k == 0 || k == 1 + i ? code_add(g, sum, R[4 * i]) : code_sub(g, sum, R[4 * i]);
        size[k] = sum;
    }
    const code_node across[3] = {code_sub(g, R[7], R[5]), code_sub(g, R[2], R[6]), code_sub(g, R[3], R[1])};
    const code_node along[3] = {code_add(g, R[7], R[5]), code_add(g, R[2], R[6]), code_add(g, R[3], R[1])};
    for (int k = 0; k < 4; k++) {
        const code_node root = code_make(g, CODE_SQRT, size[k], 0, 0), s = code_div(g, half, root);
        for (int i = 0; i < 4; i++) {
            code_node x = 0; /* 4 q_k q_i */
            if (i == k)
                all[k][i] = code_mul(g, half, root);
            else {
                if (k == 0) x = across[i - 1];
                if (i == 0) x = across[k - 1];
                if (k > 0 && i > 0) x = along[6 - k - i - 1];
                all[k][i] = code_mul(g, s, x);
            }
        }
    }
    /* the largest of the four, and w where it is positive */
    code_node best = size[0];
    for (int i = 0; i < 4; i++) q[i] = all[0][i];
    for (int k = 1; k < 4; k++) {
        const code_node larger = code_make(g, CODE_LESS, best, size[k], 0);
        best = code_select(g, larger, size[k], best);
        for (int i = 0; i < 4; i++) q[i] = code_select(g, larger, all[k][i], q[i]);
    }
}

static void momentum_of(code_build *b, int body, int marker, code_node out[6]) {
    code_graph *g = b->g;
    const lw_rigid_inertia I = lw_member_inertia(b->model, body, marker);
    const code_body *own = &b->bodies[body];
    code_node h[3], J[6], n[3], f[3], t[3];
    const code_node mass = code_number(g, I.mass, 0);
    code_numbers3(g, I.moment, I.mass, h);
    for (int k = 0; k < 6; k++) J[k] = code_number(g, I.second[k], 0);
    code_sym_mul(g, J, own->V, n);
    code3_add_cross(g, h, own->V + 3, n);
    code3_cross(g, own->V, h, f);
    code3_scale(g, mass, own->V + 3, t);
    code3_add(g, f, t, f);
    code3_turn(g, own->R, f, out);
    code3_turn(g, own->R, n, out + 3);
    code3_add_cross(g, own->p, out, out + 3);
}

static void total_momentum(code_build *b, code_node out[9]) {
    code_graph *g = b->g;
    double mass = b->model->fixed_mass;
    code_node centre[3];
    code_numbers3(g, b->model->fixed_moment, 0, centre);
    for (int k = 0; k < 6; k++) out[k] = 0;
    for (int i = 1; i <= b->model->body_count; i++) {
        code_node own[6], c[3], at[3];
        const double m = b->model->links[i].inertia.mass;
        momentum_of(b, i, 0, own);
        for (int k = 0; k < 6; k++) out[k] = code_add(g, out[k], own[k]);
        code_numbers3(g, b->model->bodies[i].com, 1, at);
        code_pose_point(g, b->bodies[i].R, b->bodies[i].p, at, c);
        code3_add_scaled(g, code_number(g, m, 0), c, centre);
        mass += m;
    }
    const code_node inv = mass > 0 ? code_div(g, code_constant(g, -1), code_number(g, mass, 0)) : 0;
    code3_scale(g, inv, centre, centre);
    code3_copy(out + 3, out + 6);
    code3_add_cross(g, centre, out, out + 6);
}

static code_node kinetic_energy(code_build *b) {
    code_graph *g = b->g;
    const code_node half = code_constant(g, 0.5);
    code_node energy = 0;
    for (int i = 1; i <= b->model->body_count; i++) {
        const code_body *own = &b->bodies[i];
        code_node n[3], f[3], t[3];
        code_sym_mul(g, own->true_second, own->V, n);
        code3_add_cross(g, own->moment, own->V + 3, n);
        code3_cross(g, own->V, own->moment, f);
        code3_scale(g, own->mass, own->V + 3, t);
        code3_add(g, f, t, f);
        energy = code_add(g, energy, code_add(g, code3_dot(g, own->V, n), code3_dot(g, own->V + 3, f)));
    }
    for (int k = 0; k < b->model->nv; k++)
        energy = code_add(g, energy, code_mul(g, b->armature[k], code_mul(g, b->v[k], b->v[k])));
    return code_mul(g, half, energy);
}

static void distance(code_build *b, const int bodies[2], const double *const at[2], code_node *out) {
    code_graph *g = b->g;
    code_node x[2][3], v[2][3], place[3], line[3], rate[3];
    for (int k = 0; k < 2; k++) {
        code_numbers3(g, at[k], 1, place);
        code_point(b, bodies[k], place, x[k], v[k]);
    }
    code3_sub(g, x[1], x[0], line);
    code3_sub(g, v[1], v[0], rate);
    out[0] = code3_norm(g, line);
    out[1] = code_select(g, code_make(g, CODE_LESS, 0, out[0], 0),
                         code_div(g, code3_dot(g, line, rate), out[0]), code3_norm(g, rate));
}

static bool vector_of(code_build *b, const lw_state_quantity *quantity, code_node *out) {
    code_graph *g = b->g;
    const lw_model *model = b->model;
    const int object = quantity->object;
    code_node R[9], at[3], x[3], xdot[3];
    switch (quantity->kind) {
    case LW_Q_TIME:
        out[0] = b->t;
        return true;
    case LW_Q_COORDINATE:
    case LW_Q_SPEED: {
        const lw_joint_info *info = &model->joints[object].info;
        const bool place = quantity->kind == LW_Q_COORDINATE;
        if (info->cut) {
            code_node q[LW_JOINT_MAX_Q] = {0}, v[LW_JOINT_MAX_V] = {0};
            if (!code_cut_joint(b, object, q, v)) return false;
            for (int k = 0; k < model->joints[object].joint.nv; k++) out[k] = place ? q[k] : v[k];
            return true;
        }
        for (int k = 0; k < (place ? info->q_count : info->v_count); k++)
            out[k] = place ? b->q[info->q + k] : b->v[info->v + k];
        return true;
    }
    case LW_Q_POSITION:
    case LW_Q_COM:
    case LW_Q_POINT:
    case LW_Q_VELOCITY:
    case LW_Q_COM_VELOCITY:
    case LW_Q_POINT_VELOCITY: {
        const bool place =
            quantity->kind == LW_Q_POSITION || quantity->kind == LW_Q_COM || quantity->kind == LW_Q_POINT;
        code_numbers3(g, quantity->at[0], 1, at);
        code_point(b, object, at, x, xdot);
        code3_copy(place ? x : xdot, out);
        return true;
    }
    case LW_Q_ROTATION:
        body_rotation(b, object, quantity->marker[0], R);
        code_quaternion_of(g, R, out);
        return true;
    case LW_Q_CARDAN: {
        body_rotation(b, object, quantity->marker[0], R);
        out[0] = code_make(g, CODE_ATAN2, code_neg(g, R[5]), R[8], 0);
        const code_node s = code_make(g, CODE_SIN, out[0], 0, 0), c = code_make(g, CODE_COS, out[0], 0, 0);
        out[1] = code_make(g, CODE_ATAN2, R[2], code_sub(g, code_mul(g, c, R[8]), code_mul(g, s, R[5])), 0);
        out[2] = code_make(g, CODE_ATAN2, code_add(g, code_mul(g, c, R[3]), code_mul(g, s, R[6])),
                           code_add(g, code_mul(g, c, R[4]), code_mul(g, s, R[7])), 0);
        return true;
    }
    case LW_Q_SPIN:
        code3_turn(g, b->bodies[object].R, b->bodies[object].V, out);
        return true;
    case LW_Q_MOMENTUM: {
        momentum_of(b, object, quantity->marker[0], out);
        code_numbers3(g, quantity->at[0], 1, at);
        code_pose_point(g, b->bodies[object].R, b->bodies[object].p, at, x);
        for (int k = 0; k < 3; k++) x[k] = code_neg(g, x[k]);
        code3_copy(out + 3, out + 6);
        code3_add_cross(g, x, out, out + 6);
        return true;
    }
    case LW_Q_DISTANCE: {
        const int bodies[2] = {object, quantity->other};
        const double *const ends[2] = {quantity->at[0], quantity->at[1]};
        distance(b, bodies, ends, out);
        return true;
    }
    case LW_Q_ELEMENT: {
        const lw_force *force = &model->forces[object];
        const double *const ends[2] = {force->frames[0].p, force->frames[1].p};
        if (force->type == LW_FORCE_CONTACT) return false;
        if (force->closure >= 0) {
            code_node q[LW_JOINT_MAX_Q] = {0}, v[LW_JOINT_MAX_V] = {0};
            if (!code_cut_joint(b, model->closures[force->closure], q, v)) return false;
            out[0] = force->q >= 0 ? q[force->q] : 0;
            out[1] = v[force->v];
        } else if (force->type == LW_FORCE_SPRING)
            distance(b, force->bodies, ends, out);
        else {
            out[0] = force->q >= 0 ? b->q[force->q] : 0;
            out[1] = b->v[force->v];
        }
        return true;
    }
    case LW_Q_TOTAL_MOMENTUM:
        total_momentum(b, out);
        return true;
    case LW_Q_ENERGY:
        if (quantity->component != 0) return false;
        out[0] = kinetic_energy(b);
        return true;
    default:
        return false;
    }
}

code_node code_quantity(code_build *b, const lw_state_quantity *quantity) {
    code_graph *g = b->g;
    code_node out[LW_QUANTITY_COMPONENTS] = {0};
    if (!vector_of(b, quantity, out)) {
        char name[LW_QUANTITY_NAME];
        lw_quantity_print(b->model, quantity, name);
        code_refuse(b, name, "an expression reads a quantity that generated code does not compute");
        return 0;
    }
    const bool turned = quantity->kind != LW_Q_ENERGY && quantity->kind != LW_Q_COORDINATE &&
                        (quantity->axes > 0 || quantity->axes_marker > 0);
    if (turned) {
        code_node R[9], own[3];
        body_rotation(b, quantity->axes, quantity->axes_marker, R);
        for (int k = 0; k < (quantity->kind == LW_Q_MOMENTUM ? 3 : 1); k++) {
            code3_turn_back(g, R, out + 3 * k, own);
            code3_copy(own, out + 3 * k);
        }
    }
    return out[quantity->component];
}
