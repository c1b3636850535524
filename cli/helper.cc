#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/program.h"

namespace xlaprof {

absl::Status RunHelper(std::string_view command, char** argv) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return NotFound("/proc/self/exe: {}", error.message());
  const std::filesystem::path helper = program.parent_path() / fmt::format("xlaprof-{}", command);
  execv(helper.c_str(), argv);
  return NotFound("{}: cannot be run ({}). It belongs beside xlaprof: build or install both",
                  helper.string(), std::strerror(errno));
}

}  // namespace xlaprof
