// Finds the call of an op in a line of Python or C++, by the names that PyTorch's functions have.
#pragma once

#include <string_view>

namespace xlaprof {

// Returns whether the line calls the op: torch.histc(x) or x.histc() for aten::histc, and eigvals() for
// aten::linalg_eig. If the read at the line fetches a mask (`fetches_mask`), an index such as x[mask]
// calls aten::nonzero.
bool LineCallsOp(std::string_view line, std::string_view op, bool fetches_mask);

// Returns whether the line reads a value itself, as .item(), .cpu() and print() do.
bool LineReadsValue(std::string_view line);

}  // namespace xlaprof
