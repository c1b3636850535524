// Finds the places in a dump that are in the user's code.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "analyzers/graph/graph_diff.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

// Returns whether JAX calls into the runtime from a file of this name.
bool IsJaxFile(std::string_view basename);

// Distinguishes the user's code from libraries, and finds paths for basenames, with the stacks in
// the store.
class UserCode {
 public:
  static absl::StatusOr<UserCode> Of(const Run& run);

  // Returns false for files of Python and of installed packages. Returns false for a basename if a
  // file of torch or torch_xla that records ops has this name and no user frame is in a file of
  // this name.
  bool IsUser(const SourcePlace& place) const;

  // The same for a call that a profiler recorded. JAX's profiler records basenames, so the files of
  // JAX, NumPy and Python that call often count as libraries.
  bool IsUserCall(const SourcePlace& place) const;

  // Replaces a basename by a path, if the user frames with the same function and basename all have
  // this path.
  SourcePlace Resolve(SourcePlace place) const;

  // Returns the place, as it was printed, if it is in the user's code, or an empty place.
  SourcePlace Of(std::string_view location) const;
  // Returns the node's own place if it is in the user's code, or an empty place.
  SourcePlace Of(const GraphNode& node) const { return Of(node.location); }

  // Returns the nearest place in the user's code among the node's operands and users (at most two
  // steps away) and the nodes of its scope, or an empty place.
  SourcePlace Near(const PrintedGraph& graph, int node_index) const;

 private:
  // Maps function + '@' + basename to paths.
  absl::flat_hash_map<std::string, std::set<std::string>> by_function_;
  std::set<std::string> user_files_;  // basenames
};

}  // namespace xlaprof
