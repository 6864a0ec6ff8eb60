/* lent_rotors.c - a model whose motions all move mass, for statics.
 *
 * A rotor (armature) on a coordinate adds to the mass matrix and exerts nothing at rest: positions of rest
 * and all that is carried there are those of the model without rotors. With rotors on all coordinates that
 * can have one, mechanisms with motions that move no mass have accelerations like any other.
 *
 * Source   docs/theory/equilibrium.md, "Motions without mass".
 * Cost     that of compiling the model.
 * Limits   balls have no rotors.
 */
#include "analyses/lent_rotors.h"
#include "model/joint_types.h"
#include "model/kept_spec.h"
#include "model/spec/spec_storage.h"
#include <linkwork/massless.h>

bool lw_moves_no_mass(const lw_model *model) {
    lw_directions *directions = NULL;
    const bool some =
        lw_directions_create(model, &directions, NULL) == LW_OK && lw_directions_count(directions) > 0;
    lw_directions_destroy(directions);
    return some;
}

/* Rotors are as heavy as the mechanism, so that no motion is much faster than others. */
lw_status lw_lend_rotors(const lw_model *model, lw_model **lent, lw_error *error) {
    const double length = lw_longest_arm(model);
    lw_spec *spec = NULL;
    double mass = 0;
    *lent = NULL;
    for (int i = 0; i < lw_model_body_count(model); i++) mass += lw_model_body_mass(model, i);
    if (!(mass > 0)) mass = 1;
    lw_status status = lw_model_kept_spec(model, &spec, error);
    for (int k = 0; status == LW_OK && k < model->joint_count; k++) {
        lw_joint_spec *joint = &spec->joints[k];
        const lw_joint_entry *entry = &model->joints[k];
        for (int c = 0; c < entry->joint.nv && !entry->info.cut; c++) {
            if (lw_joint_coordinate_of_speed(entry->info.type, c) < 0 || joint->motion[c]) continue;
            joint->armature[c] += mass * (lw_joint_speed_turns(entry->info.type, c) ? length * length : 1);
        }
    }
    if (status == LW_OK) status = lw_model_compile_again(model, spec, lent, error);
    lw_spec_destroy(spec);
    return status;
}
