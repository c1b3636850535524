#include "cli/number_options.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/numbers.h"

namespace xlaprof {
namespace {

// CLI11 reads a whole number that begins with 0 as octal, so it is refused.
std::optional<int64_t> Decimal(std::string_view text) {
  return text.size() > 1 && text.starts_with('0') ? std::nullopt : ParseInteger(text);
}

template <class T>
CLI::Validator Between(T least, T most, std::string_view what,
                       std::optional<T> (*parse)(std::string_view)) {
  const std::string expected = fmt::format("{} from {} to {}", what, least, most);
  return {[=](const std::string& text) {
            const std::optional<T> value = parse(text);
            return value && *value >= least && *value <= most
                       ? std::string()
                       : fmt::format("'{}' is not {}", text, expected);
          },
          fmt::format("{}..{}", least, most)};
}

}  // namespace

CLI::Validator WholeNumber(int64_t least, int64_t most) {
  return Between<int64_t>(least, most, "a whole number", Decimal);
}

CLI::Validator RealNumber(double least, double most) {
  return Between<double>(least, most, "a number", ParseReal);
}

}  // namespace xlaprof
