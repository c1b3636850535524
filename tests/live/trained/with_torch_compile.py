"""with_torch_compile.py clean|number|loader [STEPS] trains a small network under torch.compile, as somebody would who has never heard of xlaprof.

number: a Python number in the compiled function changes. loader: a DataLoader without workers makes batches slowly."""
import sys
import time

import torch
import torch.nn.functional as F

fault = sys.argv[1]
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
image, labels = torch.randn(256, 256), torch.randint(0, 10, (256,))


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return steps

    def __getitem__(self, index):
        x = image
        end = time.perf_counter() + (0.15 if fault == "loader" else 0)
        while time.perf_counter() < end:
            x = (x + x.roll(1, 1)) / 2  # planted: loader
        return x, labels


@torch.compile(backend="aot_eager", dynamic=False)
def loss_of(x, y, temperature):
    logits = net(x)
    for _ in range(temperature):  # planted: number
        logits = logits * 0.99
    return F.cross_entropy(logits, y)


for step, (x, y) in enumerate(torch.utils.data.DataLoader(Images(), batch_size=None)):
    optimizer.zero_grad()
    loss_of(x, y, 1 + step % 7 if fault == "number" else 1).backward()
    optimizer.step()
print("trained", steps)
