/* record.c - the quantities of a results file, and their values in a sample.
 *
 * A list has items, separated by commas outside parentheses. An item is
 *     a keyword with objects    reaction(pin), position(*), point(load, 0, 0, -0.5)
 *     a keyword alone           ledger; reaction is short for reaction(*)
 *     either with components    reaction(pin).f*
 *     the name of a column      crank.q, body.rod.*
 * where * stands for any characters. Each quantity of each object is a vector of up to seven components; a
 * column is one component of one vector.
 *
 * Columns of joints; cut joints and welds have only those of their reactions:
 *     revolute, screw   J.q [rad]                     J.v [rad/s]                  J.a [rad/s^2]
 *     prismatic         J.q [m]                       J.v [m/s]                    J.a [m/s^2]
 *     cylindrical       J.d [m], J.angle [rad]        J.vd, J.vangle               J.ad, J.aangle
 *     universal         J.a1 [rad], J.a2 [rad]        J.va1, J.va2                 J.aa1, J.aa2
 *     spherical         J.qw .. J.qz [1]              J.wx .. J.wz [rad/s]         J.alphax .. J.alphaz
 *     planar            J.x, J.y [m], J.angle [rad]   J.vx, J.vy, J.vangle         J.ax, J.ay, J.aangle
 *     translation       J.q1 .. [m] (J.q if one)      J.v1 .. (J.v if one)         J.a1 .. (J.a if one)
 *     free              J.x .. J.z [m], J.qw .. [1]   J.vx .., J.wx ..             J.ax .., J.alphax ..
 *
 * Cost     of a row O(n + columns): the poses and twists of all bodies once, if any column needs them.
 */
#include "io/results/record.h"
#include "io/number.h"
#include "model/data.h"

#include <linkwork/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COMPONENTS = 7, MOST_NAME = 512 };

/* --- quantities ----------------------------------------------------------------------------------- */

typedef enum quantity {
    NOTHING, /* ends a list of quantities */
    TIME,
    COORDINATES,
    SPEEDS,
    ACCELERATIONS,
    REACTION,
    POSITION,
    ROTATION,
    VELOCITY,
    SPIN,
    POINT,
    POINT_VELOCITY,
    LEDGER,
    VIOLATION,
    QUANTITIES
} quantity;

typedef enum object_kind { NO_OBJECT, JOINT_OBJECT, BODY_OBJECT, POINT_OBJECT } object_kind;

typedef struct component {
    const char *name, *unit;
} component;

/* Properties of the quantities that do not depend on a joint's type. The name of a column consists of prefix,
 * object, infix and component. */
static const struct {
    object_kind kind;
    const char *prefix, *infix;
    component components[MOST_COMPONENTS];
} about[QUANTITIES] = {
    [TIME] = {NO_OBJECT, "", "", {{"t", "s"}}},
    [COORDINATES] = {JOINT_OBJECT, "", ".", {{0}}},
    [SPEEDS] = {JOINT_OBJECT, "", ".", {{0}}},
    [ACCELERATIONS] = {JOINT_OBJECT, "", ".", {{0}}},
    [REACTION] = {JOINT_OBJECT,
                  "reaction(",
                  ").",
                  {{"fx", "N"}, {"fy", "N"}, {"fz", "N"}, {"tx", "N m"}, {"ty", "N m"}, {"tz", "N m"}}},
    [POSITION] = {BODY_OBJECT, "body.", ".", {{"x", "m"}, {"y", "m"}, {"z", "m"}}},
    [ROTATION] = {BODY_OBJECT, "body.", ".", {{"qw", "1"}, {"qx", "1"}, {"qy", "1"}, {"qz", "1"}}},
    [VELOCITY] = {BODY_OBJECT, "body.", ".", {{"vx", "m/s"}, {"vy", "m/s"}, {"vz", "m/s"}}},
    [SPIN] = {BODY_OBJECT, "body.", ".", {{"wx", "rad/s"}, {"wy", "rad/s"}, {"wz", "rad/s"}}},
    [POINT] = {POINT_OBJECT, "point(", ").", {{"x", "m"}, {"y", "m"}, {"z", "m"}}},
    [POINT_VELOCITY] = {POINT_OBJECT, "point(", ").", {{"vx", "m/s"}, {"vy", "m/s"}, {"vz", "m/s"}}},
    [LEDGER] = {NO_OBJECT,
                "",
                "",
                {{"kinetic", "J"},
                 {"potential", "J"},
                 {"drives", "J"},
                 {"forces", "J"},
                 {"dissipation", "J"},
                 {"unaccounted", "J"}}},
    [VIOLATION] = {NO_OBJECT, "", "", {{"position_violation", ""}, {"velocity_violation", ""}}},
};

/* The keywords of a list. */
typedef struct word {
    const char *name;
    object_kind kind;
    quantity quantities[5];
} word;

static const word words[] = {
    {"joint", JOINT_OBJECT, {COORDINATES, SPEEDS}},
    {"coordinates", JOINT_OBJECT, {COORDINATES}},
    {"speeds", JOINT_OBJECT, {SPEEDS}},
    {"accelerations", JOINT_OBJECT, {ACCELERATIONS}},
    {"reaction", JOINT_OBJECT, {REACTION}},
    {"body", BODY_OBJECT, {POSITION, ROTATION, VELOCITY, SPIN}},
    {"position", BODY_OBJECT, {POSITION}},
    {"rotation", BODY_OBJECT, {ROTATION}},
    {"pose", BODY_OBJECT, {POSITION, ROTATION}},
    {"velocity", BODY_OBJECT, {VELOCITY, SPIN}},
    {"point", POINT_OBJECT, {POINT}},
    {"point_velocity", POINT_OBJECT, {POINT_VELOCITY}},
    {"ledger", NO_OBJECT, {LEDGER}},
    {"violation", NO_OBJECT, {VIOLATION}},
};
enum { WORDS = sizeof words / sizeof *words };

/* All columns that have names in every list, that is, all but those of points. */
static const word everything[] = {
    {"", JOINT_OBJECT, {COORDINATES, SPEEDS, ACCELERATIONS, REACTION}},
    {"", BODY_OBJECT, {POSITION, ROTATION, VELOCITY, SPIN}},
    {"", NO_OBJECT, {LEDGER, VIOLATION}},
};
enum { EVERYTHING = sizeof everything / sizeof *everything };

/* --- the record ----------------------------------------------------------------------------------- */

typedef struct column {
    quantity quantity;
    int object; /* index of a joint, body or point */
    int component;
} column;

typedef struct point {
    const char *text; /* text in the list, as "load, 0, 0, -0.5" */
    int body;
    double at[3]; /* position in the body's internal frame */
} point;

struct lw_record {
    const lw_model *model;
    lw_data *data;
    lw_arena *arena;
    size_t count, capacity;
    column *columns;
    lw_record_column *names;
    point *points;
    int point_count;
    bool *taken;        /* by quantity, object, component: it is already a column */
    double *quaternion; /* 4 per body: the quaternion of the last row, at first zero */
    bool uses[QUANTITIES];

    lw_error *error; /* used only while the list is parsed, as is item */
    const char *item;
};

bool lw_pattern_matches(const char *pattern, const char *text) {
    const char *star = NULL, *again = NULL; /* where to resume if the text after the last * does not match */
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            again = text;
        } else if (*pattern == *text) {
            pattern++, text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

static lw_status out_of_memory(lw_error *error) {
    return lw_fail(error, LW_ERROR_MEMORY, "record", NULL, "memory is out");
}

/* Lists the components of a quantity of an object; returns their number. */
static int components_of(const lw_record *record, quantity what, int object,
                         component list[MOST_COMPONENTS]) {
    memcpy(list, about[what].components, sizeof about[what].components);
    int count = 0;
    if (what == COORDINATES || what == SPEEDS || what == ACCELERATIONS) {
        const lw_joint_info *joint = &record->model->joints[object].info;
        if (joint->cut) return 0;
        int of_joint = what == COORDINATES ? joint->q_count : joint->v_count;
        for (; count < of_joint; count++)
            list[count].name = lw_joint_column(joint->type, joint->v_count, (int)(what - COORDINATES), count,
                                               &list[count].unit);
        return count;
    }
    while (count < MOST_COMPONENTS && list[count].name) count++;
    return count;
}

static const char *object_name(const lw_record *record, object_kind kind, int object) {
    switch (kind) {
    case JOINT_OBJECT:
        return record->model->joints[object].name;
    case BODY_OBJECT:
        return lw_model_body_name(record->model, object);
    case POINT_OBJECT:
        return record->points[object].text;
    case NO_OBJECT:
        break;
    }
    return "";
}

static void column_name(const lw_record *record, quantity what, int object, const component *part,
                        char name[MOST_NAME]) {
    snprintf(name, MOST_NAME, "%s%s%s%s", about[what].prefix, object_name(record, about[what].kind, object),
             about[what].infix, part->name);
}

static bool *mark(const lw_record *record, quantity what, int object, int component_index) {
    size_t objects = (size_t)record->model->joint_count + (size_t)record->model->body_count + 1;
    size_t vector = about[what].kind == POINT_OBJECT
                        ? QUANTITIES * objects + 2 * (size_t)object + (what == POINT_VELOCITY)
                        : (size_t)what * objects + (size_t)object;
    return &record->taken[vector * MOST_COMPONENTS + (size_t)component_index];
}

static lw_status add(lw_record *record, quantity what, int object, int index, const component *part) {
    bool *taken = mark(record, what, object, index);
    if (*taken) return LW_OK;
    if (record->count == record->capacity) {
        size_t capacity = record->capacity ? 2 * record->capacity : 64;
        column *columns = realloc(record->columns, capacity * sizeof *columns);
        if (columns) record->columns = columns;
        lw_record_column *names = realloc(record->names, capacity * sizeof *names);
        if (names) record->names = names;
        if (!columns || !names) return out_of_memory(record->error);
        record->capacity = capacity;
    }
    char name[MOST_NAME];
    column_name(record, what, object, part, name);
    const char *kept = lw_arena_text(record->arena, name);
    if (!kept) return out_of_memory(record->error);
    record->columns[record->count] = (column){what, object, index};
    record->names[record->count] = (lw_record_column){kept, part->unit};
    record->count++;
    record->uses[what] = *taken = true;
    return LW_OK;
}

/* --- faults --------------------------------------------------------------------------------------- */

/* Writes the names into a text of limited size. */
static void list_names(const char *const *names, size_t count, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < count; k++) {
        int length = snprintf(text + used, size - used, "%s%s", k ? ", " : "", names[k]);
        if (length < 0 || used + (size_t)length + 6 >= size) {
            snprintf(text + used, size - used, "%s", used + 6 < size ? ", ..." : "");
            return;
        }
        used += (size_t)length;
    }
}

/* Reports an unknown name; what is "joint", "body" or "quantity", and names are the valid ones. */
static lw_status unknown(const lw_record *record, const char *what, const char *name,
                         const char *const *names, size_t count) {
    char object[112], list[190], remedy[256];
    snprintf(object, sizeof object, "record \"%.90s\"", record->item);
    list_names(names, count, list, sizeof list);
    const char *closest = lw_closest(name, names, count);
    if (!lw_did_you_mean(closest, remedy, sizeof remedy))
        snprintf(remedy, sizeof remedy, "there is %s", count > 0 ? list : "none");
    return lw_fail(record->error, LW_ERROR_ARGUMENT, object, remedy, "unknown %s \"%.100s\"%s%s", what, name,
                   closest ? "; there is " : "", closest ? list : "");
}

static lw_status wrong(const lw_record *record, const char *remedy, const char *message) {
    char object[112];
    snprintf(object, sizeof object, "record \"%.90s\"", record->item);
    return lw_fail(record->error, LW_ERROR_ARGUMENT, object, remedy, "%s", message);
}

static int object_count(const lw_record *record, object_kind kind) {
    switch (kind) {
    case JOINT_OBJECT:
        return record->model->joint_count;
    case BODY_OBJECT:
        return record->model->body_count + 1; /* Body 0 is ground. */
    case POINT_OBJECT:
        return record->point_count;
    case NO_OBJECT:
        break;
    }
    return 1;
}

static int first_object(object_kind kind) { return kind == BODY_OBJECT ? 1 : 0; }

static lw_status unknown_object(lw_record *record, object_kind kind, const char *name) {
    int first = first_object(kind), count = object_count(record, kind) - first;
    const char **names = LW_NEW(record->arena, const char *, count + 1);
    if (!names) return out_of_memory(record->error);
    for (int k = 0; k < count; k++) names[k] = object_name(record, kind, first + k);
    return unknown(record, kind == JOINT_OBJECT ? "joint" : "body", name, names, (size_t)count);
}

/* Reports an unknown column. The valid names are the keywords and then all columns, or only the keywords if
 * the name has parentheses. */
static lw_status unknown_column(lw_record *record, const char *name) {
    size_t count = WORDS, capacity = WORDS;
    for (int e = 0; e < EVERYTHING; e++)
        capacity += 4 * MOST_COMPONENTS * (size_t)object_count(record, everything[e].kind);
    const char **names = LW_NEW(record->arena, const char *, capacity);
    if (!names) return out_of_memory(record->error);
    for (int k = 0; k < WORDS; k++) names[k] = words[k].name;
    if (strchr(name, '(')) {
        char *called = lw_arena_text(record->arena, name);
        if (!called) return out_of_memory(record->error);
        *strchr(called, '(') = '\0';
        return unknown(record, "quantity", called, names, WORDS);
    }
    for (int e = 0; e < EVERYTHING; e++)
        for (int object = first_object(everything[e].kind); object < object_count(record, everything[e].kind);
             object++)
            for (const quantity *what = everything[e].quantities; *what; what++) {
                component parts[MOST_COMPONENTS];
                int parts_count = components_of(record, *what, object, parts);
                for (int k = 0; k < parts_count; k++) {
                    char text[MOST_NAME];
                    column_name(record, *what, object, &parts[k], text);
                    if (!(names[count++] = lw_arena_text(record->arena, text)))
                        return out_of_memory(record->error);
                }
            }
    return unknown(record, "quantity", name, names, count);
}

/* --- parsing -------------------------------------------------------------------------------------- */

static char *trim(char *text) {
    while (*text == ' ' || *text == '\t' || *text == '\n') text++;
    for (char *end = text + strlen(text); end > text && strchr(" \t\n", end[-1]);) *--end = '\0';
    return text;
}

/* Returns the text up to the next comma outside parentheses; *rest is NULL after the last item. */
static char *next_item(char **rest) {
    char *start = *rest, *at = start;
    for (int depth = 0; *at && (*at != ',' || depth > 0); at++) depth += (*at == '(') - (*at == ')');
    *rest = *at ? at + 1 : NULL;
    *at = '\0';
    return trim(start);
}

/* Adds the components of the quantities of an object that match; *found counts them. */
static lw_status add_object(lw_record *record, const quantity *quantities, int object, const char *part,
                            int *found) {
    for (; *quantities; quantities++) {
        component parts[MOST_COMPONENTS];
        int count = components_of(record, *quantities, object, parts);
        for (int k = 0; k < count; k++) {
            if (!lw_pattern_matches(part, parts[k].name)) continue;
            ++*found;
            lw_status status = add(record, *quantities, object, k, &parts[k]);
            if (status != LW_OK) return status;
        }
    }
    return LW_OK;
}

static int find_object(const lw_record *record, object_kind kind, const char *name) {
    return kind == JOINT_OBJECT ? lw_model_joint(record->model, name) : lw_model_body(record->model, name);
}

/* Parses a point of a body in the body's frame, as "load, 0, 0, -0.5". */
static lw_status take_point(lw_record *record, char *text, int *index) {
    static const char remedy[] = "write e.g. point(load, 0, 0, -0.5), in metres and in the body's frame";
    char *rest = text, number[LW_NUMBER_SIZE], name[MOST_NAME];
    const char *body_name = next_item(&rest);
    double at[3];
    int body = find_object(record, BODY_OBJECT, body_name);
    if (body < 0) return unknown_object(record, BODY_OBJECT, body_name);
    size_t used = (size_t)snprintf(name, sizeof name, "%.300s", body_name);
    for (int k = 0; k < 3; k++) {
        if (!rest) return wrong(record, remedy, "a point is a body and three numbers");
        lw_error fault = {0};
        if (lw_read_number(next_item(&rest), "m", &at[k], &fault) != LW_OK)
            return wrong(record, fault.remedy, fault.message);
        (void)lw_number_print(at[k], number);
        used += (size_t)snprintf(name + used, sizeof name - used, ", %s", number);
    }
    if (rest) return wrong(record, remedy, "a point is a body and three numbers");
    for (*index = 0; *index < record->point_count; ++*index)
        if (strcmp(record->points[*index].text, name) == 0) return LW_OK;
    const lw_pose *frame = &record->model->bodies[body].frame;
    point *new = &record->points[record->point_count++];
    new->text = lw_arena_text(record->arena, name);
    new->body = body;
    lw_pose_point(frame->R, frame->p, at, new->at);
    return new->text ? LW_OK : out_of_memory(record->error);
}

/* Adds the columns of keyword(objects).part. */
static lw_status add_word(lw_record *record, const word *w, char *objects, const char *part) {
    int found = 0, object = 0;
    lw_status status = LW_OK;
    if (w->kind == POINT_OBJECT) {
        status = take_point(record, objects, &object);
        if (status == LW_OK) status = add_object(record, w->quantities, object, part, &found);
    } else if (w->kind == NO_OBJECT) {
        status = add_object(record, w->quantities, 0, part, &found);
    } else if (strchr(objects, '*')) {
        int named = 0;
        for (object = first_object(w->kind); object < object_count(record, w->kind); object++) {
            if (!lw_pattern_matches(objects, object_name(record, w->kind, object))) continue;
            named++;
            status = add_object(record, w->quantities, object, part, &found);
            if (status != LW_OK) return status;
        }
        if (named == 0 && strcmp(objects, "*") != 0) return unknown_object(record, w->kind, objects);
        if (strcmp(part, "*") == 0) return LW_OK; /* An empty match of * is no fault. */
    } else {
        object = find_object(record, w->kind, objects);
        if (object < 0) return unknown_object(record, w->kind, objects);
        if (w->kind == BODY_OBJECT && object == 0)
            return wrong(record, "name a body that moves", "ground does not move");
        status = add_object(record, w->quantities, object, part, &found);
        if (status == LW_OK && found == 0 && strcmp(part, "*") == 0)
            return wrong(record, "record its reaction, or coordinates of other joints",
                         record->model->joints[object].info.cut
                             ? "the joint closes a loop and has no coordinates of its own"
                             : "the joint has no coordinates");
    }
    if (status == LW_OK && found == 0)
        return wrong(record, "leave the part after the point away to get all", "there is no such component");
    return status;
}

/* Adds the columns whose names match a name or a pattern. */
static lw_status add_columns(lw_record *record, const char *pattern) {
    int found = 0;
    for (int e = 0; e < EVERYTHING; e++) {
        int count = object_count(record, everything[e].kind);
        for (int object = first_object(everything[e].kind); object < count; object++)
            for (const quantity *what = everything[e].quantities; *what; what++) {
                component parts[MOST_COMPONENTS];
                int parts_count = components_of(record, *what, object, parts);
                for (int k = 0; k < parts_count; k++) {
                    char name[MOST_NAME];
                    column_name(record, *what, object, &parts[k], name);
                    if (!lw_pattern_matches(pattern, name)) continue;
                    found++;
                    lw_status status = add(record, *what, object, k, &parts[k]);
                    if (status != LW_OK) return status;
                }
            }
    }
    return found > 0 || strcmp(pattern, "t") == 0 ? LW_OK : unknown_column(record, pattern);
}

static const word *find_word(const char *name, size_t length) {
    for (int k = 0; k < WORDS; k++)
        if (strlen(words[k].name) == length && strncmp(words[k].name, name, length) == 0) return &words[k];
    return NULL;
}

static lw_status add_item(lw_record *record, char *item) {
    if (!item[0]) return wrong(record, "write e.g. joint(*), reaction(pin), ledger", "an item is empty");
    char *open = strchr(item, '('), *close = strrchr(item, ')'), all[] = "*";
    const word *w = find_word(item, open ? (size_t)(open - item) : strlen(item));
    if (w && !open && w->kind != POINT_OBJECT) return add_word(record, w, all, "*");
    if (!w || w->kind == NO_OBJECT) return add_columns(record, item);
    if (!open || !close || close < open || (close[1] != '\0' && close[1] != '.'))
        return wrong(record, "write e.g. reaction(pin) or point(load, 0, 0, -0.5).z",
                     "the parentheses do not match");
    *close = '\0';
    return add_word(record, w, trim(open + 1), close[1] ? close + 2 : "*");
}

static lw_status parse(lw_record *record, const char *list) {
    char *rest = lw_arena_text(record->arena, list);
    if (!rest) return out_of_memory(record->error);
    lw_status status = add(record, TIME, 0, 0, about[TIME].components);
    while (rest && status == LW_OK) {
        char *item = next_item(&rest);
        record->item = lw_arena_text(record->arena, item);
        status = record->item ? add_item(record, item) : out_of_memory(record->error);
    }
    return status;
}

/* --- creation ------------------------------------------------------------------------------------- */

lw_status lw_record_create(const lw_model *model, const char *list, lw_record **out, lw_error *error) {
    *out = NULL;
    lw_arena *arena = lw_arena_create(NULL);
    lw_record *record = LW_NEW(arena, lw_record, 1);
    if (!record) {
        lw_arena_destroy(arena);
        return out_of_memory(error);
    }
    size_t bodies = (size_t)model->body_count + 1, objects = (size_t)model->joint_count + bodies, points = 1;
    for (const char *at = list; *at; at++) points += *at == '(';
    record->arena = arena;
    record->model = model;
    record->error = error;
    record->points = LW_NEW(arena, point, points);
    record->quaternion = LW_NEW(arena, double, 4 * bodies);
    record->taken = LW_NEW(arena, bool, MOST_COMPONENTS *(QUANTITIES * objects + 2 * points));
    lw_status status = lw_data_create(model, NULL, &record->data);
    if (status != LW_OK || lw_arena_failed(arena))
        status = out_of_memory(error);
    else
        status = parse(record, list);
    record->error = NULL;
    if (status != LW_OK)
        lw_record_destroy(record);
    else
        *out = record;
    return status;
}

void lw_record_destroy(lw_record *record) {
    if (!record) return;
    free(record->columns);
    free(record->names);
    lw_data_destroy(record->data);
    lw_arena_destroy(record->arena);
}

size_t lw_record_count(const lw_record *record) { return record->count; }
const lw_record_column *lw_record_columns(const lw_record *record) { return record->names; }
bool lw_record_accelerations(const lw_record *record) { return record->uses[ACCELERATIONS]; }
bool lw_record_reactions(const lw_record *record) { return record->uses[REACTION]; }

/* --- values --------------------------------------------------------------------------------------- */

/* Computes poses, and twists if needed, of all bodies, as lw_body_pose and lw_body_velocity do for one. */
static void move_bodies(lw_record *record, const lw_sample *sample) {
    const bool *uses = record->uses;
    bool twists = uses[VELOCITY] || uses[SPIN] || uses[POINT_VELOCITY];
    if (!twists && !uses[POSITION] && !uses[ROTATION] && !uses[POINT]) return;
    lw_take_state(record->model, record->data, sample->t, sample->q, twists ? sample->v : NULL);
    if (twists)
        lw_velocities(record->model, record->data);
    else
        lw_positions(record->model, record->data);
    lw_world_poses(record->model, record->data);
}

/* Computes the unit quaternion of the body's frame, with the sign that is closer to the last row's. */
static void body_quaternion(lw_record *record, int body, double *out) {
    double R[9], *last = record->quaternion + 4 * body, dot = 0;
    lw_m3_mul(record->data->world[body].R, record->model->bodies[body].frame.R, R);
    lw_quat_rot(R, out);
    for (int k = 0; k < 4; k++) dot += out[k] * last[k];
    for (int k = 0; k < 4; k++) last[k] = out[k] = dot < 0 ? -out[k] : out[k];
}

static void point_velocity(const lw_record *record, int body, const double at[3], double *out) {
    const double *V = record->data->motion[body].V;
    double local[3];
    lw_v3_copy(V + 3, local);
    lw_v3_add_cross(V, at, local);
    lw_m3_mul_v(record->data->world[body].R, local, out);
}

static void take(const double *values, int first, int count, double *out) {
    for (int k = 0; k < count; k++) out[k] = values ? values[first + k] : NAN;
}

/* Evaluates all components of a quantity of an object. */
static void evaluate(lw_record *record, const lw_sample *sample, quantity what, int object,
                     double out[MOST_COMPONENTS]) {
    const lw_model *model = record->model;
    const lw_pose *world = record->data->world;
    const lw_ledger *ledger = sample->ledger;
    const lw_joint_info *joint = about[what].kind == JOINT_OBJECT ? &model->joints[object].info : NULL;
    const double *origin = about[what].kind == BODY_OBJECT ? model->bodies[object].frame.p : NULL;
    const point *p = about[what].kind == POINT_OBJECT ? &record->points[object] : NULL;
    switch (what) {
    case TIME:
        out[0] = sample->t;
        break;
    case COORDINATES:
        take(sample->q, joint->q, joint->q_count, out);
        break;
    case SPEEDS:
        take(sample->v, joint->v, joint->v_count, out);
        break;
    case ACCELERATIONS:
        take(sample->vdot, joint->v, joint->v_count, out);
        break;
    case REACTION:
        take(sample->reactions, 6 * object, 6, out);
        break;
    case POSITION:
        lw_pose_point(world[object].R, world[object].p, origin, out);
        break;
    case ROTATION:
        body_quaternion(record, object, out);
        break;
    case VELOCITY:
        point_velocity(record, object, origin, out);
        break;
    case SPIN:
        lw_m3_mul_v(world[object].R, record->data->motion[object].V, out);
        break;
    case POINT:
        lw_pose_point(world[p->body].R, world[p->body].p, p->at, out);
        break;
    case POINT_VELOCITY:
        point_velocity(record, p->body, p->at, out);
        break;
    case LEDGER:
        take(NULL, 0, 6, out);
        if (!ledger) break;
        out[0] = ledger->kinetic, out[1] = ledger->potential, out[2] = ledger->drives;
        out[3] = ledger->forces, out[4] = ledger->dissipation, out[5] = ledger->unaccounted;
        break;
    case VIOLATION:
        out[0] = sample->position_violation, out[1] = sample->velocity_violation;
        break;
    case NOTHING:
    case QUANTITIES:
        break;
    }
}

void lw_record_row(lw_record *record, const lw_sample *sample, double *row) {
    double vector[MOST_COMPONENTS];
    const column *last = NULL;
    move_bodies(record, sample);
    for (size_t k = 0; k < record->count; k++) {
        const column *c = &record->columns[k];
        bool same = last && last->quantity == c->quantity && last->object == c->object;
        if (!same) evaluate(record, sample, c->quantity, c->object, vector);
        row[k] = vector[c->component];
        last = c;
    }
}
