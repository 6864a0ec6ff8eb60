/* progress.c - the progress bar and the stop mark.
 */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 40 };
static const double INTERVAL = 0.1; /* s between two drawings */

static volatile sig_atomic_t stop_mark; /* the signal that has come; global, for its handler */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

progress progress_start(bool wanted) {
    double start = now();
    return (progress){.shown = wanted && isatty(STDERR_FILENO), .start = start, .next = start + INTERVAL};
}

/* Begins a drawing, if it is time for one: the bar and the share done. */
static bool draw_bar(progress *p, double fraction, double *time) {
    if (!p->shown) return false;
    *time = now();
    if (*time < p->next) return false;
    p->next = *time + INTERVAL;
    p->drawn = true;
    int full = (int)(WIDTH * fraction);
    char bar[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++) bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3d %%", bar, (int)(100 * fraction));
    return true;
}

static void end_drawing(const progress *p, double fraction, double time) {
    if (fraction > 0.01) fprintf(stderr, "  %.0f s left", (time - p->start) * (1 - fraction) / fraction);
    fputs("\033[K", stderr);
    fflush(stderr);
}

void progress_show(progress *p, double fraction, double t) {
    double time;
    if (!draw_bar(p, fraction, &time)) return;
    fprintf(stderr, "  t = %.4g s", t);
    end_drawing(p, fraction, time);
}

void progress_runs(progress *p, uint64_t done, uint64_t count) {
    const double fraction = count > 0 ? (double)done / (double)count : 1;
    double time;
    if (!draw_bar(p, fraction, &time)) return;
    fprintf(stderr, "  %llu of %llu, %.3g per s", (unsigned long long)done, (unsigned long long)count,
            (double)done / (time - p->start));
    end_drawing(p, fraction, time);
}

void progress_end(progress *p) {
    if (p->drawn) fputs("\r\033[K", stderr);
}

static void mark_stop(int signal) { stop_mark = signal; }

void stop_watch(void) {
    static const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action = {.sa_handler = mark_stop, .sa_flags = (int)SA_RESETHAND}, before;
        sigemptyset(&action.sa_mask);
        /* A signal that is ignored, as in background jobs of scripts, stays ignored. */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

bool stop_wanted(void) { return stop_mark != 0; }

int stop_status(void) { return stop_mark ? 128 + (int)stop_mark : 0; }
