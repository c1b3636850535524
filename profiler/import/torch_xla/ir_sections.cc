// torch_xla appends a section at each sync (whether the graph is cached or not):
//
//   [ScheduleSyncTensorsGraph]                 or [dynamo]
//   Graph Name: my_fn                          only if it has one
//   TensorsGraphInfo:
//     sync (/x/torch_xla/torch_xla.py:87)      all frames, innermost first
//     <module> (/x/train.py:30)
//   (blank)
//   Root Hashes: (1436329e82afaefef67b56ba9c737f05, ...)       older: Hashes: (...)
//   (blank)
//   ## BEGIN_GRAPH
//   ...                                        in any of four forms; no marker says which
//   (blank)
//   Graph Hash: 55ddb8de9d2ea82aadde8bd1f0f9c4b6               not in older versions
//   (blank)
//   ## END_GRAPH
//
// Header and graph are written when the sync begins, the hash and END_GRAPH when the graph has been
// lowered. A crash in between tears the section, and the next run's first section follows its
// graph. Sharded programs append a block #OUTPUT_SHARDING_BEGIN ... #OUTPUT_SHARDING_END.
#include "profiler/import/torch_xla/ir_sections.h"

#include <algorithm>
#include <cstring>

#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

constexpr std::string_view kHash = "Graph Hash:";
// The hash is at most this far before END_GRAPH, because only one line and some blank ones are
// between.
constexpr size_t kTailBytes = 512;

size_t Find(std::string_view text, std::string_view what, size_t from) {
  if (from >= text.size()) return kNone;
  const void* found = memmem(text.data() + from, text.size() - from, what.data(), what.size());
  return found == nullptr ? kNone : size_t(static_cast<const char*>(found) - text.data());
}

// Returns `word` of a line that ends with `[word]`, and sets `*begin` to the bracket's place in the
// line.
std::string_view TagAtEnd(std::string_view line, size_t* begin) {
  if (!line.ends_with(']')) return "";
  *begin = line.rfind('[');
  if (*begin == kNone) return "";
  std::string_view word = line.substr(*begin + 1, line.size() - *begin - 2);
  for (char c : word) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && c != '_' && c != ':' && (c < '0' || c > '9')) return "";
  }
  return word;
}

// Returns where the next section's header begins in the graph of a torn section, or the size of
// `text` if there is none.
size_t NextHeader(std::string_view text) {
  for (size_t info = 0; (info = Find(text, "TensorsGraphInfo:", info)) != kNone; ++info) {
    // The tag is one or two lines above, after the rest of the torn line.
    size_t end = info;
    for (int up = 0; up < 2 && end > 0 && text[end - 1] == '\n'; ++up) {
      size_t newline = end < 2 ? kNone : text.rfind('\n', end - 2),
             begin = newline == kNone ? 0 : newline + 1;
      std::string_view line = text.substr(begin, end - 1 - begin);
      if (line.ends_with('\r')) line.remove_suffix(1);
      size_t bracket = 0;
      if (!TagAtEnd(line, &bracket).empty()) return begin + bracket;
      end = begin;
    }
  }
  return text.size();
}

bool IsHash(std::string_view text) {
  if (text.empty() || text.size() > 32) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

}  // namespace

int64_t CountNewlines(std::string_view text) {
  // This takes eight bytes at a time: a zero byte of `word` becomes 0x80 in `found`, without
  // carries into its neighbours.
  constexpr uint64_t kNewlines = 0x0a0a0a0a0a0a0a0a, kLow = 0x7f7f7f7f7f7f7f7f,
                     kOnes = 0x0101010101010101;
  int64_t count = 0;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    word ^= kNewlines;
    const uint64_t found = ~(((word & kLow) + kLow) | word | kLow);
    count += int64_t((found >> 7) * kOnes >> 56);  // the product's highest byte is the sum of all
  }
  return count + std::count(text.begin() + int64_t(i), text.end(), '\n');
}

int64_t CountHashes(std::string_view list) {
  return Trim(list).empty() ? 0 : 1 + std::count(list.begin(), list.end(), ',');
}

void IrSections::Odd(const char* code, const Position& place) {
  GraphText::Oddity& oddity = oddities_[code];
  if (oddity.count++ == 0) oddity.offset = int64_t(place.at), oddity.line = place.line;
}

std::string_view IrSections::TakeLine() {
  size_t end = std::min(text_.find('\n', next_.at), text_.size());
  std::string_view line = text_.substr(next_.at, end - next_.at);
  next_.at = std::min(end + 1, text_.size());
  ++next_.line;
  return Trim(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
}

bool IrSections::Next(IrSection* section) {
  *section = IrSection{};
  bool open = false;
  while (next_.at < text_.size()) {
    Position place = next_;
    std::string_view line = TakeLine();
    if (line.empty()) continue;
    size_t bracket = 0;
    std::string_view tag = line.front() == '[' ? TagAtEnd(line, &bracket) : "";
    if (!tag.empty() && bracket == 0) {
      if (open) {  // a header without a graph
        next_ = place;
        section->torn = true;
        return true;
      }
      section->tag = tag;
    } else if (line.starts_with("Graph Name:")) {
      section->name = Trim(line.substr(11));
    } else if (line.starts_with("TensorsGraphInfo:")) {
      TakeFrames(section);
    } else if (line.starts_with("Root Hashes:") || line.starts_with("Hashes:")) {
      line = Trim(line.substr(line.find(':') + 1));
      if (line.starts_with('(')) line.remove_prefix(1);
      if (line.ends_with(')')) line.remove_suffix(1);
      section->root_hashes = line;
    } else if (line == "## BEGIN_GRAPH") {
      if (!open) section->offset = int64_t(place.at), section->line = place.line;
      TakeGraph(section);
      return true;
    } else if (line == "#OUTPUT_SHARDING_BEGIN") {
      SkipSharding();
      continue;
    } else {
      Odd("unknown_line", place);
      continue;
    }
    if (!open) section->offset = int64_t(place.at), section->line = place.line;
    open = true;
  }
  section->torn = open;
  return open;
}

void IrSections::SkipSharding() {
  while (next_.at < text_.size()) {
    Position place = next_;
    std::string_view line = TakeLine();
    if (line == "#OUTPUT_SHARDING_END") return;
    size_t bracket = 0;
    if (line.starts_with("## ") || (line.starts_with('[') && !TagAtEnd(line, &bracket).empty())) {
      next_ = place;
      return;
    }
  }
}

void IrSections::TakeFrames(IrSection* section) {
  Position begin = next_, end = next_;
  while (next_.at < text_.size()) {
    end = next_;
    std::string_view line = TakeLine();
    if (line.empty() || line.front() == '[' || line.starts_with("## ")) {
      if (!line.empty()) next_ = end;
      break;
    }
    end = next_;
  }
  section->frames = text_.substr(begin.at, end.at - begin.at);
  section->frames_offset = int64_t(begin.at), section->frames_line = begin.line;
}

// Cached graphs are most of a long file. One comparison with the last graph of the same results
// finds where such a graph ends, with all that is known of it.
IrSections::Block IrSections::TakeBlock(std::string_view root_hashes, bool* whole) {
  std::string_view rest = text_.substr(next_.at);
  Block& last = last_[root_hashes];
  if (!last.text.empty() && rest.starts_with(last.text) &&
      rest.substr(last.text.size()).starts_with("## END_GRAPH")) {
    *whole = true;
    return last;
  }
  // Graphs have no line that begins like this. The newline before the block counts, because the
  // block may be empty.
  size_t mark = text_.find("\n## ", next_.at - 1);
  while (mark != kNone && !text_.substr(mark + 4).starts_with("BEGIN_GRAPH") &&
         !text_.substr(mark + 4).starts_with("END_GRAPH")) {
    mark = text_.find("\n## ", mark + 1);
  }
  *whole = mark != kNone && text_[mark + 4] == 'E';
  Block block{.text = mark == kNone ? rest : rest.substr(0, mark + 1 - next_.at)};
  if (!*whole) block.text = block.text.substr(0, NextHeader(block.text));
  block.newlines = CountNewlines(block.text);
  if (*whole) last = block;
  return block;
}

void IrSections::TakeGraph(IrSection* section) {
  section->graph_offset = int64_t(next_.at), section->graph_line = next_.line;
  bool whole = false;
  const Block block = TakeBlock(section->root_hashes, &whole);
  std::string_view graph = block.text;
  next_.at += graph.size();
  next_.line += block.newlines;
  if (!whole) {
    section->torn = true;
    section->graph = graph;
    return;
  }
  const Position end = next_;
  TakeLine();
  size_t tail = graph.size() > kTailBytes ? graph.size() - kTailBytes : 0;
  size_t hash = graph.substr(tail).rfind(kHash);
  if (hash != kNone) {
    std::string_view value = graph.substr(tail + hash + kHash.size());
    value = Trim(value.substr(0, value.find_first_of("\r\n")));
    graph = graph.substr(0, tail + hash);
    if (IsHash(value)) {
      section->hash = value;
    } else {
      Odd("unreadable_hash", end);
    }
  }
  section->graph = graph;
}

}  // namespace xlaprof
