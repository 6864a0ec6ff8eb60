/* import_mjcf.c - MJCF, the format of MuJoCo: the order in which a file is read.
 *
 * Sections may stand in any order and several times, so that each pass looks for its own (mjcf.h). Cost
 * O(elements) but for names, which are compared one by one: O(elements x names).
 */
#include "io/import/mjcf/mjcf.h"

#include <string.h>

/* Sections without a meaning for the motion, and those whose meaning is lost. */
static void note_sections(mj_reader *reader) {
    static const struct {
        const char *section, *kind, *meaning;
    } known[] = {{"sensor", "sensors", "no effect on the motion; any quantity can be recorded"},
                 {"contact", "contact pairs and exclusions", "nothing touches"},
                 {"deformable", "deformable bodies", "left out: their mass and forces are missing"},
                 {"extension", "plugins", "what they do is not known here"},
                 {NULL, NULL, NULL}};
    static const char *const read[] = {"compiler", "option",    "default",  "asset",    "worldbody",
                                       "equality", "tendon",    "actuator", "keyframe", "size",
                                       "visual",   "statistic", "custom",   NULL};
    for (const lw_xml *section = reader->root->first; section; section = section->next) {
        bool found = false;
        for (int k = 0; read[k] && !found; k++) found = lw_xml_is(section, read[k]);
        for (int k = 0; known[k].section && !found; k++)
            if (lw_xml_is(section, known[k].section)) {
                found = true;
                for (const lw_xml *node = section->first; node; node = node->next)
                    lw_import_note_of(reader->importer, node->place, known[k].kind, known[k].meaning);
            }
        if (!found)
            mj_warn(reader, section, NULL, NULL, "section <%.40s> is not known and has no effect",
                    section->name);
    }
}

void lw_import_mjcf(lw_importer *importer) {
    mj_reader reader = {.importer = importer, .arena = importer->arena};
    reader.root = lw_xml_parse(importer, importer->text, importer->length, importer->file);
    if (!reader.root) return;
    const char *name = lw_xml_get(reader.root, "model");
    importer->spec = lw_spec_create(name && name[0] ? name : "MuJoCo model");
    if (!importer->spec) {
        importer->out_of_memory = true;
        return;
    }
    mj_read_settings(&reader);
    mj_read_defaults(&reader);
    mj_read_assets(&reader);
    mj_read_bodies(&reader);
    if (importer->out_of_memory || reader.bodies.count == 0) return;
    mj_compute_inertias(&reader);
    mj_read_tendons(&reader);
    lw_spec_set_gravity(importer->spec, reader.gravity);
    if (importer->faults > 0 || importer->out_of_memory) return;
    mj_make_bodies(&reader);
    mj_make_joints(&reader);
    mj_make_springs(&reader);
    mj_make_equality(&reader);
    const lw_xml *key = mj_make_keys(&reader);
    mj_make_tendons(&reader);
    mj_make_actuators(&reader, key);
    note_sections(&reader);
    mj_note_unread(&reader, reader.root);
}
