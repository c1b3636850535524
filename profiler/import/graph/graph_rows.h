// Writes the rows of a graph that was read from text.
#pragma once

#include "profiler/import/graph/graph_text.h"
#include "profiler/import/importer.h"

namespace xlaprof {

// Counts an issue of a graph or of the dump around it; `offset` and `line` are where the text
// begins. `code` must be one of those that the readers of graphs use.
absl::Status AddGraphIssue(std::string_view code, const GraphText::Oddity& oddity, int64_t offset,
                           int64_t line, ImportContext& context);

// Writes the graph, its nodes and its issues, and returns the graph's id. Values that `row` already
// has stay: process, hash, name, counts.
absl::StatusOr<int64_t> AddGraphRows(GraphRow row, GraphText graph, int64_t offset, int64_t line,
                                     ImportContext& context);

}  // namespace xlaprof
