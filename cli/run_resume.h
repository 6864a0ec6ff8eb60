/* run_resume.h - a run that goes on from a row of a results file.
 */
#ifndef CLI_RUN_RESUME_H
#define CLI_RUN_RESUME_H

#include "cli.h"

typedef struct run_resume {
    const char *path; /* NULL: the run starts by itself */
    double t;         /* the time of the row */
    lw_ledger ledger; /* the books until there, 0 where the file has none */
    long rows;        /* of the file, until there */
    double *works;    /* of force elements until there, or NULL */
} run_resume;

/* Reads the state of the last row, or of the row at time `at` unless that is NAN, into q, v, states, and what
 * had been set until there into inputs and parameters. `out`
 * is where the run writes, which must not be the same file; NULL: nowhere. */
int run_resume_read(const cli_command *command, run_resume *resume, const lw_model *model, const char *out,
                    double at, double *q, double *v, double *states, double *inputs, double *parameters);
/* Copies the rows until there into the new file. */
int run_resume_copy(const cli_command *command, const run_resume *resume, lw_results *results);
/* Frees what has been read. */
void run_resume_end(run_resume *resume);
/* The sample with the books of the whole motion; ledger is memory for them. */
lw_sample run_resume_sample(const run_resume *resume, const lw_sample *sample, lw_ledger *ledger);
/* The same for the summary. */
void run_resume_sum_up(const run_resume *resume, lw_run_summary *summary);

#endif
