// The scopes that texts show, for as long as core/ir has none of its own: nothing is counted.
#include <vector>

#include "core/ir/scope.h"

namespace xlaprof::lazy {

static std::vector<std::string> open_scopes, texts{""};

ScopeId CurrentScope() {
  std::string text;
  for (const std::string& name : open_scopes) text += (text.empty() ? "" : "/") + name + ".1";
  if (text.empty()) return 0;
  texts.push_back(text);
  return ScopeId(texts.size() - 1);
}
std::string_view ScopeText(ScopeId id) { return texts[id]; }
void PushScope(std::string_view name) { open_scopes.emplace_back(name); }
void PopScope() { open_scopes.pop_back(); }
bool ResetScopes() { return open_scopes.empty(); }

}  // namespace xlaprof::lazy
