/* cmd_view.c - linkwork view: a page that shows a mechanism moving, from a model or from results.
 */
#define _XOPEN_SOURCE 700
#include "load.h"
#include "progress.h"
#include "run_request.h"
#include "view_mode.h"
#include "view_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double large_page = 20e6, frames_per_second = 60, most_samples = 6000, default_samples = 1000;

/* The request on the command line; 0 and NULL mean that an option is not given. */
typedef struct request {
    run_request run;
    const char *method, *record, *png, *size;
    double mode;                /* 0: not given */
    double output, start, most; /* start: NAN if it is not given */
    bool still, equilibrium, quiet;
    cli_changes changes;
} request;

/* A run that fills an animation. */
typedef struct filming {
    lw_animation *animation;
    lw_status written;
    progress bar;
} filming;

static bool observe(const lw_sample *sample, void *context) {
    filming *f = context;
    f->written = lw_animation_sample(f->animation, sample);
    progress_show(&f->bar, sample->progress, sample->t);
    return f->written == LW_OK && !stop_wanted();
}

static void hear(double t, const char *kind, const char *text, void *context) {
    (void)lw_animation_event(((filming *)context)->animation, t, kind, text);
}

static bool interrupted(void *context) {
    (void)context;
    return stop_wanted();
}

/* --- a model -------------------------------------------------------------------------------------- */

static lw_run_options options_of(const lw_model *model, const request *asked) {
    lw_run_options options;
    lw_run_defaults(model, &options);
    run_request_apply(&asked->run, &options);
    if (!isnan(asked->start)) options.start = asked->start;
    if (asked->most > 0) options.max_steps = asked->most < 1e18 ? (long)asked->most : 1000000000000000000;
    if (asked->method) options.method = asked->method;
    options.method = cli_method(options.method);
    if (asked->output > 0) {
        options.output = asked->output;
    } else {
        /* As many samples as a run has by default, or one for every picture of the screen if that is more. */
        double span = options.end - options.start;
        double usual = options.output > 0 ? options.output : span / default_samples;
        double smooth =
            span / most_samples > 1 / frames_per_second ? span / most_samples : 1 / frames_per_second;
        if (!lw_integrator_by_step(lw_run_integrator(&options), &options) && usual > smooth)
            options.output = smooth;
        else if (options.output > 0 && usual < span / most_samples)
            options.output = span / most_samples;
    }
    return options;
}

/* The assembled start alone, without a run. */
static lw_status film_start(const lw_model *model, lw_animation *animation, const lw_run_options *options,
                            const double *q, const double *v) {
    const lw_sample sample = {.t = options->start, .q = q, .v = v};
    (void)model;
    lw_status status = lw_animation_sample(animation, &sample);
    return status == LW_OK ? lw_animation_finish(animation, NULL, NULL) : status;
}

/* One run into a new animation. A run that fails on its way leaves what it has reached, with the reason. */
static lw_status film(const lw_model *model, const request *asked, lw_run_options options, const char *record,
                      lw_animation **out, lw_error *error) {
    filming f = {.bar = progress_start(!asked->quiet)};
    lw_status status = lw_animation_create(model, record, &f.animation, error);
    if (status != LW_OK) return status;
    options.want_accelerations = lw_animation_wants_accelerations(f.animation);
    options.want_reactions = lw_animation_wants_reactions(f.animation);
    options.want_works = lw_animation_wants_works(f.animation);
    options.observe = observe;
    options.event = hear;
    options.interrupted = interrupted;
    options.context = &f;
    stop_watch();
    lw_run_summary summary;
    status = lw_simulate(model, &options, NULL, NULL, &summary, error);
    if (status == LW_EVENT) status = LW_OK; /* An event of the model has ended the run, as it should. */
    progress_end(&f.bar);
    char failure[2048] = "";
    if (status != LW_OK) lw_error_format(error, failure, sizeof failure);
    if (f.written != LW_OK) status = f.written;
    lw_status finished =
        lw_animation_finish(f.animation, status == LW_OK ? &summary : NULL, status == LW_OK ? NULL : failure);
    if (status == LW_OK) status = finished;
    *out = f.animation;
    return status;
}

static int view_model(const cli_command *command, const char *path, const request *asked, cli_model *loaded,
                      lw_animation **out) {
    int result = cli_load(command, path, &asked->changes, loaded);
    cli_tell(loaded->report);
    if (result != CLI_DONE) return result;
    const lw_model *model = loaded->model;
    lw_run_options options = options_of(model, asked);
    lw_error error = {0};
    lw_status status = lw_run_check(model, &options, &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    double *q = cli_numbers(command, lw_model_q_size(model)),
           *v = cli_numbers(command, lw_model_v_size(model));
    if (!q || !v) {
        free(q);
        free(v);
        return CLI_FAILED;
    }
    char why[256] = "";
    status = cli_start(model, &options, q, v, &options.method, why, sizeof why, NULL, &error);
    options.q = q, options.v = v;
    options.as_given = true;
    if (status != LW_OK) {
        result = cli_fault(command, status, &error);
    } else if (asked->mode > 0) {
        result = view_mode(command, model, &options, q, asked->equilibrium, (int)asked->mode, out);
    } else if (asked->still) {
        status = lw_animation_create(model, asked->record ? asked->record : "coordinates", out, &error);
        if (status == LW_OK) status = film_start(model, *out, &options, q, v);
        result = status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
    } else {
        status = film(model, asked, options, asked->record, out, &error);
        if (status == LW_ERROR_SINGULAR && !asked->record) {
            /* Accelerations that are not determined, and with them reactions, need not stop the motion. */
            lw_error reason = error;
            lw_animation *without = NULL;
            lw_status again =
                film(model, asked, options, "joint, output, state, ledger, violation", &without, &error);
            if (again == LW_OK) {
                char text[1024];
                snprintf(text, sizeof text, "reactions are left out: %s", reason.message);
                (void)lw_animation_note(without, text);
                lw_animation_destroy(*out);
                *out = without;
                status = LW_OK;
            } else {
                lw_animation_destroy(without);
                error = reason;
            }
        }
        if (status != LW_OK && status != LW_ERROR_STOPPED) result = cli_fault(command, status, &error);
        if (status == LW_ERROR_STOPPED)
            result = cli_say(command, CLI_FAILED, "stopped on request; the page shows what there is");
    }
    free(q);
    free(v);
    return result;
}

/* --- arguments ------------------------------------------------------------------------------------ */

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static bool is_results(const char *path) {
    return ends_with(path, ".csv") || ends_with(path, ".h5") || ends_with(path, ".hdf5");
}

/* The page's name: that of the model or results with .html. */
static bool page_name(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    int stem = dot && dot != (slash ? slash + 1 : path) ? (int)(dot - path) : (int)strlen(path);
    return (size_t)snprintf(name, size, "%.*s.html", stem, path) < size;
}

static int read_results(const cli_command *command, const char *path, lw_animation **animation) {
    lw_error error = {0};
    lw_report *report = lw_report_create();
    lw_status status = lw_animation_read(path, report, animation, &error);
    if (status != LW_OK) cli_tell(report);
    lw_report_destroy(report);
    return status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
}

/* Options that belong to a run are wrong where results are shown. */
static int check_request(const cli_command *command, const request *asked, const cli_list *files) {
    if (files->count == 0)
        return cli_say(command, CLI_WRONG, "no model or results file given; the call is linkwork view %s",
                       command->arguments);
    if (asked->mode != 0 && (asked->mode < 1 || asked->mode > 1e6 || asked->mode != floor(asked->mode)))
        return cli_say(command, CLI_WRONG, "--mode: %g is no number of a mode; the first is 1", asked->mode);
    if (asked->equilibrium && !(asked->mode > 0))
        return cli_say(command, CLI_WRONG, "--equilibrium belongs to --mode; give e.g. --mode 1");
    bool results = false;
    for (int k = 0; k < files->count; k++) results |= is_results(files->items[k]);
    if (files->count == 2 && !(is_results(files->items[0]) && is_results(files->items[1])))
        return cli_say(command, CLI_WRONG,
                       "two files are compared, and both have to be results; write those of a model by "
                       "linkwork run %s --out results.h5",
                       files->items[is_results(files->items[0])]);
    if (results &&
        (asked->method || asked->record || asked->run.integrator || asked->run.drift || asked->still ||
         asked->mode > 0 || asked->run.end > 0 || asked->run.step > 0 || asked->run.tolerance > 0 ||
         asked->output > 0 || asked->most > 0 || !isnan(asked->start) || asked->changes.settings.count > 0 ||
         asked->changes.inputs.count > 0 || asked->changes.begin))
        return cli_say(
            command, CLI_WRONG,
            "%s holds a run already; --method, --integrator, --drift, --step, --tol, --max-steps, --start, "
            "--end, --output, --record, --set, --input, --begin, --mode and --still are for a model",
            files->items[0]);
    if (asked->run.out && strcmp(asked->run.out, "-") != 0 && !ends_with(asked->run.out, ".html") &&
        !ends_with(asked->run.out, ".htm") && !ends_with(asked->run.out, ".glb"))
        return cli_say(
            command, CLI_WRONG,
            "--out: \"%s\" ends neither in .html nor in .glb, and a page or glTF is written; give e.g. "
            "--out %s.html",
            asked->run.out, asked->run.out);
    if (asked->run.out && ends_with(asked->run.out, ".glb") && (files->count == 2 || asked->png))
        return cli_say(command, CLI_WRONG, "a .glb file shows one motion, without a page; leave %s out",
                       asked->png ? "--png" : files->items[1]);
    if (asked->png && asked->run.out && strcmp(asked->run.out, "-") == 0)
        return cli_say(command, CLI_WRONG,
                       "--png draws the page, so that it has to be a file; give --out "
                       "FILE.html");
    return run_request_check(command, &asked->run, "page.html");
}

static void tell_of_page(const char *path) {
    struct stat about;
    const double size = stat(path, &about) == 0 ? (double)about.st_size : 0;
    char full[4096];
    const char *shown = realpath(path, NULL);
    snprintf(full, sizeof full, "%s", shown ? shown : path);
    free((char *)shown);
    cli_shown space;
    printf("%s (%.2f MB); open it in any web browser: file://%s\n", path, size / 1e6, cli_show(full, &space));
    if (size > large_page)
        fprintf(stderr,
                "linkwork view: the page has %.0f MB, which browsers open slowly; a longer --output, or a "
                "shorter "
                "--record, makes it smaller\n",
                size / 1e6);
}

static int write_gltf(const cli_command *command, const char *path, const request *asked,
                      const lw_animation *animation) {
    lw_error error = {0};
    lw_gltf_summary summary;
    lw_status status = lw_animation_gltf(animation, path, NULL, &summary, &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    if (!asked->quiet)
        printf("%s (%.2f MB); Blender, PowerPoint and viewers of glTF open it\n", path,
               (double)summary.bytes / 1e6);
    return CLI_DONE;
}

static int write_page(const cli_command *command, const cli_list *files, const request *asked,
                      const lw_animation *const *animations) {
    char name[4096];
    const char *out = asked->run.out;
    if (!out && strcmp(files->items[0], "-") == 0)
        return cli_say(
            command, CLI_WRONG,
            "a model from standard input has no name that the page could take; give --out FILE.html");
    if (!out && !page_name(files->items[0], name, sizeof name))
        return cli_say(command, CLI_WRONG, "the file's name is too long; give --out FILE.html");
    if (!out) out = name;
    if (ends_with(out, ".glb")) return write_gltf(command, out, asked, animations[0]);
    lw_view_options options = {0};
    for (int k = 0; k < 2 && files->count == 2; k++) {
        const char *slash = strrchr(files->items[k], '/');
        options.labels[k] = slash ? slash + 1 : files->items[k];
    }
    lw_error error = {0};
    lw_status status = lw_view_write(animations, files->count, out, &options, &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    if (strcmp(out, "-") == 0) return CLI_DONE;
    if (!asked->quiet) tell_of_page(out);
    return asked->png ? view_picture(command, out, asked->png, asked->size, asked->quiet) : CLI_DONE;
}

static int view(const cli_command *command, int argc, char **argv) {
    request asked = {.start = NAN};
    const cli_option options[] = {
        {"out", "FILE",
         "the page, .html, or glTF, .glb; otherwise beside the model or results, with .html; - is "
         "standard output",
         "crane.html", .text = &asked.run.out},
        {"method", "NAME", "the formulation, or auto", "tree", .text = &asked.method},
        {"integrator", "NAME", "linkwork info lists them", "bdf", .text = &asked.run.integrator},
        {"step", "H", "fixed step of rk4 and rosenbrock, largest step of the others, s", "\"1 ms\"",
         .number = &asked.run.step, .unit = "s"},
        {"tol", "R", "tolerance of the adaptive integrators", "1e-8", .number = &asked.run.tolerance,
         .unit = "1"},
        {"max-steps", "N", "give a run up that needs more steps than these", "1e9", .number = &asked.most,
         .unit = "1"},
        {"start", "T", "from when, s", "1", .number = &asked.start, .unit = "s", .any_sign = true},
        {"end", "T", "until when, s", "10", .number = &asked.run.end, .unit = "s"},
        {"drift", "NAME", "how closed loops stay closed: project, baumgarte, none, closed", "project",
         .text = &asked.run.drift},
        {"output", "DT", "time between two samples, s", "\"10 ms\"", .number = &asked.output, .unit = "s"},
        {"record", "LIST", "what plots can show, as for linkwork run", "joint,reaction,ledger",
         .text = &asked.record},
        CLI_SET_OPTION(asked.changes),
        CLI_INPUT_OPTION(asked.changes),
        CLI_BEGIN_OPTION(asked.changes),
        CLI_PATH_OPTION(asked.changes),
        CLI_IMPORT_OPTIONS(asked.changes),
        {"still", NULL, "the assembled start only, without a run", NULL, .flag = &asked.still},
        {"mode", "N", "mode N of small vibrations about the start, as linkwork modes lists them", "3",
         .number = &asked.mode, .unit = "1"},
        {"equilibrium", NULL, "with --mode: about the position of rest that is reached from the start", NULL,
         .flag = &asked.equilibrium},
        {"png", "T", "also a picture at time T, s, through Chromium", "0.5", .text = &asked.png},
        {"size", "WxH", "of that picture, in pixels", "1280x800", .text = &asked.size},
        {"quiet", NULL, "print faults only", NULL, .flag = &asked.quiet},
    };
    cli_list files = {.count = 0};
    switch (cli_parse(command, options, sizeof options / sizeof options[0], argc, argv, &files, 2)) {
    case CLI_HELPED:
        return CLI_DONE;
    case CLI_MISTAKEN:
        return CLI_WRONG;
    case CLI_PARSED:
        break;
    }
    int result = check_request(command, &asked, &files);
    if (result == CLI_DONE && asked.png) result = view_picture_check(command, asked.png, asked.size);
    if (result != CLI_DONE) return result;
    cli_model loaded = {0};
    lw_animation *animations[2] = {NULL, NULL};
    if (is_results(files.items[0])) {
        for (int k = 0; k < files.count && result == CLI_DONE; k++)
            result = read_results(command, files.items[k], &animations[k]);
        if (result == CLI_DONE)
            result = write_page(command, &files, &asked, (const lw_animation *const *)animations);
    } else {
        result = view_model(command, files.items[0], &asked, &loaded, &animations[0]);
        if (lw_animation_samples(animations[0]) > 0) {
            int written = write_page(command, &files, &asked, (const lw_animation *const *)animations);
            if (result == CLI_DONE) result = written;
        }
    }
    for (int k = 0; k < 2; k++) lw_animation_destroy(animations[k]);
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_view = {
    "view",
    "MODEL | RESULTS [RESULTS2] [options]",
    "write a page that shows the mechanism moving",
    "A model is simulated first; RESULTS is a file of linkwork run --out, CSV or HDF5, and with a second one "
    "both "
    "motions\nare shown, the second as a ghost. The page is one file for any web browser and needs no "
    "network: "
    "3-D scene, time, plots,\nenergy ledger. --png T needs Chromium or Chrome on the PATH.",
    view,
    NULL};
