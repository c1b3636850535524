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

void EventColumns::Resize(size_t count) {
  size = count;
  ts_ns.resize(count);
  dur_ns.resize(count);
  name.resize(count);
  category.resize(count);
  depth.resize(count);
  flow_in.clear();
  flow_out.clear();
}

void EventColumns::Assign(std::span<const Event> events) {
  Resize(events.size());
  uint64_t any_flow_in = 0, any_flow_out = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    ts_ns[i] = event.ts_ns;
    dur_ns[i] = event.dur_ns;
    name[i] = event.name;
    category[i] = event.category;
    depth[i] = 0;
    any_flow_in |= event.flow_in;
    any_flow_out |= event.flow_out;
  }
  if (any_flow_in != 0) {
    for (const Event& event : events) flow_in.push_back(event.flow_in);
  }
  if (any_flow_out != 0) {
    for (const Event& event : events) flow_out.push_back(event.flow_out);
  }
}

}  // namespace xlaprof
