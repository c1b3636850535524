// The inner loops, compiled once per instruction set. A table gives access to them, so that the
// version for this CPU is chosen once.
#pragma once

#include <cstdint>

#include "core/ir/dtype.h"

namespace xlaprof::lazy {

// The type of the arithmetic. Both 16-bit floats are computed as f32 and rounded.
enum class Computed : uint8_t { kBool, kI32, kI64, kF32, kF64 };
constexpr Computed ComputedAs(DType type) {
  switch (type) {
    case DType::kBool:
      return Computed::kBool;
    case DType::kI32:
      return Computed::kI32;
    case DType::kI64:
      return Computed::kI64;
    case DType::kF64:
      return Computed::kF64;
    default:
      return Computed::kF32;
  }
}
constexpr int64_t ByteSize(Computed type) {
  return type == Computed::kBool ? 1 : type == Computed::kI32 || type == Computed::kF32 ? 4 : 8;
}

constexpr bool IsShort(DType type) { return type == DType::kBF16 || type == DType::kF16; }

enum class Code : uint8_t {
  kNeg,
  kAbs,
  kExp,
  kLog,
  kLog1p,
  kTanh,
  kSqrt,
  kRsqrt,
  kSigmoid,
  kRelu,
  kSin,
  kCos,
  kFloor,
  kErf,
  kNot,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kMaximum,
  kMinimum,
  kRemainder,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kWhere,
  kCount
};
enum class Reduction : uint8_t { kSum, kMax, kMin, kProd, kCount };

struct Loops {
  // Processes n elements. `out` may be one of `in` if its elements have the same width.
  using Elementwise = void (*)(const void* const* in, void* out, int64_t n);
  // Combines `*into` with the n elements of `row`.
  using Reduce = void (*)(const void* row, void* into, int64_t n);

  using MultiplyAdd = void (*)(const void* row, const void* factor, void* into, int64_t n);

  // A loop is null if the operation does not exist for the type of its operands.
  Elementwise elementwise[size_t(Code::kCount)][5];
  Elementwise cast[5][5];
  // Convert f16 and bf16 between memory and f32, the type used for computing.
  Elementwise load_f16, load_bf16, store_f16, store_bf16;
  Elementwise round_f16, round_bf16;
  Elementwise copy[4];  // for 1, 2, 4 and 8 bytes
  Reduce reduce[size_t(Reduction::kCount)][5];
  // Combines element by element: into[i] with row[i].
  Reduce accumulate[size_t(Reduction::kCount)][5];
  // Computes into[i] += row[i] * *factor. There is none for bool.
  MultiplyAdd multiply_add[5];
  // Makes elements `first` to `first + n` of uniform's result.
  void (*uniform)(uint64_t seed, uint64_t first, float* out, int64_t n);
};

// Returns the loops for this CPU.
const Loops& ThisCpusLoops();

// Each is defined by one of the files that compile loops_internal.h.
const Loops& LoopsForAnyCpu();
const Loops& LoopsForAvx2();
const Loops& LoopsForAvx512();

}  // namespace xlaprof::lazy
