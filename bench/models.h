/* models.h - the mechanisms of the benchmarks, in a form that Linkwork and every peer can build from.
 *
 * Bodies are numbered 1 .. count, 0 is ground, parents come first. At zero displacement the frame of a body
 * stands at its joint's point with the axes of its parent. Coordinates and speeds are those of spec.h,
 * stacked in the order of the bodies; Linkwork and the peers may order them otherwise.
 */
#ifndef BENCH_MODELS_H
#define BENCH_MODELS_H

#include <linkwork/linkwork.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_body {
    int parent;
    lw_joint_type type;
    double axes[3][3]; /* unit vectors, as many as the type takes */
    int axis_count;
    double lead;     /* screw: advance per turn */
    double point[3]; /* of the joint, in the parent's frame */
    double mass;
    double com[3];
    double inertia[3]; /* about the centre of mass, body axes; the products of inertia are zero */
    int q, q_count;    /* its coordinates */
    int v, v_count;    /* its speeds */
} bench_body;

/* A hinge that closes a loop; its axis is the same in the frames of both bodies. */
typedef struct bench_closure {
    int bodies[2];
    double points[2][3]; /* in the frame of each body */
    double axis[3];
} bench_closure;

typedef struct bench_model {
    char name[32];
    int count;
    int q_size, v_size;
    bench_body *bodies; /* [count + 1]; bodies[0] is ground */
    int closure_count;  /* 0: a tree */
    bench_closure *closures;
} bench_model;

#define BENCH_GRAVITY (-9.81) /* along z */

/* Serial chain of revolute joints about x, y, z, x, ...: links of length 1 along z, mass 1,
 * centre half-way. */
bench_model *bench_chain(int joints);
/* A free pelvis, waist and head of 2, arms of 7, legs of 6 revolute joints, all about coordinate axes. */
bench_model *bench_humanoid(void);
/* A binary tree of 27 bodies, three of each type of joint but free; every second joint has skew axes.
 * Without screws (MuJoCo has none) revolute joints take their place. */
bench_model *bench_mixed(bool screws);
/* The ladder of problems/ladder: rungs on universal joints, bars that join their tips by hinges; one loop per cell, two freedoms
 * in all. A point held where a bar ends makes a loop as closed as the hinge does, whose axis is parallel anyway: such a
 * closure is not redundant. */
bench_model *bench_ladder(int cells);
void bench_model_destroy(bench_model *model);

/* The model in Linkwork; prints the faults and ends the program if it does not compile. */
lw_model *bench_compile(const bench_model *model);

/* Random states: coordinate k of state s at [s * q_size + k], and so on. */
typedef struct bench_states {
    int count;
    double *q, *v, *tau, *vdot;
} bench_states;

/* tau and vdot do not belong together: tau is for forward, vdot for inverse dynamics. The same seed gives the
 * same states. */
bench_states *bench_states_create(const bench_model *model, int count, unsigned long long seed);
/* Of a ladder: all loops are closed, and the next state is a little further, as in a run; rates of the two angles up to `speed`. */
bench_states *bench_ladder_states(const bench_model *model, int count, double speed, unsigned long long seed);
void bench_states_destroy(bench_states *states);

/* A state between the order of bench_model and Linkwork's: q of one, or a vector of speeds. */
void bench_to_linkwork(const bench_model *model, const lw_model *compiled, const double *q, const double *v,
                       double *lw_q, double *lw_v);
void bench_from_linkwork(const bench_model *model, const lw_model *compiled, const double *lw_v, double *v);

/* Memory or the end of the program; zeroed. */
void *bench_allocate(size_t count, size_t size);

#ifdef __cplusplus
}
#endif
#endif
