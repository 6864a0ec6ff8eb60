/* fmu_calls.c - the calls of an importer of FMUs, for Linux and for Windows: the description, the library, the
 * functions of both standards under one name, and Model Exchange by the classical Runge-Kutta method.
 */
#define _GNU_SOURCE
#include "fmu_importer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

/* --- the description -------------------------------------------------------------------------------- */

bool importer_attribute(const char *from, const char *end, const char *name, char *value, size_t size) {
    char key[64];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *at = strstr(from, key);
    if (!at || (end && at > end)) return false;
    at += strlen(key);
    snprintf(value, size, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

const char *importer_variable(const importer *fmu, const char *name) {
    char key[256];
    snprintf(key, sizeof key, " name=\"%s\" valueReference=", name);
    return strstr(fmu->description, key);
}

static int count(const char *text, const char *word) {
    int n = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) n++;
    return n;
}

bool importer_describe(importer *fmu) {
    const bool two = fmu->version == 2;
    char value[32] = "0";
    fmu->states = count(fmu->description, " derivative=\"");
    if (two) importer_attribute(fmu->description, NULL, "numberOfEventIndicators", value, sizeof value);
    fmu->indicators = two ? atoi(value) : count(fmu->description, "<EventIndicator ");
    return importer_attribute(fmu->description, NULL, two ? "guid" : "instantiationToken", fmu->token,
                              sizeof fmu->token) &&
           importer_attribute(fmu->description, NULL, "modelIdentifier", fmu->identifier,
                              sizeof fmu->identifier);
}

/* --- the library ------------------------------------------------------------------------------------- */

#ifdef _WIN32
static void *open_library(const char *path, char *fault, size_t size) {
    void *library = (void *)LoadLibraryA(path);
    if (!library)
        snprintf(fault, size, "%s cannot be loaded: error %lu", path, (unsigned long)GetLastError());
    return library;
}
static void *symbol_of(void *library, const char *name) {
    FARPROC found = GetProcAddress((HMODULE)library, name);
    void *symbol;
    memcpy(&symbol, &found, sizeof symbol);
    return symbol;
}
static bool close_library(void *library) { return FreeLibrary((HMODULE)library) != 0; }
#else
static void *open_library(const char *path, char *fault, size_t size) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) snprintf(fault, size, "%s", dlerror());
    return library;
}
static void *symbol_of(void *library, const char *name) { return dlsym(library, name); }
static bool close_library(void *library) { return dlclose(library) == 0; }
#endif

bool importer_load_library(importer *fmu, const char *path, char *fault, size_t size) {
    void *symbol;
    fmu->library = open_library(path, fault, size);
    if (!fmu->library) return false;
#define FIND(name)                                                                                           \
    symbol = symbol_of(fmu->library, name);                                                                  \
    if (!symbol) {                                                                                           \
        snprintf(fault, size, "%s has no function %s", path, name);                                          \
        return false;                                                                                        \
    }
#define LOAD2(result, name, arguments) FIND("fmi2" #name) memcpy(&fmu->f.two_##name, &symbol, sizeof symbol);
#define LOAD3(result, name, arguments)                                                                       \
    FIND("fmi3" #name) memcpy(&fmu->f.three_##name, &symbol, sizeof symbol);
#define LOAD_NUMBERS(name) FIND("fmi3Get" #name) FIND("fmi3Set" #name)
    FMI2_FUNCTIONS(LOAD2)
    FMI3_FUNCTIONS(LOAD3)
    FMI3_NUMBERS(LOAD_NUMBERS)
    return true;
}

bool importer_unload_library(importer *fmu) {
    const bool closed = !fmu->library || close_library(fmu->library);
    fmu->library = NULL;
    return closed;
}

/* --- calls ------------------------------------------------------------------------------------------ */

static void logger2(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status,
                    fmi2String category, fmi2String format, ...) {
    importer_instance *i = environment;
    va_list arguments;
    (void)name, (void)status, (void)category;
    va_start(arguments, format);
    vsnprintf(i->last, sizeof i->last, format, arguments);
    va_end(arguments);
    i->messages++;
}

static void logger3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                    fmi3String text) {
    importer_instance *i = environment;
    (void)status, (void)category;
    snprintf(i->last, sizeof i->last, "%s", text);
    i->messages++;
}

/* The folder of resources as a URI, in which what is no letter, digit or sign of a path is coded. */
static void write_uri(const char *folder, char *uri, size_t size) {
    size_t used = (size_t)snprintf(uri, size, folder[0] == '/' ? "file://" : "file:///");
    for (; *folder && used + 16 < size; folder++) {
        const bool plain = strchr("/:.-_~\\", *folder) || (*folder >= '0' && *folder <= '9') ||
                           (*folder >= 'a' && *folder <= 'z') || (*folder >= 'A' && *folder <= 'Z');
        used += (size_t)snprintf(uri + used, size - used, plain ? "%c" : "%%%02X", (unsigned char)*folder);
    }
    snprintf(uri + used, size - used, "/resources");
}

static bool is_two(const importer_instance *i) { return i->fmu->version == 2; }

bool importer_instantiate(const importer *fmu, bool exchange, importer_instance *i) {
    char place[1600];
    memset(i, 0, sizeof *i); /* The callbacks are constant members. */
    i->fmu = fmu, i->exchange = exchange;
    const importer_functions *f = &fmu->f;
    if (fmu->version == 2) {
        const fmi2CallbackFunctions own = {logger2, calloc, free, NULL, i};
        memcpy(&i->callbacks, &own, sizeof own);
        write_uri(fmu->folder, place, sizeof place);
        i->c = f->two_Instantiate("test", exchange ? fmi2ModelExchange : fmi2CoSimulation, fmu->token, place,
                                  &i->callbacks, fmi2False, fmi2False);
        return i->c != NULL;
    }
    snprintf(place, sizeof place, "%s/resources/", fmu->folder);
    i->c = exchange ? f->three_InstantiateModelExchange("test", fmu->token, place, false, false, i, logger3)
                    : f->three_InstantiateCoSimulation("test", fmu->token, place, false, false, false, false,
                                                       NULL, 0, i, logger3, NULL);
    return i->c != NULL;
}

void importer_free(importer_instance *i) {
    if (!is_two(i)) {
        i->fmu->f.three_FreeInstance(i->c);
        return;
    }
    i->fmu->f.two_FreeInstance(i->c);
}

int importer_enter(importer_instance *i, double start, double stop, double tolerance) {
    const importer_functions *f = &i->fmu->f;
    if (!is_two(i))
        return f->three_EnterInitializationMode(i->c, isfinite(tolerance),
                                                isfinite(tolerance) ? tolerance : 0, start, isfinite(stop),
                                                isfinite(stop) ? stop : 0);
    const int status = f->two_SetupExperiment(i->c, isfinite(tolerance), isfinite(tolerance) ? tolerance : 0,
                                              start, isfinite(stop), isfinite(stop) ? stop : 0);
    return status ? status : (int)f->two_EnterInitializationMode(i->c);
}

#define CALL(name, ...)                                                                                      \
    (is_two(i) ? (int)i->fmu->f.two_##name(__VA_ARGS__) : (int)i->fmu->f.three_##name(__VA_ARGS__))
int importer_exit(importer_instance *i) { return CALL(ExitInitializationMode, i->c); }
int importer_terminate(importer_instance *i) { return CALL(Terminate, i->c); }
int importer_reset(importer_instance *i) { return CALL(Reset, i->c); }
int importer_time(importer_instance *i, double t) { return CALL(SetTime, i->c, t); }
int importer_continue(importer_instance *i) { return CALL(EnterContinuousTimeMode, i->c); }

int importer_get(importer_instance *i, unsigned reference, double *value) {
    if (is_two(i)) return i->fmu->f.two_GetReal(i->c, &reference, 1, value);
    return i->fmu->f.three_GetFloat64(i->c, &reference, 1, value, 1);
}

int importer_set(importer_instance *i, unsigned reference, double value) {
    if (is_two(i)) return i->fmu->f.two_SetReal(i->c, &reference, 1, &value);
    return i->fmu->f.three_SetFloat64(i->c, &reference, 1, &value, 1);
}

int importer_move(importer_instance *i, unsigned reference, int order, double value) {
    return i->fmu->f.two_SetRealInputDerivatives(i->c, &reference, 1, &order, &value);
}

static void updated(fmi3InstanceEnvironment environment, double t, bool set, bool get, bool finished,
                    bool can_return, bool *wanted, double *until) {
    importer_instance *i = environment;
    importer_updates *u = i->updates;
    (void)set;
    u->t = t, u->count++;
    if (!get || !finished || importer_get(i, u->reference, &u->value) != 0) u->value = (double)NAN;
    *wanted = can_return && ((u->most > 0 && u->count >= u->most) || u->until > t);
    *until = u->until > t ? u->until : t;
}

bool importer_instantiate_watched(const importer *fmu, importer_updates *updates, importer_instance *i) {
    char place[700];
    memset(i, 0, sizeof *i);
    i->fmu = fmu, i->updates = updates;
    snprintf(place, sizeof place, "%s/resources/", fmu->folder);
    i->c = fmu->f.three_InstantiateCoSimulation("test", fmu->token, place, false, false, false, true,
                                                &updates->reference, 1, i, logger3, updated);
    return i->c != NULL;
}

int importer_step_watched(importer_instance *i, double t, double h, bool *early, double *last) {
    bool event, stop;
    return i->fmu->f.three_DoStep(i->c, t, h, false, &event, &stop, early, last);
}

int importer_step(importer_instance *i, double t, double h, bool *terminated) {
    *terminated = false;
    if (is_two(i)) {
        const int status = i->fmu->f.two_DoStep(i->c, t, h, fmi2False);
        fmi2Boolean ended = fmi2False;
        if (status == fmi2Discard) i->fmu->f.two_GetBooleanStatus(i->c, fmi2Terminated, &ended);
        *terminated = ended;
        return ended ? 0 : status;
    }
    bool event, early;
    double last;
    return i->fmu->f.three_DoStep(i->c, t, h, false, &event, terminated, &early, &last);
}

int importer_save(importer_instance *i, void **state) {
    return is_two(i) ? (int)i->fmu->f.two_GetFMUstate(i->c, state)
                     : (int)i->fmu->f.three_GetFMUState(i->c, state);
}

int importer_restore(importer_instance *i, void *state) {
    return is_two(i) ? (int)i->fmu->f.two_SetFMUstate(i->c, state)
                     : (int)i->fmu->f.three_SetFMUState(i->c, state);
}

void importer_forget(importer_instance *i, void **state) {
    if (is_two(i))
        i->fmu->f.two_FreeFMUstate(i->c, state);
    else
        i->fmu->f.three_FreeFMUState(i->c, state);
}

size_t importer_serialise(importer_instance *i, void *state, void *bytes, size_t room) {
    size_t size = 0;
    int status = is_two(i) ? (int)i->fmu->f.two_SerializedFMUstateSize(i->c, state, &size)
                           : (int)i->fmu->f.three_SerializedFMUStateSize(i->c, state, &size);
    if (status != 0) return 0;
    if (bytes && room >= size)
        status = is_two(i) ? (int)i->fmu->f.two_SerializeFMUstate(i->c, state, bytes, room)
                           : (int)i->fmu->f.three_SerializeFMUState(i->c, state, bytes, room);
    return status == 0 ? size : 0;
}

int importer_deserialise(importer_instance *i, const void *bytes, size_t size, void **state) {
    return is_two(i) ? (int)i->fmu->f.two_DeSerializeFMUstate(i->c, bytes, size, state)
                     : (int)i->fmu->f.three_DeserializeFMUState(i->c, bytes, size, state);
}

int importer_directional(importer_instance *i, const unsigned *unknown, size_t unknowns,
                         const unsigned *known, size_t knowns, const double *seed, double *out) {
    return is_two(i) ? (int)i->fmu->f.two_GetDirectionalDerivative(i->c, unknown, unknowns, known, knowns,
                                                                   seed, out)
                     : (int)i->fmu->f.three_GetDirectionalDerivative(i->c, unknown, unknowns, known, knowns,
                                                                     seed, knowns, out, unknowns);
}

/* --- Model Exchange --------------------------------------------------------------------------------- */

int importer_states(importer_instance *i, double *x) {
    return CALL(GetContinuousStates, i->c, x, (size_t)i->fmu->states);
}

int importer_set_states(importer_instance *i, const double *x) {
    return CALL(SetContinuousStates, i->c, x, (size_t)i->fmu->states);
}

int importer_rates(importer_instance *i, double *rates) {
    const size_t n = (size_t)i->fmu->states;
    return is_two(i) ? (int)i->fmu->f.two_GetDerivatives(i->c, rates, n)
                     : (int)i->fmu->f.three_GetContinuousStateDerivatives(i->c, rates, n);
}

int importer_roots(importer_instance *i, double *values) {
    return CALL(GetEventIndicators, i->c, values, (size_t)i->fmu->indicators);
}

int importer_completed(importer_instance *i, bool *event) {
    if (is_two(i)) {
        fmi2Boolean wanted, stop;
        const int status = i->fmu->f.two_CompletedIntegratorStep(i->c, fmi2True, &wanted, &stop);
        *event = wanted;
        return status;
    }
    bool stop;
    return i->fmu->f.three_CompletedIntegratorStep(i->c, true, event, &stop);
}

int importer_events(importer_instance *i, importer_news *news) {
    *news = (importer_news){.next = HUGE_VAL};
    if (is_two(i)) {
        fmi2EventInfo info;
        const int status = i->fmu->f.two_NewDiscreteStates(i->c, &info);
        if (info.newDiscreteStatesNeeded) return fmi2Error; /* Ours need one call. */
        news->stop = info.terminateSimulation, news->changed = info.valuesOfContinuousStatesChanged;
        if (info.nextEventTimeDefined) news->next = info.nextEventTime;
        return status;
    }
    bool again, nominals, has_next;
    double next;
    const int status = i->fmu->f.three_UpdateDiscreteStates(i->c, &again, &news->stop, &nominals,
                                                            &news->changed, &has_next, &next);
    if (again) return fmi3Error;
    if (has_next) news->next = next;
    return status;
}

typedef struct stepper {
    importer_instance *i;
    int n, m;
    double *x, *y, *k[4], *before, *after;
} stepper;

/* One step of h from x at t into y; leaves the FMU there. */
static bool runge_kutta(stepper *s, double t, double h) {
    static const double at[4] = {0, 0.5, 0.5, 1};
    for (int stage = 0; stage < 4; stage++) {
        for (int k = 0; k < s->n; k++) s->y[k] = s->x[k] + (stage ? at[stage] * h * s->k[stage - 1][k] : 0);
        if (importer_time(s->i, t + at[stage] * h) || importer_set_states(s->i, s->y) ||
            importer_rates(s->i, s->k[stage]))
            return false;
    }
    for (int k = 0; k < s->n; k++)
        s->y[k] = s->x[k] + h / 6 * (s->k[0][k] + 2 * s->k[1][k] + 2 * s->k[2][k] + s->k[3][k]);
    return !importer_time(s->i, t + h) && !importer_set_states(s->i, s->y);
}

static bool crossed(const stepper *s) {
    for (int k = 0; k < s->m; k++)
        if ((s->before[k] > 0) != (s->after[k] > 0)) return true;
    return false;
}

int importer_integrate(importer_instance *i, double start, double end, double h, double *stopped) {
    const size_t n = (size_t)i->fmu->states + 1, m = (size_t)i->fmu->indicators + 1;
    stepper s = {.i = i, .n = i->fmu->states, .m = i->fmu->indicators};
    double *memory = calloc(6 * n + 2 * m, sizeof *memory);
    s.x = memory, s.y = memory + n, s.before = memory + 6 * n, s.after = s.before + m;
    for (int k = 0; k < 4; k++) s.k[k] = memory + (size_t)(2 + k) * n;
    importer_news news;
    double t = start;
    int events = 0;
    bool good = !importer_events(i, &news) && !importer_continue(i) && !importer_states(i, s.x);
    while (good && t < end - 1e-13 * (end - start)) {
        double step = fmin(h, fmin(end, news.next) - t);
        const bool timed = t + step >= news.next;
        good = !importer_roots(i, s.before) && runge_kutta(&s, t, step) && !importer_roots(i, s.after);
        bool located = false;
        if (good && crossed(&s)) {
            double low = 0, high = step;
            for (int k = 0; k < 60 && good && high - low > 1e-15 * fmax(1, t); k++) {
                const double middle = 0.5 * (low + high);
                good = runge_kutta(&s, t, middle) && !importer_roots(i, s.after);
                if (crossed(&s))
                    high = middle;
                else
                    low = middle;
            }
            good = good && runge_kutta(&s, t, high);
            step = high, located = true;
        }
        t = located ? t + step : timed ? news.next : t + step;
        good = good && !importer_time(i, t);
        bool wanted = false;
        good = good && !importer_completed(i, &wanted);
        memcpy(s.x, s.y, (size_t)s.n * sizeof *s.x);
        if (good && (wanted || located || timed)) {
            events += located || timed;
            const int entered = is_two(i) ? (int)i->fmu->f.two_EnterEventMode(i->c)
                                          : (int)i->fmu->f.three_EnterEventMode(i->c);
            good = !entered && !importer_events(i, &news);
            if (good && news.stop) {
                if (stopped) *stopped = t;
                break;
            }
            good = good && !importer_continue(i) && !importer_states(i, s.x);
        }
    }
    free(memory);
    return good ? events : -1;
}
