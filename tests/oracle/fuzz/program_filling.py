"""Fill the places of a template with tensors, dimensions, indices and numbers that fit."""

from __future__ import annotations

from typing import Any

from .program_model import Draft, Known, broadcast
from .program_operations import made


class Filling(dict[str, str]):
    """The texts for the places of one template, made when they are asked for.

    Attributes:
        sources: The variables that were filled in.
    """

    def __init__(self, draft: Draft, x: Known, **given: str) -> None:
        """Start from one tensor."""
        super().__init__(x=x.name, **given)
        self.draft, self.first, self.sources = draft, x, [x]
        ndim = len(x.shape)
        self.axis = draft.below(ndim) if ndim else 0
        self.long = x.shape[self.axis] if ndim else 1
        self.floats = x.dtype if x.floating else "float32"
        self.picked = [draft.below(max(self.long, 1)) for _ in range(1 + draft.below(3))]

    def __missing__(self, place: str) -> str:
        """Make a text and keep it: a place that comes twice is filled twice with the same."""
        self[place] = text = getattr(self, f"_{place}")()
        return text

    def _made(self, *shape: int) -> str:
        extra = ", grad=True" if self.draft.chance(0.3) else ""
        return made(self.draft, shape, self.floats, extra)

    # ------------------------------------------------------------------ tensors

    def _other(self, fits: Any) -> Known | None:
        others = [y for y in self.draft.tensors(bound=64) if fits(y)]
        if not others:
            return None
        self.sources.append(self.draft.choose(others))
        return self.sources[-1]

    def _y(self) -> str:
        other = self._other(lambda y: broadcast(self.first.shape, y.shape) is not None)
        return self.first.name if other is None else other.name

    def _eq(self) -> str:
        x = self.first
        other = self._other(lambda y: y.shape == x.shape and y.dtype == x.dtype and y is not x)
        return f"({x.name} + 1)" if other is None else other.name

    def _py(self) -> str:
        return f"({self['y']}.abs() + 0.5)"

    def _unit(self) -> str:
        return f"({self['x']}.tanh() * 0.9)"

    def _pos(self) -> str:
        return f"({self['x']}.abs() + 0.5)"

    def _above(self) -> str:
        return f"({self['x']}.abs() + 1.5)"

    def _one(self) -> str:
        return self._made(1) if self.draft.chance(0.5) else self._made()

    def _even(self) -> str:
        return f"torch.cat([{self['x']}, {self['x']}], {self['dim']})"

    def _vec(self) -> str:
        x = self.first
        if len(x.shape) == 1:
            return x.name
        return self._made(3) if x.uncertain or x.size > 6 else f"{x.name}.flatten()"

    def _three(self) -> str:
        x = self.first
        return x.name if x.shape[-1:] == (3,) else self._made(2, 3)

    def _o(self) -> str:
        found = [y for y in self.draft.tensors() if not (y.grad or y.given or y.repeated)]
        found = [y for y in found if y.memory != self.first.memory and not y.uncertain]
        if found and self.draft.chance(0.95):
            return self.draft.choose(found).name
        return self["x"]

    # ------------------------------------------------------------------ dimensions, numbers

    def _dim(self) -> str:
        ndim = len(self.first.shape)
        return str(self.axis - ndim * self.draft.below(2))

    def _dims(self) -> str:
        if len(self.first.shape) > 1 and self.draft.chance(0.4):
            return "(0, -1)"
        return self["dim"] if self.draft.chance(0.7) else f"[{self['dim']}]"

    def _keep(self) -> str:
        return ", keepdim=True" if self.draft.chance(0.4) else ""

    def _number(self) -> str:
        return self.draft.one_of("0.5", "-1", "1.5", "2", "0")

    def _window(self) -> str:
        return self.draft.one_of("1", "2", "2")

    def _order(self) -> str:
        order = [*range(len(self.first.shape))]
        self.draft.rng.shuffle(order)
        return ", ".join(map(str, order))

    def _ones(self) -> str:
        return ", ".join("1" for _ in self.first.shape[1:])

    def _strided(self) -> str:
        whole = max(self.first.size, 1)
        choices = [f"({whole},), (1,)", "(2,), (0,)", "(1,), (1,)"]
        if whole >= 4:
            choices += ["(2, 2), (2, 1)", "(2, 2), (1, 1)", "(2, 2), (1, 2)", "(2,), (2,), 1"]
        return self.draft.one_of(*choices)

    # ------------------------------------------------------------------ indices

    def _list(self) -> str:
        entries = self.picked if self.long else []
        return f"torch.tensor({entries}{'' if entries else ', dtype=torch.int64'})"

    def _list0(self) -> str:
        size = self.first.shape[0] if self.first.shape else 1
        entries = [self.draft.below(size) for _ in range(1 + self.draft.below(3))] if size else []
        if entries and self.draft.chance(0.5):
            return f"torch.tensor([{entries}])"
        return f"torch.tensor({entries}{'' if entries else ', dtype=torch.int64'})"

    def _listed(self, count: int | None = None) -> str:
        x = self.first
        count = len(self.picked if self.long else []) if count is None else count
        if not x.shape:
            return made(self.draft, (), x.dtype)
        if self.draft.chance(0.4) and self.long:
            rows = f"torch.tensor({[self.draft.below(self.long) for _ in range(count)]})"
            return f"({x.name}.index_select({self['dim']}, {rows}) * 2)"
        shape = (*x.shape[: self.axis], count, *x.shape[self.axis + 1 :])
        grad = ", grad=True" if x.floating and self.draft.chance(0.5) else ""
        return made(self.draft, shape, x.dtype, grad)

    def _single(self) -> str:
        return f"torch.tensor([{self.draft.below(max(self.long, 1))}])"

    def _one_listed(self) -> str:
        return self._listed(1)

    def _nested(self, entry: Any, place: tuple[int, ...] = ()) -> Any:
        if len(place) == len(self.first.shape):
            return entry(place)
        return [self._nested(entry, (*place, i)) for i in range(self.first.shape[len(place)])]

    def _grid(self) -> str:
        if not self.first.size:
            return f"torch.zeros({self.first.shape}, dtype=torch.int64)"
        return f"torch.tensor({self._nested(lambda place: self.draft.below(self.long))})"

    def _apart(self) -> str:
        if not self.first.shape or not self.first.size:
            return self._grid()
        shift = self.draft.below(2)
        return f"torch.tensor({self._nested(lambda at: (at[self.axis] + shift) % self.long)})"

    def _gridded(self) -> str:
        x = self.first
        if self.draft.chance(0.4):
            return f"({x.name} * 2)"
        grad = ", grad=True" if x.floating and self.draft.chance(0.5) else ""
        return made(self.draft, x.shape, x.dtype, grad)

    def _flats(self) -> str:
        return made(self.draft, (2,), self.first.dtype)

    def _flat1(self) -> str:
        return f"torch.tensor([{self.draft.below(max(self.first.size, 1))}])"

    def _flats1(self) -> str:
        return made(self.draft, (1,), self.first.dtype)

    def _last(self) -> str:
        return self.draft.one_of("[0, -1]", "[0, 0]", "torch.tensor([0])", "[[0], [-1]]")

    def _selected(self) -> str:
        return f"{self['x']}.select({self['dim']}, -1) * 2"

    def _sliced(self) -> str:
        return f"{self['x']}.narrow({self['dim']}, 0, 1) * 2"

    def _qs(self) -> str:
        return f"torch.tensor([0.25, 0.5], dtype=torch.{self.floats})"

    def _edges(self) -> str:
        return "torch.tensor([-1.0, 0.0, 1.0])"

    # ------------------------------------------------------------------ matrices, images

    def _flat_matrix(self) -> tuple[str, int, int]:
        """Give a matrix, as text, with its numbers of rows and columns."""
        if "plane" not in self:
            x, shape = self.first, self.first.shape
            if not x.floating or not x.size or not shape:
                self["plane"], self.rows, self.columns = self._made(2, 3), 2, 3
            elif len(shape) == 1:
                self["plane"], self.rows, self.columns = f"{x.name}[None]", 1, shape[0]
            else:
                text = (
                    x.name if len(shape) == 2 else f"{x.name}[{', '.join('0' * (len(shape) - 2))}]"
                )
                self["plane"], (self.rows, self.columns) = text, shape[-2:]
        return self["plane"], self.rows, self.columns

    def _plane(self) -> str:
        return self._flat_matrix()[0]

    def _plane_square(self) -> str:
        plane = self._flat_matrix()[0]
        return f"({plane} @ {plane}.mT)"

    def _row(self) -> str:
        return self._made(self._flat_matrix()[2])

    def _column(self) -> str:
        return self._made(self._flat_matrix()[1])

    def _weight(self) -> str:
        last = self.first.shape[-1] if self.first.shape else 1
        return self._made(2, last)

    def _bias(self) -> str:
        return self._made(2)

    def _bias1(self) -> str:
        return self._made(2)

    def _batch(self) -> str:
        return f"{self._flat_matrix()[0]}[None]"

    def _line(self) -> str:
        return f"{self._flat_matrix()[0]}[None]"

    def _kernel(self) -> str:
        return self._made(2, self._flat_matrix()[1], min(2, self._flat_matrix()[2]))

    def _image(self) -> str:
        return f"{self._flat_matrix()[0]}[None, None]"

    def _image2(self) -> str:
        return f"{self._flat_matrix()[0]}[None, None].repeat(1, 1, 2, 2)"

    def _kernel2(self) -> str:
        return self._made(1 + self.draft.below(2), 1, 1, min(2, self._flat_matrix()[2]))

    def _classes(self) -> str:
        _, rows, columns = self._flat_matrix()
        return f"torch.tensor({[self.draft.below(columns) for _ in range(rows)]})"

    def _size(self) -> int:
        return self._flat_matrix()[2]

    def _square(self) -> str:
        x = self.first
        kind = f", dtype=torch.{self.floats}"
        if x.floating and len(x.shape) >= 2 and x.size:
            n = x.shape[-1]
            return f"({x.name}.mT @ {x.name} + 3 * torch.eye({n}{kind}))"
        return f"({x.name}.sum().sin() * torch.full((2, 2), 0.5{kind}) + 3 * torch.eye(2{kind}))"

    def _beside(self) -> str:
        x = self.first
        return self._made(x.shape[-1] if x.floating and len(x.shape) >= 2 and x.size else 2, 2)
