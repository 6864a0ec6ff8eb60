/* plot.c - chooses the contents of a plot of a results file, and calls the drawing.
 *
 * By default a plot shows the joint coordinates that are angles, those that are displacements, then the
 * energies and the residual of the energy ledger. Quaternions appear only if a model has no other
 * coordinates. For a file without any of these its first columns are shown, with a panel for each unit.
 * "total" is an additional column of every file with the columns kinetic and potential.
 */
#include "io/plot/plot.h"
#include "io/results/record.h"

#include <linkwork/io.h>

#include <errno.h>
#include <string.h>

enum { MOST_CURVES = 8, MOST_DEFAULT_PANELS = 4 };

/* The plot under construction. */
typedef struct {
    lw_arena *arena;
    lw_results_table *table;
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

static void add_curve(builder *b, lw_panel *panel, const char *label, int column, int added) {
    panel->curves[panel->curve_count++] = (lw_curve){label, column, added};
    b->table->columns[column].wanted = true;
    if (added >= 0) b->table->columns[added].wanted = true;
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

static bool is_joint_coordinate(const lw_column *column, const char *unit) {
    return strcmp(column->unit, unit) == 0 && strncmp(column->name, "body.", 5) != 0 &&
           strncmp(column->name, "point(", 6) != 0;
}

/* Adds a panel of the joint coordinates with this unit, if there are any. */
static bool add_coordinates(builder *b, const char *quantity, const char *unit) {
    lw_panel *panel = NULL;
    for (size_t k = 1; k < b->table->column_count; k++) {
        const lw_column *column = &b->table->columns[k];
        if (!is_joint_coordinate(column, unit)) continue;
        if (!panel && !(panel = add_panel(b, quantity, unit, MOST_CURVES))) return false;
        if (panel->curve_count < MOST_CURVES) {
            add_curve(b, panel, column->name, (int)k, -1);
        } else {
            panel->hidden++;
        }
    }
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
            panel = add_panel(b, quantity_of(column->unit), column->unit, MOST_CURVES);
            if (!panel) return false;
        }
        if (panel->curve_count < MOST_CURVES) {
            add_curve(b, panel, column->name, (int)k, -1);
        } else {
            panel->hidden++;
        }
    }
    return true;
}

static lw_status choose_default(builder *b) {
    b->plot.panels = LW_NEW(b->arena, lw_panel, MOST_DEFAULT_PANELS);
    if (!b->plot.panels) return out_of_memory(b);
    if (!add_coordinates(b, "angle", "rad") || !add_coordinates(b, "displacement", "m"))
        return out_of_memory(b);
    if (b->plot.panel_count == 0 && !add_coordinates(b, "quaternion", "1")) return out_of_memory(b);
    if (!add_energies(b)) return out_of_memory(b);
    if (b->plot.panel_count == 0 && !add_anything(b)) return out_of_memory(b);
    return LW_OK;
}

/* --- requested contents --------------------------------------------------------------------------- */

/* Finds a curve by name; returns false if the file has none with this name. */
static bool find_curve(const lw_results_table *table, const char *name, lw_curve *curve) {
    *curve = (lw_curve){NULL, lw_results_table_column(table, name), -1};
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

static lw_status no_such_column(builder *b, const char *name) {
    const lw_results_table *table = b->table;
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
        return LW_OK;
    }
    for (size_t k = 1; k < b->table->column_count && strchr(name, '*'); k++) {
        const char *other = b->table->columns[k].name;
        if (lw_pattern_matches(name, other)) add_curve(b, panel, other, (int)k, -1);
    }
    return panel->curve_count > before ? LW_OK : no_such_column(b, name);
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
    b->table->columns[0].wanted = true;
    if (count == 0) return choose_default(b);
    b->plot.panels = LW_NEW(b->arena, lw_panel, count);
    if (!b->plot.panels) return out_of_memory(b);
    for (size_t k = 0; k < count; k++) {
        lw_status status = choose_panel(b, columns[k]);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

/* --- the whole ------------------------------------------------------------------------------------ */

static lw_status name_plot(builder *b, const char *results_path) {
    const lw_results_table *table = b->table;
    const char *slash = strrchr(results_path, '/'), *file = slash ? slash + 1 : results_path;
    size_t size = strlen(table->method) + strlen(table->integrator) + strlen(file) + 16;
    char *subtitle = LW_NEW(b->arena, char, size);
    if (!subtitle) return out_of_memory(b);
    const char *parts[] = {table->method, table->integrator, table->model[0] ? file : ""};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (!parts[k][0]) continue;
        if (subtitle[0]) strcat(subtitle, ", ");
        strcat(subtitle, parts[k]);
    }
    b->plot.title = table->model[0] ? table->model : file;
    b->plot.subtitle = subtitle;
    return LW_OK;
}

/* Replaces defaults by the caller's options. */
static void override(builder *b, const lw_plot_options *options) {
    if (options->title) b->plot.title = options->title;
    if (options->subtitle) b->plot.subtitle = options->subtitle;
    for (size_t p = 0; options->quantity && p < b->plot.panel_count; p++)
        b->plot.panels[p].quantity = options->quantity;
    b->plot.log_x = options->log_x;
    b->plot.log_y = options->log_y;
}

static lw_status write_svg(builder *b, const char *path) {
    errno = 0;
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    int fault = 0;
    if (!file) {
        fault = errno;
    } else {
        lw_plot_draw(&b->plot, file);
        bool failed = fflush(file) != 0 || ferror(file);
        if (file != stdout && fclose(file) != 0) failed = true;
        if (failed) fault = errno ? errno : EIO;
    }
    if (fault == 0) return LW_OK;
    char object[112];
    snprintf(object, sizeof object, "plot \"%.90s\"", path);
    return lw_fail(b->error, LW_ERROR_FILE, object, "give a path in an existing folder where you may write",
                   "cannot be written: %s", strerror(fault));
}

lw_status lw_plot_results(const char *results_path, const char *svg_path, const char *const *columns,
                          size_t count, lw_error *error) {
    return lw_plot_with(results_path, svg_path, &(lw_plot_options){.columns = columns, .count = count},
                        error);
}

lw_status lw_plot_with(const char *results_path, const char *svg_path, const lw_plot_options *options,
                       lw_error *error) {
    if (!results_path || !svg_path || !options || (options->count > 0 && !options->columns))
        return lw_call_needs("a results file, a path for the figure, and names of columns", error);
    builder b = {.error = error};
    lw_status status = lw_results_table_open(results_path, &b.table, error);
    if (status != LW_OK) return status;
    b.arena = lw_arena_create(NULL);
    b.plot.table = b.table;
    if (!b.arena) status = out_of_memory(&b);
    if (status == LW_OK) status = choose(&b, options->columns, options->count);
    if (status == LW_OK) status = lw_results_table_read(b.table, error);
    if (status == LW_OK) status = name_plot(&b, results_path);
    if (status == LW_OK) override(&b, options);
    if (status == LW_OK) status = write_svg(&b, svg_path);
    lw_arena_destroy(b.arena);
    lw_results_table_close(b.table);
    return status;
}
