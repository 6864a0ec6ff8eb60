/* part_quantities.c - expressions of a part as they read in the world of the model.
 *
 * A part is the same machine wherever it lies: its expressions mean coordinates of its own world. With
 * x = p + R D X (docs/theory/parts.md, equations 1 to 5), s = det D, a quantity of the part is, in terms of
 * those of the model,
 *
 *     position          X = D R' (x - p)          velocity, acceleration, force, momentum    D R' u
 *     angular velocity, its rate, torque, angular momentum about the centre of mass     s D R' w
 *     angular momentum about the world's origin     s D R' (L - p x momentum)
 *
 * and the same with D alone in the axes of a body; joint coordinates have factors of +1 or -1. Rotations of
 * bodies (qw .. qz, rx .. rz) are no vectors: those of a part that is turned or mirrored are refused. The
 * energies and the momentum of all bodies together, which would be those of
 * the whole model, are refused in every part. Numbers in point(hub, a, b, c) are in the frame of the body, D
 * applies.
 *
 * Cost     O(length of the text * log(objects)).
 */
#include "model/spec/parts.h"
#include "model/joint_types.h"

#include <stdio.h>
#include <string.h>

double lw_placed_speed(const lw_placement *at, lw_joint_type type, int k) {
    const lw_joint_descriptor *d = lw_joint_describe(type);
    if (d->ball) return k < d->slides ? at->D[k % 3] : at->sense * at->D[(k - d->slides) % 3];
    /* One axis for a slide and a turn cannot serve both. */
    return type == LW_JOINT_CYLINDRICAL && k == 1 ? at->sense : 1;
}

double lw_placed_coordinate(const lw_placement *at, lw_joint_type type, int k) {
    const int quaternion = lw_joint_quaternion(type);
    if (quaternion < 0 || k < quaternion) return lw_placed_speed(at, type, k);
    return k == quaternion ? 1 : lw_placed_speed(at, type, k - 1);
}

typedef struct rewriting {
    lw_text_out out;
    const lw_spec *spec;
    const lw_names *joints, *forces;
    const lw_placement *at;
    const char *variables;
    lw_syntax *syntax;
    bool refused;
} rewriting;

/* A quantity: head, component behind the last dot ("" if there is none). */
typedef struct quantity {
    const char *head;
    size_t head_length;
    const char *component;
    size_t component_length;
    bool in_body; /* in the axes of a body: "in NAME" */
} quantity;

static void add_quantity(rewriting *r, const quantity *q, const char *component);

static void refuse(rewriting *r, const char *text, size_t length, size_t offset) {
    if (r->refused) return;
    r->refused = true;
    r->syntax->offset = offset;
    (void)snprintf(
        r->syntax->message, sizeof r->syntax->message,
        "\"%.*s\" is measured in the world of the part, and the part is placed elsewhere, where it "
        "has no counterpart",
        (int)(length < 100 ? length : 100), text);
    (void)snprintf(r->syntax->remedy, sizeof r->syntax->remedy,
                   "use coordinates of joints, positions, velocities or forces, or compute it in the model");
}

static void add_sign(rewriting *r, const char *text, size_t length, double sign) {
    lw_text_add(&r->out, "(-", sign < 0 ? 2 : 0);
    lw_text_add(&r->out, text, length);
    lw_text_add(&r->out, ")", sign < 0);
}

/* --- vectors -------------------------------------------------------------------------------------- */

typedef enum vector_kind { NO_VECTOR, POSITION, POLAR, AXIAL, MOMENT, ROTATION } vector_kind;

/* What kind of vector a component is of, and its axis. */
static vector_kind vector_of(const char *name, size_t length, char stem[8], int *axis) {
    static const struct {
        const char *stem;
        vector_kind kind;
    } stems[] = {{"", POSITION},   {"v", POLAR}, {"a", POLAR},    {"w", AXIAL},
                 {"alpha", AXIAL}, {"f", POLAR}, {"t", AXIAL},    {"p", POLAR},
                 {"l", MOMENT},    {"h", AXIAL}, {"q", ROTATION}, {"r", ROTATION}};
    if (length == 0 || length > 6) return NO_VECTOR;
    if (length == 2 && strncmp(name, "qw", 2) == 0) return ROTATION;
    const char last = name[length - 1];
    if (last < 'x' || last > 'z') return NO_VECTOR;
    *axis = last - 'x';
    (void)snprintf(stem, 8, "%.*s", (int)length - 1, name);
    for (size_t k = 0; k < sizeof stems / sizeof *stems; k++)
        if (strcmp(stem, stems[k].stem) == 0) return stems[k].kind;
    return NO_VECTOR;
}

/* Less component j of p x momentum. */
static void add_moment_of(rewriting *r, const quantity *q, int j) {
    for (int side = 1; side <= 2; side++) {
        const int along = (j + side) % 3, across = (j + 3 - side) % 3;
        const char component[] = {'p', (char)('x' + across), '\0'};
        if (r->at->p[along] == 0) continue;
        lw_text_print(&r->out, "%c(%.17g m)*(", side == 1 ? '-' : '+', r->at->p[along]);
        add_quantity(r, q, component);
        lw_text_add(&r->out, ")", 1);
    }
}

static void add_vector(rewriting *r, const quantity *q, vector_kind kind, const char *stem, int axis) {
    const lw_placement *at = r->at;
    const double factor = at->D[axis] * (kind == AXIAL || kind == MOMENT ? at->sense : 1);
    char component[8];
    if (q->in_body || at->at_origin) {
        (void)snprintf(component, sizeof component, "%.5s%c", stem, 'x' + axis);
        lw_text_add(&r->out, "(-", factor < 0 ? 2 : 0);
        add_quantity(r, q, component);
        lw_text_add(&r->out, ")", factor < 0);
        return;
    }
    lw_text_add(&r->out, "(", 1);
    for (int j = 0; j < 3; j++) {
        const double weight = factor * at->R[3 * j + axis];
        if (weight == 0) continue;
        (void)snprintf(component, sizeof component, "%.5s%c", stem, 'x' + j);
        lw_text_print(&r->out, "+(%.17g)*(", weight);
        add_quantity(r, q, component);
        if (kind == POSITION) lw_text_print(&r->out, "-(%.17g)", at->p[j]);
        if (kind == MOMENT) add_moment_of(r, q, j);
        lw_text_add(&r->out, ")", 1);
    }
    lw_text_add(&r->out, ")", 1);
}

/* --- quantities ----------------------------------------------------------------------------------- */

/* point(hub, a, b, c): the numbers are in the frame of the body. Adds the arguments from behind "(" up to the
 * closing parenthesis; returns their length. */
static size_t add_point(rewriting *r, const char *text, size_t length) {
    size_t at = 0;
    int number = -1;
    while (at < length) {
        size_t end = at;
        bool quoted = false;
        for (int depth = 0; end < length; end++) {
            const char c = text[end];
            if (c == '\'') quoted = !quoted;
            if (quoted) continue;
            if (depth == 0 && (c == ',' || c == ')')) break;
            if (depth == 0 && number >= 0 && end > at && strncmp(text + end, " in ", 4) == 0) break;
            depth += (c == '(') - (c == ')');
        }
        if (number >= 0 && number < 3 && r->at->D[number] < 0) {
            lw_text_add(&r->out, " -(", 3);
            lw_text_add(&r->out, text + at, end - at);
            lw_text_add(&r->out, ")", 1);
        } else {
            lw_text_add(&r->out, text + at, end - at);
        }
        number++;
        at = end;
        if (at >= length || text[at] != ',') break;
        lw_text_add(&r->out, ",", 1);
        at++;
    }
    while (at < length && text[at] != ')') lw_text_add(&r->out, text + at++, 1);
    return at;
}

/* The head of a quantity with points mirrored, a dot, and a component ("": neither). */
static void add_quantity(rewriting *r, const quantity *q, const char *component) {
    size_t done = 0;
    bool quoted = false;
    for (size_t k = 0; k + 6 <= q->head_length && !r->at->plain; k++) {
        if (q->head[k] == '\'') quoted = !quoted;
        if (quoted || strncmp(q->head + k, "point(", 6) != 0) continue;
        if (k > 0 && strchr("._", q->head[k - 1])) continue;
        lw_text_add(&r->out, q->head + done, k + 6 - done);
        done = k + 6;
        done += add_point(r, q->head + done, q->head_length - done);
        k = done;
    }
    if (done < q->head_length) lw_text_add(&r->out, q->head + done, q->head_length - done);
    if (component[0]) lw_text_add(&r->out, ".", 1);
    lw_text_add(&r->out, component, strlen(component));
}

static bool head_is(const quantity *q, const char *word) {
    const size_t length = strlen(word);
    if (q->head_length < length || strncmp(q->head, word, length) != 0) return false;
    const size_t space = strspn(q->head + length, " \t\r\n");
    return length + space < q->head_length && q->head[length + space] == '(';
}

/* An object by its name, quoted or not. */
static int find(const lw_names *names, const char *text, size_t length) {
    char name[512];
    size_t used = 0;
    const bool quoted = length > 1 && text[0] == '\'';
    for (size_t k = quoted; k + quoted < length && used + 1 < sizeof name; k++) {
        name[used++] = text[k];
        if (quoted && text[k] == '\'') k++;
    }
    name[used] = '\0';
    return lw_names_find(names, name);
}

/* The object between the parentheses of force(spring) or drive(pin). Names that are more than words and dots
 * stand in quotes (part_names.c). */
static int find_called(const lw_names *names, const quantity *q) {
    const char *open = memchr(q->head, '(', q->head_length);
    size_t begin = (size_t)(open - q->head) + 1;
    begin += strspn(q->head + begin, " \t\r\n");
    const char *name = q->head + begin;
    const char *mark = *name == '\'' ? memchr(name + 1, '\'', q->head_length - begin - 1) : NULL;
    return find(names, name, mark ? (size_t)(mark - name) + 1 : strcspn(name, " \t\r\n,)"));
}

static double sign_of_force(const rewriting *r, int force) {
    const lw_force_spec *f = force >= 0 ? &r->spec->forces[force] : NULL;
    const int joint = f && f->joint ? lw_names_find(r->joints, f->joint) : -1;
    if (joint < 0 || f->coordinate < 0 || f->coordinate >= LW_JOINT_MAX_V) return 1;
    return lw_placed_speed(r->at, r->spec->joints[joint].type, f->coordinate);
}

/* The factor of a component of a joint. */
static double sign_of_joint(const rewriting *r, int joint, const char *name, size_t length) {
    const lw_joint_spec *j = &r->spec->joints[joint];
    const int nv = lw_joint_type_v(j->type, j->geometry[0].axis_count),
              nq = lw_joint_type_q(j->type, j->geometry[0].axis_count);
    for (int order = 0; order < 3; order++)
        for (int k = 0; k < (order == 0 ? nq : nv); k++) {
            const char *unit, *column = lw_joint_column(j->type, nv, order, k, &unit);
            if (strlen(column) == length && strncmp(column, name, length) == 0)
                return order == 0 ? lw_placed_coordinate(r->at, j->type, k)
                                  : lw_placed_speed(r->at, j->type, k);
        }
    return 1;
}

static void rewrite_quantity(rewriting *r, const char *text, size_t length, size_t offset) {
    quantity q = {.head = text, .head_length = length, .component = ""};
    size_t depth = 0;
    bool quoted = false;
    for (size_t k = 0; k < length; k++) { /* The last dot outside parentheses and quotes. */
        if (text[k] == '\'') quoted = !quoted;
        if (quoted) continue;
        depth += text[k] == '(';
        depth -= text[k] == ')' && depth > 0;
        if (depth > 0 && strncmp(text + k, " in ", 4) == 0) q.in_body = true;
        if (text[k] != '.' || depth > 0) continue;
        q.head_length = k;
        q.component = text + k + 1, q.component_length = length - k - 1;
    }
    char stem[8];
    int axis = 0;
    const bool called = head_is(&q, "point") || head_is(&q, "com") || head_is(&q, "reaction") ||
                        head_is(&q, "force") || head_is(&q, "body") || head_is(&q, "momentum");
    const bool of_body = strncmp(text, "body.", 5) == 0,
               of_all = q.head_length == 8 && strncmp(text, "momentum", 8) == 0;
    const lw_placement *at = r->at;
    double sign = 1;
    if (called || of_body || of_all) {
        const vector_kind kind = vector_of(q.component, q.component_length, stem, &axis);
        const bool moved = at->p[0] != 0 || at->p[1] != 0 || at->p[2] != 0;
        const bool turned = at->q[1] != 0 || at->q[2] != 0 || at->q[3] != 0 || !at->plain;
        if ((kind == ROTATION && turned) || ((kind == POSITION || kind == MOMENT) && q.in_body && moved)) {
            refuse(r, text, length, offset);
            return;
        }
        if (kind != NO_VECTOR && kind != ROTATION) {
            add_vector(r, &q, kind, stem, axis);
            return;
        }
        if (head_is(&q, "force") && q.component_length == 0)
            sign = sign_of_force(r, find_called(r->forces, &q));
    } else if (head_is(&q, "drive")) {
        const int joint = find_called(r->joints, &q);
        const bool power = q.component_length == 5 && strncmp(q.component, "power", 5) == 0;
        if (joint >= 0 && !power && q.component_length > 0)
            sign = sign_of_joint(r, joint, q.component, q.component_length);
        if (joint >= 0 && q.component_length == 0) /* the only prescribed speed */
            for (int k = 0; k < LW_JOINT_MAX_V; k++)
                if (r->spec->joints[joint].motion[k])
                    sign = lw_placed_speed(at, r->spec->joints[joint].type, k);
    } else if (q.component_length > 0) {
        const int joint = find(r->joints, q.head, q.head_length);
        const int force = joint < 0 ? find(r->forces, q.head, q.head_length) : -1;
        if (joint >= 0) sign = sign_of_joint(r, joint, q.component, q.component_length);
        if (force >= 0) sign = sign_of_force(r, force);
    }
    char component[64];
    (void)snprintf(component, sizeof component, "%.*s",
                   (int)(q.component_length < 60 ? q.component_length : 60), q.component);
    lw_text_add(&r->out, "(-", sign < 0 ? 2 : 0);
    add_quantity(r, &q, component);
    lw_text_add(&r->out, ")", sign < 0);
}

size_t lw_part_total(const char *text, size_t *length) {
    static const char *const totals[] = {"kinetic", "potential", "momentum"};
    lw_part_scan scan = {.text = text};
    for (size_t found; (found = lw_part_scan_next(&scan)) > 0; scan.at += found)
        for (size_t k = 0; k < sizeof totals / sizeof *totals; k++) {
            const char *name = text + scan.at;
            const size_t word = strlen(totals[k]);
            /* momentum(load) is a body's; names of the part's own values have its prefix by now. */
            if (strncmp(name, totals[k], word) != 0 || found < word) continue;
            if (found > word && (name[word] != '.' || k < 2)) continue;
            *length = found;
            return scan.at + 1;
        }
    return 0;
}

const char *lw_placed_expression(lw_arena *arena, const lw_spec *spec, const lw_names *joints,
                                 const lw_names *forces, const lw_placement *at, const char *variables,
                                 const char *text, lw_syntax *syntax) {
    rewriting r = {.out = {.arena = arena},
                   .spec = spec,
                   .joints = joints,
                   .forces = forces,
                   .at = at,
                   .variables = variables,
                   .syntax = syntax};
    lw_part_scan scan = {.text = text};
    size_t done = 0;
    for (size_t found; (found = lw_part_scan_next(&scan)) > 0; scan.at += found) {
        const char *name = text + scan.at;
        lw_text_add(&r.out, text + done, scan.at - done);
        done = scan.at + found;
        if (lw_quantity_extent(name) == found)
            rewrite_quantity(&r, name, found, scan.at);
        else if (found == 1 && strchr(variables, *name))
            add_sign(&r, name, 1, -1);
        else
            lw_text_add(&r.out, name, found);
    }
    lw_text_add(&r.out, text + done, strlen(text) - done);
    return r.out.failed || r.refused ? NULL : r.out.text;
}
