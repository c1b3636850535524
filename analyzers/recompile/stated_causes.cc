#include "analyzers/recompile/stated_causes.h"

namespace xlaprof {

absl::StatusOr<absl::flat_hash_map<int64_t, std::vector<RecompileCause>>> LoadSaidReasons(
    const Run& run) {
  absl::flat_hash_map<int64_t, std::vector<RecompileCause>> said;
  XP_TRY(run.store().Each(
      "SELECT compile_id, type, coalesce(input, ''), coalesce(before, ''), coalesce(after, ''), "
      "text FROM compile_reason ORDER BY compile_id, idx",
      [&](int64_t compile_id, ReasonType type, std::string input, std::string before,
          std::string after, std::string text) {
        RecompileCause cause{.type = type,
                             .before = std::move(before),
                             .after = std::move(after),
                             .seen_in = SeenIn::kJaxExplanation};
        if (cause.type == ReasonType::kShapeChange || cause.type == ReasonType::kDtypeChange ||
            cause.type == ReasonType::kShardingChange) {
          if (cause.type == ReasonType::kShapeChange) cause.node = "parameter";
          cause.names_input = cause.type != ReasonType::kShapeChange;
          cause.input = std::move(input);
          cause.is_input = true;
        } else if (cause.type == ReasonType::kRedefinedFunction) {
          if (!input.empty()) cause.note = note::DefinedAt{std::move(input)};
        } else {
          cause.node = std::move(input);
          // JAX's key of a function holds no other constants than its static arguments.
          if (cause.type == ReasonType::kConstantChange)
            cause.constant = ConstantKind::kStaticArgument;
          if (cause.type == ReasonType::kUnknown) cause.note = note::JaxSays{std::move(text)};
        }
        said[compile_id].push_back(std::move(cause));
      }));
  return said;
}

}  // namespace xlaprof
