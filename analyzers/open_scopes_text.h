// Says which scopes are open, for reports of killed recordings and for running programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzers/run/scopes.h"
#include "profiler/store/open_scope.h"

namespace xlaprof {

// Returns "epoch (12.3 s) > train 41 (0.8 s) > allreduce (0.7 s)", the outermost scope first. Of
// many scopes, leaves out those in the middle and counts them.
std::string OpenScopesText(std::span<const OpenScope> scopes);

// Returns "thread main", "thread 4711", or "thread loader, which has ended".
std::string OpenThreadText(const OpenThread& thread);

// Returns one line per thread of killed recordings, such as "rank 0 (pid 12), thread main: epoch
// (12.3 s) > allreduce (0.7 s), at sync.cc:12". Names no process if there is only one.
std::vector<std::string> KilledScopesTexts(const KilledScopes& killed);

}  // namespace xlaprof
