#include "profiler/record/sites.h"

#include "base/source_location.h"
#include "profiler/record/record.h"

namespace xlaprof {
namespace record {

Sites& Sites::Get() {
  static Sites& sites = *new Sites;
  return sites;
}

// The first string, and the first sites (one per category), stand for entries that had no room.
constexpr uint32_t kLostString = 1;
static uint32_t LostSite(Category category) { return 1 + uint32_t(category); }

Sites::Sites() {
  StringLocked("(not kept: the recording holds no more texts)", kPlace);
  for (size_t category = 0; category < kCategoryCount; ++category)
    AddLocked(Category(category), strings_[kLostString - 1], "", 0, "", "", kPlace);
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

uint32_t Sites::AddLocked(Category category, std::string_view name, std::string_view file, int line,
                          std::string_view function, std::string_view label, Use use) {
  if (sites_.size() + (use == kPlace ? 0 : kPlacedSites) >= kMaxSites) {
    Lose();
    return LostSite(category);
  }
  SiteEntry site{};
  site.name = StringLocked(name, use);
  site.file = StringLocked(file, use);
  site.function = StringLocked(function, use);
  site.line = line;
  site.category = uint8_t(category);
  site.label = label.empty() ? 0 : StringLocked(label, use);
  sites_.push_back(site);
  if (file_ != nullptr) {
    full_ = full_ || file_->AddSite(site) == 0;
    if (full_) Lose();
  }
  return uint32_t(sites_.size());
}

uint32_t Sites::Add(Category category, std::string_view name, std::string_view file, int line,
                    std::string_view function, std::string_view label) {
  std::lock_guard lock(mutex_);
  return AddLocked(category, name, file, line, function, label, kPlace);
}

uint32_t Sites::OfName(Category category, std::string_view name, std::string_view file, int line,
                       std::string_view function) {
  std::lock_guard lock(mutex_);
  const uint32_t text = StringLocked(name, kMadeName);
  if (text == kLostString) return LostSite(category);
  const std::tuple key(category, text, StringLocked(file, kMadeName), line);
  if (auto found = named_.find(key); found != named_.end()) return found->second;
  const uint32_t id = AddLocked(category, name, file, line, function, "", kMadeName);
  if (id != LostSite(category)) named_.emplace(key, id);
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

uint32_t record::RegisterSite(Site& site) {
  constexpr Category kCategories[] = {Category::kScope, Category::kStep, Category::kNone};
  const Category category =
      site.kind < std::size(kCategories) ? kCategories[site.kind] : Category::kScope;
  const auto text = [](const char* text) { return std::string_view(text != nullptr ? text : ""); };
  const uint32_t id = Sites::Get().Add(category, text(site.name), text(site.file), site.line,
                                       text(site.function), text(site.category));
  // Two threads may register at once. Both numbers are valid, and one is kept.
  uint32_t none = 0;
  return __atomic_compare_exchange_n(&site.id, &none, id, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
             ? id
             : none;
}

// Remembers a number for this thread. A full cache is emptied, because a thread that names so many
// texts will hardly ask for them again.
static void Remember(record::NumberOfText& known, std::string_view text, uint32_t id) {
  constexpr size_t kMaxKnown = 1 << 14;
  if (known.size() == kMaxKnown) known.clear();
  known.emplace(text, id);
}

// The numbers that a thread has asked for. Other objects of the thread may record after its
// destruction.
using SiteKey = std::tuple<Category, const char*, uint32_t>;
constinit static thread_local bool known_is_gone = false;
struct Known {
  record::NumberOfText names[kCategoryCount], texts;
  absl::flat_hash_map<SiteKey, record::NumberOfText> at_places;
  ~Known() { known_is_gone = true; }
};
static thread_local Known known;

uint32_t SiteOfName(Category category, std::string_view name) {
  if (known_is_gone) return record::Sites::Get().OfName(category, name);
  auto& of_category = known.names[size_t(category)];
  if (auto found = of_category.find(name); found != of_category.end()) return found->second;
  const uint32_t id = record::Sites::Get().OfName(category, name);
  Remember(of_category, name, id);
  return id;
}

uint32_t SiteOfName(Category category, std::string_view name, const std::source_location& place) {
  auto add = [&] {
    return record::Sites::Get().OfName(category, name, place.file_name(), int(place.line()),
                                       FunctionName(place));
  };
  if (known_is_gone) return add();
  record::NumberOfText& here = known.at_places[{category, place.file_name(), place.line()}];
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
