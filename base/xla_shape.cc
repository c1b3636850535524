#include "base/xla_shape.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace xlaprof {

// Reads a shape from front to back:
//
//   shape     = "(" [shape {"," shape}] ")" | type "[" [dimension {"," dimension}] "]" [layout]
//   type      = letters, digits and "_", then perhaps a part in angle brackets, as in complex<f32>
//   dimension = number | "<=" number | "?", then perhaps "@" and the axis that it is divided over
//   layout    = "{" anything "}"
//
// Spaces and comments such as /*index=5*/ may come before an element.
class XlaShapeParser {
 public:
  explicit XlaShapeParser(std::string_view text) : rest_(text) {}

  bool Parse(XlaShape& shape, int depth = 0) {
    constexpr int kMaxDepth = 32;  // Only hostile texts nest deeper.
    if (depth > kMaxDepth) return false;
    const std::string_view begin = rest_;
    if (!(Take('(') ? Elements(shape, depth) : Array(shape))) return false;
    shape.text_ = begin.substr(0, begin.size() - rest_.size());
    return true;
  }

  bool at_end() const { return rest_.empty(); }

 private:
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Skips everything up to and including the next `end`.
  bool TakeUntil(std::string_view end) {
    const size_t at = rest_.find(end);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + end.size());
    return true;
  }

  bool TakeSpace() {
    while (true) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
      if (!rest_.starts_with("/*")) return true;
      if (!TakeUntil("*/")) return false;
    }
  }

  bool Elements(XlaShape& shape, int depth) {
    if (Take(')')) return true;
    do {
      XlaShape element;
      if (!TakeSpace() || !Parse(element, depth + 1)) return false;
      shape.elements_.push_back(std::move(element));
    } while (Take(','));
    return Take(')');
  }

  bool Array(XlaShape& shape) {
    shape.is_tuple_ = false;
    const size_t word =
        rest_.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (word == 0 || word == std::string_view::npos || IsDigit(rest_[0])) return false;
    size_t end = word;
    if (rest_[word] == '<') end = rest_.find('[', word);
    if (end == std::string_view::npos || rest_[end] != '[') return false;
    if (end > word && rest_[end - 1] != '>') return false;
    shape.element_type_ = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (!Take(']')) {
      do {
        if (!Dimension(shape)) return false;
      } while (Take(','));
      if (!Take(']')) return false;
    }
    return !Take('{') || TakeUntil("}");
  }

  bool Dimension(XlaShape& shape) {
    std::optional<int64_t> size;
    if (Take('?')) {
      size = XlaShape::kUnknownSize;
    } else {
      if (rest_.starts_with("<=")) rest_.remove_prefix(2);
      if (rest_.empty() || !IsDigit(rest_[0])) return false;
      size = TakeInteger(&rest_);
      if (!size) return false;
    }
    if (Take('@')) rest_.remove_prefix(std::min(rest_.find_first_of(",]"), rest_.size()));
    shape.dimensions_.push_back(*size);
    return true;
  }

  std::string_view rest_;
};

std::optional<XlaShape> XlaShape::Parse(std::string_view text) {
  XlaShape shape;
  XlaShapeParser parser(text);
  if (!parser.Parse(shape) || !parser.at_end()) return std::nullopt;
  return shape;
}

std::optional<XlaShape> XlaShape::ParseMlir(std::string_view type) {
  constexpr std::string_view kTensor = "tensor<";
  if (!type.starts_with(kTensor) || !type.ends_with('>')) return std::nullopt;
  type = type.substr(kTensor.size(), type.size() - kTensor.size() - 1);
  type = type.substr(0, type.find(','));  // Only an encoding follows.
  std::string dimensions;
  while (!type.empty() && (IsDigit(type.front()) || type.front() == '?')) {
    const size_t x = type.find('x');
    if (x == std::string_view::npos) break;
    if (!dimensions.empty()) dimensions += ',';
    dimensions += type.substr(0, x);
    type.remove_prefix(x + 1);
  }
  std::string element(type);
  if (element == "i1") {
    element = "pred";
  } else if (element.starts_with("ui")) {
    element.erase(1, 1);
  } else if (element.starts_with('i') && element.size() > 1 && IsDigit(element[1])) {
    element[0] = 's';
  }
  return Parse(element + "[" + dimensions + "]");
}

XlaShape XlaShape::WithoutLayout() const {
  XlaShape shape = *this;
  shape.text_ = xlaprof::WithoutLayout(text_);
  for (XlaShape& element : shape.elements_) element = element.WithoutLayout();
  return shape;
}

std::string WithoutLayout(std::string_view printed) {
  std::string out;
  out.reserve(printed.size());
  int depth = 0;
  for (char c : printed) {
    if (c == '{') {
      ++depth;
    } else if (c == '}') {
      depth = std::max(0, depth - 1);
    } else if (depth == 0) {
      out += c;
    }
  }
  return out;
}

}  // namespace xlaprof
