/* quantity.c - the table of the quantities that have names: their objects, components, units and needs.
 *
 * Names are made of prefix, object, infix and component: "body." "load" "." "vx". Where the components are
 * taken in the axes of a body, or a wrench about the point on the first body, the object is followed by
 * " at first" and " in NAME", and stands between parentheses: body(load in arm).vx.
 */
#include "model/quantity/quantity.h"

#include "expression/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct family {
    lw_object_kind object;
    const char *prefix, *infix;
    unsigned needs;
    bool vector; /* Components come in threes, along axes; the last ones of a wrench are magnitudes. */
    lw_component components[LW_QUANTITY_COMPONENTS];
} family;

enum {
    POSITIONS = LW_NEEDS_POSITION,
    VELOCITIES = LW_NEEDS_POSITION | LW_NEEDS_VELOCITY,
    RATES = VELOCITIES | LW_NEEDS_ACCELERATION | LW_NEEDS_MOTION_RATES
};

#define WRENCH                                                                                               \
    {"fx", "N"}, {"fy", "N"}, {"fz", "N"}, {"tx", "N m"}, {"ty", "N m"}, { "tz", "N m" }
#define MOMENTA                                                                                              \
    {"px", "kg m/s"}, {"py", "kg m/s"}, {"pz", "kg m/s"}, {"lx", "kg m^2/s"}, {"ly", "kg m^2/s"},            \
        {"lz", "kg m^2/s"}, {"hx", "kg m^2/s"}, {"hy", "kg m^2/s"}, {                                        \
        "hz", "kg m^2/s"                                                                                     \
    }
#define PLACE                                                                                                \
    {"x", "m"}, {"y", "m"}, { "z", "m" }
#define RATE                                                                                                 \
    {"vx", "m/s"}, {"vy", "m/s"}, { "vz", "m/s" }
#define SECOND_RATE                                                                                          \
    {"ax", "m/s^2"}, {"ay", "m/s^2"}, { "az", "m/s^2" }

static const family families[LW_Q_KINDS] = {
    [LW_Q_TIME] = {LW_OBJECT_NONE, "", "", 0, false, {{"t", "s"}}},
    /* The components of joints and force elements depend on their types. */
    [LW_Q_COORDINATE] = {LW_OBJECT_JOINT, "", ".", POSITIONS, false, {{0}}},
    [LW_Q_SPEED] = {LW_OBJECT_JOINT, "", ".", VELOCITIES, false, {{0}}},
    [LW_Q_ACCELERATION] = {LW_OBJECT_JOINT, "", ".", RATES, false, {{0}}},
    [LW_Q_DRIVE] = {LW_OBJECT_JOINT,
                    "drive(",
                    ").",
                    VELOCITIES | LW_NEEDS_ACCELERATION | LW_NEEDS_REACTION | LW_NEEDS_FORCES,
                    false,
                    {{0}}},
    [LW_Q_REACTION] = {LW_OBJECT_JOINT,
                       "reaction(",
                       ").",
                       LW_NEEDS_REACTION,
                       true,
                       {WRENCH, {"force", "N"}, {"torque", "N m"}}},
    [LW_Q_CONSTRAINT] =
        {LW_OBJECT_CONSTRAINT, "reaction(", ").", POSITIONS | LW_NEEDS_MULTIPLIER, true, {{0}}},
    [LW_Q_POSITION] = {LW_OBJECT_BODY, "body.", ".", POSITIONS, true, {PLACE}},
    [LW_Q_ROTATION] = {LW_OBJECT_BODY,
                       "body.",
                       ".",
                       POSITIONS,
                       false,
                       {{"qw", "1"}, {"qx", "1"}, {"qy", "1"}, {"qz", "1"}}},
    [LW_Q_CARDAN] =
        {LW_OBJECT_BODY, "body.", ".", POSITIONS, false, {{"rx", "rad"}, {"ry", "rad"}, {"rz", "rad"}}},
    [LW_Q_VELOCITY] = {LW_OBJECT_BODY, "body.", ".", VELOCITIES, true, {RATE}},
    [LW_Q_SPIN] =
        {LW_OBJECT_BODY, "body.", ".", VELOCITIES, true, {{"wx", "rad/s"}, {"wy", "rad/s"}, {"wz", "rad/s"}}},
    [LW_Q_BODY_ACCELERATION] = {LW_OBJECT_BODY, "body.", ".", RATES, true, {SECOND_RATE}},
    [LW_Q_SPIN_RATE] = {LW_OBJECT_BODY,
                        "body.",
                        ".",
                        RATES,
                        true,
                        {{"alphax", "rad/s^2"}, {"alphay", "rad/s^2"}, {"alphaz", "rad/s^2"}}},
    [LW_Q_COM] = {LW_OBJECT_BODY, "com(", ").", POSITIONS, true, {PLACE}},
    [LW_Q_COM_VELOCITY] = {LW_OBJECT_BODY, "com(", ").", VELOCITIES, true, {RATE}},
    [LW_Q_COM_ACCELERATION] = {LW_OBJECT_BODY, "com(", ").", RATES, true, {SECOND_RATE}},
    [LW_Q_MOMENTUM] = {LW_OBJECT_BODY, "momentum(", ").", VELOCITIES, true, {MOMENTA}},
    [LW_Q_POINT] = {LW_OBJECT_POINT, "point(", ").", POSITIONS, true, {PLACE}},
    [LW_Q_POINT_VELOCITY] = {LW_OBJECT_POINT, "point(", ").", VELOCITIES, true, {RATE}},
    [LW_Q_POINT_ACCELERATION] = {LW_OBJECT_POINT, "point(", ").", RATES, true, {SECOND_RATE}},
    [LW_Q_DISTANCE] = {LW_OBJECT_PAIR, "distance(", ").", VELOCITIES, false, {{"", "m"}, {"rate", "m/s"}}},
    [LW_Q_ELEMENT] = {LW_OBJECT_FORCE, "", ".", VELOCITIES, false, {{0}}},
    [LW_Q_FORCE] = {LW_OBJECT_FORCE, "force(", ").", VELOCITIES | LW_NEEDS_FORCES, true, {{0}}},
    [LW_Q_TOTAL_MOMENTUM] = {LW_OBJECT_NONE, "momentum.", "", VELOCITIES, false, {MOMENTA}},
    [LW_Q_ENERGY] = {LW_OBJECT_NONE, "", "", VELOCITIES, false, {{"kinetic", "J"}, {"potential", "J"}}},
    [LW_Q_LEDGER] = {LW_OBJECT_NONE,
                     "",
                     "",
                     LW_NEEDS_LEDGER,
                     false,
                     {{"drives", "J"}, {"forces", "J"}, {"dissipation", "J"}, {"unaccounted", "J"}}},
    [LW_Q_VIOLATION] = {LW_OBJECT_NONE,
                        "",
                        "",
                        LW_NEEDS_RUN,
                        false,
                        {{"position_violation", ""}, {"velocity_violation", ""}}},
    [LW_Q_STATE] = {LW_OBJECT_STATE, "", ".", 0, false, {{"", ""}}},
    [LW_Q_OUTPUT] = {LW_OBJECT_OUTPUT, "", ".", 0, false, {{0}}},
    [LW_Q_INPUT] = {LW_OBJECT_INPUT, "", ".", 0, false, {{"", ""}}},
    [LW_Q_PARAMETER] = {LW_OBJECT_PARAMETER, "", ".", 0, false, {{"", ""}}},
};

lw_object_kind lw_quantity_object(lw_quantity_kind kind) { return families[kind].object; }

/* Coordinates, speeds or accelerations (order 0, 1, 2) of a joint, in the tree or cut. */
static int joint_components(const lw_joint *joint, int order, lw_component *list) {
    const int count = order == 0 ? joint->nq : joint->nv;
    for (int k = 0; k < count; k++)
        list[k].name = lw_joint_column(joint->type, joint->nv, order, k, &list[k].unit);
    return count;
}

/* The force of each prescribed speed, and their power. One that stands alone has no name of its own. */
static int drive_components(const lw_joint_info *joint, lw_component *list) {
    int count = 0;
    const char *unit;
    for (int k = 0; k < joint->v_count; k++) {
        if (!(joint->prescribed >> k & 1)) continue;
        list[count].name = lw_joint_column(joint->type, joint->v_count, 1, k, &unit);
        list[count++].unit = lw_joint_speed_turns(joint->type, k) ? "N m" : "N";
    }
    if (count == 0) return 0;
    if (count == 1) list[0].name = "";
    list[count++] = (lw_component){"power", "W"};
    return count;
}

static int constraint_components(const lw_constraint *constraint, lw_component *list) {
    static const lw_component force[4] = {{"fx", "N"}, {"fy", "N"}, {"fz", "N"}, {"force", "N"}};
    if (constraint->type == LW_CONSTRAINT_COUPLING) {
        list[0] = (lw_component){"multiplier", ""};
        return 1;
    }
    memcpy(list, force, sizeof force);
    return 4;
}

/* Is the coordinate or the tension of the element a rotation or a torque? */
static bool element_turns(const lw_model *model, const lw_force *force) {
    if (force->type == LW_FORCE_SPRING) return false;
    if (force->closure >= 0) {
        const lw_joint_info *joint = &model->joints[model->closures[force->closure]].info;
        return lw_joint_speed_turns(joint->type, force->v);
    }
    int i = model->body_count;
    while (i > 0 && model->links[i].v > force->v) i--;
    while (i > 0 && model->links[i].joint.nv == 0) i--;
    const lw_joint_info *joint = &model->joints[model->bodies[i].joint_index].info;
    return lw_joint_speed_turns(joint->type, force->v - joint->v);
}

static int element_components(const lw_model *model, const lw_force *force, bool variables,
                              lw_component *list) {
    static const lw_component wrench[] = {WRENCH};
    const bool contact = force->type == LW_FORCE_CONTACT;
    const bool bodies = force->type == LW_FORCE_BUSHING || force->type == LW_FORCE_APPLIED;
    const bool turns = !bodies && !contact && element_turns(model, force);
    if (variables) {
        if (bodies) return 0;
        if (contact) list[0] = (lw_component){"gap", "m"}, list[1] = (lw_component){"rate", "m/s"};
        if (contact) return 2;
        list[0] = (lw_component){"length", turns ? "rad" : "m"};
        list[1] = (lw_component){"rate", turns ? "rad/s" : "m/s"};
        return 2;
    }
    memcpy(list, wrench, sizeof wrench);
    list[6] = (lw_component){"", turns ? "N m" : "N"};
    list[7] = (lw_component){"power", "W"};
    list[8] = (lw_component){"work", "J"};
    if (!contact) return 9;
    list[LW_FORCE_FRICTION_OF_CONTACT] = (lw_component){"friction", "N"};
    return 10;
}

int lw_quantity_components(const lw_model *model, lw_quantity_kind kind, int object,
                           lw_component list[LW_QUANTITY_COMPONENTS]) {
    int count = 0;
    switch (kind) {
    case LW_Q_COORDINATE:
    case LW_Q_SPEED:
    case LW_Q_ACCELERATION:
        return joint_components(&model->joints[object].joint, (int)kind - LW_Q_COORDINATE, list);
    case LW_Q_DRIVE:
        return drive_components(&model->joints[object].info, list);
    case LW_Q_CONSTRAINT:
        return constraint_components(&model->constraints[object], list);
    case LW_Q_ELEMENT:
    case LW_Q_FORCE:
        return element_components(model, &model->forces[object], kind == LW_Q_ELEMENT, list);
    case LW_Q_OUTPUT:
        list[0] = (lw_component){"", model->outputs[object].unit};
        return 1;
    default:
        memcpy(list, families[kind].components, sizeof families[kind].components);
        while (count < LW_QUANTITY_COMPONENTS && list[count].name) count++;
        return count;
    }
}

/* The loop that a joint closes, or -1. */
static int loop_of(const lw_model *model, int joint) {
    if (!model->joints[joint].info.cut) return -1;
    int loop = 0;
    while (model->closures[loop] != joint) loop++;
    return loop;
}

static int first_multiplier(const lw_model *model, int constraint) {
    int row = 0;
    for (int k = 0; k < constraint; k++) row += model->constraints[k].type == LW_CONSTRAINT_ROLLING ? 3 : 1;
    return row;
}

/* The marker of an index, 0 for a body; the index becomes the label of the body. */
static int take_marker(const lw_model *model, int *index) {
    if (!lw_is_marker(model, *index)) return 0;
    const int marker = *index - model->body_count;
    *index = model->frames[marker - 1].body;
    return marker;
}

void lw_quantity_make(const lw_model *model, lw_quantity_kind kind, int object, int component,
                      lw_state_quantity *quantity) {
    lw_component list[LW_QUANTITY_COMPONENTS];
    const int count = lw_quantity_components(model, kind, object, list);
    const bool of_body = families[kind].object == LW_OBJECT_BODY ||
                         families[kind].object == LW_OBJECT_POINT || families[kind].object == LW_OBJECT_PAIR;
    const int marker = of_body ? take_marker(model, &object) : 0;
    *quantity = (lw_state_quantity){
        .kind = kind, .object = object, .other = -1, .marker = {marker, 0}, .component = component};
    quantity->unit = component < count ? list[component].unit : "";
    quantity->needs = families[kind].needs;
    if (families[kind].object == LW_OBJECT_JOINT) {
        quantity->other = loop_of(model, object);
        if (quantity->other < 0 && kind == LW_Q_ACCELERATION) quantity->needs = LW_NEEDS_ACCELERATION;
        if (quantity->other >= 0) quantity->needs |= VELOCITIES;
    } else if (kind == LW_Q_CONSTRAINT) {
        quantity->other = first_multiplier(model, object);
    } else if (kind == LW_Q_ENERGY && component == 1) {
        quantity->needs |= LW_NEEDS_FORCES;
    } else if (kind == LW_Q_FORCE && component == LW_FORCE_WORK) {
        quantity->needs = LW_NEEDS_WORK;
    }
    if (families[kind].object == LW_OBJECT_BODY) {
        const lw_body *body = &model->bodies[object];
        const bool centre = kind >= LW_Q_COM && kind <= LW_Q_MOMENTUM;
        lw_v3_copy(centre       ? body->com
                   : marker > 0 ? model->frames[marker - 1].pose.p
                                : body->frame.p,
                   quantity->at[0]);
    }
    lw_units units;
    if (strcmp(quantity->unit, "1") == 0)
        quantity->meaning = (lw_meaning){.kind = LW_MEANING_RATIO};
    else if (quantity->unit[0] &&
             lw_units_read(quantity->unit, 0, &(lw_expression_names){0}, &units) == LW_UNITS_FOUND)
        quantity->meaning = lw_units_meaning(&units);
}

void lw_quantity_place(const lw_model *model, lw_state_quantity *quantity, int end, int body,
                       const double own[3]) {
    const int marker = take_marker(model, &body);
    const lw_pose *frame = marker > 0 ? &model->frames[marker - 1].pose : &model->bodies[body].frame;
    *(end == 0 ? &quantity->object : &quantity->other) = body;
    quantity->marker[end] = marker;
    lw_v3_copy(own, quantity->given[end]);
    lw_pose_point(frame->R, frame->p, own, quantity->at[end]);
}

void lw_quantity_refer(const lw_model *model, lw_state_quantity *quantity, int axes, bool at_first) {
    quantity->axes_marker = take_marker(model, &axes);
    quantity->axes = axes;
    quantity->at_first = at_first;
    if (axes > 0 || quantity->axes_marker > 0 || at_first) quantity->needs |= LW_NEEDS_POSITION;
}

bool lw_quantity_has_axes(lw_quantity_kind kind) { return families[kind].vector; }
bool lw_quantity_has_sides(lw_quantity_kind kind) { return kind == LW_Q_REACTION || kind == LW_Q_FORCE; }

/* Prints the shortest of 15, 16 and 17 digits that reads back equal, with a decimal point in every locale. */
static size_t print_number(double value, char *text, size_t size) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value + 0.0);
        if (strtod(text, NULL) == value) break;
    }
    for (char *c = text; *c; c++)
        if (!strchr("0123456789+-einfa", *c)) *c = '.';
    return strlen(text);
}

/* The name of a body, or of the marker on it that is meant. */
static const char *name_of(const lw_model *model, int body, int marker) {
    return marker > 0 ? model->frames[marker - 1].name : model->bodies[body].name;
}

/* Prints a place on a body: the name if bare is false and it is the frame's origin, otherwise name and
 * coordinates in the frame of this name. */
static void print_place(const char *name, const double own[3], bool bare, char *text, size_t size) {
    const bool short_form = !bare && own[0] == 0 && own[1] == 0 && own[2] == 0;
    snprintf(text, size, "%s%.200s", bare || short_form ? "" : "point(", name);
    for (int k = 0; k < 3 && !short_form; k++) {
        char number[40];
        print_number(own[k], number, sizeof number);
        snprintf(text + strlen(text), size - strlen(text), ", %s", number);
    }
    if (!bare && !short_form) snprintf(text + strlen(text), size - strlen(text), ")");
}

bool lw_quantity_is_alone(const char *name) {
    for (int kind = 0; kind < LW_Q_KINDS; kind++) {
        const family *f = &families[kind];
        const size_t length = f->prefix ? strlen(f->prefix) : 0;
        if (!f->prefix || f->object != LW_OBJECT_NONE || strncmp(name, f->prefix, length) != 0) continue;
        for (int k = 0; k < LW_QUANTITY_COMPONENTS && f->components[k].name; k++)
            if (strcmp(name + length, f->components[k].name) == 0) return true;
    }
    return false;
}

/* The name of one of the model's own values; behind its section where a quantity has the same name. */
static void print_value(const char *section, const char *name, char *text, size_t size) {
    const bool taken = lw_quantity_is_alone(name);
    snprintf(text, size, "%s%s%.300s%s", taken ? section : "", taken ? "(" : "", name, taken ? ")" : "");
}

/* A place of a distance. */
static void print_end(const lw_model *model, const lw_state_quantity *quantity, int end, char *text,
                      size_t size) {
    const char *name = name_of(model, end == 0 ? quantity->object : quantity->other, quantity->marker[end]);
    if (quantity->centre[end])
        snprintf(text, size, "com(%.300s)", name);
    else
        print_place(name, quantity->given[end], false, text, size);
}

static void print_object(const lw_model *model, const lw_state_quantity *quantity, char *text, size_t size) {
    char second[320];
    text[0] = '\0';
    switch (families[quantity->kind].object) {
    case LW_OBJECT_JOINT:
        snprintf(text, size, "%.300s", model->joints[quantity->object].name);
        break;
    case LW_OBJECT_CONSTRAINT:
        snprintf(text, size, "%.300s", model->constraints[quantity->object].name);
        break;
    case LW_OBJECT_BODY:
        snprintf(text, size, "%.300s", name_of(model, quantity->object, quantity->marker[0]));
        break;
    case LW_OBJECT_FORCE:
        snprintf(text, size, "%.300s", model->forces[quantity->object].name);
        break;
    case LW_OBJECT_STATE:
        print_value("state", model->values.state_names.names[quantity->object], text, size);
        break;
    case LW_OBJECT_OUTPUT:
        snprintf(text, size, "%.320s", model->outputs[quantity->object].column);
        break;
    case LW_OBJECT_INPUT:
        print_value("input", model->input_names.names[quantity->object], text, size);
        break;
    case LW_OBJECT_PARAMETER:
        print_value("parameter", model->parameter_names.names[quantity->object], text, size);
        break;
    case LW_OBJECT_POINT:
        print_place(name_of(model, quantity->object, quantity->marker[0]), quantity->given[0], true, text,
                    size);
        break;
    case LW_OBJECT_PAIR:
        print_end(model, quantity, 0, text, size);
        print_end(model, quantity, 1, second, sizeof second);
        snprintf(text + strlen(text), size - strlen(text), ", %s", second);
        break;
    case LW_OBJECT_NONE:
        break;
    }
}

void lw_quantity_print(const lw_model *model, const lw_state_quantity *quantity,
                       char name[LW_QUANTITY_NAME]) {
    const family *f = &families[quantity->kind];
    lw_component list[LW_QUANTITY_COMPONENTS];
    char object[660], refer[340] = "";
    (void)lw_quantity_components(model, quantity->kind, quantity->object, list);
    const char *part = list[quantity->component].name, *prefix = f->prefix, *infix = f->infix;
    print_object(model, quantity, object, sizeof object);
    if (quantity->axes > 0 || quantity->axes_marker > 0)
        snprintf(refer, sizeof refer, "%s in %.300s", quantity->at_first ? " at first" : "",
                 name_of(model, quantity->axes, quantity->axes_marker));
    else if (quantity->at_first)
        snprintf(refer, sizeof refer, " at first");
    if (refer[0] && f->object == LW_OBJECT_BODY && strcmp(prefix, "body.") == 0)
        prefix = "body(", infix = ").";
    const int shorter = part[0] ? 0 : 1; /* The vector itself has no component and no dot. */
    snprintf(name, LW_QUANTITY_NAME, "%s%s%s%.*s%s", prefix, object, refer, (int)strlen(infix) - shorter,
             infix, part);
}

bool lw_quantity_same_vector(const lw_state_quantity *a, const lw_state_quantity *b) {
    return a->kind == b->kind && a->object == b->object && a->other == b->other && a->axes == b->axes &&
           a->needs == b->needs && a->at_first == b->at_first && a->axes_marker == b->axes_marker &&
           a->marker[0] == b->marker[0] && a->marker[1] == b->marker[1] &&
           memcmp(a->at, b->at, sizeof a->at) == 0;
}
