/* compare_sweep.c - linkwork compare --sweep: time of a call against a parameter of the model, and its
 * exponent.
 *
 * The parameter doubles from the first value to the last. At each size every method is compared on the
 * initial state and timed. The exponent is the slope of log(time) against log(parameter) by least squares:
 * over all sizes, and over the last three, where constant parts count less. A method leaves the sweep when
 * its time for the next size (creation and a few calls), extrapolated from the last two sizes, exceeds the
 * budget.
 */
#include "compare_call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MAX = 40, LAST = 3, CALLS = 12 }; /* CALLS: least number of calls that lw_compare makes */
static const double default_budget = 5;

typedef struct size {
    double value;
    lw_comparison *results; /* lw_method_count() entries; method is NULL if it took no part */
} size;

typedef struct sweep {
    compare_call *call;
    char name[80];
    size sizes[SIZES_MAX];
    int count; /* number of completed sizes */
    double budget;
    char (*left)[240]; /* per method: why it left the sweep, or "" */
} sweep;

static int bad_range(const compare_call *call, const char *range, const char *why) {
    return cli_say(call->command, CLI_WRONG, "--sweep: \"%s\" %s; give e.g. --sweep bodies=4..256", range,
                   why);
}

/* Reads "name=from..to". */
static int read_range(sweep *s, const char *range, double *from, double *to) {
    const char *equals = strchr(range, '='), *dots = equals ? strstr(equals, "..") : NULL;
    char first[64], last[64];
    if (!dots || equals == range || dots == equals + 1 || !dots[2])
        return bad_range(s->call, range, "is not of the form name=from..to");
    if ((size_t)(equals - range) >= sizeof s->name || (size_t)(dots - equals) > sizeof first ||
        strlen(dots + 2) >= sizeof last)
        return bad_range(s->call, range, "is too long");
    snprintf(s->name, sizeof s->name, "%.*s", (int)(equals - range), range);
    snprintf(first, sizeof first, "%.*s", (int)(dots - equals - 1), equals + 1);
    snprintf(last, sizeof last, "%s", dots + 2);
    lw_error error = {0};
    if (lw_read_number(first, NULL, from, &error) != LW_OK || lw_read_number(last, NULL, to, &error) != LW_OK)
        return bad_range(s->call, range, error.message);
    if (!(*from > 0) || !(*to >= 2 * *from))
        return bad_range(s->call, range,
                         "has no two sizes: from must be positive, and to at least twice as much");
    if (*to / *from >= ldexp(1, SIZES_MAX - 1)) return bad_range(s->call, range, "has too many sizes");
    return CLI_DONE;
}

/* The time of creation and of CALLS calls, s. */
static double effort(const lw_comparison *r) { return r->setup_s + CALLS * 1e-9 * r->ns_per_call; }

/* Removes methods for which the next size would exceed the budget. */
static void look_ahead(sweep *s) {
    const size *now = &s->sizes[s->count - 1], *before = s->count > 1 ? now - 1 : NULL;
    for (int k = 0; k < lw_method_count(); k++) {
        const lw_comparison *r = &now->results[k];
        if (!r->method || s->left[k][0]) continue;
        if (!compare_answers(r)) {
            snprintf(s->left[k], sizeof s->left[k], "left at %s = %g", s->name, now->value);
            continue;
        }
        double factor = before && before->results[k].method ? effort(r) / effort(&before->results[k]) : 4;
        double next = effort(r) * fmax(factor, 2);
        if (next > s->budget)
            snprintf(s->left[k], sizeof s->left[k],
                     "stopped at %s = %g: %g would take about %.2g s, and --budget is %g s", s->name,
                     now->value, 2 * now->value, next, s->budget);
    }
}

/* Compares the methods that are still in the sweep on one size. */
static int compare_size(sweep *s, const lw_model *model) {
    compare_call *call = s->call;
    lw_comparison *found = calloc((size_t)lw_method_count(), sizeof *found);
    size *now = &s->sizes[s->count];
    now->results = calloc((size_t)lw_method_count(), sizeof *now->results);
    if (!found || !now->results) {
        free(found);
        return cli_say(call->command, CLI_FAILED, "out of memory");
    }
    cli_list names = {.count = 0};
    for (int k = 0; k < lw_method_count() && names.count < CLI_LIST_MAX; k++)
        if (s->count == 0 || (s->sizes[s->count - 1].results[k].method && !s->left[k][0]))
            names.items[names.count++] = lw_method_at(k).name;
    lw_compare_options options;
    lw_compare_defaults(model, &options);
    options.no_run = true;
    options.methods = s->count == 0 ? (call->methods.count ? call->methods.items : NULL) : names.items;
    options.method_count = s->count == 0 ? call->methods.count : names.count;
    options.observe = compare_progress;
    options.context = call;
    lw_error error = {0};
    int count;
    lw_status status = lw_compare(model, &options, found, &count, &error);
    int result = status == LW_OK ? CLI_DONE : CLI_FAILED;
    for (int i = 0; i < count && status == LW_OK; i++)
        for (int k = 0; k < lw_method_count(); k++)
            if (strcmp(lw_method_at(k).name, found[i].method) == 0) now->results[k] = found[i];
    progress_end(&call->bar);
    if (status != LW_OK) result = cli_fault(call->command, status, &error);
    free(found);
    if (result == CLI_DONE) s->count++;
    return result;
}

static bool someone_is_left(const sweep *s) {
    for (int k = 0; k < lw_method_count(); k++)
        if (s->sizes[s->count - 1].results[k].method && !s->left[k][0]) return true;
    return false;
}

static int all_sizes(sweep *s, const cli_model *loaded, const cli_changes *changes, double from, double to) {
    if (changes->settings.count == CLI_LIST_MAX)
        return cli_say(s->call->command, CLI_WRONG, "--set is given too often for a sweep");
    cli_changes all = *changes;
    char setting[200];
    all.settings.items[all.settings.count++] = setting;
    int result = CLI_DONE;
    for (double value = from; value <= to * (1 + 1e-12) && result == CLI_DONE; value *= 2) {
        snprintf(setting, sizeof setting, "%s=%.17g", s->name, value);
        snprintf(s->call->size, sizeof s->call->size, "%.40s = %g", s->name, value);
        cli_model model = {0};
        result = cli_load(s->call->command, loaded->path, &all, &model);
        s->sizes[s->count].value = value;
        if (result == CLI_DONE)
            result = compare_size(s, model.model);
        else
            cli_tell(model.report); /* Warnings, which repeat at every size, are not printed. */
        cli_close_model(&model);
        if (result != CLI_DONE) break;
        if (2 * value <= to * (1 + 1e-12)) look_ahead(s);
        if (!someone_is_left(s)) break;
    }
    return result;
}

/* --- results -------------------------------------------------------------------------------------- */

static bool measured(const sweep *s, int at, int k) {
    return s->sizes[at].results[k].method && !isnan(s->sizes[at].results[k].ns_per_call);
}

/* The slope of log(time) against log(value) over the last `most` sizes at which the method was timed; NaN for
 * fewer than two sizes. */
static double exponent(const sweep *s, int k, int most) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = s->count - 1; i >= 0 && n < most; i--) {
        if (!measured(s, i, k)) continue;
        double a = log(s->sizes[i].value), b = log(s->sizes[i].results[k].ns_per_call);
        n++, x += a, y += b, xx += a * a, xy += a * b;
    }
    return n >= 2 ? (n * xy - x * y) / (n * xx - x * x) : NAN;
}

/* The last comparison of a method, or NULL if it took no part. */
static const lw_comparison *last_of(const sweep *s, int k) {
    for (int i = s->count - 1; i >= 0; i--)
        if (s->sizes[i].results[k].method) return &s->sizes[i].results[k];
    return NULL;
}

static double worst_of(const sweep *s, int k) {
    double worst = NAN;
    for (int i = 0; i < s->count; i++)
        if (s->sizes[i].results[k].method) worst = fmax(worst, s->sizes[i].results[k].max_rel_diff);
    return worst;
}

static void print_json(const sweep *s) {
    json j;
    json_begin(&j, stdout);
    json_array(&j, NULL);
    for (int k = 0; k < lw_method_count(); k++) {
        const lw_comparison *last = last_of(s, k);
        if (!last) continue;
        lw_comparison head = *last;
        head.max_rel_diff = worst_of(s, k);
        json_object(&j, NULL);
        compare_json_head(&j, &head);
        json_text(&j, "parameter", s->name);
        json_number(&j, "exponent", exponent(s, k, SIZES_MAX));
        json_number(&j, "exponent_last", exponent(s, k, LAST));
        json_text(&j, "stopped", s->left[k][0] ? s->left[k] : NULL);
        json_array(&j, "sizes");
        for (int i = 0; i < s->count; i++) {
            const lw_comparison *r = &s->sizes[i].results[k];
            if (!r->method) continue;
            json_object(&j, NULL);
            json_number(&j, "value", s->sizes[i].value);
            json_number(&j, "ns_per_call", r->ns_per_call);
            json_number(&j, "max_rel_diff", r->max_rel_diff);
            json_number(&j, "reaction_diff", r->reaction_diff);
            json_number(&j, "condition", r->condition);
            json_object_end(&j);
        }
        json_array_end(&j);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_end(&j);
}

static void print_exponent(double x) {
    if (isnan(x))
        printf(" %8s", "-");
    else
        printf(" %8.2f", x);
}

static void print_table(const sweep *s) {
    char text[16];
    printf("time of a call against %s; exponent over all sizes, and over the last %d\n\n  %-20s", s->name,
           LAST, "method");
    for (int i = 0; i < s->count; i++) printf(" %10g", s->sizes[i].value);
    printf(" %8s %8s %10s\n", "exponent", "last", "diff.");
    for (int k = 0; k < lw_method_count(); k++) {
        const lw_comparison *last = last_of(s, k);
        if (!last) continue;
        if (!compare_applies(last) && s->sizes[0].results[k].verdict == LW_VERDICT_REFUSED) {
            printf("  %-20s does not apply: %s\n", last->method, last->reason);
            continue;
        }
        printf("  %-20s", last->method);
        for (int i = 0; i < s->count; i++)
            printf(" %10s", measured(s, i, k) ? compare_time(text, s->sizes[i].results[k].ns_per_call) : "");
        print_exponent(exponent(s, k, SIZES_MAX));
        print_exponent(exponent(s, k, LAST));
        printf(" %10.1e", worst_of(s, k));
        if (last->accuracy > 0) printf("  approximate");
        if (s->left[k][0]) printf("  %s", s->left[k]);
        if (last->reason[0]) printf(": %s", last->reason);
        printf("\n");
    }
}

static void print_csv(FILE *out, const void *what) {
    const sweep *s = what;
    fprintf(out, "method,%s,ns_per_call,max_rel_diff,reaction_diff,condition\n", s->name);
    for (int k = 0; k < lw_method_count(); k++)
        for (int i = 0; i < s->count; i++) {
            const lw_comparison *r = &s->sizes[i].results[k];
            if (!measured(s, i, k)) continue;
            fprintf(out, "%s,%.17g,%.6g,%.6g,%.6g,", r->method, s->sizes[i].value, r->ns_per_call,
                    r->max_rel_diff, r->reaction_diff);
            if (!isnan(r->condition)) fprintf(out, "%.6g", r->condition);
            putc('\n', out);
        }
}

static int report(const sweep *s, const compare_sweep_request *request) {
    bool to_output = request->out && strcmp(request->out, "-") == 0;
    if (request->as_json)
        print_json(s);
    else if (!to_output)
        print_table(s);
    int result = request->out ? compare_write(s->call->command, request->out, print_csv, s) : CLI_DONE;
    for (int i = 0; i < s->count; i++) {
        char where[160];
        lw_comparison *known = calloc((size_t)lw_method_count(), sizeof *known);
        int count = 0;
        if (!known) return cli_say(s->call->command, CLI_FAILED, "out of memory");
        for (int k = 0; k < lw_method_count(); k++)
            if (s->sizes[i].results[k].method) known[count++] = s->sizes[i].results[k];
        snprintf(where, sizeof where, "%s = %g: ", s->name, s->sizes[i].value);
        int verdict = compare_verdict(s->call->command, where, known, count);
        if (verdict != CLI_DONE) result = verdict;
        free(known);
    }
    return result;
}

int compare_sweep(compare_call *call, const cli_model *loaded, const cli_changes *changes,
                  const compare_sweep_request *request) {
    double from, to;
    sweep s = {.call = call, .budget = request->budget > 0 ? request->budget : default_budget};
    int result = read_range(&s, request->range, &from, &to);
    if (result != CLI_DONE) return result;
    s.left = calloc((size_t)lw_method_count(), sizeof *s.left);
    result = s.left ? all_sizes(&s, loaded, changes, from, to)
                    : cli_say(call->command, CLI_FAILED, "out of memory");
    if (result == CLI_DONE) result = report(&s, request);
    for (int i = 0; i < SIZES_MAX; i++) free(s.sizes[i].results);
    free(s.left);
    return result;
}
