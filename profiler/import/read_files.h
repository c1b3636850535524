// The fifth stage of an import: reads the files of the chosen run into a store, and lists the other
// files with the reason why they are not read.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/import.h"
#include "profiler/import/importer.h"
#include "profiler/import/plan/identify.h"
#include "profiler/import/plan/places.h"
#include "profiler/store/events.h"
#include "profiler/store/store.h"

namespace xlaprof {

class FileReader {
 public:
  // `total_bytes` are those of all files, for the progress. The references must outlive the reader.
  FileReader(const ImportOptions& options, Store& store, int64_t total_bytes)
      : options_(options), store_(store), events_(store), total_bytes_(total_bytes) {}

  // Reads a file of the chosen run. Only errors of the store are returned. If the file cannot be
  // read, an import issue says why.
  absl::Status Read(IdentifiedFile& file, const Place& place);
  // Lists a file of another run than `chosen`.
  absl::Status ListOther(const IdentifiedFile& file, std::string_view chosen);
  // Writes what is known after the last file: the ranks of processes, what was left out, and the
  // store's origin.
  absl::Status Finish();

  // Returns the number of files that were read.
  int read() const { return read_; }
  // Returns InvalidArgument with what is wrong with each file. `problems` are those of files that
  // could not be found.
  absl::Status NothingRead(std::span<const std::string> problems) const;

 private:
  // Lists a file that is not read whichever run it is of. Returns whether it is such a file.
  absl::StatusOr<bool> ListUnread(const IdentifiedFile& file, bool is_wanted);
  absl::Status ReadAs(const Format& format, const IdentifiedFile& file, InputFile& input,
                      SourceRow source, const Place& place);
  absl::Status NotRecognised(const IdentifiedFile& file, Look look);
  absl::Status TellDamage(const IdentifiedFile& file, const InputFile& opened,
                          ImportContext& context);
  // Notes the identities of a file that was read: `known`, or else that of its bytes.
  void AddIdentities(const IdentifiedFile& file, const Format& format, const InputFile& input,
                     std::vector<std::string> known);
  absl::Status TellUnboundFlows();
  absl::Status NumberRanks();
  void TellProgress(const IdentifiedFile& file, size_t done) const;

  const ImportOptions& options_;
  Store& store_;
  EventWriter events_;
  const int64_t total_bytes_;
  int64_t done_bytes_ = 0;
  std::map<std::string, ImportContext::Position> dumps_;  // how far each dump's process was read
  std::map<int64_t, int64_t> rank_of_source_;
  std::map<FileId, std::string> name_of_;  // files that were read or listed as of this run
  // Identities of the files that were read, by whether their events have times.
  std::vector<std::string> timed_identities_, other_identities_;
  int read_ = 0;
  size_t tried_ = 0;                   // files of this run or of no run
  std::vector<std::string> problems_;  // one line each
  std::vector<std::string> unknown_;   // files that no importer knows, one line each
  std::string not_imported_;           // why the first file that was left out is not imported
};

}  // namespace xlaprof
