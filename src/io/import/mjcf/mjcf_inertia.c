/* mjcf_inertia.c - mass, centre and inertia of the bodies of MJCF.
 *
 * A body has those of its <inertial>, or, if it has none or the compiler says inertiafromgeom="true", the sum
 * over its geoms within inertiagrouprange, each homogeneous with its mass or density (1000 kg/m^3 unless
 * given). Then, as MuJoCo's compiler does, on every body: mass and principal moments are at least boundmass
 * and boundinertia; with balanceinertia, moments that break the triangle inequality become their mean; and
 * settotalmass scales all.
 *
 * Where MuJoCo refuses a body (no mass, the triangle inequality), this does not: Linkwork takes such bodies.
 */
#include "io/import/mjcf/mjcf.h"

#include "linalg/small.h"

#include <stdio.h>

void mj_add_inertia(double *mass, double com[3], double inertia[6], double more, const double more_com[3],
                    const double more_inertia[6]) {
    const double total = *mass + more;
    double centre[3], d[3];
    for (int k = 0; k < 6; k++) inertia[k] += more_inertia[k];
    if (!(total > 0)) return;
    for (int k = 0; k < 3; k++) {
        d[k] = more_com[k] - com[k];
        centre[k] =
            *mass > 0 ? more > 0 ? (*mass * com[k] + more * more_com[k]) / total : com[k] : more_com[k];
    }
    const double reduced = *mass * more / total, square = lw_v3_dot(d, d);
    for (int k = 0; k < 3; k++) inertia[k] += reduced * (square - d[k] * d[k]);
    inertia[3] -= reduced * d[0] * d[1];
    inertia[4] -= reduced * d[0] * d[2];
    inertia[5] -= reduced * d[1] * d[2];
    *mass = total;
    lw_v3_copy(centre, com);
}

/* Of a mesh, in the body's axes. */
static void mesh_inertia(const mj_mesh *mesh, const mj_geom *geom, double *mass, double com[3],
                         double inertia[6]) {
    double R[9];
    *mass = geom->has_mass ? geom->mass : geom->density * mesh->amount;
    const double *turn = geom->shape.rotation;
    if (turn[0] != 0 || turn[1] != 0 || turn[2] != 0 || turn[3] != 0)
        lw_rot_quat(turn, R);
    else
        lw_m3_identity(R);
    lw_m3_mul_v(R, mesh->com, com);
    lw_v3_add(com, geom->shape.position, com);
    lw_s3_rotate(R, mesh->inertia, inertia);
    for (int k = 0; k < 6; k++) inertia[k] *= *mass / mesh->amount;
}

/* Adds a geom to its body's mass. */
static void add_geom(mj_reader *reader, const mj_geom *geom, mj_body *body) {
    double mass, com[3], inertia[6];
    const bool light = geom->has_mass ? geom->mass == 0 : geom->density == 0;
    if (light || (geom->shape.kind == LW_SHAPE_NONE && !geom->unknown)) return;
    if (geom->unknown) {
        const mj_mesh *mesh = geom->mesh >= 0 ? MJ_MESH(reader, geom->mesh) : NULL;
        const char *why = !mesh           ? "its surface is not read"
                          : !mesh->loaded ? "its mesh was not read"
                          : mesh->known   ? "its shape is fitted to a mesh, which is not done here"
                          : mesh->counts == MJ_HULL
                              ? "its mesh stands for its convex hull, which is not computed"
                              : "its mesh is flat";
        char object[112];
        (void)snprintf(object, sizeof object, "geom of body \"%.80s\"", body->name);
        lw_import_warning_once(reader->importer, why, geom->node->place, object,
                               "give the body an <inertial>, or the mesh as STL or OBJ",
                               "%s, so that it counts without mass", why);
        return;
    }
    if (geom->shell) {
        mj_error(reader, geom->node, "shellinertia", "give the body an <inertial>",
                 "mass on the surface of a shape is not computed");
        return;
    }
    if (geom->mesh >= 0)
        mesh_inertia(MJ_MESH(reader, geom->mesh), geom, &mass, com, inertia);
    else if (lw_shape_inertia(&geom->shape, geom->has_mass ? geom->mass : 0,
                              geom->has_mass ? 0 : geom->density, &mass, com, inertia) != LW_OK) {
        mj_error(reader, geom->node, NULL, "check its sizes and density", "its mass cannot be computed");
        return;
    }
    mj_add_inertia(&body->mass, body->com, body->inertia, mass, com, inertia);
}

/* Bounds and balance of one body, in its principal axes. */
static void bound(mj_reader *reader, mj_body *body) {
    double e[3], axes[9], largest;
    body->mass = fmax(body->mass, reader->boundmass);
    lw_s3_axes(body->inertia, e, axes);
    bool changed = false;
    for (int k = 0; k < 3; k++)
        if (e[k] < reader->boundinertia) e[k] = reader->boundinertia, changed = true;
    largest = fmax(e[0], fmax(e[1], e[2]));
    const double sum = e[0] + e[1] + e[2];
    if (reader->balanceinertia && sum - largest < largest) {
        e[0] = e[1] = e[2] = sum / 3;
        changed = true;
        mj_warn(reader, body->node, NULL, NULL,
                "its moments of inertia broke the triangle inequality; balanceinertia makes all %g", e[0]);
    }
    if (!changed) return;
    const double diagonal[6] = {e[0], e[1], e[2], 0, 0, 0};
    lw_s3_rotate(axes, diagonal, body->inertia);
}

void mj_compute_inertias(mj_reader *reader) {
    double total = 0;
    for (int k = 1; k < reader->bodies.count; k++) {
        mj_body *body = MJ_BODY(reader, k);
        if (body->explicit_inertial && reader->inertiafromgeom != 1) continue;
        if (!body->explicit_inertial && reader->inertiafromgeom == 0 && body->joint_count > 0)
            mj_warn(reader, body->node, NULL, "give it an <inertial>",
                    "it has no mass: inertiafromgeom is false and it has no inertial");
        body->mass = 0;
        lw_v3_set(body->com, 0, 0, 0);
        for (int i = 0; i < 6; i++) body->inertia[i] = 0;
    }
    for (int k = 0; k < reader->geoms.count; k++) {
        const mj_geom *geom = MJ_GEOM(reader, k);
        mj_body *body = MJ_BODY(reader, geom->body);
        const bool counts = geom->group >= reader->group_range[0] && geom->group <= reader->group_range[1];
        if (geom->body == 0 || !counts || reader->inertiafromgeom == 0) continue;
        if (body->explicit_inertial && reader->inertiafromgeom != 1) continue;
        /* The mass of what stands on the ground matters for the total alone. */
        if (body->host == 0 && !(reader->settotalmass > 0)) continue;
        add_geom(reader, geom, body);
    }
    const bool bounds = reader->boundmass > 0 || reader->boundinertia > 0 || reader->balanceinertia;
    for (int k = 1; k < reader->bodies.count; k++) {
        if (bounds) bound(reader, MJ_BODY(reader, k));
        total += MJ_BODY(reader, k)->mass;
    }
    if (!(reader->settotalmass > 0) || !(total > 0)) return;
    const double factor = reader->settotalmass / total;
    for (int k = 1; k < reader->bodies.count; k++) {
        mj_body *body = MJ_BODY(reader, k);
        body->mass *= factor;
        for (int i = 0; i < 6; i++) body->inertia[i] *= factor;
    }
}
