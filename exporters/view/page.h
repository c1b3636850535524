// The viewer's page (exporters/html/viewer.html), which is part of the program.
#pragma once

#include <string_view>

namespace xlaprof {

// The page, and the place in it where a run's data may stand.
struct ViewPage {
  std::string_view before_data, after_data;
};
ViewPage Page();

}  // namespace xlaprof
