"""Runs a program of operations on tensors with PyTorch.

A program is a list of steps, each a list of a name and arguments. program.cc, which runs the same steps on our runtime, and
this file are the two definitions of what a step means. A step adds its results to the list of values; later steps refer to
values by their place in this list. Steps that add nothing: a name with _ at its end writes its first argument in place,
`read` records a value, and `mark`, `unlazy` and `drop` only matter to the runtime."""
import torch

LESS_THAN_2_31 = (1 << 31) - 1


def new(dtype, sizes, seed, low, high, divisor, needs_grad):
    """Returns numbers from a linear congruential generator: integers in [low, high), divided by `divisor`."""
    count = 1
    for size in sizes:
        count *= size
    numbers, state = [], seed
    for _ in range(count):
        state = (state * 1103515245 + 12345) & LESS_THAN_2_31
        numbers.append((low + (state >> 16) % (high - low)) / divisor)
    values = torch.tensor(numbers, dtype=torch.float64).reshape(sizes).to(getattr(torch, dtype))
    return values.requires_grad_() if needs_grad else values


def weighted_sum(values):
    """Returns the loss: the sum of all elements, each with a weight."""
    loss = torch.zeros(())
    for value in values:
        weights = (torch.arange(value.numel()) % 5 - 2) * 0.5
        loss = loss + (value.flatten().to(torch.float32) * weights).sum()
    return loss


def index_of(items, values):
    def one(item):
        if isinstance(item, list):
            return slice(*item)
        if isinstance(item, dict):
            return values[item["value"]]
        return ... if item == "..." else item
    return tuple(one(item) for item in items)


def all_dims(x, dims):
    return dims or list(range(x.dim()))


def pair(result):
    return [result.values, result.indices]


def named(name):
    return getattr(torch, name)


UNARY = ["neg", "abs", "exp", "log", "log1p", "tanh", "sqrt", "rsqrt", "sigmoid", "relu", "sin", "cos", "tan", "log2", "floor", "ceil",
         "round", "sign", "square", "reciprocal", "erf", "logical_not", "isnan", "isinf", "isfinite"]
BINARY = ["add", "sub", "mul", "div", "pow", "maximum", "minimum", "remainder", "eq", "ne", "lt", "le", "gt", "ge", "logical_and",
          "logical_or"]
REDUCTIONS = ["sum", "mean", "amax", "amin", "any", "all"]
ALONG = ["logsumexp", "softmax", "log_softmax", "cumsum"]

# Each takes (values, arguments) and returns a tensor, a list of tensors, or None.
STEPS = {
    "new": lambda v, *a: new(*a),
    "silu": lambda v, x: torch.nn.functional.silu(v[x]),
    "gelu": lambda v, x, form: torch.nn.functional.gelu(v[x], approximate=form),
    "leaky_relu": lambda v, x, slope: torch.nn.functional.leaky_relu(v[x], slope),
    "batch_norm": lambda v, x, w, b: torch.nn.functional.batch_norm(v[x], None, None, v[w], v[b], training=True),
    "layer_norm": lambda v, x, w, b: torch.nn.functional.layer_norm(v[x], v[x].shape[-1:], v[w], v[b]),
    "group_norm": lambda v, x, groups, w, b: torch.nn.functional.group_norm(v[x], groups, v[w], v[b]),
    "conv2d": lambda v, x, w, padding: torch.nn.functional.conv2d(v[x], v[w], padding=padding),
    "max_pool2d": lambda v, x, kernel, stride, padding: torch.nn.functional.max_pool2d(v[x], kernel, stride, padding),
    "avg_pool2d": lambda v, x, kernel, stride, padding: torch.nn.functional.avg_pool2d(v[x], kernel, stride, padding),
    "where": lambda v, c, a, b: torch.where(v[c], v[a], v[b]),
    "clamp": lambda v, x, low, high: torch.clamp(v[x], low, high),
    "masked_fill": lambda v, x, mask, value: torch.masked_fill(v[x], v[mask], value),
    "matmul": lambda v, a, b: torch.matmul(v[a], v[b]),
    "einsum": lambda v, equation, operands: torch.einsum(equation, *[v[i] for i in operands]),
    "prod": lambda v, x, dim, keep: torch.prod(v[x], dim, keep),
    "norm": lambda v, x, p, dims, keep: torch.norm(v[x], float(p), all_dims(v[x], dims), keep),
    "var": lambda v, x, dims, less, keep: torch.var(v[x], all_dims(v[x], dims), correction=less, keepdim=keep),
    "std": lambda v, x, dims, less, keep: torch.std(v[x], all_dims(v[x], dims), correction=less, keepdim=keep),
    "argmax": lambda v, x, dim, keep: torch.argmax(v[x], dim, keep),
    "argmin": lambda v, x, dim, keep: torch.argmin(v[x], dim, keep),
    "max": lambda v, x, dim, keep: pair(torch.max(v[x], dim, keep)),
    "min": lambda v, x, dim, keep: pair(torch.min(v[x], dim, keep)),
    "sort": lambda v, x, dim, down: pair(torch.sort(v[x], dim=dim, descending=down, stable=True)),
    "topk": lambda v, x, k, dim, largest: pair(torch.topk(v[x], k, dim, largest)),
    "cat": lambda v, parts, dim: torch.cat([v[i] for i in parts], dim),
    "stack": lambda v, parts, dim: torch.stack([v[i] for i in parts], dim),
    "split": lambda v, x, size, dim: list(torch.split(v[x], size, dim)),
    "split_with_sizes": lambda v, x, sizes, dim: list(torch.split(v[x], sizes, dim)),
    "chunk": lambda v, x, count, dim: list(torch.chunk(v[x], count, dim)),
    "roll": lambda v, x, shifts, dims: torch.roll(v[x], shifts, dims or None),
    "flip": lambda v, x, dims: torch.flip(v[x], dims),
    "tril": lambda v, x, diagonal: torch.tril(v[x], diagonal),
    "pad": lambda v, x, low, high, value: torch.nn.functional.pad(
        v[x], [n for both in reversed(list(zip(low, high))) for n in both], value=value),
    "view": lambda v, x, sizes: v[x].view(sizes),
    "permute": lambda v, x, dims: v[x].permute(dims),
    "transpose": lambda v, x, a, b: v[x].transpose(a, b),
    "slice": lambda v, x, dim, start, stop, step: v[x][(slice(None),) * (dim % v[x].dim()) + (slice(start, stop, step),)],
    "select": lambda v, x, dim, at: v[x].select(dim, at),
    "unsqueeze": lambda v, x, dim: v[x].unsqueeze(dim),
    "squeeze": lambda v, x, dim: v[x].squeeze(dim),
    "expand": lambda v, x, sizes: v[x].expand(sizes),
    "to": lambda v, x, dtype: v[x].to(getattr(torch, dtype)),
    "clone": lambda v, x: v[x].clone(),
    "detach": lambda v, x: v[x].detach(),
    "index": lambda v, x, items: v[x][index_of(items, v)],
    "index_select": lambda v, x, dim, at: torch.index_select(v[x], dim, v[at]),
    "gather": lambda v, x, dim, at: torch.gather(v[x], dim, v[at]),
    "scatter": lambda v, x, dim, at, by: torch.scatter(v[x], dim, v[at], v[by]),
    "scatter_number": lambda v, x, dim, at, by: torch.scatter(v[x], dim, v[at], by),
    "scatter_add": lambda v, x, dim, at, by: torch.scatter_add(v[x], dim, v[at], v[by]),
    "index_add": lambda v, x, dim, at, by: torch.index_add(v[x], dim, v[at], v[by]),
    "index_copy": lambda v, x, dim, at, by: torch.index_copy(v[x], dim, v[at], v[by]),
    "embedding": lambda v, x, at: torch.nn.functional.embedding(v[at], v[x]),
    "one_hot": lambda v, x, classes: torch.nn.functional.one_hot(v[x], classes),
    "nonzero": lambda v, x: torch.nonzero(v[x]),
    "masked_select": lambda v, x, mask: torch.masked_select(v[x], v[mask]),
    "unique": lambda v, x: torch.unique(v[x]),
    # In place.
    "copy_": lambda v, x, by: v[x].copy_(v[by]),
    "fill_": lambda v, x, by: v[x].fill_(by),
    "add_": lambda v, x, by, alpha: v[x].add_(v[by], alpha=alpha),
    "sub_": lambda v, x, by, alpha: v[x].sub_(v[by], alpha=alpha),
    "mul_": lambda v, x, by: v[x].mul_(v[by]),
    "div_": lambda v, x, by: v[x].div_(v[by]),
    "add_number_": lambda v, x, by: v[x].add_(by),
    "mul_number_": lambda v, x, by: v[x].mul_(by),
    "masked_fill_": lambda v, x, mask, by: v[x].masked_fill_(v[mask], by),
    "index_put_": lambda v, x, items, by, adds: put(v[x], index_of(items, v), v[by], adds),
    "index_put_number_": lambda v, x, items, by: put(v[x], index_of(items, v), by, False),
}
for name in UNARY:
    STEPS[name] = lambda v, x, f=named(name): f(v[x])
for name in BINARY:
    STEPS[name] = lambda v, a, b, f=named(name): f(v[a], v[b])
for name in BINARY:
    if not name.startswith("logical") and not name.endswith("imum"):
        STEPS[name + "_number"] = lambda v, a, b, f=named(name): f(v[a], b)
STEPS["number_sub"] = lambda v, a, b: a - v[b]
STEPS["number_div"] = lambda v, a, b: torch.div(torch.tensor(a, dtype=(a / v[b].detach()).dtype), v[b])
STEPS["number_pow"] = lambda v, a, b: a ** v[b]
for name in REDUCTIONS:
    STEPS[name] = lambda v, x, dims, keep, f=named(name): f(v[x], all_dims(v[x], dims), keep)
for name in ALONG:
    STEPS[name] = lambda v, x, dim, f=named(name): f(v[x], dim)


def put(x, index, by, adds):
    """Assigns as `x[index] = by` does, or adds."""
    if adds:
        return x.index_put_(index, by, accumulate=True)
    x[index] = by
    return x


def add_step(step, values):
    """Runs one step. Returns its new values, which it also adds to the list."""
    name, *arguments = step
    result = STEPS[name](values, *arguments)
    if name.endswith("_"):
        return []
    results = result if isinstance(result, list) else [result]
    values += results
    return results


class Results:
    """What a program computes: a list of (what it is, tensor or None)."""

    def __init__(self):
        self.all = []

    def add(self, what, tensor):
        self.all.append((what, None if tensor is None else tensor.detach().clone()))


def run(program, widen=False):
    """Runs a whole program. With `widen`, all floats are float64, which shows which results depend on rounding."""
    def wide(argument):
        return "float64" if widen and argument in ("float32", "bfloat16", "float16") else argument
    values, results = [], Results()
    for step in program["steps"]:
        if step[0] == "read":
            results.add(f"read of {step[1]}", values[step[1]])
        elif step[0] not in ("mark", "unlazy", "drop"):
            add_step([wide(argument) if isinstance(argument, str) else argument for argument in step], values)
    finish(program, values, results)
    return results


def finish(program, values, results):
    for i in program["results"]:
        results.add(f"value {i}", values[i])
    if program["losses"]:
        weighted_sum([values[i] for i in program["losses"]]).backward()
        for i in program["leaves"]:
            results.add(f"gradient of {i}", values[i].grad)
