// The inner loops, compiled once per instruction set. A table gives access to them, so that the
// version for this CPU is chosen once.
#pragma once

#include <cstdint>

#include "core/ir/dtype.h"

namespace xlaprof::lazy {

// The type of the arithmetic. Floats of 16 bits are computed as f32, and integers of up to 16 bits
// as i32. Their results are rounded, or wrap around.
enum class Computed : uint8_t { kBool, kI32, kI64, kF32, kF64 };
constexpr Computed ComputedAs(DType type) {
  switch (type) {
    case DType::kBool:
      return Computed::kBool;
    case DType::kU8:
    case DType::kI8:
    case DType::kI16:
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

// Returns the type that `type` is computed as, or `type` if it is that.
constexpr DType Widened(DType type) {
  if (type == DType::kBF16 || type == DType::kF16) return DType::kF32;
  return type == DType::kU8 || type == DType::kI8 || type == DType::kI16 ? DType::kI32 : type;
}
// Returns whether memory holds the type in another form than that in which it is computed.
constexpr bool IsShort(DType type) { return Widened(type) != type; }

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
  kRound,
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
  // Convert short types between memory and the type that they are computed as. `round` leaves
  // values that the type can hold. All are null for other types.
  Elementwise load[kDTypes], store[kDTypes], round[kDTypes];
  // Convert f32 and f64 to short integers, as they are computed. Values out of range become the
  // nearest one in range. All are null for other types.
  Elementwise saturate[kDTypes][2];
  Elementwise copy[4];  // for 1, 2, 4 and 8 bytes
  Reduce reduce[size_t(Reduction::kCount)][5];
  // Combines element by element: into[i] with row[i].
  Reduce accumulate[size_t(Reduction::kCount)][5];
  // Computes into[i] += row[i] * *factor. There is none for bool.
  MultiplyAdd multiply_add[5];
  // Returns the loop that casts, as both types are computed. A short result is not rounded yet.
  Elementwise CastOf(DType from, DType to) const {
    const Computed computed = ComputedAs(from);
    if (computed >= Computed::kF32 && saturate[size_t(to)][0] != nullptr)
      return saturate[size_t(to)][computed == Computed::kF64];
    return cast[size_t(computed)][size_t(ComputedAs(to))];
  }
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
