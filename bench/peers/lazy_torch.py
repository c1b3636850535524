"""lazy_torch.py eager|compile|xla: does the work of lazy_bench in PyTorch, in torch.compile or in PyTorch/XLA. Prints medians in
microseconds as a JSON object."""
import json
import os
import sys

XLA = sys.argv[1] == 'xla'
COMPILE = sys.argv[1] == 'compile'
if XLA:
    os.environ.setdefault('PJRT_DEVICE', 'CPU')
    os.environ.setdefault('XLA_FLAGS', '--xla_cpu_multi_thread_eigen=false')
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from lazy_clock import median_us, record_us_an_op  # noqa: E402

if XLA:
    import torch_xla


def sync():
    if XLA:
        torch_xla.sync(wait=True)


def compiled(function):
    return torch.compile(function, dynamic=False) if COMPILE else function


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    device = torch_xla.device() if XLA else torch.device('cpu')
    said = {'one': 1}
    x, y = torch.ones(16, 16, device=device), torch.ones(16, 16, device=device)
    sync()
    if XLA:
        said['record_us_an_op'] = record_us_an_op(x, y, lambda result: sync())
    state = [x.clone()]
    small = compiled(lambda z, y, x: z * y + x)
    total = compiled(lambda x, y: (x * y).sum())

    def smallest():
        state[0] = small(state[0], y, x)
        sync()

    said['smallest_step_us'] = median_us(500, smallest)
    said['item_us'] = median_us(500, lambda: total(x, y).item())

    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(),
                                torch.nn.Linear(128, 10), torch.nn.LogSoftmax(1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    images, labels = torch.rand(64, 784).to(device), (torch.arange(64) % 10).to(device)
    sync()

    loss_of = compiled(lambda images, labels: F.nll_loss(model(images), labels))
    update = compiled(optimizer.step)

    def step():
        optimizer.zero_grad()
        loss_of(images, labels).backward()
        update()
        sync()

    said['mlp_step_us'] = median_us(200, step)
    print(json.dumps(said))


main()
