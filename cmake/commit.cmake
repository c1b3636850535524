# cmake -DSOURCE=folder -DFILE=file -P commit.cmake: writes a C++ file that defines xlaprof::kCommit, unless it is up to date. kCommit
# names the commit of the checkout SOURCE. It is "unknown" in a source archive, even if that lies inside of another checkout.
set(commit "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit STREQUAL "")
  set(commit unknown)
else()
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(NOT changes STREQUAL "")
    string(APPEND commit ", with changes")
  endif()
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "// Written by cmake/commit.cmake.
namespace xlaprof {
extern const char* const kCommit;
const char* const kCommit = \"${commit}\";
}  // namespace xlaprof
")
