/* validate_coordinates.c - checks of what a joint says of its coordinates: rotors, zeros, limits and stops.
 *
 * Rules    only slides and turns have coordinates of their own: a ball has none. An armature is finite and
 *          not negative; a zero is finite; limits ascend; a stop needs limits, and its stiffness, damping and
 *          restitution lie where they make sense.
 */
#include "model/compile/compile.h"

#include <math.h>

static lw_place known(lw_place place, const lw_joint_spec *joint) {
    return place.line ? place : joint->place;
}

static bool any(const double *values, int count) {
    for (int k = 0; k < count; k++)
        if (values[k] != 0) return true;
    return false;
}

/* The joint has as many coordinates as values; a ball has none of its own. Returns whether there are values
 * to look at. */
static bool belongs(lw_compiler *compiler, const lw_joint_spec *joint, lw_place place, const char *what,
                    const double *values, int each) {
    int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
    if (!any(values, each * LW_JOINT_MAX_V)) return false;
    if (lw_joint_describe(joint->type)->ball) {
        lw_compile_error(compiler, "joint", joint->name, place, "leave it out",
                         "%s is given to a %s joint, whose rotation has no coordinate of its own", what,
                         lw_joint_type_name(joint->type));
        return false;
    }
    if (any(values + each * nv, each * (LW_JOINT_MAX_V - nv))) {
        lw_compile_error(compiler, "joint", joint->name, place, "give as many values as it has coordinates",
                         "%s is given for more coordinates than the %d of a %s joint", what, nv,
                         lw_joint_type_name(joint->type));
        return false;
    }
    return true;
}

static void check_armature(lw_compiler *compiler, const lw_joint_spec *joint, const lw_joint_places *places) {
    lw_place place = known(places->armature, joint);
    if (!belongs(compiler, joint, place, "armature", joint->armature, 1)) return;
    for (int k = 0; k < LW_JOINT_MAX_V; k++)
        if (!(joint->armature[k] >= 0) || !isfinite(joint->armature[k])) {
            bool turns = lw_joint_speed_turns(joint->type, k);
            lw_compile_error(compiler, "joint", joint->name, place,
                             turns ? "give the rotor's moment of inertia times the square of the gear ratio"
                                   : "give the mass that a rotor's inertia amounts to along the slide",
                             "armature %g is no inertia: it must be finite and not negative",
                             joint->armature[k]);
            return;
        }
}

/* Of a product of slides and turns, the offset of every slide, of the last turn and, if there are no slides,
 * of the first turn can be moved into the joint's frames (compile_geometry.c). */
static void check_zero(lw_compiler *compiler, const lw_joint_spec *joint, const lw_joint_places *places) {
    lw_place place = known(places->zero, joint);
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    if (!belongs(compiler, joint, place, "zero", joint->zero, 1)) return;
    if (!lw_finite(joint->zero, LW_JOINT_MAX_V)) {
        lw_compile_error(compiler, "joint", joint->name, place, "give finite numbers",
                         "zero is not finite: it is the coordinate where the joint's frames coincide");
        return;
    }
    for (int k = about->slides; k < about->slides + about->turns - 1; k++)
        if (joint->zero[k] != 0 && k > 0) {
            lw_compile_error(
                compiler, "joint", joint->name, place, "turn the joint's frames instead",
                "zero is given for coordinate %d of a %s joint, whose turn stands between others", k,
                about->name);
            return;
        }
}

static void check_limits(lw_compiler *compiler, const lw_joint_spec *joint, const lw_joint_places *places) {
    lw_place place = known(places->limits, joint);
    if (!belongs(compiler, joint, place, "limits", joint->limits[0], 2)) return;
    for (int k = 0; k < LW_JOINT_MAX_V; k++) {
        const double *limits = joint->limits[k];
        if (limits[0] == 0 && limits[1] == 0) continue;
        if (!(limits[0] < limits[1])) {
            lw_compile_error(compiler, "joint", joint->name, place, "give the lower one first",
                             "limits [%g, %g] do not ascend", limits[0], limits[1]);
            return;
        }
        double start = joint->has_q ? joint->q[k] : joint->zero[k];
        if (!joint->motion[k] && !(start >= limits[0] && start <= limits[1]))
            lw_compile_warning(
                compiler, "joint", joint->name, place,
                "start within the limits, or give zero if the drawn pose is another coordinate",
                "it starts at %g, beyond its limits [%g, %g]", start, limits[0], limits[1]);
    }
}

static void check_stop(lw_compiler *compiler, const lw_joint_spec *joint, const lw_joint_places *places) {
    lw_place place = known(places->stop, joint);
    if (joint->stop == LW_STOP_NONE) return;
    if (joint->stop != LW_STOP_SPRING && joint->stop != LW_STOP_IMPACT) {
        lw_compile_error(compiler, "joint", joint->name, place, NULL, "unknown kind of stop %d",
                         (int)joint->stop);
        return;
    }
    if (!any(joint->limits[0], 2 * LW_JOINT_MAX_V))
        lw_compile_error(compiler, "joint", joint->name, place, "give limits, e.g. limits: [-1, 1]",
                         "a stop is given, but no limits at which it could stand");
    for (int k = 0; k < LW_JOINT_MAX_V; k++) {
        if (joint->limits[k][0] == 0 && joint->limits[k][1] == 0) continue;
        double stiffness = joint->stop_stiffness[k], damping = joint->stop_damping[k],
               restitution = joint->stop_restitution[k];
        if (joint->stop == LW_STOP_SPRING && !(stiffness > 0 && isfinite(stiffness)))
            lw_compile_error(compiler, "joint", joint->name, place, "give a positive stiffness",
                             "the stop's stiffness %g does not hold anything", stiffness);
        else if (joint->stop == LW_STOP_SPRING && !(damping >= 0 && isfinite(damping)))
            lw_compile_error(compiler, "joint", joint->name, place, "give a damping of zero or more",
                             "the stop's damping %g would drive the joint", damping);
        else if (joint->stop == LW_STOP_IMPACT && !(restitution >= 0 && restitution <= 1))
            lw_compile_error(compiler, "joint", joint->name, place, "give 0 (no rebound) to 1 (no loss)",
                             "the stop's restitution is %g", restitution);
        else
            continue;
        return;
    }
}

static void check_compliance(lw_compiler *compiler, const lw_joint_spec *joint,
                             const lw_joint_places *places) {
    for (int k = 0; k < 2; k++)
        if (!(joint->compliance[k] >= 0) || !isfinite(joint->compliance[k]))
            lw_compile_error(compiler, "joint", joint->name, known(places->compliance, joint),
                             "give how far it gives way per newton or newton metre, or leave it out",
                             "its compliance against %s is %g: it must be finite and not negative",
                             k ? "turning" : "sliding", joint->compliance[k]);
}

void lw_validate_coordinates(lw_compiler *compiler, const lw_joint_spec *joint) {
    const lw_joint_places *places = lw_spec_joint_places(compiler->spec, joint);
    check_armature(compiler, joint, places);
    check_zero(compiler, joint, places);
    check_limits(compiler, joint, places);
    check_stop(compiler, joint, places);
    check_compliance(compiler, joint, places);
}
