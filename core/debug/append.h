// Text at the end of a file that an environment variable names.
#pragma once

#include <string>
#include <string_view>

namespace xlaprof::lazy {

// In one piece, from any thread. False where the file cannot be written, which is told on stderr,
// with the variable, for the first time.
bool AppendToFile(const char* variable, const std::string& path, std::string_view text);

}  // namespace xlaprof::lazy
