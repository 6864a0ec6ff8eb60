/* spec_storage.h - the inner structure of a spec, for the files that compile it.
 *
 * All strings, tables and lists live in the arena. A list doubles into a new piece of the arena, so the
 * pieces left behind are together no larger than the list itself.
 */
#ifndef LW_SPEC_STORAGE_H
#define LW_SPEC_STORAGE_H

#include "core/core.h"
#include "expression/meaning.h"
#include "model/spec/binding_types.h"
#include "model/spec/shape_copy.h"

#include <linkwork/spec.h>

typedef struct lw_parameter {
    const char *name;
    double value;
    lw_place place; /* {0, 0}: not known */
    /* The expression that the value comes from; NULL if the value was set. Of an input: the expression that
     * is its default; NULL if that is a number. */
    const char *text;
    lw_meaning meaning; /* what it measures, as far as the model file said; not kept in bytes */
    /* The parameter that is evaluated at this position, counted from the first evaluation. */
    size_t evaluated;
} lw_parameter;

/* The places of the values of a body or joint in the model file, for messages; {0, 0} if unknown. */
typedef struct lw_body_places {
    lw_place mass, com, inertia, position, rotation;
} lw_body_places;

/* The place of an expression in the model file. Faults of an expression that are found in compiling are
 * reported there: it is the first of its text behind the place of its object. */
typedef struct lw_text_place {
    const char *text;
    lw_place place;
    bool plain; /* Its characters stand one behind the other in one line. */
} lw_text_place;

typedef struct lw_joint_places {
    lw_place between, lead, q, v;
    lw_place armature, zero, limits, stop, compliance;
    lw_place point[2], axes[2][3]; /* as geometry of lw_joint_spec */
} lw_joint_places;

/* The points of a table as they were added; as long as the table still has them, its file is their source. */
typedef struct lw_table_source {
    const double *x, *y;
    int size;
} lw_table_source;

struct lw_spec {
    lw_arena *arena;
    const char *name, *file; /* never NULL; "" if not given */
    double gravity[3];
    lw_welds welds;
    lw_run_spec run;

    lw_parameter *parameters, *inputs; /* an input's value is its default */
    lw_table_spec *tables;
    lw_table_source *table_sources;
    lw_body_spec *bodies;
    lw_mesh_pool meshes; /* of the shapes of bodies */
    lw_frame_spec *frames;
    lw_part_spec *parts;
    size_t part_count, part_capacity;
    lw_joint_spec *joints;
    lw_force_spec *forces;
    lw_constraint_spec *constraints;
    lw_event_spec *events;
    size_t event_count, event_capacity;
    lw_signal_spec *signals;
    lw_state_spec *states;
    lw_output_spec *outputs;
    lw_start_spec *starts; /* the joints of one start are neighbours if they were read */
    size_t frame_count, frame_capacity, start_count, start_capacity;
    size_t parameter_count, input_count, table_count, body_count, joint_count, force_count, constraint_count,
        signal_count, state_count, output_count;
    size_t parameter_capacity, input_capacity, table_capacity, table_source_capacity, body_capacity,
        joint_capacity, force_capacity, constraint_capacity, signal_capacity, state_capacity, output_capacity;

    /* Places of bodies and joints by index, as far as the reader has given them. */
    lw_body_places *body_places;
    lw_joint_places *joint_places;
    size_t body_place_count, joint_place_count, body_place_capacity, joint_place_capacity;

    lw_text_place *text_places;
    size_t text_place_count, text_place_capacity;

    lw_bindings bindings;
    size_t evaluated_count; /* parameters that the reader has evaluated */
};

/* Adds a parameter that stands at this place of the model file; its value follows by lw_spec_evaluated. The
 * calls of lw_spec_evaluated come in an order in which each expression needs earlier parameters only. */
lw_status lw_spec_place_parameter(lw_spec *spec, const char *name, lw_place place);
lw_status lw_spec_evaluated(lw_spec *spec, size_t index, double value, const char *text);
/* lw_spec_set_input with the place of the input in the model file. */
lw_status lw_spec_place_input(lw_spec *spec, const char *name, double value, lw_place place);
lw_status lw_spec_place_input_expression(lw_spec *spec, const char *name, const char *text, lw_place place);
/* Does a table still have the points that were read from its file? */
bool lw_spec_table_is_of_file(const lw_spec *spec, size_t index);
/* Records where an expression stands. plain: its characters stand one behind the other in one line. */
lw_status lw_spec_place_text(lw_spec *spec, const char *text, lw_place place, bool plain);
/* The place of character `offset` of an expression of the object at `object`; that of the object if it is not
 * known. */
lw_place lw_spec_text_place(const lw_spec *spec, const char *text, lw_place object, size_t offset);
/* Stores the places of the body or joint that was added last. */
lw_status lw_spec_place_body(lw_spec *spec, const lw_body_places *places);
lw_status lw_spec_place_joint(lw_spec *spec, const lw_joint_places *places);
/* The places of a body or joint of the spec; all {0, 0} if they are unknown. */
const lw_body_places *lw_spec_body_places(const lw_spec *spec, const lw_body_spec *body);
const lw_joint_places *lw_spec_joint_places(const lw_spec *spec, const lw_joint_spec *joint);

/* Reports the faults of each body and joint taken by itself (compile.c); for an incomplete spec, which cannot
 * be compiled. */
void lw_spec_check_parts(const lw_spec *spec, lw_report *report);

#endif
