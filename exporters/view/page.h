// The viewer's page (exporters/html/viewer.html), which is built into the program.
#pragma once

#include <string_view>

namespace xlaprof {

// The page, split where a run's data may be inserted.
struct ViewPage {
  std::string_view before_data, after_data;
};
ViewPage Page();

}  // namespace xlaprof
