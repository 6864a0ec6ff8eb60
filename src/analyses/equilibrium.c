/* equilibrium.c - positions of rest: Newton's method along admissible motions, with relaxation where no
 * stable position is near.
 *
 *   r(x) = (vdot_J at rest; rates of user states) = 0,   (mu 1 - dr/dx) dx = r            (1, 2)
 *
 * mu = 0 is Newton's method, with a line search on the size of r; it is taken where the reduced stiffness is
 * positive. Elsewhere mu > 0 makes the step one of an implicit integration with friction, which goes
 * downhill.
 *
 * Source   docs/theory/equilibrium.md.
 * Cost     one evaluation of the derivatives and O(states^3) for each round. Allocates.
 * Limits   finds one position, that which is reached from the start.
 */
#include "analyses/lent_rotors.h"
#include "analyses/linear_parts.h"
#include "linalg/eigen.h"
#include <linkwork/assemble.h>
#include <linkwork/equilibrium.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 300, NAMES = 1024 };

typedef struct search {
    lw_equilibrium result;
    lw_linear_work work;
    const lw_model *model;
    lw_linearise_options options;
    double length;
    int n; /* unknowns: admissible motions and user states */
    double *q, *v, *states, *trial, *trial_states;
    double *J, *r, *step, *values, *matrix;
    char names[NAMES];
    const lw_model *given;
    lw_model *lent; /* Where motions move no mass: the model with rotors, which do not act at rest. */
} search;

/* The unit of unknown k: residuals and steps of sliding coordinates are measured by the longest arm. */
static double unit_of(const search *s, int k) {
    const lw_linear_work *w = &s->work;
    return k < w->speeds && w->slides[w->derivatives->free[w->own_v[k]]] ? s->length : 1;
}

/* Closures and constraints hold and prescribed coordinates are in place, at rest. */
static lw_status close(search *s, double *q, lw_error *error) {
    const lw_model *model = s->model;
    lw_data *data = s->work.derivatives->data;
    memset(s->v, 0, (size_t)model->nv * sizeof *s->v);
    lw_status status = lw_assemble(model, s->options.t, q, s->v, NULL, error);
    if (status != LW_OK) return status;
    lw_take_state(model, data, s->options.t, q, s->v);
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) {
            const int v = model->links[i].v + k;
            if (!(model->links[i].prescribed >> k & 1) || (data->v[v] == 0 && data->vdot[v] == 0)) continue;
            const lw_joint_entry *entry = &model->joints[model->bodies[i].joint_index];
            return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, entry->place, "joint", entry->name,
                              "prescribe a constant, or take another time",
                              "its prescribed motion moves at t = %g s, so that nothing can be at rest",
                              s->options.t);
        }
    return LW_OK;
}

/* Residual and its derivatives at a position; user states are those in s->states. */
static lw_status evaluate(search *s, lw_error *error) {
    lw_linear_work *w = &s->work;
    lw_status status = lw_linear_at(w, &s->options, s->options.t, s->q, s->v, error);
    if (status != LW_OK) return status;
    const lw_derivatives *d = w->derivatives;
    const int nf = d->free_count, f = w->speeds, ns = s->model->values.state_count, n = s->n = f + ns;
    if (w->coordinates != f && ns > 0) /* The rows of user states are those of coordinates, which are more. */
        return lw_fail(error, LW_ERROR_UNSUPPORTED, lw_model_name(s->model), "leave out one of both",
                       "positions of rest are not found where wheels roll and there are user states");
    for (int j = 0; j < f; j++) {
        s->r[j] = w->rates[w->coordinates + j];
        for (int i = 0; i < f; i++) {
            double sum = 0;
            for (int k = 0; k < nf; k++)
                sum += d->dvdot[(size_t)w->own_v[i] + (size_t)d->free[k] * (size_t)nf] * w->Nv[k + j * nf];
            s->J[i + j * n] = sum;
        }
    }
    for (int k = 0; k < ns; k++) {
        const int at = w->coordinates + f + k;
        s->r[f + k] = w->rates[at];
        for (int j = 0; j < f; j++) {
            s->J[f + k + j * n] = w->A[at * w->n + j];
            s->J[j + (f + k) * n] = w->A[(w->coordinates + j) * w->n + at];
        }
        for (int j = 0; j < ns; j++) s->J[f + k + (f + j) * n] = w->A[at * w->n + w->coordinates + f + j];
    }
    return LW_OK;
}

static double size_of(const search *s, const double *x) {
    double sum = 0;
    for (int k = 0; k < s->n; k++) sum = hypot(sum, x[k] / unit_of(s, k));
    return sum;
}

/* The smallest eigenvalue of the reduced stiffness over mass, its real part, and the largest in magnitude. */
static bool stiffness(search *s, double *least, double *most, int *neutral) {
    const int f = s->work.speeds;
    *least = HUGE_VAL, *most = 0, *neutral = 0;
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++)
            s->matrix[i + j * f] = -s->J[i + j * s->n] * unit_of(s, j) / unit_of(s, i);
    if (!lw_eigen_general(f, s->matrix, s->values, NULL)) return false;
    for (int k = 0; k < f; k++) {
        *least = fmin(*least, s->values[2 * k]);
        *most = fmax(*most, hypot(s->values[2 * k], s->values[2 * k + 1]));
    }
    const double weight = lw_v3_norm(s->model->gravity) / s->length;
    for (int k = 0; k < f; k++)
        *neutral += !(hypot(s->values[2 * k], s->values[2 * k + 1]) > fmax(1e-11 * *most, 1e-13 * weight));
    return true;
}

/* (mu 1 - J) dx = r, in units that make the unknowns comparable; directions that nothing determines stay. */
static void solve(search *s, double mu) {
    const int n = s->n;
    lw_linear_work *w = &s->work;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            s->matrix[i + j * n] = (i == j ? mu : 0) - s->J[i + j * n] * unit_of(s, j) / unit_of(s, i);
    for (int i = 0; i < n; i++) s->step[i] = s->r[i] / unit_of(s, i);
    const int rank = lw_qr_factor(w->factors, n, n, s->matrix, w->order, 1e-11);
    lw_qr_apply(w->factors, true, n, n, s->matrix, 1, s->step);
    lw_qr_triangle(false, rank, n, s->matrix, 1, s->step, n);
    for (int k = 0; k < n; k++) s->values[k] = 0;
    for (int k = 0; k < rank; k++) s->values[w->order[k]] = s->step[k];
    for (int k = 0; k < n; k++) s->step[k] = s->values[k] * unit_of(s, k);
}

/* The position after `part` of the step; false if it cannot be closed. */
static bool move(search *s, const double *from, const double *states, double part) {
    const lw_linear_work *w = &s->work;
    const lw_derivatives *d = w->derivatives;
    const int nf = d->free_count;
    memset(s->v, 0, (size_t)s->model->nv * sizeof *s->v);
    for (int i = 0; i < nf; i++)
        for (int j = 0; j < w->speeds; j++) s->v[d->free[i]] += w->Nv[i + j * nf] * s->step[j];
    memcpy(s->q, from, (size_t)s->model->nq * sizeof *s->q);
    lw_integrate_q(s->model, s->q, s->v, part);
    for (int k = 0; k < s->model->values.state_count; k++)
        s->states[k] = states[k] + part * s->step[w->speeds + k];
    return close(s, s->q, NULL) == LW_OK;
}

static void keep(search *s) {
    memcpy(s->trial, s->q, (size_t)s->model->nq * sizeof *s->q);
    memcpy(s->trial_states, s->states, (size_t)s->model->values.state_count * sizeof *s->states);
}

/* Back to the position that was kept. */
static bool return_to_kept(search *s) {
    memcpy(s->q, s->trial, (size_t)s->model->nq * sizeof *s->q);
    memcpy(s->states, s->trial_states, (size_t)s->model->values.state_count * sizeof *s->states);
    return close(s, s->q, NULL) == LW_OK && evaluate(s, NULL) == LW_OK;
}

/* Newton's step, which stands in s->step, with a line search; false if no part of it helps. A trial is
 * evaluated with its derivatives, since one that is accepted needs them next. */
static bool newton(search *s, double before) {
    const double whole = size_of(s, s->step);
    double part = fmin(1, 1 / fmax(whole, 1e-300));
    keep(s);
    for (int k = 0; k < 12; k++, part /= 2) {
        if (move(s, s->trial, s->trial_states, part) && evaluate(s, NULL) == LW_OK &&
            size_of(s, s->r) <= (1 - 1e-4 * part) * before)
            return true;
        if (!return_to_kept(s)) return false;
        solve(s, 0); /* in the basis of this position */
    }
    return false;
}

static void name_unbalanced(search *s) {
    const lw_linear_work *w = &s->work;
    double most = 0;
    for (int k = 0; k < w->speeds; k++) most = fmax(most, fabs(s->r[k]) / unit_of(s, k));
    for (int k = 0; k < w->speeds; k++) {
        char name[256];
        const size_t used = strlen(s->names);
        if (!(fabs(s->r[k]) / unit_of(s, k) > 1e-3 * most)) continue;
        lw_state_name(s->model, w->derivatives->free[w->own_v[k]], 0, name, sizeof name);
        snprintf(s->names + used, sizeof s->names - used, "%s%s accelerates by %.6g %s/s^2", used ? ", " : "",
                 name, s->r[k],
                 unit_of(s, k) != 1 || w->slides[w->derivatives->free[w->own_v[k]]] ? "m" : "rad");
    }
    for (int k = 0; k < s->model->values.state_count; k++) {
        const size_t used = strlen(s->names);
        if (!(fabs(s->r[w->speeds + k]) > 1e-6)) continue;
        snprintf(s->names + used, sizeof s->names - used, "%suser state %s changes by %.6g/s",
                 used ? ", " : "", lw_model_state_name(s->model, k), s->r[w->speeds + k]);
    }
}

/* Does a small disturbance grow? */
static bool grows(search *s) {
    lw_linear_work *w = &s->work;
    const int n = w->n;
    double most = 0, worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) w->subspace[i + j * n] = w->A[i * n + j];
    if (!lw_eigen_general(n, w->subspace, w->eigenvalues, NULL)) return true;
    for (int k = 0; k < n; k++) {
        most = fmax(most, hypot(w->eigenvalues[2 * k], w->eigenvalues[2 * k + 1]));
        worst = fmax(worst, w->eigenvalues[2 * k]);
    }
    return worst > 1e-6 * most;
}

/* Of a position with lent rotors: does a small disturbance grow in the mechanism itself? False: it has no
 * linear system there. */
static bool judge(search *s, bool *calm) {
    lw_linearise_options options = s->options;
    lw_linear_system *system = NULL;
    double most = 0, worst = 0;
    options.q = s->q, options.v = NULL, options.method = NULL;
    if (lw_linearise(s->given, &options, &system, NULL) != LW_OK) return false;
    for (int k = 0; k < system->states; k++) {
        most = fmax(most, hypot(system->eigenvalues[2 * k], system->eigenvalues[2 * k + 1]));
        worst = fmax(worst, system->eigenvalues[2 * k]);
    }
    lw_linear_system_destroy(system);
    *calm = !(worst > 1e-6 * most);
    return true;
}

/* Where it has none: it is stable if it is at least for some masses, whatever they are: that is so where
 * forces have a potential, so that the stiffness is symmetric. */
static lw_status need_symmetry(search *s, lw_error *error) {
    const lw_linear_work *w = &s->work;
    const lw_derivatives *d = w->derivatives;
    const int f = w->speeds, nf = d->free_count, nv = s->model->nv;
    double most = 0, off = 0;
    if (s->model->values.state_count > 0) off = HUGE_VAL; /* Their rates act back. */
    double *K = s->matrix, *column = s->values;
    for (int j = 0; j < f; j++) { /* K = -N'M N J */
        for (int i = 0; i < nf; i++) {
            column[i] = 0;
            for (int k = 0; k < f; k++) column[i] -= w->Nv[i + k * nf] * s->J[k + j * s->n];
        }
        for (int r = 0; r < f; r++) {
            double sum = 0;
            for (int i = 0; i < nf; i++)
                for (int k = 0; k < nf; k++)
                    sum += w->Nv[i + r * nf] * d->tree->mass[d->free[i] * nv + d->free[k]] * column[k];
            K[r + j * f] = sum * unit_of(s, r) * unit_of(s, j);
            most = fmax(most, fabs(K[r + j * f]));
        }
    }
    for (int i = 0; i < f; i++)
        for (int j = 0; j < i; j++) off = fmax(off, fabs(K[i + j * f] - K[j + i * f]));
    if (!(off > 1e-7 * most)) return LW_OK;
    return lw_fail(
        error, LW_ERROR_UNSUPPORTED, lw_model_name(s->model),
        "give every body that moves a mass, or let forces have a potential",
        "the mechanism rests, but whether that is stable depends on masses which it does not have");
}

static lw_status finish(search *s, lw_error *error) {
    double least, most;
    lw_linear_work *w = &s->work;
    lw_solver *solver = lw_derivatives_solver(w->derivatives);
    bool calm = false;
    const bool judged = s->lent && s->result.converged && judge(s, &calm);
    if (s->lent && s->result.converged && !judged) {
        const lw_status asked = need_symmetry(s, error);
        if (asked != LW_OK) return asked;
    }
    if (!stiffness(s, &least, &most, &s->result.neutral))
        return lw_fail(error, LW_ERROR_SINGULAR, NULL, NULL,
                       "the eigenvalues of the stiffness did not converge");
    s->result.stable = w->speeds == 0 || (least > 1e-10 * most && most > 0 && !grows(s));
    if (judged) s->result.stable = calm && s->result.neutral == 0;
    s->result.residual = 0;
    for (int k = 0; k < w->speeds; k++) s->result.residual = fmax(s->result.residual, fabs(s->r[k]));
    if (!s->result.converged) name_unbalanced(s);
    double *reactions = LW_NEW(w->arena, double, 6 * (size_t)s->model->joint_count + 1);
    bool *unique = LW_NEW(w->arena, bool, 6 * (size_t)s->model->joint_count + 1);
    if (!reactions || !unique) return lw_out_of_memory(error);
    lw_status status = lw_solver_reactions(solver, reactions, unique, error);
    s->result.q = s->q, s->result.states = s->states;
    s->result.reactions = reactions, s->result.unique = unique, s->result.unbalanced = s->names;
    return status;
}

/* A step of relaxation, shortened until the position can be closed and evaluated; false if none can. */
static bool relax(search *s, double mu) {
    solve(s, mu);
    double part = fmin(1, 0.3 / fmax(size_of(s, s->step), 1e-300));
    keep(s);
    for (int k = 0; k < 6; k++, part /= 4) {
        if (move(s, s->trial, s->trial_states, part) && evaluate(s, NULL) == LW_OK) return true;
        if (!return_to_kept(s)) return false;
        solve(s, mu);
    }
    return false;
}

static lw_status iterate(search *s, lw_error *error) {
    const double weight = lw_v3_norm(s->model->gravity) / s->length;
    lw_status status = evaluate(s, error);
    double caution = 1; /* of relaxation: grows where steps go too far */
    int stuck = 0;
    for (; status == LW_OK && s->result.rounds < ROUNDS; s->result.rounds++) {
        double least, most;
        const double before = size_of(s, s->r);
        int neutral;
        if (!stiffness(s, &least, &most, &neutral)) break;
        solve(s, 0);
        const double whole = size_of(s, s->step);
        /* Where nothing opposes a motion, a residual may remain that no step of Newton's removes. */
        const bool balanced = neutral == 0 || before <= 1e-9 * (weight + most);
        /* A start that is at rest in an unstable position but for rounding is taken as it is. */
        const bool unstable = s->result.rounds == 0 && least < -1e-10 * most;
        bool done = whole <= (unstable ? 1e-10 : 1e-13);
        if (!done && least >= -1e-10 * most && (balanced || neutral < s->work.speeds)) {
            if (newton(s, before)) continue;
            done = whole <= 1e-8; /* No part of so small a step helps: what is left is rounding. */
        }
        if (done && balanced) {
            s->result.converged = true;
            break;
        }
        if (!relax(s, 1.5 * fmax(-least, 0) + caution * (1e-3 * most + before))) break;
        const double after = size_of(s, s->r);
        double along = 0; /* Forces that are against the step show that it went beyond the valley. */
        for (int k = 0; k < s->n; k++) along += s->r[k] * s->step[k] / (unit_of(s, k) * unit_of(s, k));
        caution = along < 0 ? fmin(4 * caution, 1e6) : fmax(caution / 2, 1);
        stuck = fabs(after - before) < 1e-12 * before ? stuck + 1 : 0;
        if (stuck > 5) break;
    }
    return status;
}

static lw_status create(search *s, lw_error *error) {
    lw_error reason = {0};
    lw_status status = lw_linear_create(&s->work, s->model, &s->options, false, &reason);
    if (status == LW_ERROR_UNSUPPORTED && lw_moves_no_mass(s->model)) {
        lw_linear_destroy(&s->work);
        s->work = (lw_linear_work){0};
        status = lw_lend_rotors(s->model, &s->lent, error);
        if (status == LW_OK) s->model = s->lent, s->options.method = "auto";
        if (status == LW_OK) status = lw_linear_create(&s->work, s->model, &s->options, false, error);
    } else if (status != LW_OK && error)
        *error = reason;
    if (status != LW_OK) return status;
    const lw_model *model = s->model;
    lw_arena *a = s->work.arena;
    const size_t n = (size_t)model->nv + (size_t)model->values.state_count + 1;
    s->q = LW_NEW(a, double, model->nq + 1);
    s->v = LW_NEW(a, double, model->nv + 1);
    s->trial = LW_NEW(a, double, model->nq + 1);
    s->trial_states = LW_NEW(a, double, n);
    s->J = LW_NEW(a, double, n *n);
    s->r = LW_NEW(a, double, n);
    s->step = LW_NEW(a, double, n);
    s->values = LW_NEW(a, double, 4 * n);
    s->matrix = LW_NEW(a, double, n *n);
    if (lw_arena_failed(a)) return lw_out_of_memory(error);
    status = lw_linear_start(model, &s->options, s->q, s->v, error);
    return status == LW_OK ? close(s, s->q, error) : status;
}

lw_status lw_equilibrium_find(const lw_model *model, const lw_linearise_options *options,
                              lw_equilibrium **equilibrium, lw_error *error) {
    if (equilibrium) *equilibrium = NULL;
    if (!model || !options || !equilibrium || !isfinite(options->t) ||
        (options->q && !lw_finite(options->q, model->nq)))
        return lw_call_needs("a model, options with finite numbers and a pointer for the result", error);
    search *s = calloc(1, sizeof *s);
    const int ns = model->values.state_count;
    if (s) s->states = calloc((size_t)ns + 1, sizeof *s->states);
    if (!s || !s->states) {
        free(s);
        return lw_out_of_memory(error);
    }
    s->model = s->given = model, s->options = *options, s->length = lw_longest_arm(model);
    for (int k = 0; k < ns; k++)
        s->states[k] = options->states ? options->states[k] : model->values.starts[k];
    s->options.states = s->states; /* The solver reads them as they change. */
    s->options.coordinates = NULL;
    lw_status status = create(s, error);
    if (status == LW_OK) status = iterate(s, error);
    if (status == LW_OK) status = finish(s, error);
    if (status == LW_OK)
        *equilibrium = &s->result;
    else
        lw_equilibrium_destroy(&s->result);
    return status;
}

void lw_equilibrium_destroy(lw_equilibrium *equilibrium) {
    if (!equilibrium) return;
    search *s = (search *)equilibrium;
    lw_linear_destroy(&s->work);
    lw_model_destroy(s->lent);
    free(s->states);
    free(s);
}
