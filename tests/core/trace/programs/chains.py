"""Makes random chains of three to six operations as layers of image models have them, with their gradients, by PyTorch.

A compiler fuses the operations of a chain, and may compute one of them several times with different rounding. Operations that jump
(maxima, clamp, relu, comparisons) get numbers that are not close to a jump, so a gradient that goes to another element is wrong."""
import random

import torch

import generate
import torch_programs as torch_run

NOISE = 2e-6  # of a step's result, relative
DRAWS = 6  # of that noise, because one of them may happen to change nothing
MARGIN = 1e-4  # between a number and a jump; the rounding of f32 is a hundred times smaller


class Chain:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed, self.steps, self.values, self.leaves = seed, [], [], []

    def add(self, *step):
        """Runs a step, and returns the place of its last result."""
        torch_run.add_step(list(step), self.values)
        self.steps.append(list(step))
        return len(self.values) - 1

    def leaf(self, sizes, low=-(1 << 14), high=1 << 14, divisor=1 << 13):
        leaf = self.add("new", "float32", list(sizes), self.random.randrange(1 << 30), low, high, divisor, True)
        self.leaves.append(leaf)
        return leaf

    def apart(self, distance):
        if not bool((distance.detach().abs() > MARGIN).all()):
            raise generate.Refused

    def one_is_largest(self, x, dim=-1):
        if x.shape[dim] > 1:
            top = x.detach().topk(2, dim=dim).values
            self.apart(top.select(dim, 0) - top.select(dim, 1))

    def links(self, y):
        """Adds one operation, and returns its result, which has as many dimensions."""
        r, x = self.random, self.values[y]
        channels, kind = x.shape[1], r.choice(["batch_norm"] * 3 + ["group_norm"] * 2 + [
            "layer_norm", "conv2d", "conv2d", "silu", "gelu", "tanh", "softmax", "square", "relu", "residual", "max_pool2d", "max_pool2d",
            "avg_pool2d"])
        if kind == "batch_norm":
            return self.add(kind, y, self.leaf([channels]), self.leaf([channels]))
        if kind == "group_norm":
            return self.add(kind, y, r.choice([n for n in range(1, channels + 1) if channels % n == 0]), self.leaf([channels]),
                            self.leaf([channels]))
        if kind == "layer_norm":
            return self.add(kind, y, self.leaf([x.shape[3]]), self.leaf([x.shape[3]]))
        if kind == "conv2d":
            return self.add(kind, y, self.leaf([r.randint(1, 5), channels, 3, 3], divisor=1 << 15), 1)
        if kind == "softmax":
            return self.add("mul_number", self.add(kind, y, 1), 5)
        if kind == "square":
            return self.add("add", self.add("mul_number", y, 1.7), self.add("mul_number", self.add(kind, y), 0.3))
        if kind == "residual":
            return self.add("add", y, self.add("tanh", y))
        if kind == "relu":
            self.apart(x)
        if kind.endswith("pool2d"):
            return self.pool(y, kind)
        return self.add(kind, y, *(["none"] if kind == "gelu" else []))

    def pool(self, y, kind):
        r, x = self.random, self.values[y]
        kernel = r.randint(2, min(3, x.shape[2], x.shape[3])) if min(x.shape[2:]) >= 2 else 1
        stride, padding = r.randint(1, 3), r.randint(0, kernel // 2)
        if kind == "max_pool2d":
            padded = torch.nn.functional.pad(x.detach(), [padding] * 4, value=float("-inf"))
            windows = padded.unfold(2, kernel, stride).unfold(3, kernel, stride).flatten(-2)
            self.one_is_largest(windows)
        return self.add(kind, y, kernel, stride, padding)

    def end(self, y):
        r, x = self.random, self.values[y]
        kind = r.choice(["max_pool2d"] * 4 + ["amax", "amin", "max", "min", "maximum", "clamp", "where"])
        if kind == "max_pool2d":
            return self.pool(y, kind)
        if kind in ("amax", "amin", "max", "min"):
            dim = r.randrange(4)
            self.one_is_largest(x if kind.endswith("max") else -x, dim)
            return self.add(kind, y, [dim] if kind.startswith("a") else dim, False) - (0 if kind.startswith("a") else 1)
        if kind == "maximum":
            other = self.add("flip", y, [3])
            self.need_apart_unless_same(x - self.values[other])
            return self.add(kind, y, other)
        if kind == "clamp":
            self.apart(x - 0.5), self.apart(x + 0.5)
            return self.add(kind, y, -0.5, 0.5)
        mean = self.add("mean", y, [], False)
        self.apart(x - self.values[mean])
        return self.add(kind, self.add("gt", y, mean), y, self.add("mul_number", y, 0.1))

    def need_apart_unless_same(self, distance):
        """Checks what was compared with its mirror image: the middle column is equal to itself in every way to compute it."""
        middle = distance.shape[3] // 2
        keep = [i for i in range(distance.shape[3]) if distance.shape[3] % 2 == 0 or i != middle]
        self.apart(distance[..., keep])

    def program(self):
        """Returns the program and its results, or None if it cannot be compared."""
        r = self.random
        try:
            y = self.leaf([r.randint(2, 5), r.randint(1, 6), 2 * r.randint(2, 6), 2 * r.randint(2, 6)])
            for _ in range(r.randint(2, 5)):
                y = self.links(y)
            y = self.end(y)
        except (generate.Refused, RuntimeError, ValueError):  # sizes do not fit
            return None
        program = {"seed": self.seed, "steps": self.steps, "results": [y], "losses": [y], "leaves": self.leaves}
        results, wide = torch_run.run(program), torch_run.run(program, widen=True)
        results.tolerances = [generate.TOLERANCES["float32"]] * len(results.all)
        noisy = [run_noisily(program, draw).all for draw in range(DRAWS)]
        for i, ((_, value), (_, other), tolerance) in enumerate(zip(results.all, wide.all, results.tolerances)):
            if not generate.alike(value, other, tolerance / 4) or not all(generate.alike(run[i][1], other, tolerance / 2) for run in noisy):
                return None
        return program, results


def run_noisily(program, draw):
    """Runs a program with an error in the result of each step, as another order of additions makes it.

    The gradients of two normalizations, one behind the other, are small differences of large numbers, and show nothing."""
    noise, values, results = torch.Generator().manual_seed(program["seed"] * DRAWS + draw), [], torch_run.Results()
    for step in program["steps"]:
        torch_run.add_step(["float64" if argument == "float32" else argument for argument in step], values)
        if step[0] != "new" and values[-1].dtype.is_floating_point:
            values[-1] = values[-1] * (1 + NOISE * torch.randn(values[-1].shape, generator=noise, dtype=torch.float64))
    torch_run.finish(program, values, results)
    return results


def programs(first_seed, count):
    """Yields programs with their results."""
    seed = first_seed
    while count > 0:
        made = Chain(seed).program()
        seed += 1
        if made is not None:
            count -= 1
            yield made
