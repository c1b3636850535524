# Links abseil, fmt and zstd, privately or as the system's shared libraries. libxlaprof_record contains them, and SQLite, so that a
# program may use other versions of its own.
#
# xlaprof_private(target...): puts them into these shared libraries.
# Libraries link xlaprof_fmt, xlaprof_zstd and xlaprof_absl (cmake/static.cmake).
define_property(TARGET PROPERTY XLAPROF_PRIVATE)
set(private $<BOOL:$<TARGET_PROPERTY:XLAPROF_PRIVATE>>)
find_library(XLAPROF_ZSTD_ARCHIVE libzstd.a)
mark_as_advanced(XLAPROF_ZSTD_ARCHIVE)
add_library(xlaprof_zstd INTERFACE)
target_link_libraries(xlaprof_zstd INTERFACE "$<IF:${private},${XLAPROF_ZSTD_ARCHIVE},PkgConfig::zstd>")
add_library(xlaprof_fmt INTERFACE)
if(XLAPROF_ONLY_RECORD OR XLAPROF_PROGRAM_ONLY)
  # In a build of only the recorder, this is the archive of cmake/pinned.cmake. The program needs none that is private.
  target_link_libraries(xlaprof_fmt INTERFACE fmt::fmt)
else()
  # Debian has no archive of fmt, and its archives of abseil can only be linked into programs. So both are compiled from the pinned
  # sources, with the system's headers, which all of xlaprof is compiled with.
  xlaprof_source(abseil abseil_folder)
  xlaprof_source(fmt fmt_folder)
  if(NOT abseil_folder MATCHES "abseil-${absl_VERSION}")
    message(FATAL_ERROR "The system's abseil is ${absl_VERSION}, but scripts/sources.txt pins another version: ${abseil_folder}. Pin the "
            "system's version there, or build only the recorder with -DXLAPROF_ONLY_RECORD=ON, which needs no abseil")
  endif()
  file(GLOB_RECURSE abseil_sources ${abseil_folder}/absl/*.cc)
  list(FILTER abseil_sources EXCLUDE REGEX "/(flags|random)/|test|benchmark|mock|gaussian|print_hash_of|leak_check|failure_signal")
  add_library(xlaprof_private_code STATIC ${CMAKE_CURRENT_LIST_DIR}/hash_table_size.cc ${fmt_folder}/src/format.cc ${abseil_sources})
  target_include_directories(xlaprof_private_code SYSTEM PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>
                             $<TARGET_PROPERTY:absl::base,INTERFACE_INCLUDE_DIRECTORIES>)
  # Without debug information, the objects are the same in each build folder, so ccache compiles them once for all presets.
  target_compile_options(xlaprof_private_code PRIVATE -w -g0)
  set_target_properties(xlaprof_private_code PROPERTIES UNITY_BUILD OFF EXCLUDE_FROM_ALL ON)
  target_link_libraries(xlaprof_fmt INTERFACE "$<IF:${private},xlaprof_private_code,fmt::fmt>")
endif()

function(xlaprof_private)
  if(NOT XLAPROF_ZSTD_ARCHIVE)
    message(FATAL_ERROR "libxlaprof_record contains zstd, but libzstd.a was not found. On Debian, install libzstd-dev; elsewhere, set "
            "XLAPROF_ZSTD_ARCHIVE to the archive")
  endif()
  set_target_properties(${ARGN} PROPERTIES XLAPROF_PRIVATE ON)
endfunction()
