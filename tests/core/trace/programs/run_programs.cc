// run_programs reads programs, one JSON object a line, and prints for each a line with the names,
// types, sizes and numbers of all its results, or its error. programs_judge.py compares them with
// PyTorch's.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "core/ir/error.h"
#include "tests/core/trace/programs/program.h"

namespace xlaprof::lazy {
namespace {

using nlohmann::json;

json ToJson(const ProgramResult& result) {
  if (!result.value) return json::array({result.what});
  const HostTensor& value = *result.value;
  json numbers = json::array();
  for (int64_t i = 0; i < value.shape.elements(); ++i) {
    if (IsFloat(value.shape.dtype))
      numbers.push_back(value.Real(i));  // NaN and infinities become null
    else
      numbers.push_back(value.Whole(i));
  }
  const std::vector<int64_t> sizes(value.shape.dims.begin(), value.shape.dims.end());
  return json::array({result.what, TorchName(value.shape.dtype), sizes, std::move(numbers)});
}

void Run() {
  for (std::string line; std::getline(std::cin, line);) {
    json out;
    try {
      json results = json::array();
      for (const ProgramResult& result : RunProgram(json::parse(line)))
        results.push_back(ToJson(result));
      out["results"] = std::move(results);
    } catch (const std::exception& error) {
      out["error"] = error.what();
    }
    fmt::print("{}\n", out.dump());
    std::fflush(stdout);  // in case the next program ends the process
  }
}

}  // namespace
}  // namespace xlaprof::lazy

int main() { xlaprof::lazy::Run(); }
