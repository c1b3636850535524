"""Tests with JAX. What a test's docstring says must be in the message of its failure; a test without one must pass."""
import jax
import jax.numpy as jnp
import pytest
import xlaprof


@jax.jit
def train_step(x):
    return jnp.tanh(x * 2).sum()


def batches(*sizes):
    return [jax.device_put(jnp.ones((size, 4))) for size in sizes]


def test_sizes_of_the_first_steps():
    data = batches(2, 3, 2, 3)
    with xlaprof.no_recompiles(after=2) as steps:
        for x in steps(data):
            train_step(x)


def test_a_size_that_changes_later():
    """2 compilations too many, because only steps 1 to 2 may compile
    batch dimension of input x f32[8,4] changes (8, 6, 5)
    - f32[8,4]
    + f32[6,4]
    fix  Pad the batch dimension"""
    step = jax.jit(lambda x: (x * 3).sum())
    data = batches(8, 8, 6, 8, 5)
    with xlaprof.no_recompiles(after=2) as steps:
        for x in steps(data):
            step(x)  # planted: test_a_size_that_changes_later


def test_a_number_that_is_static(no_recompiles):
    """1 compilation too many, because only steps 1 to 2 may compile
    fix"""
    power = jax.jit(lambda x, exponent: (x ** exponent).sum(), static_argnames="exponent")
    [x] = batches(4)
    with no_recompiles() as steps:
        for exponent in steps((2, 2, 3)):
            power(x, exponent=exponent)  # planted: test_a_number_that_is_static


def test_sizes_that_were_compiled_before():
    data = batches(2, 3)
    with xlaprof.no_recompiles(after=0):
        for x in data:
            train_step(x)


def test_a_size_after_a_warm_up():
    """1 compilation too many, because no step may compile
    at x, now f32[7,4] and before f32
    fix  Give this input few sizes"""
    [x] = batches(7)
    with xlaprof.no_recompiles(after=0):
        train_step(x)  # planted: test_a_size_after_a_warm_up


@pytest.mark.no_recompiles(after=1)
def test_steps_that_jax_knows():
    """1 compilation too many, because only step 1 may compile
    train_step was compiled in step 4"""
    for number, x in enumerate([*batches(9, 9, 9), jnp.ones((10, 4))[:10]]):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            train_step(x)  # planted: test_steps_that_jax_knows


@pytest.mark.no_recompiles(after=1)
def test_no_step_under_the_marker():
    """the block ended 0 steps"""


@pytest.mark.no_recompiles(after=0)
def test_its_own_failure_under_the_marker():
    """assert 1 == 2"""
    train_step(jnp.ones((11, 4)))
    assert 1 == 2


def test_what_is_left():
    assert (jax.config.jax_log_compiles, jax.config.jax_explain_cache_misses) == (False, False)
    assert "__exit__" not in vars(jax.profiler.StepTraceAnnotation)


def test_the_checks_count_as_jax_does():
    heard = []
    jax.monitoring.register_event_duration_secs_listener(lambda event, duration, **_: heard.append(event))
    data = batches(20, 21, 22, 20, 23)
    del heard[:]
    with pytest.raises(xlaprof.Recompiled) as failed, xlaprof.no_recompiles(after=0):
        for x in data:
            train_step(x)
    assert len(failed.value.compiles) == heard.count("/jax/core/compile/backend_compile_duration") == 4
