// The ops without lowering that cut graphs: loads them, and finds the cut of each.
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <map>

#include "analyzers/policy.h"
#include "analyzers/run/call_stacks.h"
#include "analyzers/run/early_cuts_internal.h"
#include "analyzers/run/op_in_source.h"
#include "analyzers/run/source_lines.h"
#include "profiler/vocabulary/code.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

// Returns whether the op is a read by .item(), bool() or float(), which is not a fallback.
bool IsScalarRead(std::string_view op) { return FindTorchOp(op).Has(OpTrait::kOneNumber); }

bool SamePlace(const Subject& a, const Subject& b) { return a.file == b.file && a.line == b.line; }

// Reads the facts that only call stacks show. print() selects the elements that it shows by a mask.
absl::Status LoadStacks(const Store& store, std::string_view tables, EarlyCuts& out) {
  const std::string calls = fmt::format(
      "(SELECT f.*, EXISTS (SELECT 1 FROM frame r WHERE r.stack_id = f.stack_id AND {}) AS printed "
      "FROM {}fallback f WHERE f.stack_id IS NOT NULL)",
      SqlFileHas("r.file", CodeTrait::kPrintsTensors), tables);
  XP_TRY(store.Each(
      fmt::format("SELECT s.function, s.file, s.line, CAST(total(c.count) AS INTEGER), "
                  "min(c.printed) FROM {} c JOIN site s ON s.id = c.site_id WHERE c.op IS NULL "
                  "GROUP BY c.site_id ORDER BY 4 DESC, c.site_id",
                  calls),
      [&](OptText function, OptText file, OptInt line, int64_t count, bool printed) {
        Subject subject{.file = std::move(file), .line = line, .function = std::move(function)};
        auto is_here = [&](const Subject& other) { return SamePlace(other, subject); };
        const bool told = std::ranges::any_of(out.cuts, is_here, &EarlyCut::subject) ||
                          std::ranges::any_of(out.scalar_read_sites, is_here,
                                              &std::pair<Subject, int64_t>::first) ||
                          std::ranges::any_of(out.ops, [&](const FallbackOp& op) {
                            return std::ranges::any_of(op.sites, is_here);
                          });
        if (!told) out.unnamed.push_back({std::move(subject), count, printed});
      }));
  return store.Each(
      fmt::format("SELECT op FROM {} WHERE op IS NOT NULL GROUP BY op HAVING min(printed) = 1",
                  calls),
      [&](std::string_view op) {
        for (FallbackOp& known : out.ops) known.printed = known.printed || known.op == op;
      });
}

absl::Status LoadOps(const Store& store, const CallStacks& stacks, std::string_view tables,
                     EarlyCuts& out) {
  // Counters count an op's calls, and the exit summary counts those of each call site. Both
  // describe the same calls.
  XP_TRY(store.Each(
      fmt::format("SELECT op, CAST(total(calls) AS INTEGER) FROM (SELECT op, max(total(iif("
                  "stack_id IS NULL, count, 0)), total(iif(stack_id IS NULL, 0, count))) AS calls "
                  "FROM {}fallback WHERE op IS NOT NULL GROUP BY op, process_id) GROUP BY op "
                  "ORDER BY 2 DESC, op",
                  tables),
      [&](std::string op, int64_t count) {
        if (IsScalarRead(op)) {
          out.scalar_reads = count;
        } else {
          out.ops.push_back({.op = std::move(op), .count = count});
        }
      }));
  absl::flat_hash_map<std::string, size_t> place_of;  // index in out.ops
  for (size_t i = 0; i < out.ops.size(); ++i) place_of.emplace(out.ops[i].op, i);
  XP_TRY(store.Each(
      fmt::format("SELECT f.op, s.function, s.file, s.line, f.stack_id, CAST(total(f.count) AS "
                  "INTEGER) FROM {}fallback f JOIN site s ON s.id = f.site_id WHERE f.op IS NOT "
                  "NULL GROUP BY f.op, f.site_id, f.stack_id ORDER BY CAST(total(f.count) AS "
                  "INTEGER) DESC, f.op, f.site_id, f.stack_id",
                  tables),
      [&](std::string op, OptText function, OptText file, OptInt line, OptInt stack_id,
          int64_t count) {
        if (IsScalarRead(op)) {
          const Subject site{.file = file, .line = line, .function = std::move(function)};
          const auto same = std::ranges::find_if(out.scalar_read_sites, [&](const auto& other) {
            return SamePlace(other.first, site);
          });
          if (same == out.scalar_read_sites.end()) {
            out.scalar_read_sites.emplace_back(site, count);
          } else {
            same->second += count;
          }
          return;
        }
        const auto known = place_of.find(op);
        if (known == place_of.end()) return;
        FallbackOp& known_op = out.ops[known->second];
        const Subject site{.file = std::move(file), .line = line, .function = std::move(function)};
        const SourcePlace library = stacks.LibraryOf(stack_id);
        if (known_op.sites.empty()) known_op.library = library;
        if (std::ranges::none_of(known_op.sites,
                                 [&](const Subject& other) { return SamePlace(other, site); }))
          known_op.sites.push_back(site);
      }));
  return absl::OkStatus();
}

// Adds ops that torch_xla's own line names without a count: "Op(s) not lowered: aten::a, aten::b,
// Please open ...".
absl::Status LoadNotLowered(const Store& store, EarlyCuts& out) {
  return store.Each(
      "SELECT text FROM profiler_line WHERE rule = 'not_lowered' ORDER BY ordinal DESC LIMIT 1",
      [&](std::string_view text) {
        size_t at = 0;
        while ((at = text.find("::", at)) != std::string_view::npos) {
          size_t begin = text.find_last_of(" ,:", at - 1);
          begin = begin == std::string_view::npos ? 0 : begin + 1;
          size_t end = text.find_first_of(", \t", at);
          std::string op(text.substr(begin, end == std::string_view::npos ? end : end - begin));
          at += 2;
          if (!IsScalarRead(op) && std::ranges::find(out.ops, op, &FallbackOp::op) == out.ops.end())
            out.ops.push_back({.op = std::move(op)});
        }
      });
}

// Matches ops with the lines at which stacks show their calls.
void MatchBySites(EarlyCuts& out) {
  std::map<std::pair<OptText, OptInt>, std::vector<int>> at_place;
  for (size_t i = 0; i < out.cuts.size(); ++i)
    at_place[{out.cuts[i].subject.file, out.cuts[i].subject.line}].push_back(int(i));
  for (FallbackOp& op : out.ops) {
    if (op.sites.empty()) continue;
    const auto here = at_place.find({op.sites.front().file, op.sites.front().line});
    if (here == at_place.end()) continue;
    for (int i : here->second) {
      // The same line may make reads and calls of other ops inside libraries.
      if (out.cuts[size_t(i)].library != op.library) continue;
      op.cuts.push_back(i);
      out.cuts[size_t(i)].op = op.op;
    }
  }
}

// Returns whether the line of a cut, which a log shows with all of its executions, cut too rarely for
// the calls of the op.
bool IsTooRare(const EarlyCut& cut, const FallbackOp& op) {
  return op.count && cut.subject.file &&
         double(cut.executions.size()) < policy::kLeastShareOfCalls * double(*op.count);
}

// Returns the places in `out.cuts` at which an op may have cut: where no read of a number did.
std::vector<int> PossibleCuts(const EarlyCuts& out) {
  std::vector<int> possible;
  for (size_t i = 0; i < out.cuts.size(); ++i) {
    if (out.cuts[i].op.empty() && out.cuts[i].value != EarlyCut::Value::kScalar)
      possible.push_back(int(i));
  }
  return possible;
}

// The lines of the cuts, as far as the source may be read.
std::vector<std::string> LinesOf(const EarlyCuts& out, const SourceLines& source) {
  std::vector<std::string> lines;
  for (const EarlyCut& cut : out.cuts) {
    // The user's line does not name what a library calls.
    const bool is_own = cut.subject.file && cut.library.empty();
    lines.push_back(is_own ? source.At(cut.subject.place()) : "");
  }
  return lines;
}

// Matches ops with the lines that call them by name. A line that calls several of the ops, or lines
// that cut more often together than the op is called, show nothing.
void MatchBySource(const std::vector<std::string>& lines, EarlyCuts& out) {
  std::map<int, std::vector<FallbackOp*>> callers;  // by cut
  for (FallbackOp& op : out.ops) {
    if (!op.cuts.empty() || !op.sites.empty()) continue;
    for (const int i : PossibleCuts(out)) {
      const EarlyCut& cut = out.cuts[size_t(i)];
      const bool is_mask = cut.shape && cut.shape->element_type() == "pred";
      if (!IsTooRare(cut, op) && LineCallsOp(lines[size_t(i)], op.op, is_mask))
        callers[i].push_back(&op);
    }
  }
  std::map<FallbackOp*, std::vector<int>> cuts_of;
  for (const auto& [i, ops] : callers) {
    if (ops.size() == 1) cuts_of[ops.front()].push_back(i);
  }
  for (const auto& [op, cuts] : cuts_of) {
    int64_t executions = 0;
    for (const int i : cuts) executions += int64_t(out.cuts[size_t(i)].executions.size());
    if (op->count && executions > *op->count) continue;
    op->cuts = cuts;
    for (const int i : cuts) out.cuts[size_t(i)].op = op->op;
  }
}

// Matches the ops that are left. An op belongs to a place if only this place cuts as often as the op is
// called. If several places are possible, none is chosen.
void MatchByCount(const std::vector<std::string>& lines, EarlyCuts& out) {
  std::vector<int> all;
  std::map<int64_t, std::vector<int>> by_count;
  for (const int i : PossibleCuts(out)) {
    if (LineReadsValue(lines[size_t(i)])) continue;
    all.push_back(i);
    by_count[int64_t(out.cuts[size_t(i)].executions.size())].push_back(i);
  }
  // Returns the first cuts that may be the op's, and counts all of them.
  auto first_free = [&](const std::vector<int>& of, const FallbackOp& op, int64_t& free) {
    std::vector<int> found;
    free = 0;
    for (int i : of) {
      if (!out.cuts[size_t(i)].op.empty() || IsTooRare(out.cuts[size_t(i)], op)) continue;
      ++free;
      if (found.size() < FallbackOp::kMaxCandidates) found.push_back(i);
    }
    return found;
  };
  for (bool exact : {true, false}) {
    for (FallbackOp& op : out.ops) {
      if (!op.cuts.empty() || !op.sites.empty()) continue;
      int64_t free = 0;
      std::vector<int> found = first_free(exact && op.count ? by_count[*op.count] : all, op, free);
      // A cut of unknown shape may be a plain read instead, so only a cut that fetched a tensor is
      // certain.
      bool sure = found.size() == 1 && out.cuts[size_t(found[0])].value == EarlyCut::Value::kTensor;
      if (sure) {
        op.cuts = found;
        out.cuts[size_t(found[0])].op = op.op;
        out.cuts[size_t(found[0])].likely = !exact || !op.count;
      } else if (!exact) {
        op.candidates = std::move(found);
        op.candidate_count = free;
      }
    }
  }
  // As many lines fetch a tensor as there are ops with this count.
  std::map<int64_t, int64_t> ops_of;
  for (const FallbackOp& op : out.ops) {
    if (op.cuts.empty() && op.sites.empty() && op.count) ++ops_of[*op.count];
  }
  for (const auto& [count, ops] : ops_of) {
    std::vector<int> free;
    for (const int i : by_count[count]) {
      const EarlyCut& cut = out.cuts[size_t(i)];
      if (cut.op.empty() && cut.value == EarlyCut::Value::kTensor) free.push_back(i);
    }
    for (const int i : free) out.cuts[size_t(i)].of_some_op = int64_t(free.size()) == ops;
  }
}

// Finds the cuts of each op. An op fetches tensors, but a read of a Python number fetches a scalar.
absl::Status MatchOps(const Run& run, EarlyCuts& out) {
  XP_TRY(const SourceLines* source, run.Get<SourceLines>());
  MatchBySites(out);
  const std::vector<std::string> lines = LinesOf(out, *source);
  MatchBySource(lines, out);
  MatchByCount(lines, out);
  return absl::OkStatus();
}

}  // namespace

absl::Status LoadFallbackOps(const Run& run, std::string_view tables, EarlyCuts& out) {
  const Store& store = run.store();
  XP_TRY(const CallStacks* stacks, run.Get<CallStacks>());
  XP_TRY(const bool has_calls, store.HasRows(fmt::format("{}fallback", tables)));
  if (has_calls) XP_TRY(LoadOps(store, *stacks, tables, out));
  XP_TRY(LoadNotLowered(store, out));
  if (has_calls) XP_TRY(LoadStacks(store, tables, out));
  return MatchOps(run, out);
}

}  // namespace xlaprof
