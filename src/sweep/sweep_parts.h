/* sweep_parts.h - inner header of sweeps: what varies, how it is drawn, what is measured.
 */
#ifndef LW_SWEEP_PARTS_H
#define LW_SWEEP_PARTS_H

#include "core/core.h"

#include <linkwork/model.h>
#include <linkwork/record.h>
#include <linkwork/sweep.h>

/* --- what varies ---------------------------------------------------------------------------------- */

typedef enum lw_vary_target {
    LW_VARY_PARAMETER,
    LW_VARY_INPUT,
    LW_VARY_METHOD,
    LW_VARY_INTEGRATOR,
    LW_VARY_BEGIN,
    LW_VARY_USE /* the file of a part */
} lw_vary_target;

typedef enum lw_vary_kind {
    LW_VARY_EVEN,   /* from ends[0] to ends[1] in equal steps */
    LW_VARY_DECADE, /* the same by equal ratios */
    LW_VARY_LIST,   /* of numbers */
    LW_VARY_TEXTS,
    LW_VARY_UNIFORM,   /* ends */
    LW_VARY_NORMAL,    /* mean, standard deviation */
    LW_VARY_LOGNORMAL, /* median, standard deviation of the logarithm */
    LW_VARY_TRIANGLE   /* least, most likely, greatest */
} lw_vary_kind;
static inline bool lw_vary_drawn(lw_vary_kind kind) { return kind >= LW_VARY_UNIFORM; }

typedef struct lw_variable {
    const char *name, *text; /* as the caller wrote it */
    lw_vary_target target;
    lw_vary_kind kind;
    int axis;                 /* of a grid: which, from 0; variables of one file share it. Drawn: -1 */
    int drawn;                /* its number among those drawn; -1 */
    double p[3];              /* of LW_VARY_UNIFORM in a search: the bounds and the start */
    const double *values;     /* of a list */
    const char *const *texts; /* of texts */
} lw_variable;

enum { LW_VARIABLES_MOST = 64 };

/* A plan as it was read. */
typedef struct lw_design {
    lw_variable variables[LW_VARIABLES_MOST];
    int variable_count, axis_count, drawn_count;
    uint64_t axis_size[LW_VARIABLES_MOST]; /* points of each axis; the first one varies slowest */
    uint64_t draws, count, seed;
    bool search; /* The values of a run are not known from its number. */
    enum { LW_DRAW_RANDOM, LW_DRAW_LATIN, LW_DRAW_SOBOL, LW_DRAW_SALTELLI } draw;
    uint64_t each; /* runs of a draw: 1, or of saltelli the variables and 2 */
    double *mix;   /* drawn_count x drawn_count, lower triangle of Cholesky; NULL: independent */
} lw_design;

/* Reads all that varies; faults name the text. In a search "L = 1..2", "L = 1..2 from 1.3" are bounds and a
 * start, and nothing else can vary. */
lw_status lw_design_read(const lw_spec *spec, const lw_sweep_options *options, bool search, lw_arena *arena,
                         lw_design *design, lw_error *error);
/* The numbers of the variables in a run, in O(variables^2). */
void lw_design_values(const lw_design *design, uint64_t run, double *values);

/* The value x > -inf with this probability of less, of the standard normal distribution, 0 < p < 1. */
double lw_normal_quantile(double p);

/* --- what is measured ----------------------------------------------------------------------------- */

typedef enum lw_sweep_measure_kind {
    LW_TAKE_FINAL,
    LW_TAKE_INITIAL,
    LW_TAKE_MAX,
    LW_TAKE_MIN,
    LW_TAKE_RANGE,
    LW_TAKE_MEAN,
    LW_TAKE_RMS,
    LW_TAKE_AT,        /* argument: a time of a sample */
    LW_TAKE_SETTLE,    /* argument: a difference, in the unit of the quantity */
    LW_TAKE_OVERSHOOT, /* of the step from the first to the last value, a ratio */
    LW_TAKE_TIME,      /* the first event of this name */
    LW_TAKE_KINDS
} lw_sweep_measure_kind;

typedef struct lw_sweep_measure {
    const char *name, *quantity; /* of TIME: the event */
    const char *unit;
    lw_sweep_measure_kind kind;
    double argument;
} lw_sweep_measure;

/* Reads a measure, "peak = max(kinetic)"; the model says what there is. */
lw_status lw_sweep_measure_read(const lw_model *model, const char *text, lw_arena *arena,
                                lw_sweep_measure *measure, lw_error *error);
/* A number in this unit, or without one: "500 N", "0.5 kN", "500". */
lw_status lw_sweep_measure_number(const char *text, const char *number, const char *unit, double *value,
                                  lw_error *error);
/* Of the samples t, x (count > 0 of them). LW_ERROR_ARGUMENT: there is no sample at the time of AT. */
lw_status lw_sweep_measure_value(const lw_sweep_measure *measure, const double *t, const double *x,
                                 size_t count, double *value, lw_error *error);

/* --- the plan ------------------------------------------------------------------------------------- */

/* A model as bytes. */
typedef struct lw_sweep_spec {
    void *bytes;
    size_t size;
} lw_sweep_spec;

struct lw_sweep {
    lw_arena *arena;
    lw_design design;
    lw_sweep_measure *measures;
    int measure_count;
    lw_sweep_spec *specs; /* one for each choice of files; the first variable varies slowest */
    size_t spec_count;
    char *head; /* the plan in lines of text, which tells whether two plans are the same */
    bool lanes;
    void (*settle)(lw_run_options *options, void *context);
    void *context;
};

/* What a search adds to a plan: a line for the head. Its runs are at values of its own. */
typedef struct lw_sweep_search {
    const char *text;
} lw_sweep_search;
/* search may be NULL: as lw_sweep_create. */
lw_status lw_sweep_create_search(const lw_spec *spec, const lw_sweep_options *options,
                                 const lw_sweep_search *search, lw_sweep **sweep, lw_error *error);
/* Computes a row, whose number and values of the variables are there. */
lw_status lw_sweep_worker_row(lw_sweep_worker *worker, lw_sweep_row *row, bool (*interrupted)(void *context),
                              void *context, lw_error *error);

/* Computes runs on threads, as a whole or in batches; create, batches, destroy. */
typedef struct lw_sweep_job lw_sweep_job;
lw_status lw_sweep_job_create(const lw_sweep *sweep, const lw_sweep_call *call, lw_sweep_summary *summary,
                              lw_sweep_job **job, lw_error *error);
/* Runs first .. first + count - 1. rows: NULL, or rows of these runs with their values of the variables,
 * which are computed or taken from the file. The summary says whether it was stopped. */
lw_status lw_sweep_job_batch(lw_sweep_job *job, uint64_t first, uint64_t count, lw_sweep_row *rows,
                             lw_error *error);
/* Closes the file and says how the job has ended: with the given status, unless something else was wrong. */
lw_status lw_sweep_job_end(lw_sweep_job *job, lw_status status, lw_error *error);

/* Cuts the text at commas outside of brackets and quotes, into at most `most` pieces without blanks around
 * them, which are written into the arena. Returns how many there are, -1: more than most, or no memory. */
int lw_cut_at_commas(lw_arena *arena, const char *text, size_t length, const char **pieces, int most);

/* --- files ---------------------------------------------------------------------------------------- */

typedef struct lw_sweep_format {
    lw_status (*open)(const lw_sweep *sweep, const char *path, bool resume, lw_sweep_file **file,
                      lw_error *error);
    bool (*has)(const lw_sweep_file *file, uint64_t run);
    lw_status (*get)(lw_sweep_file *file, uint64_t run, lw_sweep_row *row); /* one that it has */
    lw_status (*add)(lw_sweep_file *file, const lw_sweep_row *row, lw_error *error);
    lw_status (*flush)(lw_sweep_file *file, lw_error *error);
    lw_status (*close)(lw_sweep_file *file, lw_error *error);
} lw_sweep_format;
struct lw_sweep_file {
    const lw_sweep_format *format;
    double flushed; /* when, s */
};
extern const lw_sweep_format lw_sweep_csv, lw_sweep_hdf5;

/* The next field, without its quotes, of the line at *at. */
void lw_sweep_csv_field(const char **at, char *field, size_t size);
/* The names, units and rows of an HDF5 file; `texts` are its lines about columns that are texts. */
typedef struct lw_sweep_contents {
    char *plan, *names, *units, *texts; /* with a zero behind each name */
    size_t name_size, unit_size, text_size, columns, text_count, count;
    double *values;
    unsigned char *status;
} lw_sweep_contents;
bool lw_sweep_hdf5_is(const char *path);
lw_status lw_sweep_hdf5_read(const char *path, lw_sweep_contents *contents, lw_error *error);

/* The fault of a file that belongs to another plan: the first line of the heads that differs. */
lw_status lw_sweep_other_plan(const lw_sweep *sweep, const char *path, const char *head, lw_error *error);
/* "x.csv": cannot be <action>: <reason> */
lw_status lw_sweep_file_fault(lw_error *error, const char *path, const char *action, const char *reason,
                              const char *remedy);

#endif
