// Shapes of XLA values as compilers, logs and dumps print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

// An array, such as f32[64,1,28,28]{3,2,1,0}, f32[<=10,5] or s64[]; a tuple of shapes, such as
// (f32[2]{0}, s32[]); or token[] and opaque[], which look like arrays without dimensions. It keeps
// the text that it was parsed from. Two shapes are equal if they print alike, layouts included.
//
// JAX's forms are read as well: float32[64], f32[8@data,16], key<fry>[] and f32[]{weak_type=True},
// whose braces count as a layout.
class XlaShape {
 public:
  static constexpr int64_t kUnknownSize = -1;  // the size of a dimension that is printed as ?

  // Returns nothing if `text` as a whole is not a shape.
  static std::optional<XlaShape> Parse(std::string_view text);

  // Parses an MLIR type, such as tensor<2x?xi32> or tensor<f32, #encoding>, into the shape that XLA
  // prints as s32[2,?] or f32[]. Returns nothing for types that are not tensors.
  static std::optional<XlaShape> ParseMlir(std::string_view type);

  // The empty tuple.
  XlaShape() : text_("()"), is_tuple_(true) {}

  const std::string& text() const { return text_; }  // as it was parsed

  bool is_tuple() const { return is_tuple_; }
  const std::vector<XlaShape>& elements() const { return elements_; }  // the elements of a tuple
  // Returns the number of results of a program that returns a value of this shape.
  size_t result_count() const { return is_tuple_ ? elements_.size() : 1; }

  std::string_view element_type() const { return element_type_; }  // "f32"; "" for a tuple
  // The size of each dimension; for a bound such as <=10 it is the bound. Tuples have none.
  const std::vector<int64_t>& dimensions() const { return dimensions_; }
  size_t rank() const { return dimensions_.size(); }
  bool is_scalar() const { return !is_tuple_ && dimensions_.empty(); }

  // Returns whether the text has the memory layout of the array, or of an array in the tuple.
  bool has_layout() const { return text_.find('{') != std::string::npos; }
  XlaShape WithoutLayout() const;

  bool operator==(const XlaShape& other) const { return text_ == other.text_; }

 private:
  friend class XlaShapeParser;

  std::string text_, element_type_;
  std::vector<int64_t> dimensions_;
  std::vector<XlaShape> elements_;
  bool is_tuple_ = false;
};

// Returns `printed` without its layouts, which are the parts in braces: "(f32[2,3]{1,0:T(8,128)},
// s32[])" becomes "(f32[2,3], s32[])". The text need not be a shape.
std::string WithoutLayout(std::string_view printed);

}  // namespace xlaprof
