/* mjcf_spec.c - bodies and frames of a spec from the bodies, geoms and sites of MJCF.
 *
 * A body without joints moves with the one that carries it: its mass and shapes are added there, and its name
 * becomes a frame; with keep_fixed it stays a body, on a weld. Named sites become frames.
 */
#include "io/import/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

static bool stays(const mj_reader *reader, int k) {
    const mj_body *body = MJ_BODY(reader, k);
    return body->host == k;
}

/* With keep_fixed every body is its own host. */
static void choose_hosts(mj_reader *reader) {
    for (int k = 1; reader->importer->options.keep_fixed && k < reader->bodies.count; k++) {
        MJ_BODY(reader, k)->host = k;
        MJ_BODY(reader, k)->in_host = lw_pose_none();
    }
}

/* The shapes of all bodies that move with one. */
static void collect_shapes(mj_reader *reader, int host, lw_shape_list *list) {
    for (int k = 0; k < reader->geoms.count; k++) {
        const mj_geom *geom = MJ_GEOM(reader, k);
        const mj_body *body = MJ_BODY(reader, geom->body);
        if (body->host != host || geom->shape.kind == LW_SHAPE_NONE) continue;
        lw_pose own, whole;
        double q[4];
        memcpy(q, geom->shape.rotation, sizeof q);
        lw_quat_normalise(q);
        lw_rot_quat(q, own.R);
        lw_v3_copy(geom->shape.position, own.p);
        whole = lw_pose_in(&body->in_host, &own);
        lw_import_add_shape(reader->importer, list, &geom->shape, &whole, geom->node->place, "geom");
    }
}

static void add_frame(mj_reader *reader, const char *name, const mj_body *body, const lw_pose *pose,
                      lw_place place) {
    const lw_pose whole = lw_pose_in(&body->in_host, pose);
    lw_import_add_frame(reader->importer, name, MJ_BODY(reader, body->host)->spec_name, &whole, place);
}

void mj_give_pose(const mj_reader *reader, const mj_body *body, lw_body_spec *spec) {
    if (!reader->posed) return;
    spec->has_pose = true;
    lw_pose_parts(&body->world, spec->position, spec->rotation);
    const double *q = spec->rotation;
    if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0) spec->rotation[0] = 1;
}

void mj_make_bodies(mj_reader *reader) {
    lw_importer *importer = reader->importer;
    reader->posed = mj_needs_poses(reader);
    choose_hosts(reader);
    /* Bodies have the first choice of names, which frames share with them. */
    for (int pass = 0; pass < 2; pass++)
        for (int k = 1; k < reader->bodies.count; k++) {
            mj_body *body = MJ_BODY(reader, k);
            if (stays(reader, k) == (pass == 0))
                body->spec_name =
                    lw_import_name(importer, &importer->bodies, body->name, body->node->place, "body");
        }
    for (int k = 1; k < reader->bodies.count; k++) {
        const mj_body *body = MJ_BODY(reader, k);
        if (!stays(reader, k)) continue;
        lw_shape_list shapes = {NULL, 0, 0};
        lw_body_spec spec = {.name = body->spec_name, .mass = body->mass, .place = body->node->place};
        lw_v3_copy(body->com, spec.com);
        memcpy(spec.inertia, body->inertia, sizeof spec.inertia);
        mj_give_pose(reader, body, &spec);
        for (int i = 1; i < reader->bodies.count; i++) {
            const mj_body *other = MJ_BODY(reader, i);
            if (other->host != k || i == k) continue;
            double com[3], inertia[6];
            lw_pose centre = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
            lw_v3_copy(other->com, centre.p);
            centre = lw_pose_in(&other->in_host, &centre);
            lw_inertia_in(&centre, other->inertia, com, inertia);
            mj_add_inertia(&spec.mass, spec.com, spec.inertia, other->mass, com, inertia);
        }
        collect_shapes(reader, k, &shapes);
        lw_import_give_shapes(&shapes, &spec);
        lw_import_add_body(importer, &spec);
    }
    for (int k = 1; k < reader->bodies.count; k++) {
        const mj_body *body = MJ_BODY(reader, k);
        const lw_pose none = lw_pose_none();
        if (!stays(reader, k)) add_frame(reader, body->spec_name, body, &none, body->node->place);
    }
    for (int k = 0; k < reader->sites.count; k++) {
        mj_site *site = MJ_SITE(reader, k);
        char name[200];
        (void)snprintf(name, sizeof name, "%.150s", site->name);
        /* A site may have the name of a body; a frame may not. */
        if (lw_results_table_find(&importer->bodies, name) || strcmp(name, LW_GROUND) == 0)
            (void)snprintf(name, sizeof name, "%.140s.site", site->name);
        site->spec_name = lw_import_own_name(importer, &importer->bodies, name);
        add_frame(reader, site->spec_name, MJ_BODY(reader, site->body), &site->pose, site->node->place);
    }
    int ground = 0;
    for (int k = 0; k < reader->geoms.count; k++) {
        const mj_geom *geom = MJ_GEOM(reader, k);
        if (geom->collides)
            lw_import_note_of(importer, geom->node->place, "geoms that touch others",
                              "nothing touches: bodies pass through each other and through the ground");
        if (MJ_BODY(reader, geom->body)->host == 0 && ground++ >= 0)
            lw_import_note_of(importer, geom->node->place, "shapes of the ground", "they are not drawn");
    }
}
