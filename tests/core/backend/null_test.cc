#include <gmock/gmock.h>

#include "tests/core/backend/programs.h"

namespace xlaprof::lazy {
namespace {

struct Times final : KernelListener {
  std::string text;
  void OnKernel(const Kernel& kernel, int64_t ts_ns, int64_t dur_ns) override {
    text += fmt::format("{} {} {}\n", kernel.name, ts_ns, dur_ns);
  }
};

std::string Session() {
  const std::unique_ptr<Backend> backend = MakeNullBackend();
  ProgramBuilder b;
  const Shape shape{DType::kF32, {4, 4}};
  const int32_t x = b.Parameter(shape);
  b.Result(b.Do(op::relu, {b.Do(op::mm, {x, x})}));
  Times times;
  times.text = fmt::format("begin {}\n", backend->NowNs());
  for (const Values& result : RunOn(*backend, b.program, {Random(shape, 1)}, &times))
    for (double element : result.elements) EXPECT_EQ(element, 0);
  times.text += fmt::format("end {}, {} bytes", backend->NowNs(), backend->bytes_in_use());
  return times.text;
}

TEST(NullBackend, IsTheSameEachTime) {
  EXPECT_EQ(Session(),
            "begin 0\n"
            "aten::mm 1010000 1000\n"
            "aten::relu 1011000 1000\n"
            "aten::mm 1032000 1000\n"
            "aten::relu 1033000 1000\n"
            "end 1044000, 0 bytes");
}

}  // namespace
}  // namespace xlaprof::lazy
