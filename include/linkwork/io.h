/* io.h - model files in, result files out.
 */
#ifndef LINKWORK_IO_H
#define LINKWORK_IO_H

#include <linkwork/model.h>
#include <linkwork/results.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A parameter given from outside: overrides the file's. The text may be an expression with units. */
typedef struct lw_setting {
    const char *name, *value;
} lw_setting;

/* Reads a model file (docs/model-format.md), or the model of a results file. Every fault goes into report;
 * with errors *spec is NULL. */
LW_API lw_status lw_read_model(const char *path, const lw_setting *settings, size_t setting_count,
                               lw_report *report, lw_spec **spec);
/* The same with more to choose; zeroed options choose nothing. */
typedef struct lw_read_options {
    const lw_setting *settings;
    size_t setting_count;
    bool any_path; /* tables may come from files outside the model file's folder */
    /* The text of the model instead of a file's, as from standard input: path then only stands for it in
     * messages, and its folder is where tables, meshes and parts are looked for. NULL: path is read. */
    const char *text;
    size_t length;
} lw_read_options;
/* lw_read_model with these options. */
LW_API lw_status lw_read_model_with(const char *path, const lw_read_options *options, lw_report *report,
                                    lw_spec **spec);
/* The same from memory; name stands for the file in messages. */
LW_API lw_status lw_read_model_text(const char *text, size_t length, const char *name,
                                    const lw_setting *settings, size_t setting_count, lw_report *report,
                                    lw_spec **spec);

/* Makes a column of a file the default of an input of the spec: a table over the file's first column, the
 * time, straight between the points and held beyond them. path is any path; the file is as those of tables
 * (docs/model-format.md). */
LW_API lw_status lw_read_input(lw_spec *spec, const char *input, const char *path, const char *column,
                               lw_error *error);

/* Of a model file only the name, the parameters and the run section: a spec without bodies, also of a file
 * that is faulty elsewhere. What is faulty counts as not given; nothing is reported. */
LW_API lw_status lw_read_run(const char *path, const lw_setting *settings, size_t setting_count,
                             lw_spec **spec);

/* One number as it may stand in a model file: an expression with units, such as "10 ms", "1/100" or "2*pi".
 * unit is the SI unit of what is wanted ("s", "m", "m/s", ...; "1": a plain number), so that a number with a
 * unit of something else is refused, or NULL. error says at which character something is wrong. */
LW_API lw_status lw_read_number(const char *text, const char *unit, double *value, lw_error *error);

/* Writes a spec as a model file that reads back as the same model; "-" is standard output.
 * Numbers are exact. Expressions of parameters are written as their values, but where events of the model set
 * these; LW_ERROR_UNSUPPORTED where that cannot be done (a point of a force in a part that is placed
 * elsewhere). */
LW_API lw_status lw_write_model(const lw_spec *spec, const char *path, lw_error *error);

/* A start to be added to a model file. */
typedef struct lw_new_start {
    const char *name;            /* what it is called; no start of the file may have this name */
    const lw_start_spec *joints; /* their values; `name` of each is not used */
    size_t joint_count;
    const char *const *states; /* user states whose starting values change, and these */
    const double *state_starts;
    size_t state_count;
    const lw_setting *settings; /* parameters that get other values, as when the model was read */
    size_t setting_count;
} lw_new_start;
/* Writes a model file (YAML, which was read as this spec) with one more start, which the run then begins
 * from; all else stays as it was written, with its expressions, units and comments. LW_ERROR_UNSUPPORTED: the
 * text has no place for it, as where a section is repeated or has an anchor. */
LW_API lw_status lw_write_with_start(const char *model, const lw_spec *spec, const lw_new_start *start,
                                     const char *path, lw_error *error);

/* Results of a run, written as it goes: a run that is killed leaves a readable file that lacks at most the
 * last second. The path's ending chooses the format: .csv, or .h5 and .hdf5 for HDF5; "-" is standard output
 * as CSV. Both carry names and units of the columns, the whole model, its text and what is told here
 * (docs/results.md). */
typedef struct lw_results lw_results;
typedef struct lw_results_options {
    const char *path;
    const char *record;                      /* what to record, docs/results.md; NULL: LW_RECORD_DEFAULT */
    const char *method, *integrator, *drift; /* metadata from here on; NULL and 0: not told */
    double start, end, step, tolerance;
    double output;               /* interval between samples */
    double neglect;              /* the ratio of lw_neglect_create below which inertia counts as zero */
    const char *const *settings; /* "name=value": the settings with which the model was read */
    size_t setting_count;
} lw_results_options;

#define LW_RECORD_DEFAULT "joint(*), com(*), state(*), input(*), parameter, output(*), ledger"

/* Opens a results file for a model, which must outlive it. */
LW_API lw_status lw_results_open(const lw_model *model, const lw_results_options *options,
                                 lw_results **results, lw_error *error);
/* What the record needs of each sample besides q, v and the ledger: for lw_run_options. */
LW_API bool lw_results_want_accelerations(const lw_results *results);
LW_API bool lw_results_want_reactions(const lw_results *results);
LW_API bool lw_results_want_works(const lw_results *results);
/* What a sample does not carry is left empty (CSV) or NaN (HDF5). Does not allocate, but HDF5 does. */
LW_API lw_status lw_results_write(lw_results *results, const lw_sample *sample);
/* An event of the model at time t, which the file names at its end, and plots show. */
LW_API lw_status lw_results_event(lw_results *results, double t, const char *name);
/* summary goes into the file; NULL: there is none. Tells of the first fault of writing. */
LW_API lw_status lw_results_close(lw_results *results, const lw_run_summary *summary, lw_error *error);

/* The name of the model that a results file is about, shortened to fit. Reads no more than the head of the
 * file. LW_ERROR_FILE: it is no results file, or cannot be read. */
LW_API lw_status lw_results_about(const char *path, char *name, size_t size, lw_error *error);
/* The model that a results file of either format carries, as the spec that it was compiled from, with
 * parameters that can be set. A file that carries none, is damaged or is no results file: LW_ERROR_FILE. */
LW_API lw_status lw_results_spec(const char *path, lw_spec **spec, lw_error *error);
/* A row of a results file as a state of the model: the last row if `at` is NAN, otherwise the row of that
 * time. t, q, v and the user states (NULL if the model has none) receive the sample's, bit by bit; what
 * motions prescribe follows from the time. LW_ERROR_FILE: there is no such row (no state is made up between
 * two), or the file lacks coordinates, speeds or user states of the model, which the error names. */
LW_API lw_status lw_results_state(const char *path, const lw_model *model, double at, double *t, double *q,
                                  double *v, double *states, lw_error *error);
/* What events, or a caller, have set until that row: values of the model's inputs (NAN: the default, which is
 * an expression, holds) and of its parameters, in the model's orders; q, v and states as lw_results_state
 * gives them. Inputs and parameters without a column have the model's values, unless an event of the model
 * sets them: then LW_ERROR_FILE. Each may be NULL if the model has none. */
LW_API lw_status lw_results_values(const char *path, const lw_model *model, double t, const double *q,
                                   const double *v, const double *states, double *inputs, double *parameters,
                                   lw_error *error);
/* The works of the model's force elements in the row at time t, for lw_run_options.works; 0 where the file
 * does not know one (force(F).work). LW_ERROR_FILE: an output of the model needs such a one. */
LW_API lw_status lw_results_works(const char *path, const lw_model *model, double t, double *works,
                                  lw_error *error);
/* Copies the rows of a results file from its first to that of time `until` into one that has just been
 * opened, so that the rows of a run that goes on from there follow; columns that the file lacks are unknown
 * there, but works of force elements, which would begin anew, must be known: LW_ERROR_FILE. ledger receives
 * the energies of the last of these rows (NAN where it has none), rows their number; results, ledger and rows
 * may be NULL. */
LW_API lw_status lw_results_go_on(lw_results *results, const char *path, double until, lw_ledger *ledger,
                                  long *rows, lw_error *error);

/* Draws columns of a results file of either format against its first column, time, into a file: a PDF if
 * the path ends in .pdf, otherwise SVG. columns: names, in which * stands for anything, each a panel or,
 * joined by '+', several curves of one panel; count 0 draws joint coordinates and the energies. Where names
 * with * match many columns, and by default, those that differ most are drawn. "-" is standard output. */
LW_API lw_status lw_plot_results(const char *results_path, const char *path, const char *const *columns,
                                 size_t count, lw_error *error);

/* The same with more to choose. */
typedef struct lw_plot_options {
    const char *const *columns; /* as above */
    size_t count;
    const char *title, *subtitle; /* NULL: model, method, integrator, file */
    const char *quantity;         /* name of the vertical axes; NULL: by their units */
    bool log_x, log_y;            /* in decades; what is not positive leaves a gap */
    const char *const *more;      /* other results files, whose columns of the same names are drawn too */
    size_t more_count;
    const char *x; /* the column of the horizontal axis; NULL: the first. A * in it stands for what it stands
                      * for in the names of columns */
    bool all;      /* every column that matches, however many */
    bool no_heading; /* title and subtitle are not drawn */
    /* Told in a sentence what was left out: columns, of many, or those that another file lacks. May be
     * NULL. */
    void (*tell)(const char *text, void *context);
    void *context;
} lw_plot_options;
/* lw_plot_results with these options. */
LW_API lw_status lw_plot_with(const char *results_path, const char *path, const lw_plot_options *options,
                              lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
