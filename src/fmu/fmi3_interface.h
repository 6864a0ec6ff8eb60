/* fmi3_interface.h - types and functions of the Functional Mock-up Interface 3.0, written from the function
 * lists of its specification (sections 2.2, 3.2, 4.2 and 5.2).
 */
#ifndef LINKWORK_FMI3_INTERFACE_H
#define LINKWORK_FMI3_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
    fmi3Independent,
    fmi3Constant,
    fmi3Fixed,
    fmi3Tunable,
    fmi3Discrete,
    fmi3Dependent
} fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String category,
                                       fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean,
                                               fmi3Boolean, fmi3Boolean, fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

#define FMI3_REFERENCES fmi3Instance, const fmi3ValueReference[], size_t

/* The numeric types, of which all have the same two functions: TYPE(name). */
#define FMI3_NUMBERS(TYPE)                                                                                   \
    TYPE(Float32)                                                                                            \
    TYPE(Int8)                                                                                               \
    TYPE(UInt8)                                                                                              \
    TYPE(Int16)                                                                                              \
    TYPE(UInt16)                                                                                             \
    TYPE(Int32)                                                                                              \
    TYPE(UInt32)                                                                                             \
    TYPE(Int64)                                                                                              \
    TYPE(UInt64)                                                                                             \
    TYPE(Boolean)                                                                                            \
    TYPE(String)

/* Every other function by its result, its name and its arguments: FUNCTION(result, name, (arguments)). */
#define FMI3_FUNCTIONS(FUNCTION)                                                                             \
    FUNCTION(const char *, GetVersion, (void))                                                               \
    FUNCTION(fmi3Status, SetDebugLogging, (fmi3Instance, fmi3Boolean, size_t, const fmi3String[]))           \
    FUNCTION(fmi3Instance, InstantiateModelExchange,                                                         \
             (fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3InstanceEnvironment,         \
              fmi3LogMessageCallback))                                                                       \
    FUNCTION(fmi3Instance, InstantiateCoSimulation,                                                          \
             (fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3Boolean, fmi3Boolean,        \
              const fmi3ValueReference[], size_t, fmi3InstanceEnvironment, fmi3LogMessageCallback,           \
              fmi3IntermediateUpdateCallback))                                                               \
    FUNCTION(fmi3Instance, InstantiateScheduledExecution,                                                    \
             (fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3InstanceEnvironment,         \
              fmi3LogMessageCallback, fmi3ClockUpdateCallback, fmi3LockPreemptionCallback,                   \
              fmi3UnlockPreemptionCallback))                                                                 \
    FUNCTION(void, FreeInstance, (fmi3Instance))                                                             \
    FUNCTION(fmi3Status, EnterInitializationMode,                                                            \
             (fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64))                \
    FUNCTION(fmi3Status, ExitInitializationMode, (fmi3Instance))                                             \
    FUNCTION(fmi3Status, EnterEventMode, (fmi3Instance))                                                     \
    FUNCTION(fmi3Status, Terminate, (fmi3Instance))                                                          \
    FUNCTION(fmi3Status, Reset, (fmi3Instance))                                                              \
    FUNCTION(fmi3Status, GetFloat64, (FMI3_REFERENCES, fmi3Float64[], size_t))                               \
    FUNCTION(fmi3Status, SetFloat64, (FMI3_REFERENCES, const fmi3Float64[], size_t))                         \
    FUNCTION(fmi3Status, GetBinary, (FMI3_REFERENCES, size_t[], fmi3Binary[], size_t))                       \
    FUNCTION(fmi3Status, SetBinary, (FMI3_REFERENCES, const size_t[], const fmi3Binary[], size_t))           \
    FUNCTION(fmi3Status, GetClock, (FMI3_REFERENCES, fmi3Clock[]))                                           \
    FUNCTION(fmi3Status, SetClock, (FMI3_REFERENCES, const fmi3Clock[]))                                     \
    FUNCTION(fmi3Status, GetNumberOfVariableDependencies, (fmi3Instance, fmi3ValueReference, size_t *))      \
    FUNCTION(fmi3Status, GetVariableDependencies,                                                            \
             (fmi3Instance, fmi3ValueReference, size_t[], fmi3ValueReference[], size_t[],                    \
              fmi3DependencyKind[], size_t))                                                                 \
    FUNCTION(fmi3Status, GetFMUState, (fmi3Instance, fmi3FMUState *))                                        \
    FUNCTION(fmi3Status, SetFMUState, (fmi3Instance, fmi3FMUState))                                          \
    FUNCTION(fmi3Status, FreeFMUState, (fmi3Instance, fmi3FMUState *))                                       \
    FUNCTION(fmi3Status, SerializedFMUStateSize, (fmi3Instance, fmi3FMUState, size_t *))                     \
    FUNCTION(fmi3Status, SerializeFMUState, (fmi3Instance, fmi3FMUState, fmi3Byte[], size_t))                \
    FUNCTION(fmi3Status, DeserializeFMUState, (fmi3Instance, const fmi3Byte[], size_t, fmi3FMUState *))      \
    FUNCTION(fmi3Status, GetDirectionalDerivative,                                                           \
             (FMI3_REFERENCES, const fmi3ValueReference[], size_t, const fmi3Float64[], size_t,              \
              fmi3Float64[], size_t))                                                                        \
    FUNCTION(fmi3Status, GetAdjointDerivative,                                                               \
             (FMI3_REFERENCES, const fmi3ValueReference[], size_t, const fmi3Float64[], size_t,              \
              fmi3Float64[], size_t))                                                                        \
    FUNCTION(fmi3Status, EnterConfigurationMode, (fmi3Instance))                                             \
    FUNCTION(fmi3Status, ExitConfigurationMode, (fmi3Instance))                                              \
    FUNCTION(fmi3Status, GetIntervalDecimal, (FMI3_REFERENCES, fmi3Float64[], fmi3IntervalQualifier[]))      \
    FUNCTION(fmi3Status, GetIntervalFraction,                                                                \
             (FMI3_REFERENCES, fmi3UInt64[], fmi3UInt64[], fmi3IntervalQualifier[]))                         \
    FUNCTION(fmi3Status, GetShiftDecimal, (FMI3_REFERENCES, fmi3Float64[]))                                  \
    FUNCTION(fmi3Status, GetShiftFraction, (FMI3_REFERENCES, fmi3UInt64[], fmi3UInt64[]))                    \
    FUNCTION(fmi3Status, SetIntervalDecimal, (FMI3_REFERENCES, const fmi3Float64[]))                         \
    FUNCTION(fmi3Status, SetIntervalFraction, (FMI3_REFERENCES, const fmi3UInt64[], const fmi3UInt64[]))     \
    FUNCTION(fmi3Status, SetShiftDecimal, (FMI3_REFERENCES, const fmi3Float64[]))                            \
    FUNCTION(fmi3Status, SetShiftFraction, (FMI3_REFERENCES, const fmi3UInt64[], const fmi3UInt64[]))        \
    FUNCTION(fmi3Status, EvaluateDiscreteStates, (fmi3Instance))                                             \
    FUNCTION(fmi3Status, UpdateDiscreteStates,                                                               \
             (fmi3Instance, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *,       \
              fmi3Float64 *))                                                                                \
    FUNCTION(fmi3Status, EnterContinuousTimeMode, (fmi3Instance))                                            \
    FUNCTION(fmi3Status, CompletedIntegratorStep, (fmi3Instance, fmi3Boolean, fmi3Boolean *, fmi3Boolean *)) \
    FUNCTION(fmi3Status, SetTime, (fmi3Instance, fmi3Float64))                                               \
    FUNCTION(fmi3Status, SetContinuousStates, (fmi3Instance, const fmi3Float64[], size_t))                   \
    FUNCTION(fmi3Status, GetContinuousStateDerivatives, (fmi3Instance, fmi3Float64[], size_t))               \
    FUNCTION(fmi3Status, GetEventIndicators, (fmi3Instance, fmi3Float64[], size_t))                          \
    FUNCTION(fmi3Status, GetContinuousStates, (fmi3Instance, fmi3Float64[], size_t))                         \
    FUNCTION(fmi3Status, GetNominalsOfContinuousStates, (fmi3Instance, fmi3Float64[], size_t))               \
    FUNCTION(fmi3Status, GetNumberOfEventIndicators, (fmi3Instance, size_t *))                               \
    FUNCTION(fmi3Status, GetNumberOfContinuousStates, (fmi3Instance, size_t *))                              \
    FUNCTION(fmi3Status, EnterStepMode, (fmi3Instance))                                                      \
    FUNCTION(fmi3Status, GetOutputDerivatives, (FMI3_REFERENCES, const fmi3Int32[], fmi3Float64[], size_t))  \
    FUNCTION(fmi3Status, DoStep,                                                                             \
             (fmi3Instance, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Boolean *, fmi3Boolean *,             \
              fmi3Boolean *, fmi3Float64 *))                                                                 \
    FUNCTION(fmi3Status, ActivateModelPartition, (fmi3Instance, fmi3ValueReference, fmi3Float64))

#ifdef _WIN32
#define FMI3_EXPORT __declspec(dllexport)
#else
#define FMI3_EXPORT __attribute__((visibility("default")))
#endif

#define FMI3_DECLARE(result, name, arguments)                                                                \
    typedef result fmi3##name##TYPE arguments;                                                               \
    extern FMI3_EXPORT fmi3##name##TYPE fmi3##name;
#define FMI3_DECLARE_NUMBERS(name)                                                                           \
    FMI3_DECLARE(fmi3Status, Get##name, (FMI3_REFERENCES, fmi3##name[], size_t))                             \
    FMI3_DECLARE(fmi3Status, Set##name, (FMI3_REFERENCES, const fmi3##name[], size_t))
FMI3_FUNCTIONS(FMI3_DECLARE)
FMI3_NUMBERS(FMI3_DECLARE_NUMBERS)

#endif
