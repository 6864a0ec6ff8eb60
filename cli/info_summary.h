/* info_summary.h - what linkwork info prints unless --all is asked for: a model in at most fifteen lines.
 */
#ifndef CLI_INFO_SUMMARY_H
#define CLI_INFO_SUMMARY_H

#include "info_closing.h"
#include "load.h"

void info_print_summary(const cli_model *m, const info_start *start);

#endif
