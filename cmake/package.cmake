# Debian packages by cpack -G DEB (make deb): linkwork, the program; the shared library; and liblinkwork-dev, what programs are
# built with. They need what is needed at run time only; dpkg-shlibdeps finds it, but for HDF5 and libxml2, which are loaded.
set(CPACK_PACKAGE_NAME linkwork)
set(CPACK_PACKAGE_VENDOR "the authors of Linkwork")
set(CPACK_PACKAGE_CONTACT "The authors of Linkwork <linkwork@localhost>") # There is no address yet: packaging/lintian-overrides.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "multibody dynamics of mechanisms with closed loops")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(shared_package liblinkwork${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME linkwork)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "libhdf5-103-1, libxml2")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "The program: rigid bodies, joints, springs and drives in one model file,
bodies without mass, redundant constraints, long runs; statics,
linearisation, modes, sweeps, and pages that show the mechanism moving.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${shared_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libhdf5-103-1, libxml2")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "The shared library.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblinkwork-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "${shared_package} (= ${PROJECT_VERSION}), libc6-dev, libsundials-dev, liblapack-dev | liblapack.so, libfyaml-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Headers and libraries in C: liblinkwork, and linkwork-core, which needs
libm only, with files for pkg-config and CMake.")
# What Debian's policy wants of every package: who may do what with it, and what has changed, packed without a date.
find_program(LINKWORK_GZIP gzip)
set(package_of_program linkwork)
set(package_of_library ${shared_package})
set(package_of_development liblinkwork-dev)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND LINKWORK_GZIP)
    file(WRITE ${CMAKE_BINARY_DIR}/changelog.debian "linkwork (${PROJECT_VERSION}) unstable; urgency=low

  * ${PROJECT_VERSION}, see CHANGELOG.md in the sources.

 -- The authors of Linkwork <linkwork@localhost>  Thu, 01 Jan 2026 00:00:00 +0000
")
    execute_process(COMMAND ${LINKWORK_GZIP} -9nc ${CMAKE_BINARY_DIR}/changelog.debian OUTPUT_FILE ${CMAKE_BINARY_DIR}/changelog.gz)
    foreach(part program library development)
        set(name ${package_of_${part}})
        install(FILES ${CMAKE_BINARY_DIR}/changelog.gz packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
            COMPONENT ${part})
        install(FILES packaging/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${name}
            COMPONENT ${part})
    endforeach()
    install(CODE "file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/man/man*/*.[15]\")
foreach(page \${pages})
    execute_process(COMMAND ${LINKWORK_GZIP} -9nf \${page})
endforeach()" COMPONENT program)
endif()
include(CPack)
