/* figures.h - what a library computes of a model, as text: accelerations and reactions by every method, and short
 * runs. Compiled against linkwork and against linkwork-core, so that the texts can be compared.
 */
#ifndef LW_TEST_FIGURES_H
#define LW_TEST_FIGURES_H

#include <linkwork/simulation.h>
#include <linkwork/solver.h>

#include <stdio.h>

/* One line for each, "PROBLEM WHAT METHOD STATUS COUNT NUMBERS", with exact numbers. Returns false if the model does
 * not compile or memory is out. */
bool write_figures(const char *problem, const lw_spec *spec, FILE *out);

#endif
