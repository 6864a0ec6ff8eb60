/* optimise.h - parameters of a model at which a measure of its run is least or greatest.
 *
 *   const char *vary[] = {"rack = 200 mm .. 300 mm", "k = 1e4..5e4 from 2e4"};
 *   const char *subject[] = {"max(reaction(A).force) <= 5 kN"};
 *   lw_optimise_options plan = {.vary = vary, .vary_count = 2, .minimise = "range(toe)",
 *                               .subject = subject, .subject_count = 1, .runs = 500};
 *   lw_optimise_create(spec, &plan, &optimisation, &error);
 *   lw_sweep_call call = {.path = "search.csv"};
 *   lw_optimise_run(optimisation, &call, &best, &error);
 *
 * Runs are those of a sweep (sweep.h), at points that the search chooses; they are computed by its threads
 * and written into its files, and a search that was stopped goes on from there. All runs follow from the
 * model, the plan and the seed. Pointers to objects may be NULL: the calls then return LW_ERROR_ARGUMENT or
 * NULL.
 */
#ifndef LINKWORK_OPTIMISE_H
#define LINKWORK_OPTIMISE_H

#include <linkwork/sweep.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_optimisation lw_optimisation;

typedef struct lw_optimise_options {
    /* Bounds of parameters and inputs, "L = 1..2", and where to start, "L = 1..2 from 1.3"; otherwise at the
     * model's value if it lies between them, or in the middle. */
    const char *const *vary;
    size_t vary_count;
    const char *minimise; /* a measure as of a sweep, "max(reaction(A).force)" */
    bool maximise;        /* its greatest value is wanted instead */
    /* What must hold: "max(drive(J)) <= 40 N m", "final(pin.q) >= 0". */
    const char *const *subject;
    size_t subject_count;
    const char *const *measures; /* measured beside, for the rows */
    size_t measure_count;
    const char *algorithm; /* cma (NULL), descent */
    uint64_t runs;         /* at most; 0: 1000 */
    uint64_t seed;         /* of cma */
    int population;        /* of cma: points at once; 0: 4 + 3 log(count of variables) */
    int restarts;          /* of cma: from elsewhere with twice the population, when it has come to an end */
    double tolerance;      /* changes of a variable that do not matter, of its range; 0: 1e-8 */
    void (*settle)(lw_run_options *options, void *context); /* as of lw_sweep_options */
    void *context;
} lw_optimise_options;

/* Reads the plan, and tries whether the model compiles. The spec is copied. */
LW_API lw_status lw_optimise_create(const lw_spec *spec, const lw_optimise_options *options,
                                    lw_optimisation **optimisation, lw_error *error);
LW_API void lw_optimise_destroy(lw_optimisation *optimisation);

/* The sweep that the runs are of: names and units of columns. Measures are what is minimised, then what must
 * hold, then those beside. */
LW_API const lw_sweep *lw_optimise_sweep(const lw_optimisation *optimisation);

typedef struct lw_optimum {
    bool found;    /* A run has succeeded and keeps what must hold: the best of them is */
    uint64_t run;  /* this one, */
    double value;  /* with this value. */
    uint64_t done; /* runs */
    /* Rows that had failed or were doubtful, which are never the best; and those that break a constraint. */
    uint64_t failed, doubtful, outside;
    double wall_s;
    const char *ended; /* why: words */
    bool converged;    /* the search has ended by itself, not by the number of runs, the budget, or a stop */
} lw_optimum;

/* Searches. row is told of every run. LW_ERROR_STOPPED: interrupted; the best so far is there. values: room
 * for all columns of the best row, or NULL. */
LW_API lw_status lw_optimise_run(lw_optimisation *optimisation, const lw_sweep_call *call,
                                 lw_optimum *optimum, double *values, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
