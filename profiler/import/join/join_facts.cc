// Joins facts of several sources, which see different parts of one process. Rows of the same
// compile or execution become one row. The columns of the row that stays take precedence, its NULLs
// are filled from the other row, and provenance names both.
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "profiler/import/join/align_facts.h"
#include "profiler/import/join/join.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/store/cut_kind.h"
#include "profiler/store/tables.h"

namespace xlaprof {
namespace {

// Replaces everything but letters and digits, as JAX does when it writes a function's name into its
// module's: "<lambda>" becomes "_lambda".
std::string ModulePart(std::string function) {
  for (char& c : function) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  while (function.ends_with('_')) function.pop_back();
  return function;
}

absl::StatusOr<Facts> Load(const Store& store, int64_t process_id) {
  Facts facts;
  XP_TRY(store.Each(
      "SELECT c.id, coalesce(c.graph_id, 0), coalesce(g.hash, ''), coalesce(c.cause, ''), "
      "c.ordinal, coalesce(c.function, ''), coalesce(g.printed_as = 'signature', 0), "
      "coalesce(g.number, ''), c.ts_ns, c.ts_ns + c.dur_ns "
      "FROM compile c LEFT JOIN graph g ON g.id = c.graph_id WHERE c.process_id = ?1 "
      "ORDER BY c.ordinal",
      [&](int64_t id, int64_t graph, std::string hash, CutKind cause, int64_t ordinal,
          std::string function, bool inputs_only, std::string number, OptInt ts_ns, OptInt end_ns) {
        facts.push_back({true, id, graph, std::move(hash), cause, ModulePart(std::move(function)),
                         inputs_only, ordinal, std::move(number), ts_ns, end_ns});
      },
      process_id));
  const auto compiles_end = std::ptrdiff_t(facts.size());
  XP_TRY(store.Each(
      "SELECT e.id, coalesce(e.graph_id, 0), coalesce(g.hash, ''), coalesce(e.cause, ''), "
      "e.ordinal, coalesce(g.number, ''), coalesce(e.enqueue_ts_ns, e.ts_ns) "
      "FROM execution e LEFT JOIN graph g ON g.id = e.graph_id WHERE e.process_id = ?1 "
      "ORDER BY e.ordinal",
      [&](int64_t id, int64_t graph, std::string hash, CutKind cause, int64_t ordinal,
          std::string number, OptInt ts_ns) {
        facts.push_back({false,
                         id,
                         graph,
                         std::move(hash),
                         cause,
                         "",
                         false,
                         ordinal,
                         std::move(number),
                         ts_ns,
                         {}});
      },
      process_id));
  // A compile comes before an execution with the same ordinal.
  std::ranges::inplace_merge(facts, facts.begin() + compiles_end, {}, &Fact::ordinal);
  return facts;
}

// Columns of a row that another one never fills: the owner of the row, and the columns by which the
// other rows were found. printed_as belongs to the graph's nodes, which stay.
constexpr std::string_view kOwnColumns[] = {"process_id", "hash", "printed_as"};

// The statements that fold one row of a table into another.
class Folding {
 public:
  static absl::StatusOr<Folding> Make(const Store& store, const char* table) {
    std::string names, values;
    auto set = [&](std::string_view name, std::string_view value) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
      values += fmt::format("{}{}", values.empty() ? "" : ", ", value);
    };
    for (const ColumnTraits& column : TraitsOf(table).columns) {
      if (!column.is_nullable || std::ranges::count(kOwnColumns, column.name) > 0) continue;
      set(column.name, fmt::format("coalesce(t.{0}, o.{0})", column.name));
    }
    if (std::string_view(table) == "compile") set("inferred", "min(t.inferred, o.inferred)");
    Folding folding;
    // SQLite makes a temporary table each time that it executes UPDATE ... FROM.
    XP_TRY(folding.fill_,
           store.Prepare(
               fmt::format("UPDATE {0} AS t SET ({1}) = (SELECT {2} FROM {0} AS o WHERE o.id = ?2) "
                           "WHERE t.id = ?1 AND EXISTS (SELECT 1 FROM {0} WHERE id = ?2)",
                           table, names, values)));
    XP_TRY(folding.drop_,
           store.Prepare(fmt::format("DELETE FROM {} WHERE id = ?2 AND id <> ?1", table)));
    XP_TRY(
        folding.said_,
        store.Prepare(fmt::format(
            "UPDATE OR IGNORE provenance SET row_id = ?1 WHERE table_name = '{}' AND row_id = ?2",
            table)));
    for (const TableTraits& other : kTables) {
      for (const ColumnTraits& column : other.columns) {
        if (column.refers_to != table) continue;
        XP_TRY(folding.referring_.emplace_back(),
               store.Prepare(fmt::format("UPDATE OR IGNORE {0} SET {1} = ?1 WHERE {1} = ?2",
                                         other.name, column.name)));
        // What the row that stays has already, by a key of its table, takes precedence.
        if (other.Has("id")) continue;
        XP_TRY(folding.referring_.emplace_back(),
               store.Prepare(fmt::format("DELETE FROM {0} WHERE {1} = ?2 AND {1} <> ?1", other.name,
                                         column.name)));
      }
    }
    return folding;
  }
  absl::Status Fold(int64_t into, int64_t from) {
    const auto run = [&](Statement& statement) {
      statement.Bind(1, into);
      statement.Bind(2, from);
      absl::Status status = internal::ToStatus(statement.Step());
      statement.Reset();
      return status;
    };
    for (Statement* statement : {&fill_, &drop_, &said_}) XP_TRY(run(*statement));
    for (Statement& statement : referring_) XP_TRY(run(statement));
    return absl::OkStatus();
  }

 private:
  Statement fill_, drop_, said_;
  std::vector<Statement> referring_;  // rows of other tables that refer to the rows
};

// Folds the facts of `b` into those of `a` along `pairs`, and orders all facts of process `into`.
// Executions of `b` in `reordered` keep the place that they have in `a`.
absl::Status Merge(Store& store, int64_t into, const Facts& a, const Facts& b, const Pairs& pairs,
                   const Pairs& reordered = {}) {
  Folding compiles, executions;
  if (!pairs.empty() || !reordered.empty()) {
    XP_TRY(compiles, Folding::Make(store, "compile"));
    XP_TRY(executions, Folding::Make(store, "execution"));
  }
  std::vector<bool> folded(b.size(), false);
  for (auto [x, y] : reordered) {
    XP_TRY(executions.Fold(a[size_t(x)].id, b[size_t(y)].id));
    folded[size_t(y)] = true;
  }
  Facts story;
  size_t i = 0, j = 0;
  auto take = [&](size_t a_end, size_t b_end) {
    while (i < a_end) story.push_back(a[i++]);
    for (; j < b_end; ++j) {
      if (!folded[j]) story.push_back(b[j]);
    }
  };
  for (auto [x, y] : pairs) {
    take(size_t(x), size_t(y));
    const Fact& kept = a[size_t(x)];
    const Fact& other = b[size_t(y)];
    // A graph that one source knows only by program is the graph that the other knows by hash.
    if (other.hash.empty() && !kept.hash.empty() && other.graph_id != 0) {
      XP_TRY(store.Run("UPDATE graph SET hash = ?2 WHERE id = ?1 AND hash IS NULL", other.graph_id,
                       kept.hash));
    }
    // Sources that hash the same graph in different ways agree on what was compiled.
    if (kept.is_compile && !other.hash.empty() && !kept.hash.empty() && other.hash != kept.hash) {
      XP_TRY(store.Run(
          "UPDATE graph SET hash = ?3 WHERE hash = ?2 AND process_id = (SELECT process_id FROM graph "
          "WHERE id = ?1)",
          other.graph_id, other.hash, kept.hash));
    }
    // The start of a compilation belongs to its length.
    if (kept.is_compile) {
      XP_TRY(
          store.Run("UPDATE compile SET ts_ns = NULL WHERE id = ?1 AND dur_ns IS NULL AND EXISTS "
                    "(SELECT 1 FROM compile WHERE id = ?2 AND dur_ns NOTNULL AND ts_ns NOTNULL)",
                    kept.id, other.id));
    }
    if (kept.inputs_only && other.graph_id != 0 && !other.inputs_only)
      XP_TRY(store.Run("UPDATE compile SET graph_id = NULL WHERE id = ?1", kept.id));
    Fact fact = kept;
    int64_t from = other.id;
    // The source of torch.compile that times a compilation knows more about it than the others.
    if (kept.cause == CutKind::kCompiledFunction && !kept.ts_ns && other.ts_ns)
      fact.id = other.id, fact.ts_ns = other.ts_ns, from = kept.id;
    XP_TRY((kept.is_compile ? compiles : executions).Fold(fact.id, from));
    story.push_back(std::move(fact));
    ++i, ++j;
  }
  take(a.size(), b.size());
  const bool has_clock =
      std::ranges::all_of(story, [](const Fact& fact) { return fact.ts_ns.has_value(); });
  if (has_clock && AreOfTorchCompile(story))
    std::ranges::stable_sort(story, {}, [](const Fact& fact) { return *fact.ts_ns; });
  XP_TRY(Statement order_compile,
         store.Prepare("UPDATE compile SET ordinal = ?2, process_id = ?3 WHERE id = ?1"));
  XP_TRY(Statement order_execution,
         store.Prepare("UPDATE execution SET ordinal = ?2, process_id = ?3 WHERE id = ?1"));
  int64_t ordinal = 0;
  for (const Fact& fact : story) {
    Statement& statement = fact.is_compile ? order_compile : order_execution;
    statement.Bind(1, fact.id);
    statement.Bind(2, ordinal++);
    statement.Bind(3, into);
    absl::Status status = internal::ToStatus(statement.Step());
    statement.Reset();
    XP_TRY(std::move(status));
  }
  return absl::OkStatus();
}

// Moves everything else that belongs to the processes of one run from one process to another. A
// file may have thousands of processes, and the tables have no index by process, so each table is
// passed over once.
class Uniting {
 public:
  explicit Uniting(Store& store) : store_(store) {}

  // Unites `from` with `into`; `from` is removed at Finish.
  absl::Status Add(int64_t into, int64_t from) {
    if (into == from) return absl::OkStatus();
    united_.emplace_back(into, from);
    return store_.Run(
        "UPDATE process AS t SET host = coalesce(t.host, o.host), pid = coalesce(t.pid, o.pid), "
        "rank = coalesce(t.rank, o.rank), name = coalesce(t.name, o.name) FROM process AS o WHERE "
        "t.id = ?1 AND o.id = ?2",
        into, from);
  }
  absl::Status Finish() {
    if (united_.empty()) return absl::OkStatus();
    XP_TRY(store_.Exec("CREATE TEMP TABLE united_process (from_id INTEGER PRIMARY KEY, into_id)"));
    absl::flat_hash_map<int64_t, int64_t> last;  // backwards, because `into` may itself be united
                                                 // later
    for (auto pair = united_.rbegin(); pair != united_.rend(); ++pair) {
      const auto& [into, from] = *pair;
      const auto further = last.find(into);
      last[from] = further == last.end() ? into : further->second;
      XP_TRY(store_.Run("INSERT INTO united_process VALUES (?1, ?2)", from, last[from]));
    }
    for (const TableTraits& table : kTables) {
      if (!table.Has("process_id")) continue;
      XP_TRY(const bool has_rows, store_.HasRows(table.name));
      if (!has_rows) continue;
      XP_TRY(store_.Exec(fmt::format(
          "UPDATE {} SET process_id = (SELECT into_id FROM united_process WHERE from_id = "
          "process_id) WHERE process_id IN (SELECT from_id FROM united_process)",
          table.name)));
    }
    // Counts of one op, or of its calls at one place, are cumulative. If two sources of one process
    // give them, the greatest one contains the others.
    return store_.Exec(
        "DELETE FROM fallback WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION "
        "BY process_id, op, stack_id ORDER BY count DESC, id) AS nth FROM fallback WHERE ordinal "
        "IS NULL AND op IS NOT NULL AND process_id IN (SELECT into_id FROM united_process)) WHERE "
        "nth > 1);"
        // A log prints some of the failed compilations that TORCH_TRACE times.
        "DELETE FROM compile_failure WHERE ts_ns IS NULL AND process_id IN (SELECT into_id FROM "
        "united_process) AND (process_id, function) IN (SELECT process_id, function FROM "
        "compile_failure WHERE ts_ns IS NOT NULL);"
        "DELETE FROM process WHERE id IN (SELECT from_id FROM united_process);"
        "DROP TABLE united_process");
  }

 private:
  Store& store_;
  std::vector<std::pair<int64_t, int64_t>> united_;  // into, from
};

// Unites a graph that one source knows only by its hash, or by its inputs, with the graph of that
// hash whose nodes another source printed. Programs of torch.compile with one number are one graph.
absl::Status UniteGraphs(Store& store) {
  XP_TRY(Folding graphs, Folding::Make(store, "graph"));
  XP_TRY(const auto same_number,
         store.Collect(
             "SELECT * FROM (SELECT min(id) OVER (PARTITION BY process_id, number) AS first, id "
             "FROM graph WHERE number IS NOT NULL) WHERE first <> id ORDER BY id",
             [](int64_t first, int64_t other) { return std::pair(first, other); }));
  for (auto [first, other] : same_number) XP_TRY(graphs.Fold(first, other));
  XP_TRY(store.Exec(
      "CREATE TEMP TABLE united AS SELECT bare.id AS bare, p.id AS printed, min(iif(p.printed_as = "
      "'hlo_optimized', 2, 1)) FROM graph bare JOIN graph p ON p.process_id = bare.process_id AND "
      "p.hash = bare.hash WHERE coalesce(bare.printed_as, 'signature') = 'signature' AND "
      "p.printed_as <> 'signature' GROUP BY bare.id;"
      "UPDATE compile SET graph_id = printed FROM united WHERE bare = graph_id;"
      "UPDATE execution SET graph_id = printed FROM united WHERE bare = graph_id;"
      "DELETE FROM graph_node WHERE graph_id IN (SELECT bare FROM united);"));
  XP_TRY(auto pairs,
         store.Collect("SELECT printed, bare FROM united ORDER BY bare",
                       [](int64_t printed, int64_t bare) { return std::pair(printed, bare); }));
  for (auto [printed, bare] : pairs) XP_TRY(graphs.Fold(printed, bare));
  return store.Exec("DROP TABLE united");
}

// A process writes at most one source of each kind, except for reports. Sources without a clock are
// joined in the order of their kinds.
struct Process {
  int64_t id = 0, source_id = 0;
  SourceKind kind = SourceKind::kReports;
  OptInt rank, pid;
};

// Moves the dumps of other ranks to the log of the first one if they are of replicas on threads of
// its process.
absl::Status UniteReplicas(Store& store, std::map<int64_t, std::vector<Process>>& texts,
                           Uniting& uniting) {
  if (texts.size() < 2) return absl::OkStatus();
  std::vector<Process>& first = texts.begin()->second;
  auto of_kind = [](std::vector<Process>& group, SourceKind kind) {
    return std::ranges::find(group, kind, &Process::kind);
  };
  const auto log = of_kind(first, SourceKind::kLog), own = of_kind(first, SourceKind::kExecuted);
  if (log == first.end() || own == first.end()) return absl::OkStatus();
  XP_TRY(const Facts story, Load(store, log->id));
  std::vector<int64_t> ids = {own->id};
  for (auto group = std::next(texts.begin()); group != texts.end(); ++group) {
    const auto dump = of_kind(group->second, SourceKind::kExecuted);
    if (dump == group->second.end() || group->second.size() > 1) return absl::OkStatus();
    ids.push_back(dump->id);
  }
  std::vector<Facts> dumps;
  for (int64_t id : ids) {
    XP_TRY(dumps.emplace_back(), Load(store, id));
  }
  if (!HoldsReplicas(story, dumps)) return absl::OkStatus();
  const Interleaved interleaved = FollowStory(story, dumps);
  for (int64_t id : interleaved.repeated_compiles)
    XP_TRY(store.Run("DELETE FROM compile WHERE id = ?1", id));
  XP_TRY(Merge(store, log->id, story, interleaved.facts, interleaved.pairs));
  for (int64_t id : ids) XP_TRY(uniting.Add(log->id, id));
  first.erase(own);
  texts.erase(std::next(texts.begin()), texts.end());
  return absl::OkStatus();
}

// Returns whether two sources are known to be of different processes. Ranks compile the same programs
// at the same time, and so does the next run of a program.
bool AreOtherProcesses(OptInt a, OptInt b) { return a && b && *a != *b; }

// Removes the steps of a source that is united with one that knows more: why each graph was cut.
absl::Status DropSteps(Store& store, int64_t process_id) {
  XP_TRY(store.Run("DELETE FROM step WHERE process_id = ?1", process_id));
  return store.Run("UPDATE execution SET step_id = NULL WHERE process_id = ?1", process_id);
}

// Unites the text sources of one rank, which describe one process. Adds to `text_ids` the processes
// that remain: the united one, and those of sources that belong to another process.
absl::Status UniteTexts(Store& store, std::vector<Process>& group, Uniting& uniting,
                        std::vector<int64_t>& text_ids) {
  std::ranges::stable_sort(group, {}, &Process::kind);
  const Process& head = group.front();
  std::set<SourceKind> kinds = {head.kind};
  XP_TRY(Facts a, Load(store, head.id));
  bool is_in_order = false;  // the ordinals of `a` are in order
  for (const Process& other : std::span(group).subspan(1)) {
    // A second source of a kind is another process's, whatever graphs they share.
    if (!kinds.insert(other.kind).second && other.kind != SourceKind::kReports) {
      text_ids.push_back(other.id);
      continue;
    }
    XP_TRY(Facts b, Load(store, other.id));
    if (AreOtherProcesses(head.pid, other.pid)) {
      text_ids.push_back(other.id);
      continue;
    }
    Pairs pairs = AlignByHash(a, b, false);
    if (pairs.empty() && other.kind == SourceKind::kCompiled) pairs = AlignByCount(a, b);
    if (pairs.empty()) {
      pairs = AlignByTime(a, b);
      if (!pairs.empty()) XP_TRY(DropSteps(store, head.id));
    }
    if (!a.empty() && !b.empty() && pairs.empty()) {
      XP_TRY(store.Run("UPDATE source SET note = ?2 WHERE id = ?1", other.source_id,
                       "shares no graph with the other sources, so it counts as another process"));
      text_ids.push_back(other.id);
      continue;
    }
    if (!b.empty() || !is_in_order) XP_TRY(Merge(store, head.id, a, b, pairs));
    is_in_order = true;
    if (!b.empty()) {
      XP_TRY(a, Load(store, head.id));
    }
    XP_TRY(uniting.Add(head.id, other.id));
  }
  text_ids.push_back(head.id);
  return absl::OkStatus();
}

// A process of a source with a clock, and its facts. At most one process of text sources joins it.
struct Window {
  const Process* process;
  Facts facts;
  bool is_taken = false;
};

struct BestWindow {
  Window* window = nullptr;      // the one that shares most compiles with the texts
  bool is_contradicted = false;  // some window compiled other programs
};

BestWindow FindWindow(const Facts& story, OptInt pid, std::vector<Window>& windows) {
  BestWindow best;
  size_t best_common = 0;
  for (Window& window : windows) {
    if (window.is_taken || AreOtherProcesses(pid, window.process->pid)) continue;
    if (AreOfTorchCompile(story)) NumberByClock(story, window.facts);
    const bool comparable = !story.empty() && !window.facts.empty();
    size_t common = comparable ? AlignByHash(story, window.facts, true).size() : 0;
    if (common == 0 && comparable) common = AlignWithoutHash(story, window.facts).size();
    // Both name what they compiled and share nothing, so the window is another program's.
    if (common == 0 && NamesCompiles(story) && NamesCompiles(window.facts)) {
      best.is_contradicted = true;
      continue;
    }
    if (best.window == nullptr || common > best_common) best.window = &window, best_common = common;
  }
  return best;
}

// Removes from `window` the compilations of torch.compile that failed, as the text of process `text`
// says. A profile times them like others.
absl::Status DropFailed(Store& store, int64_t text, Facts& window) {
  if (!AreOfTorchCompile(window)) return absl::OkStatus();
  XP_TRY(const std::vector<int64_t> starts_ns,
         store.Collect(
             "SELECT ts_ns FROM compile_failure WHERE process_id = ?1 AND ts_ns IS NOT "
             "NULL ORDER BY ts_ns",
             [](int64_t ts_ns) { return ts_ns; }, text));
  std::vector<int64_t> failed;
  for (const Fact& fact : window) {
    if (!fact.is_compile || !fact.ts_ns) continue;
    const auto next = std::ranges::lower_bound(starts_ns, *fact.ts_ns);
    if ((next != starts_ns.end() && BeginTogether(*next, fact.ts_ns)) ||
        (next != starts_ns.begin() && BeginTogether(*std::prev(next), fact.ts_ns)))
      failed.push_back(fact.id);
  }
  for (int64_t id : failed) XP_TRY(store.Run("DELETE FROM compile WHERE id = ?1", id));
  std::erase_if(window, [&](const Fact& fact) {
    return fact.is_compile && std::ranges::count(failed, fact.id) > 0;
  });
  return absl::OkStatus();
}

// Removes the executions of a text without times if the window has them, with their times.
absl::Status DropUntimed(Store& store, int64_t text, const Facts& window, Facts& story) {
  const auto is_execution = [](const Fact& fact) { return !fact.is_compile; };
  if (!AreOfTorchCompile(story) || !AreOfTorchCompile(window) ||
      std::ranges::none_of(window, is_execution))
    return absl::OkStatus();
  std::erase_if(story, is_execution);
  return store.Run("DELETE FROM execution WHERE process_id = ?1", text);
}

// Joins windows on one process of torch.compile, such as a profile and a copy of the process's log
// that has times only.
absl::Status JoinWindows(Store& store, std::vector<Window>& windows, Uniting& uniting) {
  std::vector<Window*> of_torch;
  for (Window& window : windows) {
    if (window.is_taken) {
      XP_TRY(window.facts, Load(store, window.process->id));
    }
    if (AreOfTorchCompile(window.facts)) of_torch.push_back(&window);
  }
  for (Window* second : of_torch) {
    for (Window* first : of_torch) {
      if (first == second) break;
      Window &into = second->is_taken ? *second : *first,
             &from = second->is_taken ? *first : *second;
      if (from.is_taken || from.facts.empty() || into.facts.empty() ||
          AreOtherProcesses(into.process->pid, from.process->pid))
        continue;
      NumberByClock(into.facts, from.facts);
      NumberByClock(from.facts, into.facts);
      const Pairs pairs = AlignByHash(into.facts, from.facts, /*compiles_only=*/true);
      if (pairs.empty()) continue;
      XP_TRY(Merge(store, into.process->id, into.facts, from.facts, pairs));
      XP_TRY(uniting.Add(into.process->id, from.process->id));
      from.facts.clear();
      XP_TRY(into.facts, Load(store, into.process->id));
    }
  }
  return absl::OkStatus();
}

// Returns how many steps had ended when the profile of this process began, if `xlaprof run` took it.
absl::StatusOr<OptInt> StepsBefore(Store& store, const Process& process) {
  XP_TRY(const std::vector<OptInt> steps,
         store.Collect(
             "SELECT o.profile_first_step FROM observed_process o JOIN process p ON p.id = "
             "o.process_id WHERE p.pid IS ?1 OR ?1 IS NULL",
             [](OptInt steps) { return steps; }, process.pid));
  return steps.size() == 1 ? steps.front() : OptInt();
}

// Joins a process of text sources with the window that shares most compiles with it.
absl::Status JoinWindow(Store& store, int64_t text, std::vector<Window>& windows,
                        Uniting& uniting) {
  XP_TRY(Facts story, Load(store, text));
  XP_TRY(
      const std::vector<OptInt> pid,
      store.Collect("SELECT pid FROM process WHERE id = ?1", [](OptInt pid) { return pid; }, text));
  const BestWindow best = FindWindow(story, pid.at(0), windows);
  if (best.window == nullptr) {
    if (!best.is_contradicted) return absl::OkStatus();
    return store.Run(
        "UPDATE source SET note = ?2 WHERE id = (SELECT source_id FROM process WHERE id = ?1)",
        text, "compiled nothing that the profile compiled, so it counts as another program");
  }
  best.window->is_taken = true;
  const Process& with = *best.window->process;
  Facts& facts = best.window->facts;
  XP_TRY(DropFailed(store, text, facts));
  XP_TRY(DropUntimed(store, text, facts, story));
  XP_TRY(const OptInt steps_before, StepsBefore(store, with));
  ByClock aligned = story.empty() ? ByClock{} : AlignWindow(story, facts, steps_before);
  XP_TRY(Merge(store, with.id, story, facts, aligned.pairs, aligned.reordered));
  XP_TRY(uniting.Add(with.id, text));
  if (aligned.note.empty() || facts.empty()) return absl::OkStatus();
  return store.Run("UPDATE source SET note = ?2 WHERE id = ?1", with.source_id, aligned.note);
}

absl::Status JoinRun(Store& store, int64_t run_id) {
  XP_TRY(std::vector<Process> processes,
         store.Collect(
             "SELECT p.id, p.source_id, coalesce(s.kind, 'reports'), p.rank, p.pid FROM process "
             "p JOIN source s ON s.id = p.source_id WHERE p.run_id = ?1 ORDER BY p.id",
             [](int64_t id, int64_t source, SourceKind kind, OptInt rank, OptInt pid) {
               return Process{id, source, kind, rank, pid};
             },
             run_id));
  // Text sources of one rank describe one process. Only the first local process writes a debug log.
  std::map<int64_t, std::vector<Process>> texts;
  std::vector<const Process*> timed;
  for (const Process& process : processes) {
    if (process.kind == SourceKind::kTimed) {
      timed.push_back(&process);
    } else {
      texts[process.rank.value_or(0)].push_back(process);
    }
  }
  Uniting uniting(store);
  std::vector<int64_t> text_ids;
  XP_TRY(UniteReplicas(store, texts, uniting));
  for (auto& [rank, group] : texts) XP_TRY(UniteTexts(store, group, uniting, text_ids));
  std::vector<Window> windows;
  for (const Process* process : timed) {
    XP_TRY(Facts facts, Load(store, process->id));
    windows.push_back({process, std::move(facts)});
  }
  for (int64_t text : text_ids) XP_TRY(JoinWindow(store, text, windows, uniting));
  XP_TRY(JoinWindows(store, windows, uniting));
  return uniting.Finish();
}

}  // namespace

absl::Status JoinFacts(Store& store) {
  XP_TRY(std::vector<int64_t> runs,
         store.Collect("SELECT id FROM run WHERE selected", [](int64_t id) { return id; }));
  for (int64_t run : runs) XP_TRY(JoinRun(store, run));
  return UniteGraphs(store);
}

}  // namespace xlaprof
