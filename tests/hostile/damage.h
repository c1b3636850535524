// Damage to bytes, the same in every run: each takes a seed and changes nothing else. Text and
// protobuf are damaged where it hurts: in numbers, names, lengths and brackets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

// A small generator whose numbers no standard library changes.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d) {}
  uint64_t Next();
  // 0 to below - 1; `below` is at least 1.
  size_t Below(size_t below) { return size_t(Next() % below); }

 private:
  uint64_t state_;
};

// A number of a text, to make seeds of.
uint64_t SeedOf(std::string_view text);

// Where to cut `bytes`: near the start, around line ends and in between, `count` places or fewer,
// ascending.
std::vector<size_t> CutsOf(std::string_view bytes, size_t count, uint64_t seed);

// One way to damage bytes.
struct Damage {
  const char* name;
  std::string (*apply)(std::string_view bytes, Random& random);
};
// Ways that keep most of the bytes: flips, numbers, names, lines, brackets, protobuf fields.
const std::vector<Damage>& Damages();

// True when a person could read it: no NUL and hardly a control character in its head.
bool IsText(std::string_view bytes);

}  // namespace xlaprof
