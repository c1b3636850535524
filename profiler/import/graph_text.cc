#include "profiler/import/graph_text.h"

#include <array>

#include "profiler/import/log_line.h"

namespace xlaprof {
namespace {

// FNV-1a over 8 bytes at a time, with a mark at the end so that ab, c is not a, bc.
uint64_t Mix(uint64_t hash, std::string_view text) {
  constexpr uint64_t kPrime = 0x100000001b3;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    __builtin_memcpy(&word, text.data() + i, 8);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  }
  for (; i < text.size(); ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * kPrime;
  return (hash ^ 0x1ff) * kPrime;
}

constexpr std::array<int8_t, 256> kNesting = [] {
  std::array<int8_t, 256> nesting{};
  for (char c : std::string_view("([{")) nesting[static_cast<unsigned char>(c)] = 1;
  for (char c : std::string_view(")]}")) nesting[static_cast<unsigned char>(c)] = -1;
  return nesting;
}();

}  // namespace

void GraphText::Odd(const char* code, int64_t offset, int64_t line) {
  Oddity& oddity = oddities[code];
  if (oddity.count++ == 0) oddity.offset = offset, oddity.line = line;
}

uint64_t ContentHash(const GraphText& graph) {
  uint64_t hash = Mix(0xcbf29ce484222325, graph.printed_as);
  for (const GraphNodeRow& node : graph.nodes) {
    hash = Mix(Mix(Mix(hash, node.op), node.shape), node.operands);
    hash = Mix(hash, node.attributes ? std::string_view(*node.attributes) : "");
    hash = (hash ^ uint64_t(node.root.value_or(-1))) * 0x9e3779b97f4a7c15;
  }
  return hash;
}

size_t FindOutside(std::string_view text, size_t from, char stop, bool quotes) {
  int64_t depth = 0;
  for (size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == stop && depth == 0) return i;
    if (c == '"' && quotes) {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
      continue;
    }
    depth += kNesting[static_cast<unsigned char>(c)];
    if (depth < 0) depth = 0;  // one bracket too many: go on as if it were not there
  }
  return std::string_view::npos;
}

std::string_view TakePiece(std::string_view* rest, bool quotes) {
  size_t comma = std::min(FindOutside(*rest, 0, ',', quotes), rest->size());
  std::string_view piece = Trim(rest->substr(0, comma));
  rest->remove_prefix(std::min(rest->size(), comma + 1));
  return piece;
}

void AppendTo(std::string& list, std::string_view piece, std::string_view separator) {
  if (!list.empty()) list += separator;
  list += piece;
}

}  // namespace xlaprof
