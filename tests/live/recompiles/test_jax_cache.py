"""Runs twice with one JAX_COMPILATION_CACHE_DIR: the first run fails, and the second one loads what the first one compiled."""
import jax
import jax.numpy as jnp
import xlaprof


def test_programs_of_the_persistent_cache():
    """3 compilations too many, because only step 1 may compile"""
    train_step = jax.jit(lambda x: jnp.tanh(x * 2).sum())
    data = [jax.device_put(jnp.ones((size, 4))) for size in (8, 6, 5, 4)]
    with xlaprof.no_recompiles(after=1) as steps:
        for x in steps(data):
            train_step(x)  # planted: test_programs_of_the_persistent_cache
