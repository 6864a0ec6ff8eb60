/* test_betsch2006.c - director and director-full against the constrained scheme (10) written a second time.
 *
 * The numbers below come from a program of its own, not part of Linkwork (Python with numpy): the constrained scheme straight
 * from betsch2006, every constraint written as q'Aq/2 + b'q + c, so that its Jacobian and the Newton matrix are exact, with
 * the full Newton matrix solved densely and iterated until nothing changes. The models were set up there from the paper's
 * text, not from problems/. It knows no joint coordinates, no null-space matrices and no trees. The scheme determines q_n+1
 * uniquely from q_n and v_n, whatever multipliers or coordinates are used, so both methods must give its numbers after any
 * number of steps.
 */
#include "random_model.h"
#include "linalg/vec3.h"
#include <linkwork/director.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const methods[] = {"director-full", "director"};

static lw_model *read_problem(const char *problem, const char *name, const char *value) {
    char path[512];
    const lw_setting setting = {name, value};
    snprintf(path, sizeof path, "%s/problems/%s/model.yaml", LW_SOURCE_DIR, problem);
    lw_report *report = lw_report_create();
    lw_spec *spec;
    assert_int_equal(lw_read_model(path, &setting, name ? 1 : 0, report, &spec), LW_OK);
    assert_int_equal(lw_report_size(report), 0);
    lw_report_destroy(report);
    return compile_or_fail(spec);
}

/* --- places of bodies after some steps --------------------------------------------------------------- */

enum { BODIES = 4 };

typedef struct trajectory {
    const char *problem, *parameter, *value;
    double h;
    long steps;
    int bodies;
    const char *names[BODIES];
    double place[BODIES][12]; /* position of the body's frame, rotation row by row */
} trajectory;

static const trajectory trajectories[] = {
    {"gyro_top",
     NULL,
     NULL,
     0.005,
     200,
     1,
     {"top"},
     {{0, 0, 0, -0.137303839996487, -0.879220114243526, -0.456201322040852, 0.490206117025443,
       -0.460523146947275, 0.74001107691481, -0.860723892054274, -0.122026316159181, 0.494230674697112}}},
    {"gyro_top", /* turns by 2.2 to 2.6 rad in a step */
     NULL,
     NULL,
     0.05,
     20,
     1,
     {"top"},
     {{0, 0, 0, 0.340472227134038, 0.94010721738296, -0.0166457915058551, -0.200129114481592,
       0.0897545155883349, 0.975649765268417, 0.918709420920022, -0.328850340969828, 0.218701744750302}}},
    {"cylindrical_pair",
     NULL,
     NULL,
     0.01,
     50,
     2,
     {"rod", "sleeve"},
     {{-3.04424013236358, 28.2773174442337, 2.07811434996665, 0.922591181523463, 0.104700174861979,
       -0.371299589494805, -0.350968586755053, 0.627338065176758, -0.695174800385804, 0.160145442914561,
       0.771676632641, 0.615523039170385},
      {-4.19101315684857, 26.1302434076885, 3.97918086671133, -0.736515565064074, 0.56540378249472,
       -0.371299589494805, -0.183162436557708, -0.69511403290597, -0.695174800385804, -0.651150016703211,
       -0.44399892341971, 0.615523039170385}}},
    {"planar_pair",
     NULL,
     NULL,
     0.001,
     80,
     2,
     {"plate", "pyramid"},
     {{4.95911773004237, 4.6906991697555, 3.52660000891297, -0.648030936372336, -0.100120317976674,
       -0.755004521465033, 0.523223078460452, 0.661834226529363, -0.536854791131315, 0.55343790588535,
       -0.742934302965296, -0.376503792552889},
      {13.7022056748934, -14.4267479243894, 9.93349997771836, 0.0448274355832085, -0.654185503956171,
       -0.755004521465033, -0.615099316070975, 0.577442434021238, -0.536854791131315, 0.787174270659333,
       0.488468588350611, -0.376503792552889}}},
    {"planar_pair",
     NULL,
     NULL,
     0.01,
     8,
     2,
     {"plate", "pyramid"},
     {{4.98781915430769, 4.70229928483547, 3.51881440573747, -0.635815086719349, -0.108050840113033,
       -0.764240925003977, 0.527270435964032, 0.662297935195008, -0.532303797088399, 0.563671059092416,
       -0.741408430615202, -0.364127005527381},
      {13.6304521142308, -14.4557482120886, 9.95296398565633, 0.216671237426277, -0.607444963285754,
       -0.764240925003977, -0.743698371065095, 0.404432195158096, -0.532303797088399, 0.632428895408243,
       0.683699653428589, -0.364127005527381}}},
    {"spherical_pair",
     NULL,
     NULL,
     0.02,
     50,
     2,
     {"first", "second"},
     {{0.664861546047964, -0.305000259586977, 0.403148107950519, -0.798432750045928, 0.56793755004277,
       0.199880171366526, 0.130893522218406, 0.487775892784728, -0.863099973502097, -0.587683613431033,
       -0.662964265756064, -0.463795593807409},
      {0.202707680928055, -0.317499610619539, -0.304722161925763, -0.743250203164074, -0.094202094195312,
       -0.6623481719955, -0.521423534653954, -0.538727568571448, 0.661732653244551, -0.419161821979936,
       0.837196853977793, 0.351290185863692}}},
    {"revolute_pair",
     NULL,
     NULL,
     0.02,
     50,
     2,
     {"first", "second"},
     {{0.981707891074807, 0.476418082582708, -0.398763237337129, -0.958079058574724, 0.0329388364076784,
       0.284604199857767, 0.273793299137252, 0.397861216592956, 0.875639013337524, -0.0843904429903702,
       0.916854124377091, -0.390200932526573},
      {0.267438163387792, 0.610372876125935, 0.2181448560057, -0.198790323362702, 0.937729090945805,
       -0.284862351551249, 0.831577789953486, 0.315205487154897, 0.457300645225349, 0.518614294628897,
       -0.145978261605621, -0.842454485741024}}},
    {"prismatic_pair",
     NULL,
     NULL,
     0.02,
     50,
     2,
     {"first", "second"},
     {{0.342527801434233, -0.191931424509908, 0.827511753450084, -0.270839693934745, 0.817568768548539,
       0.508160573916709, 0.31937578182203, 0.574307687925574, -0.753770382527165, -0.908099647712133,
       -0.041856759114953, -0.416656983070598},
      {-0.41379170215136, 0.712897136764863, 0.858732369824885, -0.270839693934745, 0.817568768548539,
       0.508160573916709, 0.31937578182203, 0.574307687925574, -0.753770382527165, -0.908099647712133,
       -0.041856759114953, -0.416656983070598}}},
    {"spring_chain", /* springs by the quotient of their potential over the squared length */
     "N",
     "4",
     0.01,
     50,
     4,
     {"link1", "link2", "link3", "link4"},
     {{2.00096076153914, 0.252764316376572, -0.159892091466696, 0.295051270639959, -0.457527517276059,
       0.838816617997612, -0.939428923944236, 0.0213361598759309, 0.342079033468472, -0.174407696363209,
       -0.888939446316201, -0.423519322147555},
      {2.27060852841208, 0.263221385903513, -0.179853948877585, 0.244244263105929, -0.781894979458766,
       0.573572123657538, 0.960343062998117, 0.113005025764728, -0.254894224146619, 0.134483981541429,
       0.613082462030264, 0.778488248761454},
      {2.71110263266306, 0.371425023544759, -0.011225701940863, 0.636743945396023, 0.0788947982329168,
       -0.767028525423464, -0.743935787715626, 0.324450727970021, -0.584201394106223, 0.202772512332015,
       0.942606670850313, 0.265284700484313},
      {3.10406196399573, 0.415395537839265, -0.177107039312903, 0.14917471726933, 0.820093389380086,
       0.552443423730158, 0.831876816304638, 0.197935649893669, -0.518461609953939, -0.534535187076095,
       0.536906240600958, -0.652689683219576}}},
};

static void run_steps(const lw_model *model, const char *method, double h, long steps, double *q, double *v,
                      lw_run_summary *summary) {
    lw_error fault = {0};
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.method = method;
    options.integrator = "energy-momentum";
    options.step = h;
    options.tolerance = 0;
    options.output = options.end = h * (double)steps;
    if (lw_simulate(model, &options, q, v, summary, &fault) != LW_OK)
        fail_msg("%s by %s: %s", lw_model_name(model), method, fault.message);
    assert_int_equal(summary->steps, steps);
}

static double place_error(const lw_model *model, const trajectory *c, double t, const double *q) {
    lw_data *data;
    double worst = 0;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    for (int b = 0; b < c->bodies; b++) {
        double position[3], R[9];
        int body = lw_model_body(model, c->names[b]);
        assert_true(body > 0);
        lw_body_pose(model, data, t, q, body, position, R);
        for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(position[k] - c->place[b][k]));
        for (int k = 0; k < 9; k++) worst = fmax(worst, fabs(R[k] - c->place[b][3 + k]));
    }
    lw_data_destroy(data);
    return worst;
}

static void test_trajectories(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof trajectories / sizeof *trajectories; k++) {
        const trajectory *c = &trajectories[k];
        lw_model *model = read_problem(c->problem, c->parameter, c->value);
        for (int m = 0; m < 2; m++) {
            double q[64], v[64];
            lw_run_summary summary;
            run_steps(model, methods[m], c->h, c->steps, q, v, &summary);
            double error = place_error(model, c, c->h * (double)c->steps, q);
            print_message("%-18s h = %-5g %-14s error %.1e  energy %.1e  constraints %.1e\n", c->problem,
                          c->h, methods[m], error, summary.energy_max_drift / fabs(summary.energy_initial),
                          summary.position_max);
            /* both are solved to rounding, which up to 200 steps and arms of 20 m multiply; fifteen digits are given. The
             * largest, 4e-12, is that of the springs there: equal lengths by a limit of their own */
            assert_true(error < 5e-11);
            assert_true(summary.energy_max_drift < 1e-11 * fabs(summary.energy_initial));
            assert_true(summary.position_max < 1e-11);
        }
        lw_model_destroy(model);
    }
}

/* --- the six-body linkage ----------------------------------------------------------------------------- */

/* Angles of hinges 1, 3, 5 and of 2, 4 after some steps. Of the closure rows the x component of the position was left out
 * there, which the rank allows along this motion, and held to 1e-17. Near t = 0.04 s theta2 passes through a quarter turn;
 * with the y component left out Newton converges with all other rows closed and that one open by 1.13e-2 m, with theta2 stuck
 * at 1.5708. */
static const struct {
    double h;
    long steps;
    double odd, even;
} linkage[] = {
    {0.01, 4, -0.523087578086739, 1.63029517519647},
    {0.01, 20, -2.90943001055052, 2.8381149745889},
    {0.001, 40, -0.522592277388087, 1.65426578743843},
};

static void test_linkage(void **state) {
    (void)state;
    lw_model *model = read_problem("six_body_linkage", NULL, NULL);
    for (size_t k = 0; k < sizeof linkage / sizeof *linkage; k++)
        for (int m = 0; m < 2; m++) {
            double q[16], v[16], worst = 0;
            lw_run_summary summary;
            run_steps(model, methods[m], linkage[k].h, linkage[k].steps, q, v, &summary);
            for (int j = 0; j < 5; j++) {
                char name[16];
                snprintf(name, sizeof name, "hinge%d", j + 1);
                lw_joint_info info = lw_model_joint_info(model, lw_model_joint(model, name));
                /* modulo turns */
                worst =
                    fmax(worst,
                         fabs(remainder(q[info.q] - (j % 2 ? linkage[k].even : linkage[k].odd), 2 * LW_PI)));
            }
            print_message("six_body_linkage   h = %-5g %-14s error %.1e  energy %.1e  constraints %.1e\n",
                          linkage[k].h, methods[m], worst, summary.energy_max_drift, summary.position_max);
            assert_true(worst < 5e-11); /* as above */
            /* no row may be open, kept or not: the trap leaves 1.13e-2 */
            assert_true(summary.position_max < 1e-10);
            assert_true(summary.energy_max_drift < 1e-11 * summary.energy_initial);
        }
    lw_model_destroy(model);
}

/* --- condition numbers ------------------------------------------------------------------------------------ */

/* Of the converged Newton matrix, 2-norm: full as in the second program; reduced with its P(q_n, q_n+1) differentiated
 * numerically (complex step) by increments of the rotation at the end of the step. Of the linkage's closure rows the x
 * component is left out. */
static const struct {
    const char *problem;
    double h;
    long steps;
    double full, reduced;
} conditions[] = {
    {"gyro_top", 5e-2, 1, 16468.398, 8.6110844},         {"gyro_top", 5e-3, 1, 16081937.8, 8.5004432},
    {"gyro_top", 5e-4, 1, 16078761464, 8.5000042},       {"cylindrical_pair", 1e-2, 1, 3.6008e11, 480.52167},
    {"cylindrical_pair", 1e-4, 1, 3.6000e17, 492.79302}, {"planar_pair", 1e-2, 1, 4.7819e10, 540.34372},
    {"planar_pair", 1e-4, 1, 4.5511e16, 531.93524},      {"six_body_linkage", 1e-2, 4, 1.051e5, 24.221583},
    {"six_body_linkage", 1e-3, 40, 9.614e7, 13.130303},  {"six_body_linkage", 1e-4, 400, 9.614e10, 64.446068},
};

static void test_conditions(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof conditions / sizeof *conditions; k++) {
        lw_model *model = read_problem(conditions[k].problem, NULL, NULL);
        lw_error fault = {0};
        double full = 0, reduced = 0, h = conditions[k].h;
        long steps = conditions[k].steps;
        if (lw_newton_condition(model, "director-full", h, steps, &full, &fault) != LW_OK ||
            lw_newton_condition(model, "director", h, steps, &reduced, &fault) != LW_OK)
            fail_msg("%s: %s", conditions[k].problem, fault.message);
        print_message("%-18s h = %-6g full %.5g (%.5g)  reduced %.6g (%.6g)\n", conditions[k].problem, h,
                      full, conditions[k].full, reduced, conditions[k].reduced);
        /* the linkage's bodies have principal axes as directors here, world axes there: the rows (24) differ by factors */
        assert_true(fabs(full / conditions[k].full - 1) < 1e-3);
        /* columns of slides are scaled by the volume of the directors in the middle here, not there: O(h^2), 0.6 % at most */
        assert_true(fabs(reduced / conditions[k].reduced - 1) < 0.01);
        lw_model_destroy(model);
    }
}

static void test_condition_refusals(void **state) {
    (void)state;
    lw_model *model = read_problem("gyro_top", NULL, NULL);
    lw_error fault = {0};
    double x;
    assert_int_equal(lw_newton_condition(model, "tree", 0.01, 1, &x, &fault), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_newton_condition(model, "director", 0, 1, &x, &fault), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_newton_condition(model, "director", NAN, 1, &x, &fault), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_newton_condition(model, "director", 0.01, 0, &x, &fault), LW_ERROR_ARGUMENT);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trajectories),
        cmocka_unit_test(test_linkage),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_condition_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
