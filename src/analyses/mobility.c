/* mobility.c - the mobility of a mechanism, and its redundant rows by name.
 *
 *   mobility = speeds that are not prescribed - rank of the rows of closures and constraints
 *
 * Which rows are redundant is found by constraints/redundancy.c or, for a large mechanism, sparse_rank.c; the
 * sentence that names a row is that of lw_row_describe (model/rows.c).
 *
 * Source   docs/theory/redundancy.md.
 * Cost     O(rows^2 speeds), dense; about linear where sparse; allocates.
 */
#include "constraints/rank/redundancy.h"
#include "constraints/rank/sparse_rank.h"
#include <linkwork/assemble.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lw_mobility {
    int speeds, rows, rank;
    int *joint;
    char (*sentence)[160];
};

/* Which rows beyond the tree are independent: by orthogonal factors or, for a large mechanism, by sparse
 * elimination. */
static lw_status find_rank(const lw_newton_euler *s, bool *kept, lw_mobility *mobility, lw_error *error) {
    double entries = (double)mobility->rows * s->model->nv;
    if (entries > LW_DENSE_ENTRIES)
        return lw_sparse_rank_at(s, kept, &mobility->rank, &mobility->speeds, error);
    lw_redundancy *redundancy = NULL;
    lw_status status = lw_redundancy_create(s, &redundancy, error);
    if (status != LW_OK) return status;
    mobility->speeds = redundancy->speeds;
    mobility->rank = redundancy->rank;
    memcpy(kept, redundancy->kept, (size_t)mobility->rows * sizeof *kept);
    lw_redundancy_destroy(redundancy);
    return LW_OK;
}

lw_status lw_mobility_create(const lw_model *model, double t, const double *q, lw_mobility **out,
                             lw_error *error) {
    if (out) *out = NULL;
    if (!model || !out || !lw_given(q, model->nq) || !isfinite(t) || !lw_finite(q, model->nq))
        return lw_call_needs("a model, a time, q and a place for the result", error);
    lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
    lw_mobility *mobility = calloc(1, sizeof *mobility);
    bool *kept = s ? calloc((size_t)s->rows->count + 1, sizeof *kept) : NULL;
    lw_status status = s && mobility && kept ? LW_OK : lw_out_of_memory(error);
    if (status == LW_OK) {
        mobility->rows = s->rows->count - s->rows->tree_count;
        lw_newton_euler_rows_at(s, t, q, NULL);
        status = find_rank(s, kept, mobility, error);
    }
    if (status == LW_OK) {
        size_t count = (size_t)(mobility->rows - mobility->rank) + 1;
        mobility->joint = calloc(count, sizeof *mobility->joint);
        mobility->sentence = calloc(count, sizeof *mobility->sentence);
        if (!mobility->joint || !mobility->sentence) status = lw_out_of_memory(error);
        for (int r = 0, at = 0; status == LW_OK && r < mobility->rows; r++) {
            if (kept[r]) continue;
            const lw_row *row = &s->rows->rows[s->rows->tree_count + r];
            mobility->joint[at] = row->joint;
            lw_row_describe(model, row, mobility->sentence[at++], sizeof *mobility->sentence);
        }
    }
    free(kept);
    lw_newton_euler_destroy(s);
    if (status == LW_OK)
        *out = mobility;
    else
        lw_mobility_destroy(mobility);
    return status;
}

void lw_mobility_destroy(lw_mobility *mobility) {
    if (!mobility) return;
    free(mobility->joint), free(mobility->sentence), free(mobility);
}

int lw_mobility_freedom(const lw_mobility *m) { return m ? m->speeds - m->rank : 0; }
int lw_mobility_speeds(const lw_mobility *m) { return m ? m->speeds : 0; }
int lw_mobility_rows(const lw_mobility *m) { return m ? m->rows : 0; }
int lw_mobility_rank(const lw_mobility *m) { return m ? m->rank : 0; }
static bool is_redundant(const lw_mobility *m, int index) {
    return m && index >= 0 && index < m->rows - m->rank;
}
int lw_mobility_redundant_joint(const lw_mobility *m, int index) {
    return is_redundant(m, index) ? m->joint[index] : -1;
}
const char *lw_mobility_redundant(const lw_mobility *m, int index) {
    return is_redundant(m, index) ? m->sentence[index] : NULL;
}
