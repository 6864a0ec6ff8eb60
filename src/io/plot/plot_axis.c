/* plot_axis.c - axes with ticks at round numbers.
 */
#include "io/plot/plot.h"
#include "io/number.h"

#include <math.h>
#include <string.h>

#define LARGEST 1e300

static double nice_step(double step) {
    double power = pow(10, floor(log10(step))), factor = step / power;
    /* The bounds are geometric means of neighbours. */
    return power * (factor < 1.42 ? 1 : factor < 3.17 ? 2 : factor < 7.08 ? 5 : 10);
}

lw_axis lw_axis_for(double lo, double hi, int ticks, double margin) {
    if (!(lo <= hi)) lo = 0, hi = 1;
    double size = fmax(fabs(lo), fabs(hi));
    if (size < 1 / LARGEST) lo = -1, hi = 1, size = 1;
    /* A range below the rounding of its values is not shown. */
    if (hi - lo < 1e-12 * size) {
        double middle = 0.5 * (lo + hi);
        lo = middle - 0.1 * size, hi = middle + 0.1 * size;
    }
    double extra = margin * (hi - lo);
    lw_axis axis = {.lo = lo - extra, .hi = hi + extra};
    axis.step = nice_step((axis.hi - axis.lo) / ticks);

    int magnitude = (int)floor(log10(fmax(fabs(axis.lo), fabs(axis.hi))));
    if (magnitude >= 5 || magnitude < -2) axis.exponent = 3 * (int)floor(magnitude / 3.0);
    int decimals = axis.exponent - (int)floor(log10(axis.step) + 1e-9);
    axis.decimals = decimals < 0 ? 0 : decimals > 15 ? 15 : decimals;
    return axis;
}

lw_axis lw_axis_of_decades(double lo, double hi, int ticks, double margin) {
    if (!(lo <= hi)) lo = 0, hi = 1;
    double extra = margin * (hi - lo);
    lw_axis axis = {.lo = lo - extra, .hi = hi + extra, .log = true};
    if (floor(axis.hi) - ceil(axis.lo) < 1) { /* An axis has at least two ticks. */
        axis.lo = floor(axis.lo);
        axis.hi = fmax(ceil(axis.hi), axis.lo + 1);
    }
    axis.step = fmax(1, ceil((axis.hi - axis.lo) / (ticks + 1)));
    return axis;
}

double lw_tick_first(const lw_axis *axis) { return ceil(axis->lo / axis->step - 1e-9); }
double lw_tick_last(const lw_axis *axis) { return floor(axis->hi / axis->step + 1e-9); }

void lw_tick_text(const lw_axis *axis, double k, char text[LW_TICK_SIZE]) {
    static const char minus[] = "\xE2\x88\x92"; /* the typographic one */
    double value = k * axis->step / pow(10, axis->exponent);
    char number[LW_NUMBER_SIZE];
    if (k == 0) value = 0; /* avoids -0 */
    if (axis->log)
        snprintf(text, LW_TICK_SIZE, "10" LW_RAISE "%s%.0f" LW_LOWER, value < 0 ? minus : "", fabs(value));
    else {
        (void)lw_number_print_fixed(fabs(value), axis->decimals, number);
        snprintf(text, LW_TICK_SIZE, "%s%s", value < 0 ? minus : "", number);
    }
}
