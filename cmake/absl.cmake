# abseil and protobuf, shared or inside the program. Loading their 38 shared libraries takes longer than a small report, so
# xlaprof and its helper for `demo` have them inside. What uses gRPC needs the shared ones, since gRPC's own library does, and
# a program with both would have two of each.
#
# xlaprof_static(target...): these executables have them inside.
# Libraries link xlaprof_absl and xlaprof_protobuf; which ones these are is decided for each executable.
pkg_check_modules(absl_static QUIET absl_statusor absl_hash absl_raw_hash_set absl_time absl_symbolize)
set(archives "")
foreach(library ${absl_static_STATIC_LIBRARIES})
  if(library MATCHES "^absl_")
    find_library(archive_${library} lib${library}.a)
    list(APPEND archives ${archive_${library}})
  endif()
endforeach()
list(REMOVE_DUPLICATES archives)
find_library(protobuf_archive libprotobuf.a)

define_property(TARGET PROPERTY XLAPROF_STATIC)
set(static $<BOOL:$<TARGET_PROPERTY:XLAPROF_STATIC>>)
string(JOIN "," group ${archives})
add_library(xlaprof_absl INTERFACE)
target_link_libraries(xlaprof_absl INTERFACE
  "$<IF:${static},$<LINK_GROUP:RESCAN,${group}>,absl::statusor;absl::status;absl::time;absl::symbolize;absl::flat_hash_map;absl::flat_hash_set;absl::inlined_vector;absl::function_ref>")
add_library(xlaprof_protobuf INTERFACE)
target_link_libraries(xlaprof_protobuf INTERFACE "$<IF:${static},${protobuf_archive},protobuf::libprotobuf>")

function(xlaprof_static)
  if(archives AND protobuf_archive AND NOT "${archives}" MATCHES NOTFOUND)
    set_target_properties(${ARGN} PROPERTIES XLAPROF_STATIC ON)
  endif()
endfunction()
