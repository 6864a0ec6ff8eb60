/* mjcf_equality.c - equality constraints of MJCF as joints that close loops, and couplings.
 *
 *   connect   two points coincide: a spherical joint that is cut. The second point is where the first one
 *             lies in the drawn configuration, or both are sites.
 *   weld      two frames coincide: a weld that is cut. Rotation of body 2 in body 1 is relpose's, and the
 *             anchor of body 2 lies at its position; without relpose all is as drawn.
 *   joint     y - y0 = sum a_k (x - x0)^k with the drawn coordinates x0, y0: a coupling.
 *   tendon    the same with the lengths of fixed tendons; of the second tendon only a_0 and a_1. A tendon of
 *             two sites that keeps its length: a distance.
 *
 * Two connects between the same bodies are a hinge: with loops = joints they become a revolute joint, if the
 * two points are as far from each other on both bodies.
 */
#include "io/import/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

/* One closure: where it is on both sides. */
typedef struct mj_closure {
    const lw_xml *node;
    bool weld, done;
    int hosts[2];
    lw_pose poses[2]; /* in the hosts' frames */
} mj_closure;

static const double z_axis[3] = {0, 0, 1};

static int body_of(mj_reader *reader, const lw_xml *node, const char *key, int otherwise) {
    const char *name = lw_xml_get(node, key);
    if (!name && otherwise >= 0) return otherwise;
    const int body = name ? mj_find_body(reader, name) : -1;
    if (body >= 0) return body;
    lw_closest_search search = lw_closest_to(name ? name : "");
    for (int k = 0; k < reader->bodies.count; k++) lw_closest_try(&search, MJ_BODY(reader, k)->name);
    char remedy[160] = "give the name of a body";
    (void)lw_did_you_mean(search.name, remedy, sizeof remedy);
    if (name)
        mj_error(reader, node, key, remedy, "there is no body \"%.60s\"", name);
    else
        mj_error(reader, node, NULL, "give body1 and body2, or site1 and site2", "%s is missing", key);
    return -1;
}

static int site_of(mj_reader *reader, const lw_xml *node, const char *key) {
    const char *name = lw_xml_get(node, key);
    const int site = name ? mj_find_site(reader, name) : -1;
    if (site < 0)
        mj_error(reader, node, name ? key : NULL, "name a site on each side",
                 name ? "there is no site \"%.60s\"" : "one site alone is given%s", name ? name : "");
    return site;
}

/* Reads a connect or weld; false if something is wrong. */
static bool read_closure(mj_reader *reader, const lw_xml *node, mj_closure *closure) {
    const mj_element element = {node, -1, "equality"};
    int bodies[2];
    *closure = (mj_closure){.node = node, .weld = lw_xml_is(node, "weld")};
    closure->poses[0] = closure->poses[1] = lw_pose_none();
    if (lw_xml_find(node, "site1") || lw_xml_find(node, "site2")) {
        const int sites[2] = {site_of(reader, node, "site1"), site_of(reader, node, "site2")};
        if (sites[0] < 0 || sites[1] < 0) return false;
        for (int k = 0; k < 2; k++) {
            bodies[k] = MJ_SITE(reader, sites[k])->body;
            closure->poses[k] = MJ_SITE(reader, sites[k])->pose;
        }
    } else {
        bodies[0] = body_of(reader, node, "body1", -1);
        bodies[1] = body_of(reader, node, "body2", 0);
        if (bodies[0] < 0 || bodies[1] < 0) return false;
        const mj_body *first = MJ_BODY(reader, bodies[0]), *second = MJ_BODY(reader, bodies[1]);
        lw_pose drawn = lw_pose_between(&first->world, &second->world);
        double anchor[3] = {0, 0, 0}, relpose[7];
        const bool given = mj_numbers(reader, &element, "anchor", 3, 3, anchor) == 3;
        if (!closure->weld) {
            if (!given) {
                mj_error(reader, node, NULL, "give its point in body1: anchor=\"x y z\"",
                         "anchor is missing");
                return false;
            }
            lw_v3_copy(anchor, closure->poses[0].p);
            drawn = lw_pose_between(&second->world, &first->world);
            lw_pose_point(drawn.R, drawn.p, anchor, closure->poses[1].p);
        } else {
            lw_v3_copy(anchor, closure->poses[1].p);
            closure->poses[0] = lw_pose_in(&drawn, &closure->poses[1]);
            const bool posed = mj_numbers(reader, &element, "relpose", 7, 7, relpose) == 7 &&
                               (relpose[3] != 0 || relpose[4] != 0 || relpose[5] != 0 || relpose[6] != 0);
            if (posed) {
                lw_v3_copy(relpose, closure->poses[0].p);
                lw_rot_quat(relpose + 3, closure->poses[0].R);
            }
        }
    }
    for (int k = 0; k < 2; k++) {
        const mj_body *body = MJ_BODY(reader, bodies[k]);
        closure->hosts[k] = body->host;
        closure->poses[k] = lw_pose_in(&body->in_host, &closure->poses[k]);
    }
    return true;
}

/* Adds the joint that a closure is; axis: of a revolute one, seen from both sides, or NULL. */
static void add_closure(mj_reader *reader, const mj_closure *closure, double axis[2][3]) {
    lw_importer *importer = reader->importer;
    const lw_xml *node = closure->node;
    char name[200];
    const char *bodies[2];
    for (int k = 0; k < 2; k++) bodies[k] = MJ_BODY(reader, closure->hosts[k])->spec_name;
    if (lw_xml_get(node, "name"))
        (void)snprintf(name, sizeof name, "%.120s", lw_xml_get(node, "name"));
    else
        (void)snprintf(name, sizeof name, "%s.%.50s.%.50s", node->name, bodies[0], bodies[1]);
    lw_joint_spec joint = {.name = lw_import_own_name(importer, &importer->joints, name),
                           .type = axis            ? LW_JOINT_REVOLUTE
                                   : closure->weld ? LW_JOINT_WELD
                                                   : LW_JOINT_SPHERICAL,
                           .bodies = {bodies[0], bodies[1]},
                           .cut = true,
                           .place = node->place};
    if (axis) {
        joint.frame = LW_GEOMETRY_BODY;
        for (int k = 0; k < 2; k++) {
            lw_v3_copy(closure->poses[k].p, joint.geometry[k].point);
            lw_v3_copy(axis[k], joint.geometry[k].axes[0]);
            joint.geometry[k].axis_count = 1;
        }
    } else
        lw_import_geometry(&joint, &closure->poses[0], &closure->poses[1], z_axis, NULL, NULL);
    lw_import_add_joint(importer, &joint);
}

/* Is there another connect between the same bodies that makes a hinge with this one? */
static bool make_hinge(mj_reader *reader, mj_closure *list, int count, int index) {
    mj_closure *one = &list[index];
    for (int k = index + 1; k < count && !one->weld; k++) {
        mj_closure *other = &list[k];
        if (other->weld || other->done) continue;
        const bool straight = other->hosts[0] == one->hosts[0] && other->hosts[1] == one->hosts[1];
        const bool crossed = other->hosts[0] == one->hosts[1] && other->hosts[1] == one->hosts[0];
        if (!straight && !crossed) continue;
        double axis[2][3];
        for (int side = 0; side < 2; side++)
            lw_v3_sub(other->poses[straight ? side : 1 - side].p, one->poses[side].p, axis[side]);
        const double a = lw_v3_norm(axis[0]), b = lw_v3_norm(axis[1]);
        if (!(a > 0) || fabs(a - b) > 1e-9 * a) continue;
        other->done = true;
        add_closure(reader, one, axis);
        lw_import_note_of(reader->importer, one->node->place, "pairs of connects",
                          "made one revolute joint each, as --loops joints asks");
        return true;
    }
    return false;
}

/* --- couplings -------------------------------------------------------------------------------------- */

/* Adds one side of a coupling: the curve sum a_k (x - x0)^k of a joint or the length of a tendon times a
 * factor. False if there are too many terms, or a curve of a sum. */
static bool add_terms(mj_reader *reader, lw_constraint_spec *coupling, int joint, int tendon, double factor,
                      const double *curve) {
    if (joint >= 0) {
        const mj_joint *of = MJ_JOINT(reader, joint);
        const int k = coupling->terms;
        if (k == LW_COUPLING_MAX) return false;
        const bool straight = !curve || (curve[2] == 0 && curve[3] == 0 && curve[4] == 0);
        coupling->joints[k] = of->spec_joint;
        coupling->coordinates[k] = of->coordinate;
        coupling->terms++;
        if (straight) {
            const double slope = curve ? curve[1] : 1;
            coupling->factors[k] = factor * slope;
            coupling->offset += factor * slope * of->ref;
            return true;
        }
        coupling->factors[k] = factor;
        coupling->about[k] = of->ref;
        coupling->polynomial_size[k] = LW_POLYNOMIAL_MAX;
        for (int i = 1; i < LW_POLYNOMIAL_MAX; i++) coupling->polynomial[k][i] = curve[i];
        return true;
    }
    const mj_tendon *of = MJ_TENDON(reader, tendon);
    if (curve && (curve[2] != 0 || curve[3] != 0 || curve[4] != 0)) return false;
    for (int i = 0; i < of->count; i++)
        if (!add_terms(reader, coupling, of->items[i], -1, factor * (curve ? curve[1] : 1) * of->coef[i],
                       NULL))
            return false;
    return true;
}

/* A spatial tendon of two sites whose length is held: a distance. */
static void add_distance(mj_reader *reader, const lw_xml *node, const mj_tendon *tendon, double longer) {
    lw_constraint_spec distance = {.type = LW_CONSTRAINT_DISTANCE,
                                   .frame = LW_GEOMETRY_BODY,
                                   .length = tendon->length0 + longer,
                                   .place = node->place};
    if (!tendon->usable || tendon->count != 2 || lw_xml_find(node, "tendon2") || !(distance.length > 0)) {
        mj_error(reader, node, NULL, "let a tendon of two sites keep a positive length",
                 "this equality of a path over sites is not read");
        return;
    }
    for (int k = 0; k < 2; k++) distance.bodies[k] = MJ_SITE(reader, tendon->items[k])->spec_name;
    distance.name = lw_import_own_name(reader->importer, &reader->importer->constraints,
                                       lw_xml_get(node, "name") ? lw_xml_get(node, "name") : tendon->name);
    lw_import_add_constraint(reader->importer, &distance);
}

static void add_coupling(mj_reader *reader, const lw_xml *node) {
    const mj_element element = {node, -1, "equality"};
    const bool tendons = lw_xml_is(node, "tendon");
    static const char *const keys[2][2] = {{"joint1", "joint2"}, {"tendon1", "tendon2"}};
    double curve[5] = {0, 1, 0, 0, 0};
    int found[2] = {-1, -1};
    for (int k = 0; k < 2; k++) {
        const char *key = keys[tendons][k], *name = lw_xml_get(node, key);
        if (!name && k == 1) break;
        found[k] = !name ? -1 : tendons ? mj_find_tendon(reader, name) : mj_find_joint(reader, name);
        if (found[k] < 0) {
            mj_error(reader, node, name ? key : NULL, "give the name of one",
                     name ? "there is no %s \"%.60s\"" : "%s1 is missing%.0s", tendons ? "tendon" : "joint",
                     name ? name : "");
            return;
        }
        if (tendons && k == 0 && MJ_TENDON(reader, found[0])->spatial) {
            (void)mj_numbers(reader, &element, "polycoef", 1, 5, curve);
            add_distance(reader, node, MJ_TENDON(reader, found[0]), curve[0]);
            return;
        }
        const bool fits =
            tendons ? !MJ_TENDON(reader, found[k])->spatial : MJ_JOINT(reader, found[k])->type <= MJ_SLIDE;
        if (!fits) {
            mj_error(reader, node, key, tendons ? "name a fixed tendon" : "name a hinge or slide",
                     tendons ? "the path of tendon \"%.60s\" over sites cannot be coupled"
                             : "joint \"%.60s\" has no single coordinate",
                     name);
            return;
        }
    }
    (void)mj_numbers(reader, &element, "polycoef", 1, 5, curve);
    lw_constraint_spec coupling = {.type = LW_CONSTRAINT_COUPLING, .place = node->place};
    char name[200];
    const char *given = lw_xml_get(node, "name");
    (void)snprintf(name, sizeof name, "%s%.100s", given ? "" : "couple.",
                   given ? given : lw_xml_get(node, keys[tendons][0]));
    coupling.name = lw_import_own_name(reader->importer, &reader->importer->constraints, name);
    coupling.offset = curve[0];
    const int joint = tendons ? -1 : found[0], tendon = tendons ? found[0] : -1;
    bool good = add_terms(reader, &coupling, joint, tendon, 1, NULL);
    if (good && found[1] >= 0)
        good = add_terms(reader, &coupling, tendons ? -1 : found[1], tendons ? found[1] : -1, -1, curve);
    if (!good) {
        mj_error(reader, node, NULL, "write it with joints",
                 "a coupling of tendons has at most %d coordinates and a straight line", LW_COUPLING_MAX);
        return;
    }
    lw_import_add_constraint(reader->importer, &coupling);
}

/* --- all -------------------------------------------------------------------------------------------- */

static bool is_active(mj_reader *reader, const lw_xml *node) {
    const mj_element element = {node, -1, "equality"};
    bool active = true;
    (void)mj_flag(reader, &element, "active", &active);
    return active;
}

void mj_make_equality(mj_reader *reader) {
    lw_importer *importer = reader->importer;
    int count = 0, used = 0;
    for (const lw_xml *section = lw_xml_child(reader->root, "equality"); section;
         section = lw_xml_next(section))
        for (const lw_xml *node = section->first; node; node = node->next) count++;
    if (count == 0) return;
    mj_closure *list = LW_NEW(reader->arena, mj_closure, count);
    if (!list) {
        importer->out_of_memory = true;
        return;
    }
    for (const lw_xml *section = lw_xml_child(reader->root, "equality"); section;
         section = lw_xml_next(section))
        for (const lw_xml *node = section->first; node; node = node->next) {
            if (reader->no_equality || !is_active(reader, node)) {
                lw_import_note_of(importer, node->place, "equalities that are switched off", "left out");
                continue;
            }
            if (lw_xml_is(node, "joint") || lw_xml_is(node, "tendon"))
                add_coupling(reader, node);
            else if (lw_xml_is(node, "connect") || lw_xml_is(node, "weld")) {
                if (!read_closure(reader, node, &list[used])) continue;
                if (list[used].hosts[0] == list[used].hosts[1]) {
                    mj_warn(reader, node, NULL, NULL,
                            "both sides move as one body, so that it has no effect");
                    continue;
                }
                used++;
            } else {
                mj_error(reader, node, NULL, "use connect, weld, joint or tendon",
                         "an equality <%.40s> is not read", node->name);
                continue;
            }
            lw_import_note_of(importer, node->place, "equalities, soft in MuJoCo",
                              "hard here: they hold exactly, solref and solimp have no effect");
        }
    for (int k = 0; k < used; k++) {
        if (list[k].done) continue;
        if (importer->options.loops == LW_LOOPS_JOINTS && make_hinge(reader, list, used, k)) continue;
        add_closure(reader, &list[k], NULL);
    }
}
