#include "analyzers/graph/graph_sides.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "analyzers/graph/graph_align.h"
#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_fold.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

constexpr size_t kAround = 2;     // lines shown beside a line that differs
constexpr size_t kMaxRows = 400;  // rows of a comparison
constexpr size_t kMaxText = 400;  // characters of a line, because literals may be long

std::string NameOf(const PrintedGraph& graph, int index) {
  const std::string& name = graph.nodes[size_t(index)].name;
  return "%" + (name.empty() ? fmt::to_string(index) : name);
}

// Returns a node's line: "%12 = aten::mul f32[64,10](%3, %11), value=2".
std::string LineOf(const PrintedGraph& graph, int index) {
  const GraphNode& node = graph.nodes[size_t(index)];
  std::string line =
      fmt::format("{} = {} {}", NameOf(graph, index), node.op, WithoutLayout(node.shape));
  if (!node.operands.empty()) {
    line += "(";
    for (size_t i = 0; i < node.operands.size(); ++i) {
      line += (i > 0 ? ", " : "") + NameOf(graph, node.operands[i].node);
      if (node.operands[i].output > 0) line += fmt::format(".{}", node.operands[i].output);
    }
    line += ")";
  }
  if (!node.attributes.empty()) line += ", " + node.attributes;
  if (line.size() > kMaxText) line = line.substr(0, kMaxText - 3) + "...";
  return line;
}

std::string TitleOf(const PrintedGraph& graph) {
  std::string title = "graph";
  if (!graph.hash.empty()) {
    title += " " + graph.hash.substr(0, 12);
  } else if (!graph.name.empty()) {
    title += " " + graph.name;
  }
  return title + fmt::format(", {} nodes", graph.nodes.size());
}

std::vector<AlignKey> KeysOf(const PrintedGraph& graph) {
  std::vector<AlignKey> keys;
  for (const GraphNode& node : graph.nodes) keys.push_back({ContentHash(node), KindHash(node)});
  return keys;
}

// Merges both listings into one, in order. Matched nodes share a row.
std::vector<GraphSidesRow> Merge(const PrintedGraph& before, const PrintedGraph& after) {
  const std::vector<AlignKey> a = KeysOf(before), b = KeysOf(after);
  const Alignment match = Align(a, b);
  absl::flat_hash_set<int> origins_before, origins_after;
  for (const GraphDifference& origin : Diff(before, after).origins) {
    if (origin.before_index >= 0) origins_before.insert(origin.before_index);
    if (origin.node_index >= 0) origins_after.insert(origin.node_index);
  }
  std::vector<GraphSidesRow> rows;
  int i = 0;
  auto only_before = [&] {
    rows.push_back(
        {.before = LineOf(before, i),
         .state = origins_before.contains(i) ? GraphSidesRow::kOrigin : GraphSidesRow::kDiffers,
         .location = TextOrNull(before.nodes[size_t(i)].location)});
    ++i;
  };
  for (int j = 0; j < int(b.size()); ++j) {
    const int matched = match.after_to_before[size_t(j)];
    while (matched >= 0 && i < matched) only_before();
    GraphSidesRow row{.after = LineOf(after, j),
                      .location = TextOrNull(after.nodes[size_t(j)].location)};
    const bool same = matched >= 0 && a[size_t(matched)].content == b[size_t(j)].content;
    // If the matched line was shown already, the newer line gets a row of its own.
    if (matched >= i) {
      row.before = LineOf(before, matched);
      if (!row.location) row.location = TextOrNull(before.nodes[size_t(matched)].location);
      i = matched + 1;
    }
    row.state = origins_after.contains(j) || (matched >= 0 && origins_before.contains(matched))
                    ? GraphSidesRow::kOrigin
                : same ? GraphSidesRow::kSame
                       : GraphSidesRow::kDiffers;
    rows.push_back(std::move(row));
  }
  while (i < int(a.size())) only_before();
  return rows;
}

// Replaces equal rows that are far from any difference by rows that count them.
std::vector<GraphSidesRow> Shorten(std::vector<GraphSidesRow> rows) {
  std::vector<bool> shown(rows.size(), false);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].state == GraphSidesRow::kSame) continue;
    for (size_t at = i - std::min(i, kAround); at < std::min(rows.size(), i + kAround + 1); ++at)
      shown[at] = true;
  }
  std::vector<GraphSidesRow> kept;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (shown[i]) {
      kept.push_back(std::move(rows[i]));
    } else if (!kept.empty() && kept.back().left_out > 0) {
      ++kept.back().left_out;
    } else {
      kept.push_back({.left_out = 1});
    }
  }
  return kept;
}

}  // namespace

absl::StatusOr<GraphSides> CompareSides(const Store& store, int64_t before_id, int64_t after_id) {
  XP_TRY(PrintedGraph before, LoadGraph(store, before_id));
  XP_TRY(PrintedGraph after, LoadGraph(store, after_id));
  FoldRepeatedViews(&before);
  FoldRepeatedViews(&after);
  GraphSides sides{.before = TitleOf(before), .after = TitleOf(after)};
  sides.rows = Shorten(Merge(before, after));
  if (sides.rows.size() > kMaxRows) {
    sides.omitted = int64_t(sides.rows.size() - kMaxRows);
    sides.rows.resize(kMaxRows);
  }
  return sides;
}

}  // namespace xlaprof
