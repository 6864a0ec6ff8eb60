/* mjcf_tendons.c - tendons of MJCF.
 *
 * A fixed tendon is a linear combination of joint coordinates, L = sum c_k q_k. Its spring and damper pull on
 * coordinate k with c_k F; here they are drives, whose expressions name all the coordinates. A spatial tendon
 * over sites is a path of straight lines; two sites make a spring between two points, more of them several
 * springs of one tension. A line between two sites of one body keeps its length and pulls on nothing. Paths
 * over geoms and pulleys are left out.
 *
 *     F = -(k0 x + k1 x^2 + k2 x^3) - (c0 L' + c1 L' |L'| + c2 L'^3),
 *     x = L - upper above the rest length, L - lower below, 0 between the two (springlength)
 */
#include "io/import/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

int mj_find_tendon(const mj_reader *reader, const char *name) {
    for (int k = 0; k < reader->tendons.count; k++)
        if (MJ_TENDON(reader, k)->name && strcmp(MJ_TENDON(reader, k)->name, name) == 0) return k;
    return -1;
}

/* --- reading ---------------------------------------------------------------------------------------- */

/* Where a body is when its joints and those that carry it are at their springref; balls and free bodies as
 * drawn. */
static lw_pose relaxed_pose(const mj_reader *reader, int index) {
    if (index == 0) return lw_pose_none();
    const mj_body *body = MJ_BODY(reader, index);
    const lw_pose outer = relaxed_pose(reader, body->parent);
    lw_pose pose = lw_pose_in(&outer, &body->local);
    for (int k = 0; k < body->joint_count; k++) {
        const mj_joint *joint = MJ_JOINT(reader, body->first_joint + k);
        const double by = joint->springref - joint->ref;
        lw_pose step = lw_pose_none();
        if (joint->type > MJ_SLIDE || by == 0) continue;
        if (joint->type == MJ_SLIDE)
            lw_v3_axpy(by, joint->axis, step.p);
        else { /* about an axis through a point, which stays */
            double turned[3];
            lw_rot_axis(joint->axis, by, step.R);
            lw_m3_mul_v(step.R, joint->pos, turned);
            lw_v3_sub(joint->pos, turned, step.p);
        }
        pose = lw_pose_in(&pose, &step);
    }
    return pose;
}

/* As drawn, or with joints at their springref. */
static double site_distance(const mj_reader *reader, int a, int b, bool relaxed) {
    const int sites[2] = {a, b};
    double p[2][3], d[3];
    for (int k = 0; k < 2; k++) {
        const mj_site *site = MJ_SITE(reader, sites[k]);
        const lw_pose pose = relaxed ? relaxed_pose(reader, site->body) : MJ_BODY(reader, site->body)->world;
        lw_pose_point(pose.R, pose.p, site->pose.p, p[k]);
    }
    lw_v3_sub(p[1], p[0], d);
    return lw_v3_norm(d);
}

/* Does the line from site k - 1 to site k of a spatial tendon join points of one body? */
static bool is_rigid(const mj_reader *reader, const mj_tendon *tendon, int k) {
    const mj_site *a = MJ_SITE(reader, tendon->items[k - 1]), *b = MJ_SITE(reader, tendon->items[k]);
    return MJ_BODY(reader, a->body)->host == MJ_BODY(reader, b->body)->host;
}

bool mj_tendon_pulls(const mj_reader *reader, const mj_tendon *tendon) {
    if (!tendon->usable) return false;
    if (!tendon->spatial) return tendon->count > 0;
    for (int k = 1; k < tendon->count; k++)
        if (!is_rigid(reader, tendon, k)) return true;
    return false;
}

/* The joints or sites of a tendon. */
static void read_path(mj_reader *reader, const lw_xml *node, mj_tendon *tendon) {
    int room = 0;
    for (const lw_xml *child = node->first; child; child = child->next) room++;
    int *items = LW_NEW(reader->arena, int, room + 1);
    double *coef = LW_NEW(reader->arena, double, room + 1);
    if (!items || !coef) {
        reader->importer->out_of_memory = true;
        return;
    }
    tendon->items = items, tendon->coef = coef, tendon->usable = true;
    for (const lw_xml *child = node->first; child; child = child->next) {
        const mj_element element = {child, -1, child->name};
        const bool joint = lw_xml_is(child, "joint"), site = lw_xml_is(child, "site");
        if (tendon->spatial && !site) {
            tendon->usable = false;
            continue;
        }
        if (!tendon->spatial && !joint) {
            mj_error(reader, child, NULL, "name joints in a fixed tendon", "<%.40s> is no joint",
                     child->name);
            continue;
        }
        const char *name = lw_xml_get(child, joint ? "joint" : "site");
        const int item = !name ? -1 : joint ? mj_find_joint(reader, name) : mj_find_site(reader, name);
        if (item < 0) {
            mj_error(reader, child, joint ? "joint" : "site", "name one that the file has",
                     "there is no %s \"%.60s\"", joint ? "joint" : "site", name ? name : "");
            continue;
        }
        double factor = 1;
        (void)mj_number(reader, &element, "coef", &factor);
        if (joint && MJ_JOINT(reader, item)->type > MJ_SLIDE) {
            mj_error(reader, child, "joint", "name a hinge or slide", "\"%.60s\" has no single coordinate",
                     name);
            continue;
        }
        items[tendon->count] = item;
        coef[tendon->count++] = factor;
    }
}

static void read_tendon(mj_reader *reader, const lw_xml *node) {
    const mj_element element = mj_with_class(reader, node, "tendon", reader->classes.count > 0 ? 0 : -1);
    mj_tendon tendon = {
        .node = node, .name = lw_xml_get(node, "name"), .spatial = lw_xml_is(node, "spatial")};
    double range[2] = {0, 0}, more = 0;
    if (tendon.name && mj_find_tendon(reader, tendon.name) >= 0)
        mj_error(reader, node, "name", "give it another name", "there is a tendon \"%.60s\" already",
                 tendon.name);
    (void)mj_numbers(reader, &element, "stiffness", 1, 3, tendon.stiffness);
    (void)mj_numbers(reader, &element, "damping", 1, 3, tendon.damping);
    read_path(reader, node, &tendon);
    double rest = 0;
    for (int k = 0; k < tendon.count; k++) {
        if (!tendon.spatial) {
            const mj_joint *joint = MJ_JOINT(reader, tendon.items[k]);
            tendon.length0 += tendon.coef[k] * joint->ref;
            rest += tendon.coef[k] * joint->springref;
        } else if (k > 0) {
            tendon.length0 += site_distance(reader, tendon.items[k - 1], tendon.items[k], false);
            rest += site_distance(reader, tendon.items[k - 1], tendon.items[k], true);
        }
    }
    const int given = mj_numbers(reader, &element, "springlength", 1, 2, tendon.springlength);
    if (given == 1) tendon.springlength[1] = tendon.springlength[0];
    if (given == 0 || (tendon.springlength[0] == -1 && tendon.springlength[1] == -1))
        tendon.springlength[0] = tendon.springlength[1] = rest;
    if (mj_numbers(reader, &element, "range", 2, 2, range) == 2 && (range[0] != 0 || range[1] != 0))
        lw_import_note_of(reader->importer, node->place, "ranges of tendons", "left out: nothing stops them");
    if (mj_number(reader, &element, "frictionloss", &more) && more > 0)
        lw_import_note_of(reader->importer, node->place, "dry friction of tendons", "left out");
    more = 0;
    if (mj_number(reader, &element, "armature", &more) && more > 0)
        lw_import_note_of(reader->importer, node->place, "armature of tendons",
                          "left out: mass that moves along with a tendon is missing");
    mj_tendon *added = mj_add(reader, &reader->tendons, sizeof *added);
    if (added) *added = tendon;
}

void mj_read_tendons(mj_reader *reader) {
    for (const lw_xml *section = lw_xml_child(reader->root, "tendon"); section;
         section = lw_xml_next(section))
        for (const lw_xml *node = section->first; node; node = node->next) {
            if (lw_xml_is(node, "fixed") || lw_xml_is(node, "spatial"))
                read_tendon(reader, node);
            else
                mj_warn(reader, node, NULL, NULL, "<%.40s> is no tendon that is known", node->name);
        }
}

/* --- forces ----------------------------------------------------------------------------------------- */

/* Length, or rate, of a tendon as an expression. */
const char *mj_tendon_text(mj_reader *reader, const mj_tendon *tendon, bool rate) {
    lw_importer *importer = reader->importer;
    const char *text = "";
    for (int k = 0; k < tendon->count; k++) {
        const char *term;
        if (tendon->spatial) {
            if (k == 0 || (rate && is_rigid(reader, tendon, k))) continue;
            if (is_rigid(reader, tendon, k))
                term =
                    mj_digits(reader, site_distance(reader, tendon->items[k - 1], tendon->items[k], false));
            else
                term = lw_import_print(importer, "distance('%s', '%s')%s",
                                       MJ_SITE(reader, tendon->items[k - 1])->spec_name,
                                       MJ_SITE(reader, tendon->items[k])->spec_name, rate ? ".rate" : "");
        } else
            term = lw_import_print(importer, "%s*%s", mj_digits(reader, tendon->coef[k]),
                                   mj_quantity(reader, MJ_JOINT(reader, tendon->items[k]), rate ? "v" : "q"));
        text = lw_import_print(importer, "%s%s%s", text, text[0] ? " + " : "", term);
    }
    return text;
}

void mj_pull(mj_reader *reader, const mj_tendon *tendon, const char *name, const char *force) {
    lw_importer *importer = reader->importer;
    for (int k = 0; k < tendon->count; k++) {
        if (tendon->spatial) {
            /* A positive force lengthens, a spring's tension shortens. */
            if (k == 0 || is_rigid(reader, tendon, k)) continue;
            lw_force_spec spring = {.name = lw_import_own_name(importer, &importer->forces, name),
                                    .type = LW_FORCE_SPRING,
                                    .bodies = {MJ_SITE(reader, tendon->items[k - 1])->spec_name,
                                               MJ_SITE(reader, tendon->items[k])->spec_name},
                                    .frame = LW_GEOMETRY_BODY,
                                    .has_free_length = true,
                                    .place = tendon->node->place};
            spring.law.expression = lw_import_print(importer, "-(%s)", force);
            lw_import_add_force(importer, &spring);
            continue;
        }
        const mj_joint *joint = MJ_JOINT(reader, tendon->items[k]);
        if (tendon->coef[k] == 0) continue;
        const lw_force_spec drive = {
            .name = lw_import_own_name(importer, &importer->forces, name),
            .type = LW_FORCE_DRIVE,
            .joint = joint->spec_joint,
            .coordinate = joint->coordinate,
            .drive = lw_import_print(importer, "%s*(%s)", mj_digits(reader, tendon->coef[k]), force),
            .place = tendon->node->place};
        lw_import_add_force(importer, &drive);
    }
}

/* A polynomial of x without a constant term. */
static const char *polynomial(mj_reader *reader, const double c[3], const char *x, bool odd) {
    lw_importer *importer = reader->importer;
    const char *text = lw_import_print(importer, "%s*%s", mj_digits(reader, c[0]), x);
    if (c[1] != 0)
        text = odd ? lw_import_print(importer, "%s + %s*%s*abs(%s)", text, mj_digits(reader, c[1]), x, x)
                   : lw_import_print(importer, "%s + %s*%s^2", text, mj_digits(reader, c[1]), x);
    if (c[2] != 0) text = lw_import_print(importer, "%s + %s*%s^3", text, mj_digits(reader, c[2]), x);
    return text;
}

static bool any(const double c[3]) { return c[0] != 0 || c[1] != 0 || c[2] != 0; }

static void make_spring(mj_reader *reader, const mj_tendon *tendon, int index) {
    lw_importer *importer = reader->importer;
    const bool spring = any(tendon->stiffness) && !reader->no_spring;
    const bool damper = any(tendon->damping) && !reader->no_damper;
    if (!tendon->usable) {
        lw_import_note_of(importer, tendon->node->place, "tendons over geoms and pulleys",
                          "left out with their springs: only straight lines between sites are read");
        return;
    }
    if ((!spring && !damper) || !mj_tendon_pulls(reader, tendon)) return;
    char name[200];
    (void)snprintf(name, sizeof name, tendon->name ? "%.120s" : "tendon%.0s%d",
                   tendon->name ? tendon->name : "", index);
    const double *rest = tendon->springlength;
    if (tendon->spatial && tendon->count == 2 && rest[0] == rest[1]) {
        lw_force_spec element = {.name = lw_import_own_name(importer, &importer->forces, name),
                                 .type = LW_FORCE_SPRING,
                                 .bodies = {MJ_SITE(reader, tendon->items[0])->spec_name,
                                            MJ_SITE(reader, tendon->items[1])->spec_name},
                                 .frame = LW_GEOMETRY_BODY,
                                 .stiffness = spring ? tendon->stiffness[0] : 0,
                                 .damping = damper ? tendon->damping[0] : 0,
                                 .free_length = rest[0],
                                 .has_free_length = true,
                                 .place = tendon->node->place};
        const double k[3] = {0, spring ? tendon->stiffness[1] : 0, spring ? tendon->stiffness[2] : 0};
        const double c[3] = {0, damper ? tendon->damping[1] : 0, damper ? tendon->damping[2] : 0};
        if (any(k) || any(c))
            element.law.expression = lw_import_print(importer, "%s + %s", polynomial(reader, k, "x", false),
                                                     polynomial(reader, c, "v", true));
        lw_import_add_force(importer, &element);
        return;
    }
    const char *length = mj_tendon_text(reader, tendon, false), *pull = "";
    if (spring) {
        const char *x = lw_import_print(importer, "(%s - %s)", length, mj_digits(reader, rest[0]));
        if (rest[0] != rest[1])
            x = lw_import_print(importer, "(max(%s - %s, 0) + min(%s - %s, 0))", length,
                                mj_digits(reader, rest[1]), length, mj_digits(reader, rest[0]));
        pull = lw_import_print(importer, "-(%s)", polynomial(reader, tendon->stiffness, x, false));
    }
    if (damper) {
        const char *v = lw_import_print(importer, "(%s)", mj_tendon_text(reader, tendon, true));
        pull = lw_import_print(importer, "%s - (%s)", pull, polynomial(reader, tendon->damping, v, true));
    }
    mj_pull(reader, tendon, name, pull);
}

void mj_make_tendons(mj_reader *reader) {
    for (int k = 0; k < reader->tendons.count; k++) make_spring(reader, MJ_TENDON(reader, k), k);
}
