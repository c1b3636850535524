// einsum: sums of products of elements, by matrix products of two operands at a time.
#include <algorithm>
#include <map>
#include <numeric>

#include "core/trace/emit.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy {
namespace {

// A letter, or kDots + i for dimension i of the ellipsis, counted from its first.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kDots = 256;

bool Has(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// A tensor whose dimensions have different labels.
struct Labelled {
  Tensor tensor;
  Labels labels;
};

class Equation {
 public:
  Equation(std::string_view text, std::span<const Tensor> operands)
      : text_(text), operands_(operands) {
    std::string dense;
    for (char c : text)
      if (c != ' ') dense += c;
    const size_t arrow = dense.find("->");
    std::string_view inputs = std::string_view(dense).substr(0, arrow);
    while (true) {
      const size_t comma = inputs.find(',');
      terms_.push_back(Parse(inputs.substr(0, comma)));
      if (comma == inputs.npos) break;
      inputs.remove_prefix(comma + 1);
    }
    if (terms_.size() != operands.size())
      Raise(fmt::format("there are {} terms for {} operands", terms_.size(), operands.size()));
    for (size_t i = 0; i < terms_.size(); ++i) Count(i);
    for (size_t i = 0; i < terms_.size(); ++i) Spread(&terms_[i], DotsOf(i));
    if (arrow == dense.npos) {
      Implicit();
    } else {
      output_ = Parse(std::string_view(dense).substr(arrow + 2));
      Spread(&output_, dots_);
      CheckOutput();
    }
  }

  const Labels& term(size_t i) const { return terms_[i]; }
  const Labels& output() const { return output_; }

  // Returns whether a label is in the output, or in an operand from `first` on.
  bool IsNeeded(Label label, size_t first) const {
    return Has(output_, label) || std::any_of(terms_.begin() + int64_t(first), terms_.end(),
                                              [&](const Labels& term) { return Has(term, label); });
  }

  [[noreturn]] void Raise(const std::string& why) const {
    std::string texts;
    for (const Tensor& operand : operands_) texts += ", " + TextOf(operand);
    RaiseHere("aten::einsum(\"{}\"{}): {}", text_, texts, why);
  }

 private:
  Labels Parse(std::string_view term) const {
    Labels labels;
    for (size_t i = 0; i < term.size(); ++i) {
      const char c = term[i];
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        labels.push_back(c);
      } else if (term.substr(i, 3) == "..." && !Has(labels, kDots)) {
        labels.push_back(kDots);
        i += 2;
      } else {
        Raise(fmt::format("\"{}\" has something else than letters and one ellipsis", term));
      }
    }
    return labels;
  }

  // Returns how many dimensions the ellipsis of an operand stands for.
  int64_t DotsOf(size_t i) const {
    return Has(terms_[i], kDots) ? operands_[i].dim() - int64_t(terms_[i].size()) + 1 : 0;
  }

  void Count(size_t i) {
    const int64_t dots = DotsOf(i), rank = operands_[i].dim();
    const bool fits = Has(terms_[i], kDots) ? dots >= 0 : int64_t(terms_[i].size()) == rank;
    if (!fits) Raise(fmt::format("term {} does not fit {} dimensions", i + 1, rank));
    dots_ = std::max(dots_, dots);
  }

  // Replaces the ellipsis by `count` labels. Those of several operands are aligned at the last.
  void Spread(Labels* labels, int64_t count) const {
    const auto at = std::find(labels->begin(), labels->end(), kDots);
    if (at == labels->end()) return;
    Labels dots(static_cast<size_t>(count));
    std::iota(dots.begin(), dots.end(), kDots + int(dots_ - count));
    labels->insert(labels->erase(at), dots.begin(), dots.end());
  }

  void Implicit() {
    std::map<Label, int> letters;
    for (const Labels& term : terms_)
      for (Label label : term) letters[label] += label < kDots;
    for (int64_t i = 0; i < dots_; ++i) output_.push_back(kDots + int(i));
    for (const auto& [letter, times] : letters)
      if (times == 1) output_.push_back(letter);
  }

  void CheckOutput() const {
    for (size_t i = 0; i < output_.size(); ++i) {
      const Label label = output_[i];
      const bool known = std::any_of(terms_.begin(), terms_.end(),
                                     [&](const Labels& term) { return Has(term, label); });
      const bool is_again = std::count(output_.begin(), output_.end(), label) > 1;
      if (label < kDots && (!known || is_again)) {
        Raise(fmt::format("the output has '{}' {}", char(label),
                          known ? "twice" : "which is in no term"));
      }
    }
  }

  const std::string_view text_;
  const std::span<const Tensor> operands_;
  std::vector<Labels> terms_;
  Labels output_;
  int64_t dots_ = 0;
};

// Takes the diagonal of dimensions with the same label.
Labelled Distinct(const Equation& equation, Tensor x, Labels labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t k = i + 1; k < labels.size();) {
      if (labels[k] != labels[i]) {
        ++k;
        continue;
      }
      const int64_t size = x.size(int64_t(i));
      if (size != x.size(int64_t(k)))
        equation.Raise(
            fmt::format("'{}' has sizes {} and {}", char(labels[i]), size, x.size(int64_t(k))));
      // The diagonal of [n, n] is each (n + 1)-th element of [n * n].
      Dims order, sizes;
      for (int64_t d = 0; d < x.dim(); ++d)
        if (d != int64_t(i) && d != int64_t(k)) order.push_back(d), sizes.push_back(x.size(d));
      const auto others = int64_t(order.size());
      order.push_back(int64_t(i)), order.push_back(int64_t(k));
      sizes.push_back(size * size);
      x = x.permute(order).view(sizes).slice(others, 0, size * size, size + 1);
      Dims back;  // moves it from the last place to i
      for (int64_t d = 0; d < others; ++d) back.push_back(d);
      back.insert(back.begin() + int64_t(i), others);
      x = x.permute(back);
      labels.erase(labels.begin() + int64_t(k));
    }
  }
  return {x, labels};
}

// Removes the dimensions whose label is not in `kept`, and sums over those of which `is_summed`
// says so; the others have size 1.
Labelled Reduced(const Labelled& x, const Labels& kept, bool (*is_summed)(int64_t size)) {
  Dims dims, sizes;
  Labels left;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    const int64_t size = x.tensor.size(int64_t(i));
    if (Has(kept, x.labels[i])) {
      left.push_back(x.labels[i]);
      sizes.push_back(size);
    } else if (is_summed(size)) {
      dims.push_back(int64_t(i));
    }
  }
  Tensor out = dims.empty() ? x.tensor : sum(x.tensor, dims);
  if (out.sizes() != sizes) out = out.view(sizes);
  return {out, left};
}

// Sums over the dimensions whose label is not in `kept`. A sum of small integers is s64.
Labelled SumOthers(const Labelled& x, const Labels& kept) {
  return Reduced(x, kept, [](int64_t) { return true; });
}

// Does the same for a factor. As in PyTorch, dimensions of size 1 are no sums, so that the type of
// small integers stays.
Labelled SumOthersOfFactor(const Labelled& x, const Labels& kept) {
  return Reduced(x, kept, [](int64_t size) { return size != 1; });
}

// Returns `x` with its dimensions in the order of `labels`.
Tensor Ordered(const Labelled& x, const Labels& labels) {
  Dims order;
  for (Label label : labels)
    order.push_back(std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin());
  return x.tensor.permute(order);
}

Labels Joined(std::initializer_list<Labels> parts) {
  Labels all;
  for (const Labels& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Multiplies two operands and sums over the labels that nothing else needs.
Labelled Contract(const Equation& equation, Labelled a, Labelled b, size_t next) {
  std::map<Label, int64_t> sizes;
  for (const Labelled* x : {&a, &b}) {
    for (size_t i = 0; i < x->labels.size(); ++i) {
      const int64_t size = x->tensor.size(int64_t(i));
      int64_t& known = sizes.try_emplace(x->labels[i], size).first->second;
      if (known == 1) known = size;
      if (size != known && size != 1) {
        const Label label = x->labels[i];
        equation.Raise(label < kDots
                           ? fmt::format("'{}' has sizes {} and {}", char(label), known, size)
                           : fmt::format("the ellipsis has sizes {} and {}", known, size));
      }
    }
  }
  Labels batch, rows, columns, inner;
  for (Label label : a.labels) {
    const bool in_b = Has(b.labels, label), kept = equation.IsNeeded(label, next);
    if (in_b)
      (kept ? batch : inner).push_back(label);
    else if (kept)
      rows.push_back(label);
  }
  for (Label label : b.labels)
    if (!Has(a.labels, label) && equation.IsNeeded(label, next)) columns.push_back(label);
  a = SumOthersOfFactor(a, Joined({batch, inner, rows}));
  b = SumOthersOfFactor(b, Joined({batch, inner, columns}));
  auto shaped = [&](const Labelled& x, std::initializer_list<Labels> parts) {
    const Labels labels = Joined(parts);
    Dims full;
    for (Label label : labels) full.push_back(sizes[label]);
    Dims joined;
    for (const Labels& part : parts) {
      int64_t size = 1;
      for (Label label : part) size *= sizes[label];
      joined.push_back(size);
    }
    return Expanded(Ordered(x, labels), full).view(joined);
  };
  const Tensor left = shaped(a, {batch, rows, inner}), right = shaped(b, {batch, inner, columns});
  Tensor out;
  if (inner.empty())
    out = left * right;
  else if (batch.empty())
    out = matmul(left.squeeze(0), right.squeeze(0));
  else
    out = matmul(left, right);
  const Labels labels = Joined({batch, rows, columns});
  Dims full;
  for (Label label : labels) full.push_back(sizes[label]);
  return {out.view(full), labels};
}

}  // namespace

Tensor einsum(std::string_view text, std::span<const Tensor> operands, Where where) {
  OpCall call(where);
  const Equation equation(text, operands);
  Labelled all = Distinct(equation, operands[0], equation.term(0));
  for (size_t i = 1; i < operands.size(); ++i) {
    Labelled next = Distinct(equation, operands[i], equation.term(i));
    all = Contract(equation, std::move(all), std::move(next), i + 1);
  }
  all = SumOthers(all, equation.output());
  if (all.labels == equation.output()) return operands.size() > 1 ? all.tensor : all.tensor.clone();
  return Ordered(all, equation.output());
}

}  // namespace xlaprof::lazy
