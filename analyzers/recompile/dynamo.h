// The findings about functions that torch.compile compiled again, as its own log reports it.
#pragma once

#include <cstdint>
#include <string>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// Finding::count is the number of recompilations.
struct DynamoFigures {
  std::string function;
  std::string reason;         // the check that failed last, as printed; "" if it was not printed
  bool is_parameter = false;  // it failed on a parameter of the module, whose sizes are static
};

absl::StatusOr<Findings> FromDynamo(const Run& run);

}  // namespace xlaprof
