/* fmu_importer.h - an importer of FMUs for tests: unpacks, loads, and calls FMI 2.0 and 3.0 through one set of
 * functions, so that each test runs with both.
 */
#ifndef FMU_IMPORTER_H
#define FMU_IMPORTER_H

#include "fmu/fmi2_interface.h"
#include "fmu/fmi3_interface.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct importer_functions {
#define MEMBER2(result, name, arguments) fmi2##name##TYPE *two_##name;
#define MEMBER3(result, name, arguments) fmi3##name##TYPE *three_##name;
    FMI2_FUNCTIONS(MEMBER2) FMI3_FUNCTIONS(MEMBER3)
} importer_functions;

typedef struct importer {
    int version;
    char folder[512];  /* where it has been unpacked */
    char *description; /* modelDescription.xml */
    char token[128], identifier[128];
    void *library;
    importer_functions f;
    int states, indicators;
} importer;

/* Without a test around it (fmu_calls.c): reads token, identifier and numbers from the description that is
 * there; loads a library with all functions of both standards, or says in fault why not. */
bool importer_describe(importer *fmu);
bool importer_load_library(importer *fmu, const char *path, char *fault, size_t size);
bool importer_unload_library(importer *fmu);
/* The element of a variable in the description; NULL: there is none. An attribute from there on, before end. */
const char *importer_variable(const importer *fmu, const char *name);
bool importer_attribute(const char *from, const char *end, const char *name, char *value, size_t size);

/* Exports a model file as an FMU with the runtime of this build, unpacks it below the working folder, and loads
 * it. settings: "name=value" with commas between, or NULL. Fails the test if that cannot be done. */
void importer_open(importer *fmu, const char *model, int version, const char *settings);
/* Loads and unloads its library. */
void importer_load(importer *fmu);
void importer_unload(importer *fmu);
void importer_close(importer *fmu);
/* The value reference of a variable; fails the test if there is none. */
unsigned importer_reference(const importer *fmu, const char *name);
/* Its start value in the description; NAN: none. */
double importer_start(const importer *fmu, const char *name);

/* An instance. Functions return the status, 0 is OK. */
typedef struct importer_instance {
    const importer *fmu;
    void *c;
    bool exchange;
    fmi2CallbackFunctions callbacks;
    int messages;
    char last[512]; /* message */
    struct importer_updates *updates;
} importer_instance;

bool importer_instantiate(const importer *fmu, bool exchange, importer_instance *instance);
void importer_free(importer_instance *instance);
/* Enters and leaves initialisation; stop and tolerance: NAN for none. */
int importer_enter(importer_instance *i, double start, double stop, double tolerance);
int importer_exit(importer_instance *i);
int importer_get(importer_instance *i, unsigned reference, double *value);
int importer_set(importer_instance *i, unsigned reference, double value);
/* FMI 2.0: the derivative of an input by time. */
int importer_move(importer_instance *i, unsigned reference, int order, double value);
/* FMI 3.0: an instance of Co-Simulation with intermediate updates; those steps return early after `most`
 * updates, or at the time `until` if that is more than 0. */
typedef struct importer_updates {
    importer_instance *instance;
    unsigned reference; /* of a variable to read in each, */
    double t, value;    /* and what it was */
    int count, most;
    double until;
} importer_updates;
bool importer_instantiate_watched(const importer *fmu, importer_updates *updates, importer_instance *i);
int importer_step_watched(importer_instance *i, double t, double h, bool *early, double *last);
int importer_step(importer_instance *i, double t, double h, bool *terminated);
int importer_save(importer_instance *i, void **state);
int importer_restore(importer_instance *i, void *state);
void importer_forget(importer_instance *i, void **state);
size_t importer_serialise(importer_instance *i, void *state, void *bytes, size_t room);
int importer_deserialise(importer_instance *i, const void *bytes, size_t size, void **state);
int importer_terminate(importer_instance *i);
int importer_reset(importer_instance *i);
int importer_directional(importer_instance *i, const unsigned *unknown, size_t unknowns,
                         const unsigned *known, size_t knowns, const double *seed, double *out);

typedef struct importer_news {
    bool stop, changed;
    double next; /* infinite: none */
} importer_news;
int importer_time(importer_instance *i, double t);
int importer_states(importer_instance *i, double *x);
int importer_set_states(importer_instance *i, const double *x);
int importer_rates(importer_instance *i, double *rates);
int importer_roots(importer_instance *i, double *values);
int importer_completed(importer_instance *i, bool *event);
int importer_events(importer_instance *i, importer_news *news);
int importer_continue(importer_instance *i);

/* Model Exchange from start to end by the classical Runge-Kutta method with steps of at most h, with state
 * events by bisection and time events. Returns the number of events; -1: something failed. stopped (may be
 * NULL): the FMU has ended the run, at that time. */
int importer_integrate(importer_instance *i, double start, double end, double h, double *stopped);

#endif
