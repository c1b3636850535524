# Warnings and sanitizers. Every target of this project gets them through `xlaprof_options`.
option(XLAPROF_WERROR "Treat warnings as errors" OFF)
set(XLAPROF_SANITIZE "" CACHE STRING "Value of -fsanitize=, empty for none")

add_library(xlaprof_options INTERFACE)
target_compile_features(xlaprof_options INTERFACE cxx_std_20)
target_include_directories(xlaprof_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_options(xlaprof_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers
                       -Wno-unused-parameter $<$<BOOL:${XLAPROF_WERROR}>:-Werror>
                       # If several sources are compiled at once, gcc takes each for a header, in which other rules hold.
                       $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
if(XLAPROF_SANITIZE)
  # Checking sizes of objects would take a fifth of the build. The address sanitizer finds the same errors when they happen.
  target_compile_options(xlaprof_options INTERFACE -fsanitize=${XLAPROF_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=object-size>)
  target_link_options(xlaprof_options INTERFACE -fsanitize=${XLAPROF_SANITIZE})
endif()
