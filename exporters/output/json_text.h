// Text as JSON: what the text of a capture needs to be read back as it was.
#pragma once

#include <string>
#include <string_view>

namespace xlaprof {

// Appends `text` as a JSON string. UTF-8 stays as it is; bytes that are none become U+FFFD, one for
// each maximal part of a character; control characters are escaped.
void AppendJsonString(std::string_view text, std::string* out);
std::string JsonString(std::string_view text);

}  // namespace xlaprof
