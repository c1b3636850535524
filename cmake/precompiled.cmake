# xlaprof_precompile(target...): these targets use one precompiled header with the headers below, because reading them takes
# half of a build's time. The sources still include what they use: preset asan (clang) builds without the precompiled header.
#
# A precompiled header differs each time that it is made. ccache therefore compares a checksum of its contents instead
# (CCACHE_PCH_EXTSUM in scripts/build).
set(XLAPROF_PRECOMPILED
  <algorithm> <charconv> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string>
  <string_view> <vector> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h> <absl/status/status.h>
  <absl/status/statusor.h> <fmt/format.h>)

function(xlaprof_precompile)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    return()
  endif()
  set(source ${PROJECT_BINARY_DIR}/precompiled.cc)
  file(GENERATE OUTPUT ${source} CONTENT "")
  add_library(xlaprof_precompiled OBJECT ${source})
  target_link_libraries(xlaprof_precompiled PRIVATE absl::statusor absl::flat_hash_map absl::flat_hash_set fmt::fmt xlaprof_options)
  target_precompile_headers(xlaprof_precompiled PRIVATE ${XLAPROF_PRECOMPILED})
  string(SHA256 sum "${XLAPROF_PRECOMPILED} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS} ${CMAKE_BUILD_TYPE} ${absl_VERSION} ${fmt_VERSION}")
  file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/xlaprof_precompiled.dir/cmake_pch.hxx.gch.sum ${sum})
  # Executables are compiled with -fPIC like libraries; otherwise they could not use the precompiled header.
  set(without xlaprof_python xlaprof_record_library xlaprof_lazy_library xlaprof_server xlaprof_serve xlaprof_serve_library served_program serve_tests cli_tests)
  foreach(target ${ARGN})
    # The code that protoc generates hardly uses these headers, and targets that use gRPC are compiled with other options. The
    # libraries that are installed have no code of their own, and the extension has other headers of fmt.
    if(NOT target MATCHES "_(proto|service)$" AND NOT target IN_LIST without)
      target_compile_options(${target} PRIVATE -fPIC)
      target_precompile_headers(${target} REUSE_FROM xlaprof_precompiled)
    endif()
  endforeach()
endfunction()
