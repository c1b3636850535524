// Places in code as dumps print them, `function@file:line` or `file:line`, with a whole path or a
// basename only.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "analyzers/graph/graph_diff.h"
#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct CodeLocation {
  std::string function, file;  // "" when unknown
  OptInt line;
  bool empty() const { return file.empty(); }
  std::string text() const {
    return line ? file + ":" + std::to_string(*line) : file;
  }  // file:line
};

CodeLocation ParseLocation(std::string_view text);

// Tells the user's code from libraries', and basenames from paths, by the stacks that the store
// holds.
class UserCode {
 public:
  static absl::StatusOr<UserCode> Load(const Store& store);

  // False for files of Python and of installed packages; of a basename: when a file of torch or
  // torch_xla that records ops is called so and no user frame is in a file of that name.
  bool IsUser(const CodeLocation& location) const;

  // With the path in place of a basename, where a user frame has the same function and basename and
  // no other path has.
  CodeLocation Resolve(CodeLocation location) const;

  // The node's own place if it is the user's; empty otherwise.
  CodeLocation Of(const GraphNode& node) const;

  // The nearest place of the user's among the node's operands and users (two steps away at most)
  // and the nodes of its scope; empty when there is none.
  CodeLocation Near(const PrintedGraph& graph, int node_index) const;

 private:
  absl::flat_hash_map<std::string, std::set<std::string>>
      by_function_;                   // function + '@' + basename -> paths
  std::set<std::string> user_files_;  // basenames
};

}  // namespace xlaprof
