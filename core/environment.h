// What environment variables ask of the runtime: torch_xla's, by its names, and its own. Read once,
// when it is asked for first; what is no value is told on stderr and left at its default, or is 0
// where torch_xla takes it so. A flag is true, false or a number, and only 0 is false.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof::lazy {

// What writes to the C++ log, by the names that TF_CPP_VMODULE has for it.
enum class LogModule : uint8_t { kGraphs, kClient };
inline constexpr std::array<std::string_view, 2> kLogModules{"xla_graph_executor",
                                                             "pjrt_computation_client"};

struct Environment {
  std::string device = "native";  // XLAPROF_DEVICE: native or null
  int64_t threads = 0;            // XLAPROF_THREADS of the native backend; 0: one a core
  size_t metrics_samples = 1024;  // XLA_METRICS_SAMPLES
  std::vector<double> metrics_percentiles{0.01, 0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99};
  std::string metrics_file;              // XLA_METRICS_FILE: a report at each step is added to it
  size_t compilation_cache_size = 2048;  // XLA_COMPILATION_CACHE_SIZE, graphs
  std::string persistent_cache_path;     // XLA_PERSISTENT_CACHE_PATH, a folder; empty: none
  bool persistent_cache_read_only = false;  // XLA_PERSISTENT_CACHE_READ_ONLY
  // XLA_GET_TENSORS_OPBYOP, XLA_SYNC_TENSORS_OPBYOP, also without XLA_: reads, and syncs, run each
  // operation as a program of its own.
  bool get_op_by_op = false, sync_op_by_op = false;
  bool no_special_scalars = false;         // XLA_NO_SPECIAL_SCALARS
  bool sync_wait = false;                  // XLA_SYNC_WAIT
  bool use_bf16 = false, use_f16 = false;  // XLA_USE_BF16, XLA_USE_F16: f32 is kept so on devices
  bool use_32bit_long = false;             // XLA_USE_32BIT_LONG: i64 likewise as i32
  std::string compile_environment;         // XLA_FLAGS and the like, part of each graph's hash

  bool debug = false;             // PT_XLA_DEBUG: the rules of steps, the summary of fallbacks
  int64_t debug_level = -1;       // PT_XLA_DEBUG_LEVEL, else 100 with debug: blocks, from 1 of
                                  // compilations, from 2 of executions
  std::string debug_file;         // PT_XLA_DEBUG_FILE: all of that is added to it
  int64_t debug_frames = 8;       // PT_XLA_DEBUG_MAX_FRAME of a block
  int64_t local_rank = 0;         // PJRT_LOCAL_PROCESS_RANK: only the first process prints blocks
  bool ir_debug = false;          // XLA_IR_DEBUG or XLA_HLO_DEBUG: graphs show scopes and places
  std::string save_tensors_file;  // XLA_SAVE_TENSORS_FILE: each graph that is cut is added to it
  std::string save_tensors_fmt = "text";  // XLA_SAVE_TENSORS_FMT: text, hlo, dot or stablehlo
  std::string save_hlo_file;              // XLA_SAVE_HLO_FILE: programs that do not compile
  bool dump_hlo_graph = false;            // XLA_DUMP_HLO_GRAPH: and into the error
  std::string fn_tracker_file;            // XLA_FNTRACKER_FILE: each operation on the CPU, unless
                                          // _LEVEL is below 3, which torch_xla gives to these
  std::vector<std::string> fn_tracker_list;  // XLA_FNTRACKER_LIST: only these
  // TF_CPP_VMODULE, TF_CPP_MAX_VLOG_LEVEL: lines of the C++ log up to this level; none while
  // TF_CPP_MIN_LOG_LEVEL is above 0, as it is where torch_xla was imported
  int64_t log_levels[kLogModules.size()] = {};
  bool log_thread_id = false;  // TF_CPP_LOG_THREAD_ID: lines tell their thread
  std::string log_file;        // TF_CPP_VLOG_FILENAME: they are added to it
  bool diagnostics = false;    // any of these is asked for
};

const Environment& environment();

}  // namespace xlaprof::lazy
