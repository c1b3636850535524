// Calls a function of a gRPC server that takes one message and returns one. Its transport is HTTP/2
// without TLS, by the library nghttp2, which is a hundredth of gRPC's own size and takes no time to
// load (docs/decisions/0038-capture-speaks-grpc-itself.md).
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "serve/connection.h"

namespace xlaprof {

struct GrpcCall {
  std::string address;             // HOST:PORT or [IPV6]:PORT
  std::string path;                // /PACKAGE.SERVICE/FUNCTION
  std::string_view request;        // the message, which must outlive the call
  int64_t most_bytes = INT32_MAX;  // of the answer
  Deadline deadline;
  std::stop_token stop;  // ends the call
};

// How a call ended.
enum class CallEnd : uint8_t {
  kAnswered,      // the answer is complete, and the server's status is OK
  kStatus,        // the server's status is another
  kNoConnection,  // nobody speaks gRPC at any address of the host
  kLost,          // the connection ended before the answer did
  kDamaged,       // what came breaks the rules of HTTP/2 or gRPC
  kTooLarge,      // the answer has more than `most_bytes`; none of it was taken
  kNoMemory,      // the answer is larger than the memory
  kLate,          // the deadline passed
  kStopped,       // a stop was requested
};

struct GrpcAnswer {
  CallEnd end = CallEnd::kLost;
  // The status that the server sent, or one that gRPC derives from what it did instead. gRPC's
  // codes are those of abseil.
  absl::StatusCode code = absl::StatusCode::kUnknown;
  std::string said;     // what went wrong, in the server's words or in a few of ours
  std::string message;  // the answer, if the call was answered
};

// Calls, and blocks until the end. The addresses of a name are tried one after another until one of
// them speaks HTTP/2; only that one gets the request. Any number of threads may call at once.
GrpcAnswer Call(const GrpcCall& call);

}  // namespace xlaprof
