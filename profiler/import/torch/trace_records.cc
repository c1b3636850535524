#include "profiler/import/torch/trace_records.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/utf8.h"

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

// Takes the string at the front of `*text`, with its quotes, and returns what is between them.
// Returns nothing if there is none.
std::optional<std::string_view> TakeString(std::string_view* text) {
  if (!text->starts_with('"')) return {};
  for (size_t i = 1; i < text->size(); ++i) {
    if ((*text)[i] == '\\') {
      ++i;
    } else if ((*text)[i] == '"') {
      const std::string_view string = text->substr(1, i - 1);
      text->remove_prefix(i + 1);
      return string;
    }
  }
  return {};
}

// Takes a value, up to the comma or the brace that follows it. Returns false if none follows.
bool TakeValue(std::string_view* text) {
  int depth = 0;
  while (!text->empty()) {
    const char c = text->front();
    if (c == '"') {
      if (!TakeString(text)) return false;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}')) return true;
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    text->remove_prefix(1);
  }
  return false;
}

// Reads a record of tlparse's raw.jsonl, which is one object, whose keys are sorted:
//   {"attempt":0,"dynamo_start":{"stack":[...]},"frame_compile_id":0,"frame_id":0,"lineno":309,"pathname":"...","thread":5881,"timestamp":"..."}
// The type is the one key that not all records have. Payloads are in files of their own, which are
// not read. The first line has the names of all files: {"string_table":[...]}.
bool ParseJsonRecord(std::string_view line, TraceRecord* record) {
  constexpr std::string_view kOfAll[] = {"attempt",
                                         "compiled_autograd_id",
                                         "frame_compile_id",
                                         "frame_id",
                                         "has_payload",
                                         "lineno",
                                         "pathname",
                                         "payload_filename",
                                         "rank",
                                         "stack",
                                         "thread",
                                         "timestamp"};
  record->header = line;
  record->type = {};
  if (!line.starts_with('{') || !line.ends_with('}')) return false;
  line.remove_prefix(1);
  while (const auto key = TakeString(&line)) {
    if (!line.starts_with(':')) return false;
    line.remove_prefix(1);
    const std::string_view value = line;
    if (!TakeValue(&line)) return false;
    if (*key == "thread")
      record->pid = ParseCount(value.substr(0, value.size() - line.size())).value_or(0);
    if (record->type.empty() && std::ranges::find(kOfAll, *key) == std::end(kOfAll))
      record->type = *key;
    if (!line.starts_with(',')) break;
    line.remove_prefix(1);
  }
  return line == "}" && !record->type.empty();
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
    const bool is_record = are_objects_ ? ParseJsonRecord(line, record) : ParseRecord(line, record);
    if (!is_record) {
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
  if (line.starts_with("{\"string_table\":")) return true;
  return ParseRecord(line, &record) &&
         (record.type == "str" || record.header.find("\"has_payload\"") != head.npos ||
          record.header.find("\"frame_id\"") != head.npos);
}

// The payload is one line of JSON, of up to 60 KB, because it lists what the key was made of:
//   {"cache_status_detailed": "hit", "time_saved_ms": 22347.0, "key": "arvuz...", "cache_state": "hit", "components": [...]}
// Only what stands before the components is read.
namespace {

struct CacheName {
  std::string_view prefix;
  ProgramCache cache;
};
constexpr CacheName kCaches[] = {{"aotautograd_cache_", ProgramCache::kAotAutograd},
                                 {"fx_graph_cache_", ProgramCache::kInductor}};

// Returns what follows `"name": ` up to the end of the value: a number, or a text without its quotes.
std::string_view ValueOf(std::string_view object, std::string_view name) {
  const std::string label = fmt::format("\"{}\": ", name);
  const size_t at = object.find(label);
  if (at == kNone) return "";
  std::string_view value = object.substr(at + label.size());
  if (!value.starts_with('"')) return value.substr(0, value.find_first_of(",}"));
  value.remove_prefix(1);
  return value.substr(0, value.find('"'));
}

}  // namespace

std::optional<CacheAnswer> ParseCacheAnswer(std::string_view artifact, std::string_view payload) {
  for (const auto& [prefix, cache] : kCaches) {
    if (!artifact.starts_with(prefix)) continue;
    CacheAnswer answer{.cache = cache,
                       .result = ParseWord<CacheResult>(artifact.substr(prefix.size()))};
    if (answer.result == CacheResult::kUnknown) return {};
    const std::string_view object = payload.substr(0, payload.find("\"components\""));
    answer.key = ToUtf8(ValueOf(object, "key"));
    if (answer.result == CacheResult::kHit) {
      const auto saved_ms = ParseReal(ValueOf(object, "time_saved_ms"));
      if (saved_ms && *saved_ms >= 0 && *saved_ms < 0x1p40)
        answer.saved_ns = std::llround(*saved_ms * 1e6);
    }
    return answer;
  }
  return {};
}

}  // namespace xlaprof
