/* info_massless.h - what linkwork info says of inertia: directions without any, and where little of it makes
 * a run stiff.
 */
#ifndef CLI_INFO_MASSLESS_H
#define CLI_INFO_MASSLESS_H

#include "json.h"
#include "load.h"

void info_print_massless(const cli_model *m);
void info_json_massless(json *j, const cli_model *m);

#endif
