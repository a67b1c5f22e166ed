"""What the maker of programs knows of a program so far: shapes, dtypes, what needs a gradient."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .programs import Statement

Shape = tuple[int, ...]
MODES = ("with torch.no_grad(): ", "with torch.enable_grad(): ")
_KEEPS_ORDER = re.compile(
    r"\.(view|reshape|flatten|unsqueeze|squeeze|view_as|contiguous|to|detach|data)\b"
)
SHAPES: dict[Shape, int] = {
    (): 3,
    (1,): 1,
    (2,): 3,
    (3,): 5,
    (2, 3): 6,
    (3, 2): 3,
    (1, 3): 2,
    (2, 1): 2,
    (2, 2): 2,
    (1, 1): 1,
    (0,): 1,
    (2, 0): 1,
    (2, 3, 2): 1,
    (2, 1, 3): 1,
}


@dataclass
class Known:
    """What is believed of one variable. It may be wrong, which makes an error in both libraries.

    Attributes:
        name: The variable's name.
        shape: Its shape.
        dtype: Its dtype's name.
        grad: Whether it needs a gradient.
        leaf: Whether no operation made it.
        view: Whether it shares memory with another one.
        bound: No entry is larger in absolute value, as far as is known.
        positive: Whether all entries are above 1/16.
        repeated: Whether entries share memory with one another, as those of `expand` do.
        sources: The leaves it depends on.
        given: Whether `torch.autograd.grad` returned it, or it is a view of such a one.
        memory: The name of the tensor whose memory it shares, and `whole` that one's size.
        ordered: Whether it lies in memory in the order of printing.
        uncertain: Whether the order in memory may differ between the libraries: it is the result
            of several tensors that lie in different orders, or a gradient.
        written: Whether something that requires a gradient was written to it, or it was detached.
    """

    name: str
    shape: Shape
    dtype: str = "float32"
    grad: bool = False
    leaf: bool = False
    view: bool = False
    bound: float = 2.0
    positive: bool = False
    repeated: bool = False
    sources: frozenset[str] = frozenset()
    given: bool = False
    memory: str = ""
    whole: int = 0
    ordered: bool = True
    uncertain: bool = False
    written: bool = False

    @property
    def floating(self) -> bool:
        """Whether the entries are floating-point numbers."""
        return self.dtype.startswith("float")

    @property
    def size(self) -> int:
        """The number of entries."""
        count = 1
        for size in self.shape:
            count *= size
        return count


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """Give the shape that two shapes broadcast to, or None."""
    length = max(len(a), len(b))
    a, b = (1,) * (length - len(a)) + a, (1,) * (length - len(b)) + b
    if any(m != n and m != 1 and n != 1 for m, n in zip(a, b, strict=True)):
        return None
    return tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))


def meeting(a: Known, b: Known) -> str:
    """Give the dtype that two tensors meet in, roughly."""
    order = ["bool", "int64", "float32", "float64"]
    if a.floating == b.floating and bool(a.shape) != bool(b.shape):
        return a.dtype if a.shape else b.dtype
    return max(a.dtype, b.dtype, key=order.index)


@dataclass
class Draft:
    """A program being made.

    Attributes:
        rng: The random numbers.
        statements: The statements so far.
        variables: What is known of the variables, by name.
        handles: The names of the handles of hooks.
        recording: Whether operations are recorded outside of `with`.
        hooked: The variables that have hooks.
        leaf_hooks: Which hooks of leaves there are already of two that must not meet.
    """

    rng: random.Random
    statements: list[Statement] = field(default_factory=list)
    variables: dict[str, Known] = field(default_factory=dict)
    handles: list[str] = field(default_factory=list)
    recording: bool = True
    count: int = 0
    seeds: int = 0
    dtype: str = "float32"
    leaf_hooks: str = ""
    hooked: list[str] = field(default_factory=list)

    # ------------------------------------------------------------------ chances

    def chance(self, probability: float) -> bool:
        """Say yes now and then."""
        return self.rng.random() < probability

    def one_of(self, *things: str) -> str:
        """Choose a text."""
        return things[int(self.rng.random() * len(things))]

    def choose(self, things: Sequence[Known]) -> Known:
        """Choose a variable, a late one more often than an early one."""
        return things[int(len(things) * self.rng.random() ** 0.7)]

    def below(self, count: int) -> int:
        """Choose a number from 0 on."""
        return int(self.rng.random() * count)

    def shape(self) -> Shape:
        """Choose a shape for a new tensor."""
        return self.rng.choices(list(SHAPES), list(SHAPES.values()))[0]

    def seed(self) -> int:
        """Choose the seed of a tensor's numbers."""
        self.seeds += 1
        return self.below(1000)

    # ------------------------------------------------------------------ variables

    def name(self) -> str:
        """Give a new name: a, b, c, ..., then v26, v27, ..."""
        self.count += 1
        number = self.count - 1
        return chr(ord("a") + number) if number < 26 else f"v{number}"

    def tensors(
        self,
        *,
        floating: bool | None = None,
        grad: bool | None = None,
        at_least: int = 0,
        bound: float = 1e9,
    ) -> list[Known]:
        """Give the variables of a kind."""
        return [
            known
            for known in self.variables.values()
            if (floating is None or known.floating == floating)
            and (grad is None or known.grad == grad)
            and len(known.shape) >= at_least
            and known.bound <= bound
        ]

    # ------------------------------------------------------------------ statements

    def mode(self) -> str:
        """Choose a grad mode for one statement: seldom another one than that of the program."""
        if not self.chance(0.1):
            return ""
        return MODES[0] if self.chance(0.8) else MODES[1]

    def records(self, mode: str) -> bool:
        """Tell whether operations are recorded in a mode."""
        return self.recording if not mode else mode == MODES[1]

    def say(self, text: str, *looks: str) -> None:
        """Add a statement."""
        self.statements.append(Statement(text, " ".join(looks)))

    def define(self, expression: str, *sources: Known, shape: Shape, **facts: object) -> Known:
        """Add a statement that makes a new tensor from others."""
        name, mode = self.name(), self.mode()
        known = Known(name, shape, **facts)  # type: ignore[arg-type]
        known.grad = (
            known.floating and self.records(mode) and any(source.grad for source in sources)
        )
        if known.view and any(source.grad for source in sources):
            known.grad = True
        known.leaf = not known.grad
        known.memory, known.whole = name, known.size
        if known.view and sources:
            known.memory, known.whole = sources[0].memory, sources[0].whole
            known.ordered = sources[0].ordered and bool(_KEEPS_ORDER.search(expression))
            known.uncertain = sources[0].uncertain
        else:
            loose = [source for source in sources if not source.ordered]
            known.ordered = not loose
            known.uncertain = any(source.uncertain for source in sources) or any(
                source.repeated or len(sources) > 1 for source in loose
            )
        known.given = known.view and any(source.given for source in sources)
        known.sources = frozenset().union(*(source.sources for source in sources))
        self.variables[name] = known
        self.say(f"{mode}{name} = {expression}", *([name] if self.chance(0.7) else []))
        return known
