/* compile_coupling.c - the curves of coupled coordinates: polynomials and cams by tables.
 *
 * Rules    a polynomial has at most five coefficients, of which one behind the first is not zero; a table
 *          must have a continuous slope and pieces with a curvature, because the acceleration of a coupled
 *          joint depends on both (docs/theory/rows.md, section 3). A slope that jumps where the table ends is
 *          a warning, as the motion may never come there.
 */
#include "model/compile/compile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void refuse(lw_compiler *compiler, const lw_constraint_spec *spec, const char *remedy,
                   const char *message) {
    lw_compile_error(compiler, "constraint", spec->name, spec->place, remedy, "%s", message);
}

static const lw_table *find_table(lw_compiler *compiler, const lw_constraint_spec *spec, const char *name) {
    const lw_spec *all = compiler->spec;
    const char **names = LW_NEW(compiler->scratch, const char *, all->table_count + 1);
    char remedy[160];
    for (size_t k = 0; k < all->table_count; k++)
        if (strcmp(all->tables[k].name, name) == 0) return compiler->tables[k].table;
    if (!names) return NULL; /* lw_compile_constraints fails. */
    for (size_t k = 0; k < all->table_count; k++) names[k] = all->tables[k].name;
    if (!lw_did_you_mean(lw_closest(name, names, all->table_count), remedy, sizeof remedy))
        snprintf(remedy, sizeof remedy, "name a table of the section tables");
    lw_compile_error(compiler, "constraint", spec->name, spec->place, remedy, "unknown table \"%.60s\"",
                     name);
    return NULL;
}

static void judge_table(lw_compiler *compiler, const lw_constraint_spec *spec, const char *name,
                        const lw_table *table) {
    const lw_smoothness within = lw_table_smoothness_within(table);
    if (within != LW_TABLE_C1)
        lw_compile_error(
            compiler, "constraint", spec->name, spec->place, "give the table interpolation: smooth",
            "a coupling needs the slope and the curvature of its table, but %s of table "
            "\"%.60s\" jumps at %.6g",
            within == LW_TABLE_JUMPS ? "the value" : "the slope", name, lw_table_first_kink(table));
    else if (lw_table_smoothness(table) == LW_TABLE_JUMPS)
        lw_compile_error(compiler, "constraint", spec->name, spec->place,
                         "let its last value be the first, or give it beyond: linear or hold",
                         "table \"%.60s\" repeats, but its value jumps where it begins again, at %.6g", name,
                         lw_table_first_kink(table));
    else if (lw_table_smoothness(table) != LW_TABLE_C1)
        lw_compile_warning(compiler, "constraint", spec->name, spec->place,
                           "stay within the table, let it end level, or give it beyond: linear",
                           "it has an impact, which is not simulated, where table \"%.60s\" ends at %.6g",
                           name, lw_table_first_kink(table));
}

static void compile_polynomial(lw_compiler *compiler, const lw_constraint_spec *spec, int k,
                               lw_coupling_curve *curve) {
    bool varies = false;
    curve->size = spec->polynomial_size[k];
    if (curve->size < 0 || curve->size > LW_POLYNOMIAL_MAX) {
        lw_compile_error(compiler, "constraint", spec->name, spec->place,
                         "give 2 to 5, from that of x^0 to that of x^4",
                         "a polynomial of it has %d coefficients", spec->polynomial_size[k]);
        curve->size = 0;
        return;
    }
    for (int i = 0; i < curve->size; i++) {
        curve->polynomial[i] = spec->polynomial[k][i];
        varies |= i > 0 && curve->polynomial[i] != 0;
        if (!isfinite(curve->polynomial[i]))
            refuse(compiler, spec, "give finite numbers", "a coefficient of a polynomial is not finite");
    }
    if (curve->size > 0 && !varies)
        refuse(compiler, spec, "give a coefficient other than zero behind the first, or leave the term out",
               "a polynomial of it is constant, so its term holds no coordinate");
}

const lw_coupling_curve *lw_compile_curves(lw_compiler *compiler, const lw_constraint_spec *spec) {
    bool any = false;
    for (int k = 0; k < spec->terms; k++)
        any |= spec->polynomial_size[k] != 0 || spec->tables[k] || spec->about[k] != 0;
    if (!any) return NULL;
    lw_coupling_curve *curves = LW_NEW(compiler->model->arena, lw_coupling_curve, LW_COUPLING_MAX);
    for (int k = 0; k < spec->terms && curves; k++) {
        curves[k].about = spec->about[k];
        if (!isfinite(spec->about[k]))
            refuse(compiler, spec, "give a finite number", "about is not a finite number");
        if (spec->polynomial_size[k] != 0 && spec->tables[k])
            refuse(compiler, spec, "give one of both", "a term of it has a polynomial and a table");
        if (spec->polynomial_size[k] != 0) compile_polynomial(compiler, spec, k, &curves[k]);
        if (spec->tables[k]) curves[k].table = find_table(compiler, spec, spec->tables[k]);
        if (curves[k].table) judge_table(compiler, spec, spec->tables[k], curves[k].table);
    }
    return curves;
}
