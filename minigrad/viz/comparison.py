"""Record passes of either library, and run one program on both to see where they part."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any
from weakref import ref

import numpy as np

import minigrad
from minigrad.autograd import recording
from minigrad.autograd.recording import NodeLabel
from minigrad.core.tensor import Tensor
from minigrad.viz import pytorch, pytorch_passes
from minigrad.viz.player import Log


class record(recording.record):
    """Log the backward passes of a block: what each node got, what each hook saw, what went where.

    They are logged on minigrad's tensors and, where it has been imported, on PyTorch's, with the
    same events. The passes run as they would have: order, values and versions are as without it.
    Gradients are copied, so that what is written into them later does not change the log.

    Of PyTorch's gradients with more than 4,096 entries the log has the shape, the norm and the
    first entries, and those on other devices are copied to the CPU. What runs inside a compiled
    graph or another kernel cannot be seen, nor can hooks that were registered in C++. Passes that
    a hook starts are logged; those of other threads and processes are not.

    Args:
        names: Names for tensors, as in `draw`: a dict `{"x": x, "s": s}`, a Module, whose
            parameters' names are taken, or a list of both.

    Returns:
        As the target of `with`: the `Log`, which `save` writes as a page that plays it.

    Raises:
        TypeError: If something else than a tensor has a name.

    Example:
        >>> import minigrad as torch  # or: import torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> def double(grad):
        ...     return grad * 2
        >>> handle = x.register_hook(double)
        >>> with record({"x": x}) as log:
        ...     (x * 5).backward()
        >>> log
        node                   event                           values
        0 MulBackward0         pass starts here                [1.0000]
        0 MulBackward0         starts with                     [1.0000]
        0 MulBackward0         rule                            [1.0000] -> ([5.0000], None)
        0 MulBackward0         sends to 1 AccumulateGrad of x  [5.0000]
        1 AccumulateGrad of x  starts with                     [5.0000]
        1 AccumulateGrad of x  tensor pre-hook double          saw [5.0000], returned [10.0000]
        1 AccumulateGrad of x  adds to .grad                   [10.0000], now [10.0000]
    """

    def __enter__(self) -> Log:
        """Begin to log."""
        inner = super().__enter__()
        log = Log(inner.events, inner._names)  # the same lists
        self._foreign = None
        if "torch" in sys.modules:
            log._names += [(name, ref(tensor)) for name, tensor in self._other_names]
            self._foreign = pytorch_passes.Recorder(self._other_names, log)
            self._foreign.start()
        return log

    def __exit__(self, *exception: object) -> None:
        """End."""
        if self._foreign is not None:
            self._foreign.stop()
        super().__exit__(*exception)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What a program did on two libraries.

    Attributes:
        ours: The log of minigrad.
        theirs: The log of PyTorch.
        place: The number of the first event at which they part; None if they are equal.
    """

    ours: Log
    theirs: Log
    place: int | None

    def __bool__(self) -> bool:
        """Tell whether the logs are equal."""
        return self.place is None

    def __repr__(self) -> str:
        if self.place is None:
            return f"{len(self.ours)} events on each library, and the logs are equal"
        lines = [f"they part at event {self.place}, after {self.place} that are equal:"]
        for name, log in (("minigrad", self.ours), ("PyTorch", self.theirs)):
            told = log[self.place : self.place + 1].rows()[1:]
            lines.append(f"  {name:8}  {'  '.join(*told) if told else 'has ended'}")
        return "\n".join(lines)


def compare(program: Callable[[Any], Any]) -> Comparison:
    """Run a program on minigrad and on PyTorch, and compare what their backward passes do.

    Args:
        program: Called with either library in turn: `def program(torch): ...`. It makes everything
            that it needs; random numbers begin at the same seed.

    Returns:
        The two logs, and the first event at which they part. Numbers count as equal if they differ
        by less than the root of their type's precision, relative to the largest in their tensor,
        or by a few times that precision, relative to the largest so far: the libraries add up in
        different orders.

    Raises:
        ModuleNotFoundError: If PyTorch is not installed.

    Example:
        >>> def program(torch):
        ...     x = torch.tensor([3.0], requires_grad=True)
        ...     handle = x.register_hook(lambda grad: grad * 2)
        ...     (x * 5).backward()
        >>> compare(program)  # doctest: +SKIP
        7 events on each library, and the logs are equal
    """
    ours, theirs = (_log_of(program, each) for each in (minigrad, import_module("torch")))
    return Comparison(ours, theirs, first_difference(ours, theirs))


def _log_of(program: Callable[[Any], Any], library: ModuleType) -> Log:
    library.manual_seed(0)
    with record() as log:
        program(library)
    return log


def first_difference(ours: Log, theirs: Log) -> int | None:
    """Give the number of the first event that is not the same in two logs; None if all are."""
    largest: dict[Any, float] = {}  # number of each type so far
    for place, (one, another) in enumerate(zip(ours, theirs, strict=False)):
        if type(one) is not type(another) or not _same(_facts(one), _facts(another), largest):
            return place
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))


def _facts(event: recording.Event) -> list[Any]:
    return [getattr(event, each.name) for each in dataclasses.fields(event)]


def _same(one: Any, another: Any, most: dict[Any, float]) -> bool:
    """Compare what two events tell; numbers with a tolerance."""
    if isinstance(one, (tuple, list)):
        same_kind = isinstance(another, (tuple, list)) and len(one) == len(another)
        return same_kind and all(_same(*pair, most) for pair in zip(one, another, strict=True))
    if isinstance(one, NodeLabel):
        return (one.number, one.name, one.called) == (another.number, another.name, another.called)
    if isinstance(one, Tensor) and isinstance(another, Tensor):
        a, b = one._array, another._array
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind not in "fc" or not a.size:
            return np.array_equal(a, b)
        largest = float(np.abs(a[np.isfinite(a)]).max(initial=0.0))
        most[a.dtype] = max(largest, most.get(a.dtype, 0.0))
        precision = float(np.finfo(a.dtype).eps)
        near = max(precision**0.5 * largest, 8 * precision * most[a.dtype])
        return np.allclose(a, b, rtol=0, atol=near, equal_nan=True)
    if isinstance(one, Tensor) and isinstance(another, pytorch.Summary):
        a, near = one._array, 1e-3 * another.norm if another.norm < np.inf else 0.0
        norm = np.linalg.norm(a.astype(np.promote_types(a.dtype, np.float64)))  # halves overflow
        some, expected = [norm, *a.ravel()[: len(another.first)]], [another.norm, *another.first]
        return a.shape == another.shape and np.allclose(some, expected, rtol=1e-3, atol=near)
    return not isinstance(one, Tensor) and bool(one == another)
