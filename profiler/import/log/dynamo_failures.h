// The functions that torch.compile could not compile, as its log tells:
//
//   W1124 23:39:46.1 12 torch/_dynamo/convert_frame.py:2493] WON'T CONVERT step /home/u/train.py line 18
//   W1124 23:39:46.1 12 torch/_dynamo/convert_frame.py:2493] due to:
//   W1124 23:39:46.1 12 torch/_dynamo/convert_frame.py:2493] Traceback (most recent call last):
//   W1124 23:39:46.1 12 torch/_dynamo/convert_frame.py:2493]   File "...", line 2397, in __call__
//   W1124 23:39:46.1 12 torch/_dynamo/convert_frame.py:2493] torch._dynamo.exc.BackendCompilerFailed: backend='b' raised:
//   W1124 23:39:46.1 12 torch/_dynamo/convert_frame.py:2493] RuntimeError: no kernel
//
// A function that fails without this warning raised the error, which the program prints as it likes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/source_place.h"
#include "profiler/import/log/dynamo_lines.h"

namespace xlaprof {

inline constexpr std::string_view kWontConvert = "WON'T CONVERT ";

// Returns whether the text holds such a warning of torch._dynamo's.
bool HoldsDynamoFailure(std::string_view text);

struct DynamoFailure {
  SourcePlace function;  // where it is defined
  std::string error;     // name of the exception; "" if it is not printed
  std::string text;      // its message; "" if it is not printed
  int64_t offset = 0, number = 0;
  DynamoPrefix prefix;
};

// Takes the lines of a text, and puts those of one warning together.
class DynamoFailureReader {
 public:
  void Take(const LogTexts& texts);
  std::vector<DynamoFailure> Finish();

 private:
  void End();

  std::vector<DynamoFailure> all_;
  bool is_open_ = false;
  std::string printed_prefix_;  // of the warning that is open, as printed
  std::string text_;            // behind the prefixes of its lines
};

}  // namespace xlaprof
