// The words about checks of torch.compile's that failed, so that a function was compiled again.
#include <fmt/format.h>

#include "analyzers/quantity.h"
#include "analyzers/words/recompile_change.h"
#include "base/numbers.h"

namespace xlaprof {
namespace {

// Returns "input x f32[64,32]", as far as it is known.
std::string InputText(const RecompileFigures& figures) {
  const std::string& name = figures.cause.input;
  std::string text = name.empty() ? "an input" : "input " + name;
  if (figures.sizes) text += " " + figures.sizes->shape.text();
  return text;
}

// Returns the values that the change had, " (0 → 1 → 2)". Python prints all digits of a number.
std::string Change(const RecompileFigures& figures) {
  std::vector<std::string> values = figures.values;
  if (values.empty()) return "";
  for (std::string& value : values) {
    constexpr size_t kMostDigits = 8;
    std::string_view text = value;
    const std::optional<double> number = TakeReal(&text);
    if (value.size() > kMostDigits && number && text.empty())
      value = fmt::format("{:.6g}", *number);
  }
  return fmt::format(" ({})", ValuesText(values));
}

// Returns the name of a value that a guard compares.
std::string ValueText(const RecompileCause& cause) {
  if (cause.constant == ConstantKind::kReadNumber) return "a number that was read from a tensor";
  return cause.node.empty() ? "a value" : cause.node;
}

// Returns how to let one program serve all sizes.
std::string DynamicAdvice(const RecompileFigures& figures) {
  const std::optional<SizesSeen>& sizes = figures.sizes;
  const std::string& name = figures.cause.input;
  const bool is_name = !name.empty() && name.find_first_of(".[(_") == name.npos;
  std::string mark = "torch._dynamo.mark_dynamic(tensor, dimension)";
  if (sizes && sizes->dimensions.size() == 1)
    mark = fmt::format("torch._dynamo.mark_dynamic({}, {})", is_name ? name : "tensor",
                       sizes->dimensions.front());
  else if (is_name)
    mark = fmt::format("torch._dynamo.mark_dynamic({}, dimension)", name);
  return fmt::format(
      "Let one program serve all sizes: call {} before the first call. If the backend compiles each size by itself, pad this input to a few sizes.",
      mark);
}

// Returns the sizes of one dimension, if nothing else is known of the shapes; else nothing.
std::vector<Sizes> SizesOfOneDimension(const std::vector<std::string>& values) {
  std::vector<Sizes> sizes;
  for (const std::string& value : values) {
    const OptInt size = ParseCount(value);
    if (!size) return {};
    sizes.push_back({*size});
  }
  return sizes;
}

ChangeWords OfShape(const RecompileFigures& figures) {
  const RecompileCause& cause = figures.cause;
  // A program with dynamic sizes checks their range: "2 <= x.size()[0] <= 4096".
  if (cause.after.empty() && cause.before.find("<=") != cause.before.npos) {
    return {
        fmt::format("the size of {} left the range of its program ({})", InputText(figures),
                    cause.before),
        "Sizes 0 and 1, and those on the other side of an `if` on the size, have programs of their own. If it is a size of 0 or 1, use torch._dynamo.decorators.mark_unbacked(tensor, dimension), or avoid such batches (drop_last=True)."};
  }
  const std::optional<SizesSeen>& sizes = figures.sizes;
  if (!sizes || sizes->sizes.empty()) {
    const std::vector<Sizes> of_one = SizesOfOneDimension(figures.values);
    return {of_one.empty()
                ? fmt::format("the shape of {} changes{}", InputText(figures), Change(figures))
                : fmt::format("a dimension of {} changes ({})", InputText(figures), SizeList(of_one)),
            DynamicAdvice(figures)};
  }
  return {fmt::format("{} of {} change{} ({})", DimensionNames(*sizes), InputText(figures),
                      sizes->dimensions.size() == 1 ? "s" : "", SizeList(sizes->sizes)),
          DynamicAdvice(figures)};
}

// Returns the remedy for a value that is part of the program.
std::string_view ValueAdvice(const RecompileCause& cause) {
  const ConstantKind kind = cause.constant;
  if (cause.compares_text())
    return "A text that the function reads is part of the program, so each one needs a program of its own. Use few of them, or choose what the text selects before the call.";
  switch (kind) {
    case ConstantKind::kModuleAttribute:
      return "A number that is an attribute of a module is part of the program. Keep it in a tensor (register_buffer), take it out of forward, or set torch._dynamo.config.allow_unspec_int_on_nn_module = True.";
    case ConstantKind::kTrainingMode:
      return "train() and eval() need a program each. If that is all, two compilations are normal; call them less often if it goes on.";
    case ConstantKind::kGlobal:
      return "A global variable that the function reads is part of the program. Pass it as an argument that is a tensor.";
    case ConstantKind::kClosure:
      return "A variable that the function captures is part of the program. Pass it as an argument that is a tensor, and define the function once, outside of the loop.";
    case ConstantKind::kPartial:
      return "An argument that functools.partial sets is part of the program. Pass it as a tensor in the call, and make the partial once.";
    case ConstantKind::kReadNumber:
      return "A number that is read from a tensor (.item(), float(tensor)) breaks the graph and then is part of the next program. Keep it a tensor, or set torch._dynamo.config.capture_scalar_outputs = True.";
    case ConstantKind::kNeededNumber:
      return "torch.compile passes this number as a tensor, but an op or a branch needs its value, as torch.nn.functional.dropout does with p, so each value needs a program of its own. Use few values, or compute with ops that take a tensor: x * (torch.rand_like(x) >= p) / (1 - p) is a dropout.";
    default:
      break;
  }
  return "A Python value that the function reads is part of the program. Pass a number as a tensor: torch.tensor(value). If the code branches or loops on it, each value needs a program of its own, so use few values.";
}

std::string_view StateAdvice(std::string_view state) {
  if (state.starts_with("grad_mode"))
    return "Calls with gradients and calls under torch.no_grad() need a program each. If that is all, two compilations are normal. Otherwise call the function in one mode.";
  if (state.starts_with("autocast"))
    return "Calls inside and outside of torch.autocast need a program each. Enter autocast in the same way around each call.";
  return "Set the state of PyTorch once, before the first call.";
}

}  // namespace

ChangeWords SayGuard(const RecompileFigures& figures) {
  const RecompileCause& cause = figures.cause;
  const std::string change = Change(figures);
  switch (cause.type) {
    case ReasonType::kShapeChange:
      return OfShape(figures);
    case ReasonType::kDtypeChange:
      return {fmt::format("the type of {} changes{}", InputText(figures), change),
              "Convert this input to one dtype before the call."};
    case ReasonType::kLayoutChange:
      return {
          fmt::format("the strides of {} change{}", InputText(figures), change),
          "Pass this input in one memory layout: call .contiguous() (or .to(memory_format=...)) before the call."};
    case ReasonType::kGradientChange:
      return {
          fmt::format("{} needs a gradient in some calls only{}", InputText(figures), change),
          "Pass this input in the same way in each call: with .detach(), or with requires_grad_()."};
    case ReasonType::kDeviceChange:
      return {fmt::format("the device of {} changes", InputText(figures)),
              "Move this input to one device before the call."};
    case ReasonType::kConstantChange:
      return {fmt::format("{} changes{}", ValueText(cause), change),
              std::string(ValueAdvice(cause))};
    case ReasonType::kEnvironmentChange:
      return {fmt::format("PyTorch's state changes ({})", cause.node),
              std::string(StateAdvice(cause.node))};
    case ReasonType::kInputStructureChange:
      return {
          fmt::format("{} changes{}", cause.node.empty() ? "an argument" : cause.node, change),
          "Pass the same containers, with as many elements, and values of the same types in each call. Stack a list that grows into one tensor."};
    case ReasonType::kRedefinedFunction:
      return {
          "each call passes another function object",
          "Define the function, the lambda or the functools.partial once, outside of the loop, and pass what it captures as arguments."};
    case ReasonType::kParameterSharingChange:
      return {
          fmt::format("arguments that were one tensor are two, or the reverse ({})", cause.node),
          "Pass different tensors in each call: copy one of them with .clone()."};
    default:
      break;
  }
  return {"a check of its earlier programs failed",
          "Keep what the reason names the same in each call, or pass it as a tensor."};
}

}  // namespace xlaprof
