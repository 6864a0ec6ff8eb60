/* scene_keys.c - poses of nodes, and thinning them by error.
 *
 * From a key the next one is the farthest sample, found by doubling and bisection, to which interpolation
 * passes all samples between within the tolerance. With a = key, b = next, s = (t - t_a) / (t_b - t_a) that
 * is
 *     p = p_a + s (p_b - p_a),      Q = Q_a exp(s log(conj(Q_a) Q_b)),
 * which for the shorter of the two ways from Q_a to Q_b is what glTF calls LINEAR.
 */
#include "export/scene/scene_keys.h"
#include "linalg/vec3.h"

#include <math.h>

size_t lw_scene_node_count(const lw_scene *scene) {
    return (size_t)scene->model->body_count + 1 + scene->line_count;
}

/* --- poses ---------------------------------------------------------------------------------------- */

static void body_pose(const double *sample, int body, lw_node_pose *pose) {
    *pose = (lw_node_pose){.rotation = {1, 0, 0, 0}, .length = 1};
    if (body == 0) return;
    const double *here = sample + 7 * (size_t)(body - 1);
    lw_v3_copy(here, pose->position);
    for (int k = 0; k < 4; k++) pose->rotation[k] = here[3 + (k + 3) % 4];
    lw_quat_normalise(pose->rotation);
}

/* The shortest rotation from one unit vector to another. */
static void turn_between(const double from[3], const double to[3], double q[4]) {
    q[0] = 1 + lw_v3_dot(from, to);
    lw_v3_cross(from, to, q + 1);
    if (q[0] < 1e-12) {
        q[0] = 0;
        lw_v3_perpendicular(from, q + 1);
    }
    lw_quat_normalise(q);
}

static void line_pose(const lw_scene *scene, const double *sample, const lw_scene_line *line,
                      const lw_node_pose *before, lw_node_pose *pose) {
    double ends[2][3], along[3], z[3] = {0, 0, 1}, turn[4], R[9];
    for (int side = 0; side < 2; side++) {
        lw_node_pose body;
        body_pose(sample, line->bodies[side], &body);
        lw_rot_quat(body.rotation, R);
        lw_pose_point(R, body.position, line->points[side], ends[side]);
    }
    lw_v3_sub(ends[1], ends[0], along);
    pose->length = lw_v3_norm(along);
    const double upright[4] = {1, 0, 0, 0}, *last = before ? before->rotation : upright;
    lw_rot_quat(last, R);
    for (int k = 0; k < 3; k++) z[k] = R[3 * k + 2];
    bool centred = line->solid == LW_SOLID_CYLINDER;
    for (int k = 0; k < 3; k++) pose->position[k] = centred ? 0.5 * (ends[0][k] + ends[1][k]) : ends[0][k];
    if (pose->length > 0) { /* The line turns as little as it has to. */
        for (int k = 0; k < 3; k++) along[k] /= pose->length;
        turn_between(z, along, turn);
        lw_quat_mul(turn, last, pose->rotation);
        lw_quat_normalise(pose->rotation);
    } else {
        for (int k = 0; k < 4; k++) pose->rotation[k] = last[k];
    }
    pose->length = fmax(pose->length, 1e-6 * scene->typical);
}

void lw_scene_poses(const lw_scene *scene, const double *sample, size_t first, size_t count,
                    const lw_node_pose *before, lw_node_pose *poses) {
    size_t bodies = (size_t)scene->model->body_count + 1;
    for (size_t k = 0; k < count; k++) {
        const lw_node_pose *last = before ? &before[k] : NULL;
        lw_node_pose *pose = &poses[k];
        if (first + k < bodies)
            body_pose(sample, (int)(first + k), pose);
        else
            line_pose(scene, sample, &scene->lines[first + k - bodies], last, pose);
        double dot = 0;
        for (int i = 0; i < 4 && last; i++) dot += pose->rotation[i] * last->rotation[i];
        for (int i = 0; i < 4 && dot < 0; i++) pose->rotation[i] = -pose->rotation[i];
    }
}

/* --- keys ----------------------------------------------------------------------------------------- */

/* The rotation from a to b, as a quaternion in the axes of a. */
static void turn_from(const double a[4], const double b[4], double out[4]) {
    const double back[4] = {a[0], -a[1], -a[2], -a[3]};
    lw_quat_mul(back, b, out);
}

/* Does interpolation between the samples a and b pass all others between them? */
static bool passes(const double *t, const lw_node_pose *poses, size_t stride, size_t a, size_t b,
                   double reach, double tolerance) {
    const lw_node_pose *from = &poses[a * stride], *to = &poses[b * stride];
    double turn[4], phi[3];
    turn_from(from->rotation, to->rotation, turn);
    lw_quat_log(turn, phi);
    for (size_t k = a + 1; k < b; k++) {
        const lw_node_pose *here = &poses[k * stride];
        double s = (t[k] - t[a]) / (t[b] - t[a]), error = 0, part[3], step[4], rotation[4], rest[4];
        for (int i = 0; i < 3; i++) {
            double p = from->position[i] + s * (to->position[i] - from->position[i]) - here->position[i];
            error += p * p;
            part[i] = s * phi[i];
        }
        lw_quat_exp(part, step);
        lw_quat_mul(from->rotation, step, rotation);
        turn_from(rotation, here->rotation, rest);
        double length = from->length + s * (to->length - from->length) - here->length;
        double angle = 2 * atan2(lw_v3_norm(rest + 1), fabs(rest[0]));
        if (sqrt(error) + reach * angle + fabs(length) > tolerance) return false;
    }
    return true;
}

size_t lw_scene_keys(const double *t, const lw_node_pose *poses, size_t stride, size_t count, double reach,
                     double tolerance, size_t *keys) {
    size_t kept = 0;
    if (count == 0) return 0;
    keys[kept++] = 0;
    for (size_t a = 0; a + 1 < count;) {
        size_t good = a + 1, step = 2, bad = count;
        while (a + step < count && passes(t, poses, stride, a, a + step, reach, tolerance)) {
            good = a + step;
            step *= 2;
        }
        if (a + step < count)
            bad = a + step;
        else if (good < count - 1 && passes(t, poses, stride, a, count - 1, reach, tolerance))
            good = count - 1;
        else
            bad = count - 1;
        while (good < count - 1 && bad - good > 1) {
            size_t middle = good + (bad - good) / 2;
            if (passes(t, poses, stride, a, middle, reach, tolerance))
                good = middle;
            else
                bad = middle;
        }
        keys[kept++] = a = good;
    }
    return kept;
}
