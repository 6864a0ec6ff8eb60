/* state_lanes.c - the list of methods that take several states at a time.
 */
#include "formulations/common/state_lanes.h"

#include <string.h>

extern const lw_state_lanes lw_state_lanes_tree, lw_state_lanes_rcr;

const lw_state_lanes *lw_state_lanes_find(const char *method) {
    static const lw_state_lanes *const all[] = {&lw_state_lanes_tree, &lw_state_lanes_rcr};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(all[k]->method, method) == 0) return all[k];
    return NULL;
}
