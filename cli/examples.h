/* examples.h - the problems that the program carries, as files that a user may have.
 */
#ifndef LINKWORK_EXAMPLES_H
#define LINKWORK_EXAMPLES_H

#include "cli.h"
#include "problems.h"

/* The problem of this name. If there is none, the result is NULL, and standard error says so. */
const problem *example_find(const cli_command *command, const char *name);
/* What the model says about itself under name and description; shortened where there is no room. */
void example_name(const problem *example, char *text, size_t size);
void example_description(const problem *example, char *text, size_t size);
/* Writes the model into the folder as NAME.yaml, its path into *path*, and the files that it uses beside it,
 * under their own names. Without *over* nothing is written if one of them is there already. Returns the exit
 * status. */
int example_write(const cli_command *command, const problem *example, const char *folder, bool over,
                  char *path, size_t size);
/* Makes a folder if there is none. Returns the exit status. */
int example_folder(const cli_command *command, const char *folder);

#endif
