#!/usr/bin/env python3
"""bench/python_scopes.py FOLDER: prints what recording costs in Python. FOLDER holds the package, such as build/release/python.

The figures are ns per turn of a loop, without what the empty loop costs. Each is the least of many short rounds, because other
programs may use the machine."""
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.abspath(sys.argv[1]))
os.environ.pop("XLAPROF_RECORD", None)
import xlaprof  # noqa: E402

TURNS, ROUNDS = 500, 2000


def empty():
    for _ in range(TURNS):
        pass


def scope():
    for _ in range(TURNS):
        with xlaprof.trace("scope"):
            pass


def argument():
    for number in range(TURNS):
        with xlaprof.trace("scope", layer=number):
            pass


def step():
    for number in range(TURNS):
        with xlaprof.step(number):
            pass


def made():
    for number in range(TURNS):
        with xlaprof.trace(f"layer {number % 16}"):
            pass


def text():
    for number in range(TURNS):
        f"layer {number % 16}"


def counter():
    for _ in range(TURNS):
        xlaprof.counter("loss", 0.5)


def call():
    pass


def plain_call():
    for _ in range(TURNS):
        call()


def traced_call():
    for _ in range(TURNS):
        scope_of_call()


def scope_of_call():
    with xlaprof.trace("scope"):
        pass


def least_ns(function):
    least = None
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        function()
        took = time.perf_counter_ns() - begin
        least = took if least is None else min(least, took)
    return least / TURNS


ROWS = [("with trace(name)", scope, empty), ("with trace(name), in a function of its own", traced_call, plain_call),
        ("with trace(name, key=number)", argument, empty), ("with trace(f'a name that is made')", made, text), ("with step(number)", step, empty),
        ("counter(name, value)", counter, empty)]


def measure():
    return [least_ns(function) - least_ns(without) for _, function, without in ROWS]


def main():
    off = measure()
    with tempfile.TemporaryDirectory() as folder, xlaprof.profile(folder):
        on = measure()
    print(f"CPython {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; ns while recording, and while nothing records")
    for (name, _, _), recorded, unrecorded in zip(ROWS, on, off):
        print(f"  {name:45} {recorded:6.0f} {unrecorded:6.0f}")


main()
