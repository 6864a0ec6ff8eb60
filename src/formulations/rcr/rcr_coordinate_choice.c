/* rcr_coordinate_choice.c - which speeds of closed loops are dependent: the projective criterion, loop by
 * loop.
 *
 * The motion e_j of joint j alone has a share along the constraints, in the metric of the kinetic energy.
 * With the front R_t of loop t (rcr_dependent_speeds.c) and the compliance of its rows as factored in the
 * passes, C d C' = G M^-1 G' after elimination of the loops before it,
 *
 *   images            x_j = d^-1/2 C^-1 R_t(j)
 *   cos^2 of a set    det(X'X) / det(M_DD),    X the images of its members                           (17)
 *
 * For a single loop this is det (Q M^-1)_II / det (M^-1)_II of the independent rest: (23a) itself where one
 * coordinate is left. The set is picked with pivoting: the largest remaining share comes next, and each pivot
 * is a cos^2. Then members are exchanged as long as (17) grows. A speed that later loops share has a weight
 * of one quarter: if this loop determines it, the independent speeds of this loop enter their rows.
 *
 * Source   Blajer, Schiehlen & Schirm (1994), eqs 19-23; docs/theory/rcr.md, 5.
 * Cost     O(speeds on the path x rows^2) for each loop, O(n + m) for loops of bounded width; no allocation.
 */
#include "constraints/projective_criterion.h"
#include "formulations/rcr/rcr_coordinate_choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double give_up = 0.5;     /* Relative to the cos^2 after the best exchange, as in partition.c. */
static const double fair = 0.7;        /* cos^2: errors of v_D are at most 1.2 times those of v_I */
static const double preference = 0.25; /* The weight of speeds that are on the paths of later loops too. */

/* --- masses ---------------------------------------------------------------------------------------- */

static void compose(lw_choice *c, const lw_data *data) {
    static const double still[3] = {0, 0, 0}, unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int n = c->model->body_count;
    memset(c->composite, 0, (size_t)(n + 1) * sizeof *c->composite);
    for (int i = n; i >= 1; i--) {
        int parent = c->model->links[i].parent;
        double arm[3];
        lw_rigid_add_to_parent(data->world[i].R, still, &c->model->links[i].inertia, &c->composite[i]);
        lw_v3_sub(data->world[i].p, data->world[parent].p, arm);
        if (parent) lw_rigid_add_to_parent(unit, arm, &c->composite[i], &c->composite[parent]);
    }
    for (int j = 0; j < c->loop_speeds; j++) {
        int speed = c->in_loops[j];
        lw_rigid_mul(&c->composite[c->body_of[speed]], c->axis + 6 * speed, c->momentum + 6 * speed);
    }
    c->work += 100L * n + 30L * c->loop_speeds;
}

static bool carries(const lw_model *model, int i, int j) {
    return model->branches[i].first <= model->branches[j].first &&
           model->branches[j].end <= model->branches[i].end;
}

/* M_ab: the momentum that the outer of both gives to all it carries, along the axis of the inner. */
static double mass_of(const lw_choice *c, const lw_data *data, int a, int b) {
    int inner = c->body_of[a], outer = c->body_of[b];
    if (inner != outer && carries(c->model, outer, inner)) {
        int x = a;
        a = b, b = x, x = inner, inner = outer, outer = x;
    }
    if (!carries(c->model, inner, outer)) return 0;
    const double *s = c->axis + 6 * a, *momentum = c->momentum + 6 * b;
    double arm[3], v[3];
    double rotor = a == b && c->model->armature ? c->model->armature[a] : 0;
    if (inner == outer) return lw_v3_dot(s, momentum) + lw_v3_dot(s + 3, momentum + 3) + rotor;
    lw_v3_sub(data->world[outer].p, data->world[inner].p, arm);
    lw_v3_cross(s, arm, v);
    lw_v3_add(v, s + 3, v);
    return lw_v3_dot(s, momentum) + lw_v3_dot(v, momentum + 3);
}

/* --- picking --------------------------------------------------------------------------------------- */

/* A front from which a set is picked: n speeds, `rank` rows. Of speed j, from 6 j on: its image, the
 * remainder of that, its components along the members picked so far, and the same of e_j itself in the mass
 * metric; square: the remainder there. */
typedef struct field {
    lw_choice *c;
    const lw_data *data;
    const lw_rcr_front *front;
    int loop, n, rank;
} field;

static void take_images(const field *f) {
    const lw_choice *c = f->c;
    const lw_rcr_system *s = c->system;
    int width = LW_ABREAST(s->awake[f->loop]);
    const double *C = s->L + s->loops->loops[f->loop].block;
    for (int j = 0; j < f->n; j++) {
        double *x = c->images + 6 * j;
        for (int k = 0; k < f->rank; k++) {
            x[k] = f->front->R[f->front->capacity * k + j];
            for (int l = 0; l < k; l++) x[k] -= C[width * k + l] * x[l];
        }
        for (int k = 0; k < f->rank; k++) x[k] *= sqrt(C[(width + 1) * k]);
    }
    f->c->work += (long)f->n * f->rank * (f->rank + 1) / 2;
}

static double left_of(const field *f, int j) {
    const double *x = f->c->left + 6 * j;
    double sum = 0;
    for (int k = 0; k < f->rank; k++) sum += x[k] * x[k];
    return sum;
}

static void begin(const field *f) {
    lw_choice *c = f->c;
    memcpy(c->left, c->images, 6 * (size_t)f->n * sizeof *c->left);
    for (int j = 0; j < f->n; j++) c->square[j] = mass_of(c, f->data, f->front->speed[j], f->front->speed[j]);
}

/* Makes speed j member k: returns its pivot, cos^2 of its remainder; 0 if nothing remained. */
static double take(const field *f, int k, int j) {
    lw_choice *c = f->c;
    double along[6], share = left_of(f, j), square = c->square[j], mass[6];
    if (!(share > 0) || !(square > 0)) return 0;
    for (int l = 0; l < f->rank; l++) along[l] = c->left[6 * j + l] / sqrt(share);
    memcpy(mass, c->mass + 6 * j, sizeof mass);
    for (int i = 0; i < f->n; i++) {
        double part = 0, m = mass_of(c, f->data, f->front->speed[i], f->front->speed[j]);
        for (int l = 0; l < f->rank; l++) part += along[l] * c->left[6 * i + l];
        for (int l = 0; l < f->rank; l++) c->left[6 * i + l] -= part * along[l];
        c->along[6 * i + k] = part;
        for (int l = 0; l < k; l++) m -= mass[l] * c->mass[6 * i + l];
        m /= sqrt(square);
        c->mass[6 * i + k] = m;
        c->square[i] -= m * m;
    }
    c->work += (long)f->n * (2 * f->rank + k + 30);
    return share / square;
}

/* cos^2 (17) of a set of slots. */
static double worth_of(const field *f, const int *set) {
    double worth = 1;
    begin(f);
    for (int k = 0; k < f->rank && worth > 0; k++) worth *= take(f, k, set[k]);
    return worth;
}

static double weight(const field *f, int j) {
    const lw_loop_constraints *loops = f->c->loops;
    int end = loops->segment_start[f->c->body_of[f->front->speed[j]] + 1];
    return loops->segments[end - 1].loop > f->loop ? preference : 1;
}

static bool member(const int *set, int count, int j) {
    for (int k = 0; k < count; k++)
        if (set[k] == j) return true;
    return false;
}

static double pick_set(const field *f, int *set) {
    const double alike = 1e-9; /* Among equal candidates the first is taken, independently of rounding. */
    double worth = 1;
    begin(f);
    for (int k = 0; k < f->rank; k++) {
        double most = 0;
        int best = -1;
        for (int j = 0; j < f->n; j++) {
            if (member(set, k, j) || !(f->c->square[j] > 0)) continue;
            double share = weight(f, j) * left_of(f, j) / f->c->square[j];
            if (share > most * (1 + alike)) most = share, best = j;
        }
        if (best < 0) return 0;
        set[k] = best;
        worth *= take(f, k, best);
    }
    return worth;
}

/* Inverse of the upper triangle whose column k is x of member k. */
static void invert(const field *f, const double *x, const int *set, double inverse[36]) {
    memset(inverse, 0, 36 * sizeof *inverse);
    for (int column = 0; column < f->rank; column++)
        for (int i = column; i >= 0; i--) {
            double sum = i == column;
            for (int k = i + 1; k <= column; k++) sum -= x[6 * set[k] + i] * inverse[6 * k + column];
            inverse[6 * i + column] = sum / x[6 * set[i] + i];
        }
}

/* After worth_of(set): makes the exchange that increases (17) most, if the factor exceeds `worthwhile`. */
static bool exchange(const field *f, double worthwhile, int *set) {
    const lw_choice *c = f->c;
    double shares[36], masses[36], most = worthwhile;
    int out = -1, in = -1;
    invert(f, c->along, set, shares);
    invert(f, c->mass, set, masses);
    for (int j = 0; j < f->n; j++) {
        if (member(set, f->rank, j)) continue;
        for (int k = 0; k < f->rank; k++) {
            /* Components of the members in e_j, by images and by masses. */
            double share = 0, mass = 0, own = 0;
            for (int l = k; l < f->rank; l++) {
                share += shares[6 * k + l] * c->along[6 * j + l];
                mass += masses[6 * k + l] * c->mass[6 * j + l];
                own += masses[6 * k + l] * masses[6 * k + l];
            }
            double ratio = own * fmax(c->square[j], 0) + mass * mass;
            double gain = weight(f, j) / weight(f, set[k]) * share * share / ratio;
            if (ratio > 0 && gain > most) most = gain, out = k, in = j;
        }
    }
    f->c->work += (long)f->n * f->rank * f->rank * 3;
    if (out < 0) return false;
    set[out] = in;
    return true;
}

/* The best set of the front; returns its worth, 0 if there is none. */
static double best_set(const field *f, int *set) {
    const double noticeable = 1.01;
    double worth = pick_set(f, set);
    for (int round = 0; worth > 0 && round < 2 * f->rank && exchange(f, noticeable, set); round++)
        worth = worth_of(f, set);
    return worth;
}

/* The slots of the set that loop t has had; false if one is missing here, or if another loop determines
 * it. */
static bool present_set(const field *f, int *set) {
    const lw_choice *c = f->c;
    if (!c->made || c->rank[f->loop] != f->rank) return false;
    for (int k = 0; k < f->rank; k++) {
        int speed = c->dependent[c->loops->loops[f->loop].first + k];
        if (c->owner[speed] != f->loop || (set[k] = c->where[speed]) < 0) return false;
    }
    return true;
}

/* The present worth of the set that loop t had before the last recall, if it is another one. */
static void look_back(const field *f, const int *set) {
    lw_choice *c = f->c;
    int former[6], count = 0;
    bool other = false;
    for (int j = 0; j < f->n; j++)
        if (c->former[f->front->speed[j]] == f->loop && count < f->rank) {
            other |= !member(set, f->rank, j);
            former[count++] = j;
        }
    if (other && count == f->rank) c->former_worth[f->loop] = worth_of(f, former);
}

/* --- the choice ------------------------------------------------------------------------------------ */

/* Chooses the set of loop t, or leaves it as it is; before: the worth that it had. Returns false if there is
 * no set. */
static bool choose(lw_choice *c, const lw_data *data, int t, double *before, bool *changed) {
    const lw_loop_constraint *loop = &c->loops->loops[t];
    const int *slot = c->system->pivot + loop->first;
    int rank = c->system->rank[t], *set = c->set, *present = c->present;
    *changed = false;
    *before = 1;
    if (rank > 0 && !lw_front_load(c, t, true, rank, slot, NULL)) return false;
    const field f = {.c = c,
                     .data = data,
                     .front = &c->fronts[t],
                     .loop = t,
                     .n = rank ? c->fronts[t].count : 0,
                     .rank = rank};
    take_images(&f);
    bool had = present_set(&f, present);
    *before = had ? worth_of(&f, present) : 0;
    memcpy(set, present, (size_t)rank * sizeof *set);
    if (*before > 0 && !exchange(&f, 1 / give_up, set)) {
        c->worth[t] = *before;
    } else {
        *changed = true;
        c->worth[t] = best_set(&f, set);
        if (!(c->worth[t] > 0)) return false;
        for (int k = 0; k < c->rank[t]; k++)
            if (c->owner[c->dependent[loop->first + k]] == t) c->owner[c->dependent[loop->first + k]] = -1;
    }
    look_back(&f, set);
    c->rank[t] = rank;
    for (int k = 0; k < rank; k++) c->row[loop->first + k] = c->system->row[loop->first + slot[k]];
    c->delta[t] = rank > 0 ? lw_front_solve(c, t, rank, set) : 1;
    for (int k = 0; k < rank; k++) c->owner[c->dependent[loop->first + k]] = t;
    return c->delta[t] > 0;
}

static void append(char *text, size_t size, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", more);
}

/* Names of the speeds that are independent in `one` and not in `other`. */
static void list(const lw_choice *c, const int *one, const int *other, char *text, size_t size) {
    text[0] = '\0';
    for (int speed = 0; speed < c->model->nv; speed++) {
        char name[96];
        if (one[speed] >= 0 || other[speed] < 0) continue;
        lw_speed_name(c->model, speed, name, sizeof name);
        append(text, size, name);
    }
}

const char *lw_choice_closing(const lw_choice *c, int loop) {
    const lw_row *row = &c->rows->rows[c->loops->loops[loop].first];
    return row->joint >= 0 ? c->model->joints[row->joint].name : c->model->constraints[row->constraint].name;
}

static void tell(const lw_choice *c, const lw_method_options *options, double t, int loop, int loops,
                 double before) {
    enum { SIZE = 160 };
    char from[SIZE], to[SIZE], more[48] = "";
    list(c, c->former, c->owner, from, SIZE);
    list(c, c->owner, c->former, to, SIZE);
    if (loops > 1) snprintf(more, sizeof more, ", and %d more", loops - 1);
    if (!to[0] && from[0])
        lw_note(options, t, "coordinates", "loop of \"%s\"%s: %s no longer independent",
                lw_choice_closing(c, loop), more, from);
    else
        lw_note(options, t, "coordinates", "loop of \"%s\"%s: independent %s -> %s; cos^2 %.3g -> %.3g",
                lw_choice_closing(c, loop), more, from[0] ? from : "(as before)", to[0] ? to : "(as before)",
                before, c->worth[loop]);
}

static void copy_choice(const lw_choice *c, const struct lw_choice_made *from,
                        const struct lw_choice_made *to) {
    size_t loops = (size_t)c->loops->count, rows = (size_t)c->rows->count;
    memcpy(to->rank, from->rank, loops * sizeof *to->rank);
    memcpy(to->worth, from->worth, loops * sizeof *to->worth);
    memcpy(to->delta, from->delta, loops * sizeof *to->delta);
    memcpy(to->dependent, from->dependent, rows * sizeof *to->dependent);
    memcpy(to->row, from->row, rows * sizeof *to->row);
    memcpy(to->owner, from->owner, (size_t)c->model->nv * sizeof *to->owner);
}

static struct lw_choice_made present(const lw_choice *c) {
    return (struct lw_choice_made){.sound = c->sound,
                                   .made = c->made,
                                   .rank = c->rank,
                                   .dependent = c->dependent,
                                   .row = c->row,
                                   .owner = c->owner,
                                   .worth = c->worth,
                                   .delta = c->delta};
}

void lw_choice_keep(lw_choice *c) {
    const struct lw_choice_made now = present(c);
    copy_choice(c, &now, &c->kept);
    c->kept.sound = c->sound, c->kept.made = c->made;
}

void lw_choice_recall(lw_choice *c) {
    const struct lw_choice_made now = present(c);
    memcpy(c->former, c->owner, (size_t)c->model->nv * sizeof *c->former);
    memcpy(c->former_worth, c->worth, (size_t)c->loops->count * sizeof *c->worth);
    copy_choice(c, &c->kept, &now);
    c->sound = c->kept.sound, c->made = c->kept.made;
}

static void archive_made(const lw_choice *c, struct lw_choice_made *made, lw_archive *archive) {
    LW_ARCHIVE_ONE(archive, made->sound);
    LW_ARCHIVE_ONE(archive, made->made);
    LW_ARCHIVE_MANY(archive, made->rank, c->loops->count);
    LW_ARCHIVE_MANY(archive, made->worth, c->loops->count);
    LW_ARCHIVE_MANY(archive, made->delta, c->loops->count);
    LW_ARCHIVE_MANY(archive, made->dependent, c->rows->count);
    LW_ARCHIVE_MANY(archive, made->row, c->rows->count);
    LW_ARCHIVE_MANY(archive, made->owner, c->model->nv);
}

void lw_choice_archive(lw_choice *c, lw_archive *archive) {
    struct lw_choice_made now = present(c);
    archive_made(c, &now, archive);
    archive_made(c, &c->kept, archive);
    c->sound = now.sound, c->made = now.made;
    LW_ARCHIVE_ONE(archive, c->changes);
}

/* The first loop that determines other speeds than before the last recall, and how many do. */
static int differing(const lw_choice *c, int *count) {
    int first = -1;
    *count = 0;
    for (int t = 0; t < c->loops->count; t++) {
        const int *dependent = c->dependent + c->loops->loops[t].first;
        bool other = false;
        for (int k = 0; k < c->rank[t]; k++) other |= c->former[dependent[k]] != t;
        if (other && first < 0) first = t;
        *count += other;
    }
    return first;
}

void lw_choice_reconsider(lw_choice *c, const lw_data *data, const lw_method_options *options, double t) {
    for (int k = 0; c->made && k < c->loops->count; k++)
        if (c->system->rank[k] < c->rank[k]) return; /* Motions that are possible here may not continue. */
    compose(c, data);
    bool made = true;
    for (int k = 0; k < c->loops->count && made; k++) {
        double worth;
        bool other;
        made = choose(c, data, k, &worth, &other);
        lw_front_release(c, k);
    }
    bool again = c->made && made;
    c->made = c->sound = made;
    for (int k = 0; k < c->loops->count; k++)
        if (c->rank[k] > 0 && c->worth[k] < fair) c->sound = false;
    if (!made)
        for (int k = 0; k < c->model->nv; k++) c->owner[k] = -1;
    int changed, first = differing(c, &changed);
    if (!again || first < 0) return;
    c->changes++;
    tell(c, options, t, first, changed, c->former_worth[first]);
}
