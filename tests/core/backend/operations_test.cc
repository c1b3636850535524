// Tests every operation with every type that it accepts, against the reference.
#include <gtest/gtest.h>

#include "core/ir/error.h"
#include "tests/core/backend/marked.h"
#include "tests/core/backend/programs.h"

namespace xlaprof::lazy {
namespace {

constexpr DType kTypes[] = {DType::kBool, DType::kU8,   DType::kI8,  DType::kI16, DType::kI32,
                            DType::kI64,  DType::kBF16, DType::kF16, DType::kF32, DType::kF64};

// The parameter is the backend's name.
class Operations : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    static Backend& native = *MakeNativeBackend(2).release();
    static Backend& spmd = *MakeMarkingBackend().release();
    backend_ = is_native() ? &native : is_spmd() ? &spmd : Pjrt();
    if (backend_ == nullptr) GTEST_SKIP() << kNoPlugin;
  }
  bool is_native() const { return GetParam() == std::string_view("native"); }
  bool is_spmd() const { return GetParam() == std::string_view("spmd"); }

  // Checks `op` with arguments of these shapes; returns true if its shape rule accepts them.
  bool Check(const Op& op, const std::vector<Values>& arguments, Attributes attributes = {},
             double tolerance = 0) {
    ProgramBuilder b;
    for (const Values& argument : arguments) b.Parameter(argument.shape);
    try {
      switch (arguments.size()) {
        case 0:
          b.Result(b.Do(op, {}, attributes));
          break;
        case 1:
          b.Result(b.Do(op, {0}, attributes));
          break;
        case 2:
          b.Result(b.Do(op, {0, 1}, attributes));
          break;
        default:
          b.Result(b.Do(op, {0, 1, 2}, attributes));
      }
    } catch (const Error&) {
      return false;
    }
    ExpectAsReference(*backend_, b.program, arguments, tolerance);
    return true;
  }
  // Expects that the native backend needs this many kernels. PJRT does not tell its kernels.
  void ExpectKernels(const Program& program, size_t count) {
    if (!is_native()) return;
    EXPECT_EQ((*backend_->Compile(program))->kernels().size(), count);
  }

  Backend* backend_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(All, Operations, testing::Values("native", "spmd", "pjrt"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Operations, OfOneOperand) {
  const Op* all[] = {&op::neg,   &op::abs,   &op::exp,     &op::log,        &op::log1p, &op::tanh,
                     &op::sqrt,  &op::rsqrt, &op::sigmoid, &op::relu,       &op::sin,   &op::cos,
                     &op::floor, &op::round, &op::erf,     &op::logical_not};
  for (const Op* op : all) {
    int taken = 0;
    for (DType dtype : kTypes) {
      // 3 elements are a tail; the last size is more than one block, and work for two threads. What
      // is divided runs the same kernels.
      for (Dims dims : {Dims{3}, Dims{6, 19}, Dims{131072}}) {
        if (!is_spmd() || dims[0] < 100) taken += Check(*op, {Random({dtype, dims}, 1, 0.1, 3)});
      }
      if (op != &op::log && op != &op::sqrt && op != &op::rsqrt && op != &op::log1p)
        Check(*op, {Random({dtype, {100}}, 2, -4, 4)});
    }
    EXPECT_GT(taken, 0) << op->name;
  }
}

TEST_P(Operations, OfTwoOperands) {
  const Op* all[] = {&op::add,     &op::sub,       &op::mul,         &op::div,
                     &op::maximum, &op::minimum,   &op::eq,          &op::ne,
                     &op::lt,      &op::le,        &op::gt,          &op::ge,
                     &op::pow,     &op::remainder, &op::logical_and, &op::logical_or};
  for (const Op* op : all) {
    int taken = 0;
    for (DType dtype : kTypes) {
      const bool positive = op == &op::pow;
      // Integer division is tested in WholeNumbersDivide.
      if (op == &op::div && !IsFloat(dtype)) continue;
      for (Dims dims : {Dims{}, Dims{5}, Dims{33, 65}})
        taken += Check(*op, {Random({dtype, dims}, 3, positive ? 0.25 : -2, 1.5),
                             Random({dtype, dims}, 4, positive ? 0.25 : -2, 1.5)});
    }
    EXPECT_GT(taken, 0) << op->name;
  }
}

TEST_P(Operations, WholeNumbersDivide) {
  for (DType dtype : {DType::kI8, DType::kI16, DType::kI32, DType::kI64}) {
    const Values a = Of(dtype, {6}, {7, -7, 7, -7, 9, -9}),
                 b = Of(dtype, {6}, {2, 2, -2, -2, 0, 0});
    ProgramBuilder p;
    const int32_t x = p.Parameter(a.shape), y = p.Parameter(b.shape);
    p.Result(p.Do(op::div, {x, y}));
    p.Result(p.Do(op::remainder, {x, y}));
    const auto results = RunOn(*backend_, p.program, {a, b});
    EXPECT_EQ(results[0].elements, (std::vector<double>{3, -3, -3, 3, -1, -1}));
    EXPECT_EQ(results[1].elements, (std::vector<double>{1, 1, -1, -1, 9, -9}));
  }
}

TEST_P(Operations, Casts) {
  for (DType from : kTypes)
    for (DType to : kTypes) EXPECT_TRUE(Check(op::cast, {Random({from, {77}}, 5)}, {int64_t(to)}));
  const double inf = INFINITY;
  const Values odd = Of(DType::kF32, {6}, {0x1p100, -0x1p100, inf, -inf, NAN, 2147483648.0});
  for (DType to : kTypes) Check(op::cast, {odd}, {int64_t(to)});
  for (DType from : {DType::kF32, DType::kF64, DType::kF16}) {
    const Values edges = Of(from, {8}, {255.75, 256, -0.5, -1, 127.5, 128, -128.5, -32769});
    for (DType to : {DType::kU8, DType::kI8, DType::kI16})
      EXPECT_TRUE(Check(op::cast, {edges}, {int64_t(to)}));
  }
  const Values whole = Of(DType::kI64, {6}, {255, 256, -1, -129, 40000, 1ll << 40});
  for (DType to : {DType::kU8, DType::kI8, DType::kI16})
    EXPECT_TRUE(Check(op::cast, {whole}, {int64_t(to)}));
}

// Each result wraps around before the next operation uses it, also inside of a fused kernel.
TEST_P(Operations, ShortIntegersWrapAround) {
  const auto result = [&](DType dtype, double x, double y) {
    ProgramBuilder p;
    const int32_t a = p.Parameter({dtype, {2}}), b = p.Parameter({dtype, {2}});
    const int32_t sum = p.Do(op::add, {a, b});
    p.Result(p.Do(op::div, {sum, b}));
    p.Result(p.Do(op::gt, {sum, a}));
    p.Result(p.Do(op::neg, {p.Do(op::mul, {sum, sum})}));
    p.Result(p.Do(op::sum, {sum}, {0, 0}));
    const auto results =
        RunOn(*backend_, p.program, {Of(dtype, {2}, {x, 1}), Of(dtype, {2}, {y, 1})});
    std::vector<double> firsts;
    for (const Values& values : results) firsts.push_back(values.elements[0]);
    return firsts;
  };
  EXPECT_EQ(result(DType::kU8, 200, 100), (std::vector<double>{0, 0, 112, 46}));
  EXPECT_EQ(result(DType::kI8, 100, 60), (std::vector<double>{-1, 0, 0, -94}));
  EXPECT_EQ(result(DType::kI16, 30000, 3000), (std::vector<double>{-10, 0, 11712, -32534}));
}

TEST_P(Operations, NoNumbers) {
  const Values a = Of(DType::kF32, {4}, {NAN, 1, NAN, -3}),
               b = Of(DType::kF32, {4}, {2, NAN, NAN, 4});
  for (const Op* op : {&op::maximum, &op::minimum, &op::eq, &op::ne, &op::lt}) Check(*op, {a, b});
  for (const Op* op : {&op::relu, &op::neg, &op::exp, &op::tanh}) Check(*op, {a});
  for (const Op* op : {&op::amax, &op::amin, &op::sum}) Check(*op, {a}, {0, 0});
  Check(op::argmax, {a}, {0, 0});
}

TEST_P(Operations, Where) {
  for (DType dtype : kTypes)
    EXPECT_TRUE(Check(op::where, {Random({DType::kBool, {3, 50}}, 6), Random({dtype, {3, 50}}, 7),
                                  Random({dtype, {3, 50}}, 8)}));
}

TEST_P(Operations, Movement) {
  for (DType dtype : kTypes) {
    const Values a = Random({dtype, {3, 4, 70}}, 9), row = Random({dtype, {70}}, 10);
    EXPECT_TRUE(Check(op::expand, {row}, {5, 70}));
    EXPECT_TRUE(Check(op::expand, {Random({dtype, {4, 1}}, 11)}, {2, 4, 9}));
    EXPECT_TRUE(Check(op::expand, {Random({dtype, {}}, 11)}, {2, 9}));
    EXPECT_TRUE(Check(op::view, {a}, {12, 70}));
    for (Attributes order : {Attributes{0, 1, 2}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}})
      EXPECT_TRUE(Check(op::permute, {a}, order));
    EXPECT_TRUE(Check(op::permute, {Random({dtype, {200, 333}}, 12)}, {1, 0}));
    EXPECT_TRUE(Check(op::slice, {a}, {2, 3, 64, 5}));
    EXPECT_TRUE(Check(op::slice, {a}, {1, 1, 3, 1}));
    EXPECT_TRUE(Check(op::slice, {a}, {1, 2, 2, 1}));  // an empty slice
    EXPECT_TRUE(Check(op::slice_scatter, {a, Random({dtype, {3, 2, 70}}, 13)}, {1, 0, 4, 2}));
    EXPECT_TRUE(Check(op::cat, {a, Random({dtype, {3, 1, 70}}, 14), a}, {1}));
    EXPECT_TRUE(Check(op::pad, {a}, {AttributeOf(1), 1, 2, 0, 0, 3, 0}));
    EXPECT_TRUE(Check(op::pad, {a}, {AttributeOf(0), -1, 0, 1, -2, -3, 5}));
    EXPECT_TRUE(Check(op::flip, {a}, {0, 2}));
    EXPECT_TRUE(Check(op::flip, {a}, {1}));
  }
}

TEST_P(Operations, Reductions) {
  for (const Op* op : {&op::sum, &op::amax, &op::amin, &op::prod}) {
    int taken = 0;
    for (DType dtype : kTypes) {
      // Elements are close to 1, so that products stay in range; integers are four times as large.
      const double one = IsFloat(dtype) ? 1 : 0.25;
      const double low = op == &op::prod ? 0.9 * one : -2, high = op == &op::prod ? 1.1 * one : 2;
      for (Attributes dims :
           {Attributes{0, 0}, {0, 1}, {1, 2}, {0, 0, 2}, {1, 1, 2}, {0, 0, 1}, {0, 0, 1, 2}, {0}})
        taken += Check(*op, {Random({dtype, {5, 6, 37}}, 15, low, high)}, dims);
    }
    EXPECT_GT(taken, 0) << op->name;
  }
}

TEST_P(Operations, LargeReductions) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kI32, DType::kBF16}) {
    Check(op::sum, {Random({dtype, {300000}}, 16, 0, 1)}, {0, 0}, dtype == DType::kBF16 ? 0.01 : 0);
    Check(op::sum, {Random({dtype, {70000, 3}}, 17, 0, 1)}, {0, 0});
    Check(op::sum, {Random({dtype, {600, 1500}}, 18, 0, 1)}, {0, 0});
    Check(op::sum, {Random({dtype, {600, 1500}}, 18, 0, 1)}, {0, 1});
    Check(op::amax, {Random({dtype, {300000}}, 19)}, {0, 0});
  }
  Check(op::sum, {Of(DType::kF32, {0, 3}, {})}, {0, 0});
}

TEST_P(Operations, ArgMax) {
  for (DType dtype : kTypes)
    for (int64_t dim : {0, 1, 2})
      EXPECT_TRUE(Check(op::argmax, {Random({dtype, {4, 9, 5}}, 20)}, {dim % 2, dim}));
}

TEST_P(Operations, Products) {
  for (DType dtype : kTypes) {
    if (dtype == DType::kBool) continue;
    for (auto [n, k, m] : {std::tuple{3, 4, 5}, {1, 7, 1}, {65, 130, 70}, {4, 0, 3}}) {
      EXPECT_TRUE(Check(
          op::mm, {Random({dtype, {n, k}}, 21, -1, 1), Random({dtype, {k, m}}, 22, -1, 1)}, {},
          dtype == DType::kF32    ? 1e-5
          : dtype == DType::kBF16 ? 2e-2
                                  : 0));
      EXPECT_TRUE(
          Check(op::bmm,
                {Random({dtype, {3, n, k}}, 23, -1, 1), Random({dtype, {3, k, m}}, 24, -1, 1)}, {},
                dtype == DType::kF32    ? 1e-5
                : dtype == DType::kBF16 ? 2e-2
                                        : 0));
    }
  }
  Check(op::mm, {Random({DType::kF32, {300, 100}}, 25), Random({DType::kF32, {100, 200}}, 26)}, {},
        1e-5);
}

TEST_P(Operations, ProductsOfTransposed) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kBF16, DType::kI64}) {
    for (bool batch : {false, true}) {
      const Dims a = batch ? Dims{2, 9, 20} : Dims{9, 20}, b = batch ? Dims{2, 31, 9} : Dims{31, 9};
      const Attributes swap = batch ? Attributes{0, 2, 1} : Attributes{1, 0};
      ProgramBuilder p;
      const int32_t x = p.Parameter({dtype, a}), y = p.Parameter({dtype, b});
      p.Result(p.Do(batch ? op::bmm : op::mm,
                    {p.Do(op::permute, {x}, swap), p.Do(op::permute, {y}, swap)}));
      ExpectAsReference(*backend_, p.program,
                        {Random({dtype, a}, 27, -1, 1), Random({dtype, b}, 28, -1, 1)},
                        dtype == DType::kF32 ? 1e-5 : 0);
      ExpectKernels(p.program, 1);  // no copies
    }
  }
}

TEST_P(Operations, Convolutions) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    const double tolerance = dtype == DType::kF32 ? 2e-5 : dtype == DType::kBF16 ? 3e-2 : 1e-2;
    // The last three are grouped, depthwise and both.
    for (auto [stride, padding, dilation, groups, channels, size] : {std::tuple{1, 1, 1, 1, 3, 9},
                                                                     {2, 0, 1, 1, 3, 8},
                                                                     {3, 2, 1, 1, 3, 11},
                                                                     {2, 1, 3, 1, 3, 10},
                                                                     {1, 1, 1, 2, 4, 6},
                                                                     {1, 2, 2, 8, 8, 7},
                                                                     {2, 0, 2, 16, 16, 8}}) {
      const Values x = Random({dtype, {2, channels, size, size + 1}}, 29, -1, 1);
      const Values w = Random({dtype, {16, channels / groups, 3, 2}}, 30, -1, 1);
      const Attributes a{stride, stride, padding, padding / 2, dilation, 1, groups};
      ASSERT_TRUE(Check(op::convolution, {x, w}, a, tolerance));
      ProgramBuilder p;
      p.Parameter(x.shape), p.Parameter(w.shape);
      p.Do(op::convolution, {0, 1}, a);
      const Values y = Random(p.program.instructions[2].shape, 31, -1, 1);
      Attributes to_input = a, to_weight = a;
      to_input.push_back(size), to_input.push_back(size + 1);
      to_weight.push_back(3), to_weight.push_back(2);
      ASSERT_TRUE(Check(op::convolution_backward_input, {w, y}, to_input, tolerance));
      ASSERT_TRUE(Check(op::convolution_backward_weight, {x, y}, to_weight, tolerance * 4));
    }
  }
}

TEST_P(Operations, LargeConvolutionsAreShared) {
  const Values x = Random({DType::kF32, {14, 8, 12, 12}}, 40, -1, 1);
  const Values w = Random({DType::kF32, {16, 8, 3, 3}}, 41, -1, 1);
  const Values y = Random({DType::kF32, {14, 16, 12, 12}}, 42, -1, 1);
  ASSERT_TRUE(Check(op::convolution, {x, w}, {1, 1, 1, 1, 1, 1, 1}, 1e-4));
  ASSERT_TRUE(Check(op::convolution_backward_input, {w, y}, {1, 1, 1, 1, 1, 1, 1, 12, 12}, 1e-4));
  ASSERT_TRUE(Check(op::convolution_backward_weight, {x, y}, {1, 1, 1, 1, 1, 1, 1, 3, 3}, 1e-4));
}

TEST_P(Operations, Pooling) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    for (auto [kernel, stride, padding] : {std::tuple{2, 2, 0}, {3, 2, 1}, {3, 1, 0}}) {
      // There are few distinct values, so that many are equal.
      Values x = Random({dtype, {2, 3, 9, 8}}, 32);
      for (double& element : x.elements) element = std::round(element);
      const Attributes a{kernel, kernel, stride, stride, padding, padding};
      ProgramBuilder p;
      p.Parameter(x.shape);
      p.Do(op::max_pool2d, {0}, a);
      const Values y = Random(p.program.instructions[1].shape, 33);
      ASSERT_TRUE(Check(op::max_pool2d, {x}, a));
      ASSERT_TRUE(Check(op::avg_pool2d, {x}, a));
      ASSERT_TRUE(Check(op::max_pool2d_backward, {y, x}, a));
      ASSERT_TRUE(Check(op::avg_pool2d_backward, {y, x}, a));
    }
  }
}

TEST_P(Operations, LargePoolsAreShared) {
  const Values x = Random({DType::kF32, {3, 43, 31, 30}}, 43);
  const Attributes a{3, 2, 2, 1, 1, 0};
  ProgramBuilder p;
  p.Parameter(x.shape);
  p.Do(op::avg_pool2d, {0}, a);
  const Values y = Random(p.program.instructions[1].shape, 44);
  for (const Op* op : {&op::avg_pool2d, &op::max_pool2d}) ASSERT_TRUE(Check(*op, {x}, a));
  for (const Op* op : {&op::avg_pool2d_backward, &op::max_pool2d_backward})
    ASSERT_TRUE(Check(*op, {y, x}, a));
}

// oneDNN's max pooling loses NaN.
TEST_P(Operations, PoolsKeepWhatIsNoNumber) {
  for (const Op* op : {&op::max_pool2d, &op::avg_pool2d}) {
    const Values x = Of(DType::kF32, {1, 1, 2, 6}, {NAN, 1, 2, 3, NAN, NAN, 0, 1, 4, 5, NAN, NAN});
    ProgramBuilder p;
    p.Result(p.Do(*op, {p.Parameter(x.shape)}, {2, 2, 2, 2, 0, 0}));
    const Values y = RunOn(*backend_, p.program, {x})[0];
    EXPECT_TRUE(std::isnan(y.elements[0]) && std::isnan(y.elements[2])) << op->name;
    EXPECT_EQ(y.elements[1], op == &op::max_pool2d ? 5 : 3.5);
  }
}

// One kernel computes all outputs; computed alone, each is the same. With 8 or more channels, the
// channels are divided among threads.
TEST_P(Operations, BatchNorm) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    for (const Dims& dims :
         {Dims{4, 3, 5, 6}, Dims{9, 2}, Dims{1, 16, 3, 7}, Dims{5, 19, 32, 25}}) {
      const Shape shape{dtype, dims}, channels{dtype, {dims[1]}};
      const std::vector<Values> all{Random(shape, 45), Random(shape, 46), Random(channels, 47),
                                    Random(channels, 48), Random(channels, 49, 0.5, 2)};
      // StableHLO has epsilon as an f32, also for f64.
      const double of_f64 = is_native() ? 1e-11 : 1e-7;
      const double tolerance = dtype == DType::kF32 ? 4e-5 : dtype == DType::kF64 ? of_f64 : 2e-2;
      for (int outputs = dims[0] == 5 ? 7 : 1; outputs < 8; ++outputs) {
        ProgramBuilder b;
        for (const Values& values : all) b.Parameter(values.shape);
        for (int64_t i = 0; i < 3; ++i) {
          if ((outputs >> i & 1) == 0) continue;
          const Attributes attributes{AttributeOf(1e-3), i};
          b.Result(b.Do(op::native_batch_norm, {0, 2, 3}, attributes));
          b.Result(b.Do(op::native_batch_norm_backward, {0, 1, 2, 3, 4}, attributes));
        }
        b.Result(b.Do(op::batch_norm_inference, {0, 2, 3, 3, 4}, {AttributeOf(1e-3)}));
        ExpectKernels(b.program, 3);
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(*backend_, b.program, all, tolerance));
      }
    }
  }
}

TEST_P(Operations, Indexing) {
  for (DType dtype : kTypes) {
    for (DType index : {DType::kI32, DType::kI64}) {
      for (int64_t dim : {0, 1, 2}) {
        const Values a = Random({dtype, {5, 6, 7}}, 34);
        // From -8 to 8, so some are out of range.
        const Values rows = Random({index, {9}}, 35);
        EXPECT_TRUE(Check(op::index_select, {a, rows}, {dim}));
        EXPECT_TRUE(Check(op::gather, {a, Random({index, {4, 3, 7}}, 36)}, {dim}));
        const Values from = Random({dtype, {5, 6, 7}}, 37);
        EXPECT_TRUE(Check(op::scatter, {a, Random({index, {4, 3, 7}}, 38), from}, {dim}));
        Shape selected = a.shape;
        selected.dims[size_t(dim)] = 9;
        EXPECT_TRUE(Check(op::index_copy, {a, rows, Random(selected, 39)}, {dim}));
        if (dtype == DType::kBool) continue;
        EXPECT_TRUE(Check(op::scatter_add, {a, Random({index, {4, 3, 7}}, 38), from}, {dim}));
        EXPECT_TRUE(Check(op::index_add, {a, rows, Random(selected, 39)}, {dim}));
      }
    }
  }
}

TEST_P(Operations, RunningSums) {
  for (DType dtype : kTypes) {
    for (const Dims& dims : {Dims{5}, Dims{3, 4, 7}, Dims{2, 3, 300}, Dims{70000}, Dims{0, 3}}) {
      const double high = dims[0] == 70000 ? 0.01 : 2;
      for (int64_t dim = 0; dim < int64_t(dims.size()); ++dim) {
        // XLA adds f32 in f32, in an order of its own.
        const bool taken = Check(op::cumsum, {Random({dtype, dims}, 40, -high, high)}, {dim},
                                 !is_native() && dtype == DType::kF32 ? 1e-5 : 0);
        EXPECT_EQ(taken, dtype != DType::kBool);
      }
    }
  }
}

TEST_P(Operations, HalvesAreRoundedToEven) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    ProgramBuilder p;
    const Values x = Of(dtype, {9}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.25, INFINITY, NAN});
    p.Result(p.Do(op::round, {p.Parameter(x.shape)}));
    const auto y = RunOn(*backend_, p.program, {x})[0].elements;
    EXPECT_EQ(std::vector(y.begin(), y.end() - 2), (std::vector<double>{-2, -2, 0, 0, 2, 2, 2}));
    EXPECT_TRUE(std::isinf(y[7]) && std::isnan(y[8]));
  }
}

TEST_P(Operations, Numbers) {
  for (DType dtype : kTypes) {
    if (dtype == DType::kBool) continue;
    EXPECT_TRUE(Check(op::arange, {}, {AttributeOf(3.0), AttributeOf(-2.0), 20, int64_t(dtype)}));
  }
  for (double seed : {0.0, 1.0, 1311768467463790320.0, -5.0})
    EXPECT_TRUE(Check(op::uniform, {Of(DType::kI64, {}, {seed})}, {7, 33}));
}

}  // namespace
}  // namespace xlaprof::lazy
