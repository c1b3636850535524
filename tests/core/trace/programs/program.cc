#include "tests/core/trace/programs/program.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "core/trace/functions.h"
#include "core/trace/step.h"

namespace xlaprof::lazy {
namespace {

using nlohmann::json;

DType TypeNamed(const std::string& name) {
  for (int i = 0; i <= int(DType::kF64); ++i)
    if (TorchName(DType(i)) == name) return DType(i);
  Raise("no type is named {}", name);
}

// Numbers are integers, floats or booleans, as JSON writes them.
Scalar NumberOf(const json& number) {
  if (number.is_boolean()) return number.get<bool>();
  if (number.is_number_integer()) return number.get<int64_t>();
  return number.get<double>();
}

// The values so far, and the arguments of one step.
class ProgramStep {
 public:
  ProgramStep(std::vector<Tensor>* values, const json& step) : values_(*values), step_(step) {}

  std::string name() const { return step_[0]; }
  const json& operator[](size_t i) const { return step_.at(i + 1); }
  Tensor& value(size_t i) const { return at((*this)[i]); }
  std::vector<Tensor> values(size_t i) const {
    std::vector<Tensor> all;
    for (const json& place : (*this)[i]) all.push_back(at(place));
    return all;
  }
  Dims dims(size_t i) const {
    Dims dims;
    for (const json& dim : (*this)[i]) dims.push_back(dim);
    return dims;
  }
  int64_t whole(size_t i) const { return (*this)[i]; }
  bool truth(size_t i) const { return (*this)[i]; }
  Scalar number(size_t i) const { return NumberOf((*this)[i]); }

  IndexList index(size_t i) const {
    const json& items = (*this)[i];
    std::vector<Index> all;
    for (const json& item : items) {
      if (item.is_null()) {
        all.emplace_back(None);
      } else if (item.is_string()) {
        all.emplace_back(Ellipsis);
      } else if (item.is_object()) {
        all.emplace_back(at(item["value"]));
      } else if (item.is_array()) {
        auto bound = [&](size_t k) {
          return item[k].is_null() ? std::optional<int64_t>() : std::optional<int64_t>(item[k]);
        };
        all.emplace_back(Slice{bound(0), bound(1), item[2]});
      } else {
        all.emplace_back(item.get<int64_t>());
      }
    }
    return IndexList(std::move(all));
  }

 private:
  Tensor& at(const json& place) const { return values_.at(place.get<size_t>()); }

  std::vector<Tensor>& values_;
  const json& step_;
};

Tensor NewTensor(const ProgramStep& s) {
  const DType type = TypeNamed(s[0]);
  const Dims sizes = s.dims(1);
  const int64_t low = s.whole(3), high = s.whole(4);
  uint64_t state = uint64_t(s.whole(2));
  std::vector<double> numbers;
  for (int64_t i = 0; i < Shape{type, sizes}.elements(); ++i) {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    numbers.push_back(double(low + int64_t(state >> 16) % (high - low)) / double(s.whole(5)));
  }
  const HostTensor wide =
      Tensor::FromHost(std::span<const double>(numbers), sizes).to(type).to_cpu();
  Tensor out = Tensor::FromHost(wide);
  return s.truth(6) ? out.requires_grad_() : out;
}

using Tensors = std::vector<Tensor>;
using StepRun = std::function<Tensors(const ProgramStep&)>;

Tensors BothOf(ValuesAndIndices both) { return {both.values, both.indices}; }

double PowerOf(const json& p) {
  if (!p.is_string()) return p.get<double>();
  return p == "inf" ? INFINITY : -INFINITY;
}

void AddElementwise(std::map<std::string, StepRun>* runs) {
  using Unary = Tensor (*)(const Tensor&, Where);
  const std::pair<const char*, Unary> unary[] = {{"neg", neg},
                                                 {"abs", lazy::abs},
                                                 {"exp", lazy::exp},
                                                 {"log", lazy::log},
                                                 {"log1p", log1p},
                                                 {"tanh", lazy::tanh},
                                                 {"sqrt", lazy::sqrt},
                                                 {"rsqrt", rsqrt},
                                                 {"sigmoid", sigmoid},
                                                 {"relu", relu},
                                                 {"sin", lazy::sin},
                                                 {"cos", lazy::cos},
                                                 {"tan", lazy::tan},
                                                 {"log2", lazy::log2},
                                                 {"floor", lazy::floor},
                                                 {"ceil", lazy::ceil},
                                                 {"round", lazy::round},
                                                 {"sign", sign},
                                                 {"square", square},
                                                 {"silu", silu},
                                                 {"reciprocal", reciprocal},
                                                 {"erf", lazy::erf},
                                                 {"isnan", isnan},
                                                 {"isinf", isinf},
                                                 {"isfinite", isfinite},
                                                 {"logical_not", logical_not}};
  for (const auto& [name, f] : unary) {
    (*runs)[name] = [f](const ProgramStep& s) { return Tensors{f(s.value(0), Where::current())}; };
  }
  using Binary = Tensor (*)(const Tensor&, const Tensor&, Where);
  using WithNumber = Tensor (*)(const Tensor&, Scalar, Where);
#define BOTH(name) \
  { #name, lazy::name, lazy::name }
  const std::tuple<const char*, Binary, WithNumber> binary[] = {
      BOTH(add),     BOTH(sub),       BOTH(mul),         BOTH(div),       BOTH(pow), BOTH(maximum),
      BOTH(minimum), BOTH(remainder), BOTH(eq),          BOTH(ne),        BOTH(lt),  BOTH(le),
      BOTH(gt),      BOTH(ge),        BOTH(logical_and), BOTH(logical_or)};
#undef BOTH
  for (const auto& [name, f, by] : binary) {
    (*runs)[name] = [f](const ProgramStep& s) {
      return Tensors{f(s.value(0), s.value(1), Where::current())};
    };
    (*runs)[name + std::string("_number")] = [by](const ProgramStep& s) {
      return Tensors{by(s.value(0), s.number(1), Where::current())};
    };
  }
  runs->merge(std::map<std::string, StepRun>{
      {"number_sub", [](const ProgramStep& s) { return Tensors{sub(s.number(0), s.value(1))}; }},
      {"number_div", [](const ProgramStep& s) { return Tensors{div(s.number(0), s.value(1))}; }},
      {"number_pow", [](const ProgramStep& s) { return Tensors{pow(s.number(0), s.value(1))}; }},
      {"gelu",
       [](const ProgramStep& s) { return Tensors{gelu(s.value(0), s[1].get<std::string>())}; }},
      {"leaky_relu",
       [](const ProgramStep& s) { return Tensors{leaky_relu(s.value(0), s[1].get<double>())}; }},
      {"where",
       [](const ProgramStep& s) { return Tensors{where(s.value(0), s.value(1), s.value(2))}; }},
      {"clamp",
       [](const ProgramStep& s) { return Tensors{clamp(s.value(0), s.number(1), s.number(2))}; }},
      {"masked_fill",
       [](const ProgramStep& s) {
         return Tensors{masked_fill(s.value(0), s.value(1), s.number(2))};
       }},
      {"to", [](const ProgramStep& s) { return Tensors{s.value(0).to(TypeNamed(s[1]))}; }},
      {"clone", [](const ProgramStep& s) { return Tensors{s.value(0).clone()}; }},
      {"detach", [](const ProgramStep& s) { return Tensors{s.value(0).detach()}; }},
  });
}

void AddReductions(std::map<std::string, StepRun>* runs) {
  using Over = Tensor (*)(const Tensor&, DimList, bool, Where);
  const std::pair<const char*, Over> over[] = {{"sum", sum},   {"mean", mean}, {"amax", amax},
                                               {"amin", amin}, {"any", any},   {"all", all}};
  for (const auto& [name, f] : over) {
    (*runs)[name] = [f](const ProgramStep& s) {
      return Tensors{f(s.value(0), s.dims(1), s.truth(2), Where::current())};
    };
  }
  using Along = Tensor (*)(const Tensor&, int64_t, Where);
  const std::pair<const char*, Along> along[] = {
      {"softmax", softmax}, {"log_softmax", log_softmax}, {"cumsum", cumsum}};
  for (const auto& [name, f] : along) {
    (*runs)[name] = [f](const ProgramStep& s) {
      return Tensors{f(s.value(0), s.whole(1), Where::current())};
    };
  }
  runs->merge(std::map<std::string, StepRun>{
      {"logsumexp",
       [](const ProgramStep& s) { return Tensors{logsumexp(s.value(0), s.whole(1))}; }},
      {"prod",
       [](const ProgramStep& s) { return Tensors{prod(s.value(0), {s.whole(1)}, s.truth(2))}; }},
      {"norm",
       [](const ProgramStep& s) {
         return Tensors{norm(s.value(0), PowerOf(s[1]), s.dims(2), s.truth(3))};
       }},
      {"var",
       [](const ProgramStep& s) {
         return Tensors{var(s.value(0), s.dims(1), s.whole(2), s.truth(3))};
       }},
      {"std",
       [](const ProgramStep& s) {
         return Tensors{lazy::std(s.value(0), s.dims(1), s.whole(2), s.truth(3))};
       }},
      {"argmax",
       [](const ProgramStep& s) { return Tensors{argmax(s.value(0), s.whole(1), s.truth(2))}; }},
      {"argmin",
       [](const ProgramStep& s) { return Tensors{argmin(s.value(0), s.whole(1), s.truth(2))}; }},
      {"max",
       [](const ProgramStep& s) { return BothOf(lazy::max(s.value(0), s.whole(1), s.truth(2))); }},
      {"min",
       [](const ProgramStep& s) { return BothOf(lazy::min(s.value(0), s.whole(1), s.truth(2))); }},
      {"sort",
       [](const ProgramStep& s) { return BothOf(sort(s.value(0), s.whole(1), s.truth(2))); }},
      {"topk",
       [](const ProgramStep& s) {
         return BothOf(topk(s.value(0), s.whole(1), s.whole(2), s.truth(3)));
       }},
      {"matmul", [](const ProgramStep& s) { return Tensors{matmul(s.value(0), s.value(1))}; }},
      {"einsum",
       [](const ProgramStep& s) { return Tensors{einsum(s[0].get<std::string>(), s.values(1))}; }},
  });
}

void AddShapes(std::map<std::string, StepRun>* runs) {
  runs->merge(std::map<std::string, StepRun>{
      {"cat", [](const ProgramStep& s) { return Tensors{cat(s.values(0), s.whole(1))}; }},
      {"stack", [](const ProgramStep& s) { return Tensors{stack(s.values(0), s.whole(1))}; }},
      {"split", [](const ProgramStep& s) { return split(s.value(0), s.whole(1), s.whole(2)); }},
      {"split_with_sizes",
       [](const ProgramStep& s) { return split_with_sizes(s.value(0), s.dims(1), s.whole(2)); }},
      {"chunk", [](const ProgramStep& s) { return chunk(s.value(0), s.whole(1), s.whole(2)); }},
      {"roll",
       [](const ProgramStep& s) { return Tensors{roll(s.value(0), s.dims(1), s.dims(2))}; }},
      {"flip", [](const ProgramStep& s) { return Tensors{flip(s.value(0), s.dims(1))}; }},
      {"tril", [](const ProgramStep& s) { return Tensors{tril(s.value(0), s.whole(1))}; }},
      {"pad",
       [](const ProgramStep& s) {
         return Tensors{pad(s.value(0), s.dims(1), s.dims(2), s.number(3))};
       }},
      {"view", [](const ProgramStep& s) { return Tensors{s.value(0).view(s.dims(1))}; }},
      {"permute", [](const ProgramStep& s) { return Tensors{s.value(0).permute(s.dims(1))}; }},
      {"transpose",
       [](const ProgramStep& s) { return Tensors{s.value(0).transpose(s.whole(1), s.whole(2))}; }},
      {"slice",
       [](const ProgramStep& s) {
         return Tensors{s.value(0).slice(s.whole(1), s.whole(2), s.whole(3), s.whole(4))};
       }},
      {"select",
       [](const ProgramStep& s) { return Tensors{s.value(0).select(s.whole(1), s.whole(2))}; }},
      {"unsqueeze", [](const ProgramStep& s) { return Tensors{s.value(0).unsqueeze(s.whole(1))}; }},
      {"squeeze", [](const ProgramStep& s) { return Tensors{s.value(0).squeeze(s.whole(1))}; }},
      {"expand", [](const ProgramStep& s) { return Tensors{s.value(0).expand(s.dims(1))}; }},
  });
}

void AddLayers(std::map<std::string, StepRun>* runs) {
  using Pool = Tensor (*)(const Tensor&, int64_t, int64_t, int64_t, Where);
  for (const auto& [name, f] : {std::pair<const char*, Pool>{"max_pool2d", max_pool2d},
                                std::pair<const char*, Pool>{"avg_pool2d", avg_pool2d}}) {
    (*runs)[name] = [f](const ProgramStep& s) {
      return Tensors{f(s.value(0), s.whole(1), s.whole(2), s.whole(3), Where::current())};
    };
  }
  runs->merge(std::map<std::string, StepRun>{
      {"batch_norm",
       [](const ProgramStep& s) {
         return Tensors{batch_norm(s.value(0), {}, {}, s.value(1), s.value(2), /*training=*/true)};
       }},
      {"layer_norm",
       [](const ProgramStep& s) {
         return Tensors{layer_norm(s.value(0), s.value(1), s.value(2))};
       }},
      {"group_norm",
       [](const ProgramStep& s) {
         return Tensors{group_norm(s.value(0), s.whole(1), s.value(2), s.value(3))};
       }},
      {"conv2d",
       [](const ProgramStep& s) {
         return Tensors{conv2d(s.value(0), s.value(1), {}, 1, s.whole(2))};
       }},
  });
}

void AddIndexing(std::map<std::string, StepRun>* runs) {
  using ByIndex = Tensor (*)(const Tensor&, int64_t, const Tensor&, Where);
  for (const auto& [name, f] : {std::pair<const char*, ByIndex>{"index_select", index_select},
                                std::pair<const char*, ByIndex>{"gather", gather}}) {
    (*runs)[name] = [f](const ProgramStep& s) {
      return Tensors{f(s.value(0), s.whole(1), s.value(2), Where::current())};
    };
  }
  using Write = Tensor (*)(const Tensor&, int64_t, const Tensor&, const Tensor&, Where);
  const std::pair<const char*, Write> writes[] = {{"scatter", scatter},
                                                  {"scatter_add", scatter_add},
                                                  {"index_add", index_add},
                                                  {"index_copy", index_copy}};
  for (const auto& [name, f] : writes) {
    (*runs)[name] = [f](const ProgramStep& s) {
      return Tensors{f(s.value(0), s.whole(1), s.value(2), s.value(3), Where::current())};
    };
  }
  runs->merge(std::map<std::string, StepRun>{
      {"new", [](const ProgramStep& s) { return Tensors{NewTensor(s)}; }},
      {"index", [](const ProgramStep& s) { return Tensors{s.value(0)[s.index(1)]}; }},
      {"scatter_number",
       [](const ProgramStep& s) {
         return Tensors{scatter(s.value(0), s.whole(1), s.value(2), s.number(3))};
       }},
      {"embedding",
       [](const ProgramStep& s) { return Tensors{embedding(s.value(0), s.value(1))}; }},
      {"one_hot", [](const ProgramStep& s) { return Tensors{one_hot(s.value(0), s.whole(1))}; }},
      {"nonzero", [](const ProgramStep& s) { return Tensors{nonzero(s.value(0))}; }},
      {"masked_select",
       [](const ProgramStep& s) { return Tensors{masked_select(s.value(0), s.value(1))}; }},
      {"unique", [](const ProgramStep& s) { return Tensors{unique(s.value(0))}; }},
  });
}

// Adds steps that write in place, and those that only say when values are computed.
void AddEffects(std::map<std::string, StepRun>* runs) {
  auto add = [&](const char* name, auto effect) {
    (*runs)[name] = [effect](const ProgramStep& s) {
      effect(s);
      return Tensors{};
    };
  };
  add("copy_", [](const ProgramStep& s) { s.value(0).copy_(s.value(1)); });
  add("fill_", [](const ProgramStep& s) { s.value(0).fill_(s.number(1)); });
  add("add_", [](const ProgramStep& s) { s.value(0).add_(s.value(1), s.number(2)); });
  add("sub_", [](const ProgramStep& s) { s.value(0).sub_(s.value(1), s.number(2)); });
  add("mul_", [](const ProgramStep& s) { s.value(0).mul_(s.value(1)); });
  add("div_", [](const ProgramStep& s) { s.value(0).div_(s.value(1)); });
  add("add_number_", [](const ProgramStep& s) { s.value(0).add_(s.number(1)); });
  add("mul_number_", [](const ProgramStep& s) { s.value(0).mul_(s.number(1)); });
  add("masked_fill_",
      [](const ProgramStep& s) { s.value(0).masked_fill_(s.value(1), s.number(2)); });
  add("index_put_",
      [](const ProgramStep& s) { s.value(0).index_put_(s.index(1), s.value(2), s.truth(3)); });
  add("index_put_number_",
      [](const ProgramStep& s) { s.value(0).index_put_(s.index(1), s.number(2)); });
  add("mark", [](const ProgramStep&) { mark_step(); });
  add("unlazy", [](const ProgramStep& s) { unlazy(s.values(0)); });
  add("drop", [](const ProgramStep& s) { s.value(0) = Tensor(); });
}

const std::map<std::string, StepRun>& StepRuns() {
  static const auto& runs = *[] {
    auto* all = new std::map<std::string, StepRun>;
    AddElementwise(all);
    AddReductions(all);
    AddShapes(all);
    AddLayers(all);
    AddIndexing(all);
    AddEffects(all);
    return all;
  }();
  return runs;
}

Tensor WeightedSum(const std::vector<Tensor>& values) {
  Tensor loss = zeros({});
  for (const Tensor& value : values) {
    const Tensor weights = (remainder(arange(value.numel()), 5) - 2) * 0.5;
    loss = loss + sum(value.view({-1}).to(DType::kF32) * weights);
  }
  return loss;
}

}  // namespace

std::vector<ProgramResult> RunProgram(const json& program,
                                      const std::function<void(Tensor&)>& made) {
  std::vector<Tensor> values;
  std::vector<ProgramResult> results;
  for (const json& json_step : program["steps"]) {
    const ProgramStep step(&values, json_step);
    if (step.name() == "read") {
      results.push_back({fmt::format("read of {}", step.whole(0)), step.value(0).to_cpu()});
      continue;
    }
    const auto run = StepRuns().find(step.name());
    if (run == StepRuns().end()) Raise("no step is named {}", step.name());
    for (Tensor& value : run->second(step)) {
      if (made) made(value);
      values.push_back(std::move(value));
    }
  }
  for (size_t i : program["results"])
    results.push_back({fmt::format("value {}", i), values[i].to_cpu()});
  if (program["losses"].empty()) return results;
  std::vector<Tensor> losses;
  for (size_t i : program["losses"]) losses.push_back(values[i]);
  WeightedSum(losses).backward();
  for (size_t i : program["leaves"]) {
    const Tensor grad = values[i].grad();
    ProgramResult& result = results.emplace_back();
    result.what = fmt::format("gradient of {}", i);
    if (grad.defined()) result.value = grad.to_cpu();
  }
  return results;
}

}  // namespace xlaprof::lazy
