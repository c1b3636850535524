// Named parts of a program, as nodes remember them: `train.1/forward.1`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xlaprof::lazy {

// A text of scopes; 0: none.
using ScopeId = uint32_t;

// The calling thread's.
ScopeId CurrentScope();
std::string_view ScopeText(ScopeId id);

// `name` with a number for each time that it was opened at this level since the step began.
void PushScope(std::string_view name);
void PopScope();
// At a step mark: numbers begin again. False while a scope is open; nothing happens then.
bool ResetScopes();

}  // namespace xlaprof::lazy
