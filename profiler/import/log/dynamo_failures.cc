#include "profiler/import/log/dynamo_failures.h"

#include <cctype>

#include "base/numbers.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

constexpr std::string_view kModule = "convert_frame";
constexpr size_t kMostFailureTextBytes = 256 << 10;  // of a warning with its traceback

// Returns the place of a mark that torch._dynamo printed, or kNone.
size_t MarkIn(std::string_view line) {
  const size_t at = line.find(kWontConvert);
  return at != kNone && line.substr(0, at).find(kModule) != kNone ? at : kNone;
}

// Returns "BackendCompilerFailed" for "torch._dynamo.exc.BackendCompilerFailed: ..."; "" for a line that is
// no exception's.
std::string_view ExceptionOf(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  if (name.empty() || name.size() == line.size()) return "";
  for (char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') return "";
  }
  return name.substr(name.rfind('.') + 1);
}

// Sets the exception, which stands behind the traceback. Its message ends at an empty line.
void SetError(std::string_view text, DynamoFailure& failure) {
  bool is_traceback = false;
  for (Lines lines(text); lines.Next();) {
    const std::string_view line = lines.line();
    if (!failure.error.empty()) {
      if (Trim(line).empty()) break;
      failure.text.append("\n").append(line);
      continue;
    }
    if (line.starts_with("Traceback ")) is_traceback = true;
    if (!is_traceback || line.starts_with(' ')) continue;
    const std::string_view error = ExceptionOf(line);
    if (error.empty()) continue;
    failure.error = error;
    failure.text = Trim(line.substr(line.find(':') + 1));
  }
}

}  // namespace

bool HoldsDynamoFailure(std::string_view text) {
  for (size_t at = text.find(kWontConvert); at != kNone; at = text.find(kWontConvert, at + 1)) {
    const size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1: the first line
    if (text.substr(begin, at - begin).find(kModule) != kNone) return true;
  }
  return false;
}

void DynamoFailureReader::Take(const LogTexts& texts) {
  const std::string_view line = texts.text();
  if (const size_t at = MarkIn(line); at != kNone) {
    End();
    // "step /home/u/train.py line 18"
    const std::string_view place = Trim(line.substr(at + kWontConvert.size()));
    const size_t in = place.find(' '), of_line = place.rfind(" line ");
    if (in == kNone || of_line == kNone || of_line <= in) return;
    const OptInt number = ParseCount(place.substr(of_line + 6));
    if (!number) return;
    const std::string_view prefix = line.substr(0, at);
    all_.push_back({.function = {.file = ToUtf8(place.substr(in + 1, of_line - in - 1)),
                                 .line = *number,
                                 .function = ToUtf8(place.substr(0, in))},
                    .offset = texts.offset(),
                    .number = texts.number(),
                    .prefix = ParseDynamoPrefix(prefix)});
    is_open_ = true, printed_prefix_ = prefix;
    return;
  }
  if (!is_open_) return;
  if (!line.starts_with(Trim(printed_prefix_))) return;  // another message's, or the program's own
  if (text_.size() > kMostFailureTextBytes) return End();
  text_.append(line.substr(std::min(printed_prefix_.size(), line.size()))).append(1, '\n');
}

void DynamoFailureReader::End() {
  if (is_open_) SetError(ToUtf8(text_), all_.back());
  is_open_ = false;
  text_.clear();
}

std::vector<DynamoFailure> DynamoFailureReader::Finish() {
  End();
  return std::move(all_);
}

}  // namespace xlaprof
