#include "profiler/import/torch/guard_history.h"

#include <algorithm>

namespace xlaprof {
namespace {

// Returns what a failure says, apart from the values.
std::string KeyOf(const GuardFailure& failure) {
  return fmt::format("{}|{}", failure.type, failure.input);
}

}  // namespace

void GuardHistory::Note(int64_t frame, const std::vector<GuardFailure>& failures) {
  for (const GuardFailure& failure : failures) {
    if (failure.program)
      values_.try_emplace({Program(frame, *failure.program), KeyOf(failure)}, failure.before);
  }
}

const GuardFailure* GuardHistory::Choose(Program program,
                                         const std::vector<GuardFailure>& failures) {
  if (failures.empty()) return nullptr;
  const auto tells = [&](const GuardFailure& failure) {
    const auto known = compiled_for_.find(Program(program.first, failure.program.value_or(-1)));
    return known == compiled_for_.end() || known->second != KeyOf(failure);
  };
  auto chosen = std::ranges::find_if(failures, tells);
  if (chosen == failures.end()) chosen = failures.begin();
  const std::string key = KeyOf(*chosen);
  chosen = std::ranges::find(failures, key, KeyOf);
  compiled_for_[program] = key;
  return &*chosen;
}

std::string GuardHistory::ValueOf(Program program, const GuardFailure& change) const {
  if (change.type != ReasonType::kConstantChange &&
      change.type != ReasonType::kInputStructureChange)
    return "";
  const auto value = values_.find({program, KeyOf(change)});
  return value == values_.end() ? "" : value->second;
}

}  // namespace xlaprof
