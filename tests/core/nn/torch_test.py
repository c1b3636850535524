"""torch_test.py BUILD checks that PyTorch, with the same optimizers, schedulers, clipping and autocast, trains the model of
torch_cases.cc to the same numbers, and that operations under autocast have the same types and values.

The Python of `scripts/env torch` runs it. BUILD/tests/torch_cases writes the cases. scripts/judge calls it."""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import lr_scheduler

TYPES = {"BOOL": torch.bool, "I32": torch.int32, "I64": torch.int64, "BF16": torch.bfloat16, "F16": torch.float16,
         "F32": torch.float32, "F64": torch.float64}
# Tolerances are relative to the largest expected value. Sums are computed in another order, and what is rounded to bf16 in
# training may be rounded to a neighbour, which later steps amplify.
TOLERANCE = {"f32": 2e-5, "bf16": 0.05, "autocast": 0.05}
ROUNDED = 2 ** -7
EPS = 1e-3  # torch_cases.cc says why


def read(path):
    """Returns the tensors of a safetensors file, by name."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, until = entry["data_offsets"]
        values = torch.frombuffer(bytearray(content[end + begin:end + until]), dtype=TYPES[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def under(tensors, folder):
    return {name.removeprefix(folder + "/"): tensor for name, tensor in tensors.items() if name.startswith(folder + "/")}


class Net(nn.Module):
    """The model of torch_cases.cc."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(6, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)
        self.groups = nn.GroupNorm(2, 8)
        self.head = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 5))

    def loss(self, x, classes):
        hidden = self.embed(x)
        hidden = self.norm(hidden + self.attention(hidden, hidden, hidden)[0])
        hidden = self.groups(hidden.transpose(1, 2)).transpose(1, 2)
        return F.cross_entropy(self.head(hidden.mean(1)), classes)


def sgd(params):
    return torch.optim.SGD(params, lr=0.2, momentum=0.9, weight_decay=0.01, nesterov=True)


def dampened(params):
    return torch.optim.SGD(params, lr=0.2, momentum=0.9, dampening=0.3)


def adam(params):
    return torch.optim.Adam(params, lr=0.02, eps=EPS, weight_decay=0.1)


def adamw(params):
    return torch.optim.AdamW(params, lr=0.02, eps=EPS, weight_decay=0.1)


def plain_adamw(params):
    return torch.optim.AdamW(params, lr=0.02, eps=EPS)


RUNS = {
    "sgd": (sgd, lambda o: lr_scheduler.StepLR(o, 4, 0.5)),
    "dampened": (dampened, lambda o: lr_scheduler.MultiStepLR(o, [2, 5], 0.5)),
    "adam": (adam, lr_scheduler.LinearLR),
    "adamw": (adamw, lambda o: lr_scheduler.CosineAnnealingLR(o, 8)),
    "autocast": (plain_adamw, lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 1 / (1 + epoch))),
}


def compare(what, got, expected, tolerance):
    """Returns the differences as a list of lines."""
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return [f"{what}: {got.dtype} {list(got.shape)}, not {expected.dtype} {list(expected.shape)}"]
    off = (got.double() - expected.double()).abs().max().item() / max(expected.double().abs().max().item(), 1e-3)
    return [] if off <= tolerance else [f"{what}: differs by {off:.2g} of its largest value"]


def train(name, ours):
    """Trains as torch_cases.cc did. Returns the differences, and the number of compared tensors."""
    run, _, kind = name.partition("_")
    make, schedule = RUNS[run]
    tolerance = TOLERANCE[kind or run]
    net = Net().to(ours["x"].dtype)
    net.load_state_dict(under(ours, "before"))
    parameters = list(net.parameters())
    # PyTorch numbers the parameters of one group after those of another, and so do we.
    order = dict(net.named_parameters())
    others = [p for p in parameters if p.dim() <= 1]
    optimizer = make([{"params": [p for p in parameters if p.dim() > 1]}, {"params": others, "weight_decay": 0}])
    scheduler = schedule(optimizer)
    losses, norms, rates, problems = [], [], [], []
    expected_grads = under(ours, "grad")
    for step in range(len(ours["losses"])):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=run == "autocast"):
            loss = net.loss(ours["x"], ours["classes"])
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(parameters, 0.5))
        if step == 0:
            for of, parameter in order.items():
                problems += compare(f"{name}, gradient of {of}", expected_grads[of], parameter.grad, tolerance)
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
        losses.append(loss.detach())
    problems += compare(f"{name}, losses", ours["losses"], torch.stack(losses), tolerance)
    problems += compare(f"{name}, norms", ours["norms"], torch.stack(norms), tolerance)
    problems += compare(f"{name}, learning rates", ours["rates"], torch.tensor(rates, dtype=torch.float64), 1e-14)
    for of, tensor in net.state_dict().items():
        problems += compare(f"{name}, {of} after the training", ours["after/" + of], tensor, tolerance)
    states = 0
    for number, state in optimizer.state_dict()["state"].items():
        for part, tensor in state.items():
            got = ours[f"optimizer/state.{number}.{part}"]
            expected = tensor.to(got.dtype) if part == "step" else tensor
            problems += compare(f"{name}, {part} of parameter {number}", got, expected, 4 * tolerance)
            states += 1
    return problems, 2 * len(order) + 3 + states


def sines(*sizes, seed):
    count = torch.Size(sizes).numel()
    return torch.sin(torch.arange(count, dtype=torch.float64) ** 2 + seed).reshape(sizes)


def operations():
    """Returns the results of the operations of torch_cases.cc, by name."""
    x, w, row, channels = (sines(*sizes, seed=i + 1).float() for i, sizes in enumerate([(2, 3, 4), (4, 4), (4,), (3,)]))
    images, kernels, tall = sines(1, 2, 4, 4, seed=5).float(), sines(3, 2, 3, 3, seed=6).float(), sines(64, 300, seed=7).bfloat16()
    b, classes = x.bfloat16(), torch.arange(3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return {
            "matmul": x @ w, "dot": row @ row, "matmul_f64": x.double() @ w.double(), "matmul_f16": x.half() @ w.half(),
            "linear": F.linear(x, w, row), "conv2d": F.conv2d(images, kernels, channels),
            "attention": F.scaled_dot_product_attention(x, x, x),
            # The last query sees no key.
            "attention_seen": F.scaled_dot_product_attention(x, x, x, classes[:, None] < classes),
            "attention_bias": F.scaled_dot_product_attention(x, x, x, x[:, :, :3]), "softmax_f32": x.softmax(1), "softmax": tall.softmax(1),
            "log_softmax": tall.log_softmax(1), "logsumexp": tall.logsumexp(1), "sum": tall.sum(1), "mean": tall.mean(1),
            "amax": tall.amax(1), "prod": b.prod(1), "layer_norm": F.layer_norm(b, (4,), row, row),
            "batch_norm": F.batch_norm(b, None, None, channels, channels, training=True),
            "group_norm": F.group_norm(b, 3, channels, channels), "gelu": F.gelu(b), "exp": b.exp(), "added": b + x,
            "where": torch.where(x > 0, b, x), "cat": torch.cat([b, x]), "stack": torch.stack([b, x]),
            "embedding": F.embedding(classes, w), "avg_pool2d": F.avg_pool2d(images.bfloat16(), 2),
            "nll_loss": F.nll_loss(b[0], classes), "cross_entropy": F.cross_entropy(b[0], classes),
            "mse_loss": F.mse_loss(b, b + 1), "mse_loss_f64": F.mse_loss(b, x.double()),
        }


def main():
    problems, tensors, runs = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([pathlib.Path(sys.argv[1]) / "tests" / "torch_cases", folder], check=True)
        files = {path.stem: read(path) for path in pathlib.Path(folder).iterdir()}
    ours, theirs = files.pop("operations"), operations()
    for name in ours.keys() | theirs.keys():
        if name not in ours or name not in theirs:
            problems.append(f"{name}: only one of both has it")
            continue
        problems += compare(f"autocast, {name}", ours[name], theirs[name], ROUNDED)
    for name, tensors_of_run in sorted(files.items()):
        found, compared = train(name, tensors_of_run)
        problems += found
        tensors += compared
        runs += 1
    print("\n".join(problems), file=sys.stderr)
    print(f"torch_test: {runs} trainings with {tensors} tensors, and {len(ours)} operations under autocast, as PyTorch computes "
          f"them: {len(problems)} differ")
    sys.exit(1 if problems or not runs else 0)


if __name__ == "__main__":
    main()
