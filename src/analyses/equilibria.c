/* equilibria.c - several positions of rest: those that are reached from the start and from others around it.
 *
 * Other starts are the first one displaced at random, every free coordinate by up to half a turn or half the
 * longest arm, and closed again. The same numbers are taken every time, so that the answer depends on the
 * arguments only. Two positions are the same if all bodies lie in the same places.
 *
 * Source   docs/theory/equilibrium.md, "Several positions".
 * Cost     a search for each start (equilibrium.c), and starts x positions x bodies. Allocates.
 * Limits   what no start leads to is not found: unstable positions above all, from which the search leads
 *          away.
 */
#include "analyses/linear_parts.h"
#include "core/pseudo_random.h"
#include <linkwork/assemble.h>
#include <linkwork/equilibrium.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double half_turn = 3.14159265358979323846;
static const double same_place = 1e-5; /* rad, and parts of the longest arm: above what searches leave open */

typedef struct found {
    lw_equilibria result; /* first, so that a result is one of these */
    lw_equilibrium **items;
    double *potential, *poses; /* 12 numbers per body and position */
    const lw_model *model;
    lw_data *data;
} found;

static void look(found *f, double t, const lw_equilibrium *e, double *poses) {
    for (int body = 1; body <= f->model->body_count; body++)
        lw_body_pose(f->model, f->data, t, e->q, body, poses + 12 * (body - 1), poses + 12 * (body - 1) + 3);
}

static bool is_known(const found *f, const double *poses, const lw_equilibrium *e) {
    const size_t numbers = 12 * (size_t)f->model->body_count;
    const double length = lw_longest_arm(f->model);
    for (int k = 0; k < f->result.count; k++) {
        double most = 0;
        for (size_t i = 0; i < numbers; i++)
            most = fmax(most, fabs(poses[i] - f->poses[(size_t)k * numbers + i]) / (i % 12 < 3 ? length : 1));
        for (int s = 0; s < f->model->values.state_count; s++)
            most = fmax(most, fabs(e->states[s] - f->items[k]->states[s]) / (1 + fabs(e->states[s])));
        if (most < same_place) return true;
    }
    return false;
}

/* By potential energy; those of equal energy stay in the order in which they were found. */
static void sort(found *f) {
    for (int k = 1; k < f->result.count; k++)
        for (int i = k; i > 0 && f->potential[i - 1] > f->potential[i]; i--) {
            const double energy = f->potential[i];
            lw_equilibrium *item = f->items[i];
            f->potential[i] = f->potential[i - 1], f->potential[i - 1] = energy;
            f->items[i] = f->items[i - 1], f->items[i - 1] = item;
        }
}

lw_status lw_equilibria_find(const lw_model *model, const lw_linearise_options *options, int starts,
                             lw_equilibria **equilibria, lw_error *error) {
    if (equilibria) *equilibria = NULL;
    if (!model || !options || !equilibria || starts < 1 || starts > 1000000)
        return lw_call_needs("a model, options, at least one start and a pointer for the result", error);
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, bodies = (size_t)model->body_count;
    found *f = calloc(1, sizeof *f);
    double *from = calloc(nq + nv + 1, sizeof *from), *q = calloc(nq + 1, sizeof *q),
           *v = from ? from + nq : NULL;
    double *turn = calloc(nv + 1, sizeof *turn), *poses = calloc(12 * bodies + 1, sizeof *poses);
    lw_status status = f && from && q && turn && poses ? LW_OK : lw_out_of_memory(error);
    if (status == LW_OK) {
        f->model = model;
        f->items = calloc((size_t)starts + 1, sizeof *f->items);
        f->potential = calloc((size_t)starts + 1, sizeof *f->potential);
        if (!f->items || !f->potential || lw_data_create(model, NULL, &f->data) != LW_OK)
            status = lw_out_of_memory(error);
    }
    if (status == LW_OK) status = lw_linear_start(model, options, from, v, error);
    uint64_t seed = 20260101;
    for (int k = 0; k < starts && status == LW_OK; k++) {
        lw_linearise_options own = *options;
        lw_equilibrium *e = NULL;
        memcpy(q, from, nq * sizeof *q);
        for (int i = 1; i <= model->body_count && k > 0; i++)
            for (int c = 0; c < model->links[i].joint.nv; c++) {
                const int speed = model->links[i].v + c;
                const double unit = lw_joint_speed_turns(model->links[i].joint.type, c)
                                        ? half_turn
                                        : lw_longest_arm(model) / 2;
                turn[speed] = model->links[i].prescribed >> c & 1 ? 0 : unit * lw_pseudo_random(&seed);
            }
        if (k > 0) {
            lw_integrate_q(model, q, turn, 1);
            memset(v, 0, nv * sizeof *v);
            /* Loops may not close there: then this start leads nowhere. */
            if (lw_assemble(model, options->t, q, v, NULL, NULL) != LW_OK) continue;
            own.q = q, own.v = NULL;
        }
        f->result.tried++;
        lw_status one = lw_equilibrium_find(model, &own, &e, k == 0 ? error : NULL);
        if (k == 0 && one != LW_OK) status = one; /* what is wrong with the model itself */
        if (one != LW_OK || !e->converged) {
            lw_equilibrium_destroy(e);
            continue;
        }
        f->result.reached++;
        look(f, options->t, e, poses);
        double *more =
            is_known(f, poses, e)
                ? NULL
                : realloc(f->poses, (12 * bodies * ((size_t)f->result.count + 1) + 1) * sizeof *more);
        if (!more) {
            lw_equilibrium_destroy(e);
            continue;
        }
        f->poses = more;
        memset(v, 0, nv * sizeof *v);
        memcpy(f->poses + 12 * bodies * (size_t)f->result.count, poses, 12 * bodies * sizeof *poses);
        f->potential[f->result.count] = lw_energy_of(model, f->data, options->t, e->q, v).potential;
        f->items[f->result.count++] = e;
    }
    free(from);
    free(q);
    free(turn);
    free(poses);
    if (status == LW_OK) {
        sort(f);
        f->result.items = (const lw_equilibrium *const *)f->items, f->result.potential = f->potential;
        *equilibria = &f->result;
    } else if (f)
        lw_equilibria_destroy(&f->result);
    return status;
}

void lw_equilibria_destroy(lw_equilibria *equilibria) {
    if (!equilibria) return;
    found *f = (found *)equilibria;
    for (int k = 0; k < f->result.count; k++) lw_equilibrium_destroy(f->items[k]);
    if (f->data) lw_data_destroy(f->data);
    free(f->items);
    free(f->potential);
    free(f->poses);
    free(f);
}
