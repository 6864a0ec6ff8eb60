/* platform_probe.c - what an unpacked FMU computes, for Linux and for Windows: the same program is built for
 * both, and tests/fmu/test_windows.sh compares what they print.
 *
 * Co-Simulation with steps of several lengths, back to an FMU state, to its bytes in another instance, and on
 * threads; Model Exchange with events; directional derivatives; an instance with the token of another FMU.
 *
 * Call, in the folder where it has been unpacked: fmu-probe LIBRARY VERSION END
 */
#define _POSIX_C_SOURCE 200809L
#include "fmu_importer.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

enum { MOST = 512, STEPS = 20 };

typedef struct variables {
    int count;
    unsigned references[MOST];
    char names[MOST][128];
} variables;

static int fail(const char *what, const char *why) {
    printf("failed: %s: %s\n", what, why);
    return 1;
}

/* The working folder, in UTF-8. */
static bool find_folder(char *folder, int size) {
#ifdef _WIN32
    WCHAR wide[512];
    return GetCurrentDirectoryW(512, wide) &&
           WideCharToMultiByte(CP_UTF8, 0, wide, -1, folder, size, NULL, NULL);
#else
    return getcwd(folder, (size_t)size) != NULL;
#endif
}

static bool read_description(importer *fmu) {
    FILE *file = fopen("modelDescription.xml", "rb");
    size_t room = 1 << 20, used = 0;
    fmu->description = calloc(room, 1);
    if (file && fmu->description) used = fread(fmu->description, 1, room - 1, file);
    if (file) fclose(file);
    return used > 0 && used < room - 1 && importer_describe(fmu);
}

/* All outputs, one element a line. */
static void list_outputs(const importer *fmu, variables *list) {
    const char *line = fmu->description;
    char number[32];
    while (line && list->count < MOST) {
        const char *end = strchr(line, '\n'), *found = strstr(line, " causality=\"output\"");
        if (!end) break;
        if (found && found < end && importer_attribute(line, end, "valueReference", number, sizeof number) &&
            importer_attribute(line, end, "name", list->names[list->count], sizeof list->names[0]))
            list->references[list->count++] = (unsigned)strtoul(number, NULL, 10);
        line = end + 1;
    }
}

static bool read_values(importer_instance *i, const variables *list, double *values) {
    for (int k = 0; k < list->count; k++)
        if (importer_get(i, list->references[k], &values[k]) > 1) return false;
    return true;
}

static void show(const char *kind, double t, const variables *list, const double *values) {
    for (int k = 0; k < list->count; k++) printf("%s %.9g %s %.17g\n", kind, t, list->names[k], values[k]);
}

/* Communication steps of three lengths from t on; the time reached. */
static double take_steps(importer_instance *i, double t, double end, int steps, bool *good, bool *ended) {
    static const double parts[3] = {0.5, 1, 1.5};
    for (int k = 0; k < steps && *good && !*ended; k++) {
        const double h = end / STEPS * parts[k % 3];
        *good = importer_step(i, t, h, ended) == 0;
        t += h;
    }
    return t;
}

static int co_simulate(const importer *fmu, const variables *list, double end) {
    static importer_instance i, other;
    static double values[3][MOST];
    bool good = true, ended = false;
    void *state = NULL, *copy = NULL;
    if (!importer_instantiate(fmu, false, &i)) return fail("Co-Simulation", i.last);
    if (importer_enter(&i, 0, NAN, NAN) > 1 || importer_exit(&i) > 1) return fail("initialisation", i.last);
    double t = take_steps(&i, 0, end, STEPS / 2, &good, &ended);
    if (!good || !read_values(&i, list, values[0])) return fail("a step", i.last);
    show("cs", t, list, values[0]);
    if (!ended && importer_save(&i, &state)) return fail("taking a state", i.last);
    if (!ended) {
        const double middle = t;
        t = take_steps(&i, middle, end, STEPS / 2, &good, &ended);
        if (!good || !read_values(&i, list, values[0])) return fail("a step", i.last);
        show("cs", t, list, values[0]);
        ended = false;
        if (importer_restore(&i, state)) return fail("going back", i.last);
        (void)take_steps(&i, middle, end, STEPS / 2, &good, &ended);
        if (!good || !read_values(&i, list, values[1])) return fail("a step again", i.last);
        const size_t size = importer_serialise(&i, state, NULL, 0);
        void *bytes = malloc(size + 1);
        if (!bytes || importer_serialise(&i, state, bytes, size) != size) return fail("bytes", i.last);
        if (!importer_instantiate(fmu, false, &other)) return fail("another instance", other.last);
        if (importer_enter(&other, 0, NAN, NAN) > 1 || importer_exit(&other) > 1 ||
            importer_deserialise(&other, bytes, size, &copy) || importer_restore(&other, copy))
            return fail("a state from bytes", other.last);
        ended = false;
        (void)take_steps(&other, middle, end, STEPS / 2, &good, &ended);
        if (!good || !read_values(&other, list, values[2])) return fail("a step from bytes", other.last);
        const size_t all = (size_t)list->count * sizeof values[0][0];
        if (memcmp(values[0], values[1], all) != 0 || memcmp(values[0], values[2], all) != 0)
            return fail("going back", "other bits");
        importer_forget(&other, &copy);
        importer_forget(&i, &state);
        importer_free(&other);
        free(bytes);
    }
    if (importer_terminate(&i) > 1) return fail("the end", i.last);
    importer_free(&i);
    return 0;
}

/* Eight instances on four threads have the bits of one alone. */
typedef struct job {
    const importer *fmu;
    const variables *list;
    double end, values[2][MOST];
    bool good;
} job;

static void *work(void *context) {
    job *j = context;
    importer_instance i[2];
    bool good = true, ended[2] = {false, false};
    double t = 0;
    for (int k = 0; k < 2; k++)
        if (!importer_instantiate(j->fmu, false, &i[k])) return NULL;
    for (int k = 0; k < 2; k++)
        good = good && importer_enter(&i[k], 0, NAN, NAN) <= 1 && importer_exit(&i[k]) <= 1;
    for (int n = 0; n < STEPS && good && !ended[0]; n++) {
        for (int k = 0; k < 2 && good; k++) good = importer_step(&i[k], t, j->end / STEPS, &ended[k]) == 0;
        t += j->end / STEPS;
    }
    for (int k = 0; k < 2 && good; k++) good = read_values(&i[k], j->list, j->values[k]);
    for (int k = 0; k < 2; k++) importer_free(&i[k]);
    j->good = good;
    return NULL;
}

static int on_threads(const importer *fmu, const variables *list, double end) {
    static job jobs[5];
    pthread_t threads[4];
    for (int k = 0; k < 5; k++) jobs[k] = (job){.fmu = fmu, .list = list, .end = end};
    (void)work(&jobs[4]);
    for (int k = 0; k < 4; k++)
        if (pthread_create(&threads[k], NULL, work, &jobs[k]) != 0) return fail("threads", "none was made");
    for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL);
    const size_t all = (size_t)list->count * sizeof(double);
    for (int k = 0; k < 8; k++)
        if (!jobs[k / 2].good || !jobs[4].good ||
            memcmp(jobs[k / 2].values[k % 2], jobs[4].values[0], all) != 0)
            return fail("threads", "an instance has other bits than one alone");
    return 0;
}

static int exchange(const importer *fmu, const variables *list, double end) {
    static importer_instance i;
    static double values[MOST];
    char number[32];
    if (!importer_instantiate(fmu, true, &i)) return fail("Model Exchange", i.last);
    if (importer_enter(&i, 0, end, NAN) > 1 || importer_exit(&i) > 1) return fail("initialisation", i.last);
    const int events = importer_integrate(&i, 0, end, end / 500, NULL);
    if (events < 0 || !read_values(&i, list, values)) return fail("Model Exchange", i.last);
    show("me", end, list, values);
    printf("events %d\n", events);
    const char *offered =
        fmu->version == 2 ? "providesDirectionalDerivative" : "providesDirectionalDerivatives";
    if (importer_attribute(fmu->description, NULL, offered, number, sizeof number)) {
        unsigned states[MOST];
        double seed[MOST], out[MOST];
        int n = 0;
        for (int k = 0; k < list->count && n < MOST; k++) {
            const char *at = importer_variable(fmu, list->names[k]);
            char initial[32];
            if (!at || !importer_attribute(at, strchr(at, '\n'), "initial", initial, sizeof initial) ||
                strcmp(initial, "exact") != 0)
                continue;
            seed[n] = 1 + 0.1 * n, states[n++] = list->references[k];
        }
        unsigned rates[MOST];
        int m = 0;
        const char *line = fmu->description;
        while ((line = strstr(line, " name=\"der(")) && m < MOST) {
            importer_attribute(line, NULL, "valueReference", number, sizeof number);
            rates[m++] = (unsigned)strtoul(number, NULL, 10);
            line++;
        }
        if (importer_directional(&i, rates, (size_t)m, states, (size_t)n, seed, out) > 1)
            return fail("directional derivatives", i.last);
        for (int k = 0; k < m; k++) printf("dd %.9g %u %.17g\n", end, rates[k], out[k]);
    }
    if (importer_terminate(&i) > 1) return fail("the end", i.last);
    importer_free(&i);
    return 0;
}

int main(int argc, char **argv) {
    static importer fmu;
    static variables list;
    static importer_instance none;
    char fault[1200];
    if (argc != 4) return fail("the call", "LIBRARY VERSION END");
    fmu.version = atoi(argv[2]);
    const double end = strtod(argv[3], NULL);
    if (!find_folder(fmu.folder, sizeof fmu.folder)) return fail("the working folder", "it has no name");
    if (!read_description(&fmu)) return fail("modelDescription.xml", "it cannot be read");
    list_outputs(&fmu, &list);
    /* Loaded again as hosts do it. */
    for (int k = 0; k < 20; k++) {
        if (!importer_load_library(&fmu, argv[1], fault, sizeof fault)) return fail("loading", fault);
        if (!importer_unload_library(&fmu)) return fail("unloading", "refused");
    }
    if (!importer_load_library(&fmu, argv[1], fault, sizeof fault)) return fail("loading", fault);
    int result = co_simulate(&fmu, &list, end);
    if (result == 0) result = on_threads(&fmu, &list, end);
    if (result == 0) result = exchange(&fmu, &list, end);
    fmu.token[3] ^= 1;
    if (result == 0 && importer_instantiate(&fmu, false, &none)) result = fail("a foreign token", "accepted");
    if (result == 0) printf("refused: %s\n", none.last);
    importer_unload_library(&fmu);
    free(fmu.description);
    return result;
}
