// The text that the GPT learns, and its characters as numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof::examples {

// Returns a text of about 1,500 characters.
std::string_view Text();

// The characters of Text(), each with a number from 0 up.
class Vocabulary {
 public:
  Vocabulary();
  int64_t size() const { return int64_t(characters_.size()); }
  // Returns the numbers of a text, all of whose characters occur in Text().
  std::vector<int64_t> Numbers(std::string_view text) const;
  char Character(int64_t number) const { return characters_[size_t(number)]; }

 private:
  std::string characters_;  // ascending
};

}  // namespace xlaprof::examples
