// What to write instead, by the reason of a recompilation.
#include "analyzers/recompile/padding.h"
#include "analyzers/recompile/recompile_group.h"

namespace xlaprof {
namespace {

bool IsIndexing(const std::string& op) {
  return op.find("slice") != std::string::npos || op.find("select") != std::string::npos ||
         op.find("narrow") != std::string::npos || op.find("index") != std::string::npos;
}

}  // namespace

std::string RecompileAdvice(const RecompileGroup& group, const std::optional<SizesSeen>& sizes,
                            bool rare_size) {
  const RecompileCause& cause = group.cause();
  const ReasonType type = cause.type;
  if (group.state.word == State::kWarmUp) {
    return "Nothing to do: a clean program compiles so in its first steps, while state that the "
           "first step makes "
           "becomes "
           "an input.";
  }
  if (type == ReasonType::kShapeChange) {
    std::string text;
    if (sizes && sizes->dimension) {
      const Padding largest = PadToLargest(sizes->sizes, sizes->times),
                    buckets = PadToBuckets(sizes->sizes, sizes->times);
      const bool leading = *sizes->dimension == 0;
      if (rare_size) {
        text =
            "Only a smaller last batch differs: drop it with drop_last=True in the DataLoader, or "
            "pad it and mask the "
            "loss. ";
      }
      text += fmt::format("Pad the {} of this input to {} (one program)",
                          DimensionName(*sizes->dimension, sizes->shape.rank()),
                          largest.buckets.back());
      if (buckets.buckets.size() > 1 && buckets.buckets.size() < sizes->sizes.size()) {
        text += fmt::format(
            ", or to the buckets {} ({} programs, {:.0f} % more elements instead of {:.0f} %{})",
            SizeList(buckets.buckets), buckets.buckets.size(), 100 * buckets.extra_work,
            100 * largest.extra_work,
            sizes->times.empty() ? " if all sizes are equally frequent" : "");
      }
      text += leading ? ", and mask what was added out of the loss." : ", and mask what was added.";
      return text;
    }
    return "Give this input few different shapes: pad it to one size or to a few buckets and mask "
           "what was added; "
           "drop_last=True when only the last batch of an epoch differs.";
  }
  if (type == ReasonType::kDtypeChange)
    return "Convert this tensor to one type where it is made, before it reaches the device.";
  if (type == ReasonType::kRedefinedFunction) {
    return "Define and jit the function once, outside the loop: a new lambda, inner function, "
           "functools.partial or jax.jit(...) at each call is a new key of the cache. What it "
           "closes "
           "over becomes an argument.";
  }
  if (type == ReasonType::kInputStructureChange) {
    return "Pass the same containers, keys and keyword arguments in every call; what is None in "
           "some calls needs a stand-in of the same shape.";
  }
  if (type == ReasonType::kShardingChange)
    return "Put this input on the devices in one way: jax.device_put with one sharding, or "
           "in_shardings of jax.jit.";
  if (type == ReasonType::kConstantChange && cause.node.starts_with("static ")) {
    return "Each value of a static argument makes another program. Pass it as an ordinary argument "
           "(without static_argnums) where it is only computed with, or keep to few values.";
  }
  if (cause.captures_array) {
    return "An array that the function captures is baked into the graph, so another one makes "
           "another program. Pass it as an argument of the function, in JAX of the jitted one.";
  }
  if (type == ReasonType::kConstantChange) {
    if (IsIndexing(cause.node)) {
      if (cause.resized) {
        return "A Python number cuts this tensor, so each value makes another program. Keep the "
               "shape: compute on the "
               "whole tensor and mask, as in torch.where(torch.arange(n, device=x.device)[:, None] "
               "< "
               "torch.tensor(k, device=x.device), x, 0), or round the bound up to a few sizes.";
      }
      return "A Python number selects this part, so each value makes another program. Make the "
             "index a tensor: "
             "torch.index_select(x, 0, torch.tensor([i], device=x.device)), in JAX "
             "jax.lax.dynamic_slice.";
    }
    if (cause.node == "prim::Constant" || cause.node.ends_with("device_data") ||
        cause.node == "constant" || cause.node == "parameter") {
      return "A Python number is part of the graph. Pass it as a tensor that lives on the device: "
             "torch.tensor(value, device=x.device), in JAX an argument of the jitted function. 0 "
             "and 1 are always "
             "baked in; "
             "XLA_NO_SPECIAL_SCALARS=1 makes them inputs too.";
    }
    return "A Python number or size is part of this op. Pass it as a tensor on the device "
           "(torch.tensor(value, device=...), in JAX an argument of the jitted function), or keep "
           "to "
           "a few values.";
  }
  if (type == ReasonType::kLoopCountChange) {
    return "A Python loop is unrolled into the graph and runs another number of times. Always run "
           "the largest number "
           "of "
           "turns and mask (torch.where), cut the graph inside the loop (torch_xla.sync() each "
           "turn), or keep the loop "
           "on the "
           "device (torch_xla.experimental.scan, jax.lax.fori_loop).";
  }
  if (type == ReasonType::kLiveTensorsChange) {
    return "Tensors that are still referenced at the cut become results of the graph. Keep the "
           "same ones each step: "
           "detach and read statistics at fixed steps only, and drop references (del) before the "
           "step mark.";
  }
  if (type == ReasonType::kParameterSharingChange) {
    return "Two inputs are one buffer in some steps and two in others, mostly scalars that become "
           "equal (lr == eps). "
           "Hold "
           "each in a tensor of its own: torch.tensor(value, device=...).";
  }
  if (type == ReasonType::kDonationChange) {
    return "Which inputs may be overwritten changes: update parameters in place in every step in "
           "the same way, and "
           "keep no "
           "extra references to them in some steps only.";
  }
  if (type == ReasonType::kCutKindChange) {
    return "The same computation is cut by a step mark once and by a read the next time; each is "
           "compiled by itself. "
           "Cut "
           "it in one way: read values after the step mark.";
  }
  if (type == ReasonType::kEnvironmentChange) {
    return cause.seen_in.starts_with("JAX")
               ? "Set jax.config values and enter context managers in the same way around each "
                 "call."
               : "Set compiler flags and debug variables once, before the first step.";
  }
  if (type == ReasonType::kCacheEviction) {
    return "Make fewer different graphs (see the other recompilations), or raise "
           "XLA_COMPILATION_CACHE_SIZE.";
  }
  if (type == ReasonType::kOpChange) {
    return "The Python code takes another path in these steps (if, try, hooks, logging, "
           "evaluation). Compute the same "
           "ops "
           "in every step and choose with torch.where, or warm both paths up first.";
  }
  if (type == ReasonType::kNoStepMark)
    return "See missing_step_mark: where each step is marked, its graph is compiled once.";
  if (type == ReasonType::kUnprintedChange) {
    return "Run again with XLA_SAVE_TENSORS_FMT=hlo beside XLA_SAVE_TENSORS_FILE, or record a "
           "profile that covers "
           "these "
           "compiles: both print slice bounds and constants. Look first for Python numbers used as "
           "index or bound.";
  }
  if (group.site->cause == CutKind::kCall || group.site->cause == CutKind::kOperation) {
    return "To see why, run again with JAX_EXPLAIN_CACHE_MISSES=1 and JAX_LOG_COMPILES=1, or "
           "record a "
           "profile that covers these compiles.";
  }
  return "To see why, run again with XLA_SAVE_TENSORS_FILE=ir.txt, XLA_SAVE_TENSORS_FMT=hlo, "
         "XLA_IR_DEBUG=1 and "
         "XLA_HLO_DEBUG=1, or record a profile that covers these compiles.";
}

}  // namespace xlaprof
