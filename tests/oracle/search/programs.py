"""Make a random program, line by line, while minigrad runs it: so its tensors are known."""

from __future__ import annotations

import contextlib
import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad

from ..log import Log
from .running import namespace, note_given, restore, shares
from .tables import FUNCTIONS, TABLES

Program = list[str]
SHAPES = [(), (2,), (2,), (3,), (3,), (3,), (2, 3), (2, 3), (2, 3), (3, 2), (1, 3), (2, 1), (2, 2)]
SHAPES += [(1,), (1, 1), (2, 3, 2), (2, 1, 3)]
KEYS = (
    "0",
    "-1",
    "1:",
    ":1",
    "::2",
    "..., 0",
    "None",
    "..., None",
    ":, 0",
    ":, 1:",
    "0, -1",
    "...",
)
KEYS += ("[0, 0]", "[0, -1]", "torch.tensor([1, 0])", "7")
MODES = ("with torch.no_grad(): ", "with torch.enable_grad(): ")
LARGE = 300.0
# What `running.py` says of the order in memory.
_NEEDS_ORDER = re.compile(r"view|reshape|ravel|flatten|contiguous|as_strided")
_LOSES_ORDER = re.compile(r"\.mT|linalg|inverse|einsum|\.t\(|\.T|\[\.\.\., |@|solve|bmm|matmul")
_TIES = re.compile(r"median|mode|kthvalue|topk|sort|arg|max|min|unique|quantile")
KINDS = {
    "tensors": {
        "leaf": 4, "compute": 70, "view": 28, "write": 32, "out": 4, "custom": 3, "flag": 9,
        "other": 6, "hook": 16, "pass": 11, "grad": 9,
    },
    "modules": {
        "leaf": 3, "compute": 6, "view": 3, "write": 2, "flag": 3, "other": 2, "hook": 12,
        "pass": 16, "grad": 6, "module": 12, "module hook": 40, "run": 24, "train": 18,
    },
}  # fmt: skip


def eighths(rng: random.Random) -> float:
    """Choose a number of so few bits that sums and products of several are exact in float32."""
    return rng.randrange(-16, 17) / 8


class Draft:
    """A program being made.

    Args:
        rng: The random numbers.
        dtype: Of most leaves.
        number: Gives a leaf's numbers.
    """

    def __init__(
        self, rng: random.Random, dtype: str, number: Callable[[random.Random], float] = eighths
    ) -> None:
        self.rng, self.dtype, self.number = rng, dtype, number
        self.program: Program = []
        self.names = namespace(minigrad, Log(minigrad))
        self.builtin = {*self.names}
        self.uncertain: set[str] = set()  # whose order in memory may differ between the libraries
        self.legacy = self.chance(0.3)
        # see `running.py` on hooks of leaves, and on modules that change tensors in place
        self.in_place_after, self.in_place = self.chance(0.5), self.chance(0.3)
        self.count = 0

    # ------------------------------------------------------------------ what there is

    def chance(self, probability: float) -> bool:
        """Say yes now and then."""
        return self.rng.random() < probability

    def pick(self, table: str) -> str:
        """Choose an alternative of a table."""
        return self.rng.choices([*TABLES[table]], [*TABLES[table].values()])[0]

    def of_kind(self, kind: Any) -> list[str]:
        """Give the variables of a class."""
        return [
            name
            for name, value in self.names.items()
            if name not in self.builtin and isinstance(value, kind) and name[0] != "_"
        ]

    def tensors(self, fits: Callable[[Any], Any] = lambda x: True) -> list[str]:
        """Give the tensors that fit."""
        found = []
        for name in self.of_kind(minigrad.Tensor):
            with contextlib.suppress(RuntimeError):  # of a view that is no longer valid
                found += [name] if fits(self.names[name]) else []
        return found

    def late(self, names: list[str]) -> str:
        """Choose a name, a late one more often than an early one."""
        return names[int(len(names) * self.rng.random() ** 0.7)]

    def new(self) -> str:
        """Give a new name: a, b, c, ..., then v26, v27, ..."""
        self.count += 1
        return chr(96 + self.count) if self.count < 27 else f"v{self.count}"

    # ------------------------------------------------------------------ statements

    def say(self, text: str) -> None:
        """Add a statement and run it."""
        for name, definition in FUNCTIONS.items():
            if f"{name}.apply" in text and name not in self.names:
                self.say(definition)
        self.program.append(text)
        before = dict(self.names)
        with warnings.catch_warnings(action="ignore"):
            try:
                exec(text, self.names)
            except Exception:
                return
        note_given(text, self.names)
        for name, value in self.names.items():
            if isinstance(value, minigrad.Tensor) and before.get(name) is not value:
                self._note_order(name, text)

    def _note_order(self, name: str, text: str) -> None:
        """Note whether the libraries may lay out a new tensor differently."""
        value = self.names[name]
        sources = [each for each in re.findall(r"\w+", text) if each != name and each in self.names]
        known = [self.names[each] for each in sources]
        mixed = any(isinstance(x, minigrad.Tensor) and not x.is_contiguous() for x in known)
        loose = mixed or _LOSES_ORDER.search(text) or name in self.names["_given"]
        self.uncertain.discard(name)
        if any(each in self.uncertain for each in sources) or (loose and not value._is_view()):
            self.uncertain.add(name)

    def tried(self, text: str, aim: str | None = None) -> Any:
        """Compute a statement on copies: its value, or what it makes of `aim`; None if it fails."""
        words = {*re.findall(r"\w+", text)}
        names = dict(self.names)
        for name in words & {*self.tensors()}:
            names[name] = self.names[name].detach().clone()
        state = minigrad.get_rng_state()
        with warnings.catch_warnings(action="ignore"), minigrad.no_grad():
            try:
                if aim is None:
                    return eval(text, names)
                exec(text, names)
                return names[aim]
            except Exception:
                return None
            finally:
                minigrad.set_rng_state(state)

    def drawn(self, table: str, x: str, aim: bool = False) -> tuple[str, Any] | None:
        """Fill an alternative so that it mostly works: its text and value."""
        for _ in range(12):
            holes = Holes(self, x=x)
            text = holes.fill(self.pick(table))
            value = self.tried(text, holes["x"] if aim else None)
            if value is None and not self.chance(0.02):
                continue
            if not (too_large(value) or self.is_left_out(text, holes, aim)):
                return text, value
        return None

    def is_left_out(self, text: str, holes: Holes, aim: bool) -> bool:
        """Tell what `running.py` leaves out, as far as memory and its order are concerned."""
        used = [name for name in self.tensors() if re.search(rf"\b{name}\b", text)]
        x, loose = holes["x"], self.uncertain.intersection(used)
        target = x if aim else holes.get("o")
        if loose and (_NEEDS_ORDER.search(text) or _TIES.search(text)):
            return True
        if "as_strided" in text and not self.names[x].is_contiguous():
            return True
        if target not in self.names:
            return False
        changed = self.names[target]
        sharing = [name for name in used if name != target and shares(self.names[name], changed)]
        floats = any(self.names[name].is_floating_point() for name in used)
        return bool(sharing) or (floats and not changed.is_floating_point())

    def fill(self, kind: str) -> None:
        """Make a program of a kind: see `make`."""
        rng = self.rng
        while len(self.program) < 3 or not self.tensors(lambda x: x.requires_grad):
            self.statement("leaf")
        if kind == "modules":
            for _ in range(rng.choice([1, 2, 3, 4])):
                self.statement("module")
            for _ in range(rng.choice([2, 4, 6])):
                self.statement("module hook")
            self.statement("run")
        length = len(self.program) + 6 + rng.randrange(20)
        while len(self.program) < length:
            self.statement(*rng.choices([*KINDS[kind]], [*KINDS[kind].values()]))
        self.statement("pass")
        given = self.names["_given"]
        for name in self.of_kind(minigrad.nn.Module):
            self.say(f"look(log, **dict({name}.named_parameters()))")
        seen = [name for name in self.tensors() if name not in given]
        self.say(f"look(log, {', '.join(f'{name}={name}' for name in seen)})")
        for name in sorted(given.intersection(self.tensors())):
            self.say(f"log('{name}', {name})")

    def statement(self, kind: str) -> None:
        """Add a statement of a kind."""
        mode = self.rng.choice(MODES) if self.chance(0.08) else ""
        make = getattr(self, f"_{kind.replace(' ', '_')}", None)
        if make is not None:
            make(mode)
            return
        holes = Holes(self)
        text = holes.fill(self.pick(kind))
        if not (holes.missing or self.is_excluded(text)):
            self.say(text)

    def is_excluded(self, text: str) -> bool:
        """Tell what `running.py` leaves out, as far as hooks and flags are concerned."""
        if self.in_place and re.match(r"h\d+ = \w+\.(register_hook|grad_fn)", text):
            return bool(self.of_kind(minigrad.nn.Module))
        if "leaf.grad." in text or "next_functions" in text:
            return self.in_place_after != ("leaf.grad." in text)
        if found := re.search("_(full_)?backward_(pre_)?hook", text):
            return self.legacy == bool(found[1]) and not self.chance(0.1)  # they exclude each other
        changed = re.match(r"(\w+)\.(detach_|data|requires_grad_|grad\.)", text)
        if changed is None or changed[2] == "grad.":
            return False
        x = self.names[changed[1]]
        return changed[1] in self.names["_given"] or x._is_view() or x._version > 0

    def _leaf(self, mode: str = "") -> None:
        """Make a tensor of numbers."""
        kind = self.dtype
        if self.chance(0.2):
            kind = self.rng.choice(["float32", "float64", "int64", "bool"])
        grad = kind[0] == "f" and self.chance(0.75)
        self.say(f"{self.new()} = {self.literal(self.rng.choice(SHAPES), kind, grad)}")

    def literal(self, shape: tuple[int, ...], dtype: str, grad: bool = False) -> str:
        """Write a tensor."""
        values = np.array([self.number(self.rng) for _ in range(int(np.prod(shape)))])
        if dtype[0] != "f":
            values = (values * 2).astype(dtype) if dtype == "int64" else values > 0
        entries = np.asarray(values).reshape(shape).tolist()
        kind = "" if dtype in ("float32", "bool") and values.size else f", dtype=torch.{dtype}"
        return f"torch.tensor({entries}{kind}{', requires_grad=True' if grad else ''})"

    def _assign(self, mode: str, text: str, value: Any) -> None:
        several = isinstance(value, (tuple, list))
        parts = list(value) if several else [value]
        if all(part is None or isinstance(part, minigrad.Tensor) for part in parts) and parts:
            names = ", ".join(self.new() for _ in parts)
            self.say(f"{mode}{names}{',' if several and len(parts) == 1 else ''} = {text}")

    def _compute(self, mode: str) -> None:
        floats = self.tensors(lambda x: x.is_floating_point())
        x = self.late(floats if floats and self.chance(0.9) else self.tensors())
        if drawn := self.drawn("compute", x):
            self._assign(mode, *drawn)

    def _custom(self, mode: str) -> None:
        self._assign(mode, Holes(self).fill(self.pick("custom")), minigrad.tensor(0))
        if "SumAndDifference" in self.program[-1]:  # see `running.py` on second outputs
            self.say(f"{self.new()}, _ = {self.program[-1].rpartition(' = ')[2]}")

    def _view(self, mode: str) -> None:
        if drawn := self.drawn("view", self.late(self.tensors())):
            self._assign(mode, *drawn)

    def _write(self, mode: str) -> None:
        given, wild = self.names["_given"], self.chance(0.1)
        fits = [
            name
            for name in self.tensors(lambda x: wild or not (x.is_leaf and x.requires_grad))
            if name not in given
        ]
        if fits and (drawn := self.drawn("write", self.late(fits), aim=True)):
            is_one = drawn[0].isprintable() and "; " not in drawn[0]
            self.say(f"{mode if is_one else ''}{drawn[0]}")

    def _out(self, mode: str) -> None:
        if drawn := self.drawn("out", self.late(self.tensors())):
            text, value = drawn
            target = self.names.get(text.rpartition("out=")[2].rstrip(")"))
            if value is not None and target is not None and value.shape == target.shape:
                self.say(f"{mode}{text}")

    # ------------------------------------------------------------------ modules

    def _module(self, mode: str = "") -> None:
        """Make a module: a layer, a sequence, or one whose forward has a few lines."""
        made, name = self.of_kind(minigrad.nn.Module), f"m{self.count}"
        self.count += 1
        kind = self.rng.choice(["Linear", "layer", "Sequential", "own", "own", "own"])
        seed = f"torch.manual_seed({self.rng.randrange(99)}); "
        double = ".double()" if self.dtype == "float64" else ""
        if kind == "Linear" or (kind == "Sequential" and not made):
            bias = "" if self.chance(0.8) else ", bias=False"
            self.say(f"{seed}{name} = torch.nn.Linear(3, 3{bias}){double}")
        elif kind == "layer":
            layer = self.rng.choice(["ReLU", "Tanh", "Sigmoid", "Identity"])
            self.say(f"{name} = torch.nn.{layer}()")
        elif kind == "Sequential":
            parts = [self.late(made) for _ in range(self.rng.choice([1, 2, 2, 3]))]
            self.say(f"{name} = torch.nn.Sequential({', '.join(parts)})")
        else:
            parts = [self.late(made) for _ in range(self.rng.choice([0, 1, 1, 2])) if made]
            self.say(self.own_class(name.upper(), len(parts)))
            self.say(f"{name} = {name.upper()}({', '.join(parts)}){double}")
        if self.chance(0.3) and isinstance(self.names[name], minigrad.nn.Linear):
            self.say(f"{name}.weight.requires_grad_(False)")

    def own_class(self, name: str, parts: int) -> str:
        """Write a class of modules."""
        lines = [f"self.part{place}(r)" for place in range(parts)]
        body = [self.pick("body") for _ in range(self.rng.choice([1, 1, 2, 3]))]
        left_out = r"chunk\(2\)\[0\]" if self.in_place else r"_\("
        lines += [each for each in body if not re.search(left_out, each)]
        self.rng.shuffle(lines)
        p = f"torch.nn.Parameter(torch.tensor({[self.number(self.rng) for _ in range(3)]}))"
        takes = "".join(f", part{place}" for place in range(parts))
        body = [
            f"class {name}(torch.nn.Module):",
            f"    def __init__(self{takes}):",
            "        super().__init__()",
            *(f"        self.part{place} = part{place}" for place in range(parts)),
            *([f"        self.p = {p}"] if any("self.p " in f"{line} " for line in lines) else []),
            "    def forward(self, *args, extra=None):",
            "        r, x = args[0], args[-1] if extra is None else extra",
            *(f"        r = {line}" for line in lines),
            f"        return {self.pick('result').format()}",
        ]
        return "\n".join(body)

    def _run(self, mode: str) -> None:
        if self.of_kind(minigrad.nn.Module):
            holes = Holes(self)
            self.say(holes.fill(self.pick("run")))
            value = self.names.get(holes["new"])
            parts = value.items() if isinstance(value, dict) else []
            if isinstance(value, (tuple, list)):
                parts = enumerate(value)
            for key, part in parts:
                if isinstance(part, minigrad.Tensor):
                    self.say(f"{self.new()} = {holes['new']}[{key!r}]")

    def _train(self, mode: str) -> None:
        if not self.of_kind(minigrad.optim.Optimizer):
            trained = Holes(self).fill(self.rng.choice(["[{leaf}]", "[*{m}.parameters(), {leaf}]"]))
            self.say(f"optimizer = torch.optim.SGD({trained}, lr=0.125, momentum=0.5)")
        elif not (holes := Holes(self)).missing:
            self.say(holes.fill(self.pick("train")))


def too_large(value: Any) -> bool:
    """Tell whether numbers grow too large, so that rounding would show."""
    if isinstance(value, (tuple, list)):
        return any(map(too_large, value))
    if not isinstance(value, minigrad.Tensor) or value.numel() == 0:
        return False
    largest = float(np.abs(value.detach().numpy().astype(float)).max())
    return not largest < LARGE or value.numel() > 64


class Holes(dict[str, str]):
    """The texts for the holes of one statement, made when they're asked for."""

    def __init__(self, draft: Draft, **given: str) -> None:
        super().__init__(given)
        self.draft, self.missing = draft, False

    def fill(self, text: str) -> str:
        """Fill the holes of a text."""
        return text.format_map(self)

    def __missing__(self, hole: str) -> str:
        """Make a text and keep it: of a table, of a variable, or of what `MADE` says."""
        if hole in TABLES:
            self[hole] = self.fill(self.draft.pick(hole))
        elif hole in CHOSEN:
            self[hole] = self.draft.rng.choice(CHOSEN[hole])
        elif hole in MADE:
            self[hole] = self.fill(MADE[hole])
        else:
            self[hole] = getattr(self, f"_{hole}")()
        return self[hole]

    # ------------------------------------------------------------------ variables

    def _one(self, fits: Callable[[Any], Any], otherwise: str = "") -> str:
        found = self.draft.tensors(fits)
        self.missing |= not found and not otherwise
        return self.draft.late(found) if found else otherwise or "a"

    def _x(self) -> str:
        return self._one(lambda x: True)

    def _y(self) -> str:
        return self._one(lambda y: True)

    def _f(self) -> str:
        return self._one(lambda x: x.is_floating_point() and not too_large(x * x * x))

    def _g(self) -> str:
        return self._one(lambda x: x.requires_grad and not dangerous(x))

    _g2 = _late = _g

    def _inner(self) -> str:
        return self._one(lambda x: x.requires_grad and not x.is_leaf)

    def _leaf(self) -> str:
        return self._one(lambda x: x.requires_grad and x.is_leaf and not x._is_view())

    def _leafy(self) -> str:
        return self._one(lambda x: x.is_leaf and x.is_floating_point() and not x._is_view())

    def _eq(self) -> str:
        first = self.draft.names[self["x"]]
        same = (first.shape, first.dtype)
        return self._one(
            lambda y: (y.shape, y.dtype) == same and y is not first, f"({self['x']} + 1)"
        )

    def _o(self) -> str:
        first, given = self.draft.names[self["x"]], self.draft.names["_given"]
        found = self.draft.tensors(lambda o: not o.requires_grad and not shares(o, first))
        found = [o for o in found if o not in given and o not in self.draft.uncertain]
        return self.draft.late(found) if found else "torch.empty(0)"

    def _three(self) -> str:
        floats = self.draft.dtype.removeprefix("float")
        found = self._one(
            lambda x: x.shape[-1:] == (3,) and x.ndim < 3 and str(x.dtype).endswith(floats), "-"
        )
        return found if found != "-" else self.draft.literal((2, 3), self.draft.dtype, True)

    def _of(self, kind: Any) -> str:
        found = self.draft.of_kind(kind)
        self.missing |= not found
        return self.draft.late(found) if found else "a"

    def _m(self) -> str:
        return self._of(minigrad.nn.Module)

    def _optimizer(self) -> str:
        return self._of(minigrad.optim.Optimizer)

    def _handle(self) -> str:
        return self._of(minigrad.utils.hooks.RemovableHandle)

    def _new(self) -> str:
        return self.draft.new()

    _new2 = _new

    def _h(self) -> str:
        return f"h{self['n']}"

    def _n(self) -> str:
        return str(len(self.draft.program))

    # ------------------------------------------------------------------ sizes and indices

    def _dim(self) -> str:
        ndim = max(self.draft.names[self["x"]].ndim, 1)
        return str(self.draft.rng.randrange(-ndim, ndim))

    def _order(self) -> str:
        order = [*range(self.draft.names[self["x"]].ndim)]
        self.draft.rng.shuffle(order)
        return ", ".join(map(str, order)) or "0"

    def _sizes(self) -> str:
        count = self.draft.names[self["x"]].numel()
        pairs = [(n, count // n) for n in range(1, count + 1) if count % n == 0]
        sizes = self.draft.rng.choice([(count,), (-1,), (1, -1), *pairs])
        return ", ".join(map(str, sizes))

    def _key(self) -> str:
        mask = f"{self['x']} > 0"
        return mask if self.draft.chance(0.1) else self.draft.rng.choice(KEYS)

    def _made(self, *shape: int) -> str:
        x = self.draft.names[self["x"]]
        kind = str(x.dtype).removeprefix("torch.").removeprefix("minigrad.")
        kind = kind if kind[0] == "f" else "float32"
        return self.draft.literal(shape, kind, self.draft.chance(0.3))

    def _plane_shape(self) -> tuple[int, int]:
        *_, rows, columns = 1, 1, *self.draft.names[self["x"]].shape
        return rows, columns

    def _row(self) -> str:
        return self._made(self._plane_shape()[1])

    def _weight(self) -> str:
        return self._made(2, self._plane_shape()[1])

    def _kernel(self) -> str:
        rows, columns = self._plane_shape()
        return self._made(2, rows, min(2, columns))

    def _kernel2(self) -> str:
        return self._made(2, 1, 1, min(2, self._plane_shape()[1]))

    def _beside(self) -> str:
        return self._made(self._plane_shape()[1], 2)

    def _bias(self) -> str:
        return self._made(2)

    _bias1 = _bias

    def _one_entry(self) -> str:
        return self._made(*self.draft.rng.choice([(), (1,)]))

    def _classes(self) -> str:
        rows, columns = self._plane_shape()
        entries = [self.draft.rng.randrange(max(columns, 1)) for _ in range(rows)]
        return f"torch.tensor({entries})"


def dangerous(x: Any) -> bool:
    """Tell on which tensors a hook crashes PyTorch: see `running.py`."""
    return x._is_view() and x.is_leaf and x._base.requires_grad


CHOSEN = {
    "dims": ["0", "-1", "1", "(0, -1)", "[0]"],
    "keep": ["", "", ", keepdim=True"],
    "number": ["0.5", "-1", "1.5", "2", "0"],
    "window": ["1", "2"],
    "ones": ["", "1", "1, 1"],
    "strided": ["(2,), (0,)", "(1,), (1,)", "(2, 2), (2, 1)", "(2, 2), (1, 1)", "(2,), (2,), 1"],
    "list": ["torch.tensor([0])", "torch.tensor([1, 0, 1])", "torch.tensor([0, 0])"],
    "list0": ["torch.tensor([0])", "torch.tensor([1, 0, 1])", "torch.tensor([[0, -1]])"],
    "last": ["[0, -1]", "[0, 0]", "torch.tensor([0])", "[[0], [-1]]"],
    "dtype": ["float32", "float64", "float64", "int64"],
}
MADE = {
    "py": "({y}.abs() + 0.5)",
    "pos": "({x}.abs() + 0.5)",
    "above": "({x}.abs() + 1.5)",
    "unit": "({x}.tanh() * 0.9)",
    "vec": "{x}.flatten()",
    "plane": "({x} if {x}.ndim == 2 else {x}.flatten()[None])",
    "batch": "{plane}[None]",
    "line": "{plane}[None]",
    "image": "{plane}[None, None]",
    "square": "({x}.mT @ {x} + 3 * torch.eye({x}.shape[-1], dtype={x}.dtype))",
    "listed": "({x}.index_select({dim}, {list}) * 2)",
    "grid": "({x} > 0).long()",
    "apart": "torch.ones_like({x}).cumsum({dim}).sub(1).long()",
    "gridded": "({x} * 2)",
    "one": "{one_entry}",
}


def make(seed: int, kind: str) -> Program:
    """Make the program of a seed: a few leaves, then anything, then a pass, then a look at it all.

    Args:
        seed: The seed.
        kind: `tensors` or `modules`.
    """
    rng = random.Random(f"{kind} {seed}")
    draft = Draft(rng, rng.choice(["float32", "float64"]))
    try:
        draft.fill(kind)
    finally:
        restore(minigrad, draft.names)
    return draft.program
