/* fmi2_functions.c - the functions of FMI 2.0, in terms of instances (src/fmu/fmu_instance.h).
 *
 * All variables are of type Real. A function that this FMU does not offer answers fmi2Error, and says so.
 */
#include "fmu/fmi2_interface.h"

#include "fmu/fmu_instance.h"
#include "fmu_resources.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct instance {
    lw_fmu *fmu;
    const fmi2CallbackFunctions *callbacks;
    char *name;
    bool talks; /* events are told, not only what goes wrong */
} instance;

typedef struct fmu_state {
    size_t size;
    unsigned char *bytes;
} fmu_state;

static void log_message(void *context, lw_fmu_status status, const char *category, const char *text) {
    const instance *c = context;
    if (status == LW_FMU_OK && !c->talks) return;
    if (c->callbacks && c->callbacks->logger)
        c->callbacks->logger(c->callbacks->componentEnvironment, c->name, (fmi2Status)status, category, "%s",
                             text);
}

static lw_fmu *fmu_of(fmi2Component component) { return ((instance *)component)->fmu; }

static fmi2Status refuse(fmi2Component component, const char *what) {
    return component ? (fmi2Status)lw_fmu_say(fmu_of(component), LW_FMU_ERROR, "%s", what) : fmi2Error;
}

#define NEEDS(component)                                                                                     \
    if (!(component)) return fmi2Error

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }

fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean on, size_t count,
                               const fmi2String categories[]) {
    NEEDS(component);
    instance *c = component;
    c->talks = on && count == 0;
    for (size_t k = 0; on && k < count; k++)
        if (strcmp(categories[k], "logEvents") == 0 || strcmp(categories[k], "logAll") == 0) c->talks = true;
    return fmi2OK;
}

/* --- creation --------------------------------------------------------------------------------------- */

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible,
                              fmi2Boolean logging) {
    (void)visible;
    instance *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    const size_t length = name ? strlen(name) : 0;
    c->callbacks = callbacks;
    c->talks = logging;
    c->name = malloc(length + 1);
    if (c->name) {
        if (length) memcpy(c->name, name, length);
        c->name[length] = '\0';
    }
    char place[4200] = "the folder of resources", text[4400];
    size_t size = 0;
    void *bytes = c->name ? fmu_resources_read(resources, true, &size, place, sizeof place) : NULL;
    if (bytes)
        c->fmu = lw_fmu_create(bytes, size, guid, type == fmi2ModelExchange, log_message, c);
    else {
        snprintf(text, sizeof text, "%s cannot be read", place);
        log_message(c, LW_FMU_ERROR, "logStatusError", text);
    }
    free(bytes);
    if (c->fmu) return c;
    free(c->name);
    free(c);
    return NULL;
}

void fmi2FreeInstance(fmi2Component component) {
    instance *c = component;
    if (!c) return;
    lw_fmu_destroy(c->fmu);
    free(c->name);
    free(c);
}

/* --- phases ----------------------------------------------------------------------------------------- */

fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean has_tolerance, fmi2Real tolerance,
                               fmi2Real start, fmi2Boolean has_stop, fmi2Real stop) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_setup(fmu_of(component), has_tolerance ? tolerance : (double)NAN, start,
                                    has_stop ? stop : (double)NAN);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component component) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_enter_initialization(fmu_of(component));
}

fmi2Status fmi2ExitInitializationMode(fmi2Component component) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_exit_initialization(fmu_of(component));
}

fmi2Status fmi2Terminate(fmi2Component component) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_terminate(fmu_of(component));
}

fmi2Status fmi2Reset(fmi2Component component) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_reset(fmu_of(component));
}

/* --- values ----------------------------------------------------------------------------------------- */

fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_get(fmu_of(component), vr, n, value);
}

fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                       const fmi2Real value[]) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_set(fmu_of(component), vr, n, value);
}

#define OTHER_TYPE(name, type)                                                                               \
    fmi2Status fmi2Get##name(fmi2Component component, const fmi2ValueReference vr[], size_t n,               \
                             type value[]) {                                                                 \
        (void)vr, (void)value;                                                                               \
        return n == 0 ? fmi2OK : refuse(component, "all variables are of type Real, none is " #name);        \
    }                                                                                                        \
    fmi2Status fmi2Set##name(fmi2Component component, const fmi2ValueReference vr[], size_t n,               \
                             const type value[]) {                                                           \
        (void)vr, (void)value;                                                                               \
        return n == 0 ? fmi2OK : refuse(component, "all variables are of type Real, none is " #name);        \
    }
OTHER_TYPE(Integer, fmi2Integer)
OTHER_TYPE(Boolean, fmi2Boolean)
OTHER_TYPE(String, fmi2String)

fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknown[],
                                        size_t unknowns, const fmi2ValueReference known[], size_t knowns,
                                        const fmi2Real seed[], fmi2Real sensitivity[]) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_directional(fmu_of(component), unknown, unknowns, known, knowns, seed,
                                          sensitivity);
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

fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *place) {
    NEEDS(component);
    fmu_state *state = place ? *place : NULL;
    if (state) free(state->bytes);
    free(state);
    if (place) *place = NULL;
    return fmi2OK;
}

fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *place) {
    NEEDS(component);
    lw_fmu *fmu = fmu_of(component);
    fmi2Status status = fmi2FreeFMUstate(component, place);
    fmu_state *state = place ? make_state(lw_fmu_saved_size(fmu)) : NULL;
    if (!state) return refuse(component, "there is no memory for an FMU state");
    status = (fmi2Status)lw_fmu_save(fmu, state->bytes, state->size);
    *place = state;
    return status;
}

fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate place) {
    NEEDS(component);
    const fmu_state *state = place;
    if (!state) return refuse(component, "there is no FMU state");
    return (fmi2Status)lw_fmu_restore(fmu_of(component), state->bytes, state->size);
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate place, size_t *size) {
    NEEDS(component);
    const fmu_state *state = place;
    if (!state || !size) return refuse(component, "there is no FMU state");
    *size = state->size;
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate place, fmi2Byte bytes[], size_t size) {
    NEEDS(component);
    const fmu_state *state = place;
    if (!state || size < state->size) return refuse(component, "there is no FMU state, or no room for it");
    memcpy(bytes, state->bytes, state->size);
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size,
                                   fmi2FMUstate *place) {
    NEEDS(component);
    (void)fmi2FreeFMUstate(component, place);
    fmu_state *state = place ? make_state(size) : NULL;
    if (!state) return refuse(component, "there is no memory for an FMU state");
    memcpy(state->bytes, bytes, size);
    *place = state;
    return fmi2OK;
}

/* --- Model Exchange --------------------------------------------------------------------------------- */

fmi2Status fmi2EnterEventMode(fmi2Component component) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_enter_events(fmu_of(component));
}

fmi2Status fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo *info) {
    NEEDS(component);
    lw_outside_news news = {.next = HUGE_VAL};
    *info = (fmi2EventInfo){0};
    const fmi2Status status = (fmi2Status)lw_fmu_events(fmu_of(component), &news);
    info->terminateSimulation = news.stop;
    info->valuesOfContinuousStatesChanged = news.changed;
    info->nextEventTimeDefined = isfinite(news.next);
    info->nextEventTime = isfinite(news.next) ? news.next : 0;
    return status;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component component) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_enter_continuous(fmu_of(component));
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component component, fmi2Boolean keeps, fmi2Boolean *event,
                                       fmi2Boolean *terminate) {
    NEEDS(component);
    (void)keeps;
    bool wanted = false;
    const fmi2Status status = (fmi2Status)lw_fmu_stepped(fmu_of(component), &wanted);
    *event = wanted, *terminate = fmi2False;
    return status;
}

fmi2Status fmi2SetTime(fmi2Component component, fmi2Real t) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_set_time(fmu_of(component), t);
}

fmi2Status fmi2SetContinuousStates(fmi2Component component, const fmi2Real x[], size_t n) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_set_states(fmu_of(component), x, n);
}

fmi2Status fmi2GetContinuousStates(fmi2Component component, fmi2Real x[], size_t n) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_states(fmu_of(component), x, n);
}

fmi2Status fmi2GetDerivatives(fmi2Component component, fmi2Real rates[], size_t n) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_rates(fmu_of(component), rates, n);
}

fmi2Status fmi2GetEventIndicators(fmi2Component component, fmi2Real values[], size_t n) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_indicators(fmu_of(component), values, n);
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component component, fmi2Real values[], size_t n) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_nominals(fmu_of(component), values, n);
}

/* --- Co-Simulation ---------------------------------------------------------------------------------- */

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real t, fmi2Real h, fmi2Boolean no_way_back) {
    NEEDS(component);
    (void)no_way_back;
    bool terminated;
    return (fmi2Status)lw_fmu_step(fmu_of(component), t, h, &terminated, NULL, NULL);
}

fmi2Status fmi2CancelStep(fmi2Component component) {
    return refuse(component, "steps are taken while the caller waits; there is none to cancel");
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[]) {
    NEEDS(component);
    return (fmi2Status)lw_fmu_move(fmu_of(component), vr, n, order, value);
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[]) {
    (void)vr, (void)order, (void)value;
    return n == 0 ? fmi2OK : refuse(component, "derivatives of outputs are not offered");
}

fmi2Status fmi2GetStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Status *value) {
    NEEDS(component);
    if (kind != fmi2DoStepStatus) return refuse(component, "no such status");
    *value = fmi2OK; /* No step is pending. */
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Real *value) {
    NEEDS(component);
    if (kind != fmi2LastSuccessfulTime) return refuse(component, "no such status");
    *value = lw_fmu_time(fmu_of(component));
    return fmi2OK;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean *value) {
    NEEDS(component);
    if (kind != fmi2Terminated) return refuse(component, "no such status");
    *value = lw_fmu_terminated(fmu_of(component));
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Integer *value) {
    (void)kind, (void)value;
    return refuse(component, "no such status");
}

fmi2Status fmi2GetStringStatus(fmi2Component component, const fmi2StatusKind kind, fmi2String *value) {
    NEEDS(component);
    if (kind != fmi2PendingStatus) return refuse(component, "no such status");
    *value = "";
    return fmi2OK;
}
