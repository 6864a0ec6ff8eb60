/* progress.h - a progress bar on standard error, on terminals only, and the request to stop (Ctrl-C).
 */
#ifndef LINKWORK_PROGRESS_H
#define LINKWORK_PROGRESS_H

#include <stdbool.h>

typedef struct progress {
    bool shown;   /* standard error is a terminal and the user wants to see it */
    double start; /* monotonic clock, s */
    double next;  /* when to draw again */
    bool drawn;
} progress;

progress progress_start(bool wanted);
/* Draws if the last time was long enough ago: at most ten times a second. fraction: 0 .. 1; t: model time. */
void progress_show(progress *p, double fraction, double t);
/* Clears the bar. */
void progress_end(progress *p);

/* From now on the first SIGINT or SIGTERM only sets a mark; the second one ends the program at once. */
void stop_watch(void);
bool stop_wanted(void);

#endif
