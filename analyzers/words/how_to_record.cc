#include "analyzers/words/how_to_record.h"

#include <fmt/format.h>

namespace xlaprof {
namespace {

constexpr std::string_view kTorchXlaLog =
    "PT_XLA_DEBUG_LEVEL=2 PT_XLA_DEBUG_FILE=log.txt python train.py";
constexpr std::string_view kJaxLog =
    "JAX_LOG_COMPILES=1 JAX_EXPLAIN_CACHE_MISSES=1 python train.py 2> log.txt";

constexpr HowToRecord kPytorchXla = {
    .log = kTorchXlaLog,
    .graphs =
        "PT_XLA_DEBUG_LEVEL=2 PT_XLA_DEBUG_FILE=log.txt XLA_SAVE_TENSORS_FILE=graphs.txt XLA_SAVE_TENSORS_FMT=hlo XLA_IR_DEBUG=1 XLA_HLO_DEBUG=1 python train.py",
    .profile = "torch_xla.debug.profiler.trace('localhost:9012', DIR)"};

constexpr HowToRecord kJax = {.log = kJaxLog,
                              .graphs = "XLA_FLAGS=--xla_dump_to=DIR python train.py",
                              .profile = "jax.profiler.trace(DIR)"};

constexpr HowToRecord kPytorch = {
    .log = "TORCH_TRACE=DIR python train.py",
    .graphs = "TORCH_TRACE=DIR python train.py",
    .profile =
        "torch.profiler.profile(schedule=torch.profiler.schedule(wait=2, warmup=1, active=10))"};

constexpr std::string_view kTorchtpuLog =
    "mkdir -p DIR; TORCH_TRACE=DIR TF_CPP_VMODULE=compilation_cache=2 python train.py 2> DIR/stderr.txt";
constexpr HowToRecord kTorchtpu = {
    .log = kTorchtpuLog,
    .graphs = kTorchtpuLog,
    .profile =
        "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1], experimental_config=TpuProfilerConfig(run_dir=DIR))"};

constexpr std::string_view kGaudiLog =
    "PT_HPU_METRICS_FILE=metrics.json PT_HPU_METRICS_GC_DETAILS=1 PT_HPU_ENABLE_CACHE_METRICS=1 python train.py";
constexpr HowToRecord kGaudi = {
    .log = kGaudiLog,
    .graphs = kGaudiLog,
    .profile =
        "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.HPU], with_stack=True)"};

constexpr std::string_view kRecorder = "XLAPROF_RECORD=run.xlaprof PROGRAM";
constexpr HowToRecord kCpp = {.log = kRecorder, .graphs = kRecorder, .profile = kRecorder};

constexpr HowToRecord kUnknown = {
    .log =
        "PT_XLA_DEBUG_LEVEL=2 PT_XLA_DEBUG_FILE=log.txt python train.py (PyTorch/XLA), JAX_LOG_COMPILES=1 JAX_EXPLAIN_CACHE_MISSES=1 python train.py 2> log.txt (JAX) or TORCH_TRACE=DIR python train.py (torch.compile)",
    .graphs = "XLA_FLAGS=--xla_dump_to=DIR python train.py",
    .profile = "the framework's profiler"};

}  // namespace

const HowToRecord& HowToRecordWith(Framework framework) {
  switch (framework) {
    case Framework::kPytorchXla:
      return kPytorchXla;
    case Framework::kJax:
      return kJax;
    case Framework::kPytorch:
      return kPytorch;
    case Framework::kTorchtpu:
      return kTorchtpu;
    case Framework::kGaudi:
      return kGaudi;
    case Framework::kCpp:
      return kCpp;
    case Framework::kTensorflow:
    case Framework::kUnknown:
      break;
  }
  return kUnknown;
}

std::string RunLogAndReport(Framework framework) {
  return fmt::format("Run {} and report on what it writes together with these files.",
                     HowToRecordWith(framework).log);
}

}  // namespace xlaprof
