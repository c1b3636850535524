// gpt [--cache growing|static] continues several texts at once, one character after the other, and
// prints them and how long that took. gpt --train N --weights FILE learns the text of text.cc for N
// steps, and saves the weights; without a file of weights, they are random. Record it with
// XLAPROF_RECORD=run.xlaprof, or XLAPROF_REPORT=1.
#include <memory>
#include <random>

#include "core/nn/clip_grad.h"
#include "core/nn/optim.h"
#include "core/trace/loader.h"
#include "core/trace/step.h"
#include "examples/command.h"
#include "examples/gpt/model.h"
#include "examples/gpt/text.h"
#include "profiler/record/record.h"  // for XLAPROF_RECORD

namespace xlaprof::examples {
namespace {

using namespace lazy;

struct Options {
  std::string cache = "growing";
  int64_t texts = 16, characters = 112;
  Weights weights;
};

// Learns to predict each character of windows of the text.
void Train(Gpt& gpt, const Vocabulary& vocabulary, int64_t steps) {
  constexpr int64_t kBatch = 8;
  const int64_t time = gpt.sizes.length;
  const std::vector<int64_t> text = vocabulary.Numbers(Text());
  std::mt19937_64 random(1);
  DeviceLoader loader([&, left = steps]() mutable -> std::optional<HostBatch> {
    if (left-- == 0) return std::nullopt;
    std::vector<int64_t> read, next;
    for (int64_t i = 0; i < kBatch; ++i) {
      const auto from = text.begin() + ptrdiff_t(random() % (text.size() - time));
      read.insert(read.end(), from, from + time);
      next.insert(next.end(), from + 1, from + time + 1);
    }
    return HostBatch{HostTensor::Of<int64_t>(read, {kBatch, time}),
                     HostTensor::Of<int64_t>(next, {kBatch * time})};
  });
  optim::AdamW optimizer(gpt.parameters(), /*lr=*/3e-3);
  const Tensor positions = arange(time);
  Tensor loss;
  const double begin_s = Seconds();
  while (auto batch = loader.next()) {
    optimizer.zero_grad();
    loss = cross_entropy(gpt((*batch)[0], positions).view({-1, vocabulary.size()}), (*batch)[1]);
    loss.backward();
    nn::clip_grad_norm_(gpt.parameters(), 1);
    optimizer_step(optimizer);
  }
  const double last = loss.item();
  fmt::print("{} steps of training took {:.2f} s; the last loss was {:.3f}\n", steps,
             Seconds() - begin_s, last);
}

// Returns texts that begin as parts of Text(), each with the most probable next characters. Each
// character is a step, and stays on the device until the end.
std::vector<std::string> Continue(const Gpt& gpt, const Vocabulary& vocabulary,
                                  const Options& options) {
  constexpr int64_t kKnown = 16;
  const int64_t distance = (int64_t(Text().size()) - kKnown) / options.texts;
  std::vector<std::string> texts;
  std::vector<int64_t> known;
  for (int64_t i = 0; i < options.texts; ++i) {
    texts.emplace_back(Text().substr(size_t(i * distance), kKnown));
    const std::vector<int64_t> numbers = vocabulary.Numbers(texts.back());
    known.insert(known.end(), numbers.begin(), numbers.end());
  }
  NoGrad no_grad;
  std::unique_ptr<Cache> cache = std::make_unique<GrowingCache>(gpt.sizes);
  if (options.cache == "static") cache = std::make_unique<StaticCache>(gpt.sizes, options.texts);
  Tensor read = Tensor::FromHost(std::span<const int64_t>(known), {options.texts, kKnown});
  Tensor positions = arange(kKnown);
  std::vector<Tensor> written;
  for (int64_t i = 0; i < options.characters; ++i) {
    const Tensor scores = gpt(read, positions, cache.get());
    read = argmax(scores.select(1, -1), 1).unsqueeze(1);
    positions = positions.slice(0, -1, positions.size(0)) + 1;
    written.push_back(read);
    mark_step();
  }
  const HostTensor numbers = cat(written, 1).to_cpu();
  for (int64_t i = 0; i < options.texts * options.characters; ++i)
    texts[size_t(i / options.characters)] += vocabulary.Character(numbers.Whole(i));
  return texts;
}

void Run(const Options& options) {
  nn::manual_seed(1);
  const Vocabulary vocabulary;
  Gpt gpt({.vocabulary = vocabulary.size()});
  if (options.weights.steps > 0) {
    Train(gpt, vocabulary, options.weights.steps);
    save(gpt.state_dict(), options.weights.file);
    return;
  }
  if (!options.weights.file.empty()) gpt.load_state_dict(load(options.weights.file));
  sync(/*wait=*/true);
  const int64_t compiled = num_cached_graphs();
  const double begin_s = Seconds();
  const std::vector<std::string> texts = Continue(gpt, vocabulary, options);
  const double took_s = Seconds() - begin_s;
  for (const std::string& text : texts) fmt::print("{}\n", text);
  fmt::print(
      "\n{} characters of each text took {:.3f} s ({:.2f} ms each): {} graphs were compiled\n",
      options.characters, took_s, 1e3 * took_s / double(options.characters),
      num_cached_graphs() - compiled);
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("A small GPT continues texts on the lazy runtime");
  app.add_option("--cache", options.cache, "how the keys and values of earlier characters are kept")
      ->check(CLI::IsMember({"growing", "static"}));
  app.add_option("--texts", options.texts, "texts")->check(CLI::Range(1, 1000));
  app.add_option("--characters", options.characters, "new characters of each")
      ->check(CLI::Range(1, 112));
  AddOptions(app, options.weights);
  return RunCommand(app, "gpt", argc, argv, [&] { Run(options); });
}

}  // namespace
}  // namespace xlaprof::examples

int main(int argc, char** argv) { return xlaprof::examples::Main(argc, argv); }
