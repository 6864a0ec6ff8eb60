/* mjcf_actuators.c - actuators of MJCF as drives with inputs.
 *
 * With the input u (clamped to ctrlrange), length L and rate L' of what is driven,
 *     F = (g0 + g1 L + g2 L') w + b0 + b1 L + b2 L',
 * clamped to forcerange, where w is u, or the activation, a state of its own: w' = u (integrator) or (u - w)
 * / T (filter); its rate is zero where it would leave actrange. On a hinge or slide L = gear q and the
 * generalised force is gear F; a ball or free joint takes gear_k F along its speeds, a tendon F along its
 * length, a site gear F as force and torque in its axes. Every input has the actuator's name, as a plain
 * word, and begins with the control of the chosen keyframe, or zero.
 *
 * motor, position, velocity, intvelocity, damper and cylinder are short ways to say general ones. As in
 * MuJoCo defaults of all of them fill one set of values, the outermost class first.
 */
#include "io/import/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

typedef enum mj_dynamics { DYN_NONE = 0, DYN_INTEGRATOR, DYN_FILTER, DYN_EXACT, DYN_OTHER } mj_dynamics;

/* What the kinds of actuators set each in its own way. Those of one kind do not follow from defaults of
 * another, except from those of <general>. */
typedef enum mj_kind { GENERAL = 0, MOTOR, POSITION, VELOCITY, INTVELOCITY, DAMPER, CYLINDER, OTHER } mj_kind;

typedef struct mj_law {
    mj_kind kind; /* that set it last */
    double gain[3], bias[3], timeconst;
    bool gain_affine, bias_affine, unknown;
    mj_dynamics dynamics;
    double dampratio, inheritrange;
} mj_law;

static const mj_law plain_law = {.kind = GENERAL, .gain = {1}, .timeconst = 1};

typedef struct mj_actuator {
    mj_law law;
    double ctrlrange[2], forcerange[2], actrange[2], gear[6];
    int ctrllimited, forcelimited, actlimited; /* 0 no, 1 yes, 2 if there is a range */
    int group;
} mj_actuator;

/* --- values ----------------------------------------------------------------------------------------- */

static void apply_general(mj_reader *reader, const mj_element *e, mj_law *a) {
    static const char *const gains[] = {"fixed", "affine", "muscle", "user", "dcmotor", NULL};
    static const char *const biases[] = {"none", "affine", "muscle", "user", "dcmotor", NULL};
    static const char *const dynamics[] = {"none",   "integrator", "filter",  "filterexact",
                                           "muscle", "user",       "dcmotor", NULL};
    double values[10];
    int n = mj_numbers(reader, e, "gainprm", 1, 10, values);
    for (int k = 0; k < n && k < 3; k++) a->gain[k] = values[k];
    n = mj_numbers(reader, e, "biasprm", 1, 10, values);
    for (int k = 0; k < n && k < 3; k++) a->bias[k] = values[k];
    if (mj_numbers(reader, e, "dynprm", 1, 10, values) > 0) a->timeconst = values[0];
    const int gain = mj_word(reader, e, "gaintype", gains, -2),
              bias = mj_word(reader, e, "biastype", biases, -2);
    const int dyn = mj_word(reader, e, "dyntype", dynamics, -2);
    if (gain >= 0) a->gain_affine = gain == 1;
    if (bias >= 0) a->bias_affine = bias == 1;
    if (dyn >= 0) a->dynamics = dyn > DYN_EXACT ? DYN_OTHER : (mj_dynamics)dyn;
    if (gain > 1 || bias > 1) a->unknown = true;
}

static void apply_servo(mj_reader *reader, const mj_element *e, mj_law *a) {
    const mj_law from = *a;
    double kv = -from.bias[2], timeconst = from.dynamics == DYN_EXACT ? from.timeconst : 0;
    *a = plain_law;
    a->bias_affine = true;
    a->gain[0] = from.gain[0];
    (void)mj_number(reader, e, "kp", &a->gain[0]);
    a->bias[1] = -a->gain[0];
    a->dampratio = from.dampratio;
    if (mj_number(reader, e, "kv", &kv)) a->dampratio = 0;
    if (mj_number(reader, e, "dampratio", &a->dampratio)) kv = 0;
    a->bias[2] = -kv;
    a->inheritrange = from.inheritrange;
    if (!mj_number(reader, e, "inheritrange", &a->inheritrange) &&
        (lw_xml_get(e->node, "ctrlrange") || lw_xml_get(e->node, "actrange")))
        a->inheritrange = 0;
    (void)mj_number(reader, e, "timeconst", &timeconst);
    if (lw_xml_is(e->node, "intvelocity"))
        a->dynamics = DYN_INTEGRATOR;
    else if (timeconst > 0)
        a->dynamics = DYN_EXACT, a->timeconst = timeconst;
}

static mj_kind kind_of(const lw_xml *node) {
    static const char *const names[] = {"general",     "motor",  "position", "velocity",
                                        "intvelocity", "damper", "cylinder", NULL};
    int k = 0;
    while (names[k] && !lw_xml_is(node, names[k])) k++;
    return (mj_kind)k;
}

/* The law that an element begins from: that of its class or of one around it that is of its kind, or of
 * <general>. outer: at the ends of the classes around, outermost first. */
static mj_law law_before(const mj_law *outer, int count, mj_kind kind, const mj_law *now) {
    if (kind == GENERAL || now->kind == kind || now->kind == GENERAL) return *now;
    for (int k = count - 1; k >= 0; k--)
        if (outer[k].kind == kind || outer[k].kind == GENERAL) return outer[k];
    return plain_law;
}

static void apply_law(mj_reader *reader, const mj_element *e, const mj_law *outer, int count, mj_law *law) {
    const mj_kind kind = kind_of(e->node);
    const mj_law from = law_before(outer, count, kind, law);
    double value = 0;
    *law = kind == GENERAL || kind == POSITION || kind == INTVELOCITY ? from : plain_law;
    switch (kind) {
    case GENERAL:
        apply_general(reader, e, law);
        break;
    case MOTOR:
        break;
    case POSITION:
    case INTVELOCITY:
        apply_servo(reader, e, law);
        break;
    case VELOCITY:
        value = from.gain[0];
        (void)mj_number(reader, e, "kv", &value);
        law->gain[0] = value, law->bias[2] = -value, law->bias_affine = true;
        break;
    case DAMPER:
        value = -from.gain[2];
        (void)mj_number(reader, e, "kv", &value);
        law->gain[0] = 0, law->gain[2] = -value, law->gain_affine = true;
        break;
    case CYLINDER:
        law->gain[0] = from.gain[0], law->timeconst = from.timeconst;
        memcpy(law->bias, from.bias, sizeof law->bias);
        (void)mj_number(reader, e, "timeconst", &law->timeconst);
        (void)mj_number(reader, e, "area", &law->gain[0]);
        if (mj_number(reader, e, "diameter", &value)) law->gain[0] = LW_PI / 4 * value * value;
        (void)mj_numbers(reader, e, "bias", 3, 3, law->bias);
        law->bias_affine = true, law->dynamics = DYN_FILTER;
        break;
    case OTHER:
        law->unknown = true;
        break;
    }
    law->kind = kind;
}

/* Takes over what one element, of a class of defaults or the actuator itself, says. */
static void apply(mj_reader *reader, const lw_xml *node, const mj_law *outer, int count, mj_actuator *a) {
    const mj_element own = {node, -1, node->name}, *e = &own;
    double values[6];
    apply_law(reader, e, outer, count, &a->law);
    (void)mj_numbers(reader, e, "ctrlrange", 2, 2, a->ctrlrange);
    (void)mj_numbers(reader, e, "forcerange", 2, 2, a->forcerange);
    (void)mj_numbers(reader, e, "actrange", 2, 2, a->actrange);
    a->actlimited = mj_tristate(reader, e, "actlimited", a->actlimited);
    double group = a->group;
    (void)mj_number(reader, e, "group", &group);
    a->group = group >= 0 && group < 31 ? (int)group : 0;
    a->ctrllimited = mj_tristate(reader, e, "ctrllimited", a->ctrllimited);
    a->forcelimited = mj_tristate(reader, e, "forcelimited", a->forcelimited);
    const int n = mj_numbers(reader, e, "gear", 1, 6, values);
    for (int k = 0; k < n; k++) a->gear[k] = values[k];
    for (int k = n; n > 0 && k < 6; k++) a->gear[k] = 0;
}

static bool is_actuator(const lw_xml *node) {
    static const char *const tags[] = {"general",  "motor",  "position", "velocity", "intvelocity", "damper",
                                       "cylinder", "muscle", "adhesion", "dcmotor",  "plugin",      NULL};
    for (int k = 0; tags[k]; k++)
        if (lw_xml_is(node, tags[k])) return true;
    return false;
}

/* The defaults of a class and those around it, outermost first, then the actuator's own values. */
static void apply_all(mj_reader *reader, int class, const lw_xml *node, mj_actuator *a) {
    const mj_class *classes = reader->classes.items;
    int count = 0;
    for (int k = class; k >= 0; k = classes[k].parent) count++;
    mj_law *ends = LW_NEW(reader->arena, mj_law, count + 1);
    int *chain = LW_NEW(reader->arena, int, count + 1);
    if (!ends || !chain) {
        reader->importer->out_of_memory = true;
        return;
    }
    for (int k = class, at = count; k >= 0; k = classes[k].parent) chain[--at] = k;
    for (int level = 0; level < count; level++) {
        const lw_xml *of = classes[chain[level]].node;
        for (const lw_xml *e = of ? of->first : NULL; e; e = e->next)
            if (is_actuator(e)) apply(reader, e, ends, level, a);
        ends[level] = a->law;
    }
    apply(reader, node, ends, count, a);
}

static bool limited(const mj_reader *reader, int how, const double range[2]) {
    const bool ranged = range[0] != 0 || range[1] != 0;
    return how == 1 || (how == 2 && reader->autolimits && ranged);
}

/* --- expressions ------------------------------------------------------------------------------------ */

/* text + factor*what, without what is zero. */
static const char *plus(mj_reader *reader, const char *text, double factor, const char *what) {
    if (factor == 0) return text;
    if (factor == 1 && what && !text[0]) return what;
    return lw_import_print(reader->importer, "%s%s%s%s%s", text, text[0] ? " + " : "",
                           mj_digits(reader, factor), what ? "*" : "", what ? what : "");
}

static const char *clamp(mj_reader *reader, const char *text, const double range[2]) {
    return lw_import_print(reader->importer, "min(max(%s, %s), %s)", text, mj_digits(reader, range[0]),
                           mj_digits(reader, range[1]));
}

/* F of an actuator: w stands for its input or activation, L and V for length and rate times scale. */
static const char *force_text(mj_reader *reader, const mj_actuator *a, const char *w, const char *L,
                              const char *V, double scale) {
    lw_importer *importer = reader->importer;
    const char *text = plus(reader, "", a->law.gain[0], w);
    if (a->law.gain_affine) {
        if (a->law.gain[1] != 0)
            text = plus(reader, text, scale * a->law.gain[1], lw_import_print(importer, "%s*%s", L, w));
        if (a->law.gain[2] != 0)
            text = plus(reader, text, scale * a->law.gain[2], lw_import_print(importer, "%s*%s", V, w));
    }
    if (a->law.bias_affine) {
        text = plus(reader, text, a->law.bias[0], NULL);
        text = plus(reader, text, scale * a->law.bias[1], L);
        text = plus(reader, text, scale * a->law.bias[2], V);
    }
    return text[0] ? text : "0";
}

static const char *times(mj_reader *reader, double factor, const char *text) {
    if (factor == 1) return text;
    return lw_import_print(reader->importer, "%s*(%s)", mj_digits(reader, factor), text);
}

/* --- one actuator ----------------------------------------------------------------------------------- */

typedef struct mj_drive {
    const lw_xml *node;
    const char *name, *w;
    mj_actuator values;
    bool clamps; /* forcerange counts */
} mj_drive;

static void leave_out(mj_reader *reader, const lw_xml *node, const char *why) {
    char kind[64];
    (void)snprintf(kind, sizeof kind, "actuators: %s", why);
    lw_import_note_of(reader->importer, node->place, kind, "left out: they exert no force");
}

static void drive_coordinate(mj_reader *reader, const mj_drive *drive, const mj_joint *joint, int coordinate,
                             double gear, const char *force, double limit) {
    const lw_force_spec spec = {
        .name = lw_import_own_name(reader->importer, &reader->importer->forces, drive->name),
        .type = LW_FORCE_DRIVE,
        .joint = joint->spec_joint,
        .coordinate = coordinate,
        .drive = times(reader, gear, force),
        .limit = limit,
        .place = drive->node->place};
    lw_import_add_force(reader->importer, &spec);
}

static void drive_joint(mj_reader *reader, const mj_drive *drive, const mj_joint *joint, int shared) {
    const mj_actuator *a = &drive->values;
    const double *range = a->forcerange, gear = a->gear[0];
    if (joint->type <= MJ_SLIDE) {
        const bool even = drive->clamps && range[0] == -range[1];
        const char *force = force_text(reader, a, drive->w, "q", "v", gear);
        double limit = even ? fabs(gear) * range[1] : 0;
        if (drive->clamps && !even) force = clamp(reader, force, range);
        const double *most = joint->force_range;
        if (most[0] != 0 || most[1] != 0) {
            if (shared == 1 && most[0] == -most[1])
                limit = limit > 0 ? fmin(limit, most[1]) : most[1];
            else
                lw_import_note_of(reader->importer, joint->node->place,
                                  "actuatorfrcrange, uneven or of several actuators",
                                  "left out: the actuators' forces on the joint are not bounded by it");
        }
        drive_coordinate(reader, drive, joint, joint->coordinate, gear, force, limit);
        return;
    }
    const char *force = force_text(reader, a, drive->w, "0", "0", 1);
    if (drive->clamps) force = clamp(reader, force, range);
    for (int k = 0; k < (joint->type == MJ_FREE ? 6 : 3); k++)
        if (a->gear[k] != 0)
            drive_coordinate(reader, drive, joint, joint->coordinate + k, a->gear[k], force, 0);
}

static void drive_tendon(mj_reader *reader, const mj_drive *drive, const mj_tendon *tendon) {
    lw_importer *importer = reader->importer;
    const mj_actuator *a = &drive->values;
    const char *L = lw_import_print(importer, "(%s)", mj_tendon_text(reader, tendon, false));
    const char *V = lw_import_print(importer, "(%s)", mj_tendon_text(reader, tendon, true));
    const char *force = force_text(reader, a, drive->w, L, V, a->gear[0]);
    if (drive->clamps) force = clamp(reader, force, a->forcerange);
    lw_signal_spec signal = {
        .name = lw_import_word(importer, lw_import_print(importer, "%.60s_force", drive->name)),
        .value = times(reader, a->gear[0], force),
        .place = drive->node->place};
    lw_import_check(importer, lw_spec_add_signal(importer->spec, &signal));
    mj_pull(reader, tendon, drive->name, signal.name);
}

/* A force and torque at a site, in its axes: rotors of drones. */
static void drive_site(mj_reader *reader, const mj_drive *drive, const mj_site *site) {
    const mj_actuator *a = &drive->values;
    const char *force = force_text(reader, a, drive->w, "0", "0", 1);
    if (drive->clamps) force = clamp(reader, force, a->forcerange);
    lw_force_spec spec = {.name =
                              lw_import_own_name(reader->importer, &reader->importer->forces, drive->name),
                          .type = LW_FORCE_APPLIED,
                          .bodies = {site->spec_name, LW_GROUND},
                          .frame = LW_GEOMETRY_BODY,
                          .follows_body = true,
                          .place = drive->node->place};
    for (int k = 0; k < 3; k++) {
        if (a->gear[k] != 0) spec.force[k] = times(reader, a->gear[k], force);
        if (a->gear[3 + k] != 0) spec.torque[k] = times(reader, a->gear[3 + k], force);
    }
    lw_import_add_force(reader->importer, &spec);
}

/* The damping that a damping ratio of a servo means: 2 ratio sqrt(kp I), with the inertia I that the
 * actuator feels in the drawn configuration. */
static void damp(mj_reader *reader, const lw_xml *node, mj_actuator *a, const mj_joint *joint,
                 const mj_tendon *tendon) {
    double inertia = 0;
    if (a->law.dampratio == 0) return;
    if (joint && joint->type <= MJ_SLIDE) inertia = mj_felt_inertia(reader, &joint->dof, &a->gear[0], 1);
    if (tendon && !tendon->spatial && tendon->count > 0) {
        int *dofs = LW_NEW(reader->arena, int, tendon->count);
        double *moments = LW_NEW(reader->arena, double, tendon->count);
        if (!dofs || !moments) {
            reader->importer->out_of_memory = true;
            return;
        }
        for (int k = 0; k < tendon->count; k++) {
            dofs[k] = MJ_JOINT(reader, tendon->items[k])->dof;
            moments[k] = a->gear[0] * tendon->coef[k];
        }
        inertia = mj_felt_inertia(reader, dofs, moments, tendon->count);
    }
    if (inertia == 0)
        lw_import_note_of(reader->importer, node->place, "damping ratios of servos",
                          "left out where no inertia can be given for them: these servos are not damped");
    a->law.bias[2] = -2 * a->law.dampratio * sqrt(fmax(0, a->law.gain[0] * inertia));
}

/* Does the force depend on the length or rate of what is driven? */
static bool feels_motion(const mj_actuator *a) {
    return (a->law.bias_affine && (a->law.bias[1] != 0 || a->law.bias[2] != 0)) ||
           (a->law.gain_affine && (a->law.gain[1] != 0 || a->law.gain[2] != 0));
}

/* Why an actuator of a known kind is left out; NULL: it is not. */
static const char *unusable(const mj_reader *reader, const mj_drive *drive, const mj_joint *joint,
                            const mj_tendon *tendon) {
    const mj_actuator *a = &drive->values;
    const lw_xml *node = drive->node;
    if (reader->groups_off >> a->group & 1u) return "of groups that are switched off";
    if (joint)
        return joint->type > MJ_SLIDE && (feels_motion(a) || lw_xml_find(node, "jointinparent"))
                   ? "on ball and free joints, but motors"
                   : NULL;
    if (tendon && !tendon->usable) return "on tendons over geoms or pulleys";
    if (tendon) return mj_tendon_pulls(reader, tendon) ? NULL : "on tendons that join points of one body";
    return feels_motion(a) || lw_xml_find(node, "refsite") ? "at sites, but motors" : NULL;
}

static void add_input(mj_reader *reader, mj_drive *drive, double start, const double *act) {
    lw_importer *importer = reader->importer;
    const mj_actuator *a = &drive->values;
    drive->w = "0";
    if (a->law.gain[0] == 0 && !(a->law.gain_affine && (a->law.gain[1] != 0 || a->law.gain[2] != 0)))
        return; /* no control */
    const char *word = lw_import_word(importer, drive->name);
    lw_import_check(importer, lw_spec_set_input(importer->spec, word, start));
    const bool bounded = limited(reader, a->ctrllimited, a->ctrlrange) && !reader->no_clamp;
    drive->w = bounded ? clamp(reader, word, a->ctrlrange) : word;
    if (a->law.dynamics == DYN_NONE) return;
    lw_state_spec state = {.name =
                               lw_import_word(importer, lw_import_print(importer, "%.60s_act", drive->name)),
                           .start = act ? *act : 0,
                           .place = drive->node->place};
    state.rate = a->law.dynamics == DYN_INTEGRATOR
                     ? drive->w
                     : lw_import_print(importer, "(%s - %s)/%s", drive->w, state.name,
                                       mj_digits(reader, fmax(1e-10, a->law.timeconst)));
    if (limited(reader, a->actlimited, a->actrange)) {
        const char *lower = mj_digits(reader, a->actrange[0]), *upper = mj_digits(reader, a->actrange[1]);
        state.start = fmin(fmax(state.start, a->actrange[0]), a->actrange[1]);
        state.rate =
            lw_import_print(importer, "if(%s >= %s, min(%s, 0), if(%s <= %s, max(%s, 0), %s))", state.name,
                            upper, state.rate, state.name, lower, state.rate, state.rate);
    }
    lw_import_check(importer, lw_spec_add_state(importer->spec, &state));
    drive->w = state.name;
}

/* The activations of a keyframe, in the order of those actuators that have one. */
typedef struct mj_acts {
    const double *values;
    int count, used;
    bool unsure; /* One of an unknown kind came before. */
} mj_acts;

/* How many actuators drive this joint. */
static int sharing(const mj_reader *reader, const char *name) {
    int count = 0;
    for (const lw_xml *section = lw_xml_child(reader->root, "actuator"); section;
         section = lw_xml_next(section))
        for (const lw_xml *node = section->first; node; node = node->next) {
            const char *joint = lw_xml_get(node, "joint");
            count += joint && strcmp(joint, name) == 0;
        }
    return count;
}

/* start: its control; acts: what is left of the activations of the keyframe, may be NULL. */
static void make_actuator(mj_reader *reader, const lw_xml *node, int index, double start, mj_acts *acts) {
    mj_drive drive = {.node = node, .name = lw_xml_get(node, "name")};
    mj_actuator *a = &drive.values;
    const mj_law *law = &a->law;
    *a = (mj_actuator){.law = plain_law, .gear = {1}, .ctrllimited = 2, .forcelimited = 2, .actlimited = 2};
    const mj_element element = mj_with_class(reader, node, "general", reader->classes.count > 0 ? 0 : -1);
    apply_all(reader, element.class, node, a);
    if (!drive.name) drive.name = lw_import_print(reader->importer, "actuator%d", index);
    static const char *const ways[] = {"joint", "jointinparent", "tendon", "site", NULL};
    const double *act = NULL;
    if (lw_xml_is(node, "muscle"))
        acts->used++;
    else if (a->law.unknown || a->law.dynamics == DYN_OTHER)
        acts->unsure = true;
    else if (a->law.dynamics != DYN_NONE) {
        if (acts->values && acts->used < acts->count && !acts->unsure) act = acts->values + acts->used;
        acts->used++;
    }
    const char *target = NULL;
    int way = 0;
    for (; ways[way] && !target; way++) target = lw_xml_get(node, ways[way]);
    way--;
    if (!target || a->law.unknown || a->law.dynamics == DYN_OTHER || !is_actuator(node)) {
        leave_out(reader, node, target ? "muscles and others" : "on bodies and cranks");
        return;
    }
    const int found = way <= 1   ? mj_find_joint(reader, target)
                      : way == 2 ? mj_find_tendon(reader, target)
                                 : mj_find_site(reader, target);
    if (found < 0) {
        static const char *const kinds[] = {"joint", "joint", "tendon", "site"};
        mj_error(reader, node, ways[way], "name one that the file has", "there is no %s \"%.60s\"",
                 kinds[way], target);
        return;
    }
    drive.clamps = limited(reader, a->forcelimited, a->forcerange);
    if (drive.clamps && !(a->forcerange[0] < a->forcerange[1])) {
        mj_error(reader, node, "forcerange", "give the lower bound first", "forcerange %g .. %g is empty",
                 a->forcerange[0], a->forcerange[1]);
        return;
    }
    const mj_joint *joint = way <= 1 ? MJ_JOINT(reader, found) : NULL;
    const mj_tendon *tendon = way == 2 ? MJ_TENDON(reader, found) : NULL;
    /* Of a servo, whose input is a coordinate, the range of the joint: of its control or of its state. */
    const bool servo = !law->gain_affine && law->bias_affine && law->gain[0] == -law->bias[1];
    if (law->inheritrange > 0 && servo && joint && joint->limited) {
        const double mean = (joint->range[0] + joint->range[1]) / 2;
        const double half = (joint->range[1] - joint->range[0]) / 2 * law->inheritrange;
        double *range = law->dynamics == DYN_INTEGRATOR ? a->actrange : a->ctrlrange;
        if (law->dynamics != DYN_FILTER) range[0] = mean - half, range[1] = mean + half;
    }
    if (limited(reader, a->ctrllimited, a->ctrlrange) && !(a->ctrlrange[0] < a->ctrlrange[1])) {
        mj_error(reader, node, "ctrlrange", "give the lower bound first", "ctrlrange %g .. %g is empty",
                 a->ctrlrange[0], a->ctrlrange[1]);
        return;
    }
    const char *why = unusable(reader, &drive, joint, tendon);
    if (why) {
        leave_out(reader, node, why);
        return;
    }
    damp(reader, node, a, joint, tendon);
    add_input(reader, &drive, start, act);
    if (joint)
        drive_joint(reader, &drive, joint, sharing(reader, target));
    else if (tendon)
        drive_tendon(reader, &drive, tendon);
    else
        drive_site(reader, &drive, MJ_SITE(reader, found));
}

void mj_make_actuators(mj_reader *reader, const lw_xml *key) {
    int index = 0, given = 0;
    const mj_element element = {key, -1, "key"};
    const double *ctrl = key ? mj_list(reader, &element, "ctrl", &given) : NULL;
    mj_acts acts = {.values = NULL};
    if (key) acts.values = mj_list(reader, &element, "act", &acts.count);
    for (const lw_xml *section = lw_xml_child(reader->root, "actuator"); section;
         section = lw_xml_next(section))
        for (const lw_xml *node = section->first; node; node = node->next, index++) {
            if (reader->no_actuation)
                leave_out(reader, node, "switched off by a flag");
            else
                make_actuator(reader, node, index, ctrl && index < given ? ctrl[index] : 0, &acts);
        }
    if (ctrl && given != index)
        mj_error(reader, key, "ctrl", "give one number for each actuator", "ctrl has %d numbers, not %d",
                 given, index);
    if (acts.values && acts.unsure)
        lw_import_note_of(reader->importer, key->place, "activations of keyframes",
                          "those behind an actuator of an unknown kind begin at zero");
    else if (acts.values && acts.count != acts.used && !reader->no_actuation)
        mj_error(reader, key, "act", "give one number for each actuator with an activation",
                 "act has %d numbers, not %d", acts.count, acts.used);
}
