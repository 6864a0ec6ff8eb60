/* record.h - quantities of a run in memory: what results files hold, without a file.
 *
 * A record is a list of columns, "joint(*), reaction(pin)" (docs/results.md), that is evaluated for samples
 * of a run. A recording keeps whole samples, so that columns can be chosen, a file written or a page made
 * after the run has ended:
 *
 *   lw_recording_create(model, &recording, &error);
 *   options.observe = observe;       (which calls lw_recording_add)
 *   lw_simulate(model, &options, NULL, NULL, &summary, &error);
 *   lw_record_create(model, "joint(*)", &record, &error);
 *   for (size_t k = 0; k < lw_recording_count(recording); k++)
 *       lw_recording_at(recording, k, &sample), lw_record_row(record, &sample, row);
 *
 * Both belong to one thread, and the model must outlive them. Pointers to them may be NULL: the calls then
 * return LW_ERROR_ARGUMENT, NULL, false or 0.
 */
#ifndef LINKWORK_RECORD_H
#define LINKWORK_RECORD_H

#include <linkwork/model.h>
#include <linkwork/results.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_record lw_record;

/* Parses a list of quantities; NULL stands for LW_RECORD_DEFAULT. Time is always the first column; a column
 * that is asked for twice stands where it was asked for first. */
LW_API lw_status lw_record_create(const lw_model *model, const char *list, lw_record **record,
                                  lw_error *error);
LW_API void lw_record_destroy(lw_record *record);

/* How many columns there are, the name of each, e.g. "crank.q", and its unit, which may be "". */
LW_API size_t lw_record_count(const lw_record *record);
LW_API const char *lw_record_name(const lw_record *record, size_t column);
LW_API const char *lw_record_unit(const lw_record *record, size_t column);
/* What the columns need of each sample besides q, v and the ledger: for lw_run_options. */
LW_API bool lw_record_accelerations(const lw_record *record);
LW_API bool lw_record_reactions(const lw_record *record);

/* The values of all columns in a sample; NaN for what the sample does not carry. O(n + columns), no
 * allocation. Quaternions keep their sign from row to row, so that they do not jump. */
LW_API lw_status lw_record_row(lw_record *record, const lw_sample *sample, double *row);

typedef struct lw_recording lw_recording;

/* A recording without samples. */
LW_API lw_status lw_recording_create(const lw_model *model, lw_recording **recording, lw_error *error);
LW_API void lw_recording_destroy(lw_recording *recording);

/* Keeps a copy of a sample with all that it carries: accelerations, reactions and multipliers too if the
 * first sample has them. LW_ERROR_UNSUPPORTED: an event has changed a parameter of the model, so that the
 * sample cannot be evaluated later by the model that the recording has; the samples before are kept. */
LW_API lw_status lw_recording_add(lw_recording *recording, const lw_sample *sample);
/* How many samples there are, and each of them; it lives until the next sample is added. */
LW_API size_t lw_recording_count(const lw_recording *recording);
LW_API lw_status lw_recording_at(const lw_recording *recording, size_t index, lw_sample *sample);

#ifdef __cplusplus
}
#endif
#endif
