/* starts.c - named starts of a spec: initial coordinates and speeds that joints take instead of their own.
 *
 * Which start counts is part of the run (lw_run_spec.begin). The joints of the spec keep their own values;
 * the compiler works on a copy of them that has those of the start, so that a start may be exchanged for
 * another, and parameters change its values until the model is compiled.
 *
 * Cost     O((joints + starts) log joints).
 */
#include "model/spec/starts.h"
#include "model/names.h"

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

/* Gives a copy of the joints the values of the start. */
static lw_status take(const lw_spec *spec, const lw_names *joints, const char *name, lw_joint_spec *copy,
                      lw_error *error) {
    bool found = false;
    for (const lw_start_spec *s = spec->starts; s < spec->starts + spec->start_count; s++) {
        if (!is_of(s, name)) continue;
        found = true;
        const int index = lw_names_find(joints, s->joint);
        if (index < 0)
            return lw_fail_at(error, LW_ERROR_ARGUMENT, spec->file, s->place, "start", name,
                              "name a joint of this model", "there is no joint \"%.80s\"", s->joint);
        if (s->has_q) copy[index].has_q = true, memcpy(copy[index].q, s->q, sizeof s->q);
        if (s->has_v) copy[index].has_v = true, memcpy(copy[index].v, s->v, sizeof s->v);
    }
    return found ? LW_OK : unknown(spec, name, spec->run.place, error);
}

lw_status lw_spec_begun(const lw_spec *spec, const char *name, lw_arena *arena, lw_spec *begun,
                        lw_error *error) {
    lw_names joints;
    *begun = *spec;
    if (!name) return LW_OK;
    begun->joints = LW_NEW(arena, lw_joint_spec, spec->joint_count + 1);
    if (!begun->joints || lw_names_create(arena, (int)spec->joint_count, &joints) != LW_OK)
        return lw_out_of_memory(error);
    if (spec->joint_count > 0) memcpy(begun->joints, spec->joints, spec->joint_count * sizeof *begun->joints);
    for (size_t k = 0; k < spec->joint_count; k++)
        joints.names[k] = spec->joints[k].name ? spec->joints[k].name : "";
    lw_names_sort(&joints);
    return take(spec, &joints, name, begun->joints, error);
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
