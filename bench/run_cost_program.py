"""run_cost_program.py torch_xla|jax|torch_compile STEPS trains a network and prints the CPU time of each step, and when it ended, as JSON."""
import json
import sys
import time

framework, steps = sys.argv[1], int(sys.argv[2])
cpu_ns, end_ns = [], []
SIZES = [512, 1024, 1024, 512, 10]


def ended(before):
    cpu_ns.append(time.process_time_ns() - before)
    end_ns.append(time.time_ns())


if framework == "jax":
    import jax
    import jax.numpy as jnp
    import numpy as np

    keys = jax.random.split(jax.random.PRNGKey(0), len(SIZES))
    weights = [jax.random.normal(k, (a, b)) / a**0.5 for k, a, b in zip(keys, SIZES, SIZES[1:])]
    x, y = np.random.default_rng(0).standard_normal((256, SIZES[0]), dtype=np.float32), np.arange(256) % 10

    def loss_of(weights, x, y):
        for w in weights[:-1]:
            x = jax.nn.relu(x @ w)
        return -jnp.mean(jax.nn.log_softmax(x @ weights[-1])[jnp.arange(len(y)), y])

    @jax.jit
    def train_step(weights, x, y):
        return [w - 0.01 * g for w, g in zip(weights, jax.grad(loss_of)(weights, x, y))]

    for _ in range(steps):
        before = time.process_time_ns()
        weights = jax.block_until_ready(train_step(weights, x, y))
        ended(before)
else:
    import torch
    import torch.nn.functional as F

    layers = []
    for a, b in zip(SIZES, SIZES[1:]):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers[:-1])
    device = "cpu"
    if framework == "torch_xla":
        import torch_xla

        device = torch_xla.device()
    net = net.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x, y = torch.randn(256, SIZES[0]), torch.arange(256) % 10
    forward = torch.compile(net, backend="aot_eager") if framework == "torch_compile" else net
    for _ in range(steps):
        before = time.process_time_ns()
        optimizer.zero_grad()
        F.cross_entropy(forward(x.to(device)), y.to(device)).backward()
        optimizer.step()
        if framework == "torch_xla":
            torch_xla.sync(wait=True)
        ended(before)
print(json.dumps({"cpu_ns": cpu_ns, "end_ns": end_ns}))
