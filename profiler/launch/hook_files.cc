#include "profiler/launch/hook_files.h"

#include <fstream>

#include "profiler/launch/hook_texts.h"

namespace xlaprof {

absl::Status WriteHookFiles(const std::filesystem::path& folder) {
  for (const HookText& text : HookTexts()) {
    const std::filesystem::path path = folder / text.path;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    std::ofstream out(path, std::ios::binary);
    out << text.text;
    if (!out.flush()) return IoError("{}: cannot be written", path.string());
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
