#include "analyzers/open_scopes_text.h"

#include <algorithm>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

constexpr size_t kOuter = 8, kInner = 8;  // scopes that are named if there are many

std::string ScopeText(const OpenScope& scope) {
  std::string text = scope.name.empty() ? "(no name)" : scope.name;
  if (scope.step) text += fmt::format(" {}", *scope.step);
  if (scope.open_ns) text += fmt::format(" ({})", DurationText(*scope.open_ns));
  return text;
}

}  // namespace

std::string OpenScopesText(std::span<const OpenScope> scopes) {
  std::string text;
  for (size_t i = 0; i < scopes.size(); ++i) {
    if (i > 0) text += " > ";
    if (i == kOuter && scopes.size() > kOuter + kInner + 1) {
      const size_t left_out = scopes.size() - kOuter - kInner;
      text += fmt::format("({} more)", left_out);
      i += left_out - 1;
      continue;
    }
    text += ScopeText(scopes[i]);
  }
  return text;
}

std::string OpenThreadText(const OpenThread& thread) {
  std::string text = "thread ";
  if (!thread.name.empty() && !thread.name.starts_with("thread ")) {
    text += thread.name;
  } else if (thread.tid) {
    text += fmt::to_string(*thread.tid);
  } else {
    text = thread.name.empty() ? "a thread" : thread.name;
  }
  return thread.ended ? text + ", which has ended" : text;
}

std::vector<std::string> KilledScopesTexts(const KilledScopes& killed) {
  constexpr size_t kMostThreads = 24;
  const auto is_other = [&](const KilledScopes::Thread& thread) {
    return thread.pid != killed.threads.front().pid || thread.rank != killed.threads.front().rank;
  };
  const bool several = std::ranges::any_of(killed.threads, is_other);
  std::vector<std::string> lines;
  for (const KilledScopes::Thread& thread : killed.threads) {
    if (lines.size() == kMostThreads) {
      lines.push_back(fmt::format("and {} more threads", killed.threads.size() - kMostThreads));
      break;
    }
    std::string who;
    if (several) {
      who = thread.rank              ? fmt::format("rank {}", *thread.rank)
            : thread.process.empty() ? "a program"
                                     : thread.process;
      if (thread.pid) who += fmt::format(" (pid {})", *thread.pid);
      who += ", ";
    }
    std::string line = fmt::format("{}{}: {}", who, OpenThreadText(thread.thread),
                                   OpenScopesText(thread.thread.scopes));
    const OpenScope& innermost = thread.thread.scopes.back();
    if (!innermost.file.empty()) line += fmt::format(", at {}:{}", innermost.file, innermost.line);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace xlaprof
