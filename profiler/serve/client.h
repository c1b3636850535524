// A capture of a running program: asks its profiler server (xp.start_server of torch_xla,
// jax.profiler.start_server, our own) for a stretch of time, and keeps the XSpace that it answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace xlaprof {

struct CaptureRequest {
  std::string address;  // HOST:PORT
  int64_t duration_ms = 0;
  int64_t start_epoch_ns = 0;    // when to begin, by the clock of the server's machine; 0: now
  std::filesystem::path folder;  // where the XSpace goes; it is there, and this host's alone
  std::stop_token stop;          // that nobody waits any longer
};

struct Captured {
  std::filesystem::path file;
  int64_t bytes = 0;
};

// Takes both kinds of answer: the XSpace itself, or, from a server on this machine that knows no
// emit_xspace, the file that it wrote. Blocks for the time that is asked for. Any number at once,
// each in a thread. Errors name the address and what to try:
//   Unavailable         nobody listens there, or it went away meanwhile
//   Unimplemented       it is no profiler server
//   NotFound            it answered, and nothing had happened
//   DeadlineExceeded    no answer, long after the time was over
//   Cancelled           it was stopped before there was an answer
absl::StatusOr<Captured> Capture(const CaptureRequest& request);

// InvalidArgument unless `address` is HOST:PORT, [IPV6]:PORT, with a port from 1 on.
absl::Status CheckAddress(std::string_view address);

// What a program loads that does without gRPC until it captures: exported by xlaprof_capture.so.
struct CaptureModule {
  const char* version;  // kVersion of the xlaprof that it belongs to
  absl::StatusOr<Captured> (*capture)(const CaptureRequest& request);
  static constexpr const char *kFile = "xlaprof_capture.so", *kSymbol = "xlaprof_capture_module";
};

}  // namespace xlaprof
