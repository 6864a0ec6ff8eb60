/* sweep_summary.c - quantiles, extremes and correlations of what a sweep has measured.
 *
 * Of n values x_k: mean and standard deviation (n - 1); the mean's interval of 95 % is mean +- 1.96 sd /
 * sqrt(n), right for drawn runs if n is some tens or more. Quantile p lies at p (n - 1) between the sorted
 * values; its interval of 95 %, whatever the distribution, is between the sorted values of ranks n p +- 1.96
 * sqrt(n p (1 - p)), and open where these are beyond the first or the last. Sobol' indices: sobol_indices.c.
 * Correlation: Pearson's of measure and variable, over the rows that have both.
 */
#include "sweep_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sweep_rows_add(sweep_rows *rows, const lw_sweep_row *row) {
    if (row->status == LW_SWEEP_FAILED || rows->no_memory) return;
    if (rows->count == rows->room) {
        const size_t room = 2 * rows->room + 1024;
        double *values = realloc(rows->values, room * (size_t)rows->columns * sizeof *values + 1);
        if (values) rows->values = values;
        uint64_t *runs = values ? realloc(rows->runs, room * sizeof *runs) : NULL;
        if (runs) rows->runs = runs;
        if (!runs) {
            rows->no_memory = true;
            return;
        }
        rows->room = room;
    }
    memcpy(rows->values + rows->count * (size_t)rows->columns, row->values,
           (size_t)rows->columns * sizeof *row->values);
    rows->runs[rows->count++] = row->run;
}

typedef struct place {
    uint64_t run;
    size_t row;
} place;

static int compare_places(const void *a, const void *b) {
    const uint64_t x = ((const place *)a)->run, y = ((const place *)b)->run;
    return (x > y) - (x < y);
}

bool sweep_rows_sort(sweep_rows *rows) {
    const size_t columns = (size_t)rows->columns;
    place *places = malloc((rows->count + 1) * sizeof *places);
    double *values = malloc((rows->count * columns + 1) * sizeof *values);
    for (size_t k = 0; places && k < rows->count; k++) places[k] = (place){rows->runs[k], k};
    if (places && values) {
        qsort(places, rows->count, sizeof *places, compare_places);
        for (size_t k = 0; k < rows->count; k++) {
            memcpy(values + k * columns, rows->values + places[k].row * columns, columns * sizeof *values);
            rows->runs[k] = places[k].run;
        }
        free(rows->values);
        rows->values = values, rows->room = rows->count;
        values = NULL;
        free(places);
        return true;
    }
    free(places);
    free(values);
    return false;
}

void sweep_rows_free(sweep_rows *rows) {
    free(rows->values);
    free(rows->runs);
    *rows = (sweep_rows){0};
}

enum { WORST = 5 };

typedef struct figures {
    size_t count;
    double mean, deviation, least, greatest, low, median, high;
    uint64_t least_run, greatest_run;
    double around[3][2];                    /* intervals of the three quantiles; NAN: open */
    uint64_t lowest[WORST], highest[WORST]; /* runs, the extreme one first */
    size_t worst;                           /* how many of them */
} figures;

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double p) {
    const double at = p * (double)(count - 1);
    const size_t k = (size_t)at;
    return k + 1 < count ? sorted[k] + (at - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[count - 1];
}

/* The interval of confidence of a quantile. */
static void interval(const double *sorted, size_t count, double p, double around[2]) {
    const double n = (double)count, half = 1.96 * sqrt(n * p * (1 - p));
    const double low = floor(n * p - half), high = ceil(n * p + half); /* ranks from 1 */
    around[0] = low >= 1 ? sorted[(size_t)low - 1] : NAN;
    around[1] = high + 1 <= n ? sorted[(size_t)high] : NAN;
}

static double value(const sweep_rows *rows, size_t row, int column) {
    return rows->values[row * (size_t)rows->columns + (size_t)column];
}

/* The runs with the lowest (sign 1) or highest (-1) values, by their numbers where these are equal. */
static size_t find_worst(const sweep_rows *rows, int column, double sign, uint64_t runs[WORST]) {
    double found[WORST];
    size_t count = 0;
    for (size_t k = 0; k < rows->count; k++) {
        const double x = sign * value(rows, k, column);
        size_t i = count < WORST ? count : WORST;
        if (!isfinite(x)) continue;
        for (; i > 0 && (x < found[i - 1] || (x == found[i - 1] && rows->runs[k] < runs[i - 1])); i--)
            if (i < WORST) found[i] = found[i - 1], runs[i] = runs[i - 1];
        if (i < WORST) found[i] = x, runs[i] = rows->runs[k];
        if (count < WORST) count++;
    }
    return count;
}

/* false: there is no memory, or no value. */
static bool find_figures(const sweep_rows *rows, int column, figures *f) {
    double *sorted = calloc(rows->count + 1, sizeof *sorted), sum = 0, squares = 0;
    *f = (figures){.least = INFINITY, .greatest = -INFINITY};
    if (!sorted) return false;
    for (size_t k = 0; k < rows->count; k++) {
        const double x = value(rows, k, column);
        if (!isfinite(x)) continue;
        sorted[f->count++] = x;
        const bool first = x == f->least && rows->runs[k] < f->least_run;
        if (x < f->least || first) f->least = x, f->least_run = rows->runs[k];
        if (x > f->greatest || (x == f->greatest && rows->runs[k] < f->greatest_run))
            f->greatest = x, f->greatest_run = rows->runs[k];
    }
    if (f->count > 0) {
        qsort(sorted, f->count, sizeof *sorted, compare); /* Sums in this order do not depend on threads. */
        for (size_t k = 0; k < f->count; k++) sum += sorted[k];
        f->mean = sum / (double)f->count;
        for (size_t k = 0; k < f->count; k++) squares += (sorted[k] - f->mean) * (sorted[k] - f->mean);
        f->deviation = f->count > 1 ? sqrt(squares / (double)(f->count - 1)) : 0;
        f->low = quantile(sorted, f->count, 0.05);
        f->median = quantile(sorted, f->count, 0.5);
        f->high = quantile(sorted, f->count, 0.95);
        for (int k = 0; k < 3; k++)
            interval(sorted, f->count, k == 0 ? 0.05 : k == 1 ? 0.5 : 0.95, f->around[k]);
        f->worst = find_worst(rows, column, 1, f->lowest);
        (void)find_worst(rows, column, -1, f->highest);
    }
    free(sorted);
    return f->count > 0;
}

static double correlation(const sweep_rows *rows, int a, int b) {
    double n = 0, ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (size_t k = 0; k < rows->count; k++) {
        const double x = value(rows, k, a), y = value(rows, k, b);
        if (!isfinite(x) || !isfinite(y)) continue;
        n++, ma += x, mb += y;
    }
    if (n < 3) return NAN;
    ma /= n, mb /= n;
    for (size_t k = 0; k < rows->count; k++) {
        const double x = value(rows, k, a) - ma, y = value(rows, k, b) - mb;
        if (!isfinite(x) || !isfinite(y)) continue;
        aa += x * x, bb += y * y, ab += x * y;
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}

static bool varies_by_number(const lw_sweep *sweep, int variable) {
    return !lw_sweep_text(sweep, variable, 0);
}

/* Is there a Sobol' index? Not of other designs, and not of too few rows. */
static bool find_index(const sweep_rows *rows, int variable, int column, lw_sobol_index *index) {
    return lw_sweep_sobol_index(rows->sweep, variable, rows->runs, rows->values + column,
                                (size_t)rows->columns, rows->count, index, NULL) == LW_OK;
}

static void print_quantile(FILE *out, const char *name, double x, const double around[2], bool sample) {
    fprintf(out, "  %-8s %14.8g", name, x);
    if (sample && !isnan(around[0]) && !isnan(around[1]))
        fprintf(out, "   %.5g .. %.5g (95 %%)", around[0], around[1]);
    fprintf(out, "\n");
}

static void print_worst(FILE *out, const char *name, double x, const uint64_t runs[WORST], size_t count) {
    fprintf(out, "  %-8s %14.8g   run %llu", name, x, (unsigned long long)runs[0]);
    for (size_t k = 1; k < count; k++)
        fprintf(out, "%s %llu", k == 1 ? ", then" : ",", (unsigned long long)runs[k]);
    fprintf(out, "\n");
}

void sweep_summary_print(FILE *out, const sweep_rows *rows) {
    const int variables = lw_sweep_variable_count(rows->sweep),
              measures = lw_sweep_measure_count(rows->sweep);
    for (int m = 0; m < measures; m++) {
        const int column = variables + m;
        char name[4 * 256];
        const char *unit = lw_sweep_column_unit(rows->sweep, column);
        figures f;
        lw_escape(lw_sweep_column_name(rows->sweep, column), name, sizeof name);
        fprintf(out, "\n%s%s%s\n", name, unit[0] ? ", " : "", unit);
        if (!find_figures(rows, column, &f)) {
            fprintf(out, "  not measured in any run\n");
            continue;
        }
        const bool sample = lw_sweep_is_sample(rows->sweep);
        print_worst(out, "least", f.least, f.lowest, f.worst);
        print_quantile(out, "5 %", f.low, f.around[0], sample);
        print_quantile(out, "median", f.median, f.around[1], sample);
        print_quantile(out, "95 %", f.high, f.around[2], sample);
        print_worst(out, "greatest", f.greatest, f.highest, f.worst);
        if (sample && f.count > 1)
            fprintf(out, "  mean     %14.8g   +- %.3g (95 %%), standard deviation %.5g\n", f.mean,
                    1.96 * f.deviation / sqrt((double)f.count), f.deviation);
        else
            fprintf(out, "  mean     %14.8g\n", f.mean);
        if (f.count < rows->count) fprintf(out, "  known in %zu of %zu runs\n", f.count, rows->count);
        for (int k = 0; k < variables; k++) {
            const double r = correlation(rows, k, column);
            if (!varies_by_number(rows->sweep, k) || isnan(r)) continue;
            lw_escape(lw_sweep_column_name(rows->sweep, k), name, sizeof name);
            fprintf(out, "  correlation with %s: %.3f\n", name, r);
        }
        for (int k = 0; k < variables; k++) {
            lw_sobol_index index;
            if (!find_index(rows, k, column, &index)) continue;
            lw_escape(lw_sweep_column_name(rows->sweep, k), name, sizeof name);
            fprintf(out, "  Sobol' index of %s: %.3f +- %.2g by itself, %.3f +- %.2g in total (95 %%)\n",
                    name, index.first, index.first_confidence, index.total, index.total_confidence);
        }
    }
}

void sweep_summary_json(json *j, const sweep_rows *rows) {
    const int variables = lw_sweep_variable_count(rows->sweep),
              measures = lw_sweep_measure_count(rows->sweep);
    json_object(j, "measures");
    for (int m = 0; m < measures; m++) {
        const int column = variables + m;
        figures f;
        json_object(j, lw_sweep_column_name(rows->sweep, column));
        json_text(j, "unit", lw_sweep_column_unit(rows->sweep, column));
        const bool known = find_figures(rows, column, &f);
        json_integer(j, "known", (long)f.count);
        if (known) {
            json_number(j, "min", f.least);
            json_integer(j, "min_run", (long)f.least_run);
            json_number(j, "q05", f.low);
            json_number(j, "median", f.median);
            json_number(j, "q95", f.high);
            json_number(j, "max", f.greatest);
            json_integer(j, "max_run", (long)f.greatest_run);
            json_number(j, "mean", f.mean);
            json_number(j, "deviation", f.deviation);
            if (lw_sweep_is_sample(rows->sweep)) {
                static const char *const names[] = {"q05_confidence", "median_confidence", "q95_confidence"};
                json_number(j, "mean_confidence", 1.96 * f.deviation / sqrt((double)f.count));
                for (int k = 0; k < 3; k++) {
                    json_array(j, names[k]);
                    json_number(j, NULL, f.around[k][0]);
                    json_number(j, NULL, f.around[k][1]);
                    json_array_end(j);
                }
            }
            json_array(j, "lowest_runs");
            for (size_t k = 0; k < f.worst; k++) json_integer(j, NULL, (long)f.lowest[k]);
            json_array_end(j);
            json_array(j, "highest_runs");
            for (size_t k = 0; k < f.worst; k++) json_integer(j, NULL, (long)f.highest[k]);
            json_array_end(j);
            json_object(j, "sobol");
            for (int k = 0; k < variables; k++) {
                lw_sobol_index index;
                if (!find_index(rows, k, column, &index)) continue;
                json_object(j, lw_sweep_column_name(rows->sweep, k));
                json_number(j, "first", index.first);
                json_number(j, "first_confidence", index.first_confidence);
                json_number(j, "total", index.total);
                json_number(j, "total_confidence", index.total_confidence);
                json_object_end(j);
            }
            json_object_end(j);
            json_object(j, "correlation");
            for (int k = 0; k < variables; k++) {
                const double r = correlation(rows, k, column);
                if (varies_by_number(rows->sweep, k) && !isnan(r))
                    json_number(j, lw_sweep_column_name(rows->sweep, k), r);
            }
            json_object_end(j);
        }
        json_object_end(j);
    }
    json_object_end(j);
}
