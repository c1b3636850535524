#include "profiler/import/text/python_string.h"

#include "base/numbers.h"

namespace xlaprof {

std::string FromPythonString(std::string_view inner) {
  std::string out;
  out.reserve(inner.size());
  for (size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\' || i + 1 == inner.size()) {
      out += inner[i];
      continue;
    }
    const char escaped = inner[++i];
    if (escaped == 'n') {
      out += '\n';
    } else if (escaped == 't') {
      out += '\t';
    } else if (escaped == 'r') {
      out += '\r';
    } else if (escaped == '\\' || escaped == '\'' || escaped == '"') {
      out += escaped;
    } else if (escaped == 'x' && i + 2 < inner.size() &&
               ParseInteger<int>(inner.substr(i + 1, 2), 16)) {
      out += char(*ParseInteger<int>(inner.substr(i + 1, 2), 16));
      i += 2;
    } else {
      out.append({'\\', escaped});
    }
  }
  return out;
}

std::optional<std::string> LinesOfPythonString(std::string_view line) {
  const size_t open = line.find_first_not_of(" \t([b");
  if (open == std::string_view::npos || (line[open] != '\'' && line[open] != '"')) return {};
  const size_t close = line.find_last_not_of(" \t)],");
  if (close == std::string_view::npos || close <= open || line[close] != line[open]) return {};
  const std::string_view inner = line.substr(open + 1, close - open - 1);
  if (inner.find("\\n") == std::string_view::npos) return {};
  return FromPythonString(inner);
}

}  // namespace xlaprof
