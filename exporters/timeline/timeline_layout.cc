#include "exporters/timeline/timeline_layout.h"

#include <map>
#include <tuple>

#include "exporters/timeline/process_labels.h"

namespace xlaprof {
namespace {

// Perfetto treats larger ids as 0, and 0 as the idle thread of all processes.
constexpr int64_t kMaxNumber = INT32_MAX;

struct StoreProcess {
  int64_t id;
  OptText host;
  OptInt pid, rank;
  OptText name;
};

}  // namespace

int64_t TimelineLayout::Number(OptInt wanted) {
  if (wanted && *wanted > 0 && *wanted <= kMaxNumber && numbers_.insert(*wanted).second)
    return *wanted;
  while (!numbers_.insert(++last_number_).second) continue;
  return last_number_;
}

int64_t TimelineLayout::Tid(int64_t pid, OptInt wanted) {
  // A process's main thread has the number of the process.
  if (wanted == pid && main_threads_.insert(pid).second) return pid;
  return Number(wanted);
}

int64_t TimelineLayout::NewTid() { return Number({}); }

absl::StatusOr<TimelineLayout> TimelineLayout::Make(const Store& store) {
  TimelineLayout layout;
  XP_TRY(layout.ReadTracks(store));
  return layout;
}

absl::Status TimelineLayout::ReadTracks(const Store& store) {
  std::string where;
  if (auto process = store.slice().process_id)
    where = fmt::format(" WHERE {{}} = {0} OR {{}} IS NULL", *process);
  auto only = [&](const char* column) {
    return where.empty() ? "" : fmt::format(fmt::runtime(where), column, column);
  };
  std::map<int64_t, StoreProcess> known;
  XP_TRY(store.Each("SELECT id, host, pid, rank, name FROM process" + only("id") + " ORDER BY id",
                    [&](int64_t id, OptText host, OptInt pid, OptInt rank, OptText name) {
                      known[id] = {id, host, pid, rank, name};
                    }));
  // Assigns real numbers first, so that made-up numbers avoid them.
  std::map<int64_t, int64_t> pids;
  std::map<std::string, std::vector<int64_t>> of_labels;
  for (const auto& [id, process] : known) {
    if (process.pid) pids[id] = Number(process.pid);
    of_labels[ProcessLabels(process.host, process.pid, process.rank)].push_back(id);
  }
  // Makes labels unique, because they show which process a device belongs to.
  std::map<int64_t, std::string> labels_of;
  for (const auto& [labels, ids] : of_labels) {
    for (int64_t id : ids) {
      std::string& own = labels_of[id] = labels;
      if (ids.size() > 1) own += fmt::format("{}process {}", labels.empty() ? "" : ", ", id);
    }
  }
  processes_.push_back({Number({}), "xlaprof", "steps and findings"});

  // Maps (process, device) to an index in processes_; a host has the empty device.
  std::map<std::pair<int64_t, std::string>, size_t> groups;
  auto group_of = [&](OptInt process_id, const OptText& device) {
    const int64_t id = process_id.value_or(0);
    auto [found, is_new] = groups.emplace(std::pair(id, device.value_or("")), processes_.size());
    if (!is_new) return found->second;
    auto process = known.find(id);
    TimelineProcess made{0, "host", process == known.end() ? "" : labels_of[id]};
    if (process != known.end() && process->second.name) made.name = *process->second.name;
    if (device) made.name = "/device:" + *device;
    // If there is only one process, its devices need not name it.
    const bool named = !device && process != known.end() && process->second.name;
    if (!made.labels.empty() && !named && (!device || known.size() > 1))
      made.name += " (" + made.labels + ")";
    auto pid = pids.find(id);
    made.pid = !device && pid != pids.end() ? pid->second : Number({});
    processes_.push_back(std::move(made));
    return found->second;
  };

  std::map<std::pair<int64_t, std::string>, int> counter_names;
  absl::Status status =
      store.Each("SELECT id, process_id, kind, name, tid, device FROM track" + only("process_id") +
                     " ORDER BY process_id IS NULL, process_id, device IS NOT NULL, sort, id",
                 [&](int64_t id, OptInt process_id, TrackKind kind, std::string name, OptInt tid,
                     OptText device) {
                   const TimelineProcess& process = processes_[group_of(process_id, device)];
                   if (kind == TrackKind::kCounter) {
                     // Counters have no number, so only the name distinguishes counters of one
                     // process.
                     int nth = ++counter_names[{process.pid, name}];
                     if (nth > 1) name += fmt::format(" ({})", nth);
                     counters_.push_back({id, process.pid, 0, name, false});
                     return;
                   }
                   TimelineTrack track{id, process.pid, 0, name, kind == TrackKind::kAsync};
                   track.tid = Tid(process.pid, tid);
                   tracks_.push_back(std::move(track));
                 });
  return status;
}

}  // namespace xlaprof
