// Damages bytes in the same way in every run: the result depends only on the seed. Text and
// protobuf are damaged where it matters: in numbers, names, lengths and brackets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

// A small generator whose numbers do not depend on the standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d) {}
  uint64_t Next();
  // Returns a number from 0 to below - 1; `below` is at least 1.
  size_t Below(size_t below) { return size_t(Next() % below); }

 private:
  uint64_t state_;
};

// Returns a number computed from a text, to use as a seed.
uint64_t SeedOf(std::string_view text);

// Returns at most `count` places to cut `bytes`, ascending: near the start, around line ends and in
// between.
std::vector<size_t> CutsOf(std::string_view bytes, size_t count, uint64_t seed);

// One way to damage bytes.
struct Damage {
  const char* name;
  std::string (*apply)(std::string_view bytes, Random& random);
};
// Returns ways of damage that keep most of the bytes: flips, numbers, names, lines, brackets,
// protobuf fields.
const std::vector<Damage>& Damages();

// Returns true if a person could read the bytes: the head has no NUL and hardly any control
// characters.
bool IsText(std::string_view bytes);

}  // namespace xlaprof
