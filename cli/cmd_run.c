/* cmd_run.c - linkwork run: simulates a model and prints a summary.
 */
#include "json.h"
#include "load.h"
#include "progress.h"
#include "run_neglect.h"
#include "run_request.h"
#include "run_resume.h"
#include "terminal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double default_tolerance = 1e-8, default_samples = 1000;

/* The request on the command line; 0 and NULL mean that an option is not given. */
typedef struct request {
    run_request run;
    const char *method, *record, *baumgarte, *independent, *reactions, *resume;
    double start; /* NAN: not given */
    double output, penalty, neglect, most, alpha, beta;
    bool quiet, strict, all;
    cli_changes changes;
} request;

typedef struct event {
    double t;
    char kind[24], text[256];
} event;

/* One run: the destination of its samples, and its progress. */
typedef struct run {
    const cli_command *command;
    const lw_model *model;
    lw_results *results; /* NULL without a results file */
    lw_status written;
    progress bar;
    double t; /* time of the last sample */
    long samples;
    char why[256]; /* reason of the automatic choice; "" if the user or the model named the method */
    double *q, *v; /* initial, then final state */
    double *q_start;
    double *states, *outputs; /* of the last sample */
    double aside;             /* of the last sample, on which side of jumps it is */
    double *inputs;           /* at the row that the run goes on from */
    event *events;            /* notifications during the run */
    size_t event_count, event_room;
    lw_run_summary summary;
    run_neglect neglect;
    run_resume resume;
} run;

static bool observe(const lw_sample *sample, void *context) {
    run *r = context;
    lw_ledger books;
    const lw_sample whole = run_resume_sample(&r->resume, sample, &books);
    const bool copied = r->resume.path && r->samples == 0; /* The row that the run goes on from. */
    if (r->results && !copied) r->written = lw_results_write(r->results, &whole);
    if (r->written != LW_OK) return false;
    r->t = sample->t;
    r->aside = sample->aside;
    r->samples++;
    if (sample->states)
        memcpy(r->states, sample->states, (size_t)lw_model_state_count(r->model) * sizeof *r->states);
    if (sample->outputs)
        memcpy(r->outputs, sample->outputs, (size_t)lw_model_output_count(r->model) * sizeof *r->outputs);
    progress_show(&r->bar, sample->progress, sample->t);
    return !stop_wanted();
}

/* Keeps a notification. If there is no memory it is dropped; the summary still counts it. */
static void hear(double t, const char *kind, const char *text, void *context) {
    run *r = context;
    if (r->results && strcmp(kind, "event") == 0) (void)lw_results_event(r->results, t, text);
    if (r->event_count == r->event_room) {
        size_t room = r->event_room ? 2 * r->event_room : 64;
        event *more = realloc(r->events, room * sizeof *more);
        if (!more) return;
        r->events = more, r->event_room = room;
    }
    event *e = &r->events[r->event_count++];
    e->t = t;
    snprintf(e->kind, sizeof e->kind, "%s", kind);
    snprintf(e->text, sizeof e->text, "%s", text);
}

static bool interrupted(void *context) {
    (void)context;
    return stop_wanted();
}

/* --- options of the run --------------------------------------------------------------------------- */

/* Reads --baumgarte ALPHA,BETA. */
static int read_baumgarte(const cli_command *command, request *asked) {
    if (!asked->baumgarte) return CLI_DONE;
    const char *comma = strchr(asked->baumgarte, ',');
    char first[64];
    lw_error error = {0};
    snprintf(first, sizeof first, "%.*s", comma ? (int)(comma - asked->baumgarte) : 0, asked->baumgarte);
    if (!comma || lw_read_number(first, "rad/s", &asked->alpha, &error) != LW_OK ||
        lw_read_number(comma + 1, "rad/s", &asked->beta, &error) != LW_OK || !(asked->alpha > 0) ||
        !(asked->beta > 0))
        return cli_say(command, CLI_WRONG,
                       "--baumgarte: \"%s\" is not two positive numbers; give e.g. --baumgarte 20,20",
                       asked->baumgarte);
    if (asked->run.drift && strcmp(asked->run.drift, "baumgarte") != 0)
        return cli_say(command, CLI_WRONG,
                       "--baumgarte is for drift control baumgarte, and --drift asks for %s",
                       asked->run.drift);
    return CLI_DONE;
}

static int check_request(const cli_command *command, request *asked) {
    int result = read_baumgarte(command, asked);
    if (result != CLI_DONE) return result;
    if (asked->record && !asked->run.out)
        return cli_say(command, CLI_WRONG,
                       "--record chooses what the results file holds; give that too, e.g. --out results.csv");
    if (asked->resume && asked->neglect > 0)
        return cli_say(
            command, CLI_WRONG,
            "--resume goes on with the model of the file, where inertia is neglected or not as it was; "
            "leave --neglect-mass away");
    if (asked->resume && asked->changes.begin)
        return cli_say(command, CLI_WRONG,
                       "--resume goes on from a row of the file, so that there is no start to choose; leave "
                       "--begin away");
    return run_request_check(command, &asked->run, "results.csv");
}

/* Fills in defaults, so that the metadata of the results are complete. */
static void complete(lw_run_options *options) {
    const char *first = lw_run_integrator(options);
    /* auto starts with erk and may change to another integrator, which the end of the results names. */
    options->integrator = !options->integrator && strcmp(first, "erk") == 0 ? "auto" : options->integrator;
    if (!options->integrator) options->integrator = first;
    if (lw_integrator_by_step(first, options))
        options->tolerance = 0; /* Fixed steps have no tolerance. */
    else if (!(options->tolerance > 0))
        options->tolerance = default_tolerance;
    if (!options->drift) options->drift = "project";
    if (!(options->output > 0)) options->output = (options->end - options->start) / default_samples;
}

/* The model's defaults, overridden by the command line. */
static lw_run_options options_of(const lw_model *model, const request *asked, bool neglected) {
    lw_run_options options;
    lw_run_defaults(model, &options);
    run_request_apply(&asked->run, &options);
    if (!isnan(asked->start) && !asked->resume) options.start = asked->start;
    if (neglected) options.method = "massless"; /* overrides the model's default */
    if (asked->method) options.method = asked->method;
    if (asked->output > 0) options.output = asked->output;
    if (asked->penalty > 0) options.penalty = asked->penalty;
    if (asked->independent) options.independent = asked->independent;
    if (asked->reactions) options.reactions = asked->reactions;
    if (asked->baumgarte) {
        options.drift = asked->run.drift ? asked->run.drift : "baumgarte";
        options.baumgarte_alpha = asked->alpha, options.baumgarte_beta = asked->beta;
    }
    if (asked->most > 0) options.max_steps = asked->most < 1e18 ? (long)asked->most : 1000000000000000000;
    options.method = cli_method(options.method);
    complete(&options);
    return options;
}

/* --- summary -------------------------------------------------------------------------------------- */

static void json_final(json *j, const run *r, lw_data *data) {
    json_object(j, "final");
    json_object(j, "joints");
    for (int i = 0; i < lw_model_joint_count(r->model); i++) {
        lw_joint_info joint = lw_model_joint_info(r->model, i);
        json_object(j, joint.name);
        double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V];
        int count = lw_joint_coordinates(r->model, data, r->summary.t_end + r->aside, r->q, r->v, i, q, v);
        json_numbers(j, "q", q, count);
        json_numbers(j, "v", v, count ? lw_joint_type_v(joint.type, count) : 0);
        json_object_end(j);
    }
    json_object_end(j);
    json_object(j, "bodies");
    for (int body = 1; body <= lw_model_body_count(r->model); body++) {
        double position[3], rotation[9];
        lw_body_pose(r->model, data, r->summary.t_end + r->aside, r->q, body, position, rotation);
        json_object(j, lw_model_body_name(r->model, body));
        json_numbers(j, "position", position, 3);
        json_numbers(j, "rotation", rotation, 9);
        json_object_end(j);
    }
    json_object_end(j);
    json_object(j, "states");
    for (int k = 0; k < lw_model_state_count(r->model); k++)
        json_number(j, lw_model_state_name(r->model, k), r->states[k]);
    json_object_end(j);
    json_object(j, "outputs");
    for (int k = 0; k < lw_model_output_count(r->model); k++)
        json_number(j, lw_model_output_name(r->model, k), r->outputs[k]);
    json_object_end(j);
    json_object_end(j);
}

static void print_json(const run *r, lw_data *data) {
    const lw_run_summary *s = &r->summary;
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "method", s->method);
    json_text(&j, "integrator", s->integrator);
    json_number(&j, "t_end", s->t_end);
    json_integer(&j, "steps", s->steps);
    json_integer(&j, "rejected", s->rejected);
    json_integer(&j, "evaluations", s->evaluations);
    json_integer(&j, "samples", s->samples);
    json_number(&j, "wall_s", s->wall_s);
    json_object(&j, "verdict");
    json_bool(&j, "ok", s->verdict.ok);
    json_array(&j, "reasons");
    for (int k = 0; k < s->verdict.reason_count; k++) json_text(&j, NULL, s->verdict.reasons[k]);
    json_array_end(&j);
    json_object_end(&j);
    json_number(&j, "balance_max", s->balance_max);
    json_object(&j, "energy");
    json_number(&j, "initial", s->energy_initial);
    json_number(&j, "final", s->energy_final);
    json_number(&j, "max_drift", s->energy_max_drift);
    json_number(&j, "kinetic", s->ledger.kinetic);
    json_number(&j, "potential", s->ledger.potential);
    json_number(&j, "drives", s->ledger.drives);
    json_number(&j, "forces", s->ledger.forces);
    json_number(&j, "dissipation", s->ledger.dissipation);
    json_number(&j, "unaccounted", s->ledger.unaccounted);
    json_object_end(&j);
    json_object(&j, "constraint");
    json_number(&j, "position_max", s->position_max);
    json_number(&j, "velocity_max", s->velocity_max);
    json_object_end(&j);
    json_array(&j, "events");
    for (size_t k = 0; k < r->event_count; k++) {
        json_object(&j, NULL);
        json_number(&j, "t", r->events[k].t);
        const bool own = strcmp(r->events[k].kind, "event") == 0; /* the text is its name */
        json_text(&j, "name", own ? r->events[k].text : NULL);
        json_text(&j, "kind", r->events[k].kind);
        json_text(&j, "text", own ? NULL : r->events[k].text);
        json_object_end(&j);
    }
    json_array_end(&j);
    run_neglect_json(&j, &r->neglect, r->model);
    json_final(&j, r, data);
    json_object_end(&j);
    json_end(&j);
}

static void print_coordinates(FILE *out, const char *symbol, const double *values, int count) {
    fprintf(out, "  %s", symbol);
    for (int k = 0; k < count; k++) fprintf(out, " %13.7g", values[k]);
}

static void print_events(FILE *out, const run *r) {
    const size_t shown = 12;
    for (size_t k = 0; k < r->event_count && k < shown; k++)
        fprintf(out, "%s  t = %-9.6g  %s: %s\n", k ? "" : "\non the way\n", r->events[k].t, r->events[k].kind,
                r->events[k].text);
    if (r->event_count > shown) fprintf(out, "  and %zu more; --json lists all\n", r->event_count - shown);
}

/* The coordinates of joints at the end: of the first few, unless all are wanted. */
static void print_joints(FILE *out, const run *r, bool all) {
    enum { SHOWN = 8 };
    int moving = 0;
    fprintf(out, "\njoints at the end, SI units\n");
    for (int i = 0; i < lw_model_joint_count(r->model); i++) {
        const lw_joint_info joint = lw_model_joint_info(r->model, i);
        if (joint.cut || joint.v_count == 0) continue;
        if (!all && ++moving > SHOWN) continue;
        fprintf(out, "  %-20s", joint.name);
        print_coordinates(out, "q", r->q + joint.q, joint.q_count);
        print_coordinates(out, "v", r->v + joint.v, joint.v_count);
        fprintf(out, "\n");
    }
    if (moving > SHOWN) fprintf(out, "  and %d more; --all prints them\n", moving - SHOWN);
}

static void print_text(FILE *out, const run *r, bool all) {
    const lw_run_summary *s = &r->summary;
    const lw_ledger *l = &s->ledger;
    cli_shown name;
    fprintf(out, "%s: t = %g s\n", cli_show(lw_model_name(r->model), &name), s->t_end);
    fprintf(out, "  method       %s%s%s\n", s->method, r->why[0] ? ": " : "", r->why);
    fprintf(out, "  integrator   %s: %ld steps, %ld rejected, %ld evaluations, %.3g s of computing\n",
            s->integrator, s->steps, s->rejected, s->evaluations, s->wall_s);
    if (lw_model_loop_count(r->model) + lw_model_constraint_count(r->model) > 0)
        fprintf(out, "  constraints  violated by at most %.3g (position), %.3g (velocity)\n", s->position_max,
                s->velocity_max);
    print_events(out, r);
    run_neglect_print(out, &r->neglect, r->model);
    fprintf(out, "\nenergy, J\n");
    fprintf(out, "  at the start            %16.9g\n", s->energy_initial);
    fprintf(out, "  + work of drives        %16.9g\n", l->drives);
    fprintf(out, "  + work of forces        %16.9g\n", l->forces);
    fprintf(out, "  - dissipation           %16.9g\n", l->dissipation);
    fprintf(out, "  + unaccounted           %16.3g   at most %.3g on the way\n", l->unaccounted,
            s->energy_max_drift);
    fprintf(out, "  = at the end            %16.9g   kinetic %.9g, potential %.9g\n", s->energy_final,
            l->kinetic, l->potential);
    print_joints(out, r, all);
    for (int k = 0; k < lw_model_state_count(r->model); k++)
        fprintf(out, "%s  %-20s  %13.7g\n", k ? "" : "\nstates at the end, SI units\n",
                lw_model_state_name(r->model, k), r->states[k]);
    for (int k = 0; k < lw_model_output_count(r->model); k++) {
        double scale;
        const char *unit = lw_model_output_unit(r->model, k, &scale);
        fprintf(out, "%s  %-20s  %13.7g %s\n", k ? "" : "\noutputs at the end\n",
                lw_model_output_name(r->model, k), r->outputs[k] * scale, unit);
    }
}

/* Prints the last lines of a doubtful run: the reasons of its verdict. */
static void print_doubts(FILE *out, const run *r) {
    const lw_run_verdict *verdict = &r->summary.verdict;
    for (int k = 0; k < verdict->reason_count; k++)
        fprintf(out, "%s%sdoubtful:%s %s\n", k ? "" : "\n", terminal_style(out, TERMINAL_WARNING),
                terminal_style(out, TERMINAL_PLAIN), verdict->reasons[k]);
}

static int report(const run *r, const request *asked) {
    bool to_output =
        asked->run.out && strcmp(asked->run.out, "-") == 0; /* Standard output has the results. */
    if (asked->run.as_json) {
        lw_data *data;
        if (lw_data_create(r->model, NULL, &data) != LW_OK)
            return cli_say(r->command, CLI_FAILED, "out of memory");
        (void)lw_data_set_states(r->model, data, r->states); /* Motions may depend on them. */
        print_json(r, data);
        lw_data_destroy(data);
    } else if (!asked->quiet) {
        print_text(to_output ? stderr : stdout, r, asked->all);
        if (asked->run.out && !to_output)
            printf("\nresults: %s (%ld samples); linkwork plot %s draws them\n", asked->run.out, r->samples,
                   asked->run.out);
        else if (!asked->run.out)
            printf("\nno results file; --out FILE.csv or FILE.h5 writes one\n");
    }
    if (asked->run.as_json || asked->quiet || to_output)
        print_doubts(stderr, r);
    else
        print_doubts(stdout, r);
    return asked->strict && !r->summary.verdict.ok ? CLI_FAILED : CLI_DONE;
}

/* --- the run -------------------------------------------------------------------------------------- */

/* A results file is written over if it holds an earlier run of the same model. The model itself is never, and
 * results of another model are kept under the name with ~, as editors keep the file before. */
static int keep_others(const cli_command *command, const cli_model *loaded, const char *out) {
    char about[256], kept[4096];
    if (cli_same_file(out, loaded->path))
        return cli_say(command, CLI_WRONG,
                       "--out: %s is the model itself; give another file, e.g. --out results.csv", out);
    if (lw_results_about(out, about, sizeof about, NULL) != LW_OK) return CLI_DONE;
    char name[sizeof about];
    snprintf(name, sizeof name, "%s", lw_model_name(loaded->model));
    if (strcmp(about, name) == 0) return CLI_DONE;
    if ((size_t)snprintf(kept, sizeof kept, "%s~", out) >= sizeof kept || rename(out, kept) != 0)
        return cli_say(
            command, CLI_WRONG,
            "--out: %s holds results of another model, \"%s\", and could not be kept as %s~: %s; give "
            "another file",
            out, about, out, strerror(errno));
    cli_say(command, CLI_DONE, "%s held results of another model, \"%s\": kept as %s", out, about, kept);
    return CLI_DONE;
}

static int open_results(run *r, lw_run_options *options, const request *asked) {
    lw_error error = {0};
    const lw_results_options results = {.path = asked->run.out,
                                        .record = asked->record,
                                        .method = options->method,
                                        .integrator = options->integrator,
                                        .drift = options->drift,
                                        .start = options->start,
                                        .end = options->end,
                                        .step = options->step,
                                        .tolerance = options->tolerance,
                                        .output = options->output,
                                        .neglect = asked->neglect,
                                        .settings = asked->changes.settings.items,
                                        .setting_count = (size_t)asked->changes.settings.count};
    lw_status status = lw_results_open(r->model, &results, &r->results, &error);
    if (status != LW_OK) return cli_fault(r->command, status, &error);
    options->want_accelerations = lw_results_want_accelerations(r->results);
    options->want_reactions = lw_results_want_reactions(r->results);
    options->want_works = lw_results_want_works(r->results);
    const int copied = r->resume.path ? run_resume_copy(r->command, &r->resume, r->results) : CLI_DONE;
    if (copied != CLI_DONE) {
        (void)lw_results_close(r->results, NULL, NULL);
        r->results = NULL;
    }
    return copied;
}

/* The start, from now on given, and the method. */
static lw_status find_start(run *r, lw_run_options *options, lw_error *error) {
    const char *asked = options->method;
    lw_status status;
    char *why = r->why;
    if (!r->neglect.with) {
        status = cli_start(r->model, options, r->q, r->v, &options->method, why, sizeof r->why, NULL, error);
        options->q = r->q, options->v = r->v;
        options->as_given = true;
    } else {
        status = run_neglect_start(r->command, &r->neglect, r->model, options->start, r->q, r->v, error);
        options->q = r->q, options->v = r->v;
        options->as_given = true;
        if (status == LW_OK)
            status = lw_run_start(r->model, options, r->q, r->v, NULL, &options->method, why, sizeof r->why,
                                  error);
    }
    if (asked) why[0] = '\0';
    return status;
}

static int simulate(run *r, lw_run_options *options, const request *asked) {
    lw_error error = {0}, close_error = {0};
    const char *out = asked->run.out;
    if (r->resume.path) {
        options->start = r->resume.t;
        options->q = r->q, options->v = r->v, options->states = r->states, options->inputs = r->inputs;
        options->works = r->resume.works; /* Outputs need them, whether a file is written or not. */
        options->as_given = true;
        if (!(options->end > options->start))
            return cli_say(r->command, CLI_WRONG,
                           "%s has come to t = %g s, and the run is to end at t = %g s; give a "
                           "later --end",
                           r->resume.path, r->resume.t, options->end);
    }
    lw_status status = lw_run_check(r->model, options, &error);
    status = status == LW_OK ? find_start(r, options, &error) : status;
    if (status != LW_OK) return cli_fault(r->command, status, &error);
    if (asked->penalty > 0 && strcmp(options->method, "penalty") != 0)
        return cli_say(r->command, CLI_WRONG, "--penalty is for --method penalty, and this run is by %s",
                       options->method);
    int opened = out ? open_results(r, options, asked) : CLI_DONE;
    if (opened != CLI_DONE) return opened;
    options->observe = observe;
    options->interrupted = interrupted;
    options->event = hear;
    options->context = r;
    stop_watch();
    memcpy(r->q_start, r->q, (size_t)lw_model_q_size(r->model) * sizeof *r->q);
    status = lw_simulate(r->model, options, r->q, r->v, &r->summary, &error);
    progress_end(&r->bar);
    run_resume_sum_up(&r->resume, &r->summary);
    lw_status closed = lw_results_close(r->results, r->samples > 0 ? &r->summary : NULL,
                                        &close_error); /* reports faults of writing */
    if (closed != LW_OK) return cli_fault(r->command, closed, &close_error);
    if (status == LW_OK || status == LW_EVENT) return CLI_DONE; /* An event of the model may end the run. */
    int result = status == LW_ERROR_STOPPED
                     ? cli_say(r->command, CLI_FAILED, "stopped at t = %g s on request", r->t)
                     : cli_fault(r->command, status, &error);
    if (out && strcmp(out, "-") != 0 && r->samples > 0)
        cli_say(r->command, result, "%s holds the %ld samples until t = %g s", out, r->samples, r->t);
    return result;
}

/* The state that the run goes on from, and the model with the parameters that it has there. */
static int go_on(run *r, cli_model *loaded, const request *asked) {
    double *parameters = cli_numbers(r->command, lw_model_parameter_count(loaded->model) + 1);
    if (!parameters) return CLI_FAILED;
    int result = run_resume_read(r->command, &r->resume, loaded->model, asked->run.out, asked->start, r->q,
                                 r->v, r->states, r->inputs, parameters);
    if (result == CLI_DONE) result = cli_tune(r->command, loaded, parameters);
    free(parameters);
    return result;
}

static int run_model(const cli_command *command, cli_model *loaded, const request *asked) {
    run r = {.command = command, .bar = progress_start(!asked->quiet), .resume = {.path = asked->resume}};
    int result =
        asked->neglect > 0 ? run_neglect_apply(command, loaded, asked->neglect, &r.neglect) : CLI_DONE;
    if (result == CLI_DONE) {
        r.model = loaded->model;
        r.q = cli_numbers(command, lw_model_q_size(r.model));
        r.v = cli_numbers(command, lw_model_v_size(r.model));
        r.q_start = cli_numbers(command, lw_model_q_size(r.model));
        r.states = cli_numbers(command, lw_model_state_count(r.model) + 1);
        r.outputs = cli_numbers(command, lw_model_output_count(r.model) + 1);
        r.inputs = cli_numbers(command, lw_model_input_count(r.model) + 1);
        if (!r.q || !r.v || !r.q_start || !r.states || !r.outputs || !r.inputs) result = CLI_FAILED;
        if (result == CLI_DONE && asked->resume) result = go_on(&r, loaded, asked);
        r.model = loaded->model;
        lw_run_options options = options_of(r.model, asked, run_neglect_any(&r.neglect));
        if (result == CLI_DONE && asked->run.out && strcmp(asked->run.out, "-") != 0)
            result = keep_others(command, loaded, asked->run.out);
        if (result == CLI_DONE) result = simulate(&r, &options, asked);
        if (result == CLI_DONE) cli_warn_of_rest(r.model, r.q_start, r.q, r.v);
        if (result == CLI_DONE) run_neglect_estimate(&r.neglect, &options);
        if (result == CLI_DONE) result = report(&r, asked);
    }
    run_neglect_close(&r.neglect);
    free(r.q);
    free(r.v);
    free(r.q_start);
    free(r.states);
    free(r.inputs);
    free(r.outputs);
    free(r.events);
    run_resume_end(&r.resume);
    return result;
}

static int run_command(const cli_command *command, int argc, char **argv) {
    request asked = {.start = NAN};
    const cli_option options[] = {
        {"method", "NAME", "the formulation, or auto", "tree", .text = &asked.method},
        {"integrator", "NAME", "linkwork info lists them; auto: erk, and bdf where the model is stiff", "bdf",
         .text = &asked.run.integrator},
        {"step", "H", "fixed step of rk4 and rosenbrock, largest step of the others, s", "\"1 ms\"",
         .number = &asked.run.step, .unit = "s"},
        {"tol", "R", "tolerance of the adaptive integrators", "1e-8", .number = &asked.run.tolerance,
         .unit = "1"},
        {"max-steps", "N", "give a run up that needs more steps than these", "1e9", .number = &asked.most,
         .unit = "1"},
        {"start", "T", "from when, s; with --resume, from which row", "1", .number = &asked.start,
         .unit = "s", .any_sign = true},
        {"resume", "FILE", "go on from the last row of a results file, or from that at --start", "results.h5",
         .text = &asked.resume},
        {"end", "T", "until when, s", "10", .number = &asked.run.end, .unit = "s"},
        {"drift", "NAME", "how closed loops stay closed: project, baumgarte, none, closed", "project",
         .text = &asked.run.drift},
        {"baumgarte", "A,B", "drift control baumgarte with alpha and beta, 1/s, instead of 10 and 10",
         "20,20", .text = &asked.baumgarte},
        {"independent", "LIST",
         "method partition: its independent coordinates, e.g. crank or wrist.wx,wrist.wy", "crank",
         .text = &asked.independent},
        {"reactions", "SCHEME", "method partition: reactions by (35), (37) or (38) of blajer1994", "37",
         .text = &asked.reactions},
        {"penalty", "K", "method penalty: stiffness of the constraints, relative to masses", "1e8",
         .number = &asked.penalty, .unit = "1"},
        {"neglect-mass", "RATIO", "treat inertia below this ratio as zero, and estimate the error made",
         "1e-4", .number = &asked.neglect, .unit = "1"},
        {"out", "FILE", "write the results there, as .csv or .h5 (HDF5); - is standard output", "results.csv",
         .text = &asked.run.out},
        {"record", "LIST", "what the results hold, e.g. joint,reaction(pin),point(arm,1,0,0),ledger",
         "joint,reaction,ledger", .text = &asked.record},
        {"output", "DT", "time between two samples, s", "\"10 ms\"", .number = &asked.output, .unit = "s"},
        CLI_SET_OPTION(asked.changes),
        CLI_INPUT_OPTION(asked.changes),
        CLI_BEGIN_OPTION(asked.changes),
        CLI_PATH_OPTION(asked.changes),
        CLI_IMPORT_OPTIONS(asked.changes),
        {"json", NULL, "print one JSON document", NULL, .flag = &asked.run.as_json},
        {"strict", NULL, "exit with 1 if the run is doubtful", NULL, .flag = &asked.strict},
        {"all", NULL, "print the coordinates of all joints at the end", NULL, .flag = &asked.all},
        {"quiet", NULL, "print faults only", NULL, .flag = &asked.quiet},
    };
    cli_model loaded;
    int result;
    if (cli_open_model_or(command, options, sizeof options / sizeof options[0], argc, argv, &asked.changes,
                          &asked.resume, &loaded, &result)) {
        result = check_request(command, &asked);
        if (result == CLI_DONE) result = run_model(command, &loaded, &asked);
    }
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_run = {"run",
                             "MODEL [options]",
                             "simulate a model",
                             "What is not given comes from the run section of the model, then from the "
                             "program. --set may be repeated.\n"
                             "Numbers are expressions with units, as in the model: --end \"2 min\", --step "
                             "1/500, --set \"length=20 mm\".\n"
                             "--record names what is recorded: joint, coordinates, speeds, accelerations, "
                             "reaction, drive, body, position, rotation,\n"
                             "cardan, pose, velocity, acceleration, com, momentum, point, distance, force, "
                             "ledger, violation, each with (NAME), or a\n"
                             "column such as pin.q; * stands for anything.\n"
                             "MODEL may be a results file, which carries its model, or - for standard input; "
                             "with --resume it may be left "
                             "away.\n"
                             "Ctrl-C stops at the next sample and keeps the results so far.",
                             run_command,
                             NULL};
