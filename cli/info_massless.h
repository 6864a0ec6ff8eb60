/* info_massless.h - the part of linkwork info on inertia: directions without inertia, and bodies whose small
 * inertia makes a run stiff.
 */
#ifndef CLI_INFO_MASSLESS_H
#define CLI_INFO_MASSLESS_H

#include "json.h"
#include "load.h"

/* The same in at most three lines; nothing of a model whose every motion moves mass, and that is not stiff.
 */
void info_summarise_massless(const cli_model *m);
void info_print_massless(const cli_model *m);
void info_json_massless(json *j, const cli_model *m);

#endif
