#include "analyzers/wording.h"

#include <string_view>

namespace xlaprof {
namespace {

// In this order: what is part of a longer phrase comes behind it. The empty are left out.
constexpr CppWord kWords[] = {
    // numbers and reads
    {"A Python number", "A C++ number"},
    {"Python numbers", "C++ numbers"},
    {"A Python loop", "A loop of the program"},
    {"The Python code", "The program"},
    {".item(), float(tensor), bool(tensor), `if tensor:`, print(loss)", "item() and print()"},
    {".item(), float(tensor), bool(tensor), `if tensor:`", "item()"},
    {".item(), print(tensor), .cpu(), .numpy()", "item(), print(), to_cpu()"},
    {"(.item(), print, if tensor, float(tensor))", "(item(), print, to_cpu)"},
    {"collect it with .detach()", "collect it with detach()"},
    {", or hand the read to xm.add_step_closure", ""},
    {", or copy asynchronously into a step closure (xm.add_step_closure)", ""},
    {"For `if tensor:` use torch.where.", "Instead of an if on it use where(condition, a, b)."},
    {"for `if tensor:` use torch.where.", "instead of an if on it use where(condition, a, b)."},
    {"and drop references (del)", "and let go of tensors"},
    // what makes new graphs
    {"torch.where(torch.arange(n, device=x.device)[:, None] < torch.tensor(k, device=x.device), x, "
     "0)",
     "x * mask"},
    {"torch.index_select(x, 0, torch.tensor([i], device=x.device)), in JAX jax.lax.dynamic_slice",
     "index_select(x, 0, index)"},
    {": torch.tensor(value, device=x.device), in JAX an argument of the jitted function",
     ", uploaded with Tensor::FromHost"},
    {" (torch.tensor(value, device=...), in JAX an argument of the jitted function)",
     " (Tensor::FromHost)"},
    {": torch.tensor(value, device=...)", " (Tensor::FromHost)"},
    {"cut the graph inside the loop (torch_xla.sync() each turn), or keep the loop on the device "
     "(torch_xla.experimental.scan, jax.lax.fori_loop)",
     "or cut the graph inside the loop (sync() each turn)"},
    {"drop it with drop_last=True in the DataLoader, or pad it", "drop it, or pad it"},
    {"drop_last=True when only the last batch of an epoch differs", "drop a smaller last batch"},
    {"if, try, hooks, logging", "if, try, logging"},
    // operations without lowering
    {"torch.where(mask, x, 0)", "x * mask"},
    {"torch.bincount(x, minlength=N)", "compare with arange(N) and sum"},
    {"torch.bucketize(x, edges) and torch.nn.functional.one_hot(...).sum(0)",
     "bins by arithmetic, and the sum of one_hot"},
    {"has no lowering in this torch_xla: write it with ops that have one, move it out of the step, "
     "or ask for the lowering in the torch_xla tracker",
     "has no lowering: write it with operations that have one, or move it out of the step"},
    // steps, scopes and recordings
    {"Call torch_xla.sync() at the end of each step, or iterate with MpDeviceLoader",
     "Call sync() or mark_step() at the end of each step, or iterate with DeviceLoader"},
    {"torch_xla.sync()", "sync()"},
    {" (MpDeviceLoader's loader_prefetch_size and device_prefetch_size)", ""},
    {"MpDeviceLoader", "DeviceLoader"},
    {"prof.step() of torch.profiler, ", ""},
    {"torch_xla.debug.profiler.StepTrace('train', step_num=i), or "
     "jax.profiler.StepTraceAnnotation",
     "StepTrace step(\"train\", i)"},
    {"(xp.Trace, jax.profiler.TraceAnnotation)", "(Trace, XLAPROF_TRACE)"},
    {"(xp.Trace)", "(Trace, XLAPROF_TRACE)"},
    {"Record a trace (xp.trace)", "Record the program (XLAPROF_RECORD=PATH)"},
    {"torch_xla.debug.profiler.trace('localhost:9012', DIR)", "run with XLAPROF_RECORD=PATH"},
    {"torch_xla.debug.metrics.metrics_report()", "metrics_report()"},
    {"compile the step once (torch_xla.compile, jax.jit), use scan for repeated layers, or give",
     "give"},
    {"Keep the compilation cache between runs (torch_xla: xr.initialize_cache, JAX: "
     "jax_compilation_cache_dir); make the graph smaller (scan over repeated layers).",
     "Make the graph smaller."},
    {"It takes a Python stack at every op: for", "It prints the place of every op: for"},
    {"as torch_xla keeps", "as the runtime keeps"},
    {"IR dump", "graph"},
    // their names, not each "torch.": a path may have it
    {"torch.where", "where"},
    {"torch.nn.functional.one_hot", "one_hot"},
    {"torch.sort", "sort"},
    {"torch.gather", "gather"},
    {"torch.logsumexp", "logsumexp"},
    {"torch.rand_like", "rand_like"},
    {"torch.linalg.", "linalg."},
    {" (torch.compile)", ""},
    {"(torch.compile, CUDA graphs)", "(CUDA graphs)"},
};

}  // namespace

std::span<const CppWord> CppWords() { return kWords; }

absl::StatusOr<Language> LanguageOf(const Store& store) {
  XP_TRY(
      auto lines,
      store.One<int64_t>(
          "SELECT sum(iif(file LIKE '%.py', -1, file LIKE '%.cc' OR file LIKE '%.cpp' OR file "
          "LIKE '%.cxx' OR file LIKE '%.h' OR file LIKE '%.hpp')) FROM site HAVING count(*) > 0"));
  if (lines) return *lines > 0 ? Language::kCpp : Language::kPython;
  XP_TRY(auto others, store.One<int64_t>(
                          "SELECT count(*) FROM source WHERE imported AND format <> 'recording'"));
  XP_TRY(auto recordings,
         store.One<int64_t>("SELECT count(*) FROM source WHERE imported AND format = 'recording'"));
  return others.value_or(0) == 0 && recordings.value_or(0) > 0 ? Language::kCpp : Language::kPython;
}

std::string InCpp(std::string text) {
  for (const auto& [python, cpp] : CppWords()) {
    for (size_t at = text.find(python); at != text.npos; at = text.find(python, at + cpp.size()))
      text.replace(at, python.size(), cpp);
  }
  return text;
}

void SayInCpp(Finding* finding) {
  for (std::string* text :
       {&finding->title, &finding->cost_note, &finding->saving_note, &finding->advice})
    *text = InCpp(std::move(*text));
  if (finding->reason && finding->reason->text)
    finding->reason->text = InCpp(std::move(*finding->reason->text));
}

}  // namespace xlaprof
