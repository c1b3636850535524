// Captures a profile of a running program. It asks the program's profiler server (xp.start_server
// of torch_xla, jax.profiler.start_server, or ours) for a stretch of time, and keeps the XSpace
// that the server returns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/status.h"

namespace xlaprof {

struct CaptureRequest {
  std::string address;  // HOST:PORT
  int64_t duration_ms = 0;
  int64_t start_epoch_ns = 0;    // when to begin, by the server machine's clock; 0: now
  std::filesystem::path folder;  // directory for the XSpace; it exists, and only this host uses it
  int64_t most_bytes = INT32_MAX;  // of the server's answer
  std::stop_token stop;          // requested when nobody waits any longer
};

struct Captured {
  std::filesystem::path file;
  int64_t bytes = 0;
};

// Captures, and blocks for the requested time. The server may answer with the XSpace, or, if it
// runs on this machine and does not know emit_xspace, may have written a file. Any number of
// captures may run at once, each in its own thread. Errors name the address and what to try:
//   Unavailable       nobody listens there, or the program went away meanwhile
//   Unimplemented     it is not a profiler server
//   NotFound          it answered, but nothing had happened
//   DeadlineExceeded  no answer long after the time was over
//   Cancelled         it was stopped before there was an answer
//   OutOfRange        the answer is larger than `most_bytes`, so none of it is kept
//   ResourceExhausted the answer is larger than the memory
absl::StatusOr<Captured> Capture(const CaptureRequest& request);

// Returns InvalidArgument unless `address` is HOST:PORT or [IPV6]:PORT, with a port of at least 1.
absl::Status CheckAddress(std::string_view address);

}  // namespace xlaprof
