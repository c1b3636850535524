#include "exporters/output/proto_text.h"

#include "base/escape.h"

namespace xlaprof {

std::string ProtoString(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Character character = CharacterAt(text, at);
    if (character.code < 0) {
      out += "\xef\xbf\xbd";
    } else {
      out += text.substr(at, size_t(character.bytes));
    }
    at += size_t(character.bytes);
  }
  return out;
}

}  // namespace xlaprof
