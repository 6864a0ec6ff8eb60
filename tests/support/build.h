/* build.h - small models written in a few lines, and what a report must say.
 */
#ifndef LW_TEST_BUILD_H
#define LW_TEST_BUILD_H

#include <linkwork/linkwork.h>

/* Each adds to the spec or fails the test. */
void add_body(lw_spec *spec, lw_body_spec body);
void add_joint(lw_spec *spec, lw_joint_spec joint);
void add_force(lw_spec *spec, lw_force_spec force);
void add_constraint(lw_spec *spec, lw_constraint_spec constraint);

/* A body of mass 1 and inertia diag(0.1, 0.2, 0.25), centre at the body's origin. */
void add_plain_body(lw_spec *spec, const char *name);
/* A joint in the world with point and axis (NULL: none). */
void add_plain_joint(lw_spec *spec, const char *name, lw_joint_type type, const char *first,
                     const char *second, const double point[3], const double axis[3]);

/* Compiles a spec that must fail, destroys it and returns the report. */
lw_report *compile_and_fail(lw_spec *spec);
/* Is there an entry of this object whose message and remedy contain these texts (NULL: any)? Fails the test,
 * and shows the report, if not. */
void must_say(const lw_report *report, lw_severity severity, const char *object, const char *message,
              const char *remedy);
void show_report(const lw_report *report);

#endif
