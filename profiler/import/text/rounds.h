// Finds the rounds of a loop in a sequence of names.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace xlaprof {

// The places of a round's first name, and of the name after its last.
struct Round {
  size_t begin = 0, end = 0;
};

// Returns the rounds of a loop if most of the sequence repeats one round, at least three times, and
// nothing otherwise. What comes before the first whole round is a round of its own. The time is
// linear in the length of the sequence.
std::vector<Round> RoundsOf(const std::vector<std::string_view>& names);

}  // namespace xlaprof
