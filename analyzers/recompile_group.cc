#include "analyzers/recompile_group.h"

#include <algorithm>

#include "analyzers/graph_content.h"
#include "analyzers/padding.h"

namespace xlaprof {
namespace {

std::string Basename(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

std::string Times(size_t n) { return n == 1 ? "once" : fmt::format("{} times", n); }

// The leading dimension of an input that has several is its batch nearly always; "dimension 2" of
// others.
std::string DimensionName(int dimension, size_t rank) {
  if (rank == 1) return "length";
  if (dimension == 0) return "batch dimension";
  return fmt::format("dimension {}", dimension);
}

std::string Short(std::string text) {
  constexpr size_t kLongest = 48;
  if (text.size() > kLongest) text = text.substr(0, kLongest - 3) + "...";
  return text;
}

// "a → b → c", from the clearest compile on.
std::string Values(const RecompileGroup& group) {
  std::vector<std::string> values;
  auto add = [&](const std::string& value) {
    if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  };
  add(group.cause().before);
  for (size_t i = group.clearest; i < group.causes.size(); ++i) add(group.causes[i].after);
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    std::string value = values[i];
    const size_t key = values[0].find('=');  // once is enough
    if (i > 0 && key != std::string::npos && value.starts_with(values[0].substr(0, key + 1)))
      value = value.substr(key + 1);
    text += (i == 0 ? "" : " → ") + Short(std::move(value));
  }
  if (values.size() > kShown) text += " → ...";
  return text;
}

bool IsIndexing(const std::string& op) {
  return op.find("slice") != std::string::npos || op.find("select") != std::string::npos ||
         op.find("narrow") != std::string::npos || op.find("index") != std::string::npos;
}

}  // namespace

std::optional<SizesSeen> SizesOf(const RecompileGroup& group) {
  const RecompileCause& first = group.causes.front();
  if (first.type != "shape_change" || first.before.find('[') == std::string::npos)
    return std::nullopt;
  SizesSeen seen{.shape = first.before};
  std::vector<std::vector<int64_t>> all;
  auto add = [&](const std::string& shape) {
    if (std::find(seen.shapes.begin(), seen.shapes.end(), shape) != seen.shapes.end()) return;
    seen.shapes.push_back(shape);
    all.push_back(Dimensions(shape));
  };
  for (const RecompileCause& cause : group.causes) {
    if (cause.before.find('[') != std::string::npos && &cause == &group.causes.front())
      add(cause.before);
    if (cause.after.find('[') != std::string::npos) add(cause.after);
  }
  std::optional<int> varies;
  for (const std::vector<int64_t>& dimensions : all) {
    if (dimensions.size() != all[0].size()) return seen;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (dimensions[d] == all[0][d]) continue;
      if (varies && *varies != static_cast<int>(d)) return seen;
      varies = static_cast<int>(d);
    }
  }
  if (!varies) return seen;
  seen.dimension = varies;
  for (const std::vector<int64_t>& dimensions : all) {
    const int64_t size = dimensions[*varies];
    if (std::find(seen.sizes.begin(), seen.sizes.end(), size) == seen.sizes.end())
      seen.sizes.push_back(size);
  }
  return seen;
}

std::string SiteName(const RecompileGroup& group) {
  const CompileSite& site = *group.site;
  if (!site.function.empty()) return fmt::format("`{}`", site.function);
  if (site.cause == "value_access" && !site.file.empty()) {
    return fmt::format("the read at {}:{}", Basename(site.file), site.line.value_or(0));
  }
  if (!group.steps->name.empty() && site.cause != "value_access") {
    return group.steps->name.ends_with("step") ? group.steps->name : group.steps->name + " step";
  }
  if (!site.file.empty())
    return fmt::format("the graph cut at {}:{}", Basename(site.file), site.line.value_or(0));
  if (site.cause == "value_access") return "a read before the step mark";
  return "the step";
}

std::string RecompileTitle(const RecompileGroup& group, const std::optional<SizesSeen>& sizes) {
  const RecompileCause& cause = group.cause();
  const std::string head =
      fmt::format("{} recompiled {}", SiteName(group), Times(group.compiles.size()));
  if (cause.type == "shape_change") {
    if (sizes && sizes->dimension) {
      return fmt::format("{}: {} of input {} changes ({})", head,
                         DimensionName(*sizes->dimension, Dimensions(sizes->shape).size()),
                         cause.input.empty() ? sizes->shape : cause.input + " " + sizes->shape,
                         SizeList(sizes->sizes));
    }
    if (sizes)
      return fmt::format("{}: the shape of input {} changes ({})", head, sizes->shape,
                         Values(group));
    return head + ": the size of its inputs changes";
  }
  if (cause.type == "dtype_change")
    return fmt::format("{}: the type of {} changes ({})", head, cause.node, Values(group));
  if (cause.type == "constant_change" &&
      cause.before.starts_with("prim::Constant") != cause.after.starts_with("prim::Constant")) {
    return head +
           ": a scalar is a constant in some graphs and an input in others (0 and 1 are baked in)";
  }
  if (cause.type == "constant_change")
    return fmt::format("{}: a number baked into {} changes ({})", head, cause.node, Values(group));
  if (cause.type == "loop_count_change")
    return fmt::format("{}: a part of the graph ({}) is repeated {}", head, cause.node,
                       Values(group));
  if (cause.type == "live_tensors_change")
    return fmt::format("{}: the set of tensors that are alive at the cut changes ({})", head,
                       Values(group));
  if (cause.type == "parameter_sharing_change")
    return fmt::format("{}: the same graph with other shared inputs ({})", head, Values(group));
  if (cause.type == "donation_change")
    return fmt::format("{}: the same graph, but other inputs are donated ({})", head,
                       Values(group));
  if (cause.type == "cut_kind_change")
    return fmt::format("{}: the same graph, cut in another way ({})", head, Values(group));
  if (cause.type == "environment_change")
    return fmt::format("{}: the same graph under another setting ({})", head, cause.node);
  if (cause.type == "cache_eviction")
    return head + ": a graph that had been compiled before was no longer cached";
  if (cause.type == "unprinted_change") return head + ": graphs that print alike, but differ";
  if (cause.type == "op_change") return fmt::format("{}: its ops change ({})", head, Values(group));
  return head + ": nothing that was captured shows why";
}

std::string RecompileReasonText(const RecompileGroup& group) {
  const RecompileCause& cause = group.cause();
  std::string text;
  auto sentence = [&](std::string one) {
    if (one.empty()) return;
    one[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(one[0])));
    if (!one.ends_with('.')) one += '.';
    text += (text.empty() ? "" : " ") + one;
  };
  const bool shown =
      !cause.node.empty() || cause.note.empty();  // else the note says what was compared
  if (!cause.seen_in.empty() && shown) sentence(fmt::format("{} shows it", cause.seen_in));
  sentence(cause.note);
  if (!group.beside.empty())
    sentence(fmt::format("in the same compiles also changed: {}", fmt::join(group.beside, "; ")));
  return text;
}

std::string RecompileAdvice(const RecompileGroup& group, const std::optional<SizesSeen>& sizes,
                            bool rare_size) {
  const RecompileCause& cause = group.cause();
  const std::string& type = cause.type;
  if (group.state.word == "warm_up") {
    return "Nothing to do: a clean program compiles so in its first steps, while state that the "
           "first step makes "
           "becomes "
           "an input.";
  }
  if (type == "shape_change") {
    std::string text;
    if (sizes && sizes->dimension) {
      const Padding largest = PadToLargest(sizes->sizes), buckets = PadToBuckets(sizes->sizes);
      const bool leading = *sizes->dimension == 0;
      if (rare_size) {
        text =
            "Only a smaller last batch differs: drop it with drop_last=True in the DataLoader, or "
            "pad it and mask the "
            "loss. ";
      }
      text += fmt::format("Pad the {} of this input to {} (one program)",
                          DimensionName(*sizes->dimension, Dimensions(sizes->shape).size()),
                          largest.buckets.back());
      if (buckets.buckets.size() > 1 && buckets.buckets.size() < sizes->sizes.size()) {
        text += fmt::format(
            ", or to the buckets {} ({} programs, {:.0f} % more elements instead of {:.0f} %)",
            SizeList(buckets.buckets), buckets.buckets.size(), 100 * buckets.extra_work,
            100 * largest.extra_work);
      }
      text += leading ? ", and mask what was added out of the loss." : ", and mask what was added.";
      return text;
    }
    return "Give this input few different shapes: pad it to one size or to a few buckets and mask "
           "what was added; "
           "drop_last=True when only the last batch of an epoch differs.";
  }
  if (type == "dtype_change")
    return "Convert this tensor to one type where it is made, before it reaches the device.";
  if (type == "constant_change") {
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
           "(torch.tensor(value, "
           "device=...)), or keep to a few values.";
  }
  if (type == "loop_count_change") {
    return "A Python loop is unrolled into the graph and runs another number of times. Always run "
           "the largest number "
           "of "
           "turns and mask (torch.where), cut the graph inside the loop (torch_xla.sync() each "
           "turn), or keep the loop "
           "on the "
           "device (torch_xla.experimental.scan, jax.lax.fori_loop).";
  }
  if (type == "live_tensors_change") {
    return "Tensors that are still referenced at the cut become results of the graph. Keep the "
           "same ones each step: "
           "detach and read statistics at fixed steps only, and drop references (del) before the "
           "step mark.";
  }
  if (type == "parameter_sharing_change") {
    return "Two inputs are one buffer in some steps and two in others, mostly scalars that become "
           "equal (lr == eps). "
           "Hold "
           "each in a tensor of its own: torch.tensor(value, device=...).";
  }
  if (type == "donation_change") {
    return "Which inputs may be overwritten changes: update parameters in place in every step in "
           "the same way, and "
           "keep no "
           "extra references to them in some steps only.";
  }
  if (type == "cut_kind_change") {
    return "The same computation is cut by a step mark once and by a read the next time; each is "
           "compiled by itself. "
           "Cut "
           "it in one way: read values after the step mark.";
  }
  if (type == "environment_change")
    return "Set compiler flags and debug variables once, before the first step.";
  if (type == "cache_eviction") {
    return "Make fewer different graphs (see the other recompilations), or raise "
           "XLA_COMPILATION_CACHE_SIZE.";
  }
  if (type == "op_change") {
    return "The Python code takes another path in these steps (if, try, hooks, logging, "
           "evaluation). Compute the same "
           "ops "
           "in every step and choose with torch.where, or warm both paths up first.";
  }
  if (type == "unprinted_change") {
    return "Run again with XLA_SAVE_TENSORS_FMT=hlo beside XLA_SAVE_TENSORS_FILE, or record a "
           "profile that covers "
           "these "
           "compiles: both print slice bounds and constants. Look first for Python numbers used as "
           "index or bound.";
  }
  return "To see why, run again with XLA_SAVE_TENSORS_FILE=ir.txt, XLA_SAVE_TENSORS_FMT=hlo, "
         "XLA_IR_DEBUG=1 and "
         "XLA_HLO_DEBUG=1, or record a profile that covers these compiles.";
}

}  // namespace xlaprof
