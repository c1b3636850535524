#include "base/collective.h"

#include <algorithm>
#include <string>

namespace xlaprof {
namespace {

// XLA's opcodes, and JAX's primitives, after which JAX names the instructions. Names may go on after
// a separator: all-reduce-start, psum_invariant, all-gather.3.
constexpr std::string_view kOps[] = {"all-reduce",
                                     "all-gather",
                                     "reduce-scatter",
                                     "all-to-all",
                                     "collective-permute",
                                     "collective-broadcast",
                                     "ragged-all-to-all",
                                     "async-collective",
                                     "psum",
                                     "pmax",
                                     "pmin",
                                     "ppermute",
                                     "pbroadcast"};

// Parts of the names of kernels of NCCL, RCCL, HCCL and oneCCL.
constexpr std::string_view kKernelPrefixes[] = {"nccl", "rccl", "hccl", "oneccl"};
constexpr std::string_view kKernelParts[] = {"ncclKernel", "ncclDevKernel", "rcclGenericKernel"};

}  // namespace

bool IsCollectiveOp(std::string_view name) {
  for (std::string_view prefix : kKernelPrefixes) {
    if (name.starts_with(prefix)) return true;
  }
  for (std::string_view part : kKernelParts) {
    if (name.find(part) != name.npos) return true;
  }
  if (name.starts_with('%')) name.remove_prefix(1);
  if (const size_t end = name.rfind("::"); end != name.npos) name.remove_prefix(end + 2);
  for (std::string_view op : kOps) {
    if (name.size() < op.size() ||
        (name.size() > op.size() && name[op.size()] != '-' && name[op.size()] != '_' &&
         name[op.size()] != '.' && name[op.size()] != ' '))
      continue;
    const auto same = [](char a, char b) { return a == b || (a == '_' && b == '-'); };
    if (std::equal(op.begin(), op.end(), name.begin(), [&](char b, char a) { return same(a, b); }))
      return true;
  }
  return false;
}

}  // namespace xlaprof
