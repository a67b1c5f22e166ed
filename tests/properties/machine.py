"""Anything in any order, on minigrad (or PyTorch) and on the naive engine beside it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from . import naive

LARGEST = 1e3  # sines of larger numbers are all rounding


class Pair(NamedTuple):
    """A tensor of the module under test, and the naive one that is to be like it."""

    tested: Any
    naive: Any


class Handle(NamedTuple):
    """A hook's handle, the naive list that it is in, and the naive hook itself."""

    tested: Any
    hooks: list[Any]
    hook: Any


class Stopped(ArithmeticError):
    """Raised by hooks."""


def outcome(action: Callable[[], Any]) -> tuple[Any, str]:
    """Give what an action gives, and what it was refused with."""
    try:
        return action(), ""
    except (RuntimeError, naive.Refused, Stopped) as error:
        return None, f"{'Stopped: ' if isinstance(error, Stopped) else ''}{error}"


class Machine(RuleBasedStateMachine):
    """Tensors of two entries and of none, operations, hooks and passes.

    Attributes:
        torch: The module under test.
    """

    torch: ModuleType
    tensors = Bundle("tensors")
    handles = Bundle("handles")

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        naive.keepers.clear()
        self.pairs: list[Pair] = []
        self.seen: list[Any] = []
        self.expected: list[Any] = []
        self.hooks = 0
        self.inner: set[naive.Node] = set()  # made while recording a pass

    # ------------------------------------------------------------------ tensors

    def take(self, tested: Any, plain: Any) -> Pair:
        """Keep a pair."""
        self.pairs.append(Pair(tested, plain))
        return self.pairs[-1]

    @rule(
        target=tensors,
        values=st.lists(st.integers(-8, 8), min_size=2, max_size=2),
        needs=st.booleans(),
    )
    def make(self, values: list[int], needs: bool) -> Pair:
        """Make a leaf."""
        array = np.array(values) / 7
        tested = self.torch.tensor(array.tolist(), dtype=self.torch.float64, requires_grad=needs)
        return self.take(tested, naive.Tensor(naive.Memory(array), needs))

    @rule(target=tensors, x=tensors, name=st.sampled_from(["sin", "tanh", "sum", "clone"]))
    def compute(self, x: Pair, name: str) -> Pair:
        """Apply a function."""
        if name == "sum" and not x.naive.memory.array.ndim:
            name = "sin"
        return self.take(getattr(self.torch, name)(x.tested), naive.call(name, x.naive))

    @rule(target=tensors, x=tensors, y=tensors, name=st.sampled_from(["add", "mul"]))
    def combine(self, x: Pair, y: Pair, name: str) -> Pair:
        """Add or multiply; numbers are stacked first where the other is no number."""
        x, y = self.fitting(x, y)
        self.assume_small(name, x, y)
        return self.take(
            getattr(self.torch, name)(x.tested, y.tested), naive.call(name, x.naive, y.naive)
        )

    def fitting(self, x: Pair, y: Pair) -> tuple[Pair, Pair]:
        """Bring two tensors to one shape."""
        if x.naive.memory.array.shape == y.naive.memory.array.shape:
            return x, y
        return tuple(
            each
            if each.naive.memory.array.ndim
            else Pair(
                self.torch.stack([each.tested] * 2), naive.call("stack", each.naive, each.naive)
            )
            for each in (x, y)
        )  # type: ignore[return-value]

    @staticmethod
    def assume_small(name: str, *given: Pair) -> None:
        """Go on only if the result is not too large."""
        array = naive.OPERATIONS[name][0](*(each.naive.memory.array for each in given))
        assume(np.abs(array).max() < LARGEST)

    @rule(x=tensors, name=st.sampled_from(["sin", "tanh"]))
    def change(self, x: Pair, name: str) -> None:
        """Apply a function in place."""
        self.both(
            lambda: getattr(self.torch, name + "_")(x.tested),
            lambda: naive.call(name, x.naive, into=x.naive),
        )

    @rule(x=tensors, y=tensors, name=st.sampled_from(["add", "mul"]))
    def change_by(self, x: Pair, y: Pair, name: str) -> None:
        """Add to a tensor or multiply it, in place."""
        assume(x.naive.memory.array.ndim >= y.naive.memory.array.ndim)
        x, y = self.fitting(x, y)
        self.assume_small(name, x, y)
        self.both(
            lambda: getattr(x.tested, name + "_")(y.tested),
            lambda: naive.call(name, x.naive, y.naive, into=x.naive),
        )

    @rule(x=tensors)
    def step(self, x: Pair) -> None:
        """Change a tensor in place, unrecorded."""
        with self.torch.no_grad():
            x.tested.sin_()
        naive.recording[0] = False
        naive.call("sin", x.naive, into=x.naive)
        naive.recording[0] = True

    @rule(target=tensors, x=tensors)
    def detach(self, x: Pair) -> Pair:
        """Share the memory and nothing else."""
        return self.take(x.tested.detach(), naive.Tensor(x.naive.memory))

    # ------------------------------------------------------------------ hooks

    def hook_pair(self, does: str, many: bool) -> tuple[Any, Any]:
        """Make a hook for each engine: it notes what it sees, and doubles or stops."""
        self.hooks += 1
        label = self.hooks

        def tested(*given: Any) -> Any:
            self.seen.append((label, *map(self.written, given)))
            if does == "stop":
                raise Stopped("by a hook")
            if does == "double":
                twice = [None if g is None else g * 2 for g in self.listed(given[0])]
                return tuple(twice) if many else twice[0]
            return None

        def plain(*given: Any) -> Any:
            self.expected.append((label, *map(self.written, given)))
            if does == "stop":
                raise Stopped("by a hook")
            if does == "double":
                twice = [
                    None if g is None else naive.call_quietly(g, g, naive.recording[0])
                    for g in self.listed(given[0])
                ]
                return twice if len(given) > 1 else twice[0]
            return None

        return tested, plain

    @staticmethod
    def listed(given: Any) -> list[Any]:
        """Give one or several as a list."""
        return [*given] if isinstance(given, (tuple, list)) else [given]

    def written(self, given: Any) -> Any:
        """Write down what a hook sees."""
        return [None if each is None else numbers_of(each) for each in self.listed(given)]

    ACTIONS = st.lists(st.sampled_from(["look", "look", "double", "stop"]), min_size=1, max_size=2)

    def register(
        self, register: Callable[..., Any], hooks: list[Any], actions: list[str], many: bool = False
    ) -> Any:
        """Register hooks on both, one after the other."""
        handles = []
        for does in actions:
            tested, plain = self.hook_pair(does, many)
            hooks.append(plain)
            handles.append(Handle(register(tested), hooks, plain))
        return multiple(*handles)

    @rule(target=handles, x=tensors, does=ACTIONS)
    def hook_tensor(self, x: Pair, does: list[str]) -> Any:
        """Register tensor hooks."""
        assume(x.naive.needs)
        return self.register(x.tested.register_hook, x.naive.node.tensor_hooks, does)

    @rule(target=handles, x=tensors, does=ACTIONS, after=st.booleans())
    def hook_node(self, x: Pair, does: list[str], after: bool) -> Any:
        """Register hooks of a node, before it runs or after."""
        assume(not x.naive.is_leaf)
        node, plain = x.tested.grad_fn, x.naive.node
        if after:
            return self.register(node.register_hook, plain.after, does, True)
        return self.register(node.register_prehook, plain.before, does, True)

    @rule(target=handles, x=tensors, does=ACTIONS)
    def hook_leaf(self, x: Pair, does: list[str]) -> Any:
        """Register hooks that run after accumulation."""
        assume(x.naive.is_leaf and x.naive.needs and "double" not in does)
        register = x.tested.register_post_accumulate_grad_hook
        return self.register(
            lambda hook: register(lambda leaf: hook(leaf.grad)), x.naive.accumulated, does
        )

    @rule(handle=consumes(handles))
    def remove(self, handle: Handle) -> None:
        """Remove a hook."""
        handle.tested.remove()
        handle.hooks.remove(handle.hook)

    @rule(x=tensors)
    def retain(self, x: Pair) -> None:
        """Ask for the gradient of what is no leaf."""
        self.both(x.tested.retain_grad, x.naive.keep_grad)

    @rule(x=tensors)
    def forget(self, x: Pair) -> None:
        """Take a gradient away."""
        x.tested.grad = x.naive.grad = None

    # ------------------------------------------------------------------ passes

    @rule(x=tensors, keep=st.booleans())
    def backward(self, x: Pair, keep: bool) -> None:
        """Go backward from a tensor."""
        assume(self.is_told(x))
        self.both(
            lambda: x.tested.backward(self.torch.ones_like(x.tested), retain_graph=keep),
            lambda: self.run(x, keep),
        )

    @rule(
        target=tensors,
        y=tensors,
        place=st.integers(0, 99),
        keep=st.booleans(),
        record=st.booleans(),
    )
    def grad(self, y: Pair, place: int, keep: bool, record: bool) -> Any:
        """Take one gradient, recorded or not; it is a tensor like others."""
        needing = [pair for pair in self.pairs if pair.naive.needs]
        if place and y.naive.needs:  # mostly of what it depends on
            below = {y.naive.node, *naive.reach(y.naive.node, Counter())}
            needing = [pair for pair in needing if pair.naive.node in below]
        assume(needing and self.is_told(y))
        x = needing[place % len(needing)]
        keep = keep or record
        made = next(naive.numbers)
        tested, plain = self.both(
            lambda: self.torch.autograd.grad(
                y.tested,
                x.tested,
                self.torch.ones_like(y.tested),
                retain_graph=keep,
                create_graph=record,
            )[0].clone(),
            lambda: self.run(y, keep, record, x.naive.node),
        )
        assume(plain is not None)
        result = naive.call("clone", plain)
        if record and result.needs:
            self.inner |= {n for n in naive.reach(result.node, Counter()) if n.number > made}
        return self.take(tested, result)

    def is_told(self, x: Pair) -> bool:
        """Whether the order of a pass is recorded: not within recorded passes that may stop."""
        if not x.naive.needs:
            return True
        nodes = [x.naive.node, *naive.reach(x.naive.node, Counter())]
        if self.inner.isdisjoint(nodes):
            return True
        hooked = any(
            n.tensor_hooks or n.before or n.after or (n.leaf and n.leaf.accumulated) for n in nodes
        )
        return not hooked and not any(n.fault() for n in nodes)

    def run(self, x: Pair, keep: bool, record: bool = False, to: Any = None) -> Any:
        """Run the naive engine."""
        if not x.naive.needs:
            raise naive.Refused("does not require grad and does not have a grad_fn")
        if (
            to is not None
            and to is not x.naive.node
            and to not in naive.reach(x.naive.node, Counter())
        ):
            raise naive.Refused("appears to not have been used in the graph")
        seed = naive.Tensor(naive.Memory(np.ones_like(x.naive.memory.array)))
        return naive.run(x.naive, seed, keep, record, to)

    def both(self, tested: Callable[[], Any], plain: Callable[[], Any]) -> tuple[Any, Any]:
        """Do a thing on both; what the naive engine refuses, the other refuses in those words."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (got, said), (wanted, refused) = outcome(tested), outcome(plain)
        naive.recording[0] = True
        assert (refused in said) if refused else not said, f"{said!r}, not {refused!r}"
        return got, wanted

    # ------------------------------------------------------------------ what is compared

    @invariant()
    def all_is_alike(self) -> None:
        """Compare everything that can be seen."""
        for tested, plain in self.pairs:
            assert close(numbers_of(tested), numbers_of(plain))
            facts = (tested.requires_grad, tested.is_leaf, tested._version, tested.retains_grad)
            assert facts == (plain.needs, plain.is_leaf, plain.memory.version, plain.keeps)
            if tested.is_leaf or tested.retains_grad:
                grad = tested.grad
                assert (grad is None) == (plain.grad is None)
                assert grad is None or close(numbers_of(grad), plain.grad)
        seen, expected = self.seen[:], self.expected[:]
        self.seen.clear()
        self.expected.clear()
        assert [event[0] for event in seen] == [event[0] for event in expected]
        for event, like in zip(seen, expected, strict=True):
            for given, wanted in zip(event[1:], like[1:], strict=True):
                assert [g is None for g in given] == [w is None for w in wanted]
                assert all(g is None or close(g, w) for g, w in zip(given, wanted, strict=True))


def numbers_of(tensor: Any) -> Any:
    """Give the numbers of a tensor of either engine, or of an array."""
    if isinstance(tensor, naive.Tensor):
        return tensor.memory.array.copy()
    return np.array(tensor.tolist() if hasattr(tensor, "tolist") else tensor)


def close(a: Any, b: Any) -> bool:
    """Compare, with room for rounding."""
    return a.shape == np.shape(b) and np.allclose(a, b, rtol=1e-8, atol=1e-10)
