#include "profiler/import/text/log_line.h"

#include <absl/time/time.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/numbers.h"
#include "profiler/import/chrome/json_scan.h"
#include "profiler/import/text/python_string.h"

namespace xlaprof {

OptInt LogTime(std::string_view text) {
  constexpr size_t kSeparator = 10, kSeconds = 17;
  if (text.size() < kSeconds) return std::nullopt;
  const std::string_view time = text.substr(0, text.find_first_not_of("0123456789.", kSeconds));
  const char* form = time[kSeparator] == 'T' ? "%E4Y-%m-%dT%H:%M:%E*S" : "%E4Y-%m-%d %H:%M:%E*S";
  absl::Time read;
  if (!absl::ParseTime(form, {time.data(), time.size()}, &read, nullptr)) return std::nullopt;
  static const absl::Time end = absl::FromCivil(absl::CivilYear(2201), absl::UTCTimeZone());
  if (read < absl::UnixEpoch() || read >= end) return std::nullopt;
  return absl::ToUnixNanos(read);
}

namespace {

// Finds the message of a line that is a JSON object, or a member of an object that has line breaks.
bool JsonMessage(std::string_view line, std::string& out) {
  const size_t first = line.find_first_not_of(" \t");
  const bool member = first != std::string_view::npos && line[first] == '"';
  size_t open = member ? first : line.find('{');
  // Some collectors put a time and a stream before the object.
  if (open == std::string_view::npos || open > 100) return false;
  const std::string_view trimmed = Trim(line);
  if (member ? !trimmed.ends_with('"') && !trimmed.ends_with("\",") : !trimmed.ends_with('}'))
    return false;
  for (std::string_view key : {"\"log\"", "\"message\"", "\"msg\"", "\"textPayload\""}) {
    size_t at = line.find(key, open);
    if (at == std::string_view::npos || (member && at != open)) continue;
    size_t colon = line.find_first_not_of(' ', at + key.size());
    if (colon == std::string_view::npos || line[colon] != ':') continue;
    json::Value message;
    if (!json::Scanner(line.substr(colon + 1)).Read(&message) ||
        message.kind() != json::Kind::kText)
      continue;
    out = json::Decode(message);
    return true;
  }
  return false;
}

// Cuts at \n and \r, and adds the parts to `out`, last first. A text that ends its last line, as
// Docker's records do, has no part after that line.
void Split(std::string_view text, std::vector<std::string_view>& out) {
  out.clear();
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find_first_of("\n\r", begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (out.size() > 1 && out.back().empty()) out.pop_back();
  std::reverse(out.begin(), out.end());
}

// Returns the number after `word`, with at most one of " =:_-" between: rank0, rank 0, pid=12.
OptInt NumberAfter(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    bool starts_word = at == 0 || !(std::isalnum(static_cast<unsigned char>(text[at - 1])));
    size_t begin = at + word.size();
    if (begin < text.size() &&
        std::string_view(" =:_-").find(text[begin]) != std::string_view::npos)
      ++begin;
    size_t end = begin;
    while (end < text.size() && IsDigit(text[end])) ++end;
    if (starts_word && end > begin) return ParseCount(text.substr(begin, end - begin));
  }
  return std::nullopt;
}

bool IsAddress(std::string_view token) {
  return std::count(token.begin(), token.end(), '.') == 3 && IsDigit(token.front()) &&
         IsDigit(token.back()) &&
         std::all_of(token.begin(), token.end(), [](char c) { return IsDigit(c) || c == '.'; });
}

}  // namespace

std::string_view Trim(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string WithoutEscapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b' || i + 1 == text.size() || text[i + 1] != '[') {
      out += text[i];
      continue;
    }
    size_t end = i + 2;  // parameters are between space and ?, the last is a letter or a sign
    while (end < text.size() && text[end] >= ' ' && text[end] < '@') ++end;
    if (end < text.size() && text[end] >= '@' && text[end] <= '~') {
      i = end;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool LogTexts::Next() {
  if (parts_.empty()) {
    if (!lines_.Next()) return false;
    text_ = lines_.line();
    decoded_ = JsonMessage(text_, message_);
    if (!decoded_) {
      if (std::optional<std::string> lines = LinesOfPythonString(text_))
        message_ = *std::move(lines), decoded_ = true;
    }
    const auto text = [&] { return decoded_ ? std::string_view(message_) : text_; };
    if ((decoded_ || escapes_) && text().find('\x1b') != std::string_view::npos) {
      message_ = WithoutEscapes(text());
      decoded_ = true;
    }
    if (markup_ && text().find_first_of("<&") != std::string_view::npos) {
      std::string plain = WithoutMarkup(text());
      if (plain != text()) message_ = std::move(plain), decoded_ = true;
    }
    if (decoded_) {
      Split(message_, parts_);
    } else if (text_.find('\r') != std::string_view::npos) {
      Split(text_, parts_);
    } else {
      return true;
    }
  }
  text_ = parts_.back();
  parts_.pop_back();
  return true;
}

bool IsTime(std::string_view token) {
  auto marks = std::count_if(token.begin(), token.end(),
                             [](char c) { return c == ':' || c == '-' || c == '/'; });
  return marks >= 2 && std::all_of(token.begin(), token.end(), [](char c) {
           return IsDigit(c) || std::string_view(":-/.,TZ+[]() ").find(c) != std::string_view::npos;
         });
}

LogOrigin OriginOfPrefix(std::string_view prefix) {
  constexpr size_t kLongestPrefix = 200;  // more is a line of its own that lost its end
  LogOrigin origin;
  if (prefix.empty() || prefix.size() > kLongestPrefix) return origin;
  origin.rank = NumberAfter(prefix, "rank");
  origin.pid = NumberAfter(prefix, "pid");
  if (OptInt worker = NumberAfter(prefix, "worker"))
    origin.host = fmt::format("worker {}", *worker);
  // "[0]" counts as a rank only if the prefix has nothing else but times and an address, because
  // "[3]" may be anything.
  OptInt bracketed;
  bool only = true;
  for (size_t begin = 0; begin < prefix.size();) {
    size_t end = std::min(prefix.find_first_of(" \t", begin), prefix.size());
    std::string_view token = prefix.substr(begin, end - begin);
    begin = end + 1;
    if (token.ends_with(':')) token.remove_suffix(1);
    if (token.empty() || IsTime(token)) continue;
    if (IsAddress(token)) {
      origin.host = token;
    } else if (token.starts_with("[pod/") && token.ends_with(']')) {  // kubectl logs --prefix
      origin.host = token.substr(1, token.size() - 2);
    } else if (OptInt number; token.starts_with('[') && token.ends_with(']') &&
                              (number = ParseCount(token.substr(1, token.size() - 2)))) {
      bracketed = number;
    } else {
      only = false;
    }
  }
  if (bracketed && only && !origin.rank) origin.rank = bracketed;
  return origin;
}

}  // namespace xlaprof
