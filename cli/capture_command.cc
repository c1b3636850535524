#include "cli/capture_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <set>

#include "base/escape.h"
#include "base/temporary_folder.h"
#include "cli/interrupt.h"
#include "cli/number_options.h"
#include "cli/progress.h"
#include "cli/slice_options.h"
#include "cli/store_file.h"
#include "cli/terminal.h"
#include "serve/client.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kBytesPerMb = 1'000'000;
constexpr int64_t kHourNs = 3600 * 1000 * kMs;
constexpr auto kBetweenTries = std::chrono::seconds(1);
constexpr auto kPollTime = std::chrono::milliseconds(100);

// A message of gRPC can have 2 GiB.
constexpr int64_t kMostAnswerMb = 2147;

struct CaptureArguments {
  std::vector<std::string> addresses;
  std::string duration = "5s", delay = "0s", output = "run.xlaprof";
  std::string keep;  // the directory for the answers of the programs; "": they are not kept
  int retries = 0;   // how often a capture without events is repeated
  int64_t most_answer_mb = 1000;
  bool force = false;
};

struct Plan {
  int64_t duration_ns = 0, delay_ns = 0;
};

absl::StatusOr<Plan> PlanOf(const CaptureArguments& arguments) {
  std::set<std::string> seen;
  for (const std::string& address : arguments.addresses) {
    XP_TRY(CheckAddress(address));
    if (!seen.insert(address).second) return Invalid("{}: is named twice", address);
  }
  Plan plan;
  XP_TRY(plan.duration_ns, ParseTime(arguments.duration));
  XP_TRY(plan.delay_ns, ParseTime(arguments.delay));
  if (plan.duration_ns < kMs || plan.duration_ns > kHourNs)
    return Invalid(
        "--duration {}: is not between 1ms and 3600s. Give a number with its unit, such as 5s or 200ms",
        arguments.duration);
  if (plan.delay_ns < 0 || plan.delay_ns > kHourNs)
    return Invalid("--delay {}: is not between 0s and 3600s", arguments.delay);
  return plan;
}

int64_t EpochNs(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// Returns a name for the run's directory: the current time, in the form of XProf's names.
std::string RunName() {
  const std::time_t now = Clock::to_time_t(Clock::now());
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y_%m_%d_%H_%M_%S", &parts)};
}

// Returns whether another attempt may succeed.
bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsAlreadyExists(status) || absl::IsNotFound(status);
}

// Waits before the next attempt. Returns false if a stop was requested.
bool Pause(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, stop, kBetweenTries, [] { return false; });
  return !stop.stop_requested();
}

absl::StatusOr<Captured> CaptureOne(CaptureRequest request, int64_t delay_ns, int retries) {
  while (true) {
    auto captured = Capture(request);
    if (captured.ok() || retries-- <= 0 || !MayPass(captured.status()) || !Pause(request.stop))
      return captured;
    if (delay_ns > 0) request.start_epoch_ns = EpochNs(Clock::now()) + delay_ns;
  }
}

// Captures all hosts at once, so that they cover the same time. If the user requests the end, does
// not wait for hosts that have not answered yet.
std::vector<absl::StatusOr<Captured>> CaptureAll(const CaptureArguments& arguments,
                                                 const Plan& plan, const fs::path& folder,
                                                 const Interrupt& interrupt) {
  const auto begin = Clock::now();
  std::stop_source stop;
  std::vector<std::future<absl::StatusOr<Captured>>> asked;
  for (size_t i = 0; i < arguments.addresses.size(); ++i) {
    const fs::path own = folder / fmt::to_string(i);
    std::error_code error;
    fs::create_directory(own, error);
    CaptureRequest request{
        .address = arguments.addresses[i],
        .duration_ms = plan.duration_ns / kMs,
        .start_epoch_ns = plan.delay_ns == 0 ? 0 : EpochNs(begin) + plan.delay_ns,
        .folder = own,
        .most_bytes = arguments.most_answer_mb * kBytesPerMb,
        .stop = stop.get_token()};
    asked.push_back(
        std::async(std::launch::async, CaptureOne, request, plan.delay_ns, arguments.retries));
  }
  Progress progress;
  std::vector<absl::StatusOr<Captured>> captured;
  for (auto& each : asked) {
    while (each.wait_for(kPollTime) != std::future_status::ready) {
      if (interrupt.asked()) stop.request_stop();
      const int64_t passed_ns = EpochNs(Clock::now()) - EpochNs(begin);
      progress.Update(double(passed_ns) / double(plan.delay_ns + plan.duration_ns),
                      passed_ns < plan.delay_ns                      ? "waiting"
                      : passed_ns < plan.delay_ns + plan.duration_ns ? "capturing"
                                                                     : "collecting");
    }
    captured.push_back(each.get());
  }
  return captured;
}

// Creates the directory that keeps the answers, and returns an error if it cannot be written.
absl::Status CheckKeep(const fs::path& keep) {
  std::error_code error;
  fs::create_directories(keep, error);
  if (error) return IoError("--keep {}: cannot be created: {}", keep.string(), error.message());
  return internal::ToStatus(UnfinishedFile::Create(keep / "plugins"));
}

// Copies what arrived to the directory that the user named, in the tree that XProf and TensorBoard
// read.
absl::Status KeepAnswers(const fs::path& run, const fs::path& folder, const fs::path& keep) {
  const fs::path to = keep / run.lexically_relative(folder);
  std::error_code error;
  fs::create_directories(to, error);
  for (fs::directory_iterator at(run, error), end; !error && at != end; at.increment(error)) {
    XP_TRY(Output kept, Output::Open((to / at->path().filename()).string(), {}));
    XP_TRY(kept.WriteCopy(at->path()));
  }
  if (error) return IoError("--keep {}: cannot write there: {}", keep.string(), error.message());
  return absl::OkStatus();
}

// Writes what arrived as one run, with each host's file named after its address. `folder` holds the
// files on the way; if they cannot become a store, they stay there.
absl::StatusOr<std::string> WriteCaptures(const CaptureArguments& arguments,
                                          const std::vector<absl::StatusOr<Captured>>& captured,
                                          const fs::path& folder, Output& output) {
  const fs::path run = folder / "plugins/profile" / RunName();
  std::error_code error;
  fs::create_directories(run, error);
  std::vector<std::pair<std::string, std::string>> names;  // file name and host
  for (size_t i = 0; i < captured.size() && !error; ++i) {
    if (!captured[i].ok()) continue;
    std::string name = arguments.addresses[i] + ".xplane.pb";
    std::replace(name.begin(), name.end(), ':', '_');
    fs::rename(captured[i]->file, run / name, error);
    names.emplace_back((run / name).string(), arguments.addresses[i]);
  }
  if (error)
    return IoError("{}: cannot move the captures there: {}", run.string(), error.message());
  if (!arguments.keep.empty()) XP_TRY(KeepAnswers(run, folder, arguments.keep));
  // The files are deleted when the command ends, so the sources are named after their hosts.
  auto name_sources = [&](Store& store) -> absl::Status {
    for (const auto& [file, host] : names)
      XP_TRY(store.Run("UPDATE source SET path = ?2 WHERE path = ?1", file, host));
    return absl::OkStatus();
  };
  return WriteStoreFile({.inputs = {folder / "plugins"}}, output, name_sources);
}

absl::StatusOr<std::string> KeepAll(const CaptureArguments& arguments,
                                    const std::vector<absl::StatusOr<Captured>>& captured,
                                    TemporaryFolder& folder, Output& output, Interrupt& interrupt) {
  const std::string where =
      fmt::format("What arrived is in {0}, which is yours to remove: xlaprof report {0}",
                  ShellWord(folder.path().string()));
  interrupt.EndWith(
      fmt::format("xlaprof: {}: was not finished. {}\n", Printable(arguments.output), where));
  auto kept = WriteCaptures(arguments, captured, folder.path(), output);
  interrupt.EndWith("");
  if (kept.ok()) return kept;
  (void)folder.Keep();
  return absl::Status(kept.status().code(),
                      fmt::format("{}. {}", std::string_view(Message(kept.status())), where));
}

// Runs the command and returns the exit status.
absl::StatusOr<int> RunCapture(const CaptureArguments& arguments) {
  XP_TRY(Plan plan, PlanOf(arguments));
  // Checks the output before any program is asked, because the captured minute cannot be repeated.
  XP_TRY(Output output,
         Output::Open(arguments.output, {.force = arguments.force, .kind = OutputKind::kStore}));
  if (!arguments.keep.empty()) XP_TRY(CheckKeep(arguments.keep));
  Interrupt interrupt;
  XP_TRY(TemporaryFolder folder, TemporaryFolder::Make("capture"));
  const auto captured = CaptureAll(arguments, plan, folder.path(), interrupt);
  size_t arrived = 0;
  for (const auto& each : captured) {
    arrived += each.ok();
    if (!each.ok()) Fail(each.status());
  }
  if (arrived == 0) return kExitCouldNot;
  XP_TRY(std::string kept, KeepAll(arguments, captured, folder, output, interrupt));
  if (!arguments.keep.empty())
    kept += fmt::format("the hosts' answers are in {}\n", Printable(arguments.keep));
  if (arrived < captured.size())
    kept = fmt::format("{} of {} hosts captured; the others are missing in this store\n", arrived,
                       captured.size()) +
           kept;
  XP_TRY(Print(kept));
  return arrived < captured.size() ? kExitCouldNot : kExitDone;
}

}  // namespace

void AddCaptureCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<CaptureArguments>();
  CLI::App* command = app.add_subcommand(
      "capture",
      "Takes a profile of running programs that use torch_xla, TorchTPU or JAX, or that xlaprof records");
  command
      ->add_option("HOST:PORT", arguments->addresses,
                   "Addresses of the profiler servers, captured at the same time: "
                   "xp.start_server(PORT), jax.profiler.start_server(PORT), XLAPROF_SERVE=PORT")
      ->required();
  command->add_option("--duration", arguments->duration, "Length of the capture: 5s, 200ms")
      ->capture_default_str();
  command->add_option("--delay", arguments->delay, "Waits this long before the capture begins")
      ->capture_default_str();
  command
      ->add_option("--retry", arguments->retries,
                   "Number of further tries if a server is missing, busy, or saw nothing")
      ->check(WholeNumber(0, 1000));
  command->add_option("-o,--output", arguments->output, "The store to write")
      ->capture_default_str();
  command->add_option("--keep", arguments->keep,
                      "Also keeps the hosts' answers (XSpaces) in this directory, for XProf");
  command
      ->add_option("--max-answer", arguments->most_answer_mb,
                   "The largest answer of a host that is taken, in MB")
      ->type_name("MB")
      ->check(WholeNumber(1, kMostAnswerMb))
      ->capture_default_str();
  command->add_flag("--force", arguments->force, "Replaces an existing store");
  command->callback([arguments, &exit_status] {
    const auto status = RunCapture(*arguments);
    exit_status = status.ok() ? *status : Fail(status.status());
  });
}

}  // namespace xlaprof
