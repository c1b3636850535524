// Runs a function in several processes, each of which is a rank.
//
//   void train(int64_t rank, double lr, std::string data) { … optimizer_step(optimizer); … }
//   int main() { launch(train, {.processes = 4}, std::tuple(0.1, std::string("digits"))); }
//
// A process cannot hand its memory to another one, so launch() starts the program again, with the
// same arguments and environment, once per rank. Each copy runs main() up to this call, which calls
// the function with the arguments of the first process and then ends the copy. Globals have the
// values that main() gave them in the copy itself; only the arguments travel. If a program calls
// launch() several times, a copy returns at once from the calls before its own.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

struct LaunchOptions {
  int64_t processes = 0;  // 0: one per core
  // Calls the function in this process, as the only rank, so that a debugger can follow it.
  bool debug_single_process = false;
};

namespace internal {

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

// Converts arguments to bytes and back.
class Parcel {
 public:
  Parcel() = default;
  explicit Parcel(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& bytes() const { return bytes_; }

  template <class T>
  void Put(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      Put(uint64_t(value.size()));
      bytes_ += value;
    } else if constexpr (kIsVector<T>) {
      Put(uint64_t(value.size()));
      for (const auto& element : value) Put(element);
    } else if constexpr (std::is_same_v<T, HostTensor>) {
      Put(value.shape.dtype);
      Put(std::vector<int64_t>(value.shape.dims.begin(), value.shape.dims.end()));
      Put(std::string(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()));
    } else {
      static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                    "only values travel to another process: numbers, strings, structs of numbers, "
                    "HostTensor, and vectors of these");
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }

  template <class T>
  T Take() {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto size = Take<uint64_t>();
      return T(Next(size), size);
    } else if constexpr (kIsVector<T>) {
      T values;
      for (auto left = Take<uint64_t>(); left > 0; --left)
        values.push_back(Take<typename T::value_type>());
      return values;
    } else if constexpr (std::is_same_v<T, HostTensor>) {
      const auto type = Take<DType>();
      const auto dims = Take<std::vector<int64_t>>();
      const auto bytes = Take<std::string>();
      const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
      return {{type, Dims(dims.begin(), dims.end())}, {begin, begin + bytes.size()}};
    } else {
      T value;
      std::memcpy(&value, Next(sizeof value), sizeof value);
      return value;
    }
  }

 private:
  const char* Next(uint64_t bytes) {
    if (bytes > bytes_.size() - at_) Raise("launch: the arguments did not arrive whole");
    const char* at = bytes_.data() + at_;
    at_ += bytes;
    return at;
  }

  std::string bytes_;
  size_t at_ = 0;
};

// Starts the processes, or is one of them. `run` calls the function with a rank and the arguments
// that the parcel holds.
void Launch(const LaunchOptions& options, const Parcel& arguments,
            const std::function<void(int64_t rank, Parcel arguments)>& run, Where where);

// Does the same for a function whose parameters after the rank are `Params`.
template <class... Params, class Function, class... Args>
void LaunchFunction(const Function& fn, const LaunchOptions& options, std::tuple<Args...> args,
                    Where where) {
  static_assert(sizeof...(Params) == sizeof...(Args), "launch: one argument per parameter");
  using Values = std::tuple<std::remove_cvref_t<Params>...>;
  const auto values = std::apply([](auto&&... arg) { return Values(arg...); }, std::move(args));
  Parcel parcel;
  std::apply([&](const auto&... value) { (parcel.Put(value), ...); }, values);
  Launch(
      options, parcel,
      [fn](int64_t rank, Parcel arguments) {
        // The braces fix the order in which the arguments are taken.
        Values taken{arguments.Take<std::remove_cvref_t<Params>>()...};
        std::apply([&](auto&... value) { fn(rank, value...); }, taken);
      },
      where);
}
// A lambda's call operator names its parameters.
template <class Function, class Lambda, class... Params, class... Args>
void LaunchLambda(const Function& fn, void (Lambda::*)(int64_t, Params...) const,
                  const LaunchOptions& options, std::tuple<Args...> args, Where where) {
  LaunchFunction<Params...>(fn, options, std::move(args), where);
}

}  // namespace internal

// Calls `fn(rank, args...)` in each process and returns when all have ended. Raises an Error if one
// of them raised, or was killed: it says which rank, and why. The others are then ended, too. A
// rank whose peer died gets an error at its next collective or step mark.
template <class... Params, class... Args>
void launch(void (*fn)(int64_t rank, Params...), const LaunchOptions& options,
            std::tuple<Args...> args = {}, Where where = Where::current()) {
  internal::LaunchFunction<Params...>(fn, options, std::move(args), where);
}
// Does the same with a lambda. What it captures has the values that main() gave it in the copy.
template <class Lambda, class... Args>
  requires requires { &Lambda::operator(); }
void launch(const Lambda& fn, const LaunchOptions& options, std::tuple<Args...> args = {},
            Where where = Where::current()) {
  internal::LaunchLambda(fn, &Lambda::operator(), options, std::move(args), where);
}

}  // namespace xlaprof::lazy
