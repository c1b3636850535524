// What a recompilation says about the change that caused it.
#pragma once

#include <string>
#include <string_view>

#include "analyzers/recompilation.h"

namespace xlaprof {

// What changed, which follows the site's name in the title, and what to write instead.
struct ChangeWords {
  std::string what, advice;
};

// Returns the words of the change. `cpp`: the program is written in C++.
ChangeWords SayChange(const RecompileFigures& figures, bool cpp);

// Returns the caveat for figures that depend on how often each size came, if nobody counted it.
std::string_view IfSizesAreEquallyFrequent(const SizesSeen& sizes);

}  // namespace xlaprof
