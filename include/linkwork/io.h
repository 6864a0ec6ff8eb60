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

/* Reads a model file (docs/model-format.md). Every fault goes into report; with errors *spec is NULL. */
LW_API lw_status lw_read_model(const char *path, const lw_setting *settings, size_t setting_count,
                               lw_report *report, lw_spec **spec);
/* The same with more to choose; zeroed options choose nothing. */
typedef struct lw_read_options {
    const lw_setting *settings;
    size_t setting_count;
    bool any_path; /* tables may come from files outside the model file's folder */
} lw_read_options;
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
 * Numbers are exact. */
LW_API lw_status lw_write_model(const lw_spec *spec, const char *path, lw_error *error);

/* Results of a run, written as it goes: a run that is killed leaves a readable file that lacks at most the
 * last second. The path's ending chooses the format: .csv, or .h5 and .hdf5 for HDF5; "-" is standard output
 * as CSV. Both carry names and units of the columns, the model's text and what is told here
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

#define LW_RECORD_DEFAULT "joint(*), com(*), state(*), output(*), ledger"

/* Opens a results file for a model, which must outlive it. */
LW_API lw_status lw_results_open(const lw_model *model, const lw_results_options *options,
                                 lw_results **results, lw_error *error);
/* What the record needs of each sample besides q, v and the ledger: for lw_run_options. */
LW_API bool lw_results_want_accelerations(const lw_results *results);
LW_API bool lw_results_want_reactions(const lw_results *results);
/* What a sample does not carry is left empty (CSV) or NaN (HDF5). Does not allocate, but HDF5 does. */
LW_API lw_status lw_results_write(lw_results *results, const lw_sample *sample);
/* summary goes into the file; NULL: there is none. Tells of the first fault of writing. */
LW_API lw_status lw_results_close(lw_results *results, const lw_run_summary *summary, lw_error *error);

/* Draws columns of a results file of either format against its first column, time, into an SVG file.
 * columns: names, in which * stands for anything, each a panel or, joined by '+', several curves of one
 * panel; count 0 draws all joint coordinates and the energies. "-" is standard output. */
LW_API lw_status lw_plot_results(const char *results_path, const char *svg_path, const char *const *columns,
                                 size_t count, lw_error *error);

/* The same with more to choose. */
typedef struct lw_plot_options {
    const char *const *columns; /* as above */
    size_t count;
    const char *title, *subtitle; /* NULL: model, method, integrator, file */
    const char *quantity;         /* name of the vertical axes; NULL: by their units */
    bool log_x, log_y;            /* in decades; what is not positive leaves a gap */
} lw_plot_options;
/* lw_plot_results with these options. */
LW_API lw_status lw_plot_with(const char *results_path, const char *svg_path, const lw_plot_options *options,
                              lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
