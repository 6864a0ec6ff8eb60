/* sweep.h - many runs of one model with other values of its parameters.
 *
 * A sweep is a plan: what varies, how often, and what is measured of each run. Run number i is a function of
 * the plan, its seed and i alone, so that its row is the same to the last bit whoever computes it: any
 * thread, process or machine, in any order, alone or among others.
 *
 *   const char *vary[] = {"L = 1..2 : 11", "k ~ normal(2e4, 1e3)"};
 *   const char *measures[] = {"max(reaction(A).force)", "final(pin.q)"};
 *   lw_sweep_options plan = {.vary = vary, .vary_count = 2, .measures = measures, .measure_count = 2,
 *                            .draws = 100, .seed = 1};
 *   lw_sweep_create(spec, &plan, &sweep, &error);           1100 runs
 *   lw_sweep_call call = {.jobs = 2, .path = "sweep.csv"};
 *   lw_sweep_run(sweep, &call, &summary, &error);
 *
 * A caller who distributes runs by himself takes workers, one for each thread, and asks them for rows.
 *
 * Pointers to objects may be NULL: the calls then return LW_ERROR_ARGUMENT, NULL or 0.
 */
#ifndef LINKWORK_SWEEP_H
#define LINKWORK_SWEEP_H

#include <linkwork/simulate.h>
#include <linkwork/spec.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_sweep lw_sweep;

typedef struct lw_sweep_options {
    /* What varies (docs/sweep.md): "L = 1..2 : 11", "L = 1, 2, 5", "k ~ normal(2e4, 1e3)",
     * "L, k from runs.csv", "method = rcr, lagrange". Names are those of parameters and inputs, or method,
     * integrator, begin, use(PART). */
    const char *const *vary;
    size_t vary_count;
    /* What is measured: "max(reaction(A).force)", "settle(pin.q, 1 mrad)", "peak = max(kinetic)". */
    const char *const *measures;
    size_t measure_count;
    /* Correlations of the normal scores of variables that are drawn: "L, k = 0.5". */
    const char *const *correlations;
    size_t correlation_count;
    const char *design; /* how to draw: random (NULL), latin, sobol, saltelli */
    uint64_t draws;     /* for each point of the grids; 0: 1. Without variables that are drawn it must be 1 */
    uint64_t seed;
    /* Changes the options of every run, which are the model's defaults before; called by all workers, and
     * must depend on its arguments only. May be NULL. */
    void (*settle)(lw_run_options *options, void *context);
    void *context;
    /* Neighbouring runs go side by side in the vectors of the processor: trees by the method tree and the
     * integrator rk4 (taken unless others are named) with a fixed step, without prescribed motions, events,
     * user states, and forces that switch. Rows equal those of single runs to rounding, and depend on their
     * numbers alone all the same. */
    bool lanes;
    /* Reads the model once more, with these files for the parts of these names (settings "use(PART)" of
     * lw_read_model): for what varies by "use(left) = stiff.yaml, soft.yaml". NULL: no files can vary. */
    lw_status (*read)(const char *const *names, const char *const *files, size_t count, lw_spec **spec,
                      lw_error *error, void *context);
} lw_sweep_options;

/* A plan from a file (YAML; docs/sweep.md): its lists and numbers, which live as long as it does. Faults go
 * into the report; *plan is NULL then. */
typedef struct lw_sweep_plan lw_sweep_plan;
/* Reads the keys vary, measure, runs, seed, design, correlate. */
LW_API lw_status lw_sweep_plan_read(const char *path, lw_report *report, lw_sweep_plan **plan);
LW_API void lw_sweep_plan_destroy(lw_sweep_plan *plan);
LW_API const lw_sweep_options *lw_sweep_plan_options(const lw_sweep_plan *plan);

#define LW_SWEEP_MOST UINT64_C(1000000000)
/* Reads the plan, and tries whether the model compiles with the values of the first run. The spec is copied.
 * LW_ERROR_ARGUMENT: the plan is wrong, or has more than LW_SWEEP_MOST runs. */
LW_API lw_status lw_sweep_create(const lw_spec *spec, const lw_sweep_options *options, lw_sweep **sweep,
                                 lw_error *error);
LW_API void lw_sweep_destroy(lw_sweep *sweep);

/* How many runs there are. */
LW_API uint64_t lw_sweep_count(const lw_sweep *sweep);
/* Columns: variables first, then measures; their names and units, which may be "". */
LW_API int lw_sweep_variable_count(const lw_sweep *sweep);
LW_API int lw_sweep_measure_count(const lw_sweep *sweep);
LW_API const char *lw_sweep_column_name(const lw_sweep *sweep, int column);
LW_API const char *lw_sweep_column_unit(const lw_sweep *sweep, int column);
/* The values of the variables in a run; of one that takes texts the number of its text. */
LW_API lw_status lw_sweep_values(const lw_sweep *sweep, uint64_t run, double *values);
/* The text of a variable that takes texts (method = rcr, lagrange); NULL if it takes numbers. */
LW_API const char *lw_sweep_text(const lw_sweep *sweep, int variable, double value);
/* Does it vary by the run's number in the design (~), and not on a grid? */
LW_API bool lw_sweep_is_drawn(const lw_sweep *sweep, int variable);

/* The model of a run and the options it is run with, as a worker has them: for its motion, or to look at it
 * closely. Texts among the options are the sweep's. */
LW_API lw_status lw_sweep_model(const lw_sweep *sweep, uint64_t run, lw_model **model,
                                lw_run_options *options, lw_error *error);
/* Are runs independent draws of one distribution, so that means and quantiles have intervals of
 * confidence? */
LW_API bool lw_sweep_is_sample(const lw_sweep *sweep);

/* How much of a measure's variance a variable explains (Sobol' indices), with half the width of their
 * intervals of 95 %. */
typedef struct lw_sobol_index {
    double first, first_confidence; /* by itself */
    double total, total_confidence; /* with all that it does together with others */
    uint64_t draws;                 /* how many of the design were complete */
} lw_sobol_index;
/* From rows of a sweep with the design saltelli: their numbers, and their values of the measure, `stride`
 * numbers apart. LW_ERROR_ARGUMENT: another design, or fewer than 4 draws are complete. */
LW_API lw_status lw_sweep_sobol_index(const lw_sweep *sweep, int variable, const uint64_t *runs,
                                      const double *values, size_t stride, size_t count,
                                      lw_sobol_index *index, lw_error *error);

typedef enum lw_sweep_status {
    LW_SWEEP_OK = 0,
    LW_SWEEP_DOUBTFUL, /* measured, and doubtful by the verdict of the run: the reason is its first one */
    LW_SWEEP_FAILED,   /* not measured: the reason is the message */
    LW_SWEEP_STATUSES
} lw_sweep_status;
/* "ok", "doubtful", "failed"; NULL if there is no such status. */
LW_API const char *lw_sweep_status_name(lw_sweep_status status);

#define LW_SWEEP_REASON 160
/* The row of a run; values are variable_count + measure_count numbers of the caller's, NAN: not measured. */
typedef struct lw_sweep_row {
    uint64_t run;
    double *values;
    lw_sweep_status status;
    char reason[LW_SWEEP_REASON];
} lw_sweep_row;

typedef struct lw_sweep_worker lw_sweep_worker;
/* What one thread needs to compute rows. The sweep must outlive it. */
LW_API lw_status lw_sweep_worker_create(const lw_sweep *sweep, lw_sweep_worker **worker, lw_error *error);
LW_API void lw_sweep_worker_destroy(lw_sweep_worker *worker);
/* Computes a row. A run that fails is a row with its reason and LW_OK; LW_ERROR_STOPPED: interrupted (may be
 * NULL) has returned true, and there is no row. */
LW_API lw_status lw_sweep_worker_run(lw_sweep_worker *worker, uint64_t run, lw_sweep_row *row,
                                     bool (*interrupted)(void *context), void *context, lw_error *error);

/* How many rows a worker computes at a time at most: 1 without lanes. 0 for NULL. */
LW_API int lw_sweep_worker_width(const lw_sweep_worker *worker);
/* Computes count rows at a time, of the runs whose numbers stand in them; otherwise like the call above. */
LW_API lw_status lw_sweep_worker_run_many(lw_sweep_worker *worker, lw_sweep_row *rows, int count,
                                          bool (*interrupted)(void *context), void *context, lw_error *error);

typedef struct lw_sweep_file lw_sweep_file;
/* The file of a sweep, .csv or .h5: one row for each run, in the order of runs. Rows may come in any order;
 * they are in the file within two seconds, but those of a CSV file wait for the runs before them. A file that
 * is there already is refused, unless it is gone on with: then it must be that of the same plan, and what it
 * holds is not computed again. */
LW_API lw_status lw_sweep_file_open(const lw_sweep *sweep, const char *path, bool resume,
                                    lw_sweep_file **file, lw_error *error);
/* Is this run in the file? */
LW_API bool lw_sweep_file_has(const lw_sweep_file *file, uint64_t run);
/* Adds a row, and writes what has waited for a second. */
LW_API lw_status lw_sweep_file_add(lw_sweep_file *file, const lw_sweep_row *row, lw_error *error);
/* Writes what has waited for a second; for the time between rows. NULL: nothing is done. */
LW_API lw_status lw_sweep_file_tick(lw_sweep_file *file, lw_error *error);
/* A row that is in the file since it was opened. */
LW_API lw_status lw_sweep_file_get(lw_sweep_file *file, uint64_t run, lw_sweep_row *row);
/* Writes everything and closes. NULL: nothing is done. */
LW_API lw_status lw_sweep_file_close(lw_sweep_file *file, lw_error *error);

/* The measured rows of a file of rows, in their order, with nothing but what the file says. */
typedef struct lw_sweep_table {
    int columns, variables; /* variables first */
    const char *const *names, *const *units;
    size_t count;
    const uint64_t *runs;
    const double *values; /* row by row; NAN: not measured, or a text */
} lw_sweep_table;
/* Is this the file of a sweep, by its first bytes? */
LW_API bool lw_sweep_table_is(const char *path);
LW_API lw_status lw_sweep_table_read(const char *path, lw_sweep_table **table, lw_error *error);
LW_API void lw_sweep_table_destroy(lw_sweep_table *table);

/* One call of a sweep. */
typedef struct lw_sweep_call {
    int jobs;         /* threads; 0: one for each processor */
    const char *path; /* of the file; NULL: none */
    bool resume;
    uint64_t most_failures; /* stops behind so many failed runs; 0: never */
    double budget;          /* stops after so many seconds; 0: never */
    /* Told of every row, by one thread at a time, in the order in which they are done; rows that a file held
     * before too. May be NULL. */
    void (*row)(const lw_sweep *sweep, const lw_sweep_row *row, void *context);
    /* Asked now and then, by any thread; true stops the sweep. May be NULL. */
    bool (*interrupted)(void *context);
    void *context;
} lw_sweep_call;

typedef struct lw_sweep_summary {
    uint64_t done, doubtful, failed; /* rows, also those that a file held before; failed and doubtful ones */
    uint64_t first_failed, first_doubtful; /* the numbers of the first such runs */
    double wall_s;
    const char *stopped; /* why before the last run: a word; NULL if it came to its end */
} lw_sweep_summary;

/* Computes all rows on threads. LW_ERROR_STOPPED: interrupted; LW_ERROR_FILE: the file cannot be written. */
LW_API lw_status lw_sweep_run(const lw_sweep *sweep, const lw_sweep_call *call, lw_sweep_summary *summary,
                              lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
