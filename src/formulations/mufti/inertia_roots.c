/* inertia_roots.c - principal axes and moments of all bodies, by Jacobi's rotations. They are computed once,
 * since the axes rotate with the bodies.
 *
 * The moments about the centre of mass are differences of those about the body's origin and m c^2, with a
 * rounding error of 1e-16 of the latter; a moment below 1e-13 of the moments about the origin counts as zero.
 * The ratio concerns one body only, and depends neither on units nor on the masses of other bodies.
 *
 * Source   any text on the symmetric eigenvalue problem.
 * Cost     O(bodies); no allocation but in create.
 */
#include "formulations/mufti/inertia_roots.h"
#include "linalg/small.h"

#include <math.h>

static const double rounding = 1e-13;

lw_roots *lw_roots_create(const lw_model *model, lw_arena *arena) {
    lw_roots *roots = LW_NEW(arena, lw_roots, 1);
    size_t n = (size_t)model->body_count;
    if (!roots) return NULL;
    roots->bodies = model->body_count;
    roots->own = LW_NEW(arena, double, 9 * n + 1);
    roots->axes = LW_NEW(arena, double, 9 * n + 1);
    roots->moment = LW_NEW(arena, double, 3 * n + 1);
    if (lw_arena_failed(arena)) return NULL;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_rigid_inertia *I = &model->links[i].inertia;
        const double *c = model->bodies[i].com;
        double about[6], columns[9], *e = roots->moment + 3 * (i - 1), square = lw_v3_dot(c, c);
        double least = rounding * (I->second[0] + I->second[1] + I->second[2]);
        for (int k = 0; k < 3; k++) about[k] = I->second[k] - I->mass * (square - c[k] * c[k]);
        about[3] = I->second[3] + I->mass * c[0] * c[1];
        about[4] = I->second[4] + I->mass * c[0] * c[2];
        about[5] = I->second[5] + I->mass * c[1] * c[2];
        lw_s3_axes(about, e, columns);
        lw_m3_transpose(columns, roots->own + 9 * (i - 1));
        for (int k = 0; k < 3; k++)
            if (!(e[k] > least)) e[k] = 0;
    }
    return roots;
}

void lw_roots_at(lw_roots *roots, const lw_newton_euler *s) {
    for (int i = 0; i < roots->bodies; i++)
        for (int k = 0; k < 3; k++)
            lw_m3_mul_v(s->data->world[i + 1].R, roots->own + 9 * i + 3 * k, roots->axes + 9 * i + 3 * k);
}
