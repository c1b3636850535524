#include "analyzers/run/scope_place.h"

#include <algorithm>
#include <utility>

#include "analyzers/run/user_code.h"
#include "profiler/store/events.h"

namespace xlaprof {

// Places are arguments of names, which are the same in a whole chunk. So the first event of the
// name in each chunk is enough.
absl::StatusOr<bool> FillScopePlace(const Run& run, StringId scope, Subject& subject) {
  const Store& store = run.store();
  const StringId file_key = store.Find("source_file"), line_key = store.Find("source_line");
  if (scope == 0 || file_key == 0 || line_key == 0) return false;
  EventScanner::Options options{.columns = kName};
  for (std::string_view category : {TextOf(Category::kScope), TextOf(Category::kStep)}) {
    if (const StringId id = store.Find(category); id != 0) options.categories.push_back(id);
  }
  XP_TRY(EventScanner scanner, EventScanner::Make(store, std::move(options)));
  EventBatch batch;
  std::optional<std::pair<StringId, int64_t>> place;
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) break;
    const auto event = std::find(batch.name.begin(), batch.name.end(), scope);
    if (event == batch.name.end()) continue;
    XP_TRY(const std::vector<Argument> arguments,
           ReadArguments(store, batch.chunk_id, batch.first_index + (event - batch.name.begin())));
    std::pair<StringId, int64_t> here;
    for (const Argument& argument : arguments) {
      const auto* file = std::get_if<Text>(&argument.value);
      const auto* line = std::get_if<int64_t>(&argument.value);
      if (argument.key == file_key && file != nullptr) here.first = file->id;
      if (argument.key == line_key && line != nullptr) here.second = *line;
    }
    if (here.first == 0 || here.second <= 0 || (place && *place != here)) return false;
    place = here;
  }
  if (!place) return false;
  subject.file = std::string(store.Text(place->first));
  subject.line = place->second;
  return true;
}

absl::StatusOr<bool> FillUserCode(const Run& run, const Activity& activity, Subject& subject) {
  if (activity.scope == 0) return false;
  if (activity.named_by != NamedBy::kFunction) {
    subject.scope = ScopeText(run, activity);
    return FillScopePlace(run, activity.scope, subject);
  }
  XP_TRY(const UserCode* user, run.Get<UserCode>());
  subject.SetPlace(user->Resolve(SourcePlace::ParsePythonCall(run.store().Text(activity.scope))));
  return true;
}

}  // namespace xlaprof
