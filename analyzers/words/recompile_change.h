// The words about the change that caused a recompilation.
#pragma once

#include <string>
#include <string_view>

#include "analyzers/recompilation.h"

namespace xlaprof {

// The words that follow the site's name in the title, the remedy, and what the files hide.
struct ChangeWords {
  std::string what, advice;
  std::optional<Unseen> unseen = {};
};

// Returns the words for the change.
ChangeWords SayChange(const RecompileFigures& figures, Framework framework);
// Returns the words for a check (guard) of torch.compile's that failed.
ChangeWords SayGuard(const RecompileFigures& figures);

// Returns what readers call the dimensions of an input that vary: "length", "batch dimension",
// "dimensions 0 and 1".
std::string DimensionNames(const SizesSeen& sizes);
// Returns "a → b → c", of which long lists are cut.
std::string ValuesText(const std::vector<std::string>& values);

// Returns the caveat for figures that depend on how often each size came, if nobody counted it.
std::string_view IfSizesAreEquallyFrequent(const SizesSeen& sizes);

}  // namespace xlaprof
