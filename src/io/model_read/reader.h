/* reader.h - the parts of the model reader: values, names, repetition, and one reader for each kind of
 * object.
 *
 * All of them take what they find wrong to lw_reader_fault and go on, so that one reading finds every fault.
 * A call that returns false, or NULL where a value was wanted, has reported why.
 */
#ifndef LW_READER_H
#define LW_READER_H

#include "io/model_read/yaml.h"

#include "expression/function.h"
#include "expression/units.h"
#include "model/names.h"
#include "model/spec/bindings.h"
#include "model/spec/parts.h"

#include <linkwork/io.h>

enum {
    LW_MAX_INDICES = 4,        /* of one repeat */
    LW_MAX_OBJECTS = 250000,   /* of one model; each costs 2 to 3 kB when compiled */
    LW_MAX_PARAMETERS = 10000, /* and as many inputs */
    LW_MAX_NAME = 80,          /* bytes */
    LW_MAX_PARTS = 10000,      /* of one model, with those in parts */
    LW_MAX_PART_DEPTH = 32     /* parts in parts */
};

/* --- names ---------------------------------------------------------------------------------------- */

typedef struct lw_named {
    const char *name;
    const char *key; /* as it stands in the file, with its {index} */
    lw_place place;
    const char *stands_for; /* a body that is another body's second name, a frame: the body; else NULL */
    int type, axis_count;   /* a joint's; type -1: unknown because of faults */
    size_t joined;          /* read_loose.c: another name of its group, or itself */
} lw_named;

/* Objects of one section by name: open addressing, slots hold 1 + index. */
typedef struct lw_name_table {
    lw_named *items;
    size_t count, capacity;
    size_t *slots;
    size_t slot_count;
    bool incomplete; /* faults kept names out, so that an unknown name is no new fault */
} lw_name_table;

/* Finds an entry, NULL if there is none. */
lw_named *lw_results_table_find(const lw_name_table *names, const char *name);
/* Adds an entry that is not there yet; NULL when memory is out. */
lw_named *lw_results_table_add(lw_name_table *names, lw_arena *arena, const char *name, lw_place place);
const char *lw_results_table_closest(const lw_name_table *names, const char *word, const char *extra);

/* --- reader --------------------------------------------------------------------------------------- */

/* A binding of a value that is not in the spec yet. */
typedef struct lw_waiting {
    lw_binding binding;
    const double *results; /* where they stand at the moment */
    lw_operand operands[LW_MAX_OPERANDS];
} lw_waiting;

/* An expression whose syntax is checked when all names are known. */
typedef struct lw_later {
    const lw_yaml *node;
    const char *what, *text;
    char object[LW_MAX_NAME + 32];
} lw_later;

/* A mesh that has been read from a file. */
typedef struct lw_mesh_of_file {
    lw_mesh_spec mesh;
    struct lw_mesh_of_file *next;
} lw_mesh_of_file;

/* The value of a part's parameter that the model gives: an expression of the model's parameters. */
typedef struct lw_preset {
    const char *name, *text;
    double value;
    lw_meaning meaning;
    lw_place place;
    bool kept; /* no setting of the caller replaces it */
} lw_preset;

/* A body of a part that is welded to one outside. */
typedef struct lw_part_join {
    const char *inner, *outer;
    lw_place place, outer_place;
} lw_part_join;

/* A part whose file has been read. */
typedef struct lw_part_read {
    const char *name, *prefix; /* the name and a dot; NULL after a fault */
    const char *use, *file;    /* as it is written, and with the folder of the file that uses it */
    lw_spec *spec;             /* NULL after a fault */
    lw_preset *presets;
    lw_part_join *joins;
    size_t preset_count, join_count;
    bool ground_joined;
    lw_place place;
    lw_part_names names;
    int base[LW_OWNERS]; /* index in the model's spec of the first object of each owner */
} lw_part_read;

typedef struct lw_reader {
    const char *file;
    lw_report *report;
    lw_arena *arena; /* for what lives as long as the reading */
    lw_spec *spec;
    size_t faults;
    /* of these: names not known, keys like no other. What else an entry says can be checked still */
    size_t harmless;
    bool out_of_memory;
    char object[LW_MAX_NAME + 32]; /* in whose entry we are, e.g.  joint "pin"; may be empty */

    lw_constant *constants; /* parameters, then the indices of the repeat we are in */
    size_t parameter_count, index_count;
    lw_constant *inputs; /* inputs, whose values are defaults, then user states, then signals */
    size_t input_count, state_count, signal_count, value_capacity;
    lw_later *later;
    size_t later_count, later_capacity;
    const lw_yaml *table_section; /* NULL if there is none */
    lw_named_table *tables;       /* for expressions */
    size_t table_count, table_capacity;
    /* `file` is the path of a file; tables and meshes may come from other folders than its. */
    bool has_folder, any_path;
    lw_mesh_of_file *meshes;

    lw_name_table table_names, bodies, frames, joints, starts, forces, constraints, events, states, signals,
        outputs;
    lw_name_table connected; /* names of bodies in joints (read_loose.c) */
    const char *start;       /* the start whose joints are being read */
    bool muted;              /* faults are neither reported nor counted */
    bool warned;             /* warnings are not reported: an earlier step of the repeat had some */
    size_t warnings;
    bool only_run; /* sections of objects are passed over */
    /* Keys suggested for misspelt ones, so that they are not reported as missing, too; the last
     * few suffice. */
    struct {
        const lw_yaml *map;
        const char *key;
    } suggested[8];
    size_t suggestion_count;

    size_t objects; /* entries and steps of repeats so far */

    lw_waiting *waiting; /* bindings of the entry that is being read */
    size_t waiting_count, waiting_capacity;

    lw_part_read *parts;
    size_t part_count, part_capacity;
    lw_name_table part_names;
    bool has_parts, long_name;
    const lw_setting *settings; /* of the caller; those with a dot may be for parts */
    size_t setting_count;
    /* Of a file that is read as a part: who uses it, its own path, how deep it lies, given parameters. */
    const struct lw_reader *user;
    const char *path;
    int depth;
    lw_preset *presets;
    size_t preset_count;
    size_t part_count_all, part_bytes; /* so far, of all files */
} lw_reader;

void lw_reader_fault(lw_reader *reader, lw_place place, const char *remedy, const char *format, ...)
    LW_PRINTF(4, 5);
void lw_reader_check(lw_reader *reader, lw_status status); /* notes that memory is out */

/* --- values (read_value.c) ------------------------------------------------------------------------ */

/* Every key must be one of keys (ended by NULL); false if the node is no map. */
bool lw_reader_keys(lw_reader *reader, const lw_yaml *node, const char *const *keys);
/* The value of a key that must be there. */
const lw_yaml *lw_reader_need(lw_reader *reader, const lw_yaml *map, const char *key, const char *remedy);
/* Reports a missing key, unless a misspelt one was taken for it. */
void lw_reader_missing(lw_reader *reader, const lw_yaml *map, const char *key, const char *remedy);
/* Was a misspelt key of the map taken for this one? */
bool lw_reader_suggested(const lw_reader *reader, const lw_yaml *map, const char *key);
/* The place of a key's value; {0, 0} if the map, which may be NULL, has none. */
lw_place lw_reader_place(const lw_yaml *map, const char *key);
/* Is the node a list of count entries? */
bool lw_reader_list(lw_reader *reader, const lw_yaml *node, const char *what, size_t count);

/* What a number may be an expression of: parameters, indices and tables; the names of inputs, to refuse
 * them. */
lw_expression_names lw_reader_names(const lw_reader *reader);
/* The value must measure the quantity, as far as units and parameters with units say what it measures. */
bool lw_reader_number(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity,
                      double *value);
bool lw_reader_numbers(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity,
                       size_t count, double *values);
/* The same with a quantity for each entry. */
bool lw_reader_mixed_numbers(lw_reader *reader, const lw_yaml *node, const char *what,
                             const lw_quantity *quantities, size_t count, double *values);
bool lw_reader_integer(lw_reader *reader, const char *text, const lw_yaml *node, const char *what,
                       long *value);
bool lw_reader_flag(lw_reader *reader, const lw_yaml *node, const char *what, bool *value);
bool lw_reader_rotation(lw_reader *reader, const lw_yaml *node, const char *what, double rotation[4]);
/* Which of choices (ended by NULL) the text is; -1 if none. */
int lw_reader_choice(lw_reader *reader, const lw_yaml *node, const char *what, const char *const *choices);
/* A text with every {expression} in it replaced by its integer value. */
const char *lw_reader_text(lw_reader *reader, const lw_yaml *node, const char *what);
/* The variables of a law, and what they measure; names end with NULL. */
typedef struct lw_law_variables {
    const char *names[LW_MAX_VARIABLES + 1];
    lw_quantity quantities[LW_MAX_VARIABLES];
    lw_input_use inputs;
} lw_law_variables;
/* An expression of variables, parameters and inputs, checked; indices of a repeat are replaced by their
 * values. */
const char *lw_reader_function(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity,
                               const lw_law_variables *variables);

/* The text of an expression, with {index} in names and indices replaced by their values; NULL after a fault.
 * remedy: for a node that is no text. */
const char *lw_reader_expression(lw_reader *reader, const lw_yaml *node, const char *what,
                                 const char *remedy);
/* lw_reader_function for a text that lw_reader_expression has given. */
const char *lw_reader_law(lw_reader *reader, const lw_yaml *node, const char *text, const char *what,
                          lw_quantity quantity, const lw_law_variables *variables);
/* Checks an expression of t when all sections are read (read_signals.c). */
void lw_reader_check_later(lw_reader *reader, const lw_yaml *node, const char *what, const char *text);

/* The text with the indices of the repeat replaced by their values: the spec knows parameters only. */
const char *lw_reader_without_indices(lw_reader *reader, const char *text);

/* A number that is a value of YAML but not of expressions, such as .nan, gets the message of nan. */
void lw_reader_explain(const char *text, lw_syntax *syntax);

/* May this word become a parameter, an input or an index? */
bool lw_reader_new_name(lw_reader *reader, const lw_yaml *word, const char *noun);

/* The same for the value of a key that may be missing: then nothing happens and the value stays. */
bool lw_reader_key_number(lw_reader *reader, const lw_yaml *map, const char *key, lw_quantity quantity,
                          double *value);
bool lw_reader_key_numbers(lw_reader *reader, const lw_yaml *map, const char *key, lw_quantity quantity,
                           size_t count, double *values);

/* Walks through the names in an expression; units behind a number are none. Start with at = 0, operand =
 * false. */
typedef struct lw_name_scan {
    const char *text;
    size_t at;    /* the name found begins here */
    bool operand; /* something that a unit may follow stands before */
} lw_name_scan;
size_t lw_next_name(lw_name_scan *scan); /* length of the next name, 0 at the end; add it to at to go on */

/* --- what depends on parameters (reader_bindings.c) ------------------------------------------------ */

/* Binds a number that has been read, if its expression mentions a parameter. lw_reader_number and its
 * relatives do so by themselves. */
void lw_reader_bind(lw_reader *reader, const lw_yaml *node, const double *value);
/* Drops the binding of a number that is used no further. */
void lw_reader_unbind(lw_reader *reader, const double *value);
/* A bound number must keep this rule. */
void lw_reader_bind_rule(lw_reader *reader, const double *value, lw_binding_rule rule);
/* Takes the bindings of operands, numbers that were read since waiting_count was `mark`, together to one of
 * the results that were computed from them. */
void lw_reader_bind_group(lw_reader *reader, size_t mark, lw_binding_kind kind, const double *operands,
                          const double *results);
/* Results of the body's LW_BIND_SHAPE that the file gives itself: lw_binding.kept. */
void lw_reader_bind_keeps(lw_reader *reader, unsigned kept);
/* A number from which names or counts are made. */
void lw_reader_bind_structure(lw_reader *reader, const char *text, lw_place place, double value);
/* The values in start[0..size) now belong to this object of the spec. */
void lw_reader_bound(lw_reader *reader, lw_binding_owner owner, size_t object, const void *start,
                     size_t size);

/* --- references and repetition (read_section.c) --------------------------------------------------- */

/* The name of a body (its second name resolved), a frame or a joint that is there. */
const char *lw_reader_body(lw_reader *reader, const lw_yaml *node, const char *what);
const lw_named *lw_reader_joint(lw_reader *reader, const lw_yaml *node, const char *what);
/* Key between: [first, second]. */
bool lw_reader_between(lw_reader *reader, const lw_yaml *map, const char *bodies[2]);
/* What coordinate number k of a joint measures, counted as its speeds are: a length or an angle; and what the
 * force, the speed, the stiffness and the damping that belong to it measure. */
lw_quantity lw_coordinate_quantity(int joint_type, int k);
typedef struct lw_coordinate_quantities {
    lw_quantity coordinate, speed, force, stiffness, damping;
} lw_coordinate_quantities;
lw_coordinate_quantities lw_quantities_of(lw_quantity coordinate);
/* read_joint_coordinates.c: the compliance of any joint. */
void lw_read_joint_compliance(lw_reader *reader, const lw_yaml *entry, lw_joint_spec *joint);
/* read_joint_coordinates.c: armature, zero, limits and stop of a joint without a ball. */
void lw_read_joint_coordinates(lw_reader *reader, const lw_yaml *entry, lw_joint_spec *joint);
struct lw_joint_places;
void lw_place_joint_coordinates(const lw_yaml *entry, const lw_joint_spec *joint,
                                struct lw_joint_places *places);
/* Key coordinate of a map that names a joint: which speed; the only one if the joint has one. */
bool lw_reader_coordinate(lw_reader *reader, const lw_yaml *map, const lw_named *joint, int *coordinate);

typedef void lw_entry_reader(lw_reader *reader, lw_named *named, const lw_yaml *entry);
/* Reads all entries of a section, each as often as its repeat says. */
void lw_reader_section(lw_reader *reader, const lw_yaml *section, const char *noun, lw_name_table *names,
                       lw_entry_reader *read);
/* Only visits all entries, as often as their repeats say, whatever their names; named is NULL. names becomes
 * incomplete if that cannot be done. */
void lw_reader_walk(lw_reader *reader, const lw_yaml *section, lw_name_table *names, lw_entry_reader *visit);

/* Is this the name of a frame? */
bool lw_reader_is_frame(const lw_reader *reader, const char *name);
/* May the point beside this name be left out, because it is that of a frame? A name that is not known (NULL,
 * reported before) may be meant for one. */
bool lw_reader_has_point(const lw_reader *reader, const char *name);
/* Two points: key points, in the world, or keys first and second, each in the frame of its body, or in the
 * frame that stands for it: then it may be left out. */
bool lw_reader_points(lw_reader *reader, const lw_yaml *map, const char *const bodies[2],
                      lw_geometry_frame *frame, double points[2][3]);

/* The keys of a contact (read_contacts.c). */
bool lw_read_contact(lw_reader *reader, const lw_yaml *entry, lw_force_spec *force);

/* --- initial states (read_joints.c) --------------------------------------------------------------- */

/* Where coordinates and speeds of a joint are put. */
typedef struct lw_state_target {
    bool *has_q, *has_v;
    double *q, *v;
} lw_state_target;
/* Reads q and v of a joint of this type, or the keys that give them by name. */
void lw_reader_state(lw_reader *reader, const lw_yaml *entry, lw_joint_type type, int axis_count,
                     const lw_state_target *target);
/* Those keys, besides q and v, ended by NULL; at most five entries. */
void lw_reader_state_keys(lw_joint_type type, const char **keys);

/* --- the sections --------------------------------------------------------------------------------- */

/* Parameters and inputs. */
void lw_read_parameters(lw_reader *reader, const lw_yaml *parameters, const lw_yaml *inputs,
                        const lw_setting *settings, size_t setting_count);
void lw_read_tables(lw_reader *reader, const lw_yaml *section);
/* User states and signals; outputs; and when all sections are read, their expressions. */
void lw_read_signals(lw_reader *reader, const lw_yaml *states, const lw_yaml *signals);
void lw_read_outputs(lw_reader *reader, const lw_yaml *outputs);
void lw_read_later(lw_reader *reader);
/* Shapes of a body (read_shapes.c): keys shape, or shapes. */
bool lw_read_shape(lw_reader *reader, const lw_yaml *body, lw_shape *shape);
bool lw_read_shapes(lw_reader *reader, const lw_yaml *body, lw_body_spec *out);
const char *lw_shape_kind_name(lw_shape_kind kind);
void lw_read_bodies(lw_reader *reader, const lw_yaml *section);
void lw_read_frames(lw_reader *reader, const lw_yaml *section);
void lw_read_joints(lw_reader *reader, const lw_yaml *section);
void lw_read_forces(lw_reader *reader, const lw_yaml *section);
void lw_read_constraints(lw_reader *reader, const lw_yaml *section);
void lw_read_events(lw_reader *reader, const lw_yaml *section);

/* Parts and beams (read_parts.c): reads their files; gives them back. */
void lw_read_parts(lw_reader *reader, const lw_yaml *section, const lw_yaml *beams);
/* A part under this name, NULL after a fault; the value of one of its parameters, for which there is room in
 * its presets; and the part itself, when its presets and joins are known: of its file, which has been read,
 * or of the text of a model. */
lw_part_read *lw_reader_new_part(lw_reader *reader, const lw_named *named);
bool lw_reader_add_preset(lw_reader *reader, lw_part_read *part, const char *name, const lw_yaml *node,
                          lw_quantity quantity, double *value);
void lw_reader_finish_part(lw_reader *reader, const lw_named *named, lw_part_read *part, lw_part_spec *own,
                           const char *text, size_t faults_before);
/* A beam (read_beams.c): a part whose model is made from its keys. */
void lw_read_beam(lw_reader *reader, lw_named *named, const lw_yaml *entry);
void lw_reader_free_parts(lw_reader *reader);
/* The part of this model that a name with a dot belongs to; NULL: none. */
const char *lw_reader_part_of(const lw_reader *reader, const char *name);
/* Is the name of a setting that of the file of a part, "use(PART)"? */
bool lw_setting_is_use(const char *name);
/* Reads a file as a part (read_model.c). */
lw_status lw_read_part_file(lw_reader *reader, const char *path, const lw_setting *settings,
                            size_t setting_count, lw_report *report, lw_spec **spec);
lw_status lw_read_part_text(lw_reader *reader, const char *text, const lw_setting *settings,
                            size_t setting_count, lw_report *report, lw_spec **spec);
/* What parts have is added to the model (append_part.c), in this order. */
void lw_append_values(lw_reader *reader);
void lw_append_states(lw_reader *reader);
void lw_append_signals(lw_reader *reader);
void lw_append_names(lw_reader *reader);
void lw_append_objects(lw_reader *reader);
/* Makes a table, or a state or signal, known to expressions. */
void lw_reader_announce_table(lw_reader *reader, const lw_table_spec *spec, lw_named_table *named);
void lw_reader_add_value(lw_reader *reader, const char *name, size_t *count);

void lw_read_starts(lw_reader *reader, const lw_yaml *section);
/* For a text with faults, after all sections: reports the bodies that no joint connects to ground. */
void lw_report_loose(lw_reader *reader, const lw_yaml *joints);

#endif
