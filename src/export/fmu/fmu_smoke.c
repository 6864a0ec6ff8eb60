/* fmu_smoke.c - does an FMU run? The sequence of calls of an importer, in a child process.
 *
 * The child loads the library, makes an instance, initialises it, reads all outputs, takes ten steps
 * (Co-Simulation) or evaluates the equations (Model Exchange), and gives everything back. Whatever the
 * library does, this process goes on: the child has a minute, and tells what it found through a pipe. The
 * library of an FMU is a program of its author; it is run with the rights of the caller.
 *
 * Source   the state machines of FMI 2.0.4 and 3.0.1.
 * Cost     the FMU's own.
 */
#define _GNU_SOURCE /* dlopen, mkdtemp, fork */
#include "export/fmu/fmu_smoke.h"
#include "fmu/fmi2_interface.h"
#include "fmu/fmi3_interface.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 4096, SECONDS = 60, STEPS = 10 };

/* --- unpacking -------------------------------------------------------------------------------------- */

static bool make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

static bool unpack(const lw_unzip *zip, const char *folder, lw_error *error) {
    for (int k = 0; k < lw_unzip_count(zip); k++) {
        const lw_unzip_entry entry = lw_unzip_at(zip, k);
        char path[PATH];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry.name);
        bool good = length > 0 && length < PATH && make_folders(path);
        if (good && path[length - 1] == '/') continue;
        unsigned char *bytes = good ? lw_unzip_read(zip, k, error) : NULL;
        if (good && !bytes) return false;
        FILE *file = bytes ? fopen(path, "wb") : NULL;
        good = file && fwrite(bytes, 1, entry.size, file) == entry.size;
        if (file && fclose(file) != 0) good = false;
        free(bytes);
        if (!good) {
            lw_fail(error, LW_ERROR_FILE, NULL, "look for space on the disk", "%s cannot be unpacked to %s",
                    entry.name, folder);
            return false;
        }
    }
    return true;
}

static void clear(const lw_unzip *zip, const char *folder) {
    char path[PATH];
    for (int pass = 0; pass < 2; pass++) /* files, then folders from the innermost */
        for (int k = 0; k < lw_unzip_count(zip); k++) {
            if (snprintf(path, sizeof path, "%s/%s", folder, lw_unzip_at(zip, k).name) >= PATH) continue;
            if (pass == 0) (void)unlink(path);
            for (char *slash = strrchr(path, '/'); pass == 1 && slash; slash = strrchr(path, '/')) {
                *slash = '\0';
                if (strlen(path) <= strlen(folder)) break;
                (void)rmdir(path);
            }
        }
    (void)rmdir(folder);
}

/* --- the child -------------------------------------------------------------------------------------- */

typedef struct child {
    const lw_smoke_plan *plan;
    const char *folder;
    int pipe;
    void *library;
    char last[400]; /* message of the FMU */
    struct {
#define MEMBER2(result, name, arguments) fmi2##name##TYPE *two_##name;
#define MEMBER3(result, name, arguments) fmi3##name##TYPE *three_##name;
        FMI2_FUNCTIONS(MEMBER2) FMI3_FUNCTIONS(MEMBER3)
    } f;
} child;

static bool say(const child *c, const char *format, ...) {
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof text - 2) length = (int)sizeof text - 2;
    for (int k = 0; k < length; k++)
        if ((unsigned char)text[k] < 32) text[k] = ' ';
    text[length++] = '\n';
    if (write(c->pipe, text, (size_t)length) < 0) return false; /* There is nobody to tell. */
    return false;
}

static void logger2(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status,
                    fmi2String category, fmi2String format, ...) {
    child *c = environment;
    va_list arguments;
    (void)name, (void)category;
    va_start(arguments, format);
    if (c && status != fmi2OK) vsnprintf(c->last, sizeof c->last, format, arguments);
    va_end(arguments);
}

static void logger3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                    fmi3String text) {
    child *c = environment;
    (void)category;
    if (c && status != fmi3OK) snprintf(c->last, sizeof c->last, "%s", text);
}

static bool load(child *c) {
    char path[PATH];
    const bool two = c->plan->version == 2;
    snprintf(path, sizeof path, "%s/binaries/%s/%s.so", c->folder, two ? "linux64" : "x86_64-linux",
             c->plan->identifier);
    c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!c->library) return say(c, "the library cannot be loaded: %s", dlerror());
    void *symbol;
#define LOAD(prefix, place, name)                                                                            \
    symbol = dlsym(c->library, prefix #name);                                                                \
    if (!symbol) return say(c, "the function %s is missing", prefix #name);                                  \
    memcpy(&c->f.place##name, &symbol, sizeof symbol);
#define LOAD2(result, name, arguments) LOAD("fmi2", two_, name)
#define LOAD3(result, name, arguments) LOAD("fmi3", three_, name)
    if (two) {
        FMI2_FUNCTIONS(LOAD2)
    } else {
        FMI3_FUNCTIONS(LOAD3)
    }
    return true;
}

/* Reports a call that has not succeeded; returns whether it has. */
static bool went(const child *c, const char *call, int status) {
    if (status <= 1) return true;
    (void)say(c, "%s returned %d%s%s", call, status, c->last[0] ? ": " : "", c->last);
    return false;
}

static bool all_finite(const child *c, const char *what, const double *values, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (!isfinite(values[k])) {
            (void)say(c, "%s: number %zu is %g", what, k + 1, values[k]);
            return false;
        }
    return true;
}

static bool run2(child *c, bool exchange, double *values, double *x, double *rates, double *roots) {
    const lw_smoke_plan *p = c->plan;
    const fmi2CallbackFunctions callbacks = {logger2, calloc, free, NULL, c};
    const size_t n = (size_t)p->states, m = (size_t)p->indicators;
    const double h = (p->stop - p->start) / 1000;
    char place[PATH];
    snprintf(place, sizeof place, "file://%s/resources", c->folder);
    fmi2Component i = c->f.two_Instantiate("check", exchange ? fmi2ModelExchange : fmi2CoSimulation, p->token,
                                           place, &callbacks, fmi2False, fmi2False);
    if (!i) return say(c, "fmi2Instantiate returned no instance%s%s", c->last[0] ? ": " : "", c->last);
    bool good = went(c, "fmi2SetupExperiment",
                     c->f.two_SetupExperiment(i, fmi2False, 0, p->start, fmi2True, p->stop)) &&
                went(c, "fmi2EnterInitializationMode", c->f.two_EnterInitializationMode(i)) &&
                went(c, "fmi2ExitInitializationMode", c->f.two_ExitInitializationMode(i));
    if (good && exchange) {
        fmi2EventInfo info = {.newDiscreteStatesNeeded = fmi2True};
        for (int k = 0; k < 100 && good && info.newDiscreteStatesNeeded; k++)
            good = went(c, "fmi2NewDiscreteStates", c->f.two_NewDiscreteStates(i, &info));
        good = good && went(c, "fmi2EnterContinuousTimeMode", c->f.two_EnterContinuousTimeMode(i));
        if (good && n)
            good = went(c, "fmi2GetContinuousStates", c->f.two_GetContinuousStates(i, x, n)) &&
                   all_finite(c, "fmi2GetContinuousStates", x, n) &&
                   went(c, "fmi2SetContinuousStates", c->f.two_SetContinuousStates(i, x, n)) &&
                   went(c, "fmi2GetDerivatives", c->f.two_GetDerivatives(i, rates, n)) &&
                   all_finite(c, "fmi2GetDerivatives", rates, n);
        if (good && m) good = went(c, "fmi2GetEventIndicators", c->f.two_GetEventIndicators(i, roots, m));
        fmi2Boolean event, stop;
        good = good && went(c, "fmi2CompletedIntegratorStep",
                            c->f.two_CompletedIntegratorStep(i, fmi2True, &event, &stop));
    }
    for (int k = 0; k < STEPS && good && !exchange; k++)
        good = went(c, "fmi2DoStep", c->f.two_DoStep(i, p->start + k * h, h, fmi2True));
    if (good && p->count)
        good = went(c, "fmi2GetReal", c->f.two_GetReal(i, p->references, p->count, values)) &&
               all_finite(c, "fmi2GetReal", values, p->count);
    good = good && went(c, "fmi2Terminate", c->f.two_Terminate(i));
    c->f.two_FreeInstance(i);
    return good;
}

static bool run3(child *c, bool exchange, double *values, double *x, double *rates) {
    const lw_smoke_plan *p = c->plan;
    const double h = (p->stop - p->start) / 1000;
    char place[PATH];
    size_t n = 0;
    snprintf(place, sizeof place, "%s/resources/", c->folder);
    fmi3Instance i =
        exchange ? c->f.three_InstantiateModelExchange("check", p->token, place, false, false, c, logger3)
                 : c->f.three_InstantiateCoSimulation("check", p->token, place, false, false, false, false,
                                                      NULL, 0, c, logger3, NULL);
    if (!i) return say(c, "the instantiation returned no instance%s%s", c->last[0] ? ": " : "", c->last);
    bool good = went(c, "fmi3EnterInitializationMode",
                     c->f.three_EnterInitializationMode(i, false, 0, p->start, true, p->stop)) &&
                went(c, "fmi3ExitInitializationMode", c->f.three_ExitInitializationMode(i));
    if (good && exchange) {
        bool again = true, stop, nominals, changed, has_next, event;
        double next;
        for (int k = 0; k < 100 && good && again; k++)
            good = went(
                c, "fmi3UpdateDiscreteStates",
                c->f.three_UpdateDiscreteStates(i, &again, &stop, &nominals, &changed, &has_next, &next));
        good = good && went(c, "fmi3EnterContinuousTimeMode", c->f.three_EnterContinuousTimeMode(i)) &&
               went(c, "fmi3GetNumberOfContinuousStates", c->f.three_GetNumberOfContinuousStates(i, &n));
        if (good && n > (size_t)p->states)
            good = say(c, "it has %zu states, and %d rates in its description", n, p->states);
        if (good && n)
            good = went(c, "fmi3GetContinuousStates", c->f.three_GetContinuousStates(i, x, n)) &&
                   all_finite(c, "fmi3GetContinuousStates", x, n) &&
                   went(c, "fmi3SetContinuousStates", c->f.three_SetContinuousStates(i, x, n)) &&
                   went(c, "fmi3GetContinuousStateDerivatives",
                        c->f.three_GetContinuousStateDerivatives(i, rates, n)) &&
                   all_finite(c, "fmi3GetContinuousStateDerivatives", rates, n);
        good = good && went(c, "fmi3CompletedIntegratorStep",
                            c->f.three_CompletedIntegratorStep(i, true, &event, &stop));
    }
    for (int k = 0; k < STEPS && good && !exchange; k++) {
        bool event, stop, early;
        double last;
        good = went(c, "fmi3DoStep",
                    c->f.three_DoStep(i, p->start + k * h, h, true, &event, &stop, &early, &last));
    }
    if (good && p->count)
        good =
            went(c, "fmi3GetFloat64", c->f.three_GetFloat64(i, p->references, p->count, values, p->count)) &&
            all_finite(c, "fmi3GetFloat64", values, p->count);
    good = good && went(c, "fmi3Terminate", c->f.three_Terminate(i));
    c->f.three_FreeInstance(i);
    return good;
}

static bool run(child *c, bool exchange) {
    const lw_smoke_plan *p = c->plan;
    double *memory = calloc(p->count + 2 * (size_t)p->states + (size_t)p->indicators + 4, sizeof *memory);
    double *x = memory + p->count + 1, *rates = x + p->states + 1, *roots = rates + p->states + 1;
    if (!memory) return false;
    const bool good =
        p->version == 2 ? run2(c, exchange, memory, x, rates, roots) : run3(c, exchange, memory, x, rates);
    free(memory);
    return good;
}

/* --- both ------------------------------------------------------------------------------------------- */

static void complain(lw_report *report, const char *path, const char *text) {
    lw_error error = {.status = LW_ERROR_MODEL};
    snprintf(error.file, sizeof error.file, "%s", path);
    snprintf(error.message, sizeof error.message, "%.500s", text);
    (void)lw_report_add(report, &error);
}

static void listen(int from, const char *path, lw_report *report) {
    FILE *file = fdopen(from, "r");
    char line[1000];
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        complain(report, path, line);
    }
    if (file) fclose(file);
}

static void run_child(const char *folder, const char *path, const lw_smoke_plan *plan, lw_report *report) {
    int ends[2], status = 0;
    if (pipe(ends) != 0) {
        complain(report, path, "no pipe could be made for the child process");
        return;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        child c = {.plan = plan, .folder = folder, .pipe = ends[1]};
        (void)close(ends[0]);
        (void)alarm(SECONDS);
        bool good = load(&c);
        if (good && plan->co_simulation) good = run(&c, false);
        if (good && plan->exchange) good = run(&c, true);
        _exit(good ? 0 : 1);
    }
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        complain(report, path, "no child process could be made");
        return;
    }
    listen(ends[0], path, report);
    if (waitpid(pid, &status, 0) == pid && WIFSIGNALED(status)) {
        char text[160];
        snprintf(text, sizeof text, "the FMU has ended its process: signal %d%s", WTERMSIG(status),
                 WTERMSIG(status) == 14 ? ", since it took more than a minute" : "");
        complain(report, path, text);
    }
}

void lw_fmu_smoke(const lw_unzip *zip, const char *path, const lw_smoke_plan *plan, lw_report *report) {
    char folder[PATH], name[PATH];
    const char *base = getenv("TMPDIR");
    lw_error error = {0};
    snprintf(name, sizeof name, "binaries/%s/%s.so", plan->version == 2 ? "linux64" : "x86_64-linux",
             plan->identifier ? plan->identifier : "");
    if (lw_unzip_find(zip, name) < 0) {
        lw_error warning = {.status = LW_ERROR_UNSUPPORTED, .severity = LW_SEVERITY_WARNING};
        snprintf(warning.file, sizeof warning.file, "%s", path);
        snprintf(warning.message, sizeof warning.message,
                 "it has no library for 64-bit Linux, so that it was not run");
        (void)lw_report_add(report, &warning);
        return;
    }
    snprintf(folder, sizeof folder, "%s/linkwork-fmu-XXXXXX",
             base && base[0] == '/' && strlen(base) < 1000 ? base : "/tmp");
    if (!mkdtemp(folder)) {
        complain(report, path, "no temporary folder could be made to unpack it");
        return;
    }
    if (unpack(zip, folder, &error))
        run_child(folder, path, plan, report);
    else
        (void)lw_report_add(report, &error);
    clear(zip, folder);
}
