// Lets fmt print the words of vocabularies. This is not in vocabulary.h because the recorder's
// installed headers include that file.
#pragma once

#include <fmt/format.h>

#include "base/vocabulary.h"

// fmt prints the word.
template <xlaprof::HasWords E>
struct fmt::formatter<E> : fmt::formatter<std::string_view> {
  auto format(E value, auto& context) const {
    return fmt::formatter<std::string_view>::format(xlaprof::TextOf(value), context);
  }
};
