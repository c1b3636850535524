// Removes secrets from texts that somebody is about to give away.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xlaprof {

class Secrets {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  // Knows the values of those variables, and of those flags and words of the command, whose names
  // are names of secrets (secret_names.h).
  explicit Secrets(const Variables& environment, std::span<const std::string> command = {});
  // The environment of this process.
  static Secrets OfRun(std::span<const std::string> command);

  // Remembers a value that must not be given away, wherever it stands.
  void Know(std::string_view value);

  // Replaces each secret in `text` by as many asterisks, so that lengths, offsets and the syntax
  // around it stay true, and returns how many there were. A secret is
  //   - a known value, also as it is written in JSON, in a URL and in base64;
  //   - a token of a well-known form, a private key, the password in a URL (secret_shapes.cc);
  //   - what stands beside the name of a secret: `--api-key ...`, `PASSWORD=...`, `"token": "..."`
  //     (secret_fields.cc);
  //   - base64 of a text that holds one of these.
  int64_t Remove(std::string& text) const;

 private:
  int64_t RemovePlain(std::string& text) const;

  std::vector<std::string> values_;  // the longest first, because one may contain another
};

}  // namespace xlaprof
