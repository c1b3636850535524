#include "profiler/import/log/dynamo_recompiles.h"

#include <algorithm>

#include "base/numbers.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

constexpr size_t kMostFailureBytes = 16 << 10;  // of a check that failed, with its stack

// Returns the text behind `label`, without spaces, or nothing if the line does not hold the label.
std::optional<std::string_view> TextBehind(std::string_view line, std::string_view label) {
  const size_t at = line.find(label);
  if (at == kNone) return {};
  return Trim(line.substr(at + label.size()));
}

// Returns whether a text begins with the number of a program, such as "0/7: ".
bool NamesProgram(std::string_view text) {
  const size_t end = text.find_first_not_of("0123456789/");
  return end != kNone && end > 0 && text[end] == ':' && text.substr(0, end).find('/') != kNone;
}

void SetPlace(std::string_view text, DynamoRecompile& of) {
  const size_t colon = text.rfind(':');
  if (colon == kNone) return;
  of.line = ParseCount(text.substr(colon + 1)).value_or(0);
  if (of.line > 0) of.file = ToUtf8(text.substr(0, colon));
}

}  // namespace

void DynamoRecompileReader::Begin(const LogTexts& texts, bool is_limit, std::string_view label) {
  std::string_view prefix = texts.text().substr(0, texts.text().find(label));
  // The mark stands behind the prefix.
  for (std::string_view mark : {kDynamoRecompiles, kOldDynamoRecompiles})
    prefix = prefix.substr(0, prefix.find(mark));
  all_.push_back({.what = {.is_limit = is_limit,
                           .offset = texts.offset(),
                           .number = texts.number(),
                           .prefix = ParseDynamoPrefix(prefix)}});
  is_last_line_ = true;
  by_prefix_[all_.back().what.prefix.text] = all_.size() - 1;
}

DynamoRecompileReader::Message* DynamoRecompileReader::MessageOf(std::string_view prefix,
                                                                 bool is_limit) {
  if (all_.empty()) return nullptr;
  const auto same = by_prefix_.find(std::string(Trim(prefix)));
  // Old versions print a prefix only before the first line.
  Message& message = same == by_prefix_.end() ? all_.back() : all_[same->second];
  return message.what.is_limit == is_limit ? &message : nullptr;
}

void DynamoRecompileReader::Take(const LogTexts& texts) {
  const std::string_view line = texts.text();
  if (const auto hit = TextBehind(line, kDynamoLimit)) {
    Begin(texts, /*is_limit=*/true, kDynamoLimit);
    const size_t open = hit->find('('), close = hit->find(')');
    if (open != kNone && close != kNone && close > open)
      all_.back().what.limit = ParseCount(hit->substr(open + 1, close - open - 1));
    return;
  }
  if (const auto text = TextBehind(line, kDynamoRecompiling)) {
    Begin(texts, /*is_limit=*/false, kDynamoRecompiling);
    Message& message = all_.back();
    // Takes "step in /x/train.py:19", or what torch 2.0 prints in one line.
    constexpr std::string_view kFailure = "guard failure: ";
    const size_t quote = text->find("', \"triggered");
    const std::string_view place = text->substr(0, quote);
    const size_t in = place.rfind(" in ");
    message.what.function = ToUtf8(place.substr(0, in));
    if (quote == kNone) {
      if (in != kNone) SetPlace(place.substr(in + 4), message.what);
      return;
    }
    if (in != kNone) message.what.file = ToUtf8(place.substr(in + 4));
    if (const auto failure = TextBehind(text->substr(quote), kFailure))
      message.failures.emplace_back(failure->substr(0, failure->rfind("\")")));
    return;
  }
  if (all_.empty()) return;
  if (!Trim(line).empty()) is_last_line_ = line.find(kDynamoRecompiles) != kNone;
  TakeOfLimit(line, texts.ended());
  TakeOfRecompile(line, texts.ended());
}

// Takes "function: 'step' (/home/u/train.py:19)" and "last reason: 0/7: ...". A reason that is cut is none.
void DynamoRecompileReader::TakeOfLimit(std::string_view line, bool is_whole) {
  constexpr std::string_view kFunction = "function: '";
  if (const auto text = TextBehind(line, kFunction)) {
    Message* message = MessageOf(line.substr(0, line.find(kFunction)), /*is_limit=*/true);
    if (message == nullptr || !message->what.function.empty()) return;
    message->what.function = ToUtf8(text->substr(0, text->find('\'')));
    const size_t open = text->rfind('('), close = text->rfind(')');
    if (open != kNone && close != kNone && close > open)
      SetPlace(text->substr(open + 1, close - open - 1), message->what);
    return;
  }
  for (std::string_view label : {"last reason:", "reasons:"}) {
    const auto text = TextBehind(line, label);
    if (!text || !is_whole) continue;
    Message* message = MessageOf(line.substr(0, line.find(label)), /*is_limit=*/true);
    if (message != nullptr && message->failures.empty()) message->failures.emplace_back(*text);
    return;
  }
}

// Takes the first line of a check that failed, such as "- 0/0: tensor 'x' size mismatch", and the lines
// of the stack behind it, which begin with a dash as well.
void DynamoRecompileReader::TakeOfRecompile(std::string_view line, bool is_whole) {
  std::string_view mark = kDynamoRecompiles;
  size_t at = line.find(mark);
  if (at == kNone) mark = kOldDynamoRecompiles, at = line.find(mark);
  if (at == kNone || !is_whole) return;
  std::string_view text = Trim(line.substr(at + mark.size()));
  if (!text.starts_with("- ")) return;
  text.remove_prefix(2);
  Message* message = MessageOf(line.substr(0, at), /*is_limit=*/false);
  if (message == nullptr) return;
  std::vector<std::string>& failures = message->failures;
  // Before 2.3, no failure names its program.
  if (failures.empty() || NamesProgram(text) || !NamesProgram(failures.back())) {
    failures.emplace_back(text);
  } else if (failures.back().size() < kMostFailureBytes) {
    failures.back().append("\n").append(text);
  }
}

// Returns whether the text was cut inside of its last message: before its checks, or where the warning
// would follow that the function has reached its limit, which is 8 unless the program sets it.
bool DynamoRecompileReader::MayLackItsEnd() const {
  constexpr int64_t kUsualLimit = 8;
  if (all_.empty() || all_.back().what.is_limit) return false;
  const Message& last = all_.back();
  if (last.failures.empty()) return true;
  return is_last_line_ && last.what.prefix.id && last.what.prefix.id->program == kUsualLimit;
}

// Names the function of a limit whose message is cut: it is that of the recompilation before it.
void DynamoRecompileReader::SetFunctionsOfLimits() {
  for (size_t i = 1; i < all_.size(); ++i) {
    DynamoRecompile& limit = all_[i].what;
    const DynamoRecompile& before = all_[i - 1].what;
    if (!limit.is_limit || !limit.function.empty() || !limit.prefix.id || !before.prefix.id ||
        limit.prefix.origin != before.prefix.origin ||
        limit.prefix.id->both() != before.prefix.id->both())
      continue;
    limit.function = before.function, limit.file = before.file, limit.line = before.line;
  }
}

std::vector<DynamoRecompile> DynamoRecompileReader::Finish() {
  std::vector<DynamoRecompile> named;
  if (MayLackItsEnd()) all_.pop_back();
  SetFunctionsOfLimits();
  for (Message& message : all_) {
    if (message.what.function.empty()) continue;
    for (const std::string& text : message.failures)
      message.what.failures.push_back(ParseGuardFailure(ToUtf8(text)));
    named.push_back(std::move(message.what));
  }
  return named;
}

}  // namespace xlaprof
