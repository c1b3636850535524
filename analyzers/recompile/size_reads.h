// Finds the numbers that the program reads from the device and then uses as a size.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/recompile/cause.h"
#include "analyzers/run/early_cuts.h"
#include "core/base/source_place.h"

namespace xlaprof {

class SizeReads {
 public:
  explicit SizeReads(const EarlyCuts& cuts);

  // If the causes of a compile are sizes inside the graph, sets the read that decides each, as far
  // as one does, and puts those with a read first. A size that follows from the size of an input
  // has no such read.
  void Explain(std::vector<RecompileCause>* causes) const;

 private:
  struct Read {
    SourcePlace place;
    bool is_integer = false;
  };
  // Returns the read that decides a size at this line, or nothing. A read of any number in the same
  // line counts, because the op follows it. In an earlier line of the function, only the nearest
  // read counts, and only if it reads an integer.
  const Read* Before(const SourcePlace& op) const;

  std::vector<Read> reads_;
};

}  // namespace xlaprof
