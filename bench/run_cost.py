#!/usr/bin/env python3
"""bench/run_cost.py XLAPROF PYTHON FRAMEWORK [--pairs N] [--steps N] prints what `xlaprof run` costs a steady step.

FRAMEWORK is torch_xla, jax or torch_compile, and PYTHON has it (scripts/env --path). In each of N pairs, the program trains once by itself and
once under `xlaprof run`; which of both comes first alternates. The program prints the CPU time of each of its steps. The cost is the
ratio of the means over the steady steps outside the profiled window, and its interval is that of a sign test over the pairs (95 % or more)."""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WARM_UP = 20  # steps that are left out
AFTER_PROFILE = 3  # steps after the window, in which the profile is written


def times(command):
    """Returns the CPU time of each step in ns, and the steps' ends in ns since 1970."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def windows(folder):
    """Returns when profiles were taken and written, in ns since 1970."""
    found = []
    for path in folder.glob("process.*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, *values = json.loads(line)
            if kind == "profile":
                found.append((values[1], values[2]))
    return found


def mean_ns(run, excluded=()):
    steps = [cpu for number, (cpu, end) in enumerate(zip(run["cpu_ns"], run["end_ns"]))
             if number >= WARM_UP and not any(begin <= end <= over for begin, over in excluded)]
    return statistics.fmean(steps)


def sign_interval(values):
    """Returns the narrowest interval of order statistics that holds the median with 95 % probability, and that probability."""
    values, n = sorted(values), len(values)
    for cut in range(n // 2, -1, -1):
        outside = 2 * sum(math.comb(n, k) for k in range(cut + 1)) / 2**n
        if cut < n / 2 and outside <= 0.05:
            return values[cut], values[n - 1 - cut], 1 - outside
    return values[0], values[-1], 1 - 2 / 2**n


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("xlaprof")
    parser.add_argument("python")
    parser.add_argument("framework", choices=["torch_xla", "jax", "torch_compile"])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=1000)
    arguments = parser.parse_args()
    program = [arguments.python, str(HERE / "run_cost_program.py"), arguments.framework, str(arguments.steps)]
    ratios = []
    for pair in range(arguments.pairs):
        with tempfile.TemporaryDirectory() as kept:
            out = pathlib.Path(kept) / "out"
            recorded = [arguments.xlaprof, "run", "-o", str(out), "--", *program]
            if pair % 2:
                plain, ours = times(program), times(recorded)
            else:
                ours, plain = times(recorded), times(program)
            step_ns = mean_ns(plain)
            excluded = [(begin, over + AFTER_PROFILE * 10 * int(step_ns)) for begin, over in windows(out)]
            if not excluded:
                sys.exit("run_cost: no profile was taken, so the window is not known. Take more --steps, so that a run lasts for 10 s")
            ratios.append(mean_ns(ours, excluded) / step_ns)
        print(f"pair {pair + 1}: {step_ns / 1e6:.2f} ms a step, {100 * (ratios[-1] - 1):+.2f} %", file=sys.stderr, flush=True)
    low, high, sure = sign_interval(ratios)
    print(f"{arguments.framework}: {100 * (statistics.median(ratios) - 1):+.2f} % CPU time a step "
          f"({100 * (low - 1):+.2f} to {100 * (high - 1):+.2f} %, {100 * sure:.0f} %), {arguments.pairs} pairs")


if __name__ == "__main__":
    main()
