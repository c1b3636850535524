# xlaprof_plugins(TARGET Type name...)
#
# Compiles NAME.cc for each name into TARGET, a library that must exist, and writes the registry function `All<Type>s()`, which
# lists the plugins in this order. A name may be FOLDER/NAME. Each file defines `extern const Type name{...};` in namespace
# xlaprof. A name without its file, or a file without its object, is a build error.
#
# xlaprof_plugins(TARGET Type NAMESPACE inner name...): uses namespace xlaprof::inner, so that a name can have plugins of two
# types.
function(xlaprof_plugins target type)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "NAMESPACE" "")
  string(REGEX REPLACE "([a-z])([A-Z])" "\\1_\\2" snake ${type})
  string(TOLOWER ${snake} snake)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(prefix "")
  if(arg_NAMESPACE)
    set(prefix "${arg_NAMESPACE}::")
  endif()
  set(declarations "")
  set(entries "")
  foreach(name ${arg_UNPARSED_ARGUMENTS})
    target_sources(${target} PRIVATE ${name}.cc)
    get_filename_component(name ${name} NAME)
    string(APPEND declarations "extern const ${type} ${name};\n")
    string(APPEND entries "    &${prefix}${name},\n")
  endforeach()
  if(arg_NAMESPACE)
    set(declarations "namespace ${arg_NAMESPACE} {\n${declarations}}\n")
  endif()
  set(registry ${CMAKE_CURRENT_BINARY_DIR}/${snake}_registry.cc)
  file(GENERATE OUTPUT ${registry} CONTENT
"// Written by cmake/plugins.cmake from the list in ${folder}/CMakeLists.txt.
#include \"${folder}/${snake}.h\"
namespace xlaprof {
${declarations}
std::span<const ${type}* const> All${type}s() {
  static constexpr const ${type}* kAll[] = {
${entries}  };
  return kAll;
}
}  // namespace xlaprof
")
  target_sources(${target} PRIVATE ${registry})
endfunction()
