/* view_picture.h - a picture of a page through a browser that is installed. */
#ifndef CLI_VIEW_PICTURE_H
#define CLI_VIEW_PICTURE_H

#include "cli.h"

/* Are time and size, which may be NULL, what --png and --size take? */
int view_picture_check(const cli_command *command, const char *time, const char *size);
/* Draws the scene of the page at a time into FILE.png beside FILE.html. */
int view_picture(const cli_command *command, const char *page, const char *time, const char *size,
                 bool quiet);

#endif
