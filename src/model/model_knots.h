/* model_knots.h - the interval around a time in which no force and no motion has a jump or kink that is known
 * in advance.
 */
#ifndef LW_MODEL_KNOTS_H
#define LW_MODEL_KNOTS_H

#include "model/compiled_model.h"

/* Forces and motions are smooth in time from `after` to `before`, as far as is known, and have a jump or kink
 * at `stop`, which lies beyond `before` by rounding errors. Times without bounds are infinite. */
typedef struct lw_time_span {
    double after, before, stop;
} lw_time_span;

/* The span that begins at t: a knot at t, or within rounding errors of it, lies behind it. Then `after` is
 * greater than t. */
lw_time_span lw_model_span(const lw_model *model, double t);

/* The time within the span that is nearest to t. */
static inline double lw_time_within(const lw_time_span *span, double t) {
    return t < span->after ? span->after : t > span->before ? span->before : t;
}

#endif
