#include "profiler/record/sites.h"

#include "core/base/source_location.h"
#include "profiler/record/record.h"

namespace xlaprof {
namespace record {

Sites& Sites::Get() {
  static Sites& sites = *new Sites;
  return sites;
}

// The first of all strings, and of the sites one a kind.
constexpr uint32_t kLostString = 1;
static uint32_t LostSite(uint8_t kind) { return 1 + kind; }

Sites::Sites() {
  StringLocked("(not kept: the recording holds no more texts)", kPlace);
  for (uint8_t kind = 0; kind < Site::kKindCount; ++kind)
    AddLocked(kind, strings_[kLostString - 1], "", 0, "", kPlace);
}

void Sites::Lose() {
  if (file_ != nullptr) file_->header().lost_texts.fetch_add(1, std::memory_order_relaxed);
}

uint32_t Sites::StringLocked(std::string_view text, Use use) {
  text = text.substr(0, kMaxStringBytes);
  auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  constexpr size_t kSpareBytes[] = {kNameBytes, kNameBytes / 2, 0};
  const size_t bytes = RingFile::StringBytes(text);
  if (string_bytes_ + bytes + kSpareBytes[use] > kStringBytes) {
    Lose();
    return kLostString;
  }
  string_bytes_ += bytes;
  strings_.emplace_back(text);
  const uint32_t id = uint32_t(strings_.size());
  ids_.emplace(text, id);
  if (file_ != nullptr) {
    full_ = full_ || file_->AddString(text) == 0;
    if (full_) Lose();
  }
  return id;
}

uint32_t Sites::String(std::string_view text, Use use) {
  std::lock_guard lock(mutex_);
  return StringLocked(text, use);
}

uint32_t Sites::AddLocked(uint8_t kind, std::string_view name, std::string_view file, int line,
                          std::string_view function, Use use) {
  if (sites_.size() + (use == kPlace ? 0 : kPlacedSites) >= kMaxSites) {
    Lose();
    return LostSite(kind);
  }
  SiteEntry site{};
  site.name = StringLocked(name, use);
  site.file = StringLocked(file, use);
  site.function = StringLocked(function, use);
  site.line = line;
  site.kind = kind;
  sites_.push_back(site);
  if (file_ != nullptr) {
    full_ = full_ || file_->AddSite(site) == 0;
    if (full_) Lose();
  }
  return uint32_t(sites_.size());
}

uint32_t Sites::Add(uint8_t kind, std::string_view name, std::string_view file, int line,
                    std::string_view function) {
  std::lock_guard lock(mutex_);
  return AddLocked(kind, name, file, line, function, kPlace);
}

uint32_t Sites::OfName(uint8_t kind, std::string_view name, std::string_view file, int line,
                       std::string_view function) {
  std::lock_guard lock(mutex_);
  const uint32_t text = StringLocked(name, kMadeName);
  if (text == kLostString) return LostSite(kind);
  const std::tuple key(kind, text, StringLocked(file, kMadeName), line);
  if (auto found = named_.find(key); found != named_.end()) return found->second;
  const uint32_t id = AddLocked(kind, name, file, line, function, kMadeName);
  if (id != LostSite(kind)) named_.emplace(key, id);
  return id;
}

void Sites::Attach(RingFile* file) {
  std::lock_guard lock(mutex_);
  file_ = file;
  full_ = false;
  if (file == nullptr) return;
  for (const std::string& text : strings_) full_ = full_ || file->AddString(text) == 0;
  for (const SiteEntry& site : sites_) full_ = full_ || file->AddSite(site) == 0;
  if (full_) Lose();
}

}  // namespace record

uint32_t Site::Register() {
  // Two threads may come at once: both numbers are good, one is kept.
  uint32_t none = 0;
  const uint32_t id = record::Sites::Get().Add(kind_, name_, file_, line_, function_);
  return id_.compare_exchange_strong(none, id, std::memory_order_acq_rel) ? id : none;
}

// Each thread remembers what it has asked for; not more than it will ask for again.
static void Remember(record::NumberOfText& known, std::string_view text, uint32_t id) {
  constexpr size_t kMaxKnown = 1 << 14;
  if (known.size() == kMaxKnown) known.clear();
  known.emplace(text, id);
}

// What a thread has asked for. Other objects of the thread may record when this is gone.
using SiteKey = std::tuple<Site::Kind, const char*, uint32_t>;
constinit static thread_local bool known_is_gone = false;
struct Known {
  record::NumberOfText names[Site::kKindCount], texts;
  absl::flat_hash_map<SiteKey, record::NumberOfText> at_places;
  ~Known() { known_is_gone = true; }
};
static thread_local Known known;

uint32_t SiteOfName(Site::Kind kind, std::string_view name) {
  if (known_is_gone) return record::Sites::Get().OfName(kind, name);
  auto& of_kind = known.names[kind];
  if (auto found = of_kind.find(name); found != of_kind.end()) return found->second;
  const uint32_t id = record::Sites::Get().OfName(kind, name);
  Remember(of_kind, name, id);
  return id;
}

uint32_t SiteOfName(Site::Kind kind, std::string_view name, const std::source_location& place) {
  auto add = [&] {
    return record::Sites::Get().OfName(kind, name, place.file_name(), int(place.line()),
                                       FunctionName(place));
  };
  if (known_is_gone) return add();
  record::NumberOfText& here = known.at_places[{kind, place.file_name(), place.line()}];
  if (auto found = here.find(name); found != here.end()) return found->second;
  const uint32_t id = add();
  Remember(here, name, id);
  return id;
}

uint32_t RecordedString(std::string_view text) {
  if (known_is_gone) return record::Sites::Get().String(text, record::Sites::kArgument);
  if (auto found = known.texts.find(text); found != known.texts.end()) return found->second;
  const uint32_t id = record::Sites::Get().String(text, record::Sites::kArgument);
  Remember(known.texts, text, id);
  return id;
}

}  // namespace xlaprof
