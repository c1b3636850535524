#include "profiler/vocabulary/code.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

CodeOwner OwnerOf(std::string_view file) { return FindCode(file).owner; }

TEST(Code, OwnersOfInstalledPackages) {
  const std::string folder = "/opt/venv/lib/python3.11/site-packages/";
  EXPECT_EQ(OwnerOf(folder + "torch/nn/functional.py"), CodeOwner::kTorch);
  EXPECT_EQ(OwnerOf(folder + "torch/optim/adam.py"), CodeOwner::kOptimizer);
  EXPECT_EQ(OwnerOf(folder + "torch/utils/data/dataloader.py"), CodeOwner::kLoader);
  EXPECT_EQ(OwnerOf(folder + "torch_xla/core/xla_model.py"), CodeOwner::kTorchXla);
  EXPECT_EQ(OwnerOf(folder + "jax/_src/api.py"), CodeOwner::kJax);
  EXPECT_EQ(OwnerOf(folder + "keras/src/layers/layer.py"), CodeOwner::kKeras);
  EXPECT_EQ(OwnerOf(folder + "no_such_package/x.py"), CodeOwner::kLibrary);
}

TEST(Code, OwnersOfOtherFiles) {
  EXPECT_EQ(OwnerOf("/home/ada/train.py"), CodeOwner::kUser);
  EXPECT_EQ(OwnerOf("train.py"), CodeOwner::kUser);
  EXPECT_EQ(OwnerOf("<stdin>"), CodeOwner::kUser);
  EXPECT_EQ(OwnerOf("<frozen importlib._bootstrap>"), CodeOwner::kPython);
  EXPECT_EQ(OwnerOf("/usr/lib/python3.11/threading.py"), CodeOwner::kPython);
  EXPECT_EQ(OwnerOf(""), CodeOwner::kUnknown);
}

// A build runs from its source tree, and a user's folder may have the package's name.
TEST(Code, OwnersInSourceTrees) {
  EXPECT_EQ(OwnerOf("/src/pytorch/torch/nn/modules/module.py"), CodeOwner::kTorch);
  EXPECT_EQ(OwnerOf("/src/xla/torch_xla/core/xla_model.py"), CodeOwner::kTorchXla);
  EXPECT_EQ(OwnerOf("/home/ada/torch/train.py"), CodeOwner::kUser);
}

TEST(Code, FoldersOfTheInterpreterWin) {
  const PythonFolders folders{.library = {"/opt/interpreter"}, .packages = {"/opt/installed"}};
  EXPECT_EQ(FindCode("/opt/interpreter/queue.py", folders).owner, CodeOwner::kPython);
  EXPECT_EQ(FindCode("/opt/installed/jax/_src/api.py", folders).owner, CodeOwner::kJax);
  EXPECT_EQ(FindCode("/opt/installed/mine.py", folders).owner, CodeOwner::kLibrary);
  // The pattern of Python's library fits this one, too.
  EXPECT_EQ(FindCode("/home/ada/lib/python3-course/train.py", folders).owner, CodeOwner::kUser);
  EXPECT_EQ(FindCode("/opt/interpreter.py", folders).owner, CodeOwner::kUser);
}

TEST(Code, OwnersOfPrintedNames) {
  EXPECT_EQ(FindPrintedCode("torch/nn/modules/module.py").owner, CodeOwner::kTorch);
  EXPECT_EQ(FindPrintedCode("adamw.py").owner, CodeOwner::kOptimizer);
  EXPECT_EQ(FindPrintedCode("pjit.py").owner, CodeOwner::kJax);
  EXPECT_EQ(FindPrintedCode("train.py").owner, CodeOwner::kUser);
  EXPECT_EQ(FindPrintedCode("models/train.py").owner, CodeOwner::kUser);
}

TEST(Code, PathsInPackages) {
  EXPECT_EQ(PathInPackage("/v/lib/python3.11/site-packages/a/b.py"), "a/b.py");
  EXPECT_EQ(PathInPackage("/usr/lib/python3.11/contextlib.py"), "contextlib.py");
  EXPECT_EQ(PathInPackage("/home/ada/train.py"), "/home/ada/train.py");
}

TEST(Code, ManyFunctionsHaveACommonName) {
  for (const char* name : {"<lambda>", "main.<locals>.<lambda>", "f", "<unnamed wrapped function>"})
    EXPECT_TRUE(IsCommonName(name)) << name;
  for (const char* name : {"forward", "fnord", "main.f", ""})
    EXPECT_FALSE(IsCommonName(name)) << name;
}

}  // namespace
}  // namespace xlaprof
