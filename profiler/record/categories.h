// The switches of the categories that the user gives scopes. Internal to profiler/record.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof::record {

// Any thread may call these functions.
class Categories {
 public:
  // Never destroyed: threads may outlive main. XLAPROF_CATEGORIES has been applied.
  static Categories& Get();

  // Returns the switch of a category, which is 1 or 0 and is never freed.
  const uint32_t* SwitchOf(std::string_view name);
  // Applies a list of switches (xlaprof_switch_categories) to these categories, and to those that
  // are first used later.
  void Apply(std::string_view switches);
  // The mutex, which is held across a fork so that no other thread holds it in the child.
  std::mutex& mutex() { return mutex_; }

 private:
  struct Rule {
    std::string name;  // *: all
    bool is_on;
  };
  struct Switch {
    std::string name;
    uint32_t is_on;
  };
  bool IsOn(std::string_view name) const;

  std::mutex mutex_;
  std::vector<Rule> rules_;      // the last that fits is valid
  std::deque<Switch> switches_;  // whose elements do not move
};

}  // namespace xlaprof::record
