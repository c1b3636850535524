"""with_jax.py clean|shape|loader [STEPS] trains a small network with JAX, as somebody would who has never heard of xlaprof.

shape: the size of a batch varies. loader: batches are made slowly, in the step's own thread."""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

fault = sys.argv[1]
steps = int(sys.argv[2]) if len(sys.argv) > 2 else {"clean": 600, "shape": 170, "loader": 60}[fault]
random = np.random.default_rng(0)
images = random.standard_normal((512, 256), dtype=np.float32)
labels = random.integers(0, 10, 512)


def init(sizes):
    keys = jax.random.split(jax.random.PRNGKey(0), len(sizes))
    return [jax.random.normal(key, (a, b)) / a**0.5 for key, a, b in zip(keys, sizes, sizes[1:])]


def loss_of(weights, x, y):
    for w in weights[:-1]:
        x = jax.nn.relu(x @ w)
    logits = x @ weights[-1]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])


@jax.jit
def train_step(weights, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
    return [w - 0.01 * g for w, g in zip(weights, gradients)], loss


def blurred(images):  # planted: loader
    end = time.perf_counter() + 0.5
    while time.perf_counter() < end:
        images = (images + np.roll(images, 1, 1)) / 2
    return images


def batch(step):
    size = 512 - 3 * step if fault == "shape" else 512
    x = images[:size]
    return (blurred(x) if fault == "loader" else x), labels[:size]


weights = init([256, 1024, 1024, 1024, 10])
for step in range(steps):
    x, y = batch(step)
    weights, loss = train_step(weights, x, y)  # planted: shape
    if step % 20 == 0:
        jax.block_until_ready(loss)
print("trained", steps, float(loss))
