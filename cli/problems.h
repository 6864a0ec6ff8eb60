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

/* A file beside a model, which it uses by this name: a part, a table. */
typedef struct problem_file {
    const char *problem; /* name of the folder of both */
    const char *name;
    const char *text;
    size_t length;
} problem_file;

extern const problem problems[];
extern const int problem_count;
extern const problem_file problem_files[];
extern const int problem_file_count;

#endif
