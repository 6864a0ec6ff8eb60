/* spec.c - the editable description of a mechanism: lists that own deep copies of what they are given.
 *
 * Adding is O(1) amortised. Nothing is checked here: compiling finds all faults of a spec together. An
 * element is counted only when it is copied whole, so a failed add leaves the spec as it was.
 */
#include "model/spec/spec_storage.h"
#include "model/joint_types.h"

#include <string.h>

/* --- copies --------------------------------------------------------------------------------------- */

/* Copies texts into an arena one after the other, and records whether memory was exhausted. */
typedef struct {
    lw_arena *arena;
    bool failed;
} text_copier;

static const char *copy_text(text_copier *copier, const char *text) {
    const char *copy = lw_arena_text(copier->arena, text);
    if (text && !copy) copier->failed = true;
    return copy;
}

static const char *copy_name(text_copier *copier, const char *name) {
    return copy_text(copier, name ? name : "");
}

static const double *copy_numbers(text_copier *copier, const double *numbers, int count) {
    if (!numbers || count <= 0) return NULL;
    double *copy = LW_NEW(copier->arena, double, count);
    if (copy) {
        memcpy(copy, numbers, (size_t)count * sizeof *copy);
    } else {
        copier->failed = true;
    }
    return copy;
}

static void copy_texts(text_copier *copier, const char **texts, int count) {
    for (int k = 0; k < count; k++) texts[k] = copy_text(copier, texts[k]);
}

/* --- lists ---------------------------------------------------------------------------------------- */

/* Returns the list if it has space for one more item, otherwise a copy of twice the capacity, or NULL if
 * there is no memory. */
static void *with_room(lw_arena *arena, void *items, size_t count, size_t *capacity, size_t item_size) {
    if (count < *capacity) return items;
    size_t longer = *capacity ? 2 * *capacity : 8;
    void *copy = lw_arena_take(arena, longer, item_size);
    if (!copy) return NULL;
    if (count > 0) memcpy(copy, items, count * item_size);
    *capacity = longer;
    return copy;
}

/* --- life ----------------------------------------------------------------------------------------- */

lw_spec *lw_spec_create(const char *name) {
    lw_arena *arena = lw_arena_create(NULL);
    if (!arena) return NULL;
    lw_spec *spec = LW_NEW(arena, lw_spec, 1);
    const char *own_name = lw_arena_text(arena, name ? name : "");
    if (!spec || !own_name) {
        lw_arena_destroy(arena);
        return NULL;
    }
    spec->arena = arena;
    spec->name = own_name;
    spec->file = "";
    spec->gravity[2] = -9.81;
    return spec;
}

void lw_spec_destroy(lw_spec *spec) {
    if (spec) lw_arena_destroy(spec->arena);
}

/* --- settings ------------------------------------------------------------------------------------- */

lw_status lw_spec_set_file(lw_spec *spec, const char *file) {
    if (!spec) return LW_ERROR_ARGUMENT;
    const char *copy = lw_arena_text(spec->arena, file ? file : "");
    if (!copy) return LW_ERROR_MEMORY;
    spec->file = copy;
    return LW_OK;
}

void lw_spec_set_gravity(lw_spec *spec, const double gravity[3]) {
    if (spec && gravity) memcpy(spec->gravity, gravity, sizeof spec->gravity);
}
lw_status lw_spec_set_welds(lw_spec *spec, lw_welds welds) {
    if (!spec || (welds != LW_WELDS_MERGE && welds != LW_WELDS_KEEP)) return LW_ERROR_ARGUMENT;
    spec->welds = welds;
    return LW_OK;
}

/* Changes the entry with this name, or adds one. */
static lw_status set_named(lw_arena *arena, lw_parameter **list, size_t *count, size_t *capacity,
                           const char *name, double value, lw_place place) {
    if (!name) name = "";
    for (size_t k = 0; k < *count; k++) {
        if (strcmp((*list)[k].name, name) != 0) continue;
        (*list)[k].value = value;
        (*list)[k].text = NULL;
        return LW_OK;
    }
    const char *copy = lw_arena_text(arena, name);
    lw_parameter *longer = with_room(arena, *list, *count, capacity, sizeof *longer);
    if (!copy || !longer) return LW_ERROR_MEMORY;
    *list = longer;
    longer[(*count)++] = (lw_parameter){.name = copy, .value = value, .place = place};
    return LW_OK;
}

lw_status lw_spec_place_parameter(lw_spec *spec, const char *name, lw_place place) {
    size_t before = spec->parameter_count;
    lw_status status = set_named(spec->arena, &spec->parameters, &spec->parameter_count,
                                 &spec->parameter_capacity, name, 0, place);
    if (status == LW_OK && spec->parameter_count == before) status = LW_ERROR_ARGUMENT;
    if (status == LW_OK) spec->parameters[before].evaluated = before;
    return status;
}

lw_status lw_spec_evaluated(lw_spec *spec, size_t index, double value, const char *text) {
    lw_parameter *p = &spec->parameters[index];
    p->text = lw_arena_text(spec->arena, text);
    p->value = value;
    spec->parameters[spec->evaluated_count++].evaluated = index;
    return text && !p->text ? LW_ERROR_MEMORY : LW_OK;
}

lw_status lw_spec_add_parameter(lw_spec *spec, const char *name, double value) {
    if (!spec || !name) return LW_ERROR_ARGUMENT;
    for (size_t k = 0; k < spec->parameter_count; k++)
        if (strcmp(spec->parameters[k].name, name) == 0) return LW_ERROR_ARGUMENT;
    lw_status status = lw_spec_place_parameter(spec, name, (lw_place){0, 0});
    if (status == LW_OK) spec->parameters[spec->parameter_count - 1].value = value;
    return status;
}

lw_status lw_spec_place_input(lw_spec *spec, const char *name, double value, lw_place place) {
    return set_named(spec->arena, &spec->inputs, &spec->input_count, &spec->input_capacity, name, value,
                     place);
}

lw_status lw_spec_set_input(lw_spec *spec, const char *name, double value) {
    if (!spec || !name) return LW_ERROR_ARGUMENT;
    return lw_spec_place_input(spec, name, value, (lw_place){0, 0});
}

lw_status lw_spec_place_input_expression(lw_spec *spec, const char *name, const char *text, lw_place place) {
    const char *copy = lw_arena_text(spec->arena, text);
    lw_status status = copy ? lw_spec_place_input(spec, name, 0, place) : LW_ERROR_MEMORY;
    for (size_t k = 0; k < spec->input_count && status == LW_OK; k++)
        if (strcmp(spec->inputs[k].name, name) == 0) spec->inputs[k].text = copy;
    return status;
}

lw_status lw_spec_set_input_expression(lw_spec *spec, const char *name, const char *expression) {
    if (!spec || !name || !expression) return LW_ERROR_ARGUMENT;
    return lw_spec_place_input_expression(spec, name, expression, (lw_place){0, 0});
}

lw_status lw_spec_set_run(lw_spec *spec, const lw_run_spec *run) {
    if (!spec || !run) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_run_spec copy = *run;
    copy.method = copy_text(&copier, run->method);
    copy.integrator = copy_text(&copier, run->integrator);
    copy.drift = copy_text(&copier, run->drift);
    copy.independent = copy_text(&copier, run->independent);
    copy.reactions = copy_text(&copier, run->reactions);
    copy.begin = copy_text(&copier, run->begin);
    if (copier.failed) return LW_ERROR_MEMORY;
    spec->run = copy;
    return LW_OK;
}

/* --- tables --------------------------------------------------------------------------------------- */

static bool has_named(const lw_parameter *list, size_t count, const char *name) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(list[k].name, name) == 0) return true;
    return false;
}

lw_status lw_spec_add_table(lw_spec *spec, const lw_table_spec *table) {
    if (!spec || !table || !table->name || table->size < 0 || !table->x || !table->y)
        return LW_ERROR_ARGUMENT;
    bool taken = has_named(spec->parameters, spec->parameter_count, table->name) ||
                 has_named(spec->inputs, spec->input_count, table->name);
    for (size_t k = 0; k < spec->table_count && !taken; k++)
        taken = strcmp(spec->tables[k].name, table->name) == 0;
    for (size_t k = 0; k < spec->state_count && !taken; k++)
        taken = strcmp(spec->states[k].name, table->name) == 0;
    for (size_t k = 0; k < spec->signal_count && !taken; k++)
        taken = strcmp(spec->signals[k].name, table->name) == 0;
    if (taken) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_table_spec copy = *table;
    copy.name = copy_name(&copier, table->name);
    copy.x = copy_numbers(&copier, table->x, table->size);
    copy.y = copy_numbers(&copier, table->y, table->size);
    copy.file = copy_text(&copier, table->file);
    copy.x_column = copy_text(&copier, table->x_column);
    copy.y_column = copy_text(&copier, table->y_column);

    lw_table_spec *list =
        with_room(spec->arena, spec->tables, spec->table_count, &spec->table_capacity, sizeof *list);
    lw_table_source *sources = with_room(spec->arena, spec->table_sources, spec->table_count,
                                         &spec->table_source_capacity, sizeof *sources);
    if (!list || !sources) return LW_ERROR_MEMORY;
    spec->tables = list;
    spec->table_sources = sources;
    if (copier.failed) return LW_ERROR_MEMORY;
    sources[spec->table_count] = (lw_table_source){copy.x, copy.y, copy.size};
    list[spec->table_count++] = copy;
    return LW_OK;
}

bool lw_spec_table_is_of_file(const lw_spec *spec, size_t index) {
    const lw_table_spec *table = &spec->tables[index];
    const lw_table_source *source = &spec->table_sources[index];
    return table->file && table->x_column && table->y_column && table->x == source->x &&
           table->y == source->y && table->size == source->size;
}

/* --- elements ------------------------------------------------------------------------------------- */

static bool mesh_is_there(const lw_shape *shape) {
    const lw_mesh_spec *mesh = shape->mesh;
    return !mesh || (mesh->vertex_count >= 0 && mesh->triangle_count >= 0);
}

/* Can the shapes be copied? */
static bool shapes_are_there(const lw_body_spec *body) {
    bool there =
        mesh_is_there(&body->shape) && body->shape_count >= 0 && (body->shape_count == 0 || body->shapes);
    for (int k = 0; k < body->shape_count && there; k++) there = mesh_is_there(&body->shapes[k]);
    return there;
}

lw_status lw_spec_add_body(lw_spec *spec, const lw_body_spec *body) {
    if (!spec || !body || !shapes_are_there(body)) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_body_spec copy = *body;
    copy.name = copy_name(&copier, body->name);
    copy.shape.mesh = lw_mesh_keep(&spec->meshes, spec->arena, body->shape.mesh);
    copy.shapes = NULL;
    if (body->shape_count > 0)
        copy.shapes = lw_shapes_copy(&spec->meshes, spec->arena, body->shapes, body->shape_count);
    if ((body->shape.mesh && !copy.shape.mesh) || (body->shape_count > 0 && !copy.shapes))
        return LW_ERROR_MEMORY;

    lw_body_spec *list =
        with_room(spec->arena, spec->bodies, spec->body_count, &spec->body_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->bodies = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->body_count++] = copy;
    return LW_OK;
}

lw_status lw_spec_add_frame(lw_spec *spec, const lw_frame_spec *frame) {
    if (!spec || !frame) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_frame_spec copy = *frame;
    copy.name = copy_name(&copier, frame->name);
    copy.body = copy_text(&copier, frame->body);

    lw_frame_spec *list =
        with_room(spec->arena, spec->frames, spec->frame_count, &spec->frame_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->frames = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->frame_count++] = copy;
    return LW_OK;
}

lw_status lw_spec_add_part(lw_spec *spec, const lw_part_spec *part) {
    if (!spec || !part) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_part_spec copy = *part;
    copy.name = copy_name(&copier, part->name);
    copy.file = copy_text(&copier, part->file);

    lw_part_spec *list =
        with_room(spec->arena, spec->parts, spec->part_count, &spec->part_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->parts = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->part_count++] = copy;
    return LW_OK;
}

lw_status lw_spec_add_joint(lw_spec *spec, const lw_joint_spec *joint) {
    if (!spec || !joint) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_joint_spec copy = *joint;
    copy.name = copy_name(&copier, joint->name);
    copy_texts(&copier, copy.bodies, 2);
    copy_texts(&copier, copy.motion, LW_JOINT_MAX_V);

    lw_joint_spec *list =
        with_room(spec->arena, spec->joints, spec->joint_count, &spec->joint_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->joints = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->joint_count++] = copy;
    return LW_OK;
}

lw_status lw_spec_add_force(lw_spec *spec, const lw_force_spec *force) {
    if (!spec || !force) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_force_spec copy = *force;
    copy.name = copy_name(&copier, force->name);
    copy_texts(&copier, copy.bodies, 2);
    copy.joint = copy_text(&copier, force->joint);
    copy.law.expression = copy_text(&copier, force->law.expression);
    copy.law.table_x = copy_numbers(&copier, force->law.table_x, force->law.table_size);
    copy.law.table_y = copy_numbers(&copier, force->law.table_y, force->law.table_size);
    copy_texts(&copier, copy.force, 3);
    copy_texts(&copier, copy.torque, 3);
    copy.drive = copy_text(&copier, force->drive);

    lw_force_spec *list =
        with_room(spec->arena, spec->forces, spec->force_count, &spec->force_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->forces = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->force_count++] = copy;
    return LW_OK;
}

lw_status lw_spec_add_constraint(lw_spec *spec, const lw_constraint_spec *constraint) {
    if (!spec || !constraint) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_constraint_spec copy = *constraint;
    copy.name = copy_name(&copier, constraint->name);
    copy_texts(&copier, copy.bodies, 2);
    copy_texts(&copier, copy.joints, LW_COUPLING_MAX);
    copy_texts(&copier, copy.tables, LW_COUPLING_MAX);

    lw_constraint_spec *list = with_room(spec->arena, spec->constraints, spec->constraint_count,
                                         &spec->constraint_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->constraints = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->constraint_count++] = copy;
    return LW_OK;
}

lw_status lw_spec_add_event(lw_spec *spec, const lw_event_spec *event) {
    if (!spec || !event) return LW_ERROR_ARGUMENT;
    if (event->set_count < 0 || event->set_count > LW_EVENT_SETS) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_event_spec copy = *event;
    copy.name = copy_name(&copier, event->name);
    copy.when = copy_text(&copier, event->when);
    copy.joint = copy_text(&copier, event->joint);
    copy.factor = copy_text(&copier, event->factor);
    for (int k = 0; k < event->set_count; k++) {
        copy.sets[k].name = copy_text(&copier, event->sets[k].name);
        copy.sets[k].value = copy_text(&copier, event->sets[k].value);
    }
    for (int k = event->set_count; k < LW_EVENT_SETS; k++) copy.sets[k] = (lw_event_set){NULL, NULL};

    lw_event_spec *list =
        with_room(spec->arena, spec->events, spec->event_count, &spec->event_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->events = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->event_count++] = copy;
    return LW_OK;
}

lw_status lw_spec_add_signal(lw_spec *spec, const lw_signal_spec *signal) {
    if (!spec || !signal) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_signal_spec copy = *signal;
    copy.name = copy_name(&copier, signal->name);
    copy.value = copy_text(&copier, signal->value);
    lw_signal_spec *list =
        with_room(spec->arena, spec->signals, spec->signal_count, &spec->signal_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->signals = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->signal_count++] = copy;
    return LW_OK;
}

lw_status lw_spec_add_state(lw_spec *spec, const lw_state_spec *state) {
    if (!spec || !state) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_state_spec copy = *state;
    copy.name = copy_name(&copier, state->name);
    copy.rate = copy_text(&copier, state->rate);
    lw_state_spec *list =
        with_room(spec->arena, spec->states, spec->state_count, &spec->state_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->states = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->state_count++] = copy;
    return LW_OK;
}

lw_status lw_spec_add_output(lw_spec *spec, const lw_output_spec *output) {
    if (!spec || !output) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_output_spec copy = *output;
    copy.name = copy_name(&copier, output->name);
    copy.value = copy_text(&copier, output->value);
    copy.unit = copy_text(&copier, output->unit);
    lw_output_spec *list =
        with_room(spec->arena, spec->outputs, spec->output_count, &spec->output_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->outputs = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->output_count++] = copy;
    return LW_OK;
}

/* --- starts --------------------------------------------------------------------------------------- */

lw_status lw_spec_add_start(lw_spec *spec, const lw_start_spec *start) {
    if (!spec || !start) return LW_ERROR_ARGUMENT;
    text_copier copier = {spec->arena, false};
    lw_start_spec copy = *start;
    copy.name = copy_name(&copier, start->name);
    copy.joint = copy_name(&copier, start->joint);

    lw_start_spec *list =
        with_room(spec->arena, spec->starts, spec->start_count, &spec->start_capacity, sizeof *list);
    if (!list) return LW_ERROR_MEMORY;
    spec->starts = list;
    if (copier.failed) return LW_ERROR_MEMORY;
    list[spec->start_count++] = copy;
    return LW_OK;
}

/* --- places --------------------------------------------------------------------------------------- */

lw_status lw_spec_place_body(lw_spec *spec, const lw_body_places *places) {
    while (spec->body_place_count < spec->body_count) { /* Earlier bodies had no places. */
        lw_body_places *list = with_room(spec->arena, spec->body_places, spec->body_place_count,
                                         &spec->body_place_capacity, sizeof *list);
        if (!list) return LW_ERROR_MEMORY;
        spec->body_places = list;
        list[spec->body_place_count++] = (lw_body_places){.mass = {0, 0}};
    }
    spec->body_places[spec->body_count - 1] = *places;
    return LW_OK;
}

lw_status lw_spec_place_joint(lw_spec *spec, const lw_joint_places *places) {
    while (spec->joint_place_count < spec->joint_count) {
        lw_joint_places *list = with_room(spec->arena, spec->joint_places, spec->joint_place_count,
                                          &spec->joint_place_capacity, sizeof *list);
        if (!list) return LW_ERROR_MEMORY;
        spec->joint_places = list;
        list[spec->joint_place_count++] = (lw_joint_places){.between = {0, 0}};
    }
    spec->joint_places[spec->joint_count - 1] = *places;
    return LW_OK;
}

lw_status lw_spec_place_text(lw_spec *spec, const char *text, lw_place place, bool plain) {
    lw_text_place *list = with_room(spec->arena, spec->text_places, spec->text_place_count,
                                    &spec->text_place_capacity, sizeof *list);
    const char *copy = lw_arena_text(spec->arena, text);
    if (!list || !copy) return LW_ERROR_MEMORY;
    spec->text_places = list;
    list[spec->text_place_count++] = (lw_text_place){copy, place, plain};
    return LW_OK;
}

static bool is_behind(lw_place a, lw_place b) {
    return a.line > b.line || (a.line == b.line && a.column >= b.column);
}

lw_place lw_spec_text_place(const lw_spec *spec, const char *text, lw_place object, size_t offset) {
    const lw_text_place *best = NULL;
    for (const lw_text_place *p = spec->text_places;
         (size_t)(p - spec->text_places) < (size_t)spec->text_place_count; p++)
        if (is_behind(p->place, object) && strcmp(p->text, text) == 0 &&
            (!best || !is_behind(p->place, best->place)))
            best = p;
    if (!best) return object;
    lw_place place = best->place;
    if (best->plain) place.column += (int)offset;
    return place;
}

const lw_body_places *lw_spec_body_places(const lw_spec *spec, const lw_body_spec *body) {
    static const lw_body_places none;
    size_t index = (size_t)(body - spec->bodies);
    return index < spec->body_place_count ? &spec->body_places[index] : &none;
}

const lw_joint_places *lw_spec_joint_places(const lw_spec *spec, const lw_joint_spec *joint) {
    static const lw_joint_places none;
    size_t index = (size_t)(joint - spec->joints);
    return index < spec->joint_place_count ? &spec->joint_places[index] : &none;
}

/* --- reading -------------------------------------------------------------------------------------- */

const char *lw_spec_name(const lw_spec *spec) { return spec ? spec->name : NULL; }
const char *lw_spec_file(const lw_spec *spec) { return spec ? spec->file : NULL; }
lw_welds lw_spec_welds(const lw_spec *spec) { return spec ? spec->welds : LW_WELDS_MERGE; }
const double *lw_spec_gravity(const lw_spec *spec) { return spec ? spec->gravity : NULL; }
const lw_run_spec *lw_spec_run(const lw_spec *spec) { return spec ? &spec->run : NULL; }
size_t lw_spec_parameter_count(const lw_spec *spec) { return spec ? spec->parameter_count : 0; }
size_t lw_spec_input_count(const lw_spec *spec) { return spec ? spec->input_count : 0; }
size_t lw_spec_table_count(const lw_spec *spec) { return spec ? spec->table_count : 0; }
size_t lw_spec_body_count(const lw_spec *spec) { return spec ? spec->body_count : 0; }
size_t lw_spec_frame_count(const lw_spec *spec) { return spec ? spec->frame_count : 0; }
size_t lw_spec_part_count(const lw_spec *spec) { return spec ? spec->part_count : 0; }
size_t lw_spec_joint_count(const lw_spec *spec) { return spec ? spec->joint_count : 0; }
size_t lw_spec_force_count(const lw_spec *spec) { return spec ? spec->force_count : 0; }
size_t lw_spec_event_count(const lw_spec *spec) { return spec ? spec->event_count : 0; }
size_t lw_spec_constraint_count(const lw_spec *spec) { return spec ? spec->constraint_count : 0; }

size_t lw_spec_signal_count(const lw_spec *spec) { return spec ? spec->signal_count : 0; }
size_t lw_spec_state_count(const lw_spec *spec) { return spec ? spec->state_count : 0; }
size_t lw_spec_output_count(const lw_spec *spec) { return spec ? spec->output_count : 0; }
size_t lw_spec_start_count(const lw_spec *spec) { return spec ? spec->start_count : 0; }

const char *lw_spec_parameter(const lw_spec *spec, size_t index, double *value) {
    if (!spec || index >= spec->parameter_count) return NULL;
    if (value) *value = spec->parameters[index].value;
    return spec->parameters[index].name;
}

const char *lw_spec_input(const lw_spec *spec, size_t index, double *value) {
    if (!spec || index >= spec->input_count) return NULL;
    if (value) *value = spec->inputs[index].value;
    return spec->inputs[index].name;
}

const char *lw_spec_input_expression(const lw_spec *spec, size_t index) {
    return spec && index < spec->input_count ? spec->inputs[index].text : NULL;
}

lw_table_spec *lw_spec_table(lw_spec *spec, size_t index) {
    return spec && index < spec->table_count ? &spec->tables[index] : NULL;
}

lw_body_spec *lw_spec_body(lw_spec *spec, size_t index) {
    return spec && index < spec->body_count ? &spec->bodies[index] : NULL;
}

lw_frame_spec *lw_spec_frame(lw_spec *spec, size_t index) {
    return spec && index < spec->frame_count ? &spec->frames[index] : NULL;
}

lw_part_spec *lw_spec_part(lw_spec *spec, size_t index) {
    return spec && index < spec->part_count ? &spec->parts[index] : NULL;
}

lw_joint_spec *lw_spec_joint(lw_spec *spec, size_t index) {
    return spec && index < spec->joint_count ? &spec->joints[index] : NULL;
}

lw_force_spec *lw_spec_force(lw_spec *spec, size_t index) {
    return spec && index < spec->force_count ? &spec->forces[index] : NULL;
}

lw_event_spec *lw_spec_event(lw_spec *spec, size_t index) {
    return spec && index < spec->event_count ? &spec->events[index] : NULL;
}
lw_signal_spec *lw_spec_signal(lw_spec *spec, size_t index) {
    return spec && index < spec->signal_count ? &spec->signals[index] : NULL;
}

lw_state_spec *lw_spec_state(lw_spec *spec, size_t index) {
    return spec && index < spec->state_count ? &spec->states[index] : NULL;
}

lw_output_spec *lw_spec_output(lw_spec *spec, size_t index) {
    return spec && index < spec->output_count ? &spec->outputs[index] : NULL;
}

lw_start_spec *lw_spec_start(lw_spec *spec, size_t index) {
    return spec && index < spec->start_count ? &spec->starts[index] : NULL;
}

lw_constraint_spec *lw_spec_constraint(lw_spec *spec, size_t index) {
    return spec && index < spec->constraint_count ? &spec->constraints[index] : NULL;
}

/* --- kinds ---------------------------------------------------------------------------------------- */

static bool known_joint_type(lw_joint_type type) {
    return (unsigned)type < (unsigned)lw_joint_descriptor_count;
}

const char *lw_joint_type_name(lw_joint_type type) {
    return known_joint_type(type) ? lw_joint_describe(type)->name : "unknown";
}

const char *lw_force_type_name(lw_force_type type) {
    switch (type) {
    case LW_FORCE_SPRING:
        return "spring";
    case LW_FORCE_TORSION:
        return "torsion";
    case LW_FORCE_BUSHING:
        return "bushing";
    case LW_FORCE_APPLIED:
        return "applied";
    case LW_FORCE_DRIVE:
        return "drive";
    case LW_FORCE_FRICTION:
        return "friction";
    case LW_FORCE_CONTACT:
        return "contact";
    case LW_FORCE_TYPES:
        break;
    }
    return "unknown";
}

const char *lw_constraint_type_name(lw_constraint_type type) {
    switch (type) {
    case LW_CONSTRAINT_DISTANCE:
        return "distance";
    case LW_CONSTRAINT_COUPLING:
        return "coupling";
    case LW_CONSTRAINT_ROLLING:
        return "rolling";
    case LW_CONSTRAINT_TYPES:
        break;
    }
    return "unknown";
}

int lw_joint_type_v(lw_joint_type type, int axis_count) {
    if (!known_joint_type(type)) return 0;
    const lw_joint_descriptor *d = lw_joint_describe(type);
    int slides = d->slides;
    if (d->axes_are_slides && axis_count < slides) slides = axis_count < 0 ? 0 : axis_count;
    return slides + d->turns + (d->ball ? 3 : 0);
}

int lw_joint_type_q(lw_joint_type type, int axis_count) {
    /* A rotation has three speeds and four coordinates, its quaternion. */
    return lw_joint_type_v(type, axis_count) +
           (known_joint_type(type) && lw_joint_describe(type)->ball ? 1 : 0);
}

bool lw_joint_type_turns(lw_joint_type type, int speed) {
    return speed >= 0 && speed < lw_joint_type_v(type, LW_JOINT_MOTIONS) && lw_joint_speed_turns(type, speed);
}
