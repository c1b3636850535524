// Names parts of a program, as nodes remember them: `train.1/forward.1`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xlaprof::lazy {

// Identifies a text of scopes; 0 means none.
using ScopeId = uint32_t;

// Returns the calling thread's scope.
ScopeId CurrentScope();
std::string_view ScopeText(ScopeId id);

// Opens a scope: `name` with the number of scopes opened at this level since the step began.
void PushScope(std::string_view name);
void PopScope();
// Restarts the numbers, at a step mark. While a scope is open, does nothing and returns false.
bool ResetScopes();

}  // namespace xlaprof::lazy
