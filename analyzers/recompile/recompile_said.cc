#include "analyzers/recompile/recompile_said.h"

namespace xlaprof {

absl::StatusOr<absl::flat_hash_map<int64_t, std::vector<RecompileCause>>> LoadSaidReasons(
    const Store& store) {
  absl::flat_hash_map<int64_t, std::vector<RecompileCause>> said;
  XP_TRY(store.Each(
      "SELECT compile_id, type, coalesce(input, ''), coalesce(before, ''), coalesce(after, ''), "
      "text FROM compile_reason ORDER BY compile_id, idx",
      [&](int64_t compile_id, std::string type, std::string input, std::string before,
          std::string after, std::string text) {
        RecompileCause cause{.type = std::move(type),
                             .before = std::move(before),
                             .after = std::move(after),
                             .seen_in = "JAX's own explanation"};
        if (cause.type == "shape_change" || cause.type == "dtype_change" ||
            cause.type == "sharding_change") {
          cause.node = cause.type == "shape_change" ? "parameter" : "input " + input;
          cause.input = std::move(input);
          cause.is_input = true;
        } else if (cause.type == "redefined_function") {
          if (!input.empty()) cause.note = fmt::format("it is defined anew each time at {}", input);
        } else {
          cause.node = std::move(input);
          if (cause.type == "unknown") cause.note = fmt::format("JAX says: {}", text);
        }
        said[compile_id].push_back(std::move(cause));
      }));
  return said;
}

}  // namespace xlaprof
