// How programs are divided among devices, which then run them together.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "core/backend/spmd/join.h"
#include "core/backend/spmd/partition.h"
#include "core/backend/spmd/team.h"
#include "tests/core/backend/marked.h"
#include "tests/core/backend/programs.h"

namespace xlaprof::lazy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Grid kGrid = GridOfSix();  // {{2, 3}, {0, 3, 1, 5, 4, 2}}

// Builds programs of f32 whose parameters are divided.
class DividedBuilder : public ProgramBuilder {
 public:
  int32_t Divided(Dims dims, Division axes) {
    const int32_t place = Parameter({DType::kF32, std::move(dims)});
    program.instructions.back().attributes = Sharding{kGrid, std::move(axes)}.ToAttributes();
    return place;
  }
  // Returns what a device runs besides its parameters: the operations and their results.
  std::vector<std::string> OfADevice() {
    Result(int32_t(program.instructions.size()) - 1);
    auto parts = PartitionProgram(program, 6);
    EXPECT_TRUE(parts.ok()) << parts.status();
    std::vector<std::string> all;
    for (const Instruction& it : parts->program.instructions) {
      if (it.op != &op::device_data)
        all.push_back(fmt::format("{} {}", it.op->short_name(), it.shape.ToText()));
    }
    all.push_back(Sharding::Of(parts->result_shardings[0]).ToText());
    return all;
  }
};

TEST(Partition, DividesARepeatedOperandAsTheOtherOne) {
  DividedBuilder b;
  const int32_t x = b.Divided({4, 6}, {{0}, {1}}), bias = b.Divided({6}, {{}});
  b.Do(op::add, {x, b.Do(op::expand, {bias}, {4, 6})});
  EXPECT_THAT(b.OfADevice(), ElementsAre("local_part f32[2]", "expand f32[2,2]", "add f32[2,2]",
                                         "{devices=[2,3]0,3,1,5,4,2}"));
}

TEST(Partition, GathersTheSmallerOperandIfTwoUseAnAxis) {
  DividedBuilder b;
  const int32_t x = b.Divided({12, 6}, {{1}, {}}), w = b.Divided({6, 3}, {{}, {1}});
  b.Do(op::mm, {x, w});
  EXPECT_THAT(b.OfADevice(), ElementsAre("all_gather f32[6,3]", "mm f32[4,3]",
                                         "{devices=[3,1,2]0,5,3,4,1,2 last_tile_dim_replicate}"));
}

TEST(Partition, MovesAnAxisByGatheringAndTakingAPart) {
  DividedBuilder b;
  const int32_t x = b.Divided({6, 6}, {{0, 1}, {}});
  b.Do(op::mark_sharding, {x}, Sharding{kGrid, {{0}, {1}}}.ToAttributes());
  EXPECT_THAT(b.OfADevice(), ElementsAre("all_gather f32[3,6]", "local_part f32[3,2]",
                                         "{devices=[2,3]0,3,1,5,4,2}"));
}

TEST(Partition, KeepsADimensionWholeThatHasNoEqualParts) {
  DividedBuilder b;
  const int32_t x = b.Divided({6, 2}, {{0, 1}, {}});
  b.Do(op::view, {x}, {4, 3});  // both sizes have two equal parts, but not six
  EXPECT_THAT(b.OfADevice(), ElementsAre("all_gather f32[3,2]", "view f32[2,3]",
                                         "{devices=[2,1,3]0,3,1,5,4,2 last_tile_dim_replicate}"));
}

TEST(Partition, AddsWhatIsAddedToOnlyOnce) {
  DividedBuilder b;
  const int32_t into = b.Divided({5, 2}, {{}, {}}), from = b.Divided({6, 2}, {{0}, {}});
  const int32_t index = b.Parameter({DType::kI64, {6}});
  b.Do(op::index_add, {into, index, from}, {0});
  EXPECT_THAT(b.OfADevice(),
              ElementsAre("Constant f32[]", "expand f32[5,2]", "local_part s64[3]",
                          "index_add f32[5,2]", "all_reduce f32[5,2]", "add f32[5,2]",
                          "{replicated}"));
}

TEST(Partition, GathersWhatIsDividedAlongAnotherMesh) {
  DividedBuilder b;
  const int32_t x = b.Divided({6}, {{0}}), y = b.Parameter({DType::kF32, {6}});
  b.program.instructions.back().attributes =
      Sharding{{{6}, {0, 1, 2, 3, 4, 5}}, {{0}}}.ToAttributes();
  b.Do(op::add, {x, y});
  EXPECT_THAT(b.OfADevice(),
              ElementsAre("all_gather f32[6]", "local_part f32[3]", "add f32[3]",
                          "{devices=[2,3]0,3,1,5,4,2 last_tile_dim_replicate}"));
}

TEST(Partition, RefusesCollectivesOfRanksAndOtherNumbersOfDevices) {
  DividedBuilder b;
  b.Do(op::all_reduce, {b.Divided({6}, {{0}})}, {0, 6, 6});
  EXPECT_THAT(Message(PartitionProgram(b.program, 6).status()),
              HasSubstr("xla::all_reduce of f32[6]: on this device, all devices are one"));
  DividedBuilder other;
  other.Divided({6}, {{0}});
  EXPECT_EQ(Message(PartitionProgram(other.program, 4).status()),
            "f32[6]: it is sharded among 6 devices, but there are 4");
}

// Returns the operations of a program, without views.
std::vector<std::string> OperationsOf(const Program& program) {
  std::vector<std::string> all;
  for (const Instruction& it : program.instructions) {
    if (it.op != &op::device_data && it.op != &op::view)
      all.push_back(fmt::format("{} {}", it.op->short_name(), it.shape.ToText()));
  }
  return all;
}

TEST(Join, MakesExchangesThatDoNotNeedEachOtherInOne) {
  ProgramBuilder b;
  const Attributes among_all{0, 6, 6};
  const int32_t x = b.Parameter({DType::kF32, {2, 3}}), y = b.Parameter({DType::kF32, {4}});
  const int32_t first = b.Do(op::all_reduce, {x}, among_all);
  b.Result(b.Do(op::exp, {first}));
  b.Result(b.Do(op::all_reduce, {b.Do(op::neg, {y})}, among_all));
  b.Result(b.Do(op::all_reduce, {b.Do(op::exp, {first})}, among_all));
  b.Result(b.Do(op::all_reduce, {y}, {int64_t(ReduceOp::kMax), 6, 6}));
  EXPECT_THAT(OperationsOf(WithJoinedExchanges(b.program)),
              ElementsAre("neg f32[4]", "cat f32[10]", "all_reduce f32[10]", "slice f32[6]",
                          "slice f32[4]", "exp f32[2,3]", "exp f32[2,3]", "all_reduce f32[2,3]",
                          "all_reduce f32[4]"));
}

TEST(Join, LeavesLargeExchangesAlone) {
  ProgramBuilder b;
  for (int i = 0; i < 2; ++i)
    b.Result(b.Do(op::all_reduce, {b.Parameter({DType::kF32, {300, 300}})}, {0, 6, 6}));
  EXPECT_EQ(OperationsOf(WithJoinedExchanges(b.program)), OperationsOf(b.program));
}

TEST(SpmdBackend, ComputesDividedProgramsAsTheReference) {
  const auto backend = MakeMarkingBackend();
  for (int seed = 0; seed < 12; ++seed) {
    const Shape square{DType::kF32, {12, 12}};
    ExpectAsReference(*backend, ProgramOfSeed(seed, square),
                      {Random(square, seed + 1), Random(square, seed + 2)},
                      2 * ToleranceOfChains(DType::kF32));
  }
}

TEST(SpmdBackend, SharesProgramsOnlyAmongBackendsThatWereMadeTogether) {
  auto pair = MakeNativeBackends(2, 2);
  const auto other = MakeNativeBackend(1);
  DividedBuilder b;
  b.Result(b.Do(op::exp, {b.Parameter({DType::kF32, {4}})}));
  const auto executable = *pair[0]->Compile(b.program);
  EXPECT_TRUE(pair[1]->Share(*executable).ok());
  EXPECT_EQ(Message(other->Share(*executable).status()),
            "CPU: the program belongs to a backend of another kind");
}

TEST(Encounter, EndsForAllIfADeviceFails) {
  Encounter encounter(3);
  Team team({"a", "b", "c"});
  std::atomic<int> told = 0;
  team.Run([&](int64_t device) {
    if (device == 1) return encounter.Break(DataLoss("device 1 is gone"));
    const auto met = encounter.Meet(device, {});
    if (Message(met.status()) == "device 1 is gone") ++told;
  });
  EXPECT_EQ(told, 2);
}

TEST(Encounter, ExchangesWhatAllOffer) {
  Encounter encounter(3);
  Team team({"a", "b", "c"});
  std::atomic<int> right = 0;
  for (int round = 0; round < 50; ++round) {
    team.Run([&](int64_t device) {
      const std::string own = fmt::format("{} {}", device, round);
      const auto met = encounter.Meet(device, own);
      std::string all;
      for (std::span<const char> offer : *met) all.append(offer.data(), offer.size());
      if (encounter.Wait().ok() && all == fmt::format("0 {0}1 {0}2 {0}", round)) ++right;
    });
  }
  EXPECT_EQ(right, 150);
}

}  // namespace
}  // namespace xlaprof::lazy
