#include "analyzers/evidence/jax_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace xlaprof {
namespace {

// The names of JAX's primitives that hold no program of their own (no loops, branches or calls) and
// of the few functions of jax.numpy and jax.random that make arrays. Short words that people call
// functions by, such as sort, dot or add, are left out.
constexpr std::string_view kOperations[] = {"add_any",
                                            "argmax",
                                            "argmin",
                                            "atan2",
                                            "bitcast_convert_type",
                                            "broadcast",
                                            "broadcast_in_dim",
                                            "broadcast_one_to_any",
                                            "broadcasted_iota",
                                            "cbrt",
                                            "clamp",
                                            "concatenate",
                                            "conv_general_dilated",
                                            "convert_element_type",
                                            "copy",
                                            "cumlogsumexp",
                                            "cummax",
                                            "cummin",
                                            "cumprod",
                                            "cumsum",
                                            "device_put",
                                            "dot_general",
                                            "dynamic_slice",
                                            "dynamic_update_slice",
                                            "erf_inv",
                                            "expand_dims",
                                            "expm1",
                                            "fft",
                                            "fill",
                                            "full",
                                            "full_like",
                                            "gather",
                                            "imag",
                                            "integer_pow",
                                            "iota",
                                            "is_finite",
                                            "log1p",
                                            "logistic",
                                            "multi_slice",
                                            "nextafter",
                                            "ones",
                                            "ones_like",
                                            "pad",
                                            "population_count",
                                            "random_bits",
                                            "random_fold_in",
                                            "random_seed",
                                            "random_split",
                                            "random_unwrap",
                                            "random_wrap",
                                            "real",
                                            "reduce_and",
                                            "reduce_max",
                                            "reduce_min",
                                            "reduce_or",
                                            "reduce_precision",
                                            "reduce_prod",
                                            "reduce_sum",
                                            "reduce_window",
                                            "reduce_window_max",
                                            "reduce_window_sum",
                                            "reshape",
                                            "rng_bit_generator",
                                            "rng_uniform",
                                            "round",
                                            "rsqrt",
                                            "scatter",
                                            "scatter_add",
                                            "select",
                                            "select_and_scatter_add",
                                            "select_n",
                                            "shift_left",
                                            "shift_right_arithmetic",
                                            "shift_right_logical",
                                            "sign",
                                            "slice",
                                            "split",
                                            "squeeze",
                                            "threefry2x32",
                                            "threefry_fold_in",
                                            "threefry_random_bits",
                                            "threefry_seed",
                                            "threefry_split",
                                            "top_k",
                                            "transpose",
                                            "triangular_solve",
                                            "unstack",
                                            "where",
                                            "zeros",
                                            "zeros_like"};

// Of jax.numpy, jax.lax and jax.nn; of their helpers the leading _ is dropped.
constexpr std::string_view kShortOperations[] = {"abs",
                                                 "add",
                                                 "all",
                                                 "allclose",
                                                 "and",
                                                 "any",
                                                 "arange",
                                                 "argsort",
                                                 "astype",
                                                 "bernoulli",
                                                 "bitwise_and",
                                                 "bitwise_or",
                                                 "ceil",
                                                 "cholesky",
                                                 "choice",
                                                 "clip",
                                                 "cond",
                                                 "cos",
                                                 "diag",
                                                 "diff",
                                                 "div",
                                                 "divide",
                                                 "dot",
                                                 "einsum",
                                                 "eq",
                                                 "equal",
                                                 "exp",
                                                 "eye",
                                                 "flip",
                                                 "floor",
                                                 "floor_divide",
                                                 "ge",
                                                 "greater",
                                                 "greater_equal",
                                                 "gt",
                                                 "inv",
                                                 "isclose",
                                                 "isfinite",
                                                 "isinf",
                                                 "isnan",
                                                 "le",
                                                 "less",
                                                 "less_equal",
                                                 "linspace",
                                                 "log",
                                                 "log_softmax",
                                                 "logsumexp",
                                                 "lt",
                                                 "matmul",
                                                 "max",
                                                 "maximum",
                                                 "mean",
                                                 "median",
                                                 "min",
                                                 "minimum",
                                                 "mod",
                                                 "moveaxis",
                                                 "mul",
                                                 "multiply",
                                                 "ne",
                                                 "neg",
                                                 "negative",
                                                 "norm",
                                                 "normal",
                                                 "normal_real",
                                                 "not",
                                                 "not_equal",
                                                 "one_hot",
                                                 "or",
                                                 "outer",
                                                 "permutation",
                                                 "pow",
                                                 "power",
                                                 "prod",
                                                 "randint",
                                                 "relu",
                                                 "rem",
                                                 "remainder",
                                                 "roll",
                                                 "scan",
                                                 "searchsorted",
                                                 "shuffle",
                                                 "sigmoid",
                                                 "sin",
                                                 "softmax",
                                                 "softplus",
                                                 "solve",
                                                 "sort",
                                                 "sqrt",
                                                 "square",
                                                 "stack",
                                                 "std",
                                                 "sub",
                                                 "subtract",
                                                 "sum",
                                                 "swapaxes",
                                                 "take",
                                                 "tan",
                                                 "tanh",
                                                 "tile",
                                                 "trace",
                                                 "tril",
                                                 "triu",
                                                 "true_divide",
                                                 "truncated_normal",
                                                 "uniform",
                                                 "var",
                                                 "while",
                                                 "xor"};

std::string_view WithoutPrefix(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view();
}

std::string_view NameOf(std::string_view program) {
  for (std::string_view wrapper : {"jit(", "jit_", "prim::"}) {
    if (std::string_view of = WithoutPrefix(program, wrapper); !of.empty()) {
      program = of.substr(0, of.find(')'));
      break;
    }
  }
  program.remove_prefix(std::min(program.find_first_not_of('_'), program.size()));
  return program;
}

}  // namespace

std::string JaxOperationOf(std::string_view program) {
  // Compiled from a primitive itself, whichever it is.
  if (std::string_view of = WithoutPrefix(program, "primitive_computation_"); !of.empty())
    return std::string(of);
  const std::string_view name = NameOf(program);
  const bool known =
      std::find(std::begin(kOperations), std::end(kOperations), name) != std::end(kOperations);
  return known ? std::string(name) : "";
}

bool IsShortJaxOperation(std::string_view program) {
  return std::ranges::find(kShortOperations, NameOf(program)) != std::end(kShortOperations);
}

std::string OneOperationText(std::string_view operation) {
  return fmt::format(
      "Its name is that of one operation of JAX, {}: then its size is not the cause, and whatever "
      "had been compiled first would have waited as long.",
      operation);
}

}  // namespace xlaprof
