// Files that end too early: a full disk, a copy that broke off, a run that was killed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/hostile/check.h"
#include "tests/hostile/damage.h"
#include "tests/hostile/damage_proto.h"
#include "tests/hostile/golden_inputs.h"
#include "tests/hostile/guarded.h"

namespace xlaprof {
namespace {

class Cut : public testing::TestWithParam<const Importer*> {};
INSTANTIATE_TEST_SUITE_P(Hostile, Cut, testing::ValuesIn(AllImporters()),
                         [](const auto& info) { return info.param->name; });

std::vector<const GoldenInput*> InputsOf(const Importer* importer) {
  std::vector<const GoldenInput*> inputs;
  for (const GoldenInput& input : GoldenInputs()) {
    if (input.importer == importer) inputs.push_back(&input);
  }
  return inputs;
}

// As many cuts as about this many bytes are worth.
size_t CutCount(size_t bytes, size_t worth) {
  return std::clamp<size_t>(worth / (bytes + 1), 2, 60) * size_t(HostileScale());
}

struct Place {
  const GoldenInput* input;
  size_t at;
};
std::vector<Place> Places(const std::vector<const GoldenInput*>& inputs, size_t worth) {
  std::vector<Place> places;
  for (const GoldenInput* input : inputs) {
    for (size_t at :
         CutsOf(input->bytes, CutCount(input->bytes.size(), worth), SeedOf(input->name)))
      places.push_back({input, at});
  }
  return places;
}

std::string Expect(const std::vector<std::string>& complaints) {
  std::string out;
  for (const std::string& complaint : complaints) out += "\n" + complaint;
  return out;
}

TEST_P(Cut, EndsWellAndIsReported) {
  std::vector<Place> places = Places(InputsOf(GetParam()), 300'000);
  EXPECT_EQ(Expect(RunGuarded(
                places.size(),
                [&](size_t i) {
                  const Place& place = places[i];
                  return GuardedCase{
                      .name = fmt::format("{} cut at {}", place.input->name, place.at),
                      .run = [place] {
                        return CheckBytes(std::string_view(place.input->bytes).substr(0, place.at));
                      }};
                })),
            "");
}

// What a cut file says is also what the whole file says, or it is told that something is missing.
// Binary formats have no other place to end than behind a whole record of the outermost message.
TEST_P(Cut, SaysNothingThatTheWholeFileDoesNot) {
  std::vector<const GoldenInput*> inputs = InputsOf(GetParam());
  std::erase_if(inputs, [](const GoldenInput* input) { return input->bytes.size() > 3'000'000; });
  std::vector<Place> places = Places(inputs, 300'000);
  EXPECT_EQ(
      Expect(RunGuarded(
          places.size(),
          [&, importer = GetParam()](size_t i) {
            const Place& place = places[i];
            return GuardedCase{
                .name = fmt::format("{} cut at {}", place.input->name, place.at),
                .run = [=]() -> std::string {
                  std::string_view bytes = std::string_view(place.input->bytes).substr(0, place.at);
                  Facts cut = ReadFacts(*importer, bytes);
                  if (cut.imported.said()) return "";
                  if (!IsText(bytes))
                    return ProtoFields(bytes).empty() ? "nothing tells that the file is cut" : "";
                  Facts whole = ReadFacts(*importer, place.input->bytes);
                  std::vector<std::string> only_cut;
                  std::set_difference(cut.rows.begin(), cut.rows.end(), whole.rows.begin(),
                                      whole.rows.end(), std::back_inserter(only_cut));
                  if (only_cut.empty()) return "";
                  return fmt::format("{} rows that the whole file does not have, such as: {}",
                                     only_cut.size(), only_cut.front());
                }};
          })),
      "");
}

}  // namespace
}  // namespace xlaprof
