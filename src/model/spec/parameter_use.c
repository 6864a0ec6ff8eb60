/* parameter_use.c - which objects of a spec depend on a parameter.
 *
 * A parameter is a plain word. An expression depends on it if it mentions the word, or that of another
 * parameter whose own expression depends on it. Parameters are visited in the order of their evaluation, in
 * which each needs earlier ones only, so that one pass finds all that are affected.
 *
 * Cost     O(parameters x length of all expressions); allocates.
 */
#include "model/spec/parameter_use.h"
#include "model/spec/bindings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A dot belongs to the name of a parameter of a part. */
static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static bool mentions(const char *text, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if ((at == text || !is_letter(at[-1])) && !is_letter(at[length])) return true;
    return false;
}

/* The first affected parameter that a text mentions, or table with points that depend on one, or NULL.
 * affected: of parameters, then of tables. */
static const char *affected_in(const lw_spec *spec, const bool *affected, const char *text) {
    for (size_t k = 0; text && k < spec->parameter_count; k++)
        if (affected[k] && mentions(text, spec->parameters[k].name)) return spec->parameters[k].name;
    for (size_t k = 0; text && k < spec->table_count; k++)
        if (affected[spec->parameter_count + k] && mentions(text, spec->tables[k].name))
            return spec->tables[k].name;
    return NULL;
}

static void find_affected(const lw_spec *spec, size_t index, bool *affected) {
    affected[index] = true;
    for (size_t r = 0; r < spec->parameter_count; r++) {
        const size_t k = spec->parameters[r].evaluated;
        if (k < spec->parameter_count && affected_in(spec, affected, spec->parameters[k].text))
            affected[k] = true;
    }
    const lw_bindings *b = &spec->bindings;
    for (const lw_binding *binding = b->items; (size_t)(binding - b->items) < (size_t)b->count; binding++)
        if ((binding->owner == LW_OWNER_POINTS_X || binding->owner == LW_OWNER_POINTS_Y) &&
            affected_in(spec, affected, b->operands[binding->operand].text))
            affected[spec->parameter_count + (size_t)binding->object] = true;
}

const char *lw_parameter_affecting(const lw_spec *spec, const bool *affected, const char *text) {
    return affected_in(spec, affected, text);
}

bool lw_parameters_changing(const lw_spec *spec, bool *affected) {
    bool any = false;
    memset(affected, 0, (spec->parameter_count + spec->table_count) * sizeof *affected);
    for (size_t e = 0; e < spec->event_count; e++)
        for (int s = 0; s < spec->events[e].set_count && spec->events[e].action == LW_ACTION_SET; s++)
            for (size_t k = 0; k < spec->parameter_count; k++) {
                const char *name = spec->events[e].sets[s].name;
                if (!name || strcmp(name, spec->parameters[k].name) != 0) continue;
                find_affected(spec, k, affected);
                any = true;
            }
    return any;
}

static lw_status refuse(const lw_spec *spec, size_t index, lw_place place, const char *kind, const char *name,
                        lw_error *error) {
    return lw_fail_at(error, LW_ERROR_UNSUPPORTED, spec->file, place, kind, name,
                      "set it in the spec (lw_spec_set_parameter, --set) and compile again",
                      "it depends on parameter \"%s\", and only parameters that enter nothing but forces can "
                      "change while the mechanism moves",
                      spec->parameters[index].name);
}

static lw_status look_at_bindings(const lw_spec *spec, size_t index, const bool *affected, lw_error *error) {
    const lw_bindings *b = &spec->bindings;
    for (const lw_binding *binding = b->items; (size_t)(binding - b->items) < (size_t)b->count; binding++) {
        const size_t k = (size_t)binding->object;
        const char *kind = NULL, *name = NULL;
        switch (binding->owner) {
        case LW_OWNER_BODY:
        case LW_OWNER_SHAPES:
            kind = "body", name = spec->bodies[k].name;
            break;
        case LW_OWNER_FRAME:
            kind = "frame", name = spec->frames[k].name;
            break;
        case LW_OWNER_JOINT:
            kind = "joint", name = spec->joints[k].name;
            break;
        case LW_OWNER_PART:
            kind = "part", name = spec->parts[k].name;
            break;
        case LW_OWNER_CONSTRAINT:
            kind = "constraint", name = spec->constraints[k].name;
            break;
        default:
            if (binding->kind != LW_BIND_STRUCTURE) continue;
        }
        for (int o = 0; o < lw_binding_operands(binding->kind); o++)
            if (affected_in(spec, affected, b->operands[binding->operand + o].text))
                return refuse(spec, index, binding->place, kind, name, error);
    }
    return LW_OK;
}

/* Does the expression, or a signal that it uses, mention something affected? Signals use each other without
 * circles, or the spec is refused later; depth ends the search. */
static bool depends(const lw_spec *spec, const bool *affected, const char *text, size_t depth) {
    if (!text) return false;
    if (affected_in(spec, affected, text)) return true;
    for (size_t k = 0; k < spec->signal_count && depth > 0; k++)
        if (mentions(text, spec->signals[k].name) &&
            depends(spec, affected, spec->signals[k].value, depth - 1))
            return true;
    return false;
}

/* The speed of a motion that follows a user state is a function of the state's rate, and would jump with a
 * parameter in it. Rates of states that the rate depends on enter accelerations only. */
static bool moves(const lw_spec *spec, const bool *affected, const char *motion) {
    if (!motion) return false;
    if (depends(spec, affected, motion, spec->signal_count)) return true;
    for (size_t k = 0; k < spec->state_count; k++)
        if (mentions(motion, spec->states[k].name) &&
            depends(spec, affected, spec->states[k].rate, spec->signal_count))
            return true;
    return false;
}

static lw_status look_at_motions(const lw_spec *spec, size_t index, const bool *affected, lw_error *error) {
    for (const lw_joint_spec *joint = spec->joints;
         (size_t)(joint - spec->joints) < (size_t)spec->joint_count; joint++)
        for (int k = 0; k < LW_JOINT_MAX_V; k++)
            if (moves(spec, affected, joint->motion[k]))
                return refuse(spec, index, joint->place, "joint", joint->name, error);
    return LW_OK;
}

/* Cams of couplings. */
static lw_status look_at_couplings(const lw_spec *spec, size_t index, const bool *affected, lw_error *error) {
    for (size_t c = 0; c < (size_t)spec->constraint_count; c++) {
        const lw_constraint_spec *constraint = &spec->constraints[c];
        for (int k = 0; k < LW_COUPLING_MAX && constraint->type == LW_CONSTRAINT_COUPLING; k++)
            if (affected_in(spec, affected, constraint->tables[k]))
                return refuse(spec, index, constraint->place, "constraint", constraint->name, error);
    }
    return LW_OK;
}

lw_status lw_parameter_enters_forces_only(const lw_spec *spec, size_t index, lw_error *error) {
    bool *affected = calloc(spec->parameter_count + spec->table_count + 1, sizeof *affected);
    if (!affected) return lw_out_of_memory(error);
    find_affected(spec, index, affected);
    lw_status status = look_at_bindings(spec, index, affected, error);
    if (status == LW_OK) status = look_at_motions(spec, index, affected, error);
    if (status == LW_OK) status = look_at_couplings(spec, index, affected, error);
    free(affected);
    return status;
}
