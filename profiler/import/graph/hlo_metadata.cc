// The tables are between the HloModule line and the first computation:
//
//   FileNames
//   1 "/home/me/train.py"
//   (blank)
//   FunctionNames
//   1 "main"
//   (blank)
//   FileLocations
//   1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=4 end_column=9}
//   (blank)
//   StackFrames
//   1 {file_location_id=1 parent_frame_id=1}
//   2 {file_location_id=2 parent_frame_id=2}
//
// XLA prints parents one too high: 1 means none, and frame 2's parent is frame 1. Other tools print
// 0 for none. If a frame would be its own parent, XLA has printed the tables.
#include "profiler/import/graph/hlo_metadata.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/source_place.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"

namespace xlaprof {
namespace {

constexpr int kMaxFrames = 1000;  // more than any stack has; stops at a cycle of parents

// Returns the number that `text` spells, or 0, which means unknown, if it spells none.
int64_t NumberOr0(std::string_view text) { return ParseInteger(text).value_or(0); }

// Takes `"text"`, with its backslashes resolved, off `rest`.
std::string TakeQuoted(std::string_view* rest) {
  std::string out;
  size_t i = 1;
  for (; i < rest->size() && (*rest)[i] != '"'; ++i) {
    if ((*rest)[i] == '\\' && i + 1 < rest->size()) ++i;
    out += (*rest)[i];
  }
  rest->remove_prefix(std::min(rest->size(), i + 1));
  return out;
}

// Calls `take(key, value)` for each `key=value` or `key="value"` of a list in braces. Pairs in
// inner braces are left out.
template <class Take>
void EachPair(std::string_view text, Take take) {
  text = Trim(text);
  if (text.starts_with('{')) text.remove_prefix(1);
  int64_t depth = 0;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '"') {
      TakeQuoted(&text);
      continue;
    }
    if (c == '{') ++depth;
    if (c == '}') --depth;
    const size_t name = text.find_first_of("= {}\",");
    if (name == std::string_view::npos) return;
    if (name == 0 || text[name] != '=') {
      text.remove_prefix(name == 0 ? 1 : name);
      continue;
    }
    std::string_view key = text.substr(0, name);
    text.remove_prefix(name + 1);
    if (text.starts_with('"')) {
      std::string value = TakeQuoted(&text);
      if (depth == 0) take(key, std::move(value));
    } else {
      size_t end = std::min(text.find_first_of(" {}\","), text.size());
      if (depth == 0) take(key, std::string(text.substr(0, end)));
      text.remove_prefix(end);
    }
  }
}

}  // namespace

HloMetadata ParseHloMetadata(std::string_view text) {
  HloMetadata metadata;
  EachPair(text, [&](std::string_view key, std::string value) {
    if (key == "op_type")
      metadata.op_type = std::move(value);
    else if (key == "op_name")
      metadata.op_name = std::move(value);
    else if (key == "source_file")
      metadata.source_file = std::move(value);
    else if (key == "source_line")
      metadata.source_line = NumberOr0(value);
    else if (key == "stack_frame_id")
      metadata.stack_frame_id = NumberOr0(value);
  });
  return metadata;
}

std::string_view ScopeOf(std::string_view op_name) {
  size_t slash = op_name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : op_name.substr(0, slash);
}

std::string FrameworkOp(std::string_view op_type, std::string_view op_name) {
  const size_t slash = op_name.rfind('/');
  std::string op(!op_type.empty()                  ? op_type
                 : slash == std::string_view::npos ? std::string_view()
                                                   : op_name.substr(slash + 1));
  // PyTorch/XLA writes a namespace as aten__, because HLO allows no colons there.
  if (const size_t mark = op.find("__"); mark != std::string::npos && mark > 0)
    op.replace(mark, 2, "::");
  return op.substr(0, op.find('['));  // JAX once wrote parameters: mul[axis=0]
}

bool HloStackFrames::TakeLine(std::string_view line) {
  line = Trim(line);
  if (line == "FileNames") return table_ = Table::kFileNames, true;
  if (line == "FunctionNames") return table_ = Table::kFunctionNames, true;
  if (line == "FileLocations") return table_ = Table::kFileLocations, true;
  if (line == "StackFrames") return table_ = Table::kStackFrames, true;
  if (table_ == Table::kNone) return false;
  size_t space = line.find(' ');
  if (space == std::string_view::npos || line.find_first_not_of("0123456789") != space) {
    table_ = Table::kNone;
    return false;
  }
  const int64_t id = NumberOr0(line.substr(0, space));
  std::string_view value = Trim(line.substr(space));
  if (table_ == Table::kFileNames || table_ == Table::kFunctionNames) {
    if (!value.starts_with('"')) return false;
    (table_ == Table::kFileNames ? files_ : functions_)[id] = TakeQuoted(&value);
  } else if (table_ == Table::kFileLocations) {
    FileLocation& location = locations_[id];
    EachPair(value, [&](std::string_view key, const std::string& number) {
      if (key == "file_name_id") location.file = NumberOr0(number);
      if (key == "function_name_id") location.function = NumberOr0(number);
      if (key == "line") location.line = NumberOr0(number);
    });
  } else {
    Frame& frame = frames_[id];
    EachPair(value, [&](std::string_view key, const std::string& number) {
      if (key == "file_location_id") frame.location = NumberOr0(number);
      if (key == "parent_frame_id") frame.parent = std::max<int64_t>(0, NumberOr0(number));
    });
    parents_shifted_ |= frame.parent == id;
  }
  return true;
}

std::vector<Store::Frame> HloStackFrames::Stack(const HloMetadata& metadata) const {
  std::vector<Store::Frame> stack;
  int64_t id = metadata.stack_frame_id;
  for (int depth = 0; depth < kMaxFrames && id > 0; ++depth) {
    auto frame = frames_.find(id);
    if (frame == frames_.end()) break;
    id = frame->second.parent - (parents_shifted_ ? 1 : 0);
    auto location = locations_.find(frame->second.location);
    if (location == locations_.end()) continue;
    auto file = files_.find(location->second.file);
    if (file == files_.end()) continue;
    auto function = functions_.find(location->second.function);
    stack.push_back({function == functions_.end() ? std::string() : function->second, file->second,
                     location->second.line, OwnerOf(file->second)});
  }
  return stack;
}

std::string HloStackFrames::Location(const HloMetadata& metadata) const {
  const std::string nearest = NearestLine(Stack(metadata));
  if (!nearest.empty() || metadata.source_file.empty()) return nearest;
  return SourcePlace{metadata.source_file, metadata.source_line}.text();
}

}  // namespace xlaprof
