// The codes of import issues that analyzers act on. An importer may report any other code as well; it
// appears in reports with the importer's own advice.
#pragma once

namespace xlaprof::issue_codes {

inline constexpr char kCutFile[] = "cut_file";              // a file ends before its content does
inline constexpr char kDamagedCoding[] = "damaged_coding";  // compressed or encoded data is damaged
inline constexpr char kUnreadableFile[] = "unreadable_file";  // a file could not be read
inline constexpr char kInvalidJson[] = "invalid_json";        // bytes are not JSON
inline constexpr char kSeparateReports[] =
    "separate_reports";  // metrics reports do not continue one another
inline constexpr char kHeadlessReport[] =
    "headless_report";                      // a metrics report lacks its beginning
inline constexpr char kOnCpu[] = "on_cpu";        // the program ran on the CPU
inline constexpr char kNoDevice[] = "no_device";  // the program said that it has no device

}  // namespace xlaprof::issue_codes
