/* controller.c - a controller as the library of an FMU (FMI 2.0, Co-Simulation), written for test_fmu_pair.c: the state feedback of
 * problems/cart_pole, held from one communication point to the next. Of the standard's functions those that the test calls.
 *
 * Value references: 0 to 3 inputs (place, speed, angle, rate), 4 to 7 gains, 8 the force.
 */
#include "fmu/fmi2_interface.h"

#include <stdlib.h>

typedef struct controller {
    double values[9];
} controller;

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible,
                              fmi2Boolean logging) {
    (void)name, (void)type, (void)guid, (void)resources, (void)callbacks, (void)visible, (void)logging;
    return calloc(1, sizeof(controller));
}

void fmi2FreeInstance(fmi2Component component) { free(component); }

fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                       const fmi2Real value[]) {
    controller *c = component;
    for (size_t k = 0; k < n; k++)
        if (vr[k] < 8) c->values[vr[k]] = value[k];
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
    controller *c = component;
    c->values[8] = 0;
    for (int k = 0; k < 4; k++) c->values[8] -= c->values[4 + k] * c->values[k];
    for (size_t k = 0; k < n; k++) value[k] = c->values[vr[k]];
    return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real t, fmi2Real h, fmi2Boolean no_way_back) {
    (void)component, (void)t, (void)h, (void)no_way_back;
    return fmi2OK;
}
