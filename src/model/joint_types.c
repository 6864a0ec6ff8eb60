/* joint_types.c - the table of joint types, and properties that follow from it (joint_types.h).
 *
 * Source   docs/theory/tree.md, section "Joints".
 * Cost     O(1).
 */
#include "model/joint_types.h"

#include <string.h>

enum { X, Y, Z };

/* The name of a motion and those of its columns: the columns of speeds and accelerations have the prefixes v
 * and a. */
#define MOTION(word, column)                                                                                 \
    {                                                                                                        \
        word, { column, "v" column, "a" column }                                                             \
    }

const lw_joint_descriptor lw_joint_descriptors[] = {
    [LW_JOINT_WELD] =
        {.name = "weld", .axis_key = "axis", .fewest_axes = 0, .most_axes = 2, .kernel = LW_KERNEL_GENERAL},
    [LW_JOINT_REVOLUTE] = {.name = "revolute",
                           .turns = 1,
                           .axis = {Z},
                           .names = {MOTION("angle", "q")},
                           .axis_key = "axis",
                           .fewest_axes = 1,
                           .most_axes = 2,
                           .point_must_be_given = true,
                           .kernel = LW_KERNEL_REVOLUTE},
    [LW_JOINT_PRISMATIC] = {.name = "prismatic",
                            .slides = 1,
                            .axis = {Z},
                            .names = {MOTION("displacement", "q")},
                            .axis_key = "axis",
                            .fewest_axes = 1,
                            .most_axes = 2,
                            .kernel = LW_KERNEL_PRISMATIC},
    [LW_JOINT_SCREW] = {.name = "screw",
                        .turns = 1,
                        .screws = true,
                        .axis = {Z},
                        .names = {MOTION("angle", "q")},
                        .axis_key = "axis",
                        .fewest_axes = 1,
                        .most_axes = 2,
                        .point_must_be_given = true,
                        .kernel = LW_KERNEL_GENERAL},
    [LW_JOINT_CYLINDRICAL] = {.name = "cylindrical",
                              .slides = 1,
                              .turns = 1,
                              .axis = {Z, Z},
                              .names = {MOTION("displacement", "d"), MOTION("angle", "angle")},
                              .axis_key = "axis",
                              .fewest_axes = 1,
                              .most_axes = 2,
                              .point_must_be_given = true,
                              .kernel = LW_KERNEL_GENERAL},
    [LW_JOINT_UNIVERSAL] = {.name = "universal",
                            .turns = 2,
                            .axis = {X, Y},
                            .names = {MOTION("first", "a1"), MOTION("second", "a2")},
                            .axis_key = "axes",
                            .fewest_axes = 2,
                            .most_axes = 2,
                            .frame = LW_FRAME_X_Y,
                            .point_must_be_given = true,
                            .kernel = LW_KERNEL_UNIVERSAL},
    [LW_JOINT_SPHERICAL] = {.name = "spherical",
                            .ball = true,
                            .axis_key = "axis",
                            .fewest_axes = 0,
                            .most_axes = 2,
                            .point_must_be_given = true,
                            .kernel = LW_KERNEL_SPHERICAL},
    [LW_JOINT_PLANAR] = {.name = "planar",
                         .slides = 2,
                         .turns = 1,
                         .axis = {X, Y, Z},
                         .names = {MOTION("x", "x"), MOTION("y", "y"), MOTION("angle", "angle")},
                         .axis_key = "normal",
                         .fewest_axes = 1,
                         .most_axes = 2,
                         .point_must_be_given = true,
                         .kernel = LW_KERNEL_GENERAL},
    [LW_JOINT_TRANSLATION] = {.name = "translation",
                              .slides = 3,
                              .axes_are_slides = true,
                              .names = {{"first", {"q1", "v1", "a1"}},
                                        {"second", {"q2", "v2", "a2"}},
                                        {"third", {"q3", "v3", "a3"}}},
                              .axis_key = "axes",
                              .fewest_axes = 1,
                              .most_axes = 3,
                              .frame = LW_FRAME_OF_BODY,
                              .kernel = LW_KERNEL_GENERAL},
    [LW_JOINT_FREE] = {.name = "free",
                       .slides = 3,
                       .ball = true,
                       .axis = {X, Y, Z},
                       .names = {MOTION("x", "x"), MOTION("y", "y"), MOTION("z", "z")},
                       .axis_key = "axis",
                       .fewest_axes = 0,
                       .most_axes = 2,
                       .kernel = LW_KERNEL_FREE},
#ifdef LINKWORK_TEST_JOINT /* a type that no other file names, for tests/conformance/test_added_joint.c */
    [LW_JOINT_TYPES] = {.name = "slot",
                        .slides = 1,
                        .turns = 1,
                        .axis = {X, Z},
                        .names = {MOTION("way", "way"), MOTION("angle", "angle")},
                        .axis_key = "axis",
                        .fewest_axes = 1,
                        .most_axes = 2,
                        .point_must_be_given = true,
                        .kernel = LW_KERNEL_GENERAL},
#endif
};

const int lw_joint_descriptor_count = sizeof lw_joint_descriptors / sizeof *lw_joint_descriptors;
_Static_assert(sizeof lw_joint_descriptors / sizeof *lw_joint_descriptors <= LW_JOINT_TYPES_MOST, "raise it");

bool lw_joint_axes_are_listed(lw_joint_type type) {
    return strcmp(lw_joint_describe(type)->axis_key, "axes") == 0;
}

bool lw_joint_is_free(lw_joint_type type) {
    const lw_joint_descriptor *d = lw_joint_describe(type);
    return d->ball && d->slides == 3;
}

bool lw_joint_keeps_point(lw_joint_type type) {
    const lw_joint_descriptor *d = lw_joint_describe(type);
    return d->slides == 0 && !d->screws;
}

bool lw_joint_has_one_axis(lw_joint_type type) {
    const lw_joint_descriptor *d = lw_joint_describe(type);
    for (int k = 0; k < d->slides + d->turns; k++)
        if (d->axis[k] != Z) return false;
    return !d->ball && !d->axes_are_slides && d->slides + d->turns > 0;
}

/* Returns whether the joint has one rotation, and this rotation keeps the direction of its slide. */
static bool slides_along_turn(const lw_joint_descriptor *d) {
    return d->turns == 1 && (d->slides == 0 || (d->slides == 1 && d->axis[0] == d->axis[1]));
}

bool lw_joint_subspace_varies(lw_joint_type type) {
    const lw_joint_descriptor *d = lw_joint_describe(type);
    if (d->turns == 2) return true;
    return d->slides > 0 && (d->ball || (d->turns == 1 && !slides_along_turn(d)));
}

bool lw_joint_turns_in_place(lw_joint_type type) {
    const lw_joint_descriptor *d = lw_joint_describe(type);
    return d->slides == 0 ? d->ball || d->turns > 0 : slides_along_turn(d);
}

/* Columns of a ball: quaternion, angular velocity and angular acceleration. */
static const char *const ball_columns[3][4] = {
    {"qw", "qx", "qy", "qz"}, {"wx", "wy", "wz"}, {"alphax", "alphay", "alphaz"}};

const char *lw_joint_column(lw_joint_type type, int nv, int order, int k, const char **unit) {
    static const char *const units[2][3] = {{"m", "m/s", "m/s^2"}, {"rad", "rad/s", "rad/s^2"}};
    static const char *const single[3] = {"q", "v", "a"};
    const lw_joint_descriptor *d = lw_joint_describe(type);
    bool of_ball = d->ball && k >= d->slides;
    *unit = of_ball && order == 0 ? "1" : units[k >= d->slides][order];
    if (of_ball) return ball_columns[order][k - d->slides];
    return nv == 1 ? single[order] : d->names[k].columns[order];
}

const char *lw_joint_speed_word(lw_joint_type type, int k) {
    const lw_joint_descriptor *d = lw_joint_describe(type);
    return d->ball && k >= d->slides ? ball_columns[1][k - d->slides] : d->names[k].word;
}
