/* rcr_simd_kernels.h - an lw_rcr_simd for one width: included by rcr_simd_2.c, rcr_simd_4.c and
 * rcr_simd_8.c, which differ in LANES and in the instructions that their compiler may use.
 *
 * The passes of rcr_solve_kernels.h run on vectors, with the base rows and with pivots in the order that they
 * have where the base was found, the same for all states. A lane is fit if its pivots are not far below their
 * scale and its accelerations satisfy the rows that are asleep: the conditions under which a single call is
 * content with the base. The others are left to single calls.
 *
 * Source   docs/theory/batch_loops.md.
 * Cost     O(n + m) for loops of bounded width; no allocation but in create.
 */
#define PACK 1
#include "constraints/closure_rows_kernels.h"
#include "dynamics/simd_states_kernels.h"
#include "formulations/rcr/rcr_simd.h"
#include "formulations/rcr/rcr_solve_kernels.h"

typedef struct loop_workspace {
    workspace w;
    lw_rcr_system *system;
    /* Where all closures hold a point. */
    pose *world;      /* 0 .. n */
    holding *holding; /* Per closure. */
    REAL nowhere[48]; /* Wrenches on ground. */
    /* Where they do not: the rows of model/rows.h. */
    REAL *wrench; /* 6 per block of the rows, on its body. */
    REAL *bias;   /* Per row. */
} loop_workspace;

static void *create(const lw_rcr *m, lw_arena *arena) {
    const lw_model *model = m->loop_base.base.model;
    int rows = m->loop_base.rows->count;
    loop_workspace *x = LW_NEW(arena, loop_workspace, 1);
    double *memory = LW_NEW(arena, double, size(model));
    if (lw_arena_failed(arena)) return NULL;
    lay_out(model, memory, &x->w);
    x->world = LW_NEW(arena, pose, model->body_count + 1);
    x->holding = LW_NEW(arena, holding, model->closure_count + 1);
    x->wrench = LW_NEW(arena, REAL, 6 * m->loop_base.rows->block_count + 1);
    x->bias = LW_NEW(arena, REAL, rows + 1);
    x->system = lw_rcr_system_create(model, m->loop_base.data, m->loops, rows, LANES, arena);
    if (lw_arena_failed(arena)) return NULL;
    for (int k = 0; k < 3; k++) x->world[0].R[4 * k] = real(1);
    lw_rcr_system_select(x->system, &m->base);
    memcpy(x->system->pivot, m->base.order, (size_t)rows * sizeof *m->base.order);
    return x;
}

/* Evaluates the rows that are awake, after velocities: closures that hold a point. */
static void ask_closures(const lw_rcr *m, loop_workspace *x) {
    const lw_closures *c = m->closures;
    lw_rcr_system *s = x->system;
    move_bodies(c, &x->w.r, NULL, x->world, NULL, NULL);
    for (int k = 0; k < c->count; k++) locate_hold(c, &x->w.r, x->world, k, &x->holding[k]);
    for (int t = 0; t < s->loops->count; t++) {
        const lw_loop_constraint *loop = &s->loops->loops[t];
        put_rows(c, loop->closure, &x->holding[loop->closure], s->awake[t], s->row + loop->first,
                 loop->K_second >= 0 && !s->written[t] ? entry(s->K, loop->K_second) : NULL,
                 loop->K_first >= 0 ? entry(s->K, loop->K_first) : x->nowhere, entry(s->l, loop->first));
        s->written[t] = s->lasting[t];
    }
}

/* Rows of any kind, one state after another. */
static void ask_rows(lw_rcr *m, loop_workspace *x, double t) {
    const lw_model *model = m->loop_base.base.model;
    const lw_rows *rows = m->loop_base.rows;
    lw_data *data = m->loop_base.data;
    lw_rcr_system *s = x->system;
    for (int l = 0; l < LANES; l++) {
        for (int k = 0; k < model->nq; k++) data->q[k] = x->w.q[k][l];
        for (int k = 0; k < model->nv; k++) data->v[k] = x->w.v[k][l];
        lw_take_state(model, data, t, data->q, data->v);
        lw_loop_method_rows(&m->loop_base);
        lw_loop_method_bias(&m->loop_base, m->bias);
        for (int r = 0; r < rows->count; r++) {
            const lw_row *row = &rows->rows[r];
            x->bias[r][l] = m->bias[r];
            for (int b = row->block; b < row->block + row->count; b++) {
                double w[6];
                lw_rcr_block_wrench(m, b, w);
                for (int k = 0; k < 6; k++) x->wrench[6 * b + k][l] = w[k];
            }
        }
    }
    for (int loop = 0; loop < s->loops->count; loop++)
        for (int k = 0; k < s->awake[loop]; k++) {
            const int first = s->loops->loops[loop].first, r = first + s->row[first + k];
            const lw_row *row = &rows->rows[r];
            *entry(s->l, first + k) = x->bias[r];
            for (int b = row->block; b < row->block + row->count; b++) {
                REAL *w = entry(s->K, s->loops->wrench_start[b]) + lw_wrench_at(k);
                for (int i = 0; i < 6; i++) w[4 * i] = x->wrench[6 * b + i];
            }
        }
}

/* As rows_defect, for rows of any kind. */
static REAL any_rows_defect(const lw_rcr *m, const loop_workspace *x, const lw_loop_constraint *loop,
                            int from, REAL *bound) {
    const lw_rows *rows = m->loop_base.rows;
    const double per_length = 1 / m->system->length;
    REAL worst = real(0);
    for (int k = from; k < loop->count; k++) {
        const int r = loop->first + x->system->row[loop->first + k];
        const lw_row *row = &rows->rows[r];
        const double unit = m->finder->is_length[r] ? per_length : 1;
        REAL total = x->bias[r];
        for (int b = row->block; b < row->block + row->count; b++) {
            const REAL *w = x->wrench + 6 * b, *a = x->w.r.nodes[rows->body[b]].a;
            REAL turning = r3_dot(w, a), moving = r3_dot(w + 3, a + 3);
            total += turning + moving;
            *bound = real_larger(*bound, unit * real_larger(real_abs(turning), real_abs(moving)));
            for (int i = 0; i < 3; i++)
                *bound = real_larger(*bound, real_larger(real_abs(a[i]), per_length * real_abs(a[3 + i])));
        }
        worst = real_larger(worst, unit * real_abs(total));
    }
    return worst;
}

/* The lanes whose accelerations satisfy the rows that are asleep (lw_rcr_sleeping_defect). */
static BITS asleep_satisfied(const lw_rcr *m, const loop_workspace *x) {
    const lw_rcr_system *s = x->system;
    REAL most = real(0), largest = real(0);
    BITS off = real_exceeds(real(0), real(0));
    for (int t = 0; t < m->loops->count; t++) {
        const lw_loop_constraint *loop = &m->loops->loops[t];
        int awake = s->awake[t], asleep = loop->count - awake;
        if (asleep == 0) continue;
        REAL bound = real(0);
        REAL worst = m->closures
                         ? rows_defect(m->closures, x->w.r.nodes, loop->closure, &x->holding[loop->closure],
                                       asleep, s->row + loop->first + awake, &bound)
                         : any_rows_defect(m, x, loop, awake, &bound);
        largest = real_larger(bound, largest), most = real_larger(worst, most);
        off |= real_exceeds(worst, lw_rcr_satisfied * bound) & real_exceeds(bound, real(0));
    }
    return ~(off & real_exceeds(most, lw_rcr_noticeable * largest));
}

/* The lanes whose accelerations are finite: zero times anything else is no number. */
static BITS finite_lanes(const loop_workspace *x, int nv) {
    REAL total = real(0);
    for (int k = 0; k < nv; k++) total += 0 * x->w.vdot[k];
    return real_exceeds(real(1), total);
}

static void repeat_lane(int lane, int count, REAL *numbers) {
    for (int k = 0; k < count; k++) numbers[k] = real(real_lane(numbers[k], lane));
}

/* Accelerations of states first .. into the workspace, or of the one in `lane` (-1: of all) in every lane.
 * False if in some lane a joint moves no inertia, which may spoil the others. */
static bool attempt(lw_rcr *m, loop_workspace *x, const lw_states *states, int first, int lane, BITS *fit) {
    const lw_model *model = m->loop_base.base.model;
    workspace *w = &x->w;
    int speed;
    gather_lanes(states, first, states->q, model->nq, w->q);
    gather_lanes(states, first, states->v, model->nv, w->v);
    if (states->tau)
        gather_lanes(states, first, states->tau, model->nv, w->tau);
    else
        for (int k = 0; k < model->nv; k++) w->tau[k] = real(0);
    if (lane >= 0) {
        repeat_lane(lane, model->nq, w->q);
        repeat_lane(lane, model->nv, w->v);
        repeat_lane(lane, model->nv, w->tau);
    }
    if (model->motion_count || model->force_count || model->idle_count)
        take_elements(model, m->loop_base.data, states->t, w, true);
    velocities(&w->r);
    if (m->closures)
        ask_closures(m, x);
    else
        ask_rows(m, x, states->t);
    *fit = real_exceeds(real(1), real(0));
    if (both_passes(x->system, &w->r, true, &speed, fit)) return false;
    *fit &= asleep_satisfied(m, x) & finite_lanes(x, model->nv);
    return true;
}

static unsigned accelerations(lw_rcr *m, void *memory, const lw_states *states, int first) {
    loop_workspace *x = memory;
    int nv = m->loop_base.base.model->nv;
    unsigned answered = 0;
    BITS fit;
    if (attempt(m, x, states, first, -1, &fit)) {
        scatter_lanes(states, first, x->w.vdot, nv, states->vdot);
        for (int l = 0; l < LANES; l++) answered |= (unsigned)(fit[l] & 1) << l;
        return answered;
    }
    for (int l = 0; l < LANES && first + l < states->count; l++) {
        if (!attempt(m, x, states, first, l, &fit) || !(fit[l] & 1)) continue;
        for (int k = 0; k < nv; k++)
            states->vdot[(size_t)k * (size_t)states->count + (size_t)(first + l)] = x->w.vdot[k][l];
        answered |= 1u << l;
    }
    return answered;
}
