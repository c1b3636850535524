// Texts that are made to break the code that reads or shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

// Returns names that steer a terminal, end a table, a quote or a statement, or are not UTF-8.
const std::vector<std::string>& HostileNames();

// Returns numbers at and beyond the limits of their types.
const std::vector<std::string>& HostileNumbers();

// Each of these opens one level of nesting in some format.
inline constexpr std::string_view kNestings[] = {
    "[", "{\"a\":", "(", "{", "tuple(", "({\n", "<", "/*", "\"", "subgraph {", "%a = ("};

// Returns `opening` repeated `depth` times.
std::string Nested(std::string_view opening, size_t depth);

}  // namespace xlaprof
