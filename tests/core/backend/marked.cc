#include "tests/core/backend/marked.h"

#include <random>

namespace xlaprof::lazy {
namespace {

// Divides each dimension along none, one or both axes, if its size allows that.
Sharding RandomSharding(const Grid& grid, const Shape& shape, std::mt19937& random) {
  Sharding sharding{grid, Division(shape.dims.size())};
  Dims free{0, 1};
  if (random() % 2 == 0) std::swap(free[0], free[1]);
  for (int64_t axis : free) {
    if (shape.dims.empty() || random() % 4 == 0) continue;
    const size_t dim = random() % shape.dims.size();
    Dims axes = sharding.axes[dim];
    axes.push_back(axis);
    if (shape.dims[dim] % grid.Count(axes) == 0) sharding.axes[dim] = axes;
  }
  return sharding;
}

class MarkingBackend final : public Backend {
 public:
  std::string_view name() const override { return "MARKED"; }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(Program program) override {
    return spmd_->Compile(Marked(program, GridOfSix(), seed_++));
  }
  absl::StatusOr<Ref<Buffer>> ToDevice(const void* host, Shape shape) override {
    return spmd_->ToDevice(host, std::move(shape));
  }
  absl::Status ToHost(const Buffer& buffer, void* host) override {
    return spmd_->ToHost(buffer, host);
  }
  int64_t NowNs() override { return spmd_->NowNs(); }
  int64_t bytes_in_use() const override { return spmd_->bytes_in_use(); }
  int64_t peak_bytes_in_use() const override { return spmd_->peak_bytes_in_use(); }

 private:
  const std::unique_ptr<Backend> spmd_ = MakeSpmdBackend(MakeNativeBackends(6, 2));
  uint32_t seed_ = 1;
};

}  // namespace

Grid GridOfSix() { return {{2, 3}, {0, 3, 1, 5, 4, 2}}; }

Program Marked(const Program& program, const Grid& grid, uint32_t seed) {
  std::mt19937 random(seed);
  Program marked = program;
  marked.instructions.clear();
  std::vector<int32_t> plain, places;  // in the new program: of values, and of their marks
  for (const Instruction& instruction : program.instructions) {
    Instruction copy = instruction;
    for (int32_t& operand : copy.operands) operand = places[size_t(operand)];
    plain.push_back(int32_t(marked.instructions.size()));
    marked.instructions.push_back(copy);
    const bool is_parameter = instruction.op == &op::device_data;
    if (random() % 8 < (is_parameter ? 7u : 3u)) {
      const Sharding sharding = RandomSharding(grid, copy.shape, random);
      marked.instructions.push_back({.op = &op::mark_sharding,
                                     .shape = copy.shape,
                                     .attributes = sharding.ToAttributes(),
                                     .operands = {plain.back()}});
    }
    places.push_back(int32_t(marked.instructions.size()) - 1);
  }
  for (int32_t& parameter : marked.parameters) parameter = plain[size_t(parameter)];
  for (int32_t& result : marked.results) result = places[size_t(result)];
  std::erase_if(marked.donations, [&](const Program::Donation& donation) {
    return marked.instructions[size_t(marked.results[size_t(donation.result)])].op ==
           &op::mark_sharding;
  });
  return marked;
}

std::unique_ptr<Backend> MakeMarkingBackend() { return std::make_unique<MarkingBackend>(); }

}  // namespace xlaprof::lazy
