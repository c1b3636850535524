#include "profiler/import/chrome/chrome_pairs.h"

#include <algorithm>
#include <tuple>

namespace xlaprof {
namespace {

using json::Value;

void Append(const Value& value, std::string* key) {
  if (value.kind() != json::Kind::kNone) *key += value.raw();
  *key += '\0';
}

}  // namespace

void ChromePairs::Marks::Add(const ChromeEvent& event, Picoseconds ts, bool begins) {
  const uint32_t group = groups.emplace(key, uint32_t(groups.size())).first->second;
  all.push_back({ts.ns, ts.ps, group, event.offset, begins});
}

void ChromePairs::AddThread(const ChromeEvent& event, Picoseconds ts) {
  threads_.key.clear();
  Append(event.pid, &threads_.key);
  Append(event.tid, &threads_.key);
  threads_.Add(event, ts, event.phase == 'B');
}

// An operation is its category and id; the id is the process's own only where it says so.
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
  // The older kind: an operation is its name, too.
  if (event.phase == 'S' || event.phase == 'F') Append(event.name, &key);
  asyncs_.Add(event, ts, event.phase == 'b' || event.phase == 'S');
}

absl::Status ChromePairs::Match(Marks& marks, OddInput& odd, const Emit& emit) {
  std::stable_sort(marks.all.begin(), marks.all.end(), [](const Mark& a, const Mark& b) {
    return std::tie(a.group, a.ts_ns, a.ts_ps) < std::tie(b.group, b.ts_ns, b.ts_ps);
  });
  struct Open {
    const Mark* mark;
    std::string_view name;  // raw
  };
  std::vector<Open> open;
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
  auto give = [&](const Open& one, const Mark* ended) {
    read(*one.mark, &begin);
    const Mark& last = ended != nullptr ? *ended : *one.mark;
    return emit({begin,
                 ended != nullptr ? &end : nullptr,
                 {one.mark->ts_ns, one.mark->ts_ps},
                 {last.ts_ns, last.ts_ps},
                 open.empty() ? one.name : open.front().name});
  };
  auto close_all = [&]() -> absl::Status {
    for (const Open& one : open) {
      odd.Count("never_ended", "info",
                "events that have a beginning and no end: the trace stops before it, or the end "
                "was lost. Their length is unknown",
                one.mark->offset);
      XP_TRY(give(one, nullptr));
    }
    open.clear();
    return absl::OkStatus();
  };
  uint32_t group = 0;
  for (const Mark& mark : marks.all) {
    if (mark.group != group) XP_TRY(close_all());
    group = mark.group;
    if (mark.begins) {
      read(mark, &begin);
      open.push_back({&mark, name_of(begin)});
      continue;
    }
    read(mark, &end);
    const std::string_view name = name_of(end);
    auto match = std::find_if(open.rbegin(), open.rend(),
                              [&](const Open& one) { return name.empty() || one.name == name; });
    if (match == open.rend()) {
      odd.Count("end_without_begin", "warning",
                "ends of events that never began were left out: the trace begins after them, or "
                "their names differ from those that they should end",
                mark.offset);
      continue;
    }
    XP_TRY(give(*match, &mark));
    open.erase(std::next(match).base());
  }
  XP_TRY(close_all());
  marks.all = {};
  return absl::OkStatus();
}

}  // namespace xlaprof
