// Removes secrets from files that somebody is about to give away.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xlaprof {

// Return whether an environment variable (WANDB_API_KEY) or a field of a file (password) of this name
// holds a secret.
bool IsSecretVariable(std::string_view name);
bool IsSecretField(std::string_view name);

class Secrets {
 public:
  // Knows the values of variables of this environment whose names are those of secrets.
  explicit Secrets(const std::vector<std::pair<std::string, std::string>>& environment);
  // The environment of this process.
  static Secrets OfEnvironment();

  // Replaces each secret in `text` by as many asterisks, so that lengths and offsets stay true, and
  // returns how many there were. A secret is a known value, a token of a well-known form, the password
  // in a URL, and what is written after a name of a secret: `api_key="..."`.
  int64_t Remove(std::string& text) const;

 private:
  std::vector<std::string> values_;
};

}  // namespace xlaprof
