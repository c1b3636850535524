// Runs programs of views, writes in place and products from the standard input, as torch_test.py
// generates them, and prints one line of results for each: which of its lines raised an error, the
// gradients of its leaves and the values of its tensors.
#include <fmt/ranges.h>

#include <iostream>
#include <optional>
#include <sstream>

#include "core/trace/functions.h"
#include "core/trace/tensor_impl.h"

namespace xlaprof::lazy {
namespace {

std::string TextOf(const Tensor& tensor) {
  if (!tensor.defined()) return "none";
  const HostTensor host = tensor.to_cpu();
  std::vector<double> values;
  for (int64_t i = 0; i < host.shape.elements(); ++i) values.push_back(host.Real(i) + 0.0);
  return fmt::format("{}", fmt::join(values, " "));
}

class TensorProgram {
 public:
  // Executes a line. The first word is the operation; "no_grad" may come before it.
  void Execute(const std::string& line) {
    std::istringstream words(line);
    std::string op;
    words >> op;
    std::optional<NoGrad> no_grad;
    if (op == "no_grad") {
      no_grad.emplace();
      words >> op;
    }
    const int number = lines_++;
    const size_t before = tensors_.size();
    try {
      Execute(op, words);
    } catch (const Error&) {
      results_.push_back(fmt::format("line {} raises", number));
      if (!op.ends_with('_') && tensors_.size() == before) tensors_.emplace_back();
    }
  }

  // Computes the gradients of all tensors, weighted, and returns the results.
  std::string Finish() {
    try {
      Tensor loss;
      for (size_t i = 0; i < tensors_.size(); ++i) {
        const Tensor& x = tensors_[i];
        if (!x.defined() || !x.requires_grad()) continue;
        const Tensor weights = arange(x.numel(), DType::kF64) + int64_t(i + 1);
        const Tensor part = sum(x * weights.view(x.sizes()));
        loss = loss.defined() ? loss + part : part;
      }
      if (loss.defined()) loss.backward();
      for (const Tensor& leaf : leaves_) results_.push_back("grad " + TextOf(leaf.grad()));
    } catch (const Error&) {
      results_.push_back("backward raises");
    }
    for (const Tensor& x : tensors_) results_.push_back(TextOf(x.defined() ? x.detach() : x));
    return fmt::format("{}", fmt::join(results_, "|"));
  }

 private:
  void Execute(const std::string& op, std::istringstream& words) {
    const auto next = [&] {
      int64_t value = 0;
      words >> value;
      return value;
    };
    if (op == "leaf") {
      const bool needs_grad = next() != 0;
      const Dims sizes{next(), next()};
      std::vector<double> values;
      for (double value; words >> value;) values.push_back(value);
      Tensor leaf = Tensor::FromHost(std::span<const double>(values), sizes);
      leaves_.push_back(leaf.requires_grad_(needs_grad));
      tensors_.push_back(leaf);
      return;
    }
    Tensor x = tensors_.at(size_t(next()));
    const auto other = [&]() -> const Tensor& { return tensors_.at(size_t(next())); };
    const int64_t a = op == "slice" || op == "select" ? next() : 0;
    if (op == "view") return tensors_.push_back(x.view({-1}));
    if (op == "transpose") return tensors_.push_back(x.transpose(0, 1));
    if (op == "unsqueeze") return tensors_.push_back(x.unsqueeze(0));
    if (op == "expand") return tensors_.push_back(x.expand({2, -1}));
    if (op == "detach") return tensors_.push_back(x.detach());
    if (op == "clone") return tensors_.push_back(x.clone());
    if (op == "double") return tensors_.push_back(x * 2);
    if (op == "relu") return tensors_.push_back(relu(x));
    if (op == "select") return tensors_.push_back(x.select(a, next()));
    if (op == "mul") return tensors_.push_back(x * other());
    if (op == "slice") {
      const int64_t start = next(), end = next(), step = next();
      return tensors_.push_back(x.slice(a, start, end, step));
    }
    if (op == "fill_") x.fill_(3);
    if (op == "double_") x.mul_(2);
    if (op == "add_") x.add_(other());
    if (op == "mul_") x.mul_(other());
    if (op == "copy_") x.copy_(other());
  }

  std::vector<Tensor> tensors_, leaves_;
  std::vector<std::string> results_;
  int lines_ = 0;
};

}  // namespace
}  // namespace xlaprof::lazy

int main() {
  xlaprof::lazy::TensorProgram program;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "end") {
      fmt::print("{}\n", program.Finish());
      program = {};
    } else {
      program.Execute(line);
    }
  }
}
