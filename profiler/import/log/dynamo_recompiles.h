// The recompilations that torch.compile prints. dynamo_log.cc shows what they look like.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/log/dynamo_lines.h"
#include "profiler/import/torch/guard_failure.h"

namespace xlaprof {

// Marks of their first lines, and of their other ones.
inline constexpr std::string_view kDynamoLimit = "torch._dynamo hit config.",
                                  kDynamoRecompiling = "Recompiling function ",
                                  kDynamoRecompiles = "[__recompiles]",
                                  kOldDynamoRecompiles = "__recompiles: [DEBUG]";

// One message: a recompilation, or the limit of programs that a function has reached.
struct DynamoRecompile {
  std::string function, file;
  int64_t line = 0;  // 0: not printed
  bool is_limit = false;
  OptInt limit;                        // the number of programs that was reached
  std::vector<GuardFailure> failures;  // in PyTorch's order; empty if none is printed
  int64_t offset = 0, number = 0;      // of its first line
  DynamoPrefix prefix;
};

// Takes the lines of a text, and puts those of one message together.
class DynamoRecompileReader {
 public:
  void Take(const LogTexts& texts);
  // Returns the messages that name their function, in order.
  std::vector<DynamoRecompile> Finish();

 private:
  struct Message {
    DynamoRecompile what;
    std::vector<std::string> failures;  // as printed, over several lines
  };

  void Begin(const LogTexts& texts, bool is_limit, std::string_view label);
  // Returns the message that a line with this prefix goes on with; null if it belongs to none.
  Message* MessageOf(std::string_view prefix, bool is_limit);
  void TakeOfLimit(std::string_view line, bool is_whole);
  void TakeOfRecompile(std::string_view line, bool is_whole);
  bool MayLackItsEnd() const;
  void SetFunctionsOfLimits();

  std::vector<Message> all_;
  absl::flat_hash_map<std::string, size_t> by_prefix_;  // in all_
  bool is_last_line_ = false;  // the last line that was taken is of a message
};

}  // namespace xlaprof
