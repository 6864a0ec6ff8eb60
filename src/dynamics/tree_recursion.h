/* tree_recursion.h - what the recursions on a tree share, for one state or several at a time (linalg/simd.h):
 * kernels, positions and velocities. tree_forward.h and tree_inverse.h go on from here.
 *
 * Source   Anderson & Critchley (2003), eqs 8-19, 24, 26, 27, at the joints instead of the mass centres;
 *          derivation in docs/theory/tree.md, 11-20.
 * Symbols  w                angular velocity
 *          (alpha; a)       angular acceleration, acceleration of the frame's origin, gravity taken off
 *          I^ = [A B; B' C] articulated inertia, and f^ its bias wrench (torque; force)
 *          S, U, D, u       motion subspace, U = I^ S, D = S'U, u = tau - S'f^
 *          A symmetric 3 x 3 is xx, yy, zz, xy, xz, yz.
 * Cost     O(n). A revolute joint about a coordinate axis (aligned) takes about 200 multiplications and a
 *          division forwards, 80 for inverse dynamics, plus 20 for its sine and cosine; other joints go
 *          through S, two to four times that.
 * Limits   no loops, no constraints; every joint must move some inertia.
 *
 * Gravity g is an acceleration -g of ground, from which the passes outwards start; no body has a weight.
 *
 * Accelerations are those of points, not spatial ones: then no linear velocity is needed at all, and the
 * wrench that speeds alone ask of a rigid body is (w x J w; w x (w x h)).
 */
#ifndef LW_TREE_RECURSION_H
#define LW_TREE_RECURSION_H

#include "dynamics/joint_sincos.h"
#include "model/data.h"
#include "model/joint_motion.h"

/* The numbers of a body: those of the model, the same for all lanes, or those of another model in each lane
 * (models_kernels.h), whose structure is that of the first one. */
#ifdef LW_MODELS_SIDE_BY_SIDE
typedef REAL number;
typedef struct body_numbers {
    number p[3], R[9];
    struct {
        number mass, moment[3], second[6];
    } inertia;
} body_numbers;
static inline REAL constant(number x) { return x; }
#define NUMBERS_OF(r, i) (&(r)->numbers[i])
#define GRAVITY_OF(r) ((r)->gravity)
#define ARMATURE_OF(r) ((r)->armature)
#else
typedef double number;
typedef lw_link body_numbers;
static inline REAL constant(number x) { return real(x); }
#define NUMBERS_OF(r, i) (&(r)->model->links[i])
#define GRAVITY_OF(r) ((r)->model->gravity)
#define ARMATURE_OF(r) ((r)->model->armature)
#endif

/* What the passes leave at each body for each other. */
typedef LW_NODE(REAL) node;
typedef LW_RELATIVE_POSE(REAL) relative_pose;
typedef LW_SUM(REAL) sum;
typedef LW_SWING(REAL) swing;

typedef struct recursion {
    const lw_model *model;
    node *nodes;             /* 0 .. n */
    relative_pose *relative; /* 0 .. n */
    sum *sums;               /* by slot */
    swing *swings;           /* one for leaves, then by slot */
    /* 6 per body, 0 .. n: the wrench that its joint has to transmit (inverse dynamics). */
    REAL *wrenches;
    REAL *S, *U, *D;     /* 6 per speed, for joints other than aligned ones */
    REAL *u;             /* per speed */
    REAL *sine, *cosine; /* per speed, of aligned revolute joints */
    /* state: per coordinate or speed */
    const REAL *q, *v, *tau;
    REAL *vdot;       /* in: prescribed ones; out: the others */
    REAL *drive;      /* out: force of the drives at prescribed speeds, per speed; may be NULL */
    const REAL *load; /* 6 per body: wrench of the force elements; NULL if no element loads a body */
    /* per speed: a pivot below counts as zero; infinite: the speed is left out (massless.c) */
    const double *floor;
#ifdef LW_MODELS_SIDE_BY_SIDE
    const body_numbers *numbers;      /* 0 .. n */
    const number *gravity, *armature; /* armature: per speed, or NULL */
#endif
} recursion;

#if LANES == 1
/* The recursion of one state on data's own arrays. */
static inline recursion recursion_of(const lw_model *model, lw_data *data) {
    return (recursion){.model = model,
                       .nodes = (node *)data->nodes,
                       .relative = (relative_pose *)data->relative,
                       .sums = (sum *)data->sums,
                       .swings = (swing *)data->swings,
                       .wrenches = data->wrenches,
                       .S = data->S,
                       .U = data->joint_U,
                       .D = data->joint_D,
                       .u = data->joint_u,
                       .sine = data->sine,
                       .cosine = data->cosine,
                       .q = data->q,
                       .v = data->v,
                       .tau = data->tau,
                       .vdot = data->vdot,
                       .drive = data->drive,
                       .load = model->forces_need_world ? data->load : NULL,
                       .floor = model->pivot_floor};
}
#endif

#define INLINE static inline __attribute__((always_inline))

/* --- kernels -------------------------------------------------------------------------------------- */

/* Index into a symmetric matrix. */
INLINE int sym(int i, int j) { return i == j ? i : i + j + 2; }

/* x about coordinate axis a, from the child's to the parent's axes, and back. */
INLINE void turn(int a, REAL c, REAL s, const REAL x[3], REAL out[3]) {
    int i = (a + 1) % 3, j = (a + 2) % 3;
    out[a] = x[a];
    out[i] = c * x[i] - s * x[j];
    out[j] = s * x[i] + c * x[j];
}
INLINE void turn_back(int a, REAL c, REAL s, const REAL x[3], REAL out[3]) { turn(a, c, -s, x, out); }

/* The same for a symmetric matrix. */
INLINE void turn_symmetric(int a, REAL c, REAL s, const REAL S[6], REAL out[6]) {
    int i = (a + 1) % 3, j = (a + 2) % 3;
    REAL cc = c * c, cs = c * s, d = S[i] - S[j], m = S[sym(i, j)];
    out[a] = S[a];
    out[sym(a, i)] = c * S[sym(a, i)] - s * S[sym(a, j)];
    out[sym(a, j)] = s * S[sym(a, i)] + c * S[sym(a, j)];
    REAL turned = cc * d - 2 * cs * m;
    out[i] = S[j] + turned;
    out[j] = S[i] - turned;
    out[sym(i, j)] = cs * d + (2 * cc - 1) * m;
}

INLINE void symmetric_times(const REAL S[6], const REAL x[3], REAL out[3]) {
    out[0] = S[0] * x[0] + S[3] * x[1] + S[4] * x[2];
    out[1] = S[3] * x[0] + S[1] * x[1] + S[5] * x[2];
    out[2] = S[4] * x[0] + S[5] * x[1] + S[2] * x[2];
}
INLINE void rigid_times(const number S[6], const REAL x[3], REAL out[3]) {
    out[0] = S[0] * x[0] + S[3] * x[1] + S[4] * x[2];
    out[1] = S[3] * x[0] + S[1] * x[1] + S[5] * x[2];
    out[2] = S[4] * x[0] + S[5] * x[1] + S[2] * x[2];
}
/* (n; f) = [A B; B' C] (x; y). */
INLINE void inertia_times(const REAL A[6], const REAL B[9], const REAL C[6], const REAL x[6], REAL out[6]) {
    REAL t[3];
    symmetric_times(A, x, out);
    r3_turn(B, x + 3, t);
    for (int k = 0; k < 3; k++) out[k] += t[k];
    symmetric_times(C, x + 3, out + 3);
    r3_turn_back(B, x, t);
    for (int k = 0; k < 3; k++) out[3 + k] += t[k];
}

INLINE REAL r6_dot(const REAL a[6], const REAL b[6]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

/* R S R' for a symmetric S. */
__attribute__((unused)) static void turn_symmetric_by(const REAL R[9], const REAL S[6], REAL out[6]) {
    REAL T[9];
    for (int i = 0; i < 3; i++) symmetric_times(S, R + 3 * i, T + 3 * i); /* rows of R S */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) out[sym(i, j)] = r3_dot(T + 3 * i, R + 3 * j);
}

/* w x (w x p) for a constant p. */
INLINE void centripetal(const REAL w[3], const REAL p[3], REAL out[3]) {
    REAL along = r3_dot(w, p), square = r3_dot(w, w);
    for (int k = 0; k < 3; k++) out[k] = along * w[k] - square * p[k];
}

INLINE void constant3(const number x[3], REAL out[3]) {
    for (int k = 0; k < 3; k++) out[k] = constant(x[k]);
}

/* The wrench that speeds and force elements require of body i alone: (w x J w; w x (w x h)) - load. */
INLINE void body_wrench(const recursion *r, int i, const REAL w[3], REAL f[6]) {
    const body_numbers *own = NUMBERS_OF(r, i);
    REAL momentum[3], h[3];
    rigid_times(own->inertia.second, w, momentum);
    r3_cross(w, momentum, f);
    constant3(own->inertia.moment, h);
    centripetal(w, h, f + 3);
    if (r->load)
        for (int k = 0; k < 6; k++) f[k] -= r->load[6 * i + k];
}

/* --- positions and velocities (docs/theory/tree.md, 11-13) ---------------------------------------- */

/* Sines and cosines of all aligned revolute joints, before the passes need them one after another: here they
 * do not wait for each other. */
static inline void turn_joints(const recursion *r) {
#if LANES == 1
    lw_joint_sincos(r->model, r->q, r->sine, r->cosine);
#else
    for (int k = 0; k < r->model->turn_count; k++) {
        const lw_turn *turn = &r->model->turns[k];
        real_sincos(turn->sign * r->q[turn->q], &r->sine[turn->v], &r->cosine[turn->v]);
    }
#endif
}

INLINE void revolute_pose(const recursion *r, int i, int a) { (void)r, (void)i, (void)a; }

INLINE void revolute_velocity(const recursion *r, int i, int a) {
    const lw_link *link = &r->model->links[i];
    const node *parent = &r->nodes[link->parent];
    node *own = &r->nodes[i];
    REAL p[3], spin[3], rate = link->sign * r->v[link->v];
    constant3(NUMBERS_OF(r, i)->p, p);
    centripetal(parent->w, p, spin);
    turn_back(a, r->cosine[link->v], r->sine[link->v], parent->w, own->w);
    turn_back(a, r->cosine[link->v], r->sine[link->v], spin, own->bias + 3);
    int j = (a + 1) % 3, k = (a + 2) % 3; /* w x e_a rate */
    own->bias[a] = real(0);
    own->bias[j] = own->w[k] * rate;
    own->bias[k] = -own->w[j] * rate;
    own->w[a] += rate;
}

INLINE void prismatic_pose(const recursion *r, int i, int a) {
    const lw_link *link = &r->model->links[i];
    constant3(NUMBERS_OF(r, i)->p, r->relative[i].p);
    r->relative[i].p[a] += link->sign * r->q[link->q];
}

INLINE void prismatic_velocity(const recursion *r, int i, int a) {
    const lw_link *link = &r->model->links[i];
    const node *parent = &r->nodes[link->parent];
    node *own = &r->nodes[i];
    REAL rate = 2 * link->sign * r->v[link->v];
    prismatic_pose(r, i, a);
    centripetal(parent->w, r->relative[i].p, own->bias + 3);
    int j = (a + 1) % 3, k = (a + 2) % 3; /* + 2 w x e_a rate */
    own->bias[3 + j] += parent->w[k] * rate;
    own->bias[3 + k] -= parent->w[j] * rate;
    for (int l = 0; l < 3; l++) own->w[l] = parent->w[l], own->bias[l] = real(0);
}

/* Any other joint: its pose, its motion subspace S and, unless v is NULL, its bias S° v. */
static void general_motion(const recursion *r, int i, const REAL *v, REAL bias[6]) {
    const lw_link *link = &r->model->links[i];
    relative_pose *own = &r->relative[i];
    REAL R[9], p[3];
    if (link->joint.kernel == LW_KERNEL_UNIVERSAL && !link->joint.inverse) {
        const REAL s1 = r->sine[link->v], c1 = r->cosine[link->v], s = r->sine[link->v + 1],
                   c = r->cosine[link->v + 1];
        universal_motion(s1, c1, s, c, v, R, r->S + 6 * link->v, bias);
        for (int k = 0; k < 3; k++) p[k] = real(0);
    } else
        joint_motion(&link->joint, r->q + link->q, v, R, p, r->S + 6 * link->v, bias);
    if (link->joint.straight) {
        for (int k = 0; k < 9; k++) own->R[k] = R[k];
        for (int k = 0; k < 3; k++) own->p[k] = NUMBERS_OF(r, i)->p[k] + p[k];
        return;
    }
    for (int j = 0; j < 3; j++) {
        const number *b = NUMBERS_OF(r, i)->R + 3 * j;
        for (int k = 0; k < 3; k++) own->R[3 * j + k] = b[0] * R[k] + b[1] * R[3 + k] + b[2] * R[6 + k];
        own->p[j] = NUMBERS_OF(r, i)->p[j] + b[0] * p[0] + b[1] * p[1] + b[2] * p[2];
    }
}

static inline void general_pose(const recursion *r, int i) { general_motion(r, i, NULL, NULL); }

/* Place, w and, of the bias, what the speeds of the joint itself contribute, with the relative twist (w_r;
 * v_r):
 *     angular  S° v + w x w_r,    linear  S° v + 2 R'w_p x v_r + w_r x v_r. */
static void general_rates(const recursion *r, int i, const REAL parent_w[3], REAL w[3], REAL bias[6]) {
    const lw_link *link = &r->model->links[i];
    REAL relative[6], carried[3], t[3];
    const REAL *v = r->v + link->v, *S = r->S + 6 * link->v;
    general_motion(r, i, v, bias);
    bool universal = link->kernel == LW_KERNEL_UNIVERSAL;
    for (int k = 0; k < 6; k++) relative[k] = real(0);
    if (universal)
        relative[0] = S[0] * v[0], relative[1] = v[1], relative[2] = S[2] * v[0];
    else
        for (int l = 0; l < link->joint.nv; l++)
            for (int k = 0; k < 6; k++) relative[k] += S[6 * l + k] * v[l];
    if (link->parent) /* ground does not turn */
        r3_turn_back(r->relative[i].R, parent_w, carried);
    else
        carried[0] = carried[1] = carried[2] = real(0);
    for (int k = 0; k < 3; k++) w[k] = carried[k] + relative[k], t[k] = carried[k] + w[k];
    r3_add_cross(w, relative, bias);
    if (!universal) r3_add_cross(t, relative + 3, bias + 3);
}

static void general_velocity(const recursion *r, int i) {
    const node *parent = &r->nodes[r->model->links[i].parent];
    const relative_pose *at = &r->relative[i];
    node *own = &r->nodes[i];
    REAL spin[3], t[3];
    general_rates(r, i, parent->w, own->w, own->bias);
    if (r->model->links[i].parent == 0) return;
    centripetal(parent->w, at->p, spin);
    r3_turn_back(at->R, spin, t);
    for (int k = 0; k < 3; k++) own->bias[3 + k] += t[k];
}

/* Calls the kernel of body i: revolute_kind(r, i, ..., axis), prismatic_kind(r, i, ..., axis) or
 * general_kind(r, i, ...). */
#define BY_JOINT(link, kind, ...)                                                                            \
    switch ((link)->kernel) {                                                                                \
    case LW_KERNEL_REVOLUTE:                                                                                 \
        revolute_##kind(__VA_ARGS__, 0);                                                                     \
        break;                                                                                               \
    case LW_KERNEL_REVOLUTE + 1:                                                                             \
        revolute_##kind(__VA_ARGS__, 1);                                                                     \
        break;                                                                                               \
    case LW_KERNEL_REVOLUTE + 2:                                                                             \
        revolute_##kind(__VA_ARGS__, 2);                                                                     \
        break;                                                                                               \
    case LW_KERNEL_PRISMATIC:                                                                                \
        prismatic_##kind(__VA_ARGS__, 0);                                                                    \
        break;                                                                                               \
    case LW_KERNEL_PRISMATIC + 1:                                                                            \
        prismatic_##kind(__VA_ARGS__, 1);                                                                    \
        break;                                                                                               \
    case LW_KERNEL_PRISMATIC + 2:                                                                            \
        prismatic_##kind(__VA_ARGS__, 2);                                                                    \
        break;                                                                                               \
    default:                                                                                                 \
        general_##kind(__VA_ARGS__);                                                                         \
    }

/* Prefetches the first cache lines of an array's entry i before a pass reaches it. A large model does not fit
 * into the caches, and the processor does not predict such strides. i may lie outside the array. */
enum { AHEAD = 12 };
INLINE void look_ahead(const void *array, size_t size, int lines, int i) {
    uintptr_t at = (uintptr_t)array + (uintptr_t)((intptr_t)i * (intptr_t)size);
    for (int k = 0; k < lines; k++) __builtin_prefetch((const void *)(at + 64 * (uintptr_t)k));
}

static inline void velocities(const recursion *r) {
    turn_joints(r);
    for (int k = 0; k < 3; k++) r->nodes[0].w[k] = real(0);
    for (int i = 1; i <= r->model->body_count; i++) {
        look_ahead(r->model->links, sizeof(lw_link), 1, i + AHEAD);
        BY_JOINT(&r->model->links[i], velocity, r, i)
    }
}

/* --- what a joint hands outwards: the parent's acceleration, seen from the child, and bias ----------- */

INLINE void carry_revolute(const recursion *r, int i, REAL x[6], int a) {
    const lw_link *link = &r->model->links[i];
    const node *parent = &r->nodes[link->parent], *own = &r->nodes[i];
    REAL p[3], t[3];
    constant3(NUMBERS_OF(r, i)->p, p);
    r3_cross(parent->a, p, t);
    for (int k = 0; k < 3; k++) t[k] += parent->a[3 + k];
    turn_back(a, r->cosine[link->v], r->sine[link->v], parent->a, x);
    turn_back(a, r->cosine[link->v], r->sine[link->v], t, x + 3);
    for (int k = 0; k < 6; k++) x[k] += own->bias[k];
}
INLINE void carry_prismatic(const recursion *r, int i, REAL x[6]) {
    const node *parent = &r->nodes[r->model->links[i].parent], *own = &r->nodes[i];
    r3_cross(parent->a, r->relative[i].p, x + 3);
    for (int k = 0; k < 3; k++) x[k] = parent->a[k], x[3 + k] += parent->a[3 + k];
    for (int k = 0; k < 6; k++) x[k] += own->bias[k];
}
INLINE void carry_general(const recursion *r, int i, REAL x[6]) {
    const int from = r->model->links[i].parent;
    const node *parent = &r->nodes[from], *own = &r->nodes[i];
    REAL t[3];
    if (from) {
        r3_cross(parent->a, r->relative[i].p, t);
        for (int k = 0; k < 3; k++) t[k] += parent->a[3 + k];
        r3_turn_back(r->relative[i].R, parent->a, x);
    } else /* ground does not turn */
        for (int k = 0; k < 3; k++) t[k] = parent->a[3 + k], x[k] = real(0);
    r3_turn_back(r->relative[i].R, t, x + 3);
    for (int k = 0; k < 6; k++) x[k] += own->bias[k];
}

INLINE void carry(const recursion *r, int i, REAL x[6]) {
    int kernel = r->model->links[i].kernel;
    if (kernel < LW_KERNEL_PRISMATIC)
        carry_revolute(r, i, x, kernel);
    else if (kernel < LW_KERNEL_SPHERICAL)
        carry_prismatic(r, i, x);
    else
        carry_general(r, i, x);
}

INLINE void hang_ground(const recursion *r) {
    node *ground = &r->nodes[0]; /* gravity is an upward acceleration of ground */
    for (int k = 0; k < 3; k++) ground->a[k] = real(0), ground->a[3 + k] = constant(-GRAVITY_OF(r)[k]);
}

#endif
