#include "profiler/launch/secrets.h"

#include <gmock/gmock.h>

namespace xlaprof {
namespace {

std::string Without(std::string text, const Secrets& secrets = Secrets(
                                          std::vector<std::pair<std::string, std::string>>())) {
  secrets.Remove(text);
  return text;
}

TEST(Secrets, ValuesOfVariables) {
  const Secrets secrets({{"WANDB_API_KEY", "0123456789abcdef"},
                         {"HOME", "/home/somebody"},
                         {"MONKEY", "banana-banana"},
                         {"DB_PASSWORD", "short"}});
  EXPECT_EQ(Without("key 0123456789abcdef of /home/somebody, banana-banana, short", secrets),
            "key **************** of /home/somebody, banana-banana, short");
}

TEST(Secrets, TokensOfWellKnownForms) {
  EXPECT_EQ(Without("id AKIAIOSFODNN7EXAMPLE."), "id AKIA****************.");
  EXPECT_EQ(Without("hf_abcdefghijklmnopqrstuvwxyz012345 x"),
            "hf_******************************** x");
  EXPECT_EQ(Without("Authorization: Bearer abcdefghijklmnop"),
            "Authorization: Bearer ****************");
  EXPECT_EQ(Without("risk-free sk-learn AKIA"), "risk-free sk-learn AKIA");
}

TEST(Secrets, PasswordsInUrls) {
  EXPECT_EQ(Without("git clone https://me:pass@host/x"), "git clone https://me:****@host/x");
  EXPECT_EQ(Without("http://localhost:6006/a@b"), "http://localhost:6006/a@b");
}

TEST(Secrets, FieldsWithTheNameOfASecret) {
  EXPECT_EQ(Without(R"({"api_key": "abcdefghij", "n": 1})"),
            R"({"api_key": "**********", "n": 1})");
  EXPECT_EQ(Without("--auth-token=abcdefghij --lr=3"), "--auth-token=********** --lr=3");
}

// Numbers and keys of caches are what a report is made of.
TEST(Secrets, LeavesWhatAReportNeeds) {
  for (const char* text :
       {R"({"key": "fxqlp4abcdefghijklmnop", "cache_state": "miss"})",
        "max_tokens=4096 num_token=100000000", "Graph Hash: 32202b3d2e4a5ac58e0ea2e47bf5932e",
        "PERSISTENT COMPILATION CACHE MISS for 'jit_f' with key 'jit_f-b7adb7adb7ad'"})
    EXPECT_EQ(Without(text), text);
}

TEST(Secrets, CountsEachOnce) {
  const std::vector<std::pair<std::string, std::string>> environment{
      {"HF_TOKEN", "hf_abcdefghijklmnopqrstuvwxyz012345"}};
  const Secrets secrets(environment);
  std::string text = "HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345";
  EXPECT_EQ(secrets.Remove(text), 1);
}

}  // namespace
}  // namespace xlaprof
