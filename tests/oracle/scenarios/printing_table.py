"""Printed forms of tensors of many scales, shapes and dtypes, with print options of every kind."""

from __future__ import annotations

import numpy as np

from .tools import Family

family = Family()

OPTIONS = {
    "as they are": {},
    "two digits": {"precision": 2},
    "no digits": {"precision": 0},
    "summarized early": {"threshold": 5, "edgeitems": 1},
    "no edges": {"threshold": 3, "edgeitems": 0},
    "narrow": {"linewidth": 30},
    "wide": {"linewidth": 160},
    "scientific": {"sci_mode": True},
    "never scientific": {"sci_mode": False},
    "short": {"profile": "short"},
    "full": {"profile": "full"},
    "full, but three digits": {"profile": "full", "precision": 3},
}
ODD = [float("inf"), -float("inf"), float("nan"), 0.0, -0.0]
SHAPES = ((), (1,), (7,), (2, 3), (3, 1, 2), (12,), (2, 2, 2, 2), (0,), (2, 0), (9, 8))


def values(shape, seed, scale, spread):
    """Make numbers of a scale, some many times as large as others, without a random generator."""
    count = int(np.prod(shape))
    steps = (np.arange(count) * 7919 + 104729 * (seed + 1)) % 2047 - 1023
    steps = np.where(steps == 0, 77, steps).astype(np.float64)
    # powers of ten as Python reads them: what `**` gives in NumPy differs between processors
    powers = [float(f"1e{scale + spread * (int(step) % 5 - 2)}") for step in steps]
    return (steps / 64 * np.array(powers)).reshape(shape)


def samples():
    """Give arrays of many kinds."""
    seed = 0
    for scale, spread in ((0, 0), (-3, 0), (-6, 0), (5, 0), (9, 0), (0, 1), (-2, 3)):
        for shape in SHAPES:
            seed += 1
            yield values(shape, seed, scale, spread)
    for shape in ((3,), (6,), (2, 3)):
        array = values(shape, seed, 0, 0)
        array.flat[:: max(1, array.size // 3)] = ODD[seed % 5]
        yield array
        yield np.round(array)


def with_options(torch, options, write):
    """Run a function with print options, and bring back the usual ones."""
    torch.set_printoptions(**options)
    try:
        return write()
    finally:
        torch.set_printoptions(profile="default")


def add_dtype(dtype):
    """Add a scenario for tensors of a dtype."""

    def scenario(torch, log):
        for array in samples():
            if "int" in dtype:
                array = np.nan_to_num(array, posinf=9, neginf=-9).clip(-99, 99)
                array = abs(array) if dtype == "uint8" else array
            with np.errstate(all="ignore"):
                array = array.astype(dtype.replace("complex", "float").replace("128", "64"))
            if "complex" in dtype:
                array = (array.astype("float64") * (1 - 0.125j)).astype(dtype)
            log(dtype, repr(torch.from_numpy(np.array(array))))

    scenario.__doc__ = f"Tensors of {dtype} of many scales and shapes."
    family.add(dtype, scenario)


for each in ("float32", "float64", "float16", "int64", "uint8"):
    add_dtype(each)


def add_options(about, options):
    """Add a scenario for print options."""

    def scenario(torch, log):
        for array in (
            values((9,), 1, 0, 0),
            values((3, 8), 2, 0, 1),
            values((2, 3, 7), 3, -1, 0),
            np.array([1.0, float("nan"), 1e9]),
        ):
            tensor = torch.tensor(array, dtype=torch.float32)
            log("floats", with_options(torch, options, lambda tensor=tensor: repr(tensor)))
            tensor = tensor.requires_grad_()
            recorded = with_options(torch, options, lambda tensor=tensor: repr(tensor * 1))
            log("recorded", recorded)
        whole = torch.arange(40).reshape(4, 10) - 7
        log("integers", with_options(torch, options, lambda: repr(whole)))
        log("booleans", with_options(torch, options, lambda: repr(whole > 3)))
        numbers = torch.tensor([1 + 0.5j, -2.25 + 100j, 0.001j])
        log("complex", with_options(torch, options, lambda: repr(numbers)))

    scenario.__doc__ = f"Print options: {about}."
    family.add(f"options: {about}", scenario)


for about, options in OPTIONS.items():
    add_options(about, options)


@family
def long_tensors(torch, log):
    """Tensors with more entries than are shown, for each place of the long dimension."""
    for shape in ((1001,), (2, 501), (501, 2), (40, 40), (3, 20, 20), (11, 1, 10, 10)):
        count = int(np.prod(shape))
        log("integers", repr(torch.arange(count).reshape(shape)))
        log("floats", repr(torch.arange(count).reshape(shape) / 8))


@family
def what_stands_behind(torch, log):
    """Sizes, dtypes and places in the graph, for each default dtype."""
    for default in ("float32", "float64", "float16"):
        torch.set_default_dtype(getattr(torch, default))
        try:
            for dtype in (
                "float16",
                "float32",
                "float64",
                "complex64",
                "complex128",
                "int64",
                "bool",
            ):
                for shape in ((), (2,), (0,), (2, 0)):
                    log(dtype, repr(torch.ones(shape, dtype=getattr(torch, dtype))))
            for dtype in ("float16", "float64"):
                leaf = torch.ones(2, dtype=getattr(torch, dtype), requires_grad=True)
                log("leaf", repr(leaf), repr(leaf * 2), str(leaf[0]), f"{leaf}")
        finally:
            torch.set_default_dtype(torch.float32)
