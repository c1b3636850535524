#include "analyzers/run/user_code.h"

#include <algorithm>

#include "profiler/vocabulary/code.h"

namespace xlaprof {

absl::StatusOr<UserCode> UserCode::Of(const Run& run) {
  const Store& store = run.store();
  UserCode code;
  XP_TRY(store.Each(
      "SELECT DISTINCT coalesce(function, ''), file FROM frame WHERE owner = 'user' AND file IS NOT "
      "NULL UNION "
      "SELECT coalesce(function, ''), file FROM site WHERE file IS NOT NULL ORDER BY 1, 2",
      [&](std::string function, std::string file) {
        if (!IsUserFile(file)) return;
        const std::string name(SourcePlace{.file = file}.basename());
        code.by_function_[function + "@" + name].insert(file);
        code.user_files_.insert(name);
      }));
  return code;
}

bool UserCode::IsUser(const SourcePlace& place) const {
  if (place.empty()) return false;
  const std::string name(place.basename());
  if (name.size() != place.file.size()) return IsUserFile(place.file);
  if (place.file.starts_with('<')) return false;
  return user_files_.contains(name) || !FindPrintedCode(name).Has(CodeTrait::kRecords);
}

bool UserCode::IsUserCall(const SourcePlace& place) const {
  if (!IsUser(place)) return false;
  if (user_files_.contains(place.file)) return true;
  if (!FindPrintedCode(place.file).is_user()) return false;
  // Packages have modules that begin with _ for their own use, such as SciPy's _filters.py.
  const bool is_private = place.file.starts_with('_') && !place.file.starts_with("__");
  return !is_private || place.file.find('/') != std::string::npos;
}

bool IsJaxFile(std::string_view basename) {
  return FindPrintedCode(basename).owner == CodeOwner::kJax;
}

SourcePlace UserCode::Resolve(SourcePlace place) const {
  if (place.empty() || place.basename().size() != place.file.size()) return place;
  const auto paths = by_function_.find(place.function + "@" + place.file);
  if (paths != by_function_.end() && paths->second.size() == 1) place.file = *paths->second.begin();
  return place;
}

SourcePlace UserCode::Of(std::string_view location) const {
  SourcePlace place = SourcePlace::Parse(location);
  return IsUser(place) ? Resolve(std::move(place)) : SourcePlace();
}

SourcePlace UserCode::Near(const PrintedGraph& graph, int node_index) const {
  std::vector<int> ring = {node_index};
  std::set<int> seen = {node_index};
  for (int distance = 1; distance <= 2; ++distance) {
    std::vector<int> next;
    for (int index : ring) {
      for (const GraphNode::Operand& operand : graph.nodes[index].operands)
        next.push_back(operand.node);
    }
    for (size_t user = 0; user < graph.nodes.size(); ++user) {
      for (const GraphNode::Operand& operand : graph.nodes[user].operands) {
        if (std::find(ring.begin(), ring.end(), operand.node) != ring.end())
          next.push_back(static_cast<int>(user));
      }
    }
    std::erase_if(next, [&](int index) { return !seen.insert(index).second; });
    for (int index : next) {
      if (SourcePlace place = Of(graph.nodes[index]); !place.empty()) return place;
    }
    ring = std::move(next);
  }
  const std::string& scope = graph.nodes[node_index].scope;
  if (scope.empty()) return {};
  for (int distance = 1; distance < static_cast<int>(graph.nodes.size()); ++distance) {
    for (int index : {node_index - distance, node_index + distance}) {
      if (index < 0 || index >= static_cast<int>(graph.nodes.size()) ||
          graph.nodes[index].scope != scope)
        continue;
      if (SourcePlace place = Of(graph.nodes[index]); !place.empty()) return place;
    }
  }
  return {};
}

}  // namespace xlaprof
