#include "core/ir/scope.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <vector>

namespace xlaprof::lazy {
namespace {

// Texts of all scopes so far, by id. There are few.
struct Texts {
  std::mutex mutex;
  std::deque<std::string> texts{""};
  absl::flat_hash_map<std::string, ScopeId> ids;
};
Texts& AllTexts() {
  static Texts& texts = *new Texts;
  return texts;
}

struct Level {
  ScopeId id = 0;
  int next = 1;  // number of the next scope opened in it
};
thread_local std::vector<Level> levels(1);

}  // namespace

ScopeId CurrentScope() { return levels.back().id; }

std::string_view ScopeText(ScopeId id) {
  std::lock_guard lock(AllTexts().mutex);
  return AllTexts().texts[id];
}

void PushScope(std::string_view name) {
  Level& outer = levels.back();
  Texts& texts = AllTexts();
  std::lock_guard lock(texts.mutex);
  const std::string_view around = texts.texts[outer.id];
  std::string text =
      fmt::format("{}{}{}.{}", around, around.empty() ? "" : "/", name, outer.next++);
  auto [at, is_new] = texts.ids.try_emplace(text, ScopeId(texts.texts.size()));
  if (is_new) texts.texts.push_back(std::move(text));
  levels.push_back({.id = at->second});
}

void PopScope() { levels.pop_back(); }

bool ResetScopes() {
  if (levels.size() > 1) return false;
  levels.front().next = 1;
  return true;
}

}  // namespace xlaprof::lazy
