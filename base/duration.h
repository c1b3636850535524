// Reads numbers as torch_xla's metrics reports print them: durations, byte sizes and plain values.
#pragma once

#include <optional>
#include <string_view>

namespace xlaprof {

// Undoes torch_xla's misprint of durations. Its printer rounds each part to the nearest whole
// number but subtracts only the part's floor. A part is therefore one too high whenever what
// follows it is more than half of its unit: 2.6 ms is printed `003ms600.000us`. From the smallest
// part up, each part is one less than printed if the rest below it is more than half of its unit.
// The printer rounds exactly half to even, so an even part may mean itself or one less (1.5 s and
// 2.5 s both print `02s500ms000.000us`); then the printed number is taken. Returns nothing if
// `text` is not a duration or is one of more than 2^60 ns (36 years).
std::optional<double> DecodeDurationNs(std::string_view text);

}  // namespace xlaprof
