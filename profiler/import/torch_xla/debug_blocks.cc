#include "profiler/import/torch_xla/debug_blocks.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "base/numbers.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/torch_xla/debug_markers.h"
#include "profiler/import/torch_xla/runtime_log.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

// PT_XLA_DEBUG writes three forms, which may be mixed with each other and with anything else. A
// fourth, lines of the C++ log, is read by runtime_log.cc.
// ||
// (1) Blocks. Each line is `KIND Analysis: text`, with KIND one of Compilation, Post Compilation,
//     Execution, Unexpected Execution. Between two rulers of 80 '=':
//        Execution Cause                    (or Compilation Cause; the next line is the cause)
//          user torch_xla.sync
//        Graph Info:                        (not in the first version)
//          Graph Name: my_fn                (only inside torch_xla.compile)
//          Graph Hash: 32202b3d2e4a5ac5…
//          Number of Graph Inputs: 35       (first version: Number of Graph Input:)
//          Number of Graph Outputs: 107
//        Python Frame Triggered Execution:
//          sync (/x/torch_xla/torch_xla.py:87)
//          ..........                       (the stack went on)
//        --------------------------------------------------------------------------------
//     A Post block holds `Graph input size: 1.548000 GB` and four more (MB in older versions,
//     `Unknown  GB` if the backend does not say). It belongs to the Compilation block before it.
//     A line `Computation hash: …` is between them: the hash of the HLO, which is of no use here.
// (2) `pt-xla-profiler: …` lines, one per rule and step, from every process.
// (3) At exit, between rulers, `Unlowered Op usage summary`: `FRAME (count=12):`, perhaps
//     `Unlowered Op: "nonzero"`, perhaps `Python Frames:` or `Frames:`, frames, an empty line; then
//     the next FRAME. Earlier versions print no op, and each line may carry `pt-xla-profiler:`.
//     `FRAME (count=12):` begins the summary if its title was not copied.
// Indentation, trailing spaces and the text before a marker are not relied on.

// Returns the text after `label`, or nothing if `text` does not start with it.
std::optional<std::string_view> After(std::string_view text, std::string_view label) {
  if (!text.starts_with(label)) return std::nullopt;
  return Trim(text.substr(label.size()));
}

// Reads "1.548000 GB". Returns nothing for "Unknown  GB".
OptInt SizeBytes(std::string_view text) {
  const OptReal value = TakeReal(&text);
  if (!value || *value < 0) return std::nullopt;
  std::string_view unit = Trim(text);
  double scale = unit.starts_with("TB")   ? 0x1p40
                 : unit.starts_with("GB") ? 0x1p30
                 : unit.starts_with("MB") ? 0x1p20
                 : unit.starts_with("KB") ? 0x1p10
                                          : 1;
  double bytes = *value * scale;
  return bytes < 0x1p62 ? OptInt(std::llround(bytes)) : std::nullopt;
}

}  // namespace

class DebugLogParser::Impl {
 public:
  explicit Impl(const LogTexts& texts) : lines_(texts) {}

  void Take() { Text(lines_.text()); }

  DebugLog Finish() {
    EndSummary();
    for (auto& [key, blocks] : open_) {
      if (saw_end_ && key.second == last_block_ && !blocks.open.empty())
        Count(issue_codes::kCutFile, blocks.open.back().fact);
      CloseAll(blocks);
    }
    // If the ends were filtered out of the log, each block seems to begin inside another.
    if (!saw_end_) log_.issues.erase("interleaved_blocks");
    runtime_.Finish(log_);
    std::stable_sort(log_.facts.begin(), log_.facts.end(),
                     [](const DebugFact& a, const DebugFact& b) { return a.line < b.line; });
    return std::move(log_);
  }

 private:
  // A block that has begun and not ended.
  struct Open {
    DebugFact fact;
    bool has_cause = false, wants_cause = false, in_frames = false, torn = false;
    bool is_post = false;
    std::vector<Store::Frame> frames;
    bool empty() const { return !has_cause && fact.hash.empty() && frames.empty(); }
  };
  // The open blocks of one kind and origin. There is more than one if blocks interleave.
  struct OpenBlocks {
    std::deque<Open> open;
    bool ruler_due = false;    // the closing ruler should come next
    bool passed_over = false;  // a block ended that began after one that is still open
  };

  void Count(const std::string& code, const DebugFact& at) { Count(code, at.offset, at.line); }
  void Count(const std::string& code, int64_t offset, int64_t line) {
    DebugLog::Issue& issue = log_.issues[code];
    if (issue.count++ == 0) issue.offset = offset, issue.line = line;
  }
  DebugFact Here(DebugFact::Kind kind, int origin) {
    DebugFact fact;
    fact.kind = kind, fact.origin = origin, fact.offset = lines_.offset(),
    fact.line = lines_.number();
    return fact;
  }

  // Finds every marker in a text and reads from each to the next, because processes that write at
  // once share lines.
  void Text(std::string_view text) {
    Marker block = FindBlock(text, 0), profiler = FindProfiler(text, 0);
    if (block.begin == profiler.begin) {  // neither
      if (auto line = ParseRuntimeLogLine(text))
        return runtime_.Take(*line, lines_.offset(), lines_.number());
      return Unmarked(text, -1);
    }
    int origin = OriginIndex(text.substr(0, std::min(block.begin, profiler.begin)));
    while (block.begin != profiler.begin) {
      Marker marker = block.begin < profiler.begin ? block : profiler;
      if (marker.block == kBlocks) {
        profiler = FindProfiler(text, marker.end);
      } else {
        block = FindBlock(text, marker.end);
      }
      std::string_view rest =
          text.substr(marker.end, std::min(block.begin, profiler.begin) - marker.end);
      if (marker.block == kBlocks) {
        ProfilerLine(Trim(rest), origin);
      } else {
        EndSummary();
        BlockLine(marker.block, Trim(rest), origin);
      }
    }
  }

  int OriginIndex(std::string_view prefix) {
    auto [found, added] =
        origin_index_.try_emplace(OriginOfPrefix(prefix), int(log_.origins.size()));
    if (added) log_.origins.push_back(found->first);
    return found->second;
  }

  // --- blocks ---

  // Returns the open block of this kind that lacks what `lacks` asks for: the newest, unless it has
  // it already. In that case two blocks alternate line by line, and it is not known which frames
  // belong to which. Opens a block if the log begins inside one.
  template <class Lacks>
  Open& Lacking(std::deque<Open>& open, Block block, int origin, Lacks lacks) {
    for (auto candidate = open.rbegin(); candidate != open.rend(); ++candidate) {
      if (!lacks(*candidate)) continue;
      if (candidate != open.rbegin()) {
        for (Open& torn : open) torn.torn = true;
      }
      return *candidate;
    }
    return Begin(open, block, origin);
  }

  Open& Begin(std::deque<Open>& open, Block block, int origin) {
    constexpr size_t kMostOpen = 8;  // more: nothing ends them, so the log was filtered
    if (open.size() == kMostOpen) {
      Close(open.front());
      open.pop_front();
    }
    auto kind =
        block == kCompilation || block == kPost ? DebugFact::kCompile : DebugFact::kExecution;
    open.emplace_back().fact = Here(kind, origin);
    if (block == kUnexpected) open.back().fact.cause = CutKind::kUnexpected;
    open.back().is_post = block == kPost;
    if (open.size() > 1) Count("interleaved_blocks", open.back().fact);
    return open.back();
  }

  void BlockLine(Block block, std::string_view text, int origin) {
    last_block_ = block;
    OpenBlocks& blocks = open_[{origin, block}];
    std::deque<Open>& open = blocks.open;
    if (IsRuler(text, '=')) {
      // The ruler after the dashes belongs to the block that they closed; any other ruler begins
      // one.
      if (!blocks.ruler_due && (open.empty() || !open.back().empty())) {
        // Blocks that were left open when a later one ended will not continue, because their
        // process was killed.
        if (blocks.passed_over) CloseAll(blocks);
        Begin(open, block, origin);
      }
      blocks.ruler_due = false;
      return;
    }
    if (IsRuler(text, '-')) {
      saw_end_ = true;
      if (!open.empty()) {
        Close(open.back());
        open.pop_back();
      }
      blocks.passed_over = !open.empty();
      blocks.ruler_due = true;
      return;
    }
    blocks.ruler_due = false;
    if (block == kPost) return PostLine(text, open, origin);
    auto lacks_cause = [](const Open& o) { return !o.has_cause; };
    if (text.starts_with("Compilation Cause") || text.starts_with("Execution Cause")) {
      Open& o = Lacking(open, block, origin, lacks_cause);
      o.has_cause = o.wants_cause = true;
    } else if (auto hash = After(text, "Graph Hash:")) {
      Lacking(open, block, origin, [](const Open& o) { return o.fact.hash.empty(); }).fact.hash =
          Lower(*hash);
    } else if (auto name = After(text, "Graph Name:")) {
      Lacking(open, block, origin, [](const Open& o) { return o.fact.name.empty(); }).fact.name =
          Valid(*name);
    } else if (text.starts_with("Number of Graph Input")) {
      Lacking(open, block, origin, [](const Open& o) { return !o.fact.inputs; }).fact.inputs =
          FindCount(text);
    } else if (text.starts_with("Number of Graph Output")) {
      Lacking(open, block, origin, [](const Open& o) { return !o.fact.outputs; }).fact.outputs =
          FindCount(text);
    } else if (text.starts_with("Python Frame Triggered")) {
      Lacking(open, block, origin, [](const Open& o) { return !o.in_frames; }).in_frames = true;
    } else if (text.empty() || text.starts_with("Graph Info") || text.starts_with("....")) {
    } else if (auto wants = std::find_if(open.rbegin(), open.rend(),
                                         [](const Open& o) { return o.wants_cause; });
               wants != open.rend()) {
      wants->wants_cause = false;
      const CutKind cause = CauseFromText(text);
      if (cause == CutKind::kUnknown) Count("unknown_cause", lines_.offset(), lines_.number());
      if (wants->fact.cause == CutKind::kUnknown) wants->fact.cause = cause;
    } else if (std::optional<Store::Frame> frame = ParseFrame(text)) {
      auto in_frames =
          std::find_if(open.rbegin(), open.rend(), [](const Open& o) { return o.in_frames; });
      Open& o = in_frames != open.rend() ? *in_frames
                : open.empty()           ? Begin(open, block, origin)
                                         : open.back();
      o.frames.push_back(Valid(std::move(*frame)));
    } else {
      Count("unknown_block_line", lines_.offset(), lines_.number());
    }
  }

  void PostLine(std::string_view text, std::deque<Open>& open, int origin) {
    static constexpr std::string_view kLabels[] = {
        "Graph input size:", "Graph output size:", "Aliased Input size:",
        "Intermediate tensor size:", "Compiled program size:"};
    for (size_t i = 0; i < std::size(kLabels); ++i) {
      if (auto size = After(text, kLabels[i])) {
        Open& o = open.empty() ? Begin(open, kPost, origin) : open.back();
        o.fact.sizes[i] = SizeBytes(*size);
        o.has_cause = true;  // it holds something
        return;
      }
    }
    if (!text.empty()) Count("unknown_block_line", lines_.offset(), lines_.number());
  }

  void CloseAll(OpenBlocks& blocks) {
    for (Open& block : blocks.open) Close(block);
    blocks.open.clear();
    blocks.passed_over = false;
  }

  void Close(Open& block) {
    DebugFact& fact = block.fact;
    if (fact.kind == DebugFact::kCompile && block.has_cause && !block.wants_cause &&
        fact.hash.empty() &&
        std::any_of(fact.sizes.begin(), fact.sizes.end(),
                    [](const OptInt& size) { return size.has_value(); })) {
      return TakeSizes(fact);
    }
    if (block.empty()) return;
    // A log that begins inside a stack may have lost the innermost frames, which show the cause and
    // the line. A frame of the step mark is the innermost itself.
    bool headless = !block.has_cause && !block.in_frames &&
                    CauseFromFrames(block.frames) == CutKind::kValueAccess;
    if (headless) block.torn = true, Count("headless_block", fact);
    if (!block.torn && !block.frames.empty()) {
      if (fact.cause == CutKind::kUnknown) fact.cause = CauseFromFrames(block.frames);
      fact.stack = StackIndex(std::move(block.frames));
    }
    // A Post block whose sizes are all unknown says nothing.
    if (block.is_post) return;
    if (fact.kind == DebugFact::kCompile) {
      last_compile_[fact.origin] = log_.facts.size();
      saw_compilation_.insert(fact.origin);
    }
    log_.facts.push_back(std::move(fact));
  }

  // A Post block belongs to the last Compilation block of its process.
  void TakeSizes(const DebugFact& post) {
    auto last = last_compile_.find(post.origin);
    if (last == last_compile_.end()) {
      // The log begins between the two, or it was filtered, so this is all that is known of that
      // compilation. If the log has shown compilations already, another thread's block took its
      // place.
      Count("post_without_compilation", post);
      if (!saw_compilation_.contains(post.origin)) log_.facts.push_back(post);
      return;
    }
    log_.facts[last->second].sizes = post.sizes;
    last_compile_.erase(last);
  }

  // --- pt-xla-profiler lines ---

  // Removes the marks that make words of a line bold or code, as people do who quote it in a
  // question.
  static std::string WithoutMarkdown(std::string_view text) {
    std::string out(text);
    std::erase_if(out, [](char c) { return c == '*' || c == '`'; });
    return std::string(Trim(out));
  }

  void ProfilerLine(std::string_view line, int origin) {
    struct Rule {
      std::string_view word, also, end;
      ProfilerRule rule;
    };
    static constexpr Rule kRules[] = {
        {"CompileTime too frequent", "", " steps", ProfilerRule::kCompileFrequent},
        {"TransferFromDeviceTime too frequent", "", " steps", ProfilerRule::kTransferFromFrequent},
        {"TransferFromServerTime too frequent", "", " steps", ProfilerRule::kTransferFromFrequent},
        {"CompileTime too slow", "", "to optimize.", ProfilerRule::kCompileSlow},
        {"ExecuteTime too slow", "", "to optimize.", ProfilerRule::kExecuteSlow},
        {"Op(s) not lowered", "", "op lowering requests.", ProfilerRule::kNotLowered},
        {"Following metrics too frequent", "", "fresh metrics.", ProfilerRule::kXrtFrequent},
    };
    const std::string plain = WithoutMarkdown(line);
    std::string_view text = plain;
    for (const Rule& rule : kRules) {
      if (!text.starts_with(rule.word)) continue;
      DebugFact fact = Here(DebugFact::kProfilerLine, origin);
      fact.rule = rule.rule;
      size_t end = text.find(rule.end);  // a progress bar may follow
      if (end != std::string_view::npos) text = text.substr(0, end + rule.end.size());
      fact.text = fmt::format("{} {}", kProfiler, Valid(text));
      if (size_t during = text.find("during "); during != std::string_view::npos) {
        fact.steps = FindCount(text.substr(during));
        if (rule.end == " steps") fact.samples = FindCount(text);
      }
      // The facts come before "Please open a GitHub issue".
      if (end == std::string_view::npos && !lines_.ended() && text.find(" Pl") == text.npos)
        return Count(issue_codes::kCutFile, fact);
      log_.facts.push_back(std::move(fact));
      return;
    }
    text = line;
    // The summary at exit comes through the same logger.
    if (IsRuler(text, '=') || IsRuler(text, '-') || text.empty()) return Unmarked(text, origin);
    if (text.find("Unlowered Op") != std::string_view::npos || text.starts_with("FRAME (") ||
        in_summary_) {
      return Unmarked(text, origin);
    }
    if (ParseFrame(text)) return Count("headless_summary", lines_.offset(), lines_.number());
    Count("unknown_profiler_line", lines_.offset(), lines_.number());
  }

  // --- the summary at exit ---

  void Unmarked(std::string_view text, int origin) {
    const size_t frame_at = text.find("FRAME (count=");
    if (!in_summary_) {
      const size_t title = text.find("Unlowered Op usage summary");
      const size_t begin = std::min(title, frame_at);
      if (begin == std::string_view::npos) return;
      in_summary_ = true;
      summary_origin_ = origin >= 0 ? origin : OriginIndex(text.substr(0, begin));
      if (title != std::string_view::npos) return;
    }
    if (size_t at = frame_at; at != std::string_view::npos) {
      entries_.emplace_back().fact = Here(DebugFact::kFallback, summary_origin_);
      entries_.back().fact.count = FindCount(text.substr(at)).value_or(0);
    } else if (size_t op = text.find("Unlowered Op: \"");
               op != std::string_view::npos && !entries_.empty()) {
      std::string_view name = text.substr(op + 15);
      entries_.back().fact.op = OpName(name.substr(0, name.find('"')));
      entries_.back().has_op = true;
    } else if (text.find(std::string(20, '=')) != std::string_view::npos) {
      if (!entries_.empty()) EndSummary();
    } else if (std::optional<Store::Frame> frame = ParseFrame(text); frame && !entries_.empty()) {
      entries_.back().frames.push_back(Valid(std::move(*frame)));
    }
  }

  // Returns the name of an op. "nonzero" and "aten::nonzero" are ops; "xla_fallback" is the
  // function that the tracker runs in.
  std::string OpName(std::string_view printed) {
    if (printed.empty() || printed == "xla_fallback") return "";
    return printed.find("::") != std::string_view::npos ? Valid(printed)
                                                        : "aten::" + Valid(printed);
  }

  // Some versions write op and frames of one call site as two entries. The op's count is then the
  // sum of the counts of its call sites. The call sites are kept, with the op if it can only be
  // that one. An op's own entry is kept if no call sites explain it.
  void EndSummary() {
    if (!in_summary_) return;
    in_summary_ = false;
    std::vector<Entry*> ops, sites;
    for (Entry& entry : entries_) {
      if (entry.frames.empty()) ops.push_back(&entry);
      if (!entry.frames.empty() && !entry.has_op) sites.push_back(&entry);
    }
    int64_t ops_count = 0, sites_count = 0;
    for (Entry* entry : ops) ops_count += entry->fact.count;
    for (Entry* entry : sites) sites_count += entry->fact.count;
    bool explained = !sites.empty() && ops_count == sites_count;
    for (Entry* site : sites) {
      auto same = [&](Entry* other) { return other->fact.count == site->fact.count; };
      if (explained && ops.size() == 1) {
        site->fact.op = ops[0]->fact.op;
      } else if (explained && std::count_if(ops.begin(), ops.end(), same) == 1 &&
                 std::count_if(sites.begin(), sites.end(), same) == 1) {
        site->fact.op = (*std::find_if(ops.begin(), ops.end(), same))->fact.op;
      }
    }
    for (Entry& entry : entries_) {
      bool total = entry.frames.empty() && !sites.empty() && (explained || entry.fact.op.empty());
      if (entry.fact.count <= 0 || total) continue;
      if (!entry.frames.empty()) entry.fact.stack = StackIndex(std::move(entry.frames));
      log_.facts.push_back(std::move(entry.fact));
    }
    entries_.clear();
  }

  // --- text ---

  std::string Valid(std::string_view text) {
    int64_t bad = 0;
    std::string out = ToUtf8(text, &bad);
    if (bad > 0) Count("invalid_utf8", lines_.offset(), lines_.number());
    return out;
  }
  Store::Frame Valid(Store::Frame frame) {
    frame.function = Valid(frame.function);
    frame.file = Valid(frame.file);
    return frame;
  }
  std::string Lower(std::string_view hash) {
    std::string out;
    for (char c : hash.substr(0, hash.find_first_not_of("0123456789abcdefABCDEF")))
      out += char(std::tolower(c));
    return out;
  }
  int StackIndex(std::vector<Store::Frame> frames) {
    std::string key;
    for (const Store::Frame& frame : frames) {
      key += frame.function, key += '\0', key += frame.file, key += '\0',
          key += fmt::to_string(frame.line), key += '\0';
    }
    auto [found, added] = stack_index_.try_emplace(std::move(key), int(log_.stacks.size()));
    if (added) log_.stacks.push_back(std::move(frames));
    return found->second;
  }

  struct Entry {
    DebugFact fact;
    bool has_op = false;
    std::vector<Store::Frame> frames;
  };

  const LogTexts& lines_;
  DebugLog log_;
  RuntimeLogReader runtime_;
  std::map<std::pair<int, int>, OpenBlocks> open_;  // by origin and Block
  int last_block_ = -1;
  bool saw_end_ = false;                // the log has the lines that end blocks
  std::map<int, size_t> last_compile_;  // by origin: the compilation that waits for its sizes
  std::set<int> saw_compilation_;       // origins
  absl::flat_hash_map<std::string, int> stack_index_;
  std::map<LogOrigin, int> origin_index_;
  bool in_summary_ = false;
  int summary_origin_ = 0;
  std::vector<Entry> entries_;
};

DebugLogParser::DebugLogParser(const LogTexts& texts) : impl_(std::make_unique<Impl>(texts)) {}
DebugLogParser::~DebugLogParser() = default;
void DebugLogParser::Take() { impl_->Take(); }
DebugLog DebugLogParser::Finish() && { return impl_->Finish(); }

}  // namespace xlaprof
