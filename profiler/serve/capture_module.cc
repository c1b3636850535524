// Exports the capture client, and gRPC with it, as xlaprof_capture.so.
#include "core/base/version.h"
#include "profiler/serve/client.h"

extern "C" [[gnu::visibility("default")]] const xlaprof::CaptureModule xlaprof_capture_module;
const xlaprof::CaptureModule xlaprof_capture_module{xlaprof::kVersion, xlaprof::Capture};
