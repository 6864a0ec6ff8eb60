/* xml_linked.c - libxml2 as it is linked: xml_library.h.
 */
#include "io/import/xml_library.h"

bool lw_xml_library_open(lw_xml_library *library, char *why, size_t size) {
    (void)why, (void)size;
#define TAKE(function, name) library->name = function;
    LW_XML_FUNCTIONS(TAKE)
#undef TAKE
    library->handle = NULL;
    return true;
}

void lw_xml_library_close(lw_xml_library *library) { (void)library; }
