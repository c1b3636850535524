// Tensors whose operations are recorded and computed later: at a step mark, a sync, or when a value
// is read.
//
//   Tensor x = rand({64, 784}), w = rand({784, 10}).requires_grad_();
//   Tensor loss = log_softmax(matmul(x, w), 1).mean();
//   loss.backward();
//   mark_step();                  // computes live tensors, without waiting
//   double value = loss.item();   // reads a computed value
//
// A Tensor is a handle: copies refer to the same tensor. Invalid shapes, types and indices raise an
// Error at once, with the caller's line.
//
// Any thread may record operations, read values and end steps, also on one device. Threads take
// turns at operations: another thread's operation or step mark comes before or after one, never in
// between. A step mark computes the live tensors of its device that all threads have recorded.
// Several threads may use one tensor at the same time if none of them changes it. A thread that
// writes it in place, computes its gradient or assigns another tensor to its handle must be the
// only one. A process that was forked after the first use of the runtime cannot use it: each call
// raises an Error.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <source_location>
#include <span>
#include <string_view>
#include <vector>

#include "base/ref.h"
#include "core/exec/device.h"
#include "core/ir/error.h"
#include "core/ir/shape.h"

namespace xlaprof::lazy {

// The location of a call, which the compiler supplies.
using Where = std::source_location;

struct TensorImpl;
class IndexList;
struct ValuesAndIndices;

// Dimensions, of which one may be given without braces: x.sum(1), x.sum({0, 1}).
struct DimList : Dims {
  DimList() = default;
  DimList(Dims dims) : Dims(std::move(dims)) {}
  DimList(std::initializer_list<int64_t> dims) : Dims(dims) {}
  template <class T>
    requires std::integral<T> && (!std::same_as<T, bool>)
  DimList(T dim) : Dims(1, int64_t(dim)) {}
};

// A number in an expression. Its type takes part in promotion only if it is of a higher kind than
// the tensor's: booleans, integers, floats.
struct Scalar {
  template <class T>
    requires std::is_arithmetic_v<T>
  Scalar(T value)
      : is_truth(std::is_same_v<T, bool>),
        is_whole(std::is_integral_v<T>),
        whole(Bounded(value)),
        real(double(value)) {}
  bool is_truth, is_whole;
  int64_t whole;  // a float is truncated to the range of int64
  double real;

 private:
  template <class T>
  static int64_t Bounded(T value) {
    if constexpr (std::is_integral_v<T>) {
      return int64_t(value);
    } else {
      if (value != value) return 0;
      return value >= 0x1p63 ? INT64_MAX : value <= -0x1p63 ? INT64_MIN : int64_t(value);
    }
  }
};

// A tensor's elements on the host, dense and row-major.
struct HostTensor {
  Shape shape;
  std::vector<std::byte> bytes;

  // Returns a tensor with these values, which are row-major.
  template <class T>
  static HostTensor Of(std::span<const T> values, Dims sizes) {
    const auto bytes = std::as_bytes(values);
    return {{DTypeOf<T>(), std::move(sizes)}, {bytes.begin(), bytes.end()}};
  }
  template <class T>
  std::span<const T> values() const {
    if (DTypeOf<T>() != shape.dtype)
      Raise("values of {} cannot be read as {}", shape.ToText(), XlaName(DTypeOf<T>()));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  // Return element `i`, whatever its type.
  double Real(int64_t i) const;
  int64_t Whole(int64_t i) const;
  // Returns the text that PyTorch prints for a tensor on the CPU.
  std::string ToText() const;
};

class Tensor {
 public:
  Tensor();  // undefined
  explicit Tensor(Ref<TensorImpl> impl);
  Tensor(const Tensor&);
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(const Tensor&);
  Tensor& operator=(Tensor&&) noexcept;
  ~Tensor();

  // Returns a tensor with values from the host, which are row-major.
  template <class T>
  static Tensor FromHost(std::span<const T> values, Dims sizes, Device& device = Device::Default(),
                         Where where = Where::current()) {
    return FromBytes(values.data(), values.size(), {DTypeOf<T>(), std::move(sizes)}, device, where);
  }
  template <class T>
  static Tensor FromHost(std::initializer_list<T> values, Dims sizes,
                         Device& device = Device::Default(), Where where = Where::current()) {
    return FromHost(std::span<const T>(values), std::move(sizes), device, where);
  }
  static Tensor FromHost(const HostTensor& host, Device& device = Device::Default(),
                         Where where = Where::current());

  // Returns whether this handle refers to a tensor. Only that, impl(), assignment and destruction
  // are possible for one that does not.
  bool defined() const { return bool(impl_); }
  TensorImpl* impl() const { return impl_.get(); }

  DType dtype() const;
  Dims sizes() const;
  int64_t dim() const { return int64_t(sizes().size()); }
  // Returns the size of dimension `dim`; -1 is the last.
  int64_t size(int64_t dim, Where where = Where::current()) const;
  int64_t numel() const;
  Device& device() const;

  // Read values. They compute only what they need, and the graph continues.
  HostTensor to_cpu(Where where = Where::current()) const;
  double item(Where where = Where::current()) const;
  // Raises an Error if the type cannot hold the value. Fractions are cut off.
  template <class T>
    requires std::is_arithmetic_v<T>
  T item(Where where = Where::current()) const {
    if constexpr (std::is_same_v<T, bool>) {
      return item(where) != 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      return T(item(where));
    } else {
      return T(WholeItem(std::is_unsigned_v<T>, sizeof(T), where));
    }
  }
  // Reads whether the only element is not 0, as `if (tensor)` does in PyTorch. An Error if there
  // are several elements or none. The read is at the line that computed the tensor, which is that
  // of the condition in `if (x > 0)`.
  explicit operator bool() const;
  void print(Where where = Where::current()) const;
  // Returns the text that print() prints. It is PyTorch's, with the name of the device, as
  // PyTorch/XLA prints it. `grad_fn` names the last operation that was recorded, which for functions
  // that consist of several is not PyTorch's name.
  std::string to_text(Where where = Where::current()) const;

  // Write in place, also through views. Gradients flow through the writes; only leaves that require
  // a gradient, and views of them, cannot be written while gradients are recorded. A result whose
  // type is of a higher kind than the tensor's raises an Error; copy_ and fill_ convert.
  Tensor& copy_(const Tensor& from, Where where = Where::current());
  Tensor& fill_(Scalar value, Where where = Where::current());
  Tensor& zero_(Where where = Where::current()) { return fill_(0, where); }
  Tensor& add_(const Tensor& other, Scalar alpha = 1, Where where = Where::current());
  Tensor& add_(Scalar other, Where where = Where::current());
  Tensor& sub_(const Tensor& other, Scalar alpha = 1, Where where = Where::current());
  Tensor& sub_(Scalar other, Where where = Where::current());
  Tensor& mul_(const Tensor& other, Where where = Where::current());
  Tensor& mul_(Scalar other, Where where = Where::current());
  Tensor& div_(const Tensor& other, Where where = Where::current());
  Tensor& div_(Scalar other, Where where = Where::current());

  // Returns the indexed elements: a view if the index has integers and slices only, otherwise a new
  // tensor. core/trace/index.h says what an index can be.
  Tensor operator[](const IndexList& at) const;
  // Assigns to the indexed elements, or adds to them. A mask with a single value works as where()
  // does; with several values it is read.
  Tensor& index_put_(const IndexList& at, const Tensor& values, bool accumulate = false);
  Tensor& index_put_(const IndexList& at, Scalar value, bool accumulate = false);
  Tensor& masked_fill_(const Tensor& mask, Scalar value, Where where = Where::current());

  // Return views, which share the storage.
  Tensor view(Dims sizes, Where where = Where::current()) const;  // one size may be -1
  // Does the same. PyTorch copies instead where the elements do not lie in their order.
  Tensor reshape(Dims sizes, Where where = Where::current()) const {
    return view(std::move(sizes), where);
  }
  Tensor permute(Dims dims, Where where = Where::current()) const;
  Tensor transpose(int64_t a, int64_t b, Where where = Where::current()) const;
  Tensor t(Where where = Where::current()) const { return transpose(-2, -1, where); }
  Tensor slice(int64_t dim, int64_t start, int64_t end, int64_t step = 1,
               Where where = Where::current()) const;  // negative bounds count from the end
  Tensor select(int64_t dim, int64_t index, Where where = Where::current()) const;
  Tensor unsqueeze(int64_t dim, Where where = Where::current()) const;
  Tensor squeeze(int64_t dim, Where where = Where::current()) const;
  Tensor flatten(int64_t from = 0, Where where = Where::current()) const;
  Tensor expand(Dims sizes, Where where = Where::current()) const;  // not writable

  Tensor to(DType type, Where where = Where::current()) const;
  // Returns the same values on another device. It reads them, and sends a copy.
  Tensor to(Device& device, Where where = Where::current()) const;
  // `device` is a name that Device::Named() knows, such as "cpu", the host, or "CPU:1".
  Tensor to(std::string_view device, Where where = Where::current()) const {
    return to(Device::Named(device), where);
  }
  Tensor clone(Where where = Where::current()) const;

  // Gradients. They are kept only for leaves, which no operation made.
  Tensor& requires_grad_(bool on = true, Where where = Where::current());
  bool requires_grad() const;
  Tensor grad() const;  // none before the first backward()
  void zero_grad();     // removes it, as PyTorch does
  // Adds the gradient of a loss to each leaf that this depends on. `gradient` is that of the loss
  // with respect to this; by default this is the loss, a scalar. Tensors that were saved for the
  // gradient are released, unless `retain_graph` is true.
  void backward(const Tensor& gradient = Tensor(), bool retain_graph = false,
                Where where = Where::current()) const;
  // Returns the same value without its history. It shares the storage.
  Tensor detach() const;
  // Gives this leaf the storage of another tensor, which may be of another type, as PyTorch's
  // `x.data = from` does. All handles of this tensor see it. Its views, and operations recorded
  // before, keep the old storage.
  void set_data(const Tensor& from, Where where = Where::current());

  // Operations of core/trace/functions.h: x.relu() is relu(x).
#define XLAPROF_OR(value) = value
#define XLAPROF_MEMBER(type, name, parameters, ...) type name parameters const;
#include "core/trace/members.h"

 private:
  // Returns the element of a tensor of one, which must fit an integer of so many bytes.
  int64_t WholeItem(bool is_unsigned, size_t bytes, Where where) const;
  static Tensor FromBytes(const void* values, size_t count, Shape shape, Device& device,
                          Where where);
  Ref<TensorImpl> impl_;
};

namespace autograd {

// Returns the gradient of a loss with respect to each of `inputs`, and adds nothing to the leaves'
// gradients. `grad_outputs` are the gradients of the loss with respect to `outputs`; without them
// each output is a scalar, and the loss is their sum. An input that no output depends on raises an
// Error, or has no gradient if `allow_unused` is true. Gradients have no history of their own.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {}, bool retain_graph = false,
                         bool allow_unused = false, Where where = Where::current());

}  // namespace autograd

// While it lives, operations are not recorded for gradients.
class NoGrad {
 public:
  NoGrad() : before_(std::exchange(off_, true)) {}
  ~NoGrad() { off_ = before_; }
  NoGrad(const NoGrad&) = delete;
  static bool is_on() { return off_; }

 private:
  static inline thread_local bool off_ = false;
  const bool before_;
};

// The left operand of an operator, with the line of the expression.
struct Operand {
  Operand(const Tensor& tensor, Where where = Where::current()) : tensor(tensor), where(where) {}
  const Tensor& tensor;
  Where where;
};

// A number as the right operand, with the line of the expression.
struct NumberOperand {
  template <class T>
    requires std::is_arithmetic_v<T>
  NumberOperand(T value, Where where = Where::current()) : value(value), where(where) {}
  Scalar value;
  Where where;
};

// Write in place, as add_ and its neighbours do: z += x, x[0] *= 2.
#define XLAPROF_ASSIGNMENT(symbol, of_tensor, of_number)                             \
  inline Tensor& operator symbol(Tensor& x, Operand y) { return x.of_tensor; }       \
  inline Tensor& operator symbol(Tensor& x, NumberOperand y) { return x.of_number; } \
  inline Tensor operator symbol(Tensor&& x, Operand y) { return x.of_tensor; }       \
  inline Tensor operator symbol(Tensor&& x, NumberOperand y) { return x.of_number; }
XLAPROF_ASSIGNMENT(+=, add_(y.tensor, 1, y.where), add_(y.value, y.where))
XLAPROF_ASSIGNMENT(-=, sub_(y.tensor, 1, y.where), sub_(y.value, y.where))
XLAPROF_ASSIGNMENT(*=, mul_(y.tensor, y.where), mul_(y.value, y.where))
XLAPROF_ASSIGNMENT(/=, div_(y.tensor, y.where), div_(y.value, y.where))
#undef XLAPROF_ASSIGNMENT

// Reads the tensor, and writes what print() prints.
std::ostream& operator<<(std::ostream& out, Operand x);

}  // namespace xlaprof::lazy
