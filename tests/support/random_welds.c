/* random_welds.c - seeded random splitting of bodies into several that are welded. */
#include "random_welds.h"
#include "linalg/spatial.h"
#include "linalg/vec3.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 48, PIECES = 3 };

typedef struct place {
    double R[9], p[3];
} place;

static place random_place(lw_random *random) {
    place out;
    double q[4];
    random_vector(random, 4, 1, q);
    lw_quat_normalise(q);
    lw_rot_quat(q, out.R);
    random_vector(random, 3, 0.5, out.p);
    return out;
}

static void add_frame(lw_spec *spec, const char *name, const char *body, const place *at) {
    lw_frame_spec frame = {.name = name, .body = body};
    lw_v3_copy(at->p, frame.position);
    lw_quat_rot(at->R, frame.rotation);
    assert_int_equal(lw_spec_add_frame(spec, &frame), LW_OK);
}

static void add_piece(lw_random *random, bool massless, const char *name, lw_spec *spec) {
    lw_body_spec body = {.name = name, .mass = random_between(random, 0.1, 2)};
    body.kind = random_below(random, 4) == 0 ? LW_BODY_POINT : LW_BODY_SPATIAL;
    random_vector(random, 3, 0.4, body.com);
    for (int k = 0; k < 3 && body.kind == LW_BODY_SPATIAL; k++)
        body.inertia[k] = random_between(random, 0.1, 0.19); /* any of them is below the sum of the others */
    if (massless && random_below(random, 2)) {
        body.mass = 0;
        memset(body.inertia, 0, sizeof body.inertia);
    }
    assert_int_equal(lw_spec_add_body(spec, &body), LW_OK);
}

static void add_weld(lw_random *random, const char *name, const char *one, const char *two, lw_spec *spec) {
    const bool turn = random_below(random, 2);
    lw_joint_spec weld = {.name = name,
                          .type = LW_JOINT_WELD,
                          .bodies = {turn ? two : one, turn ? one : two},
                          .frame = LW_GEOMETRY_WORLD,
                          .at_frames = true};
    assert_int_equal(lw_spec_add_joint(spec, &weld), LW_OK);
}

/* One end of an element: it moves to a piece, or stays. */
static void move_end(lw_random *random, const char **end, const char *body, char homes[PIECES][NAME],
                     int pieces) {
    const int to = random_below(random, pieces + 1);
    if (*end && strcmp(*end, body) == 0 && to > 0) *end = homes[to - 1];
}

static void move_elements(lw_random *random, const char *body, char homes[PIECES][NAME], int pieces,
                          size_t joints, lw_spec *spec) {
    for (size_t j = 0; j < joints; j++)
        for (int side = 0; side < 2; side++)
            move_end(random, &lw_spec_joint(spec, j)->bodies[side], body, homes, pieces);
    for (size_t k = 0; k < lw_spec_force_count(spec); k++) {
        lw_force_spec *force = lw_spec_force(spec, k);
        for (int side = 0; side < 2; side++)
            /* what an applied force acts against is ground if nothing is said */
            if (force->bodies[side]) move_end(random, &force->bodies[side], body, homes, pieces);
    }
    for (size_t k = 0; k < lw_spec_constraint_count(spec); k++)
        for (int side = 0; side < 2; side++)
            move_end(random, &lw_spec_constraint(spec, k)->bodies[side], body, homes, pieces);
}

static int split(lw_random *random, const random_welds *options, const char *body, lw_spec *spec) {
    const int pieces = 1 + random_below(random, 2);
    char names[PIECES][NAME], homes[PIECES][NAME], weld[NAME + 8], near[NAME + 8], far[NAME + 8];
    const size_t joints = lw_spec_joint_count(spec);
    place of[PIECES]; /* pose of the piece's frame in that of the body */
    int welds = 0;
    for (int k = 0; k < pieces; k++) {
        /* The piece hangs on the body or on the piece before. */
        const int on = k > 0 && random_below(random, 2) ? k - 1 : -1;
        const place here = random_place(random), there = random_place(random);
        place back, step, home;
        snprintf(names[k], NAME, "%.30s_%d", body, k + 1);
        snprintf(homes[k], NAME, "%.30s_%d_home", body, k + 1);
        snprintf(near, sizeof near, "%.30s_%d_near", body, k + 1);
        snprintf(far, sizeof far, "%.30s_%d_far", body, k + 1);
        snprintf(weld, sizeof weld, "%.30s_%d_weld", body, k + 1);
        add_piece(random, options->massless, names[k], spec);
        add_frame(spec, near, on < 0 ? body : names[on], &here);
        add_frame(spec, far, names[k], &there);
        lw_pose_invert(there.R, there.p, back.R, back.p);
        lw_pose_compose(here.R, here.p, back.R, back.p, step.R, step.p);
        if (on < 0)
            of[k] = step;
        else
            lw_pose_compose(of[on].R, of[on].p, step.R, step.p, of[k].R, of[k].p);
        lw_pose_invert(of[k].R, of[k].p, home.R, home.p);
        add_frame(spec, homes[k], names[k], &home);
        add_weld(random, weld, near, far, spec);
        welds++;
        if (options->doubled && random_below(random, 4) == 0) {
            strcat(weld, "2");
            add_weld(random, weld, near, far, spec);
            welds++;
        }
    }
    /* Names that are set in place have to last as long as the spec. */
    static char lasting[4096][PIECES][NAME];
    static int next;
    char(*own)[NAME] = lasting[next++ % 4096];
    memcpy(own, homes, sizeof homes);
    move_elements(random, body, own, pieces, joints, spec);
    return welds;
}

int random_welds_add(lw_random *random, const random_welds *options, lw_spec *spec) {
    const int bodies = (int)lw_spec_body_count(spec);
    char names[64][NAME];
    int welds = 0, count = 0;
    for (int i = 0; i < bodies && count < 60; i++)
        snprintf(names[count++], NAME, "%.40s", lw_spec_body(spec, (size_t)i)->name);
    snprintf(names[count++], NAME, "%s", LW_GROUND);
    for (int k = 0; k < options->bodies && count > 0; k++) {
        const int chosen = random_below(random, count);
        lw_body_spec *body = NULL;
        for (int i = 0; i < bodies; i++)
            if (strcmp(lw_spec_body(spec, (size_t)i)->name, names[chosen]) == 0)
                body = lw_spec_body(spec, (size_t)i);
        welds += split(random, options, names[chosen], spec);
        for (int i = 0; i < bodies; i++)
            if (strcmp(lw_spec_body(spec, (size_t)i)->name, names[chosen]) == 0)
                body = lw_spec_body(spec, (size_t)i);
        if (body && options->massless && random_below(random, 3) == 0) {
            /* All its mass is in the pieces, one of which has some for sure. */
            lw_body_spec *piece = lw_spec_body(spec, lw_spec_body_count(spec) - 1);
            piece->kind = LW_BODY_SPATIAL;
            piece->mass = 1.3;
            for (int l = 0; l < 3; l++) piece->inertia[l] = 0.15;
            body->mass = 0;
            memset(body->inertia, 0, sizeof body->inertia);
        }
        count--;
        memcpy(names[chosen], names[count], NAME);
    }
    return welds;
}
