#include "analyzers/run/graph_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzers/run/tables.h"
#include "analyzers/run/user_code.h"
#include "base/xla_shape.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {

absl::StatusOr<std::set<std::string>> ShapesOfOp(const Run& run, int64_t graph_id,
                                                 std::string_view op) {
  std::set<std::string> shapes;
  XP_TRY(run.store().Each(
      "SELECT DISTINCT shape FROM graph_node WHERE graph_id = ?1 AND op = ?2",
      [&](std::string_view shape) { shapes.insert(WithoutLayout(shape)); }, graph_id, op));
  return shapes;
}

absl::StatusOr<int64_t> CountLocations(const Run& run, int64_t graph_id) {
  XP_TRY(const OptInt count, run.store().One<int64_t>(
                                 "SELECT count(DISTINCT location) FROM graph_node WHERE graph_id = "
                                 "?1 AND location IS NOT NULL",
                                 graph_id));
  return count.value_or(0);
}

absl::StatusOr<std::vector<InputsOfLine>> InputsByLine(const Run& run, int64_t graph_id) {
  XP_TRY(const UserCode* code, run.Get<UserCode>());
  std::vector<InputsOfLine> inputs;
  XP_TRY(run.store().Each(
      fmt::format("SELECT shape, location, count(*) FROM graph_node WHERE graph_id = ?1 AND op IN "
                  "({}) AND computation IS NULL AND location IS NOT NULL GROUP BY shape, location",
                  SqlNamesOf(OpKind::kInput)),
      [&](std::string_view text, std::string_view location, int64_t count) {
        const std::optional<XlaShape> shape = XlaShape::Parse(text);
        if (!shape || shape->is_scalar()) return;
        inputs.push_back(
            {.count = count, .shape = shape->WithoutLayout(), .place = code->Of(location)});
      },
      graph_id));
  return inputs;
}

absl::StatusOr<std::optional<InputsOfLine>> MostInputsOfOneLine(const Run& run, int64_t graph_id) {
  XP_TRY(std::vector<InputsOfLine> inputs, InputsByLine(run, graph_id));
  std::erase_if(inputs, [](const InputsOfLine& of) { return of.place.empty(); });
  const auto most = std::ranges::max_element(
      inputs, {}, [](const InputsOfLine& of) { return std::pair(of.count, of.shape.rank()); });
  if (most == inputs.end()) return std::nullopt;
  return std::move(*most);
}

absl::StatusOr<OptText> LocationOfResult(const Run& run, int64_t graph_id) {
  return run.store().One<std::string>(
      "SELECT location FROM graph_node WHERE graph_id = ?1 AND location IS NOT NULL ORDER BY root "
      "IS NULL, idx LIMIT 1",
      graph_id);
}

absl::StatusOr<GraphResults> GraphResults::Of(const Run& run, int64_t graph_id) {
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  GraphResults results;
  const auto add_op = [&](std::string_view op, std::string_view location) {
    if (results.ops.empty()) results.location = location;
    results.ops += fmt::format("{} at {};", op, location);
    results.are_placed = results.are_placed && !location.empty();
  };
  int64_t form = 0;
  std::string gathered;  // the operands of the tuple that an HLO program returns
  XP_TRY(run.store().Each(
      fmt::format(
          "SELECT g.id, n.shape, n.op IN ({}), coalesce(n.framework_op, n.op), "
          "coalesce(n.location, ''), n.operands FROM graph_node n JOIN graph g ON g.id = n.graph_id "
          "WHERE n.root IS NOT NULL AND n.computation IS NULL AND (g.id = ?1 OR (?2 <> '' AND "
          "g.hash = ?2)) ORDER BY g.printed_as = 'ir_text' DESC, g.id, n.root",
          SqlNamesOf(OpKind::kTuple)),
      [&](int64_t id, std::string_view text, bool gathers, std::string_view op,
          std::string_view location, std::string operands) {
        if (form == 0) form = id;
        if (id != form) return;
        if (gathers)
          gathered = std::move(operands);
        else
          add_op(op, location);
        const std::optional<XlaShape> shape = XlaShape::Parse(WithoutLayout(text));
        if (!shape) return;
        if (shape->is_tuple()) {
          results.shapes.insert(results.shapes.end(), shape->elements().begin(),
                                shape->elements().end());
        } else {
          results.shapes.push_back(*shape);
        }
      },
      graph_id, graphs->HashOf(graph_id).value_or("")));
  if (gathered.empty()) return results;
  XP_TRY(run.store().Each(
      "SELECT coalesce(framework_op, op), coalesce(location, '') FROM graph_node WHERE graph_id = "
      "?1 AND idx IN (SELECT value FROM json_each('[' || ?2 || ']'))",
      add_op, form, gathered));
  return results;
}

absl::StatusOr<std::vector<CallbackNode>> PythonCallbacks(const Run& run) {
  std::vector<CallbackNode> nodes;
  XP_TRY(run.store().Each(
      fmt::format("SELECT DISTINCT name, coalesce(location, ''), coalesce(framework_op, '') FROM "
                  "graph_node WHERE op IN ({}) AND name IS NOT NULL AND attributes LIKE "
                  "'%python%callback%' ORDER BY name",
                  SqlNamesOf(OpKind::kForeign)),
      [&](std::string name, std::string location, std::string framework_op) {
        nodes.push_back({std::move(name), std::move(location), std::move(framework_op)});
      }));
  return nodes;
}

}  // namespace xlaprof
