#include "exporters/timeline/merged_arguments.h"

#include <algorithm>

namespace xlaprof {

std::vector<Argument> MergedArguments(const ChunkArguments& arguments, size_t index) {
  const std::span<const Argument> own = arguments.Own(index);
  std::vector<Argument> all(own.begin(), own.end());
  for (const Argument& argument : arguments.OfName(arguments.NameIndex(index))) {
    if (std::none_of(own.begin(), own.end(),
                     [&](const Argument& each) { return each.key == argument.key; }))
      all.push_back(argument);
  }
  return all;
}

}  // namespace xlaprof
