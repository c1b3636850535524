// Tests XLA's text of HLO modules: as torch_xla dumps it, as --xla_dump_to writes it, in the short
// form, and damaged.
#include "profiler/import/graph/hlo_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "profiler/import/graph/hlo_metadata.h"

namespace xlaprof {
namespace {

constexpr const char* kReduce =
    R"(HloModule IrToHlo.9, entry_computation_layout={(f32[2,3]{1,0})->(f32[2]{0}, s64[])}

%region_0.4 (a.5: f32[], b.6: f32[]) -> f32[] {
  %a.5 = f32[] parameter(0)
  %b.6 = f32[] parameter(1)
  ROOT %add.7 = f32[] add(f32[] %a.5, f32[] %b.6)
}

ENTRY %IrToHlo.9 (p0.1: f32[2,3]) -> (f32[2], s64[]) {
  %p0.1 = f32[2,3]{1,0:T(8,128)S(5)} parameter(0), metadata={op_type="xla__device_data" op_name="train.1/fwd.1/xla__device_data" source_file="/home/me/train.py" source_line=12}
  %constant.2 = f32[] constant(-inf), metadata={op_type="aten__max" op_name="aten__max" source_file="/home/me/a \"b\" {c.py" source_line=3}
  %reduce.8 = f32[2]{0} reduce(f32[2,3]{1,0} %p0.1, f32[] %constant.2), dimensions={1}, to_apply=%region_0.4, backend_config="{\"x\":[1,2}"
  %constant.3 = s64[] constant(7), sharding={devices=[2,1]0,1}
  ROOT %tuple.9 = (f32[2]{0}, /*index=1*/s64[]) tuple(f32[2]{0} %reduce.8, /*index=1*/s64[] %constant.3)
}
)";

TEST(HloText, ReadsEachPartOfAnInstruction) {
  GraphText graph = ParseHloText(kReduce);
  EXPECT_TRUE(graph.oddities.empty());
  EXPECT_EQ(graph.name, "IrToHlo.9");
  EXPECT_EQ(graph.printed_as, PrintedForm::kHlo);
  EXPECT_EQ(graph.input_count, 1);
  EXPECT_EQ(graph.output_count, 2);
  EXPECT_TRUE(graph.shows_debug);
  ASSERT_EQ(graph.nodes.size(), 8u);
  const auto& n = graph.nodes;
  EXPECT_EQ(n[2].operands, "0,1");
  EXPECT_EQ(n[2].computation, "region_0.4");
  EXPECT_EQ(n[2].root, OptInt());  // the root of a called computation, not of the graph
  EXPECT_EQ(n[3].op, "parameter");
  EXPECT_EQ(n[3].shape, "f32[2,3]{1,0:T(8,128)S(5)}");
  EXPECT_EQ(n[3].attributes, "parameter=0");
  EXPECT_EQ(n[3].scope, "train.1/fwd.1");
  EXPECT_EQ(n[3].location, "/home/me/train.py:12");
  EXPECT_EQ(n[3].name, "p0.1");
  EXPECT_EQ(n[3].computation, OptText());
  EXPECT_EQ(n[3].framework_op, "xla::device_data");
  EXPECT_EQ(n[4].attributes, "literal=-inf");
  EXPECT_EQ(n[4].framework_op, "aten::max");
  EXPECT_EQ(n[4].scope, OptText());
  EXPECT_EQ(n[4].location, "/home/me/a \"b\" {c.py:3");
  EXPECT_EQ(n[5].operands, "3,4");
  EXPECT_EQ(n[5].attributes,
            "dimensions={1}, to_apply=region_0, backend_config=\"{\\\"x\\\":[1,2}\"");
  EXPECT_EQ(n[6].attributes, "literal=7, sharding={devices=[2,1]0,1}");
  EXPECT_EQ(n[7].shape, "(f32[2]{0}, s64[])");
  EXPECT_EQ(n[7].operands, "5,6");
  EXPECT_EQ(n[7].root, 0);
}

TEST(HloText, TheFrameworksOpIsTheOpTypeOrTheEndOfTheOpName) {
  EXPECT_EQ(FrameworkOp("aten__mul", "train.1/aten__mul"), "aten::mul");
  EXPECT_EQ(FrameworkOp("", "jit(step)/transpose(jvp())/dot_general[precision=None]"),
            "dot_general");
  EXPECT_EQ(FrameworkOp("", "state['w']"), "") << "the name of an argument";
}

// JAX writes the name of an argument as the op_name; torch_xla writes a type and a path.
TEST(HloText, ParametersSayWhetherTheyAreDonated) {
  const GraphText graph = ParseHloText(
      R"(HloModule jit_f, is_scheduled=true, input_output_alias={ {1}: (0, {}, may-alias), {}: (3, {}, must-alias) }, buffer_donor={ (2, {}) }, entry_computation_layout={(f32[2]{0})->f32[2]{0}}

ENTRY %main (a: f32[2], b: f32[2], c: f32[2], d: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0), metadata={op_name="state[\'w\']"}
  %b = f32[2]{0} parameter(1), metadata={op_name="rows"}
  %c = f32[2]{0} parameter(2), metadata={op_type="xla__device_data" op_name="xla__device_data"}
  ROOT %d = f32[2]{0} parameter(3), metadata={op_name="jit(f)/d"}
}
)");
  EXPECT_TRUE(graph.oddities.empty());
  ASSERT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.nodes[0].attributes, "parameter=0, donated=1, argument=\"state['w']\"");
  EXPECT_EQ(graph.nodes[1].attributes, "parameter=1, argument=\"rows\"");
  EXPECT_EQ(graph.nodes[2].attributes, "parameter=2, donated=none");
  EXPECT_EQ(graph.nodes[3].attributes, "parameter=3, donated=0");
}

// The numbers after names change with every module; they must not make two graphs differ.
TEST(HloText, NumbersOfNamesAreNoDifference) {
  std::string other = kReduce;
  for (size_t at = 0; (at = other.find("region_0.4", at)) != std::string::npos; ++at)
    other.replace(at, 10, "region_0.44");
  EXPECT_EQ(ContentHash(ParseHloText(kReduce)), ContentHash(ParseHloText(other)));
  std::string slice = kReduce;
  slice.replace(slice.find("dimensions={1}"), 14, "dimensions={0}");
  EXPECT_NE(ContentHash(ParseHloText(kReduce)), ContentHash(ParseHloText(slice)));
}

TEST(HloText, EntryFirstIsNumberedLast) {
  std::string text = kReduce;
  size_t part = text.find("%region_0.4"), entry = text.find("ENTRY");
  text = text.substr(0, part) + text.substr(entry) + "\n" + text.substr(part, entry - part);
  EXPECT_EQ(ContentHash(ParseHloText(kReduce)), ContentHash(ParseHloText(text)));
  GraphText graph = ParseHloText(text);
  ASSERT_EQ(graph.nodes.size(), 8u);
  EXPECT_EQ(graph.nodes[2].operands, "0,1");
  EXPECT_EQ(graph.nodes[7].operands, "5,6");
  EXPECT_EQ(graph.nodes[7].idx, 7);
}

TEST(HloText, ShortForm) {
  GraphText graph = ParseHloText(
      "HloModule jit_f, is_scheduled=true, allow_spmd_sharding_propagation_to_output={true}\n\n"
      "body.1 {\n  p = (s32[], (f32[2], u8[4]{0})) parameter(0)\n  ROOT gte = s32[] "
      "get-tuple-element(p), index=0\n} // body.1\n\n"
      "ENTRY main.5 {\n  x = f32[2]{0} parameter(0)\n"
      "  ROOT while.2 = f32[2]{0} while(x), condition=cond.3, body=body.1\n}\n");
  EXPECT_TRUE(graph.oddities.empty());
  EXPECT_EQ(graph.printed_as, PrintedForm::kHloOptimized);
  ASSERT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.nodes[0].shape, "(s32[], (f32[2], u8[4]{0}))");
  EXPECT_EQ(graph.nodes[1].operands, "0");
  EXPECT_EQ(graph.nodes[1].attributes, "index=0");
  EXPECT_EQ(graph.nodes[3].operands, "2");
  EXPECT_EQ(graph.nodes[3].attributes, "condition=cond, body=body");
  EXPECT_EQ(graph.output_count, 1);
}

TEST(HloText, LiteralsOverSeveralLines) {
  std::string text =
      "HloModule m\n\nENTRY %e () -> f32[2,2] {\n  %c.1 = f32[2,2]{1,0} constant({\n    { 1, 2 "
      "},\n    { 3, 4 }\n})\n"
      "  %d.2 = u8[9000]{0} constant({";
  for (int i = 0; i < 9000; ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", i % 7);
  text += "})\n  ROOT %n.3 = f32[2,2]{1,0} negate(f32[2,2]{1,0} %c.1)\n}\n";
  GraphText graph = ParseHloText(text);
  EXPECT_TRUE(graph.oddities.empty());
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].attributes, "literal={ { 1, 2 }, { 3, 4 } }");
  ASSERT_TRUE(graph.nodes[1].attributes->starts_with("literal=#"));
  EXPECT_EQ(graph.nodes[2].operands, "0");
  text[text.find("2, 3, 4, 5") + 3] = '6';
  EXPECT_NE(ParseHloText(text).nodes[1].attributes, graph.nodes[1].attributes);
}

std::string WithFrames(const std::string& frames) {
  return "HloModule jit_f\n\nFileNames\n1 \"/venv/site-packages/jax/_src/x.py\"\n2 "
         "\"/home/me/train.py\"\n\n"
         "FunctionNames\n1 \"apply\"\n2 \"step\"\n\n"
         "FileLocations\n1 {file_name_id=1 function_name_id=1 line=5 end_line=5 column=1 "
         "end_column=2}\n"
         "2 {file_name_id=2 function_name_id=2 line=18 end_line=18 column=4 end_column=9}\n\n"
         "StackFrames\n" +
         frames +
         "\n\nENTRY %e {\n"
         "  ROOT %a.1 = f32[] parameter(0), metadata={op_name=\"jit(f)/add\" "
         "stack_frame_id=2}\n}\n";
}

TEST(HloText, StackFramesGiveTheUsersLine) {
  // XLA prints parents one too high.
  GraphText xla = ParseHloText(WithFrames(
      "1 {file_location_id=2 parent_frame_id=1}\n2 {file_location_id=1 parent_frame_id=2}\n"));
  ASSERT_EQ(xla.nodes.size(), 1u);
  EXPECT_EQ(xla.nodes[0].location, "step@/home/me/train.py:18");
  EXPECT_EQ(xla.nodes[0].scope, "jit(f)");
  EXPECT_TRUE(xla.oddities.empty());
  // Here parents are printed as they are, and 0 means no parent.
  GraphText plain = ParseHloText(WithFrames(
      "1 {file_location_id=2 parent_frame_id=0}\n2 {file_location_id=1 parent_frame_id=1}\n"));
  EXPECT_EQ(plain.nodes[0].location, "step@/home/me/train.py:18");
  // Cycles and missing entries end the walk.
  GraphText circle = ParseHloText(WithFrames(
      "1 {file_location_id=1 parent_frame_id=2}\n2 {file_location_id=9 parent_frame_id=1}\n"));
  EXPECT_EQ(circle.nodes[0].location, "apply@/venv/site-packages/jax/_src/x.py:5");
}

TEST(HloText, CountsWhatItCannotBelieve) {
  GraphText graph = ParseHloText(
      "HloModule m\nENTRY %e {\n  %a = f32[] negate(f32[] %b)\n  nonsense\n  %b = f32[] "
      "constant(\n  %c = f32[] parameter(0)\n"
      "  %c = f32[] negate(%c)\n}\nHloModule other\nENTRY %x {\n  %y = f32[] parameter(0)\n}\n");
  EXPECT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.oddities["unknown_operand"].count, 1);
  EXPECT_EQ(graph.oddities["unreadable_node"].count, 2);
  EXPECT_EQ(graph.oddities["repeated_name"].count, 1);
  EXPECT_EQ(graph.oddities["more_modules"].count, 1);
}

TEST(HloText, AnyCutEndsWell) {
  const std::string whole = kReduce;
  for (size_t length = 0; length <= whole.size(); ++length) {
    GraphText graph = ParseHloText(std::string_view(whole).substr(0, length));
    ASSERT_LE(graph.nodes.size(), 8u);
    if (length < whole.find("ENTRY")) {
      EXPECT_EQ(graph.oddities["no_entry"].count, 1) << length;
    }
  }
}

TEST(HloText, DeepBracketsAndLongLines) {
  const std::string deep(200'000, '{');
  GraphText graph = ParseHloText("HloModule m\nENTRY %e {\n  %a = f32[] parameter(0), x=" + deep +
                                 "\n  ROOT %b = f32[] negate(%a)\n}\n");
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[1].operands, "0");
}

}  // namespace
}  // namespace xlaprof
