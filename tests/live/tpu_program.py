"""tpu_program.py synchronize|read trains under TorchTPU on a CPU and prints, as one line of JSON, what TorchTPU's cache counted.

Each step ends with a call of synchronize(), or with a read of the loss. TPU_LIBRARY_PATH names the plugin for PJRT. `planted` is what
the program does on purpose: it trains with these batch sizes in order, and the forward is at this line."""
import importlib.metadata
import json
import sys

import torch
from torch_tpu import _loader
from torch_tpu._internal.utils import hardware

hardware.get_tpu_device_count = lambda *_, **__: 1  # it looks for a TPU on the PCI bus
_loader.load()

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).to("tpu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
sizes = [16, 16, 12, 16, 7, 16, 12, 16]


def train_step(x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)  # the forward
    loss.backward()
    optimizer.step()
    return loss.detach()


def line(comment):
    with open(__file__, encoding="utf-8") as source:
        return next(number for number, text in enumerate(source, 1) if text.rstrip().endswith("# " + comment))


losses = []
for size in sizes:
    losses.append(train_step(torch.randn(size, 16).to("tpu"), torch.randint(0, 4, (size,)).to("tpu")))
    if sys.argv[1] == "read":
        losses[-1].item()
    else:
        torch.accelerator.synchronize()

stats = torch.tpu._get_cache_stats()
print(json.dumps({
    "torch_tpu": importlib.metadata.version("torch_tpu"),
    "requests": stats.num_cache_reqs,
    "hits": stats.num_cache_hits,
    "compilations": stats.num_compilations,
    "seconds": [entry.compilation_duration.total_seconds() for entry in stats.per_entry_stats],
    "planted": {"sizes": sizes, "line": line("the forward")},
}))
