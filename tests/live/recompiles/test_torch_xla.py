"""Tests with PyTorch/XLA. What a test's docstring says must be in the message of its failure; a test without one must pass."""
import os
import subprocess
import sys

import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as metrics
import xlaprof

net = torch.nn.Linear(4, 2).to(torch_xla.device())


def train(size):
    x = torch.ones(size, 4).to("xla")  # planted: test_a_size_that_changes_later
    loss = net(x).sum() * 2
    loss.backward()
    net.zero_grad()
    torch_xla.sync()


def test_the_first_graph_lies_before_all_blocks():
    train(3)


def test_sizes_of_the_first_steps():
    with xlaprof.no_recompiles(after=2):
        for size in (4, 5, 4, 5):
            train(size)


def test_a_size_that_changes_later():
    """2 compilations too many, because only steps 1 to 3 may compile
    batch dimension of input f32[8,4] changes (8, 6, 7)
    - f32[8,4]
    + f32[6,4]
    fix  Pad the batch dimension"""
    with xlaprof.no_recompiles(after=3):
        for size in (8, 8, 8, 8, 6, 8, 7):
            train(size)


def test_sizes_that_were_compiled_before(no_recompiles):
    with no_recompiles(after=0):
        for size in (8, 6, 7):
            train(size)


def test_a_read_that_compiles_in_a_later_step():
    """1 compilation too many, because only steps 1 to 2 may compile
    a graph was compiled in step 4"""
    with xlaprof.no_recompiles(after=2) as steps:
        for number in steps(range(5)):
            total = torch.ones(8, 4).to("xla").sum() * 3
            if number == 3:
                total.item()  # planted: test_a_read_that_compiles_in_a_later_step


@pytest.mark.no_recompiles(after=2)
def test_a_size_under_the_marker():
    """1 compilation too many, because only steps 1 to 2 may compile
    a graph was compiled in step 4"""
    for size in (8, 8, 8, 9):
        train(size)


def test_the_checks_count_as_torch_xla_does():
    before = metrics.counter_value("UncachedCompile")
    with pytest.raises(xlaprof.Recompiled) as failed, xlaprof.no_recompiles(after=0):
        for size in (30, 31, 30, 32):
            train(size)
    assert metrics.counter_value("UncachedCompile") - before == len(failed.value.compiles) == 3
    assert [compile.step for compile in failed.value.compiles] == [1, 2, 4]


def test_cleared_counters():
    with pytest.raises(xlaprof.Recompiled) as failed, xlaprof.no_recompiles(after=1):
        for size in (40, 40, 41, 42):
            metrics.clear_counters()
            train(size)
    assert [compile.step for compile in failed.value.compiles] == [3, 4]


def test_what_is_left():
    assert not torch_xla._XLAC._get_ir_debug()
    assert not [name for name in os.environ if name.startswith("PT_XLA_DEBUG")]


def test_a_program_without_the_plugin_says_why_it_knows_nothing():
    program = """import torch, torch_xla, xlaprof
def train(size): torch.ones(size).to("xla").sum(); torch_xla.sync()
x = torch.ones(2).to("xla") + 1
torch_xla.sync()
with xlaprof.no_recompiles(after=1):
    for size in (3, 3, 4):
        x = torch.ones(size).to("xla") + 1
        torch_xla.sync()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "1 compilation too many" in done.stderr
    assert "PyTorch/XLA executed its first graph before the block" in done.stderr
