// Reads the environment variables of the runtime: those of torch_xla, with its names, and xlaprof's
// own. They are read once, at the first use. An invalid value is logged as a warning and leaves the
// default, or gives 0 if torch_xla does that. A flag is true, false or a number, and only 0 is
// false. core/log.h reads those that are about logs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof::lazy {

struct Environment {
  std::string device = "native";  // XLAPROF_DEVICE: native, pjrt or null
  std::string pjrt_plugin;        // XLAPROF_PJRT_PLUGIN: the shared library of pjrt's plugin
  int64_t threads = 0;            // XLAPROF_THREADS of the native backend; 0: one per core
  int64_t devices = 1;            // XLAPROF_DEVICES: devices of this process, which share the cores
  int64_t collective_timeout_s = 300;  // XLAPROF_COLLECTIVE_TIMEOUT_S: how long ranks wait for others
  size_t metrics_samples = 1024;  // XLA_METRICS_SAMPLES
  std::vector<double> metrics_percentiles{0.01, 0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99};
  std::string metrics_file;                 // XLA_METRICS_FILE: file for a report at each step
  size_t compilation_cache_size = 2048;     // XLA_COMPILATION_CACHE_SIZE, graphs
  std::string persistent_cache_path;        // XLA_PERSISTENT_CACHE_PATH, a directory; empty: none
  bool persistent_cache_read_only = false;  // XLA_PERSISTENT_CACHE_READ_ONLY
  // XLA_GET_TENSORS_OPBYOP and XLA_SYNC_TENSORS_OPBYOP, also without XLA_: reads and syncs run each
  // operation as its own program.
  bool get_op_by_op = false, sync_op_by_op = false;
  bool no_special_scalars = false;         // XLA_NO_SPECIAL_SCALARS
  bool sync_wait = false;                  // XLA_SYNC_WAIT
  bool use_bf16 = false, use_f16 = false;  // XLA_USE_BF16, XLA_USE_F16: devices hold f32 as this
  bool use_32bit_long = false;             // XLA_USE_32BIT_LONG: devices hold i64 as i32
  std::string compile_environment;         // XLA_FLAGS and others, part of each graph's hash

  bool debug = false;             // PT_XLA_DEBUG: rules at steps, summary of fallbacks
  int64_t debug_level = -1;       // PT_XLA_DEBUG_LEVEL, or 100 if debug: blocks of compilations
                                  // from 1 on, of executions from 2 on
  std::string debug_file;         // PT_XLA_DEBUG_FILE: file for all of that
  int64_t debug_frames = 8;       // PT_XLA_DEBUG_MAX_FRAME: frames per block
  int64_t local_rank = 0;         // PJRT_LOCAL_PROCESS_RANK: only process 0 prints blocks
  bool ir_debug = false;          // XLA_IR_DEBUG: texts of IR show scopes and places
  bool hlo_debug = false;         // XLA_HLO_DEBUG: HLO and StableHLO have metadata with these
  std::string save_tensors_file;  // XLA_SAVE_TENSORS_FILE: file for each graph that is cut
  std::string save_tensors_fmt = "text";     // XLA_SAVE_TENSORS_FMT: text, hlo, dot or stablehlo
  std::string save_hlo_file;                 // XLA_SAVE_HLO_FILE: file for failing programs
  bool dump_hlo_graph = false;               // XLA_DUMP_HLO_GRAPH: puts them into the error, too
  std::string fn_tracker_file;               // XLA_FNTRACKER_FILE: file for operations on the CPU,
                                             // unless _LEVEL is below 3, torch_xla's level for them
  std::vector<std::string> fn_tracker_list;  // XLA_FNTRACKER_LIST: only these
  // Returns whether XLA_SAVE_HLO_FILE or XLA_DUMP_HLO_GRAPH asks for programs that fail.
  bool shows_failed_programs() const { return !save_hlo_file.empty() || dump_hlo_graph; }
  bool diagnostics = false;  // whether any of these diagnostics is on
};

const Environment& environment();

}  // namespace xlaprof::lazy
