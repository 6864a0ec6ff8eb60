/* linearise_curves.c - linkwork linearise --vary NAME: eigenvalues over a parameter, as numbers and as a
 * plot.
 *
 * For every value the model is compiled anew and linearised near its start, a later state or its position of
 * rest. An eigenvalue continues that of the value before to which it is nearest, after this one has gone on
 * as it went; pairs are joined from the nearest on. So columns are curves, but where curves meet it does not
 * matter, nor can it be said, which goes on as which.
 */
#define _POSIX_C_SOURCE 200809L
#include "linearise_curves.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Zeros of rigid motions, which are found to the square root of rounding, are below this part of the
 * largest. */
static const double zero = 1e-6;

typedef struct curves {
    int points, states;
    double *values, *eigenvalues; /* points; points x states x 2 */
    bool *marks;                  /* workspace */
} curves;

static double *eigenvalue(const curves *c, int point, int k) {
    return c->eigenvalues + 2 * ((size_t)point * (size_t)c->states + (size_t)k);
}

/* Where eigenvalue k of the point before is expected now. */
static void expect(const curves *c, int point, int k, double out[2]) {
    const double *last = eigenvalue(c, point - 1, k);
    for (int i = 0; i < 2; i++) out[i] = point > 1 ? 2 * last[i] - eigenvalue(c, point - 2, k)[i] : last[i];
}

/* Joins the new eigenvalues to the curves so far. */
static void join(curves *c, int point, const double *found) {
    const int n = c->states;
    bool *taken = c->marks, *joined = c->marks + n;
    memset(c->marks, 0, 2 * (size_t)n * sizeof *c->marks);
    for (int done = 0; done < n; done++) {
        double nearest = HUGE_VAL;
        int curve = 0, next = 0;
        for (int k = 0; k < n; k++) {
            double wanted[2];
            if (joined[k]) continue;
            expect(c, point, k, wanted);
            for (int i = 0; i < n; i++) {
                const double off = hypot(found[2 * i] - wanted[0], found[2 * i + 1] - wanted[1]);
                if (!taken[i] && off < nearest) nearest = off, curve = k, next = i;
            }
        }
        while (taken[next]) next++; /* only where no distance is a number */
        while (joined[curve]) curve++;
        memcpy(eigenvalue(c, point, curve), found + 2 * next, 2 * sizeof *found);
        taken[next] = joined[curve] = true;
    }
}

static int find_point(const cli_command *command, cli_model *loaded, const curves_request *asked, curves *c,
                      int point) {
    const int count = lw_model_parameter_count(loaded->model);
    const int number = lw_model_parameter(loaded->model, asked->parameter);
    double *parameters = cli_numbers(command, count + 1);
    lw_linear_system *system = NULL;
    lw_error error = {0};
    cli_state state = {0};
    if (!parameters) return CLI_FAILED;
    for (int k = 0; k < count; k++) parameters[k] = lw_model_parameter_value(loaded->model, k);
    parameters[number] = c->values[point];
    int result = cli_tune(command, loaded, parameters);
    free(parameters);
    if (result != CLI_DONE) return result;
    result = cli_state_find(command, loaded, asked->method, asked->at, asked->equilibrium, &state);
    if (result == CLI_DONE && state.equilibrium && !state.equilibrium->converged)
        result = cli_say(command, CLI_FAILED, "no equilibrium is reached with %s = %.9g: %s",
                         asked->parameter, c->values[point], state.equilibrium->unbalanced);
    if (result == CLI_DONE) {
        const lw_status status = lw_linearise(loaded->model, &state.options, &system, &error);
        if (status != LW_OK) result = cli_fault(command, status, &error);
    }
    if (system && point == 0) {
        c->states = system->states;
        c->eigenvalues = cli_numbers(command, 2 * c->points * c->states + 1);
        c->marks = calloc(2 * (size_t)c->states + 1, sizeof *c->marks);
        if (c->eigenvalues && c->marks)
            memcpy(c->eigenvalues, system->eigenvalues, 2 * (size_t)c->states * sizeof(double));
        else
            result = CLI_FAILED;
    } else if (system && system->states != c->states)
        result = cli_say(command, CLI_FAILED, "with %s = %.9g there are %d states instead of %d",
                         asked->parameter, c->values[point], system->states, c->states);
    else if (system)
        join(c, point, system->eigenvalues);
    lw_linear_system_destroy(system);
    cli_state_free(&state);
    return result;
}

/* --- output ------------------------------------------------------------------------------------------ */

static int write_numbers(const cli_command *command, const curves *c, const char *parameter,
                         const char *path) {
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!file) return cli_say(command, CLI_FAILED, "%s cannot be written: %s", path, strerror(errno));
    fprintf(file, "%s", parameter);
    for (int k = 1; k <= c->states; k++) fprintf(file, ",%d.re [1/s],%d.im [rad/s]", k, k);
    fputc('\n', file);
    for (int i = 0; i < c->points; i++) {
        fprintf(file, "%.17g", c->values[i]);
        for (int k = 0; k < c->states; k++)
            fprintf(file, ",%.17g,%.17g", eigenvalue(c, i, k)[0], eigenvalue(c, i, k)[1]);
        fputc('\n', file);
    }
    bool good = !ferror(file);
    if (file == stdout ? fflush(file) != 0 : fclose(file) != 0) good = false;
    return good ? CLI_DONE : cli_say(command, CLI_FAILED, "%s could not be written whole", path);
}

/* The plot reads the columns of a file, which is written beside it for as long as that takes. */
static int draw(const cli_command *command, const curves *c, const lw_model *model, const char *parameter,
                const char *path) {
    const char *const columns[] = {"*.re", "*.im"};
    lw_error error = {0};
    char *beside = malloc(strlen(path) + 16);
    if (!beside) return cli_say(command, CLI_FAILED, "out of memory");
    sprintf(beside, "%s.XXXXXX", path);
    const int file = mkstemp(beside);
    if (file < 0) {
        free(beside);
        return cli_say(command, CLI_FAILED, "%s cannot be written: %s", path, strerror(errno));
    }
    close(file);
    int result = write_numbers(command, c, parameter, beside);
    const lw_plot_options options = {.columns = columns,
                                     .count = 2,
                                     .title = lw_model_name(model),
                                     .subtitle = "eigenvalues, real and imaginary parts",
                                     .all = true};
    if (result == CLI_DONE && lw_plot_with(beside, path, &options, &error) != LW_OK)
        result = cli_fault(command, LW_ERROR_FILE, &error);
    remove(beside);
    free(beside);
    return result;
}

/* The largest real part of the eigenvalues that are not zero. */
static double worst_of(const curves *c, int point) {
    double most = 0, worst = -HUGE_VAL;
    for (int k = 0; k < c->states; k++)
        most = fmax(most, hypot(eigenvalue(c, point, k)[0], eigenvalue(c, point, k)[1]));
    for (int k = 0; k < c->states; k++) {
        const double *e = eigenvalue(c, point, k);
        if (hypot(e[0], e[1]) > zero * most) worst = fmax(worst, e[0]);
    }
    return worst;
}

static void print_text(const curves *c, const char *parameter) {
    printf("%d values of %s, %d states\n\n  %17s %17s\n", c->points, parameter, c->states, parameter,
           "largest real part");
    for (int i = 0; i < c->points; i++) printf("  %17.9g %17.9g\n", c->values[i], worst_of(c, i));
    for (int i = 1; i < c->points; i++) {
        const double a = worst_of(c, i - 1), b = worst_of(c, i);
        if ((a > 0) == (b > 0)) continue;
        printf("\n%s between %s = %.9g and %.9g (about %.6g)", b > 0 ? "becomes unstable" : "becomes stable",
               parameter, c->values[i - 1], c->values[i],
               c->values[i - 1] + (c->values[i] - c->values[i - 1]) * a / (a - b));
    }
    printf("\n");
}

static void print_json(const curves *c, const char *parameter) {
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "parameter", parameter);
    json_numbers(&j, "values", c->values, c->points);
    json_array(&j, "eigenvalues");
    for (int i = 0; i < c->points; i++) {
        json_array(&j, NULL);
        for (int k = 0; k < c->states; k++) json_numbers(&j, NULL, eigenvalue(c, i, k), 2);
        json_array_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
}

static bool ends_in(const char *path, const char *ending) {
    const size_t a = strlen(path), b = strlen(ending);
    return a > b && strcmp(path + a - b, ending) == 0;
}

static int check(const cli_command *command, const cli_model *loaded, const curves_request *asked) {
    if (lw_model_parameter(loaded->model, asked->parameter) < 0)
        return cli_say(command, CLI_WRONG, "--vary: \"%s\" is no parameter of the model", asked->parameter);
    if (isnan(asked->from) || isnan(asked->to) || !(asked->to != asked->from))
        return cli_say(command, CLI_WRONG,
                       "--vary %s needs two values between which it goes, --from and --to", asked->parameter);
    if (asked->points < 2 || asked->points > 100000)
        return cli_say(command, CLI_WRONG, "--points: give a number from 2 to 100000");
    if (asked->out && strcmp(asked->out, "-") == 0 && asked->as_json)
        return cli_say(command, CLI_WRONG, "--out - and --json both want standard output; give a file");
    if (asked->out && strcmp(asked->out, "-") != 0 && !ends_in(asked->out, ".csv") &&
        !ends_in(asked->out, ".svg") && !ends_in(asked->out, ".pdf"))
        return cli_say(command, CLI_WRONG,
                       "--out \"%s\": with --vary give .csv (numbers), .svg or .pdf (the curves)",
                       asked->out);
    return CLI_DONE;
}

int linearise_curves(const cli_command *command, cli_model *loaded, const curves_request *asked) {
    curves c = {.points = asked->points};
    int result = check(command, loaded, asked);
    if (result != CLI_DONE) return result;
    c.values = cli_numbers(command, c.points);
    if (!c.values) return CLI_FAILED;
    for (int i = 0; i < c.points && result == CLI_DONE; i++) {
        c.values[i] = asked->from + (asked->to - asked->from) * i / (c.points - 1);
        result = find_point(command, loaded, asked, &c, i);
    }
    if (result == CLI_DONE && asked->out)
        result = ends_in(asked->out, ".svg") || ends_in(asked->out, ".pdf")
                     ? draw(command, &c, loaded->model, asked->parameter, asked->out)
                     : write_numbers(command, &c, asked->parameter, asked->out);
    if (result == CLI_DONE && asked->as_json)
        print_json(&c, asked->parameter);
    else if (result == CLI_DONE && !(asked->out && strcmp(asked->out, "-") == 0))
        print_text(&c, asked->parameter);
    free(c.values);
    free(c.eigenvalues);
    free(c.marks);
    return result;
}
