#include "profiler/import/chrome/chrome_pairs.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace xlaprof {
namespace {

using json::Value;

void Append(const Value& value, std::string* key) {
  if (value.kind() != json::Kind::kNone) *key += value.raw();
  *key += '\0';
}

}  // namespace

// Keeps the operations in the order in which they began. Each costs the same, however many are
// open.
class ChromePairs::OpenMarks {
 public:
  struct Open {
    const Mark* mark;       // null: it has ended
    std::string_view name;  // raw
    uint32_t below;         // the one of its name that was open when it began, or kNone
  };

  bool empty() const { return all_.empty(); }
  std::string_view outermost() const { return all_[first_].name; }
  std::span<const Open> all() const { return all_; }  // may include some that have ended

  void Push(const Mark* mark, std::string_view name) {
    const auto place = uint32_t(all_.size());
    auto [found, is_new] = innermost_.emplace(name, place);
    all_.push_back({mark, name, is_new ? kNone : std::exchange(found->second, place)});
  }
  // Returns the innermost operation of that name, or of any name if it is empty; null if there is
  // none.
  const Open* Find(std::string_view name) const {
    if (all_.empty()) return nullptr;
    if (name.empty()) return &all_.back();
    auto found = innermost_.find(name);
    return found == innermost_.end() ? nullptr : &all_[found->second];
  }
  // Closes the operation that Find() returned.
  void Close(const Open* open) {
    const auto place = size_t(open - all_.data());
    if (open->below == kNone) {
      innermost_.erase(open->name);
    } else {
      innermost_[open->name] = open->below;
    }
    all_[place].mark = nullptr;
    while (!all_.empty() && all_.back().mark == nullptr) all_.pop_back();
    while (first_ < all_.size() && all_[first_].mark == nullptr) ++first_;
    if (all_.empty()) first_ = 0;
  }
  void Clear() {
    all_.clear();
    innermost_.clear();
    first_ = 0;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<Open> all_;  // neither the last nor the one at first_ has ended
  size_t first_ = 0;
  absl::flat_hash_map<std::string_view, uint32_t> innermost_;  // by name: its place in all_
};

void ChromePairs::Marks::Add(const ChromeEvent& event, Picoseconds ts) {
  const uint32_t group = groups.emplace(key, uint32_t(groups.size())).first->second;
  const char phase = event.phase;
  all.push_back({ts.ns, ts.ps, group, event.offset,
                 phase == 'B' || phase == 'b' || phase == 'S'   ? Mark::kBegin
                 : phase == 'E' || phase == 'e' || phase == 'F' ? Mark::kEnd
                                                                : Mark::kInstant});
}

void ChromePairs::AddThread(const ChromeEvent& event, Picoseconds ts) {
  threads_.key.clear();
  Append(event.pid, &threads_.key);
  Append(event.tid, &threads_.key);
  threads_.Add(event, ts);
}

// An operation is identified by its category and id; the id is the process's own only if the event
// says so.
void ChromePairs::AddAsync(const ChromeEvent& event, Picoseconds ts) {
  std::string& key = asyncs_.key;
  key.clear();
  const bool local = event.id_local.kind() != json::Kind::kNone;
  Append(event.cat, &key);
  Append(local                                         ? event.id_local
         : event.id_global.kind() != json::Kind::kNone ? event.id_global
                                                       : event.id,
         &key);
  if (local) Append(event.pid, &key);
  for (const ChromeArgs::Arg& arg : event.args) {
    if (arg.key.raw() == "scope") Append(arg.value, &key);
  }
  // In the older kind, an operation is identified by its name, too.
  if (event.phase == 'S' || event.phase == 'F' || event.phase == 'T' || event.phase == 'p')
    Append(event.name, &key);
  asyncs_.Add(event, ts);
}

absl::Status ChromePairs::Match(Marks& marks, OddInput& odd, const Emit& emit) {
  std::stable_sort(marks.all.begin(), marks.all.end(), [](const Mark& a, const Mark& b) {
    return std::tie(a.group, a.ts_ns, a.ts_ps) < std::tie(b.group, b.ts_ns, b.ts_ps);
  });
  OpenMarks open;
  std::vector<ChromeArgs::Arg> args(2 * ChromeArgs::kMax);
  ChromeEvent begin(args.data()), end(args.data() + ChromeArgs::kMax);
  auto read = [&](const Mark& mark, ChromeEvent* event) {
    json::Scanner in(file_);
    in.MoveTo(size_t(mark.offset));
    reader_.Read(in, event);  // it was read before
  };
  auto name_of = [](const ChromeEvent& event) {
    return event.name.kind() == json::Kind::kText ? event.name.raw() : std::string_view();
  };
  // `last` is the mark of its end, or the mark itself if it has none.
  auto give = [&](const Mark& mark, std::string_view outermost, const Mark& last) {
    read(mark, &begin);
    return emit({.begin = begin,
                 .end = last.what == Mark::kEnd ? &end : nullptr,
                 .instant = mark.what == Mark::kInstant,
                 .ts = {mark.ts_ns, mark.ts_ps},
                 .end_ts = {last.ts_ns, last.ts_ps},
                 .outermost = outermost});
  };
  auto close_all = [&]() -> absl::Status {
    for (const OpenMarks::Open& one : open.all()) {
      if (one.mark == nullptr) continue;
      odd.Count(
          "never_ended", Severity::kInfo,
          "Events have a beginning but no end, because the trace stops before it or the end was lost. Their duration is unknown.",
          one.mark->offset);
      XP_TRY(give(*one.mark, open.outermost(), *one.mark));
    }
    open.Clear();
    return absl::OkStatus();
  };
  uint32_t group = 0;
  for (const Mark& mark : marks.all) {
    if (mark.group != group) XP_TRY(close_all());
    group = mark.group;
    if (mark.what != Mark::kEnd) {
      read(mark, &begin);
      const std::string_view name = name_of(begin);
      if (mark.what == Mark::kBegin) {
        open.Push(&mark, name);
      } else {
        XP_TRY(give(mark, open.empty() ? name : open.outermost(), mark));
      }
      continue;
    }
    read(mark, &end);
    const OpenMarks::Open* match = open.Find(name_of(end));
    if (match == nullptr) {
      odd.Count(
          "end_without_begin", Severity::kWarning,
          "Ends of events that never began were left out: the trace starts after those events began, or begin and end have different names.",
          mark.offset);
      continue;
    }
    XP_TRY(give(*match->mark, open.outermost(), mark));
    open.Close(match);
  }
  XP_TRY(close_all());
  marks.all = {};
  return absl::OkStatus();
}

}  // namespace xlaprof
