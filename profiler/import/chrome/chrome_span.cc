#include "profiler/import/chrome/chrome_span.h"

#include <string.h>

#include <algorithm>

#include "profiler/import/chrome/json_scan.h"
#include "profiler/import/chrome/microseconds.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

using json::Scanner;
using json::Value;

constexpr size_t kNearBytes = size_t(64) << 10;
// Lists of devices and of log lines may come between the events and the members that are read here.
constexpr size_t kFarBytes = size_t(1) << 20;
// Larger times count from 1970 (this one is in 2001), smaller ones from the start of something.
constexpr int64_t kEpochNs = 1'000'000'000'000'000'000;

// A part of the file. A number at the end of a cut part may continue after it.
struct Part {
  std::string_view text;
  bool cut;

  bool IsWhole(const Scanner& behind_value) const { return !cut || !behind_value.at_end(); }
};

// Returns the value of the first member called `key` (with its quotes).
std::optional<Value> ValueOf(Part part, std::string_view key) {
  const std::string_view text = part.text;
  // This does not use find(), which stops at each quote.
  const void* found = memmem(text.data(), text.size(), key.data(), key.size());
  if (found == nullptr) return {};
  Scanner in(text.substr(size_t(static_cast<const char*>(found) - text.data()) + key.size()));
  Value value;
  if (!in.Take(':') || !in.Read(&value) || !part.IsWhole(in)) return {};
  return value;
}

void FindTimes(Part part, TraceSpan* span) {
  const std::string_view text = part.text;
  constexpr std::string_view kKey = "\"ts\"";
  for (size_t at = text.find(kKey); at != std::string_view::npos;
       at = text.find(kKey, at + kKey.size())) {
    Scanner in(text.substr(at + kKey.size()));
    Value value;
    Picoseconds time;
    if (!in.Take(':') || !in.Read(&value) || !part.IsWhole(in) ||
        !ParseMicroseconds(value.raw(), &time))
      continue;
    if (time.ns == 0) continue;  // metadata events have time 0, which says nothing about the others
    span->first_ns = std::min(span->first_ns, time.ns);
    span->last_ns = std::max(span->last_ns, time.ns);
  }
}

}  // namespace

TraceSpan SpanOfChrome(std::string_view bytes) {
  auto head_of = [&](size_t size) { return Part{bytes.substr(0, size), size < bytes.size()}; };
  auto tail_of = [&](size_t size) {
    return Part{bytes.substr(bytes.size() - std::min(size, bytes.size())), false};
  };
  const Part head = head_of(kFarBytes), tail = tail_of(kFarBytes);
  auto find = [&](std::string_view key) {
    auto value = ValueOf(head, key);
    return value ? value : ValueOf(tail, key);
  };
  TraceSpan span;
  FindTimes(head_of(kNearBytes), &span);
  FindTimes(tail_of(kNearBytes), &span);
  if (auto info = find("\"distributedInfo\"")) {
    if (auto rank = ValueOf({info->raw(), false}, "\"rank\"")) span.rank = rank->Int();
    if (auto size = ValueOf({info->raw(), false}, "\"world_size\"")) span.world_size = size->Int();
  }
  if (auto host = find("\"host_name\"")) span.host = ToUtf8(json::Decode(*host));
  if (auto base = find("\"baseTimeNanoseconds\""); base && base->Int().value_or(0) > 0) {
    span.base_epoch_ns = base->Int();
  } else if (span.first_ns >= kEpochNs && span.first_ns != INT64_MAX) {
    span.base_epoch_ns = 0;
  }
  return span;
}

}  // namespace xlaprof
