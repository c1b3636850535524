"""compile_program.py BACKEND trains a small model under torch.compile and prints what torch counted of it, as one line of JSON.

`seconds` are the sums of torch._dynamo.utils.compile_times(), `counters` torch's own. `planted` is what the program does on purpose:
how often each function is compiled, why again and how often, and the line at fault; `breaks` are the functions and lines at which
graphs end."""
import json
import sys

import torch
from torch._dynamo import utils

backend = sys.argv[1]
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))


def score(x):
    return model(x).square().mean()


def repeated(x, times):
    for _ in range(times):  # the number
        x = x * 2 + 1
    return x.sum()


def branching(x):
    y = x * 2
    if y.sum() > 0:  # the branch
        y = y - 1
    return y.sum()


def line(comment):
    with open(__file__, encoding="utf-8") as source:
        return next(number for number, text in enumerate(source, 1) if text.rstrip().endswith("# " + comment))


def compiled(function):
    return torch.compile(function, backend=backend, dynamic=False)


step = compiled(score)
for batch in (8, 8, 6, 8, 5, 6, 3):
    step(torch.randn(batch, 16)).backward()
with torch.no_grad():
    step(torch.randn(8, 16))
loop = compiled(repeated)
for times in (1, 2, 1, 3):
    loop(torch.ones(4), times)
branch = compiled(branching)
for _ in range(3):
    branch(torch.ones(4))

names, values = utils.compile_times(repr="csv", aggregate=True)
print(json.dumps({
    "torch": torch.__version__,
    "seconds": {name: float(value) for name, value in zip(names, values)},
    "counters": {group: dict(found) for group, found in utils.counters.items()},
    "planted": {
        "score": {"compiles": 5, "line": score.__code__.co_firstlineno, "again": {"shape_change": 3, "environment_change": 1}},
        "repeated": {"compiles": 3, "line": line("the number"), "again": {"constant_change": 2}},
        "branching": {"compiles": 1, "line": branching.__code__.co_firstlineno, "again": {}},
        f"torch_dynamo_resume_in_branching_at_{line('the branch')}": {"compiles": 1, "line": line("the branch"), "again": {}},
    },
    "breaks": [["branching", line("the branch")]],
}))
