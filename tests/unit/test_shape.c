/* test_shape.c - mass properties of shapes against quadrature over their volume, and against their own parts.
 *
 * The quadrature maps the unit cube onto the shape: Gauss points (exact to degree 9) in two or three
 * directions, equal steps in the angle (exact for the second harmonics that occur). So both ways are exact
 * and may differ by rounding only: TOLERANCE is some hundred roundings, relative to the size of the shape and
 * its distance from the origin.
 */
#include <linkwork/spec.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#define PI 3.14159265358979323846
#define TOLERANCE 1e-13

static const double gauss_x[5] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                                  0.9061798459386640};
static const double gauss_w[5] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                  0.4786286704993665, 0.2369268850561891};

/* Volume, first moments, second moments (xx, yy, zz, xy, xz, yz) about the body's origin. */
typedef struct {
    double volume, first[3], second[6];
} sums;

static void add(sums *s, double weight, const double x[3]) {
    s->volume += weight;
    for (int k = 0; k < 3; k++) {
        s->first[k] += weight * x[k];
        s->second[k] += weight * x[k] * x[k];
        s->second[3 + k] += weight * (k < 2 ? x[0] * x[k + 1] : x[1] * x[2]);
    }
}

/* The point of the shape for u, v, w in the unit cube, and the volume there per volume of the cube. */
static double map(const lw_shape *shape, double u, double v, double w, double x[3]) {
    const double *s = shape->size;
    double c = cos(2 * PI * w), d = sin(2 * PI * w);
    switch (shape->kind) {
    case LW_SHAPE_BOX:
        x[0] = (u - 0.5) * s[0], x[1] = (v - 0.5) * s[1], x[2] = (w - 0.5) * s[2];
        return s[0] * s[1] * s[2];
    case LW_SHAPE_CYLINDER:
        x[0] = s[0] * u * c, x[1] = s[0] * u * d, x[2] = (v - 0.5) * s[1];
        return s[0] * s[0] * u * s[1] * 2 * PI;
    case LW_SHAPE_ELLIPSOID: { /* a ball, stretched */
        const lw_shape ball = {.kind = LW_SHAPE_SPHERE, .size = {1}};
        double there = map(&ball, u, v, w, x);
        for (int k = 0; k < 3; k++) x[k] *= s[k];
        return there * s[0] * s[1] * s[2];
    }
    case LW_SHAPE_CAPSULE: { /* two half balls and a cylinder, each in a third of w's turns: slices along z */
        double part = floor(3 * v), way = 3 * v - part, half = 0.5 * s[1],
               low = part == 0   ? -half - s[0]
                     : part == 1 ? -half
                                 : half;
        double height = part == 1 ? s[1] : s[0], z = low + way * height, beyond = fmax(0, fabs(z) - half);
        double radius = sqrt(s[0] * s[0] - beyond * beyond);
        x[0] = radius * u * c, x[1] = radius * u * d, x[2] = z;
        return radius * radius * u * height * 3 * 2 * PI;
    }
    case LW_SHAPE_SPHERE: {
        double height = 2 * v - 1, r = s[0] * u;
        x[0] = r * sqrt(1 - height * height) * c, x[1] = r * sqrt(1 - height * height) * d, x[2] = r * height;
        return r * r * s[0] * 2 * 2 * PI;
    }
    case LW_SHAPE_CONE: {
        double radius = s[0] * (1 - v);
        x[0] = radius * u * c, x[1] = radius * u * d, x[2] = s[1] * v;
        return radius * radius * u * s[1] * 2 * PI;
    }
    case LW_SHAPE_TETRAHEDRON: {
        double a = u, b = (1 - u) * v, e = (1 - u) * (1 - v) * w;
        const double(*p)[3] = shape->points;
        double edge[3][3];
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) edge[k][i] = p[k + 1][i] - p[0][i];
        }
        for (int i = 0; i < 3; i++) x[i] = p[0][i] + a * edge[0][i] + b * edge[1][i] + e * edge[2][i];
        double det = edge[0][0] * (edge[1][1] * edge[2][2] - edge[1][2] * edge[2][1]) -
                     edge[0][1] * (edge[1][0] * edge[2][2] - edge[1][2] * edge[2][0]) +
                     edge[0][2] * (edge[1][0] * edge[2][1] - edge[1][1] * edge[2][0]);
        return fabs(det) * (1 - u) * (1 - u) * (1 - v);
    }
    default: /* rod: u only */
        for (int i = 0; i < 3; i++)
            x[i] = shape->points[0][i] + u * (shape->points[1][i] - shape->points[0][i]);
        return 1;
    }
}

/* x <- q x q^-1 + p, by x + 2 w (a x x) + 2 a x (a x x) for the unit quaternion (w, a). */
static void place(const lw_shape *shape, double x[3]) {
    const double *q = shape->rotation;
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (n > 0) {
        double w = q[0] / n, a[3] = {q[1] / n, q[2] / n, q[3] / n}, y[3], z[3];
        for (int i = 0; i < 3; i++) y[i] = a[(i + 1) % 3] * x[(i + 2) % 3] - a[(i + 2) % 3] * x[(i + 1) % 3];
        for (int i = 0; i < 3; i++) z[i] = a[(i + 1) % 3] * y[(i + 2) % 3] - a[(i + 2) % 3] * y[(i + 1) % 3];
        for (int i = 0; i < 3; i++) x[i] += 2 * w * y[i] + 2 * z[i];
    }
    for (int i = 0; i < 3; i++) x[i] += shape->position[i];
}

static sums integrate(const lw_shape *shape) {
    enum { STEPS = 12 };
    bool round = shape->kind == LW_SHAPE_CYLINDER || shape->kind == LW_SHAPE_SPHERE ||
                 shape->kind == LW_SHAPE_CONE || shape->kind == LW_SHAPE_CAPSULE ||
                 shape->kind == LW_SHAPE_ELLIPSOID;
    /* The profile of a capsule has three pieces. */
    const int pieces = shape->kind == LW_SHAPE_CAPSULE ? 3 : 1;
    bool points = shape->kind == LW_SHAPE_ROD || shape->kind == LW_SHAPE_TETRAHEDRON;
    sums total = {0};
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5 * pieces; j++) {
            for (int k = 0; k < (round ? STEPS : 5); k++) {
                double x[3], u = 0.5 * (1 + gauss_x[i]), v = (0.5 * (1 + gauss_x[j % 5]) + j / 5) / pieces;
                double w = round ? (k + 0.25) / STEPS : 0.5 * (1 + gauss_x[k]);
                double weight =
                    0.25 * gauss_w[i] * gauss_w[j % 5] / pieces * (round ? 1.0 / STEPS : 0.5 * gauss_w[k]);
                weight *= map(shape, u, v, w, x);
                if (!points) place(shape, x);
                add(&total, weight, x);
            }
        }
    }
    return total;
}

/* Second moments of mass about the body's origin, from mass, centre and inertia (parallel axes). */
static void second_moments(double mass, const double com[3], const double I[6], double second[6]) {
    double half_trace = 0.5 * (I[0] + I[1] + I[2]);
    for (int k = 0; k < 3; k++) {
        second[k] = half_trace - I[k] + mass * com[k] * com[k];
        second[3 + k] = -I[3 + k] + mass * (k < 2 ? com[0] * com[k + 1] : com[1] * com[2]);
    }
}

static void check_close(double a, double b, double scale) {
    if (!(fabs(a - b) <= TOLERANCE * scale))
        fail_msg("%.17g differs from %.17g by more than %g", a, b, TOLERANCE * scale);
}

static void check_against_quadrature(const lw_shape *shape, double mass, double density) {
    double total, com[3], inertia[6], second[6];
    assert_int_equal(lw_shape_inertia(shape, mass, density, &total, com, inertia), LW_OK);
    sums s = integrate(shape);
    double rho = density > 0 ? density : mass / s.volume;
    double length = 1; /* a bound of what is far from the origin */
    for (int k = 0; k < 3; k++) length = fmax(length, sqrt(s.second[k] / s.volume));
    second_moments(total, com, inertia, second);
    check_close(total, rho * s.volume, total);
    for (int k = 0; k < 3; k++) check_close(com[k], s.first[k] / s.volume, length);
    for (int k = 0; k < 6; k++) check_close(second[k], rho * s.second[k], total * length * length);
}

static const lw_shape shapes[] = {
    {.kind = LW_SHAPE_BOX, .size = {0.3, 1.1, 2}},
    {.kind = LW_SHAPE_CYLINDER, .size = {0.4, 1.7}},
    {.kind = LW_SHAPE_SPHERE, .size = {0.9}},
    {.kind = LW_SHAPE_CONE, .size = {0.6, 1.3}},
    {.kind = LW_SHAPE_CAPSULE, .size = {0.6, 1.3}},
    {.kind = LW_SHAPE_CAPSULE, .size = {0.6, 0}},
    {.kind = LW_SHAPE_ELLIPSOID, .size = {0.6, 1.3, 0.2}},
    {.kind = LW_SHAPE_TETRAHEDRON,
     .points = {{0.1, 0.2, -0.3}, {1.4, 0, 0.2}, {0.3, 1.1, 0.1}, {-0.2, 0.4, 0.9}}},
    {.kind = LW_SHAPE_ROD, .points = {{0.5, -1, 0.25}, {1.5, 2, -0.75}}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void shapes_agree_with_quadrature(void **state) {
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        lw_shape shape = shapes[k];
        bool solid = shape.kind != LW_SHAPE_ROD;
        check_against_quadrature(&shape, 2.5, 0);
        if (solid) check_against_quadrature(&shape, 0, 7800);
        memcpy(shape.position, (double[3]){0.7, -1.2, 0.4}, sizeof shape.position);
        check_against_quadrature(&shape, 2.5, 0);
        memcpy(shape.rotation, (double[4]){0.3, -0.8, 1.1, 0.5},
               sizeof shape.rotation); /* not of unit length */
        check_against_quadrature(&shape, 2.5, 0);
        if (solid) check_against_quadrature(&shape, 99, 7800); /* density goes before mass */
    }
}

/* A box is six tetrahedra around its diagonal, one for each order of the axes; their moments add up. */
static void a_box_is_six_tetrahedra(void **state) {
    (void)state;
    const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const lw_shape box = {.kind = LW_SHAPE_BOX, .size = {0.3, 1.1, 2}, .position = {0.15, 0.55, 1}};
    double mass, com[3], inertia[6], second[6], sum_mass = 0, sum_first[3] = {0}, sum_second[6] = {0};
    for (int k = 0; k < 6; k++) {
        lw_shape part = {.kind = LW_SHAPE_TETRAHEDRON};
        for (int corner = 1; corner < 4; corner++) {
            memcpy(part.points[corner], part.points[corner - 1], sizeof part.points[corner]);
            int axis = orders[k][corner - 1];
            part.points[corner][axis] = box.size[axis];
        }
        assert_int_equal(lw_shape_inertia(&part, 0, 1000, &mass, com, inertia), LW_OK);
        second_moments(mass, com, inertia, second);
        sum_mass += mass;
        for (int i = 0; i < 3; i++) sum_first[i] += mass * com[i];
        for (int i = 0; i < 6; i++) sum_second[i] += second[i];
    }
    assert_int_equal(lw_shape_inertia(&box, 0, 1000, &mass, com, inertia), LW_OK);
    second_moments(mass, com, inertia, second);
    check_close(sum_mass, mass, mass);
    for (int i = 0; i < 3; i++) check_close(sum_first[i], mass * com[i], 2 * mass);
    for (int i = 0; i < 6; i++) check_close(sum_second[i], second[i], 4 * mass);
}

/* Textbook values: a slender rod m l^2/12, a thin disc m r^2/2 and m r^2/4, a plate. */
/* A rod of some radius is a cylinder between its points: here along (0.6, 0, 0.8), length 2. */
static void a_thick_rod_is_a_cylinder(void **state) {
    (void)state;
    const lw_shape rod = {.kind = LW_SHAPE_ROD, .size = {0.3}, .points = {{1, 2, 3}, {2.2, 2, 4.6}}};
    const double half = 0.5 * atan2(0.6, 0.8); /* turns z into that direction, about y */
    const lw_shape cylinder = {.kind = LW_SHAPE_CYLINDER,
                               .size = {0.3, 2},
                               .position = {1.6, 2, 3.8},
                               .rotation = {cos(half), 0, sin(half), 0}};
    for (int k = 0; k < 2; k++) {
        double m[2], com[2][3], I[2][6], density = k ? 7850 : 0;
        assert_int_equal(lw_shape_inertia(&rod, 5, density, &m[0], com[0], I[0]), LW_OK);
        assert_int_equal(lw_shape_inertia(&cylinder, 5, density, &m[1], com[1], I[1]), LW_OK);
        check_close(m[0], m[1], m[1]);
        for (int i = 0; i < 3; i++) check_close(com[0][i], com[1][i], 5);
        for (int i = 0; i < 6; i++) check_close(I[0][i], I[1][i], m[1]);
    }
}

static void flat_and_thin_shapes_need_a_mass(void **state) {
    (void)state;
    double mass, com[3], I[6];
    const lw_shape rod = {.kind = LW_SHAPE_ROD, .points = {{0, 0, 0}, {2, 0, 0}}};
    assert_int_equal(lw_shape_inertia(&rod, 3, 0, &mass, com, I), LW_OK);
    check_close(com[0], 1, 1);
    check_close(I[0], 0, 1);
    check_close(I[1], 1, 1);
    check_close(I[2], 1, 1);
    assert_int_equal(lw_shape_inertia(&rod, 3, 7800, &mass, com, I), LW_ERROR_ARGUMENT);

    const lw_shape disc = {.kind = LW_SHAPE_CYLINDER, .size = {2, 0}};
    assert_int_equal(lw_shape_inertia(&disc, 3, 0, &mass, com, I), LW_OK);
    check_close(I[0], 3, 3);
    check_close(I[2], 6, 6);
    assert_int_equal(lw_shape_inertia(&disc, 3, 1, &mass, com, I), LW_ERROR_ARGUMENT);

    const lw_shape plate = {.kind = LW_SHAPE_BOX, .size = {2, 1, 0}};
    assert_int_equal(lw_shape_inertia(&plate, 12, 0, &mass, com, I), LW_OK);
    check_close(I[0], 1, 1);
    check_close(I[1], 4, 4);
    check_close(I[2], 5, 5);

    const lw_shape flat = {.kind = LW_SHAPE_TETRAHEDRON,
                           .points = {{0.1, 0.1, 0.1}, {1.1, 0.1, 0.4}, {0.1, 1.1, 0.8}, {1.1, 1.1, 1.1}}};
    assert_int_equal(lw_shape_inertia(&flat, 1, 0, &mass, com, I), LW_OK);
    assert_int_equal(lw_shape_inertia(&flat, 1, 1, &mass, com, I), LW_ERROR_ARGUMENT);

    const lw_shape ball = {.kind = LW_SHAPE_SPHERE, .size = {1}};
    assert_int_equal(lw_shape_inertia(&ball, 0, 0, &mass, com, I), LW_OK); /* a body may have no mass */
    assert_true(mass == 0 && I[0] == 0);
}

static void impossible_shapes_are_refused(void **state) {
    (void)state;
    double mass, com[3], I[6];
    const lw_shape wrong[] = {
        {.kind = LW_SHAPE_NONE},
        {.kind = (lw_shape_kind)77},
        {.kind = LW_SHAPE_BOX, .size = {0, 0, 0}},
        {.kind = LW_SHAPE_BOX, .size = {1, -1, 1}},
        {.kind = LW_SHAPE_SPHERE, .size = {0}},
        {.kind = LW_SHAPE_SPHERE, .size = {NAN}},
        {.kind = LW_SHAPE_SPHERE, .size = {INFINITY}},
        {.kind = LW_SHAPE_SPHERE, .size = {1}, .position = {NAN}},
        {.kind = LW_SHAPE_SPHERE, .size = {1}, .rotation = {INFINITY}},
        {.kind = LW_SHAPE_CONE, .size = {1, -1}},
        {.kind = LW_SHAPE_CAPSULE, .size = {0, 0}},
        {.kind = LW_SHAPE_CAPSULE, .size = {1, -1}},
        {.kind = LW_SHAPE_ELLIPSOID, .size = {1, 1, -1}},
        {.kind = LW_SHAPE_MESH, .size = {1, 1, 1}},
        {.kind = LW_SHAPE_ROD, .points = {{1, 2, 3}, {1, 2, 3}}},
        {.kind = LW_SHAPE_ROD, .points = {{1, 2, 3}, {1, 2, NAN}}},
        {.kind = LW_SHAPE_TETRAHEDRON, .points = {{0}}},
        {.kind = LW_SHAPE_TETRAHEDRON, .points = {{0}, {1}, {NAN}, {2}}},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_int_equal(lw_shape_inertia(&wrong[k], 1, 0, &mass, com, I), LW_ERROR_ARGUMENT);
    }
    assert_int_equal(lw_shape_inertia(&shapes[0], -1, 0, &mass, com, I), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_shape_inertia(&shapes[0], NAN, 0, &mass, com, I), LW_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_agree_with_quadrature),  cmocka_unit_test(a_box_is_six_tetrahedra),
        cmocka_unit_test(a_thick_rod_is_a_cylinder),     cmocka_unit_test(flat_and_thin_shapes_need_a_mass),
        cmocka_unit_test(impossible_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
