/* append_part.c - adds the spec of a part to that of the model, with the part's name and a dot before every
 * name in it, also in its expressions (model/spec/part_names.c).
 *
 * Values (parameters, inputs, tables, states, signals) come first, so that expressions of the model may use
 * them, and names of bodies, frames and joints before the model's own sections are read; the objects
 * themselves follow when these are complete. The part's ground becomes a frame NAME.ground on ground, which
 * lies where the part lies, or a body without mass if it is joined. Gravity and run of a part are left out.
 * A join is a weld with the name NAME.joins.INNER.
 *
 * Cost     O(size of the part's spec * log(its names)).
 */
#include "io/model_read/reader.h"
#include "model/spec/parts.h"

#include <stdio.h>
#include <string.h>

/* --- texts ---------------------------------------------------------------------------------------- */

static const char *prefixed(lw_reader *reader, const lw_part_read *part, const char *name) {
    const size_t before = strlen(part->prefix), length = strlen(name);
    char *text = LW_NEW(reader->arena, char, before + length + 1);
    if (!text) {
        reader->out_of_memory = true;
        return "";
    }
    memcpy(text, part->prefix, before);
    memcpy(text + before, name, length);
    if (before + length > LW_MAX_NAME && !reader->long_name) {
        reader->long_name = true;
        lw_reader_fault(reader, part->place, "use shorter names",
                        "a name with that of its part is longer than %d bytes: \"%.120s\"", LW_MAX_NAME,
                        text);
    }
    return text;
}

static const char *object(lw_reader *reader, const lw_part_read *part, const char *name) {
    return name ? prefixed(reader, part, name) : NULL;
}

static const char *expression(lw_reader *reader, const lw_part_read *part, const char *text) {
    const char *own = text ? lw_part_expression(reader->arena, &part->names, part->prefix, text) : NULL;
    if (text && !own) reader->out_of_memory = true;
    return own;
}

/* A file that is relative to the folder of the part's file. */
static const char *file_of(lw_reader *reader, const lw_part_read *part, const char *file) {
    const char *slash = strrchr(part->use, '/');
    if (!file || !slash || file[0] == '/') return file;
    const size_t folder = (size_t)(slash - part->use) + 1;
    char *path = LW_NEW(reader->arena, char, folder + strlen(file) + 1);
    if (!path) {
        reader->out_of_memory = true;
        return file;
    }
    memcpy(path, part->use, folder);
    strcpy(path + folder, file);
    return path;
}

/* --- values --------------------------------------------------------------------------------------- */

/* Makes room for count more entries behind `used` of a list in the reader's arena. */
static lw_constant *longer_list(lw_reader *reader, const lw_constant *list, size_t used, size_t more) {
    lw_constant *longer = LW_NEW(reader->arena, lw_constant, used + more + 1);
    if (!longer) reader->out_of_memory = true;
    if (longer && used > 0) memcpy(longer, list, used * sizeof *longer);
    return longer;
}

static void append_parameters(lw_reader *reader, lw_part_read *part) {
    const lw_spec *inner = part->spec;
    lw_spec *spec = reader->spec;
    const size_t base = spec->parameter_count;
    lw_constant *constants = longer_list(reader, reader->constants, reader->parameter_count,
                                         inner->parameter_count + LW_MAX_INDICES);
    if (!constants) return;
    reader->constants = constants;
    for (size_t k = 0; k < inner->parameter_count; k++)
        if (lw_spec_place_parameter(spec, prefixed(reader, part, inner->parameters[k].name),
                                    inner->parameters[k].place) == LW_ERROR_MEMORY)
            reader->out_of_memory = true;
    if (!reader->out_of_memory && spec->parameter_count != base + inner->parameter_count)
        lw_reader_fault(reader, part->place, "rename the parameter of the model",
                        "a parameter of the model has the name of one of the part, %s...", part->prefix);
    if (reader->out_of_memory || spec->parameter_count != base + inner->parameter_count) return;
    for (size_t r = 0; r < inner->parameter_count; r++) {
        const size_t k = inner->parameters[r].evaluated;
        const lw_parameter *p = &inner->parameters[k];
        const char *text = NULL;
        for (size_t i = 0; i < part->preset_count && !text; i++)
            if (part->presets[i].kept && strcmp(part->presets[i].name, p->name) == 0)
                text = part->presets[i].text; /* an expression of the model's parameters */
        if (!text) text = expression(reader, part, p->text);
        lw_reader_check(reader, lw_spec_evaluated(spec, base + k, p->value, text));
        spec->parameters[base + k].meaning = p->meaning;
        constants[reader->parameter_count++] =
            (lw_constant){spec->parameters[base + k].name, p->value, p->meaning, text};
    }
}

static void append_inputs(lw_reader *reader, lw_part_read *part) {
    const lw_spec *inner = part->spec;
    lw_spec *spec = reader->spec;
    part->base[LW_OWNER_INPUT] = (int)spec->input_count;
    lw_constant *list = longer_list(reader, reader->inputs, reader->input_count, inner->input_count);
    if (!list) return;
    reader->inputs = list;
    reader->value_capacity = reader->input_count + inner->input_count;
    for (const lw_parameter *i = inner->inputs; (size_t)(i - inner->inputs) < (size_t)inner->input_count;
         i++) {
        const char *name = prefixed(reader, part, i->name);
        lw_status status =
            i->text ? lw_spec_place_input_expression(spec, name, expression(reader, part, i->text), i->place)
                    : lw_spec_place_input(spec, name, i->value, i->place);
        lw_reader_check(reader, status);
        if (status != LW_OK) return;
        spec->inputs[spec->input_count - 1].meaning = i->meaning;
        list[reader->input_count++] = (lw_constant){.name = name, .value = i->value, .meaning = i->meaning};
    }
}

static void append_tables(lw_reader *reader, lw_part_read *part) {
    const lw_spec *inner = part->spec;
    part->base[LW_OWNER_POINTS_X] = part->base[LW_OWNER_POINTS_Y] = (int)reader->spec->table_count;
    for (size_t k = 0; k < inner->table_count; k++) {
        lw_table_spec table = inner->tables[k];
        table.name = prefixed(reader, part, table.name);
        table.file = file_of(reader, part, table.file);
        lw_named_table known = {.name = table.name};
        lw_reader_check(reader, lw_spec_add_table(reader->spec, &table));
        lw_reader_announce_table(reader, &table, &known);
    }
}

void lw_append_values(lw_reader *reader) {
    for (lw_part_read *part = reader->parts; (size_t)(part - reader->parts) < (size_t)reader->part_count;
         part++) {
        if (!part->spec || reader->out_of_memory) continue;
        if (lw_part_names_create(part->spec, reader->arena, &part->names) != LW_OK) {
            reader->out_of_memory = true;
            return;
        }
        append_parameters(reader, part);
        append_inputs(reader, part);
        append_tables(reader, part);
    }
}

void lw_append_states(lw_reader *reader) {
    for (lw_part_read *part = reader->parts; (size_t)(part - reader->parts) < (size_t)reader->part_count;
         part++) {
        part->base[LW_OWNER_STATE] = (int)reader->spec->state_count;
        for (size_t k = 0; part->spec && k < part->spec->state_count && !reader->out_of_memory; k++) {
            lw_state_spec state = part->spec->states[k];
            state.name = prefixed(reader, part, state.name);
            state.rate = expression(reader, part, state.rate);
            lw_reader_check(reader, lw_spec_add_state(reader->spec, &state));
            lw_reader_add_value(reader, state.name, &reader->state_count);
        }
    }
}

void lw_append_signals(lw_reader *reader) {
    for (lw_part_read *part = reader->parts; (size_t)(part - reader->parts) < (size_t)reader->part_count;
         part++)
        for (size_t k = 0; part->spec && k < part->spec->signal_count && !reader->out_of_memory; k++) {
            lw_signal_spec signal = part->spec->signals[k];
            signal.name = prefixed(reader, part, signal.name);
            signal.value = expression(reader, part, signal.value);
            lw_reader_check(reader, lw_spec_add_signal(reader->spec, &signal));
            lw_reader_add_value(reader, signal.name, &reader->signal_count);
        }
}

/* --- names ---------------------------------------------------------------------------------------- */

static lw_named *add_name(lw_reader *reader, lw_name_table *table, const char *name, lw_place place) {
    lw_named *named = lw_results_table_add(table, reader->arena, name, place);
    if (named)
        named->key = named->name;
    else
        reader->out_of_memory = true;
    return named;
}

void lw_append_names(lw_reader *reader) {
    for (lw_part_read *part = reader->parts; (size_t)(part - reader->parts) < (size_t)reader->part_count;
         part++) {
        const lw_spec *inner = part->spec;
        if (!inner) continue;
        for (size_t k = 0; k < inner->body_count; k++)
            add_name(reader, &reader->bodies, prefixed(reader, part, inner->bodies[k].name), part->place);
        for (size_t k = 0; k < inner->frame_count; k++) {
            lw_named *frame =
                add_name(reader, &reader->frames, prefixed(reader, part, inner->frames[k].name), part->place);
            if (frame) frame->stands_for = prefixed(reader, part, inner->frames[k].body);
        }
        lw_named *ground = add_name(reader, part->ground_joined ? &reader->bodies : &reader->frames,
                                    prefixed(reader, part, LW_GROUND), part->place);
        if (ground && !part->ground_joined) ground->stands_for = LW_GROUND;
        for (size_t k = 0; k < inner->joint_count; k++) {
            const lw_joint_spec *joint = &inner->joints[k];
            lw_named *named =
                add_name(reader, &reader->joints, prefixed(reader, part, joint->name), part->place);
            if (named) named->type = (int)joint->type, named->axis_count = joint->geometry[0].axis_count;
        }
    }
}

/* --- objects -------------------------------------------------------------------------------------- */

/* Meshes come from files beside the part's. */
static void take_mesh(lw_reader *reader, const lw_part_read *part, lw_shape *shape) {
    if (!shape->mesh || !shape->mesh->file || !strchr(part->use, '/')) return;
    lw_mesh_spec *own = LW_NEW(reader->arena, lw_mesh_spec, 1);
    if (!own) {
        reader->out_of_memory = true;
        return;
    }
    *own = *shape->mesh;
    own->file = file_of(reader, part, own->file);
    shape->mesh = own;
}

static void append_bodies(lw_reader *reader, const lw_part_read *part) {
    const lw_spec *inner = part->spec;
    for (size_t k = 0; k < inner->body_count && !reader->out_of_memory; k++) {
        lw_body_spec body = inner->bodies[k];
        body.name = prefixed(reader, part, body.name);
        take_mesh(reader, part, &body.shape);
        lw_shape *shapes = LW_NEW(reader->arena, lw_shape, body.shape_count + 1);
        if (!shapes) reader->out_of_memory = true;
        if (!shapes) return;
        for (int i = 0; i < body.shape_count; i++) {
            shapes[i] = body.shapes[i];
            take_mesh(reader, part, &shapes[i]);
        }
        body.shapes = body.shape_count > 0 ? shapes : NULL;
        lw_reader_check(reader, lw_spec_add_body(reader->spec, &body));
        lw_reader_check(reader,
                        lw_spec_place_body(reader->spec, lw_spec_body_places(inner, &inner->bodies[k])));
    }
    const char *ground = prefixed(reader, part, LW_GROUND);
    if (!part->ground_joined) return;
    const lw_body_spec body = {
        .name = ground, .has_pose = true, .rotation = {1, 0, 0, 0}, .place = part->place};
    lw_reader_check(reader, lw_spec_add_body(reader->spec, &body));
}

static void append_frames(lw_reader *reader, const lw_part_read *part) {
    const lw_spec *inner = part->spec;
    for (size_t k = 0; k < inner->frame_count; k++) {
        lw_frame_spec frame = inner->frames[k];
        const bool world = frame.body && strcmp(frame.body, LW_GROUND) == 0 && !part->ground_joined;
        frame.name = prefixed(reader, part, frame.name);
        if (!world) frame.body = object(reader, part, frame.body); /* A frame is on no other frame. */
        lw_reader_check(reader, lw_spec_add_frame(reader->spec, &frame));
    }
    if (part->ground_joined) return;
    const lw_frame_spec frame = {
        .name = prefixed(reader, part, LW_GROUND), .body = LW_GROUND, .place = part->place};
    lw_reader_check(reader, lw_spec_add_frame(reader->spec, &frame));
}

static void append_joints(lw_reader *reader, const lw_part_read *part) {
    const lw_spec *inner = part->spec;
    for (size_t k = 0; k < inner->joint_count; k++) {
        lw_joint_spec joint = inner->joints[k];
        joint.name = prefixed(reader, part, joint.name);
        for (int i = 0; i < 2; i++) joint.bodies[i] = object(reader, part, joint.bodies[i]);
        for (int i = 0; i < LW_JOINT_MAX_V; i++) joint.motion[i] = expression(reader, part, joint.motion[i]);
        lw_reader_check(reader, lw_spec_add_joint(reader->spec, &joint));
        lw_reader_check(reader,
                        lw_spec_place_joint(reader->spec, lw_spec_joint_places(inner, &inner->joints[k])));
    }
}

static void append_forces(lw_reader *reader, const lw_part_read *part) {
    const lw_spec *inner = part->spec;
    for (size_t k = 0; k < inner->force_count; k++) {
        lw_force_spec force = inner->forces[k];
        force.name = prefixed(reader, part, force.name);
        for (int i = 0; i < 2; i++) force.bodies[i] = object(reader, part, force.bodies[i]);
        force.joint = object(reader, part, force.joint);
        force.law.expression = expression(reader, part, force.law.expression);
        force.drive = expression(reader, part, force.drive);
        for (int i = 0; i < 3; i++) {
            force.force[i] = expression(reader, part, force.force[i]);
            force.torque[i] = expression(reader, part, force.torque[i]);
        }
        lw_reader_check(reader, lw_spec_add_force(reader->spec, &force));
    }
    for (size_t k = 0; k < inner->constraint_count; k++) {
        lw_constraint_spec constraint = inner->constraints[k];
        constraint.name = prefixed(reader, part, constraint.name);
        for (int i = 0; i < 2; i++) constraint.bodies[i] = object(reader, part, constraint.bodies[i]);
        for (int i = 0; i < LW_COUPLING_MAX; i++) {
            constraint.joints[i] = object(reader, part, constraint.joints[i]);
            constraint.tables[i] = object(reader, part, constraint.tables[i]);
        }
        lw_reader_check(reader, lw_spec_add_constraint(reader->spec, &constraint));
    }
}

static void append_others(lw_reader *reader, const lw_part_read *part) {
    const lw_spec *inner = part->spec;
    for (size_t k = 0; k < inner->event_count; k++) {
        lw_event_spec event = inner->events[k];
        event.name = prefixed(reader, part, event.name);
        event.when = expression(reader, part, event.when);
        event.factor = expression(reader, part, event.factor);
        event.joint = object(reader, part, event.joint);
        for (int i = 0; i < event.set_count; i++) {
            event.sets[i].name = object(reader, part, event.sets[i].name);
            event.sets[i].value = expression(reader, part, event.sets[i].value);
        }
        lw_reader_check(reader, lw_spec_add_event(reader->spec, &event));
    }
    for (size_t k = 0; k < inner->output_count; k++) {
        lw_output_spec output = inner->outputs[k];
        output.name = prefixed(reader, part, output.name);
        output.value = expression(reader, part, output.value);
        lw_reader_check(reader, lw_spec_add_output(reader->spec, &output));
    }
    for (size_t k = 0; k < inner->start_count; k++) {
        lw_start_spec start = inner->starts[k];
        start.name = prefixed(reader, part, start.name);
        start.joint = prefixed(reader, part, start.joint);
        lw_reader_check(reader, lw_spec_add_start(reader->spec, &start));
    }
    for (size_t k = 0; k < inner->part_count; k++) {
        lw_part_spec own = inner->parts[k];
        own.name = prefixed(reader, part, own.name);
        lw_reader_check(reader, lw_spec_add_part(reader->spec, &own));
    }
    for (const lw_text_place *p = inner->text_places;
         (size_t)(p - inner->text_places) < (size_t)inner->text_place_count; p++) {
        const char *text = expression(reader, part, p->text);
        if (text) lw_reader_check(reader, lw_spec_place_text(reader->spec, text, p->place, false));
    }
}

static void append_bindings(lw_reader *reader, const lw_part_read *part) {
    const lw_bindings *all = &part->spec->bindings;
    for (size_t k = 0; k < all->count && !reader->out_of_memory; k++) {
        lw_binding binding = all->items[k];
        lw_operand operands[LW_MAX_OPERANDS];
        int size;
        if (binding.owner == LW_OWNER_GRAVITY || binding.owner == LW_OWNER_RUN) continue;
        for (int i = 0; i < lw_binding_operands(binding.kind); i++) {
            operands[i] = all->operands[binding.operand + i];
            operands[i].text = expression(reader, part, operands[i].text);
        }
        binding.object += part->base[binding.owner];
        if (binding.owner != LW_OWNER_NONE)
            binding.table = lw_binding_column(reader->spec, binding.owner, (size_t)binding.object, &size);
        if (!reader->out_of_memory) lw_reader_check(reader, lw_spec_bind(reader->spec, &binding, operands));
    }
}

static void append_joins(lw_reader *reader, const lw_part_read *part) {
    for (const lw_part_join *j = part->joins; (size_t)(j - part->joins) < (size_t)part->join_count; j++) {
        const lw_yaml outer = {.kind = LW_YAML_TEXT, .text = j->outer, .place = j->outer_place};
        char name[LW_MAX_NAME + 16];
        (void)snprintf(reader->object, sizeof reader->object, "part \"%.80s\"", part->name);
        const char *body = lw_reader_body(reader, &outer, "outer body");
        (void)snprintf(name, sizeof name, "joins.%.80s", j->inner);
        const lw_joint_spec weld = {.name = prefixed(reader, part, name),
                                    .type = LW_JOINT_WELD,
                                    .bodies = {body, prefixed(reader, part, j->inner)},
                                    .place = j->place};
        if (body && strncmp(body, part->prefix, strlen(part->prefix)) == 0)
            lw_reader_fault(reader, j->outer_place, "name a body of the model or of another part",
                            "the part is joined to itself");
        else if (body)
            lw_reader_check(reader, lw_spec_add_joint(reader->spec, &weld));
        reader->object[0] = '\0';
    }
}

/* A part's name must not be another object's, because NAME.q would be its quantity and a name in the part. */
static void check_clash(lw_reader *reader, const lw_part_read *part) {
    const lw_name_table *const tables[] = {&reader->bodies, &reader->frames, &reader->joints,
                                           &reader->forces};
    static const char *const nouns[] = {"body", "frame", "joint", "force"};
    for (size_t k = 0; k < sizeof nouns / sizeof *nouns; k++) {
        const lw_named *other = lw_results_table_find(tables[k], part->name);
        if (!other) continue;
        (void)snprintf(reader->object, sizeof reader->object, "part \"%.80s\"", part->name);
        lw_reader_fault(reader, part->place, "rename one of them", "the %s in line %d has this name, too",
                        nouns[k], other->place.line);
        reader->object[0] = '\0';
    }
}

void lw_append_objects(lw_reader *reader) {
    lw_spec *spec = reader->spec;
    for (lw_part_read *part = reader->parts; (size_t)(part - reader->parts) < (size_t)reader->part_count;
         part++) {
        if (!part->spec || reader->out_of_memory) continue;
        check_clash(reader, part);
        part->base[LW_OWNER_BODY] = part->base[LW_OWNER_SHAPES] = (int)spec->body_count;
        part->base[LW_OWNER_JOINT] = (int)spec->joint_count;
        part->base[LW_OWNER_FORCE] = (int)spec->force_count;
        part->base[LW_OWNER_TABLE_X] = part->base[LW_OWNER_TABLE_Y] = (int)spec->force_count;
        part->base[LW_OWNER_CONSTRAINT] = (int)spec->constraint_count;
        part->base[LW_OWNER_FRAME] = (int)spec->frame_count;
        part->base[LW_OWNER_START] = (int)spec->start_count;
        part->base[LW_OWNER_PART] = (int)spec->part_count;
        append_bodies(reader, part);
        append_frames(reader, part);
        append_joints(reader, part);
        append_forces(reader, part);
        append_others(reader, part);
        if (!reader->out_of_memory) append_bindings(reader, part);
        append_joins(reader, part);
    }
}
