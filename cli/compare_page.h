/* compare_page.h - a comparison of methods as a page, with the mechanism moving.
 */
#ifndef LINKWORK_COMPARE_PAGE_H
#define LINKWORK_COMPARE_PAGE_H

#include "compare_call.h"

/* Writes folder/index.html and folder/motion.html, making the folder. run: that of the comparison. Returns
 * the exit status. */
int compare_page(const compare_call *call, const char *folder, const lw_model *model,
                 const lw_run_options *run, const lw_comparison *results, int count);

#endif
