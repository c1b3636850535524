"""lazy_jax.py: does the work of lazy_bench in JAX, with each step compiled by jit. Prints medians in microseconds as a JSON object."""
import json
import os

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
os.environ.setdefault('XLA_FLAGS', '--xla_cpu_multi_thread_eigen=false')
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from lazy_clock import median_us  # noqa: E402


def loss(weights, images, labels):
    for i, (weight, bias) in enumerate(weights):
        images = images @ weight.T + bias
        if i < len(weights) - 1:
            images = jax.nn.relu(images)
    chosen = jax.nn.log_softmax(images)[jnp.arange(len(labels)), labels]
    return -chosen.mean()


@jax.jit
def train(weights, images, labels):
    gradients = jax.grad(loss)(weights, images, labels)
    return jax.tree.map(lambda value, gradient: value - 0.1 * gradient, weights, gradients)


def main():
    x, y = jnp.ones((16, 16)), jnp.ones((16, 16))
    small = jax.jit(lambda z, y, x: z * y + x)
    state = [x]

    def smallest():
        state[0] = small(state[0], y, x).block_until_ready()

    key = jax.random.key(0)
    weights = [(jax.random.normal(key, (out, into)) / into ** 0.5, jnp.zeros(out)) for into, out in ((784, 256), (256, 128), (128, 10))]
    images, labels = jax.random.uniform(key, (64, 784)), jnp.arange(64) % 10
    model = [weights]

    def step():
        model[0] = jax.block_until_ready(train(model[0], images, labels))

    print(json.dumps({'one': 1, 'smallest_step_us': median_us(500, smallest), 'item_us': median_us(500, lambda: (x * y).sum().item()),
                      'mlp_step_us': median_us(200, step)}))


main()
