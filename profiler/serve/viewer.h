// The viewer's server: one run, to browsers on this machine only (docs/formats/view.md).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct ViewerOptions {
  int port = 0;                                     // 0: any that is free
  std::vector<std::filesystem::path> source_roots;  // where source lines may be quoted from
};

// Answers on 127.0.0.1 from threads of its own, until it is destroyed. Whoever knows url() sees the
// run: it holds a secret, and requests by other names of this machine (DNS rebinding) or from other
// origins are refused.
class Viewer {
 public:
  // The page is there at once, so that a browser can load it meanwhile; what it asks about the run
  // waits for Show.
  static absl::StatusOr<std::unique_ptr<Viewer>> Start(const ViewerOptions& options);
  ~Viewer();

  const std::string& url() const;

  // Looks at all events once. `store` outlives the viewer, and only the viewer uses it meanwhile.
  // Where it can't be read, nothing is shown, and another one may be.
  absl::Status Show(const Store& store);

 private:
  struct Impl;
  explicit Viewer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xlaprof
