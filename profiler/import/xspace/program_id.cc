#include "profiler/import/xspace/program_id.h"

#include "base/numbers.h"

namespace xlaprof {

OptInt ProgramIdOf(std::string_view name) {
  const size_t open = name.rfind('(');
  if (open == std::string_view::npos || !name.ends_with(')')) return {};
  const auto value = ParseInteger<uint64_t>(name.substr(open + 1, name.size() - open - 2));
  return value ? OptInt(int64_t(*value)) : OptInt();
}

}  // namespace xlaprof
