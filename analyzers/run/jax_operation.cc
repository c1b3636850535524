#include "analyzers/run/jax_operation.h"

#include <algorithm>

#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

std::string_view WithoutPrefix(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view();
}

std::string_view NameOf(std::string_view program) {
  for (std::string_view wrapper : {"jit(", "jit_", "prim::"}) {
    if (std::string_view of = WithoutPrefix(program, wrapper); !of.empty()) {
      program = of.substr(0, of.find(')'));
      break;
    }
  }
  program.remove_prefix(std::min(program.find_first_not_of('_'), program.size()));
  return program;
}

const Op& OpOf(std::string_view program) { return FindJaxOp(NameOf(program)); }

}  // namespace

std::string JaxOperationOf(std::string_view program) {
  // With this prefix the program was compiled from a primitive, whichever it is.
  if (std::string_view of = WithoutPrefix(program, "primitive_computation_"); !of.empty())
    return std::string(of);
  const std::string_view name = NameOf(program);
  const Op& op = FindJaxOp(name);
  const bool is_operation = op.kind != OpKind::kUnknown && op.kind != OpKind::kLoop;
  return is_operation && !op.Has(OpTrait::kShort) ? std::string(name) : "";
}

bool IsJaxLoop(std::string_view program) { return OpOf(program).kind == OpKind::kLoop; }

bool IsJaxResharding(std::string_view program) { return OpOf(program).Has(OpTrait::kReshards); }

std::string NameForReaders(const std::string& program) {
  if (!IsJaxResharding(program)) return program;
  const auto caller = std::ranges::find(CallersOfOps(), NameOf(program), &CallerOfOp::op);
  return caller == CallersOfOps().end() ? program : std::string(caller->function);
}

bool IsShortJaxOperation(std::string_view program) { return OpOf(program).Has(OpTrait::kShort); }

bool HasManyInputs(std::string_view program) { return OpOf(program).Has(OpTrait::kManyInputs); }

absl::StatusOr<JaxCalls> JaxCalls::Of(const Run& run) {
  JaxCalls calls;
  XP_TRY(calls.names,
         run.store().Collect("SELECT text FROM string WHERE text LIKE 'PjitFunction(%' LIMIT 4",
                             [](std::string text) { return text; }));
  return calls;
}

}  // namespace xlaprof
