#include "analyzers/recompile/recompile_said.h"

namespace xlaprof {

absl::StatusOr<absl::flat_hash_map<int64_t, std::vector<RecompileCause>>> LoadSaidReasons(
    const Store& store) {
  absl::flat_hash_map<int64_t, std::vector<RecompileCause>> said;
  XP_TRY(store.Each(
      "SELECT compile_id, type, coalesce(input, ''), coalesce(before, ''), coalesce(after, ''), "
      "text FROM compile_reason ORDER BY compile_id, idx",
      [&](int64_t compile_id, ReasonType type, std::string input, std::string before,
          std::string after, std::string text) {
        RecompileCause cause{.type = type,
                             .before = std::move(before),
                             .after = std::move(after),
                             .seen_in = "JAX's own explanation"};
        if (cause.type == ReasonType::kShapeChange || cause.type == ReasonType::kDtypeChange ||
            cause.type == ReasonType::kShardingChange) {
          cause.node = cause.type == ReasonType::kShapeChange ? "parameter" : "input " + input;
          cause.input = std::move(input);
          cause.is_input = true;
        } else if (cause.type == ReasonType::kRedefinedFunction) {
          if (!input.empty()) cause.note = fmt::format("it is defined anew each time at {}", input);
        } else {
          cause.node = std::move(input);
          if (cause.type == ReasonType::kUnknown) cause.note = fmt::format("JAX says: {}", text);
        }
        said[compile_id].push_back(std::move(cause));
      }));
  return said;
}

}  // namespace xlaprof
