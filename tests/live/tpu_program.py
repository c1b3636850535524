"""tpu_program.py synchronize|read [PORT] trains under TorchTPU on a CPU and prints, as one line of JSON, what TorchTPU's cache counted.

Each step ends with a call of synchronize(), or with a read of the loss. TPU_LIBRARY_PATH names the plugin for PJRT. `planted` is what
the program does on purpose: it trains with these batch sizes in order, and the forward is at this line. With a PORT, it serves
captures there, and trains until its standard input is closed; it prints a line when it has made some steps."""
import importlib.metadata
import itertools
import json
import select
import sys
import time

import torch
from torch_tpu import _loader
from torch_tpu._internal.utils import hardware

hardware.get_tpu_device_count = lambda *_, **__: 1  # it looks for a TPU on the PCI bus
_loader.load()

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).to("tpu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
sizes = [16, 16, 12, 16, 7, 16, 12, 16]
warm = 20  # steps before a capture
if len(sys.argv) > 2:
    from torch_tpu._internal.profiler import start_server
    start_server(int(sys.argv[2]))


def train_step(x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)  # the forward
    loss.backward()
    optimizer.step()
    return loss.detach()


def line(comment):
    with open(__file__, encoding="utf-8") as source:
        return next(number for number, text in enumerate(source, 1) if text.rstrip().endswith("# " + comment))


def batch_sizes():
    """Yields `sizes`, or, until the input is closed, a new size at each eighth step."""
    if len(sys.argv) == 2:
        yield from sizes
        return
    sizes.clear()
    for step in itertools.count():
        if select.select([sys.stdin], [], [], 0)[0]:
            return
        if step == warm:
            print("trains", flush=True)
        sizes.append(16 if step % 8 else 17 + step // 8)
        yield sizes[-1]


losses, counts = [], []
for size in batch_sizes():
    losses.append(train_step(torch.randn(size, 16).to("tpu"), torch.randint(0, 4, (size,)).to("tpu")))
    if sys.argv[1] == "read":
        losses[-1].item()
    else:
        torch.accelerator.synchronize()
    stats = torch.tpu._get_cache_stats()
    counts.append([time.time_ns(), stats.num_cache_reqs, stats.num_compilations])

stats = torch.tpu._get_cache_stats()
print(json.dumps({
    "torch_tpu": importlib.metadata.version("torch_tpu"),
    "requests": stats.num_cache_reqs,
    "hits": stats.num_cache_hits,
    "compilations": stats.num_compilations,
    "seconds": [entry.compilation_duration.total_seconds() for entry in stats.per_entry_stats],
    "counts": counts,  # after each step: the time, the requests and the compilations
    "planted": {"sizes": sizes, "line": line("the forward")},
}))
