#include "core/ir/hash.h"

#include <fmt/format.h>

namespace xlaprof::lazy {

std::string Hash::ToText() const { return fmt::format("{:x}{:016x}", high, low); }

}  // namespace xlaprof::lazy
