// The one vocabulary of the names of secrets. Flags, variables, fields of JSON and YAML, headers,
// parameters of URLs and arguments of scopes are all judged by it.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlaprof {

// Says how likely what stands beside a name is a secret, from the least to the most likely.
enum class Secrecy : uint8_t {
  kNone,
  kIfRandom,  // *_key: a secret if the value looks random, and the name is that of a flag or variable
  kLikely,    // token: also a piece of text, in a program that reads language
  kCertain,   // api_key: any value, but for numbers
  kPassword,  // password: any value
};

// Judges a name by its last words. Words end at _ - . and where camelCase goes on: `hf_token`,
// `--wandb-key`, `AccountKey` and `dbPassword` are names of secrets; `tokenizer`, `max_tokens`,
// `seq_key`, `pad_token` and `token_dropout` are not.
Secrecy SecrecyOf(std::string_view name);

// Returns whether `value` is a secret if it stands beside `name`. `is_flag`: the name is that of a
// flag or of a variable of the environment, so that the value is no text about language.
bool IsSecret(std::string_view name, std::string_view value, bool is_flag);

// Returns whether a value is no secret whatever its name is: nothing, true, None, $PASSWORD,
// <token>.
bool IsPlaceholder(std::string_view value);
bool IsNumber(std::string_view value);
// Returns whether a value looks as if it were made up: of letters and digits, or of capitals here
// and there.
bool LooksRandom(std::string_view value, size_t least);

bool EndsIgnoringCase(std::string_view text, std::string_view end);
inline bool EqualsIgnoringCase(std::string_view text, std::string_view other) {
  return text.size() == other.size() && EndsIgnoringCase(text, other);
}

}  // namespace xlaprof
