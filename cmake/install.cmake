# Installs the program with its helper program, the libraries with their headers, a CMake package and a pkg-config file. Components:
# record (libxlaprof_record and xlaprof/record.h), lazy (libxlaprof_lazy and its headers), serve (libxlaprof_serve and xlaprof/serve.h) and
# program.
if(XLAPROF_PROGRAM_ONLY)
  install(TARGETS xlaprof COMPONENT program)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/xlaprof)

install(TARGETS xlaprof_record_library EXPORT xlaprof-record COMPONENT record)
install(FILES ${PROJECT_SOURCE_DIR}/include/xlaprof/record.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/xlaprof COMPONENT record)
install(EXPORT xlaprof-record NAMESPACE xlaprof:: DESTINATION ${package} FILE xlaprof-record.cmake COMPONENT record)
configure_package_config_file(cmake/xlaprofConfig.cmake.in xlaprofConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(xlaprofConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/xlaprofConfig.cmake ${PROJECT_BINARY_DIR}/xlaprofConfigVersion.cmake DESTINATION ${package}
        COMPONENT record)
# The prefix is found from the file's own place, so that the installed tree may be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE prefix_from_pc)
configure_file(cmake/xlaprof.pc.in xlaprof.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/xlaprof.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT record)

if(NOT XLAPROF_ONLY_RECORD)
  install(TARGETS xlaprof_lazy_library EXPORT xlaprof-lazy COMPONENT lazy)
  install(EXPORT xlaprof-lazy NAMESPACE xlaprof:: DESTINATION ${package} FILE xlaprof-lazy.cmake COMPONENT lazy)
  # The runtime's headers include each other as core/… and base/….
  install(DIRECTORY base core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/xlaprof COMPONENT lazy
          FILES_MATCHING PATTERN "*.h" PATTERN "backend/native" EXCLUDE PATTERN "backend/pjrt" EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/include/xlaprof/lazy.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/xlaprof COMPONENT lazy)
  install(TARGETS xlaprof_serve_library EXPORT xlaprof-serve COMPONENT serve)
  install(EXPORT xlaprof-serve NAMESPACE xlaprof:: DESTINATION ${package} FILE xlaprof-serve.cmake COMPONENT serve)
  install(FILES ${PROJECT_SOURCE_DIR}/include/xlaprof/serve.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/xlaprof COMPONENT serve)
  install(TARGETS xlaprof xlaprof-demo COMPONENT program)
endif()
