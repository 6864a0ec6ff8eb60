/* law_check.c - the expressions of a spec that stay expressions: which of them other parameters break.
 *
 * Motions, laws, signals, rates, outputs and events depend on time and state, and on parameters, which are
 * constants in them. A constant part such as 1/k may have no value for some parameter; the reader refuses
 * such a file, and lw_spec_set_parameter the value. Expressions are compiled by their syntax alone, as the
 * reader does, since joints and bodies may be added in any order; one that had a fault before is left to
 * compiling.
 *
 * Cost     O(total length of the expressions x number of parameters).
 */
#include "model/spec/law_check.h"
#include "expression/expression.h"
#include "model/spec/spec_storage.h"

#include <string.h>

/* One look at all expressions: each is given to `look`, until it returns false. */
typedef struct visit {
    const lw_spec *spec;
    bool (*look)(struct visit *visit, const lw_broken_law *law, const char *const *variables, size_t count);
    const lw_constant *constants, *present, *values;
    const lw_named_table *tables;
    lw_broken_law *broken;
} visit;

static const char *const of_time[] = {"t"};
static const char *const of_elongation[] = {"x", "v", "t"};
static const char *const of_drive[] = {"t", "q", "v"};

static bool see(visit *v, const char *kind, const char *name, lw_place place, const char *text,
                const char *const *variables, size_t count) {
    const lw_broken_law law = {.kind = kind, .name = name, .text = text, .place = place};
    return !text || v->look(v, &law, variables, count);
}

static bool see_mechanism(visit *v) {
    const lw_spec *spec = v->spec;
    for (const lw_joint_spec *j = spec->joints; (size_t)(j - spec->joints) < (size_t)spec->joint_count; j++)
        for (int k = 0; k < LW_JOINT_MAX_V; k++)
            if (!see(v, "joint", j->name, j->place, j->motion[k], of_time, 1)) return false;
    for (const lw_force_spec *f = spec->forces; (size_t)(f - spec->forces) < (size_t)spec->force_count; f++) {
        if (!see(v, "force", f->name, f->place, f->law.expression, of_elongation, 3) ||
            !see(v, "force", f->name, f->place, f->drive, of_drive, 3))
            return false;
        for (int k = 0; k < 3; k++)
            if (!see(v, "force", f->name, f->place, f->force[k], of_time, 1) ||
                !see(v, "force", f->name, f->place, f->torque[k], of_time, 1))
                return false;
    }
    for (const lw_event_spec *e = spec->events; (size_t)(e - spec->events) < (size_t)spec->event_count; e++) {
        if (!see(v, "event", e->name, e->place, e->when, of_time, 1) ||
            !see(v, "event", e->name, e->place, e->factor, of_time, 1))
            return false;
        for (int k = 0; k < e->set_count; k++)
            if (!see(v, "event", e->name, e->place, e->sets[k].value, of_time, 1)) return false;
    }
    return true;
}

static bool see_all(visit *v) {
    const lw_spec *spec = v->spec;
    for (const lw_parameter *i = spec->inputs; (size_t)(i - spec->inputs) < (size_t)spec->input_count; i++)
        if (!see(v, "input", i->name, i->place, i->text, of_time, 1)) return false;
    for (const lw_signal_spec *s = spec->signals; (size_t)(s - spec->signals) < (size_t)spec->signal_count;
         s++)
        if (!see(v, "signal", s->name, s->place, s->value, of_time, 1)) return false;
    for (const lw_state_spec *s = spec->states; (size_t)(s - spec->states) < (size_t)spec->state_count; s++)
        if (!see(v, "state", s->name, s->place, s->rate, of_time, 1)) return false;
    for (const lw_output_spec *o = spec->outputs; (size_t)(o - spec->outputs) < (size_t)spec->output_count;
         o++)
        if (!see(v, "output", o->name, o->place, o->value, of_time, 1)) return false;
    return see_mechanism(v);
}

/* --- tables --------------------------------------------------------------------------------------- */

static bool calls_no_table(visit *v, const lw_broken_law *law, const char *const *variables, size_t count) {
    (void)variables, (void)count;
    for (size_t k = 0; k < v->spec->table_count; k++)
        if (strstr(law->text, v->spec->tables[k].name)) return false;
    return true;
}

bool lw_laws_call_tables(const lw_spec *spec) {
    visit v = {.spec = spec, .look = calls_no_table};
    return spec->table_count > 0 && !see_all(&v);
}

/* --- values --------------------------------------------------------------------------------------- */

/* lw_quantity_finder by syntax only. */
static size_t find_quantity(void *context, const char *text, int *value, lw_meaning *measure,
                            lw_syntax *syntax) {
    (void)context, (void)syntax;
    *value = 0;
    *measure = (lw_meaning){.kind = LW_MEANING_UNKNOWN};
    return lw_quantity_extent(text);
}

static bool has_value(const visit *v, const char *text, const lw_constant *constants,
                      const char *const *variables, size_t count, lw_syntax *syntax) {
    const lw_spec *spec = v->spec;
    const lw_expression_names names = {.constants = constants,
                                       .constant_count = spec->parameter_count,
                                       .variables = variables,
                                       .variable_count = count,
                                       .inputs = v->values,
                                       .input_count = spec->input_count,
                                       .state_count = spec->state_count,
                                       .signal_count = spec->signal_count,
                                       .find_quantity = find_quantity,
                                       .tables = v->tables,
                                       .table_count = v->tables ? spec->table_count : 0};
    lw_instruction program[LW_EXPRESSION_LENGTH];
    lw_meaning measure;
    return lw_expression_compile(text, &names, program, &measure, syntax) > 0;
}

static bool still_holds(visit *v, const lw_broken_law *law, const char *const *variables, size_t count) {
    lw_syntax syntax = {0}, before = {0};
    if (has_value(v, law->text, v->constants, variables, count, &syntax)) return true;
    if (!has_value(v, law->text, v->present, variables, count, &before)) return true;
    *v->broken = *law;
    v->broken->place = lw_spec_text_place(v->spec, law->text, law->place, syntax.offset);
    v->broken->syntax = syntax;
    return false;
}

bool lw_laws_hold(const lw_spec *spec, const lw_constant *constants, const lw_named_table *tables,
                  lw_arena *scratch, lw_broken_law *broken) {
    const size_t inputs = spec->input_count, states = spec->state_count;
    lw_constant *present = LW_NEW(scratch, lw_constant, spec->parameter_count + 1);
    lw_constant *values = LW_NEW(scratch, lw_constant, inputs + states + spec->signal_count + 1);
    if (!present || !values) return true;
    for (size_t k = 0; k < spec->parameter_count; k++)
        present[k] = (lw_constant){.name = spec->parameters[k].name, .value = spec->parameters[k].value};
    for (size_t k = 0; k < inputs; k++) values[k].name = spec->inputs[k].name;
    for (size_t k = 0; k < states; k++) values[inputs + k].name = spec->states[k].name;
    for (size_t k = 0; k < spec->signal_count; k++) values[inputs + states + k].name = spec->signals[k].name;
    visit v = {.spec = spec,
               .look = still_holds,
               .constants = constants,
               .present = present,
               .values = values,
               .tables = tables,
               .broken = broken};
    return see_all(&v);
}
