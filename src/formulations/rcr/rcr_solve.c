/* rcr_solve.c - articulated inertias inwards and accelerations outwards, with the multipliers of closed loops
 * on the way.
 *
 * In the pass inwards, each body hands to its parent, besides articulated inertia I^ and bias f^, for every
 * loop (closure or constraint) on its way to its base the wrenches K that the loop's multipliers put on the
 * articulated body, so that
 *
 *   wrench      I^ a + f^ - sum K lambda
 *   loop         K'a + l + sum L lambda = 0
 *
 * Through a joint with Y = S'K, Z = D^-1 Y:   K - U Z,   l + Z'u + (K - U Z)'bias,   L + Y'Z.
 * At the base of loop t its multipliers are eliminated with L_tt = C d C' (pivots d that vanish are left out:
 * the rows are redundant), E = C^-1 K_t', F_s = C^-1 L_ts, e = C^-1 l_t:
 *
 *   I^ += E'd^-1 E,  f^ += E'd^-1 e,  K_s -= E'd^-1 F_s,  L_su -= F_s'd^-1 F_u,  l_s -= F_s'd^-1 e
 *
 * In the pass outwards, lambda_t = -C^-T d^-1 (E a + e + sum F_s lambda_s) at the base, and the joints beyond
 * follow as in a tree.
 *
 * Source   docs/theory/rcr.md; symbols of tree_recursion.h and loop_constraints.h.
 * Cost     O(n + m) for loops of bounded width: segments per body and coupled loops. No allocation but in
 *          create.
 */
#define LANES 1
#define PACK 2
#include "formulations/rcr/rcr_solve_kernels.h"

#include "core/processor.h"
#include "model/joint.h"

lw_rcr_system *lw_rcr_system_create(const lw_model *model, lw_data *data, const lw_loop_constraints *loops,
                                    int rows, int lanes, lw_arena *arena) {
    lw_rcr_system *s = LW_NEW(arena, lw_rcr_system, 1);
    if (!s) return NULL;
    size_t m = (size_t)rows + 1, wide = (size_t)lanes;
    s->model = model, s->data = data, s->loops = loops;
    s->rank = LW_NEW(arena, int, loops->count + 1);
    s->lasting = LW_NEW(arena, bool, loops->count + 1);
    s->written = LW_NEW(arena, bool, loops->count + 1);
    s->pivot = LW_NEW(arena, int, m);
    s->K_size = wide * (size_t)loops->K_size;
    s->K = LW_NEW(arena, double, s->K_size + wide);
    s->Y = LW_NEW(arena, double, wide *(size_t)(loops->Y_size + 1));
    s->Z = LW_NEW(arena, double, wide *(size_t)(loops->Z_size + 1));
    s->L = LW_NEW(arena, double, wide *(size_t)(loops->block_size + 1));
    s->E = LW_NEW(arena, double, wide * 6 * m);
    s->e = LW_NEW(arena, double, wide *m);
    s->l = LW_NEW(arena, double, wide *(m + 4)); /* Packs extend beyond its end. */
    s->lambda = LW_NEW(arena, double, wide *m);
    if (lw_arena_failed(arena)) return NULL;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        bool centred = link->inertia.mass > 0; /* Without mass the centre is arbitrary. */
        if (link->parent || centred)
            s->length = fmax(s->length, lw_v3_norm(link->parent ? link->p : model->bodies[i].com));
    }
    /* There are only points; where these lie turned in the world, their arms are not zero but rounding. */
    const double rounding = 1e-9, longest = lw_longest_arm(model);
    if (!(s->length > rounding * longest)) s->length = longest;
    for (int t = 0; t < loops->count; t++)
        s->lasting[t] = loops->loops[t].K_second >= 0 && loops->based[loops->loops[t].bodies[1]] == 0;
    return s;
}

bool lw_selection_create(lw_selection *x, const lw_loop_constraints *loops, int rows, lw_arena *arena) {
    *x = (lw_selection){.loops = loops,
                        .awake = LW_NEW(arena, int, loops->count + 1),
                        .row = LW_NEW(arena, int, rows + 1),
                        .scale = LW_NEW(arena, double, rows + 1),
                        .order = LW_NEW(arena, int, rows + 1)};
    if (!x->awake || !x->row || !x->scale || !x->order) return false;
    for (int t = 0; t < loops->count; t++) {
        const lw_loop_constraint *loop = &loops->loops[t];
        x->awake[t] = loop->count;
        for (int k = 0; k < loop->count; k++)
            x->row[loop->first + k] = x->order[loop->first + k] = k, x->scale[loop->first + k] = LW_ANY_PIVOT;
    }
    return true;
}

void lw_rcr_system_select(lw_rcr_system *s, const lw_selection *x) {
    if (s->selected == x) return;
    s->selected = x;
    s->loops = x->loops, s->awake = x->awake, s->row = x->row, s->scale = x->scale;
    /* Packs reach beyond the rows that take part. Whatever another selection has left there, in another
     * layout perhaps, would be added to the rows of the next loop. */
    memset(s->K, 0, s->K_size * sizeof *s->K);
    for (int t = 0; t < s->loops->count; t++) s->written[t] = false, s->rank[t] = 0;
}

void lw_rcr_system_start(lw_rcr_system *s, const lw_subject *subject) {
    if (lw_has_avx2())
        lw_rcr_system_start_4(s, subject);
    else
        start(s, subject);
}

lw_status lw_rcr_system_run(lw_rcr_system *s, const lw_subject *subject, lw_error *error) {
    return lw_has_avx2() ? lw_rcr_system_run_4(s, subject, error) : run(s, subject, error);
}

double lw_rcr_system_cancellation(const lw_rcr_system *s) {
    const lw_loop_constraints *loops = s->loops;
    const lw_data *data = s->data;
    double *diagonal = s->e; /* A run overwrites it. */
    for (int t = 0; t < loops->count; t++)
        for (int k = 0; k < s->awake[t]; k++) diagonal[loops->loops[t].first + k] = 0;
    for (int i = 1; i <= s->model->body_count; i++) {
        const lw_link *link = &s->model->links[i];
        bool aligned = link->kernel < LW_KERNEL_SPHERICAL;
        for (int n = loops->segment_start[i]; n < loops->segment_start[i + 1]; n++) {
            const lw_segment *segment = &loops->segments[n];
            for (int row = 0; row < s->awake[segment->loop]; row++)
                for (int k = 0; k < link->joint.nv; k++) {
                    if (link->prescribed >> k & 1) continue; /* A prescribed speed does not yield. */
                    double give = aligned ? data->nodes[i].d : data->joint_D[6 * (link->v + k) + k];
                    double y = s->Y[segment->Y + link->joint.nv * (row / 4 * 4) + 4 * k + row % 4];
                    if (give > 0) diagonal[segment->row + row] += y * y * give;
                }
        }
    }
    double most = 1;
    for (int t = 0; t < loops->count; t++) {
        const lw_loop_constraint *loop = &loops->loops[t];
        for (int k = 0; k < s->rank[t]; k++) {
            double inverse = s->L[loop->block + (LW_ABREAST(s->awake[t]) + 1) * k];
            most = fmax(most, inverse * diagonal[loop->first + s->pivot[loop->first + k]]);
        }
        if (s->rank[t] < s->awake[t]) most = HUGE_VAL;
    }
    return most;
}

/* In [-1, 1], the same for the same seed (xorshift). */
static double chance(unsigned *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 17, *seed ^= *seed << 5;
    return (double)*seed / 2147483648.0 - 1;
}

void lw_rcr_system_null(lw_rcr_system *s, unsigned seed, double *lambda) {
    for (int t = s->loops->count - 1; t >= 0; t--) {
        const lw_loop_constraint *loop = &s->loops->loops[t];
        const double *C = s->L + loop->block;
        const int *pivot = s->pivot + loop->first;
        int rank = s->rank[t], count = s->awake[t], width = LW_ABREAST(count);
        double x[ROWS_MAX] = {0}, *own = lambda + loop->first;
        coupled(s, t, rank, lambda, x);
        for (int k = 0; k < rank; k++) x[k] *= C[(width + 1) * k];
        for (int i = rank; i < count; i++) {
            double any = own[pivot[i]] = chance(&seed);
            for (int k = 0; k < rank; k++) x[k] += C[width * i + k] * any;
        }
        backward_rows(rank, count, C, pivot, x, own);
    }
}
