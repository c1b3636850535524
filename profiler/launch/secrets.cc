#include "profiler/launch/secrets.h"

#include <unistd.h>

#include <algorithm>

#include "base/escape.h"
#include "base/status.h"
#include "profiler/launch/secret_names.h"
#include "profiler/launch/secret_text.h"

namespace xlaprof {
namespace {

constexpr size_t kShortestKnown = 8;  // shorter values also occur where they are no secrets

// Returns the number of a base64 digit of either alphabet, or -1.
int DigitOf(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

// Returns the end of the base64 that begins at `begin`. Long lines of whole groups go on after
// their end.
size_t Base64End(std::string_view text, size_t begin) {
  constexpr size_t kLongLine = 60;
  size_t end = begin;
  while (true) {
    const size_t line = end;
    while (end < text.size() && DigitOf(text[end]) >= 0) ++end;
    const bool goes_on = end - line >= kLongLine && (end - line) % 4 == 0 &&
                         end + 1 < text.size() && text[end] == '\n' && DigitOf(text[end + 1]) >= 0;
    if (!goes_on) return end;
    ++end;
  }
}

// Returns `value` as it stands in a string of JSON; as Python writes it with `ascii_only`.
std::string InJson(std::string_view value, bool ascii_only) {
  std::string text;
  for (size_t at = 0; at < value.size();) {
    const auto c = static_cast<unsigned char>(value[at]);
    const Character character = CharacterAt(value, at);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += value[at];
    } else if (c == '\n' || c == '\t' || c == '\r') {
      text += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    } else if (c < 0x20) {
      text += fmt::format("\\u{:04x}", int(c));
    } else if (c >= 0x80 && ascii_only && character.code >= 0x10000) {
      const uint32_t code = uint32_t(character.code) - 0x10000;
      text += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
    } else if (c >= 0x80 && ascii_only && character.code >= 0) {
      text += fmt::format("\\u{:04x}", character.code);
    } else {
      text += value.substr(at, size_t(character.bytes));
    }
    at += size_t(character.bytes);
  }
  return text;
}

std::string InUrl(std::string_view value) {
  std::string text;
  for (char c : value) {
    if (IsNameChar(c) || c == '~') {
      text += c;
    } else {
      text += fmt::format("%{:02X}", int(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

}  // namespace

std::optional<std::string> TextOfBase64(std::string_view base64) {
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (char c : base64) {
    const int digit = DigitOf(c);
    if (digit < 0) continue;
    bits = bits << 6 | uint32_t(digit);
    if ((count += 6) < 8) continue;
    count -= 8;
    const char byte = char(bits >> count & 0xff);
    if ((byte < 0x20 && !IsSpace(byte)) || byte == 0x7f) return std::nullopt;
    text += byte;
  }
  return text;
}

Secrets::Secrets(const Variables& environment, std::span<const std::string> command) {
  for (const auto& [name, value] : environment) {
    if (IsSecret(name, value, /*is_flag=*/true)) Know(value);
  }
  for (size_t i = 0; i < command.size(); ++i) {
    const std::string_view word = command[i];
    const size_t sign = word.find('=');
    const std::string_view name = word.substr(0, sign);
    if (sign != kNowhere) {
      if (IsSecret(name, word.substr(sign + 1), /*is_flag=*/true)) Know(word.substr(sign + 1));
    } else if (word.starts_with('-') && i + 1 < command.size() &&
               IsSecret(name, command[i + 1], true)) {
      Know(command[i + 1]);
    }
  }
}

Secrets Secrets::OfRun(std::span<const std::string> command) {
  Variables environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t sign = text.find('=');
    if (sign != kNowhere) environment.emplace_back(text.substr(0, sign), text.substr(sign + 1));
  }
  return Secrets(environment, command);
}

void Secrets::Know(std::string_view value) {
  if (value.size() < kShortestKnown || IsPlaceholder(value)) return;
  for (std::string form :
       {std::string(value), InJson(value, false), InJson(value, true), InUrl(value)}) {
    if (std::ranges::find(values_, form) == values_.end()) values_.push_back(std::move(form));
  }
  std::ranges::stable_sort(values_, std::ranges::greater(), &std::string::size);
}

int64_t Secrets::RemovePlain(std::string& plain) const {
  SecretText text(plain);
  for (const std::string& value : values_) {
    for (size_t at = plain.find(value); at != kNowhere; at = plain.find(value, at + 1))
      text.Mask(at, at + value.size());
  }
  MaskKeys(text);
  MaskUrls(text);
  MaskFields(text);
  return text.masked();
}

int64_t Secrets::Remove(std::string& plain) const {
  int64_t removed = RemovePlain(plain);
  SecretText text(plain);
  constexpr size_t kShortest = 16;
  for (size_t at = 0; at < plain.size();) {
    if (DigitOf(plain[at]) < 0) {
      ++at;
      continue;
    }
    const size_t begin = at;
    at = Base64End(plain, begin);
    if (at - begin < kShortest) continue;
    std::optional<std::string> inside =
        TextOfBase64(std::string_view(plain).substr(begin, at - begin));
    if (inside && RemovePlain(*inside) > 0)
      text.MaskThose(begin, at, [&](size_t i) { return plain[i] != '\n'; });
  }
  return removed + text.masked();
}

}  // namespace xlaprof
