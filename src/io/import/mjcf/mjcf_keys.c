/* mjcf_keys.c - keyframes of MJCF as starts.
 *
 * qpos and qvel list the coordinates and speeds of the joints in the order of the bodies, depth first: seven
 * and six of a free joint, four and three of a ball. They are those of a spec (mjcf_joints.c), so that they
 * are copied: a free body's velocity is that of its origin in world axes, angular velocities are in the
 * body's axes, quaternions are w, x, y, z.
 */
#include "io/import/mjcf/mjcf.h"

#include <string.h>

static void drawn(const mj_reader *reader, double *qpos) {
    for (int k = 0; k < reader->joints.count; k++) {
        const mj_joint *joint = MJ_JOINT(reader, k);
        const mj_body *body = MJ_BODY(reader, joint->body);
        double *q = qpos + joint->qpos;
        if (joint->type == MJ_FREE) {
            lw_v3_copy(body->world.p, q);
            lw_quat_rot(body->world.R, q + 3);
        } else if (joint->type == MJ_BALL)
            q[0] = 1, q[1] = q[2] = q[3] = 0;
        else
            q[0] = joint->ref;
    }
}

static void make_start(mj_reader *reader, const char *name, lw_place place, const double *qpos,
                       const double *qvel) {
    for (int k = 0; k < reader->joints.count; k++) {
        const mj_joint *joint = MJ_JOINT(reader, k);
        if (joint->coordinate != 0) continue; /* part of one that began before */
        lw_start_spec start = {
            .name = name, .joint = joint->spec_joint, .has_q = true, .has_v = qvel, .place = place};
        int q = 0, v = 0;
        for (int i = k; i < reader->joints.count && MJ_JOINT(reader, i)->spec_joint == joint->spec_joint;
             i++) {
            const mj_joint *part = MJ_JOINT(reader, i);
            const int nq = part->type == MJ_FREE ? 7 : part->type == MJ_BALL ? 4 : 1;
            const int nv = part->type == MJ_FREE ? 6 : part->type == MJ_BALL ? 3 : 1;
            for (int c = 0; c < nq; c++) start.q[q++] = qpos[part->qpos + c];
            for (int c = 0; qvel && c < nv; c++) start.v[v++] = qvel[part->dof + c];
        }
        const int quaternion = joint->spec_type == LW_JOINT_FREE        ? 3
                               : joint->spec_type == LW_JOINT_SPHERICAL ? 0
                                                                        : -1;
        if (quaternion >= 0) lw_quat_normalise(start.q + quaternion);
        lw_import_check(reader->importer, lw_spec_add_start(reader->importer->spec, &start));
    }
}

/* Is there a free joint whose coordinates MuJoCo moves to the centre of mass? It does so for bodies without
 * children. */
static bool any_aligned(mj_reader *reader) {
    bool any = false;
    for (int k = 0; k < reader->joints.count; k++) {
        const mj_joint *joint = MJ_JOINT(reader, k);
        bool leaf = joint->aligned;
        for (int b = 1; b < reader->bodies.count && leaf; b++)
            leaf = MJ_BODY(reader, b)->parent != joint->body;
        if (!leaf) continue;
        any = true;
        lw_import_note_of(reader->importer, joint->node->place, "free joints aligned with the inertia",
                          "their coordinates are those of the frame of the body as written; same motion");
    }
    return any;
}

/* A list of an attribute that must have this many numbers; NULL if it is not given or wrong. */
static const double *vector(mj_reader *reader, const lw_xml *node, const char *key, int size) {
    const mj_element element = {node, -1, "key"};
    int count = 0;
    const double *values = mj_list(reader, &element, key, &count);
    if (values && count != size) {
        mj_error(reader, node, key, "give one for each coordinate of all joints, in the order of the bodies",
                 "%s has %d numbers, not %d", key, count, size);
        return NULL;
    }
    return values;
}

const lw_xml *mj_make_keys(mj_reader *reader) {
    lw_importer *importer = reader->importer;
    const lw_xml *chosen = NULL;
    const char *wanted = importer->options.key;
    lw_closest_search search = lw_closest_to(wanted ? wanted : "");
    lw_name_table names = {0};
    const bool aligned = any_aligned(reader);
    int index = 0;
    for (const lw_xml *section = lw_xml_child(reader->root, "keyframe"); section;
         section = lw_xml_next(section))
        for (const lw_xml *node = section->first; node; node = node->next) {
            if (!lw_xml_is(node, "key")) continue;
            const char *name = lw_xml_get(node, "name");
            if (!name) name = lw_import_print(importer, "key%d", index);
            index++;
            const char *own = lw_import_own_name(importer, &names, name);
            const double *qpos = vector(reader, node, "qpos", reader->nq);
            const double *qvel = vector(reader, node, "qvel", reader->nv);
            double *start = LW_NEW(reader->arena, double, reader->nq + 1);
            if (!start) {
                importer->out_of_memory = true;
                return NULL;
            }
            lw_closest_try(&search, name);
            if (lw_xml_find(node, "mpos") || lw_xml_find(node, "mquat"))
                lw_import_note_of(importer, node->place, "mocap bodies of keyframes",
                                  "left out: these bodies stay where they are drawn");
            if (aligned && (qpos || qvel)) {
                const char *remedy = "let MuJoCo write the file out without align and alignfree";
                const char *what =
                    "a keyframe of free joints that are aligned with principal axes is not read";
                if (wanted && strcmp(wanted, name) == 0)
                    mj_error(reader, node, "qpos", remedy, "%s", what);
                else
                    lw_import_note_of(importer, node->place, "keyframes of aligned free joints", "left out");
                if (wanted && strcmp(wanted, name) == 0) chosen = node;
                continue;
            }
            drawn(reader, start);
            if (qpos) memcpy(start, qpos, (size_t)reader->nq * sizeof *start);
            make_start(reader, own, node->place, start, qvel);
            if (!wanted || strcmp(wanted, name) != 0) continue;
            chosen = node;
            lw_error error = {0};
            if (importer->faults == 0 && reader->joints.count > 0 &&
                lw_spec_begin(importer->spec, own, &error) != LW_OK)
                mj_error(reader, node, NULL, error.remedy, "%s", error.message);
        }
    if (wanted && !chosen) {
        char remedy[160] = "leave --key out, or add a keyframe";
        (void)lw_did_you_mean(search.name, remedy, sizeof remedy);
        mj_error(reader, reader->root, NULL, remedy, "there is no keyframe \"%.60s\"", wanted);
    }
    return chosen;
}
