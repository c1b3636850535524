// Reads dumps of XLA_SAVE_TENSORS_FILE (ir_sections.cc describes their layout), and single graphs
// in the same forms.
//
// Each section is one cut, and so one execution; the first section with a hash counts as its
// compile. Graphs are printed whole each time that they run, so a graph is read once, and later
// ones are only compared with it. Sections of older versions have no hash. Their graphs are
// distinguished by the text, without names and source places, and by the hashes of the results.
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/source_place.h"
#include "profiler/import/graph/graph_rows.h"
#include "profiler/import/graph/ir_text.h"
#include "profiler/import/graph/printed_graph.h"
#include "profiler/import/importer.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/torch_xla/ir_sections.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

// The number of texts of one graph (it may come from several lines) that are kept for comparison.
constexpr size_t kMaxTexts = 16;

int SniffIrDump(std::string_view head) {
  if (head.find("## BEGIN_GRAPH") != std::string_view::npos ||
      head.find("## END_GRAPH") != std::string_view::npos ||
      head.find("[ScheduleSyncTensorsGraph]") != std::string_view::npos) {
    return 95;
  }
  const PrintedForm form = FormOf(head);
  if (form == PrintedForm::kIrText) return 90;
  if (form == PrintedForm::kIrDot) return head.find("[label=\"") != std::string_view::npos ? 60 : 0;
  if (form == PrintedForm::kStablehlo)
    return head.find("stablehlo.") != std::string_view::npos ? 80 : 0;
  return 0;
}

class DumpReader {
 public:
  DumpReader(const Input& input, ImportContext& context) : input_(input), context_(context) {}

  absl::Status Read() {
    IrSections sections(input_.bytes);
    IrSection section;
    int64_t count = 0;
    while (sections.Next(&section)) {
      XP_TRY(ReadSection(section));
      ++count;
      context_.progress(size_t(section.graph_offset) + section.graph.size());
    }
    if (count == 0) return ReadBareGraph();
    for (const auto& [code, oddity] : sections.oddities()) XP_TRY(Issue(code, oddity, 0, 0));
    if (!input_.bytes.ends_with('\n')) {
      XP_TRY(Issue(issue_codes::kCutFile, {1, int64_t(input_.bytes.size()), 0}, 0,
                   1 + CountNewlines(input_.bytes)));
    }
    return WriteSettings(count);
  }

 private:
  // The graphs of one hash, or of one text, that are known.
  struct Known {
    int64_t graph_id = 0;
    uint64_t content = 0;
    std::vector<std::string_view> texts;  // printed texts of this graph
  };
  struct Cut {  // facts that a stack of frames shows
    std::vector<Store::Frame> frames;
    OptInt stack_id, site_id;
    CutKind cause = CutKind::kUnknown;
  };

  absl::Status Issue(std::string_view code, const GraphText::Oddity& oddity, int64_t offset,
                     int64_t line) {
    return AddGraphIssue(code, oddity, offset, line, context_);
  }

  absl::StatusOr<const Cut*> CutOf(const IrSection& section) {
    auto [found, added] = cuts_.try_emplace(section.frames);
    Cut& cut = found->second;
    if (!added || section.frames.empty()) return &cut;
    int64_t bad = 0;
    std::string frames = ToUtf8(section.frames, &bad);
    for (Lines lines(frames); lines.Next();) {
      if (auto frame = ParseFrame(lines.line())) cut.frames.push_back(std::move(*frame));
    }
    if (bad > 0)
      XP_TRY(Issue("invalid_utf8", {bad, 0, 0}, section.frames_offset, section.frames_line));
    if (cut.frames.empty()) return &cut;
    XP_TRY(cut.stack_id, context_.store.AddStack(cut.frames));
    if (const Store::Frame* user = InnermostUser(cut.frames)) {
      XP_TRY(cut.site_id, context_.store.AddSite(user->function, user->file, user->line));
    }
    cut.cause = CauseFromFrames(cut.frames);
    return &cut;
  }

  absl::Status ReadSection(const IrSection& section) {
    XP_TRY(const Cut* cut, CutOf(section));
    if (section.torn) return ReadTorn(section, *cut);
    bool first = false;
    XP_TRY(OptInt graph_id, GraphOf(section, &first));
    XP_TRY(int64_t process_id, context_.ProcessId());
    const bool dynamo = section.tag == "dynamo";
    if (first) {
      CompileRow row{.process_id = process_id,
                     .ordinal = context_.NextOrdinal(),
                     .graph_id = graph_id,
                     .cause = IfKnown(dynamo ? CutKind::kDynamoCompile : cut->cause),
                     .site_id = cut->site_id,
                     .stack_id = cut->stack_id,
                     .inferred = true};
      if (!section.name.empty()) row.function = std::string(section.name);
      XP_TRY(context_.Add(row, section.offset, section.line));
    }
    // Dynamo compiles the graphs that it extracts without running them.
    if (!dynamo && cut->cause == CutKind::kDynamoCompile) return absl::OkStatus();
    return internal::ToStatus(
        context_.Add(ExecutionRow{.process_id = process_id,
                                  .ordinal = context_.NextOrdinal(),
                                  .graph_id = graph_id,
                                  .cause = IfKnown(dynamo ? CutKind::kDynamoExecute : cut->cause),
                                  .site_id = cut->site_id,
                                  .stack_id = cut->stack_id},
                     section.offset, section.line));
  }

  // Nothing shows that the graph of a torn section was compiled or ran. Its graph and stack are
  // kept, without those facts.
  absl::Status ReadTorn(const IrSection& section, const Cut& cut) {
    std::string where;
    if (!cut.frames.empty()) {
      const Store::Frame* user = InnermostUser(cut.frames);
      const Store::Frame& frame = user != nullptr ? *user : cut.frames.front();
      where = fmt::format(" The first was cut by {} ({}).", frame.function,
                          SourcePlace{frame.file, frame.line}.text());
      // Several sections may be torn by one line.
      if (torn_stacks_.insert(*cut.stack_id).second) {
        XP_TRY(context_.store.Add(ProvenanceRow{
            "stack", *cut.stack_id, context_.source_id, section.offset, section.line, {}}));
      }
    }
    XP_TRY(context_.Issue(
        "torn_section", Severity::kWarning,
        "A section has no END_GRAPH: the run crashed while it lowered this graph, or the file is cut. The printed part of the graph is kept, but it is not counted as executed." +
            where,
        section.offset, section.line));
    if (Trim(section.graph).empty()) return absl::OkStatus();
    return internal::ToStatus(AddGraph(section, ParsePrintedGraph(section.graph)));
  }

  // Returns the graph of a section, and sets `*first` if it was not known before.
  absl::StatusOr<OptInt> GraphOf(const IrSection& section, bool* first) {
    // Without a hash, equal results of equal text are one graph, because the results' hashes cover
    // what the text does not print.
    std::string_view identity = section.hash.empty() ? section.root_hashes : section.hash;
    const PrintedForm form = FormOf(section.graph);
    std::string key = fmt::format("{}/{}/", section.hash.empty() ? "results" : "graph", form);
    key += identity;
    std::vector<Known>& known = known_[key];
    for (Known& graph : known) {
      for (std::string_view text : graph.texts) {
        const bool same_view =
            text.data() == section.graph.data() && text.size() == section.graph.size();
        if (same_view || text == section.graph) return OptInt(graph.graph_id);
      }
    }
    auto is_graph = [&](Known& graph) {
      if (graph.texts.size() < kMaxTexts) graph.texts.push_back(section.graph);
      return OptInt(graph.graph_id);
    };
    // Scopes that are numbered through the run differ each time. The last text is the most similar
    // one, because the first step may print its nodes in another order.
    for (Known& graph : known) {
      if (form == PrintedForm::kIrText && HaveSameIrContent(graph.texts.back(), section.graph))
        return is_graph(graph);
    }
    GraphText parsed = ParsePrintedGraph(section.graph);
    const uint64_t content = ContentHash(parsed);
    for (Known& graph : known) {
      if (graph.content == content) return is_graph(graph);
    }
    if (!known.empty() && !section.hash.empty()) {
      XP_TRY(Issue("hash_collision", {1, 0, 0}, section.offset, section.line));
      if (known[0].texts.size() < kMaxTexts) known[0].texts.push_back(section.graph);
      return OptInt(known[0].graph_id);
    }
    *first = section.hash.empty() || seen_.insert(section.hash).second;
    Known graph{.content = content, .texts = {section.graph}};
    XP_TRY(graph.graph_id, AddGraph(section, std::move(parsed)));
    known.push_back(std::move(graph));
    return OptInt(known.back().graph_id);
  }

  absl::StatusOr<int64_t> AddGraph(const IrSection& section, GraphText graph) {
    if (graph.printed_as == PrintedForm::kUnknown)
      XP_TRY(Issue("unknown_graph_form", {1, 0, 0}, section.graph_offset, section.graph_line));
    XP_TRY(int64_t process_id, context_.ProcessId());
    GraphRow row{.process_id = process_id};
    if (!section.hash.empty()) {
      row.hash = std::string(section.hash);
      std::transform(row.hash->begin(), row.hash->end(), row.hash->begin(),
                     [](char c) { return c >= 'A' && c <= 'F' ? char(c + 32) : c; });
    }
    if (int64_t results = CountHashes(section.root_hashes); results > 0) row.output_count = results;
    if (!section.name.empty()) row.name = ToUtf8(section.name);
    if (graph.shows_debug && debug_graph_.empty()) {
      debug_graph_ = fmt::format("graph at line {}: its nodes have scopes, locations or metadata",
                                 section.graph_line);
    }
    last_form_ = graph.printed_as;
    return AddGraphRows(std::move(row), std::move(graph), section.graph_offset, section.graph_line,
                        context_);
  }

  absl::Status ReadBareGraph() {
    if (FormOf(input_.bytes) == PrintedForm::kUnknown) {
      return Invalid(
          "{}: its {} bytes contain no section of an IR dump ('## BEGIN_GRAPH') and no graph ('IR {{', 'HloModule', 'digraph', 'module @'). Set XLA_SAVE_TENSORS_FILE to get a dump, or name the format with --as",
          input_.path, input_.bytes.size());
    }
    IrSection section{.graph = input_.bytes, .line = 1, .graph_line = 1};
    return internal::ToStatus(AddGraph(section, ParsePrintedGraph(input_.bytes)));
  }

  absl::Status WriteSettings(int64_t sections) {
    XP_TRY(int64_t process_id, context_.ProcessId());
    std::string evidence =
        fmt::format("{} sections, {} bytes: each sync prints its graph and appends it to this file",
                    sections, input_.bytes.size());
    XP_TRY(context_.store.Add(SettingRow{
        process_id, SettingName::kSaveTensors,
        last_form_ == PrintedForm::kUnknown ? "1" : std::string(TextOf(last_form_)), evidence}));
    if (debug_graph_.empty()) return absl::OkStatus();
    return internal::ToStatus(
        context_.store.Add(SettingRow{process_id, SettingName::kIrDebug, "1", debug_graph_}));
  }

  const Input& input_;
  ImportContext& context_;
  absl::flat_hash_map<std::string, std::vector<Known>> known_;
  std::set<std::string_view> seen_;       // hashes whose compile is written
  std::map<std::string_view, Cut> cuts_;  // by the text of the frames
  std::set<int64_t> torn_stacks_;         // stacks whose provenance is written
  std::string debug_graph_;
  PrintedForm last_form_ = PrintedForm::kUnknown;
};

absl::Status ReadIrDump(const Input& input, ImportContext& context) {
  return DumpReader(input, context).Read();
}

}  // namespace

extern const Importer ir_dump{
    .name = "ir_dump",
    .summary = "torch_xla with XLA_SAVE_TENSORS_FILE: the graph of each sync",
    .example = "save_tensors.txt.0",
    .sniff = SniffIrDump,
    .read = ReadIrDump,
    .framework = Framework::kPytorchXla,
    .kind = SourceKind::kExecuted};

}  // namespace xlaprof
