/* view.h - a motion to look at: recorded from a run or read from a results file, and written as one page.
 *
 * An animation is the motion of one model: the poses of all bodies at the samples of a run, the columns that
 * plots show, events, energy ledger and verdict. A run fills it,
 *
 *   lw_animation_create(model, NULL, &animation, &error);
 *   options.observe = observe;       (which calls lw_animation_sample)
 *   lw_simulate(model, &options, NULL, NULL, &summary, &error);
 *   lw_animation_finish(animation, &summary, NULL);
 *   lw_view_write(&animation, 1, "crane.html", NULL, &error);
 *
 * or lw_animation_read takes it from a results file. The page (docs/view.md) is a single file that needs no
 * network and no other file: 3-D scene, time, plots, ledger.
 *
 * Pointers to animations may be NULL: the calls then return LW_ERROR_ARGUMENT, NULL, false or 0.
 */
#ifndef LINKWORK_VIEW_H
#define LINKWORK_VIEW_H

#include <linkwork/model.h>
#include <linkwork/results.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_animation lw_animation;

/* An animation without samples, of a model that must outlive it. record is a list of what plots can show, as
 * in docs/results.md; NULL: joints, ledger and violations, and reactions in models of at most 100 joints. */
LW_API lw_status lw_animation_create(const lw_model *model, const char *record, lw_animation **animation,
                                     lw_error *error);
/* The animation of a results file, CSV or HDF5, with the model that the file holds or names, which the
 * animation owns. Refused, with the reason: a file without a model, and one that lacks what determines the
 * poses (joint coordinates, or poses of all bodies). Faults of the model go into report, which may be
 * NULL. */
LW_API lw_status lw_animation_read(const char *results_path, lw_report *report, lw_animation **animation,
                                   lw_error *error);
LW_API void lw_animation_destroy(lw_animation *animation);

/* Its model. */
LW_API const lw_model *lw_animation_model(const lw_animation *animation);
/* How many samples it has. */
LW_API size_t lw_animation_samples(const lw_animation *animation);
/* What its record needs of each sample besides q, v and the ledger: for lw_run_options. */
LW_API bool lw_animation_wants_accelerations(const lw_animation *animation);
LW_API bool lw_animation_wants_reactions(const lw_animation *animation);
LW_API bool lw_animation_wants_works(const lw_animation *animation);

/* Adds a sample; one that is not later than the last replaces it. */
LW_API lw_status lw_animation_sample(lw_animation *animation, const lw_sample *sample);
/* Adds an event, as lw_run_options.event tells it. */
LW_API lw_status lw_animation_event(lw_animation *animation, double t, const char *kind, const char *text);
/* Adds a sentence that the page shows among what is missing or out of the ordinary. */
LW_API lw_status lw_animation_note(lw_animation *animation, const char *text);
/* The run has ended. summary (may be NULL: there was no run) gives method, ledger and verdict; failure (may
 * be NULL) says why the run ended early. */
LW_API lw_status lw_animation_finish(lw_animation *animation, const lw_run_summary *summary,
                                     const char *failure);

typedef struct lw_view_options {
    const char *title;       /* NULL: the model's name */
    const char *labels[2];   /* of the motions, where two are compared; NULL: their methods or files */
    double motion_tolerance; /* of resampled poses, relative to the size of the scene; 0: 1e-4 */
    double column_tolerance; /* of resampled columns, relative to the range of each; 0: 1e-4 */
} lw_view_options;

/* Writes one or two animations (the second one is the ghost) as a page; "-" is standard output. options may
 * be NULL. */
LW_API lw_status lw_view_write(const lw_animation *const *animations, int count, const char *path,
                               const lw_view_options *options, lw_error *error);
/* Writes the data of such a page alone: the scene and the motion as JSON, with numbers as base64 of float32.
 * src/export/view/README.md describes it. */
LW_API lw_status lw_view_write_data(const lw_animation *const *animations, int count, const char *path,
                                    const lw_view_options *options, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
