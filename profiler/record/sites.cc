#include "profiler/record/sites.h"

#include "core/base/source_location.h"
#include "profiler/record/record.h"

namespace xlaprof {
namespace record {

Sites& Sites::Get() {
  static Sites& sites = *new Sites;
  return sites;
}

uint32_t Sites::StringLocked(std::string_view text) {
  text = text.substr(0, kMaxStringBytes);
  auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  strings_.emplace_back(text);
  const uint32_t id = uint32_t(strings_.size());
  ids_.emplace(text, id);
  if (file_ != nullptr && !full_) full_ = file_->AddString(text) == 0;
  return id;
}

uint32_t Sites::String(std::string_view text) {
  std::lock_guard lock(mutex_);
  return StringLocked(text);
}

uint32_t Sites::AddLocked(uint8_t kind, std::string_view name, std::string_view file, int line,
                          std::string_view function) {
  SiteEntry site{};
  site.name = StringLocked(name);
  site.file = StringLocked(file);
  site.function = StringLocked(function);
  site.line = line;
  site.kind = kind;
  sites_.push_back(site);
  if (file_ != nullptr && !full_) full_ = file_->AddSite(site) == 0;
  return uint32_t(sites_.size());
}

uint32_t Sites::Add(uint8_t kind, std::string_view name, std::string_view file, int line,
                    std::string_view function) {
  std::lock_guard lock(mutex_);
  return AddLocked(kind, name, file, line, function);
}

uint32_t Sites::OfName(uint8_t kind, std::string_view name, std::string_view file, int line,
                       std::string_view function) {
  std::lock_guard lock(mutex_);
  uint32_t& id = named_[{kind, StringLocked(name), StringLocked(file), line}];
  if (id == 0) id = AddLocked(kind, name, file, line, function);
  return id;
}

void Sites::Attach(RingFile* file) {
  std::lock_guard lock(mutex_);
  file_ = file;
  full_ = false;
  if (file == nullptr) return;
  for (const std::string& text : strings_) full_ = full_ || file->AddString(text) == 0;
  for (const SiteEntry& site : sites_) full_ = full_ || file->AddSite(site) == 0;
}

}  // namespace record

uint32_t Site::Register() {
  // Two threads may come at once: both numbers are good, one is kept.
  uint32_t none = 0;
  const uint32_t id = record::Sites::Get().Add(kind_, name_, file_, line_, function_);
  return id_.compare_exchange_strong(none, id, std::memory_order_acq_rel) ? id : none;
}

// Each thread remembers what it has asked for.
uint32_t SiteOfName(Site::Kind kind, std::string_view name) {
  thread_local record::NumberOfText known[Site::kKindCount];
  auto& of_kind = known[kind];
  if (auto found = of_kind.find(name); found != of_kind.end()) return found->second;
  const uint32_t id = record::Sites::Get().OfName(kind, name);
  of_kind.emplace(name, id);
  return id;
}

uint32_t SiteOfName(Site::Kind kind, std::string_view name, const std::source_location& place) {
  using Place = std::tuple<Site::Kind, const char*, uint32_t>;
  thread_local absl::flat_hash_map<Place, record::NumberOfText> known;
  record::NumberOfText& here = known[{kind, place.file_name(), place.line()}];
  if (auto found = here.find(name); found != here.end()) return found->second;
  const uint32_t id = record::Sites::Get().OfName(kind, name, place.file_name(), int(place.line()),
                                                  FunctionName(place));
  here.emplace(name, id);
  return id;
}

uint32_t RecordedString(std::string_view text) {
  thread_local record::NumberOfText known;
  if (auto found = known.find(text); found != known.end()) return found->second;
  const uint32_t id = record::Sites::Get().String(text);
  constexpr size_t kMaxKnown = 1 << 14;
  if (known.size() == kMaxKnown) known.clear();
  known.emplace(text, id);
  return id;
}

}  // namespace xlaprof
