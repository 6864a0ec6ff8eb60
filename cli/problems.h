/* problems.h - the model files of problems/ inside the program; the build makes the texts
 * (cmake/embed_problems.cmake).
 */
#ifndef LINKWORK_PROBLEMS_H
#define LINKWORK_PROBLEMS_H

#include <stddef.h>

typedef struct problem {
    const char *name; /* name of its folder */
    const char *text; /* text of model.yaml */
    size_t length;
} problem;

extern const problem problems[];
extern const int problem_count;

#endif
