/* neglect.c - small inertia removed from a spec, and the resulting error of a run.
 *
 * What is neglected (neglect_ratios.c defines the reference values of a body): its mass, if that is below the
 * ratio. Of its principal moments e0 <= e1 <= e2: all, if all are below it; e0 alone, if only that is: a thin
 * rod with moments 0, (e1 + e2)/2, (e1 + e2)/2 remains, which differs by at most e0 (e2 - e1 <= e0). Body
 * matrices are linear in the factor s: s = 0 neglects, s = 1 is the true body, and any s in between or
 * moderately above is a possible body too. Small inertia is kept nevertheless where nothing else determines a
 * motion, or where its participation is large (neglect_participation.c).
 *
 * The error (docs/theory/neglect.md). Singular perturbation theory (arnold2013, 3) gives y(s) = y(0) + s c +
 * O(s^2) away from the first instants. S is chosen so that S times the largest neglected ratio is 1/100; if
 * y(2S) - y(0) is not about twice y(S) - y(0), S was too large and is divided by ten, at most three times, or
 * until S = 1.
 *
 * Cost     finding: as compiling. Estimating: three runs, of which none is more than mildly stiff.
 */
#include "analyses/neglect_participation.h"
#include "analyses/neglect_ratios.h"
#include "model/data.h"
#include <linkwork/assemble.h>
#include <linkwork/massless.h>
#include <linkwork/neglect.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest admissible participation of a small inertia, in units of the ratio. */
static const double much = 10;
static const double mild = 1e-2;      /* the ratio that the runs of the estimate have */
static const double rounding = 1e-13; /* a principal moment below this part of the largest is zero */
enum { SAMPLES = 100, TRIES = 4 };

/* Mass and inertia of a body: the part that is kept and the part that is neglected; and the whole, so that
 * nothing is lost by rounding. */
typedef struct part {
    size_t index; /* in the spec */
    double mass[2], inertia[2][6];
    double whole_mass, whole_inertia[6];
} part;

struct lw_neglect {
    lw_arena *arena;
    lw_spec *spec;
    int count;
    lw_neglected *list;
    part *parts;
    bool *cuts;               /* For each joint: it closes a loop of the model without the inertia. */
    double *errors, *motions; /* of the estimate, for each joint */
};

/* --- what is neglected ---------------------------------------------------------------------------- */

/* Splits the inertia of a body; the largest moment neglected and its ratio go into n. */
static void split_inertia(const lw_neglect_ratios *b, double ratio, lw_neglected *n, part *p) {
    const double *e = b->principal, *u = b->axis;
    memcpy(p->inertia[0], b->inertia, sizeof b->inertia);
    if (b->moments == 0 || !(e[2] > 0)) return;
    if (b->ratio < ratio) {
        memcpy(p->inertia[1], b->inertia, sizeof b->inertia);
        memset(p->inertia[0], 0, sizeof b->inertia);
        n->inertia = e[2], n->inertia_ratio = b->ratio;
        return;
    }
    if (b->moments < 3 || !(b->smallest_ratio < ratio)) return;
    if (e[0] <= rounding * e[2]) return; /* It is a rod already. */
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double moment = (e[1] + e[2]) / 2;
    for (int k = 0; k < 6; k++) {
        p->inertia[0][k] = moment * ((k < 3) - u[row[k]] * u[column[k]]);
        p->inertia[1][k] = b->inertia[k] - p->inertia[0][k];
    }
    n->inertia = e[0], n->inertia_ratio = b->smallest_ratio;
}

static bool look_at(const lw_neglect_ratios *b, double ratio, lw_neglected *n, part *p) {
    p->whole_mass = b->mass;
    memcpy(p->whole_inertia, b->inertia, sizeof b->inertia);
    split_inertia(b, ratio, n, p);
    bool light = b->mass > 0 && b->mass_ratio < ratio;
    p->mass[light ? 1 : 0] = b->mass;
    if (light) n->mass = b->mass, n->mass_ratio = b->mass_ratio;
    return light || n->inertia > 0;
}

void lw_neglect_scale(lw_neglect *neglect, double factor) {
    if (!neglect || !isfinite(factor)) return;
    for (int k = 0; k < neglect->count; k++) {
        const part *p = &neglect->parts[k];
        const lw_neglected *n = &neglect->list[k];
        double s = n->mass_kept ? 1 : factor, z = n->inertia_kept ? 1 : factor;
        lw_body_spec *body = lw_spec_body(neglect->spec, p->index);
        body->mass = s == 1 ? p->whole_mass : p->mass[0] + s * p->mass[1];
        for (int i = 0; i < 6; i++)
            body->inertia[i] = z == 1 ? p->whole_inertia[i] : p->inertia[0][i] + z * p->inertia[1][i];
    }
}

static bool neglects_mass(const lw_neglected *n) { return n->mass > 0 && !n->mass_kept; }
static bool neglects_inertia(const lw_neglected *n) { return n->inertia > 0 && !n->inertia_kept; }

/* Keeps the inertia of a body that may determine one of its motions, a rotation or not: moments of inertia
 * for rotations first, since a mass serves both. Returns false if nothing is left to keep. */
static bool keep_for(lw_neglected *n, bool turns, lw_kept why) {
    if (turns && neglects_inertia(n))
        n->inertia_kept = why;
    else if (neglects_mass(n))
        n->mass_kept = why;
    else if (neglects_inertia(n))
        n->inertia_kept = why;
    else
        return false;
    return true;
}

/* Keeps inertia of the bodies that are named by directions of a kind; with `body`, of that one only. */
static bool keep_along(lw_neglect *neglect, const lw_directions *directions, lw_direction_kind kind,
                       const char *body, lw_kept why) {
    bool any = false;
    for (int d = 0; d < lw_directions_count(directions); d++) {
        const lw_direction *direction = lw_directions_at(directions, d);
        if (direction->kind != kind || (body && strcmp(body, direction->body_name) != 0)) continue;
        bool turns = strncmp(direction->text, "rotation", strlen("rotation")) == 0;
        for (int k = 0; k < neglect->count; k++)
            if (strcmp(neglect->list[k].body, direction->body_name) == 0)
                any |= keep_for(&neglect->list[k], turns, why);
    }
    return any;
}

/* Keeps the inertia without which only springs would determine a body's motion, in no stable equilibrium: of
 * the body that is named and, if that is not sufficient, of all such bodies. */
static bool keep_balanced(lw_neglect *neglect, const lw_model *model, const lw_directions *directions,
                          bool *first) {
    lw_error error = {0};
    bool algebraic = false;
    for (int d = 0; d < lw_directions_count(directions); d++)
        algebraic |= lw_directions_at(directions, d)->kind == LW_DIRECTION_ALGEBRAIC;
    if (!algebraic || lw_directions_balance(model, &error) != LW_ERROR_SINGULAR) return false;
    char body[sizeof error.object] = "";
    sscanf(error.object, "body \"%[^\"]", body);
    bool any = *first && keep_along(neglect, directions, LW_DIRECTION_ALGEBRAIC, body, LW_KEPT_BALANCES);
    *first = false;
    return any || keep_along(neglect, directions, LW_DIRECTION_ALGEBRAIC, NULL, LW_KEPT_BALANCES);
}

/* Keeps the inertia without which a motion would be undetermined, of the body that the direction names, and
 * tests again: others may be determined by then. */
static lw_status keep_determined(lw_neglect *neglect, lw_error *error) {
    bool first = true;
    for (bool again = true; again;) {
        lw_model *model;
        lw_directions *directions = NULL;
        again = false;
        lw_neglect_scale(neglect, 0);
        lw_status status = lw_compile_quietly(neglect->spec, &model, error);
        if (status == LW_OK) status = lw_directions_create(model, &directions, error);
        if (status == LW_OK) {
            again = keep_along(neglect, directions, LW_DIRECTION_UNDETERMINED, NULL, LW_KEPT_DETERMINES) ||
                    keep_balanced(neglect, model, directions, &first);
            for (int j = 0; j < lw_model_joint_count(model); j++)
                neglect->cuts[j] = lw_model_joint_info(model, j).cut;
        }
        lw_directions_destroy(directions);
        lw_model_destroy(model);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

/* The spec as it stands, compiled with the cuts of the model without the inertia. */
static lw_status compile_alike(lw_neglect *neglect, lw_model **model, lw_error *error) {
    lw_spec *spec = neglect->spec;
    size_t joints = lw_spec_joint_count(spec);
    for (size_t j = 0; j < joints; j++) { /* The cuts are exchanged, and later restored. */
        lw_joint_spec *joint = lw_spec_joint(spec, j);
        bool requested = joint->cut;
        joint->cut = neglect->cuts[j];
        neglect->cuts[j] = requested;
    }
    lw_status status = lw_compile_quietly(spec, model, error);
    for (size_t j = 0; j < joints; j++) {
        lw_joint_spec *joint = lw_spec_joint(spec, j);
        bool cut = joint->cut;
        joint->cut = neglect->cuts[j];
        neglect->cuts[j] = cut;
    }
    for (size_t j = 0; status == LW_OK && j < joints; j++)
        if (lw_model_joint_info(*model, (int)j).cut != neglect->cuts[j]) {
            lw_model_destroy(*model);
            *model = NULL;
            return lw_fail(
                error, LW_ERROR_UNSUPPORTED, NULL, "choose another ratio",
                "with and without the neglected inertia the loops cannot be closed by the same joints");
        }
    return status;
}

/* Keeps the inertia with the largest participation, if that is too large; the others may then have less. */
static lw_status keep_participating(lw_neglect *neglect, double limit, bool *again, lw_error *error) {
    lw_model *with = NULL, *without = NULL;
    lw_participation *participation = calloc((size_t)neglect->count + 1, sizeof *participation);
    lw_status status = participation ? LW_OK : lw_out_of_memory(error);
    *again = false;
    for (int k = 0; status == LW_OK && k < neglect->count; k++) {
        const part *p = &neglect->parts[k];
        participation[k].body = neglect->list[k].body;
        participation[k].mass = neglects_mass(&neglect->list[k]) ? p->mass[1] : 0;
        if (neglects_inertia(&neglect->list[k]))
            memcpy(participation[k].inertia, p->inertia[1], sizeof p->inertia[1]);
    }
    lw_neglect_scale(neglect, 1);
    if (status == LW_OK) status = compile_alike(neglect, &with, error);
    lw_neglect_scale(neglect, 0);
    if (status == LW_OK) status = compile_alike(neglect, &without, error);
    if (status == LW_OK)
        status = lw_participation_find(with, without, participation, neglect->count, error);
    else if (status == LW_ERROR_UNSUPPORTED)
        status = LW_OK; /* There is no common tree: the estimate will show it. */
    double most = 0;
    for (int k = 0; status == LW_OK && k < neglect->count; k++) {
        lw_neglected *n = &neglect->list[k];
        if (neglects_mass(n)) n->mass_participation = participation[k].by_mass;
        if (neglects_inertia(n)) n->inertia_participation = participation[k].by_inertia;
        most = fmax(most, fmax(participation[k].by_mass, participation[k].by_inertia));
    }
    for (int k = 0; most > limit && k < neglect->count; k++) {
        lw_neglected *n = &neglect->list[k];
        double least = fmax(limit, most / 2);
        if (participation[k].by_mass > least) n->mass_kept = LW_KEPT_PARTICIPATES, *again = true;
        if (participation[k].by_inertia > least) n->inertia_kept = LW_KEPT_PARTICIPATES, *again = true;
    }
    free(participation);
    lw_model_destroy(with);
    lw_model_destroy(without);
    return status;
}

lw_status lw_neglect_state(const lw_model *with, const lw_model *without, double t, const double *q_with,
                           const double *v_with, double *q, double *v, lw_error *error) {
    lw_data *data;
    if (!with || !without || with->joint_count != without->joint_count || !lw_given(q_with, with->nq) ||
        !lw_given(v_with, with->nv) || !lw_given(q, without->nq) || !lw_given(v, without->nv) ||
        !lw_finite(q_with, with->nq) || !lw_finite(v_with, with->nv))
        return lw_call_needs("two models of one spec, a state of the first and room for one of the second",
                             error);
    if (lw_data_create(with, NULL, &data) != LW_OK) return lw_out_of_memory(error);
    lw_take_state(with, data, t, q_with, v_with);
    lw_velocities(with, data);
    lw_world_poses(with, data);
    for (int j = 0; j < with->joint_count; j++) {
        const lw_joint_info *from = &with->joints[j].info, *to = &without->joints[j].info;
        double W[36], at[3], coordinates[LW_JOINT_MAX_Q], speeds[LW_JOINT_MAX_V];
        const double *own = q_with + from->q, *rate = v_with + from->v;
        for (int c = 0; from->cut && c < with->closure_count; c++) {
            if (with->closures[c] != j) continue;
            lw_cut_joint(with, data, c, coordinates, speeds, W, at);
            own = coordinates, rate = speeds;
        }
        lw_put_coordinates(&without->joints[j], own, q);
        if (!to->cut) memcpy(v + to->v, rate, (size_t)to->v_count * sizeof *v);
    }
    lw_fit_cut_angles(without, q);
    lw_data_destroy(data);
    return LW_OK;
}

lw_status lw_neglect_create(lw_spec *spec, double ratio, lw_neglect **result, lw_error *error) {
    if (result) *result = NULL;
    if (!spec || !result) return lw_call_needs("a spec and a place for the result", error);
    if (!(ratio > 0 && ratio < 1))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a small one, such as 1e-4",
                       "a ratio of inertias of %g is not between 0 and 1", ratio);
    size_t bodies = lw_spec_body_count(spec), joints = lw_spec_joint_count(spec);
    lw_neglect_ratios *weights;
    lw_status status = lw_weigh_bodies(spec, &weights, error);
    if (status != LW_OK) return status;
    lw_arena *arena = lw_arena_create(NULL);
    lw_neglect *n = LW_NEW(arena, lw_neglect, 1);
    if (n) {
        n->arena = arena;
        n->spec = spec;
        n->list = LW_NEW(arena, lw_neglected, bodies + 1);
        n->parts = LW_NEW(arena, part, bodies + 1);
        n->cuts = LW_NEW(arena, bool, joints + 1);
        n->errors = LW_NEW(arena, double, joints + 1);
        n->motions = LW_NEW(arena, double, joints + 1);
    }
    if (lw_arena_failed(arena)) status = lw_out_of_memory(error);
    for (size_t k = 0; status == LW_OK && k < bodies; k++) {
        part p = {.index = k};
        lw_neglected found = {.body = lw_spec_body(spec, k)->name};
        if (!look_at(&weights[k], ratio, &found, &p)) continue;
        n->list[n->count] = found;
        n->parts[n->count++] = p;
    }
    free(weights);
    if (status == LW_OK && n->count > 0) {
        for (bool again = true; again && status == LW_OK;) {
            status = keep_determined(n, error);
            if (status == LW_OK) status = keep_participating(n, much * ratio, &again, error);
        }
        lw_neglect_scale(n, 1);
        for (int k = 0; k < n->count; k++)
            n->list[k].kept = !neglects_mass(&n->list[k]) && !neglects_inertia(&n->list[k]);
    }
    if (status == LW_OK)
        *result = n;
    else
        lw_arena_destroy(arena);
    return status;
}

void lw_neglect_destroy(lw_neglect *neglect) {
    if (neglect) lw_arena_destroy(neglect->arena);
}

int lw_neglect_count(const lw_neglect *neglect) { return neglect ? neglect->count : 0; }
const lw_neglected *lw_neglect_at(const lw_neglect *neglect, int index) {
    return neglect && index >= 0 && index < neglect->count ? &neglect->list[index] : NULL;
}

double lw_neglect_largest(const lw_neglect *neglect) {
    double largest = 0;
    if (!neglect) return NAN;
    for (int k = 0; k < neglect->count; k++) {
        const lw_neglected *n = &neglect->list[k];
        if (neglects_mass(n)) largest = fmax(largest, n->mass_ratio);
        if (neglects_inertia(n)) largest = fmax(largest, n->inertia_ratio);
    }
    return largest;
}

/* --- the resulting error ----------------------------------------------------------------------------- */

/* A run whose coordinates at the samples are kept: without the inertia, with S and with 2 S times as much. */
typedef struct record {
    const lw_run_options *options;
    int nq, rows;
    double *q; /* SAMPLES + 1 rows of nq */
    double *times;
} record;

typedef struct estimate {
    lw_neglect *neglect;
    const lw_run_options *options;
    lw_neglect_error *result;
    double *q, *v; /* the initial state of all runs */
    record runs[3];
} estimate;

static bool keep(const lw_sample *sample, void *context) {
    record *r = context;
    if (r->rows <= SAMPLES) {
        memcpy(r->q + (size_t)r->rows * (size_t)r->nq, sample->q, (size_t)r->nq * sizeof *r->q);
        r->times[r->rows++] = sample->t;
    }
    return true;
}

static bool interrupted(void *context) {
    const lw_run_options *options = ((record *)context)->options;
    return options->interrupted && options->interrupted(options->context);
}

/* Of all runs: tighter than the user's, but not so tight that a BDF code takes too long. */
static double tolerance_of(const lw_run_options *options) {
    return fmax(1e-9, (options->tolerance > 0 ? options->tolerance : 1e-8) / 10);
}

/* One run. Without the inertia it is the user's own; with it a stiff integrator is safe, and every method is
 * suitable. */
static lw_status run_with(estimate *e, double factor, record *to, lw_error *error) {
    lw_run_options options = *e->options;
    lw_model *model;
    lw_run_summary summary = {0};
    lw_neglect_scale(e->neglect, factor);
    lw_status status = compile_alike(e->neglect, &model, error);
    if (status == LW_OK) {
        if (factor > 0) {
            options.method = NULL;
            options.integrator = "bdf";
            options.step = 0;
        }
        if (factor > 0 || !lw_integrator_by_step(lw_run_integrator(&options), &options))
            options.tolerance = tolerance_of(e->options);
        options.output = (options.end - options.start) / SAMPLES;
        options.q = e->q, options.v = e->v;
        options.as_given = true;
        options.want_accelerations = options.want_reactions = options.want_works = false;
        options.observe = keep;
        options.interrupted = interrupted;
        options.event = NULL;
        options.step_taken = NULL;
        options.context = to;
        to->rows = 0;
        status = lw_simulate(model, &options, NULL, NULL, &summary, error);
    }
    e->result->steps += summary.steps;
    e->result->wall_s += summary.wall_s;
    lw_model_destroy(model);
    return status;
}

/* Size of a x + b y over the coordinates of a joint, x and y differences of coordinates: the largest, or the
 * angle that a quaternion's change stands for. */
static double size_of(const lw_joint_info *joint, double a, const double *x, double b, const double *y) {
    int at = lw_joint_quaternion(joint->type), plain = at >= 0 ? at : joint->q_count;
    double size = 0, square = 0;
    for (int k = 0; k < joint->q_count; k++) {
        double d = a * x[k] + b * y[k];
        if (k < plain)
            size = fmax(size, fabs(d));
        else
            square += d * d;
    }
    return fmax(size, 2 * sqrt(square));
}

/* The largest of |a (y1 - y0) + b (y2 - y0)| over the run, for each joint; y1 and y2 are runs 1 and 2.
 * Returns the largest of all. */
static double largest_over_run(const estimate *e, const lw_model *model, double a, double b, double *of_joint,
                               int *joint_there, double *t_there) {
    const record *r = e->runs;
    double most = 0, x[LW_JOINT_MAX_Q], y[LW_JOINT_MAX_Q];
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        lw_joint_info joint = lw_model_joint_info(model, j);
        if (of_joint) of_joint[j] = 0;
        if (joint.cut || joint.q_count == 0) continue;
        for (int row = 0; row < r[0].rows; row++) {
            size_t at = (size_t)row * (size_t)r->nq + (size_t)joint.q;
            for (int k = 0; k < joint.q_count; k++) {
                x[k] = r[1].q[at + (size_t)k] - r[0].q[at + (size_t)k];
                y[k] = r[2].q[at + (size_t)k] - r[0].q[at + (size_t)k];
            }
            double size = size_of(&joint, a, x, b, y);
            if (of_joint) of_joint[j] = fmax(of_joint[j], size);
            if (size > most) {
                most = size;
                if (joint_there) *joint_there = j, *t_there = r[0].times[row];
            }
        }
    }
    return most;
}

static void find_motions(const estimate *e, const lw_model *model) {
    const record *r = e->runs;
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        lw_joint_info joint = lw_model_joint_info(model, j);
        e->neglect->motions[j] = 0;
        if (joint.cut || joint.q_count == 0) continue;
        for (int row = 0; row < r->rows; row++)
            e->neglect->motions[j] =
                fmax(e->neglect->motions[j],
                     size_of(&joint, 1, r->q + (size_t)row * (size_t)r->nq + joint.q, -1, r->q + joint.q));
    }
}

/* The first factor: the neglected inertia is still small with it, and a thin rod, whose axial moment grows
 * with it, is still a possible body. */
static double first_scale(const lw_neglect *neglect) {
    double S = mild / lw_neglect_largest(neglect);
    for (int k = 0; k < neglect->count; k++) {
        const double *rod = neglect->parts[k].inertia[0];
        double across = (rod[0] + rod[1] + rod[2]) / 2;
        if (across > 0 && neglects_inertia(&neglect->list[k]))
            S = fmin(S, across / (2 * neglect->list[k].inertia));
    }
    return fmax(1, S);
}

/* Runs with S and 2 S; S smaller where the order is not yet 1. */
static lw_status try_scales(estimate *e, const lw_model *model, lw_error *error) {
    lw_neglect_error *result = e->result;
    double S = first_scale(e->neglect);
    lw_status status = run_with(e, 0, &e->runs[0], error);
    if (status != LW_OK) return status;
    find_motions(e, model);
    for (int k = 0; k < TRIES; k++, S = fmax(1, S / 10)) {
        status = run_with(e, S, &e->runs[1], error);
        if (status != LW_OK) return status;
        result->scale = S;
        if (S > 1) {
            status = run_with(e, 2 * S, &e->runs[2], error);
            if (status != LW_OK) return status;
        }
        double at_s = largest_over_run(e, model, 1, 0, NULL, NULL, NULL);
        double at_2s = S > 1 ? largest_over_run(e, model, 0, 1, NULL, NULL, NULL) : NAN;
        result->order = at_s > 0 && at_2s > 0 ? log2(at_2s / at_s) : NAN;
        /* The errors of the runs themselves are some ten tolerances. */
        result->resolved = at_s > 100 * tolerance_of(e->options);
        result->trusted = S <= 1 || !result->resolved || fabs(result->order - 1) < 0.25;
        if (result->trusted) break;
    }
    S = result->scale;
    double a = S > 1 ? 2 / S : 1, b = S > 1 ? -1 / (2 * S) : 0;
    result->largest = largest_over_run(e, model, a, b, e->neglect->errors, &result->joint, &result->t);
    return LW_OK;
}

/* The initial state assembled with the true inertia as written in the model, in the coordinates of
 * `model`. */
static lw_status initial_state(estimate *e, const lw_model *model, lw_error *error) {
    const lw_run_options *options = e->options;
    lw_model *with;
    lw_status status = lw_compile_quietly(e->neglect->spec, &with, error);
    if (status != LW_OK) return status;
    size_t nq = (size_t)lw_model_q_size(with), nv = (size_t)lw_model_v_size(with);
    double *q = calloc(nq + nv + 1, sizeof *q), *v = q + nq;
    if (!q) status = lw_out_of_memory(error);
    if (status == LW_OK) {
        lw_model_initial_state(with, q, v);
        if (options->q) memcpy(q, options->q, nq * sizeof *q);
        if (options->v) memcpy(v, options->v, nv * sizeof *v);
        if (!options->as_given) status = lw_assemble(with, options->start, q, v, NULL, error);
    }
    if (status == LW_OK) status = lw_neglect_state(with, model, options->start, q, v, e->q, e->v, error);
    free(q);
    lw_model_destroy(with);
    return status;
}

lw_status lw_neglect_estimate(lw_neglect *neglect, const lw_run_options *options, lw_neglect_error *result,
                              lw_error *error) {
    if (!neglect || !options || !result)
        return lw_call_needs("what is neglected, options and a place for the result", error);
    estimate e = {.neglect = neglect, .options = options, .result = result};
    lw_model *model;
    *result = (lw_neglect_error){.scale = 1, .trusted = true, .joint = -1};
    result->errors = neglect->errors, result->motions = neglect->motions;
    if (!(lw_neglect_largest(neglect) > 0)) return LW_OK; /* nothing is neglected */
    lw_neglect_scale(neglect, 1);
    lw_status status = compile_alike(neglect, &model, error);
    if (status != LW_OK) return status;
    size_t nq = (size_t)lw_model_q_size(model), nv = (size_t)lw_model_v_size(model);
    lw_arena *arena = lw_arena_create(NULL);
    e.q = LW_NEW(arena, double, nq + 1);
    e.v = LW_NEW(arena, double, nv + 1);
    for (int k = 0; k < 3; k++)
        e.runs[k] = (record){.options = options,
                             .nq = (int)nq,
                             .q = LW_NEW(arena, double, (SAMPLES + 1) * nq + 1),
                             .times = LW_NEW(arena, double, SAMPLES + 1)};
    if (lw_arena_failed(arena)) status = lw_out_of_memory(error);
    if (status == LW_OK) status = initial_state(&e, model, error);
    if (status == LW_OK) status = try_scales(&e, model, error);
    lw_neglect_scale(neglect, 1);
    lw_arena_destroy(arena);
    lw_model_destroy(model);
    return status;
}
