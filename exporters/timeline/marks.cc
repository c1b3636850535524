#include "exporters/timeline/marks.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "exporters/output/json_text.h"

namespace xlaprof {
namespace {

void Sort(std::vector<Mark>& marks) {
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
    return a.ts_ns != b.ts_ns ? a.ts_ns < b.ts_ns : a.dur_ns > b.dur_ns;
  });
}

// Returns the shortest text that reads back as `value`, and as a double.
std::string RealAsJson(double value) {
  if (!std::isfinite(value)) return "null";
  std::string text = fmt::to_string(value);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

// Returns the finding's text and figures.
std::vector<MarkArgument> Arguments(const Finding& finding) {
  std::vector<MarkArgument> arguments;
  auto text = [&](const char* key, std::string_view value) {
    if (!value.empty()) arguments.push_back({key, std::string(value)});
  };
  auto optional = [&](const char* key, const auto& value) {
    if (value) arguments.push_back({key, *value});
  };
  text("severity", TextOf(finding.severity));
  text("kind", finding.kind());
  text("title", finding.words.title);
  const Subject& subject = finding.subject;
  if (subject.file) text("where", subject.place().text());
  optional("function", subject.function);
  optional("scope", subject.scope);
  optional("op", subject.op);
  optional("graph_hash", subject.graph_hash);
  optional("count", finding.count);
  optional("per_step", finding.per_step);
  optional("cost_ns", finding.cost_ns);
  text("cost_note", finding.words.cost_note);
  optional("saving_ns", finding.total_saving_ns());
  text("saving_note", finding.words.saving_note);
  if (finding.reason) {
    const Reason& reason = *finding.reason;
    text("reason", TextOf(reason.type));
    if (reason.state) text("state", TextOf(*reason.state));
    optional("node", reason.node);
    optional("before", reason.before);
    optional("after", reason.after);
    if (reason.location) text("recorded_at", reason.location->text());
    text("why", finding.words.why);
  }
  text("advice", finding.words.advice);
  text("fingerprint", finding.fingerprint);
  return arguments;
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

std::string JsonOf(std::span<const MarkArgument> arguments) {
  std::string json;
  for (const auto& [key, value] : arguments) {
    json += json.empty() ? '{' : ',';
    AppendJsonString(key, &json);
    json += ':';
    if (const auto* text = std::get_if<std::string>(&value)) {
      AppendJsonString(*text, &json);
    } else if (const auto* number = std::get_if<int64_t>(&value)) {
      json += fmt::to_string(*number);
    } else {
      json += RealAsJson(std::get<double>(value));
    }
  }
  return json.empty() ? "{}" : json + '}';
}

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
        std::vector<MarkArgument> arguments = {{"ordinal", ordinal}};
        if (number) arguments.push_back({"number", *number});
        tracks[found->second].marks.push_back(
            {ts_ns, std::max<int64_t>(dur_ns.value_or(0), 0),
             fmt::format("{} {}", name.value_or("step"), number.value_or(ordinal)),
             std::move(arguments), Severity::kInfo});
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
    const std::vector<MarkArgument> arguments = Arguments(finding);
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
