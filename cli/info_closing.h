/* info_closing.h - the part of linkwork info on closed loops: assembly, mobility, redundant rows.
 */
#ifndef CLI_INFO_CLOSING_H
#define CLI_INFO_CLOSING_H

#include "cli.h"
#include "json.h"
#include "load.h"

/* Where a run would start. */
typedef struct info_start {
    double t, *q, *v;
    bool assembled;
    lw_assembly assembly;
    lw_error error; /* why it is not assembled */
} info_start;

/* Returns false, with a message, if there is no memory. */
bool info_find_start(const cli_command *command, const lw_model *model, info_start *start);
void info_free_start(info_start *start);

/* The same in two lines. */
void info_summarise_closing(const lw_model *model, const info_start *start);
void info_print_closing(const lw_model *model, const info_start *start);
void info_json_closing(json *j, const lw_model *model, const info_start *start);

#endif
