// Tests files that end too early because of a full disk, a broken-off copy or a killed run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/hostile/check.h"
#include "tests/hostile/damage.h"
#include "tests/hostile/damage_proto.h"
#include "tests/hostile/expect.h"
#include "tests/hostile/golden_inputs.h"

namespace xlaprof {
namespace {

class Cut : public testing::TestWithParam<const Format*> {};
INSTANTIATE_TEST_SUITE_P(Hostile, Cut, testing::ValuesIn(AllFormats()),
                         [](const auto& info) { return info.param->name; });

std::vector<const GoldenInput*> InputsOf(const Format* format) {
  std::vector<const GoldenInput*> inputs;
  for (const GoldenInput& input : GoldenInputs()) {
    if (input.format == format) inputs.push_back(&input);
  }
  return inputs;
}

// Returns a number of cuts whose total size is about `worth` bytes.
size_t CutCount(size_t bytes, size_t worth) {
  return std::clamp<size_t>(worth / (bytes + 1), 2, 30) * size_t(HostileScale());
}

struct CutInput {
  const GoldenInput* input;
  size_t at;
};
std::vector<CutInput> Places(const std::vector<const GoldenInput*>& inputs, size_t worth) {
  std::vector<CutInput> places;
  for (const GoldenInput* input : inputs) {
    for (size_t at :
         CutsOf(input->bytes, CutCount(input->bytes.size(), worth), SeedOf(input->name)))
      places.push_back({input, at});
  }
  return places;
}

TEST_P(Cut, EndsWellAndIsReported) {
  std::vector<CutInput> places = Places(InputsOf(GetParam()), 300'000);
  ExpectAllWell(places.size(), [&](size_t i) {
    const CutInput& place = places[i];
    return GuardedCase{
        .name = fmt::format("{} cut at {}", place.input->name, place.at), .run = [place] {
          return CheckBytes(std::string_view(place.input->bytes).substr(0, place.at));
        }};
  });
}

// Facts of a cut file must also be in the whole file, unless the import reports that something is
// missing. Binary formats may only end undetected after a whole record of the outermost message.
std::string CheckCut(const CutInput& place, const Format& format) {
  std::string_view bytes = std::string_view(place.input->bytes).substr(0, place.at);
  Facts cut = ReadFacts(format, bytes);
  if (cut.imported.said()) return "";
  if (!IsText(bytes)) return ProtoFields(bytes).empty() ? "the cut is not reported" : "";
  Facts whole = ReadFacts(format, place.input->bytes);
  for (const std::vector<std::string>& row : cut.rows) {
    if (std::binary_search(whole.rows.begin(), whole.rows.end(), row)) continue;
    // A row may know less. A time or a number that lines add up may be smaller, because a file that
    // is cut between two lines is like a whole one. A fact may be inferred that the next lines
    // would state.
    auto is_sum = [](std::string_view key) { return key.ends_with("_ns") || key == "count"; };
    auto fits = [&](const std::string& value, const std::string& full) {
      if (full == value) return true;
      const size_t equals = value.find('=');
      if (equals == value.npos || !full.starts_with(value.substr(0, equals + 1))) return false;
      const std::string_view key = std::string_view(value).substr(0, equals);
      if (key == "inferred") return value == "inferred=1" && full == "inferred=0";
      return is_sum(key) &&
             std::stoll(value.substr(equals + 1)) <= std::stoll(full.substr(equals + 1));
    };
    auto holds = [&](const std::vector<std::string>& other) {
      return std::all_of(row.begin(), row.end(), [&](const std::string& value) {
        return std::any_of(other.begin(), other.end(),
                           [&](const std::string& full) { return fits(value, full); });
      });
    };
    if (std::any_of(whole.rows.begin(), whole.rows.end(), holds)) continue;
    return fmt::format("the whole file does not have: {}", fmt::join(row, " "));
  }
  return "";
}

TEST_P(Cut, SaysNothingThatTheWholeFileDoesNot) {
  std::vector<const GoldenInput*> inputs = InputsOf(GetParam());
  std::erase_if(inputs, [](const GoldenInput* input) { return input->bytes.size() > 3'000'000; });
  std::vector<CutInput> places = Places(inputs, 300'000);
  ExpectAllWell(places.size(), [&](size_t i) {
    const CutInput& place = places[i];
    return GuardedCase{.name = fmt::format("{} cut at {}", place.input->name, place.at),
                       .run = [place] { return CheckCut(place, *GetParam()); }};
  });
}

}  // namespace
}  // namespace xlaprof
