#include "analyzers/report/report_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/escape.h"

namespace xlaprof {
namespace {

int WidthOf(int32_t code) {
  struct Range {
    int32_t from, to;
  };
  static constexpr Range kNone[] = {
      {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
      {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
  static constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0xa4cf},
                                    {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
                                    {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                                    {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  if (code < 0x300) return 1;
  auto in = [&](const Range& range) { return code >= range.from && code <= range.to; };
  if (std::any_of(std::begin(kNone), std::end(kNone), in)) return 0;
  if (std::any_of(std::begin(kWide), std::end(kWide), in)) return 2;
  return 1;
}

// Returns the byte offset after as many leading characters as fit into `width` columns.
size_t FitHead(std::string_view text, int width) {
  size_t at = 0;
  while (at < text.size()) {
    Character c = CharacterAt(text, at);
    width -= WidthOf(c.code);
    if (width < 0) break;
    at += size_t(c.bytes);
  }
  return at;
}

// Returns the byte offset from which the rest fits into `width` columns.
size_t FitTail(std::string_view text, int width) {
  size_t at = text.size();
  while (at > 0) {
    size_t start = at - 1;
    while (start > 0 && (uint8_t(text[start]) & 0xc0) == 0x80) --start;
    width -= WidthOf(CharacterAt(text, start).code);
    if (width < 0) break;
    at = start;
  }
  return at;
}

constexpr std::string_view kEllipsis = "…";

}  // namespace

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (size_t at = 0; at < text.size();) {
    Character c = CharacterAt(text, at);
    width += WidthOf(c.code);
    at += size_t(c.bytes);
  }
  return width;
}

std::string Ellipsize(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width <= 1) return std::string(kEllipsis.substr(0, width == 1 ? kEllipsis.size() : 0));
  int head = (width - 1) / 2;
  return fmt::format("{}{}{}", text.substr(0, FitHead(text, head)), kEllipsis,
                     text.substr(FitTail(text, width - 1 - head)));
}

std::string CutEnd(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width < 1) return "";
  return std::string(text.substr(0, FitHead(text, width - 1))).append(kEllipsis);
}

std::string PrintableStart(std::string_view text, int width) {
  constexpr size_t kMostBytesPerColumn = 16;  // a letter with several combining marks
  const size_t most_bytes = kMostBytesPerColumn * size_t(std::max(0, width));
  if (text.size() <= most_bytes) return CutEnd(Printable(text), width);
  size_t end = most_bytes;
  while (end > 0 && (uint8_t(text[end]) & 0xc0) == 0x80) --end;
  return CutEnd(Printable(text.substr(0, end)).append(kEllipsis), width);
}

std::pair<std::string, std::string> EllipsizePair(std::string_view before, std::string_view after,
                                                  int width) {
  if (DisplayWidth(before) <= width && DisplayWidth(after) <= width)
    return {std::string(before), std::string(after)};
  size_t same =
      size_t(std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first -
             before.begin());
  while (same > 0 && same < before.size() && (uint8_t(before[same]) & 0xc0) == 0x80) --same;
  // A third of the line shows what comes before the difference.
  std::string_view shared = before.substr(0, same);
  size_t skip = FitTail(shared, width / 3);
  if (DisplayWidth(shared) <= width / 3 + 1) skip = 0;
  auto cut = [&](std::string_view text) {
    std::string out = skip > 0 ? std::string(kEllipsis) : "";
    std::string_view rest = text.substr(std::min(skip, text.size()));
    int room = width - DisplayWidth(out);
    if (DisplayWidth(rest) <= room) return out.append(rest);
    return out.append(rest.substr(0, FitHead(rest, room - 1))).append(kEllipsis);
  };
  return {cut(before), cut(after)};
}

std::vector<std::string> Wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  width = std::max(width, 10);
  while (true) {
    size_t newline = text.find('\n');
    std::string_view paragraph = text.substr(0, newline);
    std::string line;
    int used = 0;
    while (!paragraph.empty()) {
      size_t space = paragraph.find(' ');
      std::string word = Ellipsize(paragraph.substr(0, space), width);
      paragraph.remove_prefix(space == std::string_view::npos ? paragraph.size() : space + 1);
      if (word.empty()) continue;
      int columns = DisplayWidth(word);
      if (used > 0 && used + 1 + columns > width) {
        lines.push_back(std::move(line));
        line.clear();
        used = 0;
      }
      if (used > 0) line += ' ', ++used;
      line += word;
      used += columns;
    }
    if (!line.empty()) lines.push_back(std::move(line));
    if (newline == std::string_view::npos) return lines;
    text.remove_prefix(newline + 1);
  }
}

std::string PadRight(std::string_view text, int width) {
  return std::string(text).append(size_t(std::max(0, width - DisplayWidth(text))), ' ');
}

std::string PadLeft(std::string_view text, int width) {
  return std::string(size_t(std::max(0, width - DisplayWidth(text))), ' ').append(text);
}

}  // namespace xlaprof
