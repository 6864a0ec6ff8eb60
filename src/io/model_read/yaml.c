/* yaml.c - YAML text as a tree, from libfyaml's stream of events.
 *
 * The tree is built here and not by libfyaml, so that limits hold while reading (nesting, nodes, anchors), a
 * faulty text never costs more than a correct one, and all faults get a place and a remedy. An alias is a
 * second pointer to the same node, so that the tree costs O(length of the text) with any aliases; the weight
 * of a node is the number of nodes with all aliases followed, and weights beyond LW_YAML_MAX_NODES are
 * refused. Keys are texts; duplicate keys, tags and second documents are faults. Lines with very many
 * indicators are refused before libfyaml reads them: as long as a line may still become a key, libfyaml keeps
 * every token, about 350 bytes each.
 */
#include "io/model_read/yaml.h"

#include <libfyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, MAX_LINE_INDICATORS = 100000 };

/* A list or map whose end has not been read; its items are on the builder's stack from `item` on. */
typedef struct open_node {
    lw_yaml *node;
    size_t item;
    char *anchor;
    bool flow; /* written with [ ] or { } */
} open_node;

typedef struct anchor {
    const char *name;
    const lw_yaml *node;
} anchor;

typedef struct builder {
    lw_arena *arena;
    const char *text; /* the whole text */
    const char *file;
    lw_report *report;
    size_t faults;
    bool broken; /* A fault after which there is no tree to work on. */
    bool out_of_memory;

    lw_yaml *nodes; /* The unused part of the current block. */
    size_t nodes_left, node_count;
    const lw_yaml **pointers;
    size_t pointers_left;

    const lw_yaml **items; /* stack of finished children of open nodes */
    size_t item_count, item_capacity;
    open_node open[LW_YAML_MAX_DEPTH];
    int depth;
    anchor anchors[LW_YAML_MAX_ANCHORS];
    size_t anchor_count;
    const lw_yaml *root;
    int documents;
    lw_place last; /* place of the last event that has one */
} builder;

#define COMPLAIN(b, place, remedy, ...)                                                                      \
    ((b)->faults++, lw_complain((b)->report, LW_SEVERITY_ERROR, (b)->file, place, NULL, remedy, __VA_ARGS__))

#define BREAK(b, place, remedy, ...) ((b)->broken = true, COMPLAIN(b, place, remedy, __VA_ARGS__))

/* --- characters ----------------------------------------------------------------------------------- */

/* Returns whether the character can begin or end a token inside brackets by itself. */
static bool is_indicator(unsigned char c) {
    switch (c) {
    case '[':
    case ']':
    case '{':
    case '}':
    case ',':
    case '"':
    case '\'':
    case '&':
    case '*':
    case '!':
        return true;
    default:
        return false;
    }
}

/* Reports the first byte that no YAML text may contain, or the first line that would cost too much. */
static bool check_characters(builder *b, const char *text, size_t length) {
    const unsigned char *bytes = (const unsigned char *)text;
    lw_place place = {1, 1};
    int indicators = 0; /* number in this line */
    for (size_t k = 0; k < length;) {
        unsigned char c = bytes[k];
        unsigned code;
        size_t step = lw_utf8(text + k, length - k, &code);
        if (step == 0) {
            BREAK(b, place, "save the file as UTF-8", "byte 0x%02X is not UTF-8 text", c);
            return false;
        }
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F) {
            BREAK(b, place, "a model file is plain text; remove the character", "control character 0x%02X",
                  c);
            return false;
        }
        indicators += is_indicator(c);
        if (indicators > MAX_LINE_INDICATORS) {
            BREAK(b, place, "break it into several lines",
                  "line %d has more than %d brackets, commas, quotes and signs & * !", place.line,
                  MAX_LINE_INDICATORS);
            return false;
        }
        place.column++;
        k += step;
        if (c == '\n' || (c == '\r' && (k == length || bytes[k] != '\n'))) {
            place.line++;
            place.column = 1;
            indicators = 0;
        }
    }
    return true;
}

/* --- nodes ---------------------------------------------------------------------------------------- */

static lw_yaml *new_node(builder *b, lw_yaml_kind kind, lw_place place) {
    if (b->nodes_left == 0) {
        b->nodes = LW_NEW(b->arena, lw_yaml, BLOCK);
        b->nodes_left = b->nodes ? BLOCK : 0;
    }
    if (b->nodes_left == 0) {
        b->out_of_memory = true;
        return NULL;
    }
    lw_yaml *node = b->nodes++;
    b->nodes_left--;
    b->node_count++;
    node->kind = kind;
    node->place = place;
    node->weight = 1;
    return node;
}

static const lw_yaml **new_pointers(builder *b, size_t count) {
    if (count == 0) return NULL;
    if (count > b->pointers_left) {
        size_t size = count > BLOCK ? count : BLOCK;
        b->pointers = LW_NEW(b->arena, const lw_yaml *, size);
        b->pointers_left = b->pointers ? size : 0;
        if (!b->pointers) {
            b->out_of_memory = true;
            return NULL;
        }
    }
    const lw_yaml **pointers = b->pointers;
    b->pointers += count;
    b->pointers_left -= count;
    return pointers;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_break(char c) { return c == '\n' || c == '\r'; }

/* Decodes a text in single quotes (YAML 1.2.2, 7.3.2): '' is a quote; blanks around a line break are removed;
 * one break becomes a space, and n breaks become n - 1. libfyaml 0.7 does the same, but leaks memory for five
 * quotes in a line. */
static size_t unquote(const char *raw, size_t length, char *out) {
    size_t used = 0;
    for (size_t k = 0; k < length;) {
        if (!is_break(raw[k])) {
            out[used++] = raw[k];
            k += raw[k] == '\'' ? 2 : 1;
            continue;
        }
        size_t breaks = 0;
        while (used > 0 && is_blank(out[used - 1])) used--;
        for (; k < length && (is_break(raw[k]) || is_blank(raw[k])); k++) {
            breaks += raw[k] == '\n' || (raw[k] == '\r' && (k + 1 == length || raw[k + 1] != '\n'));
        }
        if (breaks == 1) out[used++] = ' ';
        for (; breaks > 1; breaks--) out[used++] = '\n';
    }
    return used;
}

/* Copies the text of a token. A NUL, which only an escape in quotes can produce, is a fault. */
static char *token_text(builder *b, struct fy_token *token) {
    bool single = token && fy_token_scalar_style(token) == FYSS_SINGLE_QUOTED;
    const struct fy_mark *start = single ? fy_token_start_mark(token) : NULL;
    const struct fy_mark *end = single ? fy_token_end_mark(token) : NULL;
    size_t length = 0;
    const char *text = NULL;
    if (start && end) {
        text = b->text + start->input_pos;
        length = end->input_pos - start->input_pos;
    } else if (token) {
        text = fy_token_get_text(token, &length);
    }
    char *copy = malloc(length + 1), *kept = NULL;
    if (copy) {
        if (start && end) {
            length = unquote(text, length, copy);
        } else if (text && length > 0) {
            memcpy(copy, text, length);
        }
        copy[length] = '\0';
        kept = lw_arena_text(b->arena, copy);
        if (strlen(copy) < length) COMPLAIN(b, b->last, "remove it", "a text with a NUL character (\\0)");
        free(copy);
    }
    if (!kept) b->out_of_memory = true;
    return kept;
}

static lw_place token_place(builder *b, struct fy_token *token) {
    const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
    if (mark) b->last = (lw_place){mark->line + 1, mark->column + 1};
    return b->last;
}

static void push(builder *b, const lw_yaml *item) {
    if (b->item_count == b->item_capacity) {
        size_t capacity = b->item_capacity ? 2 * b->item_capacity : 256;
        const lw_yaml **items = realloc(b->items, capacity * sizeof *items);
        if (!items) {
            b->out_of_memory = true;
            return;
        }
        b->items = items;
        b->item_capacity = capacity;
    }
    b->items[b->item_count++] = item;
}

static void remember(builder *b, const char *name, const lw_yaml *node) {
    for (size_t k = 0; k < b->anchor_count; k++) {
        if (strcmp(b->anchors[k].name, name) == 0) {
            b->anchors[k].node = node; /* In YAML the last anchor of a name counts. */
            return;
        }
    }
    if (b->anchor_count == LW_YAML_MAX_ANCHORS) {
        BREAK(b, node->place, "use repeat or parameters instead", "more than %d anchors",
              LW_YAML_MAX_ANCHORS);
        return;
    }
    b->anchors[b->anchor_count++] = (anchor){name, node};
}

/* Adds a finished node to the open collection, or makes it the root. */
static void deliver(builder *b, const lw_yaml *node, const char *anchor_name) {
    if (anchor_name) remember(b, anchor_name, node);
    if (b->depth == 0) {
        if (!b->root) b->root = node;
        return;
    }
    open_node *parent = &b->open[b->depth - 1];
    bool is_key = parent->node->kind == LW_YAML_MAP && (b->item_count - parent->item) % 2 == 0;
    if (is_key && node->kind != LW_YAML_TEXT) {
        BREAK(b, node->place, "write the name of a key before the colon", "a key must be a name");
    }
    push(b, node);
    parent->node->weight += node->weight;
    if (parent->node->weight > LW_YAML_MAX_NODES && !b->broken) {
        BREAK(b, node->place, "describe large models with repeat", "more than %d values%s", LW_YAML_MAX_NODES,
              node->weight > 1 ? " once its aliases are followed" : "");
    }
}

static void add_text(builder *b, struct fy_event *event) {
    struct fy_token *token = event->scalar.value;
    lw_place place = token_place(b, token);
    lw_yaml *node = new_node(b, LW_YAML_TEXT, place);
    char *text = token_text(b, token);
    if (!node || !text) return;
    size_t length = strlen(text);
    const struct fy_mark *start = token ? fy_token_start_mark(token) : NULL;
    const struct fy_mark *end = token ? fy_token_end_mark(token) : NULL;
    node->text = text;
    node->quoted = fy_token_scalar_style(token) != FYSS_PLAIN;
    node->exact = start && end && start->line == end->line && end->input_pos - start->input_pos == length;
    if (!node->quoted && (length == 0 || strcmp(text, "null") == 0 || strcmp(text, "~") == 0))
        node->kind = LW_YAML_NULL;
    if (event->scalar.tag)
        COMPLAIN(b, place, "leave it out; the reader knows what each value is", "a tag (!)");
    deliver(b, node, event->scalar.anchor ? token_text(b, event->scalar.anchor) : NULL);
}

static void add_alias(builder *b, struct fy_event *event) {
    lw_place place = token_place(b, event->alias.anchor);
    char *name = token_text(b, event->alias.anchor);
    if (!name) return;
    for (size_t k = 0; k < b->anchor_count; k++) {
        if (strcmp(b->anchors[k].name, name) == 0) {
            deliver(b, b->anchors[k].node, NULL);
            return;
        }
    }
    BREAK(b, place, "mark the value that it stands for by &name, before and not around it",
          "alias *%.60s has no anchor &%.60s", name, name);
}

static void open_collection(builder *b, lw_yaml_kind kind, struct fy_token *start,
                            struct fy_token *anchor_token, struct fy_token *tag) {
    lw_place place = token_place(b, start);
    if (b->depth == LW_YAML_MAX_DEPTH) {
        BREAK(b, place, "no model needs more than 6 levels", "more than %d levels of lists and mappings",
              LW_YAML_MAX_DEPTH);
        return;
    }
    if (tag) COMPLAIN(b, place, "leave it out; the reader knows what each value is", "a tag (!)");
    const struct fy_mark *from = start ? fy_token_start_mark(start) : NULL;
    const struct fy_mark *to = start ? fy_token_end_mark(start) : NULL;
    open_node *opened = &b->open[b->depth];
    opened->node = new_node(b, kind, place);
    opened->item = b->item_count;
    opened->anchor = anchor_token ? token_text(b, anchor_token) : NULL;
    opened->flow = from && to && to->input_pos > from->input_pos;
    if (opened->node) b->depth++;
}

static int compare_keys(const void *a, const void *b) {
    const lw_yaml *first = *(const lw_yaml *const *)a, *second = *(const lw_yaml *const *)b;
    int order = strcmp(first->text, second->text);
    if (order == 0)
        order = (first->place.line > second->place.line) - (first->place.line < second->place.line);
    if (order == 0)
        order = (first->place.column > second->place.column) - (first->place.column < second->place.column);
    return order;
}

/* The noun for entries of a section of the model, or NULL if there is no such section. */
static const char *entry_noun(const char *section) {
    static const char *const nouns[][2] = {{"parameters", "parameter"},   {"bodies", "body"},
                                           {"joints", "joint"},           {"forces", "force"},
                                           {"constraints", "constraint"}, {"events", "event"}};
    for (size_t k = 0; k < sizeof nouns / sizeof *nouns; k++) {
        if (strcmp(section, nouns[k][0]) == 0) return nouns[k][1];
    }
    return NULL;
}

/* Reports duplicate keys. noun is the kind of object that each key names, or NULL. */
static void check_double_keys(builder *b, const lw_yaml *map, const char *noun) {
    const lw_yaml **keys = malloc((map->count + 1) * sizeof *keys);
    if (!keys) {
        b->out_of_memory = true;
        return;
    }
    size_t count = 0;
    for (size_t k = 0; k < map->count; k++) {
        if (map->items[2 * k]->kind == LW_YAML_TEXT) keys[count++] = map->items[2 * k];
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t k = 1; k < count; k++) {
        if (strcmp(keys[k]->text, keys[k - 1]->text) != 0) continue;
        if (noun) {
            char object[80];
            snprintf(object, sizeof object, "%s \"%.60s\"", noun, keys[k]->text);
            b->faults++;
            lw_complain(b->report, LW_SEVERITY_ERROR, b->file, keys[k]->place, object, "rename one of them",
                        "the name stands in line %d already", keys[k - 1]->place.line);
        } else {
            COMPLAIN(b, keys[k]->place, "keep one of the two", "key \"%.60s\" stands in line %d already",
                     keys[k]->text, keys[k - 1]->place.line);
        }
    }
    free(keys);
}

static void close_collection(builder *b) {
    open_node *closed = &b->open[--b->depth];
    lw_yaml *node = closed->node;
    size_t count = b->item_count - closed->item;
    node->items = new_pointers(b, count);
    if (b->out_of_memory) return;
    if (count > 0) memcpy(node->items, b->items + closed->item, count * sizeof *node->items);
    node->count = node->kind == LW_YAML_MAP ? count / 2 : count;
    b->item_count = closed->item;
    if (node->kind == LW_YAML_MAP) {
        /* A section is a value of the root; its key was pushed before the section was opened. */
        bool section = b->depth == 1 && b->open[0].node->kind == LW_YAML_MAP && closed->item % 2 == 1;
        check_double_keys(b, node, section ? entry_noun(b->items[closed->item - 1]->text) : NULL);
    }
    deliver(b, node, closed->anchor);
}

static void take_event(builder *b, struct fy_event *event) {
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (++b->documents == 2) {
            BREAK(b, token_place(b, event->document_start.document_start), "put it into a file of its own",
                  "a second document begins here (---)");
        }
        break;
    case FYET_SCALAR:
        add_text(b, event);
        break;
    case FYET_ALIAS:
        add_alias(b, event);
        break;
    case FYET_SEQUENCE_START:
        open_collection(b, LW_YAML_LIST, event->sequence_start.sequence_start, event->sequence_start.anchor,
                        event->sequence_start.tag);
        break;
    case FYET_MAPPING_START:
        open_collection(b, LW_YAML_MAP, event->mapping_start.mapping_start, event->mapping_start.anchor,
                        event->mapping_start.tag);
        break;
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END:
        close_collection(b);
        break;
    default:
        break;
    }
}

/* --- translation of libfyaml's messages ----------------------------------------------------------- */

static void translate(builder *b, const char *message, lw_place place) {
    static const struct {
        const char *theirs, *ours, *remedy;
    } table[] = {
        {"tab character", "a tab cannot indent", "use spaces"},
        {"double-quoted scalar without closing", "a text in \" is not closed", "put a \" at its end"},
        {"single-quoted scalar without closing", "a text in ' is not closed", "put a ' at its end"},
        {"invalid multiline plain", "this value runs on into a line with a key",
         "indent the keys of one mapping alike; put texts with \": \" into quotes"},
        {"invalid nested block mapping", "a second \"key:\" in one line",
         "put it on a line of its own, in braces {key: value}, or in quotes if it is text"},
        {"invalid scalar at the end of block", "this line fits neither the list nor the mapping above",
         "indent all entries of one list or mapping alike"},
        {"extra closing bracket", "a \"]\" or \"}\" that nothing opened", "remove it"},
        {"invalid escape", "a backslash in \" quotes starts an escape that does not exist", "use ' quotes"},
        {"wrongly indented", "a text in quotes is not closed, or its next line is not indented",
         "close it on the same line"},
        {"invalid indentation", "this line is indented unlike the mapping or list it belongs to",
         "indent the entries of one mapping or list alike"},
        {"two anchors", "two anchors (&) for one value", "keep one"},
        {"plain scalar cannot start", "a text must not start with this character",
         "put the text into quotes"},
    };
    const open_node *inner = b->depth > 0 ? &b->open[b->depth - 1] : NULL;
    if (inner && inner->flow && (strstr(message, "flow") || strstr(message, "did not find expected"))) {
        bool list = inner->node->kind == LW_YAML_LIST;
        char remedy[160];
        snprintf(remedy, sizeof remedy,
                 "the %s opened in line %d, column %d: part its entries by commas, end it by %s",
                 list ? "[" : "{", inner->node->place.line, inner->node->place.column, list ? "]" : "}");
        BREAK(b, place, remedy, "a comma or a closing %s is missing", list ? "]" : "}");
        return;
    }
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        if (strstr(message, table[k].theirs)) {
            BREAK(b, place, table[k].remedy, "%s", table[k].ours);
            return;
        }
    }
    BREAK(b, place, "check indentation, brackets and quotes near here", "not valid YAML: %s", message);
}

static void report_parser_faults(builder *b, struct fy_diag *diag) {
    void *iterator = NULL;
    struct fy_diag_error *fault;
    bool any = false;
    while ((fault = fy_diag_errors_iterate(diag, &iterator))) {
        lw_place place = {fault->line, fault->column};
        if (!any)
            translate(b, fault->msg ? fault->msg : "unknown fault",
                      place); /* Further faults are consequences. */
        any = true;
    }
    if (!any) translate(b, "the text cannot be understood", b->last);
}

/* --- calls ---------------------------------------------------------------------------------------- */

static void discard_output(struct fy_diag *diag, void *user, const char *text, size_t length) {
    (void)diag;
    (void)user;
    (void)text;
    (void)length;
}

static void parse(builder *b, const char *text, size_t length) {
    struct fy_diag_cfg diag_cfg = {.output_fn = discard_output, .level = FYET_ERROR, .module_mask = ~0U};
    struct fy_diag *diag = fy_diag_create(&diag_cfg);
    struct fy_parse_cfg cfg = {.search_path = "",
                               .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2 |
                                        FYPCF_JSON_NONE | FYPCF_DISABLE_DEPTH_LIMIT,
                               .diag = diag};
    struct fy_parser *parser = NULL;
    if (diag) {
        fy_diag_set_collect_errors(diag, true);
        parser = fy_parser_create(&cfg);
    }
    if (!parser || fy_parser_set_string(parser, text, length) != 0) b->out_of_memory = true;

    struct fy_event *event;
    while (!b->out_of_memory && !b->broken && (event = fy_parser_parse(parser))) {
        take_event(b, event);
        fy_parser_event_free(parser, event);
    }
    if (parser && fy_parser_get_stream_error(parser)) report_parser_faults(b, diag);
    if (parser) fy_parser_destroy(parser);
    if (diag) fy_diag_destroy(diag);
}

lw_status lw_yaml_parse(lw_arena *arena, const char *text, size_t length, const char *file, lw_report *report,
                        const lw_yaml **root) {
    *root = NULL;
    builder *b = calloc(1, sizeof *b);
    if (!b) return LW_ERROR_MEMORY;
    *b = (builder){.arena = arena, .file = file, .report = report, .last = {1, 1}};

    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* byte order mark */
        text += 3;
        length -= 3;
    }
    b->text = text;
    if (check_characters(b, text, length)) parse(b, text, length);
    if (b->faults == 0 && !b->out_of_memory && (!b->root || b->root->kind == LW_YAML_NULL)) {
        BREAK(b, ((lw_place){1, 1}), "a model starts with the line \"linkwork: 1\"", "the file is empty");
    }
    lw_status status = b->out_of_memory ? LW_ERROR_MEMORY : b->faults > 0 ? LW_ERROR_MODEL : LW_OK;
    if (!b->broken && !b->out_of_memory) *root = b->root;
    free(b->items);
    free(b);
    return status;
}

const lw_yaml *lw_yaml_get(const lw_yaml *map, const char *key) {
    for (size_t k = 0; k < map->count; k++) {
        if (strcmp(map->items[2 * k]->text, key) == 0) return map->items[2 * k + 1];
    }
    return NULL;
}

lw_place lw_yaml_place_in(const lw_yaml *text, size_t offset) {
    lw_place place = text->place;
    if (!text->exact) return place;
    for (size_t k = 0; k < offset && text->text[k]; k++) {
        /* Columns count characters, not bytes. */
        place.column += !lw_utf8_continues(text->text[k]);
    }
    return place;
}
