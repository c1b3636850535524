// The program xlaprof-demo, which `xlaprof demo` runs, trains a small network on the lazy runtime.
#include <unistd.h>

#include <algorithm>

#include "analyzers/report/report.h"
#include "base/escape.h"
#include "base/temporary_folder.h"
#include "cli/demo_command.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "examples/demo.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

absl::StatusOr<std::string> ReportOn(const std::string& path) {
  XP_TRY(Store store, Store::Open(path));
  XP_TRY(Report report, MakeReport(Run(store)));
  std::error_code error;
  return ReportText(report, {.colour = WantsColour("auto"),
                             .width = TerminalWidth(STDOUT_FILENO),
                             .source_roots = {std::filesystem::current_path(error)}});
}

absl::Status RunDemo(const DemoArguments& arguments) {
  const auto names = DemoPathologies();
  if (!arguments.pathology.empty() &&
      std::find(names.begin(), names.end(), arguments.pathology) == names.end()) {
    return Invalid("--pathology {}: there is no such pathology. Choose one of {}",
                   arguments.pathology, fmt::join(names, ", "));
  }
  XP_TRY(Output output,
         Output::Open(arguments.output, {.force = arguments.force, .kind = OutputKind::kStore}));
  // A recording has further files beside it while it runs.
  XP_TRY(const TemporaryFolder folder, TemporaryFolder::Make("demo"));
  const std::filesystem::path recorded = folder.path() / "run.xlaprof";
  Progress progress;
  XP_TRY(DemoResult result,
         Demonstrate({.output = recorded,
                      .pathology = arguments.pathology,
                      .steps = arguments.steps,
                      .progress = [&](double done) { progress.Update(done, "training"); }}));
  progress.Done();
  XP_TRY(output.WriteCopy(recorded));
  XP_TRY(std::string report, ReportOn(arguments.output));
  return Print(
      fmt::format("MNIST, {} steps: {:.1f} % of held-out digits are read right.\n\n{}\n"
                  "Its timeline, in the browser:\n"
                  "  xlaprof view {}\n",
                  arguments.steps, 100 * result.accuracy, report, ShellWord(arguments.output)));
}

}  // namespace
}  // namespace xlaprof

int main(int argc, char** argv) {
  using namespace xlaprof;
  return RunProgram(argc, argv, {.add_commands = [](CLI::App& app, int& exit_status) {
                      AddDemoCommand(app, exit_status, RunDemo);
                    }});
}
