// xlaprof_capture.so: the client, and gRPC with it.
#include "core/base/version.h"
#include "profiler/serve/client.h"

extern "C" [[gnu::visibility("default")]] const xlaprof::CaptureModule xlaprof_capture_module;
const xlaprof::CaptureModule xlaprof_capture_module{xlaprof::kVersion, xlaprof::Capture};
