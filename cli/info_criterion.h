/* info_criterion.h - linkwork info --criterion: suitable independent coordinates, and the best cuts of loops.
 */
#ifndef CLI_INFO_CRITERION_H
#define CLI_INFO_CRITERION_H

#include "info_closing.h"
#include "json.h"
#include "load.h"

typedef struct info_criterion {
    bool wanted, absolute;
    const char *sweep; /* JOINT[=FROM..TO], or NULL */
    double points;     /* number of points of the sweep; 0 means 361 */
    const char *out;   /* file for its data and figure, or NULL */
} info_criterion;

/* Prints, after the list of loops, the reason of each cut. */
void info_print_cuts(const cli_model *m);
/* The reason of the cut of one loop, for JSON. */
const char *info_cut_reason(const cli_model *m, int loop, char *text, size_t size);

/* Both return the exit status. */
int info_print_criterion(const cli_command *command, const cli_model *m, const info_start *start,
                         const info_criterion *request);
int info_json_criterion(const cli_command *command, json *j, const cli_model *m, const info_start *start,
                        const info_criterion *request);

#endif
