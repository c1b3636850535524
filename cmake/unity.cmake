# xlaprof_unity(target...): if CMAKE_UNITY_BUILD is on, compiles the sources of one folder that belong to one of these targets
# together, up to 28 at a time, because half of a build's time is reading headers. Presets ci, release, asan and tsan do this.
# Preset dev compiles each file of the libraries by itself, which rebuilds less after a change and reveals a missing #include;
# only its tests are grouped, because reading GoogleTest took half of their time.
#
# The helpers of such files share one unnamed namespace, so their names must differ within a folder.
function(xlaprof_unity)
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    get_target_property(home ${target} SOURCE_DIR)
    set(seen "")
    foreach(source ${sources})
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${home})
      cmake_path(GET source PARENT_PATH group)
      string(REPLACE ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} group ${group})  # generated sources join their folder's
      cmake_path(RELATIVE_PATH group BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(MAKE_C_IDENTIFIER ${group} group)
      list(APPEND seen ${group})
      set(same ${seen})
      list(FILTER same INCLUDE REGEX "^${group}$")
      list(LENGTH same count)
      math(EXPR part "(${count} - 1) / 28")
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group}_${part})
    endforeach()
  endforeach()
endfunction()
