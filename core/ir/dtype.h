// The element types of tensors.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace xlaprof::lazy {

enum class DType : uint8_t { kBool, kU8, kI8, kI16, kI32, kI64, kBF16, kF16, kF32, kF64 };
constexpr size_t kDTypes = size_t(DType::kF64) + 1;  // how many there are

int64_t ByteSize(DType type);
// Returns XLA's name in shapes: pred, u8, s8, s16, s32, s64, bf16, f16, f32, f64.
std::string_view XlaName(DType type);
// Returns StableHLO's name: i1, ui8, i8, i16, i32, i64, bf16, f16, f32, f64.
std::string_view StableHloName(DType type);
// Returns PyTorch's name: bool, uint8, int8, int16, int32, int64, bfloat16, float16, float32,
// float64.
std::string_view TorchName(DType type);
bool IsFloat(DType type);

// Returns the type of an operation on both, by PyTorch's rule: bool before integers before floats,
// and the wider type of one kind. Two different floats of 16 bits give f32, and two different
// integers of 8 bits give i16.
DType Promote(DType a, DType b);

// A 16-bit float: the upper half of an f32, rounded to nearest even.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    uint32_t wide = std::bit_cast<uint32_t>(value);
    const bool nan = (wide & 0x7fffffff) > 0x7f800000;
    bits =
        nan ? uint16_t((wide >> 16) | 0x40) : uint16_t((wide + 0x7fff + ((wide >> 16) & 1)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};
using Float16 = _Float16;

template <class T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kU8;
  if constexpr (std::is_same_v<T, int8_t>) return DType::kI8;
  if constexpr (std::is_same_v<T, int16_t>) return DType::kI16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kI32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<T, BFloat16>) return DType::kBF16;
  if constexpr (std::is_same_v<T, Float16>) return DType::kF16;
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
}

// Calls `f` with a value of the C++ type for `type`: f(float{}).
template <class F>
decltype(auto) VisitDType(DType type, F&& f) {
  switch (type) {
    case DType::kBool:
      return f(bool{});
    case DType::kU8:
      return f(uint8_t{});
    case DType::kI8:
      return f(int8_t{});
    case DType::kI16:
      return f(int16_t{});
    case DType::kI32:
      return f(int32_t{});
    case DType::kI64:
      return f(int64_t{});
    case DType::kBF16:
      return f(BFloat16{});
    case DType::kF16:
      return f(Float16{});
    case DType::kF32:
      return f(float{});
    case DType::kF64:
      break;
  }
  return f(double{});
}

}  // namespace xlaprof::lazy
