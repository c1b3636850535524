// Every input file under tests/golden, as bytes and with the format that they are recognised as. New
// captures and new formats are picked up automatically.
#pragma once

#include <string>
#include <vector>

#include "profiler/import/formats.h"

namespace xlaprof {

struct GoldenInput {
  std::string name;                // relative to tests/golden
  std::string disk;                // as it is on disk, mostly compressed
  std::string bytes;               // decompressed, as importers see them
  const Format* format = nullptr;  // the one whose sniff is surest, or null
};

// Returns the inputs in the order of their names. They are read once and kept.
const std::vector<GoldenInput>& GoldenInputs();

// Returns the format that is surest of `bytes`, or null if none is.
const Format* SurestFormat(std::string_view bytes);

// Returns the smallest inputs of each format, at most `per_format` of them, for tests whose
// cases must be cheap.
std::vector<const GoldenInput*> SmallInputs(size_t per_format, size_t max_bytes);

}  // namespace xlaprof
