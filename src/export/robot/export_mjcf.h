/* export_mjcf.h - parts of the export to MJCF: sites, forces, equalities.
 */
#ifndef LW_EXPORT_MJCF_H
#define LW_EXPORT_MJCF_H

#include "export/robot/export_tree.h"

/* A point with axes and a name on a body, in its internal frame. */
typedef struct lw_mjcf_site {
    const char *name;
    int body;
    lw_pose pose;
} lw_mjcf_site;

typedef struct lw_mjcf_sites {
    lw_mjcf_site *items;
    int count, room;
} lw_mjcf_sites;

/* All sites that the file needs: frames, ends of closures, of springs and of distances. */
lw_status lw_mjcf_collect_sites(lw_export_tree *tree, lw_mjcf_sites *sites, lw_error *error);
/* The sections tendon and actuator; equality. */
void lw_mjcf_put_forces(lw_export_tree *tree, const lw_mjcf_sites *sites, FILE *file);
void lw_mjcf_put_equality(lw_export_tree *tree, const lw_mjcf_sites *sites, FILE *file);

/* Is the force an attribute of a joint in formats of robots: a linear torsion spring, or friction? */
bool lw_export_is_attribute(const lw_force_spec *force);

#endif
