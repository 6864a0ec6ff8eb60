/* write_bound.c - expressions of parameters that events set, in a model file.
 *
 * A model file is written with the values of its numbers, and the expressions of parameters that they come
 * from (model/spec/bindings.h) are left behind. That would be another model where an event sets a parameter:
 * forces, gravity, tables and inputs that depend on it have to follow. Their numbers are therefore written as
 * their expressions. A number of a mirrored part with the other sign becomes -(expression). What no
 * expression can hold, such as the turned point of a force in a part that is placed elsewhere, is a fault:
 * better no file than one of another model.
 *
 * Initial states and suggestions for runs need not follow, and nothing else may depend on such a parameter
 * (parameter_use.h). Values that the caller has changed since reading depend on nothing.
 *
 * Cost     O(bindings * parameters * length of their texts) if events set parameters; nothing otherwise.
 */
#include "io/model_write/write_bound.h"

#include "model/spec/bindings.h"
#include "model/spec/parameter_use.h"
#include "model/spec/parts.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static bool may_change(lw_binding_owner owner) {
    return owner == LW_OWNER_GRAVITY || owner == LW_OWNER_INPUT || owner == LW_OWNER_FORCE ||
           lw_binding_has_column(owner);
}

static bool depends(const lw_spec *spec, const lw_binding *binding, const bool *changing) {
    for (int k = 0; k < lw_binding_operands(binding->kind); k++)
        if (lw_parameter_affecting(spec, changing, spec->bindings.operands[binding->operand + k].text))
            return true;
    return false;
}

static bool changed_by_caller(const lw_spec *spec, const lw_binding *binding) {
    const double *now = lw_binding_location(spec, binding);
    const size_t size = (size_t)lw_binding_results(binding->kind) * sizeof *now;
    return !now || memcmp(now, spec->bindings.written + binding->result, size) != 0;
}

/* Is it a point of a force in the world, and this is that of a part that lies elsewhere? */
static bool is_moved(const lw_spec *spec, const lw_binding *binding, const lw_placements *all) {
    const size_t offset = (size_t)binding->offset;
    return binding->owner == LW_OWNER_FORCE && offset >= offsetof(lw_force_spec, points) &&
           offset < offsetof(lw_force_spec, points) + sizeof spec->forces->points &&
           spec->forces[binding->object].frame == LW_GEOMETRY_WORLD &&
           lw_placement_of(all, spec->forces[binding->object].name) != NULL;
}

/* The text of a binding in the placed spec; NULL: it has none. */
static const char *text_of(const lw_spec *spec, const lw_binding *binding, const double *field,
                           lw_arena *arena) {
    const char *text = spec->bindings.operands[binding->operand].text;
    const double read = spec->bindings.written[binding->result];
    lw_text_out out = {.arena = arena};
    if (!text || binding->kind != LW_BIND_NUMBER) return NULL;
    if (memcmp(field, &read, sizeof read) == 0) return text;
    if (*field != -read || !signbit(*field) == !signbit(read)) return NULL;
    lw_text_print(&out, "-(");
    lw_text_add(&out, text, strlen(text));
    lw_text_add(&out, ")", 1);
    return out.text;
}

static void name_owner(const lw_spec *spec, const lw_binding *binding, lw_bound_text *bound) {
    const bool of_table = binding->owner == LW_OWNER_POINTS_X || binding->owner == LW_OWNER_POINTS_Y;
    const size_t k = (size_t)binding->object;
    if (binding->owner == LW_OWNER_GRAVITY)
        bound->kind = "model", bound->name = spec->name;
    else if (binding->owner == LW_OWNER_INPUT)
        bound->kind = "input", bound->name = spec->inputs[k].name;
    else if (of_table)
        bound->kind = "table", bound->name = spec->tables[k].name;
    else
        bound->kind = "force", bound->name = spec->forces[k].name;
}

bool lw_bound_create(lw_writer *writer, const lw_spec *spec, const lw_spec *placed, lw_arena *arena,
                     bool *changing) {
    const lw_bindings *b = &spec->bindings;
    lw_placements all;
    if (!lw_parameters_changing(spec, changing)) return true;
    if (lw_placements_create(spec, arena, &all) != LW_OK) return false;
    writer->bound = LW_NEW(arena, lw_bound_text, b->count + 1);
    for (size_t k = 0; k < b->count && writer->bound; k++) {
        const lw_binding *binding = &b->items[k];
        if (!may_change(binding->owner) || !depends(spec, binding, changing)) continue;
        if (changed_by_caller(spec, binding)) continue;
        lw_bound_text *bound = &writer->bound[writer->bound_count++];
        name_owner(spec, binding, bound);
        bound->field = lw_binding_location(placed, binding);
        if (bound->field && !is_moved(spec, binding, &all))
            bound->text = text_of(spec, binding, bound->field, arena);
        if (!bound->text) bound->field = NULL;
    }
    return !lw_arena_failed(arena);
}

void lw_bound_check(lw_writer *writer) {
    for (size_t k = 0; k < writer->bound_count; k++) {
        const lw_bound_text *bound = &writer->bound[k];
        if (bound->written) continue;
        (void)snprintf(writer->object, sizeof writer->object, "%s \"%.80s\"", bound->kind,
                       bound->name ? bound->name : "");
        lw_write_fault(
            writer, LW_ERROR_UNSUPPORTED, "let the event set an input that the force uses",
            "a number of it depends on a parameter that an event sets, and no expression says what "
            "it is in the world of the model");
        writer->object[0] = '\0';
    }
}
