// Finds which of many marks occur in a large text.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace xlaprof {

// Returns for each group whether one of its marks occurs in `text`. A mark has at least two bytes.
// The text is read once, whatever the number of marks; the longer the shortest mark is, the fewer
// bytes are looked at.
std::vector<bool> GroupsIn(std::string_view text,
                           std::span<const std::span<const std::string_view>> groups);

// Calls `found` with the group and the place of each mark, in order, of the groups that are `wanted`.
// `found` may change `wanted`.
void EachMark(std::string_view text, std::span<const std::span<const std::string_view>> groups,
              std::vector<bool>& wanted, const std::function<void(size_t, size_t)>& found);

}  // namespace xlaprof
