/* import_simscape.c - XML of Simscape Multibody: the assemblies that plug-ins of CAD programs write.
 *
 * Version 2.0: a tree of instances with poses, each within the assembly around it; for the root and each
 * assembly joints between frames of parts, mates between their points, lines and planes, or both; and for
 * each part mass, centre, and the inertia xx, yy, zz, yz, zx, xy about the centre in the part's axes, entries
 * of the matrix. All numbers are in the DataUnits of the file.
 *
 * The structure, the order and the signs are those of published files beside what smimport has made of them,
 * and of the documentation of Simscape's inertias, whose products have the minus sign within. docs/import.md
 * says more.
 *
 * Cost     O((instances + joints) * instances), and that of the mates.
 */
#include "io/import/simscape/simscape.h"

#include <stdio.h>
#include <string.h>

/* --- groups --------------------------------------------------------------------------------------- */

/* Ways become shorter as they are gone. */
static int leader(lw_simscape *cad, int k, bool linked) {
    while (k >= 0) {
        int *next = linked ? &cad->instances[k].linked : &cad->instances[k].group;
        if (*next == k) break;
        if (*next >= 0) *next = linked ? cad->instances[*next].linked : cad->instances[*next].group;
        k = *next;
    }
    return k;
}

int lw_simscape_group(lw_simscape *cad, int instance) { return leader(cad, instance, false); }

/* The ground leads wherever it is. */
static void join(lw_simscape *cad, int one, int other, bool linked) {
    int a = leader(cad, one, linked), b = leader(cad, other, linked);
    if (a == b) return;
    if (b == LW_SIMSCAPE_GROUND || (a != LW_SIMSCAPE_GROUND && b < a)) {
        const int swap = a;
        a = b, b = swap;
    }
    if (linked)
        cad->instances[b].linked = a;
    else
        cad->instances[b].group = a;
}

void lw_simscape_link(lw_simscape *cad, int one, int other) { join(cad, one, other, true); }

void lw_simscape_fix(lw_simscape *cad, int one, int other) {
    join(cad, one, other, false);
    join(cad, one, other, true);
}

/* A pose of the world in the body that carries a part. */
static lw_pose local(const lw_simscape *cad, int part, const lw_pose *world) {
    return cad->instances[part].stands ? *world : lw_pose_between(&cad->instances[part].world, world);
}

void lw_simscape_join(lw_simscape *cad, lw_joint_spec *joint, const int parts[2], const lw_pose frames[2]) {
    static const double x[3] = {1, 0, 0}, z[3] = {0, 0, 1};
    lw_pose own[2];
    for (int side = 0; side < 2; side++) {
        const lw_simscape_instance *part = &cad->instances[parts[side]];
        joint->bodies[side] = part->stands ? LW_GROUND : part->body;
        own[side] = local(cad, parts[side], &frames[side]);
    }
    lw_import_geometry(joint, &own[0], &own[1], z, NULL, joint->type == LW_JOINT_PLANAR ? x : NULL);
    lw_import_add_joint(cad->importer, joint);
    lw_simscape_link(cad, parts[0], parts[1]);
}

void lw_simscape_weld(lw_simscape *cad, int one, int other, const char *name, lw_place place) {
    lw_importer *importer = cad->importer;
    if (lw_simscape_group(cad, one) == lw_simscape_group(cad, other)) return;
    const lw_pose *at = &cad->instances[other].world;
    lw_joint_spec weld = {
        .name = lw_import_own_name(importer, &importer->joints, name), .type = LW_JOINT_WELD, .place = place};
    lw_simscape_join(cad, &weld, (const int[]){one, other}, (const lw_pose[]){*at, *at});
    lw_simscape_fix(cad, one, other);
}

/* --- values --------------------------------------------------------------------------------------- */

bool lw_simscape_numbers(lw_simscape *cad, const lw_xml *holder, const char *child, const char *object,
                         int count, double *values) {
    const lw_xml *element = lw_xml_child(holder, child);
    if (!element) {
        lw_import_fault(cad->importer, holder->place, object,
                        lw_import_print(cad->importer, "give <%s> with %d numbers", child, count),
                        "<%s> has no <%s>", holder->name, child);
        return false;
    }
    return lw_xml_read_numbers(cad->importer, element->text, element->text_place, object, child, count, count,
                               values) == count;
}

lw_pose lw_simscape_pose(lw_simscape *cad, const lw_xml *holder, const char *object) {
    const lw_xml *element = lw_xml_child(holder, "Transform");
    lw_pose pose = lw_pose_none();
    double R[9], q[4];
    if (!element || !lw_simscape_numbers(cad, element, "Rotation", object, 9, R) ||
        !lw_simscape_numbers(cad, element, "Translation", object, 3, pose.p))
        return pose;
    for (int k = 0; k < 3; k++) pose.p[k] *= cad->length;
    /* Files have nine digits at times: the nearest rotation. */
    lw_quat_rot(R, q);
    lw_quat_normalise(q);
    lw_rot_quat(q, pose.R);
    double off = 0;
    for (int k = 0; k < 9; k++) off = fmax(off, fabs(R[k] - pose.R[k]));
    if (!(off < 1e-5)) {
        lw_import_fault(cad->importer, lw_xml_child(element, "Rotation")->text_place, object,
                        "give a rotation matrix, row by row, e.g. 1 0 0 0 1 0 0 0 1",
                        "the numbers of <Rotation> are no rotation; they are off by %g", off);
        pose = lw_pose_none();
    }
    return pose;
}

/* The factor of a unit; 0 with a fault if it is not known. */
static double unit(lw_simscape *cad, const lw_xml *units, const char *key) {
    static const struct {
        const char *key, *name;
        double factor;
    } known[] = {{"length", "meter", 1},       {"length", "millimeter", 1e-3}, {"length", "centimeter", 1e-2},
                 {"length", "kilometer", 1e3}, {"length", "inch", 0.0254},     {"length", "foot", 0.3048},
                 {"length", "yard", 0.9144},   {"length", "micrometer", 1e-6}, {"mass", "kilogram", 1},
                 {"mass", "gram", 1e-3},       {"mass", "milligram", 1e-6},    {"mass", "pound", 0.45359237},
                 {"mass", "slug", 14.59390294}};
    const char *name = lw_xml_need(cad->importer, units, "<DataUnits>", key);
    for (size_t k = 0; name && k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k].key, key) == 0 && strcmp(known[k].name, name) == 0) return known[k].factor;
    if (name)
        lw_import_fault(cad->importer, lw_xml_place(units, key), "<DataUnits>",
                        "export with meter and kilogram, millimeter, gram, inch, foot or pound",
                        "%s: the unit \"%.60s\" is not known", key, name);
    return 0;
}

/* --- instances ------------------------------------------------------------------------------------ */

static int count_instances(const lw_xml *tree) {
    int count = 0;
    for (const lw_xml *e = lw_xml_child(tree, "Instance"); e; e = lw_xml_next(e))
        count += 1 + count_instances(e);
    return count;
}

static const lw_xml *find_by_uid(const lw_xml *list, const char *name, const char *uid) {
    for (const lw_xml *e = lw_xml_child(list, name); e && uid; e = lw_xml_next(e))
        if (lw_xml_get(e, "uid") && strcmp(lw_xml_get(e, "uid"), uid) == 0) return e;
    return NULL;
}

static void read_instances(lw_simscape *cad, const lw_xml *tree, int parent) {
    lw_importer *importer = cad->importer;
    const lw_pose none = lw_pose_none();
    for (const lw_xml *e = lw_xml_child(tree, "Instance"); e; e = lw_xml_next(e)) {
        const char *uid = lw_xml_need(importer, e, "instance", "uid"), *name = lw_xml_get(e, "name");
        const char *entity = lw_xml_need(importer, e, "instance", "entityUid");
        if (!uid || !entity) continue;
        for (int k = 0; k < cad->count; k++)
            if (cad->instances[k].parent == parent && strcmp(cad->instances[k].uid, uid) == 0)
                lw_import_fault(importer, lw_xml_place(e, "uid"), "instance", "give each its own uid",
                                "there are two instances \"%.80s\" in one assembly", uid);
        const int index = cad->count++;
        lw_simscape_instance *own = &cad->instances[index];
        if (!name || !name[0]) name = uid;
        *own = (lw_simscape_instance){.uid = uid, .entity = entity, .element = e, .parent = parent};
        own->group = own->linked = index;
        own->name = parent < 0 ? name : lw_import_print(importer, "%s/%s", cad->instances[parent].name, name);
        own->object = lw_import_print(importer, "instance \"%.90s\"", own->name);
        own->grounded = lw_xml_flag(importer, e, own->object, "grounded", false);
        const lw_pose pose = lw_simscape_pose(cad, e, own->object);
        own->world = lw_pose_in(parent < 0 ? &none : &cad->instances[parent].world, &pose);
        own->is_part = find_by_uid(lw_xml_child(cad->root, "Parts"), "Part", entity) != NULL;
        if (!own->is_part && !find_by_uid(lw_xml_child(cad->root, "Assemblies"), "Assembly", entity))
            lw_import_fault(importer, lw_xml_place(e, "entityUid"), own->object, "export the assembly again",
                            "there is neither a part nor an assembly \"%.80s\"", entity);
        read_instances(cad, e, index);
    }
}

int lw_simscape_part(lw_simscape *cad, const lw_xml *holder, int assembly, const char *object) {
    lw_importer *importer = cad->importer;
    const lw_xml *path = lw_xml_child(holder, "InstancePath");
    if (!path) {
        lw_import_fault(importer, holder->place, object, "give <InstancePath><Uid>...</Uid></InstancePath>",
                        "<%.40s> names no instance", holder->name);
        return -1;
    }
    int at = assembly;
    for (const lw_xml *u = lw_xml_child(path, "Uid"); u; u = lw_xml_next(u)) {
        int found = -1;
        for (int k = 0; k < cad->count && found < 0; k++)
            if (cad->instances[k].parent == at && strcmp(cad->instances[k].uid, u->text) == 0) found = k;
        if (found < 0) {
            lw_import_fault(importer, u->text_place, object, "export the assembly again",
                            "there is no instance \"%.80s\" here", u->text);
            return -1;
        }
        at = found;
    }
    if (at != assembly && cad->instances[at].is_part) return at;
    lw_import_fault(importer, path->place, object, "let it refer to a part of the assembly",
                    at == assembly ? "it refers to no instance" : "it refers to an assembly, not to a part");
    return -1;
}

/* --- bodies --------------------------------------------------------------------------------------- */

static void add_part(lw_simscape *cad, lw_simscape_instance *own) {
    lw_importer *importer = cad->importer;
    const lw_xml *part = find_by_uid(lw_xml_child(cad->root, "Parts"), "Part", own->entity);
    const lw_xml *properties = lw_xml_child(part, "MassProperties");
    lw_body_spec body = {.name = own->body, .place = own->element->place};
    double I[6] = {0, 0, 0, 0, 0, 0};
    if (!properties)
        lw_import_warning(importer, part->place, own->object, "give the part a material in the CAD program",
                          "its part has no mass properties and counts without mass");
    else if (lw_simscape_numbers(cad, properties, "Mass", own->object, 1, &body.mass) &&
             lw_simscape_numbers(cad, properties, "CenterOfMass", own->object, 3, body.com) &&
             lw_simscape_numbers(cad, properties, "Inertia", own->object, 6, I)) {
        if (body.mass < 0)
            lw_import_fault(importer, lw_xml_child(properties, "Mass")->text_place, own->object,
                            "give zero or a positive mass", "mass %g is negative", body.mass);
        body.mass *= cad->mass;
        for (int k = 0; k < 3; k++) body.com[k] *= cad->length;
        for (int k = 0; k < 6; k++) I[k] *= cad->mass * cad->length * cad->length;
        /* xx yy zz yz zx xy there, xx yy zz xy xz yz here */
        const double inertia[6] = {I[0], I[1], I[2], I[5], I[4], I[3]};
        memcpy(body.inertia, inertia, sizeof inertia);
    }
    if (lw_xml_child(part, "GeometryFile"))
        lw_import_note_of(importer, part->place, "geometry files of parts", "they are not drawn");
    lw_import_add_body(importer, &body);
}

/* Whether an instance, and all assemblies around it, stand on the ground. */
static bool stands(const lw_simscape *cad, int k) {
    for (; k >= 0; k = cad->instances[k].parent)
        if (!cad->instances[k].grounded) return false;
    return true;
}

static void add_bodies(lw_simscape *cad) {
    lw_importer *importer = cad->importer;
    for (int k = 0; k < cad->count; k++) {
        lw_simscape_instance *own = &cad->instances[k];
        if (!own->is_part) continue;
        own->body = lw_import_name(importer, &importer->bodies, own->name, own->element->place, "instance");
        own->stands = stands(cad, k);
        if (!own->stands) {
            add_part(cad, own);
            continue;
        }
        lw_import_add_frame(importer, own->body, LW_GROUND, &own->world, own->element->place);
        lw_simscape_fix(cad, LW_SIMSCAPE_GROUND, k);
    }
    /* What is grounded in an assembly that moves is fixed to each other. */
    for (int k = 0; k < cad->count; k++)
        for (int i = 0, first = -1; i < cad->count && !cad->instances[k].is_part; i++) {
            const lw_simscape_instance *part = &cad->instances[i];
            if (part->parent != k || !part->is_part || !part->grounded) continue;
            if (first < 0)
                first = i;
            else
                lw_simscape_weld(cad, first, i, lw_import_print(importer, "%s.ground", part->name),
                                 part->element->place);
        }
}

/* A group that no joint holds is free. */
static void free_groups(lw_simscape *cad) {
    lw_importer *importer = cad->importer;
    for (int k = 0; k < cad->count; k++) {
        const lw_simscape_instance *own = &cad->instances[k];
        if (!own->is_part || leader(cad, k, true) == LW_SIMSCAPE_GROUND) continue;
        const lw_pose none = lw_pose_none();
        lw_joint_spec joint = {.name = lw_import_own_name(importer, &importer->joints,
                                                          lw_import_print(importer, "%s.free", own->body)),
                               .type = LW_JOINT_FREE,
                               .bodies = {LW_GROUND, own->body},
                               .has_q = true,
                               .place = own->element->place};
        lw_import_geometry(&joint, &none, &none, none.p, NULL, NULL);
        lw_v3_copy(own->world.p, joint.q);
        lw_quat_rot(own->world.R, joint.q + 3);
        lw_import_add_joint(importer, &joint);
        lw_simscape_link(cad, LW_SIMSCAPE_GROUND, k);
        lw_import_note_of(importer, own->element->place, "parts that nothing holds",
                          "free: each group of them moves on a free joint, NAME.free");
    }
}

/* Calls for the root assembly and for every instance of another. */
static void each_assembly(lw_simscape *cad, void (*call)(lw_simscape *, const lw_xml *, int)) {
    call(cad, lw_xml_child(cad->root, "RootAssembly"), -1);
    for (int k = 0; k < cad->count; k++) {
        const lw_xml *assembly =
            find_by_uid(lw_xml_child(cad->root, "Assemblies"), "Assembly", cad->instances[k].entity);
        if (!cad->instances[k].is_part && assembly) call(cad, assembly, k);
    }
}

void lw_import_simscape(lw_importer *importer) {
    lw_simscape cad = {.importer = importer};
    cad.root = lw_xml_parse(importer, importer->text, importer->length, importer->file);
    if (!cad.root) return;
    const char *version = lw_xml_need(importer, cad.root, cad.root->name, "version");
    const lw_xml *assembly = lw_xml_child(cad.root, "RootAssembly"),
                 *units = lw_xml_child(cad.root, "DataUnits");
    if (version && strncmp(version, "2.", 2) != 0)
        lw_import_fault(importer, lw_xml_place(cad.root, "version"), NULL,
                        "export it again by a current plug-in", "version %.20s is not read, only 2.0",
                        version);
    if (!assembly || !units) {
        lw_import_fault(importer, cad.root->place, NULL, "export the assembly again", "<%s> is missing",
                        assembly ? "DataUnits" : "RootAssembly");
        return;
    }
    cad.length = unit(&cad, units, "length");
    cad.mass = unit(&cad, units, "mass");
    const char *name = lw_xml_get(assembly, "name");
    importer->spec = lw_spec_create(name && name[0] ? name : "assembly");
    const lw_xml *tree = lw_xml_child(assembly, "InstanceTree");
    const int count = count_instances(tree);
    if (count > LW_SIMSCAPE_MOST) {
        lw_import_fault(importer, tree->place, NULL, "export a part of the assembly",
                        "there are %d instances, more than the %d that are read", count, LW_SIMSCAPE_MOST);
        return;
    }
    cad.instances = LW_NEW(importer->arena, lw_simscape_instance, count + 1);
    if (!importer->spec || !cad.instances) {
        importer->out_of_memory = true;
        return;
    }
    const double gravity[3] = {0, 0, -9.80665};
    lw_spec_set_gravity(importer->spec, gravity);
    lw_import_note_of(
        importer, assembly->place, "direction of gravity",
        "the file does not say it: (0, 0, -9.80665), as in Simscape; change it in a model file");
    read_instances(&cad, tree, -1);
    if (cad.count == 0 && importer->faults == 0)
        lw_import_fault(importer, assembly->place, NULL, "export the assembly again", "it has no instances");
    if (importer->faults > 0) return;
    add_bodies(&cad);
    each_assembly(&cad, lw_simscape_welds);
    each_assembly(&cad, lw_simscape_read_mates);
    if (importer->faults == 0 && !importer->out_of_memory) lw_simscape_use_mates(&cad);
    each_assembly(&cad, lw_simscape_joints);
    if (importer->faults == 0 && !importer->out_of_memory) free_groups(&cad);
}
