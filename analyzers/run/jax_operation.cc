#include "analyzers/run/jax_operation.h"

#include <algorithm>
#include <iterator>

namespace xlaprof {
namespace {

// The names of JAX's primitives without a program of their own (no loops, branches or calls), and
// of the few functions of jax.numpy and jax.random that make arrays. Short words that users also
// give to functions, such as sort, dot or add, are left out.
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
                                            "identity_fn",
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

// Primitives whose programs hold functions of the user's: their bodies or branches.
constexpr std::string_view kLoops[] = {"cond", "scan", "while"};

// Names from jax.numpy, jax.scipy, jax.lax and jax.nn. The leading _ of helpers is dropped.
constexpr std::string_view kShortOperations[] = {"abs",
                                                 "add",
                                                 "all",
                                                 "allclose",
                                                 "and",
                                                 "any",
                                                 "arange",
                                                 "argsort",
                                                 "argwhere",
                                                 "astype",
                                                 "bernoulli",
                                                 "bincount",
                                                 "bitwise_and",
                                                 "bitwise_not",
                                                 "bitwise_or",
                                                 "bitwise_xor",
                                                 "broadcast_arrays",
                                                 "broadcast_to",
                                                 "ceil",
                                                 "choice",
                                                 "cholesky",
                                                 "clip",
                                                 "conj",
                                                 "conjugate",
                                                 "cos",
                                                 "cosh",
                                                 "count_nonzero",
                                                 "cov",
                                                 "diag",
                                                 "diff",
                                                 "digamma",
                                                 "div",
                                                 "divide",
                                                 "dot",
                                                 "eigh",
                                                 "eigvals",
                                                 "eigvalsh",
                                                 "einsum",
                                                 "eq",
                                                 "equal",
                                                 "erf",
                                                 "erfc",
                                                 "exp",
                                                 "eye",
                                                 "flip",
                                                 "floor",
                                                 "floor_divide",
                                                 "gammaln",
                                                 "ge",
                                                 "greater",
                                                 "greater_equal",
                                                 "gt",
                                                 "hstack",
                                                 "hypot",
                                                 "interp",
                                                 "inv",
                                                 "irfft",
                                                 "isclose",
                                                 "isfinite",
                                                 "isinf",
                                                 "isnan",
                                                 "kron",
                                                 "le",
                                                 "less",
                                                 "less_equal",
                                                 "lgamma",
                                                 "linspace",
                                                 "log",
                                                 "log_softmax",
                                                 "logaddexp",
                                                 "logical_and",
                                                 "logical_not",
                                                 "logical_or",
                                                 "logical_xor",
                                                 "logsumexp",
                                                 "lt",
                                                 "lu",
                                                 "matmul",
                                                 "max",
                                                 "maximum",
                                                 "mean",
                                                 "median",
                                                 "meshgrid",
                                                 "min",
                                                 "minimum",
                                                 "mod",
                                                 "moveaxis",
                                                 "mul",
                                                 "multiply",
                                                 "nan_to_num",
                                                 "ne",
                                                 "neg",
                                                 "negative",
                                                 "nonzero",
                                                 "norm",
                                                 "normal",
                                                 "normal_real",
                                                 "not",
                                                 "not_equal",
                                                 "one_hot",
                                                 "or",
                                                 "outer",
                                                 "percentile",
                                                 "permutation",
                                                 "pow",
                                                 "power",
                                                 "prod",
                                                 "psum",
                                                 "qr",
                                                 "quantile",
                                                 "randint",
                                                 "ravel",
                                                 "relu",
                                                 "rem",
                                                 "remainder",
                                                 "rfft",
                                                 "rint",
                                                 "roll",
                                                 "searchsorted",
                                                 "shuffle",
                                                 "sigmoid",
                                                 "sin",
                                                 "sinc",
                                                 "sinh",
                                                 "softmax",
                                                 "softplus",
                                                 "solve",
                                                 "solve_triangular",
                                                 "sort",
                                                 "sqrt",
                                                 "square",
                                                 "stack",
                                                 "std",
                                                 "sub",
                                                 "subtract",
                                                 "sum",
                                                 "svd",
                                                 "swapaxes",
                                                 "take",
                                                 "take_along_axis",
                                                 "tan",
                                                 "tanh",
                                                 "tensordot",
                                                 "tile",
                                                 "trace",
                                                 "trapezoid",
                                                 "tril",
                                                 "triu",
                                                 "triu_indices",
                                                 "true_divide",
                                                 "truncated_normal",
                                                 "uniform",
                                                 "unique",
                                                 "var",
                                                 "vdot",
                                                 "vstack",
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
  // With this prefix the program was compiled from a primitive, whichever it is.
  if (std::string_view of = WithoutPrefix(program, "primitive_computation_"); !of.empty())
    return std::string(of);
  const std::string_view name = NameOf(program);
  const bool known =
      std::find(std::begin(kOperations), std::end(kOperations), name) != std::end(kOperations);
  return known ? std::string(name) : "";
}

bool IsJaxLoop(std::string_view program) {
  return std::ranges::find(kLoops, NameOf(program)) != std::end(kLoops);
}

bool IsJaxResharding(std::string_view program) { return NameOf(program) == "identity_fn"; }

bool IsShortJaxOperation(std::string_view program) {
  return std::ranges::find(kShortOperations, NameOf(program)) != std::end(kShortOperations);
}

absl::StatusOr<JaxCalls> JaxCalls::Of(const Run& run) {
  JaxCalls calls;
  XP_TRY(calls.names,
         run.store().Collect("SELECT text FROM string WHERE text LIKE 'PjitFunction(%' LIMIT 4",
                             [](std::string text) { return text; }));
  return calls;
}

}  // namespace xlaprof
