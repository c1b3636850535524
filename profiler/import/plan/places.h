// The third stage of an import, which opens no file: tells which job each file is of and, in it,
// which capture and which rank.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/import/plan/identify.h"

namespace xlaprof {

struct Place {
  std::filesystem::path root;  // files of one root are of one job; "" for files named one by one
  // The capture of the job that the file is of: a RUN folder, or the time at which traces were
  // recorded together. "" for files that runs are appended to.
  std::string capture;
  bool is_of_traces = false;    // `capture` is of traces
  std::optional<int64_t> rank;  // by the file's name
};

// Returns the place of each file.
//
// Files that are named one by one are one job. Files in directories that are named beside them
// belong to it if they are one job, too. In a directory, a job's root is the folder of its text
// files. An XSpace or a dump belongs to the nearest such folder above it, or else to the folder that
// holds `plugins` or the dump. So does the trace that torch.profiler wrote beside `plugins`. Files
// of a format that has a folder of its own belong to the job above it, or else to the only job
// beside it.
//
// Traces of ranks that were recorded together, side by side, are one capture; all other traces that
// lie side by side are captures of their own.
std::vector<Place> PlaceFiles(std::span<const IdentifiedFile> files);

}  // namespace xlaprof
