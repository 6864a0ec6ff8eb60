/* simscape_mates.c - mates between points, lines and planes of parts, as SolidWorks, Inventor and Creo have
 * them.
 *
 * A mate says what stays as it is between two parts. With omega and v, the rotation and the velocity at the
 * origin of the second part relative to the first, in the drawn position, it is one or several rows c .
 * (omega, v) = 0:
 *
 *     directions a, b stay parallel           (b x e) . omega = 0    for two e perpendicular to b
 *     keep their angle                        (a x b) . omega = 0
 *     a point p stays in a plane, normal n    n . v + (p x n) . omega = 0
 *     on a line                               the same for two n perpendicular to it
 *     where it is                             for three
 *
 * The mates between two groups of parts leave the motions that all rows allow, their null space. Where that
 * is nothing, the two are one group; this is repeated as long as there are such. What is left between two
 * groups must be a joint: one rotation is a revolute, one displacement a prismatic joint, both along one axis
 * a cylindrical joint, two displacements and the rotation about their normal a planar joint, and all
 * rotations about a point a spherical joint, and large motions of it must keep the mates, too. Anything else
 * is a fault that names the mates: no joint stands for it, and nothing is guessed.
 *
 * Symbols  N rows of an orthonormal basis of the null space, (omega, v / L), L the size of the assembly
 * Cost     O(mates^2) for each round that fixes groups, of which there are few.
 */
#include "io/import/simscape/simscape.h"

#include <stdio.h>
#include <string.h>

typedef enum entity_kind { POINT, LINE, PLANE } entity_kind;

typedef struct entity {
    entity_kind kind;
    int part;
    double p[3], a[3]; /* in the world, as drawn; a: direction or normal */
} entity;

struct lw_simscape_mate {
    const char *kind, *name, *object;
    lw_place place;
    entity of[2];
    bool used;
};

enum { MOST_ROWS = 6 /* of one mate */, MOST_ROUNDS = 50 };
static const double small = 1e-6;

/* --- reading -------------------------------------------------------------------------------------- */

static bool read_entity(lw_simscape *cad, const lw_xml *e, int assembly, const lw_simscape_mate *mate,
                        entity *out) {
    static const struct {
        const char *name;
        entity_kind kind;
    } kinds[] = {{"point", POINT}, {"line", LINE},   {"cylinder", LINE}, {"circle", LINE},
                 {"arc", LINE},    {"plane", PLANE}, {"cone", LINE}};
    lw_importer *importer = cad->importer;
    const char *given = lw_xml_need(importer, e, mate->object, "geomType");
    double p[3], a[3] = {0, 0, 0};
    size_t k = 0;
    while (given && k < sizeof kinds / sizeof *kinds && strcmp(kinds[k].name, given) != 0) k++;
    if (!given) return false;
    if (k == sizeof kinds / sizeof *kinds) {
        lw_import_fault(importer, lw_xml_place(e, "geomType"), mate->object,
                        "mate points, lines, circles, cylinders or planes", "geometry \"%.60s\" is not read",
                        given);
        return false;
    }
    out->kind = kinds[k].kind;
    out->part = lw_simscape_part(cad, e, assembly, mate->object);
    if (out->part < 0 || !lw_simscape_numbers(cad, e, "Position", mate->object, 3, p)) return false;
    if (out->kind != POINT && !lw_simscape_numbers(cad, e, "Axis", mate->object, 3, a)) return false;
    const lw_pose *world = &cad->instances[out->part].world;
    for (int i = 0; i < 3; i++) p[i] *= cad->length;
    lw_pose_point(world->R, world->p, p, out->p);
    lw_m3_mul_v(world->R, a, out->a);
    const double norm = lw_v3_norm(out->a);
    for (int i = 0; i < 3 && out->kind != POINT; i++) out->a[i] /= norm;
    if (out->kind != POINT && !(norm > 0)) {
        lw_import_fault(importer, lw_xml_child(e, "Axis")->text_place, mate->object,
                        "give any non-zero vector, e.g. 0 0 1", "its axis has no direction");
        return false;
    }
    return true;
}

/* Is the circle of a mate in a plane? It lies in it, as one plane in another. */
static bool is_circle(const lw_xml *e) {
    const char *kind = lw_xml_get(e, "geomType");
    return kind && (strcmp(kind, "circle") == 0 || strcmp(kind, "arc") == 0);
}

static void read_mate(lw_simscape *cad, const lw_xml *e, int assembly) {
    static const char *const known[] = {"Coincident", "Concentric",    "Distance",
                                        "Parallel",   "Perpendicular", "Angle"};
    lw_importer *importer = cad->importer;
    const char *name = lw_xml_get(e, "name");
    lw_simscape_mate mate = {.kind = e->name, .place = e->place};
    mate.name = name && name[0] ? name : e->name;
    mate.object = lw_import_print(importer, "mate \"%.90s\"", mate.name);
    const lw_xml *ends[2] = {lw_xml_child(e, "ConstraintGeometry"), NULL};
    ends[1] = ends[0] ? lw_xml_next(ends[0]) : NULL;
    size_t k = 0;
    while (k < sizeof known / sizeof *known && strcmp(known[k], e->name) != 0) k++;
    if (k == sizeof known / sizeof *known) {
        lw_import_note_of(importer, e->place, lw_import_print(importer, "mates of the kind %.40s", e->name),
                          "left out: the parts may move more freely than in the CAD program");
        lw_import_warning_once(importer, "mate", e->place, mate.object,
                               "fix the parts by mates of planes and axes, or by a joint in the model file",
                               "mates of the kind %.40s say nothing that is read; it is left out", e->name);
        return;
    }
    if (!ends[1] || lw_xml_next(ends[1])) {
        lw_import_fault(importer, e->place, mate.object, "give two", "it has not two <ConstraintGeometry>");
        return;
    }
    for (int side = 0; side < 2; side++)
        if (!read_entity(cad, ends[side], assembly, &mate, &mate.of[side])) return;
    for (int side = 0; side < 2; side++)
        if (strcmp(e->name, "Concentric") != 0 && is_circle(ends[side]) && mate.of[1 - side].kind == PLANE)
            mate.of[side].kind = PLANE;
    if (mate.of[0].part == mate.of[1].part) return; /* It says nothing about a motion. */
    if (cad->mate_count == LW_SIMSCAPE_MOST) {
        if (cad->full) return;
        cad->full = true;
        lw_import_fault(importer, e->place, mate.object, "export a part of the assembly",
                        "there are more than the %d mates that are read", LW_SIMSCAPE_MOST);
        return;
    }
    if (cad->mate_count == cad->mate_room) {
        const int room = 2 * cad->mate_room + 32;
        lw_simscape_mate *more = LW_NEW(importer->arena, lw_simscape_mate, room);
        if (!more) {
            importer->out_of_memory = true;
            return;
        }
        if (cad->mate_count > 0) memcpy(more, cad->mates, (size_t)cad->mate_count * sizeof *more);
        cad->mates = more;
        cad->mate_room = room;
    }
    cad->mates[cad->mate_count++] = mate;
}

void lw_simscape_read_mates(lw_simscape *cad, const lw_xml *assembly, int instance) {
    const lw_xml *mates = lw_xml_child(assembly, "Constraints");
    for (const lw_xml *e = mates ? mates->first : NULL; e; e = e->next) read_mate(cad, e, instance);
}

/* --- rows ----------------------------------------------------------------------------------------- */

/* Two unit vectors perpendicular to a and to each other. */
static void across(const double a[3], double e[2][3]) {
    double R[9];
    lw_rot_z_to(a, R);
    for (int k = 0; k < 3; k++) e[0][k] = R[3 * k], e[1][k] = R[3 * k + 1];
}

static int add_turn(double (*rows)[6], int count, const double w[3]) {
    const double norm = lw_v3_norm(w);
    for (int k = 0; k < 3; k++) rows[count][k] = norm > 0 ? w[k] / norm : 0, rows[count][3 + k] = 0;
    return count + 1;
}

static int add_parallel(double (*rows)[6], int count, const double a[3]) {
    double e[2][3];
    across(a, e);
    return add_turn(rows, add_turn(rows, count, e[0]), e[1]);
}

/* p stays in the plane of the normal n, lengths in units of L */
static int add_in_plane(double (*rows)[6], int count, const double n[3], const double p[3], double L) {
    double moment[3];
    lw_v3_cross(p, n, moment);
    for (int k = 0; k < 3; k++) rows[count][k] = moment[k] / L, rows[count][3 + k] = n[k];
    return count + 1;
}

static int add_on_line(double (*rows)[6], int count, const double a[3], const double p[3], double L) {
    double e[2][3];
    across(a, e);
    return add_in_plane(rows, add_in_plane(rows, count, e[0], p, L), e[1], p, L);
}

/* The rows of a mate; -1: the pair means nothing that is known here. off: how far the drawn parts are from
 * it, as a sine and in units of L. */
static int rows_of(const lw_simscape_mate *mate, double L, double (*rows)[6], double *off) {
    const entity *a = &mate->of[0], *b = &mate->of[1];
    if (a->kind > b->kind) { /* point before line before plane */
        const entity *swap = a;
        a = b, b = swap;
    }
    const char *kind = mate->kind;
    const bool distance = strcmp(kind, "Distance") == 0, concentric = strcmp(kind, "Concentric") == 0;
    const bool touch = concentric || strcmp(kind, "Coincident") == 0;
    double cross[3], d[3], along;
    lw_v3_cross(a->a, b->a, cross);
    lw_v3_sub(a->p, b->p, d);
    along = lw_v3_dot(d, b->a);
    const double sine = lw_v3_norm(cross), cosine = lw_v3_dot(a->a, b->a), gap = fabs(along) / L;
    const double beside = sqrt(fmax(0, lw_v3_dot(d, d) - along * along)) / L;
    int count = 0;
    *off = 0;
    if (strcmp(kind, "Angle") == 0 || strcmp(kind, "Perpendicular") == 0 || strcmp(kind, "Parallel") == 0) {
        if (a->kind == POINT) return -1;
        const bool mixed = a->kind != b->kind;
        const bool one_way = strcmp(kind, "Angle") == 0      ? sine < small
                             : strcmp(kind, "Parallel") == 0 ? !mixed
                                                             : mixed;
        if (strcmp(kind, "Angle") != 0) *off = one_way ? sine : fabs(cosine);
        return one_way ? add_parallel(rows, 0, b->a) : add_turn(rows, 0, cross);
    }
    if (!touch && !distance) return -1;
    if (concentric) {
        if (a->kind == POINT && b->kind == LINE) {
            *off = beside;
            return add_on_line(rows, 0, b->a, a->p, L);
        }
        if (a->kind != LINE || b->kind != LINE) return -1;
        *off = fmax(sine, beside);
        return add_on_line(rows, add_parallel(rows, 0, b->a), b->a, a->p, L);
    }
    if (a->kind == POINT && b->kind == POINT) {
        if (distance && lw_v3_norm(d) > small * L) {
            for (int k = 0; k < 3; k++) d[k] /= lw_v3_norm(d);
            return add_in_plane(rows, 0, d, a->p, L);
        }
        static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        *off = lw_v3_norm(d) / L;
        for (int k = 0; k < 3; k++) count = add_in_plane(rows, count, axes[k], a->p, L);
        return count;
    }
    if (b->kind == PLANE) {
        if (a->kind == PLANE) count = add_parallel(rows, 0, b->a);
        if (a->kind == LINE) count = add_turn(rows, 0, cross);
        *off = fmax(a->kind == PLANE ? sine : a->kind == LINE ? fabs(cosine) : 0, touch ? gap : 0);
        return add_in_plane(rows, count, b->a, a->p, L);
    }
    if (distance) return -1; /* of a line: a cylinder around it */
    *off = fmax(a->kind == LINE ? sine : 0, beside);
    if (a->kind == LINE) count = add_parallel(rows, 0, b->a);
    return add_on_line(rows, count, b->a, a->p, L);
}

/* --- motions that are left ------------------------------------------------------------------------- */

/* Takes from x what lies in an orthonormal basis, twice for the rounding. */
static double remainder_of(double (*basis)[6], int count, double x[6]) {
    double square = 0;
    for (int twice = 0; twice < 2; twice++)
        for (int b = 0; b < count; b++) {
            double part = 0;
            for (int k = 0; k < 6; k++) part += basis[b][k] * x[k];
            for (int k = 0; k < 6; k++) x[k] -= part * basis[b][k];
        }
    for (int k = 0; k < 6; k++) square += x[k] * x[k];
    return sqrt(square);
}

/* Adds a row to the basis of a space of rows unless it lies in it. */
static int extend(double (*basis)[6], int count, const double row[6]) {
    double x[6];
    memcpy(x, row, sizeof x);
    const double rest = count < 6 ? remainder_of(basis, count, x) : 0;
    if (!(rest > small)) return count;
    for (int k = 0; k < 6; k++) basis[count][k] = x[k] / rest;
    return count + 1;
}

/* What is perpendicular to a basis of count rows: 6 - count more. */
static void complement(double (*basis)[6], int count, double (*out)[6]) {
    double whole[6][6];
    memcpy(whole, basis, (size_t)count * sizeof *whole);
    for (int at = count; at < 6; at++) {
        double best = -1, chosen[6] = {0};
        for (int k = 0; k < 6; k++) {
            double x[6] = {0};
            x[k] = 1;
            const double rest = remainder_of(whole, at, x);
            if (rest <= best) continue;
            best = rest;
            for (int i = 0; i < 6; i++) chosen[i] = x[i] / rest;
        }
        memcpy(whole[at], chosen, sizeof chosen);
        memcpy(out[at - count], chosen, sizeof chosen);
    }
}

/* The joint that allows the motions N, with its direction and a point; LW_JOINT_TYPES: there is none. near: a
 * point of the mates. */
static lw_joint_type joint_of(double (*N)[6], int freedom, const double near[3], double L, double axis[3],
                              double point[3]) {
    double shifts[6][6], free[6][6], turn[6], omega[3], v[3], at[3], basis[6][6];
    int count = 0, rows = 0;
    lw_v3_copy(near, point);
    /* Displacements: what is left when rotations are ruled out, too. */
    double(*all)[6] = basis;
    double rest[6][6];
    complement(N, freedom, rest);
    for (int k = 0; k < 6 - freedom; k++) rows = extend(all, rows, rest[k]);
    for (int k = 0; k < 3; k++) {
        double unit[6] = {0};
        unit[k] = 1;
        rows = extend(all, rows, unit);
    }
    count = 6 - rows;
    complement(all, rows, shifts);
    if (freedom == 3 && count == 0) { /* all rotations about the point? */
        for (int k = 0; k < 3; k++) {
            lw_v3_cross(N[k], near, at);
            for (int i = 0; i < 3; i++)
                if (fabs(N[k][3 + i] + at[i] / L) > 10 * small) return LW_JOINT_TYPES;
        }
        lw_v3_set(axis, 0, 0, 1);
        return LW_JOINT_SPHERICAL;
    }
    if (freedom == 1 && count == 1) {
        lw_v3_copy(shifts[0] + 3, axis);
        return LW_JOINT_PRISMATIC;
    }
    if (count != freedom - 1) return LW_JOINT_TYPES;
    /* One rotation, perpendicular to the displacements. */
    rows = 0;
    for (int k = 0; k < 6 - freedom; k++) rows = extend(basis, rows, rest[k]);
    for (int k = 0; k < count; k++) rows = extend(basis, rows, shifts[k]);
    if (rows != 5) return LW_JOINT_TYPES;
    complement(basis, rows, free);
    memcpy(turn, free[0], sizeof turn);
    const double size = lw_v3_norm(turn);
    if (!(size > small)) return LW_JOINT_TYPES;
    for (int k = 0; k < 3; k++) omega[k] = turn[k] / size, v[k] = L * turn[3 + k] / size;
    lw_v3_copy(omega, axis);
    if (fabs(lw_v3_dot(omega, v)) > 10 * small * L) return LW_JOINT_TYPES; /* a screw */
    if (freedom == 3) {
        for (int k = 0; k < 2; k++)
            if (fabs(lw_v3_dot(shifts[k] + 3, omega)) > 10 * small) return LW_JOINT_TYPES;
        return LW_JOINT_PLANAR;
    }
    lw_v3_cross(omega, v, at); /* of the axis, nearest to the origin */
    double d[3];
    lw_v3_sub(near, at, d);
    lw_v3_copy(at, point);
    lw_v3_axpy(lw_v3_dot(d, omega), omega, point);
    if (freedom == 1) return LW_JOINT_REVOLUTE;
    lw_v3_cross(omega, shifts[0] + 3, d);
    return lw_v3_norm(d) < 10 * small ? LW_JOINT_CYLINDRICAL : LW_JOINT_TYPES;
}

/* --- groups --------------------------------------------------------------------------------------- */

/* The mates between the groups of mate k, from k on: their names, and the motions that they leave; -1: one of
 * them is not known. */
static int freedom_between(lw_simscape *cad, int k, double L, double (*N)[6], const char **names) {
    const lw_simscape_mate *first = &cad->mates[k];
    const int one = lw_simscape_group(cad, first->of[0].part),
              other = lw_simscape_group(cad, first->of[1].part);
    double basis[6][6], rows[MOST_ROWS][6];
    int rank = 0;
    *names = "";
    for (int m = k; m < cad->mate_count; m++) {
        lw_simscape_mate *mate = &cad->mates[m];
        const int a = lw_simscape_group(cad, mate->of[0].part), b = lw_simscape_group(cad, mate->of[1].part);
        double off = 0;
        if (mate->used || !((a == one && b == other) || (a == other && b == one))) continue;
        const int count = rows_of(mate, L, rows, &off);
        for (int r = 0; r < count; r++) rank = extend(basis, rank, rows[r]);
        if (strlen(*names) < 120)
            *names = lw_import_print(cad->importer, "%s%s%s", *names, (*names)[0] ? ", " : "", mate->name);
    }
    complement(basis, rank, N);
    return 6 - rank;
}

static void mark_used(lw_simscape *cad, int k) {
    const lw_simscape_mate first = cad->mates[k];
    const int one = lw_simscape_group(cad, first.of[0].part),
              other = lw_simscape_group(cad, first.of[1].part);
    for (int m = k; m < cad->mate_count; m++) {
        lw_simscape_mate *mate = &cad->mates[m];
        const int a = lw_simscape_group(cad, mate->of[0].part), b = lw_simscape_group(cad, mate->of[1].part);
        if ((a == one && b == other) || (a == other && b == one)) mate->used = true;
    }
}

/* One round: fixes groups that mates leave nothing to. Returns whether there were any. */
static bool fix_groups(lw_simscape *cad, double L) {
    bool any = false;
    for (int k = 0; k < cad->mate_count; k++) {
        lw_simscape_mate *mate = &cad->mates[k];
        double N[6][6];
        const char *names;
        const int parts[2] = {mate->of[0].part, mate->of[1].part};
        if (mate->used) continue;
        if (lw_simscape_group(cad, parts[0]) == lw_simscape_group(cad, parts[1])) {
            mate->used = true; /* What others fix, it need not say again. */
            continue;
        }
        if (freedom_between(cad, k, L, N, &names) != 0) continue;
        mark_used(cad, k);
        lw_simscape_weld(cad, parts[0], parts[1], mate->name, mate->place);
        any = true;
    }
    return any;
}

/* What a mate keeps: up to three numbers. */
static void kept_by(const lw_simscape_mate *mate, double out[3]) {
    const entity *a = &mate->of[0], *b = &mate->of[1];
    if (a->kind > b->kind) {
        const entity *swap = a;
        a = b, b = swap;
    }
    const bool turns = strcmp(mate->kind, "Angle") == 0 || strcmp(mate->kind, "Perpendicular") == 0 ||
                       strcmp(mate->kind, "Parallel") == 0;
    double d[3];
    lw_v3_sub(a->p, b->p, d);
    const double along = lw_v3_dot(d, b->a), square = lw_v3_dot(d, d);
    out[0] = a->kind == POINT ? 0 : lw_v3_dot(a->a, b->a);
    out[1] = turns              ? 0
             : b->kind == PLANE ? along
             : b->kind == LINE  ? sqrt(fmax(0, square - along * along))
                                : 0;
    out[2] = !turns && b->kind == POINT ? sqrt(square) : 0;
}

static void move(entity *e, const double R[9], const double about[3], const double shift[3]) {
    double d[3], a[3];
    lw_v3_sub(e->p, about, d);
    lw_m3_mul_v(R, d, e->p);
    lw_v3_add(e->p, about, e->p);
    lw_v3_add(e->p, shift, e->p);
    lw_m3_mul_v(R, e->a, a);
    lw_v3_copy(a, e->a);
}

/* Rows hold for small motions. Do the mates between the groups of mate k allow the joint's large ones, too? A
 * point in an inclined plane beside a hinge would not. */
static bool joint_holds(lw_simscape *cad, int k, double L, lw_joint_type type, const double axis[3],
                        const double point[3]) {
    const lw_simscape_mate *first = &cad->mates[k];
    const int one = lw_simscape_group(cad, first->of[0].part),
              other = lw_simscape_group(cad, first->of[1].part);
    const bool turns = type != LW_JOINT_PRISMATIC,
               slides = type == LW_JOINT_PRISMATIC || type == LW_JOINT_CYLINDRICAL;
    double e[2][3], R[9];
    across(axis, e);
    for (int sample = 1; sample <= 3; sample++) {
        double shift[3] = {0, 0, 0}, about[3];
        lw_v3_copy(axis, about);
        if (type == LW_JOINT_SPHERICAL) lw_v3_set(about, 1.0 / 3, sample == 2 ? -2.0 / 3 : 2.0 / 3, 2.0 / 3);
        lw_rot_axis(about, turns ? 0.7 * sample : 0, R);
        if (slides) lw_v3_axpy(0.3 * L * sample, axis, shift);
        for (int i = 0; i < 2 && type == LW_JOINT_PLANAR; i++)
            lw_v3_axpy((0.4 - 0.3 * i) * L * sample, e[i], shift);
        for (int m = k; m < cad->mate_count; m++) {
            const lw_simscape_mate *mate = &cad->mates[m];
            const int a = lw_simscape_group(cad, mate->of[0].part),
                      b = lw_simscape_group(cad, mate->of[1].part);
            if (mate->used || !((a == one && b == other) || (a == other && b == one))) continue;
            lw_simscape_mate moved = *mate;
            double before[3], after[3];
            kept_by(mate, before);
            move(&moved.of[a == other ? 0 : 1], R, point, shift);
            kept_by(&moved, after);
            for (int i = 0; i < 3; i++)
                if (!(fabs(after[i] - before[i]) < 100 * small * (i == 0 ? 1 : L))) return false;
        }
    }
    return true;
}

static void add_joint(lw_simscape *cad, int k, double L) {
    lw_importer *importer = cad->importer;
    lw_simscape_mate *mate = &cad->mates[k];
    double N[6][6], axis[3], point[3];
    const char *names;
    const int freedom = freedom_between(cad, k, L, N, &names);
    const int parts[2] = {mate->of[0].part, mate->of[1].part};
    lw_joint_type type = freedom > 0 ? joint_of(N, freedom, mate->of[0].p, L, axis, point) : LW_JOINT_TYPES;
    if (type != LW_JOINT_TYPES && !joint_holds(cad, k, L, type, axis, point)) type = LW_JOINT_TYPES;
    if (type == LW_JOINT_TYPES)
        lw_import_fault(
            importer, mate->place, mate->object,
            "add or change mates until a hinge, slide, sleeve, ball or plane is left",
            "the mates between \"%.60s\" and \"%.60s\" (%.120s) leave %d motions that no joint has",
            cad->instances[parts[0]].name, cad->instances[parts[1]].name, names, freedom);
    mark_used(cad, k);
    if (type == LW_JOINT_TYPES) return;
    lw_pose frame;
    const double *given = mate->of[0].a; /* the sense of the first mate */
    if (mate->of[0].kind != POINT && lw_v3_dot(given, axis) < 0)
        for (int i = 0; i < 3; i++) axis[i] = -axis[i];
    lw_rot_z_to(axis, frame.R);
    lw_v3_copy(point, frame.p);
    lw_joint_spec joint = {.name =
                               lw_import_name(importer, &importer->joints, mate->name, mate->place, "joint"),
                           .type = type,
                           .place = mate->place};
    lw_simscape_join(cad, &joint, parts, (const lw_pose[]){frame, frame});
}

void lw_simscape_use_mates(lw_simscape *cad) {
    double L = 0;
    for (int k = 0; k < cad->mate_count; k++)
        for (int side = 0; side < 2; side++) L = fmax(L, lw_v3_norm(cad->mates[k].of[side].p));
    if (!(L > 0)) L = 1;
    for (int k = 0; k < cad->mate_count; k++) {
        double rows[MOST_ROWS][6], off = 0;
        const lw_simscape_mate *mate = &cad->mates[k];
        if (rows_of(mate, L, rows, &off) < 0)
            lw_import_fault(cad->importer, mate->place, mate->object,
                            "mate planes, axes or points with each other",
                            "a mate %.20s of such a pair is not read", mate->kind);
        else if (off > 1e-4)
            lw_import_warning(cad->importer, mate->place, mate->object,
                              "let the CAD program solve its mates before the export",
                              "the drawn parts are off by %.3g from what it says", off);
    }
    if (cad->importer->faults > 0) return;
    while (fix_groups(cad, L) && !cad->importer->out_of_memory) {
    }
    for (int k = 0; k < cad->mate_count; k++)
        if (!cad->mates[k].used) add_joint(cad, k, L);
    if (cad->mate_count > 0)
        lw_import_note_of(cad->importer, cad->root->place, "mates of CAD",
                          "joints and welds follow from what they leave free in the drawn position");
}
