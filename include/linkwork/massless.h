/* massless.h - the directions in which a mechanism moves without moving any mass, and what determines its
 * motion there.
 *
 * A mechanism with bodies without mass or inertia may have motions that move no mass at all
 * (docs/theory/massless.md). Newton's law says nothing of these; what force elements do decides:
 *
 *   first order     a damper resists: the balance of forces gives the velocity
 *   algebraic       springs alone resist: the balance of forces gives the position
 *   undetermined    nothing resists: no motion follows from the model, and method massless refuses it
 *
 * All other directions are dynamic, of second order. The kinds are those of nearly all positions: they are
 * found in several, the initial one among them.
 */
#ifndef LINKWORK_MASSLESS_H
#define LINKWORK_MASSLESS_H

#include <linkwork/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lw_direction_kind {
    LW_DIRECTION_DYNAMIC = 0,
    LW_DIRECTION_FIRST_ORDER,
    LW_DIRECTION_ALGEBRAIC,
    LW_DIRECTION_UNDETERMINED
} lw_direction_kind;

LW_API const char *lw_direction_kind_name(lw_direction_kind kind); /* "dynamic", "first order", ... */

/* One direction without mass, known by the joint speed that stands for it; other joints may have to move
 * along. */
typedef struct lw_direction {
    lw_direction_kind kind;
    int joint; /* in the spec's order */
    int body;  /* the body it carries */
    int speed; /* of that joint, from 0 */
    const char *joint_name, *body_name;
    char text
        /* "rotation about x", "translation along y", "rotation about [0.6, 0, 0.8]": axes of the body */
        [96];
    lw_error error; /* undetermined: the whole sentence; else its status is LW_OK */
} lw_direction;

typedef struct lw_directions lw_directions;

/* The directions of a model. LW_ERROR_SINGULAR if the mechanism is in a singular position whatever its
 * mass. */
LW_API lw_status lw_directions_create(const lw_model *model, lw_directions **directions, lw_error *error);
LW_API void lw_directions_destroy(lw_directions *directions);
LW_API int lw_directions_dynamic(const lw_directions *directions); /* how many directions are dynamic */
LW_API int lw_directions_count(const lw_directions *directions);   /* how many are without mass */
LW_API const lw_direction *lw_directions_at(const lw_directions *directions, int index);

/* Whether springs alone hold the algebraic directions of a model in a stable balance where a run by method
 * massless begins; otherwise what it would say, naming body and direction. */
LW_API lw_status lw_directions_balance(const lw_model *model, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
