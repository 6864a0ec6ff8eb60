/* cuts.c - where to cut loops: the projective criterion for every possible cut, and the automatic choice.
 *
 * When the cut of a loop moves to another of its joints, the tree has other coordinates; the position stays,
 * so the coordinates of joints that stay in the tree do too, and those of the joint that was cut follow from
 * the poses of its bodies. The other loops keep their cuts. Two numbers tell how good a cut is:
 *   undetermined   the number of accelerations that the masses of the open tree do not determine (from the
 *                  rank of M over the speeds that are not prescribed); with any, all recursions over the
 *                  tree fail;
 *   worth          the smallest pivot of the greedy choice of independent coordinates, which is cos^2 of the
 *                  angle between a coordinate and what the others leave.
 *
 * Rule     a cut moves only if the present one leaves something undetermined and another leaves less, or if
 *          the present best coordinates are worth less than LW_CUT_POOR and others LW_CUT_GAIN times as much.
 *          So models keep their cuts unless there is a reason, and the same file always gives the same cuts.
 * Source   Blajer, Schiehlen & Schirm (1994), sect. 3: 'this formalism fails by cutting the loop at a body
 *          with neglected mass'.
 * Cost     one compilation and O(n^3) for each joint of each loop, for at most TRIALS_MAX of them.
 */
#include "analyses/criterion_merits.h"
#include "dynamics/tree_dynamics.h"
#include "linalg/dense.h"
#include "model/data.h"
#include "model/kept_spec.h"
#include "model/variant.h"

#include <math.h>
#include <stdio.h>

enum { SPEEDS_MAX = 200, TRIALS_MAX = 400 };

struct lw_cuts {
    int count;
    lw_cut_option *options;
};

/* --- one way to cut ------------------------------------------------------------------------------- */

/* The same position in the coordinates of a model with other cuts. */
static lw_status transfer(const lw_model *from, const double *q, double t, const lw_model *to, double *q_to,
                          lw_error *error) {
    lw_data *data;
    if (lw_data_create(from, NULL, &data) != LW_OK) return lw_out_of_memory(error);
    memcpy(q_to, to->q0, (size_t)to->nq * sizeof *q_to);
    lw_take_state(from, data, t, q, NULL);
    lw_velocities(from, data);
    lw_world_poses(from, data);
    for (int k = 0; k < from->closure_count; k++) {
        double coordinates[LW_JOINT_MAX_Q], speeds[LW_JOINT_MAX_V], W[36], at[3];
        lw_cut_joint(from, data, k, coordinates, speeds, W, at);
        lw_put_coordinates(&to->joints[from->closures[k]], coordinates, q_to);
    }
    for (int j = 0; j < from->joint_count; j++)
        if (!from->joints[j].info.cut)
            lw_put_coordinates(&to->joints[j], data->q + from->joints[j].info.q, q_to);
    lw_fit_cut_angles(to, q_to);
    lw_data_destroy(data);
    return LW_OK;
}

/* Speeds whose accelerations the tree's masses leave open; -1: out of memory. */
static int count_undetermined(const lw_model *model, double t, const double *q) {
    const double vanished = 1e-11; /* of a pivot, relative to its diagonal entry: rounding */
    double condition, nothing = 0;
    size_t n = (size_t)model->nv;
    int count = 0, rank = -1;
    lw_data *data = NULL;
    double *M = calloc(n * n + 1, sizeof *M), *A = calloc(n * n + 1, sizeof *A),
           *work = calloc(2 * n + 1, sizeof *work);
    int *order = calloc(n + 1, sizeof *order), *kept = calloc(n + 1, sizeof *kept);
    if (M && A && work && order && kept && lw_data_create(model, NULL, &data) == LW_OK) {
        lw_mass_matrix_held(model, data, t, q, M);
        for (size_t i = 0; i < n; i++)
            nothing = fmax(nothing, 1e-24 * M[i * n + i]); /* a centre beside its hinge by rounding */
        for (int i = 1; i <= model->body_count; i++)
            for (int k = 0; k < model->links[i].joint.nv; k++)
                if (!(model->links[i].prescribed >> k & 1)) kept[count++] = model->links[i].v + k;
        for (int a = 0; a < count; a++)
            for (int b = 0; b < count; b++) {
                size_t i = (size_t)kept[a], j = (size_t)kept[b];
                bool inert = M[i * n + i] > fmax(nothing, model->pivot_floor[i]) &&
                             M[j * n + j] > fmax(nothing, model->pivot_floor[j]);
                A[a + (size_t)b * (size_t)count] =
                    inert ? M[i * n + j] / sqrt(M[i * n + i] * M[j * n + j]) : 0;
            }
        rank = lw_semidefinite_factor(count, A, order, work, vanished, &condition);
    }
    lw_data_destroy(data);
    free(M), free(A), free(work), free(order), free(kept);
    return rank < 0 ? -1 : count - rank;
}

/* Looks at a model at a position: fills merits, undetermined and reason. */
static lw_status examine(const lw_model *model, double t, const double *q, lw_cut_option *option,
                         lw_error *error) {
    lw_merits *merits;
    lw_error why = {0};
    lw_status status = lw_merits_create(model, false, &merits, error);
    if (status != LW_OK) return status;
    option->merits = merits;
    option->undetermined = count_undetermined(model, t, q);
    if (option->undetermined < 0) return lw_out_of_memory(error);
    status = lw_merits_evaluate(merits, t, q, &why);
    lw_merits_settle(merits);
    if (status == LW_ERROR_SINGULAR) { /* of no cut */
        lw_merits_destroy(merits);
        option->merits = NULL;
        snprintf(option->reason, sizeof option->reason, "%.300s", why.message);
        return LW_OK;
    }
    if (status == LW_OK && option->undetermined > 0) {
        lw_data *data;
        double *zero = calloc(2 * (size_t)model->nv + 1, sizeof *zero);
        if (zero && lw_data_create(model, NULL, &data) == LW_OK) {
            if (lw_open_forward(model, data, t, q, zero, NULL, zero + model->nv, &why) != LW_OK)
                snprintf(option->reason, sizeof option->reason, "%.100s: %.210s", why.object, why.message);
            lw_data_destroy(data);
        }
        free(zero);
    }
    if (status != LW_OK && error) *error = why;
    return status;
}

/* The spec with its loops cut as in the model, but for one. *model is NULL, and option says why, if it cannot
 * be so. */
static lw_status compile_option(const lw_spec *spec, const lw_model *present, lw_cut_option *option,
                                lw_model **model, lw_error *error) {
    lw_spec variant = lw_variant(spec);
    lw_report *report = lw_report_create();
    lw_status status = variant.joints && report ? LW_OK : lw_out_of_memory(error);
    *model = NULL;
    if (status == LW_OK) {
        lw_variant_cuts(present, variant.joints);
        variant.joints[lw_model_loop_cut(present, option->loop)].cut = false;
        variant.joints[option->joint].cut = true;
        status = lw_compile_as_cut(&variant, NULL, report, model);
    }
    bool cut = *model && (*model)->joints[option->joint].info.cut;
    for (size_t k = 0; !cut && k < lw_report_size(report); k++) {
        const lw_error *said = lw_report_get(report, k);
        bool fault = said->severity == LW_SEVERITY_ERROR;
        if (fault == !*model) snprintf(option->reason, sizeof option->reason, "%.300s", said->message);
        if (fault) break;
    }
    if (!cut) {
        lw_model_destroy(*model);
        *model = NULL;
        if (status == LW_ERROR_MODEL) status = LW_OK;
    }
    lw_report_destroy(report);
    free(variant.joints);
    return status;
}

static void keep_joint(const lw_model *model, const char *name, bool *kept) {
    int joint = name ? lw_names_find(&model->joint_names, name) : -1;
    if (joint >= 0) kept[joint] = true;
}

/* At which joints the user wants coordinates: values, a motion, a rotor, limits, a force element, a coupling,
 * the turns of a screw. */
static void find_kept(const lw_spec *spec, const lw_model *model, bool *kept) {
    for (size_t j = 0; j < spec->joint_count; j++) {
        const lw_joint_spec *own = &spec->joints[j];
        kept[j] = own->has_q || own->has_v || lw_joint_describe(own->type)->screws;
        for (int k = 0; k < LW_JOINT_MAX_V; k++)
            kept[j] |= own->motion[k] || own->armature[k] != 0 || own->limits[k][0] < own->limits[k][1];
    }
    for (size_t i = 0; i < spec->start_count && spec->run.begin; i++)
        if (strcmp(spec->starts[i].name, spec->run.begin) == 0)
            keep_joint(model, spec->starts[i].joint, kept);
    for (size_t i = 0; i < spec->force_count; i++) keep_joint(model, spec->forces[i].joint, kept);
    for (size_t i = 0; i < spec->constraint_count; i++)
        for (int k = 0; k < spec->constraints[i].terms && k < LW_COUPLING_MAX; k++)
            keep_joint(model, spec->constraints[i].joints[k], kept);
}

/* --- all of them ---------------------------------------------------------------------------------- */

static lw_status add_option(lw_cuts *cuts, const lw_spec *spec, const lw_model *model, double t,
                            const double *q, lw_cut_option option, lw_error *error) {
    lw_cut_option *own = &cuts->options[cuts->count++];
    *own = option;
    if (own->loop < 0) return examine(model, t, q, own, error);
    lw_model *variant;
    lw_status status = compile_option(spec, model, own, &variant, error);
    if (status != LW_OK || !variant) return status;
    double *q_variant = calloc((size_t)variant->nq + 1, sizeof *q_variant);
    status = q_variant ? transfer(model, q, t, variant, q_variant, error) : lw_out_of_memory(error);
    if (status == LW_OK) status = examine(variant, t, q_variant, own, error);
    free(q_variant);
    lw_model_destroy(variant);
    return status;
}

static int count_trials(const lw_model *model) {
    int trials = 0;
    for (int l = 0; l < lw_model_loop_count(model); l++) trials += lw_model_loop_length(model, l) - 1;
    return trials;
}

lw_status lw_cuts_create(const lw_spec *spec, const lw_model *model, double t, const double *q, lw_cuts **out,
                         lw_error *error) {
    if (out) *out = NULL;
    if (!spec || !model || !out || !lw_given(q, model->nq) || !isfinite(t) || !lw_finite(q, model->nq))
        return lw_call_needs("a spec, its model, a time, q and a place for the result", error);
    int trials = count_trials(model);
    if (model->nv > SPEEDS_MAX || trials > TRIALS_MAX)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "look at a smaller model of the same kind",
                       "there are %d ways to cut one loop elsewhere, with %d speeds; %d and %d are looked at",
                       trials, model->nv, TRIALS_MAX, SPEEDS_MAX);
    lw_cuts *cuts = calloc(1, sizeof *cuts);
    if (cuts) cuts->options = calloc((size_t)trials + 1, sizeof *cuts->options);
    bool *kept = calloc(spec->joint_count + 1, sizeof *kept);
    lw_status status = cuts && cuts->options && kept ? LW_OK : lw_out_of_memory(error);
    if (status == LW_OK) find_kept(spec, model, kept);
    if (status == LW_OK)
        status = add_option(cuts, spec, model, t, q, (lw_cut_option){.loop = -1, .joint = -1}, error);
    for (int l = 0; l < lw_model_loop_count(model) && status == LW_OK; l++) {
        bool requested = spec->joints[lw_model_loop_cut(model, l)].cut;
        for (int k = 1; k < lw_model_loop_length(model, l) && status == LW_OK; k++) {
            int sense, joint = lw_model_loop_joint(model, l, k, &sense);
            lw_cut_option option = {.loop = l, .joint = joint, .free = !requested && !kept[joint]};
            status = add_option(cuts, spec, model, t, q, option, error);
        }
    }
    free(kept);
    if (status == LW_OK)
        *out = cuts;
    else
        lw_cuts_destroy(cuts);
    return status;
}

void lw_cuts_destroy(lw_cuts *cuts) {
    if (!cuts) return;
    for (int k = 0; k < cuts->count; k++) lw_merits_destroy(cuts->options[k].merits);
    free(cuts->options);
    free(cuts);
}

int lw_cuts_count(const lw_cuts *cuts) { return cuts ? cuts->count : 0; }
const lw_cut_option *lw_cuts_get(const lw_cuts *cuts, int index) {
    return cuts && index >= 0 && index < cuts->count ? &cuts->options[index] : NULL;
}

static double worth(const lw_cut_option *option) {
    return option->merits && lw_merits_bounded(option->merits) ? lw_merits_worth(option->merits) : 0;
}

int lw_cuts_best(const lw_cuts *cuts) {
    if (!cuts) return 0;
    const lw_cut_option *own = &cuts->options[0];
    int best = 0;
    if (!own->merits || (own->undetermined == 0 && worth(own) >= LW_CUT_POOR)) return 0;
    for (int k = 1; k < cuts->count; k++) {
        const lw_cut_option *option = &cuts->options[k], *former = &cuts->options[best];
        if (!option->free || !option->merits || option->undetermined > former->undetermined) continue;
        bool fewer = option->undetermined < former->undetermined;
        /* of equal ones the first */
        double least = best == 0 ? LW_CUT_GAIN * worth(own) : worth(former) * (1 + 1e-9);
        bool better = option->undetermined == 0 && worth(option) > least;
        if (fewer || better) best = k;
    }
    return best;
}

enum { MOVES_MAX = 16 };

/* --- the automatic choice --------------------------------------------------------------------------- */

static void explain(const lw_cuts *cuts, int best, lw_cut_move *move) {
    const lw_cut_option *own = &cuts->options[0], *option = &cuts->options[best];
    if (own->undetermined > option->undetermined)
        snprintf(move->why, sizeof move->why, "otherwise the open tree is singular: %.340s", own->reason);
    else
        snprintf(move->why, sizeof move->why,
                 "its best independent coordinates are worth %.2g there and only %.2g otherwise (projective "
                 "criterion)",
                 worth(option), worth(own));
}

/* Is there nothing to improve? */
static lw_status is_good(const lw_model *model, const double *q, bool *good, lw_error *error) {
    lw_cut_option own = {.loop = -1, .joint = -1};
    lw_status status = examine(model, 0, q, &own, error);
    *good = !own.merits || (own.undetermined == 0 && worth(&own) >= LW_CUT_POOR);
    lw_merits_destroy(own.merits);
    return status;
}

/* Moves the cuts of a compiled spec where that is needed: then the spec's joints get their cut flags, and it
 * has to be compiled again. */
static lw_status choose(lw_spec *spec, const lw_model *model, lw_cut_move *moves, int capacity, int *count,
                        lw_error *error) {
    *count = 0;
    if (model->closure_count == 0 || model->nv > SPEEDS_MAX || count_trials(model) > TRIALS_MAX) return LW_OK;
    if (model->graph.short_beside_massless) return LW_OK; /* on purpose: loops would be long otherwise */
    size_t nq = 2 * ((size_t)model->nq + (size_t)model->joint_count * LW_JOINT_MAX_Q) + 1;
    double *q = calloc(nq, sizeof *q), *next_q = calloc(nq, sizeof *next_q),
           *v = calloc((size_t)model->nv + 1, sizeof *v);
    lw_model *moved = NULL; /* NULL: still as compiled by the caller */
    bool good = true;
    lw_status status = q && next_q && v ? LW_OK : lw_out_of_memory(error);
    if (status == LW_OK) {
        lw_model_initial_state(model, q, v);
        lw_error fault;
        if (lw_assemble(model, 0, q, v, NULL, &fault) == LW_OK) status = is_good(model, q, &good, error);
    }
    while (status == LW_OK && !good && *count < capacity) {
        const lw_model *present = moved ? moved : model;
        lw_cuts *cuts;
        status = lw_cuts_create(spec, present, 0, q, &cuts, error);
        int best = status == LW_OK ? lw_cuts_best(cuts) : 0;
        if (best > 0) {
            lw_cut_option option = cuts->options[best];
            lw_cut_move *move = &moves[(*count)++];
            lw_model *next;
            move->from = lw_model_loop_cut(present, option.loop), move->to = option.joint;
            explain(cuts, best, move);
            status = compile_option(spec, present, &option, &next, error);
            if (status == LW_OK) status = transfer(present, q, 0, next, next_q, error);
            if (status == LW_OK) memcpy(q, next_q, (size_t)next->nq * sizeof *q);
            lw_model_destroy(moved);
            moved = next;
        }
        lw_cuts_destroy(cuts);
        if (best == 0) break;
        if (status == LW_OK) status = is_good(moved, q, &good, error);
    }
    if (status == LW_OK && moved) lw_variant_cuts(moved, spec->joints);
    lw_model_destroy(moved);
    free(q), free(next_q), free(v);
    return status;
}

/* Moves are told as warnings, and kept in the model. */
static lw_status keep_moves(const lw_spec *spec, lw_model *model, const lw_cut_move *moves, int count,
                            lw_report *report) {
    lw_cut_move *kept = LW_NEW(model->arena, lw_cut_move, count);
    if (!kept) return LW_ERROR_MEMORY;
    memcpy(kept, moves, (size_t)count * sizeof *kept);
    model->moves = kept;
    model->move_count = count;
    for (int k = 0; k < count; k++) {
        char object[112];
        snprintf(object, sizeof object, "joint \"%.90s\"", spec->joints[moves[k].from].name);
        lw_complain(report, LW_SEVERITY_WARNING, spec->file, spec->joints[moves[k].from].place, object,
                    "write cut: true where it shall be cut",
                    "its loop is cut at joint \"%.80s\" instead: %.380s", spec->joints[moves[k].to].name,
                    moves[k].why);
    }
    return LW_OK;
}

/* Compiles again with better cuts, where there are some. */
static lw_status improve_cuts(const lw_spec *spec, const lw_allocator *allocator, lw_report *report,
                              lw_model **model, lw_error *error) {
    lw_cut_move moves[MOVES_MAX];
    int count = 0;
    lw_spec variant = lw_variant(spec);
    if (!variant.joints) return LW_ERROR_MEMORY;
    lw_status status = choose(&variant, *model, moves, MOVES_MAX, &count, error);
    if (status == LW_OK && count > 0) {
        lw_model_destroy(*model);
        status = lw_compile_as_cut(&variant, allocator, NULL, model);
        if (status == LW_OK) status = keep_moves(spec, *model, moves, count, report);
    }
    free(variant.joints);
    return status;
}

lw_status lw_model_compile(const lw_spec *spec, const lw_allocator *allocator, lw_report *report,
                           lw_model **model) {
    lw_error error = {0};
    if (model) *model = NULL;
    if (!spec || !model) return LW_ERROR_ARGUMENT;
    lw_status status = lw_compile_as_cut(spec, allocator, report, model);
    if (status != LW_OK) return status;
    if ((*model)->closure_count > 0) status = improve_cuts(spec, allocator, report, model, &error);
    if (status == LW_OK) status = lw_model_keep_spec(*model, spec);
    if (status == LW_OK) return LW_OK;
    lw_complain(report, LW_SEVERITY_ERROR, spec->file, (lw_place){0, 0}, NULL, NULL, "%s",
                error.message[0] ? error.message : lw_status_text(status));
    lw_model_destroy(*model);
    *model = NULL;
    return status;
}

int lw_model_cut_move_count(const lw_model *model) { return model ? model->move_count : 0; }

const lw_cut_move *lw_model_cut_move(const lw_model *model, int index) {
    return model && index >= 0 && index < model->move_count ? &model->moves[index] : NULL;
}

lw_status lw_spec_keep_cuts(lw_spec *spec, const lw_model *model) {
    if (!spec || !model || (int)spec->joint_count != model->joint_count) return LW_ERROR_ARGUMENT;
    lw_variant_cuts(model, spec->joints);
    return LW_OK;
}
