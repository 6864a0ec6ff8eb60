/* compile_events.c - events of a model: from names and expressions to functions, numbers of inputs and
 * parameters, and the coordinate of a joint.
 */
#include "model/compile/compile.h"
#include "model/spec/parameter_use.h"

#include <stdio.h>
#include <string.h>

static const char *const of_time[] = {"t"};

static const lw_function *function_of(lw_compiler *compiler, const lw_event_spec *event, const char *what,
                                      const char *text) {
    const lw_expression_text expression = {"event", event->name, event->place, what, text ? text : ""};
    return lw_compile_function(compiler, &expression, of_time, 1, LW_USE_EVENT);
}

/* A value of another dimension than that which it replaces is a fault, as far as both are known. */
static void check_measure(lw_compiler *compiler, const lw_event_spec *event, const lw_event_set *set,
                          const lw_model_event_set *out) {
    const lw_spec *spec = compiler->spec;
    const lw_meaning value = out->value ? lw_function_meaning(out->value) : (lw_meaning){0};
    lw_meaning wanted = {0};
    if (out->kind == LW_SET_INPUT) wanted = spec->inputs[out->index].meaning;
    if (out->kind == LW_SET_PARAMETER) wanted = spec->parameters[out->index].meaning;
    if (value.kind != LW_MEANING_SURE || wanted.kind != LW_MEANING_SURE || lw_meaning_same(&value, &wanted))
        return;
    char is[64], name[64];
    lw_meaning_name(&value, is, sizeof is);
    lw_meaning_name(&wanted, name, sizeof name);
    /* A factor of one in SI units may have been left out of an expression of the state. */
    const bool trusted = lw_function_uses_inputs(out->value);
    (trusted ? lw_compile_warning : lw_compile_error)(
        compiler, "event", event->name, event->place,
        trusted ? "it is taken in SI units; give it a factor with a unit"
                : "check the units; a number without unit fits anything",
        "it sets \"%s\", which is %s, to \"%s\", which is %s", set->name, name, set->value, is);
}

/* What a set changes: an input, a user state, or a parameter that may change while the mechanism moves. */
static void compile_set(lw_compiler *compiler, const lw_event_spec *event, const lw_event_set *set,
                        lw_model_event_set *out) {
    const lw_spec *spec = compiler->spec;
    const char *name = set->name ? set->name : "";
    out->name = lw_arena_text(compiler->model->arena, name);
    out->value = function_of(compiler, event, "value", set->value);
    out->index = -1;
    for (size_t k = 0; k < spec->input_count; k++)
        if (strcmp(spec->inputs[k].name, name) == 0) out->kind = LW_SET_INPUT, out->index = (int)k;
    for (size_t k = 0; k < spec->state_count; k++)
        if (strcmp(spec->states[k].name, name) == 0) out->kind = LW_SET_STATE, out->index = (int)k;
    if (out->index >= 0) return;
    for (size_t k = 0; k < spec->parameter_count; k++)
        if (strcmp(spec->parameters[k].name, name) == 0) out->kind = LW_SET_PARAMETER, out->index = (int)k;
    if (out->index < 0) {
        lw_closest_search closest = lw_closest_to(name);
        char remedy[160] =
            "set an input (inputs: {name: default}), a state, or a parameter that enters forces";
        for (size_t k = 0; k < spec->input_count; k++) lw_closest_try(&closest, spec->inputs[k].name);
        for (size_t k = 0; k < spec->state_count; k++) lw_closest_try(&closest, spec->states[k].name);
        for (size_t k = 0; k < spec->parameter_count; k++) lw_closest_try(&closest, spec->parameters[k].name);
        (void)lw_did_you_mean(closest.name, remedy, sizeof remedy);
        lw_compile_error(compiler, "event", event->name, event->place, remedy,
                         "it sets \"%s\", and there is no input, state or parameter of this name", name);
        return;
    }
    lw_error error = {0};
    if (lw_parameter_enters_forces_only(spec, (size_t)out->index, &error) != LW_OK)
        lw_compile_error(compiler, "event", event->name, event->place,
                         "make it an input, or let the event set another parameter",
                         "it sets parameter \"%s\", but %s%s", name,
                         error.object[0] ? error.object : "an object",
                         " depends on it, and only parameters that enter nothing but forces can change while "
                         "the mechanism moves");
}

/* The coordinate along which the impulse of an impact acts. */
static void compile_impact(lw_compiler *compiler, const lw_event_spec *event, lw_model_event *out) {
    const lw_model *model = compiler->model;
    const char *name = event->joint ? event->joint : "";
    out->impact_factor = function_of(compiler, event, "factor", event->factor);
    if (out->impact_factor && lw_function_is_constant(out->impact_factor)) {
        const double factor = lw_function_value(out->impact_factor, NULL, NULL);
        if (!(factor >= 0 && factor <= 1))
            lw_compile_error(compiler, "event", event->name, event->place,
                             "give 0 (no rebound) to 1 (no loss)", "factor %g is no factor of restitution",
                             factor);
    }
    out->joint = lw_compile_joint(compiler, "event", event->name, event->place, name);
    if (out->joint < 0 || !compiler->drafts[out->joint].usable) return;
    const lw_joint_draft *draft = &compiler->drafts[out->joint];
    if (event->coordinate < 0 || event->coordinate >= draft->joint.nv) {
        char remedy[96] = "choose a joint that moves";
        if (draft->joint.nv) snprintf(remedy, sizeof remedy, "count from 0 to %d", draft->joint.nv - 1);
        lw_compile_error(compiler, "event", event->name, event->place, remedy,
                         "joint \"%s\" (%s) has no coordinate %d", name,
                         lw_joint_type_name(draft->joint.type), event->coordinate);
        return;
    }
    if (draft->prescribed >> event->coordinate & 1) {
        lw_compile_error(compiler, "event", event->name, event->place,
                         "drive the joint by a force, or choose a joint that moves freely",
                         "the motion of joint \"%s\" is prescribed, and no impulse changes it", name);
        return;
    }
    if (!model->links) return;
    const lw_joint_info *info = &model->joints[out->joint].info;
    out->closure = -1;
    out->speed = info->cut ? event->coordinate : info->v + event->coordinate;
    if (!info->cut) return;
    out->closure = 0;
    while (model->closures[out->closure] != out->joint) out->closure++;
}

/* Is the value of the event a truth value, by itself or by a signal? */
static bool is_truth(const lw_compiler *compiler, const lw_function *function) {
    const lw_values *values = &compiler->model->values;
    const int first = values->input_count + values->state_count, end = first + values->signal_count;
    int entry;
    for (int depth = 0; function && depth <= values->signal_count; depth++) {
        if (lw_function_is_truth(function, &entry)) return true;
        if (entry < first || entry >= end) return false;
        function = values->functions[entry];
    }
    return false;
}

/* A condition becomes true or false where its value passes through a half. */
static const lw_function *half_less(lw_compiler *compiler, const lw_event_spec *event) {
    const char format[] = "(%s) - 0.5";
    const size_t size = strlen(event->when) + sizeof format;
    char *text = LW_NEW(compiler->scratch, char, size);
    if (!text) return NULL;
    snprintf(text, size, format, event->when);
    return function_of(compiler, event, "when", text);
}

/* changing: the parameters that events set, as lw_parameters_changing gives them. */
static void compile_event(lw_compiler *compiler, const lw_event_spec *event, const bool *changing,
                          lw_model_event *out) {
    out->name = lw_arena_text(compiler->model->arena, event->name ? event->name : "");
    out->place = event->place;
    out->direction = event->direction > 0 ? 1 : event->direction < 0 ? -1 : 0;
    out->action = event->action;
    out->when = function_of(compiler, event, "when", event->when);
    const bool constant = out->when && lw_function_is_constant(out->when) &&
                          !lw_parameter_affecting(compiler->spec, changing, event->when);
    if (constant)
        lw_compile_error(compiler, "event", event->name, event->place,
                         "give an expression that passes through zero, e.g. t - 1",
                         "when \"%s\" is always %g and never passes through zero", event->when,
                         lw_function_value(out->when, NULL, NULL));
    else if (out->when && is_truth(compiler, out->when))
        out->when = half_less(compiler, event);
    if (event->action == LW_ACTION_RESTITUTION) compile_impact(compiler, event, out);
    if (event->action != LW_ACTION_SET) return;
    if (event->set_count < 1 || event->set_count > LW_EVENT_SETS) {
        lw_compile_error(compiler, "event", event->name, event->place, "write do: {set: {name: value}}",
                         "it sets %d values, and may set 1 to %d", event->set_count, LW_EVENT_SETS);
        return;
    }
    out->set_count = event->set_count;
    for (int i = 0; i < event->set_count; i++) {
        compile_set(compiler, event, &event->sets[i], &out->sets[i]);
        if (out->sets[i].index >= 0) check_measure(compiler, event, &event->sets[i], &out->sets[i]);
    }
}

lw_status lw_compile_events(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    model->events = LW_NEW(model->arena, lw_model_event, spec->event_count + 1);
    bool *changing = LW_NEW(compiler->scratch, bool, spec->parameter_count + spec->table_count + 1);
    if (!model->events || !changing) return LW_ERROR_MEMORY;
    (void)lw_parameters_changing(spec, changing);
    for (size_t k = 0; k < spec->event_count; k++) {
        const lw_event_spec *event = &spec->events[k];
        if (!event->name || !event->name[0])
            lw_compile_error(compiler, "event", "", event->place, "give it a name", "has no name");
        for (size_t j = 0; j < k; j++)
            if (event->name && spec->events[j].name && strcmp(event->name, spec->events[j].name) == 0)
                lw_compile_error(compiler, "event", event->name, event->place, "rename one of them",
                                 "the name is taken twice");
        lw_model_event *out = &model->events[model->event_count++];
        compile_event(compiler, event, changing, out);
        out->stands = k >= (size_t)compiler->given_events && out->action == LW_ACTION_RESTITUTION;
    }
    return lw_arena_failed(model->arena) ? LW_ERROR_MEMORY : LW_OK;
}
