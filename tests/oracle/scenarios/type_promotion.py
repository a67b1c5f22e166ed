"""The dtype in which any two tensors meet, with and without dimensions, and a tensor and a number:
the whole table.
"""

from __future__ import annotations

from .tools import Family

family = Family()

NAMES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
NUMBERS = {"True": True, "2": 2, "1.5": 1.5, "1j": 1j}


def name(dtype):
    """Give the name of a dtype without its library."""
    return str(dtype).removeprefix("torch.")


def tensors(torch, dimensions):
    """Make a tensor of ones of each dtype."""
    return [torch.ones((1,) * dimensions, dtype=getattr(torch, each)) for each in NAMES]


def meets(torch, first, others):
    """Leave out what meets in complex32, which minigrad does not have."""
    half = [each for each in others if {name(first.dtype), name(each.dtype)} & {"float16"}]
    unlike = [o for o in half if first.is_complex() != o.is_complex() and first.ndim != o.ndim]
    return [each for each in others if not any(each is one for one in unlike)]


def add_meeting(label, left, right):
    """Add a scenario for tensors of given numbers of dimensions."""

    def scenario(torch, log):
        for first in tensors(torch, left):
            others = meets(torch, first, tensors(torch, right))
            log(name(first.dtype), " ".join(name((first + each).dtype) for each in others))
            log("times", " ".join(name((first * each).dtype) for each in others))
            log("divided by", " ".join(name((first / each).dtype) for each in others))

    scenario.__doc__ = f"Sum, product and quotient of {label}."
    family.add(label, scenario)


add_meeting("tensors with dimensions", 1, 1)
add_meeting("a tensor with dimensions and one without", 1, 0)
add_meeting("a tensor without dimensions and one with", 0, 1)
add_meeting("tensors without dimensions", 0, 0)


@family
def tensors_and_numbers(torch, log):
    """A tensor and a Python number, for each default dtype."""
    for default in ("float32", "float64", "float16"):
        torch.set_default_dtype(getattr(torch, default))
        try:
            for first in (*tensors(torch, 1), *tensors(torch, 0)):
                numbers = list(NUMBERS.values())
                if default == "float16" or first.dtype == torch.float16:
                    numbers.remove(1j)  # complex32, which minigrad does not have
                found = [
                    name(value.dtype)
                    for number in numbers
                    for value in (first + number, number + first, first * number, first / number)
                ]
                log(f"{name(first.dtype)} {first.ndim}", " ".join(found))
        finally:
            torch.set_default_dtype(torch.float32)


@family
def three_and_more(torch, log):
    """Tensors of several dtypes that are joined, chosen from, or written in place."""
    for first in tensors(torch, 1):
        others = tensors(torch, 1)
        log(name(first.dtype), " ".join(name(torch.cat([first, o]).dtype) for o in others))
        condition = torch.tensor([True])
        log("where", " ".join(name(torch.where(condition, first, o).dtype) for o in others))
        for other in others:
            try:
                log("in place", name(first.clone().add_(other).dtype))
            except RuntimeError as error:
                log.error(name(other.dtype), error)
