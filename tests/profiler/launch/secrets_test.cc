#include "profiler/launch/secrets.h"

#include <gmock/gmock.h>

namespace xlaprof {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Without(std::string text, const Secrets& secrets = Secrets(Secrets::Variables())) {
  secrets.Remove(text);
  return text;
}

struct Case {
  const char* text;
  const char* secret;
};

// Each secret goes, whatever syntax it stands in, and nothing else changes but its characters.
constexpr Case kSecrets[] = {
    // The word after a flag.
    {"train.py --password cliPassw0rd1 --lr 3", "cliPassw0rd1"},
    {"train.py --password abc", "abc"},
    {"train.py --api-key cliKey4", "cliKey4"},
    {"train.py --token cliTok5", "cliTok5"},
    {"train.py --hf_token=cliTok6", "cliTok6"},
    {"train.py --wandb-key 0123456789abcdef0123456789abcdef01234567", "0123456789abcdef"},
    {"train.py --apiKey camelKey1", "camelKey1"},
    {R"(["run", 1, ["python", "train.py", "--password", "listPw1"], 5])", "listPw1"},
    {R"(["run", 1, ["python", "--wandb-key", "0123abcd0123abcd"], 5])", "0123abcd"},
    {"['python', 'train.py', '--auth-token', 'pyTok9']", "pyTok9"},
    {"curl -u bob:curlPassw0rd https://x.y", "curlPassw0rd"},
    {"curl --user bob:curlPassw0rd2 https://x.y", "curlPassw0rd2"},
    {"mysql -uroot -pmysqlPw3 db", "mysqlPw3"},
    {"sshpass -p shPw4 ssh host", "shPw4"},
    // Variables.
    {"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"},
    {"PASSWORD=envPw5 python x.py", "envPw5"},
    {"export DB_PASS=dbPw6", "dbPw6"},
    {"PGPASSWORD='quoted pw7'", "quoted pw7"},
    {"GITHUB_TOKEN=ghTok8", "ghTok8"},
    {"WANDB_API_KEY: abcdef0123", "abcdef0123"},
    {R"({"HF_TOKEN": "jsonTok9"})", "jsonTok9"},
    // Fields.
    {R"({"passwd": "jsonPw8"})", "jsonPw8"},
    {R"({"api_key": "jsonKey7", "n": 1})", "jsonKey7"},
    {R"({"client_secret":"cs_6"})", "cs_6"},
    {R"({"dbPassword": "a b"})", "a b"},
    {R"({"auth": {"refresh_token": "rt.12345"}})", "rt.12345"},
    {R"({"message": "{\"password\": \"nestedPw1\"}"})", "nestedPw1"},
    {"db_password: 'quotedPw9'", "quotedPw9"},
    {"password: yaml pw with blanks", "yaml pw with blanks"},
    {"secret_key = iniKey1", "iniKey1"},
    {"<password>xmlPw2</password>", "xmlPw2"},
    {"connect(user='u', password='callPw3')", "callPw3"},
    {"connect(password=callPw4, user=u)", "callPw4"},
    {"env: [{name: DB_PASSWORD, value: k8sPw5}]", "k8sPw5"},
    {"os.environ['API_TOKEN'] = 'pyTok6'", "pyTok6"},
    {"AccountKey=Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3A=;EndpointSuffix=core.windows.net",
     "Zm9vYmFy"},
    {"//registry.npmjs.org/:_authToken=npmTok7abc", "npmTok7abc"},
    {"aws_session_token = FwoGZXIvYXdzEXAMPLE", "FwoGZXIv"},
    // netrc.
    {"machine github.com login bob password n3trcPassw0rd", "n3trcPassw0rd"},
    {"machine api.wandb.ai\n  login user\n  password 0123456789abcdef0123456789abcdef01234567",
     "0123456789"},
    // Headers.
    {"Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop"},
    {"Authorization: Basic Ym9iOmh1bnRlcjI=", "Ym9iOmh1bnRlcjI"},
    {"authorization: token plainTok8", "plainTok8"},
    {R"(-H "Authorization: Basic Ym9iOmh1bnRlcjI=" x)", "Ym9iOmh1bnRlcjI"},
    {R"({"headers": {"Authorization": "Bearer jsonBearer9"}})", "jsonBearer9"},
    {"X-Api-Key: headerKey1", "headerKey1"},
    {"Cookie: session=cookie2", "cookie2"},
    // Private keys.
    {"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAA\nMIIEpAIBAAKCAQEA\n-----END OPENSSH PRIVATE KEY-----",
     "MIIEpAIBAAKCAQEA"},
    {"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA", "MIIEowIBAAKCAQEA"},
    {R"({"private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n"})",
     "MIIEvQIBADANBg"},
    // URLs.
    {"git clone https://me:urlPw3@host/x", "urlPw3"},
    {"redis://:redisPw5@h:6379/0", "redisPw5"},
    {"postgres://u:p/w@d@db:5432/x", "p/w@d"},
    {"https://host/path?token=qtokSecret123&x=1", "qtokSecret123"},
    {"https://b.s3.amazonaws.com/o?X-Amz-Signature=amzsig0123456789abcdef&X-Amz-Date=2",
     "amzsig01"},
    {"https://a.blob.core.windows.net/c?sv=2022&sig=azSig%2Babc4", "azSig"},
    {"https://maps/api?key=gKey12345", "gKey12345"},
    {"https://hooks.slack.com/services/T00000000/B00000000/XXXXslackhookXXXXXXXXXXX", "slackhook"},
    {"https://discord.com/api/webhooks/123/discordHook", "discordHook"},
    // Tokens of well-known forms.
    {"id AKIAIOSFODNN7EXAMPLE.", "IOSFODNN7EXAMPLE"},
    {"hf_abcdefghijklmnopqrstuvwxyz012345 x", "abcdefghij"},
    {"sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghij"},
    {"sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD", "abcdefghij"},
    {"xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx", "AbCdEfGh"},
    {"AIzaSyA1234567890abcdefghijklmnopqrstuvw", "abcdefghij"},
    {"glpat-abcdefghij0123456789", "abcdefghij"},
    {"ghp_0123456789abcdefghijABCDEFGHIJ012345", "abcdefghij"},
    {"npm_0123456789abcdefghijABCDEFGHIJ012345", "abcdefghij"},
    {"pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3LTg5YWItY2RlZi0wMTIz", "cHlwaS5vcmc"},
    {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
     "dozjgNry"},
    {"root:$6$saltsalt$abcdefghijklmnopqrstuvwxyz0123456789:19000", "abcdefghij"},
    // base64 of a text with a secret.
    {"data eyJwYXNzd29yZCI6ICJodW50ZXIyMiJ9 x", "aHVudGVy"},
    {"cfg cGFzc3dvcmQ9aHVudGVyMjIyMjI= x", "aHVudGVyMjIyMjI"},
};

TEST(Secrets, AreReplacedInEverySyntax) {
  for (const Case& each : kSecrets) {
    const std::string before = each.text, after = Without(before);
    EXPECT_THAT(after, Not(HasSubstr(each.secret))) << before;
    EXPECT_NE(after, before);
    ASSERT_EQ(after.size(), before.size()) << before << "\n" << after;
    for (size_t i = 0; i < after.size(); ++i)
      ASSERT_TRUE(after[i] == before[i] || after[i] == '*') << before << "\n" << after;
  }
}

// What programs that train and serve models write all the time.
constexpr const char* kHarmless[] = {
    "--tokenizer bert-base-uncased",
    "--tokenizer=meta-llama/Llama-3.1-8B",
    "--max-tokens 4096",
    "--max-new-tokens=512",
    "--num-tokens 1000000",
    "--seq-key input_ids",
    "--sort-key timestamp_of_the_event1",
    "--cache-key abcdef0123456789abcdef",
    "--pad-token '[PAD]'",
    "--eos-token </s>",
    "--mask-token=[MASK]",
    "--image-token <image>",
    "--stop-token 2",
    "--tokens-per-batch 8192",
    "--token-dropout 0.1",
    "--tokens 500000000",
    "--key-size 64",
    "--key-dim 128",
    "--monkey banana-banana1",
    "--keyboard us1234567890ab",
    "--passes 3",
    "--pass-manager default",
    "--use-auth-token",
    "--use-auth-token true",
    "--save-password false",
    "--password-file /run/file",
    "--author somebody1",
    "--authors 'A. B.'",
    "--secretary bob12345",
    "--bypass on",
    "--compass north12345",
    "max_tokens=4096 num_token=100000000",
    "tokens: 123456789",
    R"({"total_tokens": 52341, "prompt_tokens": 12})",
    R"({"key": "fxqlp4abcdefghijklmnop", "cache_state": "miss"})",
    R"({"token": "hello", "logprob": -0.1})",
    R"({"bos_token": "<s>", "tokenizer_class": "LlamaTokenizer"})",
    R"({"num_key_value_heads": 8, "key": "value"})",
    "Graph Hash: 32202b3d2e4a5ac58e0ea2e47bf5932e",
    "PERSISTENT COMPILATION CACHE MISS for 'jit_f' with key 'jit_f-b7adb7adb7ad'",
    "%token.3 = s32[1,8]{1,0} parameter(0)",
    "after-all token = token[] after-all()",
    "PRNGKey(0) key<fry>[] random_bits[shape=(3,)]",
    "def forward(self, query, key: Tensor, value: Tensor):",
    "http://localhost:6006/a@b",
    "https://host:8080/path?x=1&page=2",
    "risk-free sk-learn AKIA hf_ ghp_short",
    "PWD=/home/somebody/project",
    "password: $DB_PASSWORD",
    "PASSWORD=${PASSWORD}",
    "docker run -u 1000:1000 image",
    "python -u train.py:main",
    "git log -p --stat",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIE\n-----END CERTIFICATE-----",
};

TEST(Secrets, LeavesWhatIsHarmless) {
  for (const char* text : kHarmless) EXPECT_EQ(Without(text), text);
}

TEST(Secrets, ManyCases) {
  EXPECT_GE(std::size(kSecrets), 60u);
  EXPECT_GE(std::size(kHarmless), 40u);
}

TEST(Secrets, ValuesOfVariables) {
  const Secrets secrets({{"WANDB_API_KEY", "0123456789abcdef"},
                         {"HOME", "/home/somebody"},
                         {"MONKEY", "banana-banana"},
                         {"DB_PASSWORD", "short"}});
  EXPECT_EQ(Without("id 0123456789abcdef of /home/somebody, banana-banana, short", secrets),
            "id **************** of /home/somebody, banana-banana, short");
}

TEST(Secrets, ValuesOfTheCommand) {
  const std::vector<std::string> command{"python",       "train.py", "--api-key",
                                         "cliKey4-long", "--lr=3",   "--hf_token=cliTok6-long"};
  const Secrets secrets(Secrets::Variables(), command);
  EXPECT_EQ(Without("got cliKey4-long and cliTok6-long", secrets),
            "got ************ and ************");
}

TEST(Secrets, JsonStaysJson) {
  EXPECT_EQ(Without(R"({"password": 12345678, "n": 1})"), R"({"password": "******", "n": 1})");
  EXPECT_EQ(Without(R"({"api_key": "abcdefghij", "n": 1})"),
            R"({"api_key": "**********", "n": 1})");
}

TEST(Secrets, CountsEachOnce) {
  const Secrets secrets(Secrets::Variables{{"HF_TOKEN", "hf_abcdefghijklmnopqrstuvwxyz012345"}});
  std::string text = "HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345";
  EXPECT_EQ(secrets.Remove(text), 1);
}

}  // namespace
}  // namespace xlaprof
