// Declares xlaprof view, which shows the timeline and the findings of a run in a browser.
// xlaprof-view (view_main.cc) runs it.
#pragma once

#include <string>
#include <vector>

#include "cli/input_options.h"
#include "cli/slice_options.h"
#include "core/base/status.h"

namespace xlaprof {

inline constexpr const char* kViewSummary = "Shows a run's findings and its timeline in a browser";

struct ViewArguments {
  InputOptions input;
  SliceOptions slice;
  std::vector<std::string> source_roots;
  int port = 0;
  bool no_open = false, perfetto = false;
};

void AddViewCommand(CLI::App& app, int& exit_status, absl::Status (*run)(const ViewArguments&));

}  // namespace xlaprof
