/* sweep_page.h - linkwork sweep --page: pictures of the runs, and the motions of some of them. */
#ifndef CLI_SWEEP_PAGE_H
#define CLI_SWEEP_PAGE_H

#include "cli.h"
#include "sweep_summary.h"

typedef struct sweep_page {
    const char *path; /* FILE.html */
    const sweep_rows *rows;
    size_t motions; /* how many runs have one at most */
} sweep_page;

/* Can a page stand at this path, and nothing be in its way? Returns CLI_WRONG with a message if not. */
int sweep_page_check(const cli_command *command, const char *path);
int sweep_page_write(const cli_command *command, const sweep_page *page);

#endif
