/* massless_steady.c - the velocity that linear dampers ask for along motions without mass.
 *
 *   v = w + N zeta,    (N'C N) zeta = N'Q(q, w, t)                                          (28b)
 *
 * Nothing joins the directions of one piece with those of another but the forces at w. So each piece is
 * finished while its numbers are at hand: the elements that act on it, its directions, their balance, N'C N
 * with its factor, zeta, and what that changes in forces and velocities. Done step by step for all, a long
 * chain would go through memory ten times. Pieces come from the leaves inwards; elements, which mostly stand
 * in the order of bodies, from the last on as far as a piece needs them.
 *
 * Source   Arnold (2013), eqs 28b, 31; docs/theory/massless.md, 4.
 * Cost     O(n), no allocation.
 * Limits   dampers linear in speeds; no other element that such motions reach books power.
 */
#include "formulations/massless/massless_parts.h"
#include "linalg/spatial.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

/* Takes the last N zeta from the bodies and speeds of blocks that share some of them, which no other piece
 * does. */
static void clear(lw_flow *flow, const lw_null_block *block) {
    const lw_null_shape *shape = flow->shape;
    for (int m = block->place; m < block->place + block->moved; m++) /* its directions move the same */
        for (int c = 0; c < 6; c++) flow->twist[6 * shape->body[m] + c] = 0;
    int end = block->entry + block->count * block->entries;
    for (int e = block->entry; e < end && shape->turning; e++) flow->apart[shape->speed[e]] = 0;
}

/* Speed k changes by N zeta, and with it what the dampers of its joint do. Returns their power. */
INLINE double change_speed(lw_flow *flow, const double *in_joints, int k, double change, bool alone) {
    lw_data *data = flow->data;
    double before = data->v[k], power = 0;
    if (in_joints) {
        double force = in_joints[k] * change;
        data->tau[k] -= force;
        power = force * (2 * before + change);
    }
    data->v[k] = before + change;
    if (flow->shape->turning) flow->apart[k] = alone ? change : flow->apart[k] + change;
    return power;
}

/* N zeta of a block: speeds, and the twists of the bodies that it moves. count: of its directions, a constant
 * where that pays. */
INLINE double move_block(lw_flow *flow, const lw_null_block *block, const double *in_joints, int count) {
    const lw_null_shape *shape = flow->shape;
    const double *value = flow->null->value + block->entry, *twist = flow->null->twist + 6 * block->place;
    const int *speed = shape->speed + block->entry, *body = shape->body + block->place;
    const int entries = block->entries, own = block->root != LW_ROOT_RESPONDS;
    const bool alone = block->alone;
    double z[6], power = 0;
    for (int a = 0; a < count; a++) z[a] = flow->zeta[block->first + a];
    for (int a = 0; a < count && own; a++)
        power += change_speed(flow, in_joints, speed[entries * a], z[a], alone);
    for (int e = own; e < entries; e++) {
        double change = 0;
        for (int a = 0; a < count; a++) change += value[entries * a + e] * z[a];
        power += change_speed(flow, in_joints, speed[e], change, alone);
    }
    for (int m = 0; m < block->moved; m++) {
        double *E = flow->twist + 6 * body[m], sum[6];
        for (int c = 0; c < 6; c++) sum[c] = alone ? 0 : E[c];
        for (int a = 0; a < count; a++) lw_v6_axpy(z[a], twist + 6 * (block->moved * a + m), sum);
        for (int c = 0; c < 6; c++) E[c] = sum[c];
    }
    return power;
}

static void finish_piece(lw_flow *flow, const lw_null_piece *piece, double t) {
    const lw_null_block *blocks = flow->shape->blocks + piece->block,
                        *end = flow->shape->blocks + piece->block_end;
    const double *in_joints = lw_dampers_in_joints(flow->dampers);
    double power = 0;
    if (!piece->constant) lw_null_find(flow->null, flow->data, piece);
    lw_null_forces_piece(flow->null, piece, flow->data, flow->gamma);
    for (int k = piece->first; k < piece->end; k++) flow->zeta[k] = flow->gamma[k];
    lw_dampers_factor_piece(flow->dampers, piece, flow->data, t);
    lw_dampers_solve_piece(flow->dampers, piece, flow->zeta);
    for (const lw_null_block *block = blocks; block < end; block++)
        if (!block->alone) clear(flow, block);
    for (const lw_null_block *block = blocks; block < end; block++)
        power += move_block(flow, block, in_joints, block->count);
    flow->data->power.dissipation += power;
    lw_dampers_advance(flow->dampers, piece, flow->zeta, flow->twist, flow->data);
}

/* Places and twists of the bodies, and of what N and the recursions need. */
static void place_bodies(lw_flow *flow) {
    enum { STEP = 64 };
    int placed = 0, count = flow->model->body_count;
    for (int first = 1; first <= count; first += STEP) {
        int end = first + STEP <= count ? first + STEP : count + 1;
        lw_velocities_of(flow->model, flow->data, first, end);
        lw_world_poses_of(flow->model, flow->data, first, end);
        placed = lw_null_copy_places(flow->null, flow->data, placed, end);
    }
}

/* Forces at w of the elements before those that are there, as far as the piece needs. */
static void add_forces(lw_flow *flow, double t, const double *tau, lw_null_piece *from,
                       const lw_null_piece *piece) {
    lw_data *data = flow->data;
    for (int k = piece->speed; k < from->speed; k++) data->tau[k] = tau ? tau[k] : 0;
    for (int i = piece->body; i < from->body && flow->model->forces_need_world; i++)
        for (int c = 0; c < 6; c++) data->load[6 * i + c] = 0;
    lw_forces_add(flow->model, data, piece->element, from->element, t, false);
    *from = *piece;
}

lw_status lw_flow_steady(lw_flow *flow, double t, const double *tau, lw_error *error) {
    const lw_model *model = flow->model;
    lw_data *data = flow->data;
    int count = flow->shape->count, pieces;
    const lw_null_piece *piece = lw_dampers_pieces(flow->dampers, &pieces);
    const int *placed = lw_dampers_placed(flow->dampers);
    bool world = model->forces_need_world, later = !world && !flow->shape->donor_count;
    if (world) place_bodies(flow);
    lw_null_prepare(flow->null, data, world || later);
    data->potential = 0;
    data->power = (lw_power){0, 0, 0};
    data->line_of = lw_dampers_lines(flow->dampers, true);
    lw_dampers_begin(flow->dampers);
    lw_null_piece from = {.element = model->force_count, .speed = model->nv, .body = model->body_count + 1};
    for (int p = 0; p < pieces; p++) {
        if (later)
            lw_null_place(flow->null, data, piece[p].placed_end - piece[p].placed, placed + piece[p].placed);
        add_forces(flow, t, tau, &from, &piece[p]);
        finish_piece(flow, &piece[p], t);
    }
    const lw_null_piece rest = {.element = 0};
    add_forces(flow, t, tau, &from, &rest);
    data->line_of = lw_dampers_lines(flow->dampers, false);
    lw_status status = lw_flow_lost(flow, count, error);
    if (status != LW_OK) return status;
    for (int k = 0; k < count; k++)
        if (!(fabs(flow->zeta[k]) < LW_OUT_OF_REACH)) return lw_flow_not_found(flow, k, t, error);
    if (lw_dampers_loose_count(flow->dampers)) { /* springs go on from here */
        if (world) lw_null_move(flow->null, flow->zeta, data);
    } else
        flow->apart_known = true;
    return LW_OK;
}
