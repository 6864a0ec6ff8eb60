/* info_massless.c - the directions in which a mechanism moves no mass, and the light bodies that make a run
 * stiff.
 */
#include "info_massless.h"

#include <linkwork/massless.h>
#include <linkwork/neglect.h>
#include <math.h>
#include <string.h>

enum { STIFF_MAX = 64, SHOWN_MAX = 30 };

/* The least ratio above x with one digit: 2e-05 for 1.4e-5. */
static double round_up(double x) {
    double decade = pow(10, floor(log10(x)));
    return decade * (floor(1.0000001 * x / decade) + 1);
}

static double largest_ratio(const lw_stiff_body *stiff, int count) {
    double ratio = 0;
    for (int k = 0; k < count; k++) ratio = fmax(ratio, stiff[k].ratio);
    return ratio;
}

/* Writes the message of a run about the balance along algebraic directions at its start; returns false if
 * they are in balance, or if there are none. */
static bool no_balance(const lw_model *model, const lw_directions *directions, char *text, size_t size) {
    lw_error error = {0};
    bool algebraic = false;
    for (int k = 0; k < lw_directions_count(directions); k++) {
        lw_direction_kind kind = lw_directions_at(directions, k)->kind;
        if (kind == LW_DIRECTION_UNDETERMINED) return false;
        algebraic |= kind == LW_DIRECTION_ALGEBRAIC;
    }
    if (!algebraic || lw_directions_balance(model, &error) == LW_OK) return false;
    lw_error_format(&error, text, size);
    return true;
}

static void print_directions(const lw_model *model, const lw_directions *directions, int more) {
    int count = lw_directions_count(directions);
    char text[1024];
    if (count == 0) return;
    printf("\ndirections without mass: %d; with mass (dynamic, of second order): %d\n", count,
           lw_directions_dynamic(directions));
    for (int k = 0; k < count && k < more; k++) {
        const lw_direction *d = lw_directions_at(directions, k);
        printf("  %-20s %-20s %-34s %s\n", d->body_name, d->joint_name, d->text,
               lw_direction_kind_name(d->kind));
    }
    if (count > more) printf("  and %d more; --json lists all\n", count - more);
    for (int k = 0; k < count; k++) {
        lw_error error = lw_directions_at(directions, k)->error;
        if (error.status == LW_OK) continue;
        lw_error_format(&error, text, sizeof text);
        printf("  warning: %s\n", text);
    }
    if (no_balance(model, directions, text, sizeof text)) printf("  warning: %s\n", text);
}

/* Finds which of these bodies would lose some inertia in a run with --neglect-mass ratio; a body whose
 * inertia is kept after all does not count. */
static void find_neglected(lw_spec *spec, double ratio, const lw_stiff_body *stiff, int count, bool *frees) {
    lw_neglect *neglect = NULL;
    lw_error error = {0};
    for (int k = 0; k < count; k++) frees[k] = false;
    if (lw_neglect_create(spec, ratio, &neglect, &error) != LW_OK) return;
    for (int i = 0; i < lw_neglect_count(neglect); i++) {
        const lw_neglected *b = lw_neglect_at(neglect, i);
        for (int k = 0; k < count && !b->kept; k++) frees[k] |= strcmp(stiff[k].body, b->body) == 0;
    }
    lw_neglect_destroy(neglect);
}

static void print_stiff(lw_spec *spec, const lw_stiff_body *stiff, int count) {
    bool frees[STIFF_MAX], any = false;
    if (count == 0) return;
    double ratio = round_up(largest_ratio(stiff, count));
    find_neglected(spec, ratio, stiff, count, frees);
    for (int k = 0; k < count; k++) any |= frees[k];
    printf("\nlight bodies that make a run stiff; the rest moves at rates up to %.3g /s\n", stiff[0].rest);
    for (int k = 0; k < count && k < SHOWN_MAX; k++)
        printf("  %-20s %g kg, %.2g of what it moves with: %s at %.3g /s\n", stiff[k].body, stiff[k].mass,
               stiff[k].ratio, stiff[k].oscillates ? "oscillates" : "decays", stiff[k].rate);
    if (count > SHOWN_MAX) printf("  and %d more; --json lists all\n", count - SHOWN_MAX);
    printf("  warning: an explicit integrator takes steps of %.1g s here; ", 3 / stiff[0].rate);
    if (any)
        printf("neglect this inertia with run --neglect-mass %.0e, or take --integrator bdf\n", ratio);
    else
        printf(
            "take --integrator bdf (nothing else determines these motions, or the rest feels the inertia: it "
            "cannot be neglected)\n");
}

void info_print_massless(const cli_model *m) {
    lw_directions *directions = NULL;
    lw_stiff_body stiff[STIFF_MAX];
    lw_error error = {0};
    char text[1024];
    int count = 0;
    if (lw_directions_create(m->model, &directions, &error) == LW_OK) {
        print_directions(m->model, directions, SHOWN_MAX);
    } else {
        lw_error_format(&error, text, sizeof text);
        printf("\ndirections without mass: not found: %s\n", text);
    }
    lw_directions_destroy(directions);
    if (lw_stiff_bodies(m->spec, stiff, STIFF_MAX, &count, &error) == LW_OK)
        print_stiff(m->spec, stiff, count);
}

/* Counts directions by kind, and tells the first warning of those that are not determined. */
static void summarise_directions(const lw_model *model, const lw_directions *directions) {
    const int count = lw_directions_count(directions);
    char text[1024];
    int told = 0;
    if (count == 0) return;
    printf("  massless      %d direction%s without mass, %d with mass\n", count, count == 1 ? "" : "s",
           lw_directions_dynamic(directions));
    for (int k = 0; k < count; k++) {
        lw_error error = lw_directions_at(directions, k)->error;
        if (error.status == LW_OK || told++ > 0) continue;
        lw_error_format(&error, text, sizeof text);
        printf("  warning       %s\n", text);
    }
    if (told > 1) printf("  and %d such warning%s more\n", told - 1, told == 2 ? "" : "s");
    if (told == 0 && no_balance(model, directions, text, sizeof text)) printf("  warning       %s\n", text);
}

void info_summarise_massless(const cli_model *m) {
    lw_directions *directions = NULL;
    lw_stiff_body stiff[STIFF_MAX];
    lw_error error = {0};
    int count = 0;
    if (lw_directions_create(m->model, &directions, &error) == LW_OK)
        summarise_directions(m->model, directions);
    lw_directions_destroy(directions);
    if (lw_stiff_bodies(m->spec, stiff, STIFF_MAX, &count, &error) != LW_OK || count == 0) return;
    bool frees[STIFF_MAX], any = false;
    const double ratio = round_up(largest_ratio(stiff, count));
    find_neglected(m->spec, ratio, stiff, count, frees);
    for (int k = 0; k < count; k++) any |= frees[k];
    printf("  stiff         %d light bod%s, %s at %.3g /s: take ", count, count == 1 ? "y" : "ies",
           stiff[0].body, stiff[0].rate);
    if (any) printf("--neglect-mass %.0e or ", ratio);
    printf("--integrator bdf\n");
}

void info_json_massless(json *j, const cli_model *m) {
    lw_directions *directions = NULL;
    lw_stiff_body stiff[STIFF_MAX];
    lw_error error = {0};
    int count = 0;
    bool known = lw_directions_create(m->model, &directions, &error) == LW_OK;
    json_object(j, "massless");
    json_array(j, "directions");
    for (int k = 0; known && k < lw_directions_count(directions); k++) {
        const lw_direction *d = lw_directions_at(directions, k);
        char text[1024] = "";
        json_object(j, NULL);
        json_text(j, "body", d->body_name);
        json_text(j, "joint", d->joint_name);
        json_integer(j, "speed", d->speed);
        json_text(j, "direction", d->text);
        json_text(j, "class", lw_direction_kind_name(d->kind));
        if (d->error.status != LW_OK) lw_error_format(&d->error, text, sizeof text);
        json_text(j, "reason", text[0] ? text : NULL);
        json_object_end(j);
    }
    json_array_end(j);
    if (known) json_integer(j, "dynamic", lw_directions_dynamic(directions));
    char text[1024];
    if (known && no_balance(m->model, directions, text, sizeof text)) json_text(j, "no_balance", text);
    json_object_end(j);
    lw_directions_destroy(directions);

    if (lw_stiff_bodies(m->spec, stiff, STIFF_MAX, &count, &error) != LW_OK) count = 0;
    bool frees[STIFF_MAX];
    if (count > 0) find_neglected(m->spec, round_up(largest_ratio(stiff, count)), stiff, count, frees);
    json_array(j, "stiff");
    for (int k = 0; k < count; k++) {
        json_object(j, NULL);
        json_text(j, "body", stiff[k].body);
        json_number(j, "mass", stiff[k].mass);
        json_number(j, "ratio", stiff[k].ratio);
        json_number(j, "rate", stiff[k].rate);
        json_number(j, "rest", stiff[k].rest);
        json_text(j, "motion", stiff[k].oscillates ? "oscillates" : "decays");
        json_number(j, "neglect", frees[k] ? round_up(stiff[k].ratio) : NAN);
        json_object_end(j);
    }
    json_array_end(j);
}
