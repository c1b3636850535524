// What findings call things. Analyzers write for PyTorch in Python; the words for a program in C++
// on our own runtime are here, in one table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzers/finding.h"
#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

enum class Language { kPython, kCpp };

// Of the run's program: what the user's lines are written in; without lines, C++ where our own
// recorder is all that was read.
absl::StatusOr<Language> LanguageOf(const Store& store);

struct CppWord {
  std::string_view python, cpp;
};
// In the order in which they are replaced.
std::span<const CppWord> CppWords();

// `text` in the words of C++.
std::string InCpp(std::string text);
// All that a finding says to people, likewise.
void SayInCpp(Finding* finding);

}  // namespace xlaprof
