// The words about the change that caused a recompilation.
#pragma once

#include <string>
#include <string_view>

#include "analyzers/recompilation.h"

namespace xlaprof {

// The words that follow the site's name in the title, and the remedy.
struct ChangeWords {
  std::string what, advice;
};

// Returns the words for the change.
ChangeWords SayChange(const RecompileFigures& figures, Framework framework);

// Returns the caveat for figures that depend on how often each size came, if nobody counted it.
std::string_view IfSizesAreEquallyFrequent(const SizesSeen& sizes);

}  // namespace xlaprof
