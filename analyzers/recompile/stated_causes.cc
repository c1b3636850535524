#include "analyzers/recompile/stated_causes.h"

#include "analyzers/run/tables.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

RecompileCause OfJax(const CompileReasonRow& row) {
  RecompileCause cause{.type = row.type,
                       .before = row.before.value_or(""),
                       .after = row.after.value_or(""),
                       .seen_in = SeenIn::kJaxExplanation};
  if (cause.type == ReasonType::kShapeChange || cause.type == ReasonType::kDtypeChange ||
      cause.type == ReasonType::kShardingChange) {
    if (cause.type == ReasonType::kShapeChange) cause.node = HloNameOf(OpKind::kInput);
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
    cause.of_class = row.of_class.value_or("");
    // The only constants in JAX's key of a function are its static arguments.
    if (cause.type == ReasonType::kConstantChange) cause.constant = ConstantKind::kStaticArgument;
    if (cause.type == ReasonType::kUnknown || cause.type == ReasonType::kUnprintedChange)
      cause.note = note::JaxSays{row.text};
  }
  return cause;
}

// Makes the cause of a program that differs from an earlier one only in the sizes of its inputs.
RecompileCause OfCacheKey(const CompileReasonRow& row) {
  return {.type = row.type, .is_input = true, .seen_in = SeenIn::kCacheKey};
}

// Returns what a value is that a guard compares, by the name that torch.compile gives it, and by the text
// of the guard.
ConstantKind KindOfGuarded(std::string_view name, std::string_view guard) {
  if (name.starts_with("___stack")) return ConstantKind::kReadNumber;
  if (guard.find("___as_tensor(") != guard.npos) return ConstantKind::kNeededNumber;
  if (name.starts_with("G[")) return ConstantKind::kGlobal;
  if (name.find(".__closure__[") != name.npos) return ConstantKind::kClosure;
  if (name.find(".keywords[") != name.npos) return ConstantKind::kPartial;
  if (name.ends_with(".training")) return ConstantKind::kTrainingMode;
  return name.find('.') != name.npos ? ConstantKind::kModuleAttribute : ConstantKind::kArgument;
}

RecompileCause OfGuard(const CompileReasonRow& row, const Sites& sites) {
  RecompileCause cause{.type = row.type,
                       .before = row.before.value_or(""),
                       .after = row.after.value_or(""),
                       .is_dynamic = row.is_dynamic.value_or(false),
                       .seen_in = SeenIn::kGuard};
  const std::string input = row.input.value_or("");
  switch (cause.type) {
    case ReasonType::kShapeChange:
    case ReasonType::kDtypeChange:
    case ReasonType::kLayoutChange:
    case ReasonType::kGradientChange:
    case ReasonType::kDeviceChange:
      cause.input = input;
      cause.is_input = cause.names_input = true;
      break;
    case ReasonType::kConstantChange:
      cause.constant = KindOfGuarded(input, row.text);
      cause.node = input;
      break;
    default:
      cause.node = input;
      break;
  }
  if (cause.type == ReasonType::kUnknown) cause.note = note::GuardSays{row.text};
  if (row.site_id) {
    const Subject place = sites.SubjectOf(row.site_id);
    if (place.file) cause.location = place.place();
  }
  return cause;
}

RecompileCause CauseOf(const CompileReasonRow& row, const Sites& sites) {
  switch (row.stated_by) {
    case StatedBy::kGuard:
      return OfGuard(row, sites);
    case StatedBy::kCacheKey:
      return OfCacheKey(row);
    case StatedBy::kJaxExplanation:
    case StatedBy::kUnknown:
      break;
  }
  return OfJax(row);
}

}  // namespace

absl::StatusOr<StatedCauses> StatedCauses::Of(const Run& run) {
  XP_TRY(const std::vector<CompileReasonRow> rows,
         run.Rows<CompileReasonRow>("ORDER BY compile_id, idx"));
  StatedCauses stated;
  if (rows.empty()) return stated;
  XP_TRY(const Sites* sites, run.Get<Sites>());
  for (const CompileReasonRow& row : rows)
    stated.by_compile[row.compile_id].push_back(CauseOf(row, *sites));
  return stated;
}

}  // namespace xlaprof
