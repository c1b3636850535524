# xlaprof_precompile(target...): these targets begin with the headers below, which g++ reads once: half of a
# build's time is reading them. The sources include what they use all the same; preset fuzz (clang) builds without this.
#
# A precompiled header differs each time that it is made, so ccache is told what stands for it (CCACHE_PCH_EXTSUM in
# scripts/build): what it is made of.
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
  # Executables are compiled as position-independent as libraries, or the header would not fit them.
  set(with_grpc xlaprof_serve xlaprof_client served_program serve_tests cli_tests)
  foreach(target ${ARGN})
    # What protoc wrote has little to do with them; and what uses gRPC is compiled with other options than they.
    if(NOT target MATCHES "_(proto|service)$" AND NOT target IN_LIST with_grpc)
      target_compile_options(${target} PRIVATE -fPIC)
      target_precompile_headers(${target} REUSE_FROM xlaprof_precompiled)
    endif()
  endforeach()
endfunction()
