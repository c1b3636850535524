#include "profiler/import/graph/graph_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "base/numbers.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

// Continues a hash as Fnv does, but with 8 bytes at a time, because graphs are large.
uint64_t Mix(uint64_t hash, std::string_view text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    __builtin_memcpy(&word, text.data() + i, 8);
    hash = (hash ^ word) * kFnvPrime;
    hash ^= hash >> 32;
  }
  return (FnvOfBytes(hash, text.substr(i)) ^ 0x1ff) * kFnvPrime;
}

uint64_t Combine(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
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

std::string HashOfLiteral(std::string_view bytes) {
  return fmt::format("#{:016x}", FnvOfBytes(kFnvStart, bytes));
}

uint64_t ContentHash(const GraphText& graph) {
  std::vector<uint64_t> hashes;  // hash of each node with all that it reads
  hashes.reserve(graph.nodes.size());
  uint64_t called = 0;
  std::vector<std::pair<int64_t, uint64_t>> results;
  for (const GraphNodeRow& node : graph.nodes) {
    uint64_t hash = Mix(Mix(kFnvStart, node.op), node.shape);
    hash = Mix(hash, node.attributes ? std::string_view(*node.attributes) : "");
    for (std::string_view rest = node.operands; !rest.empty();) {
      const size_t idx = TakeInteger<size_t>(&rest).value_or(hashes.size());
      if (rest.starts_with('.')) rest.remove_prefix(1);
      const size_t output = TakeInteger<size_t>(&rest).value_or(0);
      rest.remove_prefix(std::min<size_t>(rest.size(), 1));  // the comma
      hash = Combine(Combine(hash, idx < hashes.size() ? hashes[idx] : 0), output);
    }
    hashes.push_back(hash);
    if (node.computation) called = Combine(called, hash);
    if (node.root) results.emplace_back(*node.root, hash);
  }
  std::sort(results.begin(), results.end());
  uint64_t hash = Combine(Mix(kFnvStart, TextOf(graph.printed_as)), called);
  for (const auto& [root, result] : results) hash = Combine(Combine(hash, uint64_t(root)), result);
  if (results.empty()) {
    for (uint64_t node : hashes) hash = Combine(hash, node);
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
    if (depth < 0) depth = 0;  // one bracket too many: continue as if it were not there
  }
  return std::string_view::npos;
}

std::string_view TakePiece(std::string_view* rest, bool quotes) {
  size_t comma = std::min(FindOutside(*rest, 0, ',', quotes), rest->size());
  std::string_view piece = Trim(rest->substr(0, comma));
  rest->remove_prefix(std::min(rest->size(), comma + 1));
  return piece;
}

void AppendParameter(OptInt donated, std::string_view op_type, std::string_view op_name,
                     std::string& attributes) {
  if (donated)
    AppendTo(attributes, *donated < 0 ? "donated=none" : fmt::format("donated={}", *donated));
  // torch_xla writes a type and a path of scopes.
  const bool is_name = op_type.empty() && !op_name.empty() &&
                       op_name.find_first_of("/\"\\") == std::string_view::npos;
  if (is_name) AppendTo(attributes, fmt::format("argument=\"{}\"", op_name));
}

void AppendTo(std::string& list, std::string_view piece, std::string_view separator) {
  if (!list.empty()) list += separator;
  list += piece;
}

}  // namespace xlaprof
