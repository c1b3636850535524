// Finds where a program's inputs and their sizes come from.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analyzers/graph/graph_diff.h"
#include "analyzers/recompile/cause.h"
#include "analyzers/run/early_cuts.h"
#include "analyzers/run/user_code.h"
#include "base/source_place.h"

namespace xlaprof {

// Finds what the program reads from the device and then uses as a size: numbers, and tensors that an
// op on the CPU makes another tensor of.
class SizeReads {
 public:
  explicit SizeReads(const EarlyCuts& cuts);

  // Sets the read that decides the size in each cause of one compile, as far as one does, and puts
  // sizes inside the graph that have one first. If an input has another size, no read decides the
  // sizes inside, but the input itself may come from one: an op on the CPU makes it of what is read,
  // or an integer that each step reads some lines above it in the same function is its size.
  void Explain(std::vector<RecompileCause>* causes) const;

 private:
  struct Read {
    SourcePlace place;
    bool is_integer = false, is_in_each_step = false;
  };
  // Returns the read that decides a size at this line, or nothing. A read of any number in the same
  // line counts, because the op follows it. In an earlier line of the function, only the nearest
  // read counts, and only if it reads an integer.
  const Read* Before(const SourcePlace& op) const;

  std::vector<Read> reads_;
  std::vector<std::pair<SourcePlace, SourcePlace>> returned_;  // an input's place, and its read's
};

// Returns the places in the user's code at which scalar inputs of the graph are recorded, each
// once, in order.
std::vector<SourcePlace> PlacesOfScalarInputs(const PrintedGraph& graph, const UserCode& code);

// Returns the place in the user's code at which inputs of this shape are recorded. Returns an empty
// place unless there is exactly one.
SourcePlace PlaceOfInput(const PrintedGraph& graph, const std::string& shape, const UserCode& code);

}  // namespace xlaprof
