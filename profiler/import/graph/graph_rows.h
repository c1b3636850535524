// The rows of a graph that was read from text.
#pragma once

#include "profiler/import/graph/graph_text.h"
#include "profiler/import/importer.h"

namespace xlaprof {

// Counts what is odd in a graph or in the dump around it; `offset` and `line` are where the text
// begins. `code` must be one of those that the readers of graphs use.
absl::Status AddGraphIssue(std::string_view code, const GraphText::Oddity& oddity, int64_t offset,
                           int64_t line, ImportContext& context);

// Writes the graph, its nodes and its oddities; returns the id. What `row` already says stays:
// process, hash, name, counts.
absl::StatusOr<int64_t> AddGraphRows(GraphRow row, GraphText graph, int64_t offset, int64_t line,
                                     ImportContext& context);

}  // namespace xlaprof
