"""torch_test.py BUILD checks that our lazy runtime prints tensors as PyTorch does, and that random programs of views and writes
in place have the same values, gradients and errors.

The Python of `scripts/env torch` runs it. scripts/judge tensors calls it."""
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import torch

DTYPES = {torch.bool: "BOOL", torch.uint8: "U8", torch.int8: "I8", torch.int16: "I16", torch.int32: "I32", torch.int64: "I64", torch.bfloat16: "BF16",
          torch.float16: "F16", torch.float32: "F32", torch.float64: "F64"}


def write_safetensors(path, tensors):
    header, data = {}, b""
    for i, tensor in enumerate(tensors):
        raw = tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        header[f"{i:06}"] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def random_tensor(r):
    sizes = [r.choice([0, 1, 1, 2, 3, 5, 7, 8, 12, 30]) if r.random() < 0.9 else r.choice([100, 1001]) for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4]))]
    while torch.Size(sizes).numel() > 20_000:
        sizes.pop()
    dtype = r.choice(list(DTYPES))
    if dtype == torch.bool:
        return torch.rand(sizes) < r.choice([0, 0.5, 1])
    if not dtype.is_floating_point:
        bound = min(torch.iinfo(dtype).max, r.choice([1, 9, 127, 10**5, 2**62]))
        low = 0 if dtype == torch.uint8 or r.random() < 0.3 else -bound
        return torch.randint(low, bound + 1, sizes, dtype=torch.int64).to(dtype)
    x = torch.randn(sizes, dtype=torch.float64) * 10.0 ** r.choice([-9, -5, -3, 0, 0, 0, 1, 3, 5, 8, 12])
    if r.random() < 0.3:
        x = x * 10.0 ** torch.randint(-4, 5, sizes).to(torch.float64)
    if r.random() < 0.3:
        x = x.round()
    x = x.to(dtype)
    for value in [0, -0.0, float("nan"), float("inf"), float("-inf"), 1]:
        if r.random() < 0.15:
            x = torch.where(torch.rand(sizes) < r.choice([0.1, 0.5, 1]), torch.tensor(value, dtype=dtype), x)
    return x


def check_printing(build):
    r = random.Random(1)
    torch.manual_seed(1)
    tensors = [random_tensor(r) for _ in range(1500)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tensors.safetensors"
        write_safetensors(path, tensors)
        out = subprocess.run([build / "tests/printed_tensors", path], check=True, capture_output=True, text=True).stdout
    texts = out.split("\n--\n")[:-1]
    assert len(texts) == len(tensors), (len(texts), len(tensors))
    for tensor, text in zip(tensors, texts):
        assert text == str(tensor), f"{tensor.dtype} {list(tensor.shape)}:\n{text}\nbut PyTorch prints\n{tensor}"
    print(f"{len(tensors)} tensors are printed as PyTorch prints them")


class Program:
    """A random program, which is run as it is generated. `lines` are what torch_programs.cc reads."""

    def __init__(self, r):
        self.r, self.lines, self.results, self.tensors = r, [], [], []
        self.leaves = [self.leaf() for _ in range(3)]
        for _ in range(r.randint(4, 18)):
            self.step()
        self.finish()

    def leaf(self):
        needs_grad, sizes = self.r.random() < 0.6, [self.r.choice([1, 2, 3]) for _ in range(2)]
        values = [self.r.choice([-2, -1, 1, 2, 3]) for _ in range(sizes[0] * sizes[1])]
        self.lines.append(f"leaf {int(needs_grad)} {sizes[0]} {sizes[1]} {' '.join(map(str, values))}")
        self.tensors.append(torch.tensor(values, dtype=torch.float64).view(sizes).clone().requires_grad_(needs_grad))
        return self.tensors[-1]

    def run(self, line, function, no_grad=False):
        for tensor in self.tensors:
            if tensor is not None:
                tensor.grad_fn  # PyTorch updates histories here, and takes stale views for leaves otherwise
        self.lines.append(("no_grad " if no_grad else "") + line)
        result = None
        try:
            with torch.set_grad_enabled(not no_grad):
                result = function()
        except RuntimeError:
            self.results.append(f"line {len(self.lines) - 1} raises")
        if not line.split()[0].endswith("_"):
            self.tensors.append(result)

    def step(self):
        r, number = self.r, self.r.randrange(len(self.tensors))
        x, no_grad = self.tensors[number], self.r.random() < 0.1
        if x is None:
            return
        dim = r.randrange(x.dim()) if x.dim() else 0
        size = x.size(dim) if x.dim() else 0
        op = r.choice("double view transpose slice select detach clone relu unsqueeze expand mul fill_ double_".split() +
                      "add_ mul_ copy_".split() * 2)
        # A view that was taken under no_grad needs a gradient in PyTorch, but has none; here it needs none.
        if op == "view" and x.is_contiguous():
            self.run(f"view {number}", lambda: x.view(-1))
        elif op == "transpose" and x.dim() >= 2:
            self.run(f"transpose {number}", lambda: x.transpose(0, 1))
        elif op == "slice" and x.dim():
            start = r.randint(0, size)
            end, step = r.randint(start, size), r.choice([1, 1, 2])
            at = (slice(None),) * dim + (slice(start, end, step),)
            self.run(f"slice {number} {dim} {start} {end} {step}", lambda: x[at])
        elif op == "select" and size:
            place = r.randrange(size)
            self.run(f"select {number} {dim} {place}", lambda: x.select(dim, place))
        elif op == "unsqueeze" and x.dim() < 3:
            self.run(f"unsqueeze {number}", lambda: x.unsqueeze(0))
        elif op == "expand" and x.dim() == 1 and size > 0:
            self.run(f"expand {number}", lambda: x.expand(2, -1))
        elif op == "double":
            self.run(f"double {number}", lambda: x * 2, no_grad)
        elif op == "relu":
            self.run(f"relu {number}", lambda: torch.relu(x), no_grad)
        elif op in ("detach", "clone"):
            self.run(f"{op} {number}", getattr(x, op), no_grad)
        elif op == "fill_" and not self.repeats(x):
            self.run(f"fill_ {number}", lambda: x.fill_(3), no_grad)
        elif op == "double_":
            self.run(f"double_ {number}", lambda: x.mul_(2), no_grad)
        elif op in ("mul", "add_", "mul_", "copy_"):
            self.step_of_two(op, number, no_grad)

    def repeats(self, x):
        """Says whether elements share memory. PyTorch fills and copies into such tensors; here that is an error."""
        return any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape))

    def step_of_two(self, op, number, no_grad):
        x = self.tensors[number]
        for other in self.r.sample(range(len(self.tensors)), len(self.tensors)):
            y = self.tensors[other]
            if y is None or list(y.shape) != [1] * (y.dim() - x.dim()) + list(x.shape)[max(x.dim() - y.dim(), 0):] or y.dim() > x.dim():
                continue
            shares_memory = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
            if op == "mul":
                self.run(f"mul {number} {other}", lambda: x * y, no_grad)
            elif shares_memory or (op == "copy_" and self.repeats(x)):
                continue  # PyTorch does not define the result
            else:
                self.run(f"{op} {number} {other}", lambda: getattr(x, op)(y), no_grad)
            return

    def finish(self):
        try:
            loss = None
            for i, x in enumerate(self.tensors):
                if x is not None and x.requires_grad:
                    part = (x * (torch.arange(x.numel(), dtype=torch.float64) + (i + 1)).view(x.shape)).sum()
                    loss = part if loss is None else loss + part
            if loss is not None:
                loss.backward()
            for leaf in self.leaves:
                self.results.append("grad " + self.text(leaf.grad if leaf.is_leaf else None))
        except RuntimeError:
            self.results.append("backward raises")
        self.results += [self.text(None if x is None else x.detach()) for x in self.tensors]
        self.lines.append("end")

    @staticmethod
    def text(x):
        return "none" if x is None else " ".join(str(int(value)) for value in x.flatten().tolist())


def check_programs(build):
    programs = [Program(random.Random(seed)) for seed in range(3000)]
    source = "\n".join(line for program in programs for line in program.lines) + "\n"
    out = subprocess.run([build / "tests/torch_programs"], check=True, capture_output=True, text=True, input=source).stdout.splitlines()
    assert len(out) == len(programs), (len(out), len(programs))
    for program, got in zip(programs, out):
        expected = "|".join(program.results)
        assert got == expected, "\n".join(program.lines) + f"\ngives\n{got}\nbut in PyTorch\n{expected}"
    counts = [sum(what in "|".join(p.results) for p in programs) for what in ("line", "backward raises", "grad 1")]
    assert min(counts) > 20, counts
    print(f"{len(programs)} programs give the same values, gradients and errors; {counts[0]} have lines that raise an error")


if __name__ == "__main__":
    check_printing(pathlib.Path(sys.argv[1]))
    check_programs(pathlib.Path(sys.argv[1]))
