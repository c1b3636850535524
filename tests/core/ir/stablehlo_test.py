"""stablehlo_test.py BUILD checks that XLA computes from our StableHLO and HLO texts what NumPy computes for the operation.

The Python of `scripts/env jax` runs it. BUILD/tests/stablehlo_cases writes the programs, one operation each; their expected
results are computed here a second time, in float64. scripts/test --all calls it."""
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

import jax
import ml_dtypes
import numpy as np
from jax._src import xla_bridge
from jax._src.lib import _jax, hlo, xla_client

# They are in the order of DType (core/ir/dtype.h).
TYPES = {"bool": np.bool_, "uint8": np.uint8, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
         "bfloat16": ml_dtypes.bfloat16, "float16": np.float16, "float32": np.float32, "float64": np.float64}
NAMES = list(TYPES)
# Tolerances are relative to the largest expected value. XLA sums in another order, and multiplies 16-bit types in 32
# bits.
TOLERANCE = {"bfloat16": 2e-2, "float16": 3e-3, "float32": 2e-6, "float64": 1e-13}


def is_float(name):
    return "float" in name


def real(attribute):
    return struct.unpack("<d", struct.pack("<q", attribute))[0]


# Inputs have both signs and few distinct values, so that some are equal; they are positive if the operation needs that.

def make_input(rng, case, place, name, sizes):
    op = case["op"].split("::")[1]
    dtype = TYPES[name]
    if op == "uniform":
        return np.array(-1234567890123, dtype)
    if op in ("index_select", "gather", "scatter", "scatter_add", "index_copy", "index_add") and place == 1:
        return rng.integers(-2, 9, sizes).astype(dtype)  # some are out of range
    if name == "bool":
        return rng.integers(0, 2, sizes).astype(dtype)
    if not is_float(name):
        low = 0 if op == "pow" else -4
        return rng.integers(low, 5, sizes).astype(dtype)
    values = rng.integers(-12, 13, sizes) / 4
    if op == "cast":
        values[:6] = [np.inf, -np.inf, np.nan, 0.9, -0.9, 3e9 if name in ("float32", "float64", "bfloat16") else 6e4]
    elif op in ("log", "sqrt", "rsqrt", "pow", "prod"):
        values = np.abs(values) + 0.25
    elif "batch_norm" in op and place == 4:  # a variance
        values = np.abs(values) + 0.25
    elif op == "log1p":
        values = np.abs(values) - 0.75
    elif op in ("amax", "amin", "argmax", "maximum", "relu"):
        values.flat[:1] = np.nan
    elif op == "sum" and list(sizes) == [4000]:
        values = np.full(sizes, 1.0)
    return values.astype(dtype)


def positions(out, stride, padding):
    """Returns each element of the result with the first place of its window in the input, which is padded with `padding`."""
    return [(y, x, y * stride[0] - padding[0], x * stride[1] - padding[1]) for y in range(out[0]) for x in range(out[1])]


def convolution_links(attributes, height_width, kernel, out):
    """Yields (y, x) of the result, (i, j) of the kernel and (v, u) of the input for each product."""
    for y, x, top, left in positions(out, attributes[0:2], attributes[2:4]):
        for i in range(kernel[0]):
            for j in range(kernel[1]):
                v, u = top + i * attributes[4], left + j * attributes[5]
                if 0 <= v < height_width[0] and 0 <= u < height_width[1]:
                    yield y, x, i, j, v, u


def group_slices(a, channels, results):
    """Returns the channels of the input and of the result of each group."""
    groups = a[6]
    return [(slice(channels // groups * g, channels // groups * (g + 1)), slice(results // groups * g, results // groups * (g + 1)))
            for g in range(groups)]


def convolution(a, result, input_, weight):
    out = np.zeros(result)
    for c, o in group_slices(a, input_.shape[1], result[1]):
        for y, x, i, j, v, u in convolution_links(a, input_.shape[2:], weight.shape[2:], result[2:]):
            out[:, o, y, x] += input_[:, c, v, u] @ weight[o, :, i, j].T
    return out


def convolution_backward_input(a, result, weight, gradient):
    out = np.zeros(result)
    for c, o in group_slices(a, result[1], gradient.shape[1]):
        for y, x, i, j, v, u in convolution_links(a, result[2:], weight.shape[2:], gradient.shape[2:]):
            out[:, c, v, u] += gradient[:, o, y, x] @ weight[o, :, i, j]
    return out


def convolution_backward_weight(a, result, input_, gradient):
    out = np.zeros(result)
    for c, o in group_slices(a, input_.shape[1], gradient.shape[1]):
        for y, x, i, j, v, u in convolution_links(a, input_.shape[2:], result[2:], gradient.shape[2:]):
            out[o, :, i, j] += gradient[:, o, y, x].T @ input_[:, c, v, u]
    return out


def windows(a, input_shape, out):
    for y, x, top, left in positions(out, a[2:4], a[4:6]):
        yield y, x, slice(max(top, 0), min(top + a[0], input_shape[2])), slice(max(left, 0), min(left + a[1], input_shape[3]))


def max_pool2d(a, result, input_):
    out = np.zeros(result)
    for y, x, rows, columns in windows(a, input_.shape, result[2:]):
        out[:, :, y, x] = input_[:, :, rows, columns].max(axis=(2, 3))
    return out


def avg_pool2d(a, result, input_):
    out = np.zeros(result)
    for y, x, rows, columns in windows(a, input_.shape, result[2:]):
        out[:, :, y, x] = input_[:, :, rows, columns].sum(axis=(2, 3)) / (a[0] * a[1])
    return out


def max_pool2d_backward(a, result, gradient, input_):
    out = np.zeros(result)
    for y, x, rows, columns in windows(a, result, gradient.shape[2:]):
        for n in range(result[0]):
            for c in range(result[1]):
                part = input_[n, c, rows, columns]
                i, j = np.unravel_index(part.argmax(), part.shape)  # the first of several equal ones
                out[n, c, rows.start + i, columns.start + j] += gradient[n, c, y, x]
    return out


def avg_pool2d_backward(a, result, gradient, input_):
    out = np.zeros(result)
    for y, x, rows, columns in windows(a, result, gradient.shape[2:]):
        out[:, :, rows, columns] += gradient[:, :, y, x, None, None] / (a[0] * a[1])
    return out


def channels(values, like):
    """Reshapes one number per channel, so that it broadcasts to that channel's elements."""
    return values.reshape([-1] + [1] * (like.ndim - 2))


def normal(eps, x, mean, variance):
    return (x - channels(mean, x)) / np.sqrt(channels(variance, x) + eps)


def others(x):
    return tuple(i for i in range(x.ndim) if i != 1)


def native_batch_norm(a, result, x, weight, bias):
    mean, variance = x.mean(axis=others(x)), x.var(axis=others(x))
    return (normal(real(a[0]), x, mean, variance) * channels(weight, x) + channels(bias, x), mean, variance)[a[1]]


def batch_norm_inference(a, result, x, weight, bias, mean, variance):
    return normal(real(a[0]), x, mean, variance) * channels(weight, x) + channels(bias, x)


def native_batch_norm_backward(a, result, gradient, x, weight, mean, variance):
    n = normal(real(a[0]), x, mean, variance)
    along, total = (gradient * n).sum(axis=others(x)), gradient.sum(axis=others(x))
    mid = gradient - (channels(total, x) + n * channels(along, x)) * len(total) / x.size
    return (mid * channels(weight / np.sqrt(variance + real(a[0])), x), along, total)[a[1]]


def index_at(index, dim):
    """Returns the place of each element of `index`, with the element itself as the coordinate in `dim`."""
    places = list(np.indices(index.shape))
    places[dim] = index
    return tuple(places)


def scatter_add(a, result, into, index, from_):
    out = into.copy()
    index = np.clip(index, 0, into.shape[a[0]] - 1)
    np.add.at(out, index_at(index, a[0]), from_[tuple(slice(n) for n in index.shape)])
    return out


def index_add(a, result, into, index, from_):
    out = into.copy()
    where = [slice(None)] * into.ndim
    where[a[0]] = np.clip(index, 0, into.shape[a[0]] - 1)
    np.add.at(out, tuple(where), from_)
    return out


def scatter(a, result, into, index, from_):
    out = into.copy()
    out[index_at(np.clip(index, 0, into.shape[a[0]] - 1), a[0])] = from_[tuple(slice(n) for n in index.shape)]
    return out


def index_copy(a, result, into, index, from_):
    out = into.copy()
    where = [slice(None)] * into.ndim
    where[a[0]] = np.clip(index, 0, into.shape[a[0]] - 1)
    out[tuple(where)] = from_
    return out


def slice_scatter(a, result, into, from_):
    out = into.copy()
    where = [slice(None)] * into.ndim
    where[a[0]] = slice(a[1], a[2], a[3])
    out[tuple(where)] = from_
    return out


def slice_(a, result, from_):
    where = [slice(None)] * from_.ndim
    where[a[0]] = slice(a[1], a[2], a[3])
    return from_[tuple(where)]


def pad(a, result, from_):
    widths = list(zip(a[1::2], a[2::2]))
    grown = np.pad(from_, [(max(low, 0), max(high, 0)) for low, high in widths], constant_values=real(a[0]))
    return grown[tuple(slice(max(-low, 0), size - max(-high, 0)) for (low, high), size in zip(widths, grown.shape))]


def threefry(key, counter):
    """Computes Random123's threefry with 20 rounds."""
    mask = 0xFFFFFFFF
    x0, x1 = counter
    keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA]
    x0, x1 = (x0 + keys[0]) & mask, (x1 + keys[1]) & mask
    for block in range(5):
        for by in [(13, 15, 26, 6), (17, 29, 16, 24)][block % 2]:
            x0 = (x0 + x1) & mask
            x1 = ((x1 << by | x1 >> (32 - by)) & mask) ^ x0
        x0, x1 = (x0 + keys[(block + 1) % 3]) & mask, (x1 + keys[(block + 2) % 3] + block + 1) & mask
    return x0, x1


# These are the known answers of the algorithm's authors.
assert threefry((0, 0), (0, 0)) == (0x6B200159, 0x99BA4EFE)
assert threefry((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3)) == (0xC4923A9C, 0x483DF7A0)


def of_one_rank(a, result, x):
    return x


def uniform(a, result, seed):
    key = (int(seed) >> 32 & 0xFFFFFFFF, int(seed) & 0xFFFFFFFF)
    words = [threefry(key, (i >> 32, i & 0xFFFFFFFF))[0] for i in range(math.prod(result))]
    return np.array([(word >> 8) * 2.0 ** -24 for word in words]).reshape(result)


def divide(a, result, x, y):
    if x.dtype.kind == "f":
        return x / y
    out = np.full(result, -1)
    np.floor_divide(abs(x), abs(y), out=out, where=y != 0)
    return np.where(y != 0, out * np.sign(x) * np.sign(y), -1)


def remainder(a, result, x, y):
    if x.dtype.kind == "f":
        return np.remainder(x, y)
    return np.where(y != 0, np.remainder(x, np.where(y == 0, 1, y)), x)


def cast(a, result, x):
    to = NAMES[a[0]]
    if to == "bool":
        return x != 0
    if is_float(to) or x.dtype.kind != "f":
        return x
    bounds = np.iinfo(TYPES[to])
    near = np.nan_to_num(np.trunc(x), nan=0, posinf=1e30, neginf=-1e30)
    return np.array([min(max(int(v), int(bounds.min)), int(bounds.max)) for v in near.flat], TYPES[to]).reshape(x.shape)


def reduction(function):
    return lambda a, result, x: function(x, axis=tuple(a[1:]), keepdims=bool(a[0])) if len(a) > 1 else x


def argmax(a, result, x):
    return np.argmax(x, axis=a[1]).reshape(result)


def gather(a, result, x, index):
    return x[index_at(np.clip(index, 0, x.shape[a[0]] - 1), a[0])]


def constant(a, result):
    return np.array(real(a[0]) if is_float(NAMES[a[1]]) else a[0])


plain = lambda f: lambda a, result, *x: f(*x)  # noqa: E731
EXPECTED = {
    "neg": plain(np.negative), "abs": plain(np.abs), "exp": plain(np.exp), "log": plain(np.log), "log1p": plain(np.log1p),
    "tanh": plain(np.tanh), "sqrt": plain(np.sqrt), "rsqrt": plain(lambda x: 1 / np.sqrt(x)), "sin": plain(np.sin),
    "cos": plain(np.cos), "floor": plain(np.floor), "round": plain(np.rint), "sigmoid": plain(lambda x: 1 / (1 + np.exp(-x))),
    "relu": plain(lambda x: np.maximum(x, 0)), "erf": plain(np.vectorize(math.erf)), "logical_not": plain(np.logical_not),
    "cast": cast, "add": plain(np.add), "sub": plain(np.subtract), "mul": plain(np.multiply), "div": divide,
    "pow": plain(np.power), "maximum": plain(np.maximum), "minimum": plain(np.minimum), "remainder": remainder,
    "eq": plain(np.equal), "ne": plain(np.not_equal), "lt": plain(np.less), "le": plain(np.less_equal),
    "gt": plain(np.greater), "ge": plain(np.greater_equal), "logical_and": plain(np.logical_and),
    "logical_or": plain(np.logical_or), "where": plain(np.where),
    "expand": lambda a, result, x: np.broadcast_to(x, result), "view": lambda a, result, x: x.reshape(result),
    "permute": lambda a, result, x: x.transpose(a), "slice": slice_, "slice_scatter": slice_scatter,
    "cat": lambda a, result, *x: np.concatenate(x, axis=a[0]), "constant_pad_nd": pad,
    "flip": lambda a, result, x: np.flip(x, a), "mm": plain(np.matmul), "bmm": plain(np.matmul),
    "convolution_overrideable": convolution, "convolution_backward_input": convolution_backward_input,
    "convolution_backward_weight": convolution_backward_weight, "sum": reduction(np.sum), "prod": reduction(np.prod),
    "amax": reduction(np.max), "amin": reduction(np.min), "argmax": argmax,
    "index_select": lambda a, result, x, index: np.take(x, np.clip(index, 0, max(x.shape[a[0]] - 1, 0)), axis=a[0]),
    "cumsum": lambda a, result, x: np.cumsum(x, axis=a[0]), "gather": gather, "scatter": scatter, "scatter_add": scatter_add,
    "index_copy": index_copy, "index_add": index_add,
    "arange": lambda a, result: real(a[0]) + real(a[1]) * np.arange(a[2]), "max_pool2d": max_pool2d,
    "avg_pool2d": avg_pool2d, "max_pool2d_backward": max_pool2d_backward, "avg_pool2d_backward": avg_pool2d_backward,
    "native_batch_norm": native_batch_norm, "native_batch_norm_backward": native_batch_norm_backward,
    "_native_batch_norm_legit_no_training": batch_norm_inference, "uniform": uniform, "Constant": constant,
    "all_reduce": of_one_rank, "all_gather": of_one_rank, "reduce_scatter": of_one_rank, "collective_broadcast": of_one_rank,
    "local_part": of_one_rank, "mark_sharding": of_one_rank,
}
# The results of these are inputs, counts or exact sums of bits.
EXACT = {"uniform", "Constant", "cast", "expand", "view", "permute", "slice", "slice_scatter", "cat", "constant_pad_nd",
         "flip", "max_pool2d", "amax", "amin", "gather", "index_select", "scatter", "index_copy", "round", "neg", "abs", "relu", "maximum", "minimum", "where"}


def run(module, arguments):
    client = xla_bridge.get_backend("cpu")
    device = client.local_devices()[0]
    options = xla_client.CompileOptions()
    options.executable_build_options.debug_options.xla_backend_optimization_level = 0
    program = client.compile_and_load(module, xla_client.DeviceList((device,)), options)
    results = program.execute_sharded([jax.device_put(a, device) for a in arguments])
    return [np.asarray(r[0]) for r in results.disassemble_into_single_device_arrays()]


def from_hlo(text):
    module = hlo.hlo_module_from_text(text)
    return _jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())


def wide(array):
    return array.astype(np.float64) if array.dtype in (ml_dtypes.bfloat16, np.float16, np.float32) else array


def difference(case, got, expected):
    """Returns what is wrong with a result, or None."""
    name, sizes = case["result"]
    if got.dtype != TYPES[name] or list(got.shape) != sizes:
        return f"gave {got.dtype}{list(got.shape)}, not {name}{sizes}"
    with np.errstate(all="ignore"):
        expected = np.asarray(expected).astype(TYPES[name])
    exact = case["op"].split("::")[1] in EXACT or not is_float(name)
    scale = 0 if exact else TOLERANCE[name] * np.abs(np.nan_to_num(wide(expected), posinf=0, neginf=0)).max(initial=1)
    if np.allclose(wide(got), wide(expected), rtol=0, atol=scale, equal_nan=is_float(name)):
        return None
    return f"gave\n{got}\nnot\n{expected}"


def main():
    jax.config.update("jax_enable_x64", True)
    program = pathlib.Path(sys.argv[1]) / "tests" / "stablehlo_cases"
    problems = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        cases = json.loads(pathlib.Path(folder, "cases.json").read_text())
        for number, case in enumerate(cases):
            rng = np.random.default_rng(number)
            inputs = [make_input(rng, case, i, *shape) for i, shape in enumerate(case["inputs"])]
            with np.errstate(all="ignore"):
                expected = EXPECTED[case["op"].split("::")[1]](case["attributes"], case["result"][1], *map(wide, inputs))
            for form in "mlir", "hlo":
                text = pathlib.Path(folder, f"{case['name']}.{form}").read_text()
                try:
                    results = run(text if form == "mlir" else from_hlo(text), inputs)
                    wrong = difference(case, results[0], expected)
                    # This program returns its result twice, and an argument.
                    if len(results) == 3 and not all(map(np.array_equal, results[1:], (results[0], inputs[1]))):
                        wrong = f"gave {results}"
                except Exception as error:  # noqa: BLE001: whatever XLA raises for a text
                    wrong = f"{type(error).__name__}: {str(error)[:2000]}\n{text}"
                if wrong:
                    problems += 1
                    shown = ", ".join(f"{name}{sizes}" for name, sizes in case["inputs"])
                    print(f"{case['name']}.{form} ({shown}; {case['attributes']}): {wrong}", file=sys.stderr)
    print(f"stablehlo: {len(cases)} programs, two texts each: {problems} are not what NumPy gives")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
