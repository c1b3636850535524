// Runs random programs of operations, and compares their results with PyTorch's. `scripts/judge
// programs` does the same with more programs. make_expected.py made programs.jsonl.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/ir/error.h"
#include "tests/core/trace/programs/program.h"

namespace xlaprof::lazy {
namespace {

// Returns the numbers that summary() in make_expected.py gives, and how far each may be off.
std::pair<std::vector<double>, std::vector<double>> SummaryOf(const HostTensor& tensor,
                                                              double tolerance) {
  std::vector<double> all;
  double scale = 1;
  for (int64_t i = 0; i < tensor.shape.elements(); ++i) {
    all.push_back(tensor.Real(i));
    scale = std::max(scale, std::abs(all.back()));
  }
  const size_t count = all.size();
  // The expected numbers are rounded to 6 digits.
  const bool is_exact = !IsFloat(tensor.shape.dtype);
  const double one = is_exact ? 0 : scale * std::max(tolerance, tolerance < 1e-6 ? 1e-9 : 1e-5);
  if (count <= 5) return {all, std::vector<double>(count, one)};
  double sum = 0, weighted = 0;
  for (size_t i = 0; i < count; ++i) sum += all[i], weighted += all[i] * double(i % 7 + 1);
  const double many = one * double(count);
  return {{sum, weighted, all[0], all[count / 2], all[count - 1]}, {many, many * 7, one, one, one}};
}

// Returns what is wrong with a result; nothing if it is as expected.
std::string DifferenceOf(const nlohmann::json& expected, const ProgramResult& result) {
  if (expected[0] != result.what) return "is not " + expected[0].get<std::string>();
  if (expected.size() == 1 || !result.value)
    return expected.size() == 1 && !result.value ? "" : "should be a tensor, or should be none";
  const std::string type(TorchName(result.value->shape.dtype));
  const std::vector<int64_t> sizes(result.value->shape.dims.begin(),
                                   result.value->shape.dims.end());
  if (expected[1] != type || expected[2] != sizes)
    return "is " + result.value->shape.ToText() + ", not " + expected.dump();
  const auto [numbers, allowed] = SummaryOf(*result.value, expected[3]);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!(std::abs(numbers[i] - expected[4][i].get<double>()) <= allowed[i]))
      return fmt::format("{} is {}, not {}", i, numbers[i], expected.dump());
  }
  return "";
}

TEST(Programs, GiveWhatPyTorchGives) {
  std::ifstream file(XLAPROF_SOURCE_DIR "/tests/core/trace/programs/programs.jsonl");
  int programs = 0;
  for (std::string line; std::getline(file, line); ++programs) {
    const auto program = nlohmann::json::parse(line);
    SCOPED_TRACE("program " + program["seed"].dump());
    std::vector<ProgramResult> results;
    ASSERT_NO_THROW(results = RunProgram(program));
    const auto& expected = program["expected"];
    ASSERT_EQ(results.size(), expected.size());
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_EQ(DifferenceOf(expected[i], results[i]), "") << results[i].what;
  }
  EXPECT_EQ(programs, 200);
}

}  // namespace
}  // namespace xlaprof::lazy
