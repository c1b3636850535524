#include "profiler/import/text/line_prefixes.h"

#include <algorithm>

#include "base/numbers.h"

namespace xlaprof {
namespace {

constexpr size_t kMostPrefixes = 64;
// A program may itself print the first letters of a prefix.
constexpr size_t kLeastBytes = 6;
constexpr size_t kMostBytes = 500;

std::string WithoutNumbers(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsDigit(text[i])) {
      out += text[i];
    } else if (out.empty() || i == 0 || !IsDigit(text[i - 1])) {
      out += '0';
    }
  }
  return out;
}

}  // namespace

void LinePrefixes::Note(std::string_view prefix) {
  if (prefix.size() < kLeastBytes || prefix.size() > kMostBytes || noted_.size() >= kMostPrefixes)
    return;
  std::string noted = WithoutNumbers(prefix);
  // A program seldom prints a time of the day before a message on the same line.
  if (noted.find("0:0:0") == noted.npos || std::ranges::find(noted_, noted) != noted_.end()) return;
  noted_.push_back(std::move(noted));
}

std::optional<std::string_view> LinePrefixes::RestAfter(std::string_view line) const {
  if (line.size() < kLeastBytes) return {};
  for (const std::string& noted : noted_) {
    size_t at = 0;  // in `line`
    bool met_number = false, fits = true;
    for (const char expected : noted) {
      if (at == line.size()) break;
      if (expected != '0') {
        fits = line[at++] == expected;
      } else {
        fits = met_number = IsDigit(line[at]);
        while (at < line.size() && IsDigit(line[at])) ++at;
      }
      if (!fits) break;
    }
    if (fits && met_number) return line.substr(at);
  }
  return {};
}

}  // namespace xlaprof
