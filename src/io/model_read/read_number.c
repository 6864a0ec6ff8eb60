/* read_number.c - reads a number that is not in a model file but written as in one: an expression with units.
 */
#include "core/core.h"
#include "expression/function.h"
#include "expression/units.h"

#include <linkwork/io.h>

#include <stdio.h>

lw_status lw_read_number(const char *text, const char *unit, double *value, lw_error *error) {
    lw_syntax syntax;
    double number;
    if (!text || !value) return lw_call_needs("a text and a place for the number", error);
    if (lw_number(text, NULL, 0, &number, &syntax) && lw_units_fit(text, lw_quantity_of(unit), &syntax)) {
        *value = number;
        return LW_OK;
    }
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, syntax.remedy, "\"%.60s\", character %zu: %s", text,
                   syntax.offset + 1, syntax.message);
}
