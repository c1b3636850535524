#include "profiler/launch/secrets.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace xlaprof {
namespace {

constexpr size_t kShortestSecret = 8;  // shorter values also occur where they are no secrets

bool IsTokenChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         c == '-' || c == '.' || c == '/' || c == '+' || c == '=';
}
bool IsNameChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         c == '-';
}
char Lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

// The beginnings of tokens, and the fewest characters that such a token has.
struct TokenForm {
  std::string_view prefix;
  size_t least;
};
constexpr std::array kTokens{
    TokenForm{"AKIA", 20},  TokenForm{"ASIA", 20},        TokenForm{"AIza", 35},
    TokenForm{"ya29.", 30}, TokenForm{"ghp_", 30},        TokenForm{"gho_", 30},
    TokenForm{"ghs_", 30},  TokenForm{"github_pat_", 30}, TokenForm{"glpat-", 20},
    TokenForm{"hf_", 30},   TokenForm{"sk-", 30},         TokenForm{"xoxb-", 20},
    TokenForm{"xoxp-", 20}, TokenForm{"eyJhbGciOi", 40},  TokenForm{"Bearer ", 20}};

// The last words of names of secrets. A field that is called only `key` is often that of a cache, so
// it counts only as a variable.
constexpr std::array<std::string_view, 11> kNames{
    "api_key", "apikey", "access_key", "secret_key",  "private_key", "token",
    "secret",  "passwd", "password",   "credentials", "auth"};
constexpr std::string_view kKey = "key";

bool EndsWithWord(std::string_view name, std::string_view word) {
  if (!name.ends_with(word)) return false;
  const size_t before = name.size() - word.size();
  return before == 0 || name[before - 1] == '_' || name[before - 1] == '-';
}

int64_t Mask(std::string& text, size_t begin, size_t end) {
  if (begin >= end || text[begin] == '*') return 0;
  std::fill(text.begin() + ptrdiff_t(begin), text.begin() + ptrdiff_t(end), '*');
  return 1;
}

size_t TokenEnd(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && IsTokenChar(text[end])) ++end;
  while (end > begin && text[end - 1] == '.') --end;  // of the sentence
  return end;
}

int64_t RemoveTokens(std::string& text) {
  int64_t removed = 0;
  for (const TokenForm& form : kTokens) {
    for (size_t at = text.find(form.prefix); at != std::string::npos;
         at = text.find(form.prefix, at + 1)) {
      if (at > 0 && IsNameChar(text[at - 1])) continue;
      const size_t end = TokenEnd(text, at + form.prefix.size());
      if (end - at >= form.least) removed += Mask(text, at + form.prefix.size(), end);
    }
  }
  return removed;
}

// Removes the password of `scheme://user:password@host`.
int64_t RemovePasswords(std::string& text) {
  int64_t removed = 0;
  for (size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    size_t colon = std::string::npos, end = at + 3;
    while (end < text.size() && !std::strchr("/ \t\r\n\"'<>", text[end]) && text[end] != '@') {
      if (text[end] == ':' && colon == std::string::npos) colon = end;
      ++end;
    }
    if (end < text.size() && text[end] == '@' && colon != std::string::npos)
      removed += Mask(text, colon + 1, end);
  }
  return removed;
}

// Removes what follows the name of a secret: NAME=value, "name": "value", --name value.
int64_t RemoveNamed(std::string& text) {
  int64_t removed = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '=' && text[at] != ':') continue;
    size_t name_end = at;
    while (name_end > 0 && std::strchr("\"' ", text[name_end - 1])) --name_end;
    size_t name_begin = name_end;
    while (name_begin > 0 && name_end - name_begin < 64 && IsNameChar(text[name_begin - 1]))
      --name_begin;
    if (!IsSecretField(std::string_view(text).substr(name_begin, name_end - name_begin))) continue;
    size_t value = at + 1;
    while (value < text.size() && std::strchr("\"' ", text[value]) && value < at + 4) ++value;
    const size_t end = TokenEnd(text, value);
    const bool is_number =
        std::all_of(text.begin() + ptrdiff_t(value), text.begin() + ptrdiff_t(end),
                    [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; });
    if (end - value >= kShortestSecret && !is_number) removed += Mask(text, value, end);
  }
  return removed;
}

}  // namespace

bool IsSecretField(std::string_view name) {
  const std::string lower = Lower(name);
  return std::ranges::any_of(kNames,
                             [&](std::string_view word) { return EndsWithWord(lower, word); });
}

bool IsSecretVariable(std::string_view name) {
  return IsSecretField(name) || EndsWithWord(Lower(name), kKey);
}

Secrets::Secrets(const std::vector<std::pair<std::string, std::string>>& environment) {
  for (const auto& [name, value] : environment) {
    if (IsSecretVariable(name) && value.size() >= kShortestSecret) values_.push_back(value);
  }
  // A value may contain another one.
  std::ranges::sort(values_, std::ranges::greater(), &std::string::size);
}

Secrets Secrets::OfEnvironment() {
  std::vector<std::pair<std::string, std::string>> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return Secrets(environment);
}

int64_t Secrets::Remove(std::string& text) const {
  int64_t removed = 0;
  for (const std::string& value : values_) {
    for (size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + 1))
      removed += Mask(text, at, at + value.size());
  }
  return removed + RemoveTokens(text) + RemovePasswords(text) + RemoveNamed(text);
}

}  // namespace xlaprof
