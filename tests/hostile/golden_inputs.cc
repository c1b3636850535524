#include "tests/hostile/golden_inputs.h"

#include <algorithm>
#include <map>

#include "profiler/import/input.h"
#include "tests/golden_case.h"
#include "tests/read_file.h"

namespace xlaprof {
namespace {

std::vector<GoldenInput> Read() {
  std::vector<GoldenInput> inputs;
  for (const GoldenCase& one : GoldenCases()) {
    for (const std::string& path : one.Files()) {
      GoldenInput& input = inputs.emplace_back();
      input.name = one.FullName() + "/" + path;
      input.disk = ReadFile(one.path / path);
      auto opened = InputFile::Open(one.path / path);
      input.bytes = opened.ok() ? std::string(opened->bytes()) : input.disk;
      input.format = SurestFormat(input.bytes);
    }
  }
  std::sort(inputs.begin(), inputs.end(),
            [](const GoldenInput& a, const GoldenInput& b) { return a.name < b.name; });
  return inputs;
}

}  // namespace

const Format* SurestFormat(std::string_view bytes) {
  constexpr size_t kHeadBytes = 64 << 10;
  const Format* best = nullptr;
  int best_score = 0;
  for (const Format* format : AllFormats()) {
    int score = format->Sniff(bytes.substr(0, kHeadBytes));
    if (score > best_score) best = format, best_score = score;
  }
  return best;
}

const std::vector<GoldenInput>& GoldenInputs() {
  static const auto* inputs = new std::vector<GoldenInput>(Read());
  return *inputs;
}

std::vector<const GoldenInput*> SmallInputs(size_t per_format, size_t max_bytes) {
  std::vector<const GoldenInput*> sorted;
  for (const GoldenInput& input : GoldenInputs()) {
    if (input.format != nullptr && input.bytes.size() <= max_bytes) sorted.push_back(&input);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const GoldenInput* a, const GoldenInput* b) {
    return a->bytes.size() < b->bytes.size();
  });
  std::map<const Format*, size_t> taken;
  std::erase_if(sorted,
                [&](const GoldenInput* input) { return ++taken[input->format] > per_format; });
  return sorted;
}

}  // namespace xlaprof
