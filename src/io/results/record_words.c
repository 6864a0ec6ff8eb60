/* record_words.c - the keywords of a record, and the kinds of quantities that each stands for.
 */
#include "io/results/record_words.h"

#include <string.h>

static const lw_record_word words[] = {
    {"joint", LW_OBJECT_JOINT, {LW_Q_COORDINATE, LW_Q_SPEED}, {LW_Q_ACCELERATION}},
    {"coordinates", LW_OBJECT_JOINT, {LW_Q_COORDINATE}, {0}},
    {"speeds", LW_OBJECT_JOINT, {LW_Q_SPEED}, {0}},
    {"accelerations", LW_OBJECT_JOINT, {LW_Q_ACCELERATION}, {0}},
    {"reaction", LW_OBJECT_JOINT, {LW_Q_REACTION}, {0}}, /* of constraints, too */
    {"drive", LW_OBJECT_JOINT, {LW_Q_DRIVE}, {0}},
    {"body",
     LW_OBJECT_BODY,
     {LW_Q_POSITION, LW_Q_ROTATION, LW_Q_VELOCITY, LW_Q_SPIN},
     {LW_Q_CARDAN, LW_Q_BODY_ACCELERATION, LW_Q_SPIN_RATE}},
    {"position", LW_OBJECT_BODY, {LW_Q_POSITION}, {0}},
    {"rotation", LW_OBJECT_BODY, {LW_Q_ROTATION}, {0}},
    {"cardan", LW_OBJECT_BODY, {LW_Q_CARDAN}, {0}},
    {"pose", LW_OBJECT_BODY, {LW_Q_POSITION, LW_Q_ROTATION}, {0}},
    {"velocity", LW_OBJECT_BODY, {LW_Q_VELOCITY, LW_Q_SPIN}, {0}},
    {"acceleration", LW_OBJECT_BODY, {LW_Q_BODY_ACCELERATION, LW_Q_SPIN_RATE}, {0}},
    {"com", LW_OBJECT_BODY, {LW_Q_COM}, {LW_Q_COM_VELOCITY, LW_Q_COM_ACCELERATION}},
    {"com_velocity", LW_OBJECT_BODY, {LW_Q_COM_VELOCITY}, {0}},
    {"com_acceleration", LW_OBJECT_BODY, {LW_Q_COM_ACCELERATION}, {0}},
    {"momentum", LW_OBJECT_BODY, {LW_Q_MOMENTUM}, {0}}, /* alone: of the whole mechanism */
    {"point", LW_OBJECT_POINT, {LW_Q_POINT}, {LW_Q_POINT_VELOCITY, LW_Q_POINT_ACCELERATION}},
    {"point_velocity", LW_OBJECT_POINT, {LW_Q_POINT_VELOCITY}, {0}},
    {"point_acceleration", LW_OBJECT_POINT, {LW_Q_POINT_ACCELERATION}, {0}},
    {"distance", LW_OBJECT_PAIR, {LW_Q_DISTANCE}, {0}},
    {"force", LW_OBJECT_FORCE, {LW_Q_FORCE}, {LW_Q_ELEMENT}},
    {"state", LW_OBJECT_STATE, {LW_Q_STATE}, {0}},
    {"output", LW_OBJECT_OUTPUT, {LW_Q_OUTPUT}, {0}},
    {"input", LW_OBJECT_INPUT, {LW_Q_INPUT}, {0}},
    {"parameter", LW_OBJECT_PARAMETER, {LW_Q_PARAMETER}, {0}}, /* alone: those that events set */
    {"ledger", LW_OBJECT_NONE, {LW_Q_ENERGY, LW_Q_LEDGER}, {0}},
    {"violation", LW_OBJECT_NONE, {LW_Q_VIOLATION}, {0}},
};
enum { WORDS = sizeof words / sizeof *words };
const lw_record_word lw_record_total_momentum = {"momentum", LW_OBJECT_NONE, {LW_Q_TOTAL_MOMENTUM}, {0}};

static const lw_record_word everything[] = {
    {"", LW_OBJECT_JOINT, {LW_Q_COORDINATE, LW_Q_SPEED, LW_Q_ACCELERATION, LW_Q_REACTION, LW_Q_DRIVE}, {0}},
    {"", LW_OBJECT_CONSTRAINT, {LW_Q_CONSTRAINT}, {0}},
    {"",
     LW_OBJECT_BODY,
     {LW_Q_POSITION, LW_Q_ROTATION, LW_Q_CARDAN, LW_Q_VELOCITY, LW_Q_SPIN},
     {LW_Q_BODY_ACCELERATION, LW_Q_SPIN_RATE}},
    {"", LW_OBJECT_BODY, {LW_Q_COM, LW_Q_COM_VELOCITY, LW_Q_COM_ACCELERATION, LW_Q_MOMENTUM}, {0}},
    {"", LW_OBJECT_FORCE, {LW_Q_ELEMENT, LW_Q_FORCE}, {0}},
    {"", LW_OBJECT_STATE, {LW_Q_STATE}, {0}},
    {"", LW_OBJECT_OUTPUT, {LW_Q_OUTPUT}, {0}},
    {"", LW_OBJECT_INPUT, {LW_Q_INPUT}, {0}},
    {"", LW_OBJECT_PARAMETER, {LW_Q_PARAMETER}, {0}},
    {"", LW_OBJECT_NONE, {LW_Q_TOTAL_MOMENTUM, LW_Q_ENERGY, LW_Q_LEDGER, LW_Q_VIOLATION}, {0}},
};
enum { EVERYTHING = sizeof everything / sizeof *everything };

bool lw_record_is_usual(const lw_model *model, lw_quantity_kind kind, int object, int component) {
    if (kind == LW_Q_PARAMETER) return lw_model_event_sets(model, LW_SET_PARAMETER, object);
    if (kind == LW_Q_REACTION) return component < 6;
    if (kind == LW_Q_CONSTRAINT) return component < 3;
    if (kind == LW_Q_DISTANCE) return component == 0;
    if (kind != LW_Q_FORCE) return true;
    const lw_force_type type = model->forces[object].type;
    const bool by_components = type == LW_FORCE_BUSHING || type == LW_FORCE_APPLIED;
    if (type == LW_FORCE_CONTACT) /* The normal force, and all of it as a vector. */
        return component < 3 || component == 6 || component == LW_FORCE_POWER ||
               component == LW_FORCE_FRICTION_OF_CONTACT;
    if (component >= LW_FORCE_POWER)
        return component == LW_FORCE_POWER; /* Works are integrated if asked for. */
    return (component < 6) == by_components;
}

const lw_record_word *lw_record_word_at(int k) { return k >= 0 && k < WORDS ? &words[k] : NULL; }

const lw_record_word *lw_record_word_find(const char *name, size_t length) {
    for (int k = 0; k < WORDS; k++)
        if (strlen(words[k].name) == length && strncmp(words[k].name, name, length) == 0) return &words[k];
    return NULL;
}

const lw_record_word *lw_record_everything_at(int k) {
    return k >= 0 && k < EVERYTHING ? &everything[k] : NULL;
}
