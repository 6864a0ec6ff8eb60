/* sobol_indices.c - how much of a measure's variance each variable explains.
 *
 * With a_r, b_r the two points of draw r = 1 .. N, and c_r the point a_r with variable i from b_r
 *     first order   S = mean(f(b) (f(c) - f(a))) / V        (Saltelli and others 2010)
 *     total         T = mean((f(a) - f(c))^2) / 2 V         (Jansen 1999)
 * with V the variance of all f(a) and f(b); f is taken from their mean. The interval of confidence is 1.96
 * standard deviations of the jackknife: S and T without each draw in turn, from sums. Draws of a Sobol'
 * sequence are more even than random ones, so that it is wide rather than narrow.
 *
 * Cost     O(N), and N (n + 2) numbers of memory.
 */
#include "sweep/sweep_parts.h"

#include <math.h>
#include <stdlib.h>

bool lw_sweep_is_sample(const lw_sweep *sweep) {
    return sweep && sweep->design.axis_count == 0 && sweep->design.drawn_count > 0 && !sweep->design.search &&
           sweep->design.draw != LW_DRAW_SALTELLI;
}

typedef struct sums {
    double n, f, ff, first, total; /* f: of both points, so that there are 2 n */
} sums;

static void indices(const sums *s, double *first, double *total) {
    const double mean = s->f / (2 * s->n), variance = s->ff / (2 * s->n) - mean * mean;
    *first = s->first / s->n / variance, *total = s->total / s->n / (2 * variance);
}

static void estimate(const double *table, uint64_t draws, uint64_t each, uint64_t role,
                     lw_sobol_index *index) {
    double centre = 0, mean[2] = {0}, squares[2] = {0}, without[2];
    sums all = {0};
    for (uint64_t r = 0; r < draws; r++) centre += table[r * each] + table[r * each + 1];
    centre /= 2 * (double)draws;
    for (int pass = 0; pass < 3; pass++) /* Sums; mean of the indices without a draw; their deviations. */
        for (uint64_t r = 0; r < draws; r++) {
            const double a = table[r * each] - centre, b = table[r * each + 1] - centre,
                         c = table[r * each + role] - centre;
            if (pass == 0) {
                all.n++, all.f += a + b, all.ff += a * a + b * b;
                all.first += b * (c - a), all.total += (a - c) * (a - c);
                continue;
            }
            const sums rest = {all.n - 1, all.f - a - b, all.ff - a * a - b * b, all.first - b * (c - a),
                               all.total - (a - c) * (a - c)};
            indices(&rest, &without[0], &without[1]);
            for (int k = 0; k < 2; k++)
                if (pass == 1)
                    mean[k] += without[k] / all.n;
                else
                    squares[k] += (without[k] - mean[k]) * (without[k] - mean[k]);
        }
    indices(&all, &index->first, &index->total);
    index->first_confidence = 1.96 * sqrt((all.n - 1) / all.n * squares[0]);
    index->total_confidence = 1.96 * sqrt((all.n - 1) / all.n * squares[1]);
    index->draws = draws;
}

lw_status lw_sweep_sobol_index(const lw_sweep *sweep, int variable, const uint64_t *runs,
                               const double *values, size_t stride, size_t count, lw_sobol_index *index,
                               lw_error *error) {
    if (!sweep || (count > 0 && (!runs || !values)) || !index || sweep->design.draw != LW_DRAW_SALTELLI ||
        variable < 0 || variable >= sweep->design.variable_count)
        return lw_call_needs("a sweep with design saltelli, one of its variables, and rows", error);
    const uint64_t each = sweep->design.each, all = sweep->design.count;
    double *table = malloc((all + 1) * sizeof *table);
    if (!table) return lw_out_of_memory(error);
    for (uint64_t k = 0; k < all; k++) table[k] = NAN;
    for (size_t k = 0; k < count; k++)
        if (runs[k] < all) table[runs[k]] = values[k * stride];
    /* Draws of which a run is missing are left out, whatever the variable: all have the same draws. */
    uint64_t complete = 0;
    for (uint64_t r = 0; r < sweep->design.draws; r++) {
        bool whole = true;
        for (uint64_t k = 0; k < each; k++) whole &= isfinite(table[r * each + k]);
        for (uint64_t k = 0; k < each && whole; k++) table[complete * each + k] = table[r * each + k];
        complete += whole;
    }
    lw_status status = LW_OK;
    if (complete < 4)
        status = lw_fail(error, LW_ERROR_ARGUMENT, NULL, "take more draws (--runs)",
                         "%llu complete draws are too few for Sobol' indices", (unsigned long long)complete);
    else
        estimate(table, complete, each, 2 + (uint64_t)sweep->design.variables[variable].drawn, index);
    free(table);
    return status;
}
