#include "exporters/timeline/marks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

namespace xlaprof {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Sort(std::vector<Mark>& marks) {
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
    return a.ts_ns != b.ts_ns ? a.ts_ns < b.ts_ns : a.dur_ns > b.dur_ns;
  });
}

// Returns, as JSON, what the title does not say.
std::string Arguments(const Finding& finding) {
  Json json;
  json["severity"] = TextOf(finding.severity);
  json["kind"] = finding.kind();
  json["title"] = finding.words.title;
  auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  auto optional = [&](const char* key, const auto& value) {
    if (value) json[key] = *value;
  };
  const Subject& subject = finding.subject;
  if (subject.file) json["where"] = subject.place().text();
  optional("function", subject.function);
  optional("scope", subject.scope);
  optional("op", subject.op);
  optional("graph_hash", subject.graph_hash);
  optional("count", finding.count);
  optional("per_step", finding.per_step);
  optional("cost_ns", finding.cost_ns);
  text("cost_note", finding.words.cost_note);
  optional("saving_ns", finding.saving_ns);
  text("saving_note", finding.words.saving_note);
  if (finding.reason) {
    const Reason& reason = *finding.reason;
    json["reason"] = TextOf(reason.type);
    if (reason.state) json["state"] = TextOf(*reason.state);
    optional("node", reason.node);
    optional("before", reason.before);
    optional("after", reason.after);
    if (reason.location) json["recorded_at"] = reason.location->text();
    text("why", finding.words.why);
  }
  text("advice", finding.words.advice);
  text("fingerprint", finding.fingerprint);
  return Dump(json);
}

// Returns the query for start, length and track of a row that evidence may name; they are NULL if
// the row has none. An execution with a time on its device belongs to the device's first track with
// events.
const char* TimesOf(std::string_view table) {
  static const std::map<std::string_view, const char*> kSql = {
      {"compile", "SELECT ts_ns, dur_ns, track_id FROM main.compile WHERE id = ?1"},
      {"event", "SELECT ts_ns, dur_ns, track_id FROM event WHERE id = ?1"},
      {"execution",
       "SELECT coalesce(ts_ns, enqueue_ts_ns), dur_ns, coalesce(iif(ts_ns IS NULL, NULL, (SELECT "
       "t.id FROM main.track t WHERE t.device = e.device AND t.process_id IS e.process_id AND "
       "EXISTS (SELECT 1 FROM main.event_chunk WHERE track_id = t.id) ORDER BY t.sort, t.id LIMIT "
       "1)), track_id) FROM main.execution e WHERE id = ?1"},
      {"step", "SELECT ts_ns, dur_ns, NULL FROM main.step WHERE id = ?1"},
      {"transfer", "SELECT ts_ns, dur_ns, track_id FROM main.transfer WHERE id = ?1"},
  };
  auto found = kSql.find(table);
  return found == kSql.end() ? nullptr : found->second;
}

void Add(int64_t ts_ns, OptInt dur_ns, OptInt track_id, EvidencePlaces& places) {
  OptInt& track = places[{ts_ns, std::max<int64_t>(dur_ns.value_or(0), 0)}];
  if (!track) track = track_id;
}

absl::Status AddPlaces(const Store& store, const Evidence& evidence, EvidencePlaces& places) {
  // Events beside a range explain it, for example the host's events during a gap. Only if one of
  // them is exactly that range, the place gets its track.
  const bool has_range = evidence.table == "event" && evidence.ts_ns;
  const char* sql = TimesOf(evidence.table);
  bool found = false;
  OptInt track;
  if (sql != nullptr) {
    for (int64_t row : evidence.rows) {
      XP_TRY(store.Each(
          sql,
          [&](OptInt ts_ns, OptInt dur_ns, OptInt track_id) {
            if (has_range) {
              if (ts_ns == evidence.ts_ns && dur_ns == evidence.dur_ns) track = track_id;
              return;
            }
            if (!ts_ns) return;
            Add(*ts_ns, dur_ns, track_id, places);
            found = true;
          },
          row));
    }
  }
  if (!found && evidence.ts_ns) Add(*evidence.ts_ns, evidence.dur_ns, track, places);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<MarkTrack>> StepMarks(const Store& store) {
  std::vector<MarkTrack> tracks;
  std::map<int64_t, size_t> of_process;
  XP_TRY(store.Each(
      "SELECT s.process_id, s.ordinal, s.number, s.name, s.ts_ns, s.dur_ns, p.rank, p.host FROM "
      "step s LEFT JOIN process p ON p.id = s.process_id WHERE s.ts_ns IS NOT NULL "
      "ORDER BY s.process_id, s.ordinal",
      [&](OptInt process, int64_t ordinal, OptInt number, OptText name, int64_t ts_ns,
          OptInt dur_ns, OptInt rank, OptText host) {
        auto [found, is_new] = of_process.emplace(process.value_or(0), tracks.size());
        if (is_new) {
          std::string whose = rank   ? fmt::format(" of rank {}", *rank)
                              : host ? " of " + *host
                                     : fmt::format(" of process {}", process.value_or(0));
          tracks.push_back({"steps" + whose, "xlaprof.step", {}});
        }
        Json arguments = {{"ordinal", ordinal}};
        if (number) arguments["number"] = *number;
        tracks[found->second].marks.push_back(
            {ts_ns, std::max<int64_t>(dur_ns.value_or(0), 0),
             fmt::format("{} {}", name.value_or("step"), number.value_or(ordinal)), Dump(arguments),
             Severity::kInfo});
      }));
  if (tracks.size() == 1) tracks[0].name = "steps";
  for (MarkTrack& track : tracks) Sort(track.marks);
  return tracks;
}

absl::StatusOr<EvidencePlaces> PlacesOf(const Store& store, const Finding& finding) {
  EvidencePlaces places;
  for (const Evidence& evidence : finding.evidence) XP_TRY(AddPlaces(store, evidence, places));
  return places;
}

absl::StatusOr<MarkTrack> FindingMarks(const Store& store, const Findings& findings,
                                       int64_t start_ns) {
  MarkTrack track{"findings", "xlaprof.finding", {}};
  for (const Finding& finding : findings) {
    XP_TRY(EvidencePlaces places, PlacesOf(store, finding));
    if (places.empty()) places.try_emplace({start_ns, 0});
    const std::string arguments = Arguments(finding);
    for (const auto& [time, of_track] : places) {
      track.marks.push_back({time.first, time.second,
                             fmt::format("{}: {}", finding.kind(), finding.words.title), arguments,
                             finding.severity});
    }
  }
  Sort(track.marks);
  return track;
}

}  // namespace xlaprof
