/* animation.h - the inner structure of an animation: samples of all poses, columns of plots, what a run told.
 */
#ifndef LW_ANIMATION_H
#define LW_ANIMATION_H

#include "io/results/read_results.h"
#include "io/results/record_columns.h"
#include "model/data.h"

#include <linkwork/view.h>

/* A table of doubles that grows row by row. */
typedef struct lw_sample_rows {
    double *at;
    size_t width, count, room;
} lw_sample_rows;

/* kind "event" is an event of the model, which has a name. */
typedef struct lw_told {
    double t;
    const char *kind, *name, *text;
} lw_told;

enum { LW_MOST_ELEMENTS = 200 }; /* force elements, of which columns are shown */

typedef struct lw_shown_column {
    const char *name, *unit;
    bool own_scale; /* resampled by its own range alone, however small that is */
} lw_shown_column;

struct lw_animation {
    lw_arena *arena;
    const lw_model *model;
    lw_model *owned;                  /* the model, if the animation owns it */
    lw_spec *spec;                    /* and its spec */
    lw_record *record;                /* of a run; NULL after reading a file */
    struct lw_row_forces *row_forces; /* of a file */
    lw_data *data;
    double *times;
    size_t count, room;
    lw_sample_rows
        poses; /* per sample 7 per body 1 .. n: position, quaternion x, y, z, w of the user's frame */
    lw_sample_rows values; /* per sample the columns, without time */
    lw_shown_column *columns;
    size_t column_count,
        recorded;    /* the first `recorded` come from the record or file, the rest from row_forces */
    double *row;     /* workspace of a record's row, */
    size_t *taken;   /* and which of its columns are shown */
    double *q0, *v0; /* the first sample, for redundancy and uniqueness */
    bool has_state;
    bool *unique; /* joint_count x 6; NULL: unknown */
    lw_told *events;
    size_t event_count, event_room;
    const char **notes;
    size_t note_count, note_room;
    const char *source; /* the results file; NULL: a run */
    const char *method, *integrator, *failure;
    bool has_summary;
    lw_run_summary summary;
};

/* An animation without columns. */
lw_status lw_animation_begin(const lw_model *model, lw_animation **animation, lw_error *error);
/* A row more; NULL if there is no memory. The pointer is valid until the next call. */
double *lw_sample_rows_add(lw_sample_rows *rows);
/* The poses of all bodies of a sample with these coordinates, as the next row. */
lw_status lw_animation_pose(lw_animation *animation, double t, const double *q);
/* Makes room for one more sample at time t, or returns the last one's index if t is not later. */
lw_status lw_animation_time(lw_animation *animation, double t, bool *again);
/* Is a column the power of a force element? */
bool lw_animation_is_power(const char *name);
/* Has the model so many force elements that they are left out? Then a note says so. */
bool lw_animation_has_many_forces(lw_animation *animation, lw_status *status);
/* Adds columns of force elements that a results file lacks, and notes why some are not known. */
lw_status lw_animation_row_forces(lw_animation *animation, lw_results_table *table, bool has_speeds);
/* Their values in a row with these coordinates and speeds; v is NULL if the row has none. */
void lw_animation_row_force_values(lw_animation *animation, const lw_results_table *table, size_t row,
                                   const double *q, const double *v, double *values);
void lw_animation_row_forces_close(lw_animation *animation);
/* Uniqueness of reactions in the first sample, if it can be found. */
void lw_animation_uniqueness(lw_animation *animation);

#endif
