// Tests how a program is run: which operations are fused, where tensors are kept, and what is
// reported about it.
#include <gmock/gmock.h>

#include "tests/core/backend/programs.h"

namespace xlaprof::lazy {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

struct Heard final : KernelListener {
  std::vector<std::string> names;
  int64_t last_ns = 0;
  void OnKernel(const Kernel& kernel, int64_t ts_ns, int64_t dur_ns) override {
    EXPECT_GE(ts_ns, last_ns);
    EXPECT_GE(dur_ns, 0);
    last_ns = ts_ns + dur_ns;
    names.push_back(kernel.name);
  }
};

class NativeExecutable : public testing::Test {
 protected:
  std::unique_ptr<Executable> Compile(const Program& program) {
    auto executable = backend_->Compile(program);
    EXPECT_TRUE(executable.ok()) << executable.status();
    return std::move(*executable);
  }
  std::vector<Ref<Buffer>> Run(Executable& executable, std::vector<Ref<Buffer>> arguments) {
    auto results = executable.Run(std::move(arguments), {});
    EXPECT_TRUE(results.ok()) << results.status();
    return *results;
  }
  std::vector<std::string> KernelsOf(const Program& program) {
    std::vector<std::string> names;
    const auto executable = Compile(program);
    for (const Kernel& kernel : executable->kernels()) names.push_back(kernel.name);
    return names;
  }

  const std::unique_ptr<Backend> backend_ = MakeNativeBackend(1);
};

const Shape kMatrix{DType::kF32, {16, 24}};

TEST_F(NativeExecutable, FusesChains) {
  ProgramBuilder b;
  const int32_t x = b.Parameter(kMatrix), bias = b.Parameter({DType::kF32, {24}}),
                scale = b.Parameter({DType::kF32, {16, 1}});
  const int32_t half = b.Do(op::expand, {b.Constant(0.5, DType::kF32)}, {16, 24});
  const int32_t moved = b.Do(op::add, {x, b.Do(op::expand, {bias}, {16, 24})});
  const int32_t scaled = b.Do(op::mul, {moved, b.Do(op::expand, {scale}, {16, 24})});
  const int32_t flat = b.Do(op::view, {b.Do(op::mul, {scaled, half})}, {384});
  const int32_t truth = b.Do(op::gt, {flat, b.Do(op::exp, {flat})});
  b.Result(b.Do(op::relu, {flat}));
  b.Result(b.Do(op::cast, {truth}, {int64_t(DType::kBF16)}));
  ExpectAsReference(
      *backend_, b.program,
      {Random(kMatrix, 1), Random({DType::kF32, {24}}, 2), Random({DType::kF32, {16, 1}}, 3)});
  const auto executable = Compile(b.program);
  ASSERT_THAT(executable->kernels(), SizeIs(1));
  const Kernel& kernel = executable->kernels()[0];
  EXPECT_EQ(kernel.name, "fused add..cast");
  EXPECT_EQ(kernel.op_names,
            "aten::add aten::mul aten::mul aten::exp aten::gt aten::relu xla::cast");
  EXPECT_EQ(kernel.flops, 7 * 384);
  EXPECT_EQ(kernel.bytes, 384 * 4 + 24 * 4 + 16 * 4 + 384 * 4 + 384 * 2);
  EXPECT_EQ(executable->sizes().temporary_bytes, 0);
}

// A random graph of many operations computes the same, whatever is fused.
TEST_F(NativeExecutable, FusesAnything) {
  for (int seed = 0; seed < 60; ++seed) {
    const DType dtype = seed % 3 == 0 ? DType::kBF16 : seed % 3 == 1 ? DType::kF32 : DType::kF64;
    const Shape square{dtype, {12, 12}};
    ExpectAsReference(*backend_, ProgramOfSeed(seed, square),
                      {Random(square, seed), Random(square, seed + 100)}, ToleranceOfChains(dtype));
    ASSERT_FALSE(HasFailure()) << seed;
  }
}

TEST_F(NativeExecutable, LeavesOutWhatNobodyNeeds) {
  ProgramBuilder b;
  const int32_t x = b.Parameter(kMatrix);
  b.Do(op::exp, {x});
  const int32_t two = b.Constant(2, DType::kF32);
  const int32_t four = b.Do(op::mul, {two, two});
  b.Result(b.Do(op::mul, {x, b.Do(op::expand, {four}, {16, 24})}));
  EXPECT_THAT(KernelsOf(b.program), ElementsAre("aten::mul"));
  ExpectAsReference(*backend_, b.program, {Random(kMatrix, 4)});
}

TEST_F(NativeExecutable, WritesConstantsOnlyWhereNeeded) {
  ProgramBuilder b;
  const int32_t ones = b.Do(op::expand, {b.Constant(1, DType::kF32)}, {16, 16});
  b.Result(b.Do(op::mm, {ones, b.Parameter(kMatrix)}));
  b.Result(ones);
  EXPECT_THAT(KernelsOf(b.program), ElementsAre("aten::expand", "aten::mm"));
  ExpectAsReference(*backend_, b.program, {Random(kMatrix, 5)}, 1e-5);
}

TEST_F(NativeExecutable, DonatedMemoryIsTheResults) {
  ProgramBuilder b;
  const int32_t weight = b.Parameter(kMatrix), gradient = b.Parameter(kMatrix);
  const int32_t rate = b.Do(op::expand, {b.Constant(0.1, DType::kF32)}, {16, 24});
  b.Result(b.Do(op::sub, {weight, b.Do(op::mul, {gradient, rate})}));
  const std::vector<Values> values = {Random(kMatrix, 6), Random(kMatrix, 7)};
  const std::vector<Values> expected = Reference(b.program, values);
  b.program.donations = {{0, 0}};
  const auto executable = Compile(b.program);
  EXPECT_EQ(executable->sizes().alias_bytes, kMatrix.bytes());

  auto arguments = ToDevice(*backend_, values);
  Buffer* donated = arguments[0].get();
  const auto results = Run(*executable, std::move(arguments));
  EXPECT_EQ(results[0].get(), donated);
  const Values is = ToHost(*backend_, results[0]);
  for (size_t i = 0; i < is.elements.size(); ++i)
    EXPECT_NEAR(is.elements[i], expected[0].elements[i], 1e-6);

  // If another reference holds the argument, its memory is not reused.
  arguments = ToDevice(*backend_, values);
  const Ref<Buffer> kept = arguments[0];
  EXPECT_NE(Run(*executable, std::move(arguments))[0].get(), kept.get());
  EXPECT_EQ(ToHost(*backend_, kept).elements, values[0].elements);
}

// The result overwrites an operand that later operations of the kernel still read.
TEST_F(NativeExecutable, DonatedMemoryIsReadBeforeItIsWritten) {
  ProgramBuilder b;
  const int32_t x = b.Parameter(kMatrix);
  const int32_t first = b.Do(op::neg, {x});
  b.Result(first);
  b.Result(b.Do(op::add, {b.Do(op::exp, {first}), x}));
  b.program.donations = {{0, 0}};
  EXPECT_EQ(Compile(b.program)->sizes().alias_bytes, kMatrix.bytes());
  ExpectAsReference(*backend_, b.program, {Random(kMatrix, 8)});
}

TEST_F(NativeExecutable, DoesNotDonateWhatIsReadLater) {
  ProgramBuilder b;
  const int32_t x = b.Parameter({DType::kF32, {16, 16}});
  b.Result(b.Do(op::mm, {x, x}));
  b.Result(b.Do(op::neg, {x}));
  b.program.donations = {{0, 0}};
  EXPECT_EQ(Compile(b.program)->sizes().alias_bytes, 0);
  ExpectAsReference(*backend_, b.program, {Random({DType::kF32, {16, 16}}, 9)}, 1e-5);
}

TEST_F(NativeExecutable, PassesArgumentsThrough) {
  ProgramBuilder b;
  const int32_t x = b.Parameter(kMatrix);
  const int32_t y = b.Do(op::neg, {x});
  for (int32_t result : {x, y, y, x}) b.Result(result);
  b.Result(b.Do(op::view, {x}, {384}));
  b.Result(b.Do(op::view, {y}, {384}));
  const auto executable = Compile(b.program);
  const Values values = Random(kMatrix, 10);
  const auto arguments = ToDevice(*backend_, {values});
  const auto results = Run(*executable, arguments);
  EXPECT_EQ(results[0], arguments[0]);
  EXPECT_EQ(results[3], arguments[0]);
  EXPECT_EQ(results[1], results[2]);
  EXPECT_EQ(results[4]->shape(), (Shape{DType::kF32, {384}}));
  EXPECT_EQ(ToHost(*backend_, results[4]).elements, values.elements);
  EXPECT_EQ(ToHost(*backend_, results[5]).elements, ToHost(*backend_, results[1]).elements);
}

// A view of an argument shares its memory: donating the argument must not change the view.
TEST_F(NativeExecutable, DoesNotDonateWhatHasViews) {
  ProgramBuilder look, change;
  look.Result(look.Do(op::view, {look.Parameter(kMatrix)}, {384}));
  change.Result(change.Do(op::neg, {change.Parameter(kMatrix)}));
  change.program.donations = {{0, 0}};
  const Values values = Random(kMatrix, 11);
  auto arguments = ToDevice(*backend_, {values});
  const auto view = Run(*Compile(look.program), arguments);
  Run(*Compile(change.program), std::move(arguments));
  EXPECT_EQ(ToHost(*backend_, view[0]).elements, values.elements);
}

TEST_F(NativeExecutable, TemporariesShareMemory) {
  ProgramBuilder b;
  const Shape square{DType::kF32, {64, 64}};
  int32_t x = b.Parameter(square);
  for (int i = 0; i < 10; ++i) x = b.Do(op::mm, {x, b.program.parameters[0]});
  b.Result(x);
  EXPECT_EQ(Compile(b.program)->sizes().temporary_bytes, 2 * square.bytes());
  // If a kernel may overwrite its input, one buffer is enough.
  ProgramBuilder c;
  int32_t y = c.Parameter(square);
  for (int i = 0; i < 10; ++i) {
    const int32_t mm = c.Do(op::mm, {y, c.program.parameters[0]});
    y = c.Do(op::tanh, {mm});
  }
  c.Result(y);
  EXPECT_EQ(Compile(c.program)->sizes().temporary_bytes, 2 * square.bytes());
}

TEST_F(NativeExecutable, MovesWorkToWhereItIsUsed) {
  ProgramBuilder b;
  const Shape square{DType::kF32, {8, 8}};
  const int32_t x = b.Parameter(square), w = b.Parameter(square);
  const int32_t decay = b.Do(op::mul, {w, w});
  const int32_t g = b.Do(op::mm, {x, x});
  b.Result(b.Do(op::add, {g, decay}));
  EXPECT_THAT(KernelsOf(b.program), ElementsAre("aten::mm", "fused mul..add"));
  ExpectAsReference(*backend_, b.program, {Random(square, 12), Random(square, 13)}, 1e-5);
}

TEST_F(NativeExecutable, TellsOfEachKernel) {
  ProgramBuilder b;
  const int32_t x = b.Parameter({DType::kF32, {16, 16}});
  b.Result(b.Do(op::sum, {b.Do(op::relu, {b.Do(op::mm, {x, x})})}, {0, 0, 1}));
  const auto executable = Compile(b.program);
  Heard heard;
  const auto arguments = ToDevice(*backend_, {Random({DType::kF32, {16, 16}}, 14)});
  ASSERT_TRUE(executable->Run(arguments, {.listener = &heard}).ok());
  EXPECT_THAT(heard.names, ElementsAre("aten::mm", "aten::relu", "aten::sum"));
  EXPECT_EQ(executable->kernels()[0].shape, "f32[16,16]");
  EXPECT_EQ(executable->kernels()[0].operands, "f32[16,16], f32[16,16]");
  EXPECT_EQ(executable->kernels()[2].shape, "f32[]");
  EXPECT_EQ(executable->kernels()[0].flops, 2 * 16 * 16 * 16);
  EXPECT_EQ(executable->kernels()[2].bytes, 16 * 16 * 4 + 4);
  EXPECT_EQ(executable->sizes().argument_bytes, 1024);
  EXPECT_EQ(executable->sizes().result_bytes, 4);
}

TEST_F(NativeExecutable, SaysWhatItCannotDo) {
  ProgramBuilder b;
  b.Result(b.Parameter(kMatrix));
  const auto executable = Compile(b.program);
  EXPECT_EQ(Message(executable->Run({}, {}).status()), ": takes 1 arguments, not 0");
  const auto wrong = ToDevice(*backend_, {Random({DType::kF32, {3}}, 15)});
  EXPECT_EQ(Message(executable->Run(wrong, {}).status()),
            ": argument 0 is f32[3], not f32[16,24]");

  const Shape huge{DType::kF32, {int64_t{1} << 30, int64_t{1} << 20}};
  EXPECT_TRUE(absl::IsResourceExhausted(backend_->ToDevice(nullptr, huge).status()));
  ProgramBuilder c;
  c.Result(c.Do(op::expand, {c.Parameter({DType::kF32, {}})}, {huge.dims[0], huge.dims[1]}));
  const auto scalar = ToDevice(*backend_, {Random({DType::kF32, {}}, 16)});
  const auto result = Compile(c.program)->Run(scalar, {});
  EXPECT_TRUE(absl::IsResourceExhausted(result.status())) << result.status();
}

TEST_F(NativeExecutable, CountsMemory) {
  EXPECT_EQ(backend_->bytes_in_use(), 0);
  {
    const auto arguments = ToDevice(*backend_, {Random(kMatrix, 17)});
    EXPECT_EQ(backend_->bytes_in_use(), kMatrix.bytes());
  }
  EXPECT_EQ(backend_->bytes_in_use(), 0);
  EXPECT_EQ(backend_->peak_bytes_in_use(), kMatrix.bytes());
}

TEST_F(NativeExecutable, SameForAnyNumberOfThreads) {
  ProgramBuilder b;
  const Shape shape{DType::kF32, {700, 900}};
  const int32_t x = b.Parameter(shape);
  const int32_t y = b.Do(op::exp, {x});
  b.Result(b.Do(op::sum, {y}, {0, 0, 1}));
  b.Result(b.Do(op::sum, {y}, {0, 0}));
  b.Result(b.Do(op::permute, {y}, {1, 0}));
  const Values values = Random(shape, 18);
  const auto three = MakeNativeBackend(3);
  const auto one = RunOn(*backend_, b.program, {values});
  const auto many = RunOn(*three, b.program, {values});
  for (size_t r = 0; r < one.size(); ++r) EXPECT_EQ(one[r].elements, many[r].elements) << r;
}

}  // namespace
}  // namespace xlaprof::lazy
