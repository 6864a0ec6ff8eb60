/* linearise_curves.h - eigenvalues over a parameter.
 */
#ifndef LINKWORK_LINEARISE_CURVES_H
#define LINKWORK_LINEARISE_CURVES_H

#include "analysis_state.h"

typedef struct curves_request {
    const char *parameter, *method, *out; /* out: .csv, .svg or .pdf, or NULL */
    double from, to, at;
    int points;
    bool equilibrium, as_json;
} curves_request;

/* Linearises for values of the parameter and shows the eigenvalues; returns the exit status. */
int linearise_curves(const cli_command *command, cli_model *loaded, const curves_request *asked);

#endif
