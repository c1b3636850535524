"""make_expected.py [COUNT [SEED]] prints programs with what PyTorch computes, for programs_test.cc, which runs them in CI.

The Python of `scripts/env torch` runs it, and its output is programs.jsonl. Small results are whole. Of others there are the sum,
a weighted sum in which each place counts differently, and three elements."""
import json
import sys

import torch

import generate


def rounded(number, tolerance):
    return float(f"{number:.{11 if tolerance < 1e-6 else 6 if tolerance < 1e-2 else 4}g}")


def summary(what, value, tolerance):
    if value is None:
        return [what]
    numbers = value.flatten().to(torch.float64)
    if len(numbers) > 5:
        places = torch.arange(len(numbers), dtype=torch.float64) % 7 + 1
        numbers = [numbers.sum(), (numbers * places).sum(), numbers[0], numbers[len(numbers) // 2], numbers[-1]]
    numbers = [rounded(float(n), tolerance) for n in numbers]
    return [what, str(value.dtype).removeprefix("torch."), list(value.shape), tolerance, [int(n) if n == int(n) else n for n in numbers]]


def main():
    torch.set_num_threads(1)
    count, seed = (int(a) for a in (sys.argv[1:] + ["200", "1"][len(sys.argv) - 1:]))
    for program, results in generate.programs(seed, count):
        program["expected"] = [summary(what, value, tolerance) for (what, value), tolerance in zip(results.all, results.tolerances)]
        print(json.dumps(program, separators=(",", ":")))


if __name__ == "__main__":
    main()
