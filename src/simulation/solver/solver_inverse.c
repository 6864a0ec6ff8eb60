/* solver_inverse.c - inverse dynamics of a solver: which joints are driven, their forces, and whether they
 * are the only ones.
 *
 * The forces do not depend on the solver's method (constraints/loop_inverse.c computes them); the reactions
 * that belong to them are those of the method.
 *
 * Source   docs/theory/inverse_loops.md.
 * Cost     that of loop_inverse.c; unchecked, of a tree whose joints are all driven, one recursion. No
 *          allocation after creation.
 */
#include "constraints/projective_criterion.h"
#include "simulation/solver/solver_parts.h"
#include "simulation/solver/driven_joints.h"
#include <linkwork/tree.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- driven joints --------------------------------------------------------------------------------- */

/* Does the name mean speed k of this joint? Its own name means all of them; a speed has the name of its
 * coordinate or of itself in results. */
static bool means(const char *name, const lw_joint_entry *entry, int k) {
    const char *unit;
    const size_t length = strlen(entry->name);
    if (strncmp(name, entry->name, length) != 0) return false;
    if (name[length] == 0) return true;
    if (name[length] != '.') return false;
    int coordinate = lw_joint_coordinate_of_speed(entry->info.type, k), nv = entry->joint.nv;
    const char *part = name + length + 1;
    return strcmp(part, lw_joint_column(entry->info.type, nv, 1, k, &unit)) == 0 ||
           (coordinate >= 0 &&
            strcmp(part, lw_joint_column(entry->info.type, nv, 0, coordinate, &unit)) == 0);
}

/* The joint whose name, and a point, begin this name; -1 if there is none. */
static int joint_before_point(const lw_model *model, const char *name) {
    for (int j = 0; j < model->joint_count; j++) {
        size_t length = strlen(model->joints[j].name);
        if (strncmp(name, model->joints[j].name, length) == 0 && name[length] == '.') return j;
    }
    return -1;
}

/* "hub.q1, hub.q2" */
static void list_coordinates(const lw_joint_entry *entry, char *text, size_t size) {
    for (int k = 0; k < entry->joint.nv; k++) {
        const char *unit;
        bool ball = lw_joint_coordinate_of_speed(entry->info.type, k) < 0;
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s.%s", k ? ", " : "", entry->name,
                 lw_joint_column(entry->info.type, entry->joint.nv, ball, k, &unit));
    }
}

static lw_status refuse_name(const lw_model *model, const char *name, lw_error *error) {
    char remedy[256] = "name a joint of the tree, or one of its coordinates as in results";
    int joint = lw_names_find(&model->joint_names, name), of = joint_before_point(model, name);
    if (joint < 0 && of >= 0 && !model->joints[of].info.cut && model->joints[of].joint.nv > 0) {
        snprintf(remedy, sizeof remedy, "it has ");
        list_coordinates(&model->joints[of], remedy, sizeof remedy);
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, remedy, "joint \"%s\" has no coordinate \"%s\"",
                       model->joints[of].name, name + strlen(model->joints[of].name) + 1);
    }
    if (joint < 0 && of >= 0) joint = of;
    if (joint < 0) {
        lw_closest_search search = lw_closest_to(name);
        for (int j = 0; j < model->joint_count; j++) lw_closest_try(&search, model->joints[j].name);
        lw_did_you_mean(search.name, remedy, sizeof remedy);
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, remedy,
                       "driven joint \"%s\": there is no joint or coordinate of that name", name);
    }
    const lw_joint_entry *entry = &model->joints[joint];
    if (entry->info.cut)
        return lw_fail_at(error, LW_ERROR_ARGUMENT, model->file, entry->place, "joint", entry->name,
                          "write `cut: true` at another joint of the loop, which then has no drive",
                          "it closes a loop and has no coordinate, so it cannot be driven");
    return lw_fail_at(error, LW_ERROR_ARGUMENT, model->file, entry->place, "joint", entry->name, remedy,
                      "it has no coordinate that could be driven");
}

lw_status lw_mark_driven(const lw_model *model, const char *name, bool *driven, lw_error *error) {
    bool found = false;
    if (!name) return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL, "the name of a driven joint is missing");
    for (int i = 1; i <= model->body_count; i++) {
        const lw_joint_entry *entry = &model->joints[model->bodies[i].joint_index];
        for (int k = 0; k < entry->joint.nv; k++)
            if (means(name, entry, k)) driven[model->links[i].v + k] = found = true;
    }
    return found ? LW_OK : refuse_name(model, name, error);
}

/* The dense matrix of the drives of one set of coupled loops may have at most 1 GB. */
static lw_status limit(const lw_model *model, const bool *driven, lw_error *error) {
    const double most = 1 << 27;
    double count = 0;
    for (int v = 0; v < model->nv; v++) count += driven[v];
    if (count * model->nv <= most || model->closure_count + model->constraint_count == 0) return LW_OK;
    return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "name fewer joints, or none, which means all",
                   "%.0f driven coordinates of %d need a matrix of more than 1 GB", count, model->nv);
}

static lw_status name_rows(lw_solver *s, lw_error *error) {
    const lw_rows *rows = s->inverse->rows;
    s->row_names = LW_NEW(s->arena, const char *, rows->count + 1);
    for (int r = 0; s->row_names && r < rows->count; r++) {
        char text[160];
        lw_row_describe(s->model, &rows->rows[r], text, sizeof text);
        s->row_names[r] = lw_arena_text(s->arena, text);
    }
    return lw_arena_failed(s->arena) ? lw_out_of_memory(error) : LW_OK;
}

lw_status lw_solver_create_inverse(lw_solver *s, const lw_solver_options *options, lw_error *error) {
    const lw_model *model = s->model;
    bool *driven = LW_NEW(s->arena, bool, model->nv + 1);
    s->scratch = LW_NEW(s->arena, double, model->nv + 1);
    s->order = LW_NEW(s->arena, int, model->nv + 1);
    s->own = LW_NEW(s->arena, int, model->nv + 1);
    s->turn = lw_orthogonal_create(model->nv, model->nv, false);
    if (lw_arena_failed(s->arena) || !s->turn) return lw_out_of_memory(error);
    lw_status status = LW_OK;
    if (options->driven_count < 0 || (options->driven_count > 0 && !options->driven))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a list and how many names it has",
                       "%d driven joints are announced, but there is no list of their names",
                       options->driven_count);
    for (int k = 0; options->driven && k < options->driven_count && status == LW_OK; k++)
        status = lw_mark_driven(model, options->driven[k], driven, error);
    if (status == LW_OK && options->driven) status = limit(model, driven, error);
    if (status != LW_OK) return status;
    s->inverse =
        lw_loop_inverse_create(model, options->driven ? driven : NULL, options->inputs, options->states);
    return s->inverse ? name_rows(s, error) : lw_out_of_memory(error);
}

/* --- forces ---------------------------------------------------------------------------------------- */

static lw_status not_finite(const char *what, int index, double value, lw_error *error) {
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give finite numbers", "%s[%d] is %g", what, index, value);
}

/* Every motion of a tree whose joints are all driven is possible, and its forces are those of the
 * recursion. */
static bool all_of_a_tree(const lw_solver *s) {
    return s->inverse->all && !s->model->closure_count && !s->model->constraint_count &&
           !s->model->motion_count;
}

lw_status lw_solver_inverse_dynamics(lw_solver *s, double t, const double *q, const double *v,
                                     const double *vdot, double *tau, lw_error *error) {
    if (!s || !q || !v || !vdot || !tau)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a solver, q, v, vdot and a place for tau",
                       "inverse dynamics needs a motion");
    const lw_model *model = s->model;
    const size_t nv = (size_t)model->nv;
    for (int k = 0; k < model->nq; k++)
        if (!isfinite(q[k])) return not_finite("q", k, q[k], error);
    for (int k = 0; k < model->nv; k++) {
        if (!isfinite(v[k])) return not_finite("v", k, v[k], error);
        if (!isfinite(vdot[k])) return not_finite("vdot", k, vdot[k], error);
    }
    s->t = t;
    memcpy(s->q, q, (size_t)model->nq * sizeof *q);
    memcpy(s->v, v, nv * sizeof *v);
    s->known = s->has_reactions = false;
    s->amount = NAN;
    const bool tree = s->unchecked && all_of_a_tree(s);
    lw_status status =
        tree ? lw_tree_inverse_dynamics(model, s->inverse->data, t, s->q, s->v, vdot, s->tau, error)
             : lw_loop_inverse_solve(s->inverse, t, s->q, s->v, vdot, s->tau, &s->amount, error);
    s->known = s->inverted = s->has_tau = status == LW_OK;
    if (!s->known) return status;
    memcpy(s->vdot, tree ? vdot : s->inverse->vdot, nv * sizeof *s->vdot);
    memcpy(tau, s->tau, nv * sizeof *tau);
    return LW_OK;
}

lw_status lw_solver_unique_forces(lw_solver *s, bool *unique, lw_error *error) {
    if (!s || !unique || !s->known || !s->inverted)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "call lw_solver_inverse_dynamics first",
                       "no forces have been computed yet");
    lw_loop_inverse_unique(s->inverse, s->t, s->q, unique);
    return LW_OK;
}
