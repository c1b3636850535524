#include "profiler/record/categories.h"

#include <algorithm>
#include <cstdlib>

#include "profiler/record/record.h"

namespace xlaprof::record {

Categories& Categories::Get() {
  static Categories& categories = *[] {
    auto* made = new Categories;
    if (const char* switches = std::getenv("XLAPROF_CATEGORIES")) made->Apply(switches);
    return made;
  }();
  return categories;
}

bool Categories::IsOn(std::string_view name) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
    if (rule->name == "*" || rule->name == name) return rule->is_on;
  return true;
}

const uint32_t* Categories::SwitchOf(std::string_view name) {
  std::lock_guard lock(mutex_);
  for (const Switch& known : switches_)
    if (known.name == name) return &known.is_on;
  return &switches_.emplace_back(Switch{std::string(name), IsOn(name)}).is_on;
}

void Categories::Apply(std::string_view switches) {
  std::lock_guard lock(mutex_);
  while (!switches.empty()) {
    std::string_view word = switches.substr(0, switches.find(','));
    switches.remove_prefix(std::min(switches.size(), word.size() + 1));
    word.remove_prefix(std::min(word.size(), word.find_first_not_of(' ')));
    word = word.substr(0, word.find_last_not_of(' ') + 1);
    const bool is_on = !word.starts_with('-');
    if (!is_on) word.remove_prefix(1);
    if (word.empty()) continue;
    // Earlier rules for the same names no longer count, so that a program may switch for ever.
    std::erase_if(rules_, [&](const Rule& rule) { return word == "*" || rule.name == word; });
    rules_.push_back({std::string(word), is_on});
  }
  for (Switch& known : switches_)
    __atomic_store_n(&known.is_on, uint32_t(IsOn(known.name)), __ATOMIC_RELAXED);
}

const uint32_t* FindSwitch(Site& site) {
  const uint32_t* is_on = Categories::Get().SwitchOf(site.category != nullptr ? site.category : "");
  __atomic_store_n(&site.is_on, is_on, __ATOMIC_RELEASE);
  return is_on;
}

}  // namespace xlaprof::record
