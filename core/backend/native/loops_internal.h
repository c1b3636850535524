// Each file that includes this compiles it for one instruction set. Everything is in an unnamed
// namespace, and nothing uses inline functions from the standard library's templates. The linker
// could take such a function from any of these files, and then an older CPU might run the wrong one.
#include <cmath>
#include <cstdint>

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "core/backend/native/loops.h"

// glibc has vector forms of these functions. It declares them only with -ffast-math, which would
// also break NaN.
#ifdef __x86_64__
#define XLAPROF_VECTOR(name)                                         \
  __attribute__((simd("notinbranch"))) double name(double) noexcept; \
  __attribute__((simd("notinbranch"))) float name##f(float) noexcept;
extern "C" {
XLAPROF_VECTOR(exp)
XLAPROF_VECTOR(log)
XLAPROF_VECTOR(log1p)
XLAPROF_VECTOR(tanh)
XLAPROF_VECTOR(sin)
XLAPROF_VECTOR(cos)
XLAPROF_VECTOR(erf)
__attribute__((simd("notinbranch"))) double pow(double, double) noexcept;
__attribute__((simd("notinbranch"))) float powf(float, float) noexcept;
}
#undef XLAPROF_VECTOR
#endif

namespace xlaprof::lazy {
namespace {

using Byte = uint8_t;  // the representation of a bool

template <class T>
constexpr bool kFloat = static_cast<T>(0.5) != 0;
template <class T>
constexpr bool kBit = sizeof(T) == 1;

template <class T>
struct UnsignedOf {
  using Type = uint64_t;
};
template <>
struct UnsignedOf<int32_t> {
  using Type = uint32_t;
};
template <class T>
using Unsigned = typename UnsignedOf<T>::Type;

// Gives math functions one name for both widths.
#define XLAPROF_MATH(Name, function)                      \
  inline float Name(float x) { return ::function##f(x); } \
  inline double Name(double x) { return ::function(x); }
XLAPROF_MATH(Exp, exp)
XLAPROF_MATH(Log, log)
XLAPROF_MATH(Log1p, log1p)
XLAPROF_MATH(Tanh, tanh)
XLAPROF_MATH(Sin, sin)
XLAPROF_MATH(Cos, cos)
XLAPROF_MATH(Erf, erf)
XLAPROF_MATH(Sqrt, sqrt)
XLAPROF_MATH(Floor, floor)
XLAPROF_MATH(Round, rint)  // with the processor's usual rounding: a half goes to the even one
#undef XLAPROF_MATH
inline float Pow(float x, float y) { return ::powf(x, y); }
inline double Pow(double x, double y) { return ::pow(x, y); }
inline float Fmod(float x, float y) { return ::fmodf(x, y); }
inline double Fmod(double x, double y) { return ::fmod(x, y); }

template <class T>
T WholePow(T base, T exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? T(-1) : T(1)) : 0;
  Unsigned<T> result = 1, square = Unsigned<T>(base);
  for (; exponent != 0; exponent >>= 1, square *= square)
    if (exponent & 1) result *= square;
  return T(result);
}

// Returns the remainder with the divisor's sign, as PyTorch does. The remainder by integer 0 is the
// dividend, as in XLA.
template <class T>
T Remainder(T a, T b) {
  if constexpr (kFloat<T>) {
    const T rest = Fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    if (b == 0) return a;
    if (b == -1) return 0;
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

template <Code code, class T>
constexpr bool Possible() {
  if (code >= Code::kExp && code <= Code::kErf && code != Code::kRelu) return kFloat<T>;
  if (kBit<T>)
    return code != Code::kNeg && code != Code::kSub && code != Code::kDiv && code != Code::kPow &&
           code != Code::kRemainder;
  return true;
}

template <Code code, class T>
inline auto Unary(T x) {
  if constexpr (code == Code::kNot) return Byte(x == 0);
  if constexpr (code == Code::kNeg) {
    if constexpr (kFloat<T>)
      return -x;
    else
      return T(-Unsigned<T>(x));
  }
  if constexpr (code == Code::kAbs) {
    if constexpr (kFloat<T>)
      return x < 0 ? -x : x == 0 ? T(0) : x;
    else
      return x < 0 ? T(-Unsigned<T>(x)) : x;
  }
  if constexpr (code == Code::kRelu) return x < 0 ? T(0) : x;
  if constexpr (code == Code::kExp) return Exp(x);
  if constexpr (code == Code::kLog) return Log(x);
  if constexpr (code == Code::kLog1p) return Log1p(x);
  if constexpr (code == Code::kTanh) return Tanh(x);
  if constexpr (code == Code::kSqrt) return Sqrt(x);
  if constexpr (code == Code::kRsqrt) return T(1) / Sqrt(x);
  if constexpr (code == Code::kSigmoid) return T(1) / (T(1) + Exp(-x));
  if constexpr (code == Code::kSin) return Sin(x);
  if constexpr (code == Code::kCos) return Cos(x);
  if constexpr (code == Code::kFloor) return Floor(x);
  if constexpr (code == Code::kRound) return Round(x);
  if constexpr (code == Code::kErf) return Erf(x);
}

template <Code code, class T>
inline auto Binary(T a, T b) {
  if constexpr (code == Code::kEq) return Byte(a == b);
  if constexpr (code == Code::kNe) return Byte(a != b);
  if constexpr (code == Code::kLt) return Byte(a < b);
  if constexpr (code == Code::kLe) return Byte(a <= b);
  if constexpr (code == Code::kGt) return Byte(a > b);
  if constexpr (code == Code::kGe) return Byte(a >= b);
  if constexpr (code == Code::kAnd) return Byte((a != 0) & (b != 0));
  if constexpr (code == Code::kOr) return Byte((a != 0) | (b != 0));
  // If either is NaN, so is the result.
  if constexpr (code == Code::kMaximum) return (a > b) | (a != a) ? a : b;
  if constexpr (code == Code::kMinimum) return (a < b) | (a != a) ? a : b;
  if constexpr (code == Code::kAdd) {
    if constexpr (kBit<T>)
      return T(a | b);
    else if constexpr (kFloat<T>)
      return a + b;
    else
      return T(Unsigned<T>(a) + Unsigned<T>(b));
  }
  if constexpr (code == Code::kSub) {
    if constexpr (kFloat<T>)
      return a - b;
    else
      return T(Unsigned<T>(a) - Unsigned<T>(b));
  }
  if constexpr (code == Code::kMul) {
    if constexpr (kFloat<T> || kBit<T>)
      return T(a * b);
    else
      return T(Unsigned<T>(a) * Unsigned<T>(b));
  }
  if constexpr (code == Code::kDiv) {
    if constexpr (kFloat<T>)
      return a / b;
    else  // rounds towards zero; division by 0 gives -1, as in XLA
      return b == 0 ? T(-1) : b == -1 ? T(-Unsigned<T>(a)) : T(a / b);
  }
  if constexpr (code == Code::kRemainder) return Remainder(a, b);
  if constexpr (code == Code::kPow) {
    if constexpr (kFloat<T>)
      return Pow(a, b);
    else
      return WholePow(a, b);
  }
}

template <Code code, class T>
void Elementwise(const void* const* in, void* out, int64_t n) {
  if constexpr (code == Code::kWhere) {
    auto* condition = static_cast<const Byte*>(in[0]);
    auto *a = static_cast<const T*>(in[1]), *b = static_cast<const T*>(in[2]);
    auto* to = static_cast<T*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T x = a[i], y = b[i];
      to[i] = condition[i] ? x : y;
    }
  } else if constexpr (code < Code::kAdd) {
    auto* a = static_cast<const T*>(in[0]);
    auto* to = static_cast<decltype(Unary<code>(T{}))*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = Unary<code>(a[i]);
  } else {
    auto *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
    auto* to = static_cast<decltype(Binary<code>(T{}, T{}))*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = Binary<code>(a[i], b[i]);
  }
}

template <class From, class To>
void Cast(const void* const* in, void* out, int64_t n) {
  auto* from = static_cast<const From*>(in[0]);
  auto* to = static_cast<To*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const From x = from[i];
    if constexpr (kBit<To>) {
      to[i] = x != 0;
    } else if constexpr (kFloat<From> && !kFloat<To>) {
      // As in XLA, a value out of range becomes the nearest one in range, and NaN becomes 0.
      constexpr To kLargest = To(~Unsigned<To>(0) >> 1);
      constexpr From kLimit = sizeof(To) == 4 ? From(2147483648.0) : From(9223372036854775808.0);
      to[i] = x != x ? To(0) : x >= kLimit ? kLargest : x < -kLimit ? To(-kLargest - 1) : To(x);
    } else {
      to[i] = To(x);
    }
  }
}

// As in XLA, a value out of range becomes the nearest one in range, and NaN becomes 0.
template <class From, class To>
void Saturate(const void* const* in, void* out, int64_t n) {
  constexpr From kLeast = From(To(-1) < 0 ? -(1 << (8 * sizeof(To) - 1)) : 0);
  constexpr From kMost = From((1 << (8 * sizeof(To) - (To(-1) < 0))) - 1);
  auto* from = static_cast<const From*>(in[0]);
  auto* to = static_cast<int32_t*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const From x = from[i];
    to[i] = x != x ? 0 : int32_t(x > kMost ? kMost : x < kLeast ? kLeast : x);
  }
}

// Convert integers of up to 16 bits, which are computed as i32.
template <class T>
void LoadWhole(const void* const* in, void* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) static_cast<int32_t*>(out)[i] = static_cast<const T*>(in[0])[i];
}
template <class T>
void StoreWhole(const void* const* in, void* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] = T(static_cast<const int32_t*>(in[0])[i]);
}
template <class T>
void RoundWhole(const void* const* in, void* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    static_cast<int32_t*>(out)[i] = T(static_cast<const int32_t*>(in[0])[i]);
}

inline uint16_t ToBf16(float value) {
  const uint32_t wide = __builtin_bit_cast(uint32_t, value);
  return value != value ? uint16_t((wide >> 16) | 0x40)
                        : uint16_t((wide + 0x7fff + ((wide >> 16) & 1)) >> 16);
}
inline float FromBf16(uint16_t bits) { return __builtin_bit_cast(float, uint32_t(bits) << 16); }

// The intrinsics are needed because the compiler does not vectorize these conversions.
void LoadF16(const void* const* in, void* out, int64_t n) {
  auto* from = static_cast<const _Float16*>(in[0]);
  auto* to = static_cast<float*>(out);
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
#endif
  for (; i < n; ++i) to[i] = float(from[i]);
}
void StoreF16(const void* const* in, void* out, int64_t n) {
  auto* from = static_cast<const float*>(in[0]);
  auto* to = static_cast<_Float16*>(out);
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), halves);
  }
#endif
  for (; i < n; ++i) to[i] = _Float16(from[i]);
}
void RoundF16(const void* const* in, void* out, int64_t n) {
  auto* from = static_cast<const float*>(in[0]);
  auto* to = static_cast<float*>(out);
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
#endif
  for (; i < n; ++i) to[i] = float(_Float16(from[i]));
}
void LoadBf16(const void* const* in, void* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = FromBf16(static_cast<const uint16_t*>(in[0])[i]);
}
void StoreBf16(const void* const* in, void* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    static_cast<uint16_t*>(out)[i] = ToBf16(static_cast<const float*>(in[0])[i]);
}
void RoundBf16(const void* const* in, void* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = FromBf16(ToBf16(static_cast<const float*>(in[0])[i]));
}

template <class T>
void Copy(const void* const* in, void* out, int64_t n) {
  if (in[0] != out) __builtin_memcpy(out, in[0], size_t(n) * sizeof(T));
}

template <Reduction reduction, class T>
inline T Combine(T a, T b) {
  if constexpr (reduction == Reduction::kSum) return Binary<Code::kAdd>(a, b);
  if constexpr (reduction == Reduction::kProd) return Binary<Code::kMul>(a, b);
  if constexpr (reduction == Reduction::kMax) return Binary<Code::kMaximum>(a, b);
  if constexpr (reduction == Reduction::kMin) return Binary<Code::kMinimum>(a, b);
}

// Reduces a row in as many chains as fill four vectors, because the order of float additions is
// otherwise fixed. The results of runs of 4096 elements are added in f64, so that long sums stay
// precise.
template <Reduction reduction, class T>
void ReduceRow(const void* row, void* into, int64_t n) {
  constexpr int64_t kLanes = 256 / sizeof(T) > 64 ? 64 : 256 / sizeof(T);
  constexpr int64_t kRun = 4096;
  auto* from = static_cast<const T*>(row);
  T result = *static_cast<T*>(into);
  double sum = 0;
  constexpr bool kInF64 = kFloat<T> && reduction == Reduction::kSum;
  for (; n > 0; from += kRun, n -= kRun) {
    const int64_t count = n < kRun ? n : kRun;
    int64_t i = 0;
    if (count >= kLanes) {
      T lanes[kLanes];
      for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = from[lane];
      for (i = kLanes; i + kLanes <= count; i += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane)
          lanes[lane] = Combine<reduction>(lanes[lane], from[i + lane]);
      for (int64_t width = kLanes / 2; width > 0; width /= 2)
        for (int64_t lane = 0; lane < width; ++lane)
          lanes[lane] = Combine<reduction>(lanes[lane], lanes[lane + width]);
      if constexpr (kInF64)
        sum += double(lanes[0]);
      else
        result = Combine<reduction>(result, lanes[0]);
    }
    for (; i < count; ++i) {
      if constexpr (kInF64)
        sum += double(from[i]);
      else
        result = Combine<reduction>(result, from[i]);
    }
  }
  if constexpr (kInF64) result = T(double(result) + sum);
  *static_cast<T*>(into) = result;
}

template <Reduction reduction, class T>
void Accumulate(const void* row, void* into, int64_t n) {
  auto* from = static_cast<const T*>(row);
  auto* to = static_cast<T*>(into);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = Combine<reduction>(to[i], from[i]);
}

template <class T>
void MultiplyAdd(const void* row, const void* factor, void* into, int64_t n) {
  auto* from = static_cast<const T*>(row);
  auto* to = static_cast<T*>(into);
  const T by = *static_cast<const T*>(factor);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    to[i] = Binary<Code::kAdd>(to[i], Binary<Code::kMul>(from[i], by));
}

// Generates numbers with Threefry 2x32, 20 rounds (Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3").
void Uniform(uint64_t seed, uint64_t first, float* out, int64_t n) {
  const uint32_t key0 = uint32_t(seed >> 32), key1 = uint32_t(seed);
  const uint32_t keys[3] = {key0, key1, key0 ^ key1 ^ 0x1bd11bda};
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t counter = first + uint64_t(i);
    uint32_t a = uint32_t(counter >> 32) + keys[0], b = uint32_t(counter) + keys[1];
#pragma GCC unroll 5
    for (uint32_t group = 0; group < 5; ++group) {
#pragma GCC unroll 4
      for (int round = 0; round < 4; ++round) {
        const int by = kRotations[group % 2][round];
        a += b;
        b = (b << by) | (b >> (32 - by));
        b ^= a;
      }
      a += keys[(group + 1) % 3];
      b += keys[(group + 2) % 3] + group + 1;
    }
    out[i] = float(int32_t(a >> 8)) * 0x1p-24f;
  }
}

template <Code code, class T>
constexpr Loops::Elementwise ElementwiseOf() {
  if constexpr (Possible<code, T>())
    return Elementwise<code, T>;
  else
    return nullptr;
}

template <int code>
constexpr void FillElementwise(Loops& loops) {
  if constexpr (code < int(Code::kCount)) {
    constexpr Code kCode = Code(code);
    auto& row = loops.elementwise[code];
    row[0] = ElementwiseOf<kCode, Byte>();
    row[1] = ElementwiseOf<kCode, int32_t>();
    row[2] = ElementwiseOf<kCode, int64_t>();
    row[3] = ElementwiseOf<kCode, float>();
    row[4] = ElementwiseOf<kCode, double>();
    FillElementwise<code + 1>(loops);
  }
}

template <int reduction>
constexpr void FillReductions(Loops& loops) {
  if constexpr (reduction < int(Reduction::kCount)) {
    constexpr Reduction kR = Reduction(reduction);
    auto& rows = loops.reduce[reduction];
    auto& columns = loops.accumulate[reduction];
    rows[0] = ReduceRow<kR, Byte>, columns[0] = Accumulate<kR, Byte>;
    rows[1] = ReduceRow<kR, int32_t>, columns[1] = Accumulate<kR, int32_t>;
    rows[2] = ReduceRow<kR, int64_t>, columns[2] = Accumulate<kR, int64_t>;
    rows[3] = ReduceRow<kR, float>, columns[3] = Accumulate<kR, float>;
    rows[4] = ReduceRow<kR, double>, columns[4] = Accumulate<kR, double>;
    FillReductions<reduction + 1>(loops);
  }
}

template <class From>
constexpr void FillCasts(Loops::Elementwise (&row)[5]) {
  row[0] = Cast<From, Byte>;
  row[1] = Cast<From, int32_t>;
  row[2] = Cast<From, int64_t>;
  row[3] = Cast<From, float>;
  row[4] = Cast<From, double>;
}

template <class T>
constexpr void FillWhole(DType type, Loops& loops) {
  const auto at = size_t(type);
  loops.load[at] = LoadWhole<T>, loops.store[at] = StoreWhole<T>, loops.round[at] = RoundWhole<T>;
  loops.saturate[at][0] = Saturate<float, T>, loops.saturate[at][1] = Saturate<double, T>;
}

constexpr Loops MakeLoops() {
  Loops loops{};
  FillElementwise<0>(loops);
  FillCasts<Byte>(loops.cast[0]);
  FillCasts<int32_t>(loops.cast[1]);
  FillCasts<int64_t>(loops.cast[2]);
  FillCasts<float>(loops.cast[3]);
  FillCasts<double>(loops.cast[4]);
  constexpr auto kF16 = size_t(DType::kF16), kBF16 = size_t(DType::kBF16);
  loops.load[kF16] = LoadF16, loops.store[kF16] = StoreF16, loops.round[kF16] = RoundF16;
  loops.load[kBF16] = LoadBf16, loops.store[kBF16] = StoreBf16, loops.round[kBF16] = RoundBf16;
  FillWhole<uint8_t>(DType::kU8, loops);
  FillWhole<int8_t>(DType::kI8, loops);
  FillWhole<int16_t>(DType::kI16, loops);
  loops.copy[0] = Copy<uint8_t>, loops.copy[1] = Copy<uint16_t>;
  loops.copy[2] = Copy<uint32_t>, loops.copy[3] = Copy<uint64_t>;
  FillReductions<0>(loops);
  loops.multiply_add[1] = MultiplyAdd<int32_t>, loops.multiply_add[2] = MultiplyAdd<int64_t>;
  loops.multiply_add[3] = MultiplyAdd<float>, loops.multiply_add[4] = MultiplyAdd<double>;
  loops.uniform = Uniform;
  return loops;
}

constexpr Loops kLoops = MakeLoops();

}  // namespace
}  // namespace xlaprof::lazy
