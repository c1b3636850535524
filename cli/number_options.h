// Checks the values of options that are numbers.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace xlaprof {

// Accepts whole numbers from `least` to `most`, in decimal digits.
CLI::Validator WholeNumber(int64_t least, int64_t most);

// Accepts real numbers from `least` to `most`, such as 0.5. Neither nan nor inf is a number.
CLI::Validator RealNumber(double least, double most);

}  // namespace xlaprof
