// The lazy runtime: tensors, layers, optimizers and devices, in C++20. Link xlaprof::lazy. If the
// program also links xlaprof::record, its recordings contain what the runtime does.
// start_server(port), by which `xlaprof capture` captures the running program, is in
// <xlaprof/serve.h> and needs xlaprof::serve.
#pragma once

// clang-format off
#include "core/trace/posix_sync.h"  // first
// clang-format on
#include "core/debug/debug.h"
#include "core/environment.h"
#include "core/metrics/metrics.h"
#include "core/nn/clip_grad.h"
#include "core/nn/data_parallel.h"
#include "core/nn/lr_scheduler.h"
#include "core/nn/multihead_attention.h"
#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/nn/sequential.h"
#include "core/trace/autocast.h"
#include "core/trace/collective.h"
#include "core/trace/launch.h"
#include "core/trace/loader.h"
#include "core/trace/save.h"
#include "core/trace/spmd.h"
#include "core/trace/step.h"
