/* analysis_state.h - the state that an analysis is about: the start of the model, that of a run at a later
 * time, or the equilibrium that is reached from there.
 */
#ifndef LINKWORK_ANALYSIS_STATE_H
#define LINKWORK_ANALYSIS_STATE_H

#include "json.h"
#include "load.h"

typedef struct cli_state {
    lw_linearise_options options; /* with the pointers below */
    double *q, *v, *states, *inputs;
    lw_equilibrium *equilibrium; /* NULL unless asked for */
} cli_state;

/* at: the time of the run, NAN for the start; equilibrium: from there to a position of rest. The model may
 * have been compiled anew for parameters that events have set. Returns the exit status; *state is to be freed
 * in any case. */
int cli_state_find(const cli_command *command, cli_model *loaded, const char *method, double at,
                   bool equilibrium, cli_state *state);
void cli_state_free(cli_state *state);
/* Reactions as accel prints them: a member "reactions". */
void cli_json_reactions(json *j, const lw_model *model, const double *reactions, const bool *unique);

#endif
