// Which of the places in code that a dump prints are the user's.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "analyzers/graph/graph_diff.h"
#include "analyzers/run/run.h"
#include "core/base/source_place.h"
#include "core/base/status.h"

namespace xlaprof {

// Tells the user's code from libraries', and basenames from paths, by the stacks that the store
// holds.
class UserCode {
 public:
  static absl::StatusOr<UserCode> Of(const Run& run);

  // False for files of Python and of installed packages; of a basename: when a file of torch or
  // torch_xla that records ops is called so and no user frame is in a file of that name.
  bool IsUser(const SourcePlace& place) const;

  // With the path in place of a basename, where a user frame has the same function and basename and
  // no other path has.
  SourcePlace Resolve(SourcePlace place) const;

  // The node's own place if it is the user's; empty otherwise.
  SourcePlace Of(const GraphNode& node) const;

  // The nearest place of the user's among the node's operands and users (two steps away at most)
  // and the nodes of its scope; empty when there is none.
  SourcePlace Near(const PrintedGraph& graph, int node_index) const;

 private:
  absl::flat_hash_map<std::string, std::set<std::string>>
      by_function_;                   // function + '@' + basename -> paths
  std::set<std::string> user_files_;  // basenames
};

}  // namespace xlaprof
