// Appends text to a file that an environment variable names.
#pragma once

#include <string>
#include <string_view>

namespace xlaprof::lazy {

// Appends `text` in one piece, from any thread. Returns false if the file cannot be written. The
// first such failure is logged as an error, with the variable.
bool AppendToFile(const char* variable, const std::string& path, std::string_view text);

}  // namespace xlaprof::lazy
