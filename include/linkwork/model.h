/* model.h - the compiled mechanism: validated, labelled, constant, shareable between threads.
 *
 * Compiling a spec chooses a spanning tree from ground, labels bodies 1 .. n regularly (Mufti 1983, sect. 2:
 * every body after its parent, leaves last), names the joints that close loops, and lays everything out in
 * flat arrays. Body 0 is ground. Tree joint i joins body i to its parent; coordinates q and speeds v are
 * stacked in that order. Joints are known by their index in the spec, or by name.
 *
 * Every index is checked. To a question about an object that is not there, or a model that is NULL, the
 * answer is NULL for a pointer, -1 for an index or a kind, 0 for a count or a relation, NaN for a number, and
 * zeros for a struct.
 */
#ifndef LINKWORK_MODEL_H
#define LINKWORK_MODEL_H

#include <linkwork/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_model lw_model;

/* Compiles a spec. Every fault found goes into the report (which may be NULL); with errors, *model is NULL
 * and the status is not LW_OK. Warnings do not fail. The spec may be destroyed afterwards. */
LW_API lw_status lw_model_compile(const lw_spec *spec, const lw_allocator *allocator, lw_report *report,
                                  lw_model **model);
LW_API void lw_model_destroy(lw_model *model);

/* Its name, and the file it was read from, as the spec has them. */
LW_API const char *lw_model_name(const lw_model *model);
LW_API const char *lw_model_file(const lw_model *model);
/* Coordinates of the tree, then angles of joints that close loops, where their number of revolutions matters
 * (screws, springs and drives that depend on them): these say which turn the angle is in. */
LW_API int lw_model_q_size(const lw_model *model);
LW_API int lw_model_v_size(const lw_model *model);
LW_API const double *lw_model_gravity(const lw_model *model);
LW_API const lw_run_spec *lw_model_run(const lw_model *model); /* what the model file suggests */

/* Bodies, 0 (ground) .. count. */
LW_API int lw_model_body_count(const lw_model *model);             /* without ground */
LW_API int lw_model_body(const lw_model *model, const char *name); /* -1 if there is none */
LW_API const char *lw_model_body_name(const lw_model *model, int body);
LW_API int lw_model_body_parent(const lw_model *model, int body);
LW_API int lw_model_body_joint(const lw_model *model, int body); /* the tree joint that carries it */
LW_API double lw_model_body_mass(const lw_model *model, int body);
LW_API lw_body_kind lw_model_body_kind(const lw_model *model, int body);
LW_API const lw_shape *lw_model_body_shape(const lw_model *model, int body); /* the first one */
/* How many shapes a body has, and each, from 0; NULL if there is none of that number. */
LW_API int lw_model_body_shape_count(const lw_model *model, int body);
LW_API const lw_shape *lw_model_body_shape_at(const lw_model *model, int body, int shape);

/* Frames (section `frames`), 0 .. count-1, in the order of the spec: named markers on bodies. */
LW_API int lw_model_frame_count(const lw_model *model);
LW_API int lw_model_frame(const lw_model *model, const char *name); /* -1 if there is none */
LW_API const char *lw_model_frame_name(const lw_model *model, int frame);
/* The body that carries it; position of its origin and rotation of its axes, (w, x, y, z), in the body's
 * frame; either may be NULL. */
LW_API int lw_model_frame_body(const lw_model *model, int frame, double position[3], double rotation[4]);

/* Joints, 0 .. count-1, in the order of the spec. */
typedef struct lw_joint_info {
    const char *name;
    lw_joint_type type;
    int bodies[2];       /* first, second, as the user wrote them */
    bool cut;            /* closes a loop: has no coordinates */
    int child;           /* tree joint: the body it carries; else -1 */
    bool reversed;       /* tree joint whose child is its first body; coordinates keep the user's sense */
    int q, q_count;      /* its coordinates in q (cut: q = -1) */
    int v, v_count;      /* its speeds in v */
    int rows;            /* closure rows if cut, 6 - freedom; else 0 */
    unsigned prescribed; /* bit k: speed k is prescribed */
} lw_joint_info;

/* How many joints there are, the index of one by its name, and what is known of it. */
LW_API int lw_model_joint_count(const lw_model *model);
LW_API int lw_model_joint(const lw_model *model, const char *name); /* -1 if there is none */
LW_API lw_joint_info lw_model_joint_info(const lw_model *model, int joint);
/* Welds whose bodies methods compute as one body (lw_spec_set_welds), and whether a joint is one of them.
 * Their bodies, reactions and flags are those of all others. */
LW_API int lw_model_merged_count(const lw_model *model);
LW_API bool lw_model_joint_merged(const lw_model *model, int joint);

/* Force elements and constraints, 0 .. count-1, in the order of the spec; the elements of joints' stops
 * follow those of the spec ("pin.stop.upper"). */
LW_API int lw_model_force_count(const lw_model *model);
LW_API const char *lw_model_force_name(const lw_model *model, int force);
LW_API int lw_model_constraint_count(const lw_model *model);
LW_API const char *lw_model_constraint_name(const lw_model *model, int constraint);
/* Has one of its joints a compliance, by which reactions that are not unique are shared? */
LW_API bool lw_model_is_compliant(const lw_model *model);
LW_API lw_constraint_type lw_model_constraint_type(const lw_model *model, int constraint);

/* Inputs, 0 .. count-1, in the order of the spec: numbers that force laws, applied forces and drives use and
 * that the caller may change at run time. */
LW_API int lw_model_input_count(const lw_model *model);
LW_API int lw_model_input(const lw_model *model, const char *name); /* -1 if there is none */
LW_API const char *lw_model_input_name(const lw_model *model, int input);
LW_API double lw_model_input_default(const lw_model *model, int input); /* NaN: an expression */
/* Parameters, 0 .. count-1, in the order of the spec, with the values that the model was compiled with
 * (lw_spec_set_parameter; lw_simulation_set_parameter for those that enter forces only). */
/* Events, in the order of the spec, then those of joints' limits and stops ("pin.limit.upper"); NULL if there
 * is none of that number. */
LW_API int lw_model_event_count(const lw_model *model);
LW_API const char *lw_model_event_name(const lw_model *model, int event);
LW_API int lw_model_parameter_count(const lw_model *model);
LW_API int lw_model_parameter(const lw_model *model, const char *name); /* -1 if there is none */
LW_API const char *lw_model_parameter_name(const lw_model *model, int parameter);
LW_API double lw_model_parameter_value(const lw_model *model, int parameter);
/* User states (section `states`), 0 .. count-1, in the order of the spec, with the values they start from. */
LW_API int lw_model_state_count(const lw_model *model);
LW_API int lw_model_state(const lw_model *model, const char *name); /* -1 if there is none */
LW_API const char *lw_model_state_name(const lw_model *model, int state);
LW_API double lw_model_state_start(const lw_model *model, int state);
/* Outputs (section `outputs`), 0 .. count-1, in the order of the spec. Values are in SI units wherever the
 * library gives them; `unit` is that of results files and plots, "" if there is none, and value times scale
 * is in it. scale may be NULL. */
LW_API int lw_model_output_count(const lw_model *model);
LW_API int lw_model_output(const lw_model *model, const char *name); /* -1 if there is none */
LW_API const char *lw_model_output_name(const lw_model *model, int output);
LW_API const char *lw_model_output_unit(const lw_model *model, int output, double *scale);

/* The graph (Mufti 1983, eqs 1, 22-25). Arc h_i is the joint into body i; the joints that carry a body from
 * ground are the base arcs. With one base arc, entry (body, arc) gives C of (1) for arcs 2 .. n and -e1 of
 * (22) for arc 1. */
LW_API int lw_model_incidence(const lw_model *model, int body,
                              int arc); /* +1 initial, -1 final vertex, else 0; 1 .. n */
LW_API int lw_model_path(const lw_model *model, int arc,
                         int body); /* T: -1 if the arc is on the way from ground to body */

/* Loops, one for each cut joint, in the order of their length. */
LW_API int lw_model_loop_count(const lw_model *model);
LW_API int lw_model_loop_cut(const lw_model *model, int loop);    /* the joint that closes it */
LW_API int lw_model_loop_length(const lw_model *model, int loop); /* joints in it, the cut one included */
LW_API int lw_model_loop_joint(const lw_model *model, int loop, int index,
                               int *sense);                     /* along it, starting with the cut joint */
LW_API int lw_model_loop_base(const lw_model *model, int loop); /* the body where its two branches meet */

/* The initial state; q and v may be NULL. */
LW_API void lw_model_initial_state(const lw_model *model, double *q, double *v);

#ifdef __cplusplus
}
#endif
#endif
