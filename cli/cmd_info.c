/* cmd_info.c - linkwork info: properties of a model: bodies and labels, joints, graph, loops, mobility,
 * methods.
 *
 * The graph is printed as Mufti (1983) writes it: incidence matrix C (1), path matrix T (25). With one base
 * arc, the joint that carries body b1, arcs are numbered as there: h0 is the base arc and h_k leads into body
 * b_(k+1), so that C has the columns h1 .. h(n-1). With several base arcs h_i leads into body b_i, and the
 * base arcs, with one -1 each, are in a block of their own.
 */
#include "info_closing.h"
#include "info_criterion.h"
#include "info_massless.h"
#include "info_summary.h"
#include "load.h"

#include <stdlib.h>
#include <string.h>

enum { MATRIX_MAX = 30 }; /* number of bodies up to which the matrices are printed without a request */

static const char *kind_name(lw_body_kind kind) {
    return kind == LW_BODY_POINT ? "point" : kind == LW_BODY_PLANAR ? "planar" : "spatial";
}

static const char *force_type(const cli_model *m, const char *name) {
    for (size_t i = 0; i < lw_spec_force_count(m->spec); i++) {
        const lw_force_spec *force = lw_spec_force(m->spec, i);
        if (force->name && strcmp(force->name, name) == 0) return lw_force_type_name(force->type);
    }
    return "stop"; /* A joint's, which has made it itself. */
}

/* Is this the first entry of its start? */
static bool begins_start(lw_spec *spec, size_t index) {
    const char *name = lw_spec_start(spec, index)->name;
    for (size_t i = 0; i < index; i++)
        if (strcmp(lw_spec_start(spec, i)->name, name) == 0) return false;
    return true;
}

/* The reason why a method does not apply, with the object concerned, without the file. */
static const char *reason_of(lw_error *error, char *text, size_t size) {
    error->file[0] = '\0';
    error->place = (lw_place){0, 0};
    lw_error_format(error, text, size);
    return text;
}

/* The choice of auto at the start or, where that is not to be had, by the model alone. */
static const char *automatic(const lw_model *model, const info_start *start, char *why, size_t size) {
    if (!start->assembled) return lw_method_auto(model, why, size, NULL);
    return lw_method_auto_at(model, start->t, start->q, start->v, why, size, NULL);
}

/* --- totals --------------------------------------------------------------------------------------- */

typedef struct totals {
    int bases; /* number of bodies connected to ground */
    int prescribed, closure_rows;
} totals;

static totals count_totals(const lw_model *model) {
    totals sum = {0};
    for (int b = 1; b <= lw_model_body_count(model); b++) sum.bases += lw_model_body_parent(model, b) == 0;
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        lw_joint_info joint = lw_model_joint_info(model, i);
        for (int k = 0; k < joint.v_count; k++) sum.prescribed += (joint.prescribed >> k) & 1u;
        sum.closure_rows += joint.rows;
    }
    return sum;
}

/* --- text ----------------------------------------------------------------------------------------- */

static void print_bodies(const lw_model *model) {
    printf("\nbodies, in label order\n  %5s  %-20s %-20s %-20s %-8s %s\n", "label", "body", "parent",
           "carried by", "kind", "mass, kg");
    for (int b = 1; b <= lw_model_body_count(model); b++)
        printf("  %5d  %-20s %-20s %-20s %-8s %g\n", b, lw_model_body_name(model, b),
               lw_model_body_name(model, lw_model_body_parent(model, b)),
               lw_model_joint_info(model, lw_model_body_joint(model, b)).name,
               kind_name(lw_model_body_kind(model, b)), lw_model_body_mass(model, b));
}

/* Writes "3", "3..5", or "-" for an empty range. */
static void print_range(char *text, size_t size, int first, int count) {
    if (count == 0)
        snprintf(text, size, "-");
    else if (count == 1)
        snprintf(text, size, "%d", first);
    else
        snprintf(text, size, "%d..%d", first, first + count - 1);
}

static void print_values(const char *what, const double *values, int count) {
    bool any = false;
    for (int k = 0; k < count; k++) any |= values[k] != 0;
    if (!any) return;
    printf("  %s", what);
    for (int k = 0; k < count; k++) printf(" %.6g", values[k]);
}

/* Prints what a joint says of its coordinates: rotors, zeros, limits and stops. */
static void print_coordinates(const lw_joint_spec *joint) {
    static const char *const stops[] = {"", "  stop: spring", "  stop: impact"};
    int count = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
    print_values("armature", joint->armature, count);
    print_values("zero", joint->zero, count);
    for (int k = 0; k < count; k++)
        if (joint->limits[k][0] < joint->limits[k][1])
            printf("  limits %s%.0d%s[%.6g, %.6g]", count > 1 ? "of coordinate " : "", count > 1 ? k + 1 : 0,
                   count > 1 ? " " : "", joint->limits[k][0], joint->limits[k][1]);
    printf("%s", stops[joint->stop]);
}

static void print_joints(const cli_model *m) {
    const lw_model *model = m->model;
    printf("\njoints\n  %-20s %-12s %-20s %-20s %7s %7s\n", "joint", "type", "first", "second", "q", "v");
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        lw_joint_info joint = lw_model_joint_info(model, i);
        char q[24], v[24];
        print_range(q, sizeof q, joint.q, joint.cut ? 0 : joint.q_count);
        print_range(v, sizeof v, joint.v, joint.cut ? 0 : joint.v_count);
        printf("  %-20s %-12s %-20s %-20s %7s %7s", joint.name, lw_joint_type_name(joint.type),
               lw_model_body_name(model, joint.bodies[0]), lw_model_body_name(model, joint.bodies[1]), q, v);
        if (joint.cut) printf("  cut: closes a loop with %d row%s", joint.rows, joint.rows == 1 ? "" : "s");
        if (lw_model_joint_merged(model, i)) printf("  merged");
        if (joint.reversed) printf("  reversed: carries its first body");
        if (joint.prescribed) {
            printf("  prescribed: v");
            for (int k = 0; k < joint.v_count; k++)
                if ((joint.prescribed >> k) & 1u) printf(" %d", joint.v + k);
        }
        print_coordinates(lw_spec_joint(m->spec, (size_t)i));
        printf("\n");
    }
}

/* Prints one block of C: the columns of the base arcs, or of all others. Arc a is called h_(a - shift). */
static void print_incidence(const lw_model *model, bool base_arcs, int shift) {
    int n = lw_model_body_count(model);
    printf("  %4s", "");
    for (int arc = 1; arc <= n; arc++)
        if ((lw_model_body_parent(model, arc) == 0) == base_arcs) printf(" h%-3d", arc - shift);
    printf("\n");
    for (int b = 1; b <= n; b++) {
        printf("  b%-3d", b);
        for (int arc = 1; arc <= n; arc++)
            if ((lw_model_body_parent(model, arc) == 0) == base_arcs)
                printf(" %2d  ", lw_model_incidence(model, b, arc));
        printf("\n");
    }
}

static void print_graph(const lw_model *model, int bases) {
    int n = lw_model_body_count(model), shift = bases == 1 ? 1 : 0;
    if (bases == 1) {
        printf(
            "\nincidence matrix C (mufti1983, 1): 1 body is the initial, -1 the final vertex of the arc\n");
    } else {
        printf("\nbase arcs, from ground; arc h_i leads into body b_i\n");
        print_incidence(model, true, shift);
        printf("\nincidence matrix C: 1 body is the initial, -1 the final vertex of the arc\n");
    }
    if (bases < n)
        print_incidence(model, false, shift);
    else
        printf("  no columns: every body hangs on ground\n");
    printf("\npath matrix T (mufti1983, 25): -1 the arc is on the way from ground to the body\n  %4s", "");
    for (int b = 1; b <= n; b++) printf(" b%-3d", b);
    printf("\n");
    for (int arc = 1; arc <= n; arc++) {
        printf("  h%-3d", arc - shift);
        for (int b = 1; b <= n; b++) printf(" %2d  ", lw_model_path(model, arc, b));
        printf("\n");
    }
}

static void print_loops(const lw_model *model) {
    printf("\nloops: %s\n",
           lw_model_loop_count(model) > 0 ? "joints along each, - against their sense" : "none");
    for (int l = 0; l < lw_model_loop_count(model); l++) {
        printf("  %d: closed by %s, branches meet at %s:", l + 1,
               lw_model_joint_info(model, lw_model_loop_cut(model, l)).name,
               lw_model_body_name(model, lw_model_loop_base(model, l)));
        for (int k = 0; k < lw_model_loop_length(model, l); k++) {
            int sense, joint = lw_model_loop_joint(model, l, k, &sense);
            printf(" %s%s", sense < 0 ? "-" : "", lw_model_joint_info(model, joint).name);
        }
        printf("\n");
    }
}

static void print_elements(const cli_model *m) {
    const lw_model *model = m->model;
    if (lw_model_force_count(model) > 0) printf("\nforces\n");
    for (int i = 0; i < lw_model_force_count(model); i++) {
        const char *name = lw_model_force_name(model, i);
        printf("  %-20s %s\n", name, force_type(m, name));
    }
    if (lw_model_constraint_count(model) > 0) printf("\nconstraints\n");
    for (int i = 0; i < lw_model_constraint_count(model); i++)
        printf("  %-20s %s\n", lw_model_constraint_name(model, i),
               lw_constraint_type_name(lw_model_constraint_type(model, i)));
}

/* The methods that do not apply, each reason once with all methods that give it. */
static void print_refusals(const lw_model *model) {
    enum { REFUSALS_MAX = 64 };
    static const size_t width = 12;
    char reasons[REFUSALS_MAX][512];
    bool told[REFUSALS_MAX] = {false};
    const int count = lw_method_count() < REFUSALS_MAX ? lw_method_count() : REFUSALS_MAX;
    for (int i = 0; i < count; i++) {
        lw_error error = {0};
        reasons[i][0] = '\0';
        if (lw_method_applies(lw_method_at(i).name, model, &error) != LW_OK)
            (void)reason_of(&error, reasons[i], sizeof reasons[i]);
    }
    for (int i = 0; i < count; i++) {
        if (told[i] || !reasons[i][0]) continue;
        size_t used = 0;
        for (int k = i; k < count; k++) {
            if (strcmp(reasons[i], reasons[k]) != 0) continue;
            told[k] = true;
            used += (size_t)printf("%s%s", used ? ", " : "  ", lw_method_at(k).name);
        }
        printf("%*s does not apply: %s\n", used < width + 2 ? (int)(width + 2 - used) : 0, "", reasons[i]);
    }
}

static void print_methods(const lw_model *model, const info_start *start) {
    printf("\nmethods\n");
    for (int i = 0; i < lw_method_count(); i++) {
        const lw_method_info method = lw_method_at(i);
        lw_error error = {0};
        if (lw_method_applies(method.name, model, &error) == LW_OK)
            printf("  %-12s applies: %s coordinates, %s (%s)\n", method.name, method.coordinates, method.cost,
                   method.source);
    }
    print_refusals(model);
    char why[256];
    const char *chosen = automatic(model, start, why, sizeof why);
    if (chosen) printf("  %-12s takes %s: %s\n", "auto", chosen, why);
    printf("\nintegrators\n");
    for (int i = 0; i < lw_integrator_count(); i++)
        printf("  %-12s %s\n", lw_integrator_name(i), lw_integrator_summary(i));
}

/* Frames, and the names of starts, as far as the model has any. */
static void print_frames_and_starts(const cli_model *m) {
    const lw_model *model = m->model;
    const int frames = lw_model_frame_count(model);
    if (frames > 0) printf("\nframes\n  %-20s %-20s %s\n", "frame", "body", "position, m");
    for (int i = 0; i < frames; i++) {
        double p[3];
        const int body = lw_model_frame_body(model, i, p, NULL);
        printf("  %-20s %-20s %g, %g, %g\n", lw_model_frame_name(model, i), lw_model_body_name(model, body),
               p[0], p[1], p[2]);
    }
    const size_t starts = lw_spec_start_count(m->spec);
    if (starts > 0) printf("\nstarts, for --begin\n");
    for (size_t i = 0; i < starts; i++)
        if (begins_start(m->spec, i)) printf("  %s\n", lw_spec_start(m->spec, i)->name);
}

static void print_text(const cli_model *m, const info_start *start, bool matrices) {
    const lw_model *model = m->model;
    totals sum = count_totals(model);
    int n = lw_model_body_count(model);
    cli_shown name, path;
    printf("%s (%s)\n", cli_show(lw_model_name(model), &name), cli_show(m->path, &path));
    printf("  bodies %d, joints %d, loops %d, forces %d, constraints %d\n", n, lw_model_joint_count(model),
           lw_model_loop_count(model), lw_model_force_count(model), lw_model_constraint_count(model));
    printf("  coordinates q %d, speeds v %d, of which prescribed %d; closure rows %d\n",
           lw_model_q_size(model), lw_model_v_size(model), sum.prescribed, sum.closure_rows);
    const int merged = lw_model_merged_count(model);
    if (merged > 0)
        printf("  %d weld%s merged: methods compute %d bod%s\n", merged, merged == 1 ? "" : "s", n - merged,
               n - merged == 1 ? "y" : "ies");
    print_bodies(model);
    print_joints(m);
    print_frames_and_starts(m);
    if (matrices || n <= MATRIX_MAX) print_graph(model, sum.bases);
    print_loops(model);
    info_print_cuts(m);
    info_print_closing(model, start);
    info_print_massless(m);
    print_elements(m);
    print_methods(model, start);
}

/* --- JSON ----------------------------------------------------------------------------------------- */

static void json_bodies(json *j, const lw_model *model) {
    json_array(j, "bodies");
    for (int b = 1; b <= lw_model_body_count(model); b++) {
        json_object(j, NULL);
        json_text(j, "name", lw_model_body_name(model, b));
        json_integer(j, "label", b);
        json_text(j, "parent", lw_model_body_name(model, lw_model_body_parent(model, b)));
        json_text(j, "joint", lw_model_joint_info(model, lw_model_body_joint(model, b)).name);
        json_number(j, "mass", lw_model_body_mass(model, b));
        json_text(j, "kind", kind_name(lw_model_body_kind(model, b)));
        json_object_end(j);
    }
    json_array_end(j);
}

/* Of those that have them: rotors, zeros, limits (null: open) and stops. */
static void json_coordinates(json *j, const lw_joint_spec *joint) {
    static const char *const stops[] = {"", "spring", "impact"};
    int count = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
    bool rotor = false, moved = false, limited = false;
    for (int k = 0; k < count; k++) {
        rotor |= joint->armature[k] != 0, moved |= joint->zero[k] != 0;
        limited |= joint->limits[k][0] < joint->limits[k][1];
    }
    if (rotor) json_numbers(j, "armature", joint->armature, count);
    if (moved) json_numbers(j, "zero", joint->zero, count);
    if (limited) {
        json_array(j, "limits");
        for (int k = 0; k < count; k++)
            json_numbers(j, NULL, joint->limits[k], joint->limits[k][0] < joint->limits[k][1] ? 2 : 0);
        json_array_end(j);
    }
    if (joint->stop) json_text(j, "stop", stops[joint->stop]);
}

static void json_joints(json *j, const cli_model *m) {
    const lw_model *model = m->model;
    json_array(j, "joints");
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        lw_joint_info joint = lw_model_joint_info(model, i);
        json_object(j, NULL);
        json_text(j, "name", joint.name);
        json_text(j, "type", lw_joint_type_name(joint.type));
        json_array(j, "between");
        for (int k = 0; k < 2; k++) json_text(j, NULL, lw_model_body_name(model, joint.bodies[k]));
        json_array_end(j);
        json_bool(j, "cut", joint.cut);
        if (lw_model_joint_merged(model, i)) json_bool(j, "merged", true);
        json_bool(j, "reversed", joint.reversed);
        json_integer(j, "q", joint.cut ? -1 : joint.q);
        json_integer(j, "q_count", joint.cut ? 0 : joint.q_count);
        json_integer(j, "v", joint.cut ? -1 : joint.v);
        json_integer(j, "v_count", joint.cut ? 0 : joint.v_count);
        json_integer(j, "rows", joint.rows);
        json_array(j, "prescribed");
        for (int k = 0; !joint.cut && k < joint.v_count; k++)
            json_bool(j, NULL, (joint.prescribed >> k) & 1u);
        json_array_end(j);
        json_coordinates(j, lw_spec_joint(m->spec, (size_t)i));
        json_object_end(j);
    }
    json_array_end(j);
}

/* Writes the members incidence, which is C with a row for each body and a column for each arc that does not
 * start at ground, and path, which is T with a row for each arc, base arcs included, and a column for each
 * body. */
static void json_frames_and_starts(json *j, const cli_model *m) {
    json_array(j, "frames");
    for (int i = 0; i < lw_model_frame_count(m->model); i++) {
        double position[3], rotation[4];
        const int body = lw_model_frame_body(m->model, i, position, rotation);
        json_object(j, NULL);
        json_text(j, "name", lw_model_frame_name(m->model, i));
        json_text(j, "body", lw_model_body_name(m->model, body));
        json_numbers(j, "position", position, 3);
        json_numbers(j, "rotation", rotation, 4);
        json_object_end(j);
    }
    json_array_end(j);
    json_array(j, "starts");
    for (size_t i = 0; i < lw_spec_start_count(m->spec); i++)
        if (begins_start(m->spec, i)) json_text(j, NULL, lw_spec_start(m->spec, i)->name);
    json_array_end(j);
}

static void json_graph(json *j, const cli_model *m) {
    const lw_model *model = m->model;
    int n = lw_model_body_count(model);
    json_array(j, "incidence");
    for (int b = 1; b <= n; b++) {
        json_array(j, NULL);
        for (int arc = 1; arc <= n; arc++)
            if (lw_model_body_parent(model, arc) != 0)
                json_integer(j, NULL, lw_model_incidence(model, b, arc));
        json_array_end(j);
    }
    json_array_end(j);
    json_array(j, "path");
    for (int arc = 1; arc <= n; arc++) {
        json_array(j, NULL);
        for (int b = 1; b <= n; b++) json_integer(j, NULL, lw_model_path(model, arc, b));
        json_array_end(j);
    }
    json_array_end(j);
    json_array(j, "loops");
    char why[600];
    for (int l = 0; l < lw_model_loop_count(model); l++) {
        json_object(j, NULL);
        json_text(j, "cut", lw_model_joint_info(model, lw_model_loop_cut(model, l)).name);
        json_text(j, "why", info_cut_reason(m, l, why, sizeof why));
        json_text(j, "base", lw_model_body_name(model, lw_model_loop_base(model, l)));
        json_integer(j, "length", lw_model_loop_length(model, l));
        json_array(j, "joints");
        for (int k = 0; k < lw_model_loop_length(model, l); k++) {
            int sense, joint = lw_model_loop_joint(model, l, k, &sense);
            json_object(j, NULL);
            json_text(j, "name", lw_model_joint_info(model, joint).name);
            json_integer(j, "sense", sense);
            json_object_end(j);
        }
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_named(json *j, const char *name, const char *type) {
    json_object(j, NULL);
    json_text(j, "name", name);
    json_text(j, "type", type);
    json_object_end(j);
}

static void json_elements(json *j, const cli_model *m) {
    json_array(j, "forces");
    for (int i = 0; i < lw_model_force_count(m->model); i++) {
        const char *name = lw_model_force_name(m->model, i);
        json_named(j, name, force_type(m, name));
    }
    json_array_end(j);
    json_array(j, "constraints");
    for (int i = 0; i < lw_model_constraint_count(m->model); i++)
        json_named(j, lw_model_constraint_name(m->model, i),
                   lw_constraint_type_name(lw_model_constraint_type(m->model, i)));
    json_array_end(j);
}

static void json_methods(json *j, const lw_model *model, const info_start *start) {
    json_array(j, "methods");
    for (int i = 0; i < lw_method_count(); i++) {
        lw_method_info method = lw_method_at(i);
        lw_error error = {0};
        char reason[1024];
        bool applies = lw_method_applies(method.name, model, &error) == LW_OK;
        json_object(j, NULL);
        json_text(j, "method", method.name);
        json_bool(j, "applies", applies);
        json_text(j, "reason", applies ? NULL : reason_of(&error, reason, sizeof reason));
        json_text(j, "source", method.source);
        json_text(j, "coordinates", method.coordinates);
        json_text(j, "cost", method.cost);
        json_object_end(j);
    }
    json_array_end(j);
    char why[256] = "";
    json_text(j, "auto", automatic(model, start, why, sizeof why));
    json_array(j, "integrators");
    for (int i = 0; i < lw_integrator_count(); i++) {
        json_object(j, NULL);
        json_text(j, "integrator", lw_integrator_name(i));
        json_text(j, "summary", lw_integrator_summary(i));
        json_object_end(j);
    }
    json_array_end(j);
}

static int print_json(const cli_command *command, const cli_model *m, const info_start *start,
                      const info_criterion *criterion) {
    const lw_model *model = m->model;
    totals sum = count_totals(model);
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "name", lw_model_name(model));
    json_bodies(&j, model);
    json_joints(&j, m);
    json_frames_and_starts(&j, m);
    json_graph(&j, m);
    json_object(&j, "dof");
    json_integer(&j, "q", lw_model_q_size(model));
    json_integer(&j, "v", lw_model_v_size(model));
    json_integer(&j, "prescribed", sum.prescribed);
    json_integer(&j, "closure_rows", sum.closure_rows);
    json_object_end(&j);
    info_json_closing(&j, model, start);
    info_json_massless(&j, m);
    json_elements(&j, m);
    json_methods(&j, model, start);
    int result = criterion->wanted ? info_json_criterion(command, &j, m, start, criterion) : CLI_DONE;
    json_object_end(&j);
    json_end(&j);
    return result;
}

static int info(const cli_command *command, int argc, char **argv) {
    bool as_json = false, matrices = false, all = false;
    info_criterion criterion = {.wanted = false};
    cli_changes changes = {.any_path = false};
    const cli_option options[] = {
        {"all", NULL, "bodies, joints, graph, loops, every method's reason", NULL, .flag = &all},
        {"matrices", NULL, "--all, with the matrices C and T of more than 30 bodies too", NULL,
         .flag = &matrices},
        {"criterion", NULL, "which coordinates serve best as independent ones, for every possible cut too",
         NULL, .flag = &criterion.wanted},
        {"absolute", NULL, "the criterion for absolute coordinates of the bodies", NULL,
         .flag = &criterion.absolute},
        {"sweep", "JOINT[=FROM..TO]",
         "the criterion while a joint is driven; a full turn if no range is given", "crank=0..2*pi",
         .text = &criterion.sweep},
        {"points", "N", "of the sweep; 361 if not given", "721", .number = &criterion.points, .unit = "1"},
        {"out", "FILE", "the sweep as data (.csv), or as a figure with its data beside it (.svg)",
         "sweep.svg", .text = &criterion.out},
        CLI_SET_OPTION(changes),
        CLI_BEGIN_OPTION(changes),
        CLI_PATH_OPTION(changes),
        CLI_IMPORT_OPTIONS(changes),
        {"json", NULL, "print one JSON document", NULL, .flag = &as_json},
    };
    cli_model loaded;
    info_start start = {.q = NULL};
    int result;
    if (cli_open_model(command, options, sizeof options / sizeof options[0], argc, argv, &changes, &loaded,
                       &result)) {
        criterion.wanted = criterion.wanted || criterion.absolute || criterion.sweep;
        if (criterion.out && !criterion.sweep)
            result = cli_say(command, CLI_WRONG, "--out: there is data to write with --sweep only");
        else if (criterion.points > 0 && !criterion.sweep)
            result =
                cli_say(command, CLI_WRONG, "--points: these are the points of a --sweep; give that too");
        else if (!info_find_start(command, loaded.model, &start))
            result = CLI_FAILED;
        else if (as_json)
            result = print_json(command, &loaded, &start, &criterion);
        else {
            if (all || matrices || criterion.wanted)
                print_text(&loaded, &start, matrices);
            else
                info_print_summary(&loaded, &start);
            if (criterion.wanted) result = info_print_criterion(command, &loaded, &start, &criterion);
        }
    }
    info_free_start(&start);
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_info = {
    "info", "MODEL [options]", "bodies, labels, joints, graph, loops, methods", "", info, NULL};
