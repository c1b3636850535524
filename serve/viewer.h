// The viewer's server: it shows one run to browsers on this machine only (docs/formats/view.md).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct ViewerOptions {
  int port = 0;                                     // 0: any free port
  std::vector<std::filesystem::path> source_roots;  // directories of quotable source files
};

// Answers on 127.0.0.1 from its own threads, until it is destroyed. Anyone who knows url() sees the
// run, because the url holds a secret. Requests for other host names (DNS rebinding) or from other
// origins are refused.
class Viewer {
 public:
  // Starts serving. The page is there at once, so that a browser can load it meanwhile; its
  // requests for the run wait for Show.
  static absl::StatusOr<std::unique_ptr<Viewer>> Start(const ViewerOptions& options);
  ~Viewer();

  const std::string& url() const;

  // Shows a store, after reading all its events once. `store` must outlive the viewer, and only the
  // viewer may use it meanwhile. If the store cannot be read, nothing is shown, and Show may be
  // called with another one.
  absl::Status Show(const Store& store);

 private:
  struct Impl;
  explicit Viewer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xlaprof
