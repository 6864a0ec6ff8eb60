/* compile_signals.c - the vector of values that expressions read: names, signals, rates, outputs, and the
 * order in which entries are computed.
 *
 *     values = [ inputs | user states | signals | quantities of the state ]
 *
 * Parameters, inputs, user states and signals share one namespace. A quantity gets its entry when the first
 * expression that uses it is compiled. Signals and defaults of inputs may use each other in any order: they
 * are compiled once to find what each uses, sorted depth first, and compiled again in this order, in which
 * the dimension of each is known to those that use it. A circle among them is an algebraic loop, and refused.
 *
 * Without a tree (unusable joints, bodies without connection) the names of quantities are checked by their
 * syntax only.
 *
 * Source   docs/theory/signals.md.
 * Cost     O(length of all expressions * names).
 */
#include "expression/expression.h"
#include "expression/units.h"
#include "model/compile/compile.h"
#include "model/quantity/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const of_time[] = {"t"};

/* --- names ---------------------------------------------------------------------------------------- */

static const char *kind_of(const lw_values *values, int entry) {
    return entry < values->input_count                         ? "input"
           : entry < values->input_count + values->state_count ? "state"
                                                               : "signal";
}

static lw_place place_of(const lw_spec *spec, const lw_values *values, int entry) {
    if (entry < values->input_count) return spec->inputs[entry].place;
    entry -= values->input_count;
    if (entry < values->state_count) return spec->states[entry].place;
    return spec->signals[entry - values->state_count].place;
}

static bool is_plain_word(const char *name) {
    size_t length = 0;
    while (name[length] == '_' || (name[length] >= 'a' && name[length] <= 'z') ||
           (name[length] >= 'A' && name[length] <= 'Z') ||
           (length > 0 && name[length] >= '0' && name[length] <= '9'))
        length++;
    if (length > 0 && name[length] == '.') return is_plain_word(name + length + 1); /* of a part */
    return length > 0 && name[length] == '\0';
}

/* Reports a name that no expression could use, or that another object of the namespace has. */
static void check_name(lw_compiler *compiler, int entry) {
    const lw_spec *spec = compiler->spec;
    const lw_values *values = &compiler->model->values;
    const char *name = compiler->values[entry].name, *kind = kind_of(values, entry), *taken = NULL;
    const lw_place place = place_of(spec, values, entry);
    if (!is_plain_word(name)) {
        lw_compile_error(compiler, kind, name, place, "use letters, digits and _, e.g. throttle",
                         "its name is no plain word, so that no expression can use it");
        return;
    }
    taken = lw_name_taken(name);
    for (size_t j = 0; j < spec->parameter_count && !taken; j++)
        if (strcmp(spec->parameters[j].name, name) == 0) taken = "a parameter";
    const lw_names *others[] = {&compiler->model->input_names, &values->state_names, &values->signal_names};
    static const char *const owners[] = {"an input", "a state", "a signal"};
    const int firsts[] = {0, values->input_count, values->input_count + values->state_count};
    for (int k = 0; k < 3 && !taken; k++) {
        const int other = lw_names_find(others[k], name);
        if (other >= 0 && firsts[k] + other < entry) taken = owners[k];
    }
    if (taken)
        lw_compile_error(compiler, kind, name, place, "choose another name", "its name is taken by %s",
                         taken);
}

static bool keep_name(lw_compiler *compiler, lw_names *names, int k, const char *name) {
    names->names[k] = lw_arena_text(compiler->model->arena, name ? name : "");
    return names->names[k] != NULL;
}

lw_status lw_compile_value_names(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    lw_values *values = &model->values;
    lw_arena *arena = model->arena, *scratch = compiler->scratch;
    const int inputs = values->input_count = (int)spec->input_count,
              states = values->state_count = (int)spec->state_count,
              signals = values->signal_count = (int)spec->signal_count, named = inputs + states + signals;
    values->element_of_quantities = values->element_of_states = -1;
    values->count = named;
    model->input_defaults = LW_NEW(arena, double, inputs + 1);
    values->starts = LW_NEW(arena, double, states + 1);
    values->functions = LW_NEW(arena, const lw_function *, named + 1);
    compiler->values = LW_NEW(scratch, lw_constant, named + 1);
    compiler->value_used = LW_NEW(scratch, bool, named + 1);
    compiler->value_needs = LW_NEW(scratch, unsigned, named + 1);
    compiler->value_cause = LW_NEW(scratch, const char *, named + 1);
    compiler->order = LW_NEW(scratch, int, named + 1);
    if (lw_arena_failed(arena) || lw_arena_failed(scratch) ||
        lw_names_create(arena, inputs, &model->input_names) != LW_OK ||
        lw_names_create(arena, states, &values->state_names) != LW_OK ||
        lw_names_create(arena, signals, &values->signal_names) != LW_OK)
        return LW_ERROR_MEMORY;
    bool fine = true;
    for (int k = 0; k < inputs; k++) {
        const lw_parameter *input = &spec->inputs[k];
        fine = keep_name(compiler, &model->input_names, k, input->name) && fine;
        model->input_defaults[k] = input->text ? NAN : input->value;
        compiler->values[k] =
            (lw_constant){.name = input->name, .value = input->value, .meaning = input->meaning};
        if (!input->text && !lw_finite(&input->value, 1))
            lw_compile_error(compiler, "input", input->name, input->place, "give a finite number",
                             "its default is not finite");
    }
    for (int k = 0; k < states; k++) {
        const lw_state_spec *state = &spec->states[k];
        fine = keep_name(compiler, &values->state_names, k, state->name) && fine;
        values->starts[k] = state->start;
        compiler->values[inputs + k] = (lw_constant){.name = state->name ? state->name : ""};
        if (!lw_finite(&state->start, 1))
            lw_compile_error(compiler, "state", state->name, state->place, "give a finite number",
                             "its start is not finite");
    }
    for (int k = 0; k < signals; k++) {
        const char *name = spec->signals[k].name;
        fine = keep_name(compiler, &values->signal_names, k, name) && fine;
        compiler->values[inputs + states + k] = (lw_constant){.name = name ? name : ""};
    }
    if (!fine) return LW_ERROR_MEMORY;
    lw_names_sort(&model->input_names);
    lw_names_sort(&values->state_names);
    lw_names_sort(&values->signal_names);
    for (int k = 0; k < named && !compiler->partial; k++) check_name(compiler, k);
    return LW_OK;
}

/* --- expressions ---------------------------------------------------------------------------------- */

static int named_count(const lw_compiler *compiler) {
    const lw_values *values = &compiler->model->values;
    return values->input_count + values->state_count + values->signal_count;
}

/* Gives a quantity its entry; -1 if memory is out. */
static int entry_of(lw_compiler *compiler, const lw_state_quantity *quantity, const char *text,
                    size_t length) {
    char *written = LW_NEW(compiler->scratch, char, length + 1);
    if (!written) return -1;
    memcpy(written, text, length);
    for (int k = 0; k < compiler->quantity_count; k++)
        if (strcmp(compiler->quantity_texts[k], written) == 0) return named_count(compiler) + k;
    if (compiler->quantity_count == compiler->quantity_capacity) {
        const int capacity = 2 * compiler->quantity_capacity + 16;
        lw_state_quantity *longer = LW_NEW(compiler->scratch, lw_state_quantity, capacity);
        const char **texts = LW_NEW(compiler->scratch, const char *, capacity);
        if (!longer || !texts) return -1;
        for (int k = 0; k < compiler->quantity_count; k++)
            longer[k] = compiler->quantities[k], texts[k] = compiler->quantity_texts[k];
        compiler->quantities = longer, compiler->quantity_texts = texts;
        compiler->quantity_capacity = capacity;
    }
    compiler->quantities[compiler->quantity_count] = *quantity;
    compiler->quantity_texts[compiler->quantity_count] = written;
    return named_count(compiler) + compiler->quantity_count++;
}

/* lw_quantity_finder of a compiler. */
static size_t find_quantity(void *context, const char *text, int *value, lw_meaning *measure,
                            lw_syntax *syntax) {
    lw_compiler *compiler = context;
    lw_state_quantity quantity = {0};
    *measure = (lw_meaning){.kind = LW_MEANING_UNKNOWN};
    *value = named_count(compiler);
    if (compiler->partial || !compiler->model->links) return lw_quantity_extent(text);
    const size_t length = lw_quantity_find(compiler->model, text, &quantity, syntax);
    if (length == 0) return 0;
    *measure = quantity.meaning;
    *value = entry_of(compiler, &quantity, text, length);
    return *value >= 0 ? length : 0; /* The arena remembers that memory was out. */
}

/* The place of a character of an expression in the model file. */
static lw_place place_in(const lw_compiler *compiler, const lw_expression_text *text, size_t offset) {
    return lw_spec_text_place(compiler->spec, text->text, text->place, offset);
}

static const lw_function *compile_into(lw_compiler *compiler, lw_arena *arena, const lw_expression_text *text,
                                       const char *const *variables, size_t variable_count,
                                       lw_input_use use) {
    const lw_values *values = &compiler->model->values;
    const lw_expression_names names = {.constants = compiler->constants,
                                       .constant_count = compiler->spec->parameter_count,
                                       .variables = variables,
                                       .variable_count = variable_count,
                                       .inputs = compiler->values,
                                       .input_count = (size_t)values->input_count,
                                       .state_count = (size_t)values->state_count,
                                       .signal_count = (size_t)values->signal_count,
                                       .input_use = use,
                                       .find_quantity = find_quantity,
                                       .find_context = compiler,
                                       .tables = compiler->tables,
                                       .table_count = compiler->tables ? compiler->spec->table_count : 0};
    lw_syntax syntax = {0};
    const lw_function *function = lw_function_compile(arena, text->text ? text->text : "", &names, &syntax);
    if (!function && !compiler->partial) /* Of an incomplete spec the reader has reported the faults. */
        lw_compile_error(compiler, text->kind, text->name, place_in(compiler, text, syntax.offset),
                         syntax.remedy, "%s \"%s\": %s", text->what, text->text ? text->text : "",
                         syntax.message);
    return function;
}

/* What a function needs of the state; *cause: the name of a quantity that needs more than kinematics. */
static unsigned needs_of(const lw_compiler *compiler, const lw_function *function, const char **cause) {
    const int *entries, named = named_count(compiler);
    const size_t count = lw_function_inputs(function, &entries);
    unsigned needs = 0;
    *cause = NULL;
    for (size_t k = 0; k < count; k++) {
        const int entry = entries[k];
        if (entry >= named && entry - named >= compiler->quantity_count) continue; /* There is no tree. */
        const unsigned own =
            entry < named ? compiler->value_needs[entry] : compiler->quantities[entry - named].needs;
        needs |= own;
        if (own & ~(unsigned)LW_NEEDS_KINEMATICS && !*cause)
            *cause = entry < named ? compiler->value_cause[entry] : compiler->quantity_texts[entry - named];
    }
    return needs;
}

static void mark_used(lw_compiler *compiler, const lw_function *function) {
    const int *entries;
    const size_t count = lw_function_inputs(function, &entries);
    for (size_t k = 0; k < count; k++)
        if (entries[k] < named_count(compiler)) compiler->value_used[entries[k]] = true;
}

/* Reports a quantity that is known only after forces are. */
static void refuse_late(lw_compiler *compiler, const lw_expression_text *text, unsigned needs,
                        const char *cause, lw_expression_use use) {
    const char *found = strstr(text->text, cause);
    const bool ledger = needs & (LW_NEEDS_LEDGER | LW_NEEDS_RUN | LW_NEEDS_WORK);
    const char *why =
        ledger ? "is kept by a run, beside the equations of motion"
        : needs & LW_NEEDS_FORCES && !(needs & ~(unsigned)(LW_NEEDS_KINEMATICS | LW_NEEDS_FORCES))
            ? "follows from the forces, so that forces cannot depend on it"
            : "is known only when forces have determined the accelerations, so that forces "
              "cannot depend on it";
    if (use == LW_USE_RATE && !ledger) why = "is known only when the equations of motion are solved";
    lw_compile_error(compiler, text->kind, text->name,
                     place_in(compiler, text, found ? (size_t)(found - text->text) : 0),
                     ledger ? "outputs may use it; forces, rates and events may use coordinates and speeds"
                            : "outputs and events may use it; a force or rate may use coordinates and speeds",
                     "%s \"%s\": \"%s\" %s", text->what, text->text, cause, why);
}

const lw_function *lw_compile_function(lw_compiler *compiler, const lw_expression_text *text,
                                       const char *const *variables, size_t variable_count,
                                       lw_expression_use use) {
    const lw_function *function =
        compile_into(compiler, compiler->model->arena, text, variables, variable_count,
                     use == LW_USE_MOTION ? LW_INPUTS_NOT_IN_MOTIONS : LW_INPUTS_ALLOWED);
    if (!function) return NULL;
    const char *cause;
    const unsigned needs = needs_of(compiler, function, &cause);
    mark_used(compiler, function);
    /* What an event cannot have at trial states. */
    const unsigned late = LW_NEEDS_LEDGER | LW_NEEDS_RUN | LW_NEEDS_WORK;
    const unsigned refused = use == LW_USE_OUTPUT  ? 0
                             : use == LW_USE_EVENT ? late
                                                   : ~(unsigned)LW_NEEDS_KINEMATICS;
    if (needs & refused && cause) refuse_late(compiler, text, needs, cause, use);
    return function;
}

void lw_compile_measure(lw_compiler *compiler, const lw_expression_text *text, const lw_function *function,
                        lw_quantity wanted) {
    if (!function || !lw_function_uses_inputs(function)) return;
    const lw_meaning measure = lw_function_meaning(function);
    if (measure.kind != LW_MEANING_SURE || lw_meaning_fit(&measure, wanted, false) != LW_DOES_NOT_FIT) return;
    char name[64], remedy[160];
    lw_meaning_name(&measure, name, sizeof name);
    if (measure.mass == 0) { /* -pin.v: a factor of one in SI units is left out. */
        snprintf(remedy, sizeof remedy, "it is taken as %s in SI units; give it a factor with a unit",
                 lw_quantity_name(wanted));
        lw_compile_warning(compiler, text->kind, text->name, place_in(compiler, text, 0), remedy,
                           "%s \"%s\" is %s, but %s is expected", text->what, text->text, name,
                           lw_quantity_name(wanted));
        return;
    }
    snprintf(remedy, sizeof remedy, "give %s, e.g. 3 %s; a parameter without unit fits anything",
             lw_quantity_name(wanted), lw_quantity_unit(wanted));
    lw_compile_error(compiler, text->kind, text->name, place_in(compiler, text, 0), remedy, "%s \"%s\" is %s",
                     text->what, text->text, name);
}

/* --- signals and rates ---------------------------------------------------------------------------- */

/* Sorting of the expressions that are values: defaults of inputs, and signals. */
typedef struct sorting {
    lw_compiler *compiler;
    const lw_function **drafts; /* per entry; NULL: no such expression, or faulty */
    unsigned char *state;       /* per entry: 0 not visited, 1 on the path, 2 done */
    int *path, *next;           /* the entries on the path, and which of its uses each looks at next */
    int height;
} sorting;

/* The expression that is the value of an entry; text.text is NULL if there is none. */
static lw_expression_text value_text(const lw_compiler *compiler, int entry) {
    const lw_spec *spec = compiler->spec;
    const lw_values *values = &compiler->model->values;
    lw_expression_text text = {.kind = kind_of(values, entry),
                               .name = compiler->values[entry].name,
                               .place = place_of(spec, values, entry),
                               .what = "value"};
    const int signal = entry - values->input_count - values->state_count;
    if (entry < values->input_count)
        text.what = "default", text.text = spec->inputs[entry].text;
    else if (signal >= 0)
        text.text = spec->signals[signal].value ? spec->signals[signal].value : "";
    return text;
}

/* Reports the entries of the path from `first` on, in order, as "a -> b -> a". */
static void report_cycle(sorting *s, int first) {
    lw_compiler *compiler = s->compiler;
    char path[256] = "";
    size_t used = 0;
    int start = 0;
    while (s->path[start] != first) start++;
    for (int k = start; k <= s->height && used < sizeof path; k++)
        used += (size_t)snprintf(path + used, sizeof path - used, "%s%s", k > start ? " -> " : "",
                                 compiler->values[k < s->height ? s->path[k] : first].name);
    const lw_expression_text text = value_text(compiler, first);
    lw_compile_error(compiler, text.kind, text.name, text.place,
                     "a state may stand between them, e.g. states: {lag: {rate: (u - lag)/T, start: 0}}",
                     "its value needs itself at the same instant: %s%s", path,
                     used >= sizeof path ? "..." : "");
}

/* Visits an entry and, before it, all that it uses. */
static void sort_from(sorting *s, int first) {
    lw_compiler *compiler = s->compiler;
    const int named = named_count(compiler);
    s->path[0] = first, s->next[0] = 0, s->state[first] = 1, s->height = 1;
    while (s->height > 0) {
        const int entry = s->path[s->height - 1], *uses;
        const int count = (int)lw_function_inputs(s->drafts[entry], &uses);
        int *next = &s->next[s->height - 1];
        while (*next < count &&
               (uses[*next] >= named || !s->drafts[uses[*next]] || s->state[uses[*next]] == 2))
            ++*next;
        if (*next == count) {
            s->state[entry] = 2;
            compiler->order[compiler->order_count++] = entry;
            s->height--;
            continue;
        }
        const int other = uses[(*next)++];
        if (s->state[other] == 1) {
            report_cycle(s, other);
            continue;
        }
        s->state[other] = 1;
        s->path[s->height] = other, s->next[s->height] = 0, s->height++;
    }
}

static void compile_value(lw_compiler *compiler, int entry) {
    const lw_expression_text text = value_text(compiler, entry);
    const lw_function *function =
        compile_into(compiler, compiler->model->arena, &text, of_time, 1, LW_INPUTS_ALLOWED);
    compiler->model->values.functions[entry] = function;
    if (!function) return;
    mark_used(compiler, function);
    compiler->value_needs[entry] = needs_of(compiler, function, &compiler->value_cause[entry]);
    const lw_meaning measure = lw_function_meaning(function);
    if (entry >= compiler->model->values.input_count) compiler->values[entry].meaning = measure;
}

lw_status lw_compile_signals(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_values *values = &compiler->model->values;
    const int named = named_count(compiler), errors = compiler->errors;
    lw_arena *scratch = compiler->scratch;
    sorting s = {.compiler = compiler,
                 .drafts = LW_NEW(scratch, const lw_function *, named + 1),
                 .state = LW_NEW(scratch, unsigned char, named + 1),
                 .path = LW_NEW(scratch, int, named + 1),
                 .next = LW_NEW(scratch, int, named + 1)};
    if (lw_arena_failed(scratch)) return LW_ERROR_MEMORY;
    for (int entry = 0; entry < named; entry++) {
        const lw_expression_text text = value_text(compiler, entry);
        if (text.text)
            s.drafts[entry] = compile_into(compiler, scratch, &text, of_time, 1, LW_INPUTS_ALLOWED);
    }
    for (int entry = 0; entry < named; entry++)
        if (s.drafts[entry] && s.state[entry] == 0) sort_from(&s, entry);
    for (int k = 0; k < compiler->order_count && compiler->errors == errors; k++)
        compile_value(compiler, compiler->order[k]);
    for (int k = 0; k < values->state_count; k++) {
        const lw_state_spec *state = &spec->states[k];
        const lw_expression_text text = {"state", state->name, state->place, "rate",
                                         state->rate ? state->rate : ""};
        values->functions[values->input_count + k] =
            lw_compile_function(compiler, &text, of_time, 1, LW_USE_RATE);
    }
    return lw_arena_failed(scratch) || lw_arena_failed(compiler->model->arena) ? LW_ERROR_MEMORY : LW_OK;
}

void lw_warn_of_unused_inputs(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    for (size_t k = 0; k < spec->input_count; k++) {
        if (compiler->value_used[k]) continue;
        lw_compile_warning(compiler, "input", spec->inputs[k].name, spec->inputs[k].place,
                           "use it in a law, a drive, an applied force or a signal, or remove it",
                           "nothing depends on it");
    }
}

/* --- outputs -------------------------------------------------------------------------------------- */

/* The SI unit of what a function measures; "" if that is not known. */
static const char *si_unit(const lw_compiler *compiler, const lw_function *function) {
    const int *entries, named = named_count(compiler);
    const size_t count = lw_function_inputs(function, &entries);
    const lw_meaning measure = lw_function_meaning(function);
    if (count == 1 && entries[0] >= named && entries[0] - named < compiler->quantity_count) {
        const lw_state_quantity *quantity = &compiler->quantities[entries[0] - named];
        if (lw_meaning_is_known(&measure) && lw_meaning_same(&measure, &quantity->meaning) && quantity->unit)
            return quantity->unit;
    }
    if (!lw_meaning_is_known(&measure)) return "";
    for (int k = LW_PLAIN_NUMBER + 1; k < LW_QUANTITIES; k++) {
        const lw_meaning of = lw_quantity_meaning((lw_quantity)k, LW_MEANING_SURE);
        if (lw_meaning_same(&measure, &of)) return lw_quantity_unit((lw_quantity)k);
    }
    return "";
}

static void compile_unit(lw_compiler *compiler, const lw_output_spec *spec, lw_output *output) {
    output->numerator = output->denominator = 1;
    output->unit = output->function ? si_unit(compiler, output->function) : "";
    if (!spec->unit) return;
    const lw_expression_names none = {0};
    lw_units units;
    const lw_place place = lw_spec_text_place(compiler->spec, spec->unit, spec->place, 0);
    if (lw_units_read(spec->unit, 0, &none, &units) != LW_UNITS_FOUND || spec->unit[units.end]) {
        lw_compile_error(compiler, "output", spec->name, place, "give a unit such as deg, mm, kN, mm/s",
                         "unit \"%.40s\" is not known", spec->unit);
        return;
    }
    const lw_meaning unit = lw_units_meaning(&units);
    output->numerator = units.numerator, output->denominator = units.denominator;
    output->unit = spec->unit;
    const lw_meaning measure =
        output->function ? lw_function_meaning(output->function) : (lw_meaning){.kind = LW_MEANING_UNKNOWN};
    if (measure.kind != LW_MEANING_SURE || lw_meaning_same(&measure, &unit)) return;
    char is[64], wanted[64];
    lw_meaning_name(&measure, is, sizeof is);
    lw_meaning_name(&unit, wanted, sizeof wanted);
    lw_compile_error(compiler, "output", spec->name, place,
                     "give a unit of what it measures, or leave it out",
                     "unit \"%.40s\" is that of %s, but its value is %s", spec->unit, wanted, is);
}

/* Outputs may be called as anything else is: the column of such a one in results is output(NAME). */
static bool name_column(lw_compiler *compiler, int output) {
    lw_model *model = compiler->model;
    const char *name = model->output_names.names[output];
    const size_t length = strlen(name);
    lw_state_quantity quantity;
    bool taken = strcmp(name, "t") == 0 || lw_names_find(&model->values.state_names, name) >= 0 ||
                 lw_names_find(&model->input_names, name) >= 0 ||
                 lw_names_find(&model->parameter_names, name) >= 0 || strncmp(name, "output(", 7) == 0 ||
                 lw_quantity_is_alone(name);
    if (!taken && model->links && length > 0)
        taken = lw_quantity_find(model, name, &quantity, NULL) == length;
    if (!name[0])
        lw_compile_error(compiler, "output", name, compiler->spec->outputs[output].place, "give it a name",
                         "has no name");
    model->outputs[output].column = name;
    if (!taken) return true;
    char *column = LW_NEW(model->arena, char, length + sizeof "output()");
    if (!column) return false;
    snprintf(column, length + sizeof "output()", "output(%s)", name);
    model->outputs[output].column = column;
    return true;
}

lw_status lw_compile_outputs(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    const int count = (int)spec->output_count;
    model->outputs = LW_NEW(model->arena, lw_output, count + 1);
    if (!model->outputs || lw_names_create(model->arena, count, &model->output_names) != LW_OK)
        return LW_ERROR_MEMORY;
    for (int k = 0; k < count; k++) {
        const lw_output_spec *output = &spec->outputs[k];
        const lw_expression_text text = {"output", output->name, output->place, "value",
                                         output->value ? output->value : ""};
        const char *cause;
        lw_output *own = &model->outputs[k];
        if (!keep_name(compiler, &model->output_names, k, output->name)) return LW_ERROR_MEMORY;
        own->function = lw_compile_function(compiler, &text, of_time, 1, LW_USE_OUTPUT);
        if (own->function) own->needs = needs_of(compiler, own->function, &cause);
        compile_unit(compiler, output, own);
        own->unit = lw_arena_text(model->arena, own->unit);
        if (!own->unit) return LW_ERROR_MEMORY;
    }
    lw_names_sort(&model->output_names);
    for (int k = 0; k < count; k++)
        if (!name_column(compiler, k)) return LW_ERROR_MEMORY;
    for (int k = 1; k < count && !compiler->partial; k++) {
        const int index = model->output_names.order[k];
        const char *name = model->output_names.names[index];
        if (strcmp(name, model->output_names.names[model->output_names.order[k - 1]]) == 0)
            lw_compile_error(compiler, "output", name, spec->outputs[index].place, "rename one of them",
                             "the name is taken twice");
    }
    return LW_OK;
}

/* --- orders --------------------------------------------------------------------------------------- */

/* What entries depend on: signals and defaults through those that they use. */
enum { ON_QUANTITY = 1, ON_STATE = 2, ON_TIME = 4, ON_INPUT = 8 };

/* Marks what a function uses, in wanted[0..count), and returns what it depends on. */
static unsigned use(const unsigned char *of_entry, const lw_function *function, size_t time, bool *wanted) {
    const int *entries;
    const size_t count = function ? lw_function_inputs(function, &entries) : 0;
    unsigned depends = function && lw_function_uses(function, time) ? ON_TIME : 0;
    for (size_t k = 0; k < count; k++) {
        wanted[entries[k]] = true;
        depends |= of_entry[entries[k]];
    }
    return depends;
}

/* Puts a quantity behind the first that belongs to the same vector, or at the end of `count` entries. */
static void put_beside(const lw_values *values, int named, int *entries, int count, int entry) {
    int at = 0;
    while (at < count && !lw_quantity_same_vector(&values->quantities[entries[at] - named],
                                                  &values->quantities[entry - named]))
        at++;
    at = at < count ? at + 1 : count;
    memmove(entries + at + 1, entries + at, (size_t)(count - at) * sizeof *entries);
    entries[at] = entry;
}

/* The entries that are wanted, with all that they need, in the order of computation. */
static bool make_order(lw_compiler *compiler, bool *wanted, lw_value_order *order) {
    lw_model *model = compiler->model;
    const lw_values *values = &model->values;
    const int named = named_count(compiler);
    int *entries = LW_NEW(model->arena, int, values->count + 1);
    lw_value_copy *copies = LW_NEW(model->arena, lw_value_copy, 2 * (size_t)values->quantity_count + 2),
                  *speeds = copies + values->quantity_count + 1;
    bool *again = LW_NEW(model->arena, bool, values->quantity_count + 1);
    if (!entries || !copies || !again) return false;
    for (int k = compiler->order_count - 1; k >= 0; k--) { /* Those that use others first. */
        const int entry = compiler->order[k], *uses;
        if (!wanted[entry] || !values->functions[entry]) continue;
        const size_t count = lw_function_inputs(values->functions[entry], &uses);
        for (size_t i = 0; i < count; i++) wanted[uses[i]] = true;
    }
    for (int entry = named; entry < values->count; entry++) {
        if (!wanted[entry]) continue;
        const lw_state_quantity *quantity = &values->quantities[entry - named];
        order->needs |= quantity->needs;
        const bool in_tree = quantity->other < 0 && quantity->axes <= 0;
        if (in_tree && quantity->kind == LW_Q_COORDINATE)
            copies[order->coordinate_count++] =
                (lw_value_copy){entry, model->joints[quantity->object].info.q + quantity->component};
        else if (in_tree && quantity->kind == LW_Q_SPEED)
            speeds[order->speed_count++] =
                (lw_value_copy){entry, model->joints[quantity->object].info.v + quantity->component};
        else
            put_beside(values, named, entries, order->count++, entry);
    }
    for (int k = 1; k < order->count; k++)
        again[k] = lw_quantity_same_vector(&values->quantities[entries[k - 1] - named],
                                           &values->quantities[entries[k] - named]);
    order->again = again;
    order->quantity_count = order->count;
    order->coordinates = copies, order->speeds = speeds;
    for (int k = 0; k < compiler->order_count; k++)
        if (wanted[compiler->order[k]]) entries[order->count++] = compiler->order[k];
    order->entries = entries;
    return true;
}

static unsigned use_force(const lw_force *force, const unsigned char *of_entry, bool *wanted) {
    unsigned depends = use(of_entry, force->law, 2, wanted) | use(of_entry, force->drive, 0, wanted);
    for (int i = 0; i < 6; i++) depends |= use(of_entry, force->components[i], 0, wanted);
    return depends;
}

/* Reports a user state that cannot be the motion of a joint. direct: the motion depends on it, otherwise the
 * rate of one on which it does. */
static void refuse_motion(lw_compiler *compiler, int motion, int state, unsigned depends, bool direct) {
    const lw_model *model = compiler->model;
    const int index = model->bodies[model->motions[motion].body].joint_index;
    const lw_joint_spec *joint = &compiler->spec->joints[index];
    char remedy[160];
    snprintf(
        remedy, sizeof remedy,
        "let a state follow it, lag: {rate: (%.40s - lag)/T, start: 0}, or drive the joint by a stiff force",
        model->values.state_names.names[state]);
    lw_compile_error(compiler, "joint", joint->name, joint->place, remedy,
                     "its motion depends%s on state \"%s\", whose rate depends on %s, so that the motion has "
                     "no acceleration that is known in advance",
                     direct ? "" : ", by the rate of another state,", model->values.state_names.names[state],
                     depends & ON_QUANTITY ? "quantities of the mechanism" : "inputs");
}

/* Marks the user states that the function of a rate or motion uses, through signals too. */
static void mark_states(const lw_compiler *compiler, const lw_function *function, bool *wanted,
                        bool *states) {
    const lw_values *values = &compiler->model->values;
    const int *uses;
    size_t count = lw_function_inputs(function, &uses);
    memset(wanted, 0, (size_t)values->count * sizeof *wanted);
    for (size_t k = 0; k < count; k++) wanted[uses[k]] = true;
    for (int k = compiler->order_count - 1; k >= 0; k--) {
        const int entry = compiler->order[k];
        if (!wanted[entry] || !values->functions[entry]) continue;
        count = lw_function_inputs(values->functions[entry], &uses);
        for (size_t i = 0; i < count; i++) wanted[uses[i]] = true;
    }
    for (int k = 0; k < values->state_count; k++) states[k] |= wanted[values->input_count + k];
}

/* Lists the user states whose derivatives motions need, and refuses those that have none. */
static bool order_motions(lw_compiler *compiler, const unsigned char *of_entry) {
    lw_model *model = compiler->model;
    lw_values *values = &model->values;
    const int states = values->state_count;
    const size_t count = (size_t)values->count + 1;
    bool *wanted = LW_NEW(compiler->scratch, bool, 2 * count), *needed = wanted + count;
    bool *movers = LW_NEW(compiler->scratch, bool, 2 * (size_t)states + 2), *others = movers + states;
    int *moving = LW_NEW(model->arena, int, states + 1);
    if (lw_arena_failed(compiler->scratch) || !moving) return false;
    int motion = -1;
    for (int k = 0; k < model->motion_count; k++)
        for (int i = 0; i < model->motions[k].count; i++) {
            const lw_function *function = model->motions[k].functions[i];
            if (!function || !lw_function_uses_inputs(function)) continue;
            mark_states(compiler, function, wanted, movers);
            motion = k;
        }
    if (motion < 0) return true;
    for (int k = 0; k < states; k++)
        if (movers[k]) {
            const lw_function *rate = values->functions[values->input_count + k];
            const unsigned depends = use(of_entry, rate, 0, needed);
            if (depends & (ON_QUANTITY | ON_INPUT)) refuse_motion(compiler, motion, k, depends, true);
            mark_states(compiler, rate, wanted, others);
            moving[values->moving_count++] = k;
        }
    values->mover_count = values->moving_count;
    for (int k = 0; k < states; k++)
        if (others[k] && !movers[k]) {
            const unsigned depends = use(of_entry, values->functions[values->input_count + k], 0, needed);
            if (depends & ON_QUANTITY) refuse_motion(compiler, motion, k, depends, false);
            moving[values->moving_count++] = k;
        }
    values->moving = moving;
    return make_order(compiler, needed, &values->for_motions);
}

lw_status lw_compile_value_orders(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    lw_values *values = &model->values;
    const int named = named_count(compiler);
    values->quantity_count = compiler->quantity_count;
    values->count = named + compiler->quantity_count;
    const size_t count = (size_t)values->count + 1;
    values->quantities = LW_NEW(model->arena, lw_state_quantity, compiler->quantity_count + 1);
    unsigned char *of_entry = LW_NEW(compiler->scratch, unsigned char, count);
    bool *wanted = LW_NEW(compiler->scratch, bool, 5 * count);
    if (lw_arena_failed(model->arena) || lw_arena_failed(compiler->scratch)) return LW_ERROR_MEMORY;
    if (compiler->errors) return LW_OK;
    bool *by_forces = wanted, *by_rates = wanted + count, *by_all = wanted + 2 * count,
         *by_motion = wanted + 3 * count, *by_events = wanted + 4 * count;
    for (int k = 0; k < compiler->quantity_count; k++) {
        values->quantities[k] = compiler->quantities[k];
        of_entry[named + k] = ON_QUANTITY;
        by_all[named + k] = true;
    }
    for (int k = 0; k < values->input_count; k++) of_entry[k] = ON_INPUT;
    for (int k = 0; k < values->state_count; k++) of_entry[values->input_count + k] = ON_STATE;
    for (int k = 0; k < compiler->order_count; k++) {
        const int entry = compiler->order[k];
        bool *unwanted = by_all; /* Everything is wanted there anyway. */
        of_entry[entry] |= (unsigned char)use(of_entry, values->functions[entry], 0, unwanted);
        by_all[entry] = true;
    }
    unsigned depends = 0;
    for (int k = 0; k < model->force_count; k++) {
        const unsigned own = use_force(&model->forces[k], of_entry, by_forces);
        if (own & ON_QUANTITY && values->element_of_quantities < 0) values->element_of_quantities = k;
        if (own & ON_STATE && values->element_of_states < 0) values->element_of_states = k;
        depends |= own;
    }
    for (int k = 0; k < values->state_count; k++)
        depends |= use(of_entry, values->functions[values->input_count + k], 0, by_rates);
    if (!order_motions(compiler, of_entry)) return LW_ERROR_MEMORY;
    for (size_t k = 0; k < count; k++) by_motion[k] = by_forces[k] || by_rates[k];
    for (int k = 0; k < model->event_count; k++) {
        const lw_model_event *event = &model->events[k];
        (void)use(of_entry, event->when, 0, by_events);
        (void)use(of_entry, event->impact_factor, 0, by_events);
        for (int i = 0; i < event->set_count; i++) (void)use(of_entry, event->sets[i].value, 0, by_events);
    }
    if (depends & ON_TIME) model->depends_on_time = true;
    if (!make_order(compiler, by_forces, &values->for_forces) ||
        !make_order(compiler, by_rates, &values->for_rates) ||
        !make_order(compiler, by_motion, &values->for_motion) ||
        !make_order(compiler, by_events, &values->for_events) ||
        !make_order(compiler, by_all, &values->for_all))
        return LW_ERROR_MEMORY;
    if (values->for_forces.needs) model->forces_need_world = true;
    return LW_OK;
}
