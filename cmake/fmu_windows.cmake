# fmu-win64.dll, the runtime of FMUs for 64-bit Windows: linkwork-core by Debian's mingw-w64, a build of its own in
# fmu-windows (fmu/windows). Once it is asked for (make fmu-windows), it is built with the program, so that both parts of an
# FMU are of the same sources.
option(LINKWORK_FMU_WINDOWS "build the runtime of FMUs for Windows too: docs/fmu.md" OFF)
set(fmu_windows)
if(LINKWORK_FMU_WINDOWS)
    if(LINKWORK_SANITIZE)
        message(FATAL_ERROR "mingw-w64 has no sanitizers: configure without LINKWORK_FMU_WINDOWS or without LINKWORK_SANITIZE")
    endif()
    find_program(LINKWORK_MINGW NAMES x86_64-w64-mingw32-gcc)
    if(NOT LINKWORK_MINGW)
        message(FATAL_ERROR "x86_64-w64-mingw32-gcc was not found; Debian's package is gcc-mingw-w64-x86-64")
    endif()
    set(windows_sources ${core_only} ${library_sources} ${fmu_sources})
    # What is compiled for AVX, which is not used there: src/core/processor.h.
    list(FILTER windows_sources EXCLUDE REGEX "(_4|_8|_avx2)\\.c$")
    file(CONFIGURE OUTPUT fmu-windows/sources.cmake CONTENT "set(sources ${windows_sources})\n")
    include(ExternalProject)
    ExternalProject_Add(linkwork-fmu-windows SOURCE_DIR ${CMAKE_SOURCE_DIR}/fmu/windows PREFIX fmu-windows
        BINARY_DIR fmu-windows EXCLUDE_FROM_ALL ON BUILD_ALWAYS ON INSTALL_COMMAND "" CMAKE_GENERATOR ${CMAKE_GENERATOR}
        CMAKE_ARGS -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER=${LINKWORK_MINGW} -DCMAKE_BUILD_TYPE=Release
            -DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER} -DVERSION=${PROJECT_VERSION} -DOUTPUT=${CMAKE_BINARY_DIR}
        BUILD_BYPRODUCTS ${CMAKE_BINARY_DIR}/fmu-win64.dll)
    set(fmu_windows linkwork-fmu-windows)
else()
    file(REMOVE ${CMAKE_BINARY_DIR}/fmu-win64.dll) # of an earlier configuration, perhaps of other sources
endif()
