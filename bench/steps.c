/* steps.c - what a time step through lw_simulation costs beside the evaluations that it makes, and a derivative
 * beside the accelerations that it consists of.
 *
 * Call: bench-steps [--quick] [--csv FILE]. Prints a table of ns (docs/performance.md says how they are
 * measured) and writes every figure to FILE as CSV. A mechanism of problems/ starts assembled and moves, by rk4
 * through lw_simulation_step, and by the same formula written here on top of the method: four derivatives, and
 * the projection onto the loops. Accelerations and derivatives alone are those of states along the same motion,
 * whose speeds are consistent; those of the stages of a step are not, and have to be made so first.
 *
 * The last table is the price of expressions: accelerations of three links whose first joint has a drive, with
 * a torque that is a parameter, and with one that is a sum of ten quantities of the state.
 */
#include "models.h"
#include "output.h"
#include "timing.h"
#include "formulations/formulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 64, ACCELERATIONS = 0, DERIVATIVE, BY_HAND, STEP, CASES };

static const double step_size = 1e-4;

typedef struct motion {
    const char *problem;
    lw_model *model;
    lw_simulation *simulation;
    void *start; /* a snapshot */
    size_t start_size;
    int steps; /* since then */
    lw_method *method, *integrated;
    size_t nq, nv, size;
    double *q, *v, *y, *vdot, *ydot; /* state after state */
    double t[STATES];
    int next;
    /* By hand: the steps since the start, the state, its derivatives, a stage. */
    int hand_steps;
    double *hand, *k[4], *stage;
} motion;

static void demand(const motion *m, bool fine, const lw_error *error) {
    if (fine) return;
    fprintf(stderr, "bench-steps: %s: %s\n", m->problem, error->message);
    exit(1);
}

static double run_accelerations(void *context, int calls) {
    motion *m = context;
    double sum = 0;
    for (int k = 0; k < calls; k++, m->next = (m->next + 1) % STATES) {
        const size_t s = (size_t)m->next;
        lw_error error;
        demand(m,
               m->method->formulation->accelerations(m->method, m->t[s], m->q + s * m->nq, m->v + s * m->nv,
                                                     NULL, m->vdot, NULL, NULL, &error) == LW_OK,
               &error);
        sum += m->vdot[0];
    }
    return sum;
}

static void derivative(motion *m, double t, const double *y, double *ydot) {
    lw_power power;
    lw_error error;
    demand(m, m->integrated->formulation->derivative(m->integrated, t, y, ydot, &power, &error) == LW_OK,
           &error);
}

static double run_derivative(void *context, int calls) {
    motion *m = context;
    double sum = 0;
    for (int k = 0; k < calls; k++, m->next = (m->next + 1) % STATES) {
        derivative(m, m->t[m->next], m->y + (size_t)m->next * m->size, m->ydot);
        sum += m->ydot[0];
    }
    return sum;
}

/* One step of rk4 after the other on the method itself; as often back to the first state. */
static double run_by_hand(void *context, int calls) {
    motion *m = context;
    const lw_formulation *f = m->integrated->formulation;
    const double h = step_size, at[4] = {0, 0.5 * h, 0.5 * h, h};
    lw_error error;
    for (int c = 0; c < calls; c++) {
        if (m->hand_steps++ % STATES == 0) f->to_state(m->integrated, m->t[0], m->q, m->v, m->hand);
        const double t = m->t[0] + h * ((m->hand_steps - 1) % STATES);
        for (int s = 0; s < 4; s++) {
            for (size_t i = 0; i < m->size; i++)
                m->stage[i] = m->hand[i] + (s > 0 ? at[s] * m->k[s - 1][i] : 0);
            derivative(m, t + at[s], m->stage, m->k[s]);
        }
        for (size_t i = 0; i < m->size; i++)
            m->hand[i] += h / 6 * (m->k[0][i] + 2 * m->k[1][i] + 2 * m->k[2][i] + m->k[3][i]);
        demand(m, !f->project || f->project(m->integrated, t + h, m->hand, &error) == LW_OK, &error);
    }
    return m->hand[0];
}

/* Back to the start after as many steps as there are states. */
static double run_step(void *context, int calls) {
    motion *m = context;
    lw_error error;
    for (int k = 0; k < calls; k++) {
        if (m->steps++ == STATES) {
            demand(m, lw_simulation_restore(m->simulation, m->start, m->start_size, &error) == LW_OK, &error);
            m->steps = 1;
        }
        demand(m, lw_simulation_step(m->simulation, &error) == LW_OK, &error);
    }
    return lw_simulation_time(m->simulation);
}

/* A problem, with its N, or the model of a text. */
static motion *motion_create(const char *problem, const char *n, const char *text) {
    motion *m = bench_allocate(1, sizeof *m);
    char path[1024];
    m->problem = problem;
    snprintf(path, sizeof path, "%s/%s/model.yaml", BENCH_PROBLEMS, problem);
    lw_setting setting = {"N", n};
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    if (!report ||
        (text ? lw_read_model_text(text, strlen(text), problem, NULL, 0, report, &spec)
              : lw_read_model(path, &setting, n != NULL, report, &spec)) != LW_OK ||
        lw_model_compile(spec, NULL, report, &m->model) != LW_OK) {
        fprintf(stderr, "bench-steps: cannot read %s; linkwork check says why\n", text ? problem : path);
        exit(1);
    }
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    lw_run_options options;
    lw_error error;
    lw_run_defaults(m->model, &options);
    options.integrator = "rk4";
    options.step = step_size;
    options.tolerance = 0;
    demand(m, lw_simulation_create(m->model, &options, NULL, &m->simulation, &error) == LW_OK, &error);
    const lw_formulation *f = lw_formulation_find(lw_simulation_method(m->simulation));
    const lw_method_options none = {0};
    demand(m,
           f->create(m->model, &none, &m->method, &error) == LW_OK &&
               f->create(m->model, &none, &m->integrated, &error) == LW_OK,
           &error);
    m->start_size = lw_simulation_snapshot_size(m->simulation);
    m->start = bench_allocate(1, m->start_size);
    m->nq = (size_t)lw_model_q_size(m->model), m->nv = (size_t)lw_model_v_size(m->model);
    m->size = (size_t)m->method->state_size;
    double **arrays[] = {&m->q, &m->v, &m->y, &m->vdot, &m->ydot, &m->hand, &m->stage};
    const size_t sizes[] = {STATES * m->nq, STATES * m->nv, STATES * m->size, m->nv,
                            m->size,        m->size,        m->size};
    for (int k = 0; k < 7; k++) *arrays[k] = bench_allocate(sizes[k], sizeof(double));
    for (int k = 0; k < 4; k++) m->k[k] = bench_allocate(m->size, sizeof(double));
    demand(m, lw_simulation_save(m->simulation, m->start, m->start_size) == LW_OK, &error);
    for (size_t s = 0; s < STATES; s++) {
        demand(m, lw_simulation_step(m->simulation, &error) == LW_OK, &error);
        double *q = m->q + s * m->nq, *v = m->v + s * m->nv;
        m->t[s] = lw_simulation_time(m->simulation);
        lw_simulation_state(m->simulation, q, v);
        f->to_state(m->integrated, m->t[s], q, v, m->y + s * m->size);
    }
    m->steps = STATES;
    return m;
}

static void motion_destroy(motion *m) {
    m->integrated->formulation->destroy(m->integrated);
    m->method->formulation->destroy(m->method);
    lw_simulation_destroy(m->simulation);
    lw_model_destroy(m->model);
    free(m->start), free(m->q), free(m->v), free(m->y), free(m->vdot), free(m->ydot), free(m->hand);
    free(m->stage), free(m->k[0]), free(m->k[1]), free(m->k[2]), free(m->k[3]), free(m);
}

static void bench_motion(const bench_output *out, const char *problem, const char *n) {
    static const char *const names[CASES] = {"accelerations", "derivative", "rk4 by hand", "step of rk4"};
    motion *m = motion_create(problem, n, NULL);
    bench_case cases[CASES] = {{.run = run_accelerations, .context = m, .units = 1},
                               {.run = run_derivative, .context = m, .units = 1},
                               {.run = run_by_hand, .context = m, .units = 1},
                               {.run = run_step, .context = m, .units = 1}};
    bench_measure(cases, CASES, out->repetitions, 1);
    printf("%-18s %-8s", problem, lw_simulation_method(m->simulation));
    for (int k = 0; k < CASES; k++) {
        const double ns = bench_median(&cases[k], out->repetitions);
        printf(" %14.0f", ns);
        bench_output_row(out, problem, m->nv, names[k], 1, ns, bench_minimum(&cases[k], out->repetitions));
    }
    printf(" %12.2f %12.2f %12.2f\n",
           bench_ratio(&cases[DERIVATIVE], &cases[ACCELERATIONS], out->repetitions),
           bench_ratio(&cases[STEP], &cases[DERIVATIVE], out->repetitions) / 4,
           bench_ratio(&cases[STEP], &cases[BY_HAND], out->repetitions));
    fflush(stdout);
    bench_cases_clear(cases, CASES);
    motion_destroy(m);
}

static const char links[] =
    "linkwork: 1\nparameters: {p: 0.1}\n"
    "bodies:\n  a: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0, 0, -0.5]}\n"
    "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0, 0, -1.5]}\n"
    "  c: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0, 0, -2.5]}\n"
    "joints:\n  j1: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0], q: 0.3, v: 1}\n"
    "  j2: {type: revolute, between: [a, b], point: [0, 0, -1], axis: [0, 1, 0], q: 0.2}\n"
    "  j3: {type: revolute, between: [b, c], point: [0, 0, -2], axis: [0, 1, 0], q: 0.1}\n"
    "forces:\n  s: {type: spring, between: [ground, c], points: [[1, 0, 0], [0, 0, -3]], stiffness: 1}\n"
    "  drive: {type: drive, joint: j1, torque: \"%s\"}\n";

/* The price of a sum of ten quantities: joints alone, and of all kinds. */
static void bench_expressions(const bench_output *out) {
    static const struct {
        const char *name, *torque;
    } rows[] = {
        {"a parameter", "p"},
        {"10 of joints", "p*j1.q + p*j2.q + p*j3.q + p*j1.v + p*j2.v + p*j3.v + p*j1.q*j2.q + p*j3.q*j1.v"},
        {"10 of all kinds",
         "p*j1.q + p*j2.v + p*body.b.x + p*body.c.vz + p*point(c, 0, 0, -3).z + p*com(b).x + "
         "p*com(c).vz + p*distance(a, c) + p*s.length + p*s.rate"}};
    enum { ROWS = sizeof rows / sizeof *rows };
    motion *m[ROWS];
    bench_case cases[ROWS];
    for (int k = 0; k < ROWS; k++) {
        char text[2000];
        snprintf(text, sizeof text, links, rows[k].torque);
        m[k] = motion_create(rows[k].name, NULL, text);
        cases[k] = (bench_case){.run = run_accelerations, .context = m[k], .units = 1};
    }
    bench_measure(cases, ROWS, out->repetitions, 1);
    printf("\n%-18s %-8s %14s %14s\n", "torque of a drive", "method", "accelerations", "its price");
    for (int k = 0; k < ROWS; k++) {
        const double ns = bench_median(&cases[k], out->repetitions);
        printf("%-18s %-8s %14.0f %14.0f\n", rows[k].name, lw_simulation_method(m[k]->simulation), ns,
               ns - bench_median(&cases[0], out->repetitions));
        bench_output_row(out, rows[k].name, m[k]->nv, "accelerations", 1, ns,
                         bench_minimum(&cases[k], out->repetitions));
    }
    bench_cases_clear(cases, ROWS);
    for (int k = 0; k < ROWS; k++) motion_destroy(m[k]);
}

int main(int argc, char **argv) {
    bench_without_threads(argv);
    bench_output out = bench_output_open("bench-steps", BENCH_ROW, argc, argv);
    printf("Time steps, Linkwork %s, %s\n%s\n", LW_VERSION, bench_compiler(), out.machine);
    printf("ns: median of %d repetitions; ratios are medians of their own\n\n", out.repetitions);
    printf("%-18s %-8s %14s %14s %14s %14s %12s %12s %12s\n", "", "method", "accelerations", "derivative",
           "by hand", "step of rk4", "deriv/accel", "step/4 deriv", "step/hand");
    bench_motion(&out, "pendulum", NULL);
    bench_motion(&out, "chain", NULL);
    bench_motion(&out, "four_bar", NULL);
    bench_motion(&out, "slider_crank", NULL);
    bench_motion(&out, "andrews_squeezer", NULL);
    bench_motion(&out, "ladder", "16");
    bench_motion(&out, "bricard", NULL);
    printf("by hand: four derivatives and the projection onto the loops\n");
    bench_expressions(&out);
    bench_output_close(&out);
    return 0;
}
