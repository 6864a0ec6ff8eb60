/* import_xml.c - an XML file as a tree of elements with places, and numbers in its attributes.
 *
 * libxml2 reads the text and calls back for every tag. Its own tree has neither columns nor, for tags of
 * several lines, the right line, so that the tree is made here: the byte at which libxml2 stands behind a tag
 * is known, the tag begins at the last '<' before it (no attribute may hold one), and the attributes are
 * found in the text from there. libxml2 itself is asked for when the first text comes: xml_library.h. Files
 * from elsewhere can do no harm: nothing is loaded, a declaration of an entity ends the reading, and depth,
 * number of elements and size are bounded.
 *
 * Cost     O(bytes).
 */
#include "io/import/import_xml.h"

#include "io/import/xml_library.h"
#include "io/number.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- building the tree ---------------------------------------------------------------------------- */

typedef struct lw_xml_builder {
    lw_importer *importer;
    const lw_xml_library *xml;
    xmlParserCtxt *parser;
    const char *text, *file;
    size_t length;
    size_t at; /* the byte whose place is known */
    lw_place place;
    lw_xml *root, *open;
    size_t behind; /* the byte behind the last tag that opened an element */
    int depth, elements;
    bool stopped;
    /* Text of the open element, as far as it came. */
    char *words;
    size_t used, room;
} lw_xml_builder;

static void stop(lw_xml_builder *b, lw_place place, const char *remedy, const char *message) {
    if (b->stopped) return;
    b->stopped = true;
    const char *own = b->importer->file;
    b->importer->file = b->file;
    lw_import_fault(b->importer, place, NULL, remedy, "%s", message);
    b->importer->file = own;
    b->xml->stop(b->parser);
}

static void run_out(lw_xml_builder *b) {
    b->importer->out_of_memory = true;
    b->stopped = true;
    b->xml->stop(b->parser);
}

/* The place of a byte, which comes after those asked for before; columns count characters. */
static lw_place place_of(lw_xml_builder *b, size_t byte) {
    if (byte < b->at) b->at = 0, b->place = (lw_place){1, 1};
    for (; b->at < byte && b->at < b->length; b->at++) {
        const char c = b->text[b->at];
        if (c == '\n')
            b->place.line++, b->place.column = 1;
        else if (!lw_utf8_continues(c))
            b->place.column++;
    }
    return b->place;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Where the tag begins that the parser has just read; length if the text and the parser do not agree, as in
 * encodings other than UTF-8. */
static size_t tag_start(lw_xml_builder *b, const char *name) {
    const long behind = b->xml->consumed(b->parser);
    if (behind <= 0 || (size_t)behind > b->length) return b->length;
    size_t at = (size_t)behind;
    while (at > 0 && b->text[at - 1] != '<') at--;
    const size_t size = strlen(name);
    if (at == 0 || b->length - at < size || strncmp(b->text + at, name, size) != 0) return b->length;
    return at - 1;
}

/* Finds the values of the attributes in the tag, in their order; returns where the tag ends. */
static size_t place_attributes(lw_xml_builder *b, size_t at, lw_xml *element) {
    int found = 0;
    while (at < b->length && !is_blank(b->text[at]) && b->text[at] != '>') at++;
    while (at < b->length && b->text[at] != '>') {
        while (at < b->length && b->text[at] != '=' && b->text[at] != '>') at++;
        while (at < b->length && b->text[at] != '"' && b->text[at] != '\'' && b->text[at] != '>') at++;
        if (at >= b->length || b->text[at] == '>') break;
        const char mark = b->text[at++];
        const char *key = b->text + at - 1; /* declarations of namespaces are no attributes */
        while (key > b->text && (is_blank(key[-1]) || key[-1] == '=')) key--;
        while (key > b->text && !is_blank(key[-1])) key--;
        if (strncmp(key, "xmlns", 5) != 0 && found < element->attribute_count)
            element->attributes[found++].place = place_of(b, at);
        while (at < b->length && b->text[at] != mark) at++;
        at++;
    }
    return at < b->length ? at + 1 : b->length;
}

/* Texts of libxml2 are unsigned; the result is in the arena, prefix:name or name. */
static const char *full_name(lw_importer *importer, const xmlChar *prefix, const xmlChar *name) {
    if (!prefix) return lw_arena_text(importer->arena, (const char *)name);
    return lw_import_print(importer, "%s:%s", (const char *)prefix, (const char *)name);
}

static void end_text(lw_xml_builder *b) {
    if (!b->open || b->used == 0) return;
    size_t first = 0, last = b->used;
    while (first < last && is_blank(b->words[first])) first++;
    while (last > first && is_blank(b->words[last - 1])) last--;
    b->words[last] = '\0';
    if (last > first) {
        const char *before = b->open->text;
        b->open->text = before[0] ? lw_import_print(b->importer, "%s %s", before, b->words + first)
                                  : lw_arena_text(b->importer->arena, b->words + first);
        if (!b->open->text) run_out(b);
    }
    b->used = 0;
}

static void start_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                          int namespace_count, const xmlChar **namespaces, int attribute_count,
                          int default_count, const xmlChar **attributes) {
    lw_xml_builder *b = context;
    (void)uri, (void)default_count;
    if (b->stopped) return;
    end_text(b);
    lw_importer *importer = b->importer;
    const char *full = full_name(importer, prefix, name);
    if (!full) {
        run_out(b);
        return;
    }
    const size_t begin = tag_start(b, full);
    const lw_place place = begin < b->length ? place_of(b, begin) : (lw_place){b->xml->line(b->parser), 0};
    if (++b->depth > LW_XML_MAX_DEPTH) {
        stop(b, place, "write a flatter file",
             "elements stand more than 250 deep in each other, which no mechanism needs");
        return;
    }
    if (++b->elements > LW_XML_MAX_ELEMENTS) {
        stop(b, place, "split the file", "the file has more than a million elements");
        return;
    }
    /* Declarations of namespaces count among the attributes: xacro is told by one. */
    const int count = attribute_count + namespace_count;
    lw_xml *element = LW_NEW(importer->arena, lw_xml, 1);
    lw_xml_attribute *own = count > 0 ? LW_NEW(importer->arena, lw_xml_attribute, count) : NULL;
    if (!element || (count > 0 && !own)) {
        run_out(b);
        return;
    }
    *element = (lw_xml){.name = full, .file = b->file, .place = place, .text = "", .parent = b->open};
    for (int k = 0; k < attribute_count; k++) {
        const xmlChar **a = attributes + 5 * k; /* name, prefix, URI, value, its end */
        const size_t size = (size_t)(a[4] - a[3]);
        char *value = LW_NEW(importer->arena, char, size + 1);
        own[k] = (lw_xml_attribute){full_name(importer, a[1], a[0]), value, place};
        if (!value || !own[k].name) {
            run_out(b);
            return;
        }
        memcpy(value, a[3], size);
    }
    element->attributes = own;
    element->attribute_count = attribute_count;
    b->behind = begin < b->length ? place_attributes(b, begin, element) : b->length;
    for (int k = 0; k < namespace_count; k++) {
        const char *of = (const char *)namespaces[2 * k], *value = (const char *)namespaces[2 * k + 1];
        own[attribute_count + k] =
            (lw_xml_attribute){lw_import_print(importer, of ? "xmlns:%s" : "xmlns%s", of ? of : ""),
                               lw_arena_text(importer->arena, value ? value : ""), place};
    }
    element->attribute_count = count;
    if (!b->open)
        b->root = element;
    else if (b->open->last)
        b->open->last->next = element;
    else
        b->open->first = element;
    if (b->open) b->open->last = element;
    b->open = element;
}

static void end_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    lw_xml_builder *b = context;
    (void)name, (void)prefix, (void)uri;
    if (b->stopped || !b->open) return;
    end_text(b);
    b->open = b->open->parent;
    b->depth--;
}

static void take_text(void *context, const xmlChar *text, int length) {
    lw_xml_builder *b = context;
    if (b->stopped || !b->open || length <= 0) return;
    if (b->used + (size_t)length + 1 > b->room) {
        size_t room = 2 * (b->used + (size_t)length) + 256;
        char *words = LW_NEW(b->importer->arena, char, room);
        if (!words) {
            run_out(b);
            return;
        }
        if (b->used > 0) memcpy(words, b->words, b->used);
        b->words = words;
        b->room = room;
    }
    if (b->used == 0 && !b->open->text[0]) {
        size_t at = b->behind;
        while (at < b->length && is_blank(b->text[at])) at++;
        const bool only = at < b->length && !b->open->first; /* The text follows its tag. */
        b->open->text_place = only ? place_of(b, at) : b->open->place;
    }
    memcpy(b->words + b->used, text, (size_t)length);
    b->used += (size_t)length;
}

static void refuse_entity(void *context, const xmlChar *name, int type, const xmlChar *public_id,
                          const xmlChar *system_id, xmlChar *content) {
    lw_xml_builder *b = context;
    (void)name, (void)type, (void)public_id, (void)system_id, (void)content;
    stop(b, (lw_place){b->xml->line(b->parser), b->xml->column(b->parser)}, "write its text where it is used",
         "an entity is declared here; entities are not expanded, since a few of them make gigabytes");
}

/* The first fault that keeps the text from being XML. Undeclared prefixes of names do not. */
static void take_fault(void *context, xmlError *error) {
    lw_xml_builder *b = context;
    if (b->stopped || !error || error->level != XML_ERR_FATAL) return;
    char message[200];
    size_t length = (size_t)snprintf(message, sizeof message, "this is not well-formed XML: %.150s",
                                     error->message ? error->message : "");
    if (length >= sizeof message) length = sizeof message - 1;
    while (length > 0 && is_blank(message[length - 1])) message[--length] = '\0';
    stop(b, (lw_place){error->line, error->int2}, "correct the text there", message);
}

static lw_xml *parse(lw_xml_builder *b) {
    const lw_xml_library *xml = b->xml;
    xmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC,
                             .startElementNs = start_element,
                             .endElementNs = end_element,
                             .characters = take_text,
                             .cdataBlock = take_text,
                             .entityDecl = refuse_entity,
                             .serror = take_fault};
    xml->init();
    xmlParserCtxt *parser = xml->create(b->length > 0 ? b->text : " ", b->length > 0 ? (int)b->length : 1);
    if (!parser) {
        b->importer->out_of_memory = true;
        return NULL;
    }
    b->parser = parser;
    *parser->sax = handler;
    parser->userData = b;
    (void)xml->use_options(parser, XML_PARSE_NONET | XML_PARSE_BIG_LINES);
    /* Choosing options may have replaced call-backs. */
    *parser->sax = handler;
    (void)xml->parse(parser);
    const bool good = parser->wellFormed && !b->stopped && b->root;
    if (!good && !b->stopped)
        stop(b, (lw_place){1, 1}, "give a URDF, SDF or MJCF file", "this is not well-formed XML");
    if (parser->myDoc) xml->free_document(parser->myDoc);
    parser->myDoc = NULL;
    xml->free_parser(parser);
    return good ? b->root : NULL;
}

/* The text with its XML declaration blotted out if libxml2 would not take it: one that comes after a comment
 * or an empty line, or whose version is not 1.something. Published robots have both, other readers do not
 * look, and nothing follows from it in UTF-8. Columns stay. The text itself if nothing is to be done. */
static const char *without_declaration(lw_importer *importer, const char *text, size_t length,
                                       const char *name) {
    const char *at = text, *last = text + length;
    if (length >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
    const char *start = at;
    for (;;) {
        while (at < last && is_blank(*at)) at++;
        if (last - at < 4 || memcmp(at, "<!--", 4) != 0) break;
        for (at += 4; last - at >= 3 && memcmp(at, "-->", 3) != 0;) at++;
        if (last - at < 3) return text;
        at += 3;
    }
    if (last - at < 6 || memcmp(at, "<?xml", 5) != 0 || !is_blank(at[5])) return text;
    const char *end = memchr(at, '>', (size_t)(last - at));
    char words[200];
    const size_t size = end ? (size_t)(end - at) : sizeof words;
    if (size >= sizeof words) return text;
    memcpy(words, at, size);
    words[size] = '\0';
    const char *version = strstr(words, "version"), *coded = strstr(words, "encoding");
    version = version ? strpbrk(version, "\"'") : NULL;
    coded = coded ? strpbrk(coded, "\"'") : NULL;
    const bool old = version && strncmp(version + 1, "1.", 2) != 0, late = at > start;
    if (coded && strncmp(coded + 1, "UTF-8", 5) != 0 && strncmp(coded + 1, "utf-8", 5) != 0) return text;
    char *copy = old || late ? LW_NEW(importer->arena, char, length + 1) : NULL;
    if (!copy) return text;
    memcpy(copy, text, length);
    for (size_t k = (size_t)(at - text); k <= (size_t)(end - text); k++)
        if (copy[k] != '\n') copy[k] = ' ';
    lw_place place = {1, 1};
    for (const char *c = text; c < at; c++) {
        place.column = *c == '\n' ? 1 : place.column + !lw_utf8_continues(*c);
        place.line += *c == '\n';
    }
    const char *own = importer->file;
    importer->file = name;
    lw_import_warning(importer, place, NULL, "begin the file with <?xml version=\"1.0\"?>, or leave it out",
                      late ? "the XML declaration does not stand at the start; it is passed over"
                           : "there is no such version of XML; the declaration is passed over");
    importer->file = own;
    return copy;
}

lw_xml *lw_xml_parse(lw_importer *importer, const char *text, size_t length, const char *name) {
    lw_xml_library xml;
    text = without_declaration(importer, text, length, name);
    lw_xml_builder builder = {
        .importer = importer, .xml = &xml, .text = text, .file = name, .length = length, .place = {1, 1}};
    char why[200] = "";
    if (length > LW_IMPORT_MAX_BYTES) {
        lw_import_fault(importer, (lw_place){0, 0}, NULL, "split the file", "the file is larger than 64 MiB");
        return NULL;
    }
    if (!lw_xml_library_open(&xml, why, sizeof why)) {
        lw_import_fault(importer, (lw_place){0, 0}, NULL,
                        "install libxml2 (Debian's package is libxml2), or import to a model file elsewhere",
                        "XML is read by libxml2, which cannot be loaded: %s", why);
        return NULL;
    }
    lw_xml *root = parse(&builder);
    lw_xml_library_close(&xml);
    return root;
}

/* --- looking at it -------------------------------------------------------------------------------- */

bool lw_xml_is(const lw_xml *element, const char *name) { return strcmp(element->name, name) == 0; }

static const lw_xml *named(const lw_xml *element, const char *name) {
    while (element && !lw_xml_is(element, name)) element = element->next;
    return element;
}

const lw_xml *lw_xml_child(const lw_xml *element, const char *name) {
    return element ? named(element->first, name) : NULL;
}

const lw_xml *lw_xml_next(const lw_xml *element) { return named(element->next, element->name); }

const lw_xml_attribute *lw_xml_find(const lw_xml *element, const char *name) {
    for (int k = 0; element && k < element->attribute_count; k++)
        if (strcmp(element->attributes[k].name, name) == 0) return &element->attributes[k];
    return NULL;
}

const char *lw_xml_get(const lw_xml *element, const char *name) {
    const lw_xml_attribute *attribute = lw_xml_find(element, name);
    return attribute ? attribute->value : NULL;
}

lw_place lw_xml_place(const lw_xml *element, const char *name) {
    const lw_xml_attribute *attribute = lw_xml_find(element, name);
    return attribute ? attribute->place : element ? element->place : (lw_place){0, 0};
}

const char *lw_xml_need(lw_importer *importer, const lw_xml *element, const char *object, const char *name) {
    const char *value = lw_xml_get(element, name);
    if (value && value[0]) return value;
    lw_import_fault(importer, lw_xml_place(element, name), object,
                    lw_import_print(importer, "give <%.60s %s=\"...\">", element->name, name),
                    value ? "attribute \"%s\" is empty" : "attribute \"%s\" is missing", name);
    return NULL;
}

/* --- values --------------------------------------------------------------------------------------- */

int lw_xml_read_numbers(lw_importer *importer, const char *text, lw_place place, const char *object,
                        const char *what, int least, int most, double *values) {
    int count = 0;
    for (const char *at = text;;) {
        while (is_blank(*at)) at++;
        if (!*at) break;
        size_t length = 0;
        while (at[length] && !is_blank(at[length])) length++;
        char word[64];
        double value = NAN;
        lw_place here = place;
        if (here.column > 0 && !memchr(text, '\n', (size_t)(at - text))) here.column += (int)(at - text);
        const size_t kept = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, at, kept);
        word[kept] = '\0';
        if (length >= sizeof word || !lw_number_read(word, &value)) { /* NaN is a number to it */
            lw_import_fault(importer, here, object,
                            strstr(word, "$(") ? "run xacro first: xacro FILE > robot.urdf"
                                               : "give a number, e.g. 0.5",
                            "%s: \"%.60s\" is no number", what, word);
            return -1;
        }
        if (!isfinite(value)) {
            lw_import_fault(importer, here, object, "give a finite number", "%s: \"%.60s\" is not finite",
                            what, word);
            return -1;
        }
        if (count < most) values[count] = value;
        if (count < INT_MAX) count++;
        at += length;
    }
    if (count >= least && count <= most) return count;
    char wanted[32];
    if (least == most)
        (void)snprintf(wanted, sizeof wanted, "%d", least);
    else
        (void)snprintf(wanted, sizeof wanted, "%d to %d", least, most);
    lw_import_fault(importer, place, object,
                    lw_import_print(importer, "give %s number%s", wanted, most == 1 ? "" : "s"),
                    "%s has %d number%s, not %s", what, count, count == 1 ? "" : "s", wanted);
    return -1;
}

int lw_xml_numbers(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                   int least, int most, double *values) {
    enum { FEW = 16 };
    const lw_xml_attribute *attribute = lw_xml_find(element, name);
    if (!attribute) return 0;
    double space[FEW], *read = most <= FEW ? space : LW_NEW(importer->arena, double, most);
    if (!read) {
        importer->out_of_memory = true;
        return -1;
    }
    const int count =
        lw_xml_read_numbers(importer, attribute->value, attribute->place, object, name, least, most, read);
    for (int k = 0; k < count; k++) values[k] = read[k];
    return count;
}

bool lw_xml_vector(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                   int count, double *values) {
    return lw_xml_numbers(importer, element, object, name, count, count, values) == count;
}

double lw_xml_number(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                     double otherwise) {
    double value = otherwise;
    (void)lw_xml_vector(importer, element, object, name, 1, &value);
    return value;
}

double lw_xml_limit(lw_importer *importer, const char *text, lw_place place, const char *object,
                    const char *what) {
    double value = 0, other = 0;
    if (lw_number_read(text, &value) && isinf(value)) return value;
    (void)lw_xml_read_numbers(importer, text, place, object, what, 1, 1, &other);
    return other;
}

bool lw_xml_flag(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                 bool otherwise) {
    const lw_xml_attribute *attribute = lw_xml_find(element, name);
    if (!attribute) return otherwise;
    static const char *const yes[] = {"true", "1", "True"}, *const no[] = {"false", "0", "False"};
    for (int k = 0; k < 3; k++) {
        if (strcmp(attribute->value, yes[k]) == 0) return true;
        if (strcmp(attribute->value, no[k]) == 0) return false;
    }
    lw_import_fault(importer, attribute->place, object, "give true or false",
                    "%s: \"%.60s\" is neither true nor false", name, attribute->value);
    return otherwise;
}

void lw_xml_known(lw_importer *importer, const lw_xml *element, const char *object,
                  const char *const *names) {
    for (int k = 0; k < element->attribute_count; k++) {
        const char *name = element->attributes[k].name;
        size_t count = 0;
        bool known = strchr(name, ':') || strcmp(name, "xmlns") == 0;
        for (; names[count]; count++) known = known || strcmp(names[count], name) == 0;
        if (known) continue;
        char remedy[160] = "";
        (void)lw_did_you_mean(lw_closest(name, names, count), remedy, sizeof remedy);
        lw_import_warning(importer, element->attributes[k].place, object, remedy[0] ? remedy : NULL,
                          "attribute \"%.60s\" of <%.60s> is not known and has no effect", name,
                          element->name);
    }
}
