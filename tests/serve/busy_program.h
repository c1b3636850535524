// Shared by the tests of captures: a program that runs steps, free ports, and counts of what was
// captured.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/temporary_folder.h"
#include "profiler/import/import.h"
#include "profiler/record/record.h"
#include "serve/client.h"
#include "serve/server.h"

namespace xlaprof {

// Runs steps on a thread of its own as long as the object lives.
class BusyProgram {
 public:
  BusyProgram() : thread_([this] { Run(); }) {}
  ~BusyProgram() {
    ended_ = true;
    thread_.join();
  }
  int steps() const { return steps_; }

 private:
  void Run() {
    NameThread("trainer");
    for (; !ended_; ++steps_) {
      XLAPROF_STEP("train", steps_.load());
      XLAPROF_TRACE("forward");
      XLAPROF_COUNTER("loss", 0.5);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::atomic<bool> ended_ = false;
  std::atomic<int> steps_ = 0;
  std::thread thread_;
};

inline std::string AddressOf(int port) { return fmt::format("127.0.0.1:{}", port); }

// Imports the XSpace `file` and returns the count that `sql` selects.
inline int64_t Count(const std::filesystem::path& file, const char* sql) {
  Store store = *Store::CreateTemporary();
  absl::Status status = Import({.inputs = {file}}, store);
  EXPECT_TRUE(status.ok()) << status;
  auto count = store.One<int64_t>(sql);
  EXPECT_TRUE(count.ok()) << count.status();
  return count.ok() ? count->value_or(-1) : -1;
}

}  // namespace xlaprof
