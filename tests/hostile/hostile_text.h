// Texts that are made to break what reads or shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

// Names that steer a terminal, end a table, a quote or a statement, or are no UTF-8.
const std::vector<std::string>& HostileNames();

// Numbers at and beyond the ends of their types.
const std::vector<std::string>& HostileNumbers();

// What opens one level of nesting, in any format.
inline constexpr std::string_view kNestings[] = {
    "[", "{\"a\":", "(", "{", "tuple(", "({\n", "<", "/*", "\"", "subgraph {", "%a = ("};

// `opening`, `depth` times.
std::string Nested(std::string_view opening, size_t depth);

}  // namespace xlaprof
