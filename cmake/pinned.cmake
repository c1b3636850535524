# The libraries that every build takes from pinned sources (scripts/sources.txt).
function(xlaprof_source name result)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/sources ${name}
                  OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

# SQLite with its recovery extension. Debian's library lacks SQLITE_ENABLE_DBPAGE_VTAB, which the extension needs. Every preset
# compiles the same files with the same options, so ccache compiles them once. sqlite_descriptors.cc has its system calls.
enable_language(C)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -DNDEBUG")
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
xlaprof_source(sqlite3 sqlite_folder)
add_library(xlaprof_sqlite3 STATIC ${PROJECT_SOURCE_DIR}/profiler/store/sqlite_after_fork.c ${PROJECT_SOURCE_DIR}/profiler/store/sqlite_descriptors.cc
            ${sqlite_folder}/ext/recover/dbdata.c)
target_include_directories(xlaprof_sqlite3 SYSTEM PUBLIC ${sqlite_folder})
target_compile_definitions(xlaprof_sqlite3 PRIVATE
  SQLITE_DEFAULT_MEMSTATUS=0 SQLITE_DEFAULT_PCACHE_INITSZ=0 SQLITE_ENABLE_COLUMN_METADATA SQLITE_ENABLE_DBPAGE_VTAB SQLITE_ENABLE_MATH_FUNCTIONS
  SQLITE_EXTRA_INIT=xlaprof_use_own_descriptors SQLITE_MAX_VARIABLE_NUMBER=250000)
target_include_directories(xlaprof_sqlite3 PRIVATE ${PROJECT_SOURCE_DIR})
# clang initializes the table of 65,536 numbers in sqlite_descriptors.cc step by step, and would give up after a million steps.
target_compile_options(xlaprof_sqlite3 PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fconstexpr-steps=10000000>)
target_link_libraries(xlaprof_sqlite3 PUBLIC Threads::Threads ${CMAKE_DL_LIBS} m INTERFACE xlaprof_base)
set_target_properties(xlaprof_sqlite3 PROPERTIES UNITY_BUILD OFF)

# Adds abseil and fmt as archives. A build of only the recorder takes them from here, so that it needs no package of either.
function(xlaprof_pinned_abseil_and_fmt)
  xlaprof_source(abseil abseil_folder)
  xlaprof_source(fmt fmt_folder)
  set(CMAKE_UNITY_BUILD OFF)
  set(BUILD_SHARED_LIBS OFF)
  set(BUILD_TESTING OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
  set(ABSL_PROPAGATE_CXX_STD ON)
  set(ABSL_ENABLE_INSTALL OFF)
  set(FMT_INSTALL OFF)
  set(CMAKE_WARN_DEPRECATED OFF)
  add_subdirectory(${abseil_folder} pinned/abseil EXCLUDE_FROM_ALL SYSTEM)
  add_subdirectory(${fmt_folder} pinned/fmt EXCLUDE_FROM_ALL SYSTEM)
endfunction()
if(XLAPROF_ONLY_RECORD)
  xlaprof_pinned_abseil_and_fmt()
  return()
endif()

# cpp-httplib as a header. Debian's is a shared library that loads OpenSSL, which takes longer than a small report.
xlaprof_source(cpp-httplib httplib_folder)
add_library(xlaprof_httplib INTERFACE)
target_include_directories(xlaprof_httplib SYSTEM INTERFACE ${httplib_folder})
target_link_libraries(xlaprof_httplib INTERFACE Threads::Threads)
