#include "cli/report_command.h"

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <fstream>

#include "analyzers/report.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "profiler/import/import.h"
#include "profiler/store/salvage.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  InputOptions input;
  std::string format = "text", output, colour = "auto", steps, from, to;
  std::optional<int64_t> process;
  std::vector<std::string> source_roots;
  bool all = false;
};

bool IsStore(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  char head[16] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  return std::string_view(head, sizeof head) == kMagic;
}

absl::Status CheckRun(const Store& store, const std::string& path, const std::string& run) {
  if (run.empty()) return absl::OkStatus();
  XP_TRY(auto held,
         store.One<int64_t>("SELECT count(*) FROM run WHERE selected = 1 AND label = ?1", run));
  if (held.value_or(0) > 0) return absl::OkStatus();
  XP_TRY(auto label, store.Meta("run_label"));
  return NotFound(
      "--run {}: {} holds the run '{}' only. Import the run from the files that it was made from",
      run, path, label.value_or("?"));
}

// --process takes xlaprof's own id, else the operating system's.
absl::StatusOr<int64_t> ProcessId(const Store& store, int64_t number) {
  XP_TRY(auto by_id, store.One<int64_t>("SELECT id FROM process WHERE id = ?1", number));
  if (by_id) return *by_id;
  XP_TRY(auto by_pid, store.One<int64_t>("SELECT id FROM process WHERE pid = ?1", number));
  if (by_pid) return *by_pid;
  std::string known;
  XP_TRY(store.Each("SELECT id, pid, host, rank FROM process ORDER BY id",
                    [&](int64_t id, OptInt pid, OptText host, OptInt rank) {
                      known +=
                          fmt::format("\n  {}{}{}{}", id, pid ? fmt::format(", pid {}", *pid) : "",
                                      host ? fmt::format(", host {}", *host) : "",
                                      rank ? fmt::format(", rank {}", *rank) : "");
                    }));
  return NotFound("--process {}: no such process. There are:{}", number, known);
}

absl::Status Restrict(const ReportArguments& arguments, Store& store) {
  Slice slice;
  if (!arguments.steps.empty()) XP_TRY(ParseSteps(arguments.steps, slice));
  if (!arguments.from.empty() || !arguments.to.empty()) {
    XP_TRY(auto start_ns, CaptureStart(store));
    if (!start_ns) return Invalid("--from and --to: no source of this run has times. Use --steps");
    if (!arguments.from.empty()) {
      XP_TRY(int64_t from_ns, ParseTime(arguments.from));
      slice.from_ns = *start_ns + from_ns;
    }
    if (!arguments.to.empty()) {
      XP_TRY(int64_t to_ns, ParseTime(arguments.to));
      slice.to_ns = *start_ns + to_ns;
    }
    if (slice.from_ns && slice.to_ns && *slice.from_ns >= *slice.to_ns)
      return Invalid("--from {} does not lie before --to {}", arguments.from, arguments.to);
  }
  if (arguments.process) {
    XP_TRY(slice.process_id, ProcessId(store, *arguments.process));
  }
  return store.Restrict(slice);
}

// Where source lines may be quoted from: what the user named, the working directory, and the
// captures' directories. A working directory of / would let a hostile log name any file, so that
// one has to be asked for.
std::vector<fs::path> SourceRoots(const ReportArguments& arguments) {
  std::vector<fs::path> roots(arguments.source_roots.begin(), arguments.source_roots.end());
  std::error_code error;
  std::vector<fs::path> implied = {fs::current_path(error)};
  for (const std::string& path : arguments.input.paths) {
    implied.push_back(fs::is_directory(path, error) ? fs::path(path)
                                                    : fs::path(path).parent_path());
  }
  for (const fs::path& root : implied) {
    fs::path real = fs::canonical(root.empty() ? "." : root, error);
    if (!error && real != real.root_path()) roots.push_back(real);
  }
  return roots;
}

absl::StatusOr<std::string> ReportOn(Store store, const ReportArguments& arguments) {
  XP_TRY(Restrict(arguments, store));
  XP_TRY(Report report, MakeReport(store));
  ReportOptions options;
  options.colour =
      arguments.colour == "always" || (arguments.output.empty() && WantsColour(arguments.colour));
  options.width = TerminalWidth(STDOUT_FILENO);
  options.source_roots = SourceRoots(arguments);
  options.all = arguments.all;
  return arguments.format == "json"       ? ReportJson(report)
         : arguments.format == "markdown" ? ReportMarkdown(report, options)
                                          : ReportText(report, options);
}

absl::StatusOr<std::string> WholeReport(const ReportArguments& arguments) {
  auto store = OpenInput(arguments.input);
  auto text = store.ok() ? ReportOn(*std::move(store), arguments) : store.status();
  if (text.status().code() != absl::StatusCode::kDataLoss || !IsStore(arguments.input.paths[0]))
    return text;
  // A damaged store: what lies on its intact pages, and an import issue that counts the rest.
  XP_TRY(Store salvaged, Store::CreateTemporary());
  absl::Status status = internal::ToStatus(Salvage(arguments.input.paths[0], salvaged));
  if (!status.ok()) return status;
  return ReportOn(std::move(salvaged), arguments);
}

absl::Status RunReport(const ReportArguments& arguments) {
  XP_TRY(std::string text, WholeReport(arguments));
  return WriteOutput(text, arguments.output);
}

}  // namespace

absl::Status ParseSteps(const std::string& text, Slice& slice) {
  auto number = [&](std::string_view part, OptInt& value) {
    if (part.empty()) return true;
    int64_t parsed = 0;
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), parsed);
    value = parsed;
    return error == std::errc() && end == part.data() + part.size();
  };
  std::string_view view = text;
  size_t colon = view.find(':');
  std::string_view first = view.substr(0, colon),
                   last = colon == std::string_view::npos ? first : view.substr(colon + 1);
  if (!number(first, slice.first_step) || !number(last, slice.last_step) ||
      (!slice.first_step && !slice.last_step)) {
    return Invalid("--steps {}: not a range of steps. Write A:B, A:, :B or A, such as 3:7", text);
  }
  if (slice.first_step && slice.last_step && *slice.first_step > *slice.last_step) {
    return Invalid("--steps {}: the first step lies behind the last", text);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ParseTime(const std::string& text) {
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  std::string_view unit(end, size_t(text.data() + text.size() - end));
  double scale = unit == "s"                    ? 1e9
                 : unit == "ms"                 ? 1e6
                 : unit == "us"                 ? 1e3
                 : unit == "ns" || unit.empty() ? 1
                                                : 0;
  if (error != std::errc() || scale == 0 || !std::isfinite(value) || value < 0 ||
      value * scale > 9e18 || (unit.empty() && text.find('.') != std::string::npos)) {
    return Invalid(
        "{}: not a time since the capture's start. Write 1.5s, 200ms, 30us or a whole number of ns",
        text);
  }
  int64_t whole_ns = 0;
  if (unit.empty() && std::from_chars(text.data(), end, whole_ns).ec == std::errc())
    return whole_ns;
  return std::llround(value * scale);
}

absl::StatusOr<Store> OpenInput(const InputOptions& input) {
  if (input.paths.size() == 1 && IsStore(input.paths[0])) {
    XP_TRY(Store store, Store::Open(input.paths[0]));
    XP_TRY(CheckRun(store, input.paths[0], input.run));
    return store;
  }
  for (const std::string& path : input.paths) {
    if (IsStore(path))
      return Invalid("{}: a store stands alone. Name it without other files", path);
  }
  XP_TRY(Store store, Store::CreateTemporary());
  Progress progress;
  ImportOptions options{.inputs = {input.paths.begin(), input.paths.end()},
                        .run = input.run,
                        .as_format = input.as_format};
  options.progress = [&](double fraction, std::string_view what) {
    progress.Update(fraction, what);
  };
  XP_TRY(Import(options, store));
  return store;
}

void AddReportCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command =
      app.add_subcommand("report", "Says where the time goes and which line is at fault");
  command
      ->add_option("PATH", arguments->input.paths,
                   "A store, a capture directory, or any files of one run")
      ->required();
  command->add_option("--format", arguments->format, "text, json or markdown")
      ->check(CLI::IsMember({"text", "json", "markdown"}));
  command->add_option("-o,--output", arguments->output,
                      "Write to this file instead of standard output");
  command->add_option("--steps", arguments->steps, "Only steps A to B: A:B, A:, :B or A");
  command->add_option("--from", arguments->from,
                      "Only what happens after TIME since the capture's start: 1.5s, 200ms, ns");
  command->add_option("--to", arguments->to, "Only what happens before TIME");
  command->add_option("--process", arguments->process,
                      "Only process N: its id in the report, or its pid");
  command->add_option("--run", arguments->input.run,
                      "The run to report on, where the files hold several; else the newest");
  command
      ->add_option("--source-root", arguments->source_roots,
                   "Quote source lines from files under DIR, too")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command->add_option("--as", arguments->input.as_format,
                      "Read the files as this format, whatever their bytes say");
  command->add_flag("--all", arguments->all,
                    "Findings of severity info in full, and the evidence of each finding");
  command->add_option("--colour,--color", arguments->colour, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->callback([arguments, &exit_status] {
    absl::Status status = RunReport(*arguments);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof
