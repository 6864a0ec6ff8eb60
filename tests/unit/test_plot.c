/* test_plot.c - reading results files, choosing what to plot, and the SVG that comes out: well-formed,
 * complete, without lost peaks. */
#include "io/number.h"
#include "io/plot/plot.h"

#include <linkwork/io.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

static const char csv_path[] = "test_plot.csv", svg_path[] = "test_plot.svg";

static const char sample[] =
    "# linkwork 0.1.0\n"
    "# model: slider <1> & crank (slider.yaml)\n"
    "# method: cut\n"
    "# integrator: rk4\n"
    "t [s],crank.q [rad],crank.v [rad/s],slide.q [m],ball.qw [1],body.rod.x [m],kinetic [J],"
    "potential [J],unaccounted [J]\n"
    "0,0,1,0.5,1,0,1,2,0\n"
    "0.5,0.25,1,0.25,1,0,2,1,1e-13\n"
    "1,1,1,-0.5,1,0,3,0,-2e-13\n";

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static char *read_svg(void) {
    FILE *file = fopen(svg_path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    text[size] = '\0';
    fclose(file);
    return text;
}

static int occurrences(const char *text, const char *part) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) count++;
    return count;
}

/* --- a small check that XML is well-formed: tags nest, attributes are quoted, no bare & or < ------ */

static const char *skip_attributes(const char *at) {
    while (*at == ' ') {
        at++;
        size_t name = strcspn(at, "= \"<>/");
        assert_true(name > 0);
        at += name;
        assert_memory_equal(at, "=\"", 2);
        at += 2;
        at += strcspn(at, "\"<");
        assert_int_equal(*at, '"');
        at++;
    }
    return at;
}

static void check_well_formed(const char *text) {
    enum { DEPTH = 16 };
    char open[DEPTH][32];
    int depth = 0, elements = 0;
    for (const char *at = text; *at;) {
        if (*at == '&') {
            assert_true(strncmp(at, "&amp;", 5) == 0 || strncmp(at, "&lt;", 4) == 0 ||
                        strncmp(at, "&gt;", 4) == 0 || strncmp(at, "&quot;", 6) == 0);
            at++;
        } else if (*at != '<') {
            assert_true((unsigned char)*at >= ' ' || *at == '\n');
            at++;
        } else if (at[1] == '/') {
            size_t length = strcspn(at + 2, ">");
            assert_true(depth > 0);
            depth--;
            assert_int_equal(strlen(open[depth]), length);
            assert_memory_equal(open[depth], at + 2, length);
            at += length + 3;
        } else {
            size_t length = strcspn(at + 1, " />");
            assert_in_range(length, 1, 31);
            assert_true(depth < DEPTH);
            assert_true(depth > 0 || elements == 0); /* one root */
            memcpy(open[depth], at + 1, length);
            open[depth][length] = '\0';
            at = skip_attributes(at + 1 + length);
            elements++;
            if (*at == '/') {
                at++;
            } else {
                depth++;
            }
            assert_int_equal(*at, '>');
            at++;
        }
    }
    assert_int_equal(depth, 0);
    assert_true(elements > 0);
}

static char *plot_text(const char *csv, const char *const *columns, size_t count) {
    lw_error error;
    write_file(csv_path, csv);
    lw_status status = lw_plot_results(csv_path, svg_path, columns, count, &error);
    if (status != LW_OK) fail_msg("%s", error.message);
    char *svg = read_svg();
    check_well_formed(svg);
    return svg;
}

static void check_fault(const char *csv, const char *const *columns, size_t count, lw_status expected,
                        const char *message) {
    lw_error error;
    char text[2048];
    if (csv) write_file(csv_path, csv);
    assert_int_equal(lw_plot_results(csv_path, svg_path, columns, count, &error), expected);
    lw_error_format(&error, text, sizeof text);
    if (!strstr(text, message)) fail_msg("\"%s\" does not contain \"%s\"", text, message);
    assert_int_equal(lw_plot_results(csv_path, svg_path, columns, count, NULL), expected);
}

/* --- tests ---------------------------------------------------------------------------------------- */

static void the_default_shows_coordinates_and_energies(void **state) {
    (void)state;
    char *svg = plot_text(sample, NULL, 0);
    assert_int_equal(occurrences(svg, "class=\"frame\""), 4);
    /* each curve once in the panel, once in the legend */
    assert_int_equal(occurrences(svg, "class=\"curve c0\""), 8);
    assert_int_equal(occurrences(svg, "class=\"curve c1\""), 2);
    assert_int_equal(occurrences(svg, "class=\"curve c2\""), 2);
    const char *const expected[] = {"slider &lt;1&gt; &amp; crank (slider.yaml)",
                                    "cut, rk4, test_plot.csv",
                                    ">crank.q<",
                                    ">slide.q<",
                                    ">kinetic<",
                                    ">potential<",
                                    ">total<",
                                    ">unaccounted<",
                                    "angle [rad]",
                                    "displacement [m]",
                                    "energy [J]",
                                    "t [s]",
                                    "prefers-color-scheme"};
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        if (!strstr(svg, expected[k])) fail_msg("no %s in the plot", expected[k]);
    }
    const char *const absent[] = {"ball.qw", "crank.v", "body.rod", "nan", "inf"};
    for (size_t k = 0; k < sizeof absent / sizeof *absent; k++) assert_null(strstr(svg, absent[k]));
    free(svg);
}

static void columns_are_found_by_name_or_header(void **state) {
    (void)state;
    const char *const columns[] = {"crank.q+slide.q", "body.rod.x [m]", " crank.v + crank.v [rad/s] ",
                                   "total"};
    char *svg = plot_text(sample, columns, 4);
    assert_int_equal(occurrences(svg, "class=\"frame\""), 4);
    assert_non_null(strstr(svg, ">crank.q [rad]<")); /* units differ, so the legend has them */
    assert_non_null(strstr(svg, "position [m]"));
    assert_non_null(strstr(svg, "angular speed [rad/s]"));
    assert_non_null(strstr(svg, ">total<"));
    free(svg);
    /* a '+' in a name, quotes, a comma, a quotation mark, Windows line ends, a byte order mark, gaps */
    const char *const odd[] = {"a+b,\"c\""};
    svg = plot_text("\xEF\xBB\xBFt,\"a+b,\"\"c\"\" [m]\",d\r\n\r\n0,1,x\r\n1,,y\r\n2,3,z\r\n", odd, 1);
    assert_non_null(strstr(svg, ">a+b,&quot;c&quot;<"));
    assert_int_equal(occurrences(svg, "M"), 3); /* the legend's line, and two pieces around the gap */
    free(svg);
}

static void only_quaternions_are_better_than_nothing(void **state) {
    (void)state;
    char *svg = plot_text("t [s],ball.qw [1],ball.wx [rad/s]\n0,1,0\n1,1,0\n", NULL, 0);
    assert_non_null(strstr(svg, ">ball.qw<"));
    free(svg);
    svg = plot_text("hour,price\n0,1\n1,2\n", NULL, 0); /* a file from elsewhere */
    assert_non_null(strstr(svg, ">price<"));
    free(svg);
}

static void at_most_eight_curves_by_default(void **state) {
    (void)state;
    char *svg =
        plot_text("t,a [rad],b [rad],c [rad],d [rad],e [rad],f [rad],g [rad],h [rad],i [rad],j [rad]\n"
                  "0,0,0,0,0,0,0,0,0,0,0\n1,10,9,2,3,4,5,6,7,8,7.5\n",
                  NULL, 0);
    /* Farthest first: a, c, g, e, i, and b, d, f, which h equals in distance; j is nearest to others. */
    for (char name = 'a'; name <= 'j'; name++) {
        const char label[] = {'>', name, '<', '\0'};
        if ((strstr(svg, label) != NULL) != (strchr("abcdefgi", name) != NULL))
            fail_msg("%c in %s", name, svg);
    }
    assert_non_null(strstr(svg, "8 of 10 curves, those that differ most"));
    free(svg);
    const char *const all[] = {"a+b+c+d+e+f+g+h+i+j"};
    svg = plot_text("t,a,b,c,d,e,f,g,h,i,j\n0,1,2,3,4,5,6,7,8,9,10\n1,1,2,3,4,5,6,7,8,9,10\n", all, 1);
    assert_non_null(strstr(svg, "class=\"curve c1 d1\""));
    free(svg);
}

/* A curve of 300000 points with one peak: the file stays small, and the peak is at the top of the axis's
 * data. */
static void decimation_keeps_peaks(void **state) {
    (void)state;
    enum { ROWS = 300000 };
    FILE *file = fopen(csv_path, "wb");
    assert_non_null(file);
    fputs("t [s],a.q [rad]\n", file);
    for (int k = 0; k < ROWS; k++)
        fprintf(file, "%d,%s\n", k, k == 123456 ? "7" : k % 2 ? "0.125" : "-0.125");
    fclose(file);
    lw_error error;
    assert_int_equal(lw_plot_results(csv_path, svg_path, NULL, 0, &error), LW_OK);
    char *svg = read_svg();
    check_well_formed(svg);
    assert_true(strlen(svg) < 100000); /* some 840 columns of 4 points of about 14 bytes, and the rest */
    /* The highest point of the path is the margin, 6 % of 1.12 ranges, below the top of the area. */
    const char *area = strstr(svg, "class=\"area\""), *path = strstr(strstr(svg, "class=\"frame\""), "<path");
    assert_non_null(area);
    assert_non_null(path);
    double top = strtod(strstr(area, " y=\"") + 4, NULL), highest = 1e9;
    for (const char *at = strstr(path, " d=\"") + 4; *at != '"';) {
        char *end;
        (void)strtod(at + 1, &end);
        double y = strtod(end + 1, &end);
        highest = fmin(highest, y);
        at = end;
    }
    assert_float_equal(highest - top, 200 * 0.06 / 1.12, 0.01); /* coordinates have two decimals */
    free(svg);
}

static void strange_values_make_no_strange_plots(void **state) {
    (void)state;
    const char *const cases[] = {"t,a\n0,nan\n1,inf\n",
                                 "t,a\n5,3\n",
                                 "t,a\n0,1e308\n1,-1e308\n",
                                 "t,a\n0,1e-320\n1,0\n",
                                 "t,a\n0,1000000000\n1,1000000000.0000001\n",
                                 "t,a\n1,1\n1,2\n",
                                 "t,a\n3,1\n2,2\n1,3\n",
                                 "t,a\n,\n",
                                 "t,a\n0,1e299\n1,-1e299\n",
                                 "t,a\n1e-9,1\n2e-9,2\n"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *svg = plot_text(cases[k], NULL, 0);
        assert_null(strstr(svg, "nan"));
        assert_null(strstr(svg, "inf"));
        free(svg);
    }
    /* a name that is no UTF-8, with control characters, and much too long */
    char csv[2000] = "t,\"\xFF\xC0<\x01\xED\xA0\x80";
    for (int k = 0; k < 1000; k++) strcat(csv, "x");
    strcat(csv, "\"\n0,1\n1,2\n");
    char *svg = plot_text(csv, NULL, 0);
    assert_non_null(strstr(svg, "??&lt;????"));
    assert_null(strstr(svg, "\xFF"));
    assert_true(occurrences(svg, "x") < 300);
    free(svg);
}

static void a_torn_last_row_is_dropped(void **state) {
    (void)state;
    char *svg = plot_text("t,a\n0,1\n1,2\n2", NULL, 0);
    free(svg);
    lw_results_table *table;
    lw_error error;
    assert_int_equal(lw_results_table_open(csv_path, &table, &error), LW_OK);
    table->columns[1].wanted = true;
    assert_int_equal(lw_results_table_read(table, &error), LW_OK);
    assert_int_equal(table->row_count, 2);
    assert_true(table->columns[1].values[1] == 2);
    assert_null(table->columns[0].values);
    lw_results_table_close(table);
}

static void faults_say_where_and_what(void **state) {
    (void)state;
    const char *const close[] = {"crank.p"}, *const far[] = {"zeppelin"}, *const empty[] = {"crank.q+"};
    check_fault(sample, close, 1, LW_ERROR_ARGUMENT,
                "column \"crank.p\": the file has no such column, only t, crank.q,");
    check_fault(sample, close, 1, LW_ERROR_ARGUMENT, "did you mean \"crank.q\"?");
    check_fault(sample, far, 1, LW_ERROR_ARGUMENT, "give one of t, crank.q, crank.v, slide.q,");
    check_fault(sample, empty, 1, LW_ERROR_ARGUMENT, "column \"\"");
    check_fault("", NULL, 0, LW_ERROR_FILE, "test_plot.csv:1: the file has no line with the names");
    check_fault("# only\n# metadata", NULL, 0, LW_ERROR_FILE, "test_plot.csv:2: the file has no line");
    check_fault("t,a\n", NULL, 0, LW_ERROR_FILE, "the file has no rows");
    check_fault("t\n0\n", NULL, 0, LW_ERROR_FILE, "only one column, \"t\"");
    check_fault("# x\nt,a\n0,1\n1,2,3\n", NULL, 0, LW_ERROR_FILE,
                "test_plot.csv:4: the row has 3 values, but the header names 2 columns");
    check_fault("t,a\n0,1\n1\n2,3\n", NULL, 0, LW_ERROR_FILE, "test_plot.csv:3: the row has 1 value,");
    check_fault("t,a\n0,1\n1,two\n", NULL, 0, LW_ERROR_FILE,
                "test_plot.csv:3: column \"a\": \"two\" is not a number");
    check_fault("t,a\n0,1\n1,2 3\n", NULL, 0, LW_ERROR_FILE, "\"2 3\" is not a number");
    remove(csv_path);
    check_fault(NULL, NULL, 0, LW_ERROR_FILE, "test_plot.csv: cannot be opened");

    lw_error error;
    write_file(csv_path, sample);
    assert_int_equal(lw_plot_results(csv_path, "no/such/folder/x.svg", NULL, 0, &error), LW_ERROR_FILE);
    assert_string_equal(error.object, "plot \"no/such/folder/x.svg\"");

    /* an open quotation mark does not swallow the memory */
    FILE *file = fopen(csv_path, "wb");
    assert_non_null(file);
    fputs("t,\"a\n", file);
    for (int k = 0; k < 200000; k++) fputs("0.1,0.2\n", file);
    fclose(file);
    check_fault(NULL, NULL, 0, LW_ERROR_FILE,
                "test_plot.csv:1: a field that starts here is longer than a million");
}

static void axes_have_nice_ticks(void **state) {
    (void)state;
    for (int k = 0; k < 2000; k++) {
        /* ranges over 40 powers of ten, at all offsets */
        double size = pow(10, (k % 400) / 10.0 - 20), offset = (k % 7 - 3) * size;
        lw_axis axis = lw_axis_for(offset, offset + size, 5, 0.06);
        assert_true(axis.lo < offset && axis.hi > offset + size);
        double ticks = floor(axis.hi / axis.step) - ceil(axis.lo / axis.step) + 1;
        assert_true(ticks >= 3 && ticks <= 8); /* 5 wished, steps apart by 2 to 2.5 */
        double mantissa = axis.step / pow(10, floor(log10(axis.step) + 1e-9));
        assert_true(fabs(mantissa - 1) < 1e-9 || fabs(mantissa - 2) < 1e-9 || fabs(mantissa - 5) < 1e-9);
        /* the labels are exact and have no digit too many */
        double label = axis.step / pow(10, axis.exponent) * pow(10, axis.decimals);
        assert_true(fabs(label - round(label)) < 1e-6 * label);
        assert_true(axis.decimals <= 4);
    }
}

static void decades_have_two_ticks_at_least(void **state) {
    (void)state;
    for (int k = 0; k < 2000; k++) {
        double size = (k % 40) / 2.0, offset = (k % 31 - 15) * 0.73;
        lw_axis axis = lw_axis_of_decades(offset, offset + size, 5, 0.06);
        assert_true(axis.log && axis.lo <= offset && axis.hi >= offset + size);
        assert_true(axis.step >= 1 && axis.step == floor(axis.step));
        double ticks = floor(axis.hi / axis.step) - ceil(axis.lo / axis.step) + 1;
        assert_true(ticks >= 2 && ticks <= 7); /* 5 wished, whole decades apart */
    }
}

static void axes_may_be_logarithmic(void **state) {
    (void)state;
    lw_error error;
    const char *const columns[] = {"a + b"};
    const lw_plot_options options = {.columns = columns,
                                     .count = 1,
                                     .title = "the title",
                                     .subtitle = "below it",
                                     .quantity = "effort",
                                     .log_x = true,
                                     .log_y = true};
    /* row 0 has no place on either axis, and b none in the next */
    write_file(csv_path, "n,a [s],b [s]\n0,1,1\n1,1,0\n10,1e-2,1\n100,1e-4,1\n");
    assert_int_equal(lw_plot_with(csv_path, svg_path, &options, &error), LW_OK);
    char *svg = read_svg();
    check_well_formed(svg);
    const char *const expected[] = {">the title<", ">below it<", "effort [s]",
                                    ">10<tspan dy=\"-5\" font-size=\"9\">0<",
                                    "font-size=\"9\">\xE2\x88\x92"
                                    "4<"};
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++)
        if (!strstr(svg, expected[k])) fail_msg("%s is missing in %s", expected[k], svg);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
    /* a, at equal steps of both logarithms, is a straight line: three points (the first twice) at equal distances */
    const char *path = strstr(svg, "class=\"frame\"");
    assert_non_null(path);
    path = strstr(path, "c0\" d=\"");
    assert_non_null(path);
    double x[4], y[4];
    assert_int_equal(sscanf(path, "c0\" d=\"M%lf %lfL%lf %lfL%lf %lfL%lf %lf\"", &x[0], &y[0], &x[1], &y[1],
                            &x[2], &y[2], &x[3], &y[3]),
                     8);
    /* coordinates are rounded to 0.01 */
    assert_true(fabs(x[3] - 2 * x[2] + x[0]) < 0.03 && fabs(y[3] - 2 * y[2] + y[0]) < 0.03 && x[3] > x[0] &&
                y[3] > y[0]);
    free(svg);
}

static void numbers_are_short_and_exact(void **state) {
    (void)state;
    const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {-0.0, "0"},
                 {1.0 / 3, "0.3333333333333333"},
                 {1e300, "1e+300"},
                 {-12345678, "-12345678"},
                 {0.1 + 0.2, "0.30000000000000004"}};
    char text[LW_NUMBER_SIZE];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(lw_number_print(cases[k].value, text), (int)strlen(cases[k].text));
        assert_string_equal(text, cases[k].text);
    }
    uint64_t seed = 42;
    for (int k = 0; k < 20000; k++) {
        double value, back;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &seed, sizeof value);
        if (!isfinite(value)) continue;
        (void)lw_number_print(value, text);
        assert_true(lw_number_read(text, &back) && back == value);
    }
    /* as printf does it, digit for digit: usual sizes, short decimals, neighbours of powers of two and ten */
    for (int k = 0; k < 400000; k++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double unit = (double)(seed >> 11) * 0x1p-53, usual = pow(10, 22 * unit - 5);
        if (k % 4 == 1) usual = (double)(seed >> 44) / pow(10, (double)(seed >> 8 & 7));
        if (k % 4 == 2) usual = ldexp(1, (int)(seed >> 40 & 63) - 14) * (1 + 0x1p-52 * (int)(seed >> 32 & 3));
        if (k % 4 == 3) usual = nextafter(pow(10, (double)(seed >> 40 & 31) - 6), seed >> 62 ? 0 : 1e30);
        char wanted[LW_NUMBER_SIZE];
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(wanted, sizeof wanted, "%.*g", digits, usual);
            if (strtod(wanted, NULL) == usual) break;
        }
        assert_int_equal(lw_number_print(usual, text), (int)strlen(wanted));
        assert_string_equal(text, wanted);
        (void)lw_number_print(-usual, text);
        assert_string_equal(text[0] == '-' ? text + 1 : text, wanted);
    }
    double value;
    assert_true(lw_number_read(" 1.5 ", &value) && value == 1.5);
    assert_false(lw_number_read("", &value));
    assert_false(lw_number_read("1.5x", &value));
    /* in a locale with a decimal comma, if this system has one */
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") || setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        (void)lw_number_print(0.25, text);
        assert_string_equal(text, "0.25");
        assert_true(lw_number_read("-0.5e1", &value) && value == -5);
        (void)setlocale(LC_NUMERIC, "C");
    }
}

static int remove_files(void **state) {
    (void)state;
    remove(csv_path);
    remove(svg_path);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_shows_coordinates_and_energies),
        cmocka_unit_test(columns_are_found_by_name_or_header),
        cmocka_unit_test(only_quaternions_are_better_than_nothing),
        cmocka_unit_test(at_most_eight_curves_by_default),
        cmocka_unit_test(decimation_keeps_peaks),
        cmocka_unit_test(strange_values_make_no_strange_plots),
        cmocka_unit_test(a_torn_last_row_is_dropped),
        cmocka_unit_test(faults_say_where_and_what),
        cmocka_unit_test(axes_have_nice_ticks),
        cmocka_unit_test(decades_have_two_ticks_at_least),
        cmocka_unit_test(axes_may_be_logarithmic),
        cmocka_unit_test(numbers_are_short_and_exact),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
