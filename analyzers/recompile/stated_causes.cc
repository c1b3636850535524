#include "analyzers/recompile/stated_causes.h"

namespace xlaprof {

static RecompileCause CauseOf(const CompileReasonRow& row) {
  RecompileCause cause{.type = row.type,
                       .before = row.before.value_or(""),
                       .after = row.after.value_or(""),
                       .seen_in = SeenIn::kJaxExplanation};
  if (cause.type == ReasonType::kShapeChange || cause.type == ReasonType::kDtypeChange ||
      cause.type == ReasonType::kShardingChange) {
    if (cause.type == ReasonType::kShapeChange) cause.node = "parameter";
    cause.names_input = cause.type != ReasonType::kShapeChange;
    cause.input = row.input.value_or("");
    cause.is_input = true;
  } else if (cause.type == ReasonType::kRedefinedFunction) {
    // The row's `after` says where the new object is made, not what it is.
    cause.after.clear();
    if (!row.input.value_or("").empty())
      cause.note = note::DefinedAt{*row.input, /*makes_the_object=*/row.after == row.input};
  } else if (cause.type == ReasonType::kCacheEviction) {
    cause.note = note::CachesCleared();
  } else {
    cause.node = row.input.value_or("");
    // The only constants in JAX's key of a function are its static arguments.
    if (cause.type == ReasonType::kConstantChange) cause.constant = ConstantKind::kStaticArgument;
    if (cause.type == ReasonType::kUnknown || cause.type == ReasonType::kUnprintedChange)
      cause.note = note::JaxSays{row.text};
  }
  return cause;
}

absl::StatusOr<StatedCauses> StatedCauses::Of(const Run& run) {
  XP_TRY(const std::vector<CompileReasonRow> rows,
         run.Rows<CompileReasonRow>("ORDER BY compile_id, idx"));
  StatedCauses stated;
  for (const CompileReasonRow& row : rows)
    stated.by_compile[row.compile_id].push_back(CauseOf(row));
  return stated;
}

}  // namespace xlaprof
