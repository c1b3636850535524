#include "profiler/launch/secret_names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "base/numbers.h"

namespace xlaprof {
namespace {

// Names end with these; nobody writes them of anything else.
constexpr std::string_view kPasswords[] = {"password", "passwords", "passwd", "passphrase",
                                           "passcode"};
constexpr std::string_view kSecrets[] = {"secret",       "secrets",     "credential", "credentials",
                                         "creds",        "apikey",      "authtoken",  "accesstoken",
                                         "accesskey",    "secretkey",   "privatekey", "accountkey",
                                         "refreshtoken", "sessiontoken"};
// Words that say in which form a value is written, after the name itself.
constexpr std::string_view kForms[] = {"data", "base64", "b64", "pem", "value", "plaintext"};
// Before `key` and `token`, these say that it is a secret: what it opens, or who issues it.
constexpr std::string_view kOpens[] = {
    "api",          "access",     "secret",  "private",  "account",  "encryption", "auth",
    "bearer",       "refresh",    "session", "security", "personal", "oauth",      "service",
    "signing",      "master",     "deploy",  "ssh",      "gpg",      "pgp",        "rsa",
    "aes",          "hmac",       "jwt",     "fernet",   "license",  "storage",    "shared",
    "subscription", "consumer",   "bot",     "identity", "registry", "admin",      "client",
    "webhook",      "decryption", "app",     "login",    "vault"};
constexpr std::string_view kIssuers[] = {
    "wandb",      "openai",    "anthropic", "hf",         "huggingface", "hub",      "comet",
    "neptune",    "aws",       "gcp",       "azure",      "google",      "gemini",   "github",
    "gh",         "gitlab",    "stripe",    "slack",      "twilio",      "sendgrid", "mailgun",
    "datadog",    "dd",        "ngc",       "nvidia",     "kaggle",      "clearml",  "mlflow",
    "databricks", "replicate", "cohere",    "mistral",    "groq",        "deepseek", "pinecone",
    "langchain",  "langsmith", "runpod",    "npm",        "pypi",        "telegram", "discord",
    "jupyter",    "docker",    "kube",      "kubernetes", "sentry",      "swanlab",  "modelscope",
    "aim",        "dagshub",   "s3",        "minio",      "ci",          "jira",     "artifactory"};
// Before `token`, these say that it is a piece of text or an image.
constexpr std::string_view kText[] = {
    "pad",      "eos",      "bos",       "mask",    "unk",    "cls",    "sep",    "special",
    "image",    "audio",    "video",     "stop",    "start",  "end",    "begin",  "next",
    "prev",     "previous", "first",     "last",    "max",    "min",    "num",    "n",
    "per",      "each",     "new",       "prefix",  "suffix", "middle", "text",   "input",
    "output",   "draft",    "prompt",    "context", "target", "source", "src",    "tgt",
    "decoder",  "encoder",  "generated", "total",   "sub",    "word",   "vocab",  "think",
    "thinking", "tool",     "control",   "space",   "blank",  "query",  "fill",   "mem",
    "register", "patch",    "class",     "distill", "visual", "vision", "soft",   "virtual",
    "sink",     "by",       "newline",   "added",   "forced", "ignore", "speech", "current"};
// Before `key`, these say that it finds or orders something.
constexpr std::string_view kFinds[] = {
    "cache",      "hash",    "sort",   "primary", "foreign", "partition", "seq",     "sequence",
    "group",      "index",   "lookup", "dict",    "graph",   "compile",   "state",   "config",
    "map",        "row",     "column", "public",  "prng",    "rng",       "random",  "shapeless",
    "dimensions", "options", "id",     "loss",    "metric",  "input",     "output",  "label",
    "feature",    "batch",   "data",   "json",    "event",   "ring",      "program", "module",
    "kernel",     "query",   "dedup",  "host",    "shard"};
// Before `pass`, these say that it is a password and not one of a compiler.
constexpr std::string_view kOfUsers[] = {
    "db",   "user", "smtp",  "mysql",    "pg",   "postgres", "redis", "mongo",   "admin",
    "root", "ftp",  "ldap",  "imap",     "mail", "email",    "proxy", "http",    "ssh",
    "vpn",  "wifi", "login", "rabbitmq", "auth", "sudo",     "bind",  "database"};

template <size_t N>
bool IsIn(const std::string_view (&words)[N], std::string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

char LowerOf(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsLetter(char c) { return IsUpper(c) || IsLower(c); }

// The last words of a name, in lower case, the last one first; without digits at the end of a word.
struct LastWords {
  static constexpr size_t kMost = 4;
  std::array<std::string, kMost> words;
  size_t count = 0;

  explicit LastWords(std::string_view name) {
    size_t end = name.size();
    while (end > 0 && count < kMost) {
      while (end > 0 && !IsLetter(name[end - 1])) --end;
      size_t begin = end;
      while (begin > 0 && IsLetter(name[begin - 1])) {
        // "dbPassword" and "AWSSecret": a word begins at the last of several capitals.
        const bool goes_on = begin < end && IsUpper(name[begin]);
        if (goes_on && IsLower(name[begin - 1])) break;
        if (goes_on && begin + 1 < end && IsLower(name[begin + 1]) && IsUpper(name[begin - 1]))
          break;
        --begin;
      }
      if (begin == end) return;
      std::string& word = words[count++];
      for (char c : name.substr(begin, end - begin)) word += LowerOf(c);
      // "s3", "b64" and "base64" keep their digits.
      size_t digits = end;
      while (digits < name.size() && IsDigit(name[digits])) ++digits;
      if (word == "s" || word == "b" || word == "base") word += name.substr(end, digits - end);
      end = begin;
    }
  }
  std::string_view operator[](size_t at) const {
    return at < count ? words[at] : std::string_view();
  }
};

// Most words of a text end in letters with which no name of a secret ends.
bool MayEndName(std::string_view name) {
  while (!name.empty() && !IsLetter(name.back())) name.remove_suffix(1);
  constexpr std::string_view kLast = "detnyshwlamb";
  return name.size() >= 2 && kLast.find(LowerOf(name.back())) != std::string_view::npos;
}

}  // namespace

bool EndsIgnoringCase(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::ranges::equal(text.substr(text.size() - end.size()), end, {}, LowerOf, LowerOf);
}

Secrecy SecrecyOf(std::string_view name) {
  if (!MayEndName(name)) return Secrecy::kNone;
  const LastWords all(name);
  size_t at = 0;
  while (at + 1 < all.count && IsIn(kForms, all[at])) ++at;
  const std::string_view last = all[at], before = all[at + 1];
  const auto ends_with = [&](std::string_view word) { return last.ends_with(word); };
  if (std::ranges::any_of(kPasswords, ends_with)) return Secrecy::kPassword;
  if (std::ranges::any_of(kSecrets, ends_with)) return Secrecy::kCertain;
  if (last == "hash" && std::ranges::find(kPasswords, before) != std::end(kPasswords))
    return Secrecy::kPassword;
  if (last == "pwd" || last == "pw") return Secrecy::kPassword;
  if (last == "userpass" || last == "pgpass") return Secrecy::kPassword;
  if (last == "pass") {
    if (IsIn(kOfUsers, before)) return Secrecy::kPassword;
    return before.empty() ? Secrecy::kIfRandom : Secrecy::kNone;
  }
  if (last == "key") {
    if (IsIn(kOpens, before) || IsIn(kIssuers, before)) return Secrecy::kCertain;
    return before.empty() || IsIn(kFinds, before) ? Secrecy::kNone : Secrecy::kIfRandom;
  }
  if (last == "token") {
    if (IsIn(kOpens, before) || IsIn(kIssuers, before)) return Secrecy::kCertain;
    return IsIn(kText, before) ? Secrecy::kNone : Secrecy::kLikely;
  }
  if (last == "auth" || last == "cookie" || last == "bearer") return Secrecy::kLikely;
  if (last == "pat") return IsIn(kIssuers, before) ? Secrecy::kCertain : Secrecy::kNone;
  return Secrecy::kNone;
}

bool IsPlaceholder(std::string_view value) {
  constexpr std::string_view kWords[] = {
      "true",     "false",     "none",  "null",    "nil",   "yes",  "no",       "on",
      "off",      "undefined", "str",   "string",  "int",   "bool", "required", "optional",
      "redacted", "empty",     "unset", "default", "bytes", "auto", "nan"};
  if (value.empty() || value.front() == '$' || value.front() == '<' || value.starts_with("{{") ||
      value.starts_with("%(") || value.starts_with("os.environ") || value.starts_with("getpass"))
    return true;
  if (value.find_first_not_of("*.xX-_") == std::string_view::npos) return true;
  std::string lower;
  for (char c : value.substr(0, 16)) lower += LowerOf(c);
  return IsIn(kWords, lower) || lower.starts_with("optional[");
}

bool IsNumber(std::string_view value) {
  return !value.empty() &&
         value.find_first_not_of("0123456789.+-eE_,%") == std::string_view::npos &&
         value.find_first_of("0123456789") != std::string_view::npos;
}

bool LooksRandom(std::string_view value, size_t least) {
  if (value.size() < least) return false;
  bool has_letter = false, has_digit = false, has_other = false;
  int rises = 0;  // capitals after small letters
  for (size_t i = 0; i < value.size(); ++i) {
    has_letter |= IsLetter(value[i]);
    has_digit |= IsDigit(value[i]);
    has_other |= !IsLetter(value[i]);
    if (i > 0 && IsUpper(value[i]) && IsLower(value[i - 1])) ++rises;
  }
  constexpr size_t kLong = 20;
  constexpr int kManyRises = 2;
  return has_letter && (has_digit || rises >= kManyRises || (value.size() >= kLong && !has_other));
}

bool IsSecret(std::string_view name, std::string_view value, bool is_flag) {
  if (IsPlaceholder(value)) return false;
  const Secrecy secrecy = SecrecyOf(name);
  // PWD is a directory, and keys and credentials are often named by their file.
  const bool is_path = value.starts_with('/') || value.starts_with("~/") ||
                       value.starts_with("./") || value.starts_with("../");
  const auto names = [&](std::string_view word) { return EndsIgnoringCase(name, word); };
  if (is_path && (names("pwd") || names("key") || names("credentials") || names("credential") ||
                  names("creds")))
    return false;
  const bool is_number = IsNumber(value);
  constexpr size_t kLongNumber = 6, kRandom = 12, kShortRandom = 6;
  switch (secrecy) {
    case Secrecy::kPassword:
      return true;
    case Secrecy::kCertain:
      return !is_number || value.size() >= kLongNumber;
    case Secrecy::kLikely:
      // "token: hello" is a piece of a text, and "token.3 = s32[1,8]" a value of a graph.
      if (is_number) return false;
      return is_flag ||
             (LooksRandom(value, kShortRandom) && value.find_first_of("[](){}") == value.npos);
    case Secrecy::kIfRandom:
      return is_flag && !is_number && LooksRandom(value, kRandom);
    case Secrecy::kNone:
      return false;
  }
  return false;
}

}  // namespace xlaprof
