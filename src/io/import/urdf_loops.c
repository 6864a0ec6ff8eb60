/* urdf_loops.c - loops in a URDF: closures and couplings that extensions of the format say.
 */
#include "io/import/urdf_parts.h"

void lw_urdf_read_closures(lw_urdf *urdf) { (void)urdf; }
void lw_urdf_add_couplings(lw_urdf *urdf) { (void)urdf; }
