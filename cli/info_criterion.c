/* info_criterion.c - linkwork info --criterion: the projective criterion (blajer1994, 23) for every
 * coordinate by name, for every possible cut, and along a motion of one coordinate as in the paper's fig. 3.
 */
#include "info_criterion.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 361 };

/* --- present cuts --------------------------------------------------------------------------------- */

const char *info_cut_reason(const cli_model *m, int loop, char *text, size_t size) {
    int joint = lw_model_loop_cut(m->model, loop);
    for (int k = lw_model_cut_move_count(m->model) - 1; k >= 0; k--) {
        const lw_cut_move *move = lw_model_cut_move(m->model, k);
        if (move->to != joint) continue;
        snprintf(text, size, "and not at %s: %s", lw_model_joint_info(m->model, move->from).name, move->why);
        return text;
    }
    if (lw_model_cut_move_count(m->model) == 0 && lw_spec_joint(m->spec, (size_t)joint)->cut)
        return "as the model asks, cut: true";
    return "by the graph: not at bodies without mass, not where coordinates are wanted, most freedom, short "
           "loops";
}

void info_print_cuts(const cli_model *m) {
    char text[600];
    for (int l = 0; l < lw_model_loop_count(m->model); l++)
        printf("  %d is cut at %s, %s\n", l + 1,
               lw_model_joint_info(m->model, lw_model_loop_cut(m->model, l)).name,
               info_cut_reason(m, l, text, sizeof text));
}

/* --- at the initial state --------------------------------------------------------------------------- */

static void print_merits(const lw_merits *merits, const char *indent) {
    printf("%s%-28s %12s %12s %14s\n", indent, "coordinate", "cos^2 alpha", "cos^2 beta", "without masses");
    for (int i = 0; i < lw_merits_count(merits); i++) {
        const lw_merit *merit = lw_merits_get(merits, i);
        printf("%s%-28s %12.6f %12.6f %14.6f", indent, merit->name, merit->cos2_alpha, merit->cos2_beta,
               merit->svd);
        if (merit->choice) printf("  independent %d", merit->choice);
        if (merit->svd_choice) printf("%s without masses %d", merit->choice ? "," : " ", merit->svd_choice);
        printf("\n");
    }
}

static void json_merits(json *j, const lw_merits *merits) {
    json_integer(j, "freedom", lw_merits_freedom(merits));
    json_number(j, "worth", lw_merits_worth(merits));
    json_bool(j, "bounded", lw_merits_bounded(merits));
    json_array(j, "coordinates");
    for (int i = 0; i < lw_merits_count(merits); i++) {
        const lw_merit *merit = lw_merits_get(merits, i);
        json_object(j, NULL);
        json_text(j, "name", merit->name);
        json_number(j, "cos2_alpha", merit->cos2_alpha);
        json_number(j, "cos2_beta", merit->cos2_beta);
        json_number(j, "svd", merit->svd);
        json_integer(j, "choice", merit->choice);
        json_integer(j, "svd_choice", merit->svd_choice);
        json_object_end(j);
    }
    json_array_end(j);
}

static void print_option(const lw_model *model, const lw_cut_option *option) {
    if (option->loop < 0) return;
    printf("\n  loop %d cut at %s instead of %s: ", option->loop + 1,
           lw_model_joint_info(model, option->joint).name,
           lw_model_joint_info(model, lw_model_loop_cut(model, option->loop)).name);
    if (!option->merits) {
        printf("cannot be: %s\n", option->reason);
        return;
    }
    if (option->undetermined)
        printf("singular tree: %s\n", option->reason);
    else
        printf("best coordinates worth %.4g\n", lw_merits_worth(option->merits));
    print_merits(option->merits, "    ");
}

static void json_option(json *j, const lw_model *model, const lw_cut_option *option) {
    if (option->loop < 0) return;
    json_object(j, NULL);
    json_integer(j, "loop", option->loop);
    json_text(j, "joint", lw_model_joint_info(model, option->joint).name);
    json_text(j, "instead_of", lw_model_joint_info(model, lw_model_loop_cut(model, option->loop)).name);
    json_bool(j, "possible", option->merits != NULL);
    json_bool(j, "free", option->free);
    json_text(j, "reason", option->reason[0] ? option->reason : NULL);
    if (option->merits) {
        json_integer(j, "undetermined", option->undetermined);
        json_merits(j, option->merits);
    }
    json_object_end(j);
}

/* --- along a motion --------------------------------------------------------------------------------- */

/* The data of a sweep. */
typedef struct track {
    lw_merits_path sweep;
    const char *name;
    int count, points, capacity;
    double *values; /* per point: the value, then cos^2 alpha and then svd of each coordinate */
    bool full;
} track;

static bool gather(double value, const double *q, const lw_merits *merits, void *context) {
    track *t = context;
    (void)q;
    if (t->points == t->capacity) return false;
    double *row = t->values + (size_t)t->points++ * (size_t)(1 + 2 * t->count);
    row[0] = value;
    for (int i = 0; i < t->count; i++) {
        row[1 + i] = lw_merits_get(merits, i)->cos2_alpha;
        row[1 + t->count + i] = lw_merits_get(merits, i)->svd;
    }
    return true;
}

static int bad_sweep(const cli_command *command, const char *text, const char *why) {
    return cli_say(command, CLI_WRONG, "--sweep: \"%s\" %s; give e.g. --sweep crank or --sweep crank=0..2*pi",
                   text, why);
}

/* Finds the speed of the tree with the user's name. */
static int find_speed(const cli_command *command, const cli_model *m, const lw_merits *merits,
                      const char *name, int *speed) {
    int count = lw_merits_count(merits), joint = lw_model_joint(m->model, name);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    if (!names) return cli_say(command, CLI_FAILED, "out of memory");
    *speed = -1;
    for (int i = 0; i < count; i++) {
        names[i] = lw_merits_get(merits, i)->name;
        if (strcmp(names[i], name) == 0) *speed = i;
    }
    const char *close = lw_closest(name, names, (size_t)count);
    free(names);
    if (*speed >= 0) return CLI_DONE;
    if (joint >= 0 && lw_model_joint_info(m->model, joint).cut)
        return cli_say(
            command, CLI_WRONG,
            "--sweep: joint \"%s\" closes a loop and has no coordinate to drive; drive another joint of the "
            "loop, or cut elsewhere (cut: true)",
            name);
    if (joint >= 0)
        return cli_say(command, CLI_WRONG, "--sweep: joint \"%s\" has %d coordinates; name one, e.g. %s.%s",
                       name, lw_model_joint_info(m->model, joint).v_count, name, "x");
    return cli_say(command, CLI_WRONG, "--sweep: there is no coordinate \"%s\"%s%s%s", name,
                   close ? "; did you mean " : "; see linkwork info --criterion for their names",
                   close ? close : "", close ? "?" : "");
}

/* Returns whether a coordinate is an angle, by the type of its joint. */
static bool is_angle(const lw_model *model, int speed) {
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        lw_joint_info info = lw_model_joint_info(model, j);
        int k = speed - info.v;
        if (info.cut || k < 0 || k >= info.v_count) continue;
        return info.q_count == info.v_count &&
               lw_joint_type_turns(info.type, k); /* Angular velocities of a ball have no angle. */
    }
    return false;
}

/* Reads "name" or "name=from..to". */
static int read_sweep(const cli_command *command, const cli_model *m, const info_criterion *request,
                      const lw_merits *merits, const double *q, char name[112], track *t) {
    const char *equals = strrchr(request->sweep, '='), *dots = equals ? strstr(equals, "..") : NULL;
    size_t length = equals ? (size_t)(equals - request->sweep) : strlen(request->sweep);
    if (length == 0 || length >= 112 || (equals && (!dots || !dots[2])))
        return bad_sweep(command, request->sweep, "is not of the form joint=from..to");
    snprintf(name, 112, "%.*s", (int)length, request->sweep);
    int result = find_speed(command, m, merits, name, &t->sweep.speed);
    if (result != CLI_DONE) return result;
    t->name = name;
    bool angle = is_angle(m->model, t->sweep.speed);
    if (!equals) {
        if (!angle) return bad_sweep(command, request->sweep, "is not an angle, so its range must be given");
        for (int j = 0; j < lw_model_joint_count(m->model); j++) {
            lw_joint_info info = lw_model_joint_info(m->model, j);
            if (!info.cut && t->sweep.speed >= info.v && t->sweep.speed < info.v + info.v_count)
                t->sweep.from =
                    q[info.q + t->sweep.speed - info.v]; /* Angles have one coordinate per speed. */
        }
        t->sweep.to = t->sweep.from + 2 * acos(-1);
        return CLI_DONE;
    }
    char first[128];
    lw_error error = {0};
    snprintf(first, sizeof first, "%.*s", (int)(dots - equals - 1), equals + 1);
    if (lw_read_number(first, NULL, &t->sweep.from, &error) != LW_OK ||
        lw_read_number(dots + 2, NULL, &t->sweep.to, &error) != LW_OK)
        return bad_sweep(command, request->sweep, error.message);
    return CLI_DONE;
}

static int write_track(const cli_command *command, const cli_model *m, const track *t,
                       const lw_merits *merits, const char *path) {
    errno = 0;
    FILE *file = fopen(path, "w");
    if (!file) return cli_say(command, CLI_FAILED, "%s could not be opened: %s", path, strerror(errno));
    cli_shown name;
    fprintf(file, "# linkwork: %s\n# model: %s\n\"%s [%s]\"", LW_VERSION,
            cli_show(lw_model_name(m->model), &name), t->name,
            is_angle(m->model, t->sweep.speed) ? "rad" : "m");
    for (int i = 0; i < t->count; i++) fprintf(file, ",\"cos2 %s\"", lw_merits_get(merits, i)->name);
    for (int i = 0; i < t->count; i++) fprintf(file, ",\"svd %s\"", lw_merits_get(merits, i)->name);
    putc('\n', file);
    for (int p = 0; p < t->points; p++)
        for (int k = 0; k <= 2 * t->count; k++)
            fprintf(file, "%.17g%c", t->values[(size_t)p * (size_t)(1 + 2 * t->count) + (size_t)k],
                    k < 2 * t->count ? ',' : '\n');
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0) bad = true;
    return bad ? cli_say(command, CLI_FAILED, "%s could not be written: %s", path, strerror(errno))
               : CLI_DONE;
}

/* Writes the data for FILE.csv, or the figure and the data for FILE.svg. */
static int write_files(const cli_command *command, const cli_model *m, const track *t,
                       const lw_merits *merits, const char *out) {
    static const char *const panels[] = {"cos2 *", "svd *"};
    size_t length = strlen(out);
    bool figure = length > 4 && strcmp(out + length - 4, ".svg") == 0;
    char data[1024], title[256];
    if (!figure && !(length > 4 && strcmp(out + length - 4, ".csv") == 0))
        return cli_say(command, CLI_WRONG, "--out: \"%s\" ends neither in .csv nor in .svg", out);
    if (length >= sizeof data) return cli_say(command, CLI_WRONG, "--out: the name is too long");
    snprintf(data, sizeof data, "%.*s.csv", (int)(length - 4), out);
    int result = write_track(command, m, t, merits, data);
    if (result != CLI_DONE || !figure) return result;
    lw_error error = {0};
    snprintf(title, sizeof title, "%.150s: coordinates over %.80s", lw_model_name(m->model), t->name);
    const lw_plot_options plot = {.columns = panels,
                                  .count = 2,
                                  .title = title,
                                  .subtitle = "projective criterion, with masses (above) and without (below)",
                                  .quantity = "cos²"};
    lw_status status = lw_plot_with(data, out, &plot, &error);
    return status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
}

/* The smallest and largest value of a column, the position of the smallest, and the share of points at which
 * the column is the best. */
typedef struct span {
    double least, most, at, share;
} span;

static span span_of(const track *t, int column, int first) {
    const double alike = 1e-9; /* Values that are equal but for rounding are all the best. */
    span s = {INFINITY, -INFINITY, NAN, 0};
    for (int p = 0; p < t->points; p++) {
        const double *row = t->values + (size_t)p * (size_t)(1 + 2 * t->count);
        bool best = true;
        if (row[first + column] < s.least) s.least = row[first + column], s.at = row[0];
        s.most = fmax(s.most, row[first + column]);
        for (int i = 0; i < t->count; i++) best = best && row[first + column] >= row[first + i] - alike;
        s.share += (double)best / t->points;
    }
    return s;
}

static void print_track(const track *t, const lw_merits *merits) {
    printf("\nsweep of %s from %g to %g, %d points\n", t->name, t->sweep.reached_from, t->sweep.reached_to,
           t->points);
    if (t->sweep.stuck_from)
        printf("  %g is not reached: going there from the initial state, a dead point is at %.9g\n",
               t->sweep.from, t->sweep.reached_from);
    if (t->sweep.stuck_to)
        printf("  %g is not reached: %s has a dead point at %.9g, where the mechanism cannot be driven on by "
               "it\n",
               t->sweep.to, t->name, t->sweep.reached_to);
    printf("  %-28s %30s   %s\n", "", "cos^2 alpha", "without masses");
    printf("  %-28s %10s %10s %8s   %10s %10s %8s\n", "coordinate", "least", "most", "best", "least", "most",
           "best");
    for (int i = 0; i < t->count; i++) {
        span with = span_of(t, i, 1), without = span_of(t, i, 1 + t->count);
        printf("  %-28s %10.6f %10.6f %7.1f%%   %10.6f %10.6f %7.1f%%   least at %.6g\n",
               lw_merits_get(merits, i)->name, with.least, with.most, 100 * with.share, without.least,
               without.most, 100 * without.share, with.at);
    }
}

static void json_track(json *j, const track *t, const lw_merits *merits) {
    json_object(j, "sweep");
    json_text(j, "coordinate", t->name);
    json_number(j, "from", t->sweep.from);
    json_number(j, "to", t->sweep.to);
    json_number(j, "reached_from", t->sweep.reached_from);
    json_number(j, "reached_to", t->sweep.reached_to);
    json_bool(j, "dead_point_from", t->sweep.stuck_from);
    json_bool(j, "dead_point_to", t->sweep.stuck_to);
    json_integer(j, "points", t->points);
    json_array(j, "coordinates");
    for (int i = 0; i < t->count; i++) {
        span with = span_of(t, i, 1), without = span_of(t, i, 1 + t->count);
        json_object(j, NULL);
        json_text(j, "name", lw_merits_get(merits, i)->name);
        json_number(j, "least", with.least);
        json_number(j, "least_at", with.at);
        json_number(j, "most", with.most);
        json_number(j, "best_share", with.share);
        json_number(j, "svd_least", without.least);
        json_number(j, "svd_most", without.most);
        json_number(j, "svd_best_share", without.share);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static int sweep(const cli_command *command, json *j, const cli_model *m, const info_criterion *request,
                 const double *q) {
    char name[112];
    track t = {.capacity = request->points > 0 ? (int)fmin(request->points, 1e6) : POINTS};
    lw_merits *merits = NULL;
    lw_error error = {0};
    lw_status status = lw_merits_create(m->model, false, &merits, &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    t.count = lw_merits_count(merits);
    int result = read_sweep(command, m, request, merits, q, name, &t);
    if (result == CLI_DONE && t.capacity < 2)
        result = cli_say(command, CLI_WRONG, "--points: a sweep needs at least 2");
    if (result == CLI_DONE) {
        t.sweep.intervals = t.capacity++ - 1; /* one more point for a dead point */
        t.sweep.observe = gather;
        t.sweep.context = &t;
        t.values = calloc((size_t)t.capacity * (size_t)(1 + 2 * t.count), sizeof *t.values);
        if (!t.values) result = cli_say(command, CLI_FAILED, "out of memory");
    }
    if (result == CLI_DONE) {
        status = lw_merits_sweep(m->spec, m->model, 0, q, &t.sweep, &error);
        if (status != LW_OK) result = cli_fault(command, status, &error);
    }
    if (result == CLI_DONE && j) json_track(j, &t, merits);
    if (result == CLI_DONE && !j) print_track(&t, merits);
    if (result == CLI_DONE && request->out) result = write_files(command, m, &t, merits, request->out);
    free(t.values);
    lw_merits_destroy(merits);
    return result;
}

/* --- the whole ------------------------------------------------------------------------------------ */

static void tell_state(const lw_merits *merits, bool absolute) {
    printf("\ncriterion (blajer1994, 23) at the initial state, %s coordinates: %d of %d independent, worth "
           "%.4g\n",
           absolute ? "absolute" : "joint", lw_merits_freedom(merits), lw_merits_count(merits),
           lw_merits_worth(merits));
    if (!lw_merits_bounded(merits))
        printf("  the mass matrix of these coordinates is singular; instead of cos^2 alpha: how far each "
               "moves for a given "
               "kinetic energy\n");
    print_merits(merits, "  ");
}

/* Prints the choices of method rcr, loop by loop, unless the method does not apply. */
static int tell_loops(const cli_command *command, json *j, const lw_model *model, const double *q,
                      const lw_merits *merits) {
    int count = 0;
    lw_error error = {0};
    lw_status status = lw_loop_choices(model, 0, q, NULL, 0, &count, &error);
    if (status == LW_OK && count == 0) return CLI_DONE;
    if (status == LW_ERROR_UNSUPPORTED || status == LW_ERROR_SINGULAR) return CLI_DONE;
    if (status != LW_OK) return cli_fault(command, status, &error);
    lw_loop_choice *choices = calloc((size_t)count, sizeof *choices);
    if (!choices) return cli_say(command, CLI_FAILED, "out of memory");
    status = lw_loop_choices(model, 0, q, choices, count, &count, &error);
    if (j) json_array(j, "loops");
    if (!j) printf("\nmethod rcr, loop by loop\n");
    for (int k = 0; status == LW_OK && k < count; k++) {
        if (j) {
            json_object(j, NULL);
            json_text(j, "closed_by", choices[k].closed_by);
            json_number(j, "cos2", choices[k].cos2);
            json_array(j, "dependent");
            for (int n = 0; n < choices[k].count; n++)
                json_text(j, NULL, lw_merits_get(merits, choices[k].speeds[n])->name);
            json_array_end(j);
            json_object_end(j);
            continue;
        }
        printf("  closed by %s, cos^2 %.6f; dependent:", choices[k].closed_by, choices[k].cos2);
        for (int n = 0; n < choices[k].count; n++)
            printf(" %s", lw_merits_get(merits, choices[k].speeds[n])->name);
        printf("\n");
    }
    if (j) json_array_end(j);
    free(choices);
    return status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
}

static void tell_cuts(json *j, const lw_model *model, const lw_cuts *cuts, const lw_error *why) {
    if (j) json_array(j, "cuts");
    if (!j && cuts && lw_cuts_count(cuts) > 1)
        printf("\ncuts, one loop at a time, the others as they are; combinations are not tried\n");
    if (!j && !cuts) printf("\ncuts: not tried, %s\n", why->message);
    for (int k = 0; cuts && k < lw_cuts_count(cuts); k++)
        if (j)
            json_option(j, model, lw_cuts_get(cuts, k));
        else
            print_option(model, lw_cuts_get(cuts, k));
    if (j) json_array_end(j);
}

static int tell(const cli_command *command, json *j, const cli_model *m, const info_start *start,
                const info_criterion *request) {
    lw_error error = start->error;
    lw_merits *merits = NULL;
    lw_cuts *cuts = NULL;
    int result = CLI_DONE;
    if (j) json_object(j, "criterion");
    lw_status status = start->assembled ? LW_OK : error.status;
    if (status == LW_OK) status = lw_merits_create(m->model, request->absolute, &merits, &error);
    if (status == LW_OK) status = lw_merits_evaluate(merits, start->t, start->q, &error);
    if (status != LW_OK) result = cli_fault(command, status, &error);
    if (result == CLI_DONE && j) json_merits(j, merits);
    if (result == CLI_DONE && !j) tell_state(merits, request->absolute);
    if (result == CLI_DONE && !request->absolute) result = tell_loops(command, j, m->model, start->q, merits);
    if (result == CLI_DONE && !request->absolute) {
        status = lw_cuts_create(m->spec, m->model, start->t, start->q, &cuts, &error);
        if (status != LW_OK && status != LW_ERROR_UNSUPPORTED) result = cli_fault(command, status, &error);
        if (result == CLI_DONE) tell_cuts(j, m->model, cuts, &error);
    }
    if (result == CLI_DONE && request->sweep) result = sweep(command, j, m, request, start->q);
    if (j) json_object_end(j);
    lw_cuts_destroy(cuts);
    lw_merits_destroy(merits);
    return result;
}

int info_print_criterion(const cli_command *command, const cli_model *m, const info_start *start,
                         const info_criterion *request) {
    return tell(command, NULL, m, start, request);
}

int info_json_criterion(const cli_command *command, json *j, const cli_model *m, const info_start *start,
                        const info_criterion *request) {
    return tell(command, j, m, start, request);
}
