/* view_mode.h - a shape of vibration as an animation.
 */
#ifndef CLI_VIEW_MODE_H
#define CLI_VIEW_MODE_H

#include "cli.h"
#include "load.h"
#include <linkwork/view.h>

/* Mode number `mode`, from 1, of small vibrations about the position q at the time of the options, or
 * the position of rest that is reached from there, moving
 * slowly and as far as the eye needs. */
int view_mode(const cli_command *command, const lw_model *model, const lw_run_options *options,
              const double *q, bool rest, int mode, lw_animation **animation);

#endif
