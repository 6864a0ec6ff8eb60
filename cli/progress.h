/* progress.h - a progress bar on standard error, on terminals only, and the request to stop (Ctrl-C).
 */
#ifndef LINKWORK_PROGRESS_H
#define LINKWORK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool shown;   /* Standard error is a terminal, and the bar is not switched off. */
    double start; /* monotonic clock, s */
    double next;  /* time of the next drawing */
    bool drawn;
} progress;

progress progress_start(bool wanted);
/* Draws the bar, at most ten times a second. fraction is from 0 to 1, t the model time. */
void progress_show(progress *p, double fraction, double t);
/* The same of a number of runs, with how many are done a second. */
void progress_runs(progress *p, uint64_t done, uint64_t count);
/* Clears the bar. */
void progress_end(progress *p);

/* From now on the first SIGINT or SIGTERM only sets a mark; the second one ends the program at once. */
void stop_watch(void);
bool stop_wanted(void);
/* The exit status that tells of the signal, as shells give it (130 for Ctrl-C); 0 if none has come. */
int stop_status(void);

#endif
