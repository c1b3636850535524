// Tests which framework a run's program is found to use.
#include <gtest/gtest.h>

#include "analyzers/analyzer.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

class Framework_ : public testing::Test {
 protected:
  Framework Of() { return FrameworkOf(xlaprof::Run(run_.store())).value(); }
  void Source(const std::string& format, const std::string& framework) {
    run_.Exec(fmt::format(
        "INSERT INTO source (path, format, framework, imported) VALUES ('{0}', '{0}', {1}, 1)",
        format, framework.empty() ? "NULL" : "'" + framework + "'"));
  }
  void Program(const std::string& name) {
    run_.Exec(fmt::format("INSERT INTO graph (process_id, name) VALUES (1, '{}')", name));
  }
  TimedRun run_;
};

TEST_F(Framework_, ProfilesAloneShowNothing) { EXPECT_EQ(Of(), Framework::kUnknown); }

TEST_F(Framework_, RecordingsAreOfCppPrograms) {
  run_.Exec("DELETE FROM source");
  Source("recording", "cpp");
  EXPECT_EQ(Of(), Framework::kCpp);
}

TEST_F(Framework_, MostLinesDecideWhetherAProgramIsWrittenInCpp) {
  Source("debug_log", "pytorch_xla");
  EXPECT_EQ(Of(), Framework::kPytorchXla);
  run_.Exec("INSERT INTO site (function, file, line) VALUES ('main', '/x/train.py', 3)");
  EXPECT_EQ(Of(), Framework::kPytorchXla);
  run_.Exec(
      "INSERT INTO site (function, file, line) VALUES ('Step', '/x/train.cc', 3), ('Step', "
      "'/x/model.h', 4)");
  EXPECT_EQ(Of(), Framework::kCpp);
}

TEST_F(Framework_, ALogBesideAProfileDecides) {
  Source("jax_log", "jax");
  EXPECT_EQ(Of(), Framework::kJax);
}

TEST_F(Framework_, ProgramsHaveTheirFrameworksNames) {
  Program("jit_step");
  EXPECT_EQ(Of(), Framework::kJax);
  Program("SyncTensorsGraph.12");
  Program("SyncTensorsGraph.13");
  EXPECT_EQ(Of(), Framework::kPytorchXla);
}

TEST_F(Framework_, CallsOfJittedFunctionsAreOfJax) {
  run_.Interned("PjitFunction(step)");
  EXPECT_EQ(Of(), Framework::kJax);
}

TEST_F(Framework_, TensorflowHasItsOwn) {
  Program("cluster_0__XlaCompiledKernel");
  EXPECT_EQ(Of(), Framework::kTensorflow);
}

TEST_F(Framework_, EagerPytorchHasOperators) {
  run_.Interned("cpu_op");
  EXPECT_EQ(Of(), Framework::kPytorch);
}

}  // namespace
}  // namespace xlaprof
