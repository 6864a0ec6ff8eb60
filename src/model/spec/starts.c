/* starts.c - named starts of a spec: initial coordinates and speeds that joints take instead of their own.
 *
 * Which start counts is part of the run (lw_run_spec.begin). The joints of the spec keep their own values;
 * the compiler works on a copy of them that has those of the start, so that a start may be exchanged for
 * another, and parameters change its values until the model is compiled.
 *
 * Cost     O((joints + starts) log joints).
 */
#include "model/spec/starts.h"
#include "model/joint_types.h"
#include "model/names.h"
#include "model/spec/parts.h"

#include <stdio.h>
#include <string.h>

static bool is_of(const lw_start_spec *start, const char *name) { return strcmp(start->name, name) == 0; }

/* There is no start of this name: the closest one is suggested. */
static lw_status unknown(const lw_spec *spec, const char *name, lw_place place, lw_error *error) {
    char remedy[160] = "the model has no section starts";
    lw_closest_search search = lw_closest_to(name);
    for (size_t k = 0; k < spec->start_count; k++) lw_closest_try(&search, spec->starts[k].name);
    if (spec->start_count > 0 && !lw_did_you_mean(search.name, remedy, sizeof remedy))
        snprintf(remedy, sizeof remedy, "there is e.g. \"%.80s\"", spec->starts[0].name);
    return lw_fail_at(error, LW_ERROR_ARGUMENT, spec->file, place, NULL, NULL, remedy,
                      "there is no start \"%.80s\"", name);
}

static double coordinate_sign(const lw_placement *at, lw_joint_type type, int k) {
    return at ? lw_placed_coordinate(at, type, k) : 1;
}

static double speed_sign(const lw_placement *at, lw_joint_type type, int k) {
    return at ? lw_placed_speed(at, type, k) : 1;
}

/* Gives a joint the values of a start. A start of the model counts in the model's senses, one of a part in
 * the part's; the joint will be placed with its part, which reverses coordinates that count in the other
 * sense in a mirrored one. */
static void give(const lw_placements *all, const lw_start_spec *s, lw_joint_spec *joint) {
    const lw_placement *of_start = lw_placement_of(all, s->name),
                       *of_joint = lw_placement_of(all, joint->name);
    const bool known = (unsigned)joint->type < LW_JOINT_TYPES;
    const int nq = known ? lw_joint_type_q(joint->type, LW_JOINT_MOTIONS) : 0;
    const int nv = known ? lw_joint_type_v(joint->type, LW_JOINT_MOTIONS) : 0;
    if (s->has_q) {
        joint->has_q = true;
        memcpy(joint->q, s->q, sizeof s->q);
        for (int k = 0; k < nq && k < LW_JOINT_MAX_Q; k++)
            joint->q[k] *=
                coordinate_sign(of_start, joint->type, k) * coordinate_sign(of_joint, joint->type, k);
    }
    if (s->has_v) {
        joint->has_v = true;
        memcpy(joint->v, s->v, sizeof s->v);
        for (int k = 0; k < nv && k < LW_JOINT_MAX_V; k++)
            joint->v[k] *= speed_sign(of_start, joint->type, k) * speed_sign(of_joint, joint->type, k);
    }
}

/* Gives a copy of the joints the values of the start. */
static lw_status take(const lw_spec *spec, const lw_placements *all, const lw_names *joints, const char *name,
                      lw_joint_spec *copy, lw_error *error) {
    bool found = false;
    for (const lw_start_spec *s = spec->starts; (size_t)(s - spec->starts) < (size_t)spec->start_count; s++) {
        if (!is_of(s, name)) continue;
        found = true;
        const int index = lw_names_find(joints, s->joint);
        if (index < 0)
            return lw_fail_at(error, LW_ERROR_ARGUMENT, spec->file, s->place, "start", name,
                              "name a joint of this model", "there is no joint \"%.80s\"", s->joint);
        give(all, s, &copy[index]);
    }
    return found ? LW_OK : unknown(spec, name, spec->run.place, error);
}

lw_status lw_spec_begun(const lw_spec *spec, const char *name, lw_arena *arena, lw_spec *begun,
                        lw_error *error) {
    lw_names joints;
    lw_placements all;
    *begun = *spec;
    if (!name) return LW_OK;
    begun->joints = LW_NEW(arena, lw_joint_spec, spec->joint_count + 1);
    if (!begun->joints || lw_names_create(arena, (int)spec->joint_count, &joints) != LW_OK)
        return lw_out_of_memory(error);
    if (spec->joint_count > 0) memcpy(begun->joints, spec->joints, spec->joint_count * sizeof *begun->joints);
    for (size_t k = 0; k < spec->joint_count; k++)
        joints.names[k] = spec->joints[k].name ? spec->joints[k].name : "";
    lw_names_sort(&joints);
    if (lw_placements_create(spec, arena, &all) != LW_OK) return lw_out_of_memory(error);
    return take(spec, &all, &joints, name, begun->joints, error);
}

lw_status lw_spec_begin(lw_spec *spec, const char *start, lw_error *error) {
    if (!spec) return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a spec", "a start of no spec");
    if (!start) {
        spec->run.begin = NULL;
        return LW_OK;
    }
    lw_spec begun; /* Only to see whether it can be had. */
    lw_arena *scratch = lw_arena_create(NULL);
    lw_status status = scratch ? lw_spec_begun(spec, start, scratch, &begun, error) : lw_out_of_memory(error);
    lw_arena_destroy(scratch);
    if (status != LW_OK) return status;
    const char *copy = lw_arena_text(spec->arena, start);
    if (!copy) return lw_out_of_memory(error);
    spec->run.begin = copy;
    return LW_OK;
}
