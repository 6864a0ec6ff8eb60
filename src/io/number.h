/* number.h - numbers as text, with a decimal point whatever the locale.
 */
#ifndef LW_NUMBER_H
#define LW_NUMBER_H

#include <stdbool.h>

enum { LW_NUMBER_SIZE = 32 };

/* The shortest of 15, 16, 17 digits that reads back equal; returns the length. */
int lw_number_print(double value, char text[LW_NUMBER_SIZE]);

/* With decimals digits after the point (at most 15; |value| < 1e15). */
int lw_number_print_fixed(double value, int decimals, char text[LW_NUMBER_SIZE]);

/* True if text is one number, blanks around it allowed. */
bool lw_number_read(const char *text, double *value);

#endif
