// The formats of files, and how the format of a file is found.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profiler/import/importer.h"
#include "profiler/import/log/dialect.h"

namespace xlaprof {

// Names what a file is written for: an importer, or a dialect of the output of programs.
struct Format {
  const char* name;     // name that --as takes and source.format holds
  const char* summary;  // one line: what writes such files
  const char* example;  // a typical file name
  Framework framework;  // the only one that writes such files, or kUnknown
  SourceKind kind;
  const Importer* importer;
  const Dialect* dialect = nullptr;  // null if the importer has no dialects

  int Sniff(std::string_view window) const {
    return dialect != nullptr ? dialect->sniff(window) : importer->sniff(window);
  }
  // Reads a file with the importer (Importer::read). If the user asked for this format, a file that
  // holds nothing of it is refused, whatever else it holds.
  absl::Status Read(const Input& input, ImportContext& context, bool is_asked_for) const;
};

// Returns all formats, in the order in which they are listed for users.
std::span<const Format* const> AllFormats();

struct Recognition {
  const Format* format = nullptr;  // null if no format is sure enough
  bool is_sure = false;            // false: other parts of the file may show another format
};

// Finds the format that is surest of the first 64 KiB, or else of the last. It is judged by the
// bytes, never by a name. A text of which these say nothing is searched for the messages of all
// dialects.
Recognition Recognise(std::string_view bytes);

// Returns the format of that name, or null if there is none.
const Format* FormatNamed(std::string_view name);

// Returns the names of all formats: "xspace, debug_log, ..."
std::string FormatNames();

}  // namespace xlaprof
