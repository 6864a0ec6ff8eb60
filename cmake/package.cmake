# Debian packages by cpack -G DEB (make deb): linkwork, the program, and liblinkwork-dev, what programs are built with. Both
# need what programs need at run time only; dpkg-shlibdeps finds it, but for HDF5 and libxml2, which are loaded.
set(CPACK_PACKAGE_NAME linkwork)
set(CPACK_PACKAGE_VENDOR "the authors of Linkwork")
set(CPACK_PACKAGE_CONTACT "The authors of Linkwork <linkwork@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulates mechanisms with closed loops")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME linkwork)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "libhdf5-103-1, libxml2")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
    "simulates mechanisms with closed loops\n Rigid bodies, joints, springs, drives and contacts in one model file; bodies without mass,\n redundant constraints, long runs; statics, linearisation, vibration modes, sweeps and pages\n that show the mechanism moving.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblinkwork-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libc6-dev, libsundials-dev, liblapack-dev | liblapack.so, libfyaml-dev, libhdf5-103-1, libxml2")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
    "multibody dynamics in C: headers and libraries\n The library liblinkwork, static and shared, and linkwork-core, which needs libm only, with headers,\n pkg-config and CMake files.")
# What Debian's policy wants of every package: who may do what with it, and what has changed, packed without a date.
find_program(LINKWORK_GZIP gzip)
foreach(part program development)
    if(part STREQUAL program)
        set(name linkwork)
    else()
        set(name liblinkwork-dev)
    endif()
    install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${part})
endforeach()
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND LINKWORK_GZIP)
    file(WRITE ${CMAKE_BINARY_DIR}/changelog.debian "linkwork (${PROJECT_VERSION}) unstable; urgency=low

  * ${PROJECT_VERSION}, see CHANGELOG.md in the sources.

 -- The authors of Linkwork <linkwork@localhost>  Thu, 01 Jan 2026 00:00:00 +0000
")
    execute_process(COMMAND ${LINKWORK_GZIP} -9nc ${CMAKE_BINARY_DIR}/changelog.debian OUTPUT_FILE ${CMAKE_BINARY_DIR}/changelog.gz)
    install(FILES ${CMAKE_BINARY_DIR}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/linkwork COMPONENT program)
    install(FILES ${CMAKE_BINARY_DIR}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/liblinkwork-dev COMPONENT development)
    install(CODE "file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/man/man*/*.[15]\")
foreach(page \${pages})
    execute_process(COMMAND ${LINKWORK_GZIP} -9nf \${page})
endforeach()" COMPONENT program)
endif()
include(CPack)
