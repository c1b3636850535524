// The figures and words of missing_donation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/finding.h"

namespace xlaprof {

// Finding::count is the number of copies that were measured, or of executions if none was.
struct MissingDonationFigures {
  std::string program;                 // such as update, or the module's name; "" if it has none
  bool is_jax = false;                 // the module is one of JAX
  bool is_replaced = false;            // the inputs are replaced, not copied
  int64_t inputs = 0;                  // copied or replaced in each execution
  std::vector<std::string> arguments;  // JAX's names of the largest, if all of them are known
  // The function's arguments that hold all of these inputs: state for state['w'] and state.step.
  std::vector<std::string> own_arguments;
  std::string shape;       // of the largest
  double bytes = 0;        // of all, in each execution
  int64_t executions = 0;  // 0: only the program is known
  std::string device;      // "" if the copies have no times
  bool is_host = false;    // the device is the host's CPU
  double share = 0;        // of the device's time
};

// Says which inputs are copied or replaced, and how to donate them.
Words SayMissingDonation(const Finding& finding, Framework framework);

}  // namespace xlaprof
