#include "profiler/store/chunk.h"

namespace xlaprof {

std::string_view ArgTypeName(ArgType type) {
  constexpr std::string_view kNames[] = {"int", "uint", "double", "string", "bytes"};
  return kNames[size_t(type)];
}

std::optional<ArgType> ArgTypeFromName(std::string_view name) {
  for (uint8_t i = 0; i <= uint8_t(ArgType::kBytes); ++i) {
    if (name == ArgTypeName(ArgType(i))) return ArgType(i);
  }
  return std::nullopt;
}

uint64_t ArgBits(const ArgValue& value) {
  switch (ArgTypeOf(value)) {
    case ArgType::kInt:
      return uint64_t(std::get<int64_t>(value));
    case ArgType::kUint:
      return std::get<uint64_t>(value);
    case ArgType::kDouble:
      return std::bit_cast<uint64_t>(std::get<double>(value));
    case ArgType::kString:
      return std::get<Text>(value).id;
    case ArgType::kBytes:
      return std::get<Bytes>(value).id;
  }
  return 0;
}

}  // namespace xlaprof
