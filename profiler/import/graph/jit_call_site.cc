#include "profiler/import/graph/jit_call_site.h"

#include <cctype>

#include "base/jax_module.h"
#include "profiler/import/text/python_frames.h"

namespace xlaprof {
namespace {

std::string Identifier(std::string_view name) {
  const size_t dot = name.rfind('.');
  std::string out(dot == std::string_view::npos ? name : name.substr(dot + 1));
  for (char& c : out) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return out;
}

}  // namespace

Store::Frame CallSite(std::span<const Store::Frame> stack, std::string_view module) {
  const size_t prefix = module.find('_');
  if (prefix == std::string_view::npos) return {};
  const std::string wanted = Identifier(module.substr(prefix + 1));
  Store::Frame found;
  bool inside = false;
  for (const Store::Frame& frame : stack) {
    if (frame.function.empty()) continue;
    if (Identifier(frame.function) == wanted) {
      inside = true;
    } else if (inside && IsUserFile(frame.file)) {
      found = frame;
      found.owner = CodeOwner::kUser;
      inside = false;
    }
  }
  return found;
}

std::string_view FunctionOfModule(std::string_view module) {
  const std::string_view function = JaxFunctionOf(module);
  return function.empty() ? module : function;
}

}  // namespace xlaprof
