// What environment variables ask of the runtime: torch_xla's, by its names, and its own. Read once,
// when it is asked for first; what is no value is told on stderr and left at its default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xlaprof::lazy {

struct Environment {
  std::string device = "native";  // XLAPROF_DEVICE: native or null
  int64_t threads = 0;            // XLAPROF_THREADS of the native backend; 0: one a core
  size_t metrics_samples = 1024;  // XLA_METRICS_SAMPLES
  std::vector<double> metrics_percentiles{0.01, 0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99};
  std::string metrics_file;                // XLA_METRICS_FILE: a report at each step is added to it
  size_t compilation_cache_size = 2048;    // XLA_COMPILATION_CACHE_SIZE, graphs
  bool no_special_scalars = false;         // XLA_NO_SPECIAL_SCALARS
  bool sync_wait = false;                  // XLA_SYNC_WAIT
  bool use_bf16 = false, use_f16 = false;  // XLA_USE_BF16, XLA_USE_F16: f32 is kept so on devices
  bool use_32bit_long = false;             // XLA_USE_32BIT_LONG: i64 likewise as i32
  std::string compile_environment;         // XLA_FLAGS and the like, part of each graph's hash
};

const Environment& environment();

}  // namespace xlaprof::lazy
