/* record_turns.c - signs of quaternions and revolutions of angles of cut joints, from row to row.
 *
 * Signs of quaternions and whole revolutions of angles of cut joints are not determined by the state. They
 * are those nearest to the last row, so that curves do not jump: q of a quaternion becomes -q where q .
 * q_last < 0, an angle a becomes a + 2 pi round((a_last - a)/(2 pi)). Angles on which forces or expressions
 * of the model depend are in the state (lw_compile_cut_angles) and stay as they are.
 *
 * Limits   Rows must be closer than half a revolution.
 */
#include "io/results/record_turns.h"

#include <math.h>

void lw_last_row_create(lw_arena *arena, const lw_model *model, lw_last_row *last) {
    last->quaternion = LW_NEW(arena, double, 4 * ((size_t)model->body_count + 1));
    last->turned = LW_NEW(arena, double, LW_JOINT_MAX_Q *((size_t)model->closure_count + 1));
}

/* Gives a quaternion the sign that is nearer to that of the last row. */
static void keep_sign(lw_last_row *row, int body, double *q) {
    double *last = row->quaternion + 4 * body, dot = 0;
    for (int k = 0; k < 4; k++) dot += q[k] * last[k];
    for (int k = 0; k < 4; k++) last[k] = q[k] = dot < 0 ? -q[k] : q[k];
}

/* Does the state leave the revolutions of this coordinate of a cut joint open? */
static bool turns_freely(const lw_joint_entry *entry, int coordinate) {
    return lw_joint_speed_turns(entry->joint.type, coordinate) && entry->winding[coordinate] < 0;
}

static double nearest(double angle, double last) {
    const double turn = 6.283185307179586477;
    return angle + turn * round((last - angle) / turn);
}

/* Gives the coordinates of a cut joint the revolutions, and a quaternion the sign, nearest to the last
 * row. */
static void keep_turns(const lw_model *model, lw_last_row *row, const lw_state_quantity *quantity,
                       double *q) {
    const lw_joint_entry *entry = &model->joints[quantity->object];
    const int ball = lw_joint_quaternion(entry->joint.type), nq = entry->joint.nq;
    double *last = row->turned + LW_JOINT_MAX_Q * (size_t)quantity->other, dot = 0;
    for (int k = ball; ball >= 0 && k < nq; k++) dot += q[k] * last[k];
    for (int k = 0; k < nq; k++) {
        if (ball >= 0 && k >= ball)
            q[k] = dot < 0 ? -q[k] : q[k];
        else if (turns_freely(entry, k))
            q[k] = nearest(q[k], last[k]);
        last[k] = q[k];
    }
}

/* The same for the coordinate that a force element acts on, F.length; a torsion spring's is in the state. */
static void keep_length(const lw_model *model, lw_last_row *row, int object, double *length) {
    const lw_force *force = &model->forces[object];
    if (force->type == LW_FORCE_SPRING || force->closure < 0 || force->q < 0) return;
    const lw_joint_entry *entry = &model->joints[model->closures[force->closure]];
    if (!turns_freely(entry, force->q)) return;
    double *last = row->turned + LW_JOINT_MAX_Q * (size_t)force->closure + force->q;
    *last = *length = nearest(*length, *last);
}

void lw_last_row_follow(const lw_model *model, lw_last_row *last, const lw_state_quantity *quantity,
                        double *vector) {
    if (quantity->kind == LW_Q_ROTATION) keep_sign(last, quantity->object, vector);
    if (quantity->kind == LW_Q_COORDINATE && quantity->other >= 0) keep_turns(model, last, quantity, vector);
    if (quantity->kind == LW_Q_ELEMENT) keep_length(model, last, quantity->object, vector);
}

/* The components of a vector of an object from the row; those that are not known stay. */
static void take(const lw_model *model, lw_quantity_kind kind, int object, double *to, lw_record_value *value,
                 void *context) {
    lw_component list[LW_QUANTITY_COMPONENTS];
    const int count = lw_quantity_components(model, kind, object, list);
    for (int k = 0; k < count; k++) {
        lw_state_quantity quantity;
        char name[LW_QUANTITY_NAME];
        lw_quantity_make(model, kind, object, k, &quantity);
        lw_quantity_print(model, &quantity, name);
        const double last = value(context, name);
        if (isfinite(last)) to[k] = last;
    }
}

void lw_last_row_set(const lw_model *model, lw_last_row *last, bool signs, bool turns, lw_record_value *value,
                     void *context) {
    for (int body = 0; body <= model->body_count && signs; body++)
        take(model, LW_Q_ROTATION, body, last->quaternion + 4 * body, value, context);
    for (int c = 0; c < model->closure_count && turns; c++)
        take(model, LW_Q_COORDINATE, model->closures[c], last->turned + LW_JOINT_MAX_Q * c, value, context);
}
