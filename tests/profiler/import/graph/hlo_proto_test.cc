#include "profiler/import/graph/hlo_proto.h"

#include <gmock/gmock.h>

#include "tests/profiler/import/xspace_builder.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kF32 = 11, kBf16 = 16, kS64 = 5, kTuple = 13;

// Packs repeated numbers into one bytes field.
Wire Packed(std::initializer_list<int64_t> numbers) {
  Wire out;
  for (int64_t number : numbers) out.Raw(uint64_t(number));
  return out;
}
Wire& AddPacked(Wire& message, uint32_t field, std::initializer_list<int64_t> numbers) {
  return message.Text(field, Packed(numbers).str());
}

std::string Shape(int type, std::initializer_list<int64_t> dimensions,
                  std::initializer_list<int64_t> layout = {}) {
  Wire shape = Wire().Int(2, type);
  if (dimensions.size() > 0) AddPacked(shape, 3, dimensions);
  Wire order;
  if (layout.size() > 0) AddPacked(order, 1, layout);
  shape.Text(5, order.str());
  return shape.str();
}

// Returns an instruction; `extra` holds its further fields.
std::string Instruction(int64_t id, const std::string& opcode, const std::string& shape,
                        std::initializer_list<int64_t> operands, Wire extra = {}) {
  Wire out =
      Wire().Text(1, fmt::format("{}.{}", opcode, id)).Text(2, opcode).Text(3, shape).Int(35, id);
  if (operands.size() > 0) AddPacked(out, 36, operands);
  return out.str() + extra.str();
}

std::string Computation(const std::string& name, int64_t id, int64_t root,
                        const std::vector<std::string>& instructions) {
  Wire out = Wire().Text(1, name).Int(5, id).Int(6, root);
  for (const std::string& instruction : instructions) out.Text(2, instruction);
  return out.str();
}

std::string Module(const std::vector<std::string>& computations, Wire extra = {}) {
  Wire module = Wire().Text(1, "jit_f").Text(2, "main").Int(6, 1);
  for (const std::string& computation : computations) module.Text(3, computation);
  return Wire().Text(1, module.str() + extra.str()).str();
}

struct Imported : ImportedText {
  absl::StatusOr<HloGraph> graph = HloGraph{};
};

Imported Import(const std::string& proto) {
  Imported out;
  out.store = std::make_unique<Store>(Store::CreateTemporary().value());
  XP_CHECK(out.store->Begin().ok());
  EventWriter events(*out.store);
  ImportContext context(*out.store, events, 1);
  out.graph = AddHloGraph(proto, 22, 7, context);
  XP_CHECK(events.Flush().ok());
  return out;
}

TEST(HloProto, WritesAllComputationsEntryLastWithOperandsByIndex) {
  // The entry comes first in the proto, and ids are in no order. The importer replaces the id of
  // the called computation by its place (calls=0).
  std::string entry =
      Computation("main", 1, 40,
                  {Instruction(50, "parameter", Shape(kF32, {8, 4}, {1, 0}), {}, Wire().Int(9, 0)),
                   Instruction(40, "fusion", Shape(kF32, {8, 4}, {1, 0}), {50, 50},
                               AddPacked(Wire().Text(11, "kLoop"), 38, {9}))});
  std::string called =
      Computation("fused", 9, 6,
                  {Instruction(5, "parameter", Shape(kF32, {}), {}, Wire().Int(9, 1)),
                   Instruction(6, "tanh", Shape(kF32, {}), {5})});
  Wire shape =
      Wire()
          .Text(1, Shape(kF32, {8, 4}))
          .Text(2, Wire().Int(2, kTuple).Text(4, Shape(kF32, {})).Text(4, Shape(kF32, {})).str());
  auto in = Import(Module({entry, called}, Wire().Text(4, shape.str())));
  ASSERT_TRUE(in.graph.ok()) << in.graph.status();
  EXPECT_EQ(in.graph->name, "jit_f");
  EXPECT_THAT(in.Rows("SELECT name, program_id, node_count, input_count, output_count, printed_as, "
                      "hash FROM graph"),
              ElementsAre("jit_f|22|4|1|2|hlo_optimized|-"));
  EXPECT_THAT(in.Rows("SELECT idx, op, shape, operands, attributes, root, name, computation FROM "
                      "graph_node ORDER BY idx"),
              ElementsAre("0|parameter|f32[]||parameter=1|-|parameter.5|fused",
                          "1|tanh|f32[]|0|-|-|tanh.6|fused",
                          "2|parameter|f32[8,4]{1,0}||parameter=0|-|parameter.50|-",
                          "3|fusion|f32[8,4]{1,0}|2,2|kind=kLoop, calls=0|0|fusion.40|-"));
  EXPECT_THAT(in.Rows("SELECT offset FROM provenance WHERE table_name = 'graph'"),
              ElementsAre("7"));
}

TEST(HloProto, ParametersSayWhetherTheyAreDonated) {
  auto named = [](const char* op_name) { return Wire().Text(2, op_name).str(); };
  const std::string entry =
      Computation("main", 1, 3,
                  {Instruction(1, "parameter", Shape(kF32, {}), {},
                               Wire().Text(7, named("state['w']")).Int(9, 0)),
                   Instruction(2, "parameter", Shape(kF32, {}), {}, Wire().Int(9, 1)),
                   Instruction(3, "parameter", Shape(kF32, {}), {},
                               Wire().Text(7, named("jit(f)/rows")).Int(9, 2))});
  Wire index;
  AddPacked(index, 1, {1});
  const std::string alias = Wire().Text(1, index.Int(2, 0).str()).str();
  const std::string donor = Wire().Text(1, Wire().Int(1, 1).str()).str();
  auto in = Import(Module({entry}, Wire().Text(8, alias).Text(18, donor)));
  ASSERT_TRUE(in.graph.ok()) << in.graph.status();
  EXPECT_THAT(in.Rows("SELECT attributes FROM graph_node ORDER BY idx"),
              ElementsAre("parameter=0, donated=1, argument=\"state['w']\"",
                          "parameter=1, donated=none", "parameter=2"));
}

// Returns the attributes of one instruction.
std::vector<std::string> Attributes(const std::string& opcode, Wire extra) {
  return Import(
             Module({Computation("main", 1, 1,
                                 {Instruction(1, opcode, Shape(kF32, {}), {}, std::move(extra))})}))
      .Rows("SELECT attributes FROM graph_node");
}

TEST(HloProto, WritesAttributesAsXlasTextDoes) {
  auto slice = [](int64_t start, int64_t limit, int64_t stride) {
    return Wire().Int(1, start).Int(2, limit).Int(3, stride).str();
  };
  EXPECT_THAT(Attributes("slice", Wire().Text(17, slice(1, 2, 1)).Text(17, slice(0, 128, 2))),
              ElementsAre("slice={[1:2], [0:128:2]}"));
  Wire transpose;
  AddPacked(transpose, 14, {1, 0});
  EXPECT_THAT(Attributes("transpose", transpose), ElementsAre("dimensions={1,0}"));
  Wire dot;
  AddPacked(AddPacked(dot, 1, {1}), 2, {0});
  EXPECT_THAT(Attributes("dot", Wire().Text(30, dot.str())),
              ElementsAre("lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
  EXPECT_THAT(Attributes("compare", Wire().Text(63, "GT")), ElementsAre("direction=GT"));
  EXPECT_THAT(Attributes("get-tuple-element", Wire().Int(13, 3)), ElementsAre("index=3"));
  EXPECT_THAT(Attributes("custom-call", Wire().Text(28, "TopK")),
              ElementsAre("custom_call_target=\"TopK\""));
  auto window = [](int64_t size, int64_t stride, int64_t low) {
    return Wire().Int(1, size).Int(2, stride).Int(3, low).Int(4, low).Int(5, 1).Int(6, 1).str();
  };
  Wire labels = Wire().Int(7, 0).Int(8, 3).Int(3, 2).Int(4, 3).Int(9, 0).Int(10, 3);
  AddPacked(AddPacked(AddPacked(labels, 11, {1, 2}), 6, {0, 1}), 12, {1, 2});
  EXPECT_THAT(
      Attributes("convolution",
                 Wire()
                     .Text(15, Wire().Text(1, window(5, 1, 2)).Text(1, window(5, 2, 2)).str())
                     .Text(16, labels.str())),
      ElementsAre("window={size=5x5 stride=1x2 pad=2_2x2_2}, dim_labels=b01f_01io->b01f"));
  EXPECT_THAT(
      Attributes("pad", Wire().Text(21, Wire()
                                            .Text(1, Wire().Int(1, 0).Int(2, 3).Int(3, 0).str())
                                            .Text(1, Wire().Int(1, 1).Int(2, 1).Int(3, 2).str())
                                            .str())),
      ElementsAre("padding=0_3x1_1_2"));
  Wire gather;
  AddPacked(AddPacked(AddPacked(gather, 1, {1}), 2, {0}), 3, {0}).Int(4, 1);
  Wire sizes = Wire().Text(33, gather.str());
  AddPacked(sizes, 34, {1, 128});
  EXPECT_THAT(Attributes("gather", sizes),
              ElementsAre("offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
                          "index_vector_dim=1, slice_sizes={1,128}"));
}

TEST(HloProto, PrintsSmallLiteralsAndHashesLargeOnes) {
  auto floats = [](std::vector<float> values, std::initializer_list<int64_t> dimensions) {
    std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return Wire().Text(8, Wire().Text(1, Shape(kF32, dimensions)).Text(8, bytes).str());
  };
  EXPECT_THAT(Attributes("constant", floats({0.5f}, {})), ElementsAre("literal=0.5"));
  EXPECT_THAT(Attributes("constant", floats({1, 2, 3}, {3})), ElementsAre("literal={1, 2, 3}"));
  auto large = Attributes("constant", floats(std::vector<float>(100, 1.0f), {100}));
  EXPECT_THAT(large, ElementsAre(testing::MatchesRegex("literal=#[0-9a-f]{16}")));
  std::vector<float> other(100, 1.0f);
  other[99] = 2;
  EXPECT_NE(Attributes("constant", floats(other, {100})), large);
  EXPECT_THAT(
      Attributes(
          "constant",
          Wire().Text(8,
                      Wire().Text(1, Shape(kBf16, {})).Text(13, std::string("\xc0\x3f", 2)).str())),
      ElementsAre("literal=1.5"));
  Wire numbers = Wire().Text(1, Shape(kS64, {2}));
  AddPacked(numbers, 5, {-1, 7});
  EXPECT_THAT(Attributes("constant", Wire().Text(8, numbers.str())),
              ElementsAre("literal={-1, 7}"));
}

// Imports a module of one instruction whose stack has a library frame inside a user frame.
std::string Located(Wire metadata) {
  auto location = [](int64_t file, int64_t function, int64_t line) {
    return Wire().Int(1, file).Int(2, function).Int(3, line).str();
  };
  Wire index = Wire()
                   .Text(1, "/v/site-packages/torch/nn.py")
                   .Text(1, "/home/u/train.py")
                   .Text(2, "linear")
                   .Text(2, "body");
  index.Text(3, location(1, 1, 5)).Text(3, location(2, 2, 10));
  index.Text(4, Wire().Int(1, 2).str())
      .Text(4, Wire().Int(1, 1).Int(2, 1).str())
      .Text(4, Wire().Int(1, 1).str());
  return Module(
      {Computation("main", 1, 1,
                   {Instruction(1, "tanh", Shape(kF32, {}), {}, Wire().Text(7, metadata.str()))})},
      Wire().Text(17, index.str()));
}

TEST(HloProto, PrefersTheNearestUserFrameOfAnInstructionsStack) {
  constexpr const char* kRows = "SELECT scope, location FROM graph_node";
  EXPECT_THAT(
      Import(Located(Wire().Text(1, "aten__tanh"))).Rows("SELECT framework_op FROM graph_node"),
      ElementsAre("aten::tanh"));
  auto in = Import(Located(
      Wire().Text(2, "train.1/fwd.1/aten__tanh").Text(3, "/x/other.py").Int(4, 3).Int(15, 2)));
  EXPECT_THAT(in.Rows(kRows), ElementsAre("train.1/fwd.1|body@/home/u/train.py:10"));
  EXPECT_EQ(in.graph->located_example, "body@/home/u/train.py:10");
  // If no user frame is above, the innermost frame is used.
  EXPECT_THAT(Import(Located(Wire().Int(15, 3))).Rows(kRows),
              ElementsAre("-|linear@/v/site-packages/torch/nn.py:5"));
  // Without a stack, the line of the metadata is used. An id beyond the index means no stack.
  EXPECT_THAT(Import(Located(Wire().Text(2, "tanh").Text(3, "/x/other.py").Int(4, 3).Int(15, 99)))
                  .Rows(kRows),
              ElementsAre("-|/x/other.py:3"));
  EXPECT_THAT(Import(Located(Wire().Text(2, "tanh"))).Rows(kRows), ElementsAre("-|-"));
}

TEST(HloProto, RefusesDamageAndTakesAnEmptyModule) {
  auto in = Import("\x0a\x50 cut");
  EXPECT_EQ(in.graph.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(in.Rows("SELECT * FROM graph"), IsEmpty());
  EXPECT_TRUE(Import("").graph.ok());
  EXPECT_THAT(Import(Module({Computation("main", 1, 1, {Instruction(1, "t\xff", "", {})})}))
                  .Rows("SELECT op, shape FROM graph_node"),
              ElementsAre("t\xef\xbf\xbd|invalid[]"));
}

TEST(HloProto, JoinsModulesWithCompilesFromTheEndByName) {
  auto module = [](const std::string& name) {
    return Blob{Wire().Text(1, Wire().Text(1, name).str()).str()};
  };
  Plane metadata("/host:metadata");
  // Program 0 was compiled before the window; programs 2 and 5 have the same name.
  metadata.Name("S.1(5)", {{"Hlo Proto", module("S.1")}})
      .Name("S.0(0)", {{"Hlo Proto", module("S.0")}})
      .Name("S.1(2)", {{"Hlo Proto", module("S.1")}});
  Plane host("/host:CPU");
  host.Line(1, "python");
  for (int i = 0; i < 2; ++i) {
    host.Event("XLAGraphExecutor::Compile", i * 100, 50, {{"graph_hash", fmt::format("h{}", i)}})
        .Event("CpuCompiler::RunBackend", i * 100 + 10, 5, {{"name", "S.1"}});
  }
  auto in = ImportXSpace({metadata, host});
  EXPECT_THAT(in.Rows("SELECT program_id, name, hash FROM graph ORDER BY 1"),
              ElementsAre("0|S.0|-", "2|S.1|h0", "5|S.1|h1"));
  EXPECT_THAT(in.Rows("SELECT c.ordinal, g.program_id FROM compile c JOIN graph g ON g.id = "
                      "graph_id ORDER BY 1"),
              ElementsAre("0|2", "1|5"));
  // The name differs from the last module's, so they are not joined and only the hash is known.
  host.Event("XLAGraphExecutor::Compile", 300, 50, {{"graph_hash", "h2"}})
      .Event("CpuCompiler::RunBackend", 310, 5, {{"name", "S.7"}});
  auto unsure = ImportXSpace({metadata, host});
  EXPECT_THAT(unsure.Rows("SELECT hash FROM compile JOIN graph g ON g.id = graph_id WHERE "
                          "printed_as IS NULL ORDER BY ordinal"),
              ElementsAre("h0", "h1", "h2"));
  EXPECT_THAT(unsure.Rows("SELECT code, severity, count FROM import_issue"),
              ElementsAre("module_not_joined|info|3"));
}

// Fingerprints of TPU programs are unsigned in names but signed in statistics, where half of them
// are negative.
TEST(HloProto, JoinsFingerprintsWithTheirOps) {
  Plane metadata("/host:metadata");
  metadata.Name("jit_f(12190760917235803885)",
                {{"Hlo Proto", Blob{Wire().Text(1, Wire().Text(1, "jit_f").str()).str()}}});
  Plane host("/host:CPU");
  host.Line(1, "tf_XLAEigen/1")
      .Event("dot.1", 10, 5, {{"hlo_op", "dot.1"}, {"program_id", int64_t(-6255983156473747731)}});
  auto in = ImportXSpace({metadata, host});
  EXPECT_THAT(in.Rows("SELECT g.name, g.program_id FROM execution e JOIN graph g ON g.id = "
                      "e.graph_id"),
              ElementsAre("jit_f|-6255983156473747731"));
}

}  // namespace
}  // namespace xlaprof
