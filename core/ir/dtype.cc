#include "core/ir/dtype.h"

#include <algorithm>

namespace xlaprof::lazy {
namespace {

struct Names {
  int64_t byte_size;
  std::string_view xla, stablehlo, torch;
};

constexpr Names kNames[] = {
    {1, "pred", "i1", "bool"},       {1, "u8", "ui8", "uint8"},    {1, "s8", "i8", "int8"},
    {2, "s16", "i16", "int16"},      {4, "s32", "i32", "int32"},   {8, "s64", "i64", "int64"},
    {2, "bf16", "bf16", "bfloat16"}, {2, "f16", "f16", "float16"}, {4, "f32", "f32", "float32"},
    {8, "f64", "f64", "float64"},
};

const Names& Of(DType type) { return kNames[size_t(type)]; }

}  // namespace

int64_t ByteSize(DType type) { return Of(type).byte_size; }
std::string_view XlaName(DType type) { return Of(type).xla; }
std::string_view StableHloName(DType type) { return Of(type).stablehlo; }
std::string_view TorchName(DType type) { return Of(type).torch; }
bool IsFloat(DType type) { return type >= DType::kBF16; }

// The types are declared in the order of the rule, except the integers of 8 bits and the floats of
// 16 bits.
DType Promote(DType a, DType b) {
  const DType wider = std::max(a, b), other = std::min(a, b);
  if (wider == DType::kF16 && other == DType::kBF16) return DType::kF32;
  if (wider == DType::kI8 && other == DType::kU8) return DType::kI16;
  return wider;
}

}  // namespace xlaprof::lazy
