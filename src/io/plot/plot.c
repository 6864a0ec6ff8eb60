/* plot.c - chooses the contents of a plot of results files, and calls the drawing.
 *
 * By default a plot shows the outputs of the model that the file carries, with a panel for each of up to two
 * units, the joint coordinates that are angles, those that are displacements, then the energies and the
 * residual of the energy ledger. Quaternions appear only if a model has no other coordinates. For a file
 * without any of these its first columns are shown, with a panel for each unit. "total" is an additional
 * column of every file with the columns kinetic and potential.
 *
 * Where a panel or a pattern offers many columns, MOST_CURVES are taken, those that differ most: the one with
 * the widest range, then again and again the one that is farthest from all taken before, by the largest
 * difference over up to PROBES rows.
 *
 * Columns are chosen by the first file; others contribute those of the same names.
 */
#include "io/plot/plot.h"
#include "io/results/record_columns.h"

#include <linkwork/io.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CURVES = 8, MOST_MATCHES = 12, MOST_DEFAULT_PANELS = 4, MOST_OUTPUT_PANELS = 2, PROBES = 200 };

/* The plot under construction. */
typedef struct {
    lw_arena *arena;
    lw_results_table **tables;
    lw_results_table *table; /* the first one */
    const char **paths;
    size_t table_count;
    const lw_plot_options *options;
    lw_plot plot;
    lw_error *error;
} builder;

static lw_status out_of_memory(builder *b) {
    return lw_fail(b->error, LW_ERROR_MEMORY, "plot", NULL, "memory is out");
}

/* --- panels and curves ---------------------------------------------------------------------------- */

static lw_panel *add_panel(builder *b, const char *quantity, const char *unit, size_t capacity) {
    lw_panel *panel = &b->plot.panels[b->plot.panel_count];
    panel->quantity = quantity;
    panel->unit = unit;
    panel->curves = LW_NEW(b->arena, lw_curve, capacity);
    if (!panel->curves) return NULL;
    b->plot.panel_count++;
    return panel;
}

/* Columns whose names end so are the paper's numbers, which stand as marks beside curves. */
static bool is_mark(const char *name) {
    static const char ending[] = ", paper";
    size_t length = strlen(name), tail = sizeof ending - 1;
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

static void add_curve(builder *b, lw_panel *panel, const char *label, int column, int added) {
    int index = (int)panel->curve_count;
    panel->curves[panel->curve_count++] = (lw_curve){.label = label,
                                                     .column = column,
                                                     .added = added,
                                                     .index = index,
                                                     .marks = is_mark(b->table->columns[column].name)};
    panel->columns = panel->offered = panel->curve_count;
}

static const char *quantity_of(const char *unit) {
    const struct {
        const char *unit, *quantity;
    } known[] = {{"rad", "angle"},
                 {"m", "position"},
                 {"rad/s", "angular speed"},
                 {"m/s", "speed"},
                 {"J", "energy"},
                 {"s", "time"},
                 {"N", "force"},
                 {"N m", "torque"},
                 {"m/s^2", "acceleration"},
                 {"rad/s^2", "angular acceleration"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(unit, known[k].unit) == 0) return known[k].quantity;
    }
    return "";
}

/* --- default contents ----------------------------------------------------------------------------- */

static bool is_output(const lw_spec *spec, const char *name) {
    if (strncmp(name, "output(", 7) == 0) return true;
    for (size_t k = 0; k < lw_spec_output_count(spec); k++)
        if (strcmp(lw_spec_output((lw_spec *)spec, k)->name, name) == 0) return true;
    return false;
}

/* Coordinates have names such as pin.q; those of bodies, points and forces begin with a word of their own. */
static bool is_joint_coordinate(const lw_spec *spec, const lw_column *column, const char *unit) {
    return strcmp(column->unit, unit) == 0 && strncmp(column->name, "body.", 5) != 0 &&
           !strchr(column->name, '(') && !is_output(spec, column->name);
}

/* Adds the outputs of the model, those of one unit in one panel. */
static bool add_outputs(builder *b, const lw_spec *spec) {
    for (size_t k = 1; k < b->table->column_count; k++) {
        const lw_column *column = &b->table->columns[k];
        lw_panel *panel = NULL;
        if (!is_output(spec, column->name)) continue;
        for (size_t p = 0; p < b->plot.panel_count && !panel; p++)
            if (strcmp(b->plot.panels[p].unit, column->unit) == 0) panel = &b->plot.panels[p];
        if (!panel && b->plot.panel_count == MOST_OUTPUT_PANELS) continue;
        if (!panel && !(panel = add_panel(b, "output", column->unit, b->table->column_count))) return false;
        add_curve(b, panel, column->name, (int)k, -1);
        panel->limit = MOST_CURVES;
    }
    return true;
}

/* Adds a panel of the joint coordinates with this unit, if there are any. */
static bool add_coordinates(builder *b, const lw_spec *spec, const char *quantity, const char *unit) {
    lw_panel *panel = NULL;
    for (size_t k = 1; k < b->table->column_count; k++) {
        const lw_column *column = &b->table->columns[k];
        if (!is_joint_coordinate(spec, column, unit)) continue;
        if (!panel && !(panel = add_panel(b, quantity, unit, b->table->column_count))) return false;
        add_curve(b, panel, column->name, (int)k, -1);
    }
    if (panel) panel->limit = MOST_CURVES;
    return true;
}

static bool add_energies(builder *b) {
    int kinetic = lw_results_table_column(b->table, "kinetic"),
        potential = lw_results_table_column(b->table, "potential");
    int unaccounted = lw_results_table_column(b->table, "unaccounted");
    if (kinetic >= 0 && potential >= 0) {
        lw_panel *panel = add_panel(b, "energy", b->table->columns[kinetic].unit, 3);
        if (!panel) return false;
        add_curve(b, panel, "kinetic", kinetic, -1);
        add_curve(b, panel, "potential", potential, -1);
        add_curve(b, panel, "total", kinetic, potential);
    }
    if (unaccounted >= 0) {
        lw_panel *panel = add_panel(b, "energy", b->table->columns[unaccounted].unit, 1);
        if (!panel) return false;
        add_curve(b, panel, "unaccounted", unaccounted, -1);
    }
    return true;
}

/* Adds the first columns of a file without coordinates, those of one unit in one panel. */
static bool add_anything(builder *b) {
    for (size_t k = 1; k < b->table->column_count; k++) {
        const lw_column *column = &b->table->columns[k];
        lw_panel *panel = NULL;
        for (size_t p = 0; p < b->plot.panel_count && !panel; p++)
            if (strcmp(b->plot.panels[p].unit, column->unit) == 0) panel = &b->plot.panels[p];
        if (!panel) {
            if (b->plot.panel_count == MOST_DEFAULT_PANELS) continue;
            panel = add_panel(b, quantity_of(column->unit), column->unit, b->table->column_count);
            if (!panel) return false;
        }
        add_curve(b, panel, column->name, (int)k, -1);
    }
    for (size_t p = 0; p < b->plot.panel_count; p++) b->plot.panels[p].limit = MOST_CURVES;
    return true;
}

static bool add_defaults(builder *b, const lw_spec *spec) {
    if (!add_outputs(b, spec) || !add_coordinates(b, spec, "angle", "rad") ||
        !add_coordinates(b, spec, "displacement", "m"))
        return false;
    if (b->plot.panel_count == 0 && !add_coordinates(b, spec, "quaternion", "1")) return false;
    return add_energies(b) && (b->plot.panel_count > 0 || add_anything(b));
}

static lw_status choose_default(builder *b) {
    lw_spec *spec = NULL;
    lw_error none;
    b->plot.panels = LW_NEW(b->arena, lw_panel, MOST_DEFAULT_PANELS + MOST_OUTPUT_PANELS);
    if (!b->plot.panels) return out_of_memory(b);
    (void)lw_results_spec(b->paths[0], &spec, &none); /* A table of another program has no model. */
    const bool done = add_defaults(b, spec);
    lw_spec_destroy(spec);
    return done ? LW_OK : out_of_memory(b);
}

/* --- requested contents --------------------------------------------------------------------------- */

/* Finds a curve by name; returns false if the file has none with this name. */
static bool find_curve(const lw_results_table *table, const char *name, lw_curve *curve) {
    *curve = (lw_curve){.column = lw_results_table_column(table, name), .added = -1};
    if (curve->column < 0 && strcmp(name, "total") == 0) {
        curve->column = lw_results_table_column(table, "kinetic");
        curve->added = lw_results_table_column(table, "potential");
        curve->label = "total";
        return curve->column >= 0 && curve->added >= 0;
    }
    if (curve->column >= 0) curve->label = table->columns[curve->column].name;
    return curve->column >= 0;
}

/* Writes the names of all columns into a text of limited size. */
static void list_names(const lw_results_table *table, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < table->column_count; k++) {
        int length = snprintf(text + used, size - used, "%s%s", k ? ", " : "", table->columns[k].name);
        if (length < 0 || (size_t)length >= size - used) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        used += (size_t)length;
    }
}

static lw_status no_such_column(builder *b, const char *name, size_t file) {
    const lw_results_table *table = b->tables[file];
    char list[200], remedy[256], object[112];
    snprintf(object, sizeof object, "column \"%.90s\"", name);
    const char **names = LW_NEW(b->arena, const char *, table->column_count);
    if (!names) return out_of_memory(b);
    for (size_t k = 0; k < table->column_count; k++) names[k] = table->columns[k].name;
    const char *closest = lw_closest(name, names, table->column_count);
    list_names(table, list, sizeof list);
    if (lw_did_you_mean(closest, remedy, sizeof remedy))
        return lw_fail(b->error, LW_ERROR_ARGUMENT, object, remedy, "the file has no such column, only %s",
                       list);
    snprintf(remedy, sizeof remedy, "give one of %s", list);
    return lw_fail(b->error, LW_ERROR_ARGUMENT, object, remedy, "the file has no such column");
}

static size_t count_of(const char *text, char letter) {
    size_t count = 0;
    for (; *text; text++) count += *text == letter;
    return count;
}

static char *trim(char *text) {
    while (*text == ' ') text++;
    for (char *end = text + strlen(text); end > text && end[-1] == ' ';) *--end = '\0';
    return text;
}

/* Names the axis after the common unit of all curves or, if they differ, after up to MOST_UNITS units; the
 * legend then has the unit of each curve. */
static lw_status name_axis(builder *b, lw_panel *panel) {
    enum { MOST_UNITS = 4 };
    const char *units[MOST_UNITS] = {"", "", "", ""};
    size_t count = 0, size = 1;
    for (size_t k = 0; k < panel->curve_count && count < MOST_UNITS; k++) {
        const char *unit = b->table->columns[panel->curves[k].column].unit;
        bool known = false;
        for (size_t i = 0; i < count; i++) known = known || strcmp(unit, units[i]) == 0;
        if (known) continue;
        units[count++] = unit;
        size += strlen(unit) + 2;
    }
    panel->unit = units[0];
    panel->quantity = quantity_of(units[0]);
    if (count == 1) return LW_OK;

    char *list = LW_NEW(b->arena, char, size);
    if (!list) return out_of_memory(b);
    for (size_t i = 0; i < count; i++) {
        if (list[0] && units[i][0]) strcat(list, ", ");
        strcat(list, units[i]);
    }
    panel->unit = count < MOST_UNITS ? list : "units of the legend";
    panel->quantity = "";
    for (size_t k = 0; k < panel->curve_count; k++) {
        if (panel->curves[k].added < 0)
            panel->curves[k].label = b->table->columns[panel->curves[k].column].header;
    }
    return LW_OK;
}

/* Adds the columns whose names match, except the first, which is the horizontal axis. */
static lw_status add_matching(builder *b, lw_panel *panel, const char *name) {
    size_t before = panel->curve_count;
    lw_curve curve;
    if (find_curve(b->table, name, &curve)) {
        add_curve(b, panel, curve.label, curve.column, curve.added);
        panel->curves[panel->curve_count - 1].named = true;
        return LW_OK;
    }
    for (size_t k = 1; k < b->table->column_count && strchr(name, '*'); k++) {
        const char *other = b->table->columns[k].name;
        if (lw_pattern_matches(name, other)) add_curve(b, panel, other, (int)k, -1);
    }
    panel->limit = MOST_MATCHES;
    return panel->curve_count > before ? LW_OK : no_such_column(b, name, 0);
}

/* Adds one panel: a column, or several joined by '+'. A name that contains '+' is found as a whole. */
static lw_status choose_panel(builder *b, const char *names) {
    lw_curve curve;
    size_t parts = count_of(names, '+') + 1;
    lw_panel *panel = add_panel(b, "", "", strchr(names, '*') ? parts * b->table->column_count : parts);
    char *rest = lw_arena_text(b->arena, names);
    if (!panel || !rest) return out_of_memory(b);
    if (find_curve(b->table, names, &curve)) {
        add_curve(b, panel, curve.label, curve.column, curve.added);
    } else {
        while (rest) {
            char *name = rest, *plus = strchr(rest, '+');
            rest = plus ? plus + 1 : NULL;
            if (plus) *plus = '\0';
            lw_status status = add_matching(b, panel, trim(name));
            if (status != LW_OK) return status;
        }
    }
    return name_axis(b, panel);
}

static lw_status choose(builder *b, const char *const *columns, size_t count) {
    if (b->table->column_count < 2) {
        return lw_fail(b->error, LW_ERROR_FILE, "results file",
                       "give a file with time and at least one more column",
                       "there is only one column, \"%s\"", b->table->columns[0].header);
    }
    if (count == 0) return choose_default(b);
    b->plot.panels = LW_NEW(b->arena, lw_panel, count);
    if (!b->plot.panels) return out_of_memory(b);
    for (size_t k = 0; k < count; k++) {
        lw_status status = choose_panel(b, columns[k]);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

/* --- the horizontal axis -------------------------------------------------------------------------- */

/* Writes what a pattern with a single * has in its place, or returns false. */
static bool star_of(const char *pattern, const char *name, char *star, size_t size) {
    const char *at = strchr(pattern, '*');
    if (!at || strchr(at + 1, '*')) return false;
    size_t before = (size_t)(at - pattern), after = strlen(at + 1), length = strlen(name);
    if (length < before + after || strncmp(name, pattern, before) != 0 ||
        strcmp(name + length - after, at + 1) != 0)
        return false;
    return (size_t)snprintf(star, size, "%.*s", (int)(length - before - after), name + before) < size;
}

/* Finds the column of the horizontal axis for a curve: that of the option x, in which * stands for what it
 * stands for in one of the patterns of columns. */
static lw_status find_x(builder *b, lw_curve *curve) {
    const char *x = b->options->x, *y = b->table->columns[curve->column].name;
    char star[256] = "", name[512];
    if (!x) return LW_OK;
    const char *at = strchr(x, '*');
    if (!at) {
        curve->x = lw_results_table_column(b->table, x);
        return curve->x >= 0 ? LW_OK : no_such_column(b, x, 0);
    }
    bool found = false;
    for (size_t k = 0; k < b->options->count && !found; k++)
        found = star_of(b->options->columns[k], y, star, sizeof star);
    if (!found)
        return lw_fail(b->error, LW_ERROR_ARGUMENT, "horizontal axis",
                       "give one column, or e.g. --x \"body.*.x\" \"body.*.z\"",
                       "\"%.100s\" has a *, and \"%.100s\" does not say what for", x, y);
    snprintf(name, sizeof name, "%.*s%s%.100s", (int)(at - x), x, star, at + 1);
    const char *whose = star + strspn(star, ", ");
    if (whose[0] && !(curve->label = lw_arena_text(b->arena, whose))) return out_of_memory(b);
    curve->x = lw_results_table_column(b->table, name);
    return curve->x >= 0 ? LW_OK : no_such_column(b, name, 0);
}

/* What a pattern with a * says of the quantity: "x" of "body.*.x" and of "x*". */
static const char *pattern_quantity(builder *b, const char *pattern, const char *unit) {
    const char *star = strchr(pattern, '*'), *after = star + 1 + strspn(star + 1, "., )");
    char *text = lw_arena_text(b->arena, after[0] ? after : pattern);
    if (!text) return quantity_of(unit);
    if (!after[0]) {
        text[star - pattern] = '\0';
        for (size_t length = strlen(text); length > 0 && strchr("., (", text[length - 1]);)
            text[--length] = '\0';
    }
    return text[0] && !strchr(text, '*') ? text : quantity_of(unit);
}

static lw_status choose_x(builder *b) {
    for (size_t p = 0; p < b->plot.panel_count; p++)
        for (size_t k = 0; k < b->plot.panels[p].curve_count; k++) {
            lw_status status = find_x(b, &b->plot.panels[p].curves[k]);
            if (status != LW_OK) return status;
        }
    const lw_panel *panel = b->plot.panels;
    const lw_column *first = &b->table->columns[b->plot.panel_count ? panel->curves[0].x : 0];
    b->plot.path = b->options->x && first != b->table->columns;
    b->plot.x_unit = first->unit;
    b->plot.x_quantity = b->options->x && strchr(b->options->x, '*')
                             ? pattern_quantity(b, b->options->x, first->unit)
                             : first->name;
    for (size_t p = 0; p < b->plot.panel_count && b->plot.path; p++) /* A path names both axes. */
        if (strchr(b->options->x, '*') && p < b->options->count && strchr(b->options->columns[p], '*'))
            b->plot.panels[p].quantity = pattern_quantity(b, b->options->columns[p], panel[p].unit);
        else if (panel[p].columns == 1)
            b->plot.panels[p].quantity = b->table->columns[panel[p].curves[0].column].name;
    return LW_OK;
}

/* --- some of many --------------------------------------------------------------------------------- */

static double value_at(const builder *b, const lw_curve *curve, size_t row) {
    double value = b->table->columns[curve->column].values[row];
    if (curve->added >= 0) value += b->table->columns[curve->added].values[row];
    return isfinite(value) ? value : 0;
}

/* The largest difference of two curves; of one from its first value if other is NULL. */
static double difference(const builder *b, const lw_curve *curve, const lw_curve *other) {
    size_t rows = b->table->row_count, step = rows / PROBES + 1;
    double most = 0;
    for (size_t row = 0; row < rows; row += step)
        most =
            fmax(most, fabs(value_at(b, curve, row) - value_at(b, other ? other : curve, other ? row : 0)));
    return most;
}

/* Leaves the curves that were named, and of the others those that differ most. */
static lw_status thin(builder *b, lw_panel *panel) {
    size_t count = panel->curve_count, kept = 0;
    if (b->options->all || panel->limit == 0 || count <= panel->limit) return LW_OK;
    double *away = LW_NEW(b->arena, double, count); /* from all that are taken; -1: it is taken itself */
    if (!away) return out_of_memory(b);
    for (size_t k = 0; k < count; k++) {
        away[k] = panel->curves[k].named ? -1 : difference(b, &panel->curves[k], NULL);
        kept += panel->curves[k].named;
    }
    for (size_t taken = 0; taken < MOST_CURVES; taken++) {
        size_t next = count;
        for (size_t k = 0; k < count; k++)
            if (away[k] >= 0 && (next == count || away[k] > away[next])) next = k;
        if (next == count) break;
        away[next] = -1;
        kept++;
        for (size_t k = 0; k < count; k++) {
            if (away[k] < 0) continue;
            double apart = difference(b, &panel->curves[k], &panel->curves[next]);
            away[k] = taken == 0 ? apart : fmin(away[k], apart);
        }
    }
    panel->curve_count = 0;
    for (size_t k = 0; k < count; k++) {
        if (away[k] >= 0) continue;
        panel->curves[panel->curve_count] = panel->curves[k];
        panel->curves[panel->curve_count].index = (int)panel->curve_count;
        panel->curve_count++;
    }
    panel->columns = kept;
    return LW_OK;
}

static lw_status thin_all(builder *b) {
    lw_status status = LW_OK;
    for (size_t p = 0; p < b->plot.panel_count && status == LW_OK; p++) status = thin(b, &b->plot.panels[p]);
    return status;
}

/* --- other files ---------------------------------------------------------------------------------- */

/* The column of another file with the same name; -1: it has none. */
static int same_column(const builder *b, size_t file, int column) {
    return column < 0 ? -1 : lw_results_table_column(b->tables[file], b->table->columns[column].name);
}

static void tell(const builder *b, const char *text) {
    if (b->options->tell) b->options->tell(text, b->options->context);
}

/* Adds the curves of the other files to each panel. */
static lw_status add_files(builder *b) {
    char text[400];
    for (size_t p = 0; p < b->plot.panel_count && b->table_count > 1; p++) {
        lw_panel *panel = &b->plot.panels[p];
        size_t columns = panel->curve_count;
        lw_curve *curves = LW_NEW(b->arena, lw_curve, columns * b->table_count);
        if (!curves) return out_of_memory(b);
        panel->curve_count = 0;
        for (size_t f = 0; f < b->table_count; f++)
            for (size_t k = 0; k < columns; k++) {
                lw_curve curve = panel->curves[k];
                curve.file = (int)f;
                if (f > 0) {
                    curve.column = same_column(b, f, curve.column);
                    if (curve.added >= 0) curve.added = same_column(b, f, curve.added);
                    curve.x = curve.x > 0 ? same_column(b, f, curve.x) : 0;
                }
                if (curve.column < 0 || curve.x < 0 || (panel->curves[k].added >= 0 && curve.added < 0)) {
                    snprintf(text, sizeof text, "%.150s has no column \"%.100s\"", b->paths[f], curve.label);
                    tell(b, text);
                    continue;
                }
                if (columns == 1) { /* The column, and the file. */
                    size_t size = strlen(curve.label) + strlen(b->plot.names[f]) + 3;
                    char *label = LW_NEW(b->arena, char, size);
                    if (!label) return out_of_memory(b);
                    snprintf(label, size, "%s, %s", curve.label, b->plot.names[f]);
                    curve.label = label;
                }
                curves[panel->curve_count++] = curve;
            }
        panel->curves = curves;
    }
    return LW_OK;
}

static void want_columns(const builder *b) {
    for (size_t p = 0; p < b->plot.panel_count; p++)
        for (size_t k = 0; k < b->plot.panels[p].curve_count; k++) {
            const lw_curve *curve = &b->plot.panels[p].curves[k];
            lw_column *columns = b->tables[curve->file]->columns;
            columns[curve->x].wanted = columns[curve->column].wanted = true;
            if (curve->added >= 0) columns[curve->added].wanted = true;
        }
}

static void tell_of_thinning(const builder *b) {
    char text[400];
    for (size_t p = 0; p < b->plot.panel_count; p++) {
        const lw_panel *panel = &b->plot.panels[p];
        if (panel->offered <= panel->columns) continue;
        snprintf(text, sizeof text,
                 "%s: %zu of %zu curves, those that differ most; name columns to choose, or ask for all",
                 panel->quantity[0] ? panel->quantity : "panel", panel->columns, panel->offered);
        tell(b, text);
    }
}

/* --- the whole ------------------------------------------------------------------------------------ */

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Files are known by their names without folders, unless two are the same. */
static lw_status name_files(builder *b) {
    const char **names = LW_NEW(b->arena, const char *, b->table_count);
    if (!names) return out_of_memory(b);
    bool distinct = true;
    for (size_t k = 0; k < b->table_count; k++)
        for (size_t i = 0; i < k; i++)
            distinct = distinct && strcmp(base_of(b->paths[i]), base_of(b->paths[k])) != 0;
    for (size_t k = 0; k < b->table_count; k++) names[k] = distinct ? base_of(b->paths[k]) : b->paths[k];
    b->plot.names = names;
    return LW_OK;
}

/* Appends "method, integrator, file" of a table. */
static void describe(const lw_results_table *table, const char *file, char *text) {
    const char *parts[] = {table->method, table->integrator, file};
    bool any = false;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (!parts[k][0]) continue;
        if (any) strcat(text, ", ");
        strcat(text, parts[k]);
        any = true;
    }
}

static lw_status name_plot(builder *b) {
    const lw_results_table *table = b->table;
    size_t size = 16;
    bool one_model = table->model[0] != '\0';
    for (size_t k = 0; k < b->table_count; k++) {
        const lw_results_table *other = b->tables[k];
        size += strlen(other->method) + strlen(other->integrator) + strlen(b->plot.names[k]) + 16;
        one_model = one_model && strcmp(other->model, table->model) == 0;
    }
    char *subtitle = LW_NEW(b->arena, char, size);
    if (!subtitle) return out_of_memory(b);
    for (size_t k = 0; k < b->table_count; k++) {
        if (k) strcat(subtitle, "; ");
        describe(b->tables[k], one_model || b->table_count > 1 ? b->plot.names[k] : "", subtitle);
    }
    b->plot.title = one_model ? table->model : b->plot.names[0];
    if (!one_model && b->table_count > 1) b->plot.title = "results";
    b->plot.subtitle = subtitle;
    b->plot.heading = true;
    return LW_OK;
}

/* Replaces defaults by the caller's options. */
static void override(builder *b) {
    const lw_plot_options *options = b->options;
    if (options->title) b->plot.title = options->title;
    if (options->subtitle) b->plot.subtitle = options->subtitle;
    if (options->no_heading) b->plot.heading = false;
    for (size_t p = 0; options->quantity && p < b->plot.panel_count; p++)
        b->plot.panels[p].quantity = options->quantity;
    b->plot.log_x = options->log_x;
    b->plot.log_y = options->log_y;
}

static bool ends_in_pdf(const char *path) {
    size_t length = strlen(path);
    const char *ending = path + (length > 4 ? length - 4 : 0);
    return length > 4 && ending[0] == '.' && (ending[1] | 32) == 'p' && (ending[2] | 32) == 'd' &&
           (ending[3] | 32) == 'f';
}

static lw_status write_plot(builder *b, const char *path) {
    errno = 0;
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    int fault = 0;
    bool room = true;
    if (!file) {
        fault = errno;
    } else {
        lw_pdf pdf = {0};
        lw_canvas svg = lw_canvas_svg(file);
        room = lw_plot_draw(&b->plot, ends_in_pdf(path) ? lw_canvas_pdf(&pdf, file) : &svg, b->arena);
        room = room && !pdf.failed;
        free(pdf.contents);
        bool failed = fflush(file) != 0 || ferror(file);
        if (file != stdout && fclose(file) != 0) failed = true;
        if (failed) fault = errno ? errno : EIO;
    }
    if (!room) return out_of_memory(b);
    if (fault == 0) return LW_OK;
    char object[112];
    snprintf(object, sizeof object, "plot \"%.90s\"", path);
    return lw_fail(b->error, LW_ERROR_FILE, object, "give a path in an existing folder where you may write",
                   "cannot be written: %s", strerror(fault));
}

static lw_status open_files(builder *b, const char *results_path) {
    const lw_plot_options *options = b->options;
    size_t count = 1 + options->more_count;
    b->tables = LW_NEW(b->arena, lw_results_table *, count);
    b->paths = LW_NEW(b->arena, const char *, count);
    if (!b->tables || !b->paths) return out_of_memory(b);
    for (size_t k = 0; k < count; k++) {
        b->paths[k] = k ? options->more[k - 1] : results_path;
        lw_status status = lw_results_table_open(b->paths[k], &b->tables[k], b->error);
        if (status != LW_OK) return status;
        b->table_count++;
    }
    b->table = b->tables[0];
    b->plot.tables = b->tables;
    b->plot.table_count = count;
    return LW_OK;
}

static lw_status read_others(builder *b) {
    lw_status status = LW_OK;
    for (size_t k = 1; k < b->table_count && status == LW_OK; k++)
        status = lw_results_table_read(b->tables[k], b->error);
    return status;
}

lw_status lw_plot_results(const char *results_path, const char *svg_path, const char *const *columns,
                          size_t count, lw_error *error) {
    return lw_plot_with(results_path, svg_path, &(lw_plot_options){.columns = columns, .count = count},
                        error);
}

lw_status lw_plot_with(const char *results_path, const char *path, const lw_plot_options *options,
                       lw_error *error) {
    if (!results_path || !path || !options || (options->count > 0 && !options->columns) ||
        (options->more_count > 0 && !options->more))
        return lw_call_needs("a results file, a path for the figure, and names of columns", error);
    builder b = {.error = error, .options = options};
    b.arena = lw_arena_create(NULL);
    lw_status status = b.arena ? open_files(&b, results_path) : out_of_memory(&b);
    if (status == LW_OK) status = name_files(&b);
    if (status == LW_OK) status = choose(&b, options->columns, options->count);
    if (status == LW_OK) status = choose_x(&b);
    if (status == LW_OK) want_columns(&b);
    if (status == LW_OK) status = lw_results_table_read(b.table, error);
    if (status == LW_OK) status = thin_all(&b);
    if (status == LW_OK) status = add_files(&b);
    if (status == LW_OK) want_columns(&b);
    if (status == LW_OK) status = read_others(&b);
    if (status == LW_OK) status = name_plot(&b);
    if (status == LW_OK) override(&b);
    if (status == LW_OK) tell_of_thinning(&b);
    if (status == LW_OK) status = write_plot(&b, path);
    for (size_t k = 0; k < b.table_count; k++) lw_results_table_close(b.tables[k]);
    lw_arena_destroy(b.arena);
    return status;
}
