/* bindings.c - parameters of a spec that may be changed after reading.
 *
 * lw_spec_set_parameter gives the parameter its value in place of its expression, evaluates the parameters
 * that depend on it in the order in which the reader evaluated them, then every binding, and looks whether
 * the expressions of the state still have values (law_check.c). The spec is changed only if every step
 * succeeds. A field that the caller has changed in between differs from the value
 * that the binding has written last, and keeps the caller's value; all other fields get the same value, to
 * the last bit, as if the file were read with the new parameter, because both use lw_binding_apply and the
 * same expressions.
 *
 * Repeats, names and coordinates that are made from parameters decide which objects there are. A change that
 * alters one of these numbers is refused.
 *
 * Cost     O(total length of the expressions * number of parameters).
 */
#include "model/spec/bindings.h"
#include "expression/function.h"
#include "model/spec/law_check.h"
#include "model/spec/parts.h"
#include "model/spec/spec_storage.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* --- results from operands ------------------------------------------------------------------------ */

int lw_binding_operands(lw_binding_kind kind) {
    static const int counts[LW_BIND_KINDS] = {1, 4, 4, 3, 3, 9, 1, 1};
    return counts[kind];
}

int lw_binding_results(lw_binding_kind kind) {
    static const int counts[LW_BIND_KINDS] = {1, 4, 4, 4, 3, 6, 10, 0};
    return counts[kind];
}

static bool unit_quaternion(const double given[4], double q[4]) {
    double length = hypot(hypot(given[0], given[1]), hypot(given[2], given[3]));
    memcpy(q, given, 4 * sizeof *q);
    if (!(fabs(length - 1) <= 1e-3)) return false; /* A quaternion may be rounded to few digits. */
    if (fabs(length - 1) <= 1e-15) return true;    /* A written quaternion reads back unchanged. */
    for (int k = 0; k < 4; k++) q[k] /= length;
    return true;
}

static bool from_axis(const double given[4], double q[4]) {
    const double *axis = given, angle = given[3], length = hypot(hypot(axis[0], axis[1]), axis[2]);
    if (!(length > 0)) return false;
    q[0] = cos(angle / 2);
    for (int k = 0; k < 3; k++) q[k + 1] = sin(angle / 2) * (axis[k] / length);
    return true;
}

/* The quaternion q = qx qy qz of three Cardan angles, by half-angle formulas. */
static void from_cardan(const double angles[3], double q[4]) {
    double cx = cos(angles[0] / 2), sx = sin(angles[0] / 2);
    double cy = cos(angles[1] / 2), sy = sin(angles[1] / 2);
    double cz = cos(angles[2] / 2), sz = sin(angles[2] / 2);
    q[0] = cx * cy * cz - sx * sy * sz;
    q[1] = sx * cy * cz + cx * sy * sz;
    q[2] = cx * sy * cz - sx * cy * sz;
    q[3] = cx * cy * sz + sx * sy * cz;
}

static bool from_matrix(const double m[9], double six[6]) {
    const double nothing = 1e-30; /* kg m^2, where the diagonal is zero; validate.c judges the inertia. */
    double scale = fabs(m[0]) + fabs(m[4]) + fabs(m[8]);
    static const int upper[3] = {1, 2, 5}, lower[3] = {3, 6, 7};
    for (int k = 0; k < 3; k++) {
        double gap = fabs(m[upper[k]] - m[lower[k]]);
        if (!(gap <= 1e-9 * scale || gap <= nothing)) return false; /* Entries may be rounded. */
        six[k] = m[4 * k];
        six[3 + k] = 0.5 * (m[upper[k]] + m[lower[k]]);
    }
    return true;
}

bool lw_binding_apply(lw_binding_kind kind, const double *operands, double *results) {
    switch (kind) {
    case LW_BIND_NUMBER:
        results[0] = operands[0];
        return true;
    case LW_BIND_QUATERNION:
        return unit_quaternion(operands, results);
    case LW_BIND_AXIS_ANGLE:
        return from_axis(operands, results);
    case LW_BIND_CARDAN:
        from_cardan(operands, results);
        return true;
    case LW_BIND_DIRECTION:
        memcpy(results, operands, 3 * sizeof *results);
        return operands[0] != 0 || operands[1] != 0 || operands[2] != 0;
    case LW_BIND_INERTIA:
        return from_matrix(operands, results);
    case LW_BIND_SHAPE:
    case LW_BIND_STRUCTURE:
    case LW_BIND_KINDS:
        break;
    }
    return true;
}

/* --- recording ------------------------------------------------------------------------------------ */

static void *with_room(lw_arena *arena, void *items, size_t count, size_t more, size_t *capacity,
                       size_t item_size) {
    if (count + more <= *capacity) return items;
    size_t longer = 2 * *capacity + more + 16;
    void *copy = lw_arena_take(arena, longer, item_size);
    if (!copy) return NULL;
    if (count > 0) memcpy(copy, items, count * item_size);
    *capacity = longer;
    return copy;
}

/* Texts share larger chunks, because every piece of an arena takes at least 64 bytes. */
static const char *keep_text(lw_spec *spec, const char *text) {
    lw_bindings *b = &spec->bindings;
    size_t size = strlen(text) + 1, chunk = 4096;
    if (size > b->text_left) {
        char *room = LW_NEW(spec->arena, char, size > chunk ? size : chunk);
        if (!room) return NULL;
        b->text = room;
        b->text_left = size > chunk ? size : chunk;
    }
    char *copy = b->text;
    memcpy(copy, text, size);
    b->text += size;
    b->text_left -= size;
    return copy;
}

bool lw_binding_has_column(lw_binding_owner owner) {
    return owner == LW_OWNER_TABLE_X || owner == LW_OWNER_TABLE_Y || owner == LW_OWNER_POINTS_X ||
           owner == LW_OWNER_POINTS_Y;
}

const double *lw_binding_column(const lw_spec *spec, lw_binding_owner owner, size_t object, int *size) {
    if (owner == LW_OWNER_SHAPES) {
        *size = spec->bodies[object].shape_count;
        return (const double *)(const void *)spec->bodies[object].shapes;
    }
    if (!lw_binding_has_column(owner)) return NULL;
    if (owner == LW_OWNER_TABLE_X || owner == LW_OWNER_TABLE_Y) {
        const lw_law_spec *law = &spec->forces[object].law;
        *size = law->table_size;
        return owner == LW_OWNER_TABLE_X ? law->table_x : law->table_y;
    }
    const lw_table_spec *table = &spec->tables[object];
    *size = table->size;
    return owner == LW_OWNER_POINTS_X ? table->x : table->y;
}

double *lw_binding_location(const lw_spec *spec, const lw_binding *binding) {
    size_t index = (size_t)binding->object;
    void *base = NULL;
    int size;
    switch (binding->owner) {
    case LW_OWNER_GRAVITY:
        base = (void *)spec->gravity;
        break;
    case LW_OWNER_RUN:
        base = (void *)&spec->run;
        break;
    case LW_OWNER_INPUT:
        base = &spec->inputs[index].value;
        break;
    case LW_OWNER_BODY:
        base = &spec->bodies[index];
        break;
    case LW_OWNER_JOINT:
        base = &spec->joints[index];
        break;
    case LW_OWNER_FORCE:
        base = &spec->forces[index];
        break;
    case LW_OWNER_CONSTRAINT:
        base = &spec->constraints[index];
        break;
    case LW_OWNER_TABLE_X:
    case LW_OWNER_TABLE_Y:
    case LW_OWNER_POINTS_X:
    case LW_OWNER_POINTS_Y:
    case LW_OWNER_SHAPES:
        if (lw_binding_column(spec, binding->owner, index, &size) == binding->table)
            base = (void *)binding->table;
        break;
    case LW_OWNER_STATE:
        base = &spec->states[index];
        break;
    case LW_OWNER_FRAME:
        base = &spec->frames[index];
        break;
    case LW_OWNER_START:
        base = &spec->starts[index];
        break;
    case LW_OWNER_PART:
        base = &spec->parts[index];
        break;
    case LW_OWNER_NONE:
    case LW_OWNERS:
        break;
    }
    return base ? (double *)(void *)((char *)base + binding->offset) : NULL;
}

lw_status lw_spec_bind(lw_spec *spec, const lw_binding *binding, const lw_operand *operands) {
    lw_bindings *b = &spec->bindings;
    size_t inputs = (size_t)lw_binding_operands(binding->kind),
           outputs = (size_t)lw_binding_results(binding->kind);
    lw_binding *items = with_room(spec->arena, b->items, b->count, 1, &b->capacity, sizeof *items);
    lw_operand *own =
        with_room(spec->arena, b->operands, b->operand_count, inputs, &b->operand_capacity, sizeof *own);
    double *written =
        with_room(spec->arena, b->written, b->written_count, outputs, &b->written_capacity, sizeof *written);
    lw_body_spec *shadows = b->shadows;
    if (binding->kind == LW_BIND_SHAPE)
        shadows =
            with_room(spec->arena, b->shadows, b->shadow_count, 1, &b->shadow_capacity, sizeof *shadows);
    if (lw_arena_failed(spec->arena)) return LW_ERROR_MEMORY;
    b->items = items, b->operands = own, b->written = written, b->shadows = shadows;

    lw_binding *added = &items[b->count];
    *added = *binding;
    added->operand = (int)b->operand_count, added->result = (int)b->written_count, added->shadow = -1;
    for (size_t k = 0; k < inputs; k++) {
        own[b->operand_count + k] = operands[k];
        if (!operands[k].text) continue;
        own[b->operand_count + k].text = keep_text(spec, operands[k].text);
        if (!own[b->operand_count + k].text) return LW_ERROR_MEMORY;
    }
    const double *now = lw_binding_location(spec, added);
    if (now) memcpy(written + b->written_count, now, outputs * sizeof *written);
    if (binding->kind == LW_BIND_SHAPE) {
        lw_body_spec *shadow = &shadows[b->shadow_count];
        *shadow = spec->bodies[binding->object];
        if (shadow->shape_count > 0) {
            shadow->shapes = lw_shapes_copy(&spec->meshes, spec->arena, shadow->shapes, shadow->shape_count);
            if (!shadow->shapes) return LW_ERROR_MEMORY;
        }
        added->shadow = (int)b->shadow_count++;
    }
    b->count++, b->operand_count += inputs, b->written_count += outputs;
    return LW_OK;
}

/* --- changing a parameter ------------------------------------------------------------------------- */

typedef struct change {
    const lw_spec *spec;
    const char *name;       /* name of the parameter that is set */
    lw_constant *constants; /* new values of all parameters */
    double *results;        /* new values of lw_bindings.written */
    lw_arena *scratch;
    lw_named_table *tables; /* with their new points; NULL as long as no value is known to call one */
    lw_error *error;
} change;

static lw_status refuse(const change *c, const lw_binding *binding, const char *remedy, const char *message) {
    static const char *const kinds[LW_OWNERS] = {NULL,    NULL,         "run",   "input", "body",  "joint",
                                                 "force", "constraint", "force", "force", "state", "table",
                                                 "table", "body",       "frame", "start", "part"};
    const lw_spec *spec = c->spec;
    size_t k = (size_t)binding->object;
    const char *name = NULL;
    switch (binding->owner) {
    case LW_OWNER_INPUT:
        name = spec->inputs[k].name;
        break;
    case LW_OWNER_BODY:
    case LW_OWNER_SHAPES:
        name = spec->bodies[k].name;
        break;
    case LW_OWNER_JOINT:
        name = spec->joints[k].name;
        break;
    case LW_OWNER_FORCE:
    case LW_OWNER_TABLE_X:
    case LW_OWNER_TABLE_Y:
        name = spec->forces[k].name;
        break;
    case LW_OWNER_CONSTRAINT:
        name = spec->constraints[k].name;
        break;
    case LW_OWNER_STATE:
        name = spec->states[k].name;
        break;
    case LW_OWNER_FRAME:
        name = spec->frames[k].name;
        break;
    case LW_OWNER_START:
        name = spec->starts[k].name;
        break;
    case LW_OWNER_PART:
        name = spec->parts[k].name;
        break;
    case LW_OWNER_POINTS_X:
    case LW_OWNER_POINTS_Y:
        name = spec->tables[k].name;
        break;
    case LW_OWNER_NONE:
    case LW_OWNER_GRAVITY:
    case LW_OWNER_RUN:
    case LW_OWNERS:
        break;
    }
    char use[320];
    const char *file = lw_spec_source(spec, name, use, sizeof use);
    return lw_fail_at(c->error, LW_ERROR_MODEL, file, binding->place, name ? kinds[binding->owner] : NULL,
                      name, remedy, "parameter \"%s\" cannot have this value: %s%s", c->name, message, use);
}

static lw_status evaluate(const change *c, const lw_binding *binding, const lw_operand *operand,
                          double *value) {
    *value = operand->value;
    if (!operand->text) return LW_OK;
    const lw_expression_names names = {.constants = c->constants,
                                       .constant_count = c->spec->parameter_count,
                                       .tables = c->tables,
                                       .table_count = c->tables ? c->spec->table_count : 0};
    lw_syntax syntax = {0};
    if (lw_number_meaning(operand->text, &names, value, NULL, &syntax)) return LW_OK;
    char message[384];
    snprintf(message, sizeof message, "\"%.100s\": %s", operand->text, syntax.message);
    return refuse(c, binding, syntax.remedy, message);
}

/* Writes the results of the bindings of a body's shapes, which stand before that of its mass, into a body. */
static void renew_shapes(const lw_bindings *b, const lw_binding *binding, const double *results,
                         lw_body_spec *body) {
    for (const lw_binding *p = binding; p-- > b->items &&
                                        (p->owner == LW_OWNER_BODY || p->owner == LW_OWNER_SHAPES) &&
                                        p->object == binding->object;) {
        char *base = p->owner == LW_OWNER_BODY ? (char *)body : (char *)(void *)body->shapes;
        memcpy(base + p->offset, results + p->result, (size_t)lw_binding_results(p->kind) * sizeof *results);
    }
}

/* Mass, centre and inertia of a body with a shape, whose numbers come from the bindings before this one. */
static lw_status weigh(const change *c, const lw_binding *binding, double density, double *results,
                       lw_body_spec *body) {
    const lw_bindings *b = &c->spec->bindings;
    *body = b->shadows[binding->shadow];
    if (body->shape_count > 0) {
        lw_mesh_pool pool = c->spec->meshes; /* It has all meshes: none is added. */
        body->shapes = lw_shapes_copy(&pool, c->scratch, body->shapes, body->shape_count);
        if (!body->shapes) return lw_out_of_memory(c->error);
    }
    renew_shapes(b, binding, c->results, body);
    bool dense = b->operands[binding->operand].text || b->operands[binding->operand].value > 0;
    if (dense && !(density > 0))
        return refuse(c, binding, "give a value with which the density is positive",
                      "a density is not positive");
    if (dense) body->mass = 0;
    memcpy(results, (const char *)body + offsetof(lw_body_spec, mass), 10 * sizeof *results);
    if (!(body->mass >= 0)) { /* The reader does the same; compiling reports the mass. */
        memset(results + 1, 0, 9 * sizeof *results);
        return LW_OK;
    }
    lw_status status = body->shape_count > 0 ? lw_shapes_inertia(body->shapes, body->shape_count, body->mass,
                                                                 results, results + 1, results + 4)
                                             : lw_shape_inertia(&body->shape, body->mass, dense ? density : 0,
                                                                results, results + 1, results + 4);
    if (status == LW_ERROR_MEMORY) return lw_out_of_memory(c->error);
    if (status != LW_OK)
        return refuse(c, binding, "its lengths must be positive and its points apart",
                      dense ? "a shape has no volume for its density, or its mass is too large"
                            : "a shape has no extent");
    for (int k = 0; k < 6; k++) {
        if (body->kind == LW_BODY_POINT) results[4 + k] = 0;
        if (body->kind == LW_BODY_PLANAR) results[4 + k] *= k == 2;
    }
    return LW_OK;
}

static lw_status keep_rules(const change *c, const lw_binding *binding, const double *results) {
    char message[128];
    double x = results[0];
    bool good = binding->rule == LW_RULE_NONE || (x > 0 && (binding->rule == LW_RULE_POSITIVE || x < 1));
    if (good) return LW_OK;
    snprintf(message, sizeof message, "a value would be %g", x);
    return refuse(c, binding,
                  binding->rule == LW_RULE_POSITIVE ? "it must be positive"
                                                    : "it must be above 0 and below 1",
                  message);
}

static lw_status renew(const change *c, const lw_binding *binding) {
    static const char *const remedies[LW_BIND_KINDS] = {
        [LW_BIND_QUATERNION] = "a quaternion [w, x, y, z] has length 1",
        [LW_BIND_AXIS_ANGLE] = "give any non-zero vector",
        [LW_BIND_DIRECTION] = "give any non-zero vector",
        [LW_BIND_INERTIA] = "entries ij and ji of an inertia are equal",
    };
    static const char *const faults[LW_BIND_KINDS] = {
        [LW_BIND_QUATERNION] = "a quaternion has another length than 1",
        [LW_BIND_AXIS_ANGLE] = "axis [0, 0, 0] has no direction",
        [LW_BIND_DIRECTION] = "axis [0, 0, 0] has no direction",
        [LW_BIND_INERTIA] = "an inertia is not symmetric",
    };
    const lw_operand *operand = c->spec->bindings.operands + binding->operand;
    double operands[LW_MAX_OPERANDS], *results = c->results + binding->result;
    lw_status status = LW_OK;
    for (int k = 0; k < lw_binding_operands(binding->kind) && status == LW_OK; k++)
        status = evaluate(c, binding, &operand[k], &operands[k]);
    if (status != LW_OK) return status;
    if (binding->kind == LW_BIND_STRUCTURE) {
        char message[384];
        if (operands[0] == operand[0].value) return LW_OK;
        snprintf(message, sizeof message,
                 "\"%.100s\" decides which objects the model has, and would change from %g to %g",
                 operand[0].text, operand[0].value, operands[0]);
        return refuse(c, binding, "read the model file again with this setting", message);
    }
    if (binding->kind == LW_BIND_SHAPE) {
        lw_body_spec body;
        return weigh(c, binding, operands[0], results, &body);
    }
    if (!lw_binding_apply(binding->kind, operands, results))
        return refuse(c, binding, remedies[binding->kind], faults[binding->kind]);
    return keep_rules(c, binding, results);
}

/* Values that expressions of the state take their constants from are refused as the reader refuses them. */
static lw_status check_laws(const change *c) {
    lw_broken_law broken;
    if (lw_laws_hold(c->spec, c->constants, c->tables, c->scratch, &broken))
        return lw_arena_failed(c->scratch) ? lw_out_of_memory(c->error) : LW_OK;
    return lw_fail_at(c->error, LW_ERROR_MODEL, c->spec->file, broken.place, broken.kind, broken.name,
                      broken.syntax.remedy, "parameter \"%s\" cannot have this value: \"%.100s\": %s",
                      c->name, broken.text, broken.syntax.message);
}

static bool of_table(const lw_binding *binding) {
    return binding->owner == LW_OWNER_POINTS_X || binding->owner == LW_OWNER_POINTS_Y;
}

/* Does some value that is no point of a table call one? */
static bool calls_tables(const lw_spec *spec) {
    const lw_bindings *b = &spec->bindings;
    for (size_t k = 0; k < b->count && spec->table_count > 0; k++)
        for (int o = 0; o < lw_binding_operands(b->items[k].kind) && !of_table(&b->items[k]); o++) {
            const char *text = b->operands[b->items[k].operand + o].text;
            for (size_t j = 0; text && j < spec->table_count; j++)
                if (strstr(text, spec->tables[j].name)) return true;
        }
    return false;
}

/* The tables with their new points, which have been evaluated. */
static lw_status renew_tables(change *c) {
    const lw_spec *spec = c->spec;
    const lw_bindings *b = &spec->bindings;
    lw_named_table *tables = LW_NEW(c->scratch, lw_named_table, spec->table_count + 1);
    if (!tables) return lw_out_of_memory(c->error);
    for (size_t k = 0; k < spec->table_count; k++) {
        const lw_table_spec *table = &spec->tables[k];
        const size_t size = table->x && table->y && table->size > 0 ? (size_t)table->size : 0;
        double *columns[2] = {LW_NEW(c->scratch, double, size + 1), LW_NEW(c->scratch, double, size + 1)};
        if (lw_arena_failed(c->scratch)) return lw_out_of_memory(c->error);
        if (size > 0) memcpy(columns[0], table->x, size * sizeof(double));
        if (size > 0) memcpy(columns[1], table->y, size * sizeof(double));
        const lw_binding *last = NULL;
        for (const lw_binding *p = b->items; (size_t)(p - b->items) < (size_t)b->count; p++) {
            if (!of_table(p) || (size_t)p->object != k || !lw_binding_location(spec, p)) continue;
            columns[p->owner == LW_OWNER_POINTS_Y][(size_t)p->offset / sizeof(double)] =
                c->results[p->result];
            last = p;
        }
        size_t row;
        lw_syntax syntax = {0};
        if (!lw_table_check(columns[0], columns[1], size, &row, &syntax) && last)
            return refuse(c, last, syntax.remedy, syntax.message);
        tables[k] = (lw_named_table){.name = table->name,
                                     .table = lw_table_create(c->scratch, columns[0], columns[1], size,
                                                              table->interpolation, table->beyond)};
        if (!tables[k].table) tables[k].name = ""; /* Compiling reports it. */
    }
    c->tables = tables;
    return LW_OK;
}

/* Writes the new values into all fields that the caller has not changed. */
static void take_over(lw_spec *spec, const double *results) {
    lw_bindings *b = &spec->bindings;
    for (lw_binding *binding = b->items; (size_t)(binding - b->items) < (size_t)b->count; binding++) {
        double *field = lw_binding_location(spec, binding), *written = b->written + binding->result;
        const double *now = results + binding->result;
        int count = lw_binding_results(binding->kind);
        if (binding->kind == LW_BIND_SHAPE) {
            renew_shapes(b, binding, results, &b->shadows[binding->shadow]);
        }
        for (int k = 0; k < count; k++) {
            bool own =
                field && !(binding->kept >> k & 1) && memcmp(&field[k], &written[k], sizeof *field) == 0;
            if (own) field[k] = now[k];
            written[k] = now[k];
        }
    }
}

/* Computes the new values of all parameters: those that are set, and those whose expressions depend on them,
 * in the order of their evaluation. */
static lw_status renew_parameters(const change *c, const bool *set, const double *values) {
    const lw_spec *spec = c->spec;
    for (size_t k = 0; k < spec->parameter_count; k++)
        c->constants[k] = (lw_constant){.name = spec->parameters[k].name,
                                        .value = set[k] ? values[k] : spec->parameters[k].value};
    for (size_t r = 0; r < spec->parameter_count; r++) {
        size_t k = spec->parameters[r].evaluated;
        const lw_parameter *p = &spec->parameters[k];
        const lw_operand operand = {p->text, p->value};
        const lw_binding binding = {.owner = LW_OWNER_NONE, .place = p->place};
        if (set[k] || !p->text) continue;
        lw_status status = evaluate(c, &binding, &operand, &c->constants[k].value);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

/* The number of the parameter of this name, which is to have this value; refused if there is none of the name
 * or the value is not finite. */
static lw_status find_parameter(const lw_spec *spec, const char *name, double value, size_t *index,
                                lw_error *error) {
    size_t k = 0;
    while (name && k < spec->parameter_count && strcmp(spec->parameters[k].name, name) != 0) k++;
    *index = k;
    if (!name || k == spec->parameter_count) {
        char remedy[160] = "set one of its parameters, or add one with lw_spec_add_parameter";
        if (!name)
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a spec and a name",
                           "a parameter without name");
        lw_closest_search search = lw_closest_to(name);
        for (k = 0; k < spec->parameter_count; k++) lw_closest_try(&search, spec->parameters[k].name);
        lw_did_you_mean(search.name, remedy, sizeof remedy);
        return lw_fail_at(error, LW_ERROR_ARGUMENT, spec->file, (lw_place){0, 0}, NULL, NULL, remedy,
                          "there is no parameter \"%.80s\" to set", name);
    }
    if (!isfinite(value))
        return lw_fail_at(error, LW_ERROR_ARGUMENT, spec->file, spec->parameters[k].place, "parameter", name,
                          "give a finite number", "its value would not be finite");
    return LW_OK;
}

lw_status lw_spec_set_parameter(lw_spec *spec, const char *name, double value, lw_error *error) {
    return lw_spec_set_parameters(spec, &name, &value, 1, error);
}

lw_status lw_spec_set_parameters(lw_spec *spec, const char *const *names, const double *values, size_t count,
                                 lw_error *error) {
    if (!spec || (count > 0 && (!names || !values)))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a spec and a name", "a parameter without %s",
                       spec ? "name" : "spec");
    if (count == 0) return LW_OK;
    lw_arena *scratch = lw_arena_create(NULL);
    change c = {.spec = spec,
                .name = "",
                .constants = LW_NEW(scratch, lw_constant, spec->parameter_count + 1),
                .results = LW_NEW(scratch, double, spec->bindings.written_count + 1),
                .scratch = scratch,
                .error = error};
    bool *set = LW_NEW(scratch, bool, spec->parameter_count + 1);
    double *given = LW_NEW(scratch, double, spec->parameter_count + 1);
    lw_status status = !scratch || lw_arena_failed(scratch) ? lw_out_of_memory(error) : LW_OK;
    for (size_t k = 0; k < count && status == LW_OK; k++) {
        size_t index;
        status = find_parameter(spec, names[k], values[k], &index, error);
        if (status != LW_OK) break;
        set[index] = true, given[index] = values[k];
        c.name = spec->parameters[index].name; /* Of several the last one is named in refusals. */
    }
    if (status == LW_OK) status = renew_parameters(&c, set, given);
    const bool tables = status == LW_OK && (calls_tables(spec) || lw_laws_call_tables(spec));
    for (size_t k = 0; k < spec->bindings.count && status == LW_OK && tables; k++)
        if (of_table(&spec->bindings.items[k])) status = renew(&c, &spec->bindings.items[k]);
    if (status == LW_OK && tables) status = renew_tables(&c);
    for (size_t k = 0; k < spec->bindings.count && status == LW_OK; k++)
        status = renew(&c, &spec->bindings.items[k]);
    if (status == LW_OK) status = check_laws(&c);
    if (status == LW_OK) {
        for (size_t k = 0; k < spec->parameter_count; k++) {
            spec->parameters[k].value = c.constants[k].value;
            if (set[k]) spec->parameters[k].text = NULL;
        }
        take_over(spec, c.results);
    }
    if (scratch) lw_arena_destroy(scratch);
    return status;
}
