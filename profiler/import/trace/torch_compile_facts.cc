#include "profiler/import/trace/torch_compile_facts.h"

#include <algorithm>
#include <tuple>

#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

// Returns `text` if it is the number of a program, such as 0/1, or !2/0/1 of compiled autograd; else
// "". Dynamo prints None or Unknown if it has no number.
std::string_view ProgramNumber(std::string_view text) {
  constexpr size_t kMostBytes = 64;
  const bool is_number = !text.empty() && text.size() <= kMostBytes &&
                         text.find_first_not_of("0123456789/!") == text.npos &&
                         text.find('/') != text.npos;
  return is_number ? text : std::string_view();
}

std::string_view NumberOfRegion(std::string_view name) {
  return ProgramNumber(name.substr(std::min(name.size(), name.find(": ") + 2)));
}

// Returns 0/1 of "entire_frame_compile_data: fn_name=_compile.compile_inner, compile_id=0/1".
std::string_view NumberInData(std::string_view name) {
  constexpr std::string_view kKey = "compile_id=";
  const size_t at = name.find(kKey);
  if (at == name.npos) return "";
  name.remove_prefix(at + kKey.size());
  return ProgramNumber(name.substr(0, name.find(',')));
}

}  // namespace

absl::Status TorchCompileFacts::Add(DynamoEvent what, const TraceArgs& args, int64_t track_id,
                                    const Event& row, int64_t offset) {
  const auto text_of = [&](std::string_view key) -> absl::StatusOr<StringId> {
    const OptText text = args.Text(key);
    if (!text) return StringId(0);
    return context_.store.Intern(ToUtf8(*text));
  };
  Mark mark{.what = what,
            .ts_ns = row.ts_ns,
            .end_ns = row.ts_ns + std::max<int64_t>(0, row.dur_ns),
            .has_end = row.dur_ns >= 0,
            .name = row.name,
            .track_id = track_id,
            .offset = offset};
  XP_TRY(mark.number, text_of("compile_id"));
  if (what == DynamoEvent::kWhole) {
    XP_TRY(mark.function, text_of("co_name"));
    XP_TRY(const StringId failure, text_of("fail_type"));
    mark.has_failed = failure != 0;
  }
  mark.sequence = args.Int("Sequence number").value_or(-1);
  marks_.push_back(mark);
  return absl::OkStatus();
}

// Follows the marks of one thread, in order.
class TorchCompileFacts::Thread {
 public:
  explicit Thread(TorchCompileFacts& facts) : facts_(facts) {}

  void Take(const Mark& mark) {
    while (!open_.empty() && open_.back().mark->end_ns <= mark.ts_ns) Close();
    switch (mark.what) {
      case DynamoEvent::kNone:
        return;
      case DynamoEvent::kWhole:
        open_.push_back({.mark = &mark});
        return;
      case DynamoEvent::kCompile:
      case DynamoEvent::kBackwardCompile:
        return TakeCompile(mark);
      case DynamoEvent::kId:
        return TakeId(mark);
      case DynamoEvent::kLookup:
        if (compiling_ != 0) return;
        compiled_ = -1, was_looked_up_ = true;
        return;
      case DynamoEvent::kRegion:
        return TakeRegion(mark);
      case DynamoEvent::kForwardOp:
        return TakeForward(mark);
      case DynamoEvent::kBackwardOp:
        open_.push_back({.mark = &mark});
        return;
    }
  }

 private:
  struct Open {
    const Mark* mark = nullptr;
    int64_t compile = -1, region = -1;  // places of what the mark began
  };

  void Close() {
    compiling_ -= open_.back().compile >= 0;
    open_.pop_back();
  }

  // Returns the innermost open mark of a kind, or null.
  template <typename Predicate>
  const Open* Innermost(Predicate is_it) const {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), is_it);
    return found == open_.rend() ? nullptr : &*found;
  }
  void AddInner(const Mark& mark) {
    if (const Open* around = Innermost([](const Open& open) { return open.region >= 0; }))
      facts_.regions_[size_t(around->region)].inner_ns += mark.end_ns - mark.ts_ns;
  }

  void TakeCompile(const Mark& mark) {
    if (compiling_ != 0) return;  // the same compilation under its other name
    Compile compile{.mark = &mark,
                    .number = std::string(ProgramNumber(facts_.context_.store.Text(mark.number))),
                    .is_backward = mark.what == DynamoEvent::kBackwardCompile,
                    .was_looked_up = was_looked_up_};
    if (const Open* whole =
            Innermost([](const Open& open) { return open.mark->what == DynamoEvent::kWhole; })) {
      compile.function = facts_.context_.store.Text(whole->mark->function);
      compile.has_failed = whole->mark->has_failed;
    }
    if (const Open* op =
            Innermost([](const Open& open) { return open.mark->what == DynamoEvent::kBackwardOp; }))
      compile.sequence = op->mark->sequence;
    AddInner(mark);
    const int64_t place = int64_t(facts_.compiles_.size());
    compiled_ = compile.is_backward ? -1 : place;
    was_looked_up_ = false;
    facts_.compiles_.push_back(std::move(compile));
    open_.push_back({.mark = &mark, .compile = place});
    ++compiling_;
  }

  void TakeId(const Mark& mark) {
    const Open* around = Innermost([](const Open& open) { return open.compile >= 0; });
    if (around == nullptr) return;
    Compile& compile = facts_.compiles_[size_t(around->compile)];
    if (compile.number.empty())
      compile.number = NumberInData(facts_.context_.store.Text(mark.name));
  }

  void TakeRegion(const Mark& mark) {
    if (compiling_ != 0) return;
    const std::string_view number = NumberOfRegion(facts_.context_.store.Text(mark.name));
    if (compiled_ >= 0) {
      Compile& compile = facts_.compiles_[size_t(compiled_)];
      if (compile.number.empty() && compile.was_looked_up) compile.number = number;
    }
    compiled_ = -1, was_looked_up_ = false;
    AddInner(mark);
    open_.push_back({.mark = &mark, .region = int64_t(facts_.regions_.size())});
    facts_.regions_.push_back({.mark = &mark, .number = number});
  }

  void TakeForward(const Mark& mark) {
    const Open* around = Innermost([](const Open& open) { return open.region >= 0; });
    if (around == nullptr || mark.sequence < 0) return;
    const std::string_view number = facts_.regions_[size_t(around->region)].number;
    const auto [known, is_new] = facts_.forward_.try_emplace(mark.sequence, number);
    if (!is_new && known->second != number) known->second = "";
  }

  TorchCompileFacts& facts_;
  std::vector<Open> open_;  // outermost first
  int64_t compiling_ = 0;   // open compilations
  int64_t compiled_ = -1;   // the compilation after which nothing was looked up or run; -1: none
  bool was_looked_up_ = false;  // since the last compilation or region
};

// Adds the compilation of each backward graph to the last one of its program. A backward graph whose
// program is not known is left out, because it may be one that another source counts.
void TorchCompileFacts::AddBackward() {
  std::ranges::stable_sort(compiles_, {},
                           [](const Compile& compile) { return compile.mark->ts_ns; });
  absl::flat_hash_map<std::string_view, size_t> last;  // compilation of each program
  std::vector<bool> is_part(compiles_.size(), false);
  for (size_t i = 0; i < compiles_.size(); ++i) {
    Compile& compile = compiles_[i];
    if (!compile.is_backward) {
      if (!compile.number.empty()) last[compile.number] = i;
      continue;
    }
    if (compile.number.empty()) {
      const auto forward = forward_.find(compile.sequence);
      if (forward != forward_.end()) compile.number = forward->second;
    }
    if (compile.number.empty()) {
      is_part[i] = true, ++unknown_backwards_;
      continue;
    }
    const auto [of, is_first] = last.try_emplace(compile.number, i);
    if (is_first) continue;
    is_part[i] = true;
    compiles_[of->second].backward_ns += compile.mark->end_ns - compile.mark->ts_ns;
  }
  std::vector<Compile> whole;
  for (size_t i = 0; i < compiles_.size(); ++i) {
    if (!is_part[i] && !compiles_[i].has_failed) whole.push_back(std::move(compiles_[i]));
  }
  compiles_ = std::move(whole);
}

absl::StatusOr<int64_t> TorchCompileFacts::GraphOf(std::string_view number, int64_t offset) {
  const auto [graph, is_new] = graphs_.try_emplace(std::string(number), 0);
  if (is_new) {
    XP_TRY(const int64_t process_id, context_.ProcessId());
    XP_TRY(graph->second,
           context_.Add(GraphRow{.process_id = process_id, .number = std::string(number)}, offset));
  }
  return graph->second;
}

absl::Status TorchCompileFacts::Write(XFacts& facts) {
  std::ranges::stable_sort(marks_, {}, [](const Mark& mark) {
    return std::tuple(mark.track_id, mark.ts_ns, -mark.end_ns, mark.what);
  });
  for (size_t begin = 0, end = 0; begin < marks_.size(); begin = end) {
    Thread thread(*this);
    for (; end < marks_.size() && marks_[end].track_id == marks_[begin].track_id; ++end)
      thread.Take(marks_[end]);
  }
  AddBackward();
  for (const Compile& compile : compiles_) {
    const Mark& mark = *compile.mark;
    // Only the copy of a log names the program in an argument. Such a log does not show how long the
    // run was.
    const bool is_of_log = mark.number != 0;
    CompileRow row{.ts_ns = mark.ts_ns, .cause = CutKind::kCompiledFunction, .inferred = false};
    if (!is_of_log) row.track_id = mark.track_id;
    if (mark.has_end) {
      row.dur_ns = mark.end_ns - mark.ts_ns + compile.backward_ns;
      row.dur_from = is_of_log ? TimeSource::kLog : TimeSource::kProfile;
    }
    if (!compile.function.empty()) row.function = compile.function;
    if (!compile.number.empty()) {
      XP_TRY(row.graph_id, GraphOf(compile.number, mark.offset));
    }
    facts.Add(std::move(row), mark.offset);
  }
  for (const Region& region : regions_) {
    const Mark& mark = *region.mark;
    const int64_t own_ns = mark.end_ns - mark.ts_ns - region.inner_ns;
    ExecutionRow row{.enqueue_ts_ns = mark.ts_ns,
                     .host_wait_ns = std::max<int64_t>(0, own_ns),
                     .cause = CutKind::kCompiledFunction,
                     .track_id = mark.track_id};
    if (!region.number.empty()) {
      XP_TRY(row.graph_id, GraphOf(region.number, mark.offset));
    }
    facts.Add(std::move(row), mark.offset);
  }
  if (unknown_backwards_ == 0) return absl::OkStatus();
  return context_.Issue(
      "backward_compile_not_placed", Severity::kInfo,
      "torch.compile compiled backward graphs of programs that the trace does not name. Their times are only in the timeline.",
      {}, {}, unknown_backwards_);
}

}  // namespace xlaprof
