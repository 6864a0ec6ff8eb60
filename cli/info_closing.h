/* info_closing.h - the part of linkwork info on closed loops: assembly, mobility, redundant rows.
 */
#ifndef CLI_INFO_CLOSING_H
#define CLI_INFO_CLOSING_H

#include "cli.h"
#include "json.h"
#include "load.h"

void info_print_closing(const lw_model *model);
void info_json_closing(json *j, const lw_model *model);

#endif
