#include "profiler/import/chrome/chrome_capture.h"

#include <string.h>

#include <algorithm>

#include "profiler/import/chrome/json_scan.h"
#include "profiler/import/chrome/microseconds.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

using json::Scanner;
using json::Value;

constexpr size_t kEndBytes = size_t(64) << 10;
// Lists of devices and of log lines stand between the events and what is looked for here.
constexpr size_t kFarBytes = size_t(1) << 20;
// Times above are since 1970 (2001), below since the start of something.
constexpr int64_t kEpochNs = 1'000'000'000'000'000'000;

// The value of the first member called `key` (with its quotes).
std::optional<Value> ValueOf(std::string_view text, std::string_view key) {
  // Not find(), which stops at each quote.
  const void* found = memmem(text.data(), text.size(), key.data(), key.size());
  if (found == nullptr) return {};
  Scanner in(text.substr(size_t(static_cast<const char*>(found) - text.data()) + key.size()));
  Value value;
  if (!in.Take(':') || !in.Read(&value)) return {};
  return value;
}

void FindTimes(std::string_view text, ChromeCapture* capture) {
  constexpr std::string_view kKey = "\"ts\"";
  for (size_t at = text.find(kKey); at != std::string_view::npos;
       at = text.find(kKey, at + kKey.size())) {
    Scanner in(text.substr(at + kKey.size()));
    Value value;
    Picoseconds time;
    if (!in.Take(':') || !in.Read(&value) || !ParseMicroseconds(value.raw(), &time)) continue;
    if (time.ns == 0) continue;  // on metadata events: says nothing about when the others are
    capture->first_ns = std::min(capture->first_ns, time.ns);
    capture->last_ns = std::max(capture->last_ns, time.ns);
  }
}

}  // namespace

ChromeCapture DescribeChromeCapture(std::string_view bytes) {
  const size_t near = std::min(bytes.size(), kEndBytes), far = std::min(bytes.size(), kFarBytes);
  const std::string_view head = bytes.substr(0, far), tail = bytes.substr(bytes.size() - far);
  auto find = [&](std::string_view key) {
    auto value = ValueOf(head, key);
    return value ? value : ValueOf(tail, key);
  };
  ChromeCapture capture;
  FindTimes(bytes.substr(0, near), &capture);
  FindTimes(bytes.substr(bytes.size() - near), &capture);
  if (auto info = find("\"distributedInfo\"")) {
    if (auto rank = ValueOf(info->raw(), "\"rank\"")) capture.rank = rank->Int();
    if (auto size = ValueOf(info->raw(), "\"world_size\"")) capture.world_size = size->Int();
  }
  if (auto host = find("\"host_name\"")) capture.host = ToUtf8(json::Decode(*host));
  if (auto base = find("\"baseTimeNanoseconds\""); base && base->Int().value_or(0) > 0) {
    capture.base_epoch_ns = base->Int();
  } else if (capture.first_ns >= kEpochNs && capture.first_ns != INT64_MAX) {
    capture.base_epoch_ns = 0;
  }
  return capture;
}

}  // namespace xlaprof
