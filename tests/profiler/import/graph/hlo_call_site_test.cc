#include <gtest/gtest.h>

#include "profiler/import/graph/hlo.pb.h"
#include "profiler/import/graph/hlo_proto.h"

namespace xlaprof {
namespace {

struct TestFrame {
  std::string function, file;
  int line;
};

// Returns the call site of a module of one instruction that was recorded under `frames`, innermost
// first.
Store::Frame CallSiteOf(const std::string& module_name, const std::vector<TestFrame>& frames) {
  hlo::HloProto proto;
  auto* module = proto.mutable_hlo_module();
  module->set_name(module_name);
  module->set_entry_computation_id(1);
  auto* computation = module->add_computations();
  computation->set_id(1);
  computation->set_root_id(1);
  auto* instruction = computation->add_instructions();
  instruction->set_id(1);
  instruction->set_opcode("tanh");
  auto* index = module->mutable_stack_frame_index();
  for (size_t i = 0; i < frames.size(); ++i) {
    const int id = static_cast<int>(i) + 1;
    index->add_function_names(frames[i].function);
    index->add_file_names(frames[i].file);
    auto* location = index->add_file_locations();
    location->set_file_name_id(id), location->set_function_name_id(id),
        location->set_line(frames[i].line);
    auto* frame = index->add_stack_frames();
    frame->set_file_location_id(id), frame->set_parent_frame_id(i + 1 < frames.size() ? id + 1 : 0);
  }
  if (!frames.empty()) instruction->mutable_metadata()->set_stack_frame_id(1);
  Store store = Store::CreateTemporary().value();
  EventWriter events(store);
  ImportContext context(store, events, 1);
  const auto graph = AddHloGraph(proto.SerializeAsString(), 0, 0, context);
  EXPECT_TRUE(graph.ok()) << Message(graph.status());
  return graph.ok() ? graph->call_site : Store::Frame();
}

TEST(HloCallSite, IsTheLineAroundTheJittedFunction) {
  const Store::Frame site =
      CallSiteOf("jit_train_step", {{"train_step.<locals>.loss", "/u/t.py", 10},
                                    {"train_step", "/u/t.py", 11},
                                    {"epoch", "/u/t.py", 18},
                                    {"<module>", "/u/t.py", 30}});
  EXPECT_EQ(site.function, "epoch");
  EXPECT_EQ(site.file, "/u/t.py");
  EXPECT_EQ(site.line, 18);
}

TEST(HloCallSite, LibraryFramesBetweenAreSkipped) {
  const Store::Frame site =
      CallSiteOf("jit__lambda_", {{"main.<locals>.<lambda>", "/u/t.py", 4},
                                  {"reraise", "/usr/lib/python3/site-packages/jax/api.py", 9},
                                  {"main", "/u/t.py", 18}});
  EXPECT_EQ(site.line, 18);
}

TEST(HloCallSite, WithoutTheFunctionThereIsNone) {
  EXPECT_EQ(CallSiteOf("jit_train_step", {{"other", "/u/t.py", 4}, {"main", "/u/t.py", 18}}).file,
            "");
  EXPECT_EQ(CallSiteOf("jit_train_step", {{"train_step", "/u/t.py", 4}}).file,
            "");  // the caller is not known
  EXPECT_EQ(CallSiteOf("SyncTensorsGraph.12", {{"body", "/u/t.py", 4}}).file, "");
  EXPECT_EQ(CallSiteOf("jit_train_step", {}).file, "");
}

}  // namespace
}  // namespace xlaprof
