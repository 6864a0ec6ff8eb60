/* starts.h - the joints of a spec with the values of one of its starts.
 */
#ifndef LW_STARTS_H
#define LW_STARTS_H

#include "model/spec/spec_storage.h"

/* The spec with the values of this start in its joints, whose copies live in the arena; the spec itself if
 * name is NULL. LW_ERROR_ARGUMENT: there is no such start, or it names a joint that there is not. */
lw_status lw_spec_begun(const lw_spec *spec, const char *name, lw_arena *arena, lw_spec *begun,
                        lw_error *error);

#endif
