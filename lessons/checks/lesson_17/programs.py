"""Write small random programs, run them on a learner's classes and on minigrad, and shrink them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

import minigrad as torch

Answer = Callable[..., Any]
Seen = list[tuple[str, Any]]

_MOST_RUNS = 250  # of a failing program that is made smaller
_RELATIVE, _ABSOLUTE = 1e-6, 1e-8


@dataclass(frozen=True)
class Leaf:
    """A tensor that no operation made: its name, its entries, whether it requires a gradient."""

    name: str
    data: Any
    needs: bool = True


@dataclass(frozen=True)
class Step:
    """One operation: the name of its result, what is done, to which tensors, with what setting."""

    name: str
    does: str
    args: tuple[str, ...]
    setting: Any = None


@dataclass(frozen=True)
class HookOn:
    """A hook on a tensor: it looks, or gives something else back, or removes itself."""

    name: str
    kind: str


@dataclass(frozen=True)
class Program:
    """Leaves, operations, hooks, and then passes from some of the tensors, one after another."""

    leaves: tuple[Leaf, ...]
    steps: tuple[Step, ...]
    hooks: tuple[HookOn, ...] = ()
    passes: tuple[str, ...] = ()

    def lines(self, maker: str = "Tensor") -> list[str]:
        """Write the program as Python.

        Args:
            maker: what the class of the tensors is called.
        """
        asks = "" if maker == "Value" else ", requires_grad=True"
        found = [
            f"{leaf.name} = {maker}({_entries(leaf.data)}{asks if leaf.needs else ''})"
            for leaf in self.leaves
        ]
        found += [f"{step.name} = {_written(step)}" for step in self.steps]
        found += [f"{hook.name}.register_hook({_HOOKS[hook.kind][0]})" for hook in self.hooks]
        sizes = self.sizes()
        for root in self.passes:
            found.append(f"{root}{'' if sizes[root] == 1 else '.sum()'}.backward()")
        return found

    def sizes(self) -> dict[str, int]:
        """Tell how many entries each tensor has."""
        return {name: int(np.size(value)) for name, value in self.values().items()}

    def values(self) -> dict[str, Any]:
        """Compute all tensors as plain arrays."""
        found: dict[str, Any] = {leaf.name: np.array(leaf.data, float) for leaf in self.leaves}
        for step in self.steps:
            found[step.name] = _computed(step, [found[name] for name in step.args])
        return found


_HOOKS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "look": ("print", lambda g: None),
    "triple": ("lambda g: 3 * g", lambda g: 3 * g),
    "zero": ("lambda g: 0 * g", lambda g: 0 * g),
}
"""How a hook is written, and what it does; each notes what it was given."""

_SUMS = {
    (): "",
    (None, True): "keepdims=True",
    (0, False): "0",
    (1, False): "1",
    (-1, False): "-1",
    (0, True): "0, keepdims=True",
    (1, True): "1, keepdims=True",
}


def _entries(data: Any) -> str:
    return str(np.array(data, float).round(4).tolist())


def _written(step: Step) -> str:
    args, setting = step.args, step.setting
    if step.does in "+-*@":
        other = args[1] if len(args) > 1 else setting
        first, second = (
            (other, args[0]) if step.does == "-" and len(args) == 1 else (args[0], other)
        )
        return f"{first} {step.does} {second}"
    if step.does == "**":
        return f"{args[0]} ** {setting}"
    return f"{args[0]}.{step.does}({_SUMS[setting] if step.does == 'sum' else ''})"


def _computed(step: Step, args: Sequence[Any]) -> Any:
    """Carry one operation out, on arrays, on tensors or on a learner's: whatever has operators."""
    x = args[0]
    y = args[1] if len(args) > 1 else step.setting
    if step.does == "+":
        return x + y
    if step.does == "*":
        return x * y
    if step.does == "-":
        return x - y if len(args) > 1 else y - x
    if step.does == "@":
        return x @ y
    if step.does == "**":
        return x**y
    if isinstance(x, np.ndarray | np.generic) and step.does != "sum":
        return np.tanh(x) if step.does == "tanh" else np.maximum(x, 0.0)
    if step.does != "sum":
        return getattr(x, step.does)()
    if not step.setting:
        return x.sum()
    axis, keep = step.setting
    if isinstance(x, torch.Tensor):
        whole = tuple(range(x.dim()))
        return x.sum(dim=whole if axis is None else axis, keepdim=keep)
    return x.sum(axis=axis, keepdims=keep)


# ------------------------------------------------------------------ running


def array_of(value: Any) -> Any:
    """Give the array in a gradient, whatever it is wrapped in; None where there is none."""
    if value is None:
        return None
    if isinstance(value, torch.Tensor):
        return value.detach().numpy()
    inner = getattr(value, "data", None)
    return np.asarray(inner if isinstance(inner, np.ndarray) else value)


def play(program: Program, make: Answer, scalars: bool = False) -> Iterator[tuple[str, Any]]:
    """Run a program, and give what is to be seen of it, bit by bit, each with its name.

    Args:
        program: which.
        make: the class of the tensors, or `on_minigrad`.
        scalars: whether the class is that of plain numbers.
    """
    calls: list[tuple[str, Any]] = []
    tensors: dict[str, Any] = {}
    for leaf in program.leaves:
        given = float(leaf.data) if scalars else np.array(leaf.data, float)
        tensors[leaf.name] = make(given) if scalars else make(given, requires_grad=leaf.needs)
    for step in program.steps:
        made = _computed(step, [tensors[name] for name in step.args])
        tensors[step.name] = made
        yield f"the value of {step.name}", array_of(made.data)
    for hook in program.hooks:
        tensors[hook.name].register_hook(_noting(calls, hook))
    sizes = program.sizes()
    for at, root in enumerate(program.passes):
        start = tensors[root]
        if sizes[root] != 1:
            start = start.sum()
        kept = {"retain_graph": True} if isinstance(start, torch.Tensor) else {}
        start.backward(**kept)
        when = f" after pass {at + 1}" if len(program.passes) > 1 else ""
        if program.hooks:
            yield f"who was called{when}", [name for name, _ in _leaves_sorted(calls, program)]
            for name, gradient in _leaves_sorted(calls, program):
                yield f"what the hook on {name} was given{when}", gradient
            calls.clear()
        for leaf in program.leaves:
            gradient = array_of(tensors[leaf.name].grad)
            if scalars and gradient is None:
                gradient = np.array(0.0)
            yield f"{leaf.name}.grad{when}", gradient


def _noting(calls: list[tuple[str, Any]], hook: HookOn) -> Answer:
    def noting(gradient: Any) -> Any:
        calls.append((hook.name, np.array(array_of(gradient))))
        return _HOOKS[hook.kind][1](gradient)

    return noting


def _leaves_sorted(calls: Sequence[tuple[str, Any]], program: Program) -> list[tuple[str, Any]]:
    """Sort the calls on leaves that follow each other: several may be ready at once."""
    leaves = {leaf.name for leaf in program.leaves}
    found: list[tuple[str, Any]] = []
    run: list[tuple[str, Any]] = []
    for name, gradient in calls:
        if name in leaves:
            run.append((name, gradient))
            continue
        found += [*sorted(run, key=lambda call: call[0]), (name, gradient)]
        run = []
    return found + sorted(run, key=lambda call: call[0])


def on_minigrad(data: Any, requires_grad: bool = True) -> Any:
    """Make a tensor of minigrad, of the type that NumPy computes in."""
    return torch.tensor(data, dtype=torch.float64, requires_grad=requires_grad)


@dataclass(frozen=True)
class Difference:
    """The first thing in which a run differs from minigrad's.

    Args:
        what: its name.
        yours: what the learner's gave.
        right: what minigrad gave.
        error: the error, where the run ended in one.
    """

    what: str
    yours: Any = None
    right: Any = None
    error: Exception | None = None

    def lines(self) -> tuple[str, ...]:
        """Write it down, as comments behind a program."""
        if self.error is not None:
            text = " ".join(str(self.error).split())
            return (f"# {type(self.error).__name__}: {text}"[:100],)
        return (
            f"# {self.what}",
            f"#   yours:    {_short(self.yours)}",
            f"#   minigrad: {_short(self.right)}",
        )


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shape = f"   (shape {value.shape})" if value.size > 1 else ""
        return f"{value.round(4).tolist()}{shape}"[:90]
    return str(value)[:90] if value != [] else "nobody"


def difference(program: Program, make: Answer, scalars: bool = False) -> Difference | None:
    """Run a program on a learner's class and on minigrad; None where all agrees.

    Args:
        program: which.
        make: the class.
        scalars: whether it is that of plain numbers.
    """
    right = play(program, on_minigrad, scalars)
    mine = play(program, make, scalars)
    for what, wanted in right:
        try:
            name, found = next(mine)
        except Exception as error:
            return Difference(what, error=error)
        assert name == what or not isinstance(found, np.ndarray), (name, what)
        if not _alike(found, wanted):
            return Difference(what, found, wanted)
    return None


def _alike(found: Any, wanted: Any) -> bool:
    if found is None or wanted is None or isinstance(wanted, list):
        return found is wanted or (isinstance(wanted, list) and bool(found == wanted))
    try:
        close = np.allclose(np.asarray(found, float), wanted, _RELATIVE, _ABSOLUTE)
    except (TypeError, ValueError):
        return False
    return bool(np.shape(found) == np.shape(wanted) and close)


# ------------------------------------------------------------------ growing


def grown(seed: int, kind: str) -> Program:
    """Write a random program.

    Args:
        seed: of its random numbers.
        kind: "scalars" (plus and times), "graphs", or "hooks".
    """
    rng = Random(seed)
    rows, columns = rng.choice([(2, 3), (3, 2), (2, 2), (1, 3), (3, 1)])
    shapes = [(rows, columns), (columns,), (rows, 1), (1, columns), (columns, rows), ()]
    names = iter("abcdefghijklm")
    leaves = [
        Leaf(
            name, _drawn(rng, () if kind == "scalars" else rng.choice(shapes)), rng.random() < 0.85
        )
        for name in ("x", "w", "v")[: rng.randint(1, 3)]
    ]
    if kind == "scalars" or not any(leaf.needs for leaf in leaves):
        leaves = [replace(leaf, needs=True) for leaf in leaves]
    program = Program(tuple(leaves), ())
    values = program.values()
    wanted = rng.randint(2, 7)
    for _ in range(60):
        if len(program.steps) == wanted:
            break
        step = _next_step(rng, values, kind)
        made = _tried(step, values)
        if made is not None:
            named = replace(step, name=next(names))
            values[named.name] = made
            program = replace(program, steps=(*program.steps, named))
    alive = _alive(program)
    steps = [step.name for step in program.steps if step.name in alive]
    roots = [steps[-1] if steps else next(leaf.name for leaf in leaves if leaf.needs)]
    if kind != "scalars" and rng.random() < 0.5:
        roots.append(rng.choice([*steps, *roots]))
    program = replace(program, passes=tuple(roots))
    if kind == "hooks":
        kinds = ["look", "look", "triple", "zero"]
        hooked = [rng.choice(sorted(alive)) for _ in range(rng.randint(1, 4))]
        program = replace(program, hooks=tuple(HookOn(n, rng.choice(kinds)) for n in hooked))
    return program


def _drawn(rng: Random, shape: tuple[int, ...]) -> Any:
    size = int(np.prod(shape))
    entries = [rng.choice((-1, 1)) * rng.randint(3, 15) / 10 for _ in range(size)]
    return np.array(entries).reshape(shape).tolist()


def _next_step(rng: Random, values: dict[str, Any], kind: str) -> Step:
    def pick() -> str:
        known = list(values)
        return known[-1 - min(int(rng.expovariate(0.5)), len(known) - 1)]

    does = rng.choice("+*" if kind == "scalars" else ["+", "+", "*", "*", "-", "@", *_UNARY])
    if does in ("+", "*", "-") and rng.random() < 0.2:
        return Step("", does, (pick(),), rng.choice((2.0, -1.0, 0.5)))
    if does in _UNARY:
        setting = {"**": rng.choice((2, 3)), "sum": rng.choice(list(_SUMS))}.get(does)
        return Step("", does, (pick(),), setting)
    return Step("", does, (pick(), pick()))


_UNARY = ("**", "tanh", "relu", "sum")


def _tried(step: Step, values: dict[str, Any]) -> Any:
    """Compute a step on arrays; None where it cannot be done, or where numbers get large."""
    args = [values[name] for name in step.args]
    if step.does == "@" and {np.ndim(a) for a in args} != {2}:
        return None
    if step.does == "relu" and np.abs(args[0]).min() < 1e-3:
        return None
    try:
        made = np.asarray(_computed(step, args))
    except ValueError:  # shapes or axes that do not fit
        return None
    return made if np.abs(made).max() < 50 else None


def _alive(program: Program) -> set[str]:
    """List the tensors that require a gradient."""
    alive = {leaf.name for leaf in program.leaves if leaf.needs}
    for step in program.steps:
        if alive & set(step.args):
            alive.add(step.name)
    return alive


# ------------------------------------------------------------------ shrinking


def smallest(program: Program, make: Answer, scalars: bool = False) -> Program:
    """Make a failing program smaller as long as it still fails.

    Args:
        program: one that fails.
        make: the class on which it does.
        scalars: whether that is the class of plain numbers.
    """
    left = _MOST_RUNS
    while True:
        for each in _smaller(program):
            left -= 1
            if left < 0:
                return program
            if _valid(each) and difference(each, make, scalars) is not None:
                program = each
                break
        else:
            return program


def _smaller(program: Program) -> Iterator[Program]:
    for at in range(len(program.passes)):
        if len(program.passes) > 1:
            yield replace(program, passes=_without(program.passes, at))
    for at in range(len(program.hooks)):
        yield replace(program, hooks=_without(program.hooks, at))
    used = {name for step in program.steps for name in step.args} | {*program.passes}
    used |= {hook.name for hook in program.hooks}
    for at, step in enumerate(program.steps):
        if step.name not in used:
            yield replace(program, steps=_without(program.steps, at))
        for name in step.args:  # let what goes in take the place of what comes out
            yield _renamed(replace(program, steps=_without(program.steps, at)), step.name, name)
    for at, leaf in enumerate(program.leaves):
        if leaf.name not in used and len(program.leaves) > 1:
            yield replace(program, leaves=_without(program.leaves, at))
        for other in program.leaves[:at]:
            smaller = replace(program, leaves=_without(program.leaves, at))
            yield _renamed(smaller, leaf.name, other.name)
        if not leaf.needs:
            yield _with_leaf(program, at, replace(leaf, needs=True))
    if any(np.size(leaf.data) > 1 for leaf in program.leaves):
        for axis in (0, 1):
            leaves = tuple(replace(leaf, data=_cut(leaf.data, axis)) for leaf in program.leaves)
            yield replace(program, leaves=leaves)
        for at, leaf in enumerate(program.leaves):
            if np.ndim(leaf.data):
                for end in (0, -1):
                    data = np.array(leaf.data)[end].tolist()
                    yield _with_leaf(program, at, replace(leaf, data=data))
    for at, leaf in enumerate(program.leaves):
        plain = (np.arange(np.size(leaf.data)) + 2.0 + at).reshape(np.shape(leaf.data)).tolist()
        if plain != leaf.data:
            yield _with_leaf(program, at, replace(leaf, data=plain))


def _without(things: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    return things[:at] + things[at + 1 :]


def _with_leaf(program: Program, at: int, leaf: Leaf) -> Program:
    leaves = (*program.leaves[:at], leaf, *program.leaves[at + 1 :])
    return replace(program, leaves=leaves)


def _renamed(program: Program, old: str, new: str) -> Program:
    def name(each: str) -> str:
        return new if each == old else each

    return replace(
        program,
        steps=tuple(replace(s, args=tuple(map(name, s.args))) for s in program.steps),
        hooks=tuple(replace(hook, name=name(hook.name)) for hook in program.hooks),
        passes=tuple(map(name, program.passes)),
    )


def _cut(data: Any, axis: int) -> Any:
    """Take the last entry off an axis, counted from the end, so that shapes go on fitting."""
    array = np.array(data)
    at = array.ndim - 1 - axis
    if at < 0 or array.shape[at] < 2:
        return data
    return np.delete(array, -1, at).tolist()


def _valid(program: Program) -> bool:
    """Tell whether a program can be run on minigrad."""
    known = {leaf.name for leaf in program.leaves}
    for step in program.steps:
        if not set(step.args) <= known:
            return False
        known.add(step.name)
    alive = _alive(program)
    if not {*program.passes, *(hook.name for hook in program.hooks)} <= alive:
        return False
    values = {leaf.name: np.array(leaf.data, float) for leaf in program.leaves}
    for step in program.steps:
        made = _tried(step, values)
        if made is None:
            return False
        values[step.name] = made
    return True


def first_difference(
    make: Answer, kind: str, seeds: Sequence[int]
) -> tuple[Program, Difference] | None:
    """Run random programs until one differs, and give the smallest that still does.

    Args:
        make: the learner's class.
        kind: of the programs.
        seeds: one for each.
    """
    scalars = kind == "scalars"
    for seed in seeds:
        program = grown(seed, kind)
        if difference(program, make, scalars) is not None:
            program = smallest(program, make, scalars)
            found = difference(program, make, scalars)
            assert found is not None
            return program, found
    return None
