/* mjcf_unread.c - what an MJCF file says in attributes that are not read.
 *
 * MJCF grows with every release, so that no list of what is left out is complete. Instead the attributes that
 * are read, and those that can have no effect here (contact, solver, drawing), are listed for every element
 * that has to do with the motion, and every other attribute is counted with its name.
 */
#include "io/import/mjcf/mjcf.h"

#include <string.h>

#define POSE " pos quat axisangle euler xyaxes zaxis "
#define SOFT " solref solimp solreffriction solimpfriction solreflimit solimplimit margin "
#define ACTUATOR                                                                                             \
    " name class group user joint jointinparent tendon site refsite body cranksite slidersite cranklength "  \
    "lengthrange ctrllimited ctrlrange forcelimited forcerange gear actlimited actrange actearly "
#define SERVO ACTUATOR "kp kv dampratio inheritrange timeconst "
#define TENDON                                                                                               \
    " name class group user rgba width material stiffness damping springlength limited range frictionloss "  \
    "armature coef" SOFT

static const struct {
    const char *element, *attributes;
} known[] = {
    {"compiler", " alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict "
                 "coordinate discardvisual eulerseq exactmeshinertia convexhull fusestatic inertiafromgeom "
                 "inertiagrouprange meshdir passthrough savecanonical savecompiled saveinertial settotalmass "
                 "strippath texturedir usethread "},
    {"option", " actuatorgroupdisable apirate ccd_iterations ccd_tolerance collision cone density gravity "
               "impratio integrator iterations jacobian ls_iterations ls_tolerance magnetic mpr_iterations "
               "mpr_tolerance noslip_iterations noslip_tolerance o_friction o_margin o_solimp o_solref "
               "sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance viscosity wind "},
    {"body", POSE "childclass fuse gravcomp mocap name simple sleep user "},
    {"frame", POSE "childclass name "},
    {"inertial", POSE "diaginertia fullinertia mass "},
    {"joint",
     SOFT "actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis class damping "
          "frictionloss group limited name pos range ref springdamper springref stiffness type user "},
    {"freejoint", " align group name "},
    {"geom", POSE SOFT "adhesion castshadow class conaffinity condim contype density fluidcoef fluidshape "
                       "friction fromto gap group hfield mass material mesh name priority rgba shellinertia "
                       "size solmix surfacevel type user "},
    {"site", POSE "class fromto group material name rgba size type user "},
    {"fixed", TENDON},
    {"spatial", TENDON},
    {"connect", SOFT "active anchor body1 body2 class name site1 site2 "},
    {"weld", SOFT "active anchor body1 body2 class name relpose site1 site2 torquescale "},
    {"general", SERVO "actdim biasprm biastype dynprm dyntype gainprm gaintype "},
    {"motor", ACTUATOR},
    {"position", SERVO},
    {"velocity", SERVO},
    {"intvelocity", SERVO},
    {"damper", SERVO},
    {"cylinder", ACTUATOR "area bias diameter timeconst "},
    {"key", " act ctrl mpos mquat name qpos qvel time "},
};

/* The same tags stand for other things here. */
static bool is_elsewhere(const lw_xml *node) {
    static const char *const others[] = {"sensor", "contact", "visual",     "custom", "statistic",
                                         "size",   "asset",   "deformable", NULL};
    for (int k = 0; others[k]; k++)
        if (lw_xml_is(node, others[k])) return true;
    return false;
}

static bool has_word(const char *list, const char *word) {
    const size_t size = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if (at > list && at[-1] == ' ' && at[size] == ' ') return true;
    return false;
}

static void look(mj_reader *reader, const lw_xml *node) {
    lw_importer *importer = reader->importer;
    const bool related = lw_xml_is(node->parent, "equality") || lw_xml_is(node->parent, "fixed") ||
                         lw_xml_is(node->parent, "spatial");
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (!lw_xml_is(node, known[k].element) || related) continue;
        for (int i = 0; i < node->attribute_count; i++) {
            const char *name = node->attributes[i].name;
            if (has_word(known[k].attributes, name) || strchr(name, ':') || strncmp(name, "xmlns", 5) == 0)
                continue;
            lw_import_note_of(importer, node->attributes[i].place,
                              lw_import_print(importer, "attribute %.24s of <%.20s>", name, node->name),
                              "not read: what it means for the motion is missing");
        }
    }
}

void mj_note_unread(mj_reader *reader, const lw_xml *node) {
    for (const lw_xml *child = node->first; child; child = child->next) {
        if (is_elsewhere(child)) continue;
        look(reader, child);
        mj_note_unread(reader, child);
    }
}
