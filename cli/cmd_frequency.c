/* cmd_frequency.c - linkwork frequency: transfer functions from inputs to outputs, as numbers, a Bode plot, a
 * page.
 */
#define _POSIX_C_SOURCE 200809L
#include "analysis_state.h"
#include "page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct request {
    const char *method;
    double at, from, to, points;
    bool equilibrium, exactly, as_json;
    cli_list excite, respond, out;
    cli_changes changes;
} request;

static const double degrees = 57.295779513082320877;

static size_t place(const lw_frequency_response *r, int f, int output, int input) {
    return ((size_t)f * (size_t)r->outputs + (size_t)output) * (size_t)r->inputs + (size_t)input;
}

static void json_column(json *j, const char *key, const lw_frequency_response *r, const double *from,
                        size_t first, size_t stride, double factor, double *room) {
    for (int f = 0; f < r->count; f++) room[f] = factor * from[first + (size_t)f * stride];
    json_numbers(j, key, room, r->count);
}

static int print_json(const cli_command *command, const lw_linear_system *s, const lw_frequency_response *r) {
    json j;
    double *room = cli_numbers(command, r->count + 1);
    if (!room) return CLI_FAILED;
    const size_t pairs = (size_t)r->inputs * (size_t)r->outputs;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_number(&j, "t", s->t);
    json_array(&j, "inputs");
    for (int i = 0; i < r->inputs; i++) json_text(&j, NULL, r->input_names[i]);
    json_array_end(&j);
    json_array(&j, "outputs");
    for (int o = 0; o < r->outputs; o++) json_text(&j, NULL, r->output_names[o]);
    json_array_end(&j);
    json_numbers(&j, "frequency_hz", r->frequency, r->count);
    json_object(&j, "response");
    for (int o = 0; o < r->outputs; o++) {
        json_object(&j, r->output_names[o]);
        for (int i = 0; i < r->inputs; i++) {
            const size_t first = place(r, 0, o, i);
            json_object(&j, r->input_names[i]);
            json_column(&j, "magnitude", r, r->magnitude, first, pairs, 1, room);
            json_column(&j, "phase_deg", r, r->phase, first, pairs, degrees, room);
            json_column(&j, "re", r, r->G, 2 * first, 2 * pairs, 1, room);
            json_column(&j, "im", r, r->G, 2 * first + 1, 2 * pairs, 1, room);
            json_object_end(&j);
        }
        json_object_end(&j);
    }
    json_object_end(&j);
    json_array(&j, "eigenvalues");
    for (int k = 0; k < s->states; k++) json_numbers(&j, NULL, s->eigenvalues + 2 * k, 2);
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    free(room);
    return CLI_DONE;
}

/* The frequency at which a response is largest. */
static int peak_of(const lw_frequency_response *r, int o, int i) {
    int best = 0;
    for (int f = 0; f < r->count; f++)
        if (r->magnitude[place(r, f, o, i)] > r->magnitude[place(r, best, o, i)]) best = f;
    return best;
}

static void print_text(const lw_frequency_response *r) {
    printf("%d frequencies from %.6g to %.6g Hz\n\n  %-20s %-20s %14s %14s %14s %14s\n", r->count,
           r->frequency[0], r->frequency[r->count - 1], "output", "input", "at the lowest", "at the highest",
           "largest", "at, Hz");
    for (int o = 0; o < r->outputs; o++)
        for (int i = 0; i < r->inputs; i++) {
            const int best = peak_of(r, o, i);
            printf("  %-20s %-20s %14.7g %14.7g %14.7g %14.7g\n", r->output_names[o], r->input_names[i],
                   r->magnitude[place(r, 0, o, i)], r->magnitude[place(r, r->count - 1, o, i)],
                   r->magnitude[place(r, best, o, i)], r->frequency[best]);
        }
}

/* The plot reads columns of a file, which is written beside it for as long as that takes. */
static int draw(const cli_command *command, const lw_model *model, const lw_frequency_response *r,
                const char *path) {
    const char *const columns[] = {"*.dB", "*.phase"};
    lw_error error = {0};
    char *columns_path = malloc(strlen(path) + 16);
    if (!columns_path) return cli_say(command, CLI_FAILED, "out of memory");
    sprintf(columns_path, "%s.XXXXXX", path);
    const int file = mkstemp(columns_path);
    if (file < 0) {
        free(columns_path);
        return cli_say(command, CLI_FAILED, "%s cannot be written: %s", path, strerror(errno));
    }
    close(file);
    lw_status status = lw_frequency_write(r, columns_path, &error);
    const lw_plot_options options = {.columns = columns,
                                     .count = 2,
                                     .title = lw_model_name(model),
                                     .subtitle = "frequency response",
                                     .log_x = true};
    if (status == LW_OK) status = lw_plot_with(columns_path, path, &options, &error);
    remove(columns_path);
    free(columns_path);
    return status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
}

static void put_table(FILE *file, const lw_linear_system *s, const lw_frequency_response *r) {
    fputs("<h2>Responses</h2><article><div class=\"scroll\"><table><thead><tr><th>output</th><th>input</th>"
          "<th class=\"n\">at the lowest frequency</th><th class=\"n\">largest</th><th class=\"n\">at, "
          "Hz</th></tr></thead><tbody>\n",
          file);
    for (int o = 0; o < r->outputs; o++)
        for (int i = 0; i < r->inputs; i++) {
            const int best = peak_of(r, o, i);
            fputs("<tr><td>", file), page_text(file, r->output_names[o]);
            fputs("</td><td>", file), page_text(file, r->input_names[i]);
            fprintf(file,
                    "</td><td class=\"n\">%.6g</td><td class=\"n\">%.6g</td><td class=\"n\">%.6g</td></tr>\n",
                    r->magnitude[place(r, 0, o, i)], r->magnitude[place(r, best, o, i)], r->frequency[best]);
        }
    fputs("</tbody></table></div></article>\n<h2>Eigenvalues</h2><article><div "
          "class=\"scroll\"><table><thead><tr>"
          "<th class=\"n\">real part, 1/s</th><th class=\"n\">imaginary part, 1/s</th><th "
          "class=\"n\">frequency, "
          "Hz</th><th class=\"n\">damping ratio</th></tr></thead><tbody>\n",
          file);
    for (int k = 0; k < s->states; k++) {
        const double re = s->eigenvalues[2 * k], im = s->eigenvalues[2 * k + 1], size = hypot(re, im);
        if (im < 0) continue;
        fprintf(file,
                "<tr><td class=\"n\">%.6g</td><td class=\"n\">%.6g</td><td class=\"n\">%.6g</td>"
                "<td class=\"n\">%.4g</td></tr>\n",
                re, im, size / (2 * 3.14159265358979323846), size > 0 ? -re / size : 0);
    }
    fputs("</tbody></table></div></article>\n", file);
}

static int write_page(const cli_command *command, const lw_model *model, const lw_linear_system *s,
                      const lw_frequency_response *r, const char *path) {
    char *picture = malloc(strlen(path) + 8);
    if (!picture) return cli_say(command, CLI_FAILED, "out of memory");
    sprintf(picture, "%s.svg", path);
    int result = draw(command, model, r, picture);
    FILE *file = result == CLI_DONE ? fopen(path, "w") : NULL;
    if (result == CLI_DONE && !file)
        result = cli_say(command, CLI_FAILED, "%s cannot be written: %s", path, strerror(errno));
    if (file) {
        page_begin(file, lw_model_name(model));
        fputs("<header><div><h1>", file), page_text(file, lw_model_name(model));
        fprintf(
            file,
            "</h1><p class=\"lead\">Frequency response near the state at t = %.6g s: what outputs do for "
            "each "
            "unit of a harmonic input. Decibels are 20 log<sub>10</sub> of the ratio of SI units.</p></div>"
            "</header><main><figure><img alt=\"Bode plot\" src=\"data:image/svg+xml;base64,",
            s->t);
        bool good = page_file(file, picture);
        fputs("\"></figure>\n", file);
        put_table(file, s, r);
        fputs("</main>\n", file);
        page_end(file);
        good = !ferror(file) && good;
        if (fclose(file) != 0 || !good)
            result = cli_say(command, CLI_FAILED, "%s could not be written whole", path);
    }
    remove(picture);
    free(picture);
    return result;
}

static bool ends_in(const char *path, const char *ending) {
    const size_t a = strlen(path), b = strlen(ending);
    return a > b && strcmp(path + a - b, ending) == 0;
}

static int write_one(const cli_command *command, const lw_model *model, const lw_linear_system *s,
                     const lw_frequency_response *r, const char *path) {
    lw_error error = {0};
    if (ends_in(path, ".svg") || ends_in(path, ".pdf")) return draw(command, model, r, path);
    if (ends_in(path, ".html")) return write_page(command, model, s, r, path);
    const lw_status status = lw_frequency_write(r, path, &error);
    return status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
}

/* Before any work: the ending of a file says what it becomes. */
static int check_files(const cli_command *command, const request *asked) {
    for (int k = 0; k < asked->out.count; k++) {
        const char *path = asked->out.items[k];
        if (strcmp(path, "-") == 0 && asked->as_json)
            return cli_say(command, CLI_WRONG, "--out - and --json both want standard output; give a file");
        if (strcmp(path, "-") != 0 && !ends_in(path, ".csv") && !ends_in(path, ".svg") &&
            !ends_in(path, ".pdf") && !ends_in(path, ".html"))
            return cli_say(
                command, CLI_WRONG,
                "--out \"%s\": the ending says what to write; give .csv (numbers), .svg or .pdf (the Bode "
                "plot) or .html (a page)",
                path);
    }
    return CLI_DONE;
}

static void tell_of_motion(const cli_command *command, const lw_linear_system *s) {
    int at = -1;
    for (int k = 0; k < s->states; k++)
        if (fabs(s->rates[k]) > 1e-8 && (at < 0 || fabs(s->rates[k]) > fabs(s->rates[at]))) at = k;
    if (at >= 0)
        cli_say(
            command, 0,
            "note: the state moves (%s by %.6g per second), and the response is that of this instant held; "
            "--equilibrium takes the position of rest",
            s->state_names[at], s->rates[at]);
}

static int solve(const cli_command *command, cli_model *loaded, const request *asked) {
    cli_state state;
    lw_error error = {0};
    int result = check_files(command, asked);
    if (result != CLI_DONE) return result;
    result = cli_state_find(command, loaded, asked->method, asked->at, asked->equilibrium, &state);
    if (result == CLI_DONE && state.equilibrium && !state.equilibrium->converged)
        result = cli_say(command, CLI_FAILED, "no equilibrium is reached: %s", state.equilibrium->unbalanced);
    if (result == CLI_DONE) {
        lw_linear_system *system = NULL;
        lw_frequency_response *response = NULL;
        lw_frequency_options options;
        lw_frequency_defaults(&options);
        options.from = asked->from, options.to = asked->to, options.points = (int)fmin(asked->points, 1e9);
        options.exactly = asked->exactly;
        if (asked->excite.count > 0)
            options.inputs = asked->excite.items, options.input_count = asked->excite.count;
        if (asked->respond.count > 0)
            options.outputs = asked->respond.items, options.output_count = asked->respond.count;
        lw_status status = lw_linearise(loaded->model, &state.options, &system, &error);
        if (status == LW_OK) status = lw_frequency_find(system, &options, &response, &error);
        if (status != LW_OK)
            result = cli_fault(command, status, &error);
        else {
            bool used = false;
            tell_of_motion(command, system);
            for (int k = 0; k < asked->out.count && result == CLI_DONE; k++) {
                result = write_one(command, loaded->model, system, response, asked->out.items[k]);
                used |= strcmp(asked->out.items[k], "-") == 0;
            }
            if (result == CLI_DONE && asked->as_json)
                result = print_json(command, system, response);
            else if (result == CLI_DONE && !used)
                print_text(response);
        }
        lw_frequency_destroy(response);
        lw_linear_system_destroy(system);
    }
    cli_state_free(&state);
    return result;
}

static int frequency(const cli_command *command, int argc, char **argv) {
    request asked = {.at = NAN};
    const cli_option options[] = {
        {"from", "F", "the lowest frequency, Hz; by the eigenvalues if left out", "0.1",
         .number = &asked.from, .unit = "Hz"},
        {"to", "F", "the highest frequency, Hz", "100", .number = &asked.to, .unit = "Hz"},
        {"points", "N", "how many frequencies, at equal distances in decades; 50 per decade if left out",
         "200", .number = &asked.points, .unit = "1"},
        {"exactly", NULL, "no more frequencies beside resonances", NULL, .flag = &asked.exactly},
        {"excite", "NAME", "an input; all if left out", "road", .list = &asked.excite},
        {"respond", "NAME", "an output; all if left out", "comfort", .list = &asked.respond},
        {"at", "T", "near the state to which a run comes at this time, s", "1", .number = &asked.at,
         .unit = "s", .any_sign = true},
        {"equilibrium", NULL, "near the position of rest that is reached from there", NULL,
         .flag = &asked.equilibrium},
        {"out", "FILE",
         "write .csv (numbers), .svg or .pdf (the Bode plot), .html (a page); several if repeated",
         "bode.svg", .list = &asked.out},
        {"method", "NAME", "the formulation; otherwise the model's own, or auto", "tree",
         .text = &asked.method},
        CLI_SET_OPTION(asked.changes),
        CLI_INPUT_OPTION(asked.changes),
        CLI_BEGIN_OPTION(asked.changes),
        CLI_PATH_OPTION(asked.changes),
        CLI_IMPORT_OPTIONS(asked.changes),
        {"json", NULL, "print one JSON document", NULL, .flag = &asked.as_json},
    };
    cli_model loaded;
    int result;
    if (cli_open_model(command, options, sizeof options / sizeof options[0], argc, argv, &asked.changes,
                       &loaded, &result))
        result = solve(command, &loaded, &asked);
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_frequency = {
    "frequency",
    "MODEL [options]",
    "transfer functions from inputs to outputs",
    "G = C (s - A)^-1 B + D of the linear system near the state, s = i 2 pi f, with A, B, C, D as `linkwork "
    "linearise`\n"
    "has them: for every input of the model and every output or, if it has none, every coordinate.",
    frequency,
    NULL};
