/* import_sdf.c - SDF, the format of Gazebo.
 */
#include "io/import/import_xml.h"

void lw_import_sdf(lw_importer *importer) {
    lw_import_fault(importer, (lw_place){1, 1}, NULL, NULL, "SDF is not read yet");
}
