// Every input file under tests/golden, as bytes and with the importer that recognises it. New
// captures and new importers are picked up automatically.
#pragma once

#include <string>
#include <vector>

#include "profiler/import/importer.h"

namespace xlaprof {

struct GoldenInput {
  std::string name;                    // relative to tests/golden
  std::string disk;                    // as it is on disk, mostly compressed
  std::string bytes;                   // decompressed, as importers see them
  const Importer* importer = nullptr;  // the one whose sniff is surest, or null
};

// Returns the inputs in the order of their names. They are read once and kept.
const std::vector<GoldenInput>& GoldenInputs();

// Returns the importer that is surest of `bytes`, or null if no importer accepts them.
const Importer* SurestImporter(std::string_view bytes);

// Returns the smallest inputs of each importer, at most `per_importer` of them, for tests whose
// cases must be cheap.
std::vector<const GoldenInput*> SmallInputs(size_t per_importer, size_t max_bytes);

}  // namespace xlaprof
