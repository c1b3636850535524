#include "analyzers/recompile/untraceable.h"

#include <algorithm>
#include <iterator>

namespace xlaprof {

ReasonType UntraceableType(std::string_view message) {
  // The spellings of torch 2.6 to 2.15; some begin a sentence.
  constexpr std::string_view kReads[] = {"Tensor.item", ".item()", "tolist", "_local_scalar_dense"};
  constexpr std::string_view kBranches[] = {"ata-dependent branching", "ata-dependent jump",
                                            "generic_jump"};
  const auto is_in = [&](std::string_view part) { return message.find(part) != message.npos; };
  if (std::any_of(std::begin(kBranches), std::end(kBranches), is_in))
    return ReasonType::kDataDependentBranch;
  if (std::any_of(std::begin(kReads), std::end(kReads), is_in)) return ReasonType::kValueAccess;
  return ReasonType::kUntraceable;
}

}  // namespace xlaprof
