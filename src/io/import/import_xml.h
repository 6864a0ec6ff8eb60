/* import_xml.h - an XML file as a tree of elements with places, and numbers in its attributes.
 */
#ifndef LW_IMPORT_XML_H
#define LW_IMPORT_XML_H

#include "io/import/importer.h"

enum { LW_XML_MAX_DEPTH = 250, LW_XML_MAX_ELEMENTS = 1000000 };

typedef struct lw_xml_attribute {
    const char *name, *value; /* the name with its prefix */
    lw_place place;           /* of the value */
} lw_xml_attribute;

typedef struct lw_xml {
    const char *name; /* with its prefix: drake:ball_constraint */
    const char *file; /* in which it stands */
    lw_place place;
    int attribute_count;
    lw_xml_attribute *attributes;
    const char *text; /* all text directly in it; never NULL */
    lw_place text_place;
    struct lw_xml *parent, *first, *last, *next;
} lw_xml;

/* The root of a text, which name stands for in messages; NULL: reported. Declarations of entities are
 * refused, nothing is loaded from elsewhere. */
lw_xml *lw_xml_parse(lw_importer *importer, const char *text, size_t length, const char *name);

/* The first child of this name, and the next sibling with the name of the element; NULL if there is none. */
const lw_xml *lw_xml_child(const lw_xml *element, const char *name);
const lw_xml *lw_xml_next(const lw_xml *element);
bool lw_xml_is(const lw_xml *element, const char *name);

/* An attribute; NULL, or its value or the element's place, if there is none. */
const lw_xml_attribute *lw_xml_find(const lw_xml *element, const char *name);
const char *lw_xml_get(const lw_xml *element, const char *name);
lw_place lw_xml_place(const lw_xml *element, const char *name);
/* The same, but missing or empty is a fault. */
const char *lw_xml_need(lw_importer *importer, const lw_xml *element, const char *object, const char *name);

/* From least to most numbers in a text at a place; returns how many, and -1 if something is wrong, which is
 * reported, with what as the name of the value. */
int lw_xml_read_numbers(lw_importer *importer, const char *text, lw_place place, const char *object,
                        const char *what, int least, int most, double *values);
/* The numbers of an attribute; 0 if there is none and -1 if it is wrong, with values as they were. */
int lw_xml_numbers(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                   int least, int most, double *values);
/* Exactly count numbers of an attribute; returns whether there are. */
bool lw_xml_vector(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                   int count, double *values);
/* One number of an attribute, or otherwise. */
double lw_xml_number(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                     double otherwise);
/* A text that is a number or infinite, as limits are: inf, -inf. */
double lw_xml_limit(lw_importer *importer, const char *text, lw_place place, const char *object,
                    const char *what);
/* true, false, 1 or 0, or otherwise. */
bool lw_xml_flag(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                 bool otherwise);
/* Warns of attributes that are not among names, which end with NULL; those with a prefix are passed over. */
void lw_xml_known(lw_importer *importer, const lw_xml *element, const char *object, const char *const *names);

/* import_unread.c: warns of what may not stand in the elements of a URDF, or SDF, that say how it moves. */
void lw_import_unread(lw_importer *importer, const lw_xml *root, bool is_sdf);

#endif
