/* xml_library.h - the functions of libxml2 that import_xml.c calls, and where they come from.
 *
 * libxml2 brings ICU along, which the dynamic linker would relocate at the start of every program that is
 * linked with Linkwork, though few of them ever read XML: 5.8 million instructions, a fifth of the start of
 * the program linkwork. So libxml2 is loaded when a file is imported: xml_loaded.c. Where nothing can be
 * loaded, as in a program that is linked statically, or where the package has to name all its libraries, as a
 * Python wheel, -DLINKWORK_LINK_LIBXML2=ON takes xml_linked.c instead.
 *
 * The table is the caller's own, so that there is no global state. A library that was loaded stays until the
 * process ends, since libxml2 keeps data of threads; loading it again finds it.
 */
#ifndef LW_XML_LIBRARY_H
#define LW_XML_LIBRARY_H

#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#include <stdbool.h>
#include <stddef.h>

/* Each row: a function of libxml2 and its name in the table. */
#define LW_XML_FUNCTIONS(row)                                                                                \
    row(xmlInitParser, init) row(xmlCreateMemoryParserCtxt, create) row(xmlCtxtUseOptions, use_options)      \
        row(xmlParseDocument, parse) row(xmlStopParser, stop) row(xmlByteConsumed, consumed)                 \
            row(xmlSAX2GetLineNumber, line) row(xmlSAX2GetColumnNumber, column)                              \
                row(xmlFreeDoc, free_document) row(xmlFreeParserCtxt, free_parser)

typedef struct lw_xml_library {
    void *handle;
    void (*init)(void);
    xmlParserCtxt *(*create)(const char *text, int length);
    int (*use_options)(xmlParserCtxt *parser, int options);
    int (*parse)(xmlParserCtxt *parser);
    void (*stop)(xmlParserCtxt *parser);
    long (*consumed)(xmlParserCtxt *parser);
    int (*line)(void *parser);
    int (*column)(void *parser);
    void (*free_document)(xmlDoc *document);
    void (*free_parser)(xmlParserCtxt *parser);
} lw_xml_library;

/* Fills the table; false with the reason in `why` if libxml2 is not there. */
bool lw_xml_library_open(lw_xml_library *library, char *why, size_t size);
void lw_xml_library_close(lw_xml_library *library);

#endif
