/* run_resume.c - a run that goes on from a row of a results file: its state, its rows, its books.
 */
#include "run_resume.h"
#include "load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double or_zero(double number) { return isfinite(number) ? number : 0; }

int run_resume_read(const cli_command *command, run_resume *resume, const lw_model *model, const char *out,
                    double at, double *q, double *v, double *states, double *inputs, double *parameters) {
    lw_error error = {0};
    lw_ledger *l = &resume->ledger;
    if (out && cli_same_file(out, resume->path))
        return cli_say(
            command, CLI_WRONG,
            "--out: %s is the file that the run goes on from; give another one, which will hold the rows "
            "of both",
            out);
    lw_status status = lw_results_state(resume->path, model, at, &resume->t, q, v, states, &error);
    if (status == LW_OK)
        status = lw_results_values(resume->path, model, resume->t, q, v, states, inputs, parameters, &error);
    if (status == LW_OK) status = lw_results_go_on(NULL, resume->path, resume->t, l, &resume->rows, &error);
    if (status == LW_OK)
        resume->works = calloc((size_t)lw_model_force_count(model) + 1, sizeof *resume->works);
    if (status == LW_OK && !resume->works) status = LW_ERROR_MEMORY;
    if (status == LW_OK) status = lw_results_works(resume->path, model, resume->t, resume->works, &error);
    if (status != LW_OK) {
        cli_fault(command, status, &error);
        return status == LW_ERROR_MEMORY ? CLI_FAILED : CLI_WRONG;
    }
    *l = (lw_ledger){or_zero(l->kinetic), or_zero(l->potential),   or_zero(l->drives),
                     or_zero(l->forces),  or_zero(l->dissipation), or_zero(l->unaccounted)};
    return CLI_DONE;
}

int run_resume_copy(const cli_command *command, const run_resume *resume, lw_results *results) {
    lw_error error = {0};
    lw_status status = lw_results_go_on(results, resume->path, resume->t, NULL, NULL, &error);
    if (status == LW_OK) return CLI_DONE;
    const int code = cli_fault(command, status, &error);
    return status == LW_ERROR_FILE ? CLI_WRONG : code;
}

static void add_books(const lw_ledger *before, lw_ledger *ledger) {
    ledger->drives += before->drives;
    ledger->forces += before->forces;
    ledger->dissipation += before->dissipation;
    ledger->unaccounted += before->unaccounted;
}

lw_sample run_resume_sample(const run_resume *resume, const lw_sample *sample, lw_ledger *ledger) {
    lw_sample whole = *sample;
    if (!resume->path || !sample->ledger) return whole;
    *ledger = *sample->ledger;
    add_books(&resume->ledger, ledger);
    whole.ledger = ledger;
    return whole;
}

void run_resume_end(run_resume *resume) {
    free(resume->works);
    resume->works = NULL;
}

void run_resume_sum_up(const run_resume *resume, lw_run_summary *summary) {
    if (!resume->path) return;
    const lw_ledger *l = &resume->ledger;
    summary->energy_initial -= l->drives + l->forces - l->dissipation + l->unaccounted;
    summary->energy_max_drift =
        fmax(summary->energy_max_drift, fabs(summary->ledger.unaccounted + l->unaccounted));
    add_books(l, &summary->ledger);
    summary->samples += resume->rows - 1;
}
