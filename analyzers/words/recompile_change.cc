#include "analyzers/words/recompile_change.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <span>

#include "analyzers/quantity.h"
#include "analyzers/words/in_terms_of.h"

namespace xlaprof {
namespace {

// Returns "dimensions=" for dimensions={0} and "precision =" for precision = [HIGHEST], but "" for
// f32[]{weak_type=True}.
std::string KeyOf(const std::string& value) {
  const size_t sign = value.find('=');
  const bool named = sign != std::string::npos && sign > 0 &&
                     std::all_of(value.begin(), value.begin() + ptrdiff_t(sign), [](char c) {
                       return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ' ';
                     });
  return named ? value.substr(0, sign + 1) : "";
}

constexpr std::string_view kOtherParameters =
    "The steps may use or train other parameters of the same shapes, such as layers that are chosen at random or frozen (requires_grad), or record the same ops in another order. Do both in the same way in each step: train all of them, and multiply gradients by a tensor of 0 and 1.";

std::string Short(std::string text) {
  constexpr size_t kLongest = 48;
  if (text.size() > kLongest) text = text.substr(0, kLongest - 3) + "...";
  return text;
}

// Returns whether the program's batches usually come from PyTorch's DataLoader.
bool HasDataLoader(Framework framework) {
  return framework == Framework::kPytorchXla || framework == Framework::kPytorch ||
         framework == Framework::kTorchtpu;
}

// Returns how to select with a condition on the device.
std::string_view WhereCall(Framework framework) {
  constexpr InTermsOf kCall{.jax = "jnp.where", .cpp = "where", .otherwise = "torch.where"};
  return kCall.Of(framework);
}

// Returns the code's language.
std::string_view Language(Framework framework) {
  return framework == Framework::kCpp ? "C++" : "Python";
}

// Returns the advice for a size that follows from a mask: padding the input cannot help.
std::string MaskAdvice(const Subject& mask, Framework framework) {
  const std::string at = mask.file ? fmt::format(" at {}", mask.place().ShortText()) : "";
  return fmt::format(
      "Keep the whole tensor and mask the result: replace {}{} by {}(mask, x, 0), so that no size depends on values. Count with mask.sum() instead of taking the length.",
      mask.op.value_or("the op"), at, WhereCall(framework));
}

// Returns the advice for a size that follows from what is read at a line.
std::string SizeReadAdvice(const SourcePlace& read, bool is_made_of_read, Framework framework) {
  if (!is_made_of_read)
    return fmt::format(
        "Its size most likely is the number that is read at {}. Use the largest size that can occur, and mask what is too much.",
        read.ShortText());
  return fmt::format(
      "An op on the CPU most likely makes this input from what is read at {}, as a mask used as index, nonzero and unique do, and its size depends on values. Keep the whole tensor, and mask with {}(mask, x, 0).",
      read.ShortText(), WhereCall(framework));
}

// Returns how a part of a tensor that stays at one size is written.
std::string_view WritePart(Framework framework) {
  constexpr InTermsOf kWrite{
      .jax = "write each step's part with jax.lax.dynamic_update_slice",
      .cpp = "write each step's part into it",
      .otherwise = "write each step's part with index_copy_, at a position that is a tensor"};
  return kWrite.Of(framework);
}

ChangeWords OfGrowingInput(const RecompileFigures& figures, Framework framework) {
  const SizesSeen& sizes = *figures.sizes;
  const std::string& input = figures.cause.input;
  return {
      fmt::format("{} of input {}{}{} grows in each step ({} to {})", DimensionNames(sizes), input,
                  input.empty() ? "" : " ", sizes.shape.text(), sizes.sizes.front().front(),
                  sizes.sizes.back().front()),
      fmt::format(
          "Something appends to this input in each step, like a cache of keys and values. Allocate it once at its largest size, {}, and mask the rest.",
          WritePart(framework))};
}

ChangeWords OfShapes(const RecompileFigures& figures, Framework framework) {
  const std::optional<SizesSeen>& sizes = figures.sizes;
  if (figures.cause.is_size_inside)
    return {
        fmt::format("sizes inside the graph change, first that of {}", figures.cause.node),
        "An input of another size, or a number that bounds a slice or a loop, decides these sizes. Keep it the same in every step, and mask what is not needed."};
  if (figures.grows_steadily) return OfGrowingInput(figures, framework);
  if (!figures.padding) {
    std::string advice =
        "Give this input few different shapes: pad it to one size or to a few buckets, and mask the padding.";
    if (HasDataLoader(framework))
      advice += " Use drop_last=True if only the last batch of an epoch differs.";
    else if (framework == Framework::kCpp)
      advice += " Drop a smaller last batch.";
    return {sizes ? fmt::format("the shape of input {} changes ({})", sizes->shape.text(),
                                ValuesText(figures.values))
                  : "the size of its inputs changes",
            std::move(advice)};
  }
  const auto& [largest, buckets, saved, compile_ns] = *figures.padding;
  const std::string dimensions = DimensionNames(*sizes);
  const std::string& input = figures.cause.input;
  ChangeWords words;
  words.what = fmt::format("{} of input {}{}{} change{} ({})", dimensions, input,
                           input.empty() ? "" : " ", sizes->shape.text(),
                           sizes->dimensions.size() == 1 ? "s" : "", SizeList(sizes->sizes));
  if (figures.is_rare_smaller_size)
    words.advice =
        HasDataLoader(framework)
            ? "Only a smaller last batch differs. Drop it with drop_last=True in the DataLoader, or pad it and mask the loss. "
            : "Only a smaller, rare size differs. Drop it, or pad it and mask the result. ";
  words.advice += fmt::format("Pad the {} of this input to {} (one program)", dimensions,
                              SizeList(largest.buckets));
  if (buckets.buckets.size() > 1 && saved > 0)
    words.advice += fmt::format(
        ", or to the buckets {} ({} programs, {:.0f} % more elements instead of {:.0f} %{})",
        SizeList(buckets.buckets), buckets.buckets.size(), 100 * buckets.extra_work,
        100 * largest.extra_work, IfSizesAreEquallyFrequent(*sizes));
  words.advice += ", and mask the padding.";
  const RecompileCause& cause = figures.cause;
  if (HasDataLoader(framework) && !cause.location.empty() && !cause.near)
    words.advice += fmt::format(
        " {} uploads it or uses it first. Its size is decided before that, such as in a collate_fn, a crop or a sampler.",
        cause.location.ShortText());
  else if (HasDataLoader(framework))
    words.advice += " Its size is made where the batch is put together, such as in a collate_fn.";
  return words;
}

// Returns how to make a number an input of the graph instead of a part of it.
std::string InputAdvice(Framework framework) {
  constexpr InTermsOf kPass{
      .jax = "as an argument of the jitted function",
      .cpp = "as a tensor that lives on the device, uploaded with Tensor::FromHost",
      .otherwise = "as a tensor that lives on the device: torch.tensor([value], device=x.device)"};
  return fmt::format("A {} number is part of the graph. Pass it {}.", Language(framework),
                     kPass.Of(framework));
}

// Returns the advice for a number that limits the part of a tensor that is used.
std::string BoundAdvice(Framework framework) {
  constexpr InTermsOf kMask{
      .jax = "jnp.where(jnp.arange(n)[:, None] < k, x, 0)",
      .cpp = "x * mask",
      .otherwise =
          "torch.where(torch.arange(n, device=x.device)[:, None] < torch.tensor(k, device=x.device), x, 0)"};
  return fmt::format(
      "A {} number cuts this tensor, so each value makes another program. Keep the shape: compute on the whole tensor and mask, as in {}, or round the bound up to a few sizes.",
      Language(framework), kMask.Of(framework));
}

// Returns the advice for a number that selects a part of a tensor.
std::string IndexAdvice(Framework framework) {
  constexpr InTermsOf kSelect{
      .jax = "Pass the index as an argument and use jax.lax.dynamic_slice.",
      .cpp = "Make the index a tensor: index_select(x, 0, index).",
      .otherwise =
          "Make the index a tensor: torch.index_select(x, 0, torch.tensor([i], device=x.device))."};
  return fmt::format("A {} number selects this part, so each value makes another program. {}",
                     Language(framework), kSelect.Of(framework));
}

// Returns the advice for a number that is the position at which a part of a tensor is written.
std::string WrittenPartAdvice(Framework framework) {
  constexpr InTermsOf kWrite{
      .jax = "Pass the position as an argument and use jax.lax.dynamic_update_slice.",
      .cpp = "Make the position a tensor: scatter(x, dim, index, y).",
      .otherwise =
          "Make the position a tensor on the device: x.index_copy_(dim, start + torch.arange(n, device=x.device), y). A tensor as the bound of a slice does not help, because Python reads it."};
  return fmt::format(
      "A {} number is the position at which a part is written, as in x[a:b] = y, so each position makes another program. {}",
      Language(framework), kWrite.Of(framework));
}

// Returns the advice for a number that is sometimes 0 or 1.
std::string ScalarAdvice(const RecompileCause& cause, Framework framework) {
  if (framework == Framework::kCpp)
    return "A number that is 0 or 1 is part of the graph, and any other is an input. Pass it as a tensor that lives on the device, uploaded with Tensor::FromHost.";
  if (framework == Framework::kJax) return InputAdvice(framework);
  std::string advice =
      cause.library.empty() || !cause.location.empty()
          ? "A number that is 0 or 1 is part of the graph, and any other is an input. Pass it as a tensor of one element: torch.tensor([value], device=x.device). A tensor without dimensions (torch.tensor(value), fill_) is baked in, too."
          : "A library passes this number, such as an optimizer its learning rate. A number that is 0 or 1 is part of the graph, and any other is an input. Let its schedule end at another number, such as 1e-12 instead of 0.";
  if (cause.has_equal_scalar)
    advice +=
        *cause.has_equal_scalar
            ? " XLA_NO_SPECIAL_SCALARS=1 does not help: other numbers of this graph have the same value, and it would share their input."
            : " XLA_NO_SPECIAL_SCALARS=1 avoids it as well, because no other number of this graph has the same value.";
  return advice;
}

// Returns "flow.Settings object" if the values are objects that Python prints with their address,
// <flow.Settings object at 0x7f65e8885350>. Returns "" otherwise.
std::string KindOfObject(const std::vector<std::string>& values) {
  std::string kind;
  for (std::string_view value : values) {
    const size_t at = value.find(" at 0x");
    if (at == value.npos || !value.starts_with('<')) return "";
    const std::string_view of_value = value.substr(1, at - 1);
    if (!kind.empty() && kind != of_value) return "";
    kind = of_value;
  }
  return kind;
}

ChangeWords OfConstant(const RecompileFigures& figures, Framework framework) {
  const RecompileCause& cause = figures.cause;
  std::string number = cause.node.empty() ? "a number that is part of the graph changes"
                       : cause.constant == ConstantKind::kBound
                           ? fmt::format("a number that bounds {} changes", cause.node)
                           : fmt::format("a number baked into {} changes", cause.node);
  if (!figures.values.empty()) number += fmt::format(" ({})", ValuesText(figures.values));
  if (cause.node == "xla::moving_average")
    return {
        number,
        "The momentum of a batch norm is part of the graph, and PyTorch takes it only as a number. Change it rarely (every few epochs), or keep it constant and update the running statistics with a tensor instead."};
  switch (cause.constant) {
    case ConstantKind::kScalarOrInput:
      return {"a scalar is a constant in some graphs and an input in others (0 and 1 are baked in)",
              ScalarAdvice(cause, framework)};
    case ConstantKind::kStaticArgument:
      if (const std::string kind = KindOfObject(figures.values); !kind.empty()) {
        return {
            fmt::format("{} is another {} in each call", cause.node, kind),
            "JAX compares static arguments with == and hash(), and such an object equals only itself. Make one object before the loop, or give its class __eq__ and __hash__ (@dataclass(frozen=True))."};
      }
      return {
          figures.values.empty()
              ? fmt::format("a {} has another value", cause.node)
              : fmt::format("{} changes ({})", cause.node, ValuesText(figures.values)),
          "Each value of a static argument makes another program. If the function only computes with it, pass it as an ordinary argument (without static_argnums). If it bounds a loop, pass it as an ordinary argument to jax.lax.fori_loop. Otherwise use few values."};
    case ConstantKind::kCapturedArray:
      return {
          fmt::format("a captured array {} changes", cause.shape),
          framework == Framework::kJax
              ? "An array that the function captures is baked into the graph, so another one makes another program. Pass it as an argument, and define and jit the function once, outside of the loop: a lambda or inner function that is made anew is compiled anew."
              : "An array that the function captures is baked into the graph, so another one makes another program. Pass it as an argument of the function."};
    case ConstantKind::kBound:
      return {number, BoundAdvice(framework)};
    case ConstantKind::kIndex:
      return {number, IndexAdvice(framework)};
    case ConstantKind::kWrittenPart:
      return {number, WrittenPartAdvice(framework)};
    case ConstantKind::kNode:
      return {number, InputAdvice(framework)};
    case ConstantKind::kInOp:
    // Guards have their own words (SayGuard).
    case ConstantKind::kArgument:
    case ConstantKind::kModuleAttribute:
    case ConstantKind::kTrainingMode:
    case ConstantKind::kGlobal:
    case ConstantKind::kClosure:
    case ConstantKind::kPartial:
    case ConstantKind::kReadNumber:
    case ConstantKind::kNeededNumber:
      break;
  }
  return {number, fmt::format("{} Or use only a few values.", InputAdvice(framework))};
}

std::string OtherOps(const RecompileFigures& figures) {
  if (figures.cause.has_same_ops) return "the same ops read other tensors, or have another order";
  const std::vector<std::string>& ops = figures.values;
  if (!ops.empty() && (figures.cause.before.empty() || figures.cause.after.empty())) {
    return fmt::format(
        "only some of its graphs contain {}{}",
        fmt::join(ops.begin(), ops.begin() + std::min<ptrdiff_t>(ops.size(), 3), ", "),
        ops.size() > 3 ? ", ..." : "");
  }
  return fmt::format("its ops change ({})", ValuesText(figures.values));
}

// A number of Python's has a weak type, which follows the type of what it is combined with.
ChangeWords OfWeakType(const RecompileFigures& figures) {
  const RecompileCause& cause = figures.cause;
  const std::string input =
      cause.node == "parameter" || cause.Name() == "input " ? "an input" : cause.Name();
  return {
      fmt::format("{} has a weak type in some calls and not in others ({})", input,
                  ValuesText(figures.values)),
      "A Python number, and what is computed from Python numbers alone, has a weak type. Give the first value its type where it is made: jnp.asarray(value, dtype=...), or jnp.zeros(shape, dtype)."};
}

std::string OtherSetting(const RecompileFigures& figures) {
  const std::string& setting = figures.cause.node;
  const std::string values = ValuesText(figures.values);
  if (setting.empty() && values.empty()) return "the same graph is compiled under another setting";
  return fmt::format("the same graph is compiled under another setting ({}{}{})", setting,
                     setting.empty() || values.empty() ? "" : ": ", values);
}

// Returns the first of the inputs that only some programs have.
std::string InputsText(std::vector<std::string> inputs) {
  constexpr size_t kShown = 4;
  if (inputs.size() > kShown) inputs.resize(kShown);
  return ListText(inputs);
}

std::string OtherStructure(const RecompileFigures& figures) {
  const RecompileCause& cause = figures.cause;
  if (cause.node.empty() && !cause.before.empty())
    return fmt::format("it is called with other arguments ({})", ValuesText(figures.values));
  return fmt::format("the structure of its inputs changes{}{}", cause.node.empty() ? "" : " at ",
                     cause.node);
}

}  // namespace

std::string DimensionNames(const SizesSeen& sizes) {
  if (sizes.dimensions.size() > 1) {
    const std::span all(sizes.dimensions);
    return fmt::format("dimensions {} and {}", fmt::join(all.first(all.size() - 1), ", "),
                       all.back());
  }
  // The leading one of several is nearly always the batch.
  if (sizes.shape.rank() == 1) return "length";
  const int dimension = sizes.dimensions.front();
  return dimension == 0 ? "batch dimension" : fmt::format("dimension {}", dimension);
}

std::string ValuesText(const std::vector<std::string>& values) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    std::string value = values[i];
    const std::string key = KeyOf(values[0]);  // only the first value keeps its key
    if (i > 0 && value.starts_with(key)) value = value.substr(key.size());
    text += (i == 0 ? "" : " → ") + Short(std::move(value));
  }
  if (values.size() > kShown) text += " → ...";
  return text;
}

std::string_view IfSizesAreEquallyFrequent(const SizesSeen& sizes) {
  return sizes.times.empty() ? " if all sizes are equally frequent" : "";
}

// Returns the advice for a loop that is unrolled into the graph.
static std::string LoopAdvice(Framework framework) {
  constexpr InTermsOf kLoop{
      .jax = "keep the loop on the device (jax.lax.fori_loop)",
      .cpp = "cut the graph inside the loop (sync() in each iteration)",
      .otherwise =
          "cut the graph inside the loop (torch_xla.sync() in each iteration), or keep the loop on the device (torch_xla.experimental.scan)"};
  return fmt::format(
      "A {} loop is unrolled into the graph and runs a different number of times. Always run the largest number of iterations and mask ({}), or {}.",
      Language(framework), WhereCall(framework), kLoop.Of(framework));
}

// Returns the words of each reason: one row per type.
static ChangeWords SayCause(const RecompileFigures& figures, Framework framework) {
  const bool cpp = framework == Framework::kCpp;
  const RecompileCause& cause = figures.cause;
  const std::string values = ValuesText(figures.values);
  switch (cause.type) {
    case ReasonType::kShapeChange:
      return OfShapes(figures, framework);
    case ReasonType::kDtypeChange:
      if (cause.is_weak_type()) return OfWeakType(figures);
      return {fmt::format("the type of {} changes ({})",
                          cause.node == "parameter" ? "an input" : cause.Name(), values),
              "Convert this tensor to one type where it is made, before it reaches the device."};
    case ReasonType::kConstantChange:
      return OfConstant(figures, framework);
    case ReasonType::kOpChange:
      if (cause.has_same_ops) return {OtherOps(figures), std::string(kOtherParameters)};
      return {
          OtherOps(figures),
          fmt::format(
              "The {} code takes another path in these steps (if, try, logging, evaluation). Compute the same ops in every step and select with {}, or run both paths once at the start.",
              Language(framework), WhereCall(framework))};
    case ReasonType::kLoopCountChange:
      return {fmt::format("a part of the graph is repeated {}{}", values,
                          cause.node.empty() ? "" : fmt::format(" ({})", Short(cause.node))),
              LoopAdvice(framework)};
    case ReasonType::kLiveTensorsChange:
      return {
          fmt::format("the set of tensors that are alive at the cut changes ({})", values),
          fmt::format(
              "Tensors that are still referenced at the cut become results of the graph. Keep the same tensors in each step: detach and read statistics only at fixed steps, {} before the step mark.",
              cpp ? "and release tensors" : "and drop references (del)")};
    case ReasonType::kParameterSharingChange:
      return {
          fmt::format("the same graph is called with other shared inputs ({})", values),
          fmt::format(
              "Two inputs share one buffer in some steps and not in others. Mostly these are scalars that become equal (lr == eps). Keep each in a tensor of its own{}.",
              cpp ? " (Tensor::FromHost)"
              : framework == Framework::kJax
                  ? ""
                  : ", of one element: torch.tensor([value], device=x.device). Equal tensors without dimensions are shared, too")};
    case ReasonType::kDonationChange:
      return {
          fmt::format("the same graph, but other inputs are donated ({})", values),
          "The inputs that may be overwritten change. Update parameters in place in the same way in every step, and do not keep extra references to them in only some steps."};
    case ReasonType::kShardingChange:
      return {
          fmt::format("the sharding of {} changes ({})", cause.Name(), values),
          "Always put this input on the devices in the same way: jax.device_put with one sharding, or in_shardings of jax.jit."};
    case ReasonType::kCutKindChange:
      return {
          fmt::format("the same graph is cut in different ways ({})", values),
          "The same computation is cut once by a step mark and once by a read, and each is compiled separately. Cut it in one way: read values after the step mark."};
    case ReasonType::kEnvironmentChange:
      return {
          OtherSetting(figures),
          cause.seen_in == SeenIn::kJaxExplanation
              ? "Set jax.config values and enter context managers in the same way around each call."
              : "Set compiler flags and debug variables once, before the first step."};
    case ReasonType::kRedefinedFunction:
      if (std::holds_alternative<note::OtherLoopBody>(cause.note)) {
        return {
            "each call has another body function",
            "Put the code around this loop into a function that is jitted once, or define the body once, outside of the code that repeats. A new lambda or inner function at each call compiles the loop again."};
      }
      return {
          "each call passes another function object",
          "Define and jit the function once, outside the loop. A new lambda, inner function, functools.partial or jax.jit(...) at each call is a new key in the cache. Pass the values that it captures as arguments."};
    case ReasonType::kInputStructureChange:
      if (!cause.of_class.empty()) {
        return {
            fmt::format("a static field of {}{}{} changes ({})", cause.of_class,
                        cause.node.empty() ? "" : " in ", cause.node, values),
            "A static field of a class is part of the key, so each of its values makes another program. Make the field an array: a data field (without static=True, aux_data or meta_fields) that holds jnp.asarray(value)."};
      }
      if (std::holds_alternative<note::OtherInputs>(cause.note)) {
        return {
            fmt::format("only some of its programs have inputs such as {}",
                        InputsText(figures.values)),
            "If some calls lack these keys or arguments, pass a placeholder of the same shape instead. If Python code uses them only sometimes (if, a static argument), use them in every call and select with jnp.where."};
      }
      return {
          OtherStructure(figures),
          "Pass the same containers, keys and keyword arguments in every call. An argument that is None in some calls needs a placeholder of the same shape."};
    case ReasonType::kCacheEviction:
      if (std::holds_alternative<note::CachesCleared>(cause.note)) {
        return {
            "JAX's caches were cleared since it was compiled",
            "Do not clear the caches between calls that need the same programs: remove jax.clear_caches() and f.clear_cache(), or call them only after the last use. Every function compiles again after them."};
      }
      return {
          "a graph that was compiled before is no longer cached",
          "Make fewer different graphs (see the other recompilations), or raise XLA_COMPILATION_CACHE_SIZE."};
    case ReasonType::kUnprintedChange:
      // Optimised HLO prints all numbers.
      if (cause.seen_in == SeenIn::kOptimizedHlo) {
        return {"the programs are equal, but the graphs that they come from differ",
                std::string(kOtherParameters), Unseen{"the graphs", RecordingKind::kGraphs}};
      }
      return {
          "the graphs print alike but differ",
          framework == Framework::kTorchtpu
              ? "Options of the compiler or memory layouts may differ. The key in the log shows which part differs: run with TF_CPP_VMODULE=compilation_cache=2."
          : cpp
              ? "Run again with XLA_SAVE_TENSORS_FMT=hlo in addition to XLA_SAVE_TENSORS_FILE, or record a profile that covers these compiles, because both print slice bounds and constants. Look first for C++ numbers used as index or bound."
              : "Run again with XLA_SAVE_TENSORS_FMT=hlo in addition to XLA_SAVE_TENSORS_FILE, or record a profile that covers these compiles, because both print slice bounds and constants. Look first for Python numbers used as index or bound, and for numbers that become equal, which torch_xla passes as one input."};
    case ReasonType::kNoStepMark:
      return {"its graph grows because no step is marked",
              "See missing_step_mark: where each step is marked, its graph is compiled once."};
    default:  // unknown; other kinds of findings have the other reasons
      break;
  }
  const bool is_jax = figures.site.cut == CutKind::kCall || figures.site.cut == CutKind::kOperation;
  constexpr const char* kNothing = "nothing that was captured shows why";
  if (is_jax && figures.site.explained)
    return {kNothing,
            "JAX does not explain this compilation. A profile that covers it shows more."};
  return {kNothing, "", Unseen{"why", is_jax ? RecordingKind::kLog : RecordingKind::kGraphs}};
}

// Returns whether the op, its number or the inputs of ops differ, which is decided where the ops are
// recorded.
static bool RecordsOtherOps(const RecompileCause& cause) {
  return cause.type == ReasonType::kOpChange || cause.type == ReasonType::kLoopCountChange ||
         cause.type == ReasonType::kInputStructureChange;
}

// Returns the words for a program that takes more inputs each time.
static ChangeWords SayGrowth(const note::GrowingInputs& growing, Framework framework) {
  return {
      .what =
          growing.last > 0
              ? fmt::format("it takes more inputs each time ({} → {})", growing.first, growing.last)
              : fmt::format("it takes {} each time",
                            growing.more == 1 ? "one more input"
                                              : fmt::format("{} more inputs", growing.more)),
      .advice =
          framework == Framework::kJax
              ? "A list, tuple or dict among the arguments grows, and each array in it is an input of the program. Make one array of the largest size before the loop, write into it with x.at[i].set(value), and pass the number of valid rows."
              : "A list or dict of tensors grows here, and each tensor in it is an input of the graph. Keep a running value in one tensor, such as a sum, or write into one tensor of fixed size."};
}

ChangeWords SayChange(const RecompileFigures& figures, Framework framework) {
  ChangeWords words;
  if (const auto* growing = std::get_if<note::GrowingInputs>(&figures.cause.note))
    words = SayGrowth(*growing, framework);
  else if (figures.cause.seen_in == SeenIn::kGuard)
    words = SayGuard(figures);
  else
    words = SayCause(figures, framework);
  if (RecordsOtherOps(figures.cause) && figures.cause.library.basename() == "lbfgs.py")
    words.advice =
        "torch.optim.LBFGS records other ops in each iteration: it keeps a history that grows, and reads values to decide what to do. Use an optimizer that records the same ops in each step, such as Adam or SGD, or run L-BFGS on the CPU.";
  const RecompileCause& cause = figures.cause;
  if (cause.seen_in == SeenIn::kOptimizedHlo && cause.location.empty() && !cause.is_input &&
      !cause.node.empty())
    words.unseen = Unseen{"the line of the op", RecordingKind::kGraphs};
  if (figures.mask) words.advice = MaskAdvice(*figures.mask, framework);
  if (const SourcePlace& read = figures.cause.size_read; !read.empty())
    words.advice = SizeReadAdvice(read, figures.cause.is_made_of_read, framework);
  return words;
}

}  // namespace xlaprof
