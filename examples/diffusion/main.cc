// diffusion makes images out of noise, with a watermark in each, and prints how long that took. Its
// options choose between ways that give the same images: by which value the scheduler knows its
// step, which steps are marked, and where the watermark is made. diffusion --train N --weights FILE
// learns the digits of examples/mnist for N steps, and saves the weights; without a file of
// weights, they are random. Record it with XLAPROF_RECORD=run.xlaprof, or XLAPROF_REPORT=1.
#include <cmath>
#include <future>
#include <random>

#include "core/metrics/metrics.h"
#include "core/nn/optim.h"
#include "core/trace/loader.h"
#include "core/trace/step.h"
#include "examples/command.h"
#include "examples/diffusion/denoiser.h"
#include "examples/diffusion/scheduler.h"
#include "examples/diffusion/watermark.h"
#include "examples/mnist/batches.h"
#include "profiler/record/record.h"  // for XLAPROF_RECORD

namespace xlaprof::examples {
namespace {

using namespace lazy;

struct Options {
  std::string scheduler = "by_index", mark = "step", watermark = "thread";
  int64_t images = 8, steps = 50;
  Weights weights;
};

constexpr int64_t kEnlarged = 32;  // how many times larger the picture of an image is
constexpr uint64_t kMark = 0x786c6170726f6621;

// Learns to find the noise in digits.
void Train(Denoiser& net, int64_t steps) {
  constexpr int64_t kBatch = 32;
  const Digits digits = DrawDigits(2000, 1);
  ReadBatch read = RandomBatches(digits, steps, kBatch, 1);
  std::mt19937_64 random(2);
  DeviceLoader loader([&]() -> std::optional<HostBatch> {
    std::optional<HostBatch> batch = read();
    if (!batch) return std::nullopt;
    std::vector<float> timesteps, sigmas;
    for (int64_t i = 0; i < kBatch; ++i) {
      const size_t t = random() % NoiseOfTimesteps().size();
      timesteps.push_back(float(t)), sigmas.push_back(float(NoiseOfTimesteps()[t]));
    }
    return HostBatch{std::move((*batch)[0]), HostTensor::Of<float>(timesteps, {kBatch}),
                     HostTensor::Of<float>(sigmas, {kBatch, 1, 1, 1})};
  });
  optim::Adam optimizer(net.parameters(), /*lr=*/2e-3);
  Tensor loss;
  const double begin_s = Seconds();
  while (auto batch = loader.next()) {
    constexpr int64_t kEdge = (Denoiser::kSide - Digits::kSide) / 2;
    const Dims edges{0, 0, kEdge, kEdge};
    const Tensor images = pad((*batch)[0], edges, edges) * 2 - 1;
    const Tensor &timesteps = (*batch)[1], &sigmas = (*batch)[2];
    const Tensor noise = randn(images.sizes());
    optimizer.zero_grad();
    loss = mse_loss(net(Scaled(images + noise * sigmas, sigmas), timesteps), noise);
    loss.backward();
    optimizer_step(optimizer);
  }
  const double last = loss.item();
  fmt::print("{} steps of training took {:.2f} s; the last loss was {:.3f}\n", steps,
             Seconds() - begin_s, last);
}

// Returns an image [1, 1, 1024, 1024] of values from 0 to 1.
Tensor MakeImage(const Denoiser& net, Scheduler& scheduler, const Options& options,
                 std::mt19937_64& random) {
  std::vector<float> noise(size_t(Denoiser::kSide * Denoiser::kSide));
  std::normal_distribution<float> normal;
  for (float& value : noise) value = normal(random);
  NoGrad no_grad;
  Tensor image =
      Tensor::FromHost(std::span<const float>(noise), {1, 1, Denoiser::kSide, Denoiser::kSide});
  image = image * scheduler.first_sigma();
  scheduler.Begin();
  for (int64_t step = 0; step < options.steps; ++step) {
    const Tensor found = net(scheduler.Input(image), scheduler.Timestep());
    image = scheduler.Step(found, image);
    if (options.mark == "step") mark_step();
  }
  image = clamp(Enlarge(image, kEnlarged), -1, 1) * 0.5 + 0.5;
  mark_step();
  return image;
}

Picture Finish(const Tensor& image, bool with_watermark) {
  const HostTensor host = image.to_cpu();
  const std::span<const float> pixels = host.values<float>();
  Picture picture{image.size(-1), {pixels.begin(), pixels.end()}};
  if (with_watermark) {
    const lazy::Trace named("pipe_watermark");
    AddWatermark(picture, kMark);
  }
  return picture;
}

std::vector<Picture> MakePictures(const Denoiser& net, Scheduler& scheduler,
                                  const Options& options) {
  std::mt19937_64 random(3);
  std::vector<Picture> pictures;
  std::future<Picture> last;  // the picture of the last image, which another thread finishes
  for (int64_t i = 0; i < options.images; ++i) {
    const Tensor image = MakeImage(net, scheduler, options, random);
    if (options.watermark != "thread") {
      pictures.push_back(Finish(image, options.watermark == "host"));
      continue;
    }
    if (last.valid()) pictures.push_back(last.get());
    last = std::async(std::launch::async, Finish, image, /*with_watermark=*/true);
  }
  if (last.valid()) pictures.push_back(last.get());
  return pictures;
}

void Report(const std::vector<Picture>& pictures, const Options& options, double took_s) {
  double sum = 0, squares = 0, count = 0;
  int64_t marked = 0;
  for (const Picture& picture : pictures) {
    for (const float pixel : picture.pixels) sum += pixel, squares += pixel * pixel, ++count;
    marked += ReadWatermark(picture) == kMark;
  }
  const double mean = sum / count;
  fmt::print(
      "{} images of {} steps took {:.3f} s ({:.1f} ms each): {} graphs, {} executions\n"
      "pixels {:.4f} with a deviation of {:.4f}, {} images with the watermark\n",
      options.images, options.steps, took_s, 1e3 * took_s / double(options.images),
      num_cached_graphs(), metric_data("ExecuteTime").value_or(metrics::MetricData()).count, mean,
      std::sqrt(squares / count - mean * mean), marked);
}

void Run(const Options& options) {
  nn::manual_seed(1);
  Denoiser net;
  if (options.weights.steps > 0) {
    Train(net, options.weights.steps);
    save(net.state_dict(), options.weights.file);
    return;
  }
  if (!options.weights.file.empty()) net.load_state_dict(load(options.weights.file));
  std::unique_ptr<Scheduler> scheduler;
  if (options.scheduler == "by_value")
    scheduler = std::make_unique<SchedulerByValue>(options.steps);
  else
    scheduler = std::make_unique<SchedulerByIndex>(options.steps);
  sync(/*wait=*/true);
  const double begin_s = Seconds();
  const std::vector<Picture> pictures = MakePictures(net, *scheduler, options);
  Report(pictures, options, Seconds() - begin_s);
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("A diffusion model makes images on the lazy runtime");
  app.add_option("--scheduler", options.scheduler,
                 "finds its step by the timestep's value, or keeps the step's index as a tensor")
      ->check(CLI::IsMember({"by_value", "by_index"}));
  app.add_option("--mark", options.mark, "marks each step, or none before the image is there")
      ->check(CLI::IsMember({"step", "never"}));
  app.add_option("--watermark", options.watermark,
                 "no watermark, one after each image, or one in a thread during the next image")
      ->check(CLI::IsMember({"none", "host", "thread"}));
  app.add_option("--images", options.images, "images")->check(CLI::Range(1, 10000));
  app.add_option("--steps", options.steps, "steps of each image")->check(CLI::Range(1, 1000));
  AddOptions(app, options.weights);
  return RunCommand(app, "diffusion", argc, argv, [&] { Run(options); });
}

}  // namespace
}  // namespace xlaprof::examples

int main(int argc, char** argv) { return xlaprof::examples::Main(argc, argv); }
