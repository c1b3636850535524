// Reads why torch.compile compiled a function again: the first check (guard) of an earlier program
// that failed, in PyTorch's words. TORCH_TRACE and TORCH_LOGS=recompiles print the same texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/source_place.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct GuardFailure {
  OptInt program;  // which of the function's programs did not fit: 3 for "0/3: ..."
  ReasonType type = ReasonType::kUnknown;
  // Names what differs: "x" for an argument, "self.calls", "G['MODE']" for a global, or "grad_mode" for a
  // state of PyTorch. "" if the text names nothing.
  std::string input;
  std::string before, after;  // both values as printed; "" if they are not printed
  OptInt dimension;           // of a size or stride that differs
  SourcePlace
      place;         // the line that made the check necessary, as printed; empty if none is printed
  std::string text;  // the whole text, without the stack behind it
};

// Reads a text such as "0/0: tensor 'x' size mismatch at index 0. expected 64, actual 48".
GuardFailure ParseGuardFailure(std::string_view text);

// Returns the whole path of a file that PyTorch prints without its beginning. PyTorch leaves out the folder
// that the file and PyTorch itself have in common, and one character more. If they only have "/" in
// common, that is the first character of a name: "mp/x/layers.py" is /tmp/x/layers.py. Returns "" unless
// the folder of `known`, the path of another file of the program, shows the character.
std::string WholePathBeside(std::string_view end, std::string_view known);

// Returns the name that failures have for a value that a tree of guards calls `name`: self.calls for
// L['self'].calls.
std::string NameInFailures(std::string_view name);

// Returns the name, as in failures, and the value of a guard such as
//   | | | +- EQUALS_MATCH: L['self'].calls == 1                 # self.calls += 1  # ...
// the first of `text`, which is moved behind it. Returns nothing if there is none.
std::optional<std::pair<std::string, std::string>> TakeEqualsMatch(std::string_view* text);

}  // namespace xlaprof
