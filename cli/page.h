/* page.h - what the program's pages share: look, texts, folds, motions in frames.
 *
 * Pages need no network and no script. They follow the reader's preference for light or dark. A motion is a
 * page of linkwork view beside the page, shown in a frame that loads when it is unfolded.
 */
#ifndef LINKWORK_PAGE_H
#define LINKWORK_PAGE_H

#include "cli.h"

#include <stdio.h>

/* Writes the head of a page up to the beginning of its body, and its end. */
void page_begin(FILE *file, const char *title);
void page_end(FILE *file);
/* A text of others, with what HTML would read otherwise. */
void page_text(FILE *file, const char *text);
/* A file in base 64; false if it cannot be read. */
bool page_file(FILE *to, const char *path);
/* A fold with this summary, open or not; page_fold_end closes it. */
void page_fold(FILE *file, bool open, const char *format, ...);
void page_fold_end(FILE *file);
/* A fold that shows the motion at this address, relative to the page. */
void page_motion(FILE *file, bool open, const char *name, const char *address);

/* Runs a model and writes its motion as a page. A run that ends early leaves what it has reached. */
lw_status page_write_motion(const lw_model *model, const lw_run_options *options, const char *path,
                            lw_error *error);

#endif
