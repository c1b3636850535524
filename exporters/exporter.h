// What an exporter is. One file a format: `exporters/NAME.cc` defines `extern const Exporter
// NAME{...}` in namespace xlaprof::exporters, and its name stands in exporters/CMakeLists.txt. It
// writes what a store holds, and what was concluded from it, for another tool.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

struct ExportOptions {
  // The file to write; it is not there, or may be replaced. "-": standard output.
  std::filesystem::path path;
  bool gzip = false;  // compressed, where the format allows it
  // Where source lines may be quoted from, by a format that shows findings with their source.
  std::vector<std::filesystem::path> source_roots = {};
  std::function<void(double fraction)> progress = [](double) {};
};

// What was written, for people.
struct Exported {
  int64_t event_count = 0;
  std::vector<std::string> left_out;  // one sentence each: what the format cannot hold, how much
  // "3 flows that ...", where there are any.
  void LeaveOut(int64_t count, std::string_view what, std::string_view why) {
    if (count > 0)
      left_out.push_back(fmt::format("{} {}{}{}", count, what, count == 1 ? "" : "s", why));
  }
};

struct Exporter {
  const char* name;     // what --format takes
  const char* summary;  // one line: what opens such files
  const char* example;  // a typical file name
  bool streams;         // written front to back: may go to a pipe, or be compressed
  // Writes what the store's slice keeps. On an error the file is left as it is then.
  absl::StatusOr<Exported> (*write)(const Run& run, const Findings& findings,
                                    const ExportOptions& options);
};

std::span<const Exporter* const> AllExporters();
// The one of this name; null: there is none.
inline const Exporter* FindExporter(std::string_view name) {
  for (const Exporter* exporter : AllExporters()) {
    if (name == exporter->name) return exporter;
  }
  return nullptr;
}

}  // namespace xlaprof
