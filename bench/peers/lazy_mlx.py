"""lazy_mlx.py: does the work of lazy_bench in MLX on the CPU, with each step compiled by mx.compile. Prints medians in microseconds as a
JSON object."""
import json
from functools import partial

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from lazy_clock import median_us, record_us_an_op


def main():
    mx.set_default_device(mx.cpu)
    mx.random.seed(0)
    x, y = mx.ones((16, 16)), mx.ones((16, 16))
    mx.eval(x, y)
    record = record_us_an_op(x, y, mx.eval)
    state = [x]
    small = mx.compile(lambda z, y, x: z * y + x)

    def smallest():
        state[0] = small(state[0], y, x)
        mx.eval(state[0])

    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10), nn.LogSoftmax())
    optimizer = optim.SGD(learning_rate=0.1)
    images, labels = mx.random.uniform(shape=(64, 784)), mx.arange(64) % 10
    loss_and_gradients = nn.value_and_grad(model, lambda images, labels: nn.losses.nll_loss(model(images), labels, reduction='mean'))
    trained = [model.state, optimizer.state]
    mx.eval(trained, images, labels)

    @partial(mx.compile, inputs=trained, outputs=trained)
    def train(images, labels):
        loss, gradients = loss_and_gradients(images, labels)
        optimizer.update(model, gradients)
        return loss

    def step():
        train(images, labels)
        mx.eval(trained)

    print(json.dumps({'one': 1, 'record_us_an_op': record, 'smallest_step_us': median_us(500, smallest),
                      'item_us': median_us(500, lambda: (x * y).sum().item()), 'mlp_step_us': median_us(200, step)}))


main()
