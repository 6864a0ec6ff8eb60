/* equilibrium_file.h - linkwork equilibrium --out.
 */
#ifndef LINKWORK_EQUILIBRIUM_FILE_H
#define LINKWORK_EQUILIBRIUM_FILE_H

#include "analysis_state.h"

/* Writes the model with the position of rest as its start; t is the time of the state. Changes the joints of
 * loaded->spec. Returns the exit status. */
int equilibrium_write(const cli_command *command, const cli_model *loaded, const cli_changes *changes,
                      const lw_equilibrium *e, double t, const char *path);

#endif
