// Tests XLA as a backend, if XLAPROF_PJRT_PLUGIN names a plugin: memory, donation, several devices,
// saved programs and what is reported. operations_test.cc tests the numbers of each operation.
#include <gmock/gmock.h>

#include <thread>

#include "tests/core/backend/programs.h"

namespace xlaprof::lazy {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class PjrtBackend : public testing::Test {
 protected:
  void SetUp() override {
    backend_ = Pjrt();
    if (backend_ == nullptr) GTEST_SKIP() << kNoPlugin;
    before_ = backend_->bytes_in_use();
  }
  std::unique_ptr<Executable> Compile(const Program& program, Backend* backend = nullptr) {
    auto executable = (backend != nullptr ? backend : backend_)->Compile(program);
    EXPECT_TRUE(executable.ok()) << executable.status();
    return *std::move(executable);
  }
  std::vector<Ref<Buffer>> Run(Executable& executable, std::vector<Ref<Buffer>> arguments,
                               KernelListener* listener = nullptr) {
    auto results = executable.Run(std::move(arguments), {.listener = listener});
    EXPECT_TRUE(results.ok()) << results.status();
    return *std::move(results);
  }
  int64_t taken() const { return backend_->bytes_in_use() - before_; }

  Backend* backend_ = nullptr;
  int64_t before_ = 0;
};

const Shape kTable{DType::kF32, {16, 24}};

// Returns weight - 0.1 * gradient, which may take the weight's memory.
Program Descent() {
  ProgramBuilder b;
  const int32_t weight = b.Parameter(kTable), gradient = b.Parameter(kTable);
  const int32_t rate = b.Do(op::expand, {b.Constant(0.1, DType::kF32)}, {16, 24});
  b.Result(b.Do(op::sub, {weight, b.Do(op::mul, {gradient, rate})}));
  b.program.donations = {{0, 0}};
  b.program.name = "SyncTensorsGraph.7";
  return b.program;
}

TEST_F(PjrtBackend, ComputesRandomGraphsAsTheReference) {
  for (int seed = 0; seed < 30; ++seed) {
    const DType dtype = seed % 3 == 0 ? DType::kBF16 : seed % 3 == 1 ? DType::kF32 : DType::kF64;
    const Shape square{dtype, {12, 12}};
    ExpectAsReference(*backend_, ProgramOfSeed(seed, square),
                      {Random(square, seed), Random(square, seed + 100)}, ToleranceOfChains(dtype));
    ASSERT_FALSE(HasFailure()) << seed;
  }
}

TEST_F(PjrtBackend, CopiesEveryType) {
  for (size_t type = 0; type < kDTypes; ++type) {
    const DType dtype = DType(type);
    for (const Dims& dims : {Dims{}, Dims{5}, Dims{3, 0, 2}, Dims{2, 3, 4, 5}}) {
      const Values values = Random({dtype, dims}, 1);
      const auto buffers = ToDevice(*backend_, {values});
      EXPECT_EQ(buffers[0]->shape(), values.shape);
      EXPECT_EQ(ToHost(*backend_, buffers[0]).elements, values.elements) << values.shape.ToText();
    }
  }
}

TEST_F(PjrtBackend, DonatedMemoryIsTheResults) {
  const Program program = Descent();
  const std::vector<Values> values = {Random(kTable, 6), Random(kTable, 7)};
  const std::vector<double> expected = Reference(program, values)[0].elements;
  const auto executable = Compile(program);
  EXPECT_EQ(executable->sizes().alias_bytes, kTable.bytes());
  EXPECT_EQ(executable->sizes().argument_bytes, 2 * kTable.bytes());
  EXPECT_EQ(executable->sizes().result_bytes, kTable.bytes());

  // The gradient is not donated, so it can be used again.
  const Ref<Buffer> gradient = ToDevice(*backend_, {values[1]})[0];
  for (int time = 0; time < 3; ++time) {
    const auto results = Run(*executable, {ToDevice(*backend_, {values[0]})[0], gradient});
    EXPECT_EQ(taken(), 2 * kTable.bytes());
    EXPECT_THAT(ToHost(*backend_, results[0]).elements,
                testing::Pointwise(testing::DoubleNear(1e-6), expected));
    EXPECT_EQ(ToHost(*backend_, gradient).elements, values[1].elements);
  }
}

TEST_F(PjrtBackend, AnArgumentThatIsStillUsedIsNotDonated) {
  const Program program = Descent();
  const std::vector<Values> values = {Random(kTable, 8), Random(kTable, 9)};
  const std::vector<double> expected = Reference(program, values)[0].elements;
  const auto executable = Compile(program);
  const auto kept = ToDevice(*backend_, values);
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT(ToHost(*backend_, Run(*executable, kept)[0]).elements,
                testing::Pointwise(testing::DoubleNear(1e-6), expected));
    EXPECT_EQ(ToHost(*backend_, kept[0]).elements, values[0].elements);
  }
  // The same buffer is donated and used as another argument.
  const auto once = ToDevice(*backend_, {values[0]});
  const auto results = Run(*executable, {once[0], once[0]});
  EXPECT_THAT(ToHost(*backend_, results[0]).elements,
              testing::Pointwise(testing::DoubleNear(1e-6),
                                 Reference(program, {values[0], values[0]})[0].elements));
}

TEST_F(PjrtBackend, ResultsMayRepeatAndMayBeArguments) {
  ProgramBuilder b;
  const int32_t x = b.Parameter(kTable), y = b.Do(op::neg, {x});
  for (int32_t result : {x, y, y, x}) b.Result(result);
  b.Result(b.Do(op::view, {x}, {384}));
  ExpectAsReference(*backend_, b.program, {Random(kTable, 10)});
}

struct HeardOnce final : KernelListener {
  std::vector<Kernel> kernels;
  int64_t dur_ns = -1;
  void OnKernel(const Kernel& kernel, int64_t, int64_t dur) override {
    kernels.push_back(kernel);
    dur_ns = dur;
  }
};

TEST_F(PjrtBackend, TheProgramIsOneKernel) {
  ProgramBuilder b;
  const Shape square{DType::kF32, {16, 16}};
  const int32_t x = b.Parameter(square);
  b.Result(b.Do(op::relu, {b.Do(op::mm, {x, x})}));
  b.program.name = "SyncTensorsGraph.3";
  const auto executable = Compile(b.program);
  HeardOnce heard;
  Run(*executable, ToDevice(*backend_, {Random(square, 11)}), &heard);
  ASSERT_THAT(heard.kernels, SizeIs(1));
  const Kernel& kernel = heard.kernels[0];
  EXPECT_EQ(kernel.name, "SyncTensorsGraph.3");
  EXPECT_EQ(kernel.op_names, "aten::mm aten::relu");
  EXPECT_EQ(kernel.shape, "f32[16,16]");
  EXPECT_EQ(kernel.operands, "f32[16,16]");
  // XLA counts what its compiler made of the operations: at least the product.
  EXPECT_GE(kernel.flops, 2 * 16 * 16 * 16);
  EXPECT_GE(kernel.bytes, 2 * square.bytes());
  EXPECT_GT(heard.dur_ns, 0);
  EXPECT_THAT(executable->kernels(), SizeIs(1));
}

TEST_F(PjrtBackend, SaysWhatItCannotDo) {
  const auto executable = Compile(Descent());
  EXPECT_EQ(Message(executable->Run({}, {}).status()),
            "SyncTensorsGraph.7: takes 2 arguments, not 0");
  const auto wrong = ToDevice(*backend_, {Random(kTable, 1), Random({DType::kF32, {3}}, 2)});
  EXPECT_EQ(Message(executable->Run(wrong, {}).status()),
            "SyncTensorsGraph.7: argument 1 is f32[3], not f32[16,24]");
  ProgramBuilder bad;
  bad.Result(bad.Do(op::view, {bad.Parameter(kTable)}, {384}));
  bad.program.instructions.back().shape.dims = {383};  // not as many elements as the operand
  bad.program.name = "SyncTensorsGraph.7";
  const absl::Status status = backend_->Compile(bad.program).status();
  EXPECT_THAT(std::string(Message(status)),
              HasSubstr("SyncTensorsGraph.7: the plugin cannot compile it: "));
  EXPECT_THAT(
      std::string(Message(MakePjrtBackend(std::getenv("XLAPROF_PJRT_PLUGIN"), 1000).status())),
      HasSubstr("so there is no device 1000"));
}

TEST_F(PjrtBackend, CountsMemory) {
  {
    const auto arguments = ToDevice(*backend_, {Random(kTable, 17)});
    EXPECT_EQ(taken(), kTable.bytes());
    EXPECT_GE(backend_->peak_bytes_in_use(), before_ + kTable.bytes());
  }
  EXPECT_EQ(taken(), 0);
}

TEST_F(PjrtBackend, SavesPrograms) {
  const Program program = Descent();
  const auto bytes = backend_->Serialize(*Compile(program), program);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const std::vector<Values> values = {Random(kTable, 6), Random(kTable, 7)};
  const auto loaded = backend_->Deserialize(*bytes, program);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(
      ToHost(*backend_, Run(**loaded, ToDevice(*backend_, values))[0]).elements,
      testing::Pointwise(testing::DoubleNear(1e-6), Reference(program, values)[0].elements));

  Program other = program;
  other.donations.clear();
  EXPECT_THAT(
      std::string(Message(backend_->Deserialize(*bytes, other).status())),
      HasSubstr("made by another version of the plugin, or of another program; this plugin is "));
  std::string newer = *bytes;
  newer[newer.find("PJRT") + 5] = '7';
  EXPECT_FALSE(backend_->Deserialize(newer, program).ok());
  EXPECT_FALSE(backend_->Deserialize("", program).ok());
  EXPECT_FALSE(backend_->Deserialize(bytes->substr(0, bytes->size() / 2), program).ok());
}

TEST_F(PjrtBackend, DevicesWorkAtTheSameTime) {
  const auto count = CountPjrtDevices(std::getenv("XLAPROF_PJRT_PLUGIN"));
  ASSERT_TRUE(count.ok()) << count.status();
  if (*count < 2) GTEST_SKIP() << "the plugin has one device";
  const Program program = Descent();
  // What was compiled for one device can be loaded for another.
  const auto bytes = backend_->Serialize(*Compile(program), program);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  std::vector<std::thread> threads;
  for (int device = 0; device < std::min(*count, 4); ++device) {
    threads.emplace_back([&, device] {
      Backend& backend = *MakePjrtBackend(std::getenv("XLAPROF_PJRT_PLUGIN"), device)->release();
      const auto executable =
          device % 2 == 0 ? backend.Compile(program) : backend.Deserialize(*bytes, program);
      ASSERT_TRUE(executable.ok()) << executable.status();
      for (int time = 0; time < 20; ++time) {
        const std::vector<Values> values = {Random(kTable, device), Random(kTable, time)};
        const auto results = (*executable)->Run(ToDevice(backend, values), {});
        ASSERT_TRUE(results.ok()) << results.status();
        EXPECT_THAT(
            ToHost(backend, (*results)[0]).elements,
            testing::Pointwise(testing::DoubleNear(1e-6), Reference(program, values)[0].elements));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace xlaprof::lazy
