/* measures.c - what is measured of a run: functions of one quantity over its samples.
 *
 * With samples t_k, x_k, k = 0 .. n-1:
 *     final x_(n-1)    initial x_0    max, min, range = max - min of all x_k
 *     mean, rms        the integral of x, or of x^2, over time by trapezoids, by the time; rms its root
 *     at(x, t)         x_k with t_k = t; there must be a sample at that time
 *     settle(x, d)     the first t_k from which on |x - x_(n-1)| <= d
 *     overshoot(x)     the largest (x_k - x_(n-1)) / (x_(n-1) - x_0): beyond the final value, of the step
 *     time(event)      the instant of the first event of this name, to the integrator's tolerance
 * A quantity by itself is measured as final. Extremes are those of the samples: a finer output interval finds
 * them better.
 */
#include "expression/function.h"
#include "sweep/sweep_parts.h"

#include <ctype.h>
#include <linkwork/io.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int arguments;
} functions[LW_TAKE_KINDS] = {
    [LW_TAKE_FINAL] = {"final", 1},   [LW_TAKE_INITIAL] = {"initial", 1},
    [LW_TAKE_MAX] = {"max", 1},       [LW_TAKE_MIN] = {"min", 1},
    [LW_TAKE_RANGE] = {"range", 1},   [LW_TAKE_MEAN] = {"mean", 1},
    [LW_TAKE_RMS] = {"rms", 1},       [LW_TAKE_AT] = {"at", 2},
    [LW_TAKE_SETTLE] = {"settle", 2}, [LW_TAKE_OVERSHOOT] = {"overshoot", 1},
    [LW_TAKE_TIME] = {"time", 1},
};

/* --- reading -------------------------------------------------------------------------------------- */

static lw_status wrong(lw_error *error, const char *text, const char *remedy, const char *message) {
    char object[112];
    snprintf(object, sizeof object, "measure \"%.90s\"", text);
    return lw_fail(error, LW_ERROR_ARGUMENT, object, remedy, "%s", message);
}

/* Is all of the text one call, "max(...)"? Returns the length of its name, or 0. */
static size_t call_name(const char *text) {
    size_t name = 0;
    while (isalpha((unsigned char)text[name])) name++;
    const size_t length = strlen(text);
    if (name == 0 || text[name] != '(' || text[length - 1] != ')') return 0;
    int depth = 0;
    bool quoted = false;
    for (size_t k = name; k < length; k++) {
        if (text[k] == '\'') quoted = !quoted;
        if (!quoted && text[k] == '(') depth++;
        if (!quoted && text[k] == ')' && --depth == 0 && k + 1 < length) return 0;
    }
    return name;
}

/* "peak = max(kinetic)": the label's length, and where the rest begins; 0: none. */
static size_t label_length(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
    const size_t sign = length + strspn(text + length, " \t");
    return length > 0 && text[sign] == '=' && text[sign + 1] != '=' ? sign + 1 : 0;
}

static lw_status find_event(const lw_model *model, const char *text, const lw_sweep_measure *m,
                            lw_error *error) {
    char remedy[160] = "the model has no events; they stand in its section events";
    char message[160];
    lw_closest_search search = lw_closest_to(m->quantity);
    for (int k = 0; k < lw_model_event_count(model); k++) {
        if (strcmp(lw_model_event_name(model, k), m->quantity) == 0) return LW_OK;
        lw_closest_try(&search, lw_model_event_name(model, k));
    }
    if (lw_model_event_count(model) > 0)
        snprintf(remedy, sizeof remedy, "name one of its events, e.g. %.80s", lw_model_event_name(model, 0));
    lw_did_you_mean(search.name, remedy, sizeof remedy);
    snprintf(message, sizeof message, "the model has no event \"%.80s\"", m->quantity);
    return wrong(error, text, remedy, message);
}

/* The one column that the quantity is. */
static lw_status find_quantity(const lw_model *model, const char *text, lw_arena *arena, lw_sweep_measure *m,
                               lw_error *error) {
    lw_record *record = NULL;
    lw_error fault = {0};
    lw_status status = lw_record_create(model, m->quantity, &record, &fault);
    if (status == LW_ERROR_MEMORY) return lw_out_of_memory(error);
    if (status != LW_OK) {
        char message[512];
        snprintf(message, sizeof message, "%.500s", fault.message);
        return wrong(error, text, fault.remedy, message);
    }
    if (lw_record_count(record) != 2) { /* Time is the first column. */
        char message[200];
        snprintf(message, sizeof message, "\"%.60s\" is %zu quantities", m->quantity,
                 lw_record_count(record) - 1);
        status = wrong(error, text, "name one, e.g. max(reaction(pin).force)", message);
    } else {
        m->unit = lw_arena_text(arena, lw_record_unit(record, 1));
        if (!m->unit) status = lw_out_of_memory(error);
    }
    lw_record_destroy(record);
    return status;
}

lw_status lw_sweep_measure_number(const char *text, const char *number, const char *unit, double *value,
                                  lw_error *error) {
    const lw_expression_names none = {0};
    lw_syntax syntax = {0};
    lw_meaning given = {0}, wanted = {0};
    char in_unit[80], message[400];
    double one = 1, ignored;
    snprintf(in_unit, sizeof in_unit, "1 (%.60s)", unit);
    if (unit[0] && lw_read_number(in_unit, NULL, &one, NULL) != LW_OK)
        one = 1; /* A unit of the user's own. */
    if (!lw_number_meaning(number, &none, value, &given, &syntax)) {
        snprintf(message, sizeof message, "\"%.60s\": %s", number, syntax.message);
        return wrong(error, text, syntax.remedy, message);
    }
    const bool known = unit[0] && lw_number_meaning(in_unit, &none, &ignored, &wanted, NULL);
    if (given.kind == LW_MEANING_SURE && known && !lw_meaning_same(&given, &wanted)) {
        snprintf(message, sizeof message, "\"%.60s\" is not in %.40s", number, unit);
        return wrong(error, text, "give it in that unit, or as a plain number", message);
    }
    if (given.kind == LW_MEANING_SURE) *value /= one; /* A number without unit is in that of the column. */
    return LW_OK;
}

/* The second argument: a time, or a difference in the unit of the quantity. */
static lw_status read_argument(const char *text, const char *argument, lw_sweep_measure *m, lw_error *error) {
    const char *unit = m->kind == LW_TAKE_AT ? "s" : m->unit;
    const lw_status status = lw_sweep_measure_number(text, argument, unit, &m->argument, error);
    if (status == LW_OK && m->kind == LW_TAKE_SETTLE && !(m->argument > 0))
        return wrong(error, text,
                     "give the difference that counts as settled, above zero, e.g. settle(pin.q, 1e-3)",
                     "nothing settles to within less than nothing");
    return status;
}

lw_status lw_sweep_measure_read(const lw_model *model, const char *text, lw_arena *arena, lw_sweep_measure *m,
                                lw_error *error) {
    const char *pieces[3] = {0};
    const size_t label = label_length(text);
    const char *rest = text + label + strspn(text + label, " \t");
    char *name = lw_arena_text(arena, label ? text : rest), *call = lw_arena_text(arena, rest);
    *m = (lw_sweep_measure){.kind = LW_TAKE_FINAL};
    if (!name || !call) return lw_out_of_memory(error);
    if (label) name[strcspn(name, " \t=")] = '\0';
    for (size_t k = strlen(call); k > 0 && isspace((unsigned char)call[k - 1]); k--) call[k - 1] = '\0';
    m->name = name, m->quantity = call, m->unit = "";
    if (!call[0])
        return wrong(error, text, "write e.g. max(reaction(pin).force), final(pin.q), kinetic",
                     "it is empty");
    const size_t word = call_name(call);
    for (int k = 0; k < LW_TAKE_KINDS && word > 0; k++) {
        if (strlen(functions[k].name) != word || strncmp(functions[k].name, call, word) != 0) continue;
        const int count =
            lw_cut_at_commas(arena, call + word + 1, strlen(call) - word - 2, pieces, functions[k].arguments);
        m->kind = (lw_sweep_measure_kind)k;
        if (count != functions[k].arguments) {
            char remedy[160];
            snprintf(remedy, sizeof remedy, "write %s(QUANTITY%s)", functions[k].name,
                     m->kind == LW_TAKE_AT       ? ", TIME"
                     : m->kind == LW_TAKE_SETTLE ? ", DIFFERENCE"
                                                 : "");
            return wrong(error, text, remedy, "it has another number of arguments than it needs");
        }
        m->quantity = pieces[0];
    }
    if (m->kind == LW_TAKE_TIME) {
        m->unit = "s";
        return find_event(model, text, m, error);
    }
    lw_status status = find_quantity(model, text, arena, m, error);
    if (status == LW_OK && pieces[1]) status = read_argument(text, pieces[1], m, error);
    if (m->kind == LW_TAKE_SETTLE) m->unit = "s";
    if (m->kind == LW_TAKE_OVERSHOOT) m->unit = "";
    return status;
}

/* --- measuring ------------------------------------------------------------------------------------- */

/* The mean over time of x^power, by trapezoids. */
static double mean(const double *t, const double *x, size_t count, int power) {
    double sum = 0;
    if (count == 1 || !(t[count - 1] > t[0])) return power == 2 ? x[0] * x[0] : x[0];
    for (size_t k = 1; k < count; k++) {
        const double a = power == 2 ? x[k - 1] * x[k - 1] : x[k - 1], b = power == 2 ? x[k] * x[k] : x[k];
        sum += 0.5 * (a + b) * (t[k] - t[k - 1]);
    }
    return sum / (t[count - 1] - t[0]);
}

static lw_status value_at(const lw_sweep_measure *m, const double *t, const double *x, size_t count,
                          double *value, lw_error *error) {
    const double slack = 1e-9 * fmax(fabs(t[count - 1]), fabs(t[0]));
    if (m->argument > t[count - 1] + slack) { /* An event has ended the run before. */
        *value = NAN;
        return LW_OK;
    }
    size_t k = 0;
    while (k + 1 < count && t[k] < m->argument - slack) k++;
    while (k + 1 < count && fabs(t[k + 1] - m->argument) <= slack) k++; /* Behind an event at that time. */
    *value = x[k];
    if (fabs(t[k] - m->argument) <= slack) return LW_OK;
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                   "give the time of a sample, or another output interval (--output)",
                   "there is no sample at t = %.9g s; the next is at %.9g s", m->argument, t[k]);
}

lw_status lw_sweep_measure_value(const lw_sweep_measure *m, const double *t, const double *x, size_t count,
                                 double *value, lw_error *error) {
    const double last = x[count - 1], step = last - x[0];
    double low = x[0], high = x[0];
    for (size_t k = 0; k < count; k++) {
        if (!(x[k] >= low)) low = x[k]; /* What is no number stays. */
        if (!(x[k] <= high)) high = x[k];
    }
    switch (m->kind) {
    case LW_TAKE_FINAL:
        *value = last;
        break;
    case LW_TAKE_INITIAL:
        *value = x[0];
        break;
    case LW_TAKE_MAX:
        *value = high;
        break;
    case LW_TAKE_MIN:
        *value = low;
        break;
    case LW_TAKE_RANGE:
        *value = high - low;
        break;
    case LW_TAKE_MEAN:
        *value = mean(t, x, count, 1);
        break;
    case LW_TAKE_RMS:
        *value = sqrt(mean(t, x, count, 2));
        break;
    case LW_TAKE_AT:
        return value_at(m, t, x, count, value, error);
    case LW_TAKE_SETTLE: {
        size_t k = count - 1;
        while (k > 0 && fabs(x[k - 1] - last) <= m->argument) k--;
        *value = isnan(last) ? NAN : t[k];
        break;
    }
    case LW_TAKE_OVERSHOOT:
        *value = step > 0 ? (high - last) / step : step < 0 ? (low - last) / step : NAN;
        break;
    case LW_TAKE_TIME:
    case LW_TAKE_KINDS:
        *value = NAN; /* Known from the run's events. */
        break;
    }
    return LW_OK;
}
