#include "core/base/jax_module.h"

namespace xlaprof {

std::string_view JaxFunctionOf(std::string_view module) {
  for (std::string_view wrapper : {"jit", "pjit", "pmap", "xmap"}) {
    if (!module.starts_with(wrapper)) continue;
    const std::string_view rest = module.substr(wrapper.size());
    if (rest.starts_with('_')) return rest.substr(1);
    if (rest.starts_with('(') && rest.ends_with(')')) return rest.substr(1, rest.size() - 2);
  }
  return "";
}

}  // namespace xlaprof
