/* fmu_instance.h - an instance of an FMU, whatever the version of the standard: values by reference, set-up,
 * Model Exchange, Co-Simulation, FMU states.
 *
 * The functions fmi2* and fmi3* of the runtime (folder fmu) translate calls of the standards into these. An
 * instance belongs to one thread at a time; there is nothing that instances share.
 */
#ifndef LW_FMU_INSTANCE_H
#define LW_FMU_INSTANCE_H

#include "fmu/fmu_content.h"
#include "fmu/fmu_variables.h"

/* As both standards number them. */
typedef enum lw_fmu_status {
    LW_FMU_OK = 0,
    LW_FMU_WARNING,
    LW_FMU_DISCARD,
    LW_FMU_ERROR,
    LW_FMU_FATAL
} lw_fmu_status;

typedef enum lw_fmu_phase {
    LW_FMU_INSTANTIATED = 0,
    LW_FMU_INITIALIZING,
    LW_FMU_EVENTS,     /* Model Exchange, event mode */
    LW_FMU_CONTINUOUS, /* Model Exchange, continuous-time mode */
    LW_FMU_STEPPING,   /* Co-Simulation */
    LW_FMU_TERMINATED
} lw_fmu_phase;

/* Where messages go. category: logEvents, logStatusWarning, logStatusDiscard, logStatusError. */
typedef void lw_fmu_log(void *context, lw_fmu_status status, const char *category, const char *text);

typedef struct lw_fmu lw_fmu;

/* token: of the description, which has to be that of the content. NULL, with a message, if it cannot be. */
lw_fmu *lw_fmu_create(const void *content, size_t size, const char *token, bool exchange, lw_fmu_log *log,
                      void *context);
void lw_fmu_destroy(lw_fmu *fmu);

lw_fmu_phase lw_fmu_phase_of(const lw_fmu *fmu);
const lw_fmu_table *lw_fmu_table_of(const lw_fmu *fmu);
/* Says something through the log; returns status. */
lw_fmu_status lw_fmu_say(lw_fmu *fmu, lw_fmu_status status, const char *format, ...) LW_PRINTF(3, 4);

/* tolerance and stop: NAN if they are not given. */
lw_fmu_status lw_fmu_setup(lw_fmu *fmu, double tolerance, double start, double stop);
lw_fmu_status lw_fmu_enter_initialization(lw_fmu *fmu);
lw_fmu_status lw_fmu_exit_initialization(lw_fmu *fmu);
lw_fmu_status lw_fmu_terminate(lw_fmu *fmu);
lw_fmu_status lw_fmu_reset(lw_fmu *fmu);

lw_fmu_status lw_fmu_get(lw_fmu *fmu, const unsigned *references, size_t count, double *values);
lw_fmu_status lw_fmu_set(lw_fmu *fmu, const unsigned *references, size_t count, const double *values);

/* Co-Simulation: from time `from` by h. terminated: an event of the model has ended the run. update (may be
 * NULL) is called after each step of the integrator, with values of then, and may bring the end forward. */
typedef void lw_fmu_update(void *context, double t, double *end);
lw_fmu_status lw_fmu_step(lw_fmu *fmu, double from, double h, bool *terminated, lw_fmu_update *update,
                          void *context);
/* Derivatives of inputs by time, of orders 1 to 3, at the present time; until the input is set again. */
lw_fmu_status lw_fmu_move(lw_fmu *fmu, const unsigned *references, size_t count, const int *orders,
                          const double *values);
double lw_fmu_time(const lw_fmu *fmu);
bool lw_fmu_terminated(const lw_fmu *fmu);

/* Model Exchange. */
lw_fmu_status lw_fmu_enter_events(lw_fmu *fmu);
lw_fmu_status lw_fmu_enter_continuous(lw_fmu *fmu);
lw_fmu_status lw_fmu_set_time(lw_fmu *fmu, double t);
lw_fmu_status lw_fmu_set_states(lw_fmu *fmu, const double *x, size_t count);
lw_fmu_status lw_fmu_states(lw_fmu *fmu, double *x, size_t count);
lw_fmu_status lw_fmu_rates(lw_fmu *fmu, double *rates, size_t count);
lw_fmu_status lw_fmu_indicators(lw_fmu *fmu, double *values, size_t count);
lw_fmu_status lw_fmu_nominals(lw_fmu *fmu, double *values, size_t count);
lw_fmu_status lw_fmu_stepped(lw_fmu *fmu, bool *event);
lw_fmu_status lw_fmu_events(lw_fmu *fmu, lw_outside_news *news);

/* Does it have directional derivatives? */
bool lw_fmu_is_differentiable(lw_fmu *fmu);
/* Directional derivatives of rates and outputs by continuous states and inputs: sensitivity = J seed. */
lw_fmu_status lw_fmu_directional(lw_fmu *fmu, const unsigned *unknown, size_t unknowns, const unsigned *known,
                                 size_t knowns, const double *seed, double *sensitivity);

/* FMU states: bytes that bring this instance, or another one of the same content and kind, back to where they
 * were taken. */
size_t lw_fmu_saved_size(lw_fmu *fmu);
lw_fmu_status lw_fmu_save(lw_fmu *fmu, void *bytes, size_t size);
lw_fmu_status lw_fmu_restore(lw_fmu *fmu, const void *bytes, size_t size);

#endif
