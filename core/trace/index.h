// Indices in the way of PyTorch's C++ interface:
//
//   x[0]                                  // x[0] in Python
//   x[{Ellipsis, Slice{1, -1}, None}]     // x[..., 1:-1, None]
//   x[rows]                               // an index tensor, also one without dimensions: a copy
//   x[{Slice{}, mask}]                    // x[:, mask]: reads the mask, because its count is a size
//   x.index_put_({rows, 0}, values);      // x[rows, 0] = values
//   x.index_put_(mask, 0);                // x[mask] = 0: reads nothing, as where() does
#pragma once

#include <concepts>
#include <optional>
#include <variant>
#include <vector>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// Adds a dimension of size 1. In a Slice, it is a bound that is not given.
inline constexpr std::nullopt_t None = std::nullopt;
// Stands for as many whole dimensions as are left.
struct EllipsisType {};
inline constexpr EllipsisType Ellipsis;

// Takes elements from `start` to before `stop`, by default all. Negative bounds count from the end.
struct Slice {
  std::optional<int64_t> start, stop;
  int64_t step = 1;
};

// An index of one dimension, or of as many as a boolean mask has.
class Index {
 public:
  template <class T>
    requires std::integral<T> && (!std::same_as<T, bool>)
  Index(T place) : what_(int64_t(place)) {}
  Index(std::nullopt_t) : what_(std::nullopt) {}
  Index(EllipsisType) : what_(Ellipsis) {}
  Index(Slice slice) : what_(slice) {}
  Index(Tensor tensor) : what_(std::move(tensor)) {}

  const auto& what() const { return what_; }

 private:
  std::variant<int64_t, std::nullopt_t, EllipsisType, Slice, Tensor> what_;
};

// One index, or several in braces, with the line of the expression.
class IndexList {
 public:
  IndexList(std::initializer_list<Index> items, Where where = Where::current())
      : items_(items), where_(where) {}
  explicit IndexList(std::vector<Index> items, Where where = Where::current())
      : items_(std::move(items)), where_(where) {}
  template <class T>
    requires std::convertible_to<T, Index>
  IndexList(T&& one, Where where = Where::current())
      : items_{Index(std::forward<T>(one))}, where_(where) {}

  const std::vector<Index>& items() const { return items_; }
  const Where& where() const { return where_; }

 private:
  std::vector<Index> items_;
  Where where_;
};

}  // namespace xlaprof::lazy
