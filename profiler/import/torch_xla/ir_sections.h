// Reads the sections of a file that torch_xla writes with XLA_SAVE_TENSORS_FILE.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "profiler/import/graph/graph_text.h"
#include "profiler/store/store.h"

namespace xlaprof {

// One section: a graph that was cut, and the place of the cut. Views point into the file.
struct IrSection {
  std::string_view tag;     // ScheduleSyncTensorsGraph, dynamo, ...; "" if the header is missing
  std::string_view name;    // Graph Name; "" if not set
  std::string_view frames;  // the lines below TensorsGraphInfo
  std::string_view root_hashes;  // as printed, without the parentheses
  std::string_view graph;        // text of the graph
  std::string_view hash;         // Graph Hash; "" in older files and torn sections
  bool torn = false;             // has no END_GRAPH: its writer died, or the file is cut
  int64_t offset = 0, line = 0;  // place of the section; line from 1
  int64_t frames_offset = 0, frames_line = 0, graph_offset = 0, graph_line = 0;
};

class IrSections {
 public:
  explicit IrSections(std::string_view text) : text_(text) {}

  // Reads the next section. Returns false at the end. Graphs are skipped, not read. If a graph
  // repeats the last one with the same results, its `graph` is the view of that one.
  bool Next(IrSection* section);
  const std::map<std::string, GraphText::Oddity>& oddities() const { return oddities_; }

 private:
  struct Position {
    size_t at = 0;     // next byte
    int64_t line = 1;  // its line
  };
  std::string_view TakeLine();
  void SkipSharding();
  void TakeFrames(IrSection* section);
  void TakeGraph(IrSection* section);
  void Odd(const char* code, const Position& place);

  // The text between BEGIN_GRAPH and END_GRAPH.
  struct Block {
    std::string_view text;
    int64_t newlines = 0;
  };
  Block TakeBlock(std::string_view root_hashes, bool* whole);

  std::string_view text_;
  Position next_;
  absl::flat_hash_map<std::string_view, Block> last_;  // by root_hashes
  std::map<std::string, GraphText::Oddity> oddities_;
};

// Returns how many newlines are in `text`.
int64_t CountNewlines(std::string_view text);

// Returns how many hashes a printed list `a, b, c` has.
int64_t CountHashes(std::string_view list);

}  // namespace xlaprof
