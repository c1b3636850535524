// Finds what stands beside the names of secrets, in whatever syntax: `--api-key X`, `PASSWORD=X`,
// `"token": "X"`, `<password>X</password>`, `Authorization: Basic X`, `curl -u user:X`, and netrc's
// `machine H login U password X`, also inside of strings of JSON.
#include "profiler/launch/secret_names.h"
#include "profiler/launch/secret_text.h"

namespace xlaprof {
namespace {

constexpr size_t kLongestName = 64;

// A value and what is known of how it is written.
struct Value {
  size_t begin = kNowhere, end = kNowhere;
  bool is_quoted = false;
  bool found() const { return begin != kNowhere && begin < end; }
};

class Fields {
 public:
  explicit Fields(SecretText& text) : text_(text) {}

  void Run() {
    size_t at = 0;
    while (at < text_.size()) {
      if (!IsNameChar(text_.at(at))) {
        ++at;
        continue;
      }
      size_t begin = at;
      while (IsNameChar(text_.at(at))) ++at;
      // In a string of JSON, the name after a line end follows the n of "\n".
      if (begin > 0 && text_.at(begin - 1) == '\\' && IsOneOf(text_.at(begin), "nrt")) ++begin;
      if (begin >= at) continue;
      MaskToken(text_, begin, at);
      Take(begin, at);
    }
  }

 private:
  static bool IsOneOf(char c, std::string_view set) { return c != '\0' && set.find(c) != kNowhere; }

  std::string_view Text(size_t begin, size_t end) const {
    return text_.view().substr(begin, end - begin);
  }
  std::string_view Text(const Value& value) const { return Text(value.begin, value.end); }

  void Take(size_t begin, size_t end) {
    if (end - begin < 2) return;
    if (end - begin > kLongestName) begin = end - kLongestName;
    const std::string_view name = Text(begin, end);
    if (name.front() == '-' && TakeUserFlag(name, begin, end)) return;
    if (TakeHeader(name, end) || TakeParameter(name, begin, end)) return;
    const Secrecy secrecy = SecrecyOf(name);
    if (secrecy == Secrecy::kNone) return;
    const bool is_flag = name.front() == '-', is_variable = IsVariable(name);
    if (Value value = AfterSign(begin, end); value.found()) {
      if (secrecy == Secrecy::kPassword && !is_flag && !is_variable && BeginsLine(begin))
        value = ToLineEnd(value);
      return Judge(name, value, is_flag || is_variable);
    }
    if (is_flag || is_variable) {
      if (const Value value = NextWord(end, /*in_lists_only=*/!is_flag); value.found())
        return Judge(name, value, /*is_flag=*/true);
    }
    if (const Value value = OfPair(end); value.found()) return Judge(name, value, /*is_flag=*/true);
    if (secrecy != Secrecy::kPassword) return;
    if (name == "password" && IsNetrc(begin)) {
      if (const Value value = NextWord(end, false, /*over_lines=*/true); value.found())
        text_.Mask(value.begin, value.end);
      return;
    }
    TakeSentence(end);
  }

  // Returns whether nothing but blanks and the dash of a list stands before, on the same line.
  bool BeginsLine(size_t at) const {
    while (at > 0 && (IsBlank(text_.at(at - 1)) || text_.at(at - 1) == '-')) --at;
    return at == 0 || text_.at(at - 1) == '\n';
  }

  // In YAML and INI, a value without quotes may hold blanks.
  Value ToLineEnd(Value value) const {
    if (value.is_quoted) return value;
    size_t end = value.end;
    while (end < text_.size() && !IsOneOf(text_.at(end), "\n\r\"'\\") && text_.at(end) != '\0') {
      if (text_.at(end) == '#' && IsBlank(text_.at(end - 1))) break;
      ++end;
    }
    while (end > value.end && IsBlank(text_.at(end - 1))) --end;
    return {.begin = value.begin, .end = end};
  }

  // Returns the value of a name and a value that are fields: `name: PASSWORD, value: X`.
  Value OfPair(size_t end) const {
    constexpr size_t kFar = 64;
    size_t at = end;
    while (at < text_.size() && at - end < kFar &&
           (IsSpace(text_.at(at)) || IsOneOf(text_.at(at), "\"',\\")))
      ++at;
    size_t value_end = at;
    while (IsNameChar(text_.at(value_end))) ++value_end;
    const std::string_view word = Text(at, value_end);
    if (at == end || (word != "value" && word != "Value")) return {};
    return AfterSign(at, value_end);
  }

  // "password is X". Only what no word of a language is.
  void TakeSentence(size_t end) {
    for (std::string_view verb : {" is ", " was "}) {
      if (!Text(end, text_.size()).starts_with(verb)) continue;
      const Value value = ValueAt(end + verb.size());
      if (value.found() && LooksRandom(Text(value), 5)) text_.Mask(value.begin, value.end);
    }
  }

  // A variable of the environment: WANDB_API_KEY.
  static bool IsVariable(std::string_view name) {
    return std::ranges::none_of(
        name, [](char c) { return (c >= 'a' && c <= 'z') || c == '.' || c == '-'; });
  }

  // Masks a value unless it cannot be the secret of that name. A number of JSON becomes a string.
  void Judge(std::string_view name, const Value& value, bool is_flag) {
    const std::string_view secret = Text(value);
    if (!IsSecret(name, secret, is_flag)) return;
    if (IsNumber(secret) && !is_flag && !value.is_quoted && value.begin > 0 &&
        text_.at(value.begin - 1) != '=') {
      text_.MaskNumber(value.begin, value.end);
    } else {
      text_.Mask(value.begin, value.end);
    }
  }

  // Returns the value after `=` or `:`: NAME=value, "name": 'value', <name>value</name>.
  Value AfterSign(size_t begin, size_t end) const {
    size_t at = end;
    if (text_.at(at) == '>' && begin > 0 && text_.at(begin - 1) == '<') {
      const size_t close = text_.view().find('<', at);
      return {.begin = at + 1, .end = close == kNowhere ? at : close, .is_quoted = true};
    }
    while (text_.at(at) == '\\') ++at;
    if (IsOneOf(text_.at(at), "\"'`")) ++at;
    while (IsOneOf(text_.at(at), "])")) ++at;
    while (IsBlank(text_.at(at))) ++at;
    if (text_.at(at) == ':' && text_.at(at + 1) == '=') ++at;
    // The border of a table's column.
    if (const size_t border = BorderAt(at); border > 0 && IsBlank(text_.at(at + border)))
      return ValueAt(AfterBlanks(at + border));
    if (text_.at(at) != '=' && text_.at(at) != ':') return {};
    const bool is_colon = text_.at(at) == ':';
    ++at;
    if (is_colon && IsOneOf(text_.at(at), ":/")) return {};
    if (text_.at(at) == '=' || text_.at(at) == '>') ++at;
    return ValueAt(AfterBlanks(at));
  }

  size_t AfterBlanks(size_t at) const {
    while (IsBlank(text_.at(at))) ++at;
    return at;
  }
  size_t BorderAt(size_t at) const {
    constexpr std::string_view kLine = "\xe2\x94\x82";  // a vertical line, in UTF-8
    if (text_.at(at) == '|') return 1;
    return text_.view().substr(std::min(at, text_.size())).starts_with(kLine) ? kLine.size() : 0;
  }

  // Returns the word after a flag: after blanks, or the next string of a list.
  Value NextWord(size_t end, bool in_lists_only, bool over_lines = false) const {
    size_t at = end;
    while (text_.at(at) == '\\' && IsOneOf(text_.at(at + 1), "\"'\\")) ++at;
    if (IsOneOf(text_.at(at), "\"'")) {
      ++at;
      while (IsSpace(text_.at(at))) ++at;
      if (text_.at(at) != ',') {
        if (in_lists_only || !IsSpace(text_.at(at - 1))) return {};
      } else {
        ++at;
        while (IsSpace(text_.at(at))) ++at;
        if (!IsOneOf(text_.at(at), "\"'\\")) return {};
      }
    } else {
      if (in_lists_only) return {};
      const size_t blanks = at;
      if (text_.at(at) == '\0' && at < text_.size()) ++at;  // as /proc/PID/cmdline has it
      while (IsBlank(text_.at(at)) ||
             (over_lines && (IsSpace(text_.at(at)) || IsEscapedLineEnd(at)))) {
        at += IsEscapedLineEnd(at) ? 2 : 1;
      }
      if (at == blanks) return {};
    }
    Value value = ValueAt(at);
    // The next flag is no value.
    const bool is_flag = text_.at(value.begin) == '-' &&
                         (text_.at(value.begin + 1) == '-' || IsAlnum(text_.at(value.begin + 1)));
    return is_flag ? Value() : value;
  }

  bool IsEscapedLineEnd(size_t at) const {
    return text_.at(at) == '\\' && IsOneOf(text_.at(at + 1), "nrt");
  }

  // Returns the value that begins here, in quotes or not.
  Value ValueAt(size_t at) const {
    size_t begin = at, escapes = 0;
    while (IsOneOf(text_.at(begin), "bruf") && IsOneOf(text_.at(begin + 1), "\"'")) ++begin;
    size_t quote = begin;
    while (text_.at(quote) == '\\') ++quote, ++escapes;
    if (IsOneOf(text_.at(quote), "\"'`")) return Quoted(quote, escapes);
    if (escapes > 0 || IsOneOf(text_.at(begin), "{[(")) return {};
    return Unquoted(begin);
  }

  Value Quoted(size_t quote, size_t escapes) const {
    const char mark = text_.at(quote);
    const size_t begin = quote + 1;
    size_t end = begin, before = 0;  // backslashes before `end`
    constexpr size_t kMost = 64 << 10;
    while (end < text_.size() && end - begin < kMost) {
      const char c = text_.at(end);
      if (c == mark && before <= escapes) break;
      if (c == '\n' && escapes == 0) break;
      before = c == '\\' ? before + 1 : 0;
      // Two backslashes are one of the value.
      if (escapes == 0 && before == 2) before = 0;
      ++end;
    }
    if (text_.at(end) == mark) end -= std::min(before, end - begin);
    // A string of Python that a string of another language holds: SecretStr('X').
    return {.begin = begin, .end = end, .is_quoted = true};
  }

  Value Unquoted(size_t begin) const {
    size_t end = begin;
    while (end < text_.size() && !EndsUnquoted(end)) ++end;
    while (end > begin && IsOneOf(text_.at(end - 1), ".,:)]}!?")) --end;
    return {.begin = begin, .end = end};
  }

  bool EndsUnquoted(size_t at) const {
    const char c = text_.at(at), next = text_.at(at + 1);
    if (IsSpace(c) || IsOneOf(c, "\"'`;&<>|") || static_cast<unsigned char>(c) < 0x20) return true;
    if (c == '\\') return IsOneOf(next, "nrt\"'\\");
    if (IsOneOf(c, ")]}")) return next == '\0' || IsSpace(next) || IsOneOf(next, ",;)]}\"'");
    if (c != ',') return false;
    // In `f(password=X, user=Y)` the value ends, in `PASSWORD=X,Y` it does not.
    size_t name = at + 1;
    while (IsNameChar(text_.at(name))) ++name;
    return next == '\0' || IsSpace(next) || IsOneOf(next, "\"'{[") || IsOneOf(text_.at(name), "=:");
  }

  // Takes the headers whose whole value is a secret.
  bool TakeHeader(std::string_view name, size_t end) {
    const bool is_authorization = EndsIgnoringCase(name, "authorization");
    const bool is_cookie =
        EqualsIgnoringCase(name, "cookie") || EqualsIgnoringCase(name, "set-cookie");
    if (!is_authorization && !is_cookie) return false;
    Value value = AfterSign(end, end);
    if (!value.found()) return true;
    if (is_cookie && !value.is_quoted && text_.at(end) != ':') return true;
    if (!value.is_quoted) {
      while (value.end < text_.size() && !IsOneOf(text_.at(value.end), "\n\r\"'") &&
             !IsEscapedLineEnd(value.end) && text_.at(value.end) != '\\')
        ++value.end;
    }
    if (is_authorization) {
      // Its first word says of which kind the secret is, unless it is all there is.
      size_t word = value.begin;
      while (IsAlnum(text_.at(word)) || text_.at(word) == '-') ++word;
      if (IsBlank(text_.at(word)) && word + 1 < value.end) value.begin = word + 1;
    }
    if (!IsPlaceholder(Text(value))) text_.Mask(value.begin, value.end);
    return true;
  }

  // Takes parameters of URLs whose names are no names of secrets elsewhere.
  bool TakeParameter(std::string_view name, size_t begin, size_t end) {
    if (text_.at(end) != '=' || begin == 0 || !IsOneOf(text_.at(begin - 1), "?&;")) return false;
    constexpr std::string_view kNames[] = {"sig",
                                           "signature",
                                           "key",
                                           "code",
                                           "auth",
                                           "hmac",
                                           "token",
                                           "x-amz-signature",
                                           "x-amz-credential",
                                           "x-goog-signature",
                                           "x-amz-security-token",
                                           "x-goog-credential",
                                           "policy"};
    const auto is_name = [&](std::string_view known) { return EqualsIgnoringCase(name, known); };
    if (std::ranges::none_of(kNames, is_name)) return false;
    const Value value = Unquoted(end + 1);
    constexpr size_t kShortest = 6;
    if (value.found() && value.end - value.begin >= kShortest && !IsNumber(Text(value)))
      text_.Mask(value.begin, value.end);
    return true;
  }

  // Takes `-u user:password` of curl and its like, and the -p of programs whose password it is.
  bool TakeUserFlag(std::string_view name, size_t begin, size_t end) {
    if (name == "-u" || name == "-U" || name == "--user" || name == "--proxy-user") {
      Value value = NextWord(end, false);
      if (!value.found()) value = AfterSign(begin, end);
      if (!value.found()) return true;
      const size_t colon = Text(value).find(':');
      if (colon == kNowhere || colon == 0) return true;
      const std::string_view user = Text(value).substr(0, colon),
                             rest = Text(value).substr(colon + 1);
      // docker run -u 1000:1000, python -u https://..., python -u train.py:main
      if (IsNumber(rest) || rest.starts_with("//") || user.find('/') != kNowhere ||
          user.ends_with(".py"))
        return true;
      text_.Mask(value.begin + colon + 1, value.end);
      return true;
    }
    if (!name.starts_with("-p") && !name.starts_with("-P")) return false;
    if (name.size() > 2) {
      if (!IsAfter({"mysql", "mysqldump", "mysqladmin", "mariadb", "sshpass"}, begin)) return false;
      text_.Mask(begin + 2, Unquoted(begin + 2).end);
      return true;
    }
    if (!IsAfter({"sshpass", "login", "mongo", "mongosh", "ldapsearch", "unzip", "zip", "7z"},
                 begin))
      return true;
    if (const Value value = NextWord(end, false); value.found()) text_.Mask(value.begin, value.end);
    return true;
  }

  // Returns whether one of these words stands before, on the same line.
  bool IsAfter(std::initializer_list<std::string_view> words, size_t at) const {
    constexpr size_t kFar = 160;
    size_t begin = at - std::min(at, kFar);
    const std::string_view before = Text(begin, at);
    const size_t line = before.rfind('\n');
    return std::ranges::any_of(words, [&](std::string_view word) {
      const size_t found = before.rfind(word);
      if (found == kNowhere || (line != kNowhere && found < line)) return false;
      const size_t end = begin + found + word.size();
      return (found == 0 || !IsNameChar(before[found - 1])) && !IsNameChar(text_.at(end));
    });
  }

  // Returns whether `machine` or `login` of a netrc file stands not far before.
  bool IsNetrc(size_t at) const {
    constexpr size_t kFar = 300;
    const std::string_view before = Text(at - std::min(at, kFar), at);
    const auto stands_there = [&](std::string_view word) {
      const size_t found = before.rfind(word);
      if (found == kNowhere || found + word.size() >= before.size()) return false;
      const char next = before[found + word.size()];
      return IsSpace(next) || next == '\\';
    };
    return stands_there("machine") || stands_there("login");
  }

  SecretText& text_;
};

}  // namespace

void MaskFields(SecretText& text) { Fields(text).Run(); }

}  // namespace xlaprof
