// Reads the arguments of an event of a Perfetto trace (debug annotations).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/odd_input.h"
#include "profiler/import/perfetto/perfetto_sequence.h"
#include "profiler/import/trace/text_cache.h"
#include "profiler/import/trace/trace_args.h"
#include "profiler/store/events.h"

namespace xlaprof::pftrace {

// Gives ids to texts. Those that were seen recently are found without looking into the store.
class TraceTexts {
 public:
  TraceTexts(Store& store, OddInput& odd) : store_(store), odd_(odd) {}

  // `offset` is the place of the text in the file. The text need not outlive the call.
  absl::StatusOr<StringId> Of(std::string_view text, int64_t offset);

 private:
  Store& store_;
  OddInput& odd_;
  TextCache cache_;
};

// Arguments with keys and values as the store has them.
class ArgList final : public TraceArgs {
 public:
  ArgList(const Store& store, const std::vector<Argument>& args) : store_(store), args_(args) {}

  bool Has(std::string_view key) const override { return Find(key) != nullptr; }
  OptInt Int(std::string_view key) const override;
  std::optional<uint64_t> Id(std::string_view key) const override;
  OptText Text(std::string_view key) const override;

 private:
  const ArgValue* Find(std::string_view key) const;

  const Store& store_;
  const std::vector<Argument>& args_;
};

// Adds the argument that `message` (DebugAnnotation) describes. Values that have values inside
// become JSON. Counts an argument that cannot be read, or whose key is there already.
absl::Status AddArgument(std::string_view message, const Sequence& sequence, int64_t offset,
                         const Store& store, TraceTexts& texts, OddInput& odd,
                         std::vector<Argument>& args);

}  // namespace xlaprof::pftrace
