#include "examples/gpt/text.h"

#include <algorithm>

namespace xlaprof::examples {

std::string_view Text() {
  return "a lazy tensor does not compute. it records what it would compute, and waits. when a "
         "step ends, or when someone reads a value, the records become a graph, the graph becomes "
         "a program, and the program runs on the device. the first run is slow, because the "
         "compiler has to do its work. the second run is fast, because the program is there. but "
         "if the graph is not the same, the compiler works again. a new shape is a new graph. a "
         "new constant in the graph is a new graph. a loop that runs once more is a new graph. so "
         "keep the shapes, keep the constants in tensors, and keep the loops. a read makes the "
         "host wait for the device, and then the device waits for the host. so read rarely, and "
         "read after the step. the host should always be ahead, and the device should always have "
         "work. if the device waits, ask what the host does. if the host waits, ask what the "
         "device does. if nobody waits, the program is as fast as it can be.\n";
}

Vocabulary::Vocabulary() : characters_(Text()) {
  std::ranges::sort(characters_);
  const auto rest = std::ranges::unique(characters_);
  characters_.erase(rest.begin(), rest.end());
}

std::vector<int64_t> Vocabulary::Numbers(std::string_view text) const {
  std::vector<int64_t> numbers;
  for (const char character : text) numbers.push_back(int64_t(characters_.find(character)));
  return numbers;
}

}  // namespace xlaprof::examples
