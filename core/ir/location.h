// Source locations as texts show them.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

namespace xlaprof::lazy {

// The name alone of the function that a compiler writes out in full: main, Net::Forward. A class
// before it stays, told from a namespace by its first letter; a lambda has the name of the function
// around it, and what runs before main is <static>.
std::string FunctionName(const std::source_location& location);

// file.cc of /a/b/file.cc
std::string_view FileName(const std::source_location& location);

// function@file:line
std::string LocationText(const std::source_location& location);

}  // namespace xlaprof::lazy
