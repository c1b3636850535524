// stablehlo_cases FOLDER writes a program of one operation, for every operation, as CASE.mlir and
// CASE.hlo. It also writes cases.json with the operation, attributes and shapes of each.
// stablehlo_test.py checks what they compute.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "core/ir/hlo_text.h"
#include "core/ir/stablehlo.h"
#include "tests/core/ir/programs.h"

namespace xlaprof::lazy {
namespace {

constexpr DType kB = DType::kBool, kI32 = DType::kI32, kI64 = DType::kI64, kF32 = DType::kF32;
constexpr DType kFractions[] = {DType::kBF16, DType::kF16, DType::kF32, DType::kF64};
constexpr DType kNumbers[] = {DType::kU8,   DType::kI8,  DType::kI16, DType::kI32, DType::kI64,
                              DType::kBF16, DType::kF16, DType::kF32, DType::kF64};
constexpr DType kAll[] = {DType::kBool, DType::kU8,   DType::kI8,  DType::kI16, DType::kI32,
                          DType::kI64,  DType::kBF16, DType::kF16, DType::kF32, DType::kF64};

class Cases {
 public:
  explicit Cases(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }

  void Add(const Op& op, const std::vector<Shape>& shapes, Attributes attributes = {}) {
    ProgramBuilder builder;
    absl::InlinedVector<int32_t, 3> operands;
    for (const Shape& shape : shapes) operands.push_back(builder.Parameter(shape));
    builder.program.results = {builder.Do(op, operands, std::move(attributes))};
    Write(builder.program);
  }

  void AddConstant(double value, DType dtype) {
    ProgramBuilder builder;
    builder.program.results = {builder.Constant(value, dtype)};
    Write(builder.program);
  }

  // An argument's memory is donated to a result, one result is returned twice, another result is an
  // argument, and names need quoting.
  void AddDonation() {
    ProgramBuilder builder;
    const int32_t a = builder.Parameter({kF32, {4}}), b = builder.Parameter({kF32, {4}});
    PushScope("a \"part\" \\ of");
    const int32_t difference = builder.Do(op::sub, {a, b});
    PopScope();
    builder.program.results = {difference, difference, b};
    builder.program.donations = {{.parameter = 0, .result = 0}};
    builder.program.name = "a \"step\"";
    Write(builder.program);
  }

  void Write(const Program& program) {
    const Instruction& last = program.instructions.back();
    const std::string name =
        fmt::format("{:03}_{}", count_++, last.op->name.substr(last.op->name.find("::") + 2));
    std::ofstream(folder_ / (name + ".mlir")) << StableHloText(program);
    std::ofstream(folder_ / (name + ".hlo")) << HloText(program, {.debug = true});
    std::string shapes;
    for (int32_t parameter : program.parameters) {
      const Shape& shape = program.instructions[size_t(parameter)].shape;
      shapes += fmt::format("{}[\"{}\", [{}]]", shapes.empty() ? "" : ", ", TorchName(shape.dtype),
                            fmt::join(shape.dims, ", "));
    }
    json_ += fmt::format(
        "{}{{\"name\": \"{}\", \"op\": \"{}\", \"attributes\": [{}], \"inputs\": [{}], "
        "\"result\": [\"{}\", [{}]]}}",
        json_.empty() ? "" : ",\n", name, last.op->name, fmt::join(last.attributes, ", "), shapes,
        TorchName(last.shape.dtype), fmt::join(last.shape.dims, ", "));
    ops_.insert(last.op);
  }

  int Finish() {
    std::ofstream(folder_ / "cases.json") << "[" << json_ << "]\n";
    int missing = 0;
    for (const Op* op : AllOps()) {
      if (op == &op::device_data || ops_.contains(op)) continue;
      fmt::print(stderr, "stablehlo_cases: none of {}\n", op->name);
      ++missing;
    }
    return missing > 0;
  }

 private:
  std::filesystem::path folder_;
  std::string json_;
  std::set<const Op*> ops_;
  int count_ = 0;
};

void Elementwise(Cases& cases) {
  const Dims sizes{3, 5};
  for (DType type : kFractions) {
    for (const Op* op : {&op::exp, &op::log, &op::log1p, &op::tanh, &op::sqrt, &op::rsqrt,
                         &op::sigmoid, &op::sin, &op::cos, &op::floor, &op::round, &op::erf})
      cases.Add(*op, {{type, sizes}});
  }
  for (DType type : kNumbers) {
    for (const Op* op : {&op::neg, &op::abs, &op::relu}) cases.Add(*op, {{type, sizes}});
    for (const Op* op : {&op::sub, &op::div, &op::pow, &op::remainder})
      cases.Add(*op, {{type, sizes}, {type, sizes}});
  }
  for (DType type : kAll) {
    for (const Op* op : {&op::add, &op::mul, &op::maximum, &op::minimum, &op::eq, &op::ne, &op::lt,
                         &op::le, &op::gt, &op::ge})
      cases.Add(*op, {{type, sizes}, {type, sizes}});
    cases.Add(op::where, {{kB, sizes}, {type, sizes}, {type, sizes}});
    for (DType to : kAll) cases.Add(op::cast, {{type, {40}}}, {int64_t(to)});
    for (double value : {0.0, 1.0, 3.0}) cases.AddConstant(value, type);
  }
  for (DType type : kFractions) {
    for (double value : {0.1, -1e-5, 1e4, double(INFINITY), double(-INFINITY), double(NAN)})
      cases.AddConstant(value, type);
  }
  cases.Add(op::logical_not, {{kB, sizes}});
  cases.Add(op::logical_and, {{kB, sizes}, {kB, sizes}});
  cases.Add(op::logical_or, {{kB, sizes}, {kB, sizes}});
  cases.Add(op::add, {{kF32, {}}, {kF32, {}}});
  cases.Add(op::relu, {{kF32, {0, 4}}});
}

void Shapes(Cases& cases) {
  for (DType type : {kB, kI64, kF32, DType::kBF16}) {
    const Shape shape{type, {2, 3, 4}};
    cases.Add(op::expand, {shape}, {5, 2, 3, 4});
    cases.Add(op::expand, {{type, {3, 1, 2}}}, {4, 3, 5, 2});
    cases.Add(op::expand, {{type, {}}}, {2, 2});
    cases.Add(op::view, {shape}, {6, 4});
    cases.Add(op::view, {{type, {1, 1}}}, {});
    cases.Add(op::permute, {shape}, {2, 0, 1});
    cases.Add(op::slice, {shape}, {2, 1, 4, 2});
    cases.Add(op::slice, {shape}, {1, 1, 1, 1});
    cases.Add(op::slice_scatter, {shape, {type, {2, 1, 4}}}, {1, 1, 2, 1});
    cases.Add(op::slice_scatter, {{type, {7, 2}}, {type, {2, 2}}}, {0, 1, 6, 3});
    cases.Add(op::cat, {shape, {type, {2, 1, 4}}, {type, {2, 0, 4}}}, {1});
    cases.Add(op::pad, {shape}, {AttributeOf(1), 0, 0, 1, 2, 3, 0});
    cases.Add(op::pad, {shape}, {AttributeOf(0), 0, 1, 0, -1, -2, 0});
    cases.Add(op::flip, {shape}, {0, 2});
  }
}

void Contractions(Cases& cases) {
  for (DType type : kNumbers) {
    cases.Add(op::mm, {{type, {3, 4}}, {type, {4, 5}}});
    cases.Add(op::bmm, {{type, {2, 3, 4}}, {type, {2, 4, 5}}});
  }
  struct Convolution {
    Shape input, weight;
    Attributes attributes;
  };
  for (DType type : {DType::kBF16, kF32, DType::kF64}) {
    for (auto& [input, weight, attributes] : std::vector<Convolution>{
             {{type, {2, 3, 7, 6}}, {type, {4, 3, 3, 2}}, {1, 1, 0, 0, 1, 1, 1}},
             {{type, {2, 3, 7, 6}}, {type, {4, 3, 3, 3}}, {1, 1, 1, 1, 1, 1, 1}},
             {{type, {1, 2, 8, 9}}, {type, {3, 2, 3, 2}}, {2, 3, 1, 0, 1, 1, 1}},
             {{type, {2, 2, 5, 5}}, {type, {2, 2, 1, 1}}, {2, 2, 1, 2, 1, 1, 1}},
             {{type, {2, 3, 9, 8}}, {type, {4, 3, 3, 2}}, {2, 1, 2, 1, 2, 3, 1}},
             {{type, {2, 4, 7, 6}}, {type, {6, 2, 3, 2}}, {2, 1, 1, 0, 1, 1, 2}},
             {{type, {2, 3, 7, 8}}, {type, {6, 1, 3, 3}}, {1, 2, 2, 1, 2, 1, 3}}}) {
      cases.Add(op::convolution, {input, weight}, attributes);
      const std::vector<const Shape*> operands{&input, &weight};
      const Shape result = op::convolution.shape(operands, attributes);
      Attributes of_input = attributes, of_weight = attributes;
      of_input.insert(of_input.end(), {input.dims[2], input.dims[3]});
      of_weight.insert(of_weight.end(), {weight.dims[2], weight.dims[3]});
      cases.Add(op::convolution_backward_input, {weight, result}, of_input);
      cases.Add(op::convolution_backward_weight, {input, result}, of_weight);
    }
  }
}

void Reductions(Cases& cases) {
  for (DType type : kAll) {
    const Shape shape{type, {3, 4, 5}};
    if (type != kB) {
      cases.Add(op::sum, {shape}, {0, 1});
      cases.Add(op::sum, {shape}, {1, 0, 2});
      cases.Add(op::sum, {shape}, {0});
      cases.Add(op::sum, {{type, {0, 3}}}, {0, 0});
      cases.Add(op::prod, {shape}, {0, 0, 1, 2});
      for (int64_t dim : {0, 1, 2}) cases.Add(op::cumsum, {shape}, {dim});
      cases.Add(op::cumsum, {{type, {0, 3}}}, {1});
    }
    for (const Op* op : {&op::amax, &op::amin}) {
      cases.Add(*op, {shape}, {1, 1});
      cases.Add(*op, {shape}, {0, 0, 1, 2});
    }
    for (int64_t keep : {0, 1}) cases.Add(op::argmax, {shape}, {keep, 1});
  }
  cases.Add(op::sum, {{DType::kBF16, {4000}}}, {0, 0});
}

void Indexing(Cases& cases) {
  for (DType index : {kI32, kI64}) {
    for (DType type : {kI64, kF32, DType::kF64, DType::kBF16}) {
      const Shape shape{type, {4, 3, 5}};
      cases.Add(op::index_select, {shape, {index, {6}}}, {1});
      cases.Add(op::gather, {shape, {index, {4, 2, 3}}}, {1});
      cases.Add(op::gather, {shape, {index, {2, 7, 5}}}, {1});
      for (const Op* op : {&op::scatter, &op::scatter_add})
        cases.Add(*op, {shape, {index, {2, 6, 5}}, {type, {3, 6, 5}}}, {1});
      for (const Op* op : {&op::index_copy, &op::index_add})
        cases.Add(*op, {shape, {index, {7}}, {type, {7, 3, 5}}}, {0});
    }
  }
  cases.Add(op::index_select, {{kF32, {0, 2}}, {kI64, {0}}}, {0});
  cases.Add(op::scatter, {{kB, {4, 3}}, {kI64, {2, 3}}, {kB, {2, 3}}}, {0});
  cases.Add(op::index_copy, {{kB, {4, 3}}, {kI64, {2}}, {kB, {2, 3}}}, {0});
  for (DType type : kNumbers) {
    cases.Add(op::arange, {}, {AttributeOf(0), AttributeOf(1), 6, int64_t(type)});
    cases.Add(op::arange, {}, {AttributeOf(7), AttributeOf(-2), 5, int64_t(type)});
  }
  cases.Add(op::arange, {}, {AttributeOf(0.5), AttributeOf(0.1), 9, int64_t(kF32)});
}

void Pooling(Cases& cases) {
  for (DType type : {DType::kBF16, kF32, DType::kF64}) {
    const Shape input{type, {2, 3, 7, 8}};
    for (const Attributes& attributes : std::vector<Attributes>{
             {2, 2, 2, 2, 0, 0}, {3, 3, 2, 2, 1, 1}, {3, 2, 1, 3, 0, 1}, {1, 1, 2, 2, 0, 0}}) {
      const std::vector<const Shape*> operands{&input};
      const Shape result = op::max_pool2d.shape(operands, attributes);
      for (const Op* op : {&op::max_pool2d, &op::avg_pool2d}) cases.Add(*op, {input}, attributes);
      for (const Op* op : {&op::max_pool2d_backward, &op::avg_pool2d_backward})
        cases.Add(*op, {result, input}, attributes);
    }
  }
}

void BatchNorms(Cases& cases) {
  for (DType type : kFractions) {
    const Shape channels{type, {3}};
    for (const Shape& x : {Shape{type, {2, 3, 4, 5}}, Shape{type, {7, 3}}}) {
      for (int64_t output = 0; output < 3; ++output) {
        const Attributes attributes{AttributeOf(0.125), output};
        cases.Add(op::native_batch_norm, {x, channels, channels}, attributes);
        cases.Add(op::native_batch_norm_backward, {x, x, channels, channels, channels}, attributes);
      }
      cases.Add(op::batch_norm_inference, {x, channels, channels, channels, channels},
                {AttributeOf(0.125)});
    }
  }
}

// Collectives of one rank and shardings among one device, whose results are their operands.
void Collectives(Cases& cases) {
  for (DType type : {kI32, DType::kBF16, kF32}) {
    const Shape shape{type, {2, 6}};
    for (int64_t kind = 0; kind <= int64_t(ReduceOp::kMax); ++kind) {
      cases.Add(op::all_reduce, {shape}, {kind, 1, 1});
      cases.Add(op::reduce_scatter, {shape}, {kind, 1, 1, 1});
    }
    cases.Add(op::all_gather, {shape}, {1, 1, 1, 0});
    cases.Add(op::local_part, {shape}, {1, 1, 1});
    cases.Add(op::collective_broadcast, {shape}, {0, 1});
  }
  cases.Add(op::collective_broadcast, {{kB, {3}}}, {0, 1});
  cases.Add(op::mark_sharding, {{kB, {3}}}, {1, 1, 0, 1, 0});
}

int Run(const char* folder) {
  Cases cases(folder);
  Elementwise(cases);
  Shapes(cases);
  Contractions(cases);
  Reductions(cases);
  Indexing(cases);
  Pooling(cases);
  BatchNorms(cases);
  Collectives(cases);
  for (const Attributes& sizes : std::vector<Attributes>{{}, {7}, {3, 5, 2}, {0, 4}})
    cases.Add(op::uniform, {{kI64, {}}}, sizes);
  cases.AddDonation();
  return cases.Finish();
}

}  // namespace
}  // namespace xlaprof::lazy

int main(int argc, char** argv) {
  if (argc == 2) return xlaprof::lazy::Run(argv[1]);
  fmt::print(stderr, "usage: stablehlo_cases FOLDER\n");
  return 2;
}
