// Finds the inputs that a graph gets back from the host: an op without lowering fetches a tensor, and
// its result is an input at the same line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

class InputsByPlace {
 public:
  static absl::StatusOr<InputsByPlace> Of(const Run& run);

  // A tensor that the host fetches at one place.
  struct Fetched {
    SourcePlace place;          // of the fetch; if it is not known, of the op that made the tensor
    bool is_exact = true;       // false: of the op that made it
    bool has_one_shape = true;  // all tensors that are fetched here have one shape
    // The graphs that were evaluated for it, each in all forms in which it was printed.
    std::vector<std::set<int64_t>> graphs;
  };
  // Returns an input that is made of what was fetched, the one with most sizes; nothing if no graph
  // shows one. Data and weights are inputs at the line that uses them first, so an input counts only
  // if a graph that was evaluated for the fetch lacks it. After the line that made the tensor, it
  // counts only if its size changes while that of the tensor does not.
  std::optional<InputsOfLine> MadeOf(const Fetched& fetched) const;

 private:
  struct Input {
    std::set<std::string> shapes;
    std::set<int64_t> graphs;
  };
  // By file, then by place, element type and rank.
  std::map<std::string, std::map<std::tuple<SourcePlace, std::string, size_t>, Input>> by_file_;
};

}  // namespace xlaprof
