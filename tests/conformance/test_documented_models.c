/* test_documented_models.c - the examples of docs/model-format.md: each is a whole model that reads, compiles without a
 * warning and runs; together they show every element of the format.
 *
 * An example is a block between ```yaml and ``` that starts with "linkwork: 1". Where a method applies it is simulated for
 * 10 ms; where none does, it must have loops or constraints and be refused as unsupported.
 */
#define _POSIX_C_SOURCE 200809L

#include <linkwork/linkwork.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the examples --------------------------------------------------------------------------------- */

enum { MOST_EXAMPLES = 64, ROOM = 200000 };

static char page[ROOM];
static char *examples[MOST_EXAMPLES];
static int example_count;

static int find_examples(void **state) {
    (void)state;
    static const char opening[] = "```yaml\nlinkwork: 1";
    FILE *file = fopen(LW_SOURCE_DIR "/docs/model-format.md", "rb");
    assert_non_null(file);
    size_t length = fread(page, 1, ROOM - 1, file);
    fclose(file);
    assert_true(length < ROOM - 1);
    for (char *start = strstr(page, opening), *end; start; start = strstr(end + 1, opening)) {
        start += strlen("```yaml\n");
        end = strstr(start, "\n```");
        assert_non_null(end);
        *end = '\0';
        assert_true(example_count < MOST_EXAMPLES);
        examples[example_count++] = start;
    }
    assert_true(example_count > 0);
    return 0;
}

/* Faults and warnings fail the test. */
static void assert_clean(lw_report *report) {
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char line[1200];
        lw_error_format(lw_report_get(report, k), line, sizeof line);
        print_error("%s\n", line);
    }
    assert_int_equal(lw_report_size(report), 0);
    lw_report_destroy(report);
}

/* An example that uses others as parts is read from a folder that has them, under their names. */
static lw_status read_with_parts(int example, const lw_setting *setting, lw_report *report, lw_spec **spec) {
    char folder[] = "/tmp/linkwork-parts-XXXXXX", path[400] = "";
    assert_non_null(mkdtemp(folder));
    for (int pass = 0; pass < 3; pass++) { /* write, read, remove */
        for (int k = 0; k < example_count && pass != 1; k++) {
            char name[80] = "";
            const bool own = k == example;
            if (sscanf(examples[k], "linkwork: 1\nname: %79[a-z.]", name) != 1) continue;
            if (!own && !strstr(name, ".yaml")) continue;
            snprintf(path, sizeof path, "%s/%s", folder, own ? "example" : name);
            FILE *file = pass == 0 ? fopen(path, "wb") : NULL;
            if (pass == 2) remove(path);
            if (!file) continue;
            assert_true(fputs(examples[k], file) >= 0);
            fclose(file);
        }
        snprintf(path, sizeof path, "%s/example", folder);
        if (pass == 1) lw_read_model(path, setting, setting ? 1 : 0, report, spec);
    }
    remove(folder);
    return *spec ? LW_OK : LW_ERROR_MODEL;
}

static lw_spec *read_example(int example, const lw_setting *setting) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    char name[40];
    snprintf(name, sizeof name, "example %d", example + 1);
    lw_status status = strstr(examples[example], "\nparts:")
                           ? read_with_parts(example, setting, report, &spec)
                           : lw_read_model_text(examples[example], strlen(examples[example]), name, setting,
                                                setting ? 1 : 0, report, &spec);
    assert_clean(report);
    assert_int_equal(status, LW_OK);
    return spec;
}

static lw_model *compile_example(int example, const lw_setting *setting) {
    lw_spec *spec = read_example(example, setting);
    lw_report *report = lw_report_create();
    lw_model *model = NULL;
    lw_status status = lw_model_compile(spec, NULL, report, &model);
    assert_clean(report);
    assert_int_equal(status, LW_OK);
    lw_spec_destroy(spec);
    return model;
}

/* The example with this name and its parameter N. */
static lw_model *compile_named(const char *name, const char *n) {
    const lw_setting setting = {"N", n};
    char line[80];
    snprintf(line, sizeof line, "\nname: %s\n", name);
    for (int k = 0; k < example_count; k++)
        if (strstr(examples[k], line)) return compile_example(k, &setting);
    fail_msg("there is no example \"%s\"", name);
    return NULL;
}

/* --- they run ------------------------------------------------------------------------------------- */

static bool is_finite(const lw_sample *sample, void *context) {
    const lw_model *model = context;
    bool finite = true;
    for (int k = 0; k < lw_model_q_size(model); k++) finite = finite && isfinite(sample->q[k]);
    for (int k = 0; k < lw_model_v_size(model); k++) finite = finite && isfinite(sample->v[k]);
    return finite;
}

static void run_or_be_refused(int example) {
    lw_model *model = compile_example(example, NULL);
    lw_error error = {0};
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.end = 0.01;
    options.observe = is_finite;
    options.context = model;
    bool applies = lw_method_auto(model, NULL, 0, &error) != NULL;
    bool may_be_refused = lw_model_loop_count(model) > 0 || lw_model_constraint_count(model) > 0;
    lw_run_summary summary = {0};
    lw_status status = lw_simulate(model, &options, NULL, NULL, &summary, &error);
    bool good = applies ? status == LW_OK : may_be_refused && status == LW_ERROR_UNSUPPORTED;
    if (!good) {
        char line[1200];
        lw_error_format(&error, line, sizeof line);
        fail_msg("%s: %s", lw_model_name(model), line);
    }
    lw_model_destroy(model);
}

static void every_example_runs(void **state) {
    (void)state;
    for (int k = 0; k < example_count; k++) run_or_be_refused(k);
}

/* --- repetition ----------------------------------------------------------------------------------- */

static void assert_counts(const lw_model *model, int bodies, int joints, int loops) {
    assert_int_equal(lw_model_body_count(model), bodies);
    assert_int_equal(lw_model_joint_count(model), joints);
    assert_int_equal(lw_model_loop_count(model), loops);
}

/* Loops are closed where the model says cut: true: at the joints called cut1, cut2, ... */
static void assert_cut_at(const lw_model *model, const char *cut, int n) {
    for (int k = 1; k <= n; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s%d", cut, k);
        int joint = lw_model_joint(model, name);
        assert_true(joint >= 0);
        assert_true(lw_model_joint_info(model, joint).cut);
    }
}

static void chain_ladder_and_windows(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int n;
    } sizes[] = {{"1", 1}, {"3", 3}, {"50", 50}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int n = sizes[k].n;
        lw_model *chain = compile_named("chain", sizes[k].text);
        assert_counts(chain, n, n, 0);
        lw_model_destroy(chain);

        lw_model *ladder = compile_named("ladder", sizes[k].text); /* a cell: two sides, a rung; four pins */
        assert_counts(ladder, 3 * n, 4 * n, n);
        assert_cut_at(ladder, "lr", n);
        lw_model_destroy(ladder);

        lw_model *windows = compile_named("windows", sizes[k].text); /* a post, then beam and post each */
        assert_counts(windows, 2 * n + 1, 3 * n + 1, n);
        assert_cut_at(windows, "right", n);
        lw_model_destroy(windows);
    }
}

/* --- they show everything ------------------------------------------------------------------------- */

static struct {
    bool kinds[LW_BODY_POINT + 1], shapes[LW_SHAPE_KINDS];
    bool poses, placed_shape, turned_shape, other_gravity, own_densities, own_masses, colours;
    bool joints[LW_JOINT_TYPES][2]; /* in the world, in body frames */
    bool motions[LW_JOINT_TYPES];
    bool forces[LW_FORCE_TYPES], force_frames[LW_FORCE_TYPES][2];
    bool laws[LW_FORCE_TYPES], tables[LW_FORCE_TYPES];
    bool against, follows, turned_bushing;
    bool constraints[LW_CONSTRAINT_TYPES], constraint_frames[LW_CONSTRAINT_TYPES][2];
    bool offset, disc, sphere, on_body;
} seen;

static bool turned(const double q[4]) { return q[1] != 0 || q[2] != 0 || q[3] != 0; }

static void see_bodies(lw_spec *spec) {
    for (size_t k = 0; k < lw_spec_body_count(spec); k++) {
        const lw_body_spec *body = lw_spec_body(spec, k);
        const double *p = body->shape.position;
        seen.kinds[body->kind] = seen.shapes[body->shape.kind] = true;
        seen.poses |= body->has_pose && turned(body->rotation);
        seen.placed_shape |= p[0] != 0 || p[1] != 0 || p[2] != 0;
        seen.turned_shape |= turned(body->shape.rotation);
        for (int i = 0; i < body->shape_count; i++) {
            seen.shapes[body->shapes[i].kind] = true;
            seen.own_densities |= body->shapes[i].density > 0;
            seen.own_masses |= body->shapes[i].has_mass;
            seen.colours |= body->shapes[i].colour != 0;
        }
    }
}

static void see_joints(lw_spec *spec) {
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
        const lw_joint_spec *joint = lw_spec_joint(spec, k);
        seen.joints[joint->type][joint->frame] = true;
        for (int i = 0; i < LW_JOINT_MAX_V; i++) seen.motions[joint->type] |= joint->motion[i] != NULL;
    }
}

static void see_forces(lw_spec *spec) {
    for (size_t k = 0; k < lw_spec_force_count(spec); k++) {
        const lw_force_spec *force = lw_spec_force(spec, k);
        seen.forces[force->type] = seen.force_frames[force->type][force->frame] = true;
        seen.laws[force->type] |= force->law.expression != NULL;
        seen.tables[force->type] |= force->law.table_size > 0;
        seen.turned_bushing |= force->type == LW_FORCE_BUSHING && turned(force->rotation);
        if (force->type != LW_FORCE_APPLIED) continue;
        seen.against |= strcmp(force->bodies[1], LW_GROUND) != 0;
        seen.follows |= force->follows_body;
    }
}

static void see_constraints(lw_spec *spec) {
    for (size_t k = 0; k < lw_spec_constraint_count(spec); k++) {
        const lw_constraint_spec *constraint = lw_spec_constraint(spec, k);
        seen.constraints[constraint->type] = seen.constraint_frames[constraint->type][constraint->frame] =
            true;
        seen.offset |= constraint->offset != 0;
        if (constraint->type != LW_CONSTRAINT_ROLLING) continue;
        const double *a = constraint->axis;
        bool has_axis = a[0] != 0 || a[1] != 0 || a[2] != 0;
        seen.disc |= has_axis;
        seen.sphere |= !has_axis;
        seen.on_body |= strcmp(constraint->bodies[1], LW_GROUND) != 0;
    }
}

static void need(bool shown, const char *what, const char *where) {
    if (!shown) fail_msg("no example shows %s%s", what, where);
}

static void every_element_is_shown(void **state) {
    (void)state;
    static const char *const frames[] = {" in the world", " in body frames"};
    static const char *const kinds[] = {"spatial", "planar", "point"};
    static const char *const shapes[] = {"none", "box",         "cylinder", "sphere",    "cone",
                                         "rod",  "tetrahedron", "capsule",  "ellipsoid", "mesh"};
    static const lw_joint_type moved[] = {LW_JOINT_REVOLUTE, LW_JOINT_CYLINDRICAL, LW_JOINT_SPHERICAL,
                                          LW_JOINT_TRANSLATION, LW_JOINT_FREE};
    for (int k = 0; k < example_count; k++) {
        lw_spec *spec = read_example(k, NULL);
        seen.other_gravity |= lw_spec_gravity(spec)[2] != -9.81;
        see_bodies(spec);
        see_joints(spec);
        see_forces(spec);
        see_constraints(spec);
        lw_spec_destroy(spec);
    }
    need(seen.other_gravity, "gravity", "");
    for (int k = 0; k <= LW_BODY_POINT; k++) need(seen.kinds[k], kinds[k], " bodies");
    for (int k = 0; k < LW_SHAPE_KINDS; k++) need(seen.shapes[k], "shape ", shapes[k]);
    need(seen.own_densities && seen.own_masses && seen.colours, "shapes of their own", "");
    need(seen.poses && seen.placed_shape && seen.turned_shape, "poses of bodies and shapes", "");
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int frame = 0; frame < 2; frame++)
            need(seen.joints[type][frame], lw_joint_type_name((lw_joint_type)type), frames[frame]);
    for (size_t k = 0; k < sizeof moved / sizeof *moved; k++)
        need(seen.motions[moved[k]], lw_joint_type_name(moved[k]), " with motion");
    for (int type = 0; type < LW_FORCE_TYPES; type++) {
        const char *name = lw_force_type_name((lw_force_type)type);
        bool has_place = type == LW_FORCE_SPRING || type == LW_FORCE_BUSHING || type == LW_FORCE_APPLIED ||
                         type == LW_FORCE_CONTACT;
        bool has_law = type == LW_FORCE_SPRING || type == LW_FORCE_TORSION;
        need(seen.forces[type], name, "");
        for (int frame = 0; frame < 2; frame++)
            need(!has_place || seen.force_frames[type][frame], name, frames[frame]);
        need(!has_law || (seen.laws[type] && seen.tables[type]), name, " with law and with table");
    }
    need(seen.against && seen.follows, "applied", " against a body and in body axes");
    need(seen.turned_bushing, "a turned bushing", "");
    for (int type = 0; type < LW_CONSTRAINT_TYPES; type++) {
        const char *name = lw_constraint_type_name((lw_constraint_type)type);
        need(seen.constraints[type], name, "");
        for (int frame = 0; frame < 2; frame++)
            need(type == LW_CONSTRAINT_COUPLING || seen.constraint_frames[type][frame], name, frames[frame]);
    }
    need(seen.offset, "coupling", " with offset");
    need(seen.disc && seen.sphere && seen.on_body, "rolling", " of a disc, of a sphere, on a body");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_runs),
        cmocka_unit_test(chain_ladder_and_windows),
        cmocka_unit_test(every_element_is_shown),
    };
    return cmocka_run_group_tests(tests, find_examples, NULL);
}
