# abseil, protobuf and libarchive, shared or inside the program. Loading abseil's 38 shared libraries takes longer than a small
# report, and so does loading libarchive's XML parser, which brings ICU and which we never call. xlaprof and its helpers for `demo`
# and `view` have all three inside. What uses gRPC needs the shared ones, because gRPC's own library does, and a program with both
# would have two of each.
#
# xlaprof_static(target...): these executables have them inside.
# Libraries link xlaprof_absl, xlaprof_protobuf and xlaprof_libarchive; each executable decides which ones these are.
pkg_check_modules(absl_static QUIET absl_statusor absl_hash absl_raw_hash_set absl_time absl_symbolize)
set(absl_archives "")
foreach(library ${absl_static_STATIC_LIBRARIES})
  if(library MATCHES "^absl_")
    find_library(archive_${library} lib${library}.a)
    list(APPEND absl_archives ${archive_${library}})
  endif()
endforeach()
list(REMOVE_DUPLICATES absl_archives)
find_library(protobuf_archive libprotobuf.a)
# Its zip reader unpacks what bzip2 and LZMA packed, and calls nettle for encrypted files.
set(libarchive_archives "")
foreach(name libarchive.a bz2 lzma nettle)
  find_library(archive_for_${name} ${name})
  list(APPEND libarchive_archives ${archive_for_${name}})
endforeach()

define_property(TARGET PROPERTY XLAPROF_STATIC)
set(static $<BOOL:$<TARGET_PROPERTY:XLAPROF_STATIC>>)
string(JOIN "," absl_group ${absl_archives})
add_library(xlaprof_absl INTERFACE)
target_link_libraries(xlaprof_absl INTERFACE
  "$<IF:${static},$<LINK_GROUP:RESCAN,${absl_group}>,absl::statusor;absl::status;absl::time;absl::symbolize;absl::flat_hash_map;absl::flat_hash_set;absl::inlined_vector;absl::function_ref>")
add_library(xlaprof_protobuf INTERFACE)
target_link_libraries(xlaprof_protobuf INTERFACE "$<IF:${static},${protobuf_archive},protobuf::libprotobuf>")
add_library(xlaprof_libarchive INTERFACE)
target_link_libraries(xlaprof_libarchive INTERFACE
  "$<IF:${static},${libarchive_archives};PkgConfig::zstd;ZLIB::ZLIB,PkgConfig::libarchive>")

function(xlaprof_static)
  if(absl_archives AND NOT "${absl_archives};${protobuf_archive};${libarchive_archives}" MATCHES NOTFOUND)
    set_target_properties(${ARGN} PROPERTIES XLAPROF_STATIC ON)
  endif()
endfunction()
