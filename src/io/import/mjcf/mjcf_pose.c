/* mjcf_pose.c - poses of MJCF: a position and one of five ways to say a rotation.
 *
 *   quat       w x y z, of any length
 *   axisangle  x y z a
 *   euler      three angles in the order of the compiler's eulerseq: small letters turn about the axes that
 *              have turned already (R = R1 R2 R3), capitals about those that stand still (R = R3 R2 R1)
 *   xyaxes     x axis; y axis, of which the part perpendicular to x counts
 *   zaxis      the shortest rotation that turns z into this direction
 */
#include "io/import/mjcf/mjcf.h"

#include <ctype.h>
#include <string.h>

double mj_unit(const double a[3], double out[3]) {
    const double n = lw_v3_norm(a);
    for (int k = 0; k < 3; k++) out[k] = n > 0 ? a[k] / n : 0;
    return n;
}

static void euler_rotation(const mj_reader *reader, const double angles[3], double R[9]) {
    double turn[9], before[9];
    lw_m3_identity(R);
    for (int k = 0; k < 3; k++) {
        const char letter = reader->eulerseq[k];
        double axis[3] = {0, 0, 0};
        axis[tolower((unsigned char)letter) - 'x'] = 1;
        lw_rot_axis(axis, angles[k] * (reader->degrees ? LW_PI / 180 : 1), turn);
        memcpy(before, R, sizeof before);
        if (islower((unsigned char)letter))
            lw_m3_mul(before, turn, R);
        else
            lw_m3_mul(turn, before, R);
    }
}

void mj_read_rotation(mj_reader *reader, const mj_element *element, double R[9]) {
    double v[6], axes[2][3], z[3];
    const lw_xml *node = element->node;
    lw_m3_identity(R);
    /* A way that the element itself uses comes before another of its class. */
    static const char *const ways[] = {"quat", "axisangle", "euler", "xyaxes", "zaxis"};
    static const int sizes[] = {4, 4, 3, 6, 3};
    int way = -1, own = 0;
    for (int k = 0; k < 5; k++)
        if (lw_xml_find(node, ways[k])) way = k, own++;
    if (own > 1) {
        mj_error(reader, node, ways[way], "keep one of quat, axisangle, euler, xyaxes, zaxis",
                 "its rotation is given more than once");
        return;
    }
    for (int k = 0; k < 5 && way < 0; k++)
        if (mj_text(reader, element, ways[k])) way = k;
    if (way < 0 || mj_numbers(reader, element, ways[way], sizes[way], sizes[way], v) == 0) return;
    bool good = true;
    switch (way) {
    case 0:
        good = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3] > 1e-30;
        if (good) lw_rot_quat(v, R);
        break;
    case 1:
        good = mj_unit(v, z) > 1e-15;
        if (good) lw_rot_axis(z, v[3] * (reader->degrees ? LW_PI / 180 : 1), R);
        break;
    case 2:
        euler_rotation(reader, v, R);
        break;
    case 3:
        good = mj_unit(v, axes[0]) > 1e-15;
        lw_v3_copy(v + 3, axes[1]);
        lw_v3_axpy(-lw_v3_dot(axes[0], axes[1]), axes[0], axes[1]);
        good = good && mj_unit(axes[1], axes[1]) > 1e-15;
        if (!good) break;
        lw_v3_cross(axes[0], axes[1], z);
        lw_rot_columns_zx(z, axes[0], R);
        break;
    default:
        good = mj_unit(v, z) > 1e-15;
        if (good) lw_rot_z_to(z, R);
    }
    if (!good)
        mj_error(reader, node, ways[way], "give an axis or quaternion of any length but zero",
                 "%s has no direction", ways[way]);
}

void mj_read_pose(mj_reader *reader, const mj_element *element, lw_pose *pose) {
    lw_v3_set(pose->p, 0, 0, 0);
    (void)mj_numbers(reader, element, "pos", 3, 3, pose->p);
    mj_read_rotation(reader, element, pose->R);
}
