#include "base/jax_module.h"

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

std::string_view JittedFunction(std::string_view event) {
  for (std::string_view call : {"PjitFunction(", "PmapFunction("}) {
    if (event.starts_with(call) && event.ends_with(')'))
      return event.substr(call.size(), event.size() - call.size() - 1);
  }
  return "";
}

}  // namespace xlaprof
