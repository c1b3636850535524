// mnist [--pathology P] [--steps N] [--data FOLDER] trains, and prints the accuracy. Record it with
// XLAPROF_RECORD=run.xlaprof, or XLAPROF_REPORT=1.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "core/ir/error.h"
#include "examples/mnist/train.h"
#include "profiler/record/record.h"  // for XLAPROF_RECORD

int main(int argc, char** argv) {
  using namespace xlaprof;
  examples::MnistOptions options;
  CLI::App app("A convolutional network learns digits on the lazy runtime");
  app.add_option("--pathology", options.pathology, "plants a fault that costs time");
  app.add_flag("--repaired", options.repaired,
               "does the work of a fault without the fault, where that is possible");
  app.add_option("--steps", options.steps, "training steps")->check(CLI::Range(1, 1000000));
  app.add_option("--batch", options.batch, "digits a step")->check(CLI::Range(16, 4096));
  app.add_option("--data", options.data, "folder with MNIST's own files");
  CLI11_PARSE(app, argc, argv);
  try {
    absl::StatusOr<examples::MnistResult> result = examples::TrainMnist(options);
    if (!result.ok()) {
      fmt::print(stderr, "mnist: {}\n", Message(result.status()));
      return 2;
    }
    fmt::print(
        "{} steps took {:.3f} s: {:.1f} % of held-out digits are read right, the last loss was {:.3f}\n",
        options.steps, double(result->steps_ns) * 1e-9, 100 * result->accuracy, result->loss);
  } catch (const lazy::Error& error) {
    fmt::print(stderr, "mnist: {}\n", error.what());
    return 2;
  }
  return 0;
}
