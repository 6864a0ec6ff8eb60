/* fmi3_functions.c - the functions of FMI 3.0, in terms of instances (src/fmu/fmu_instance.h).
 *
 * All variables are of type Float64 and scalar. A function that this FMU does not offer answers fmi3Error, and
 * says so.
 */
#include "fmu/fmi3_interface.h"

#include "fmu/fmu_instance.h"
#include "fmu_resources.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct instance {
    lw_fmu *fmu;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback logger;
    bool talks; /* events are told, not only what goes wrong */
    fmi3IntermediateUpdateCallback update;
    bool early; /* The importer lets steps return early. */
} instance;

typedef struct fmu_state {
    size_t size;
    unsigned char *bytes;
} fmu_state;

static void log_message(void *context, lw_fmu_status status, const char *category, const char *text) {
    const instance *c = context;
    if (status == LW_FMU_OK && !c->talks) return;
    if (c->logger) c->logger(c->environment, (fmi3Status)status, category, text);
}

static lw_fmu *fmu_of(fmi3Instance component) { return ((instance *)component)->fmu; }

static fmi3Status refuse(fmi3Instance component, const char *what) {
    return component ? (fmi3Status)lw_fmu_say(fmu_of(component), LW_FMU_ERROR, "%s", what) : fmi3Error;
}

#define NEEDS(component)                                                                                     \
    if (!(component)) return fmi3Error

const char *fmi3GetVersion(void) { return "3.0"; }

fmi3Status fmi3SetDebugLogging(fmi3Instance component, fmi3Boolean on, size_t count,
                               const fmi3String categories[]) {
    NEEDS(component);
    instance *c = component;
    c->talks = on && count == 0;
    for (size_t k = 0; on && k < count; k++)
        if (strcmp(categories[k], "logEvents") == 0 || strcmp(categories[k], "logAll") == 0) c->talks = true;
    return fmi3OK;
}

/* --- creation --------------------------------------------------------------------------------------- */

static fmi3Instance create(fmi3String token, fmi3String resources, bool logging, bool exchange,
                           fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger) {
    instance *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (instance){.environment = environment, .logger = logger, .talks = logging};
    char place[4200] = "the folder of resources", text[4400];
    size_t size = 0;
    void *bytes = fmu_resources_read(resources, false, &size, place, sizeof place);
    if (bytes)
        c->fmu = lw_fmu_create(bytes, size, token, exchange, log_message, c);
    else {
        snprintf(text, sizeof text, "%s cannot be read", place);
        log_message(c, LW_FMU_ERROR, "logStatusError", text);
    }
    free(bytes);
    if (c->fmu) return c;
    free(c);
    return NULL;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                          fmi3Boolean visible, fmi3Boolean logging,
                                          fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback logger) {
    (void)name, (void)visible;
    return create(token, resources, logging, true, environment, logger);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                         fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
                                         fmi3Boolean early, const fmi3ValueReference intermediate[],
                                         size_t count, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback logger,
                                         fmi3IntermediateUpdateCallback update) {
    (void)name, (void)visible, (void)intermediate, (void)count; /* All variables can be had. */
    if (!events) {
        instance *c = create(token, resources, logging, false, environment, logger);
        if (c) c->update = update, c->early = early;
        return c;
    }
    if (logger)
        logger(environment, fmi3Error, "logStatusError",
               "Co-Simulation has no event mode here (hasEventMode)");
    return NULL;
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment,
                                               fmi3LogMessageCallback logger, fmi3ClockUpdateCallback update,
                                               fmi3LockPreemptionCallback lock,
                                               fmi3UnlockPreemptionCallback unlock) {
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)update, (void)lock,
        (void)unlock;
    if (logger) logger(environment, fmi3Error, "logStatusError", "this FMU has no Scheduled Execution");
    return NULL;
}

void fmi3FreeInstance(fmi3Instance component) {
    instance *c = component;
    if (!c) return;
    lw_fmu_destroy(c->fmu);
    free(c);
}

/* --- phases ----------------------------------------------------------------------------------------- */

fmi3Status fmi3EnterInitializationMode(fmi3Instance component, fmi3Boolean has_tolerance,
                                       fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop,
                                       fmi3Float64 stop) {
    NEEDS(component);
    lw_fmu_status status = lw_fmu_setup(fmu_of(component), has_tolerance ? tolerance : (double)NAN, start,
                                        has_stop ? stop : (double)NAN);
    if (status <= LW_FMU_WARNING) status = lw_fmu_enter_initialization(fmu_of(component));
    return (fmi3Status)status;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance component) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_exit_initialization(fmu_of(component));
}

fmi3Status fmi3Terminate(fmi3Instance component) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_terminate(fmu_of(component));
}

fmi3Status fmi3Reset(fmi3Instance component) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_reset(fmu_of(component));
}

static const char no_structure[] = "there are no structural parameters";
fmi3Status fmi3EnterConfigurationMode(fmi3Instance component) { return refuse(component, no_structure); }
fmi3Status fmi3ExitConfigurationMode(fmi3Instance component) { return refuse(component, no_structure); }

/* --- values ----------------------------------------------------------------------------------------- */

static const char no_arrays[] = "every variable is one number, and as many values as references are needed";

fmi3Status fmi3GetFloat64(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                          fmi3Float64 value[], size_t values) {
    NEEDS(component);
    if (values != n) return refuse(component, no_arrays);
    return (fmi3Status)lw_fmu_get(fmu_of(component), vr, n, value);
}

fmi3Status fmi3SetFloat64(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                          const fmi3Float64 value[], size_t values) {
    NEEDS(component);
    if (values != n) return refuse(component, no_arrays);
    return (fmi3Status)lw_fmu_set(fmu_of(component), vr, n, value);
}

#define OTHER_TYPE(name)                                                                                     \
    fmi3Status fmi3Get##name(fmi3Instance component, const fmi3ValueReference vr[], size_t n,                \
                             fmi3##name value[], size_t values) {                                            \
        (void)vr, (void)value, (void)values;                                                                 \
        return n == 0 ? fmi3OK : refuse(component, "all variables are of type Float64, none is " #name);     \
    }                                                                                                        \
    fmi3Status fmi3Set##name(fmi3Instance component, const fmi3ValueReference vr[], size_t n,                \
                             const fmi3##name value[], size_t values) {                                      \
        (void)vr, (void)value, (void)values;                                                                 \
        return n == 0 ? fmi3OK : refuse(component, "all variables are of type Float64, none is " #name);     \
    }
FMI3_NUMBERS(OTHER_TYPE)

/* Of these types there are no variables either. */
static fmi3Status none(fmi3Instance component, size_t n) {
    return n == 0 ? fmi3OK : refuse(component, "all variables are of type Float64; there are no clocks");
}

fmi3Status fmi3GetBinary(fmi3Instance component, const fmi3ValueReference vr[], size_t n, size_t sizes[],
                         fmi3Binary value[], size_t values) {
    (void)vr, (void)sizes, (void)value, (void)values;
    return none(component, n);
}

fmi3Status fmi3SetBinary(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                         const size_t sizes[], const fmi3Binary value[], size_t values) {
    (void)vr, (void)sizes, (void)value, (void)values;
    return none(component, n);
}

fmi3Status fmi3GetClock(fmi3Instance component, const fmi3ValueReference vr[], size_t n, fmi3Clock value[]) {
    (void)vr, (void)value;
    return none(component, n);
}

fmi3Status fmi3SetClock(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                        const fmi3Clock value[]) {
    (void)vr, (void)value;
    return none(component, n);
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                                  fmi3Float64 value[], fmi3IntervalQualifier kinds[]) {
    (void)vr, (void)value, (void)kinds;
    return none(component, n);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                   fmi3IntervalQualifier kinds[]) {
    (void)vr, (void)counters, (void)resolutions, (void)kinds;
    return none(component, n);
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                               fmi3Float64 value[]) {
    (void)vr, (void)value;
    return none(component, n);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                                fmi3UInt64 counters[], fmi3UInt64 resolutions[]) {
    (void)vr, (void)counters, (void)resolutions;
    return none(component, n);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                                  const fmi3Float64 value[]) {
    (void)vr, (void)value;
    return none(component, n);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]) {
    (void)vr, (void)counters, (void)resolutions;
    return none(component, n);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                               const fmi3Float64 value[]) {
    (void)vr, (void)value;
    return none(component, n);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                                const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]) {
    (void)vr, (void)counters, (void)resolutions;
    return none(component, n);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance component, fmi3ValueReference clock, fmi3Float64 t) {
    (void)clock, (void)t;
    return none(component, 1);
}

static const char no_dependencies[] =
    "dependencies do not change (providesPerElementDependencies); the description has them";

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance component, fmi3ValueReference vr, size_t *count) {
    (void)vr, (void)count;
    return refuse(component, no_dependencies);
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance component, fmi3ValueReference vr, size_t elements[],
                                       fmi3ValueReference independents[], size_t of[],
                                       fmi3DependencyKind kinds[], size_t count) {
    (void)vr, (void)elements, (void)independents, (void)of, (void)kinds, (void)count;
    return refuse(component, no_dependencies);
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance component, const fmi3ValueReference unknown[],
                                        size_t unknowns, const fmi3ValueReference known[], size_t knowns,
                                        const fmi3Float64 seed[], size_t seeds, fmi3Float64 sensitivity[],
                                        size_t sensitivities) {
    NEEDS(component);
    if (seeds != knowns || sensitivities != unknowns) return refuse(component, no_arrays);
    return (fmi3Status)lw_fmu_directional(fmu_of(component), unknown, unknowns, known, knowns, seed,
                                          sensitivity);
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance component, const fmi3ValueReference unknown[],
                                    size_t unknowns, const fmi3ValueReference known[], size_t knowns,
                                    const fmi3Float64 seed[], size_t seeds, fmi3Float64 sensitivity[],
                                    size_t sensitivities) {
    (void)unknown, (void)unknowns, (void)known, (void)knowns, (void)seed, (void)seeds, (void)sensitivity,
        (void)sensitivities;
    return refuse(component, "adjoint derivatives are not offered (providesAdjointDerivatives)");
}

/* --- FMU states ------------------------------------------------------------------------------------- */

static fmu_state *make_state(size_t size) {
    fmu_state *state = malloc(sizeof *state);
    unsigned char *bytes = state ? malloc(size ? size : 1) : NULL;
    if (!bytes) {
        free(state);
        return NULL;
    }
    *state = (fmu_state){size, bytes};
    return state;
}

fmi3Status fmi3FreeFMUState(fmi3Instance component, fmi3FMUState *place) {
    NEEDS(component);
    fmu_state *state = place ? *place : NULL;
    if (state) free(state->bytes);
    free(state);
    if (place) *place = NULL;
    return fmi3OK;
}

fmi3Status fmi3GetFMUState(fmi3Instance component, fmi3FMUState *place) {
    NEEDS(component);
    lw_fmu *fmu = fmu_of(component);
    (void)fmi3FreeFMUState(component, place);
    fmu_state *state = place ? make_state(lw_fmu_saved_size(fmu)) : NULL;
    if (!state) return refuse(component, "there is no memory for an FMU state");
    *place = state;
    return (fmi3Status)lw_fmu_save(fmu, state->bytes, state->size);
}

fmi3Status fmi3SetFMUState(fmi3Instance component, fmi3FMUState place) {
    NEEDS(component);
    const fmu_state *state = place;
    if (!state) return refuse(component, "there is no FMU state");
    return (fmi3Status)lw_fmu_restore(fmu_of(component), state->bytes, state->size);
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance component, fmi3FMUState place, size_t *size) {
    NEEDS(component);
    const fmu_state *state = place;
    if (!state || !size) return refuse(component, "there is no FMU state");
    *size = state->size;
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance component, fmi3FMUState place, fmi3Byte bytes[], size_t size) {
    NEEDS(component);
    const fmu_state *state = place;
    if (!state || size < state->size) return refuse(component, "there is no FMU state, or no room for it");
    memcpy(bytes, state->bytes, state->size);
    return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance component, const fmi3Byte bytes[], size_t size,
                                   fmi3FMUState *place) {
    NEEDS(component);
    (void)fmi3FreeFMUState(component, place);
    fmu_state *state = place ? make_state(size) : NULL;
    if (!state) return refuse(component, "there is no memory for an FMU state");
    memcpy(state->bytes, bytes, size);
    *place = state;
    return fmi3OK;
}

/* --- Model Exchange --------------------------------------------------------------------------------- */

fmi3Status fmi3EnterEventMode(fmi3Instance component) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_enter_events(fmu_of(component));
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance component) {
    NEEDS(component);
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance component, fmi3Boolean *again, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals, fmi3Boolean *changed, fmi3Boolean *has_next,
                                    fmi3Float64 *next) {
    NEEDS(component);
    lw_outside_news news = {.next = HUGE_VAL};
    const fmi3Status status = (fmi3Status)lw_fmu_events(fmu_of(component), &news);
    *again = *nominals = false;
    *terminate = news.stop, *changed = news.changed;
    *has_next = isfinite(news.next);
    *next = isfinite(news.next) ? news.next : 0;
    return status;
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance component) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_enter_continuous(fmu_of(component));
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance component, fmi3Boolean keeps, fmi3Boolean *event,
                                       fmi3Boolean *terminate) {
    NEEDS(component);
    (void)keeps;
    bool wanted = false;
    const fmi3Status status = (fmi3Status)lw_fmu_stepped(fmu_of(component), &wanted);
    *event = wanted, *terminate = false;
    return status;
}

fmi3Status fmi3SetTime(fmi3Instance component, fmi3Float64 t) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_set_time(fmu_of(component), t);
}

fmi3Status fmi3SetContinuousStates(fmi3Instance component, const fmi3Float64 x[], size_t n) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_set_states(fmu_of(component), x, n);
}

fmi3Status fmi3GetContinuousStates(fmi3Instance component, fmi3Float64 x[], size_t n) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_states(fmu_of(component), x, n);
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance component, fmi3Float64 rates[], size_t n) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_rates(fmu_of(component), rates, n);
}

fmi3Status fmi3GetEventIndicators(fmi3Instance component, fmi3Float64 values[], size_t n) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_indicators(fmu_of(component), values, n);
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance component, fmi3Float64 values[], size_t n) {
    NEEDS(component);
    return (fmi3Status)lw_fmu_nominals(fmu_of(component), values, n);
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance component, size_t *count) {
    NEEDS(component);
    *count = (size_t)lw_fmu_table_of(fmu_of(component))->indicator_count;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance component, size_t *count) {
    NEEDS(component);
    *count = (size_t)lw_fmu_table_of(fmu_of(component))->state_count;
    return fmi3OK;
}

/* --- Co-Simulation ---------------------------------------------------------------------------------- */

fmi3Status fmi3EnterStepMode(fmi3Instance component) {
    return refuse(component, "Co-Simulation has no event mode here (hasEventMode)");
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance component, const fmi3ValueReference vr[], size_t n,
                                    const fmi3Int32 orders[], fmi3Float64 value[], size_t values) {
    (void)vr, (void)orders, (void)value, (void)values;
    return n == 0 ? fmi3OK : refuse(component, "derivatives of outputs are not offered");
}

/* After a step of the integrator: outputs can be had, and the importer may ask to return early. */
static void tell_update(void *context, double t, double *end) {
    const instance *c = context;
    bool wanted = false;
    double until = t;
    c->update(c->environment, t, false, true, true, c->early, &wanted, &until);
    if (wanted && c->early) *end = fmin(*end, fmax(t, until));
}

/* An event of the model that ends the run is no failure here: there is a place to say it. */
fmi3Status fmi3DoStep(fmi3Instance component, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_way_back,
                      fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last) {
    NEEDS(component);
    (void)no_way_back;
    bool terminated = false;
    const bool had_ended = lw_fmu_terminated(fmu_of(component));
    instance *c = component;
    const lw_fmu_status status = lw_fmu_step(c->fmu, t, h, &terminated, c->update ? tell_update : NULL, c);
    *event = false;
    *terminate = terminated;
    *last = lw_fmu_time(c->fmu);
    *early = status == LW_FMU_OK && *last < t + h;
    return terminated && !had_ended ? fmi3OK : (fmi3Status)status;
}
