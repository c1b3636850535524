#include "profiler/import/xspace/program_id.h"

#include <charconv>

namespace xlaprof {

OptInt ProgramIdOf(std::string_view name) {
  const size_t open = name.rfind('(');
  if (open == std::string_view::npos || !name.ends_with(')')) return {};
  uint64_t value = 0;
  const char* last = name.data() + name.size() - 1;
  auto [end, error] = std::from_chars(name.data() + open + 1, last, value);
  return error == std::errc() && end == last ? OptInt(int64_t(value)) : OptInt();
}

}  // namespace xlaprof
