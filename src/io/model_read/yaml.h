/* yaml.h - YAML text as a tree of constant nodes that know where they stand.
 */
#ifndef LW_YAML_H
#define LW_YAML_H

#include "core/core.h"

/* Limits that keep any input cheap: depth of nesting, nodes (aliases followed), anchors, size of a file. */
enum {
    LW_YAML_MAX_DEPTH = 64,
    LW_YAML_MAX_NODES = 5000000,
    LW_YAML_MAX_ANCHORS = 1000,
    LW_YAML_MAX_BYTES = 64 * 1024 * 1024
};

typedef enum lw_yaml_kind { LW_YAML_NULL, LW_YAML_TEXT, LW_YAML_LIST, LW_YAML_MAP } lw_yaml_kind;

typedef struct lw_yaml {
    lw_yaml_kind kind;
    bool quoted; /* text in quotes: never a flag, even if it reads so */
    bool exact;  /* character k of the text stands k columns after the place */
    lw_place place;
    const char *text;             /* of a text, ended by NUL; without NUL inside */
    size_t count;                 /* of a list: entries; of a map: pairs */
    const struct lw_yaml **items; /* entries; of a map: key, value, key, value ...; keys are texts */
    size_t weight;                /* nodes in this tree, shared ones counted as often as they are used */
} lw_yaml;

/* Reads text; faults go into the report under the name file. The tree lives in the arena. LW_ERROR_MODEL if
 * the text is faulty, with at least one fault in the report; *root is NULL then only if the rest cannot be
 * read. LW_ERROR_MEMORY if memory is out. */
lw_status lw_yaml_parse(lw_arena *arena, const char *text, size_t length, const char *file, lw_report *report,
                        const lw_yaml **root);

/* The value of a key, NULL if the map has none. */
const lw_yaml *lw_yaml_get(const lw_yaml *map, const char *key);

/* The place of character offset of a text. */
lw_place lw_yaml_place_in(const lw_yaml *text, size_t offset);

#endif
