#include "core/trace/autocast.h"

#include "core/exec/call.h"
#include "core/trace/wide.h"

namespace xlaprof::lazy {
namespace {

Tensor CastTo(const Tensor& x, DType type) {
  if (!Autocast::type() || !x.defined() || !IsFloat(x.dtype()) || x.dtype() == DType::kF64)
    return x;
  return x.to(type);
}

}  // namespace

Autocast::Autocast(DType type, bool enabled, Where where) : before_(type_) {
  Call call(where);
  if (enabled && !IsNarrow(type)) {
    RaiseHere("Autocast({}): only bfloat16 and float16 are possible", TorchName(type));
  }
  type_ = enabled ? std::optional(type) : std::nullopt;
}

Tensor AutocastToNarrow(const Tensor& x) { return CastTo(x, Autocast::type().value_or(DType())); }
Tensor AutocastToF32(const Tensor& x) { return CastTo(x, DType::kF32); }

}  // namespace xlaprof::lazy
