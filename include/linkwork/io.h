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
lw_status lw_read_model(const char *path, const lw_setting *settings, size_t setting_count, lw_report *report,
                        lw_spec **spec);
/* The same from memory; name stands for the file in messages. */
lw_status lw_read_model_text(const char *text, size_t length, const char *name, const lw_setting *settings,
                             size_t setting_count, lw_report *report, lw_spec **spec);

/* Writes a spec as a model file that reads back as the same model; "-" is standard output. Numbers are exact. */
lw_status lw_write_model(const lw_spec *spec, const char *path, lw_error *error);

/* Results as comma-separated values: time, joint coordinates and speeds, body positions, energy ledger. The
 * first lines start with # and carry the metadata; the first line without # names the columns, with units. */
typedef struct lw_csv lw_csv;
typedef struct lw_csv_options {
    const char *path;                /* "-" is standard output */
    const char *method, *integrator; /* metadata */
    double step, tolerance;
} lw_csv_options;
lw_status lw_csv_open(const lw_model *model, const lw_csv_options *options, lw_csv **csv, lw_error *error);
lw_status lw_csv_write(lw_csv *csv, const lw_sample *sample);
lw_status lw_csv_close(lw_csv *csv, lw_error *error);

/* Draws columns of a CSV file against its first column into an SVG file. columns: names, each a panel or,
 * joined by
 * '+', several curves of one panel; count 0 draws all joint coordinates and the energies. */
lw_status lw_plot_csv(const char *csv_path, const char *svg_path, const char *const *columns, size_t count,
                      lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
