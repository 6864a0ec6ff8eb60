/* massless_steady.c - the velocity that linear dampers ask for along motions without mass.
 *
 *   v = w + N zeta,    (N'C N) zeta = N'Q(q, w, t)                                          (28b)
 *
 * Nothing joins the directions of one piece with those of another but the forces at w. So each piece is finished while its numbers are at
 * hand: its directions, their balance, N'C N with its factor, zeta, and what that changes in forces and velocities. Done step by step for all,
 * a long chain would go through memory ten times.
 *
 * Source   Arnold (2013), eqs 28b, 31; docs/theory/massless.md, 4.
 * Cost     O(n), no allocation.
 * Limits   dampers linear in speeds; no other element that such motions reach books power.
 */
#include "formulations/massless.h"

#include <math.h>

/* Takes the last N zeta from the bodies and speeds of a piece, which belong to no other. */
static void clear(lw_flow *flow, const lw_null_piece *piece) {
    const lw_null_shape *shape = flow->shape;
    for (const lw_null_block *block = shape->blocks + piece->block; block < shape->blocks + piece->block_end;
         block++) {
        for (int m = block->place; m < block->place + block->moved; m++) /* its directions move the same */
            for (int c = 0; c < 6; c++) flow->twist[6 * shape->body[m] + c] = 0;
        if (!shape->turning) continue;
        int end = block->entry + block->count * block->entries;
        if (block->after >= 0)
            for (int c = 0; c < 6; c++) flow->apart[block->speed + c] = flow->apart[block->after + c] = 0;
        else
            for (int e = block->entry; e < end; e++) flow->apart[shape->speed[e]] = 0;
    }
}

static void finish_piece(lw_flow *flow, const lw_null_piece *piece, double t) {
    lw_data *data = flow->data;
    double *zeta = flow->zeta;
    lw_null_find(flow->null, data, piece);
    lw_null_forces_piece(flow->null, piece, data, flow->gamma);
    for (int k = piece->first; k < piece->end; k++) zeta[k] = flow->gamma[k];
    lw_dampers_factor_piece(flow->dampers, piece, data, t);
    lw_dampers_solve_piece(flow->dampers, piece, zeta);
    clear(flow, piece);
    lw_null_twists(flow->null, piece, zeta, flow->twist);
    lw_dampers_advance(flow->dampers, piece, zeta, flow->twist, data);
    lw_null_times_piece(flow->null, piece, zeta, data->v);
    if (flow->shape->turning) lw_null_times_piece(flow->null, piece, zeta, flow->apart);
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

lw_status lw_flow_steady(lw_flow *flow, double t, const double *tau, lw_error *error) {
    const lw_model *model = flow->model;
    lw_data *data = flow->data;
    int count = flow->shape->count, pieces;
    const lw_null_piece *piece = lw_dampers_pieces(flow->dampers, &pieces);
    bool world = model->forces_need_world;
    if (world) place_bodies(flow);
    lw_null_prepare(flow->null, data, world);
    lw_forces(model, data, t, false);
    for (int k = 0; tau && k < model->nv; k++) data->tau[k] += tau[k];
    lw_dampers_begin(flow->dampers);
    for (int p = 0; p < pieces; p++) finish_piece(flow, &piece[p], t);
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
