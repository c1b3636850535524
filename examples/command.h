// Has what the examples' commands share.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>

#include "core/ir/error.h"

namespace xlaprof::examples {

// Returns the seconds of a clock that nobody sets.
inline double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A model's weights, which are random, of a file, or learned and saved to it.
struct Weights {
  std::string file;  // of safetensors
  int64_t steps = 0;   // of training
};
inline void AddOptions(CLI::App& app, Weights& weights) {
  CLI::Option* file = app.add_option("--weights", weights.file, "a file of safetensors");
  app.add_option("--train", weights.steps, "trains for so many steps, and saves the weights")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(file);
}

// Reads the arguments and calls `run`. Returns the exit status, which is 2 if an operation is
// wrong.
template <class Run>
int RunCommand(CLI::App& app, std::string_view name, int argc, char** argv, Run run) {
  CLI11_PARSE(app, argc, argv);
  try {
    run();
  } catch (const lazy::Error& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 2;
  }
  return 0;
}

}  // namespace xlaprof::examples
