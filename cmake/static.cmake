# Links abseil, protobuf, libarchive and nghttp2, statically or dynamically. Loading abseil's 38 shared libraries takes longer than a
# small report, and so does loading the XML parser and ICU that libarchive depends on. xlaprof and xlaprof-demo link all of them
# statically. Programs that use gRPC need the shared libraries, because gRPC's library uses them, and a program with both would
# contain two copies of each.
#
# xlaprof_static(target...): links abseil, protobuf, libarchive and nghttp2 statically into these executables.
# Libraries link xlaprof_absl, xlaprof_protobuf, xlaprof_libarchive and xlaprof_nghttp2. Each executable decides whether these are the
# static or the shared libraries.
set(absl_libraries absl::statusor absl::status absl::time absl::symbolize absl::flat_hash_map absl::flat_hash_set absl::inlined_vector
    absl::function_ref)
if(XLAPROF_ONLY_RECORD)
  add_library(xlaprof_absl INTERFACE)
  target_link_libraries(xlaprof_absl INTERFACE ${absl_libraries})  # cmake/pinned.cmake builds archives
  return()
endif()
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
find_library(nghttp2_archive libnghttp2.a)
# libarchive reads zip members that bzip2 or LZMA compressed, and uses nettle for encrypted ones.
set(libarchive_archives "")
foreach(name libarchive.a bz2 lzma)
  find_library(archive_for_${name} ${name})
  list(APPEND libarchive_archives ${archive_for_${name}})
endforeach()
find_library(nettle nettle)  # the wheel's libarchive reads no encrypted members
if(nettle)
  list(APPEND libarchive_archives ${nettle})
endif()

define_property(TARGET PROPERTY XLAPROF_STATIC)
set(static $<BOOL:$<TARGET_PROPERTY:XLAPROF_STATIC>>)
string(JOIN "," absl_group ${absl_archives})
add_library(xlaprof_absl INTERFACE)
target_link_libraries(xlaprof_absl INTERFACE
  "$<IF:${static},$<LINK_GROUP:RESCAN,${absl_group}>,$<$<NOT:$<BOOL:$<TARGET_PROPERTY:XLAPROF_PRIVATE>>>:${absl_libraries}>>")
add_library(xlaprof_protobuf INTERFACE)
target_link_libraries(xlaprof_protobuf INTERFACE "$<IF:${static},${protobuf_archive},protobuf::libprotobuf>")
add_library(xlaprof_libarchive INTERFACE)
target_link_libraries(xlaprof_libarchive INTERFACE
  "$<IF:${static},${libarchive_archives};PkgConfig::zstd;ZLIB::ZLIB,PkgConfig::libarchive>")
add_library(xlaprof_nghttp2 INTERFACE)
target_link_libraries(xlaprof_nghttp2 INTERFACE "$<IF:${static},${nghttp2_archive},PkgConfig::libnghttp2>")

function(xlaprof_static)
  if(absl_archives AND NOT "${absl_archives};${protobuf_archive};${nghttp2_archive};${libarchive_archives}" MATCHES NOTFOUND)
    set_target_properties(${ARGN} PROPERTIES XLAPROF_STATIC ON)
  endif()
endfunction()
