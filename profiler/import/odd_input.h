// Counts the issues of one source while it is read, and writes them when it is done. A file can
// have millions of one kind, and each would cost a statement.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "profiler/import/importer.h"

namespace xlaprof {

class OddInput {
 public:
  // `code` is a string literal. The first call's offset and advice stay.
  void Count(std::string_view code, Severity severity, std::string_view advice, int64_t offset,
             int64_t count = 1) {
    auto [found, is_new] = kinds_.try_emplace(code);
    Kind& kind = found->second;
    if (is_new) kind = {severity, std::string(advice), offset, 0};
    kind.count += count;
  }
  absl::Status Write(ImportContext& context) const {
    for (const auto& [code, kind] : kinds_) {
      XP_TRY(context.Issue(code, kind.severity, kind.advice, kind.offset, {}, kind.count));
    }
    return absl::OkStatus();
  }

 private:
  struct Kind {
    Severity severity;
    std::string advice;
    int64_t offset = 0, count = 0;
  };
  std::map<std::string_view, Kind> kinds_;
};

}  // namespace xlaprof
