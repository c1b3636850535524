#include "analyzers/run/scopes.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

class ScopePlace : public testing::Test {
 protected:
  void Scope(std::string_view name, std::string_view file, int64_t line) {
    if (host_ == 0) host_ = run_.HostThread();
    const StringId text = run_.Interned(file);
    run_.Event(host_, TextOf(Category::kScope), name, at_us_ += 10, 5);
    if (line == 0) return;
    run_.Arg("source_file", Text{text});
    run_.Arg("source_line", line);
  }
  std::string Of(std::string_view name) {
    Subject subject;
    absl::StatusOr<bool> filled =
        FillScopePlace(xlaprof::Run(run_.store()), run_.store().Find(name), subject);
    EXPECT_TRUE(filled.ok()) << filled.status();
    EXPECT_EQ(filled.value_or(false), subject.file.has_value());
    return subject.file ? fmt::format("{}:{}", *subject.file, subject.line.value_or(0)) : "";
  }
  TimedRun run_;
  int64_t host_ = 0, at_us_ = 0;
};

TEST_F(ScopePlace, IsTheOneThatOpensThem) {
  Scope("other", "/src/other.cc", 3);
  Scope("augment", "/src/train.cc", 12);
  run_.store();  // makes a chunk
  Scope("augment", "/src/train.cc", 12);
  EXPECT_EQ(Of("augment"), "/src/train.cc:12");
  EXPECT_EQ(Of("other"), "/src/other.cc:3");
}

TEST_F(ScopePlace, OfSeveralPlacesNoneIsTold) {
  Scope("augment", "/src/train.cc", 12);
  run_.store();
  Scope("augment", "/src/evaluate.cc", 7);
  EXPECT_EQ(Of("augment"), "");
}

TEST_F(ScopePlace, WhatWasNotRecordedIsNotTold) {
  EXPECT_EQ(Of("augment"), "");
  Scope("augment", "", 0);
  Scope("other", "/src/other.cc", 3);
  EXPECT_EQ(Of("augment"), "");
  EXPECT_EQ(Of("nothing of the name"), "");
}

}  // namespace
}  // namespace xlaprof
