/* fuzz_table.c - any bytes as a file of a table: read its columns, make tables, evaluate them.
 *
 * What must hold, besides no crash, no leak, no undefined behaviour and no hang:
 *   - a file that is refused gets a message; points that are read ascend and are finite;
 *   - a table of these points goes through them, and its jet has the value, to the last bit;
 *   - values between the points of a smooth table lie between theirs.
 */
#define _GNU_SOURCE
#include "demand.h"
#include "expression/table.h"
#include "io/table_file.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const lw_table_file *points) {
    static const double far[] = {0, -1e9, 1e9, 1e300, -1e300, INFINITY, NAN};
    lw_arena *arena = lw_arena_create(NULL);
    for (int how = 0; how < LW_INTERPOLATIONS; how++)
        for (int beyond = 0; beyond < LW_BEYONDS; beyond++) {
            const lw_table *table = lw_table_create(arena, points->x, points->y, points->count,
                                                    (lw_interpolation)how, (lw_beyond)beyond);
            if (!table) continue; /* Its slopes overflow. */
            for (size_t k = 0; k < points->count; k++) {
                const double x = points->x[k], y = points->y[k];
                if (k + 1 < points->count) DEMAND(lw_table_value(table, x) == y);
                if (k + 1 == points->count) continue;
                const double h = points->x[k + 1] - x, at = x + 0.4 * h, value = lw_table_value(table, at);
                const double low = fmin(y, points->y[k + 1]), high = fmax(y, points->y[k + 1]);
                const double slack = 1e-9 * (fabs(low) + fabs(high)) + 1e-300;
                /* Rounding of x matters where it is of the size of the interval. */
                if (h > 1e-6 * (fabs(x) + fabs(points->x[0])) && at < points->x[k + 1])
                    DEMAND(value >= low - slack - 1e-6 * (high - low) &&
                           value <= high + slack + 1e-6 * (high - low));
                DEMAND(lw_table_jet(table, (lw_jet){at, 1, 0}).f == value || isnan(value));
                (void)lw_table_is_knot(table, k, 0);
                (void)lw_table_is_knot(table, k, 2);
            }
            for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
                (void)lw_table_value(table, far[k]);
                (void)lw_table_integral(table, far[k], 1);
                const double stretch = lw_table_stretch(table, far[k]);
                (void)lw_table_room(table, stretch, far[k]);
                (void)lw_table_stretch_jet(table, stretch, (lw_jet){far[k], 1, 0});
            }
        }
    lw_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const columns[][2] = {{"t", "y"}, {NULL, "y"}, {"t [s]", "x.q [mm]"}, {"", ""}};
    char path[64];
    const int file = memfd_create("table", 0);
    DEMAND(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        lw_table_file points;
        lw_error error = {0};
        if (lw_table_file_read(path, columns[k][0], columns[k][1], &points, &error) != LW_OK) {
            DEMAND(error.message[0]);
            continue;
        }
        DEMAND(points.count >= 2);
        for (size_t i = 0; i < points.count; i++)
            DEMAND(isfinite(points.x[i]) && isfinite(points.y[i]) &&
                   (i == 0 || points.x[i] > points.x[i - 1]));
        evaluate(&points);
        lw_table_file_free(&points);
    }
    close(file);
    return 0;
}
