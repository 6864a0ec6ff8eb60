/* quantity_find.c - from the name of a quantity to the quantity (quantity.h).
 *
 *     quantity  =  word "(" target ")" [ "." component ]      reaction(pin).fx, point(load, 1, 0, 0).z
 *               |  "body." name "." component                 body.load.vx
 *               |  name "." component                         pin.q, spring.length
 *               |  word                                       kinetic, momentum.px
 *     target    =  place [ "at first" ] [ "in" name ]
 *     place     =  name | name "," number "," number "," number | place "," place
 *
 * Where a body is named, a frame on one may stand (quantity.h). A name is the longest known one that fits.
 * Outside parentheses it is made of letters, digits, _ and dots, or stands in quotes ('left-knee'); between
 * parentheses it ends where a blank, comma or parenthesis follows.
 *
 * Cost     O(length of the text times log(objects)); suggestions for unknown names O(objects).
 */
#include "expression/units.h"
#include "model/quantity/quantity.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 300 };

static const lw_quantity_kind joint_kinds[] = {LW_Q_COORDINATE, LW_Q_SPEED, LW_Q_ACCELERATION, LW_Q_NONE};
static const lw_quantity_kind body_kinds[] = {LW_Q_POSITION,  LW_Q_ROTATION, LW_Q_CARDAN,
                                              LW_Q_VELOCITY,  LW_Q_SPIN,     LW_Q_BODY_ACCELERATION,
                                              LW_Q_SPIN_RATE, LW_Q_NONE};
static const lw_quantity_kind element_kinds[] = {LW_Q_ELEMENT, LW_Q_NONE};
static const lw_quantity_kind plain_kinds[] = {LW_Q_ENERGY, LW_Q_LEDGER, LW_Q_VIOLATION, LW_Q_TOTAL_MOMENTUM,
                                               LW_Q_NONE};

static const struct word {
    const char *name;
    lw_object_kind object;
    lw_quantity_kind kinds[8];
} words[] = {
    {"reaction", LW_OBJECT_JOINT, {LW_Q_REACTION}}, /* or a constraint */
    {"drive", LW_OBJECT_JOINT, {LW_Q_DRIVE}},
    {"body",
     LW_OBJECT_BODY,
     {LW_Q_POSITION, LW_Q_ROTATION, LW_Q_CARDAN, LW_Q_VELOCITY, LW_Q_SPIN, LW_Q_BODY_ACCELERATION,
      LW_Q_SPIN_RATE}},
    {"com", LW_OBJECT_BODY, {LW_Q_COM, LW_Q_COM_VELOCITY, LW_Q_COM_ACCELERATION}},
    {"momentum", LW_OBJECT_BODY, {LW_Q_MOMENTUM}},
    {"point", LW_OBJECT_POINT, {LW_Q_POINT, LW_Q_POINT_VELOCITY, LW_Q_POINT_ACCELERATION}},
    {"distance", LW_OBJECT_PAIR, {LW_Q_DISTANCE}},
    {"force", LW_OBJECT_FORCE, {LW_Q_FORCE}},
};
enum { WORDS = sizeof words / sizeof *words };

/* --- faults --------------------------------------------------------------------------------------- */

static LW_PRINTF(4, 5) size_t
    fault(lw_syntax *syntax, size_t offset, const char *remedy, const char *format, ...) {
    if (!syntax) return 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(syntax->message, sizeof syntax->message, format, arguments);
    va_end(arguments);
    snprintf(syntax->remedy, sizeof syntax->remedy, "%s", remedy);
    syntax->offset = offset;
    return 0;
}

static const char *name_of(const lw_model *model, lw_object_kind kind, int index) {
    switch (kind) {
    case LW_OBJECT_JOINT:
        return model->joints[index].name;
    case LW_OBJECT_CONSTRAINT:
        return model->constraints[index].name;
    case LW_OBJECT_FORCE:
        return model->forces[index].name;
    default:
        return lw_is_marker(model, index) ? model->frames[index - model->body_count - 1].name
                                          : model->bodies[index].name;
    }
}

static int count_of(const lw_model *model, lw_object_kind kind) {
    switch (kind) {
    case LW_OBJECT_JOINT:
        return model->joint_count;
    case LW_OBJECT_CONSTRAINT:
        return model->constraint_count;
    case LW_OBJECT_FORCE:
        return model->force_count;
    default:
        return model->body_count + 1 + model->frame_count;
    }
}

static const char *word_of(lw_object_kind kind) {
    return kind == LW_OBJECT_JOINT        ? "joint"
           : kind == LW_OBJECT_CONSTRAINT ? "constraint"
           : kind == LW_OBJECT_FORCE      ? "force element"
                                          : "body";
}

/* Reports that there is no object of this name; the closest one is suggested, or the first ones listed. */
static size_t unknown_object(const lw_model *model, lw_object_kind kind, const char *name, size_t length,
                             size_t offset, lw_syntax *syntax) {
    char text[120], remedy[160] = "there is none";
    if (!syntax) return 0;
    snprintf(text, sizeof text, "%.*s", (int)(length < 100 ? length : 100), name);
    lw_closest_search search = lw_closest_to(text);
    const int count = count_of(model, kind);
    for (int k = 0; k < count; k++) lw_closest_try(&search, name_of(model, kind, k));
    if (!lw_did_you_mean(search.name, remedy, sizeof remedy) && count > 0) {
        size_t used = (size_t)snprintf(remedy, sizeof remedy, "there is ");
        for (int k = 0; k < count; k++) {
            const char *other = name_of(model, kind, k);
            if (used + strlen(other) + 8 > sizeof remedy) {
                snprintf(remedy + used, sizeof remedy - used, "%s...", k ? ", " : "");
                break;
            }
            used += (size_t)snprintf(remedy + used, sizeof remedy - used, "%s%s", k ? ", " : "", other);
        }
    }
    return fault(syntax, offset, remedy, "there is no %s \"%s\"", word_of(kind), text);
}

/* --- names ---------------------------------------------------------------------------------------- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}
static size_t blanks(const char *text) { return strspn(text, " \t\n"); }
static size_t word_length(const char *text) {
    size_t length = 0;
    while (is_word(text[length])) length++;
    return length;
}

static int find_object(const lw_model *model, lw_object_kind kind, const char *text, size_t length) {
    char name[MOST_NAME + 1];
    if (length == 0 || length > MOST_NAME) return -1;
    memcpy(name, text, length);
    name[length] = '\0';
    switch (kind) {
    case LW_OBJECT_JOINT:
        return lw_names_find(&model->joint_names, name);
    case LW_OBJECT_FORCE:
        return lw_names_find(&model->force_names, name);
    case LW_OBJECT_CONSTRAINT:
        for (int k = 0; k < model->constraint_count; k++)
            if (strcmp(model->constraints[k].name, name) == 0) return k;
        return -1;
    default: {
        const int body = lw_names_find(&model->body_names, name);
        if (body >= 0 || model->frame_count == 0) return body;
        const int frame = lw_names_find(&model->frame_names, name);
        return frame >= 0 ? model->body_count + 1 + frame : -1;
    }
    }
}

/* Reads 'name' in quotes, in which '' stands for one; returns its length in text with the quotes, 0 if there
 * is none. */
static size_t quoted(const char *text, char name[MOST_NAME + 1]) {
    size_t at = 1, length = 0;
    if (text[0] != '\'') return 0;
    while (text[at] && (text[at] != '\'' || text[at + 1] == '\'')) {
        if (text[at] == '\'') at++;
        if (length == MOST_NAME) return 0;
        name[length++] = text[at++];
    }
    name[length] = '\0';
    return text[at] == '\'' ? at + 1 : 0;
}

/* Between parentheses: the longest known name at the beginning of text; returns its length in text, 0 if
 * there is none. */
static size_t name_between(const lw_model *model, lw_object_kind kind, const char *text, int *object) {
    char name[MOST_NAME + 1];
    size_t in_quotes = quoted(text, name), longest = 0;
    if (in_quotes > 0) {
        *object = find_object(model, kind, name, strlen(name));
        return *object >= 0 ? in_quotes : 0;
    }
    for (size_t end = 0; text[end] && end < MOST_NAME; end++) {
        if (!strchr(" \t,)", text[end])) continue;
        int found = find_object(model, kind, text, end);
        if (found >= 0) *object = found, longest = end;
    }
    return longest;
}

/* Up to where a name between parentheses seems to go, for messages. */
static size_t seeming_name(const char *text) {
    size_t length = strcspn(text, ",)"), depth = 0;
    if (text[0] == '\'') { /* It may hold anything. */
        while (text[++depth] && text[depth] != '\'') {
        }
        return text[depth] ? depth + 1 : depth;
    }
    for (const char *word = text; (word = strchr(word, ' ')) && word < text + length; word++)
        if (strncmp(word, " in ", 4) == 0 || strncmp(word, " at ", 4) == 0) return (size_t)(word - text);
    while (length > 0 && strchr(" \t", text[length - 1])) length--;
    return length;
}

/* --- targets -------------------------------------------------------------------------------------- */

/* A constant expression up to the next comma or closing parenthesis; returns its length, 0 on failure. */
static size_t number(const lw_model *model, const char *text, size_t offset, double *value,
                     lw_syntax *syntax) {
    char part[160];
    size_t length = 0;
    for (int depth = 0; text[length]; length++) {
        if (depth == 0 && (text[length] == ',' || text[length] == ')')) break;
        /* " in NAME" says the axes; a lone "in" is an inch. */
        if (depth == 0 && length > 0 && strncmp(text + length, " in ", 4) == 0 &&
            !strchr(",)", text[length + 4 + blanks(text + length + 4)]))
            break;
        depth += (text[length] == '(') - (text[length] == ')');
    }
    if (length == 0 || length >= sizeof part || !text[length])
        return fault(syntax, offset, "write e.g. point(load, 0, 0, -0.5), in metres and in the body's frame",
                     "a point is a body and three numbers");
    memcpy(part, text, length);
    part[length] = '\0';
    lw_constant *constants = calloc((size_t)model->parameter_names.count + 1, sizeof *constants);
    if (!constants) return fault(syntax, offset, "", "memory is out");
    for (int k = 0; k < model->parameter_names.count; k++)
        constants[k] =
            (lw_constant){.name = model->parameter_names.names[k], .value = model->parameter_values[k]};
    lw_syntax inner = {0};
    lw_meaning measure = {0};
    const lw_expression_names names = {.constants = constants,
                                       .constant_count = (size_t)model->parameter_names.count};
    bool right =
        lw_units_fit(part, LW_LENGTH, &inner) && lw_number_meaning(part, &names, value, &measure, &inner);
    if (right && lw_meaning_fit(&measure, LW_LENGTH, false) > LW_MAY_FIT) {
        char what[80];
        lw_meaning_name(&measure, what, sizeof what);
        snprintf(inner.message, sizeof inner.message, "it is %s, and a length is wanted", what);
        snprintf(inner.remedy, sizeof inner.remedy, "give it in m, mm, ...");
        right = false;
    }
    free(constants);
    if (!right)
        return fault(syntax, offset + inner.offset, inner.remedy, "\"%.60s\", character %zu: %.170s", part,
                     inner.offset + 1, inner.message);
    return length;
}

/* Reports that a frame has no centre of mass and no momentum, and which body has them. */
static size_t no_mass(const lw_model *model, int index, size_t offset, lw_syntax *syntax) {
    const lw_frame *frame = &model->frames[index - model->body_count - 1];
    char remedy[160];
    snprintf(remedy, sizeof remedy, "name its body, \"%.90s\"", model->bodies[frame->body].name);
    return fault(syntax, offset, remedy, "\"%.90s\" is a frame: it has no centre of mass and no momentum",
                 frame->name);
}

/* A body with three numbers behind it, if `point`; otherwise a body, point(...) or com(...). */
static size_t place(const lw_model *model, const char *text, size_t offset, bool point, int end,
                    lw_quantity_target *target, lw_syntax *syntax) {
    size_t at = blanks(text);
    const bool inner = !point && strncmp(text + at, "point(", 6) == 0;
    const bool centre = !point && strncmp(text + at, "com(", 4) == 0;
    int body = -1;
    if (inner || centre) at += inner ? 6 : 4;
    at += blanks(text + at);
    size_t length = name_between(model, LW_OBJECT_BODY, text + at, &body);
    if (length == 0)
        return unknown_object(model, LW_OBJECT_BODY, text + at, seeming_name(text + at), offset + at, syntax);
    if (centre && lw_is_marker(model, body)) return no_mass(model, body, offset + at, syntax);
    double own[3] = {0, 0, 0};
    at += length;
    for (int k = 0; k < 3 && (point || inner); k++) {
        at += blanks(text + at);
        if (text[at] != ',')
            return fault(syntax, offset + at,
                         "write e.g. point(load, 0, 0, -0.5), in metres and in the body's frame",
                         "a point is a body and three numbers");
        at++;
        at += blanks(text + at);
        length = number(model, text + at, offset + at, &own[k], syntax);
        if (length == 0) return 0;
        at += length;
    }
    target->bodies[end] = body;
    target->centre[end] = centre;
    lw_v3_copy(own, target->own[end]);
    if (!inner && !centre) return at;
    at += blanks(text + at);
    if (text[at] != ')') return fault(syntax, offset + at, "close it", "a parenthesis is open");
    return at + 1;
}

/* "in NAME" and "at first" behind a target. */
static size_t reference(const lw_model *model, const char *text, size_t offset, lw_quantity_target *target,
                        lw_syntax *syntax) {
    size_t at = blanks(text);
    if (strncmp(text + at, "at first", 8) == 0) {
        target->at_first = true;
        at += 8;
        at += blanks(text + at);
    }
    if (strncmp(text + at, "in ", 3) == 0) {
        at += 3;
        at += blanks(text + at);
        size_t length = name_between(model, LW_OBJECT_BODY, text + at, &target->axes);
        if (length == 0 && strncmp(text + at, "world", 5) == 0 && !is_word(text[at + 5]))
            target->axes = 0, length = 5;
        if (length == 0)
            return unknown_object(model, LW_OBJECT_BODY, text + at, seeming_name(text + at), offset + at,
                                  syntax);
        at += length;
        at += blanks(text + at);
    }
    if (text[at] != ')')
        return fault(syntax, offset + at, "write e.g. reaction(pin), reaction(pin at first in arm)",
                     "a closing parenthesis is missing");
    return at + 1;
}

size_t lw_quantity_target_read(const lw_model *model, lw_object_kind kind, const char *text,
                               lw_quantity_target *target, lw_syntax *syntax) {
    *target = (lw_quantity_target){.kind = kind, .object = -1};
    size_t at = blanks(text), length = 0;
    if (kind == LW_OBJECT_POINT || kind == LW_OBJECT_PAIR) {
        length = place(model, text + at, at, kind == LW_OBJECT_POINT, 0, target, syntax);
        if (length == 0) return 0;
        at += length;
        at += blanks(text + at);
        if (kind == LW_OBJECT_PAIR) {
            if (text[at] != ',')
                return fault(syntax, at, "write e.g. distance(a, b) or distance(a, point(b, 0, 0, 1))",
                             "a distance has two places");
            at++;
            length = place(model, text + at, at, false, 1, target, syntax);
            if (length == 0) return 0;
            at += length;
        }
        target->object = target->bodies[0];
    } else {
        length = name_between(model, kind, text + at, &target->object);
        if (length == 0 && kind == LW_OBJECT_JOINT) {
            length = name_between(model, LW_OBJECT_CONSTRAINT, text + at, &target->object);
            if (length > 0) target->kind = LW_OBJECT_CONSTRAINT;
        }
        if (length == 0) return unknown_object(model, kind, text + at, seeming_name(text + at), at, syntax);
        at += length;
    }
    length = reference(model, text + at, at, target, syntax);
    return length ? at + length : 0;
}

bool lw_quantity_of_target(const lw_model *model, lw_quantity_kind kind, const lw_quantity_target *target,
                           int component, lw_state_quantity *quantity) {
    if (kind == LW_Q_REACTION && target->kind == LW_OBJECT_CONSTRAINT) kind = LW_Q_CONSTRAINT;
    lw_component list[LW_QUANTITY_COMPONENTS];
    const int count = lw_quantity_components(model, kind, target->object, list);
    if (component >= count) return false;
    if (target->axes > 0 && (!lw_quantity_has_axes(kind) || count < 3)) return false;
    if (target->at_first && !lw_quantity_has_sides(kind)) return false;
    if (target->kind == LW_OBJECT_BODY && lw_is_marker(model, target->object) && kind >= LW_Q_COM &&
        kind <= LW_Q_MOMENTUM)
        return false;
    lw_quantity_make(model, kind, target->object, component, quantity);
    const int ends = target->kind == LW_OBJECT_PAIR ? 2 : target->kind == LW_OBJECT_POINT;
    for (int end = 0; end < ends; end++) {
        const int body = target->bodies[end];
        double own[3] = {target->own[end][0], target->own[end][1], target->own[end][2]};
        if (target->centre[end]) { /* of a body: place() refuses frames */
            const lw_pose *frame = &model->bodies[body].frame;
            double gap[3];
            lw_v3_sub(model->bodies[body].com, frame->p, gap);
            lw_m3_tmul_v(frame->R, gap, own);
        }
        lw_quantity_place(model, quantity, end, body, own);
        quantity->centre[end] = target->centre[end];
    }
    lw_quantity_refer(model, quantity, target->axes, target->at_first);
    return true;
}

/* --- quantities ----------------------------------------------------------------------------------- */

/* The component of this name among the kinds, as a quantity; false if there is none. */
static bool find_component(const lw_model *model, const lw_quantity_kind *kinds,
                           const lw_quantity_target *target, const char *name, size_t length,
                           lw_state_quantity *quantity) {
    for (; *kinds; kinds++) {
        lw_component list[LW_QUANTITY_COMPONENTS];
        lw_quantity_kind kind = *kinds;
        if (kind == LW_Q_REACTION && target->kind == LW_OBJECT_CONSTRAINT) kind = LW_Q_CONSTRAINT;
        const int count = lw_quantity_components(model, kind, target->object, list);
        for (int k = 0; k < count; k++)
            if (strlen(list[k].name) == length && strncmp(list[k].name, name, length) == 0 &&
                lw_quantity_of_target(model, kind, target, k, quantity))
                return true;
    }
    return false;
}

/* Reports a component that an object does not have, with those that it has. */
static size_t no_component(const lw_model *model, const lw_quantity_kind *kinds,
                           const lw_quantity_target *target, const char *object, size_t object_length,
                           const char *name, size_t length, size_t offset, lw_syntax *syntax) {
    char remedy[160] = "";
    size_t used = 0;
    lw_component driven[LW_QUANTITY_COMPONENTS];
    if (kinds[0] == LW_Q_DRIVE && lw_quantity_components(model, LW_Q_DRIVE, target->object, driven) == 0)
        return fault(
            syntax, offset,
            "of a force element of type drive, force(NAME) is the force and force(NAME).power its power",
            "%.*s: no motion of the joint is prescribed", (int)(object_length < 90 ? object_length : 90),
            object);
    for (; *kinds; kinds++) {
        lw_component list[LW_QUANTITY_COMPONENTS];
        lw_state_quantity quantity;
        lw_quantity_kind kind = *kinds;
        if (kind == LW_Q_REACTION && target->kind == LW_OBJECT_CONSTRAINT) kind = LW_Q_CONSTRAINT;
        const int count = lw_quantity_components(model, kind, target->object, list);
        for (int k = 0; k < count; k++)
            if (list[k].name[0] && used + strlen(list[k].name) + 3 < sizeof remedy &&
                lw_quantity_of_target(model, kind, target, k, &quantity))
                used += (size_t)snprintf(remedy + used, sizeof remedy - used, "%s.%s",
                                         used ? ", " : "it has ", list[k].name);
    }
    if (target->kind == LW_OBJECT_FORCE && kinds[-1] == LW_Q_ELEMENT)
        (void)snprintf(remedy + used, sizeof remedy - used, "%sforce(%.*s) is what it exerts, and has .power",
                       used ? "; " : "", (int)(object_length < 40 ? object_length : 40), object);
    if (length == 0)
        return fault(syntax, offset, used ? remedy : "name another quantity",
                     "%.*s is a vector or nothing: which component of it?",
                     (int)(object_length < 90 ? object_length : 90), object);
    return fault(syntax, offset, used ? remedy : "name another quantity", "%.*s has no component \"%.*s\"",
                 (int)(object_length < 90 ? object_length : 90), object, (int)(length < 60 ? length : 60),
                 name);
}

/* word(target).component, after the opening parenthesis, which stands at text[open]. */
static size_t find_called(const lw_model *model, const struct word *word, const char *text, size_t open,
                          lw_state_quantity *quantity, lw_syntax *syntax) {
    lw_quantity_target target;
    size_t length = lw_quantity_target_read(model, word->object, text + open + 1, &target, syntax);
    if (length == 0) {
        if (syntax) syntax->offset += open + 1;
        return 0;
    }
    if (word->object == LW_OBJECT_BODY && word->kinds[0] >= LW_Q_COM && word->kinds[0] <= LW_Q_MOMENTUM &&
        lw_is_marker(model, target.object))
        return no_mass(model, target.object, open + 1, syntax);
    const size_t close = open + 1 + length;
    size_t part = text[close] == '.' ? word_length(text + close + 1) : 0;
    const char *name = part ? text + close + 1 : "";
    if (find_component(model, word->kinds, &target, name, part, quantity))
        return close + (part ? part + 1 : 0);
    return no_component(model, word->kinds, &target, text, close, name, part, close + (part ? 1 : 0), syntax);
}

/* NAME.component from text[start] on; kind: of the object. Longest names first. Returns the whole length, 0
 * if there is none; *known: there is such an object, but not such a component (then the fault is
 * reported). */
static size_t find_named(const lw_model *model, lw_object_kind kind, const lw_quantity_kind *kinds,
                         const char *text, size_t start, lw_state_quantity *quantity, bool *known,
                         lw_syntax *syntax) {
    char name[MOST_NAME + 1];
    lw_quantity_target target = {.kind = kind};
    size_t in_quotes = quoted(text + start, name);
    if (in_quotes > 0) {
        const size_t dot = start + in_quotes, part = text[dot] == '.' ? word_length(text + dot + 1) : 0;
        target.object = find_object(model, kind, name, strlen(name));
        if (target.object < 0) return 0;
        if (part && find_component(model, kinds, &target, text + dot + 1, part, quantity))
            return dot + 1 + part;
        *known = true;
        return no_component(model, kinds, &target, text, dot, text + dot + 1, part, dot, syntax);
    }
    size_t end = start;
    while ((is_word(text[end]) || text[end] == '.') && end < start + MOST_NAME) end++;
    for (size_t dot = end; dot-- > start;) {
        if (text[dot] != '.') continue;
        const size_t part = word_length(text + dot + 1);
        target.object = find_object(model, kind, text + start, dot - start);
        if (target.object >= 0) {
            if (part && find_component(model, kinds, &target, text + dot + 1, part, quantity))
                return dot + 1 + part;
            *known = true;
            return no_component(model, kinds, &target, text, dot, text + dot + 1, part, dot + 1, syntax);
        }
    }
    return 0;
}

/* kinetic, momentum.px: the whole word, not the beginning of a longer one. */
static size_t find_plain(const lw_model *model, const char *text, lw_state_quantity *quantity) {
    static const char prefix[] = "momentum.";
    const bool momentum = strncmp(text, prefix, sizeof prefix - 1) == 0;
    const size_t start = momentum ? sizeof prefix - 1 : 0, length = word_length(text + start);
    const lw_quantity_target target = {.kind = LW_OBJECT_NONE};
    const lw_quantity_kind *kinds = momentum ? &plain_kinds[3] : plain_kinds;
    lw_state_quantity found;
    if (length == 0 || !find_component(model, kinds, &target, text + start, length, &found)) return 0;
    if ((found.kind == LW_Q_TOTAL_MOMENTUM) != momentum) return 0;
    *quantity = found;
    return start + length;
}

size_t lw_quantity_find(const lw_model *model, const char *text, lw_state_quantity *quantity,
                        lw_syntax *syntax) {
    if (syntax) *syntax = (lw_syntax){0};
    const size_t first = word_length(text);
    bool known = false;
    if (first == 0 && text[0] != '\'') return 0;
    /* A digit begins a number. */
    if (text[0] >= '0' && text[0] <= '9') return 0;
    for (int k = 0; k < WORDS; k++)
        if (strlen(words[k].name) == first && strncmp(words[k].name, text, first) == 0 && text[first] == '(')
            return find_called(model, &words[k], text, first, quantity, syntax);
    size_t length = 0;
    if (strncmp(text, "body.", 5) == 0) {
        length = find_named(model, LW_OBJECT_BODY, body_kinds, text, 5, quantity, &known, syntax);
        if (length > 0 || known) return length;
        size_t name = text[5] == '\'' ? seeming_name(text + 5) : word_length(text + 5);
        return unknown_object(model, LW_OBJECT_BODY, text + 5, name, 5, syntax);
    }
    length = find_named(model, LW_OBJECT_JOINT, joint_kinds, text, 0, quantity, &known, syntax);
    if (length > 0) return length;
    bool element = false;
    length =
        find_named(model, LW_OBJECT_FORCE, element_kinds, text, 0, quantity, &element, known ? NULL : syntax);
    if (length > 0) {
        if (syntax) *syntax = (lw_syntax){0};
        return length;
    }
    size_t plain = find_plain(model, text, quantity);
    if (plain > 0) {
        if (syntax) *syntax = (lw_syntax){0};
        return plain;
    }
    if (known || element) return 0;
    /* Something with a dot, or in quotes, is a joint that is not there. */
    const size_t dot = text[0] == '\'' ? seeming_name(text) : first;
    if (text[dot] == '.' && is_word(text[dot + 1])) {
        const size_t skip = text[0] == '\'' && dot > 2;
        return unknown_object(model, LW_OBJECT_JOINT, text + skip, dot - 2 * skip, 0, syntax);
    }
    return 0;
}
