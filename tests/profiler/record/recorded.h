// The fixture of tests that record: a directory of its own, and functions that read the store.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

class Record : public testing::Test {
 protected:
  Record() {
    std::string name = std::filesystem::temp_directory_path() / "xlaprof-record-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "run.xlaprof";
  }
  ~Record() override {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  std::vector<std::string> Files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  // Returns the first column as text.
  std::vector<std::string> Rows(const std::string& sql) {
    auto store = Store::Open(path_);
    EXPECT_TRUE(store.ok()) << store.status();
    if (!store.ok()) return {};
    return *store->Collect(sql, [](std::string text) { return text; });
  }
  std::filesystem::path folder_, path_;
};

// Runs `body` in a child process, whose failed expectations nobody sees. Returns its exit status, or
// the negated number of the signal that killed it.
inline int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  if (child < 0) return -1;
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace xlaprof
