// Tensors that are divided among devices: what is exchanged, compiled and raised.
#include "core/trace/spmd.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/backend/spmd/partition.h"
#include "core/graph/traced_graph.h"
#include "core/metrics/metrics.h"
#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/trace/functions.h"
#include "core/trace/loader.h"
#include "core/trace/step.h"
#include "tests/core/observe/listener.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class Spmd : public testing::Test {
 protected:
  static Device& Four() {
    static Device& device = *new Device("spmd:4", MakeSpmdBackend(MakeNativeBackends(4, 2)));
    return device;
  }

  // Returns what each device runs for the values that are recorded and not computed.
  static Program StepOfADevice() {
    GraphLock lock;
    std::vector<NodePtr> roots;
    for (const Ref<Storage>& storage : Four().live().All())
      if (!storage->is_computed()) roots.push_back(storage->value());
    auto parts = PartitionProgram(MakeProgram(WalkGraph(std::move(roots)), "step"), 4);
    EXPECT_TRUE(parts.ok()) << parts.status();
    return parts->program;
  }
  // Returns the collectives of a program: their names, and the shapes of their results.
  static std::vector<std::string> CollectivesOf(const Program& program) {
    std::vector<std::string> all;
    for (const Instruction& it : program.instructions) {
      if (it.op == &op::all_reduce || it.op == &op::all_gather || it.op == &op::reduce_scatter ||
          it.op == &op::local_part)
        all.push_back(fmt::format("{} {}", it.op->short_name(), it.shape.ToText()));
    }
    return all;
  }

  const Device::OfThread of_thread_{Four()};
};

Tensor Numbers(Dims sizes, int64_t seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < Shape{DType::kF32, sizes}.elements(); ++i)
    values.push_back(float((i * 7919 + seed * 104729) % 1000) / 500 - 1);
  return Tensor::FromHost(std::span<const float>(values), std::move(sizes));
}

// An MLP with its optimizer.
struct Training {
  explicit Training(int64_t batch = 8) : batch(batch) {}

  struct Net : nn::Module {
    nn::Linear up{12, 16}, down{16, 8};
    std::vector<nn::Part> parts() override { return {{"up", up}, {"down", down}}; }
    Tensor operator()(const Tensor& x) const { return down(relu(up(x))); }
  };
  Net net = [] {
    nn::manual_seed(1);
    return Net();
  }();
  optim::SGD optimizer{net.parameters(), 0.1, 0.9};
  int64_t batch;

  // Records a step. The batch is divided along the axis, or along none if it is empty.
  Tensor Record(int64_t step, const Mesh* mesh) {
    Tensor x = Numbers({batch, 12}, step);
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < batch; ++i) numbers.push_back((i * step) % 8);
    Tensor classes = Tensor::FromHost(std::span<const int64_t>(numbers), {batch});
    if (mesh != nullptr) {
      mark_sharding(x, *mesh, {"data", None});
      mark_sharding(classes, *mesh, {"data"});
    }
    optimizer.zero_grad();
    Tensor loss = cross_entropy(net(x), classes);
    loss.backward();
    optimizer.step();
    return loss;
  }
  void DivideWeights(const Mesh& mesh, const PartitionAxes& hidden) {
    mark_sharding(net.up.weight, mesh, {hidden, None});
    mark_sharding(net.up.bias, mesh, {hidden});
    mark_sharding(net.down.weight, mesh, {None, hidden});
  }
};

// Returns the losses of some steps on one device.
std::vector<double> LossesOfOne(int64_t batch) {
  Device::OfThread of_thread(Device::Host());
  Training training(batch);
  std::vector<double> losses;
  for (int64_t step = 0; step < 5; ++step) losses.push_back(training.Record(step, nullptr).item());
  return losses;
}

// Returns the losses of the same steps, which must compile two graphs: in the first, the optimizer
// has no momentum.
std::vector<double> LossesOf(Training& training, const Mesh& mesh) {
  std::vector<double> losses;
  for (int64_t step = 0; step < 5; ++step) {
    const Tensor loss = training.Record(step, &mesh);
    mark_step();
    losses.push_back(loss.item());
  }
  return losses;
}

void ExpectLossesOfOne(Training& training, const Mesh& mesh) {
  const int64_t before = num_cached_graphs();
  const std::vector<double> losses = LossesOf(training, mesh),
                            expected = LossesOfOne(training.batch);
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected[i], 1e-5);
  EXPECT_LE(num_cached_graphs() - before, 2);
}

TEST_F(Spmd, DividedBatchesNeedOneExchangePerGradient) {
  const Mesh mesh = get_1d_mesh("data");
  Training training;
  training.Record(0, &mesh);
  mark_step();
  const Tensor loss = training.Record(1, &mesh);
  // The loss is the quotient of two sums.
  EXPECT_THAT(CollectivesOf(StepOfADevice()),
              UnorderedElementsAre("all_reduce f32[]", "all_reduce f32[]", "all_reduce f32[16,12]",
                                   "all_reduce f32[1,16]", "all_reduce f32[8,16]",
                                   "all_reduce f32[1,8]"));
  mark_step();
  Training other;
  ExpectLossesOfOne(other, mesh);
}

TEST_F(Spmd, DividedWeightsNeedOneExchangeForward) {
  const Mesh mesh({}, {2, 2}, {"data", "model"});
  Training training;
  training.DivideWeights(mesh, "model");
  {
    NoGrad no_grad;
    Tensor x = Numbers({8, 12}, 1);
    mark_sharding(x, mesh, {"data", None});
    const Tensor y = training.net(x);
    EXPECT_THAT(CollectivesOf(StepOfADevice()), ElementsAre("all_reduce f32[4,8]"));
  }
  training.Record(0, &mesh);
  mark_step();
  const Tensor loss = training.Record(1, &mesh);
  // The exchange of the activations, two sums for the loss, and one exchange per gradient, each of
  // which is of a device's part.
  EXPECT_THAT(CollectivesOf(StepOfADevice()),
              UnorderedElementsAre("all_reduce f32[4,8]", "all_reduce f32[]", "all_reduce f32[]",
                                   "all_reduce f32[8,12]", "all_reduce f32[1,8]",
                                   "all_reduce f32[8,8]", "all_reduce f32[1,8]"));
  mark_step();
  EXPECT_EQ(sharding(training.net.up.weight), "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}");
  Training other;
  other.DivideWeights(mesh, 1);
  ExpectLossesOfOne(other, mesh);
}

// Each device keeps a part of the weights, gathers them for a step because they are smaller than
// the batch, and gets its part of the gradients.
TEST_F(Spmd, WeightsDividedAsTheBatchAreGatheredAndTheirGradientsScattered) {
  const Mesh mesh = get_1d_mesh("data");
  Training training(64);
  training.DivideWeights(mesh, "data");
  training.Record(0, &mesh);
  mark_step();
  const Tensor loss = training.Record(1, &mesh);
  EXPECT_THAT(CollectivesOf(StepOfADevice()),
              UnorderedElementsAre(
                  "all_gather f32[12,16]", "all_gather f32[16]", "all_gather f32[16,8]",
                  "all_gather f32[8,16]",  // the same weight, transposed
                  "all_reduce f32[]", "all_reduce f32[]", "reduce_scatter f32[4,12]",
                  "reduce_scatter f32[1,4]", "reduce_scatter f32[8,4]", "all_reduce f32[1,8]"));
  mark_step();
  Training other(64);
  other.DivideWeights(mesh, "data");
  ExpectLossesOfOne(other, mesh);
}

// Hears which kernels run where.
class Kernels final : public Listener {
 public:
  Kernels() { observe::observer = this; }
  ~Kernels() override { observe::observer = nullptr; }
  void EnterDevice(std::string_view device) override { of_thread = device; }
  void OnKernel(const observe::Kernel& kernel) override {
    Hear(fmt::format("{} {}", of_thread, kernel.name));
  }
  void OnModule(std::string_view, int64_t, int64_t, uint64_t) override { Hear(of_thread); }
  std::vector<std::string> Heard() {
    std::ranges::sort(heard);
    return heard;
  }

 private:
  static inline thread_local std::string of_thread;
};

TEST_F(Spmd, CompilesOnceForAllDevices) {
  const Mesh mesh = get_1d_mesh("x");
  Tensor x = Numbers({8, 6}, 1);
  mark_sharding(x, mesh, {"x", None});
  Values(x + 2);  // the metric is there after a compilation
  const int64_t before = metric_data("CompileTime")->count,
                executions = metric_data("ExecuteReplicatedTime")->count;
  Kernels kernels;
  const Tensor y = exp(x);
  sync(/*wait=*/true);
  EXPECT_EQ(metric_data("CompileTime")->count - before, 1);
  EXPECT_EQ(metric_data("ExecuteReplicatedTime")->count - executions, 1);
  EXPECT_THAT(kernels.Heard(),
              ElementsAre("CPU:0", "CPU:0 aten::exp", "CPU:1", "CPU:1 aten::exp", "CPU:2",
                          "CPU:2 aten::exp", "CPU:3", "CPU:3 aten::exp", "spmd:4"));
}

TEST_F(Spmd, AMarkStaysOnWhatIsWritten) {
  const Mesh mesh({3, 2, 1, 0}, {2, 2});
  Tensor x = Numbers({4, 4}, 1);
  EXPECT_EQ(sharding(x), "{replicated}");
  const std::vector<float> values = Values(x);
  mark_sharding(x, mesh, {PartitionAxes{1, 0}, None});
  EXPECT_EQ(sharding(x), "{devices=[4,1]3,1,2,0}");
  EXPECT_EQ(Values(x), values);
  x.copy_(Numbers({4, 4}, 2));  // it comes undivided from the host
  EXPECT_EQ(sharding(x), "{devices=[4,1]3,1,2,0}");
  mark_step();
  EXPECT_EQ(sharding(x), "{devices=[4,1]3,1,2,0}");
  EXPECT_EQ(Values(x), Values(Numbers({4, 4}, 2)));
  EXPECT_EQ(Values(x.t().slice(0, 1, 3)), Values(Numbers({4, 4}, 2).t().slice(0, 1, 3)));
  clear_sharding(x);
  EXPECT_EQ(sharding(x), "{replicated}");
  EXPECT_EQ(Values(x), Values(Numbers({4, 4}, 2)));
}

TEST_F(Spmd, AMarkOfAnIntermediateValueDividesIt) {
  const Mesh mesh = get_1d_mesh("x");
  Tensor x = Numbers({8, 4}, 1), y = x * x;
  mark_sharding(y, mesh, {None, "x"});
  EXPECT_EQ(sharding(y), "{devices=[1,4]0,1,2,3}");
  const Tensor z = y + 1;
  EXPECT_THAT(CollectivesOf(StepOfADevice()), ElementsAre("local_part f32[8,1]"));
  mark_step();
  EXPECT_EQ(sharding(z), "{devices=[1,4]0,1,2,3}");
  EXPECT_EQ(Values(z), Values(x * x + 1));
}

TEST_F(Spmd, RandomNumbersAndOperationsOnTheCpuAreThoseOfOneDevice) {
  const auto run = [](const Mesh* mesh) {
    manual_seed(7);
    Tensor x = randn({8, 4});
    if (mesh != nullptr) mark_sharding(x, *mesh, {0, None});
    return std::vector{Values(dropout(x, 0.5)), Values(nonzero(gt(x, 0))),
                       Values(sort(x, 0).values)};
  };
  const Mesh mesh = get_1d_mesh();
  const auto divided = run(&mesh);
  Device::OfThread host(Device::Host());
  EXPECT_EQ(divided, run(nullptr));
}

TEST_F(Spmd, PartsOfOverwrittenValuesAreReused) {
  const Mesh mesh = get_1d_mesh();
  Tensor x = zeros({512, 512});
  mark_sharding(x, mesh, {0, None});
  sync(/*wait=*/true);
  const int64_t bytes = x.numel() * 4, most = Four().backend().peak_bytes_in_use();
  std::vector<Tensor> others;
  for (int i = 0; i < 3; ++i) {
    x.add_(1);
    sync(/*wait=*/true);
  }
  EXPECT_LT(Four().backend().peak_bytes_in_use(), most + bytes / 2);
  EXPECT_EQ(x.slice(0, 511, 512).select(1, 3).item(), 3);
}

TEST_F(Spmd, ALoaderDividesItsBatches) {
  const Mesh mesh({}, {2, 2}, {"data", "model"});
  int batches = 0;
  DeviceLoader loader(
      [&]() -> std::optional<HostBatch> {
        if (++batches > 2) return std::nullopt;
        return HostBatch{Numbers({batches == 1 ? 4 : 5, 2}, 1).to_cpu()};
      },
      {{mesh, {"data", None}}});
  const auto batch = loader.next();
  EXPECT_EQ(sharding((*batch)[0]), "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}");
  EXPECT_EQ(Values((*batch)[0]), Values(Numbers({4, 2}, 1)));
  EXPECT_THAT(MessageOf([&] { loader.next(); }),
              HasSubstr("tensor 0 of a batch, f32[5,2]: dimension 0 has size 5, which cannot be "
                        "divided into 2 equal parts along \"data\". Pad it to 6, drop the rest"));
}

TEST_F(Spmd, ErrorsOfMeshesSayWhatDoesNotFit) {
  const auto mesh_error = [](auto... args) { return MessageOf([&] { Mesh mesh(args...); }); };
  using Ids = std::vector<int64_t>;
  using Names = std::vector<std::string>;
  EXPECT_THAT(mesh_error(Ids{}, Dims{2, 4}),
              HasSubstr("Mesh of shape [2, 4]: it has 8 places, but spmd:4 has 4 devices"));
  EXPECT_THAT(mesh_error(Ids{0, 1}, Dims{4}), HasSubstr("2 devices are given for 4 places"));
  EXPECT_THAT(mesh_error(Ids{0, 1, 2, 2}, Dims{4}),
              HasSubstr("each device from 0 to 3 must be in it once, but they are [0, 1, 2, 2]"));
  EXPECT_THAT(mesh_error(Ids{}, Dims{4, 0}), HasSubstr("an axis has size 0"));
  EXPECT_THAT(mesh_error(Ids{}, Dims{4}, Names{"x", "y"}),
              HasSubstr("2 names are given for 1 axes"));
  EXPECT_THAT(mesh_error(Ids{}, Dims{2, 2}, Names{"x", "x"}),
              HasSubstr("two axes have the name \"x\""));
  Device::OfThread host(Device::Host());
  EXPECT_THAT(mesh_error(Ids{}, Dims{1}),
              HasSubstr("cpu divides no tensors. Call use_spmd() before the first use of a device"));
}

TEST_F(Spmd, ErrorsOfMarksSayWhatDoesNotFit) {
  const Mesh mesh({}, {2, 2}, {"data", "model"});
  const Tensor x = zeros({6, 4});
  const auto error = [&](const Tensor& of, const PartitionSpec& spec) {
    return MessageOf([&] { mark_sharding(of, mesh, spec); });
  };
  EXPECT_THAT(error(x, {"data"}),
              HasSubstr("xla::mark_sharding(f32[6,4]): the partition spec has 1 entries for 2 "
                        "dimensions. Give one per dimension"));
  EXPECT_THAT(error(x, {"date", None}),
              HasSubstr("the mesh has no axis \"date\". Its axes are data, model"));
  EXPECT_THAT(error(x, {2, None}), HasSubstr("the mesh of shape [2, 2] has no axis 2"));
  EXPECT_THAT(error(x, {"data", "data"}), HasSubstr("axis \"data\" of the mesh is used twice"));
  EXPECT_THAT(error(x, {PartitionAxes{"data", "model"}, None}),
              HasSubstr("dimension 0 has size 6, which cannot be divided into 4 equal parts along "
                        "\"data\" and \"model\". Pad it to 8"));
  EXPECT_THAT(error(x.t(), {None, None}),
              HasSubstr("it is a view, which is divided as its tensor"));
  EXPECT_THAT(error(zeros({4}, DType::kF32, Device::Host()), {None}),
              HasSubstr("the tensor is on cpu, and the mesh is of 4 devices of SPMD"));
  Device::Supported();
  EXPECT_THAT(MessageOf([] { use_spmd(); }), HasSubstr("use_spmd(): a device was used before"));
}

}  // namespace
}  // namespace xlaprof::lazy
