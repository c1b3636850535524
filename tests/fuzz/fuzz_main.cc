// Defines libFuzzer's entry points; XLAPROF_FUZZ names the target. scripts/fuzz runs this program.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/targets.h"
#include "tests/hostile/damage.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace xlaprof {
namespace {

const FuzzTarget& Chosen() {
  static const FuzzTarget* target = [] {
    const char* name = std::getenv("XLAPROF_FUZZ");
    const FuzzTarget* found = FuzzTargetNamed(name == nullptr ? "" : name);
    if (found == nullptr) {
      std::fprintf(stderr, "fuzz: set XLAPROF_FUZZ to one of:");
      for (const FuzzTarget& one : FuzzTargets()) std::fprintf(stderr, " %s", one.name.c_str());
      std::fprintf(stderr, "\n");
      std::exit(2);
    }
    return found;
  }();
  return *target;
}

}  // namespace
}  // namespace xlaprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Most inputs are run without reports, so that the fuzzer covers more of an importer. The choice
  // depends only on the input.
  std::string wrong = xlaprof::Chosen().run(bytes, xlaprof::SeedOf(bytes) % 8 == 0);
  if (!wrong.empty()) {
    std::fprintf(stderr, "fuzz: %s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}

// Half of the inputs are damaged in the way of hostile_tests: libFuzzer's own mutations seldom keep
// the lengths around a field, or find a number's limits.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  xlaprof::Random random(seed);
  if (random.Below(2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const auto& damages = xlaprof::Damages();
  std::string out = damages[random.Below(damages.size())].apply(
      {reinterpret_cast<const char*>(data), size}, random);
  size = std::min(out.size(), max_size);
  std::memcpy(data, out.data(), size);
  return size;
}
