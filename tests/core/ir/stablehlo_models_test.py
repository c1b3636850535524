"""stablehlo_models_test.py BUILD checks that XLA computes from the StableHLO of whole training steps what our CPU backend
computed, and that JAX's own gradients of the same models equal ours.

The Python of `scripts/env jax` runs it. BUILD/tests/stablehlo_models writes the steps. scripts/test --all calls it."""
import json
import pathlib
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np

from stablehlo_test import TYPES, run

SAFETENSORS = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "BF16": "bfloat16",
               "F16": "float16", "F32": "float32", "F64": "float64"}
# The tolerance is relative to the largest expected value, because sums are computed in another order.
TOLERANCE = 2e-5
# The gradient of a bias before a normalisation is only rounding error, which differs in XLA and on other processors. It
# is compared relative to the terms that it sums up.
ONLY_ROUNDED = {"normed": "conv.bias"}
LEAST, LEAST_ROUNDED = 1e-3, 1e-2


def read(path):
    """Returns the tensors of a safetensors file, by name."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header.pop("__metadata__")
    return {name: np.frombuffer(content[end + entry["data_offsets"][0]:end + entry["data_offsets"][1]],
                                TYPES[SAFETENSORS[entry["dtype"]]]).reshape(entry["shape"])
            for name, entry in header.items()}


def under(tensors, folder):
    """Returns the tensors whose names begin with `folder`/, without that prefix, in order of their names."""
    return {name.removeprefix(folder + "/"): tensors[name] for name in sorted(tensors) if name.startswith(folder + "/")}


# These are the models of stablehlo_models.cc, written in JAX.

def linear(p, name, x):
    return x @ p[name + ".weight"].T + p[name + ".bias"]


def cross_entropy(logits, classes):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), classes[:, None], 1).mean()


def convolution(p, name, x, stride=1, padding=0):
    out = jax.lax.conv_general_dilated(x, p[name + ".weight"], (stride, stride), [(padding, padding)] * 2,
                                       dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return out + p[name + ".bias"][:, None, None]


def pool(x, start, function):
    return jax.lax.reduce_window(x, start, function, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def layer_norm(p, name, x):
    return jax.nn.standardize(x, axis=-1, epsilon=1e-5) * p[name + ".weight"] + p[name + ".bias"]


def mlp(p, x, classes):
    return cross_entropy(linear(p, "fc2", jax.nn.gelu(linear(p, "fc1", x), approximate=False)), classes)


def conv(p, x, classes):
    x = jax.nn.relu(pool(convolution(p, "conv1", x), -np.inf, jax.lax.max))
    x = jax.nn.relu(pool(convolution(p, "conv2", x), -np.inf, jax.lax.max))
    return cross_entropy(linear(p, "fc2", jax.nn.relu(linear(p, "fc1", x.reshape(len(x), -1)))), classes)


def normed(p, x, classes):
    x = jax.nn.standardize(convolution(p, "conv", x, stride=2, padding=1), axis=(0, 2, 3), epsilon=1e-5)
    x = jax.nn.relu(x * p["norm.weight"][:, None, None] + p["norm.bias"][:, None, None])
    return cross_entropy(linear(p, "fc", pool(x, 0.0, jax.lax.add).reshape(len(x), -1) / 4), classes)


def transformer(p, x, classes):
    time = x.shape[1]
    x = p["words.weight"][x] + p["places.weight"]
    part = layer_norm(p, "norm1", x)
    scores = linear(p, "query", part) @ linear(p, "key", part).swapaxes(1, 2) / float(x.shape[-1]) ** 0.5
    scores = jnp.where(np.tril(np.ones((time, time), bool)), scores, -np.inf)
    x = x + linear(p, "out", jax.nn.softmax(scores) @ linear(p, "value", part))
    x = x + linear(p, "down", jax.nn.gelu(linear(p, "up", layer_norm(p, "norm2", x)), approximate=True))
    return cross_entropy(linear(p, "head", x).reshape(-1, p["head.bias"].size), classes)


def compare(what, got, expected, least=LEAST):
    """Returns the differences as a list of lines; errors are relative to at least `least`."""
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return [f"{what}: {got.dtype}{got.shape}, not {expected.dtype}{expected.shape}"]
    if got.dtype.kind != "f":
        return [] if np.array_equal(got, expected) else [f"{what}: {got}, not {expected}"]
    off = np.abs(got - expected).max(initial=0) / max(np.abs(expected).max(initial=0), least)
    return [] if off < TOLERANCE else [f"{what}: differs by {off:.2g} of its largest value"]


def main():
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    problems, results, gradients = [], 0, 0
    models = [mlp, conv, normed, transformer]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([pathlib.Path(sys.argv[1]) / "tests" / "stablehlo_models", folder], check=True)
        for model in models:
            name = model.__name__
            tensors = read(pathlib.Path(folder, name + ".safetensors"))
            text = pathlib.Path(folder, name + ".mlir").read_text()
            outputs = run(text, list(under(tensors, "input").values()))
            ours = under(tensors, "result")
            if len(outputs) != len(ours):
                problems.append(f"{name}: {len(outputs)} results, not {len(ours)}")
            rounded = tensors["grad/" + ONLY_ROUNDED[name]].ravel() if name in ONLY_ROUNDED else None
            for i, (output, expected) in enumerate(zip(outputs, ours.values())):
                least = LEAST_ROUNDED if rounded is not None and np.array_equal(expected.ravel(), rounded) else LEAST
                problems += compare(f"{name}, result {i}", output, expected, least)
            results += len(outputs)

            data, parameters = under(tensors, "data"), under(tensors, "before")
            loss, grads = jax.value_and_grad(model)(parameters, data["x"], data["classes"].reshape(-1))
            problems += compare(f"{name}, loss", np.asarray(loss), tensors["loss"])
            for of, expected in under(tensors, "grad").items():
                least = LEAST_ROUNDED if of == ONLY_ROUNDED.get(name) else LEAST
                problems += compare(f"{name}, gradient of {of}", np.asarray(grads[of]), expected, least)
                gradients += 1
    print("\n".join(problems), file=sys.stderr)
    print(f"stablehlo_models: {len(models)} training steps, {results} results as XLA computes them, {gradients} gradients as "
          f"JAX derives them: {len(problems)} differ")
    sys.exit(1 if problems or not gradients else 0)


if __name__ == "__main__":
    main()
