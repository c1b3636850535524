// Defines what a dialect is: one kind of message in the output of programs. There is one file per
// dialect: `profiler/import/log/NAME.cc` defines `extern const Dialect NAME{...}`, and
// profiler/import/log/CMakeLists.txt lists its name. program_output.h reads a text with all
// dialects that occur in it.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/import/importer.h"
#include "profiler/import/log/log_runs.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {

// Holds the state that the dialects of one text share while it is read.
struct LogReading {
  const Input& input;
  ImportContext& context;
  const LogTexts& texts;  // at the line that is being taken; after the last line, at that line
  LogRuns& runs;
  LogProcesses& processes;
};

// The place of a fact.
struct LogPlace {
  int64_t line = 0;
  int run = -1;  // -1: it belongs to the run of its line
};

// Reads one dialect of one text. The functions are called once each in this order, except for Take,
// Write and WriteRun. No fact is written before Found is known, because the text may be refused.
class DialectReader {
 public:
  virtual ~DialectReader() = default;

  // Returns false if it reads the text itself. Take is then not called.
  virtual bool TakesLines() const { return true; }
  // Takes the line that the reading is at.
  virtual void Take() {}
  // Completes what was taken.
  virtual void End() {}
  // Returns whether the text holds a fact of this dialect.
  virtual bool Found() const = 0;
  // Returns an error that says what the text lacks. It is shown if the text was taken for this
  // dialect and holds nothing.
  virtual absl::Status Refuse() const = 0;
  // Adds the issues that are known after End.
  virtual absl::Status WriteIssues() { return absl::OkStatus(); }
  // Notes where runs begin. It may write facts, if it cannot keep them until then.
  virtual absl::Status FindRuns() { return absl::OkStatus(); }
  // Returns the places of the facts that Write writes, in the order in which they happened.
  virtual std::vector<LogPlace> Facts() const { return {}; }
  // Writes a fact. Facts of all dialects are written run by run, in the order of their lines.
  virtual absl::Status Write(size_t /*fact*/, int /*run*/) { return absl::OkStatus(); }
  // Writes everything else of a run, after its facts.
  virtual absl::Status WriteRun(int /*run*/) { return absl::OkStatus(); }
  // Adds the issues that are known after the last run.
  virtual absl::Status Finish() { return absl::OkStatus(); }
};

// Makes a reader of type R (Dialect::read).
template <class R>
std::unique_ptr<DialectReader> MakeReader(LogReading& reading) {
  return std::make_unique<R>(reading);
}

struct Dialect {
  const char* name;     // name that --as takes, and that source.dialects and source.format hold
  const char* summary;  // one line: who writes such messages
  const char* example;  // a typical file name
  // Returns how certain it is that this dialect is what a file was written for (Importer::sniff).
  int (*sniff)(std::string_view window);
  // A text that holds none of these is not read for this dialect. Each has at least two bytes.
  std::span<const std::string_view> marks;
  std::unique_ptr<DialectReader> (*read)(LogReading& reading);
  // The only framework that writes such messages, if it is only one.
  Framework framework = Framework::kUnknown;
  SourceKind kind = SourceKind::kReports;
  // True if programs write files of gigabytes that hold nothing else. The ends of such a file show
  // whether it holds other dialects.
  bool fills_files = false;
  // True if a line that lacks its end may have lost the last digits of a number.
  bool ends_with_numbers = false;
};

std::span<const Dialect* const> AllDialects();
}  // namespace xlaprof
