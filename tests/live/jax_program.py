"""jax_program.py PORT SECONDS runs a JAX program that trains, with its profiler server."""
import sys
import time

import jax
import jax.numpy as jnp

server = jax.profiler.start_server(int(sys.argv[1]))


@jax.jit
def update(weights, x):
    return weights - 0.01 * (x @ weights).mean()


weights = jnp.ones((64, 64))
end = time.monotonic() + float(sys.argv[2])
step = 0
while time.monotonic() < end:
    with jax.profiler.StepTraceAnnotation("train", step_num=step):
        with jax.profiler.TraceAnnotation("forward"):
            weights = update(weights, jnp.ones((32, 64))).block_until_ready()
    step += 1
    time.sleep(0.01)
