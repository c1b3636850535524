"""with_torch_xla.py clean|read|loader [STEPS] trains a small network with PyTorch/XLA, as somebody would who has never heard of xlaprof.

read: a metric reads a value in each step. loader: batches are made slowly, in the step's own thread."""
import sys
import time

import torch
import torch.nn.functional as F
import torch_xla

fault = sys.argv[1]
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 60
device = torch_xla.device()
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
images = torch.randn(512, 256)
labels = torch.randint(0, 10, (512,))
losses = []


def blurred(images):
    end = time.perf_counter() + 0.4
    while time.perf_counter() < end:
        images = (images + images.roll(1, 1)) / 2  # planted: loader
    return images


def batch():
    return (blurred(images) if fault == "loader" else images).to(device), labels.to(device)


def remember(loss):
    losses.append(loss.item() if fault == "read" else loss.detach())  # planted: read


for step in range(steps):
    inputs, targets = batch()
    optimizer.zero_grad()
    loss = F.cross_entropy(net(inputs), targets)
    loss.backward()
    remember(loss)
    optimizer.step()
    torch_xla.sync()
    if step % 20 == 0:
        torch_xla.sync(wait=True)
print("trained", steps)
