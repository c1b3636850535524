#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {
namespace {

Shape Expand(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  const Shape& from = *operands[0];
  Shape to{from.dtype, ExpectSizes(attributes, 0)};
  if (to.rank() < from.rank())
    Raise("{} has more dimensions than {}", from.ToText(), SizesText(to.dims));
  for (size_t i = from.dims.size(), j = to.dims.size(); i-- > 0;) {
    if (from.dims[i] != to.dims[--j] && from.dims[i] != 1)
      Raise("size of dimension {} is {}, neither 1 nor {}", i, from.dims[i], to.dims[j]);
  }
  return to;
}

Shape View(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  Shape to{operands[0]->dtype, ExpectSizes(attributes, 0)};
  if (to.elements() != operands[0]->elements())
    Raise("{} has {} elements, {} has {}", operands[0]->ToText(), operands[0]->elements(),
          SizesText(to.dims), to.elements());
  return to;
}

Shape Permute(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  const Shape& from = *operands[0];
  ExpectAttributes(attributes, from.dims.size());
  Shape to{from.dtype, {}};
  absl::InlinedVector<bool, 8> seen(from.dims.size());
  for (int64_t dim : attributes) {
    const size_t place = ExpectDimension(from, dim);
    if (seen[place]) Raise("dimension {} is named twice", dim);
    seen[place] = true;
    to.dims.push_back(from.dims[place]);
  }
  return to;
}

// Returns the shape of a slice. The attributes are {dim, start, end, step}.
Shape Slice(const Shape& from, const Attributes& attributes) {
  ExpectAttributes(attributes, 4);
  const size_t dim = ExpectDimension(from, attributes[0]);
  const int64_t start = attributes[1], end = attributes[2], step = attributes[3];
  if (start < 0 || start > end || end > from.dims[dim])
    Raise("{} to {} is outside of dimension {}, whose size is {}", start, end, dim, from.dims[dim]);
  if (step < 1) Raise("step is {}", step);
  Shape to = from;
  to.dims[dim] = (end - start + step - 1) / step;
  return to;
}

Shape SliceOf(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  return Slice(*operands[0], attributes);
}

Shape SliceScatter(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 2);
  ExpectSame(Slice(*operands[0], attributes), *operands[1]);
  return *operands[0];
}

Shape Cat(Shapes operands, const Attributes& attributes) {
  if (operands.empty()) Raise("takes at least one operand");
  ExpectAttributes(attributes, 1);
  Shape to = *operands[0];
  const size_t dim = ExpectDimension(to, attributes[0]);
  for (const Shape* operand : operands.subspan(1)) {
    Shape like = *operand;
    if (like.dims.size() > dim) like.dims[dim] = operands[0]->dims[dim];
    ExpectSame(*operands[0], like);
    to.dims[dim] += operand->dims[dim];
  }
  return to;
}

Shape Pad(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  Shape to = *operands[0];
  ExpectAttributes(attributes, 1 + 2 * to.dims.size());
  for (size_t i = 0; i < to.dims.size(); ++i) {
    to.dims[i] += attributes[1 + 2 * i] + attributes[2 + 2 * i];
    if (to.dims[i] < 0) Raise("size of dimension {} would become {}", i, to.dims[i]);
  }
  return to;
}

Shape Flip(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectAscending(*operands[0], attributes, 0);
  return *operands[0];
}

constexpr std::string_view kExpand[] = {"size..."}, kView[] = {"output_size..."},
                           kPermute[] = {"dims..."}, kSlice[] = {"dim", "start", "end", "step"},
                           kCat[] = {"dim"}, kPad[] = {"=value", "pad..."}, kFlip[] = {"dims..."};

}  // namespace

constinit const Op expand{"aten::expand", Expand, kExpand, false, NoFlops};
constinit const Op view{"aten::view", View, kView, false, NoFlops};
constinit const Op permute{"aten::permute", Permute, kPermute, false, NoFlops};
constinit const Op slice{"aten::slice", SliceOf, kSlice, false, NoFlops};
constinit const Op slice_scatter{"aten::slice_scatter", SliceScatter, kSlice, false, NoFlops};
constinit const Op cat{"aten::cat", Cat, kCat, false, NoFlops};
constinit const Op pad{"aten::constant_pad_nd", Pad, kPad, false, NoFlops};
constinit const Op flip{"aten::flip", Flip, kFlip, false, NoFlops};

}  // namespace xlaprof::lazy::op
