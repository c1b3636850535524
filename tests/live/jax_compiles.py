"""jax_compiles.py compiles three functions several times and prints what JAX's own listeners heard of it, as one line of JSON.

`seconds` are the durations of jax.monitoring by event and function, `events` its counts, and `planted` what the program does on
purpose, by function: how often it is compiled, how often again and why, and the calling line."""
import collections
import json

import jax
import jax.numpy as jnp

seconds = collections.defaultdict(lambda: collections.defaultdict(list))
events = collections.Counter()
jax.monitoring.register_event_duration_secs_listener(
    lambda event, duration, **told: seconds[event][told.get("fun_name", "")].append(duration))
jax.monitoring.register_event_listener(lambda event, **told: events.update([event]))


@jax.jit
def train_step(weights, x):
    return weights - 0.01 * (x.T @ jnp.tanh(x @ weights))


@jax.jit
def scaled(x):
    return x * 2


def power(x, exponent):
    return (x ** exponent).sum()


def line(comment):
    with open(__file__, encoding="utf-8") as source:
        return next(number for number, text in enumerate(source, 1) if text.rstrip().endswith("# " + comment))


weights = jnp.ones((16, 16))
for batch in (128, 96, 128, 40, 96):
    weights = train_step(weights, jnp.ones((batch, 16)))  # the batch
for dtype in (jnp.float32, jnp.int32, jnp.float32):
    scaled(jnp.ones(8, dtype))  # the type
static = jax.jit(power, static_argnames="exponent")
for exponent in (2, 3, 2, 4):
    static(weights, exponent=exponent).block_until_ready()  # the exponent

print(json.dumps({
    "jax": jax.__version__,
    "seconds": seconds,
    "events": events,
    "planted": {
        "train_step": {"compiles": 3, "line": line("the batch"), "why": "shape_change"},
        "scaled": {"compiles": 2, "line": line("the type"), "why": "dtype_change"},
        "power": {"compiles": 3, "line": line("the exponent"), "why": "constant_change"},
    },
}))
