// Tests folders of --xla_dump_to: each is one process with one compile per program; other files are
// listed.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "profiler/import/formats.h"
#include "profiler/import/import.h"
#include "profiler/import/xla/dumped_program.h"
#include "profiler/import/xla/xla_dump_name.h"
#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Importer jax_ir, xla_dump;
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Module(const std::string& name, int batch) {
  return fmt::format(
      "HloModule {0}, entry_computation_layout={{(f32[{1},4]{{1,0}})->f32[{1},4]{{1,0}}}}\n\n"
      "FileNames\n1 \"/x/train.py\"\n\nFunctionNames\n1 \"step\"\n2 \"main\"\n\nFileLocations\n"
      "1 {{file_name_id=1 function_name_id=1 line=4 end_line=4 column=1 end_column=2}}\n"
      "2 {{file_name_id=1 function_name_id=2 line=9 end_line=9 column=1 end_column=2}}\n\n"
      "StackFrames\n1 {{file_location_id=2 parent_frame_id=1}}\n"
      "2 {{file_location_id=1 parent_frame_id=2}}\n\n"
      "ENTRY %main.1 (x.1: f32[{1},4]) -> f32[{1},4] {{\n"
      "  %x.1 = f32[{1},4]{{1,0}} parameter(0), metadata={{op_name=\"x\"}}\n"
      "  ROOT %tanh.1 = f32[{1},4]{{1,0}} tanh(%x.1), metadata={{op_name=\"jit(step)/tanh\" "
      "stack_frame_id=2}}\n}}\n",
      name, batch);
}

constexpr const char* kBuffers =
    "BufferAssignment:\n"
    "allocation 0: size 1024, parameter 0, shape |f32[16,16]| at ShapeIndex {}, maybe-live-out:\n"
    " value: <30 w.1 @0> (size=1024,offset=0): f32[16,16]{1,0}\n"
    "allocation 1: size 512, parameter 1, shape |f32[8,16]| at ShapeIndex {}:\n"
    "allocation 2: size 16, output shape is |(f32[16,16], f32[])|, maybe-live-out:\n"
    "allocation 3: size 4, thread-local:\n"
    "allocation 4: size 4, constant:\n"
    "allocation 5: size 536, preallocated-temp:\n";

class XlaDumpTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "xlaprof-dump-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const std::string& name, const std::string& bytes) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  absl::Status Import() {
    store_ = std::make_unique<Store>(Store::CreateTemporary().value());
    return xlaprof::Import({.inputs = {root_}, .run = "", .as_format = "", .progress = {}},
                           *store_);
  }
  std::vector<std::string> Rows(const char* sql) {
    ImportedText in;
    in.store = std::move(store_);
    std::vector<std::string> rows = in.Rows(sql);
    store_ = std::move(in.store);
    return rows;
  }
  fs::path root_;
  std::unique_ptr<Store> store_;
};

TEST(XlaDumpName, TellsProgramAndKind) {
  auto name = ParseXlaDumpName("module_0004.jit_train.before_optimizations.txt");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->module, 4);
  EXPECT_EQ(name->stem, "module_0004.jit_train");
  EXPECT_EQ(name->kind, XlaDumpName::kBefore);
  EXPECT_FALSE(name->is_proto);
  name =
      ParseXlaDumpName("1695.module_12.SyncTensorsGraph.5.sm_8.0_gpu_after_optimizations.hlo.pb");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->module, 12);
  EXPECT_EQ(name->stem, "1695.module_12.SyncTensorsGraph");
  EXPECT_EQ(name->kind, XlaDumpName::kAfter);
  EXPECT_TRUE(name->is_proto);
  auto kind = [](const char* text) { return ParseXlaDumpName(text)->kind; };
  EXPECT_EQ(kind("module_0001.jit_f.cl_59.after_optimizations.txt"), XlaDumpName::kAfter);
  EXPECT_EQ(kind("module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt"),
            XlaDumpName::kBuffers);
  for (const char* part :
       {"module_0001.jit_f.cpu_after_optimizations-buffer-assignment-values.txt",
        "module_0001.jit_f.0003.x.after_y.before_z.txt", "module_0001.jit_f.debug_options",
        "module_0001.jit_f.before_optimizations.html", "module_0001.jit_f"})
    EXPECT_EQ(kind(part), XlaDumpName::kPart) << part;
  name = ParseXlaDumpName("jax_ir0012_jit_step_compile.mlir");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->module, 12);
  EXPECT_EQ(name->stem, "jax_ir0012_jit_step_compile");
  EXPECT_EQ(name->kind, XlaDumpName::kBefore);
  EXPECT_TRUE(name->is_jax);
  EXPECT_EQ(kind("jax_ir3_jit_step_compile.mlir.gz"), XlaDumpName::kBefore);
  EXPECT_EQ(kind("jax_ir3_jit_step_compile.jaxpr.txt"), XlaDumpName::kPart);
  EXPECT_EQ(kind("jax_ir3_jit_step_export.mlir"), XlaDumpName::kPart);
  for (const char* other : {"jax_ir.mlir", "jax_ir_7.mlir", "jax_ir7.mlir", "module_x.txt",
                            "module_1", "my_module_0001.jit_f.txt", "train.py", ""})
    EXPECT_FALSE(ParseXlaDumpName(other)) << other;
}

TEST(XlaBuffers, SumsThem) {
  ASSERT_TRUE(IsBufferAssignment(kBuffers));
  const ProgramBytes bytes = ParseBufferAssignment(kBuffers);
  EXPECT_EQ(bytes.input, 1536);
  EXPECT_EQ(bytes.output, 1040);
  EXPECT_EQ(bytes.alias, 1024);
  EXPECT_EQ(bytes.temp, 536);
  // A number that is far too large counts as 0.
  EXPECT_EQ(
      ParseBufferAssignment("BufferAssignment:\nallocation 0: size 99999999999999999999:\n").temp,
      0);
}

TEST_F(XlaDumpTest, AFolderIsOneProcess) {
  for (int module : {10, 9, 2}) {  // 9 comes before 10
    const std::string stem = fmt::format("module_{}.jit_step", module);
    Write(stem + ".before_optimizations.txt", Module("jit_step", module));
    Write(stem + ".cpu_after_optimizations.txt", Module("jit_step", module));
    Write(stem + ".cpu_after_optimizations-buffer-assignment.txt", kBuffers);
    Write(stem + ".debug_options", "xla_dump_to: \"x\"\n");
    Write(stem + "/module.mlir", "module @jit_step {\n}\n");
  }
  ASSERT_TRUE(Import().ok());
  EXPECT_THAT(Rows("SELECT count(*) FROM process"), ElementsAre("1"));
  EXPECT_THAT(
      Rows("SELECT c.ordinal, c.cause, c.function, g.program_id, g.printed_as, s.line, "
           "temp_bytes, inferred FROM compile c JOIN graph g ON g.id = graph_id JOIN site s "
           "ON s.id = site_id ORDER BY 1"),
      ElementsAre("0|call|step|2|hlo|9|536|1", "1|call|step|9|hlo|9|536|1",
                  "2|call|step|10|hlo|9|536|1"));
  EXPECT_THAT(Rows("SELECT replace(path, rtrim(path, replace(path, '/', '')), ''), derived_from, "
                   "note FROM source WHERE derived_from IS NOT NULL AND path LIKE '%module_9%'"),
              ElementsAre("module_9.jit_step.*|module_9.jit_step.before_optimizations.txt|3 other "
                          "files that XLA wrote for this program: not imported"));
}

TEST_F(XlaDumpTest, ADumpBelowARunsLogIsOfThatRun) {
  Write("jax.log",
        "Compiling jit(step) with global shapes and types (ShapedArray(float32[8,4]),).\n"
        "Finished XLA compilation of jit(step) in 2 sec\n"
        "Compiling jit(<lambda>) with global shapes and types (ShapedArray(float32[8]),).\n"
        "Finished XLA compilation of jit(<lambda>) in 1 sec\n");
  Write("dump/module_0000.jit_step.before_optimizations.txt", Module("jit_step", 8));
  Write("dump/module_0001.jit__lambda.before_optimizations.txt", Module("jit__lambda", 8));
  ASSERT_TRUE(Import().ok());
  EXPECT_THAT(Rows("SELECT count(*) FROM process"), ElementsAre("1"));
  EXPECT_THAT(Rows("SELECT c.function, dur_ns, g.printed_as, inferred FROM compile c JOIN graph g "
                   "ON g.id = graph_id ORDER BY ordinal"),
              ElementsAre("step|2000000000|hlo|0", "<lambda>|1000000000|hlo|0"));
}

std::string JaxModule(const std::string& name, int batch) {
  return fmt::format(
      "#loc1 = loc(\"x\")\nmodule @{0} attributes {{mhlo.num_replicas = 1 : i32}} {{\n"
      "  func.func public @main(%arg0: tensor<{1}x4xf32> loc(\"x\")) -> (tensor<{1}x4xf32> "
      "{{jax.result_info = \"result\"}}) {{\n"
      "    %0 = stablehlo.tanh %arg0 : tensor<{1}x4xf32> loc(#loc9)\n"
      "    return %0 : tensor<{1}x4xf32> loc(#loc)\n  }} loc(#loc)\n}} loc(#loc)\n"
      "#loc = loc(unknown)\n#loc2 = loc(\"/x/train.py\":4:8 to :20)\n"
      "#loc3 = loc(\"/x/train.py\":9:8 to :20)\n#loc4 = loc(\"step\"(#loc2))\n"
      "#loc5 = loc(\"main\"(#loc3))\n#loc6 = loc(callsite(#loc4 at #loc5))\n"
      "#loc9 = loc(\"jit(step)/block/tanh\"(#loc6))\n",
      name, batch);
}

// JAX_DUMP_IR_TO is given as a folder or as named files, alongside XLA's own dump of the same
// programs.
TEST_F(XlaDumpTest, WhatJaxDumpsIsOneProcess) {
  constexpr const char* kCompiles =
      "SELECT c.ordinal, c.cause, c.function, g.printed_as, s.function, s.file, s.line FROM "
      "compile c JOIN graph g ON g.id = graph_id JOIN site s ON s.id = site_id ORDER BY 1";
  for (int number : {2, 9, 10})
    Write(fmt::format("jax_ir{:04}_jit_step_compile.mlir", number), JaxModule("jit_step", number));
  const auto expected = ElementsAre("0|call|step|stablehlo|main|/x/train.py|9",
                                    "1|call|step|stablehlo|main|/x/train.py|9",
                                    "2|call|step|stablehlo|main|/x/train.py|9");
  ASSERT_TRUE(Import().ok());
  EXPECT_THAT(Rows("SELECT count(*) FROM process"), ElementsAre("1"));
  EXPECT_THAT(Rows(kCompiles), expected);
  EXPECT_THAT(Rows("SELECT op, shape, name, scope, location FROM graph_node WHERE graph_id = 1"),
              ElementsAre("parameter|f32[2,4]|x|-|-",
                          "stablehlo.tanh|f32[2,4]|0|jit(step)/block|step@/x/train.py:4"));
  EXPECT_THAT(Rows("SELECT code FROM import_issue"), testing::IsEmpty());

  std::vector<fs::path> named;
  for (const auto& entry : fs::directory_iterator(root_)) named.push_back(entry.path());
  store_ = std::make_unique<Store>(Store::CreateTemporary().value());
  ASSERT_TRUE(
      xlaprof::Import({.inputs = named, .run = "", .as_format = "", .progress = {}}, *store_).ok());
  EXPECT_THAT(Rows("SELECT count(*) FROM process"), ElementsAre("1"));
  EXPECT_THAT(Rows(kCompiles), expected);

  for (int number : {2, 9, 10}) {
    Write(fmt::format("module_{:04}.jit_step.before_optimizations.txt", number),
          Module("jit_step", number));
  }
  ASSERT_TRUE(Import().ok());
  EXPECT_THAT(Rows("SELECT count(*), count(DISTINCT process_id) FROM compile"), ElementsAre("3|1"));
}

TEST(JaxIr, OneModule) {
  const std::string text = JaxModule("jit_step", 8);
  EXPECT_GE(jax_ir.sniff(text), 85);
  EXPECT_EQ(jax_ir.sniff("module @IrToHlo.12 {\n"), 0);
  // The names of thousands of arguments come before the module.
  std::string names;
  for (int i = 0; i < 5000; ++i) names += fmt::format("#loc{} = loc(\"state[{}]\")\n", i + 100, i);
  EXPECT_EQ(Recognise(names + text).format->importer, &jax_ir);
  EXPECT_THAT(ImportText(jax_ir, names + text).Rows("SELECT function FROM compile"),
              ElementsAre("step"));
  EXPECT_FALSE(ImportText(jax_ir, "nothing").status.ok());
  auto in = ImportText(jax_ir, text.substr(0, text.find("return")));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue WHERE severity = 'warning'"),
              ElementsAre("cut_file"));
}

// Regression: a program whose last brace is followed by its computation's name was called cut.
TEST(XlaDump, ANameAfterTheLastBraceIsNoCut) {
  const std::string text =
      "HloModule jit_f\n\nENTRY main.2 {\n  ROOT a = f32[8]{0} parameter(0)\n} // main.2\n\n";
  EXPECT_THAT(ImportText(xla_dump, text).Rows("SELECT code FROM import_issue"), testing::IsEmpty());
  EXPECT_THAT(ImportText(xla_dump, text.substr(0, text.find("} //")))
                  .Rows("SELECT code FROM import_issue WHERE code = 'cut_file'"),
              ElementsAre("cut_file"));
}

TEST_F(XlaDumpTest, DrawingsAloneAreSaid) {
  Write("module_0000.jit_step.before_optimizations.html", "<html>\n");
  Write("module_0000.jit_step.debug_options", "xla_dump_to: \"x\"\n");
  EXPECT_THAT(std::string(Message(Import())), HasSubstr("a program whose HLO is missing"));
  Write("module_0001.jit_step.before_optimizations.txt", Module("jit_step", 8));
  ASSERT_TRUE(Import().ok());
  EXPECT_THAT(Rows("SELECT note FROM source WHERE path LIKE '%module_0000%'"),
              ElementsAre(HasSubstr("--xla_dump_hlo_as_text")));
}

TEST(XlaDump, OneModule) {
  EXPECT_GE(xla_dump.sniff(Module("jit_step", 8)), 80);
  auto in = ImportText(xla_dump, Module("SyncTensorsGraph.5", 8));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT function, cause, inferred FROM compile"),
              ElementsAre("SyncTensorsGraph|-|1"));
  // A debugging call printed this module; it was not compiled.
  in = ImportText(xla_dump, Module("IrToHlo.5", 8));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM compile"), ElementsAre("0"));
  EXPECT_THAT(in.Rows("SELECT printed_as FROM graph"), ElementsAre("hlo"));
  EXPECT_FALSE(ImportText(xla_dump, kBuffers).status.ok());
  EXPECT_FALSE(ImportText(xla_dump, "nothing").status.ok());
}

TEST(XlaDump, SniffsProtos) {
  EXPECT_GE(xla_dump.sniff(std::string("\x0a\x20\x0a\x05jit_f\x12\x04main\x1a\x10", 17)), 80);
  for (std::string other : {std::string("\x0a\x05hello"), std::string("\x0a\xff\xff\xff\xff\xff"),
                            std::string("\x0a\x20\x0a\x05jit_f\x12\x04ma"), std::string("\x0a")})
    EXPECT_EQ(xla_dump.sniff(other), 0);
}

}  // namespace
}  // namespace xlaprof
