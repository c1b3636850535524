#include "profiler/import/torch/trace_records.h"

#include <algorithm>

#include "core/base/numbers.h"

namespace xlaprof {
namespace {

// A record is one line, and the payload's lines follow it, each after a tab:
//   V1124 23:20:15.918000 29823 torch/_dynamo/utils.py:1952] {"dynamo_start": {"stack": [...]}, "frame_id": 0, ...}
//   	{
//   	"name": "dynamo",
// The first key of the object is the record's type.
constexpr std::string_view kBeforeHeader = "] {\"";
constexpr size_t kLongestPrefix = 1000;  // a file's path is part of the prefix

// Reads the line of a record. Returns false if it is none.
bool ParseRecord(std::string_view line, TraceRecord* record) {
  constexpr size_t kPid = 22;  // after "V1124 23:20:15.918000 "
  if (line.size() < kPid || line[0] < 'A' || line[0] > 'Z' || !IsDigits(line.substr(1, 4)) ||
      line[5] != ' ' || line[8] != ':' || line[11] != ':')
    return false;
  const size_t header = line.substr(0, kLongestPrefix).find(kBeforeHeader);
  if (header == line.npos || line.back() != '}') return false;
  const std::string_view rest = line.substr(kPid);
  record->pid = ParseCount(rest.substr(0, rest.find(' '))).value_or(0);
  record->header = line.substr(header + 2);
  const std::string_view type = line.substr(header + kBeforeHeader.size());
  record->type = type.substr(0, type.find('"'));
  return true;
}

}  // namespace

std::string TextOfPayload(std::string_view payload) {
  std::string text;
  text.reserve(payload.size());
  while (!payload.empty()) {
    if (payload.front() == '\t') payload.remove_prefix(1);
    const size_t end = std::min(payload.find('\n'), payload.size() - 1) + 1;
    text += payload.substr(0, end);
    payload.remove_prefix(end);
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string_view TraceRecords::TakeLine() {
  const size_t end = std::min(log_.find('\n', at_), log_.size());
  std::string_view line = log_.substr(at_, end - at_);
  at_ = std::min(end + 1, log_.size());
  ++lines_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool TraceRecords::Next(TraceRecord* record) {
  while (at_ < log_.size()) {
    record->offset = int64_t(at_);
    const std::string_view line = TakeLine();
    record->line = lines_;
    if (!ParseRecord(line, record)) {
      if (!line.empty() && odd_lines_++ == 0) first_odd_line_ = lines_;
      continue;
    }
    const size_t begin = at_;
    while (at_ < log_.size() && log_[at_] == '\t') TakeLine();
    record->payload = log_.substr(begin, at_ - begin);
    return true;
  }
  return false;
}

bool IsTorchTrace(std::string_view head) {
  TraceRecord record;
  const std::string_view line = head.substr(0, head.find('\n'));
  return ParseRecord(line, &record) &&
         (record.type == "str" || record.header.find("\"has_payload\"") != head.npos ||
          record.header.find("\"frame_id\"") != head.npos);
}

}  // namespace xlaprof
