// Defines what an exporter is. There is one file per format: `exporters/NAME.cc` defines `extern
// const Exporter NAME{...}` in namespace xlaprof::exporters, and exporters/CMakeLists.txt lists its
// name. An exporter writes a store, and the findings of its analysis, for another tool.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct ExportOptions {
  // The file to write. It does not exist or may be replaced. "-" means standard output.
  std::filesystem::path path;
  bool gzip = false;  // compress, if the format allows it
  // Directories from which source lines may be quoted, by a format that shows findings with their
  // source.
  std::vector<std::filesystem::path> source_roots = {};
  // The most slices of one page, which draws this many fluidly in some 100 MB. If a run has more
  // events, short ones are merged.
  int64_t max_page_slices = 2'000'000;
  std::function<void(double fraction)> progress = [](double) {};
};

// A summary of what was written, for people.
struct Exported {
  int64_t event_count = 0;
  std::vector<std::string> left_out;  // a sentence per kind: what was left out, and how much of it
  // Adds a sentence such as "3 flows that ..." unless `count` is 0.
  void LeaveOut(int64_t count, std::string_view what, std::string_view why) {
    if (count > 0)
      left_out.push_back(fmt::format("{} {}{}{}", count, what, count == 1 ? "" : "s", why));
  }
};

struct Exporter {
  const char* name;     // the value of --format
  const char* summary;  // one line: what opens such files
  const char* example;  // a typical file name
  bool streams;         // written sequentially, so it may go to a pipe or be compressed
  // Writes the chosen part of the run. After an error the file may be incomplete.
  absl::StatusOr<Exported> (*write)(const Run& run, const Findings& findings,
                                    const ExportOptions& options);
};

std::span<const Exporter* const> AllExporters();
// Returns the exporter of this name, or null.
inline const Exporter* FindExporter(std::string_view name) {
  for (const Exporter* exporter : AllExporters()) {
    if (name == exporter->name) return exporter;
  }
  return nullptr;
}

}  // namespace xlaprof
