// A made-up run for tests of recompilation: its steps, graphs, compiles and executions are written
// row by row.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analyzers/analyzer.h"
#include "analyzers/graph/graph_diff.h"
#include "analyzers/recompilation.h"
#include "profiler/store/store.h"

namespace xlaprof {

extern const Analyzer recompilation;

// Returns the figures of a finding that was made from compiles; fails the test if it has other
// figures.
inline RecompileFigures FiguresOfRecompiles(const Finding& finding) {
  const auto* figures = std::any_cast<RecompileFigures>(&finding.figures);
  EXPECT_NE(figures, nullptr);
  return figures == nullptr ? RecompileFigures() : *figures;
}

struct TestNode {
  std::string op, shape, operands = {}, attributes = {}, location = {}, scope = {};
  OptInt root = {};
  std::string computation = {}, framework_op = {};
};
using TestNodes = std::vector<TestNode>;

// Returns the nodes in the form that Diff takes; operands are node numbers such as "3,0.1".
inline PrintedGraph TestGraph(const TestNodes& nodes,
                              PrintedForm printed_as = PrintedForm::kIrText) {
  PrintedGraph graph{.id = 1, .printed_as = printed_as};
  for (const TestNode& node : nodes) {
    GraphNode one{
        node.op,          node.shape, node.attributes, node.scope,       node.location, {},
        node.computation, {},         node.root,       node.framework_op};
    for (size_t at = 0; at < node.operands.size();) {
      const size_t comma = std::min(node.operands.find(',', at), node.operands.size());
      const std::string text = node.operands.substr(at, comma - at);
      const size_t dot = text.find('.');
      one.operands.push_back(
          {std::stoi(text), dot == std::string::npos ? 0 : std::stoi(text.substr(dot + 1))});
      at = comma + 1;
    }
    one.Resolve(printed_as);
    graph.nodes.push_back(std::move(one));
  }
  return graph;
}

// Returns a training step on a batch: two inputs from line 7, weights from a library file, and a
// result.
inline TestNodes TrainStep(int64_t batch) {
  const std::string b = std::to_string(batch);
  return {{.op = "xla::device_data", .shape = "f32[16]{0}", .location = "convert@module.py:1357"},
          {.op = "xla::device_data",
           .shape = "f32[" + b + ",16]{1,0}",
           .location = "body@train.py:7",
           .scope = "train.1"},
          {.op = "aten::mul",
           .shape = "f32[" + b + ",16]{1,0}",
           .operands = "1,0",
           .location = "forward@model.py:5"},
          {.op = "xla::device_data",
           .shape = "s64[" + b + "]{0}",
           .location = "body@train.py:7",
           .scope = "train.1"},
          {.op = "aten::nll_loss",
           .shape = "f32[]",
           .operands = "2,3",
           .location = "nll_loss@functional.py:9",
           .root = 0}};
}

// Describes how a graph is executed.
struct How {
  std::optional<CutKind> cause = CutKind::kUserSync;
  std::string function = {};
  int64_t line = 20;  // of the cut; 0 means no site
  OptInt dur_ns = {}, alias_bytes = {}, input_bytes = {};
  bool compiles = false;  // even if this graph was compiled before
};

class RecompileRun {
 public:
  // Ids begin at `row_offset`, to show that findings do not depend on them.
  explicit RecompileRun(int64_t row_offset = 0)
      : store_(Store::CreateTemporary().value()), offset_(row_offset) {
    Exec(fmt::format("INSERT INTO process (id, segment) VALUES ({}, 0)", process_));
  }

  void Exec(const std::string& sql) {
    const absl::Status status = store_.Exec(sql);
    ASSERT_TRUE(status.ok()) << Message(status) << "\n" << sql;
  }

  // Adds a graph row and returns its id. Rows with equal hashes are one graph.
  int64_t Graph(const std::string& hash, const TestNodes& nodes,
                std::optional<PrintedForm> printed_as = PrintedForm::kIrText,
                OptInt input_count = {}, OptInt output_count = {}) {
    GraphRow row{.id = NextRow(),
                 .process_id = process_,
                 .input_count = input_count,
                 .output_count = output_count};
    if (!hash.empty()) row.hash = hash;
    if (printed_as)
      row.printed_as = printed_as, row.node_count = static_cast<int64_t>(nodes.size());
    const int64_t id = store_.Add(row).value();
    for (size_t i = 0; i < nodes.size(); ++i) {
      GraphNodeRow node{.graph_id = id,
                        .idx = static_cast<int64_t>(i),
                        .op = nodes[i].op,
                        .shape = nodes[i].shape,
                        .operands = nodes[i].operands,
                        .root = nodes[i].root};
      auto text = [](const std::string& value) {
        return value.empty() ? OptText() : OptText(value);
      };
      node.attributes = text(nodes[i].attributes), node.location = text(nodes[i].location);
      node.scope = text(nodes[i].scope), node.computation = text(nodes[i].computation);
      node.framework_op = text(nodes[i].framework_op);
      EXPECT_TRUE(store_.Add(node).ok());
    }
    return id;
  }

  // Adds one step, which executes `graph` at its end and compiles it if it is new.
  void Step(int64_t graph, const How& how = {}) {
    step_ = NextRow();
    StepRow row{.id = step_, .process_id = process_, .ordinal = next_step_++, .name = "train"};
    EXPECT_TRUE(store_.Add(row).ok());
    Execute(graph, how);
  }
  // Adds another execution in the same step.
  void Execute(int64_t graph, const How& how) {
    OptInt site;
    if (how.line > 0) site = store_.AddSite("body", "/home/user/train.py", how.line).value();
    auto text = [](const std::string& value) { return value.empty() ? OptText() : OptText(value); };
    if (how.compiles || std::find(compiled_.begin(), compiled_.end(), graph) == compiled_.end()) {
      compiled_.push_back(graph);
      CompileRow compile{.id = NextRow(),
                         .process_id = process_,
                         .ordinal = ordinal_++,
                         .graph_id = graph,
                         .dur_ns = how.dur_ns,
                         .cause = how.cause,
                         .function = text(how.function),
                         .site_id = site,
                         .step_id = step_,
                         .input_bytes = how.input_bytes,
                         .alias_bytes = how.alias_bytes};
      if (how.dur_ns) compile.dur_from = TimeSource::kProfile;
      EXPECT_TRUE(store_.Add(compile).ok());
    }
    ExecutionRow execution{.id = NextRow(),
                           .process_id = process_,
                           .ordinal = ordinal_++,
                           .graph_id = graph,
                           .cause = how.cause,
                           .site_id = site,
                           .step_id = step_};
    EXPECT_TRUE(store_.Add(execution).ok());
  }
  void Steps(int64_t graph, int times, const How& how = {}) {
    for (int i = 0; i < times; ++i) Step(graph, how);
  }
  // Adds a stack with one user frame, which resolves basenames to paths.
  void Frame(const std::string& function, const std::string& file, int64_t line) {
    Store::Frame frame{function, file, line, CodeOwner::kUser};
    EXPECT_TRUE(store_.AddStack({&frame, 1}).ok());
  }

  void NextProcess() {
    Exec(fmt::format("INSERT INTO process (id, segment) VALUES ({}, 0)", ++process_));
    next_step_ = ordinal_ = 0;
    compiled_.clear();
  }

  Findings Find() {
    absl::StatusOr<Findings> findings = Analyze(xlaprof::Run(store_), recompilation);
    EXPECT_TRUE(findings.ok()) << Message(findings.status());
    return findings.ok() ? *std::move(findings) : Findings();
  }
  // Returns the only finding; fails the test if there is none or more than one.
  Finding TheFinding() {
    Findings findings = Find();
    EXPECT_EQ(findings.size(), 1u);
    for (const Finding& finding : findings) {
      if (findings.size() > 1) ADD_FAILURE() << finding.words.title;
    }
    if (findings.empty()) return Finding{.reason = Reason{}};
    return findings.front();
  }

  Store& store() { return store_; }
  int64_t process() const { return process_; }

 private:
  int64_t NextRow() { return offset_ + ++rows_; }

  Store store_;
  int64_t offset_, process_ = 1, ordinal_ = 0, next_step_ = 0, rows_ = 0, step_ = 0;
  std::vector<int64_t> compiled_;
};

// Runs one step per batch size in `sizes`.
inline void BatchesOf(RecompileRun& run, const std::vector<int64_t>& sizes, const How& how = {}) {
  std::map<int64_t, int64_t> graphs;
  for (int64_t size : sizes) {
    auto [at, is_new] = graphs.try_emplace(size, 0);
    if (is_new) at->second = run.Graph("b" + std::to_string(size), TrainStep(size));
    run.Step(at->second, how);
  }
}

}  // namespace xlaprof
