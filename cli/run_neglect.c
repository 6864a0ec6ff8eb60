/* run_neglect.c - a run without small inertia: which bodies, and the estimate of the error in each joint.
 */
#include "run_neglect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12 };

int run_neglect_apply(const cli_command *command, cli_model *loaded, double ratio, run_neglect *n) {
    lw_error error = {0};
    lw_model *model;
    n->ratio = ratio;
    lw_status status = lw_neglect_create(loaded->spec, ratio, &n->neglect, &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    if (!(lw_neglect_largest(n->neglect) > 0)) return CLI_DONE;
    lw_neglect_scale(n->neglect, 0);
    lw_report *report = lw_report_create();
    if (!report) return cli_say(command, CLI_FAILED, "out of memory");
    status = lw_model_compile(loaded->spec, NULL, report, &model);
    if (status != LW_OK) cli_tell(report); /* Warnings were printed when the file was read. */
    lw_report_destroy(report);
    if (status != LW_OK) return cli_exit_of(status);
    n->with = loaded->model;
    loaded->model = model;
    return CLI_DONE;
}

lw_status run_neglect_start(const cli_command *command, const run_neglect *n, const lw_model *model, double t,
                            double *q, double *v, lw_error *error) {
    double *q_with = cli_numbers(command, lw_model_q_size(n->with));
    double *v_with = cli_numbers(command, lw_model_v_size(n->with));
    lw_status status = q_with && v_with ? LW_OK : LW_ERROR_MEMORY;
    lw_run_options options;
    lw_run_defaults(n->with, &options);
    options.start = t;
    if (status == LW_OK) status = cli_start(n->with, &options, q_with, v_with, NULL, NULL, 0, NULL, error);
    if (status == LW_OK) status = lw_neglect_state(n->with, model, t, q_with, v_with, q, v, error);
    free(q_with);
    free(v_with);
    return status;
}

void run_neglect_estimate(run_neglect *n, const lw_run_options *options) {
    lw_error error = {0};
    lw_run_options run = *options;
    if (!run_neglect_any(n)) return;
    run.q = run.v = NULL; /* The estimate starts from the initial state. */
    run.as_given = false;
    if (lw_neglect_estimate(n->neglect, &run, &n->error, &error) != LW_OK)
        lw_error_format(&error, n->failure, sizeof n->failure);
}

bool run_neglect_any(const run_neglect *n) { return n->neglect && lw_neglect_largest(n->neglect) > 0; }

static void print_kept(FILE *out, lw_kept kept, double participation) {
    if (kept == LW_KEPT_DETERMINES) fprintf(out, ": kept, nothing else would determine its motion");
    if (kept == LW_KEPT_BALANCES) fprintf(out, ": kept, springs alone would hold it in no stable balance");
    if (kept == LW_KEPT_PARTICIPATES)
        fprintf(out, ": kept, in some motion it is %.2g of the rest", participation);
}

static void print_bodies(FILE *out, const run_neglect *n) {
    int count = lw_neglect_count(n->neglect);
    for (int k = 0; k < count && k < SHOWN; k++) {
        const lw_neglected *b = lw_neglect_at(n->neglect, k);
        bool alike = b->mass_kept == b->inertia_kept && b->mass_kept != LW_KEPT_PARTICIPATES;
        fprintf(out, "  %-20s", b->body);
        if (b->mass > 0) fprintf(out, " mass %g kg (%.2g)", b->mass, b->mass_ratio);
        if (b->mass > 0 && !alike) print_kept(out, b->mass_kept, b->mass_participation);
        if (b->inertia > 0)
            fprintf(out, "%s inertia %.3g kg m^2 (%.2g)",
                    b->mass > 0 ? b->mass_kept && !alike ? ";" : "," : "", b->inertia, b->inertia_ratio);
        if (b->inertia > 0) print_kept(out, b->inertia_kept, b->inertia_participation);
        fprintf(out, "\n");
    }
    if (count > SHOWN) fprintf(out, "  and %d more; --json lists all\n", count - SHOWN);
}

static void print_error(FILE *out, const run_neglect *n, const lw_model *model) {
    const lw_neglect_error *e = &n->error;
    if (n->failure[0]) {
        fprintf(out, "  no estimate of the error: %s\n", n->failure);
        return;
    }
    fprintf(out, "\nerror made by that, %s\n",
            e->scale > 1    ? "estimated"
            : e->scale == 1 ? "measured against the run with the true inertia"
                            : "");
    for (int j = 0, shown = 0; j < lw_model_joint_count(model); j++) {
        if (!(e->errors[j] > 0)) continue;
        if (++shown > SHOWN) {
            fprintf(out, "  ...; --json lists all\n");
            break;
        }
        fprintf(out, "  %-20s %s %.2g of a motion of %.2g\n", lw_model_joint_info(model, j).name,
                e->resolved ? "up to" : "below", e->errors[j], e->motions[j]);
    }
    if (e->scale > 1) {
        fprintf(out, "  by runs with %.3g and %.3g times that inertia (%ld steps, %.2g s)", e->scale,
                2 * e->scale, e->steps, e->wall_s);
        if (isfinite(e->order))
            fprintf(out, ": the difference grows with power %.2f\n", e->order);
        else
            fprintf(out, ": no difference\n");
    }
    if (!e->resolved) fprintf(out, "  the difference is below what the tolerance shows: these are bounds\n");
    if (!e->trusted)
        fprintf(out,
                "  warning: it should grow with power 1, so do not trust this estimate: what was neglected "
                "swings "
                "undamped\n  or jumps; add damping there, or compare with a run without --neglect-mass\n");
}

void run_neglect_print(FILE *out, const run_neglect *n, const lw_model *model) {
    if (!(n->ratio > 0)) return;
    if (!run_neglect_any(n)) {
        bool small = n->neglect && lw_neglect_count(n->neglect) > 0;
        if (small)
            fprintf(out, "\nall inertia below %g of what it moves with has to stay: nothing was neglected\n",
                    n->ratio);
        else
            fprintf(out, "\nno inertia is below %g of what it moves with: nothing was neglected\n", n->ratio);
        if (small) print_bodies(out, n);
        return;
    }
    fprintf(out, "\nneglected, in brackets the ratio to what it moves with\n");
    print_bodies(out, n);
    print_error(out, n, model);
}

static const char *kept_name(lw_kept kept) {
    static const char *const names[] = {NULL, "determines", "balances", "participates"};
    return names[kept];
}

void run_neglect_json(json *j, const run_neglect *n, const lw_model *model) {
    if (!(n->ratio > 0)) return;
    const lw_neglect_error *e = &n->error;
    bool known = run_neglect_any(n) && !n->failure[0];
    json_object(j, "neglect");
    json_number(j, "ratio", n->ratio);
    json_array(j, "bodies");
    for (int k = 0; n->neglect && k < lw_neglect_count(n->neglect); k++) {
        const lw_neglected *b = lw_neglect_at(n->neglect, k);
        json_object(j, NULL);
        json_text(j, "body", b->body);
        json_number(j, "mass", b->mass);
        json_number(j, "mass_ratio", b->mass_ratio);
        json_number(j, "inertia", b->inertia);
        json_number(j, "inertia_ratio", b->inertia_ratio);
        json_bool(j, "kept", b->kept);
        json_text(j, "mass_kept", kept_name(b->mass_kept));
        json_text(j, "inertia_kept", kept_name(b->inertia_kept));
        json_number(j, "mass_participation", b->mass_participation);
        json_number(j, "inertia_participation", b->inertia_participation);
        json_object_end(j);
    }
    json_array_end(j);
    json_text(j, "failure", n->failure[0] ? n->failure : NULL);
    if (known) {
        json_object(j, "error");
        json_number(j, "largest", e->largest);
        json_text(j, "joint", e->joint >= 0 ? lw_model_joint_info(model, e->joint).name : NULL);
        json_number(j, "t", e->t);
        json_number(j, "scale", e->scale);
        json_number(j, "order", e->order);
        json_bool(j, "trusted", e->trusted);
        json_bool(j, "resolved", e->resolved);
        json_integer(j, "steps", e->steps);
        json_number(j, "wall_s", e->wall_s);
        json_object(j, "joints");
        for (int i = 0; i < lw_model_joint_count(model); i++) {
            json_object(j, lw_model_joint_info(model, i).name);
            json_number(j, "error", e->errors[i]);
            json_number(j, "motion", e->motions[i]);
            json_object_end(j);
        }
        json_object_end(j);
        json_object_end(j);
    }
    json_object_end(j);
}

void run_neglect_close(run_neglect *n) {
    lw_model_destroy(n->with);
    lw_neglect_destroy(n->neglect);
    memset(n, 0, sizeof *n);
}
