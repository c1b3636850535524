"""Tests with torch.compile. What a test's docstring says must be in the message of its failure; a test without one must pass."""
import logging

import pytest
import torch
import torch._dynamo
import xlaprof

trace = logging.getLogger("torch.__trace")


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


def score(x, times=1):
    for _ in range(times):  # planted: test_a_number_that_changes
        x = x * 2 + 1
    return x.sum()


def compiled():
    return torch.compile(score, backend="aot_eager", dynamic=False)


def test_sizes_of_the_first_steps():
    step = compiled()
    with xlaprof.no_recompiles(after=2) as steps:
        for size in steps((2, 3, 2, 3)):
            step(torch.ones(size, 4))


def test_a_size_that_changes_later():
    """2 compilations too many, because only steps 1 to 2 may compile
    `score` recompiled 2 times: batch dimension of input x f32[8,4] changes (8, 6, 5)
    - f32[8,4]
    + f32[6,4]
    mark_dynamic"""
    step = compiled()
    with xlaprof.no_recompiles(after=2) as steps:
        for size in steps((8, 8, 6, 8, 5)):
            step(torch.ones(size, 4))  # planted: test_a_size_that_changes_later


def test_a_number_that_changes(no_recompiles):
    """1 compilation too many, because only steps 1 to 2 may compile
    times changes (1 → 2)
    fix"""
    step = compiled()
    with no_recompiles() as steps:
        for times in steps((1, 1, 1, 2)):
            step(torch.ones(4, 4), times)


def test_a_size_after_a_warm_up():
    """1 compilation too many, because no step may compile
    tensor 'x' size mismatch at index 0. expected 8, actual 7
    fix  Give this input few sizes"""
    step = compiled()
    step(torch.ones(8, 4))
    with xlaprof.no_recompiles(after=0):
        step(torch.ones(8, 4))
        step(torch.ones(7, 4))  # planted: test_a_size_after_a_warm_up


@pytest.mark.no_recompiles(after=1)
def test_steps_of_xlaprof():
    """1 compilation too many, because only step 1 may compile
    score was compiled in step 3"""
    step = compiled()
    for size in xlaprof.steps((8, 8, 9)):
        step(torch.ones(size, 4))  # planted: test_steps_of_xlaprof


def test_a_compiled_optimizer_is_left_alone():
    net = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    step = torch.compile(optimizer.step, backend="eager")
    net(torch.ones(2, 4)).sum().backward()
    for _ in range(3):
        step()
    with xlaprof.no_recompiles(after=0):
        step()


def test_the_checks_count_as_torch_does():
    step = compiled()
    before = torch._dynamo.utils.counters["frames"]["ok"]
    handlers = list(trace.handlers)
    with pytest.raises(xlaprof.Recompiled) as failed, xlaprof.no_recompiles(after=0), pytest.raises(xlaprof.Recompiled):
        with xlaprof.no_recompiles(after=1) as steps:
            for size in steps((8, 7, 8, 6, 5)):
                step(torch.ones(size, 4))
    assert torch._dynamo.utils.counters["frames"]["ok"] - before == len(failed.value.compiles) == 4
    assert trace.handlers == handlers
