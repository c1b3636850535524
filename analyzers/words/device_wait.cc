#include "analyzers/device_wait.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

// Words for what the device waits for, and the advice.
struct WaitWords {
  const char* what;
  const char* advice;
};

WaitWords OfWait(WaitedFor waited_for) {
  switch (waited_for) {
    case WaitedFor::kHostCopy:
      return {
          "host offload: copies from or to the host's memory",
          "Keep these operands in the device's memory (offload fewer or smaller tensors, or rematerialise instead), or start the copy earlier. Enough work must lie between copy-start and copy-done to hide the copy."};
    case WaitedFor::kCopy:
      return {
          "copies between memories of the device",
          "Most programs need no change. Look at layouts that change between ops, and try larger tiles."};
    case WaitedFor::kCollective:
      return {
          "communication with other devices",
          "Overlap communication with computation (asynchronous collectives, latency-hiding scheduler), shard differently, or look for one device that is late."};
    case WaitedFor::kInfeed:
      return {"data from the host", "Load data earlier: use more workers and a deeper prefetch."};
    case WaitedFor::kOutfeed:
      return {"the host taking results", "Send less to the host, or less often."};
    case WaitedFor::kSendRecv:
      return {"a peer or the host",
              "Balance the stages, or send earlier than the value is needed."};
    case WaitedFor::kAsync:
      return {"an asynchronous op", "Start the op earlier, so that other work hides it."};
  }
  return {"", ""};
}

std::string Title(const Finding& finding, const DeviceWaitFigures& figures) {
  if (figures.waited_for == WaitedFor::kCollective) {
    return fmt::format("'{}' runs during {:.0f} % of {}'s busy time: {}", *finding.subject.op,
                       100 * figures.share, figures.device, OfWait(figures.waited_for).what);
  }
  return fmt::format("'{}' runs during {:.0f} % of {}'s busy time, waiting for {}",
                     *finding.subject.op, 100 * figures.share, figures.device,
                     OfWait(figures.waited_for).what);
}

std::string Why(const DeviceWaitFigures& figures) {
  if (figures.shares_cores && figures.waited_for == WaitedFor::kCollective)
    return "The devices are parts of one CPU and share its cores, so this says little about other hardware.";
  if (!figures.least || !figures.least->is_late) return "";
  std::string why =
      fmt::format("{} spends least in these ops, so the others wait for it", figures.least->device);
  if (figures.least->waiting_ns) {
    why +=
        fmt::format(": {} at least {}", figures.device, DurationText(*figures.least->waiting_ns));
  }
  return why + ".";
}

std::string CostNote(const DeviceWaitFigures& figures) {
  std::string note = fmt::format("sum of these ops on {}", figures.device);
  if (const std::optional<LeastWait>& least = figures.least) {
    note += fmt::format("; on {} devices it is {:.1f} (on {}) to {:.1f} % of busy", least->devices,
                        100 * least->share, least->device, 100 * figures.share);
  } else if (figures.waited_for == WaitedFor::kCollective) {
    note += "; only the profiles of several devices show how much of it is waiting";
  }
  return note;
}

std::string Advice(const DeviceWaitFigures& figures) {
  if (!figures.least || !figures.least->is_late) return OfWait(figures.waited_for).advice;
  return fmt::format(
      "Find out what {} does before these ops that the others do not do. It may have more or longer work, a slower machine, or late input.",
      figures.least->device);
}

std::vector<std::string> EvidenceLines(const DeviceWaitFigures& figures) {
  std::vector<std::string> lines;
  for (const WaitingOp& op : figures.ops) {
    std::string& line = lines.emplace_back(fmt::format(
        "{}: {:.3f} s in {}", op.name, double(op.ns) / 1e9, Plural(op.count, "execution")));
    if (op.bytes) {
      line += fmt::format(", {:.1f} MiB each, {:.1f} GB/s", double(*op.bytes) / (1 << 20),
                          double(*op.bytes) * double(op.count) / double(op.ns));
    }
    if (op.host_memory) line += ", host memory";
  }
  return lines;
}

}  // namespace

// The words name only ops and devices, so they are the same for all frameworks.
Words SayDeviceWait(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const DeviceWaitFigures&>(finding.figures);
  return {.title = Title(finding, figures),
          .why = Why(figures),
          .cost_note = CostNote(figures),
          .advice = Advice(figures),
          .evidence = EvidenceLines(figures),
          .tells_share = true};
}

}  // namespace xlaprof
