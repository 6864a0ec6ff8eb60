/* compare.c - every method on the same states and on the same run.
 *
 * States     the assembled initial state, and STATES more at equal times along the run of the guide, so that
 *            no special configuration decides. The reference is the first exact method, tree and lagrange
 *            before the others, whose answers for all states pass the balance check. Answers that do not pass
 *            it are failures; a method that gives a reason instead of an answer declines.
 * Difference of accelerations: the largest |vdot - reference| relative to the largest of |reference|, |v|^2
 * and |g|, which are the terms of accelerations and determine their rounding, even where they cancel. Of
 * reactions: unique components only, relative to the largest one.
 * Allowed    1e-9, or the effect of rounding at states that are ill-conditioned for every method: 100 epsilon
 *            times the smallest condition number that an exact method reports.
 * Time       of one call: processor time of batches of calls, between which the methods alternate; median of
 *            the batches.
 * Run        the same options for each. The guide is the first method, in the same order, whose run is
 *            completed and not doubtful, since not every method passes singular positions; once a run has
 *            stopped at one, methods that pass them come first. It makes a second run, with a hundredth of
 *            the tolerance or half the step; its difference from the first is what the tolerance explains, up
 *            to a factor. A run that ends further away than that, or whose verdict is doubtful, differs. One
 *            that stops with a reason has given no wrong number.
 *
 * Cost       a few tenths of a second for each method, and its run; allocates.
 */
#define _POSIX_C_SOURCE 200809L
#include "simulation/choice/method_auto.h"
#include "formulations/common/checked_accelerations.h"
#include "formulations/common/method_create.h"
#include <linkwork/assemble.h>
#include <linkwork/compare.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STATES = 5, BATCHES = 9, SAMPLES = 200 };
static const double agreement = 1e-9, rounding = 100 * DBL_EPSILON;
static const double default_timing = 0.3, default_patience = 5, longest_run = 1;

typedef struct state {
    double t, *q, *v;
    double scale, load;       /* of accelerations, of reactions */
    double *vdot, *reactions; /* of the reference */
    bool *unique;
} state;

typedef struct contest {
    const lw_model *model;
    lw_arena *arena;
    const lw_compare_options *options;
    const lw_formulation **formulations; /* as results */
    lw_method **methods;
    lw_comparison *results;
    int count, reference, guide; /* Indices; -1 if there is none. */
    state states[STATES + 1];
    int state_count;
    double *vdot, *reactions; /* Of the method under examination. */
    bool *unique;
    double *q_end, *v_end; /* Of its run. */
    double *poses;         /* 12 per body: at the end of the guide's run */
    lw_data *data;
    lw_checked *checked;
    double explained;    /* The part of final differences that the tolerance explains; NaN if unknown. */
    double patience_end; /* When the run is abandoned. */
} contest;

static double clock_seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The larger of the two, and NaN if either is. */
static double worse(double most, double x) { return x <= most || isnan(most) ? most : x; }

static double largest(const double *x, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) most = worse(most, fabs(x[k]));
    return most;
}

static bool tell(const contest *c, int k, const char *work) {
    const lw_compare_options *o = c->options;
    return !o->observe || o->observe(c->results[k].method, work, o->context);
}

static lw_status stopped(lw_error *error) {
    return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped on request");
}

/* Without the file name, which the caller knows. */
static void put_reason(char *text, size_t size, const lw_error *error) {
    lw_error sentence = *error;
    sentence.file[0] = '\0';
    sentence.place = (lw_place){0, 0};
    lw_error_format(&sentence, text, size);
}

/* --- participants ---------------------------------------------------------------------------------- */

static bool asked_for(const lw_compare_options *options, const char *name) {
    if (!options->methods) return true;
    for (int k = 0; k < options->method_count; k++)
        if (strcmp(options->methods[k], name) == 0) return true;
    return false;
}

static lw_status check_names(const lw_model *model, const lw_compare_options *options, lw_error *error) {
    for (int k = 0; options->methods && k < options->method_count; k++) {
        const lw_formulation *formulation;
        if (lw_formulation_find(options->methods[k])) continue;
        lw_status status = lw_method_choose(options->methods[k], model, &formulation, NULL, 0, error);
        if (status != LW_OK) return status;
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "name the methods, or none to compare all",
                       "\"%s\" is not one method", options->methods[k]);
    }
    return LW_OK;
}

static void enlist(contest *c) {
    c->reference = c->guide = -1;
    for (int k = 0; k < lw_formulation_count(); k++) {
        const lw_formulation *f = lw_formulation_at(k);
        if (!asked_for(c->options, f->name)) continue;
        lw_comparison *r = &c->results[c->count];
        *r = (lw_comparison){.method = f->name,
                             .accuracy = f->accuracy,
                             .max_rel_diff = NAN,
                             .reaction_diff = NAN,
                             .allowed = NAN,
                             .condition = NAN,
                             .ns_per_call = NAN,
                             .setup_s = NAN,
                             .final_diff = NAN,
                             .final_allowed = NAN,
                             .balance = NAN,
                             .run_status = LW_ERROR_UNSUPPORTED};
        r->run = (lw_run_summary){
            .wall_s = NAN, .energy_max_drift = NAN, .position_max = NAN, .velocity_max = NAN};
        c->formulations[c->count++] = f;
    }
}

/* Creates the method if it applies; a reason otherwise. */
static void create(contest *c, int k) {
    const lw_formulation *f = c->formulations[k];
    const lw_method_options options = {0};
    lw_comparison *r = &c->results[k];
    lw_error error = {0};
    enum { LARGE = 200 }; /* bodies: a dense method takes seconds for a call */
    bool dear = f->dense && !c->options->methods && c->model->body_count > LARGE;
    lw_status status = dear ? lw_fail(&error, LW_ERROR_UNSUPPORTED, NULL, "name it to have it compared",
                                      "a dense method, left out where there are more than %d bodies", LARGE)
                            : f->applies(lw_merged(c->model), &error);
    r->verdict = status == LW_OK ? LW_VERDICT_FAILED : LW_VERDICT_REFUSED;
    double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (status == LW_OK) status = lw_method_create(f, c->model, &options, &c->methods[k], &error);
    if (status != LW_OK) {
        c->methods[k] = NULL;
        put_reason(r->reason, sizeof r->reason, &error);
        return;
    }
    r->setup_s = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    r->verdict = f->accuracy > 0 ? LW_VERDICT_APPROXIMATE : LW_VERDICT_AGREES;
    r->states = 0;
    if (f->borrows) {
        snprintf(r->reason, sizeof r->reason,
                 "has no solution for accelerations of its own; those of %s start it", f->borrows);
        return;
    }
    r->max_rel_diff = 0;
    r->reaction_diff = c->options->no_reactions ? NAN : 0;
}

/* Without an answer that could be wrong the method has only declined. */
static void fail(contest *c, int k, bool answered, const lw_error *error) {
    lw_comparison *r = &c->results[k];
    r->verdict = answered ? LW_VERDICT_FAILED : LW_VERDICT_DECLINED;
    r->max_rel_diff = r->reaction_diff = NAN;
    put_reason(r->reason, sizeof r->reason, error);
}

static bool takes_part(const contest *c, int k) {
    lw_verdict verdict = c->results[k].verdict;
    return c->methods[k] && verdict != LW_VERDICT_FAILED && verdict != LW_VERDICT_DECLINED;
}
/* Does it compute its own accelerations? */
static bool solves(const contest *c, int k) { return takes_part(c, k) && !c->formulations[k]->borrows; }
/* Must it agree with the others to rounding? */
static bool is_exact(const contest *c, int k) { return !(c->results[k].accuracy > 0); }

/* --- states --------------------------------------------------------------------------------------- */

static lw_status take_memory(contest *c, lw_error *error) {
    const lw_model *model = c->model;
    size_t nq = (size_t)model->nq + 1, nv = (size_t)model->nv + 1, loads = 6 * (size_t)model->joint_count + 1;
    size_t methods = (size_t)lw_formulation_count();
    lw_arena *arena = c->arena = lw_arena_create(NULL);
    for (int s = 0; s <= STATES; s++) {
        state *at = &c->states[s];
        at->q = LW_NEW(arena, double, nq);
        at->v = LW_NEW(arena, double, nv);
        at->vdot = LW_NEW(arena, double, nv);
        at->reactions = LW_NEW(arena, double, loads);
        at->unique = LW_NEW(arena, bool, loads);
    }
    c->formulations = LW_NEW(arena, const lw_formulation *, methods);
    c->methods = LW_NEW(arena, lw_method *, methods);
    c->vdot = LW_NEW(arena, double, nv);
    c->reactions = LW_NEW(arena, double, loads);
    c->unique = LW_NEW(arena, bool, loads);
    c->q_end = LW_NEW(arena, double, nq);
    c->v_end = LW_NEW(arena, double, nv);
    c->poses = LW_NEW(arena, double, 12 * model->body_count + 1);
    c->checked = lw_checked_create(model);
    c->explained = NAN;
    if (lw_arena_failed(arena) || !c->checked || lw_data_create(model, NULL, &c->data) != LW_OK)
        return lw_out_of_memory(error);
    return LW_OK;
}

static void give_memory(contest *c) {
    for (int k = 0; k < c->count; k++) lw_method_destroy(c->methods[k]);
    lw_data_destroy(c->data);
    lw_checked_destroy(c->checked);
    lw_arena_destroy(c->arena);
}

static void set_scales(const lw_model *model, state *at) {
    const double negligible = 1e-6; /* so that loads made up of rounding do not count */
    double mass = 0, speed = largest(at->v, model->nv);
    for (int b = 1; b <= model->body_count; b++) mass = fmax(mass, lw_model_body_mass(model, b));
    at->scale = fmax(largest(at->vdot, model->nv), fmax(speed * speed, largest(lw_model_gravity(model), 3)));
    at->load = fmax(largest(at->reactions, 6 * model->joint_count), negligible * mass * at->scale);
    if (!(at->scale > 0)) at->scale = 1;
    if (!(at->load > 0)) at->load = 1;
}

/* False if it has failed or declined. */
static bool solve(contest *c, int k, const state *at) {
    lw_error error = {0};
    lw_comparison *r = &c->results[k];
    const lw_formulation *f = c->formulations[k];
    bool all = !c->options->no_reactions;
    const lw_method_options options = {0};
    double balance;
    lw_status status = lw_checked_accelerations(
        c->checked, &(lw_checked_state){c->methods[k], &options, at->t, at->q, at->v, NULL},
        (lw_checked_answer){.vdot = c->vdot,
                            .reactions = all ? c->reactions : NULL,
                            .unique = all ? c->unique : NULL,
                            .amount = &balance},
        &error);
    if (!isnan(balance)) r->balance = isnan(r->balance) ? balance : worse(r->balance, balance);
    double condition = status == LW_OK && f->condition ? f->condition(c->methods[k]) : 0;
    if (condition > 0) r->condition = fmax(r->condition, condition); /* 0: it had nothing to solve here */
    if (status != LW_OK) fail(c, k, !isnan(balance), &error);
    return status == LW_OK;
}

/* The reference's answer for the state; false if it has none. */
static bool answer(contest *c, state *at) {
    if (!solve(c, c->reference, at)) return false;
    size_t loads = 6 * (size_t)c->model->joint_count;
    memcpy(at->vdot, c->vdot, (size_t)c->model->nv * sizeof *at->vdot);
    memcpy(at->reactions, c->reactions, loads * sizeof *at->reactions);
    memcpy(at->unique, c->unique, loads * sizeof *at->unique);
    set_scales(c->model, at);
    c->results[c->reference].states++;
    return true;
}

static void compare_at(contest *c, int k, const state *at) {
    lw_comparison *r = &c->results[k];
    if (!solve(c, k, at)) return;
    for (int i = 0; i < c->model->nv; i++)
        r->max_rel_diff = worse(r->max_rel_diff, fabs(c->vdot[i] - at->vdot[i]) / at->scale);
    for (int i = 0; i < 6 * c->model->joint_count; i++)
        if (at->unique[i] && c->unique[i])
            r->reaction_diff = worse(r->reaction_diff, fabs(c->reactions[i] - at->reactions[i]) / at->load);
    r->states++;
}

/* The conditioning of the states: the smallest condition number that an exact method reports; NaN if none
 * does. A method that makes them worse shows it in its difference. */
static double best_condition(const contest *c) {
    double best = NAN;
    for (int k = 0; k < c->count; k++)
        if (solves(c, k) && is_exact(c, k)) best = fmin(best, c->results[k].condition);
    return best;
}

static void judge(contest *c, int k) {
    lw_comparison *r = &c->results[k];
    double condition = best_condition(c);
    r->allowed = isfinite(condition) ? fmax(agreement, rounding * condition) : agreement;
    /* Reactions add up along a mechanism, and so does their rounding. */
    double loads = 10 * r->allowed;
    bool same = r->max_rel_diff <= r->allowed && (c->options->no_reactions || r->reaction_diff <= loads);
    if (r->verdict != LW_VERDICT_AGREES || same) return;
    bool by_accelerations = !(r->max_rel_diff <= r->allowed);
    lw_error error = {0};
    lw_fail(&error, LW_OK, NULL, NULL,
            "%s differ from those of %s by %.2g, and rounding explains no more than %.2g",
            by_accelerations ? "accelerations" : "reactions", c->results[c->reference].method,
            by_accelerations ? r->max_rel_diff : r->reaction_diff, by_accelerations ? r->allowed : loads);
    r->verdict = LW_VERDICT_DIFFERS;
    put_reason(r->reason, sizeof r->reason, &error);
}

/* The order of trust: the recursion on trees, which other tests check best, then the method that accepts
 * every topology, then the order of the registry. */
static int trust(const contest *c, int k) {
    static const char *const first[] = {"tree", "lagrange"};
    for (int i = 0; i < 2; i++)
        if (strcmp(c->results[k].method, first[i]) == 0) return i;
    return 2 + k;
}

/* The most trusted exact method that has an answer for all states so far. */
static void choose_reference(contest *c) {
    for (bool known = false; !known;) {
        int best = -1;
        for (int k = 0; k < c->count; k++)
            if (solves(c, k) && is_exact(c, k) && (best < 0 || trust(c, k) < trust(c, best))) best = k;
        c->reference = best;
        if (best < 0) return;
        c->results[best].states = 0;
        known = true;
        for (int s = 0; s < c->state_count && known; s++) known = answer(c, &c->states[s]);
    }
}

/* --- time of a call ------------------------------------------------------------------------------- */

/* Processor time of some calls, which cycle through the states. */
static double time_of(contest *c, int k, long calls) {
    const lw_formulation *f = c->formulations[k];
    double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < calls; i++) {
        const state *at = &c->states[i % c->state_count];
        f->accelerations(c->methods[k], at->t, at->q, at->v, NULL, c->vdot, NULL, NULL, NULL);
    }
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

/* How many calls a batch has, so that all of them take the time allowed. */
static long calibrate(contest *c, int k) {
    double wanted = (c->options->timing > 0 ? c->options->timing : default_timing) / (BATCHES + 2);
    long calls = 1;
    double seconds;
    time_of(c, k, 1); /* first touch of its memory */
    while ((seconds = time_of(c, k, calls)) < wanted && calls < 1L << 28)
        calls = seconds < 0.1 * wanted ? 2 * calls : (long)((double)calls * wanted / seconds) + 1;
    return calls;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static lw_status measure_times(contest *c, lw_error *error) {
    long *calls = calloc((size_t)c->count + 1, sizeof *calls);
    double(*batch)[BATCHES] = calloc((size_t)c->count + 1, sizeof *batch);
    lw_status status = calls && batch ? LW_OK : lw_out_of_memory(error);
    for (int k = 0; k < c->count && status == LW_OK; k++) {
        if (!solves(c, k)) continue;
        if (!tell(c, k, "time of a call")) status = stopped(error);
        calls[k] = calibrate(c, k);
    }
    /* The methods alternate, so that a slow moment of the machine affects all alike. */
    for (int b = 0; b < BATCHES && status == LW_OK; b++)
        for (int k = 0; k < c->count; k++)
            if (solves(c, k)) batch[k][b] = time_of(c, k, calls[k]) / (double)calls[k];
    for (int k = 0; k < c->count && status == LW_OK; k++) {
        if (!solves(c, k)) continue;
        qsort(batch[k], BATCHES, sizeof batch[k][0], ascending);
        c->results[k].ns_per_call = 1e9 * batch[k][BATCHES / 2];
    }
    free(calls), free(batch);
    return status;
}

/* --- schemes for reactions ------------------------------------------------------------------------- */

static double time_of_scheme(contest *c, int k, int scheme, long calls) {
    double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < calls; i++) c->formulations[k]->schemes->forces(c->methods[k], scheme, NULL);
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

/* At the initial state: each scheme's reactions against those of the first, and its time beyond the
 * accelerations. */
static void measure_schemes(contest *c, int k) {
    const double wanted = 1e-3; /* s: of a batch */
    const lw_formulation *f = c->formulations[k];
    const state *at = &c->states[0];
    lw_comparison *r = &c->results[k];
    int loads = 6 * c->model->joint_count;
    r->scheme_count = f->schemes->count;
    for (int s = 0; s < r->scheme_count; s++) {
        lw_scheme_comparison *own = &r->schemes[s];
        *own = (lw_scheme_comparison){f->schemes->name(s), NAN, NAN};
        f->schemes->use(c->methods[k], s);
        double *reactions = s == 0 ? at->reactions : c->reactions, batch[BATCHES], most = 0;
        if (lw_method_accelerations(c->methods[k], at->t, at->q, at->v, NULL, c->vdot, reactions, NULL,
                                    NULL) != LW_OK)
            continue;
        for (int i = 0; i < loads; i++)
            if (at->unique[i]) most = worse(most, fabs(reactions[i] - at->reactions[i]));
        own->max_rel_diff = most / at->load;
        long calls = 1;
        while (time_of_scheme(c, k, s, calls) < wanted && calls < 1L << 24) calls *= 2;
        for (int b = 0; b < BATCHES; b++) batch[b] = time_of_scheme(c, k, s, calls) / (double)calls;
        qsort(batch, BATCHES, sizeof *batch, ascending);
        own->ns = 1e9 * batch[BATCHES / 2];
    }
    f->schemes->use(c->methods[k], 0);
}

static void compare_schemes(contest *c) {
    bool holds = c->model->closure_count || c->model->constraint_count;
    for (int k = 0; k < c->count && holds && !c->options->no_reactions; k++)
        if (takes_part(c, k) && c->formulations[k]->schemes) measure_schemes(c, k);
}

/* --- the run -------------------------------------------------------------------------------------- */

static bool keep_going(void *context) {
    const contest *c = context;
    return clock_seconds(CLOCK_MONOTONIC) < c->patience_end;
}
static bool out_of_patience(void *context) { return !keep_going(context); }

/* A run that may become the guide leaves states at the ends of STATES equal parts. */
static bool keep_state(const lw_sample *sample, void *context) {
    contest *c = context;
    int part = c->state_count;
    if (part <= STATES && sample->progress >= (double)part / STATES - 1e-9) {
        state *at = &c->states[part];
        at->t = sample->t;
        memcpy(at->q, sample->q, (size_t)c->model->nq * sizeof *at->q);
        memcpy(at->v, sample->v, (size_t)c->model->nv * sizeof *at->v);
        c->state_count++;
    }
    return keep_going(context);
}
static bool only_look(const lw_sample *sample, void *context) {
    (void)sample;
    return keep_going(context);
}

static double patience_of(const contest *c) {
    return c->options->patience > 0 ? c->options->patience : default_patience;
}

static lw_run_options options_of(const contest *c, int k) {
    lw_run_options options = c->options->run;
    options.method = c->results[k].method;
    options.q = c->states[0].q;
    options.v = c->states[0].v;
    options.as_given = true; /* Every run starts from the same numbers. */
    options.output = (options.end - options.start) / SAMPLES;
    options.want_accelerations = options.want_reactions = options.want_works = false;
    options.observe = only_look;
    options.interrupted = out_of_patience;
    options.context = (void *)c;
    return options;
}

static lw_status run(contest *c, int k, lw_error *stop) {
    lw_comparison *r = &c->results[k];
    if (!tell(c, k, "run")) return stopped(stop);
    lw_run_options options = options_of(c, k);
    double patience = patience_of(c);
    lw_error error = {0};
    if (c->guide < 0) options.observe = keep_state;
    c->patience_end = clock_seconds(CLOCK_MONOTONIC) + patience;
    r->run_status = lw_simulate(c->model, &options, c->q_end, c->v_end, &r->run, &error);
    if (r->run_status == LW_ERROR_STOPPED)
        snprintf(r->run_reason, sizeof r->run_reason, "its run was given up after %.3g s, at t = %.4g s",
                 patience, r->run.t_end);
    else if (r->run_status != LW_OK)
        put_reason(r->run_reason, sizeof r->run_reason, &error);
    return LW_OK;
}

/* Poses at the end against the guide's: positions relative to 1 m or the largest, entries of rotation
 * matrices. */
static double final_difference(contest *c, double t) {
    double pose[12], difference = 0, size = 1;
    for (int b = 1; b <= c->model->body_count; b++) size = fmax(size, largest(c->poses + 12 * (b - 1), 3));
    for (int b = 1; b <= c->model->body_count; b++) {
        const double *expected = c->poses + 12 * (b - 1);
        lw_body_pose(c->model, c->data, t, c->q_end, b, pose, pose + 3);
        for (int i = 0; i < 12; i++)
            difference = fmax(difference, fabs(pose[i] - expected[i]) / (i < 3 ? size : 1));
    }
    return difference;
}

static void compare_end(contest *c, int k) {
    lw_comparison *r = &c->results[k];
    if (r->run_status != LW_OK || c->guide < 0) return;
    for (int b = 1; b <= c->model->body_count && k == c->guide; b++) {
        double *expected = c->poses + 12 * (b - 1);
        lw_body_pose(c->model, c->data, r->run.t_end, c->q_end, b, expected, expected + 3);
    }
    r->final_diff = final_difference(c, r->run.t_end);
}

/* Is k to be tried as the guide before other (-1: none)? singular: a run has stopped at a singular position,
 * which methods without a way through it pass, if at all, by chance. */
static bool is_before(const contest *c, int k, int other, bool singular) {
    if (other < 0) return true;
    const bool sure = !singular || c->formulations[k]->passes;
    const bool other_sure = !singular || c->formulations[other]->passes;
    return sure != other_sure ? sure : trust(c, k) < trust(c, other);
}

/* Runs in the order of trust, until one is completed without doubt. The reasons of the others are in the
 * results. */
static lw_status choose_guide(contest *c, bool *ran, lw_error *error) {
    for (bool singular = false;;) {
        int best = -1;
        for (int k = 0; k < c->count; k++)
            if (solves(c, k) && is_exact(c, k) && !ran[k] && is_before(c, k, best, singular)) best = k;
        if (best < 0) return LW_OK;
        lw_status status = run(c, best, error);
        ran[best] = true;
        if (status != LW_OK) return status;
        const lw_comparison *r = &c->results[best];
        singular |= r->run_status == LW_ERROR_SINGULAR;
        if (r->run_status != LW_OK || !r->run.verdict.ok) continue;
        c->guide = best;
        c->results[best].guide = true;
        compare_end(c, best);
        return LW_OK;
    }
}

/* How far the guide is from its own run with a hundredth of the tolerance, or half the step. */
static void explain_ends(contest *c) {
    if (c->guide < 0) return;
    lw_run_options options = options_of(c, c->guide);
    lw_run_summary summary = {0};
    if (lw_integrator_by_step(lw_run_integrator(&options), &options))
        options.step /= 2;
    else
        options.tolerance = fmax(1e-13, (options.tolerance > 0 ? options.tolerance : 1e-8) / 100);
    c->patience_end = clock_seconds(CLOCK_MONOTONIC) + 2 * patience_of(c);
    if (lw_simulate(c->model, &options, c->q_end, c->v_end, &summary, NULL) == LW_OK)
        c->explained = final_difference(c, summary.t_end);
}

/* Errors of the same tolerance differ between methods, because their states do. */
static void judge_run(contest *c, int k) {
    const double factor = 1000, tolerances = 1e4;
    lw_comparison *r = &c->results[k];
    if (r->run_status != LW_OK || !is_exact(c, k)) return;
    const lw_run_options *options = &c->options->run;
    bool by_step = lw_integrator_by_step(r->run.integrator, options);
    double tolerance = by_step ? 0 : options->tolerance > 0 ? options->tolerance : 1e-8;
    r->final_allowed = fmax(agreement, fmax(factor * c->explained, tolerances * tolerance));
    lw_error error = {0};
    if (!r->run.verdict.ok)
        lw_fail(&error, LW_OK, NULL, NULL, "its run is doubtful: %s", r->run.verdict.reasons[0]);
    else if (r->final_diff > r->final_allowed && !(by_step && c->formulations[k]->integrator))
        lw_fail(&error, LW_OK, NULL, NULL,
                "its run ends %.2g away from that of %s, and the tolerance explains no more than %.2g",
                r->final_diff, c->results[c->guide].method, r->final_allowed);
    else
        return;
    if (r->verdict == LW_VERDICT_DIFFERS) return; /* It has given the reason. */
    r->verdict = LW_VERDICT_DIFFERS;
    put_reason(r->reason, sizeof r->reason, &error);
}

/* Without an exact method there is nothing to compare with. The methods that are left say so; every other one
 * has given its reason. */
static void explain_no_reference(contest *c) {
    for (int k = 0; k < c->count; k++) {
        lw_comparison *r = &c->results[k];
        lw_error error;
        if (!takes_part(c, k) || r->reason[0]) continue;
        lw_fail(&error, LW_ERROR_ARGUMENT, NULL, "compare it with an exact method too, such as lagrange",
                "no exact method has an answer with which its own could be compared");
        r->max_rel_diff = r->reaction_diff = NAN;
        put_reason(r->reason, sizeof r->reason, &error);
    }
}

/* --- the whole comparison ---------------------------------------------------------------------------- */

static lw_status hold(contest *c, bool *ran, lw_error *error) {
    for (int k = 0; k < c->count; k++) {
        if (!tell(c, k, "creation")) return stopped(error);
        create(c, k);
    }
    c->state_count = 1;
    choose_reference(c);
    if (c->reference < 0) {
        explain_no_reference(c);
        return LW_OK;
    }
    if (!c->options->no_run) {
        lw_status status = choose_guide(c, ran, error);
        if (status != LW_OK) return status;
        choose_reference(c);
        if (c->reference < 0) {
            explain_no_reference(c);
            return LW_OK;
        }
    }
    c->results[c->reference].reference = true;
    for (int k = 0; k < c->count; k++) {
        if (!tell(c, k, "states")) return stopped(error);
        for (int s = 0; s < c->state_count && solves(c, k) && k != c->reference; s++)
            compare_at(c, k, &c->states[s]);
    }
    for (int k = 0; k < c->count; k++)
        if (solves(c, k)) judge(c, k);
    lw_status status = measure_times(c, error);
    if (status == LW_OK) compare_schemes(c); /* the states' reactions are no longer needed */
    for (int k = 0; k < c->count && status == LW_OK && !c->options->no_run; k++) {
        if (!takes_part(c, k) || k == c->guide) continue;
        if (!ran[k]) status = run(c, k, error);
        if (status == LW_OK) compare_end(c, k);
    }
    if (status == LW_OK && !c->options->no_run) explain_ends(c);
    for (int k = 0; k < c->count && status == LW_OK && !c->options->no_run; k++)
        if (takes_part(c, k)) judge_run(c, k);
    return status;
}

bool lw_comparison_wrong(const lw_comparison *r) {
    if (!r) return false;
    if (r->verdict == LW_VERDICT_DIFFERS || r->verdict == LW_VERDICT_FAILED) return true;
    return r->run.samples > 0 && r->run_status != LW_OK && r->run_status != LW_ERROR_STOPPED &&
           r->run_status != LW_ERROR_SINGULAR && r->run_status != LW_ERROR_UNSUPPORTED;
}

void lw_compare_defaults(const lw_model *model, lw_compare_options *options) {
    if (!options) return;
    *options = (lw_compare_options){0};
    lw_run_defaults(model, &options->run);
    options->run.end = fmin(options->run.end, options->run.start + longest_run);
}

lw_status lw_compare(const lw_model *model, const lw_compare_options *options, lw_comparison *results,
                     int *count, lw_error *error) {
    if (!model || !options || !results || !count || options->method_count < 0)
        return lw_call_needs("a model, options, room for results and a place for their number", error);
    contest c = {.model = model, .options = options, .results = results};
    lw_run_options run_options = options->run;
    run_options.method = NULL;
    *count = 0;
    lw_status status = check_names(model, options, error);
    if (status == LW_OK && !options->no_run) status = lw_run_check(model, &run_options, error);
    if (status == LW_OK) status = take_memory(&c, error);
    if (status == LW_OK) {
        state *first = &c.states[0];
        first->t = options->run.start;
        status = lw_run_start(model, &options->run, first->q, first->v, NULL, NULL, NULL, 0, error);
    }
    if (status == LW_OK) {
        enlist(&c);
        bool *ran = calloc((size_t)c.count + 1, sizeof *ran);
        status = ran ? hold(&c, ran, error) : lw_out_of_memory(error);
        free(ran);
    }
    *count = c.count;
    give_memory(&c);
    return status;
}
