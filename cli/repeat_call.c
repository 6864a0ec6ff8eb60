/* repeat_call.c - the call of linkwork run that repeats a run of a sweep or a search for a shell: its values,
 * and the options that the sweep's own call has given, but for those that vary.
 */
#include "repeat_call.h"

#include <linkwork/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word as a shell reads it back; control characters are spelt out. */
static void print_word(FILE *out, const char *text) {
    char shown[1024];
    lw_escape(text, shown, sizeof shown);
    const size_t plain =
        strspn(shown, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-@%");
    if (shown[0] && !shown[plain]) {
        fputs(shown, out);
        return;
    }
    fputc('\'', out);
    for (const char *c = shown; *c; c++) {
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    }
    fputc('\'', out);
}

static void print_option(FILE *out, const char *option, const char *value) {
    if (!value) return;
    fprintf(out, " --%s ", option);
    print_word(out, value);
}

/* The fewest digits that read back equal. */
static void write_number(double value, char text[32]) {
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

static void print_number(FILE *out, const char *option, double value) {
    char text[32];
    write_number(value, text);
    if (value != 0) print_option(out, option, text);
}

static bool varies(const lw_sweep *sweep, const char *name, size_t length) {
    for (int k = 0; k < lw_sweep_variable_count(sweep); k++) {
        const char *own = lw_sweep_column_name(sweep, k);
        if (strlen(own) == length && strncmp(own, name, length) == 0) return true;
    }
    return false;
}

/* Those of "name=value" whose name does not vary. */
static void print_list(FILE *out, const char *option, const cli_list *list, const lw_sweep *sweep) {
    for (int k = 0; k < list->count; k++)
        if (!varies(sweep, list->items[k], strcspn(list->items[k], " \t=")))
            print_option(out, option, list->items[k]);
}

void repeat_call_print(FILE *out, const repeat_call *call, const lw_sweep *sweep, const double *values) {
    const cli_changes *changes = call->changes;
    const run_request *run = call->run;
    fprintf(out, "    linkwork run ");
    print_word(out, call->path);
    print_list(out, "set", &changes->settings, sweep);
    print_list(out, "input", &changes->inputs, sweep);
    for (int k = 0; k < lw_sweep_variable_count(sweep); k++) {
        const char *name = lw_sweep_column_name(sweep, k), *text = lw_sweep_text(sweep, k, values[k]);
        char setting[1200], number[32];
        if (text && strncmp(name, "use(", 4) != 0) {
            print_option(out, name, text); /* method, integrator, begin */
            continue;
        }
        write_number(values[k], number);
        snprintf(setting, sizeof setting, "%s=%s", name, text ? text : number);
        print_option(out, "set", setting);
    }
    if (!varies(sweep, "begin", 5)) print_option(out, "begin", changes->begin);
    if (changes->any_path) fprintf(out, " --allow-path");
    print_option(out, "base", changes->base);
    print_option(out, "loops", changes->loops);
    print_option(out, "key", changes->key);
    if (changes->keep_fixed) fprintf(out, " --keep-fixed");
    for (int k = 0; k < changes->folders.count; k++)
        print_option(out, "package-path", changes->folders.items[k]);
    if (!varies(sweep, "method", 6))
        print_option(out, "method", call->method ? call->method : call->lanes ? "tree" : NULL);
    if (!varies(sweep, "integrator", 10))
        print_option(out, "integrator", run->integrator ? run->integrator : call->lanes ? "rk4" : NULL);
    print_number(out, "step", run->step);
    print_number(out, "tol", run->tolerance);
    print_number(out, "end", run->end);
    print_option(out, "drift", run->drift);
    print_number(out, "output", call->output);
    fprintf(out, "\n");
}
