// Writes the text of a capture as JSON strings that read back as they were.
#pragma once

#include <string>
#include <string_view>

namespace xlaprof {

// Appends `text` as a JSON string. Valid UTF-8 stays as it is. Invalid bytes become U+FFFD, one per
// maximal part of a character. Control characters are escaped.
void AppendJsonString(std::string_view text, std::string* out);
std::string JsonString(std::string_view text);

}  // namespace xlaprof
