/* problems.h - the models of problems/ and their reference files, and models written in a test, for the tests.
 */
#ifndef LW_TEST_PROBLEMS_H
#define LW_TEST_PROBLEMS_H

#include <linkwork/linkwork.h>

/* Each fails the test, and shows the report, if there is anything to report. */
lw_spec *read_problem_spec(const char *problem, const lw_setting *settings, size_t count);
lw_spec *read_text_spec(const char *text);
lw_model *read_problem(const char *problem);
/* With another value for one parameter (NULL: as it is). */
lw_model *read_problem_with(const char *problem, const char *parameter, const char *value);

enum { REFERENCE_ROWS = 2100, REFERENCE_COLUMNS = 32 };

typedef struct reference_table {
    int rows;
    double at[REFERENCE_ROWS][REFERENCE_COLUMNS];
} reference_table; /* large */

/* The numbers of a file of problems/ ("four_bar/reference.csv"), without the lines that begin with #. */
void read_reference(const char *file_name, reference_table *out);

#endif
