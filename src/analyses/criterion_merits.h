/* criterion_merits.h - the inside of lw_merits, for other analyses.
 */
#ifndef LW_CRITERION_MERITS_H
#define LW_CRITERION_MERITS_H

#include <linkwork/criterion.h>

/* Gives the workspace back, which is large: what was evaluated can still be read, but nothing can be
 * evaluated any more. */
void lw_merits_settle(lw_merits *merits);

#endif
