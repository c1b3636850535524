// Tests files of XLA_SAVE_TENSORS_FILE: their sections become graphs, executions and inferred
// compiles.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/import/importer.h"

namespace xlaprof {
extern const Importer ir_dump;

namespace {

std::string Frames(int line) {
  return fmt::format(
      "TensorsGraphInfo:\n  sync (/venv/site-packages/torch_xla/torch_xla.py:87)\n  main "
      "(/home/me/train.py:{})\n\n",
      line);
}
std::string Ir(const std::string& shape, const std::string& location = "f@model.py:3") {
  return fmt::format(
      "IR {{\n  %0 = {0} xla::device_data(), location={1}, xla_shape={0}\n  %1 = {0} "
      "aten::neg(%0), xla_shape={0}, ROOT=0\n}}\n",
      shape, location);
}
std::string Section(const std::string& graph, const std::string& hash, int line = 30,
                    const std::string& tag = "ScheduleSyncTensorsGraph",
                    const std::string& frames = "") {
  return "[" + tag + "]\n" + (frames.empty() ? Frames(line) : frames) +
         "Root Hashes: (aa, bb)\n\n## BEGIN_GRAPH\n" + graph +
         (hash.empty() ? "" : "\nGraph Hash: " + hash + "\n") + "\n## END_GRAPH\n\n";
}

class Dump {
 public:
  explicit Dump(const std::string& text) {
    Exec("INSERT INTO source (id, path, imported) VALUES (1, 'dump', 1)");
    EventWriter events(*store);
    ImportContext context(*store, events, 1);
    status = ir_dump.read(Input{"dump", text}, context);
  }
  void Exec(const std::string& sql) {
    absl::Status done = store->Exec(sql);
    ASSERT_TRUE(done.ok()) << done;
  }
  // Returns the first column of all rows, with NULL as "-".
  std::string All(const std::string& sql) {
    std::string out;
    absl::Status done = store->Each(sql, [&](std::optional<std::string> value) {
      out += (out.empty() ? "" : " ") + value.value_or("-");
    });
    EXPECT_TRUE(done.ok()) << done;
    return out;
  }
  absl::StatusOr<Store> store = Store::CreateTemporary();
  absl::Status status;
};

TEST(IrDump, EachSectionIsAnExecutionEachHashACompile) {
  Dump dump(Section(Ir("f32[64]{0}"), "a1") + Section(Ir("f32[48]{0}"), "b2", 31) +
            Section(Ir("f32[64]{0}"), "a1"));
  ASSERT_TRUE(dump.status.ok()) << dump.status;
  EXPECT_EQ(dump.All("SELECT hash || ':' || node_count || ':' || output_count || ':' || printed_as "
                     "FROM graph"),
            "a1:2:2:ir_text b2:2:2:ir_text");
  EXPECT_EQ(dump.All("SELECT input_count FROM graph"), "- -");
  EXPECT_EQ(dump.All("SELECT graph_id FROM execution ORDER BY ordinal"), "1 2 1");
  EXPECT_EQ(dump.All("SELECT ordinal FROM compile WHERE inferred"),
            "0 2");  // before the execution that it belongs to
  EXPECT_EQ(dump.All("SELECT ordinal FROM execution"), "1 3 4");
  EXPECT_EQ(dump.All("SELECT cause || '@' || s.line FROM execution JOIN site s ON s.id = site_id"),
            "user_sync@30 user_sync@31 user_sync@30");
  EXPECT_EQ(dump.All("SELECT line FROM provenance WHERE table_name = 'execution'"), "1 18 35");
  EXPECT_EQ(dump.All("SELECT count(*) FROM graph_node"), "4");
  EXPECT_EQ(dump.All("SELECT name || '=' || value FROM setting ORDER BY 1"),
            "ir_debug=1 save_tensors=ir_text");
  EXPECT_EQ(dump.All("SELECT code FROM import_issue"), "");
}

TEST(IrDump, OneGraphFromSeveralLines) {
  Dump dump(Section(Ir("f32[64]{0}"), "a1") + Section(Ir("f32[64]{0}", "g@other.py:9"), "a1"));
  EXPECT_EQ(dump.All("SELECT count(*) FROM graph"), "1");
  EXPECT_EQ(dump.All("SELECT code FROM import_issue"), "");
}

TEST(IrDump, OneHashForTwoGraphsIsSaid) {
  Dump dump(Section(Ir("f32[64]{0}"), "a1") + Section(Ir("f32[48]{0}"), "a1") +
            Section(Ir("f32[48]{0}"), "a1"));
  EXPECT_EQ(dump.All("SELECT code || count FROM import_issue"), "hash_collision1");
  EXPECT_EQ(dump.All("SELECT graph_id FROM execution"), "1 1 1");
  EXPECT_EQ(dump.All("SELECT count(*) FROM compile"), "1");
}

// Versions before `Graph Hash:` printed only the hashes of the results.
TEST(IrDump, OlderFilesWithoutHash) {
  auto older = [](std::string section) {
    return section.replace(section.find("Root Hashes"), 11, "Hashes");
  };
  auto other_result = [&](std::string section) {
    return older(section.replace(section.find("aa, bb"), 6, "aa, cc"));
  };
  const std::string a = Section(Ir("f32[64]{0}"), "");
  Dump dump(older(a) + older(Section(Ir("f32[48]{0}"), "")) + older(a) + other_result(a));
  EXPECT_EQ(dump.All("SELECT hash FROM graph"), "- - -");
  EXPECT_EQ(dump.All("SELECT graph_id FROM execution"), "1 2 1 3");
  EXPECT_EQ(dump.All("SELECT graph_id FROM compile"), "1 2 3");
}

TEST(IrDump, TornSectionKeepsItsFrames) {
  std::string torn = "[ScheduleSyncTensorsGraph]\n" + Frames(77) +
                     "Root Hashes: (aa)\n\n## BEGIN_GRAPH\n" + Ir("f32[8]{0}");
  for (const std::string& end : {std::string("\n"), std::string("  %9 = f32[")}) {
    Dump dump(torn + end + Section(Ir("f32[64]{0}"), "a1"));
    EXPECT_EQ(
        dump.All("SELECT cause || '@' || s.line FROM execution JOIN site s ON s.id = site_id"),
        "user_sync@30");
    EXPECT_EQ(dump.All("SELECT hash FROM graph"), "- a1");
    EXPECT_EQ(dump.All("SELECT line FROM frame WHERE file = '/home/me/train.py' ORDER BY 1"),
              "30 77");
    EXPECT_EQ(dump.All("SELECT code || first_line FROM import_issue WHERE code = 'torn_section'"),
              "torn_section1");
    EXPECT_NE(dump.All("SELECT advice FROM import_issue WHERE code = 'torn_section'")
                  .find("main (/home/me/train.py:77)"),
              std::string::npos);
  }
}

// Regression: a run crashed repeatedly at the same line, and the second section with that stack
// failed the whole import.
TEST(IrDump, TornTwiceByOneLine) {
  const std::string torn = "[ScheduleSyncTensorsGraph]\n" + Frames(77) +
                           "Root Hashes: (aa)\n\n## BEGIN_GRAPH\n" + Ir("f32[8]{0}") + "\n";
  Dump dump(torn + torn + Section(Ir("f32[64]{0}"), "a1"));
  ASSERT_TRUE(dump.status.ok()) << dump.status;
  EXPECT_EQ(dump.All("SELECT code || count FROM import_issue WHERE code = 'torn_section'"),
            "torn_section2");
  EXPECT_EQ(dump.All("SELECT count(*) FROM provenance WHERE table_name = 'stack'"), "1");
}

TEST(IrDump, DynamoRunsAGraphThatWasCompiledBefore) {
  const std::string extract =
      "TensorsGraphInfo:\n  extract_graph_helper "
      "(/venv/site-packages/torch_xla/_dynamo/dynamo_bridge.py:1)\n  main "
      "(/home/me/train.py:5)\n\n";
  const std::string run =
      "TensorsGraphInfo:\n  optimized_mod "
      "(/venv/site-packages/torch_xla/_dynamo/dynamo_bridge.py:9)\n  main "
      "(/home/me/train.py:8)\n\n";
  std::string dynamo = Section(Ir("f32[4]{0}"), "d1", 0, "dynamo", run);
  dynamo.erase(dynamo.find("\nGraph Hash"), 1);  // so that it directly follows the brace
  Dump dump(Section(Ir("f32[4]{0}"), "d1", 0, "ScheduleSyncTensorsGraph", extract) + dynamo +
            dynamo);
  EXPECT_EQ(dump.All("SELECT cause FROM compile"), "dynamo_compile");
  EXPECT_EQ(dump.All("SELECT cause FROM execution"), "dynamo_execute dynamo_execute");
  EXPECT_EQ(dump.All("SELECT code FROM import_issue"), "");
}

TEST(IrDump, NamesShardingsAndStrangeLines) {
  std::string named = Section(Ir("f32[4]{0}"), "d1");
  named.insert(named.find("TensorsGraphInfo"), "Graph Name: my_fn\n");
  Dump dump(named +
            "#OUTPUT_SHARDING_BEGIN\n\nf32[4] {devices=[2]0,1}\n\n#OUTPUT_SHARDING_END\n\nhello\n" +
            Section(Ir("f32[4]{0}"), "d1"));
  EXPECT_EQ(dump.All("SELECT name FROM graph"), "my_fn");
  EXPECT_EQ(dump.All("SELECT function FROM compile"), "my_fn");
  EXPECT_EQ(dump.All("SELECT count(*) FROM execution"), "2");
  EXPECT_EQ(dump.All("SELECT code || count FROM import_issue"), "unknown_line1");
}

TEST(IrDump, BareGraphIsAGraphWithoutExecution) {
  EXPECT_GE(ir_dump.sniff(Ir("f32[4]{0}")), 80);
  Dump dump(Ir("f32[4]{0}"));
  ASSERT_TRUE(dump.status.ok()) << dump.status;
  EXPECT_EQ(dump.All("SELECT node_count FROM graph"), "2");
  EXPECT_EQ(dump.All("SELECT count(*) FROM execution"), "0");
  EXPECT_EQ(dump.All("SELECT count(*) FROM compile"), "0");
}

// No marker shows the form in which the graph of a section is printed.
TEST(IrDump, FormsAreToldApart) {
  const std::string hlo =
      "HloModule IrToHlo.2\n\nENTRY %e {\n  ROOT %p.1 = f32[4]{0} parameter(0)\n}\n";
  const std::string dot =
      "digraph G {\n  node0 [label=\"xla::device_data\\nf32[4]{0}\\nROOT=0\"]\n}\n";
  const std::string mlir =
      "module @m {\n  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n    %0 = "
      "stablehlo.abs %arg0 : tensor<4xf32>\n"
      "    return %0 : tensor<4xf32>\n  }\n}\n";
  for (const std::string& bare : {dot, mlir}) EXPECT_GE(ir_dump.sniff(bare), 10) << bare;
  Dump dump(Section(Ir("f32[4]{0}"), "a1") + Section(hlo, "a1") + Section(dot, "a1") +
            Section(mlir, "a1") + Section("what\n", "a1") + Section(hlo, "a1"));
  EXPECT_EQ(dump.All("SELECT coalesce(printed_as, '?') || ':' || coalesce(node_count, '?') FROM "
                     "graph ORDER BY id"),
            "ir_text:2 hlo:1 ir_dot:1 stablehlo:2 ?:?");
  EXPECT_EQ(dump.All("SELECT graph_id FROM execution"), "1 2 3 4 5 2");
  EXPECT_EQ(dump.All("SELECT count(*) FROM compile"), "1");  // one hash, however it is printed
  EXPECT_EQ(dump.All("SELECT input_count FROM graph WHERE printed_as = 'hlo'"), "1");
  EXPECT_EQ(dump.All("SELECT code FROM import_issue"), "unknown_graph_form");
}

TEST(IrDump, CarriageReturnsAndBadBytes) {
  std::string text = Section(Ir("f32[4]{0}", "f@caf\xe9.py:3"), "d1");
  std::string crlf;
  for (char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  Dump dump(crlf + crlf);
  EXPECT_EQ(dump.All("SELECT hash || node_count FROM graph"), "d12");
  EXPECT_EQ(dump.All("SELECT location FROM graph_node WHERE idx = 0"), "f@caf\xEF\xBF\xBD.py:3");
  EXPECT_EQ(dump.All("SELECT code FROM import_issue"), "invalid_utf8");
  EXPECT_EQ(dump.All("SELECT count(*) FROM frame"), "2");
}

TEST(IrDump, AnyCutIsReadAndSaid) {
  const std::string whole = Section(Ir("f32[64]{0}"), "a1") + Section(Ir("f32[48]{0}"), "b2");
  const size_t first = Section(Ir("f32[64]{0}"), "a1").size();
  for (size_t length = 1; length < whole.size(); ++length) {
    Dump dump(whole.substr(0, length));
    if (length < first) continue;
    ASSERT_TRUE(dump.status.ok()) << length;
    EXPECT_GE(std::stoi(dump.All("SELECT count(*) FROM execution")), 1) << length;
    if (length > first + 1 && length < whole.size() - 14) {
      EXPECT_NE(dump.All("SELECT code FROM import_issue"), "") << length;
    }
  }
}

TEST(IrDump, OtherFilesAreRefused) {
  EXPECT_EQ(ir_dump.sniff("Metric: CompileTime\n"), 0);
  Dump dump("nothing of the kind\n");
  EXPECT_FALSE(dump.status.ok());
}

}  // namespace
}  // namespace xlaprof
