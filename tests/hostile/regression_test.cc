// Tests that files which the fuzzers once found (tests/fuzz/regressions/TARGET/) stay harmless.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/fuzz/targets.h"
#include "tests/hostile/expect.h"
#include "tests/read_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

TEST(Regression, WhatWasFoundOnceStaysFixed) {
  std::vector<fs::path> files;
  const fs::path folder = fs::path(XLAPROF_SOURCE_DIR) / "tests/fuzz/regressions";
  if (!fs::exists(folder)) GTEST_SKIP() << "the fuzzers have found nothing that is kept as a file";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ExpectAllWell(files.size(), [&](size_t i) {
    const std::string target = files[i].parent_path().filename().string();
    return GuardedCase{.name = fmt::format("{}/{}", target, files[i].filename().string()),
                       .run = [target, path = files[i]]() -> std::string {
                         const FuzzTarget* found = FuzzTargetNamed(target);
                         if (found == nullptr) return "no target of that name";
                         return found->run(ReadFile(path), true);
                       }};
  });
}

}  // namespace
}  // namespace xlaprof
