/* test_rcr_paper.c - the recursive coordinate reduction as printed, against the method rcr, which is its dual.
 *
 * Anderson & Critchley (2003), equations (33) to (71) for one loop and (72) to (80) for the ladder, written down literally with
 * dense 6 x 6 matrices, in world axes (so that the direction cosines in the shift matrix (10) are one), for joints that turn. The loop
 * is a list of joints from its base round to its base again, where a massless phantom of the base is; a cell of a ladder
 * starts where the one before has its last body. The first joints are independent, as the paper asks, and the
 * mechanisms are such that this is a valid choice.
 */
#include "build.h"
#include "formulations/formulation.h"
#include "constraints/projection.h"
#include "model/rows.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 16, MAX_V = 40 };

/* Rounding of matrices whose smallest Delta is about 1e-2 of the largest. */
static const double same = 1e-10;

/* --- small matrices, row by row ------------------------------------------------------------------- */

static void multiply(int m, int n, int k, const double *A, const double *B, double *out) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            out[n * i + j] = 0;
            for (int l = 0; l < k; l++) out[n * i + j] += A[k * i + l] * B[n * l + j];
        }
}

static void transpose(int m, int n, const double *A, double *out) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) out[m * j + i] = A[n * i + j];
}

static void add(int count, double factor, const double *x, double *out) {
    for (int k = 0; k < count; k++) out[k] += factor * x[k];
}

static void unit(double A[36]) {
    memset(A, 0, 36 * sizeof *A);
    for (int k = 0; k < 6; k++) A[7 * k] = 1;
}

/* The inverse of a 1 x 1 or 2 x 2 matrix. */
static void invert(int n, const double *A, double *out) {
    if (n == 1) {
        out[0] = 1 / A[0];
        return;
    }
    double det = A[0] * A[3] - A[1] * A[2];
    out[0] = A[3] / det, out[1] = -A[1] / det, out[2] = -A[2] / det, out[3] = A[0] / det;
}

/* --- a loop, or the cells of a ladder --------------------------------------------------------------- */

typedef struct step {
    int body, parent; /* label, or 0 for a phantom of ground; the step before, or -1 for the base */
    int joint, cell, n;
    bool phantom;
    double c[3];               /* mass centre; of the phantom that of the base */
    double P[12], S[36];       /* (4), 6 x n; (10) */
    double I[36], F[6], At[6]; /* (11), (12), (7) */
    double u[2], udot[2];
    double nS[36], tau[36];    /* kS^n; tau^(k+1) */
    double Delta[4], back[12]; /* (45); -(Delta)^-1 P' kS^n tau, n x 6 */
    double delta[36], chi[36], Gamma[36], Xi[36], Theta[6];
    double Abar[6], Vbar[6]; /* relative to the base */
} step;

typedef struct loop {
    const lw_model *model;
    lw_data *data;
    lw_rows *rows;
    int base; /* label */
    double base_c[3], base_At[6], base_A[6];
    int count, independent, cells; /* steps; of these the first */
    step steps[MAX_STEPS];
    double rest[MAX_STEPS][6];               /* per cell: A_t of its phantom relative to the base */
    double inertia[36], mixed[36], force[6]; /* of the virtual body: (60) to (64) */
} loop;

static int joint_named(const lw_model *model, const char *name) {
    for (int j = 0; j < model->joint_count; j++)
        if (strcmp(model->joints[j].name, name) == 0) return j;
    fail_msg("no joint %s", name);
    return -1;
}

static void shift(const double from[3], const double to[3], double S[36]) {
    double g[3];
    lw_v3_sub(to, from, g);
    unit(S);
    S[4] = -g[2], S[5] = g[1], S[9] = g[2], S[11] = -g[0], S[15] = -g[1], S[16] = g[0];
}

static const double nothing[6] = {0};

static const double *centre_of(const loop *l, const step *s) {
    return s->parent < 0 ? l->base_c : l->steps[s->parent].c;
}

/* Inertia about the mass centre, and (12) with the loads of gravity alone. */
static void body_terms(const loop *l, int body, const double At[6], double I[36], double F[6]) {
    const lw_rigid_inertia *own = &l->model->links[body].inertia;
    const double *R = l->data->world[body].R, *w = l->rows->bodies[body].w, *J = own->second;
    double m = own->mass, c[3], square, local[9], turned[9], back[9], world[9], Iw[3], Ia[3];
    for (int k = 0; k < 3; k++) c[k] = own->moment[k] / m;
    square = lw_v3_dot(c, c);
    const int at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            local[3 * i + j] = J[at[3 * i + j]] - m * ((i == j ? square : 0) - c[i] * c[j]);
    multiply(3, 3, 3, R, local, turned);
    transpose(3, 3, R, back);
    multiply(3, 3, 3, turned, back, world);
    memset(I, 0, 36 * sizeof *I);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) I[6 * i + j] = world[3 * i + j];
        I[6 * (3 + i) + 3 + i] = m;
    }
    multiply(3, 1, 3, world, w, Iw);
    multiply(3, 1, 3, world, At, Ia);
    lw_v3_cross(w, Iw, F);
    for (int k = 0; k < 3; k++) {
        F[k] = -F[k] - Ia[k];
        F[3 + k] = m * (l->model->gravity[k] - At[3 + k]);
    }
}

/* Partial velocities and the acceleration remainder of a step, from those of the body before it. */
static void move_step(loop *l, step *s, const double parent_c[3], const double w_parent[3],
                      const double At_parent[6], const double w[3]) {
    const lw_joint_entry *entry = &l->model->joints[s->joint];
    const lw_joint_state *state = &l->rows->joints[s->joint];
    int parent = s->parent < 0 ? l->base : l->steps[s->parent].body;
    if (s->parent == -2) parent = 0;
    double sign = entry->info.bodies[0] == parent ? 1 : -1, arm[3], t[3], out[3];
    shift(parent_c, s->c, s->S);
    s->n = entry->joint.nv;
    lw_v3_copy(At_parent, s->At);
    for (int k = 0; k < s->n; k++) {
        double e[3], turned[3], swing[3];
        lw_v3_copy(state->W + 6 * k, e); /* the axes are perpendicular, so they are their own duals */
        for (int i = 0; i < 3; i++) e[i] *= sign;
        lw_v3_sub(s->c, state->at, arm);
        lw_v3_cross(e, arm, swing);
        for (int i = 0; i < 3; i++) s->P[s->n * i + k] = e[i], s->P[s->n * (3 + i) + k] = swing[i];
        s->u[k] = state->v[k];
        /* the first axis of a Hooke joint turns with the user's first body, the second with his second */
        bool with_parent = s->n == 1 || (k == 0) == (sign > 0);
        lw_v3_cross(with_parent ? w_parent : w, e, turned);
        lw_v3_axpy(s->u[k], turned, s->At);
    }
    lw_v3_sub(state->at, parent_c, arm); /* of the joint's point, then of the mass centre */
    lw_v3_copy(At_parent + 3, out);
    lw_v3_add_cross(At_parent, arm, out);
    lw_v3_cross(w_parent, arm, t);
    lw_v3_add_cross(w_parent, t, out);
    lw_v3_sub(s->c, state->at, arm);
    lw_v3_add_cross(s->At, arm, out);
    lw_v3_cross(w, arm, t);
    lw_v3_add_cross(w, t, out);
    lw_v3_copy(out, s->At + 3);
}

/* Reads the loop from the joints' names, cells separated by "|"; the state is in data and rows. */
static void read_loop(loop *l, int independent, const char *const *names, int count) {
    int at = -1, cell = 0;
    l->independent = independent;
    for (int k = 0; k < count; k++) {
        if (strcmp(names[k], "|") == 0) {
            at = l->count - 2; /* the body before the phantom */
            cell++;
            continue;
        }
        step *s = &l->steps[l->count];
        const int *bodies =
            (s->joint = joint_named(l->model, names[k]), l->model->joints[s->joint].info.bodies);
        int parent = at < 0 ? l->base : l->steps[at].body;
        s->body = bodies[0] == parent ? bodies[1] : bodies[0];
        s->parent = at;
        s->cell = cell;
        s->phantom = s->body == l->base;
        const double *w_parent = l->rows->bodies[parent].w, *w = l->rows->bodies[s->body].w;
        lw_v3_copy(s->phantom ? l->base_c : l->rows->bodies[s->body].r, s->c);
        move_step(l, s, centre_of(l, s), w_parent, at < 0 ? l->base_At : l->steps[at].At, w);
        if (s->phantom) {
            for (int i = 0; i < 6; i++) l->rest[cell][i] = s->At[i] - l->base_At[i];
        } else
            body_terms(l, s->body, s->At, s->I, s->F);
        at = l->count++;
    }
    l->cells = cell + 1;
}

/* (43) to (49) in every cell, from its phantom back to its first dependent joint. */
static void reduce(loop *l) {
    double S_n[36], tau[36];
    for (int k = l->count - 1; k >= l->independent; k--) {
        step *s = &l->steps[k];
        double X[12], Xt[12], tX[12], inverse[4], Xtt[12], t[36], before[36], before_t[36], St[36];
        if (s->phantom) unit(S_n), unit(tau);
        memcpy(s->nS, S_n, sizeof S_n);
        memcpy(s->tau, tau, sizeof tau);
        transpose(6, 6, S_n, t);
        multiply(6, s->n, 6, t, s->P, X);
        transpose(6, s->n, X, Xt);
        multiply(6, s->n, 6, tau, X, tX);
        multiply(s->n, s->n, 6, Xt, tX, s->Delta);
        invert(s->n, s->Delta, inverse);
        multiply(s->n, 6, 6, Xt, tau, Xtt);
        multiply(s->n, 6, s->n, inverse, Xtt, s->back);
        for (int i = 0; i < 6 * s->n; i++) s->back[i] = -s->back[i];
        multiply(6, 6, s->n, s->P, s->back, s->chi);
        multiply(6, 6, s->n, tX, s->back, t); /* back has the minus */
        add(36, 1, t, tau);
        multiply(6, 6, 6, s->S, S_n, before); /* (k-1)S^n */
        transpose(6, 6, before, before_t);
        transpose(6, 6, s->S, St);
        multiply(6, 6, 6, s->chi, before_t, s->delta);
        add(36, 1, St, s->delta);
        memcpy(S_n, before, sizeof before);
    }
}

/* (52), (53), (79), (80). */
static void spread(loop *l) {
    for (int k = l->independent - 1; k < l->count; k++) {
        step *s = &l->steps[k];
        if (k < l->independent) {
            unit(s->Gamma);
            continue;
        }
        const step *before = &l->steps[s->parent];
        double theta[6];
        multiply(6, 6, 6, s->delta, before->Gamma, s->Gamma);
        memcpy(theta, before->Theta, sizeof theta);
        if (before->cell != s->cell) {
            double known[6];
            multiply(6, 1, 6, before->Xi, l->rest[before->cell], known);
            add(6, 1, known, theta);
            memcpy(s->Xi, s->chi, sizeof s->chi);
        } else {
            multiply(6, 6, 6, s->delta, before->Xi, s->Xi);
            add(36, 1, s->chi, s->Xi);
        }
        multiply(6, 1, 6, s->delta, theta, s->Theta);
    }
}

/* (60): the virtual terminal body. Way: 0S^k. */
static void gather(loop *l) {
    for (int k = l->independent - 1; k < l->count; k++) {
        const step *s = &l->steps[k];
        double way[36], way_t[36], Gt[36], GtI[36], t[36], known[6], f[6];
        if (s->phantom) continue;
        shift(l->base_c, s->c, way);
        transpose(6, 6, way, way_t);
        transpose(6, 6, s->Gamma, Gt);
        multiply(6, 6, 6, Gt, s->I, GtI);
        multiply(6, 6, 6, GtI, s->Gamma, t);
        add(36, 1, t, l->inertia);
        multiply(6, 6, 6, GtI, way_t, t);
        add(36, 1, t, l->mixed);
        multiply(6, 1, 6, s->Xi, l->rest[s->cell], known);
        add(6, 1, s->Theta, known);
        multiply(6, 1, 6, Gt, s->F, f);
        add(6, 1, f, l->force);
        multiply(6, 1, 6, GtI, known, f);
        add(6, -1, f, l->force);
    }
}

typedef struct pivot {
    double inertia[36], mixed[36], force[6], inverse[4], Pt[12], M[4];
} pivot;

/* (65), (66): M^-1 and the triangularisation of the virtual body at joint k, which becomes that of the body before. */
static void climb(loop *l, int k, pivot *p) {
    const step *s = &l->steps[k];
    double IP[12], IPM[12], T[36], cut[36], t[36], u[36], f[6], St[36], way[36], way_t[36];
    memcpy(p->inertia, l->inertia, sizeof l->inertia);
    memcpy(p->mixed, l->mixed, sizeof l->mixed);
    memcpy(p->force, l->force, sizeof l->force);
    transpose(6, s->n, s->P, p->Pt);
    multiply(6, s->n, 6, l->inertia, s->P, IP);
    multiply(s->n, s->n, 6, p->Pt, IP, p->M);
    invert(s->n, p->M, p->inverse);
    multiply(6, s->n, s->n, IP, p->inverse, IPM);
    multiply(6, 6, s->n, IPM, p->Pt, cut);
    unit(t);
    add(36, -1, cut, t);
    multiply(6, 6, 6, s->S, t, T);
    multiply(6, 6, 6, T, l->inertia, t);
    transpose(6, 6, s->S, St);
    multiply(6, 6, 6, t, St, l->inertia); /* (63) */
    multiply(6, 6, 6, T, l->mixed, u);    /* (62) */
    memcpy(l->mixed, u, sizeof u);
    multiply(6, 1, 6, T, l->force, f); /* (64) */
    memcpy(l->force, f, sizeof f);
    if (k == 0) return;
    const step *before = &l->steps[s->parent];
    add(36, 1, before->I, l->inertia);
    shift(l->base_c, before->c, way);
    transpose(6, 6, way, way_t);
    multiply(6, 6, 6, before->I, way_t, t);
    add(36, 1, t, l->mixed);
    add(6, 1, before->F, l->force);
}

/* Accelerations (and velocities, if `speeds`) of all joints from those of the independent ones: (46), (47), (55), (71). */
static void follow(loop *l, const pivot *pivots) {
    for (int k = 0; k < l->count; k++) {
        step *s = &l->steps[k];
        const double *before = s->parent < 0 ? nothing : l->steps[s->parent].Abar;
        double St[36], carried[6], t[36], x[6];
        transpose(6, 6, s->S, St);
        multiply(6, 1, 6, St, before, carried);
        if (k < l->independent) { /* (70) */
            const pivot *p = &pivots[k];
            double load[6], m[6], r[2];
            memcpy(load, p->force, sizeof load);
            multiply(6, 1, 6, p->mixed, l->base_A, m);
            add(6, -1, m, load);
            multiply(6, 1, 6, p->inertia, carried, m);
            add(6, -1, m, load);
            multiply(s->n, 1, 6, p->Pt, load, r);
            multiply(s->n, 1, s->n, p->inverse, r, s->udot);
        } else {
            double way[36];
            multiply(6, 6, 6, s->S, s->nS, way);
            transpose(6, 6, way, t);
            multiply(6, 1, 6, t, before, x);
            add(6, 1, l->rest[s->cell], x);
            multiply(s->n, 1, 6, s->back, x, s->udot);
        }
        multiply(6, 1, s->n, s->P, s->udot, s->Abar);
        add(6, 1, carried, s->Abar);
    }
}

/* The dependent speeds by (46), (47) from the independent ones must be those of the state. */
static void check_speeds(loop *l) {
    for (int k = 0; k < l->count; k++) {
        step *s = &l->steps[k];
        const double *before = s->parent < 0 ? nothing : l->steps[s->parent].Vbar;
        double St[36], t[36], way[36], x[6], u[2];
        transpose(6, 6, s->S, St);
        memcpy(u, s->u, sizeof u);
        if (k >= l->independent) {
            multiply(6, 6, 6, s->S, s->nS, way);
            transpose(6, 6, way, t);
            multiply(6, 1, 6, t, before, x);
            multiply(s->n, 1, 6, s->back, x, u);
        }
        for (int i = 0; i < s->n; i++)
            if (!(fabs(u[i] - s->u[i]) < same))
                fail_msg("speed %d of step %d: %g, not %g", i, k, u[i], s->u[i]);
        multiply(6, 1, s->n, s->P, u, s->Vbar);
        multiply(6, 1, 6, St, before, x);
        add(6, 1, x, s->Vbar);
    }
}

/* --- the comparison --------------------------------------------------------------------------------- */

typedef struct subject {
    lw_model *model;
    lw_data *data;
    lw_arena *arena;
    lw_rows *rows;
    double q[MAX_V], v[MAX_V], vdot[MAX_V];
} subject;

/* The model's own positions, with speeds that its loops allow, and what rcr says. */
static subject prepare(lw_spec *spec, int seed) {
    subject s = {.model = compile_or_fail(spec), .arena = lw_arena_create(NULL)};
    lw_random random = random_seed((uint64_t)seed);
    lw_projection *projection = lw_projection_create(s.model, LW_HOLD_NONE);
    lw_violation left;
    lw_error error;
    lw_method *method;
    const lw_formulation *rcr = lw_formulation_find("rcr");
    const lw_method_options options = {0};
    assert_true(s.model->nv <= MAX_V);
    lw_model_initial_state(s.model, s.q, s.v);
    random_vector(&random, s.model->nv, 2, s.v);
    assert_int_equal(lw_project_velocities(projection, 0, s.q, s.v, &left, &error), LW_OK);
    assert_true(left.largest < 1e-11);
    lw_projection_destroy(projection);
    assert_int_equal(rcr->create(s.model, &options, &method, &error), LW_OK);
    assert_int_equal(rcr->accelerations(method, 0, s.q, s.v, NULL, s.vdot, NULL, NULL, &error), LW_OK);
    rcr->destroy(method);
    s.rows = lw_rows_create(s.model, LW_HOLD_NONE, s.arena);
    assert_non_null(s.rows);
    assert_int_equal(lw_data_create(s.model, NULL, &s.data), LW_OK);
    lw_take_state(s.model, s.data, 0, s.q, s.v);
    lw_velocities(s.model, s.data);
    lw_world_poses(s.model, s.data);
    lw_rows_evaluate(s.model, s.data, false, s.rows);
    return s;
}

static void discard(subject *s) {
    lw_data_destroy(s->data);
    lw_arena_destroy(s->arena);
    lw_model_destroy(s->model);
}

/* udot of every joint of the loop that belongs to the tree must be rcr's. */
static void compare(const subject *s, const loop *l) {
    int compared = 0;
    double largest = 0;
    for (int k = 0; k < s->model->nv; k++) largest = fmax(largest, fabs(s->vdot[k]));
    assert_true(largest > 0.1);
    for (int k = 0; k < l->count; k++) {
        const step *at = &l->steps[k];
        for (int i = 1; i <= s->model->body_count; i++) {
            if (s->model->bodies[i].joint_index != at->joint) continue;
            for (int n = 0; n < at->n; n++, compared++) {
                double here = s->vdot[s->model->links[i].v + n];
                if (!(fabs(here - at->udot[n]) < same * largest))
                    fail_msg("joint %s, speed %d: rcr %.15g, the paper %.15g",
                             s->model->joints[at->joint].name, n, here, at->udot[n]);
            }
        }
    }
    assert_true(compared >= s->model->nv - 1); /* all but the base's own */
}

/* One loop, or the cells of a ladder, on ground. */
static void check_on_ground(lw_spec *spec, int seed, int independent, const char *const *names, int count) {
    subject s = prepare(spec, seed);
    loop l = {.model = s.model, .data = s.data, .rows = s.rows};
    pivot pivots[MAX_STEPS];
    read_loop(&l, independent, names, count);
    reduce(&l);
    spread(&l);
    check_speeds(&l);
    gather(&l);
    for (int k = independent - 1; k >= 0; k--) climb(&l, k, &pivots[k]);
    follow(&l, pivots); /* base_A = 0: (69) */
    compare(&s, &l);
    discard(&s);
}

static void add_link(lw_spec *spec, const char *name, double mass, const double at[3]) {
    lw_body_spec body = {
        .name = name, .mass = mass, .inertia = {0.05 * mass, 0.07 * mass, 0.1 * mass, 0.01 * mass}};
    memcpy(body.com, at, sizeof body.com);
    add_body(spec, body);
}

/* A polygon of revolute joints: bodies lie between neighbouring joints, the first and the last joint on `base`. */
static void add_polygon(lw_spec *spec, const char *base, int joints, double points[][3], double axes[][3],
                        const char *const *names, const char *const *bodies, int cut) {
    for (int k = 0; k + 1 < joints; k++) {
        double middle[3];
        for (int i = 0; i < 3; i++) middle[i] = 0.5 * (points[k][i] + points[k + 1][i]) + 0.03 * (i + k % 3);
        add_link(spec, bodies[k], 1 + 0.3 * k, middle);
    }
    for (int k = 0; k < joints; k++) {
        lw_joint_spec joint = {.name = names[k],
                               .type = LW_JOINT_REVOLUTE,
                               .bodies = {k > 0 ? bodies[k - 1] : base, k + 1 < joints ? bodies[k] : base},
                               .cut = k == cut};
        memcpy(joint.geometry[0].point, points[k], sizeof joint.geometry[0].point);
        memcpy(joint.geometry[0].axes[0], axes[k], sizeof joint.geometry[0].axes[0]);
        joint.geometry[0].axis_count = 1;
        add_joint(spec, joint);
    }
}

static const char *const joint_names[] = {"a", "b", "c", "d", "e", "f", "g"};
static const char *const body_names[] = {"first", "second", "third", "fourth", "fifth", "sixth"};

/* A planar loop stands in a tilted plane, so that nothing is zero by chance. */
static void tilt(int count, const double (*flat)[2], double (*points)[3], double (*axes)[3]) {
    static const double x[3] = {0.8, 0.36, 0.48}, y[3] = {-0.6, 0.48, 0.64}, z[3] = {0, -0.8, 0.6};
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 3; i++) {
            points[k][i] = flat[k][0] * x[i] + flat[k][1] * y[i];
            axes[k][i] = z[i];
        }
}

static const double flat_four[4][2] = {{0, 0}, {0.2, 0.7}, {1.3, 0.9}, {1.1, -0.1}};

static void planar_four_bar(void **state) {
    (void)state;
    double points[4][3], axes[4][3];
    tilt(4, flat_four, points, axes);
    for (int cut = 0; cut < 4; cut++) { /* the tree of rcr does not matter */
        lw_spec *spec = lw_spec_create("four-bar");
        add_polygon(spec, LW_GROUND, 4, points, axes, joint_names, body_names, cut);
        check_on_ground(spec, 1 + cut, 1, joint_names, 4);
    }
}

/* Two independent coordinates: (62) to (66). */
static void planar_five_bar(void **state) {
    (void)state;
    static const double flat[5][2] = {{0, 0}, {-0.3, 0.8}, {0.6, 1.5}, {1.4, 0.7}, {1, 0}};
    double points[5][3], axes[5][3];
    tilt(5, flat, points, axes);
    lw_spec *spec = lw_spec_create("five-bar");
    add_polygon(spec, LW_GROUND, 5, points, axes, joint_names, body_names, 4);
    check_on_ground(spec, 11, 2, joint_names, 5);
}

/* Seven revolute joints in general places: six dependent coordinates, no row redundant. */
static void spatial_loop(void **state) {
    (void)state;
    static double points[7][3] = {{0, 0, 0},       {0.2, 0.9, 0.1},  {0.8, 1.3, 0.6},  {1.6, 1, 0.9},
                                  {1.9, 0.3, 0.5}, {1.6, -0.4, 0.2}, {0.8, -0.6, -0.3}},
                  axes[7][3] = {{0.2, 0.3, 1},  {1, 0.2, -0.4}, {0.1, 1, 0.5},   {0.7, -0.6, 0.8},
                                {-0.3, 0.9, 1}, {1, 0.5, 0.2},  {0.4, -0.2, 0.9}};
    lw_spec *spec = lw_spec_create("seven hinges");
    add_polygon(spec, LW_GROUND, 7, points, axes, joint_names, body_names, 3);
    check_on_ground(spec, 21, 1, joint_names, 7);
}

/* Fig. 9: rungs on Hooke joints, bars between their tips. Each cell has four dependent coordinates. */
static void ladder(void **state) {
    (void)state;
    enum { CELLS = 3 };
    static char text[4 * CELLS + 4][16];
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    const char *names[4 * CELLS + 4];
    lw_spec *spec = lw_spec_create("ladder");
    int count = 0, used = 0;
    for (int k = 0; k <= CELLS; k++) {
        const double top[3] = {0.5 * k, 0, 0}, tip[3] = {0.5 * k, 0, -1},
                     middle[3] = {0.5 * k + 0.02, 0.01, -0.4}, bar[3] = {0.5 * k - 0.2, 0.02, -1.03};
        char rung[16], before[16], own[16];
        snprintf(rung, sizeof rung, "rung%d", k);
        snprintf(before, sizeof before, "rung%d", k - 1);
        snprintf(own, sizeof own, "bar%d", k);
        add_link(spec, rung, 1 + 0.2 * k, middle);
        lw_joint_spec hooke = {.name = text[used], .type = LW_JOINT_UNIVERSAL, .bodies = {LW_GROUND, rung}};
        snprintf(text[used], sizeof text[used], "hooke%d", k);
        memcpy(hooke.geometry[0].point, top, sizeof top);
        memcpy(hooke.geometry[0].axes[0], x, sizeof x);
        memcpy(hooke.geometry[0].axes[1], y, sizeof y);
        hooke.geometry[0].axis_count = 2;
        hooke.has_q = true, hooke.q[0] = 0.7, hooke.q[1] = 0.5;
        add_joint(spec, hooke);
        const char *phantom = text[used++];
        if (k == 0) {
            names[count++] = phantom;
            continue;
        }
        add_link(spec, own, 0.7 + 0.1 * k, bar);
        const double left[3] = {0.5 * (k - 1), 0, -1};
        char *first = text[used++], *second = text[used++];
        snprintf(first, sizeof text[0], "left%d", k);
        snprintf(second, sizeof text[0], "right%d", k);
        lw_joint_spec hinge = {.name = first, .type = LW_JOINT_REVOLUTE, .bodies = {before, own}};
        memcpy(hinge.geometry[0].point, left, sizeof left);
        memcpy(hinge.geometry[0].axes[0], y, sizeof y);
        hinge.geometry[0].axis_count = 1;
        hinge.has_q = true, hinge.q[0] = -0.5;
        add_joint(spec, hinge);
        hinge =
            (lw_joint_spec){.name = second, .type = LW_JOINT_REVOLUTE, .bodies = {own, rung}, .cut = true};
        memcpy(hinge.geometry[0].point, tip, sizeof tip);
        memcpy(hinge.geometry[0].axes[0], y, sizeof y);
        hinge.geometry[0].axis_count = 1;
        add_joint(spec, hinge);
        if (k > 1) names[count++] = "|";
        names[count++] = first, names[count++] = second, names[count++] = phantom;
    }
    check_on_ground(spec, 31, 1, names, count);
}

/* A loop on a body that swings. (62) to (64), followed down to the base as printed, would hand it the virtual body alone, as if what
 * the phantom transmits did not act on the base; `printed` does that. The virtual power of the base's own motion, which carries
 * the whole loop along rigidly, says what belongs there: with W = 0S^k
 *
 *   I^0 + sum W I W'  and  sum W I Gamma  instead of  I^0 + T^1 I^(1;0),      sum W (F - I Xi A_t)  in the force. */
static void check_on_base(lw_spec *spec, int seed, const char *root, const char *const *names, int count,
                          bool printed, double *difference) {
    subject s = prepare(spec, seed);
    loop l = {.model = s.model, .data = s.data, .rows = s.rows};
    pivot own;
    int joint = joint_named(s.model, root);
    double I[36], F[6], M, Pt[6], x[6], t[36];
    l.base = s.model->joints[joint].info.bodies[1];
    lw_v3_copy(s.rows->bodies[l.base].r, l.base_c);
    step base = {.parent = -2, .joint = joint, .body = l.base};
    lw_v3_copy(l.base_c, base.c);
    move_step(&l, &base, nothing, nothing, nothing, s.rows->bodies[l.base].w);
    memcpy(l.base_At, base.At, sizeof base.At);
    body_terms(&l, l.base, base.At, I, F);
    read_loop(&l, 1, names, count);
    reduce(&l);
    spread(&l);
    check_speeds(&l);
    gather(&l);
    climb(&l, 0, &own);
    if (printed) {
        add(36, 1, l.mixed, I);
        add(6, 1, l.force, F);
    } else {
        double across[36] = {0}, P1[6], lever[6], row[6], rise[36];
        for (int k = 0; k < l.count; k++) {
            const step *at = &l.steps[k];
            double W[36], Wt[36], WI[36], known[6];
            if (at->phantom) continue;
            shift(l.base_c, at->c, W);
            transpose(6, 6, W, Wt);
            multiply(6, 6, 6, W, at->I, WI);
            multiply(6, 6, 6, WI, Wt, t);
            add(36, 1, t, I);
            multiply(6, 6, 6, WI, at->Gamma, t);
            add(36, 1, t, across);
            multiply(6, 1, 6, W, at->F, x);
            add(6, 1, x, F);
            multiply(6, 1, 6, at->Xi, l.rest[at->cell], known);
            multiply(6, 1, 6, WI, known, x);
            add(6, -1, x, F);
        }
        memcpy(P1, l.steps[0].P, sizeof P1); /* udot_1 = M^-1 P'(F^1 - I^(1;0) A^0) goes in */
        multiply(6, 1, 6, across, P1, lever);
        multiply(1, 6, 6, own.Pt, own.mixed, row);
        multiply(6, 6, 1, lever, row, rise);
        add(36, -own.inverse[0], rise, I);
        multiply(1, 1, 6, own.Pt, own.force, x);
        add(6, -own.inverse[0] * x[0], lever, F);
    }
    transpose(6, 1, base.P, Pt);
    multiply(6, 1, 6, I, base.P, x);
    multiply(1, 1, 6, Pt, x, &M);
    multiply(1, 1, 6, Pt, F, x);
    base.udot[0] = x[0] / M; /* (67) */
    for (int k = 0; k < 6; k++) l.base_A[k] = base.P[k] * base.udot[0];
    follow(&l, &own);
    double here = s.vdot[s.model->links[l.base].v];
    *difference = fabs(here - base.udot[0]) / (1 + fabs(here));
    if (!printed) compare(&s, &l);
    discard(&s);
}

static void loop_on_a_swinging_base(void **state) {
    (void)state;
    for (int printed = 0; printed < 2; printed++) {
        static const double hinge[3] = {-0.4, 0.2, 0.1}, axis[3] = {0.3, 1, 0.2},
                            middle[3] = {0.3, -0.2, 0.4};
        double points[4][3], axes[4][3], difference;
        tilt(4, flat_four, points, axes);
        lw_spec *spec = lw_spec_create("four-bar on a swing");
        add_link(spec, "swing", 3, middle);
        add_plain_joint(spec, "root", LW_JOINT_REVOLUTE, LW_GROUND, "swing", hinge, axis);
        add_polygon(spec, "swing", 4, points, axes, joint_names, body_names, 2);
        check_on_base(spec, 41, "root", joint_names, 4, printed, &difference);
        printf("swinging base, %s: difference %.2g\n", printed ? "as printed" : "virtual power", difference);
        assert_true(printed ? difference > 1e-3 : difference < same);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planar_four_bar),
        cmocka_unit_test(planar_five_bar),
        cmocka_unit_test(spatial_loop),
        cmocka_unit_test(ladder),
        cmocka_unit_test(loop_on_a_swinging_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
