/* record_words.h - the keywords of a record, and the kinds of quantities that each stands for.
 */
#ifndef LW_RECORD_WORDS_H
#define LW_RECORD_WORDS_H

#include "model/compiled_model.h"
#include "model/quantity/quantity.h"

typedef struct lw_record_word {
    const char *name;
    lw_object_kind object;
    lw_quantity_kind usual[6]; /* without components, and tried first with them */
    lw_quantity_kind more[4];  /* only by their components */
} lw_record_word;

/* Keyword k; NULL beyond the last one. */
const lw_record_word *lw_record_word_at(int k);
const lw_record_word *lw_record_word_find(const char *name, size_t length); /* NULL: there is none. */
/* The momentum of the whole mechanism, which the keyword means if it stands alone. */
extern const lw_record_word lw_record_total_momentum;
/* All columns that have names in every list, that is, all but those of points and distances: set k of them;
 * NULL beyond the last one. */
const lw_record_word *lw_record_everything_at(int k);
/* Is a component among the usual ones? Magnitudes and rates, and what repeats others, are not. */
bool lw_record_is_usual(const lw_model *model, lw_quantity_kind kind, int object, int component);

#endif
