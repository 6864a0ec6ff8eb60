/* fmu_variables.h - the table of an FMU's variables: which there are, their names, units and roles.
 *
 * The exporter writes the table into modelDescription.xml, and the runtime reads and sets values by it. Both
 * make it from the same spec, so that value references, which are the places in the table, agree.
 */
#ifndef LW_FMU_VARIABLES_H
#define LW_FMU_VARIABLES_H

#include "model/compiled_model.h"
#include "simulation/simulation_outside.h"

typedef enum lw_fmu_kind {
    LW_FMU_TIME = 0,
    LW_FMU_INPUT,      /* index: of the model's inputs */
    LW_FMU_PARAMETER,  /* of its parameters */
    LW_FMU_OUTPUT,     /* of its outputs */
    LW_FMU_COORDINATE, /* in q */
    LW_FMU_SPEED,      /* in v */
    LW_FMU_STATE,      /* of its user states */
    LW_FMU_BOOK,       /* of the integrals of ledger and works that outputs need */
    LW_FMU_RATE,       /* of the continuous states below */
    LW_FMU_REACTION,   /* 6 joint + component */
    LW_FMU_INDICATOR   /* of the event indicators */
} lw_fmu_kind;

typedef struct lw_fmu_variable {
    lw_fmu_kind kind;
    int index;
    const char *name;
    const char *unit;  /* "": none, or not known */
    double scale;      /* the value in SI units times scale is in this unit */
    bool tunable;      /* a parameter that may change after initialisation */
    bool calculated;   /* a parameter that follows from others */
    bool prescribed;   /* a coordinate or speed that the model prescribes */
    int state;         /* its place in the vector of continuous states; -1: it is none */
    int joint, number; /* of coordinates and speeds: the joint, and the place within it; -1: none */
} lw_fmu_variable;

typedef struct lw_fmu_table {
    lw_arena *arena;
    lw_fmu_variable *variables;
    int count;
    /* Model Exchange: for each continuous state its variable, that of its rate, and its place in the
     * simulation's own vector; 0 states where Model Exchange is not possible. */
    int state_count, *states, *rates, *place;
    int indicator_count;
} lw_fmu_table;

/* reactions: names of joints, separated by commas, whose reactions are variables; "": none; "*": all.
 * exchange: with rates and indicators for Model Exchange, which the simulation must allow. LW_ERROR_ARGUMENT:
 * there is no such joint. */
lw_status lw_fmu_table_create(const lw_spec *spec, const lw_simulation *simulation, const char *reactions,
                              bool exchange, int indicators, lw_fmu_table *table, lw_error *error);
void lw_fmu_table_destroy(lw_fmu_table *table);

/* Is every name within what the standard's structured names may hold? */
bool lw_fmu_table_is_structured(const lw_fmu_table *table);

#endif
