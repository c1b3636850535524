// Tests input at the limits of its format: depth, length, size and time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/hostile/check.h"
#include "tests/hostile/damage.h"
#include "tests/hostile/damage_proto.h"
#include "tests/hostile/expect.h"
#include "tests/hostile/golden_inputs.h"
#include "tests/hostile/hostile_text.h"

namespace xlaprof {
namespace {

constexpr size_t kDepth = 10'000;
constexpr size_t kLongName = 10 << 20;

class Extreme : public testing::TestWithParam<const Format*> {};
INSTANTIATE_TEST_SUITE_P(Hostile, Extreme, testing::ValuesIn(AllFormats()),
                         [](const auto& info) { return info.param->name; });

std::vector<const GoldenInput*> SmallOf(const Format* format, size_t count) {
  std::vector<const GoldenInput*> inputs = SmallInputs(count, 300'000);
  std::erase_if(inputs, [&](const auto* input) { return input->format != format; });
  return inputs;
}

// Tests nesting alone, and nesting in place of the first brackets of an input.
TEST_P(Extreme, NestedTenThousandDeep) {
  std::vector<std::pair<std::string, std::string>> cases;
  for (std::string_view opening : kNestings) {
    const std::string nested = Nested(opening, kDepth);
    cases.emplace_back(fmt::format("{} alone", opening), nested);
    for (const GoldenInput* input : SmallOf(GetParam(), 2)) {
      size_t at = input->bytes.find_first_of("({[<\"");
      if (at == std::string::npos) continue;
      std::string bytes = input->bytes;
      cases.emplace_back(fmt::format("{} in {}", opening, input->name),
                         bytes.insert(at + 1, nested));
    }
  }
  for (uint32_t number = 1; number <= 6; ++number) {
    cases.emplace_back(fmt::format("messages under {}", number), NestedMessages(number, kDepth));
    cases.emplace_back(fmt::format("groups under {}", number), NestedGroups(number, kDepth));
  }
  ExpectAllWell(cases.size(), [&](size_t i) {
    return GuardedCase{.name = cases[i].first,
                       .run = [&, i] { return CheckBytes(cases[i].second, GetParam()->name); }};
  });
}

// A name of 10 MB replaces one of the input's words, or one of its protobuf's texts.
TEST_P(Extreme, NamesOfTenMegabytes) {
  std::vector<const GoldenInput*> inputs = SmallOf(GetParam(), 2);
  ExpectAllWell(inputs.size() * 3, [&](size_t i) {
    const GoldenInput* input = inputs[i / 3];
    return GuardedCase{
        .name = fmt::format("{}, long name {}", input->name, i % 3),
        .run =
            [=] {
              Random random(SeedOf(input->name) + i);
              const std::string name = i % 3 == 0   ? std::string(kLongName, 'x')
                                       : i % 3 == 1 ? Nested("\x1b[31m", kLongName / 5)
                                                    : Nested("word ", kLongName / 5);
              std::string bytes = input->bytes;
              if (IsText(bytes)) {
                size_t at =
                    bytes.find_first_of("abcdefghijklmnopqrstuvwxyz", random.Below(bytes.size()));
                return CheckBytes(bytes.insert(std::min(at, bytes.size()), name),
                                  input->format->name);
              }
              return CheckBytes(WithProtoText(bytes, name, random), input->format->name);
            },
        .memory_bytes = size_t{512} << 20};
  });
}

}  // namespace
}  // namespace xlaprof
