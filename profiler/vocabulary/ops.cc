#include "profiler/vocabulary/ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/vocabulary/op_tables.h"

namespace xlaprof {
namespace {

const Op* Find(std::span<const Op> ops, std::string_view name) {
  const auto at = std::ranges::lower_bound(ops, name, {}, &Op::name);
  return at != ops.end() && at->name == name ? &*at : nullptr;
}

const Op& Known(const Op* op) { return op == nullptr ? kUnknownOp : *op; }

std::string_view WithoutOverload(std::string_view name) { return name.substr(0, name.find('.')); }

std::string SqlNames(auto&& is_meant) {
  std::string names;
  for (const auto ops : {std::span<const Op>(kHloOps), std::span<const Op>(kStablehloOps),
                         std::span<const Op>(kTorchOps)}) {
    for (const Op& op : ops) {
      if (is_meant(op)) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", op.name);
    }
  }
  return names;
}

}  // namespace

const Op& FindTorchOp(std::string_view name) {
  return Known(Find(kTorchOps, WithoutOverload(name)));
}

const Op& FindJaxOp(std::string_view name) { return Known(Find(kJaxOps, name)); }

const Op& FindOp(std::string_view name, PrintedForm form) {
  if (name.find("::") != name.npos) return FindTorchOp(name);
  if (form == PrintedForm::kTorchtpuOps) {
    if (const Op* op = Find(kTorchOps, "aten::" + std::string(WithoutOverload(name)))) return *op;
  }
  if (const Op* op = Find(kHloOps, name)) return *op;
  if (const Op* op = Find(kStablehloOps, name)) return *op;
  return FindJaxOp(name);
}

const Op& FindFrameworkOp(std::string_view name) {
  return name.find("::") == name.npos ? FindJaxOp(name) : FindTorchOp(name);
}

const Op& FindInstruction(std::string_view name) {
  if (name.starts_with('%')) name.remove_prefix(1);
  if (const size_t end = name.rfind("::"); end != name.npos) name.remove_prefix(end + 2);
  name = name.substr(0, name.find(' '));
  std::string with_dashes(name);
  std::ranges::replace(with_dashes, '_', '-');
  for (size_t size = name.size(); size != name.npos && size > 0;
       size = name.find_last_of("-_.", size - 1)) {
    if (const Op* op = Find(kHloOps, std::string_view(with_dashes).substr(0, size))) return *op;
    if (const Op* op = Find(kJaxOps, name.substr(0, size))) return *op;
  }
  return kUnknownOp;
}

OpKind KindOfKernel(std::string_view name) {
  for (const Op& part : kKernelOps) {
    std::string_view text = part.name;
    const bool begins = text.ends_with('*');
    if (begins) text.remove_suffix(1);
    if (begins ? name.starts_with(text) : name.find(text) != name.npos) return part.kind;
  }
  return OpKind::kUnknown;
}

bool IsCollectiveOp(std::string_view name) {
  return KindOfKernel(name) == OpKind::kCollective ||
         FindInstruction(name).kind == OpKind::kCollective;
}

std::string SqlNamesOf(OpKind kind) {
  return SqlNames([&](const Op& op) { return op.kind == kind; });
}

std::string SqlNamesWith(OpTrait trait) {
  return SqlNames([&](const Op& op) { return op.Has(trait); });
}

std::string_view HloNameOf(OpKind kind) {
  return std::ranges::find(kHloOps, kind, &Op::kind)->name;
}

bool IsGivenInputName(std::string_view name) {
  return std::ranges::any_of(kInputNames, [&](std::string_view given) {
    return name.starts_with(given) &&
           name.find_first_not_of("0123456789", given.size()) == name.npos;
  });
}

std::span<const Op> TorchOps() { return kTorchOps; }

std::span<const CallerOfOp> CallersOfOps() { return kCallersOfOps; }

std::span<const std::string_view> ReadingFunctions() { return kReadingFunctions; }

}  // namespace xlaprof
