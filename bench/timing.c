/* timing.c - interleaved timing of candidates on one pinned processor (Linux).
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "timing.h"
#include "models.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Results end here, so that no call can be left out as useless. */
static volatile double sink;

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_of(const bench_case *c, int calls) {
    clockid_t clock = c->wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    double start = now(clock);
    sink += c->run(c->context, calls);
    return now(clock) - start;
}

static void pin(const cpu_set_t *all, bool one) {
    cpu_set_t set = *all;
    if (one) { /* the last one: the first often serves interrupts */
        int last = 0;
        for (int k = 0; k < CPU_SETSIZE; k++)
            if (CPU_ISSET(k, all)) last = k;
        CPU_ZERO(&set);
        CPU_SET(last, &set);
    }
    sched_setaffinity(0, sizeof set, &set);
}

int bench_processors(void) {
    cpu_set_t all;
    return sched_getaffinity(0, sizeof all, &all) == 0 ? CPU_COUNT(&all) : 1;
}

void bench_measure(bench_case *cases, int count, int repetitions, double ms) {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    pin(&all, true); /* the caller only: threads that a case started before may run anywhere */
    for (int i = 0; i < count; i++) {
        bench_case *c = &cases[i];
        c->sample = bench_allocate((size_t)repetitions, sizeof *c->sample);
        c->calls = 1;
        time_of(c, 1); /* first touch of its memory */
        double ns;
        while ((ns = time_of(c, c->calls)) < ms * 1e6 && c->calls < 1 << 28) {
            if (ns < ms * 1e5)
                c->calls *= 2;
            else
                c->calls = (int)((double)c->calls * ms * 1e6 / ns) + 1;
        }
    }
    for (int r = 0; r < repetitions; r++)
        for (int i = 0; i < count; i++) {
            bench_case *c = &cases[i];
            time_of(c,
                    c->calls / 8 + 2); /* fills the caches that the others emptied, wakes sleeping threads */
            c->sample[r] = time_of(c, c->calls) / c->calls / c->units;
        }
    pin(&all, false);
}

void bench_cases_clear(bench_case *cases, int count) {
    for (int i = 0; i < count; i++) free(cases[i].sample);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    double middle = (values[(count - 1) / 2] + values[count / 2]) / 2;
    free(values);
    return middle;
}

double bench_median(const bench_case *c, int repetitions) {
    double *values = bench_allocate((size_t)repetitions, sizeof *values);
    memcpy(values, c->sample, (size_t)repetitions * sizeof *values);
    return median(values, repetitions);
}

double bench_minimum(const bench_case *c, int repetitions) {
    double least = c->sample[0];
    for (int r = 1; r < repetitions; r++)
        if (c->sample[r] < least) least = c->sample[r];
    return least;
}

double bench_ratio(const bench_case *a, const bench_case *b, int repetitions) {
    double *values = bench_allocate((size_t)repetitions, sizeof *values);
    for (int r = 0; r < repetitions; r++) values[r] = a->sample[r] / b->sample[r];
    return median(values, repetitions);
}

/* The value of a key of /proc/cpuinfo ("key : value"), or nothing. */
static void processor_info(const char *key, char *value, size_t size) {
    value[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    char line[8192];
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)) != 0) continue;
        snprintf(value, size, " %.*s ", (int)strcspn(colon + 1, "\n"), colon + 1);
        break;
    }
    fclose(file);
}

void bench_machine(char *text, size_t size) {
    static const char *interesting[] = {"sse4_2", "avx", "avx2", "fma", "avx512f"};
    char model[256], flags[8192], known[128] = "";
    processor_info("model name", model, sizeof model);
    processor_info("flags", flags, sizeof flags);
    for (size_t k = 0; k < sizeof interesting / sizeof *interesting; k++) {
        char word[32];
        snprintf(word, sizeof word, " %s ", interesting[k]);
        if (!strstr(flags, word)) continue;
        strcat(known, *known ? " " : "");
        strcat(known, interesting[k]);
    }
    char *start = model + strspn(model, " ");
    size_t length = strlen(start);
    while (length > 0 && start[length - 1] == ' ') start[--length] = '\0';
    snprintf(text, size, "%s, %d processors (%s)", *start ? start : "unknown processor", bench_processors(),
             known);
}

const char *bench_compiler(void) {
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}
