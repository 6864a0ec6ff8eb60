/* compile_tables.c - tables of a spec as functions that its expressions may call, and the demands of motions
 * on them.
 *
 * A prescribed motion needs a speed and an acceleration at every instant. A table in it must therefore have a
 * continuous slope between its ends; a slope that jumps where the table ends is a warning, as the motion may
 * never come there, and none if the run that the model suggests does not: one that goes on longer tells of
 * the impact when it comes there (simulation.c). Cost O(points).
 */
#include "model/compile/compile.h"

#include "expression/expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_word(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const size_t length = strspn(name, letters);
    if (length == 0 || (*name >= '0' && *name <= '9')) return false;
    return name[length] == '\0' || (name[length] == '.' && is_word(name + length + 1)); /* of a part */
}

/* Who has the name of table k already; NULL if nobody. */
static const char *owner_of_name(const lw_spec *spec, size_t k) {
    const char *name = spec->tables[k].name, *taken = lw_name_taken(name);
    for (size_t j = 0; j < spec->parameter_count && !taken; j++)
        if (strcmp(spec->parameters[j].name, name) == 0) taken = "a parameter";
    for (size_t j = 0; j < spec->input_count && !taken; j++)
        if (strcmp(spec->inputs[j].name, name) == 0) taken = "an input";
    for (size_t j = 0; j < spec->state_count && !taken; j++)
        if (strcmp(spec->states[j].name, name) == 0) taken = "a state";
    for (size_t j = 0; j < spec->signal_count && !taken; j++)
        if (strcmp(spec->signals[j].name, name) == 0) taken = "a signal";
    for (size_t j = 0; j < k && !taken; j++)
        if (strcmp(spec->tables[j].name, name) == 0) taken = "another table";
    return taken;
}

static void check_name(lw_compiler *compiler, size_t k) {
    const lw_table_spec *table = &compiler->spec->tables[k];
    const char *taken = owner_of_name(compiler->spec, k);
    if (!is_word(table->name))
        lw_compile_error(compiler, "table", table->name, table->place,
                         "use letters, digits and _, e.g. road_profile",
                         "its name cannot stand in expressions");
    else if (taken)
        lw_compile_error(compiler, "table", table->name, table->place, "choose another name",
                         "its name is taken by %s", taken);
}

static void compile_table(lw_compiler *compiler, const lw_table_spec *spec, lw_named_table *named) {
    lw_model *model = compiler->model;
    size_t row = 0, size = spec->size > 0 && spec->x && spec->y ? (size_t)spec->size : 0;
    lw_syntax syntax = {0};
    *named = (lw_named_table){.name = spec->name};
    if ((unsigned)spec->interpolation >= LW_INTERPOLATIONS || (unsigned)spec->beyond >= LW_BEYONDS) {
        lw_compile_error(compiler, "table", spec->name, spec->place,
                         "give one of lw_interpolation and lw_beyond",
                         "its interpolation %d or what is beyond its ends, %d, is not known",
                         (int)spec->interpolation, (int)spec->beyond);
    } else if (!lw_table_check(spec->x, spec->y, size, &row, &syntax)) {
        lw_compile_error(compiler, "table", spec->name, spec->place, syntax.remedy, "point %zu: %s", row + 1,
                         syntax.message);
    } else {
        named->table =
            lw_table_create(model->arena, spec->x, spec->y, size, spec->interpolation, spec->beyond);
        if (!named->table && !lw_arena_failed(model->arena))
            lw_compile_error(compiler, "table", spec->name, spec->place,
                             "check the units, and points that are too close to each other",
                             "its slopes are too large for numbers");
    }
    if (named->table) return;
    /* So that calls of it are no further faults. */
    static const double x[] = {0, 1}, y[] = {0, 1};
    named->table = lw_table_create(model->arena, x, y, 2, LW_INTERPOLATION_SMOOTH, LW_BEYOND_LINEAR);
}

lw_status lw_compile_tables(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    compiler->tables = LW_NEW(compiler->scratch, lw_named_table, spec->table_count + 1);
    if (!compiler->tables) return LW_ERROR_MEMORY;
    for (size_t k = 0; k < spec->table_count; k++) {
        check_name(compiler, k);
        compile_table(compiler, &spec->tables[k], &compiler->tables[k]);
        if (lw_arena_failed(compiler->model->arena)) return LW_ERROR_MEMORY;
    }
    return LW_OK;
}

static const char *name_of(const lw_compiler *compiler, const lw_table *table) {
    for (size_t k = 0; k < compiler->spec->table_count; k++)
        if (compiler->tables[k].table == table) return compiler->tables[k].name;
    return "";
}

void lw_compile_run_range(const lw_compiler *compiler, double range[2]) {
    const double end = compiler->spec->run.end;
    range[0] = end > 0 ? 0 : -HUGE_VAL;
    range[1] = end > 0 ? end : HUGE_VAL;
}

bool lw_compile_motion_tables(lw_compiler *compiler, const lw_joint_spec *joint,
                              const lw_function *function) {
    double range[2];
    lw_compile_run_range(compiler, range);
    const lw_table *rough = lw_function_rough_table(function, NULL);
    if (rough) {
        const bool jumps = lw_table_smoothness_within(rough) == LW_TABLE_JUMPS;
        lw_compile_error(
            compiler, "joint", joint->name, joint->place,
            "give the table interpolation: smooth, or drive the joint by a force that pulls it to the "
            "table, e.g. k*(table(t) - q) - c*v",
            "its motion needs a speed and an acceleration, but %s of table \"%.60s\" jumps at %.6g",
            jumps ? "the value" : "the slope", name_of(compiler, rough), lw_table_first_kink(rough));
        return true;
    }
    rough = lw_function_rough_table(function, range);
    if (rough) {
        const double first = lw_table_point(rough, 0), kink = lw_table_first_kink(rough);
        const bool from_there = kink == first && range[0] >= first && lw_table_period(rough) == 0;
        const bool repeats = lw_table_period(rough) > 0;
        const char *does = repeats ? "begins again" : kink == first && !from_there ? "begins" : "ends";
        lw_compile_warning(
            compiler, "joint", joint->name, joint->place,
            repeats ? "end the run there, or let the table end as it begins, with value and slope"
                    : "end the run there, let the table end level, or give it beyond: linear",
            "its motion has an impact, which is not simulated, where table \"%.60s\" %s at %.6g",
            name_of(compiler, rough), does,
            from_there || repeats ? lw_table_point(rough, lw_table_count(rough) - 1) : kink);
    }
    return rough != NULL;
}
