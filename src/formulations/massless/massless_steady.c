/* massless_steady.c - the velocity along massless motions that linear dampers resist.
 *
 *   v = w + N zeta,    (N'C N) zeta = N'Q(q, w, t)                                          (28b)
 *
 * Only the forces at w connect the directions of one piece with those of another. So each piece is finished
 * while its numbers are in the cache: the elements that act on it, its directions, their balance, N'C N with
 * its factor, zeta, and the change of forces and velocities by N zeta. Done for all pieces step by step, the
 * same work would read the data of a long chain from memory ten times. Pieces are ordered from the leaves
 * inwards; elements, which mostly are in the order of bodies, are evaluated from the last one on, as far as
 * a piece needs them.
 *
 * Source   Arnold (2013), eqs 28b, 31; docs/theory/massless.md, 3.
 * Cost     O(n), no allocation.
 * Limits   All dampers are linear in the speeds, and no other element that acts on massless motions has a
 *          power that depends on speeds.
 */
#include "formulations/massless/massless_parts.h"
#include "linalg/spatial.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

/* Sets N zeta and its twists to zero for the speeds and bodies of a block that shares some of them with
 * another block. Other pieces do not share them. */
static void clear(lw_flow *flow, const lw_null_block *block) {
    const lw_null_shape *shape = flow->shape;
    for (int m = block->place; m < block->place + block->moved;
         m++) /* All directions of the block move the same bodies. */
        for (int c = 0; c < 6; c++) flow->twist[6 * shape->body[m] + c] = 0;
    int end = block->entry + block->count * block->entries;
    for (int e = block->entry; e < end && shape->turning; e++) flow->apart[shape->speed[e]] = 0;
}

/* Adds the change N zeta to speed k, and updates the force of the dampers in its joint. Returns the change of
 * their power. alone: no other block has this speed. */
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

/* Adds N zeta of a block to the speeds, and computes the twists of the bodies that it moves. count: the
 * number of its directions. Returns the change of the power of dampers in joints. */
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

/* Computes the poses and twists of the bodies, and copies the relative poses that N and the recursions
 * need. */
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

/* Adds the forces at w of the elements that the piece needs and that have not been evaluated. from: the piece
 * up to which they have been evaluated. */
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
    if (lw_dampers_loose_count(flow->dampers)) { /* lw_springs_velocity needs the twists at v. */
        if (world) lw_null_move(flow->null, flow->zeta, data);
    } else
        flow->apart_known = true;
    return LW_OK;
}
