/* test_units.c - what units measure, and numbers from outside a model.
 *
 * Dimensions are checked against products of base units written out, which take another way through the
 * reader of units than a name in its table does.
 */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linkwork/io.h>

#include "expression/function.h"
#include "expression/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const si[LW_QUANTITIES] = {
    [LW_PLAIN_NUMBER] = "1",
    [LW_ANGLE] = "rad",
    [LW_LENGTH] = "m",
    [LW_MASS] = "kg",
    [LW_TIME] = "s",
    [LW_SPEED] = "m/s",
    [LW_ANGULAR_SPEED] = "rad/s",
    [LW_ACCELERATION] = "m/s^2",
    [LW_FORCE] = "N",
    [LW_TORQUE] = "N m",
    [LW_INERTIA] = "kg m^2",
    [LW_DENSITY] = "kg/m^3",
    [LW_STIFFNESS] = "N/m",
    [LW_DAMPING] = "N s/m",
    [LW_PRESSURE] = "Pa",
    [LW_TURNING_STIFFNESS] = "N m/rad",
    [LW_TURNING_DAMPING] = "N m s/rad",
    [LW_POWER] = "W",
    [LW_COMPLIANCE] = "m/N",
    [LW_TURNING_COMPLIANCE] = "rad/(N m)",
};

/* Torque and stiffness against turning differ by a radian only, which is no dimension. */
static bool alike(lw_quantity a, lw_quantity b) {
    if (a == LW_TURNING_STIFFNESS) a = LW_TORQUE;
    if (b == LW_TURNING_STIFFNESS) b = LW_TORQUE;
    return a == b;
}

/* Every unit of the table in two ways: by its name, and by base units. */
static void every_unit_has_its_dimension(void **state) {
    (void)state;
    static const struct {
        const char *names, *base;
        lw_quantity quantity;
    } groups[] = {
        {"m mm cm km um in ft", "m", LW_LENGTH},
        {"rad deg rev", "m/m", LW_ANGLE},
        {"rpm Hz", "1/s", LW_ANGULAR_SPEED},
        {"s ms us min h", "s", LW_TIME},
        {"kg g mg tonne lb", "kg", LW_MASS},
        {"N mN kN MN lbf", "kg m/s^2", LW_FORCE},
        {"Nm Nmm kNm J kJ", "kg m^2/s^2", LW_TORQUE},
        {"Pa kPa MPa GPa bar", "kg/(m s^2)", LW_PRESSURE},
        {"W kW", "kg m^2 s^-3", LW_POWER},
        {"Ns", "kg m/s", LW_ANY_QUANTITY},
        {"Nms", "kg m^2/s", LW_TURNING_DAMPING},
    };
    size_t known = 0;
    while (lw_unit_name(known)) known++;
    for (size_t g = 0; g < COUNT(groups); g++) {
        char names[64], text[64];
        snprintf(names, sizeof names, "%s", groups[g].names);
        char *rest = names;
        for (char *name; (name = strtok_r(rest, " ", &rest)); known--) {
            /* 1 name/(base) must be a plain number; and the name must fit its own quantity and no other dimension */
            if (strcmp(groups[g].base, "1/s") == 0)
                snprintf(text, sizeof text, "1 %s*s", name);
            else
                snprintf(text, sizeof text, "1 %s/(%s)", name, groups[g].base);
            assert_true(lw_units_fit(text, LW_PLAIN_NUMBER, NULL));
            snprintf(text, sizeof text, "2.5e-3 %s", name);
            for (int k = LW_ANGLE; k < LW_QUANTITIES; k++) {
                bool own = alike(groups[g].quantity, (lw_quantity)k);
                if (lw_units_fit(text, (lw_quantity)k, NULL) != own) fail_msg("%s as %s", text, si[k]);
            }
        }
    }
    assert_int_equal(known, 0); /* all of the table was seen */
}

static void si_units_fit_their_quantity_only(void **state) {
    (void)state;
    for (int a = LW_ANGLE; a < LW_QUANTITIES; a++) {
        assert_int_equal(lw_quantity_of(si[a]), a);
        for (int b = LW_ANGLE; b < LW_QUANTITIES; b++) {
            char text[64];
            double value;
            snprintf(text, sizeof text, "-7 %s", si[a]);
            assert_true(lw_number(text, NULL, 0, &value, NULL) && value == -7);
            assert_int_equal(lw_units_fit(text, (lw_quantity)b, NULL), alike((lw_quantity)a, (lw_quantity)b));
        }
    }
    assert_int_equal(lw_quantity_of("1"), LW_PLAIN_NUMBER);
    assert_int_equal(lw_quantity_of(NULL), LW_ANY_QUANTITY);
    assert_int_equal(lw_quantity_of("parsec"), LW_ANY_QUANTITY);
}

/* Only a lone number with units is judged. */
static void other_expressions_are_trusted(void **state) {
    (void)state;
    static const char *const trusted[] = {
        "3", "-1e3", "2*3 mm", "3 mm + 1", "L",  "2*L", "(3 mm)", "sin(2)", "3 mm*(a + b)", "3 mm/2",
        "",  "mm",   "3 x",    "3 m^x",    "1e", "3 (", "+-+",    "1 e 2",  "3 m m^-",      "1..2"};
    for (size_t k = 0; k < COUNT(trusted); k++) {
        if (!lw_units_fit(trusted[k], LW_MASS, NULL)) fail_msg("%s", trusted[k]);
    }
    assert_true(lw_units_fit("3 mm", LW_ANY_QUANTITY, NULL));

    /* exponents stay bounded in a text of any length */
    enum { FACTORS = 20000 };
    char *text = malloc(8 + 8 * FACTORS);
    assert_non_null(text);
    strcpy(text, "1 m^9");
    for (size_t k = 0, at = 5; k < FACTORS; k++, at += 4) strcpy(text + at, " m^9");
    lw_syntax syntax;
    assert_false(lw_units_fit(text, LW_LENGTH, &syntax));
    assert_non_null(strstr(syntax.message, "is no unit of a length"));
    free(text);
}

static void messages_name_both_quantities(void **state) {
    (void)state;
    lw_syntax syntax;
    assert_false(lw_units_fit(" 3 mm ", LW_MASS, &syntax));
    assert_string_equal(syntax.message, "mm is a length, but a mass is expected");
    assert_string_equal(syntax.remedy, "give it in kg");
    assert_int_equal(syntax.offset, 3);
    assert_false(lw_units_fit("3 kg/m^2", LW_DENSITY, &syntax));
    assert_string_equal(syntax.message, "kg/m^2 is no unit of a density");
    assert_false(lw_units_fit("1e-3m", LW_PLAIN_NUMBER, &syntax));
    assert_string_equal(syntax.message, "m is a length, but a plain number is expected");
    assert_string_equal(syntax.remedy, "leave the unit out");
    assert_false(lw_units_fit("5 mm/rev", LW_LENGTH, &syntax));
    assert_string_equal(syntax.message, "mm/rev has an angle in it, but a length is expected");
    assert_string_equal(syntax.remedy, "give it in m; a screw's lead is per turn");
    assert_false(lw_units_fit("5 mm / (1/rad)", LW_LENGTH, NULL));
    assert_true(lw_units_fit("5 mm s/s", LW_LENGTH, NULL));
}

static void numbers_from_outside(void **state) {
    (void)state;
    static const struct {
        const char *text, *unit;
        double value;
    } good[] = {{"10 ms", "s", 0.01},   {"1/100", "s", 0.01}, {"2 min", NULL, 120}, {"1e-8", "1", 1e-8},
                {"-20 mm", "m", -0.02}, {" 3 ", "m", 3},      {"2^3", "1", 8}};
    static const struct {
        const char *text, *unit, *message;
    } bad[] = {
        {"0x10", "s", "\"0x10\", character 2: unknown unit \"x10\""},
        {"nan", "s", "\"nan\", character 1: \"nan\" is not a number to compute with"},
        {"-inf", NULL, "\"-inf\", character 2: \"inf\" is not a number to compute with"},
        {"1e400", NULL, "\"1e400\", character 1: number 1e400 is too large"},
        {"", "s", "\"\", character 1: the expression is empty"},
        {"1/0", "s", "\"1/0\", character 2: division by zero"},
        {"10 kg", "s", "\"10 kg\", character 4: kg is a mass, but a time is expected"},
        {"L", "m", "\"L\", character 1: unknown name \"L\""},
    };
    for (size_t k = 0; k < COUNT(good); k++) {
        lw_error error;
        double value;
        assert_int_equal(lw_read_number(good[k].text, good[k].unit, &value, &error), LW_OK);
        if (value != good[k].value)
            fail_msg("%s is %.17g", good[k].text, value); /* one rounding at most, the same */
    }
    for (size_t k = 0; k < COUNT(bad); k++) {
        lw_error error = {0};
        double value = 4;
        assert_int_equal(lw_read_number(bad[k].text, bad[k].unit, &value, &error), LW_ERROR_ARGUMENT);
        assert_string_equal(error.message, bad[k].message);
        assert_true(error.remedy[0] && value == 4);
        assert_int_equal(lw_read_number(bad[k].text, bad[k].unit, &value, NULL), LW_ERROR_ARGUMENT);
    }
}

/* The run section of a file is there to be read whatever else is wrong. */
static void the_run_section_alone(void **state) {
    (void)state;
    char path[] = "/tmp/linkwork-units-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    const char text[] =
        "linkwork: 1\nname: n\ncolour: red\nparameters: {T: 2, U: T +}\nbodies: [1]\njoints: {a: {}, a: 3}\n"
        "run: {end: 2*T, step: -1, tolerance: 5, output: 1 kg, method: tre, drift: [], speed: 1}\n";
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    lw_spec *spec = NULL;
    const lw_setting setting = {"T", "3 s"};
    assert_int_equal(lw_read_run(path, &setting, 1, &spec), LW_OK);
    const lw_run_spec *run = lw_spec_run(spec);
    assert_string_equal(lw_spec_name(spec), "n");
    assert_string_equal(run->method, "tre");
    assert_true(run->end == 6 && run->step == 0 && run->tolerance == 0 && run->output == 0 && !run->drift);
    assert_int_equal(run->place.line, 7);
    assert_int_equal(lw_spec_body_count(spec) + lw_spec_joint_count(spec), 0);
    lw_spec_destroy(spec);
    unlink(path);
    assert_int_equal(lw_read_run(path, NULL, 0, &spec), LW_ERROR_FILE);
    assert_null(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_has_its_dimension),  cmocka_unit_test(si_units_fit_their_quantity_only),
        cmocka_unit_test(other_expressions_are_trusted), cmocka_unit_test(messages_name_both_quantities),
        cmocka_unit_test(numbers_from_outside),          cmocka_unit_test(the_run_section_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
