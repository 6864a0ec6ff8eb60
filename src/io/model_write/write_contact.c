/* write_contact.c - the surface, the shape and the law of a contact, for write_model.c.
 */
#include "io/model_write/write_values.h"

#include <string.h>

/* keys: which of axis, radius, length, size the figure has, by their first letters. */
static void put_figure(lw_writer *w, const char *key, const char *type, bool plane, bool inside,
                       const lw_contact_figure *figure, const char *keys) {
    lw_put_key(w, key);
    lw_open(w);
    lw_write_word(w, "type", type);
    if (strchr(keys, 'a')) lw_write_numbers(w, plane ? "normal" : "axis", figure->axis, 3);
    if (strchr(keys, 'r')) lw_write_field(w, "radius", &figure->radius);
    if (strchr(keys, 'l') && !lw_left_out(w, &figure->length, 1))
        lw_write_field(w, "length", &figure->length);
    if (strchr(keys, 's')) lw_write_numbers(w, "size", figure->size, 3);
    if (strchr(keys, 's') && !lw_left_out(w, figure->rotation, 4)) lw_write_rotation(w, figure->rotation);
    if (inside) lw_write_word(w, "inside", "true");
    lw_close(w);
}

void lw_write_contact(lw_writer *w, const lw_contact_spec *contact) {
    static const char *const surfaces[LW_SURFACES][2] = {
        {"plane", "a"}, {"sphere", "r"}, {"cylinder", "arl"}, {"box", "s"}};
    static const char *const shapes[LW_TOUCHES][2] = {
        {"point", ""}, {"sphere", "r"}, {"capsule", "arl"}, {"disc", "ar"}, {"box", "s"}};
    if ((unsigned)contact->surface >= LW_SURFACES || (unsigned)contact->shape >= LW_TOUCHES) {
        lw_write_fault(w, LW_ERROR_ARGUMENT, "give a surface and a shape of spec.h",
                       "a contact of surface %d and shape %d is not known", (int)contact->surface,
                       (int)contact->shape);
        return;
    }
    put_figure(w, "surface", surfaces[contact->surface][0], contact->surface == LW_SURFACE_PLANE,
               contact->inside, &contact->on[0], surfaces[contact->surface][1]);
    put_figure(w, "shape", shapes[contact->shape][0], false, false, &contact->on[1],
               shapes[contact->shape][1]);
    lw_write_field(w, "stiffness", &contact->stiffness);
    lw_write_field(w, "exponent", &contact->exponent);
    if (!lw_left_out(w, &contact->damping, 1)) lw_write_field(w, "damping", &contact->damping);
    if (!lw_left_out(w, &contact->friction, 1)) lw_write_field(w, "friction", &contact->friction);
    lw_write_field(w, "smoothing", &contact->smoothing);
}
