"""Makes random programs of operations on tensors, with PyTorch, which says whether a step is possible.

A program has a result that does not depend on how its floats are rounded: operations that jump (comparisons, rounding, sorting)
get numbers that are exact, or not close to a jump, and a program whose results in float64 are others is not taken."""
import math
import random

import torch

import torch_programs as torch_run

FLOATS = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}
SHORT = (torch.bfloat16, torch.float16)
# How far results may be from each other, relative to the largest number in them and 1, by the type that was the coarsest on the way.
TOLERANCES = {"float64": 1e-9, "float32": 2e-4, "short": 4e-2}
MAX_ELEMENTS = 96
VIEWS = {"view", "permute", "transpose", "slice", "select", "unsqueeze", "squeeze", "expand", "split", "split_with_sizes", "chunk", "index",
         "detach"}
# Operations that give exact results for exact numbers, such as integers divided by 8, unless these become too large.
KEEP_EXACT = VIEWS | {"add", "sub", "mul", "neg", "abs", "relu", "maximum", "minimum", "where", "clamp", "masked_fill", "matmul", "einsum",
                      "sum", "amax", "amin", "max", "min", "cumsum", "cat", "stack", "roll", "flip", "tril", "pad", "to", "clone",
                      "index_select", "gather", "scatter", "scatter_number", "scatter_add", "index_add", "index_copy", "sort", "topk",
                      "add_number", "sub_number", "mul_number", "number_sub", "floor", "ceil", "round", "sign", "square", "embedding",
                      "masked_select", "unique", "new"}


class Value:
    def __init__(self, number, tensor, exact, grain):
        self.number, self.tensor, self.exact, self.grain = number, tensor, exact, grain
        self.is_expanded = False  # a view through expand(), which cannot be written here

    def __getattr__(self, name):
        return getattr(self.tensor, name)


def is_float(x):
    return x.tensor.dtype.is_floating_point


def whole(x):
    return x.detach().to(torch.float64)


def exact_numbers(t):
    t = whole(t)
    return bool(((t * 64 == (t * 64).round()) & (t.abs() < 1024)).all())


def grain_of(dtype):
    return "short" if dtype in SHORT else "float32" if dtype == torch.float32 else "float64"


def coarser(a, b):
    order = ["float64", "float32", "short"]
    return order[max(order.index(a), order.index(b))]


class Refused(Exception):
    """The step is not possible, or its result would depend on rounding."""


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed, self.steps, self.values, self.pool, self.leaves = seed, [], [], [], []
        self.multiplied = set()  # storages of operands of products with gradients
        self.short = self.random.random() < 0.15

    # --- choices ---

    def chance(self, p):
        return self.random.random() < p

    def pick(self, fits=lambda x: True):
        found = [x for x in self.pool if fits(x)]
        if not found:
            raise Refused
        # Newer values are chosen more often, so that programs become deep.
        return found[max(self.random.randrange(len(found)), self.random.randrange(len(found)))]

    def pick_float(self):
        return self.pick(is_float)

    def dim_of(self, x):
        if x.dim() == 0:
            raise Refused
        return self.random.randrange(-x.dim(), x.dim())

    def dims_of(self, x):
        count = self.random.randint(0, x.dim())
        return [d - x.dim() if self.chance(0.3) else d for d in self.random.sample(range(x.dim()), count)]

    def partner(self, x, fits=lambda x: True):
        """Returns a value that can be broadcast with x."""
        def broadcasts(y):
            return fits(y) and all(a == b or 1 in (a, b) for a, b in zip(reversed(x.shape), reversed(y.shape)))
        return self.pick(broadcasts)

    def number(self, x):
        if x.tensor.dtype == torch.bool:
            return self.random.choice([True, False])
        if is_float(x) and self.chance(0.6):
            return self.random.randint(-16, 16) / 8
        return self.random.randint(-3, 3)

    # --- conditions on numbers ---

    def margin(self, *inputs):
        if any(x.grain == "short" for x in inputs):
            return 0.1
        return 1e-3

    def need(self, condition):
        if not bool(condition):
            raise Refused

    def apart(self, distance, *inputs):
        """Needs distances from a jump that no rounding can bridge; 0 is allowed between exact numbers."""
        distance = whole(distance).abs()
        exact = all(x.exact for x in inputs)
        self.need((distance.gt(self.margin(*inputs)) | (distance.eq(0) if exact else False)).all())

    def all_apart(self, x, dim=None, ties=True):
        """Needs the numbers along `dim`, or all, to be apart from each other."""
        t = whole(x.tensor).flatten() if dim is None else whole(x.tensor).movedim(dim, -1)
        t = t.sort(-1).values
        gaps = t[..., 1:] - t[..., :-1]
        if not ties:
            self.need((gaps > 0).all())
        if is_float(x):
            self.apart(gaps, x)

    # --- adding steps ---

    def fill(self, count):
        while len(self.pool) < count:
            try:
                self.leaf()
            except Refused:
                pass
        while sum(step[0] not in ("new", "drop") for step in self.steps) < self.length:
            self.one()

    def leaf(self):
        r = self.random
        kinds = ["float32"] * 6 + ["float64", "int64", "int64", "int32", "bool"] + (["bfloat16", "float16"] * 2 if self.short else [])
        dtype = r.choice(kinds)
        if self.pool and self.chance(0.6):
            sizes = list(self.pick().shape)
            for i in range(len(sizes)):
                if self.chance(0.2):
                    sizes[i] = 1
            if self.chance(0.2):
                sizes = sizes[1:]
        else:
            sizes = [r.choice([1, 2, 2, 3, 3, 4, 5]) for _ in range(r.choice([0, 1, 1, 2, 2, 2, 3, 3]))]
            if sizes and self.chance(0.03):
                sizes[r.randrange(len(sizes))] = 0
        needs_grad = dtype in FLOATS and self.chance(0.6)
        low, high, divisor = {"bool": (0, 2, 1), "int64": (-4, 5, 1), "int32": (-4, 5, 1)}.get(dtype, (-16, 17, 8))
        self.add(["new", dtype, sizes, r.randrange(1 << 20), low, high, divisor, needs_grad])
        if needs_grad:
            self.leaves.append(len(self.values) - 1)

    def indices(self, sizes, bound, low=0):
        self.need(bound > 0)
        self.add(["new", self.random.choice(["int64", "int64", "int32"]) if low == 0 and len(sizes) == 1 else "int64", sizes,
                  self.random.randrange(1 << 20), low, bound, 1, False], keeps=False)
        return len(self.values) - 1

    def add(self, step, inputs=(), keeps=True):
        """Runs a step and takes it, unless the results are not fit."""
        before = len(self.values)
        name = step[0]
        try:
            results = torch_run.add_step(step, self.values)
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            del self.values[before:]
            raise Refused from error
        added = []
        for i, t in enumerate(results):
            grain = grain_of(t.dtype) if t.dtype.is_floating_point or not inputs else "float64"
            for x in inputs:
                if t.dtype.is_floating_point:
                    grain = coarser(grain, x.grain)
            exact = not t.dtype.is_floating_point or (
                name in KEEP_EXACT and all(x.exact for x in inputs) and exact_numbers(t))
            added.append(Value(before + i, t, exact, grain))
            added[-1].is_expanded = name in VIEWS and (name == "expand" or any(x.is_expanded for x in inputs))
        fits = all(x.numel() <= MAX_ELEMENTS and self.bounded(x) for x in added)
        # x[i] with a tensor i without dimensions is a view in PyTorch, which reads i. Here it is a copy.
        by_tensor = name == "index" and any(isinstance(item, dict) for item in step[2])
        if fits and (name not in VIEWS or by_tensor):
            shared = {x.untyped_storage().data_ptr() for x in self.pool if x.numel()}
            fits = all(x.numel() == 0 or x.untyped_storage().data_ptr() not in shared for x in added)
        if not fits:
            del self.values[before:]
            raise Refused
        self.steps.append(step)
        if keeps:
            self.pool += added
            while len(self.pool) > 20:
                self.drop(self.pool[self.random.randrange(10)])
        return added

    def bounded(self, x):
        if x.dtype == torch.bool:
            return True
        if not is_float(x):
            return bool((x.tensor.abs() < 1 << 20).all())
        limit = 100 if x.grain == "short" else 1000
        return bool((x.tensor.detach().abs() < limit).all())

    def drop(self, x):
        self.pool.remove(x)
        if x.number not in self.leaves:  # whose gradients are results
            self.steps.append(["drop", x.number])

    def one(self):
        r = self.random
        steps, values = len(self.steps), len(self.values)
        try:
            kind = r.random()
            if kind < 0.03:
                self.steps.append(["mark"])
            elif kind < 0.05:
                self.steps.append(["read", self.pick().number])
            elif kind < 0.06:
                self.steps.append(["unlazy", [self.pick().number for _ in range(2)]])
            elif kind < 0.10:
                self.leaf()
            elif kind < 0.19:
                self.write()
            else:
                getattr(self, r.choice(MAKERS))()
        except Refused:
            # What was made only for this step, such as its indices, goes with it.
            del self.steps[steps:], self.values[values:]
            self.refused += 1
            self.need_progress()

    def need_progress(self):
        if self.refused > 40 * self.length:
            raise StopIteration

    # --- operations ---

    def make_unary(self):
        r = self.random
        name = r.choice(torch_run.UNARY + ["silu", "gelu", "leaky_relu"])
        x = self.pick() if self.chance(0.15) else self.pick_float()
        t = whole(x.tensor)
        if is_float(x):
            if name in ("log", "log2", "sqrt", "rsqrt"):
                self.need((t > 0.05).all())
            if name == "reciprocal":
                self.need((t.abs() > 0.05).all())
            if name == "log1p":
                self.need((t > -0.9).all())
            if name == "tan":
                self.need((t.cos().abs() > 0.2).all())
            if name in ("floor", "ceil"):
                self.apart(t - t.round(), x)
            if name == "round":
                self.apart(t - t.floor() - 0.5, x)
            if name in ("sign", "relu", "abs", "leaky_relu", "logical_not"):
                self.apart(t, x)
        elif name in ("silu", "gelu", "leaky_relu"):
            raise Refused
        step = [name, x.number]
        if name == "gelu":
            step.append(r.choice(["none", "tanh"]))
        if name == "leaky_relu":
            step.append(r.choice([0.01, 0.25, 0.5]))
        self.add(step, [x])

    def make_binary(self):
        name = self.random.choice(torch_run.BINARY + ["add", "sub", "mul", "add", "mul"])
        a = self.pick()
        b = self.partner(a)
        ta, tb = whole(a.tensor), whole(b.tensor)
        floats = is_float(a) or is_float(b)
        if name in ("div", "remainder"):
            self.need((tb.abs() > 0.1).all())
            if name == "remainder" and floats:
                self.apart(ta / tb - (ta / tb).round(), a, b)
                self.need(a.exact and b.exact and "short" not in (a.grain, b.grain))
        if name == "pow":
            self.need(((ta > 0.1) & (tb.abs() < 4)).all() if floats else (tb >= 0).all())
        if floats and name in ("maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge"):
            self.apart(ta - tb, a, b)
        if floats and name.startswith("logical"):
            self.apart(ta, a)
            self.apart(tb, b)
        self.add([name, a.number, b.number], [a, b])

    def make_with_number(self):
        names = [name for name in torch_run.STEPS if name.endswith("_number") and not name.startswith(("scatter", "index_put"))]
        name = self.random.choice(names + ["number_sub", "number_div", "number_pow"])
        x = self.pick()
        number = self.number(x)
        t = whole(x.tensor)
        if name in ("div_number", "remainder_number"):
            self.need(abs(number) > 0.1)
            if name == "remainder_number" and (is_float(x) or isinstance(number, float)):
                self.need(x.exact and x.grain != "short")
        if name == "pow_number":
            number = self.random.choice([2, 3, 0.5, 1.5, -1, 0, 1])
            self.need((t > 0.1).all() if number not in (0, 1, 2, 3) else True)
        if name == "number_pow":
            self.need(number > 0.1 and not isinstance(number, bool) and ((t.abs() < 4).all() if is_float(x) else (t >= 0).all()))
        if name == "number_div":
            self.need((t.abs() > 0.1).all())
        if is_float(x) and name[:2] in ("eq", "ne", "lt", "le", "gt", "ge"):
            self.apart(t - number, x)
        step = [name, number, x.number] if name.startswith("number") else [name, x.number, number]
        self.add(step, [x])

    def make_choice(self):
        kind = self.random.choice(["where", "clamp", "masked_fill"])
        if kind == "clamp":
            x = self.pick_float()
            low = self.random.randint(-12, 4) / 8
            high = low + self.random.randint(0, 12) / 8
            self.apart(whole(x.tensor) - low, x)
            self.apart(whole(x.tensor) - high, x)
            self.add(["clamp", x.number, low, high], [x])
            return
        mask = self.pick(lambda x: x.dtype == torch.bool)
        a = self.partner(mask)
        if kind == "masked_fill":
            self.add(["masked_fill", a.number, mask.number, self.number(a)], [a])
        else:
            b = self.partner(a)
            self.add(["where", mask.number, a.number, b.number], [a, b])

    def make_product(self):
        a = self.pick(lambda x: x.dim() > 0 and x.dtype != torch.bool)
        b = self.pick(lambda x: x.dim() > 0 and x.dtype == a.tensor.dtype)
        if self.chance(0.5):
            self.add(["matmul", a.number, b.number], [a, b])
            self.keep(a, b)
            return
        # Each dimension of b gets the letter of a dimension of a with the same size, or a new one.
        letters = "abcdefghijkl"
        left = [letters[i] for i in range(a.dim())]
        if a.dim() > 1 and a.shape[0] == a.shape[-1] and self.chance(0.2):
            left[-1] = left[0]
        right, used = [], set()
        for size in b.shape:
            same = [left[i] for i in range(a.dim()) if a.shape[i] == size and left[i] not in used]
            letter = self.random.choice(same) if same and self.chance(0.7) else letters[len(right) + 6]
            used.add(letter)
            right.append(letter)
        one = self.chance(0.2)
        terms = "".join(left) if one else "".join(left) + "," + "".join(right)
        all_letters = sorted(set(terms) - {","})
        kept = self.random.sample(all_letters, self.random.randint(0, len(all_letters)))
        equation = terms if self.chance(0.2) else terms + "->" + "".join(kept)
        if self.chance(0.15) and not one:
            equation = f"...{left[-1]},...{right[-1]}->..." if self.chance(0.5) else f"...{left[-1]},{right[-1]}...->..."
        operands = [a] if one else [a, b]
        self.add(["einsum", equation, [x.number for x in operands]], operands)
        self.keep(*operands)

    def keep(self, *operands):
        # PyTorch sometimes multiplies copies, so that the operands may be written before the gradient is computed. Here they may not.
        self.multiplied |= {x.untyped_storage().data_ptr() for x in operands if any(y.tensor.requires_grad for y in operands)}

    def make_reduction(self):
        r = self.random
        name = r.choice(torch_run.REDUCTIONS + ["prod", "norm", "var", "std", "argmax", "argmin", "max", "min"])
        x = self.pick_float() if name in ("mean", "norm", "var", "std") else self.pick()
        keep = self.chance(0.4)
        if name in ("argmax", "argmin", "max", "min"):
            dim = self.dim_of(x)
            self.all_apart(x, dim)
            self.need(x.dtype != torch.bool)
            self.add([name, x.number, dim, keep], [x])
            return
        if name == "prod":
            self.add([name, x.number, self.dim_of(x), keep], [x])
            return
        dims = self.dims_of(x)
        if x.dim() == 0:
            dims = []
        if name in ("amax", "amin"):
            self.all_apart(x)
        if name in ("any", "all") and is_float(x):
            self.apart(x.tensor, x)
        step = [name, x.number, dims, keep]
        if name == "norm":
            p = r.choice([2, 2, 2, 1, 0, "inf", "-inf", 3, 1.5])
            if p not in (1, 2):
                self.apart(x.tensor, x)
            if p == 0:
                self.need(x.exact)
            if p in ("inf", "-inf"):
                positive = Value(0, x.tensor.detach().abs(), x.exact, x.grain)
                self.all_apart(positive)
            if p == 2:
                length = torch.linalg.vector_norm(whole(x.tensor), 2, dims or None)
                self.apart(length, x)
            step = [name, x.number, p, dims, keep]
        if name in ("var", "std"):
            less = r.choice([1, 1, 0])
            count = math.prod(x.shape[d] for d in (dims or range(x.dim())))
            self.need(count > less)
            spread = torch.var(whole(x.tensor), dims or list(range(x.dim())), correction=less) if x.dim() else torch.zeros(())
            self.apart(spread, x)
            step = [name, x.number, dims, less, keep]
        self.add(step, [x])

    def make_along(self):
        name = self.random.choice(torch_run.ALONG + ["cumsum"])
        x = self.pick() if name == "cumsum" else self.pick_float()
        self.add([name, x.number, self.dim_of(x)], [x])

    def make_sorted(self):
        x = self.pick(lambda x: x.dim() > 0 and x.dtype != torch.bool)
        dim = self.dim_of(x)
        if self.chance(0.5):
            self.all_apart(x, dim)
            self.add(["sort", x.number, dim, self.chance(0.5)], [x])
        else:
            self.all_apart(x, dim, ties=False)
            self.add(["topk", x.number, self.random.randint(0, x.shape[dim]), dim, self.chance(0.6)], [x])

    def make_joined(self):
        first = self.pick()
        count = self.random.randint(1, 3)
        if self.chance(0.5):
            dim = self.dim_of(first)

            def fits(x):
                return x.dim() == first.dim() and all(
                    i == dim % first.dim() or x.shape[i] == first.shape[i] for i in range(first.dim()))
            parts = [first] + [self.pick(fits) for _ in range(count - 1)]
            self.add(["cat", [x.number for x in parts], dim], parts)
        else:
            parts = [first] + [self.pick(lambda x: x.shape == first.shape) for _ in range(count - 1)]
            dim = self.random.randint(-first.dim() - 1, first.dim())
            self.need(all(x.dtype == first.dtype for x in parts))
            self.add(["stack", [x.number for x in parts], dim], parts)

    def make_parts(self):
        x = self.pick(lambda x: x.dim() > 0)
        dim = self.dim_of(x)
        size = x.shape[dim]
        kind = self.random.choice(["split", "split_with_sizes", "chunk"])
        if kind == "split_with_sizes":
            first = self.random.randint(0, size)
            self.add([kind, x.number, [first, size - first], dim], [x])
        else:
            self.add([kind, x.number, self.random.randint(1, 3), dim], [x])

    def make_moved(self):
        r = self.random
        kind = r.choice(["roll", "flip", "tril", "pad", "clone", "to", "to"])
        x = self.pick()
        if kind == "roll":
            dims = r.sample(range(x.dim()), r.randint(0, x.dim()))
            self.need(x.dim() > 0)
            self.add([kind, x.number, [r.randint(-4, 4) for _ in dims] or [r.randint(-4, 4)], dims], [x])
        elif kind == "flip":
            self.add([kind, x.number, self.dims_of(x)], [x])
        elif kind == "tril":
            self.add([kind, x.number, r.randint(-2, 2)], [x])
        elif kind == "pad":
            self.need(x.dim() > 0 and x.dtype != torch.bool)
            low, high = ([r.choice([0, 0, 1, 2, -1]) for _ in x.shape] for _ in range(2))
            self.need(all(size + a >= 0 and size + b >= 0 and size + a + b >= 0 for size, a, b in zip(x.shape, low, high)))
            self.add([kind, x.number, low, high, r.randint(-2, 2)], [x])
        elif kind == "clone":
            self.add([kind, x.number], [x])
        else:
            dtype = r.choice(["float32", "float32", "float64", "int64", "int32", "bool"] + (["bfloat16", "float16"] if self.short else []))
            self.need(getattr(torch, dtype) != x.tensor.dtype)
            t = whole(x.tensor)
            if is_float(x) and dtype in ("int32", "int64"):
                self.apart(t - t.round(), x)
            if is_float(x) and dtype == "bool":
                self.apart(t, x)
            self.add([kind, x.number, dtype], [x])

    def make_view(self):
        r = self.random
        x = self.pick(lambda x: x.dim() > 0)
        kind = r.choice(["view", "permute", "transpose", "slice", "select", "unsqueeze", "squeeze", "expand", "detach"])
        if kind == "view":
            sizes = [x.numel()]
            for _ in range(r.randint(0, 2)):
                size = r.choice([n for n in (1, 2, 3, 4, 5) if sizes[-1] % n == 0])
                sizes = sizes[:-1] + [size, sizes[-1] // size]
            if x.numel() and self.chance(0.3):
                sizes[r.randrange(len(sizes))] = -1
            arguments = [sizes]
        elif kind == "permute":
            dims = list(range(x.dim()))
            r.shuffle(dims)
            arguments = [dims]
        elif kind == "transpose":
            arguments = [self.dim_of(x), self.dim_of(x)]
        elif kind == "slice":
            dim = self.dim_of(x)
            arguments = [dim, r.randint(-3, 3), r.randint(-1, 5), r.choice([1, 1, 2])]
        elif kind == "select":
            dim = self.dim_of(x)
            self.need(x.shape[dim] > 0)
            arguments = [dim, r.randrange(-x.shape[dim], x.shape[dim])]
        elif kind == "unsqueeze":
            arguments = [r.randint(-x.dim() - 1, x.dim())]
        elif kind == "squeeze":
            arguments = [self.dim_of(x)]
        elif kind == "expand":
            sizes = [r.choice([2, 3]) if n == 1 and self.chance(0.7) else r.choice([n, -1]) for n in x.shape]
            arguments = [([r.choice([1, 2])] if self.chance(0.3) else []) + sizes]
        else:
            self.need(self.chance(0.3))
            arguments = []
        self.add([kind, x.number, *arguments], [x])

    def index_items(self, x):
        """Returns a random index, with the steps that make its tensors already added, and how it is of basic parts only."""
        r = self.random
        items, dim, tensors, dots = [], 0, 0, False
        shape = None
        while dim < x.dim() and not (items and self.chance(0.25)):
            kind, size = r.random(), x.shape[dim]
            if kind < 0.2 and size > 0:
                items.append(r.randrange(-size, size))
                dim += 1
            elif kind < 0.45:
                items.append([r.choice([None, 0, 1, -2]), r.choice([None, None, 2, -1, 4]), r.choice([None, 1, 2])])
                dim += 1
            elif kind < 0.55:
                items.append(None)
            elif kind < 0.62 and not dots:
                items.append("...")
                dots = True
                dim += r.randint(0, x.dim() - dim)  # at least so many are left for the others
            elif kind < 0.85 and size > 0:
                if shape is None:
                    shape = r.choice([[2], [3], [2, 2], [1], []]) if not tensors else [2]
                items.append({"value": self.indices(shape, size, low=-size)})
                tensors += 1
                dim += 1
            elif not dots:
                dims = r.randint(1, min(2, x.dim() - dim))
                self.add(["new", "bool", list(x.shape[dim:dim + dims]), r.randrange(1 << 20), 0, 2, 1, False], keeps=False)
                self.need(tensors == 0)
                items.append({"value": len(self.values) - 1})
                tensors += 9  # no other tensor fits its unknown count
                dim += dims
            if tensors >= 9 and self.chance(0.5):
                break
        for item in items:
            if isinstance(item, list) and item[2] is None:
                item[2] = 1
        return items

    def make_indexed(self):
        r = self.random
        kind = r.choice(["index", "index", "index", "index_select", "gather", "scatter", "scatter_number", "scatter_add", "index_add",
                         "index_copy", "embedding", "one_hot", "nonzero", "masked_select", "unique"])
        if kind == "index":
            x = self.pick(lambda x: x.dim() > 0)
            items = self.index_items(x)
            self.add(["index", x.number, items], [x])
            return
        if kind == "embedding":
            x = self.pick(lambda x: x.dim() == 2 and x.shape[0] > 0)
            self.add([kind, x.number, self.indices(r.choice([[3], [2, 2]]), x.shape[0])], [x])
            return
        if kind == "one_hot":
            classes = r.randint(1, 4)
            self.add([kind, self.indices([3], classes, low=0), classes])
            return
        if kind == "masked_select":
            mask = self.pick(lambda x: x.dtype == torch.bool)
            x = self.partner(mask)
            self.add([kind, x.number, mask.number], [x])
            return
        x = self.pick(lambda x: x.dim() > 0)
        if kind in ("nonzero", "unique"):
            self.all_apart(x)
            if is_float(x):
                self.apart(x.tensor, x)
            if kind == "unique":
                self.need(not x.tensor.requires_grad)
            self.add([kind, x.number], [x])
            return
        dim = self.dim_of(x)
        size = x.shape[dim]
        if kind == "index_select":
            self.add([kind, x.number, dim, self.indices([r.randint(0, 4)], size)], [x])
            return
        if kind in ("index_add", "index_copy"):
            by = self.pick(lambda y: y.dim() == x.dim() and y.dtype == x.dtype and all(
                i == dim % x.dim() or y.shape[i] == x.shape[i] for i in range(x.dim())))
            count = by.shape[dim]
            at = self.indices([count], size) if kind == "index_add" else self.distinct([count], 0, size)
            self.add([kind, x.number, dim, at, by.number], [x, by])
            return
        if kind == "gather":
            shape = [r.randint(1, n) if n else 0 for n in x.shape]
            shape[dim] = r.randint(1, 4)
            self.add([kind, x.number, dim, self.indices(shape, size)], [x])
            return
        by = self.pick(lambda y: y.dim() == x.dim() and y.dtype == x.dtype)
        shape = [min(a, b) for a, b in zip(x.shape, by.shape)]
        if kind == "scatter_add":
            shape[dim] = by.shape[dim]
        if by.tensor.requires_grad:
            self.need(tuple(shape) == tuple(by.shape))
        at = self.indices(shape, size) if kind == "scatter_add" else self.distinct(shape, dim, size)
        if kind == "scatter_number":
            self.add([kind, x.number, dim, at, self.number(x)], [x])
        else:
            self.add([kind, x.number, dim, at, by.number], [x, by])

    def distinct(self, shape, dim, size):
        """Returns indices that are distinct along `dim`, because the order of writes to one place is not defined."""
        self.need(shape[dim] <= size and math.prod(shape) > 0)
        self.add(["new", "int64", shape[:dim % len(shape)] + [size] + shape[dim % len(shape) + 1:], self.random.randrange(1 << 20), 0,
                  1 << 14, 1, False], keeps=False)
        draws = Value(len(self.values) - 1, self.values[-1], True, "float64")
        self.all_apart(draws, dim, ties=False)
        self.add(["topk", draws.number, shape[dim], dim, True], keeps=False)
        return len(self.values) - 1

    # --- writes in place ---

    def aliases(self, x):
        place = x.untyped_storage().data_ptr()
        return [y for y in self.pool if y is not x and y.numel() and y.untyped_storage().data_ptr() == place]

    def write(self):
        r = self.random
        name = r.choice(["copy_", "fill_", "add_", "sub_", "mul_", "div_", "add_number_", "mul_number_", "masked_fill_", "index_put_",
                         "index_put_", "index_put_number_", "index_put_number_"])
        x = self.pick(lambda x: x.numel() > 0 and x.tensor.dtype != torch.bool)
        self.need(not (x.tensor.requires_grad and x.tensor.is_leaf))
        self.need(not x.is_expanded)
        by, step = None, None
        if name in ("copy_", "add_", "sub_", "mul_", "div_"):
            by = self.partner(x, lambda y: y.dtype != torch.bool)
            if name == "copy_" and is_float(by) and not is_float(x):
                self.need(by.exact)
            if name == "div_":
                self.need((whole(by.tensor).abs() > 0.1).all())
            step = [name, x.number, by.number] + ([r.choice([1, 1, 2, -1])] if name in ("add_", "sub_") else [])
        elif name in ("fill_", "add_number_", "mul_number_"):
            step = [name, x.number, self.number(x)]
        elif name == "masked_fill_":
            mask = self.partner(x, lambda y: y.dtype == torch.bool)
            step = [name, x.number, mask.number, self.number(x)]
        else:
            self.need(x.dim() > 0)
            items = self.index_items(x)
            try:
                part = x.tensor.detach()[torch_run.index_of(items, self.values)]
            except IndexError as error:
                raise Refused from error
            self.need(part.numel() > 0)
            # Two writes to one place have no defined order.
            places = torch.arange(x.numel()).view(x.shape)[torch_run.index_of(items, self.values)].flatten()
            adds = name == "index_put_" and self.chance(0.3)
            self.need(adds or len(places.unique()) == len(places))
            if name == "index_put_":
                by = self.pick(lambda y: y.dtype == x.dtype and y.dim() <= part.dim() and all(
                    a in (b, 1) for a, b in zip(reversed(y.shape), reversed(part.shape))))
                step = [name, x.number, items, by.number, adds]
            else:
                step = [name, x.number, items, self.number(x)]
        others = self.aliases(x)
        self.need(x.untyped_storage().data_ptr() not in self.multiplied)
        # PyTorch does not say what a write of a tensor to a part of itself gives.
        self.need(by is None or by is x or by not in others)
        with_grad = x.tensor.requires_grad or (by is not None and by.tensor.requires_grad) or any(
            y.tensor.requires_grad for y in others)
        if with_grad:
            self.need(not any(y.tensor.requires_grad and y.tensor.is_leaf for y in others))
        inputs = [x] + ([by] if by is not None else [])
        self.add(step, inputs)
        grain = x.grain if by is None or not is_float(x) else coarser(x.grain, by.grain)
        for y in [x] + others:
            y.exact = not is_float(y) or (all(i.exact for i in inputs) and name not in ("div_",) and exact_numbers(y.tensor))
            y.grain = coarser(y.grain, grain)
            if not self.bounded(y):
                raise StopIteration  # it cannot be undone

    # --- the whole program ---

    def program(self):
        """Returns the program and its results, or None if it cannot be compared."""
        self.length, self.refused = self.random.randint(15, 45), 0
        try:
            self.fill(self.random.randint(2, 5))
        except (StopIteration, RuntimeError):  # PyTorch refuses a value of which a part was written
            return None
        program = {"seed": self.seed, "steps": self.steps, "results": [x.number for x in self.pool[-5:]], "losses": [], "leaves": []}
        try:
            ends = [x for x in self.pool if is_float(x) and x.tensor.requires_grad]
        except RuntimeError:
            return None
        if ends:
            program["losses"] = [x.number for x in self.random.sample(ends, min(len(ends), 3))]
            program["leaves"] = self.leaves
        grains = {x.number: x.grain for x in self.pool}
        worst = "float64"
        for t in self.values:
            if t.dtype.is_floating_point:
                worst = coarser(worst, grain_of(t.dtype))
        try:
            results = torch_run.run(program)
            wide = torch_run.run(program, widen=True)
        except RuntimeError:
            return None
        results.tolerances = []
        for (what, value), (_, other) in zip(results.all, wide.all):
            tolerance = TOLERANCES[grains.get(int(what.split()[1]), worst) if what.startswith("value") else worst]
            results.tolerances.append(tolerance)
            if not alike(value, other, tolerance / 4):
                return None
        return program, results


def alike(a, b, tolerance):
    if a is None or b is None:
        return a is b
    if not a.dtype.is_floating_point:
        return a.shape == b.shape and bool((a == b.to(a.dtype)).all())
    a, b = whole(a), whole(b)
    if a.shape != b.shape or not bool(torch.isfinite(a).all()):
        return False
    if a.numel() == 0:
        return True
    scale = max(1.0, float(a.abs().max()))
    return scale < 1e5 and float((a - b).abs().max()) <= tolerance * scale


MAKERS = (["make_unary"] * 5 + ["make_binary"] * 6 + ["make_with_number"] * 4 + ["make_choice"] * 2 + ["make_product"] * 3 +
          ["make_reduction"] * 5 + ["make_along"] * 2 + ["make_sorted"] * 2 + ["make_joined"] * 2 + ["make_parts"] * 2 +
          ["make_moved"] * 3 + ["make_view"] * 5 + ["make_indexed"] * 6)


def programs(first_seed, count):
    """Yields programs with their results."""
    seed = first_seed
    while count > 0:
        made = Generator(seed).program()
        seed += 1
        if made is not None:
            count -= 1
            yield made
