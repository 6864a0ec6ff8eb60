/* code_tree.c - kinematics, inverse dynamics and mass matrix of the spanning tree as nodes.
 *
 * Source   docs/theory/tree.md, 4-6, 11-20, docs/theory/generated-c.md, 1-4. Symbols as in
 *          dynamics/tree_recursion.h: accelerations are those of the frames' origins, gravity taken off, as
 *          ground accelerates upwards.
 * Regrouping   What the motion of a joint does not change of an inertia is given to the parent when code is
 *          generated (generated-c.md, 4): of a body on a hinge its mass, its first moment along the axis, and
 *          of its moments of inertia across the axis all but their difference. The equations of motion are
 *          the same, with fewer numbers.
 */
#include "export/code/code_tree_parts.h"

#include <stdlib.h>

int code_axis_of(const code_graph *g, const code_node E[9]) {
    for (int a = 0; a < 3; a++) {
        const int j = (a + 1) % 3, k = (a + 2) % 3;
        if (code_is(g, E[4 * a], 1) && E[3 * a + j] == 0 && E[3 * a + k] == 0 && E[3 * j + a] == 0 &&
            E[3 * k + a] == 0)
            return a;
    }
    return -1;
}

void code_turn_symmetric(code_graph *g, const code_node E[9], const code_node S[6], code_node out[6]) {
    const int a = code_axis_of(g, E);
    if (a < 0) {
        code_node rows[9];
        for (int i = 0; i < 3; i++) code_sym_mul(g, S, E + 3 * i, rows + 3 * i);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j <= i; j++) out[code_sym(i, j)] = code3_dot(g, rows + 3 * i, E + 3 * j);
        return;
    }
    const int i = (a + 1) % 3, j = (a + 2) % 3;
    const code_node c = E[4 * i], s = E[3 * j + i], cc = code_mul(g, c, c), cs = code_mul(g, c, s);
    const code_node d = code_sub(g, S[i], S[j]), m = S[code_sym(i, j)], mi = S[code_sym(a, i)],
                    mj = S[code_sym(a, j)], two = code_constant(g, 2);
    const code_node turned =
        code_sub(g, code_mul(g, cc, d), code_mul(g, code_mul(g, two, cs), m)); /* cc d - 2 cs m */
    const code_node double_angle = code_sub(g, code_mul(g, two, cc), code_constant(g, 1));
    out[a] = S[a];
    out[code_sym(a, i)] = code_sub(g, code_mul(g, c, mi), code_mul(g, s, mj));
    out[code_sym(a, j)] = code_add(g, code_mul(g, s, mi), code_mul(g, c, mj));
    out[i] = code_add(g, S[j], turned);
    out[j] = code_sub(g, S[i], turned);
    out[code_sym(i, j)] = code_add(g, code_mul(g, cs, d), code_mul(g, double_angle, m));
}

/* K = alpha~ + w~ w~, by which points of a body accelerate relative to its origin; alpha may be NULL. */
static void point_matrix(code_graph *g, const code_node w[3], const code_node *alpha, code_node K[9]) {
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const code_node across = code_mul(g, w[i], w[j]), turning = alpha ? alpha[k] : 0;
        K[4 * i] = code_neg(g, code_add(g, code_mul(g, w[j], w[j]), code_mul(g, w[k], w[k])));
        K[3 * i + j] = code_sub(g, across, turning);
        K[3 * j + i] = code_add(g, across, turning);
    }
}

void code_kinematics(code_build *b) {
    code_graph *g = b->g;
    code33_identity(g, b->bodies[0].E);
    code33_identity(g, b->bodies[0].R);
    for (int i = 1; i <= b->model->body_count; i++) {
        const lw_link *link = &b->model->links[i];
        code_body *own = &b->bodies[i];
        const code_body *parent = &b->bodies[link->parent];
        const code_node *v = b->v + link->v;
        code_node R[9], p[3], t[3], relative[6] = {0};
        code_joint_motion(g, &link->joint, b->q + link->q, v, R, p, own->S, own->bias);
        code33_mul(g, own->link_R, R, own->E);
        code_pose_point(g, own->link_R, own->link_p, p, own->r);
        for (int k = 0; k < link->joint.nv; k++)
            for (int l = 0; l < 6; l++)
                relative[l] = code_add(g, relative[l], code_mul(g, own->S[6 * k + l], v[k]));
        code3_turn_back(g, own->E, parent->w, own->carried);
        code3_add(g, own->carried, relative, own->w);
        /* bias: S° v + (w x w_r; (2 w_p + w_r) x v_r) */
        code3_add_cross(g, own->w, relative, own->bias);
        code3_add(g, own->carried, own->w, t);
        code3_add_cross(g, t, relative + 3, own->bias + 3);
        /* world pose and twist, for what asks for them */
        code33_mul(g, parent->R, own->E, own->R);
        code_pose_point(g, parent->R, parent->p, own->r, own->p);
        code3_cross(g, parent->V, own->r, t);
        code3_add(g, parent->V + 3, t, t);
        code3_turn_back(g, own->E, t, own->V + 3);
        code3_add(g, own->V + 3, relative + 3, own->V + 3);
        code3_copy(own->w, own->V);
    }
}

/* --- inertias ------------------------------------------------------------------------------------- */

/* Adds an inertia in the frame (R, p) to one in the frame around it. */
static void add_inertia(code_graph *g, const code_node R[9], const code_node p[3], const code_inertia *child,
                        code_inertia *parent) {
    code_node h[3], J[6], t[3];
    const code_node half = code_constant(g, 0.5), two = code_constant(g, 2);
    code3_turn(g, R, child->moment, h);
    code_turn_symmetric(g, R, child->second, J);
    code3_scale(g, code_mul(g, half, child->mass), p, t);
    code3_add(g, h, t, t); /* g = h + m p / 2 */
    const code_node trace = code_mul(g, two, code3_dot(g, p, t));
    parent->mass = code_add(g, parent->mass, child->mass);
    for (int i = 0; i < 3; i++) {
        parent->moment[i] = code_add(g, parent->moment[i], code_add(g, h[i], code_mul(g, child->mass, p[i])));
        for (int j = 0; j <= i; j++) {
            const int at = code_sym(i, j);
            code_node more = J[at];
            if (i == j) {
                more = code_sub(g, code_add(g, more, trace), code_mul(g, two, code_mul(g, p[i], t[i])));
            } else {
                more = code_sub(g, more, code_mul(g, p[i], t[j]));
                more = code_sub(g, more, code_mul(g, t[i], p[j]));
            }
            parent->second[at] = code_add(g, parent->second[at], more);
        }
    }
}

/* Takes from a body's inertia what its joint does not change, into `moved`. */
static void split(code_graph *g, const lw_link *link, code_inertia *own, code_inertia *moved) {
    const lw_joint *joint = &link->joint;
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    const int a = joint->axis, i = (a + 1) % 3, j = (a + 2) % 3;
    *moved = (code_inertia){0};
    if (joint->inverse || joint->nv == 0) return;
    if (joint->nv == 1 && d->turns == 1 && !d->screws && d->slides == 0) {
        moved->mass = own->mass;
        moved->moment[a] = own->moment[a];
        moved->second[i] = moved->second[j] = own->second[j];
        own->second[i] = code_sub(g, own->second[i], own->second[j]);
        own->mass = own->moment[a] = own->second[j] = 0;
    } else if (d->turns == 0 && !d->ball) { /* slides: rotation is the parent's */
        for (int k = 0; k < 6; k++) moved->second[k] = own->second[k], own->second[k] = 0;
    } else if (d->slides == 0 && !d->screws) { /* turns about a point: its mass may stand there */
        moved->mass = own->mass;
        own->mass = 0;
    }
}

code_inertia *code_regrouped(code_build *b, bool held) {
    const int n = b->model->body_count;
    code_graph *g = b->g;
    code_inertia *out = calloc((size_t)n + 1, sizeof *out);
    if (!out) {
        g->failed = true;
        return NULL;
    }
    for (int i = 1; i <= n; i++) {
        const code_body *body = &b->bodies[i];
        out[i].mass = body->mass;
        code3_copy(body->moment, out[i].moment);
        for (int k = 0; k < 6; k++) out[i].second[k] = held ? body->second[k] : body->true_second[k];
    }
    for (int i = n; i >= 1; i--) {
        const lw_link *link = &b->model->links[i];
        code_inertia moved;
        split(g, link, &out[i], &moved);
        if (link->parent)
            add_inertia(g, b->bodies[i].link_R, b->bodies[i].link_p, &moved, &out[link->parent]);
    }
    return out;
}

/* --- inverse dynamics ----------------------------------------------------------------------------- */

void code_carry(code_graph *g, const code_body *own, const code_node parent_a[6], const code_node parent_w[3],
                code_node x[6]) {
    code_node K[9], t[3];
    point_matrix(g, parent_w, parent_a, K);
    code3_turn(g, K, own->r, t);
    code3_add(g, t, parent_a + 3, t);
    code3_turn_back(g, own->E, parent_a, x);
    code3_turn_back(g, own->E, t, x + 3);
    for (int k = 0; k < 6; k++) x[k] = code_add(g, x[k], own->bias[k]);
}

/* The torque J alpha + w x J w by the entries of K, as in dynamics/tree_inverse.h: in component i
 *     J_ii alpha_i + (J_kk - J_jj) w_j w_k + J_ij (alpha_j - w_i w_k) + J_ik (alpha_k + w_i w_j)
 *     + J_jk (w_j^2 - w_k^2). */
void code_wrench(code_graph *g, const code_inertia *I, const code_node w[3], const code_node *x,
                 code_node f[6]) {
    code_node K[9], t[3];
    const code_node *J = I->second;
    point_matrix(g, w, x, K);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const code_node apart = code_mul(g, code_sub(g, J[k], J[j]), code_mul(g, w[j], w[k]));
        const code_node squares = code_sub(g, code_mul(g, w[j], w[j]), code_mul(g, w[k], w[k]));
        f[i] = code_add(g, x ? code_mul(g, J[i], x[i]) : 0, apart);
        f[i] = code_sub(g, f[i], code_mul(g, J[code_sym(i, j)], K[3 * k + i]));
        f[i] = code_add(g, f[i], code_mul(g, J[code_sym(i, k)], K[3 * j + i]));
        f[i] = code_add(g, f[i], code_mul(g, J[code_sym(j, k)], squares));
    }
    code3_turn(g, K, I->moment, f + 3);
    if (!x) return;
    code3_add_cross(g, I->moment, x + 3, f);
    code3_scale(g, I->mass, x + 3, t);
    code3_add(g, f + 3, t, f + 3);
}

void code_to_parent(code_graph *g, const code_body *own, const code_node f[6], code_node total[6]) {
    code_node t[6];
    code3_turn(g, own->E, f, t);
    code3_turn(g, own->E, f + 3, t + 3);
    code3_add_cross(g, own->r, t + 3, t);
    for (int k = 0; k < 6; k++) total[k] = code_add(g, total[k], t[k]);
}

static void inverse(code_build *b, const code_inertia *inertia, const code_node *vdot, bool loads,
                    code_node *tau, code_node (*a)[6], code_node (*f)[6]) {
    code_graph *g = b->g;
    const lw_model *model = b->model;
    for (int k = 0; k < 3; k++) a[0][3 + k] = code_neg(g, b->gravity[k]);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const code_body *own = &b->bodies[i];
        code_carry(g, own, a[link->parent], b->bodies[link->parent].w, a[i]);
        for (int k = 0; k < link->joint.nv; k++)
            for (int l = 0; l < 6; l++)
                a[i][l] = code_add(g, a[i][l], code_mul(g, own->S[6 * k + l], vdot[link->v + k]));
        code_wrench(g, &inertia[i], own->w, a[i], f[i]);
        for (int k = 0; k < 6 && loads; k++) f[i][k] = code_sub(g, f[i][k], own->load[k]);
    }
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        const code_body *own = &b->bodies[i];
        for (int k = 0; k < link->joint.nv; k++) {
            const int at = link->v + k;
            tau[at] = code_add(g, code6_dot(g, own->S + 6 * k, f[i]), code_mul(g, b->armature[at], vdot[at]));
            if (loads) tau[at] = code_sub(g, tau[at], b->tau[at]);
        }
        if (link->parent) code_to_parent(g, own, f[i], f[link->parent]);
    }
}

void code_inverse(code_build *b, const code_node *vdot, bool loads, bool held, code_node *tau) {
    const size_t n = (size_t)b->model->body_count + 1;
    code_node(*a)[6] = calloc(n, sizeof *a), (*f)[6] = calloc(n, sizeof *f);
    code_inertia *inertia = code_regrouped(b, held);
    if (!a || !f || !inertia)
        b->g->failed = true;
    else
        inverse(b, inertia, vdot, loads, tau, a, f);
    free(a);
    free(f);
    free(inertia);
}

/* --- mass matrix ---------------------------------------------------------------------------------- */

void code_mass_matrix(code_build *b, bool held, code_node *mass) {
    code_graph *g = b->g;
    const lw_model *model = b->model;
    const int n = model->nv;
    code_inertia *composite = code_regrouped(b, held);
    for (int k = 0; k < n * n; k++) mass[k] = 0;
    for (int i = model->body_count; composite && i >= 1; i--) {
        const lw_link *link = &model->links[i];
        const code_body *own = &b->bodies[i];
        const code_inertia *I = &composite[i];
        for (int k = 0; k < link->joint.nv; k++) {
            const code_node *s = own->S + 6 * k;
            code_node F[6], t[3];
            const int column = link->v + k;
            code_sym_mul(g, I->second, s, F);
            code3_add_cross(g, I->moment, s + 3, F);
            code3_cross(g, s, I->moment, F + 3);
            code3_scale(g, I->mass, s + 3, t);
            code3_add(g, F + 3, t, F + 3);
            for (int l = 0; l <= k; l++) mass[n * column + link->v + l] = code6_dot(g, own->S + 6 * l, F);
            mass[n * column + column] = code_add(g, mass[n * column + column], b->armature[column]);
            for (int at = i; model->links[at].parent; at = model->links[at].parent) {
                code_node up[6] = {0};
                code_to_parent(g, &b->bodies[at], F, up);
                for (int l = 0; l < 6; l++) F[l] = up[l];
                const lw_link *above = &model->links[model->links[at].parent];
                for (int l = 0; l < above->joint.nv; l++)
                    mass[n * column + above->v + l] =
                        code6_dot(g, b->bodies[model->links[at].parent].S + 6 * l, F);
            }
        }
        if (link->parent) add_inertia(g, own->E, own->r, I, &composite[link->parent]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) mass[n * j + i] = mass[n * i + j];
    free(composite);
}
