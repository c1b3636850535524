// Programs of operations on tensors, as JSON, which torch_programs.py runs with PyTorch. That file
// says what a program is.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

struct ProgramResult {
  std::string what;                 // value 7, gradient of 2
  std::optional<HostTensor> value;  // none: there is no gradient
};

// Runs a program on our runtime. An operation that does not fit raises an Error. `made` is called
// with each value when it is made.
std::vector<ProgramResult> RunProgram(const nlohmann::json& program,
                                      const std::function<void(Tensor&)>& made = {});

}  // namespace xlaprof::lazy
