// Every input file under tests/golden, as bytes and with the importer that its bytes ask for. New
// captures and new importers are picked up by themselves.
#pragma once

#include <string>
#include <vector>

#include "profiler/import/importer.h"

namespace xlaprof {

struct GoldenInput {
  std::string name;                    // below tests/golden
  std::string disk;                    // as it lies there, mostly compressed
  std::string bytes;                   // decompressed: what importers see
  const Importer* importer = nullptr;  // whose sniff is surest; null: nobody's
};

// In the order of their names; read once, and kept.
const std::vector<GoldenInput>& GoldenInputs();

// The importer that is surest of `bytes`; null when none is.
const Importer* SurestImporter(std::string_view bytes);

// The smallest inputs of each importer, `per_importer` of them at most: where each case is to be
// cheap.
std::vector<const GoldenInput*> SmallInputs(size_t per_importer, size_t max_bytes);

}  // namespace xlaprof
