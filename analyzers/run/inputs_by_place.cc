#include "analyzers/run/inputs_by_place.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "analyzers/policy.h"
#include "analyzers/run/user_code.h"
#include "base/xla_shape.h"

namespace xlaprof {
absl::StatusOr<InputsByPlace> InputsByPlace::Of(const Run& run) {
  XP_TRY(const UserCode* code, run.Get<UserCode>());
  absl::flat_hash_map<std::string, SourcePlace> places;  // by location
  InputsByPlace inputs;
  const auto add = [&](int64_t graph_id, std::string_view text, std::string location) {
    const auto [place, is_new] = places.try_emplace(location);
    if (is_new) place->second = code->Resolve(code->Of(location));
    const SourcePlace& at = place->second;
    const std::optional<XlaShape> shape = XlaShape::Parse(text);
    if (at.empty() || !shape || shape->is_scalar()) return;
    const std::tuple key(at, std::string(shape->element_type()), shape->rank());
    Input& input = inputs.by_file_[at.file][key];
    input.shapes.insert(shape->WithoutLayout().text());
    input.graphs.insert(graph_id);
  };
  XP_TRY(run.store().Each(
      fmt::format("SELECT graph_id, shape, location FROM graph_node WHERE op IN ({}) AND "
                  "computation IS NULL AND location IS NOT NULL",
                  SqlNamesOf(OpKind::kInput)),
      add));
  return inputs;
}

std::optional<InputsOfLine> InputsByPlace::MadeOf(const Fetched& fetched) const {
  const auto in_file = by_file_.find(fetched.place.file);
  if (in_file == by_file_.end() || !fetched.place.line) return {};
  const Input* best = nullptr;
  std::optional<InputsOfLine> made;
  for (const auto& [key, input] : in_file->second) {
    const SourcePlace& at = std::get<SourcePlace>(key);
    const int64_t lines_after = at.line.value_or(0) - *fetched.place.line;
    const bool may_be_later = !fetched.is_exact && fetched.has_one_shape && input.shapes.size() > 1;
    if (at.function != fetched.place.function || lines_after < 0 ||
        lines_after > (may_be_later ? int64_t(policy::kLinesToFetch) : 0))
      continue;
    const bool all_have_it = std::ranges::all_of(fetched.graphs, [&](const auto& forms) {
      return std::ranges::any_of(forms, [&](int64_t form) { return input.graphs.contains(form); });
    });
    if (all_have_it || (best != nullptr && best->shapes.size() >= input.shapes.size())) continue;
    best = &input;
    made = InputsOfLine{.count = int64_t(input.graphs.size()),
                        .shape = *XlaShape::Parse(*input.shapes.begin()),
                        .place = at};
  }
  return made;
}

}  // namespace xlaprof
