/* code_forces.c - force elements as nodes: loads on bodies, forces on coordinates.
 *
 * Source   docs/theory/tree.md, section "Force elements"; formulas and signs as in model/force.c.
 */
#include "export/code/code_closures.h"

static void numbers9(code_graph *g, const double R[9], code_node out[9]) {
    for (int k = 0; k < 9; k++) out[k] = code_number(g, R[k], 1);
}

/* Adds a force at a world point and a torque, in world axes, to a body. */
static void load_body(code_build *b, int body, const code_node at[3], const code_node force[3],
                      const code_node torque[3]) {
    code_graph *g = b->g;
    code_body *own = &b->bodies[body];
    code_node arm[3], n[3], local[3];
    if (body == 0) return;
    code3_sub(g, at, own->p, arm);
    code3_cross(g, arm, force, n);
    code3_add(g, n, torque, n);
    code3_turn_back(g, own->R, n, local);
    code3_add(g, own->load, local, own->load);
    code3_turn_back(g, own->R, force, local);
    code3_add(g, own->load + 3, local, own->load + 3);
}

static code_node tension(code_build *b, const lw_force *force, code_node x, code_node v) {
    code_graph *g = b->g;
    code_node total = code_add(g, code_mul(g, code_number(g, force->stiffness, 0), x),
                               code_mul(g, code_number(g, force->damping, 0), v));
    const code_node variables[3] = {x, v, b->t};
    return force->law ? code_add(g, total, code_function(b, force->law, variables)) : total;
}

static void spring(code_build *b, const lw_force *force) {
    code_graph *g = b->g;
    code_node at[2][3], x[2][3], v[2][3], line[3], rate[3], unit[3];
    for (int k = 0; k < 2; k++) {
        code_numbers3(g, force->frames[k].p, 1, at[k]);
        code_point(b, force->bodies[k], at[k], x[k], v[k]);
    }
    code3_sub(g, x[1], x[0], line);
    code3_sub(g, v[1], v[0], rate);
    const code_node length = code3_norm(g, line), one = code_constant(g, 1);
    /* The line between coinciding points has no direction, and the spring no force. */
    const code_node inverse =
        code_select(g, code_make(g, CODE_LESS, 0, length, 0), code_div(g, one, length), 0);
    code3_scale(g, inverse, line, unit);
    const code_node xdot = code3_dot(g, unit, rate),
                    pull =
                        tension(b, force, code_sub(g, length, code_number(g, force->free_length, 0)), xdot);
    for (int k = 0; k < 2; k++) {
        code_body *own = &b->bodies[force->bodies[k]];
        code_node local[3], torque[3], f[3];
        if (force->bodies[k] == 0) continue;
        code3_scale(g, k == 0 ? pull : code_neg(g, pull), unit, f);
        code3_turn_back(g, own->R, f, local);
        code3_cross(g, at[k], local, torque);
        code3_add(g, own->load, torque, own->load);
        code3_add(g, own->load + 3, local, own->load + 3);
    }
}

/* Inverse transpose of the right Jacobian of SO(3) on x; see model/force.c. */
static void jacobian(code_graph *g, const code_node phi[3], const code_node x[3], code_node out[3]) {
    const code_node a2 = code3_dot(g, phi, phi), a = code_make(g, CODE_SQRT, a2, 0, 0),
                    half = code_constant(g, 0.5), one = code_constant(g, 1);
    code_node first[3], second[3];
    const code_node series =
        code_add(g, code_constant(g, 1.0 / 12),
                 code_add(g, code_mul(g, code_constant(g, 1.0 / 720), a2),
                          code_mul(g, code_constant(g, 1.0 / 30240), code_mul(g, a2, a2))));
    const code_node tangent = code_make(g, CODE_TAN, code_mul(g, half, a), 0, 0);
    const code_node closed = code_sub(g, code_div(g, one, a2), code_div(g, half, code_mul(g, a, tangent)));
    const code_node factor =
        code_select(g, code_make(g, CODE_LESS, a, code_constant(g, 1e-2), 0), series, closed);
    code3_cross(g, phi, x, first);
    code3_cross(g, phi, first, second);
    for (int k = 0; k < 3; k++)
        out[k] = code_add(g, code_sub(g, x[k], code_mul(g, half, first[k])), code_mul(g, factor, second[k]));
}

/* The rotation vector of a rotation. */
static void rotation_vector(code_graph *g, const code_node R[9], code_node phi[3]) {
    code_node q[4];
    const code_node two = code_constant(g, 2);
    code_quaternion_of(g, R, q);
    const code_node negative = code_make(g, CODE_LESS, q[0], 0, 0),
                    w = code_select(g, negative, code_neg(g, q[0]), q[0]), n = code3_norm(g, q + 1);
    const code_node turning = code_make(g, CODE_LESS, code_mul(g, code_constant(g, 1e-8), w), n, 0);
    const code_node s = code_select(
        g, turning, code_div(g, code_mul(g, two, code_make(g, CODE_ATAN2, n, w, 0)), n), code_div(g, two, w));
    code3_scale(g, code_select(g, negative, code_neg(g, s), s), q + 1, phi);
}

static void bushing(code_build *b, const lw_force *force) {
    code_graph *g = b->g;
    const code_body *one = &b->bodies[force->bodies[0]], *two = &b->bodies[force->bodies[1]];
    code_node at[3], axes[9], Ra[9], Rb[9], R[9], a[3], va[3], end[3], vb[3], wa[3], wb[3], w[3];
    code_node gap[3], rate[3], d[3], d_dot[3], turn[3], phi[3], f[3], damp[3], pull[3], torque[3], part[3];
    code_numbers3(g, force->frames[0].p, 1, at);
    code_point(b, force->bodies[0], at, a, va);
    code_numbers3(g, force->frames[1].p, 1, at);
    code_point(b, force->bodies[1], at, end, vb);
    numbers9(g, force->frames[0].R, axes);
    code33_mul(g, one->R, axes, Ra);
    numbers9(g, force->frames[1].R, axes);
    code33_mul(g, two->R, axes, Rb);
    code33_tmul(g, Ra, Rb, R);
    code3_turn(g, one->R, one->V, wa);
    code3_turn(g, two->R, two->V, wb);
    code3_sub(g, end, a, gap);
    code3_sub(g, vb, va, rate);
    code3_cross(g, wa, gap, part); /* The first frame rotates. */
    code3_sub(g, rate, part, rate);
    code3_sub(g, wb, wa, w);
    code3_turn_back(g, Ra, gap, d);
    code3_turn_back(g, Ra, rate, d_dot);
    code3_turn_back(g, Ra, w, turn);
    rotation_vector(g, R, phi);
    for (int k = 0; k < 3; k++) {
        const code_node K = code_number(g, force->bushing_stiffness[k], 0),
                        C = code_number(g, force->bushing_damping[k], 0),
                        Kt = code_number(g, force->bushing_stiffness[3 + k], 0),
                        Ct = code_number(g, force->bushing_damping[3 + k], 0);
        f[k] = code_neg(g, code_add(g, code_mul(g, K, d[k]), code_mul(g, C, d_dot[k])));
        damp[k] = code_neg(g, code_mul(g, Ct, turn[k]));
        pull[k] = code_neg(g, code_mul(g, Kt, phi[k]));
    }
    jacobian(g, phi, pull, part); /* in the second frame's axes */
    code3_turn(g, Rb, part, torque);
    code3_turn(g, Ra, damp, part);
    code3_add(g, torque, part, torque);
    code3_turn(g, Ra, f, part);
    load_body(b, force->bodies[1], end, part, torque);
    for (int k = 0; k < 3; k++) part[k] = code_neg(g, part[k]), torque[k] = code_neg(g, torque[k]);
    load_body(b, force->bodies[0], end, part, torque);
}

static void applied(code_build *b, const lw_force *force) {
    code_graph *g = b->g;
    code_node F[6], at[3], x[3], xdot[3];
    for (int k = 0; k < 6; k++)
        F[k] = force->components[k] ? code_function(b, force->components[k], &b->t) : 0;
    code_numbers3(g, force->frames[0].p, 1, at);
    code_point(b, force->bodies[0], at, x, xdot);
    if (force->follows_body) {
        code_node axes[9], R[9], f[3], n[3];
        numbers9(g, force->frames[0].R, axes);
        code33_mul(g, b->bodies[force->bodies[0]].R, axes, R);
        code3_turn(g, R, F, f);
        code3_turn(g, R, F + 3, n);
        code3_copy(f, F);
        code3_copy(n, F + 3);
    }
    load_body(b, force->bodies[0], x, F, F + 3);
    for (int k = 0; k < 6; k++) F[k] = code_neg(g, F[k]);
    load_body(b, force->bodies[1], x, F, F + 3);
}

static code_node in_joint(code_build *b, const lw_force *force, code_node q, code_node v) {
    code_graph *g = b->g;
    if (force->type == LW_FORCE_TORSION)
        return code_neg(g, tension(b, force, code_sub(g, q, code_number(g, force->free_length, 0)), v));
    if (force->type == LW_FORCE_DRIVE) {
        const code_node variables[3] = {b->t, q, v};
        return code_function(b, force->drive, variables);
    }
    code_node drag = code_mul(g, code_number(g, force->viscous, 0), v);
    if (force->coulomb != 0) {
        const code_node slip = code_div(g, v, code_number(g, force->smoothing, 0));
        drag = code_add(g, drag,
                        code_mul(g, code_number(g, force->coulomb, 0), code_make(g, CODE_TANH, slip, 0, 0)));
    }
    return code_neg(g, drag);
}

void code_forces(code_build *b) {
    code_graph *g = b->g;
    const lw_model *model = b->model;
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        if (force->closure >= 0) {
            const int joint = model->closures[force->closure];
            code_node q[LW_JOINT_MAX_Q] = {0}, v[LW_JOINT_MAX_V] = {0};
            if (!code_cut_joint(b, joint, q, v)) {
                code_refuse(
                    b, force->name,
                    "the element acts at a joint that closes a loop and has no coordinates of its own");
                return;
            }
            code_cut_force(b, joint, force->v,
                           in_joint(b, force, force->q >= 0 ? q[force->q] : 0, v[force->v]));
        } else if (force->type == LW_FORCE_SPRING)
            spring(b, force);
        else if (force->type == LW_FORCE_BUSHING)
            bushing(b, force);
        else if (force->type == LW_FORCE_APPLIED)
            applied(b, force);
        else if (force->type == LW_FORCE_CONTACT) {
            code_refuse(b, force->name, "contacts are not generated");
            return;
        } else
            b->tau[force->v] = code_add(
                g, b->tau[force->v], in_joint(b, force, force->q >= 0 ? b->q[force->q] : 0, b->v[force->v]));
    }
    for (int k = 0; k < model->idle_count; k++) { /* docs/theory/idle.md */
        const lw_idle *idle = &model->idle[k];
        code_body *own = &b->bodies[idle->body];
        code_node u[3], torque[3];
        code_numbers3(g, idle->axis, 1, u);
        code3_cross(g, own->w, u, torque);
        const code_node size = code_mul(g, code_number(g, idle->moment, 0), code3_dot(g, u, own->w));
        code3_add_scaled(g, size, torque, own->load);
    }
}
