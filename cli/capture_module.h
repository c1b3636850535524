// The part of the program that speaks gRPC, loaded when it is needed: gRPC's libraries take longer
// to start than most commands run.
#pragma once

#include "profiler/serve/client.h"

namespace xlaprof {

// Loads xlaprof_capture.so, which lies beside the program. NotFound or FailedPrecondition, naming
// the file, where it is not there, does not load, or is another version's.
absl::StatusOr<const CaptureModule*> LoadCaptureModule();

}  // namespace xlaprof
