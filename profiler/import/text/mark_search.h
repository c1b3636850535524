// Finds which of many marks occur in a large text.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace xlaprof {

// Returns for each group whether one of its marks occurs in `text`. A mark has at least two bytes.
// The text is read once, whatever the number of marks; the longer the shortest mark is, the fewer
// bytes are looked at.
std::vector<bool> GroupsIn(std::string_view text,
                           std::span<const std::span<const std::string_view>> groups);

}  // namespace xlaprof
