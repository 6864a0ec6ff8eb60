/* export_fmu_cli.h - linkwork export fmu.
 */
#ifndef CLI_EXPORT_FMU_CLI_H
#define CLI_EXPORT_FMU_CLI_H

#include "cli.h"

/* argv: what stands behind the word fmu. */
int cli_export_fmu(const cli_command *command, int argc, char **argv);

#endif
