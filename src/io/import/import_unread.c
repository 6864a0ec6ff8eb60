/* import_unread.c - elements and attributes of URDF and SDF that are not known: typing errors, mostly.
 *
 * What says how a mechanism moves is listed here with all that may stand in it. Anything else in these places
 * would be passed over without a word, though <orign> or lowr="1" was meant to change the motion. Links,
 * models and worlds themselves hold much that others understand; what is not read there is counted as left
 * out where they are read, and <origin> and <pose> where poses are.
 */
#include "io/import/import_xml.h"

#include <stdio.h>
#include <string.h>

enum { MOST_WARNINGS = 50 }; /* then it is another format, or a joke */

/* An element in another one; its children and attributes, NULL: any. */
typedef struct known_element {
    const char *parent, *name;
    const char *const *children, *const *attributes;
} known_element;

#define LIST(...)                                                                                            \
    (const char *const[]) { __VA_ARGS__, NULL }
static const char *const none[] = {NULL};

static const known_element urdf[] = {
    {"robot", "link", NULL, LIST("name", "type")},
    {"link", "inertial", LIST("origin", "mass", "inertia"), none},
    {"inertial", "mass", none, LIST("value")},
    {"inertial", "inertia", none, LIST("ixx", "ixy", "ixz", "iyy", "iyz", "izz")},
    {"robot", "joint",
     LIST("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration",
          "safety_controller", "hardwareInterface"),
     LIST("name", "type")},
    {"joint", "parent", none, LIST("link")},
    {"joint", "child", none, LIST("link")},
    {"joint", "axis", none, LIST("xyz")},
    {"joint", "limit", none,
     LIST("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk")},
    {"joint", "dynamics", none, LIST("damping", "friction")},
    {"joint", "mimic", none, LIST("joint", "multiplier", "offset")},
    {NULL, NULL, NULL, NULL},
};

static const known_element sdf[] = {
    {"link", "inertial", LIST("pose", "mass", "inertia", "density", "fluid_added_mass", "frame"),
     LIST("auto")},
    {"inertial", "inertia", LIST("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), none},
    {"model", "joint",
     LIST("parent", "child", "pose", "axis", "axis2", "physics", "sensor", "plugin", "frame",
          "screw_thread_pitch", "thread_pitch", "gearbox_ratio", "gearbox_reference_body"),
     LIST("name", "type")},
    {"joint", "axis", LIST("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"), none},
    {"joint", "axis2", LIST("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"), none},
    {"axis", "xyz", none, LIST("expressed_in")},
    {"axis2", "xyz", none, LIST("expressed_in")},
    {"axis", "limit", LIST("lower", "upper", "effort", "velocity", "stiffness", "dissipation"), none},
    {"axis2", "limit", LIST("lower", "upper", "effort", "velocity", "stiffness", "dissipation"), none},
    {"axis", "dynamics", LIST("damping", "friction", "spring_reference", "spring_stiffness"), none},
    {"axis2", "dynamics", LIST("damping", "friction", "spring_reference", "spring_stiffness"), none},
    {"axis", "mimic", LIST("multiplier", "offset", "reference"), LIST("joint", "axis")},
    {"axis2", "mimic", LIST("multiplier", "offset", "reference"), LIST("joint", "axis")},
    {NULL, NULL, NULL, NULL},
};

/* A name that is not among the known ones: a typing error is a warning, anything else is counted. */
static void check(lw_importer *importer, const char *name, lw_place place, const char *const *known,
                  const char *element, bool attribute, size_t *told) {
    size_t count = 0;
    char remedy[160] = "", kind[64];
    for (; known[count]; count++)
        if (strcmp(name, known[count]) == 0) return;
    if (strchr(name, ':') || strcmp(name, "xmlns") == 0) return; /* of somebody else's name space */
    if (!lw_did_you_mean(lw_closest(name, known, count), remedy, sizeof remedy)) {
        (void)snprintf(kind, sizeof kind, attribute ? "attributes %.20s of <%.16s>" : "<%.20s> in <%.16s>",
                       name, element);
        lw_import_note_of(importer, place, kind, "not known: passed over");
        return;
    }
    if (++*told > MOST_WARNINGS) return;
    lw_import_warning(importer, place, NULL, remedy,
                      attribute ? "attribute \"%.60s\" of <%.60s> is not known and has no effect"
                                : "<%.60s> in <%.60s> is not known and has no effect",
                      name, element);
}

static void look(lw_importer *importer, const lw_xml *element, const known_element *known, size_t *told) {
    for (const lw_xml *child = element->first; child; child = child->next) {
        for (const known_element *k = known; k->name; k++) {
            if (!lw_xml_is(child, k->name) || !lw_xml_is(element, k->parent)) continue;
            importer->file = child->file;
            for (const lw_xml *inner = k->children ? child->first : NULL; inner; inner = inner->next)
                check(importer, inner->name, inner->place, k->children, child->name, false, told);
            for (int i = 0; i < child->attribute_count; i++)
                check(importer, child->attributes[i].name, child->attributes[i].place, k->attributes,
                      child->name, true, told);
        }
        look(importer, child, known, told);
    }
}

void lw_import_unread(lw_importer *importer, const lw_xml *root, bool is_sdf) {
    const char *own = importer->file;
    size_t told = 0;
    look(importer, root, is_sdf ? sdf : urdf, &told);
    importer->file = own;
}
