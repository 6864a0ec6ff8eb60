/* info_criterion.h - what linkwork info --criterion says: which coordinates serve as independent ones, where
 * loops are cut best.
 */
#ifndef CLI_INFO_CRITERION_H
#define CLI_INFO_CRITERION_H

#include "json.h"
#include "load.h"

typedef struct info_criterion {
    bool wanted, absolute;
    const char *sweep; /* JOINT[=FROM..TO], or NULL */
    double points;     /* of the sweep; 0: 361 */
    const char *out;   /* where its data and figure go, or NULL */
} info_criterion;

/* Why each loop is cut where it is, after the list of loops; nothing if there are none. */
void info_print_cuts(const cli_model *m);
/* The reason for one loop, for JSON. */
const char *info_cut_reason(const cli_model *m, int loop, char *text, size_t size);

/* Both return the exit status. */
int info_print_criterion(const cli_command *command, const cli_model *m, const info_criterion *request);
int info_json_criterion(const cli_command *command, json *j, const cli_model *m,
                        const info_criterion *request);

#endif
