// Closed vocabularies: enums whose values have words, which files hold and reports print.
//
// Vocabulary<E>::kWords lists the words of enum E in the order of its values, from 0 on. Value 0 is
// E::kUnknown: a word that is not in the list.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace xlaprof {

template <class E>
struct Vocabulary;

template <class E>
concept HasWords = requires { Vocabulary<E>::kWords[0]; };

// Returns the word of `value`.
template <HasWords E>
constexpr std::string_view TextOf(E value) {
  return Vocabulary<E>::kWords[size_t(value)];
}

// Returns nothing for kUnknown: a nullable column holds NULL then.
template <HasWords E>
constexpr std::optional<E> IfKnown(E value) {
  return value == E(0) ? std::nullopt : std::optional(value);
}

// Returns the value whose word is `word`, or kUnknown.
template <HasWords E>
constexpr E ParseWord(std::string_view word) {
  for (size_t i = 0; i < std::size(Vocabulary<E>::kWords); ++i) {
    if (Vocabulary<E>::kWords[i] == word) return E(i);
  }
  return E(0);
}

}  // namespace xlaprof
