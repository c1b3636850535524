// Prints the stacks for a terminal: the processes, their open scopes, then the groups of threads.
#include <algorithm>
#include <map>
#include <set>

#include "analyzers/open_scopes_text.h"
#include "analyzers/quantity.h"
#include "base/escape.h"
#include "profiler/stacks/stacks.h"
#include "profiler/vocabulary/code.h"

namespace xlaprof::stacks {
namespace {

constexpr size_t kRows = 24;    // processes that are listed
constexpr size_t kFrames = 20;  // frames of a stack that are printed
constexpr size_t kIdleFrames = 1;
constexpr size_t kNamed = 8;  // processes, or threads, that are named one by one

// Returns "0-3, 6".
std::string Ranges(const std::set<int64_t>& numbers) {
  std::string text;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int64_t first = *at;
    int64_t last = first;
    for (++at; at != numbers.end() && *at == last + 1; ++at) last = *at;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last > first) text += fmt::format("-{}", last);
  }
  return text;
}

class LookPrinter {
 public:
  LookPrinter(const Look& look, const TextOptions& options) : look_(look), options_(options) {
    for (const ProcessLook& one : look.processes) by_pid_[one.process.pid] = &one;
  }

  std::string Write() {
    Head();
    Processes();
    Errors();
    Scopes();
    for (const StackGroup& group : look_.groups) Group(group);
    if (look_.has_python_lines_missing)
      Line("\nThe stacks are gdb's, which show no lines of Python. For these: pip install py-spy");
    return std::move(out_);
  }

 private:
  void Line(std::string_view text) { out_ += fmt::format("{}\n", Printable(text, true)); }
  std::string Shortened(std::string text, size_t columns) const {
    text = Printable(text);
    if (options_.all || text.size() <= columns) return text;
    size_t end = columns;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + "…";
  }
  size_t Width() const { return size_t(std::max(options_.width, 40)); }

  void Head() {
    const ProcessLook& root = look_.processes.front();
    const size_t below = look_.processes.size() - 1;
    std::string text =
        fmt::format("Process {} {}", root.process.pid, StateText(root.process.state));
    if (below > 0) text += fmt::format(", and has {}", Plural(int64_t(below), "descendant"));
    Line(text + ": " +
         Shortened(root.process.command, Width() - std::min<size_t>(text.size() + 3, 30)));
  }

  void Processes() {
    if (look_.processes.size() == 1) return;
    constexpr size_t kBefore = 38;
    Line(fmt::format("\n  {:>8} {:>5}  {:<18} {}", "pid", "rank", "state", "program"));
    size_t rows = 0;
    for (const ProcessLook& one : look_.processes) {
      if (++rows > kRows && !options_.all) {
        Line(fmt::format("  and {} more", look_.processes.size() - kRows));
        break;
      }
      const ProcessInfo& process = one.process;
      const std::string rank = process.rank         ? fmt::to_string(*process.rank)
                               : process.local_rank ? fmt::to_string(*process.local_rank)
                                                    : "-";
      Line(fmt::format("  {:>8} {:>5}  {:<18} {}{}", process.pid, rank, StateText(process.state),
                       std::string(size_t(process.depth) * 2, ' '),
                       Shortened(process.command, Width() - kBefore + 2)));
    }
  }

  // Writes why processes could not be read, those with the same reason together.
  void Errors() {
    std::vector<std::pair<std::string, std::vector<int64_t>>> reasons;
    for (const ProcessLook& one : look_.processes) {
      if (one.error.empty()) continue;
      auto same = std::ranges::find_if(reasons, [&](const auto& reason) {
        return reason.first == one.error ||
               (one.is_forbidden && by_pid_[reason.second.front()]->is_forbidden);
      });
      if (same == reasons.end()) same = reasons.insert(reasons.end(), {one.error, {}});
      same->second.push_back(one.process.pid);
    }
    if (!reasons.empty()) Line("");
    for (const auto& [reason, pids] : reasons)
      Line(fmt::format("No stack of {}: {}", Pids({pids.begin(), pids.end()}), reason));
  }

  void Scopes() {
    const bool is_recorded = std::ranges::any_of(look_.processes, &ProcessLook::is_recorded);
    if (!is_recorded) return;
    Line("\nOpen scopes, outermost first");
    for (const ProcessLook& one : look_.processes) {
      for (const OpenThread& thread : one.open) {
        std::string place;
        if (const OpenScope& innermost = thread.scopes.back(); !innermost.file.empty())
          place = fmt::format(", at {}:{}", innermost.file, innermost.line);
        Line(fmt::format("  {}{}: {}{}", Who(one.process), OpenThreadText(thread),
                         OpenScopesText(thread.scopes), place));
      }
      if (one.is_recorded && one.open.empty()) Line(fmt::format("  {}none", Who(one.process)));
    }
  }
  // Returns "4711 (rank 3), ", or "" if there is only one process.
  std::string Who(const ProcessInfo& process) const {
    if (look_.processes.size() == 1) return "";
    return fmt::format("{}{}, ", process.pid,
                       process.rank ? fmt::format(" (rank {})", *process.rank) : "");
  }

  static std::string Pids(const std::set<int64_t>& pids) {
    std::vector<std::string> words;
    for (const int64_t pid : pids) {
      if (words.size() == kNamed) break;
      words.push_back(fmt::to_string(pid));
    }
    if (pids.size() > kNamed) words.push_back(fmt::format("{} more", pids.size() - kNamed));
    return ListText(words);
  }

  // Returns "2 threads in 2 processes, ranks 0-1 (12, 13): MainThread".
  std::string Title(const StackGroup& group) const {
    std::set<int64_t> pids, ranks;
    std::vector<std::string> names;
    size_t active = 0, known = 0;
    bool holds_gil = false;
    for (const ThreadStack& thread : group.threads) {
      pids.insert(thread.pid);
      if (const auto at = by_pid_.find(thread.pid); at != by_pid_.end() && at->second->process.rank)
        ranks.insert(*at->second->process.rank);
      const std::string name = thread.is_main        ? "main thread"
                               : thread.name.empty() ? fmt::format("thread {}", thread.tid)
                                                     : thread.name;
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      known += thread.is_active.has_value();
      active += thread.is_active.value_or(false);
      holds_gil |= thread.holds_gil;
    }
    std::string text = Plural(int64_t(group.threads.size()), "thread");
    if (look_.processes.size() > 1) {
      if (pids.size() == 1) {
        text += fmt::format(" of {}", *pids.begin());
        if (!ranks.empty()) text += fmt::format(" (rank {})", *ranks.begin());
      } else {
        text += fmt::format(" in {} processes", pids.size());
        if (!ranks.empty())
          text += fmt::format(", {} {}", ranks.size() == 1 ? "rank" : "ranks", Ranges(ranks));
        text += fmt::format(" ({})", Pids(pids));
      }
    }
    if (names.size() > kNamed) {
      const size_t more = names.size() - kNamed;
      names.resize(kNamed);
      names.push_back(fmt::format("{} more", more));
    }
    text += ": " + ListText(names);
    if (group.is_idle)
      text += group.threads.size() == 1 ? ", which waits for work" : ", which wait for work";
    if (holds_gil) {
      text += ", holds the GIL";
    } else if (active > 0) {
      text +=
          active == known && known == 1 ? ", runs" : fmt::format(", {} of {} run", active, known);
    }
    return text;
  }

  void Group(const StackGroup& group) {
    Line("");
    Line(Shortened(Title(group), Width() * 2));
    const std::vector<Frame>& frames = group.frames();
    const size_t most = options_.all ? frames.size() : group.is_idle ? kIdleFrames : kFrames;
    const size_t shown = std::min(most, frames.size());
    for (const Frame& frame : std::span(frames).first(shown)) {
      std::string place = frame.file.empty() ? "" : std::string(PathInPackage(frame.file));
      if (frame.line > 0) place += fmt::format(":{}", frame.line);
      const std::string function = frame.function.empty() ? "(unknown)" : frame.function;
      Line("  " + Shortened(place.empty() ? function : fmt::format("{} {}", place, function),
                            Width() - 3));
    }
    if (frames.empty()) Line("  no frame is known");
    if (shown < frames.size())
      Line(fmt::format("  and {} (--all)", Plural(int64_t(frames.size() - shown), "outer frame")));
    if (group.threads.front().is_cut) Line("  and outer frames that were not read");
  }

  const Look& look_;
  const TextOptions& options_;
  std::map<int64_t, const ProcessLook*> by_pid_;
  std::string out_;
};

}  // namespace

std::string LookText(const Look& look, const TextOptions& options) {
  return LookPrinter(look, options).Write();
}

}  // namespace xlaprof::stacks
