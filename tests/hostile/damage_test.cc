// Tests files whose bytes are not what their program wrote, because of a bad disk, a text codec, an
// editor or an attacker.
#include "tests/hostile/damage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/hostile/check.h"
#include "tests/hostile/expect.h"
#include "tests/hostile/golden_inputs.h"

namespace xlaprof {
namespace {

constexpr size_t kSmall = 300'000;  // many cases are affordable for inputs up to this many bytes

class Damaged : public testing::TestWithParam<const Format*> {};
INSTANTIATE_TEST_SUITE_P(Hostile, Damaged, testing::ValuesIn(AllFormats()),
                         [](const auto& info) { return info.param->name; });

// Each kind of damage, several times, on the smaller inputs of this format.
TEST_P(Damaged, EndsWellAndIsReported) {
  std::vector<const GoldenInput*> inputs = SmallInputs(6, kSmall);
  std::erase_if(inputs, [](const auto* input) { return input->format != GetParam(); });
  const size_t kinds = Damages().size(), rounds = size_t(4 * HostileScale());
  ExpectAllWell(inputs.size() * kinds * rounds, [&](size_t i) {
    const GoldenInput* input = inputs[i % inputs.size()];
    const Damage& damage = Damages()[i / inputs.size() % kinds];
    return GuardedCase{.name = fmt::format("{}: {} (case {})", input->name, damage.name, i),
                       .run = [=] {
                         Random random(SeedOf(input->name) + i);
                         // Two thirds are read with --as, because the damage may have removed what
                         // identifies the format.
                         return CheckBytes(damage.apply(input->bytes, random),
                                           i % 3 == 0 ? "" : input->format->name);
                       }};
  });
}

// Each importer reads the inputs of all others, as a user may request with --as: whole, cut and
// damaged.
TEST_P(Damaged, ForeignInputEndsWell) {
  std::vector<const GoldenInput*> inputs;
  for (const GoldenInput& input : GoldenInputs()) {
    if (input.format != GetParam() && input.bytes.size() < 1'500'000) inputs.push_back(&input);
  }
  ExpectAllWell(inputs.size(), [&, as = std::string(GetParam()->name)](size_t i) {
    const GoldenInput* input = inputs[i];
    return GuardedCase{.name = fmt::format("{} as {}", input->name, as), .run = [=] {
                         Random random(SeedOf(input->name) + i);
                         std::string bytes = input->bytes;
                         if (i % 3 == 1) bytes.resize(random.Below(bytes.size() + 1));
                         if (i % 3 == 2)
                           bytes = Damages()[random.Below(Damages().size())].apply(bytes, random);
                         return CheckBytes(bytes, as);
                       }};
  });
}

}  // namespace
}  // namespace xlaprof
