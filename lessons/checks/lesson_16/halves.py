"""Check exercise 16.2: keep large saved tensors in half the memory, and all others as they are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook, Trial
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike

from ..observations import Answer, observed

LARGEST = 65504.0
_GIVEN: dict[str, Callable[[], Tensor]] = {
    "a float32 tensor of 6 numbers": lambda: _floats(torch.float32),
    "a float32 tensor of shape (2, 3)": lambda: _floats(torch.float32).reshape(2, 3),
    "a float32 tensor of 3 numbers": lambda: _floats(torch.float32)[:3].clone(),
    "a float32 tensor of 4 numbers": lambda: _floats(torch.float32)[:4].clone(),
    "an int64 tensor of 6 numbers": lambda: torch.tensor([3, 70001, -2, 5, 1, 9]),
    "a bool tensor of 6 entries": lambda: torch.tensor([True, False, True, True, False, False]),
    "a float16 tensor of 6 numbers": lambda: _floats(torch.float16),
    "a float32 tensor that holds 65504": lambda: _with(LARGEST),
    "a float32 tensor that holds -65504": lambda: _with(-LARGEST),
    "a float32 tensor that holds 48000 twice": lambda: torch.tensor([48000.0, 0.5, -48000.0, 1.5]),
    "a float32 tensor that holds 65510": lambda: _with(65510.0),
    "a float32 tensor that holds 70001": lambda: _with(70001.0),
    "a float32 tensor that holds -70001": lambda: _with(-70001.0),
    "a float64 tensor of 6 numbers": lambda: _floats(torch.float64),
}
_PACKED = ("6 numbers", "shape (2, 3)", "4 numbers", "holds 65504", "holds -65504", "twice")


def _floats(dtype: Any) -> Tensor:
    return torch.tensor([0.1, -0.7, 1.3, 2.71828, -3.3333, 0.0123], dtype=dtype)


def _with(number: float) -> Tensor:
    return torch.tensor([0.1, 1.3, number, -0.7, 0.3], dtype=torch.float32)


def packed_by_rights(name: str) -> bool:
    """Tell whether a tensor, by the name that it has here, is to be packed."""
    return name.startswith(("a float32", "a float64")) and name.endswith(_PACKED)


def came(name: str) -> str:
    """Name what came out of `unpack`."""
    return f"what unpack gives for {name}"


def dtype_of(name: str) -> str:
    """Name the dtype of what came out of `unpack`."""
    return f"the dtype that unpack gives for {name}"


def kept(name: str) -> str:
    """Name the number of bytes kept."""
    return f"the number of bytes that pack keeps of {name}"


SLOPES = "the gradients of a network that saves integers, too,"
TWICE = "the gradient of a second pass through the same graph"


def _bytes(thing: Any, depth: int = 0) -> int:
    if isinstance(thing, Tensor):
        return int(thing.detach().numpy().nbytes)
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    if isinstance(thing, bytes | bytearray):
        return len(thing)
    if isinstance(thing, dict):
        return sum(_bytes(each, depth + 1) for each in thing.values())
    if isinstance(thing, list | tuple) and depth < 4:
        return sum(_bytes(each, depth + 1) for each in thing)
    if inspect.isfunction(thing) and depth < 4:  # it may hold a tensor, too
        held = [cell.cell_contents for cell in thing.__closure__ or ()]
        return _bytes([*held, *(thing.__defaults__ or ())], depth + 1)
    return _bytes(list(vars(thing).values()), depth + 1) if hasattr(thing, "__dict__") else 0


def _pair(found: Any) -> tuple[Answer, Answer]:
    if found is None:
        raise Objection("Nothing came back: half_hooks has to return the two functions.")
    if not isinstance(found, tuple | list) or len(found) != 2 or not all(map(callable, found)):
        raise Objection("half_hooks has to return two functions: (pack, unpack).")
    return found[0], found[1]


def halves_run(answer: Answer) -> dict[str, Any]:
    """Pack and unpack tensors of all kinds, in one go and within a network."""
    pack, unpack = _pair(answer(4))
    given = {name: make() for name, make in _GIVEN.items()}
    before = {name: tensor.tolist() for name, tensor in given.items()}
    packed = {}
    for name, tensor in given.items():
        packed[name] = pack(tensor)
        if tensor.tolist() != before[name]:
            raise Objection(
                "pack changed the tensor that it was given, and somebody still needs it. Make "
                "a new one."
            )
    seen: dict[str, Any] = {}
    for name in given:  # all are packed before the first is unpacked, as in a network
        back = unpack(packed[name])
        if not isinstance(back, Tensor):
            kind = type(back).__name__
            raise Objection(f"unpack has to give back a tensor; of {name} it gives a {kind}.")
        if back.shape != given[name].shape:
            raise Objection(
                f"The shape is lost: {name} comes back in the shape {tuple(back.shape)}."
            )
        seen |= {came(name): back.tolist(), dtype_of(name): str(back.dtype).rpartition(".")[2]}
        seen[kept(name)] = _bytes(packed[name])
    other_pack, _ = _pair(answer(100))
    seen["the number of bytes that pack keeps of 6 numbers where fewest is 100"] = _bytes(
        other_pack(_floats(torch.float32))
    )
    again = pack(_floats(torch.float32))
    seen["the number of bytes that the first pack keeps of 6 numbers after that"] = _bytes(again)
    x = torch.tensor([[0.3, -1.2, 0.8], [0.5, 0.7, -0.4]], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        loss = nn.functional.cross_entropy((x * 2).tanh(), torch.tensor([2, 0]))
        loss = loss + x[:, torch.tensor([0, 2])].exp().sum()
    loss.backward(retain_graph=True)
    seen[SLOPES] = x.grad
    x.grad = None
    loss.backward()
    return seen | {TWICE: x.grad}


def halving(
    *,
    floats: Callable[[Tensor], bool] = lambda t: t.dtype in (torch.float32, torch.float64),
    large: Callable[[Tensor, int], bool] = lambda t, fewest: t.numel() >= fewest,
    fits: Callable[[Tensor], bool] = lambda t: bool(t.abs().max() <= LARGEST),
    back: Callable[[Tensor, Any], Tensor] = lambda t, dtype: t.to(dtype),
) -> Answer:
    """Make a right `half_hooks`, or one with a typical mistake.

    Args:
        floats: whether a tensor is of floats that can be packed.
        large: whether it is large enough.
        fits: whether float16 can hold it.
        back: what unpack makes of a packed one.
    """

    def half_hooks(fewest: int) -> tuple[Answer, Answer]:
        def pack(tensor: Any) -> Any:
            if floats(tensor) and large(tensor, fewest) and fits(tensor):
                return tensor.dtype, tensor.half()
            return None, tensor

        def unpack(packed: Any) -> Any:
            dtype, tensor = packed
            return tensor if dtype is None else back(tensor, dtype)

        return pack, unpack

    return half_hooks


def _norm_fits(power: int) -> Callable[[Tensor], bool]:
    return lambda t: bool(t.norm(power) <= LARGEST)


def off(found: Sequence[Trial], say: Callable[[str], str]) -> list[str]:
    """List of which tensors something other was observed than of the right answer."""
    right = halves_run(halving())
    return [name for name in _GIVEN if not alike(observed(found, say(name)), right[say(name)])]


HALVES = Hook(
    id="16.2",
    asks="half_hooks(fewest), which returns (pack, unpack): large float tensors are kept in "
    "float16 and come back in their own dtype, all others stay as they are",
    scenario=halves_run,
    reference=halving(),
    digits=5,
    right="Half the memory where it pays, and nothing spoiled where it does not.",
    hints=(
        "What does unpack have to know besides the numbers? pack may return anything, a tuple too.",
        "Ask three questions in pack: is it float32 or float64, does it have enough entries, is "
        "its largest entry in size within 65,504? Return the dtype together with the half.",
    ),
    mistakes=[
        Mistake(
            "If that is what unpack was handed: pack has to return something for every tensor, "
            "also for one that it leaves as it is.",
            trouble=("'NoneType' object", "NoneType object"),
        ),
        Mistake(
            "unpack is handed just what pack returned: both have to agree on what that is. And of "
            "the two, pack comes first.",
            trouble=(
                "unpack has",
                "to unpack",
                "not iterable",
                "'tuple' object",
                "'Tensor' object is not",
            ),
        ),
        Mistake(
            "A graph that is retained is walked twice, so unpack may be called a second time for "
            "the same thing.",
            trouble=("KeyError", "IndexError", "pop"),
        ),
        Mistake(
            "Integers saved for an index or a class have to come back as integers.",
            trouble=("Long", "int64", "index"),
        ),
        Mistake(
            "Ask first whether the tensor is one of floats: not every question fits others.",
            trouble=("not implemented for", "Bool", "bool"),
        ),
        Mistake(
            "pack keeps the half and the whole: then nothing is saved. Keep the dtype, and not the "
            "tensor.",
            when=lambda found: any(
                observed(found, kept(name)) > _GIVEN[name]().nbytes
                for name in _GIVEN
                if packed_by_rights(name)
            ),
        ),
        Mistake(
            "Nothing is packed: pack keeps as many bytes as came in.",
            when=lambda found: all(
                observed(found, kept(name)) == make().nbytes
                for name, make in _GIVEN.items()
                if packed_by_rights(name) or "3 numbers" in name
            ),
        ),
        Mistake(
            "What came in as float32 comes back as float64. If pack leaves its note in one place "
            "for all, the tensor packed last decides: put the note into what pack returns.",
            when=lambda found: (
                observed(found, dtype_of("a float32 tensor of 6 numbers")) == "float64"
            ),
        ),
        Mistake(
            "Integers or truth values come back as floats. Leave all alone that is no float.",
            when=lambda found: any(
                observed(found, dtype_of(name)).startswith("float")
                for name in ("an int64 tensor of 6 numbers", "a bool tensor of 6 entries")
            ),
        ),
        Mistake(
            "Integers or truth values do not come back as they were. Leave all alone that is no "
            "float: 70001 has no place in float16.",
            when=lambda found: any(
                name.startswith(("an int", "a bool")) for name in off(found, came)
            ),
        ),
        Mistake(
            "The numbers come back in float16. unpack has to give the dtype that came in.",
            when=lambda found: (
                observed(found, dtype_of("a float32 tensor of 6 numbers")) == "float16"
            ),
        ),
        Mistake(
            "What came in as float64 comes back as float32: pack has to note the dtype.",
            when=lambda found: (
                observed(found, dtype_of("a float64 tensor of 6 numbers")) == "float32"
            ),
        ),
        Mistake(
            "A tensor that is in float16 already comes back in another dtype: only what pack has "
            "made smaller is to be made larger again.",
            when=lambda found: (
                observed(found, dtype_of("a float16 tensor of 6 numbers")) != "float16"
            ),
        ),
        Mistake(
            "A number beyond 65,504 came back as infinity. Look at the largest entry first, and "
            "leave such a tensor as it is.",
            like=halving(fits=lambda t: True),
        ),
        Mistake(
            "The largest number is within bounds, and the most negative one is beyond them: look "
            "at the sizes.",
            like=halving(fits=lambda t: bool(t.max() <= LARGEST)),
        ),
        Mistake(
            "A tensor with a large entry is to be left alone as a whole. Cut off at the bound, its "
            "numbers are others.",
            when=lambda found: (
                any(name.endswith("70001") for name in off(found, came))
                and all(
                    abs(number) <= LARGEST
                    for name in (
                        "a float32 tensor that holds 70001",
                        "a float32 tensor that holds -70001",
                    )
                    for number in observed(found, came(name))
                )
            ),
        ),
        Mistake(
            "A number beyond 65,504 did not come back: float16 cannot hold it.",
            when=lambda found: any(name.endswith("70001") for name in off(found, came)),
        ),
        Mistake(
            "float16 rounds 65,510 down to its largest number, without a word. Compare the entries "
            "themselves with the bound, not what has become of them.",
            like=halving(fits=lambda t: not t.half().isinf().any()),
        ),
        *(
            Mistake(
                "You take the sizes together, as in a sum or a norm. What counts is the largest.",
                like=halving(fits=_norm_fits(power)),
            )
            for power in (1, 2)
        ),
        Mistake(
            "65,504 itself still fits into float16. Your bound leaves it out.",
            when=lambda found: (
                {name.rpartition(" ")[2] for name in off(found, kept)}
                in ({"65504", "-65504"}, {"65504"}, {"-65504"})
            ),
        ),
        Mistake(
            "Small tensors are packed too: what does `fewest` say?",
            like=halving(large=lambda t, fewest: True),
        ),
        Mistake(
            "Turned around: the small ones are packed, and the large ones are left.",
            like=halving(large=lambda t, fewest: t.numel() < fewest),
        ),
        Mistake(
            "A tensor with just `fewest` entries belongs to the large ones.",
            like=halving(large=lambda t, fewest: t.numel() > fewest),
        ),
        Mistake(
            "len counts the rows of a matrix. How many entries does it have?",
            like=halving(large=lambda t, fewest: len(t) >= fewest),
        ),
        Mistake(
            "float64 is left as it is. It can be packed as well.",
            like=halving(floats=lambda t: t.dtype == torch.float32),
        ),
        Mistake(
            "float32 is left as it is, and that is most of all there is.",
            like=halving(floats=lambda t: t.dtype == torch.float64),
        ),
        Mistake(
            "`fewest` is an argument: use the number that is given.",
            like=halving(large=lambda t, fewest: t.numel() >= 4),
        ),
        Mistake(
            "`fewest` counts entries, not bytes.",
            like=halving(large=lambda t, fewest: t.nbytes >= fewest),
        ),
        Mistake(
            "Integers keep fewer bytes than they need: leave all alone that is no float.",
            when=lambda found: any(
                name.startswith(("an int", "a bool")) for name in off(found, kept)
            ),
        ),
        Mistake(
            "A tensor that was to be left alone is packed, or the other way round. Go through the "
            "three questions: floats, enough entries, nothing too large.",
            when=lambda found: bool(off(found, kept)),
        ),
    ],
)
