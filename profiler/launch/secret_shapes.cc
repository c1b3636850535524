// Finds secrets by their own form, whatever stands beside them.
#include "profiler/launch/secret_names.h"
#include "profiler/launch/secret_text.h"

namespace xlaprof {
namespace {

// The beginnings of tokens, and the fewest characters that such a token has.
struct TokenForm {
  std::string_view prefix;
  size_t least;
};
constexpr TokenForm kTokens[] = {{"AKIA", 20},
                                 {"ASIA", 20},
                                 {"AIza", 35},
                                 {"ya29.", 30},
                                 {"ghp_", 30},
                                 {"gho_", 30},
                                 {"ghu_", 30},
                                 {"ghs_", 30},
                                 {"ghr_", 30},
                                 {"github_pat_", 30},
                                 {"glpat-", 20},
                                 {"gldt-", 20},
                                 {"glrt-", 20},
                                 {"hf_", 30},
                                 {"api_org_", 30},
                                 {"sk-", 30},
                                 {"sk_live_", 20},
                                 {"sk_test_", 20},
                                 {"rk_live_", 20},
                                 {"xoxb-", 20},
                                 {"xoxp-", 20},
                                 {"xoxa-", 20},
                                 {"xoxs-", 20},
                                 {"xoxe", 20},
                                 {"xapp-", 20},
                                 {"npm_", 30},
                                 {"pypi-", 20},
                                 {"dop_v1_", 30},
                                 {"nvapi-", 30},
                                 {"r8_", 30},
                                 {"gsk_", 30},
                                 {"pcsk_", 30},
                                 {"lsv2_", 30},
                                 {"dapi", 36},
                                 {"SG.", 40},
                                 {"shpat_", 30},
                                 {"dckr_pat_", 20},
                                 {"ATATT3", 30},
                                 {"ntn_", 30},
                                 {"figd_", 20},
                                 {"lin_api_", 30},
                                 {"hvs.", 20},
                                 {"AGE-SECRET-KEY-1", 40},
                                 {"tskey-", 20},
                                 {"wandb_v1_", 30},
                                 {"local-", 46},
                                 {"whsec_", 30},
                                 {"sntrys_", 30},
                                 {"rpa_", 30},
                                 {"tgp_v1_", 30},
                                 {"GOCSPX-", 30},
                                 {"1//0", 40},
                                 {"EAAC", 60},
                                 {"PMAK-", 30},
                                 {"doo_v1_", 30},
                                 {"fo1_", 30}};

// Returns the end of the token that begins at `begin`, without the full stop of a sentence.
size_t TokenEnd(const SecretText& text, size_t begin) {
  size_t end = begin;
  while (IsTokenChar(text.at(end))) ++end;
  while (end > begin && text.at(end - 1) == '.') --end;
  return end;
}

// Returns whether base64 holds `user:password`.
bool HoldsPassword(std::string_view word) {
  const std::optional<std::string> plain = TextOfBase64(word);
  const size_t colon = plain ? plain->find(':') : kNowhere;
  return colon != kNowhere && colon > 0 && colon + 1 < plain->size();
}

// Masks the word after "Bearer" and "Basic", which stand also without the name of their header.
void MaskScheme(SecretText& text, size_t begin, size_t end) {
  const std::string_view word = text.view().substr(begin, end - begin);
  const bool is_bearer = word == "Bearer" || word == "bearer",
             is_basic = word == "Basic" || word == "basic";
  if ((!is_bearer && !is_basic) || !IsBlank(text.at(end))) return;
  const size_t value = end + 1, value_end = TokenEnd(text, value);
  const std::string_view secret = text.view().substr(value, value_end - value);
  if (is_bearer ? LooksRandom(secret, 8) || secret.size() >= 16 : HoldsPassword(secret))
    text.Mask(value, value_end);
}

// Masks three parts of base64 with points between, the first of which is a JSON object.
bool MaskJwt(SecretText& text, size_t begin) {
  constexpr std::string_view kObject = "eyJ";  // {"
  if (!text.view().substr(begin).starts_with(kObject)) return false;
  const size_t end = TokenEnd(text, begin);
  const std::string_view token = text.view().substr(begin, end - begin);
  constexpr size_t kLeast = 30;
  if (token.size() < kLeast || std::ranges::count(token, '.') < 1) return false;
  text.Mask(begin + kObject.size(), end);
  return true;
}

// Masks hashes of passwords as crypt(3) writes them: $6$salt$hash.
size_t MaskHash(SecretText& text, size_t at) {
  for (std::string_view form :
       {"$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2"}) {
    if (!text.view().substr(at).starts_with(form)) continue;
    size_t end = at + form.size();
    while (IsTokenChar(text.at(end)) || text.at(end) == '$' || text.at(end) == ',') ++end;
    constexpr size_t kLeast = 30;
    if (end - at >= kLeast) text.Mask(at + form.size(), end);
    return end;
  }
  return at + 1;
}

// Places whose path is the secret: a hook that anybody may call who knows it.
constexpr std::string_view kHooks[] = {
    "hooks.slack.com/services/", "hooks.slack.com/workflows/",     "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/", "discordapp.com/api/webhooks/",   "webhook.office.com/webhookb2/",
    "api.telegram.org/bot",      "chat.googleapis.com/v1/spaces/", "outlook.office.com/webhook/",
    "hook.eu1.make.com/",        "hooks.zapier.com/hooks/catch/"};

bool EndsUrl(char c) {
  return c == '\0' || IsSpace(c) || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`' ||
         c == '\\' || c == '|' || c == '*';
}

}  // namespace

void MaskToken(SecretText& text, size_t begin, size_t end) {
  const size_t token_end = TokenEnd(text, begin);
  constexpr size_t kShortest = 20;
  if (token_end - begin < kShortest) return MaskScheme(text, begin, end);
  if (MaskJwt(text, begin)) return;
  const std::string_view token = text.view().substr(begin, token_end - begin);
  for (const TokenForm& form : kTokens) {
    if (!token.starts_with(form.prefix)) continue;
    if (token.size() >= form.least) text.Mask(begin + form.prefix.size(), token_end);
    return;
  }
}

// Masks what lies between -----BEGIN ... PRIVATE KEY----- and its end. Lines may be separated by
// "\n" of JSON, and begin with the prefix of a log.
void MaskKeys(SecretText& text) {
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";
  constexpr size_t kMost = 64 << 10, kMostTitle = 64;
  size_t at = 0;
  while ((at = text.view().find(kBegin, at)) != kNowhere) {
    at += kBegin.size();
    const size_t title_end = text.view().find(kDashes, at);
    if (title_end == kNowhere || title_end - at > kMostTitle) continue;
    if (text.view().substr(at, title_end - at).find("PRIVATE KEY") == kNowhere) continue;
    const size_t begin = title_end + kDashes.size();
    size_t end = text.view().find(kEnd, begin);
    if (end == kNowhere || end - begin > kMost) {
      // The key is cut: it goes on as long as there are lines of base64.
      end = begin;
      while (IsTokenChar(text.at(end)) || IsSpace(text.at(end)) || text.at(end) == '\\') ++end;
    }
    text.MaskThose(begin, end, [&](size_t i) {
      const bool is_escape = text.at(i - 1) == '\\' && (text.at(i) == 'n' || text.at(i) == 'r');
      return !is_escape &&
             (IsAlnum(text.at(i)) || text.at(i) == '+' || text.at(i) == '/' || text.at(i) == '=');
    });
    at = end;
  }
}

// Masks the password of scheme://user:password@host, a user that is a token, and paths that are
// secrets. Parameters are fields (secret_fields.cc).
void MaskUrls(SecretText& text) {
  constexpr std::string_view kScheme = "://";
  size_t at = 0;
  while ((at = text.view().find(kScheme, at)) != kNowhere) {
    const size_t begin = at += kScheme.size();
    size_t end = begin, slash = kNowhere, last_at = kNowhere;
    while (!EndsUrl(text.at(end))) {
      if (text.at(end) == '/' && slash == kNowhere) slash = end;
      // A password may hold / and @, but an @ after the query or in a later URL is not its end.
      if (text.at(end) == '?' || text.at(end) == '#' || text.at(end) == ',') break;
      if (text.at(end) == '@') last_at = end;
      ++end;
    }
    const std::string_view url = text.view().substr(begin, end - begin);
    for (std::string_view hook : kHooks) {
      if (url.starts_with(hook)) text.Mask(begin + hook.size(), end);
    }
    if (last_at == kNowhere) continue;
    const std::string_view user = text.view().substr(begin, last_at - begin);
    const size_t colon = user.find(':');
    if (colon == kNowhere) {
      if (slash == kNowhere || slash > last_at) {
        if (LooksRandom(user, 16)) text.Mask(begin, last_at);
      }
      continue;
    }
    // http://localhost:6006/a@b has a port there, and http://host/a:b@c a path.
    const std::string_view rest = user.substr(colon + 1);
    const size_t port_end = std::min(rest.find('/'), rest.size());
    if (port_end < rest.size() && (port_end == 0 || IsNumber(rest.substr(0, port_end)))) continue;
    if (slash != kNowhere && slash < begin + colon) continue;
    text.Mask(begin + colon + 1, last_at);
  }
  for (at = text.view().find('$'); at != kNowhere; at = text.view().find('$', at))
    at = MaskHash(text, at);
}

}  // namespace xlaprof
