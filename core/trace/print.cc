// Prints tensors as PyTorch does.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

#include "core/trace/emit.h"

namespace xlaprof::lazy {
namespace {

// PyTorch's default options for printing. Larger tensors are printed with only the first and last
// elements of each dimension.
constexpr int64_t kMaxPrinted = 1000, kEdge = 3;
constexpr size_t kLineWidth = 80;
constexpr std::string_view kBegin = "tensor(";

// How the elements of a tensor are printed. All of them are padded to the same width.
struct Style {
  size_t width = 1;
  bool all_are_whole = true;  // of floats: these are printed as "1."
  bool is_scientific = false;
};

class TensorPrinter {
 public:
  explicit TensorPrinter(const HostTensor& tensor)
      : tensor_(tensor),
        is_cut_(tensor.shape.elements() > kMaxPrinted),
        style_(IsFloat(tensor.shape.dtype) ? FloatStyle() : OtherStyle()) {}

  std::string Print() const {
    if (tensor_.shape.elements() == 0) return "[]";
    return Print(0, 0, tensor_.shape.elements());
  }

 private:
  static constexpr int64_t kLeftOut = -1;

  // Returns the places that are printed in a dimension of this size.
  std::vector<int64_t> Places(int64_t size) const {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < size; ++i) {
      if (is_cut_ && size > 2 * kEdge && i == kEdge) {
        places.push_back(kLeftOut);
        i = size - kEdge;
      }
      places.push_back(i);
    }
    return places;
  }

  // Calls `f` with the place of each element that is printed. Those of the dimensions from `dim` on
  // begin at `offset`, and are `count` in all.
  template <class F>
  void Visit(F&& f, size_t dim, int64_t offset, int64_t count) const {
    if (count == 0) return;
    if (dim == tensor_.shape.dims.size()) return f(offset);
    const int64_t size = tensor_.shape.dims[dim], stride = count / size;
    for (const int64_t place : Places(size))
      if (place != kLeftOut) Visit(f, dim + 1, offset + place * stride, stride);
  }
  template <class F>
  void Visit(F&& f) const {
    Visit(f, 0, 0, tensor_.shape.elements());
  }

  Style OtherStyle() const {
    Style style;
    Visit([&](int64_t i) { style.width = std::max(style.width, OtherText(i).size()); });
    return style;
  }

  // Zeros, infinities and NaN do not affect the style.
  Style FloatStyle() const {
    std::vector<double> values;
    Visit([&](int64_t i) {
      const double value = tensor_.Real(i);
      if (std::isfinite(value) && value != 0) values.push_back(value);
    });
    Style style;
    if (values.empty()) return style;
    double least = INFINITY, most = 0;
    for (const double value : values) {
      least = std::min(least, std::abs(value));
      most = std::max(most, std::abs(value));
      style.all_are_whole &= value == std::ceil(value);
    }
    style.is_scientific = most / least > 1000 || most > 1e8 || least < 1e-4;
    for (const double value : values)
      style.width = std::max(style.width, FloatText(value, style).size());
    return style;
  }

  std::string OtherText(int64_t i) const {
    if (tensor_.shape.dtype == DType::kBool) return tensor_.Whole(i) != 0 ? "True" : "False";
    return fmt::format("{}", tensor_.Whole(i));
  }

  static std::string FloatText(double value, const Style& style) {
    if (std::isnan(value)) return "nan";  // the sign of a NaN has no meaning
    if (style.is_scientific) return fmt::format("{:.4e}", value);
    if (!style.all_are_whole) return fmt::format("{:.4f}", value);
    return fmt::format("{:.0f}{}", value, std::isinf(value) ? "" : ".");
  }

  std::string ElementText(int64_t i) const {
    const std::string text =
        IsFloat(tensor_.shape.dtype) ? FloatText(tensor_.Real(i), style_) : OtherText(i);
    return fmt::format("{:>{}}", text, style_.width);
  }

  std::string Print(size_t dim, int64_t offset, int64_t count) const {
    const Dims& sizes = tensor_.shape.dims;
    if (dim == sizes.size()) return ElementText(offset);
    const size_t indent = kBegin.size() + dim, inner_dims = sizes.size() - dim - 1;
    const int64_t stride = count / sizes[dim];
    const size_t per_line =
        inner_dims > 0 ? 1 : std::max<size_t>(1, (kLineWidth - indent) / (style_.width + 2));
    std::string text = "[";
    size_t printed = 0;
    for (const int64_t place : Places(sizes[dim])) {
      if (printed > 0 && printed % per_line == 0) {
        text +=
            ',' + std::string(std::max<size_t>(1, inner_dims), '\n') + std::string(indent + 1, ' ');
      } else if (printed > 0) {
        text += ", ";
      }
      ++printed;
      text += place != kLeftOut ? Print(dim + 1, offset + place * stride, stride)
              : inner_dims > 0  ? "..."
                                : " ...";
    }
    return text + ']';
  }

  const HostTensor& tensor_;
  const bool is_cut_;
  const Style style_;
};

// Returns the text of a tensor. `device` and `gradient` are what to print about these, or empty.
std::string Print(const HostTensor& tensor, std::string device, std::string gradient) {
  const Shape& shape = tensor.shape;
  std::vector<std::string> suffixes{std::move(device)};
  const bool is_empty = shape.elements() == 0;
  if (is_empty && shape.rank() != 1) {
    const std::string sizes = SizesText(shape.dims);
    suffixes.push_back(fmt::format("size=({})", sizes.substr(1, sizes.size() - 2)));
  }
  // Texts of elements show that these are s64 or bool, which empty tensors do not.
  const bool is_shown = !is_empty && (shape.dtype == DType::kI64 || shape.dtype == DType::kBool);
  if (shape.dtype != DType::kF32 && !is_shown)
    suffixes.push_back(fmt::format("dtype=torch.{}", TorchName(shape.dtype)));
  suffixes.push_back(std::move(gradient));
  std::string text = std::string(kBegin) + TensorPrinter(tensor).Print();
  // PyTorch counts two characters more than the last line of elements has.
  size_t line = text.size() - (text.rfind('\n') + 1) + 2;
  for (const std::string& suffix : suffixes) {
    if (suffix.empty()) continue;
    if (line + suffix.size() + 2 > kLineWidth) {
      text += ",\n" + std::string(kBegin.size(), ' ') + suffix;
      line = kBegin.size() + suffix.size();
    } else {
      text += ", " + suffix;
      line += suffix.size() + 2;
    }
  }
  return text + ')';
}

// Returns the name that PyTorch gives to the gradient of an operation: MulBackward0.
std::string GradientName(const GradFn& fn) {
  if (fn.op == nullptr) return "CopySlices";
  if (fn.op == &op::device_data) return "CloneBackward0";
  if (fn.op == &op::cast) return "ToCopyBackward0";
  if (fn.op == &op::convolution) return "ConvolutionBackward0";
  std::string name;
  bool begins = true;
  for (const char c : fn.op->short_name()) {
    if (c != '_') name += begins && c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
    begins = c == '_';
  }
  return name + "Backward0";
}

}  // namespace

std::string HostTensor::ToText() const { return Print(*this, "", ""); }

std::string Tensor::to_text(Where where) const {
  Call call(where);
  const HostTensor host = to_cpu();
  const std::string device =
      this->device().is_host() ? "" : fmt::format("device='{}'", this->device().name());
  const TensorImpl& impl = ImplOf(*this);
  if (!requires_grad()) return Print(host, device, "");
  return Print(host, device,
               impl.is_leaf() ? "requires_grad=True"
                              : fmt::format("grad_fn=<{}>", GradientName(*impl.grad_fn)));
}

void Tensor::print(Where where) const {
  Call call(where);
  std::puts(to_text().c_str());  // does not throw if stdout cannot be written
}

std::ostream& operator<<(std::ostream& out, Operand x) { return out << x.tensor.to_text(x.where); }

}  // namespace xlaprof::lazy
