// The arguments of one event of a trace, in whatever form its format has them.
#pragma once

#include <optional>
#include <string_view>

#include "profiler/store/store.h"

namespace xlaprof {

class TraceArgs {
 public:
  virtual bool Has(std::string_view key) const = 0;
  // Returns an integer, or a text that is one; nothing for other values and if there is none.
  virtual OptInt Int(std::string_view key) const = 0;
  // Returns the number of an id, which may be a text: "12" or "0x1f".
  virtual std::optional<uint64_t> Id(std::string_view key) const = 0;
  // Returns a text, or another value as text; nothing if there is none.
  virtual OptText Text(std::string_view key) const = 0;

 protected:
  ~TraceArgs() = default;
};

}  // namespace xlaprof
