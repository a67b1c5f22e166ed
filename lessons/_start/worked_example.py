"""Check what each backward hook sees in the worked example, and every gradient, against SymPy."""

from __future__ import annotations

import math
import warnings

import sympy

import minigrad as torch
from minigrad import nn

from .console import Trouble

TOLERANCE = 1e-6  # relative; float32 rounds at 6e-8, and a handful of roundings meet in each number
VALUES = {"x": "0.3", "w0": "0.3", "b0": "0.1", "w1": "0.4", "b1": "0.2"}
LABELS = {
    "loss": "loss",
    "y": "both hooks: grad_output = dL/dy",
    "s": "legacy hook: grad_input = dL/ds",
    "x1": "full hook: grad_input = dL/dx1",
}


class Squared(nn.Linear):
    """The second layer and the square: s = w1 x1 + b1, y = s²."""

    def forward(self, x1: torch.Tensor) -> torch.Tensor:
        """Compute y."""
        return super().forward(x1) ** 2


def run(register: str, before: str) -> dict[str, float]:
    """Run the network forward and backward with one hook on `f1`.

    Args:
        register: The method that registers the hook.
        before: The value whose gradient this hook's `grad_input` is.
    """
    f0, f1 = nn.Linear(1, 1), Squared(1, 1)
    x = torch.zeros(1, requires_grad=True)
    leaves = dict(zip(VALUES, (x, f0.weight, f0.bias, f1.weight, f1.bias), strict=True))
    with torch.no_grad():
        for name, leaf in leaves.items():
            leaf.fill_(float(VALUES[name]))
    found: dict[str, float] = {}
    getattr(f1, register)(
        lambda _, grad_input, grad_output: found.update(
            {"y": grad_output[0].item(), before: grad_input[0].item()}
        )
    )
    loss = (f1(f0(x)) - 1) ** 2
    loss.backward()
    return {"loss": loss.item()} | found | {name: leaf.grad.item() for name, leaf in leaves.items()}


def derive() -> dict[str, float]:
    """Derive the same numbers with SymPy: exact rationals, made floats at the very end."""
    places = sympy.symbols("y s x1 x w0 b0 w1 b1")
    y, s, x1, x, w0, b0, w1, b1 = places  # what is added to y, s and x1: nothing, but to derive by
    values = {place: sympy.Rational(VALUES.get(place.name, "0")) for place in places}
    loss = ((w1 * (w0 * x + b0 + x1) + b1 + s) ** 2 + y - 1) ** 2
    exact = {"loss": loss} | {place.name: sympy.diff(loss, place) for place in places}
    return {name: float(formula.subs(values)) for name, formula in exact.items()}


def main() -> None:
    """Print the table.

    Raises:
        Trouble: If a number is not what SymPy says.
    """
    full = run("register_full_backward_hook", "x1")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        legacy = run("register_backward_hook", "s")
    print(f"The worked example ({', '.join(f'{k} = {v}' for k, v in VALUES.items())}):")
    print(f"  {'':34}{'full hook':>12}{'legacy hook':>13}{'SymPy':>12}")
    wrong = [] if {w.category for w in caught} == {FutureWarning} else ["the warning"]
    for name, exact in derive().items():
        label = LABELS.get(name, f"{name}.grad = dL/d{name}")
        seen = [f"{run[name]:.6f}" if name in run else "" for run in (full, legacy)]
        print(f"  {label:34}{seen[0]:>12}{seen[1]:>13}{exact:>12.6f}")
        found = [run.get(name, exact) for run in (full, legacy)]
        if not all(math.isclose(each, exact, rel_tol=TOLERANCE) for each in found):
            wrong.append(label)
    if wrong:
        raise Trouble(
            f"these numbers of the worked example don't agree: {'; '.join(wrong)}.",
            "minigrad has a bug: please report it.",
        )
    print(f"  All agree (relative tolerance {TOLERANCE:g}), and the legacy hook gave its warning.")
