// Prints source locations as text.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

// Returns only the name of a function that a compiler writes out in full: main, Net::Forward. A
// class before it is kept; a class is distinguished from a namespace by its first letter, a
// capital. A lambda has the name of the function around it, and code that runs before main is
// <static>.
std::string FunctionName(const std::source_location& location);
// Does the same for a function as a compiler, a symbol or debug information names it.
std::string FunctionName(std::string_view printed);

// Returns the parts of a function's qualified name, without template arguments: demo, Net, Forward.
std::vector<std::string> FunctionNameParts(std::string_view printed);

// Returns the file's name without its directories: file.cc for /a/b/file.cc.
std::string_view FileName(const std::source_location& location);

// Returns function@file:line.
std::string LocationText(const std::source_location& location);

}  // namespace xlaprof
