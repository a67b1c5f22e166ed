"""Check what each backward hook sees in the worked example, and every gradient, against SymPy."""

from __future__ import annotations

import math
import warnings

import sympy

import minigrad as torch
from minigrad import nn

TOLERANCE = 1e-6  # relative; float32 rounds at 6e-8, and a handful of roundings meet in each number
VALUES = {"x": "0.3", "w0": "0.3", "b0": "0.1", "w1": "0.4", "b1": "0.2"}


class Squared(nn.Linear):
    """The second layer and the square: s = w1 x1 + b1, y = s²."""

    def forward(self, x1: torch.Tensor) -> torch.Tensor:
        """Compute y."""
        return super().forward(x1) ** 2


def run(register: str) -> dict[str, float]:
    """Run the network forward and backward with one hook on `f1`, registered by this method."""
    f0, f1 = nn.Linear(1, 1), Squared(1, 1)
    x = torch.zeros(1, requires_grad=True)
    leaves = dict(zip(VALUES, (x, f0.weight, f0.bias, f1.weight, f1.bias), strict=True))
    with torch.no_grad():
        for name, leaf in leaves.items():
            leaf.fill_(float(VALUES[name]))
    found: dict[str, float] = {}
    getattr(f1, register)(
        lambda _, grad_input, grad_output: found.update(
            grad_input=grad_input[0].item(), grad_output=grad_output[0].item()
        )
    )
    loss = (f1(f0(x)) - 1) ** 2
    loss.backward()
    return found | {"loss": loss.item()} | {name: leaf.grad.item() for name, leaf in leaves.items()}


def derive() -> dict[str, float]:
    """Derive the same numbers with SymPy: exact rationals, made floats at the very end."""
    x, w0, b0, w1, b1, x1, s, y = sympy.symbols("x w0 b0 w1 b1 x1 s y")
    steps = {y: s**2, s: w1 * x1 + b1, x1: w0 * x + b0}
    values = {symbol: sympy.Rational(VALUES[symbol.name]) for symbol in (x, w0, b0, w1, b1)}

    def number(formula: sympy.Expr) -> float:
        return float(formula.subs([*steps.items(), *values.items()]))  # one after the other

    loss, exact = (y - 1) ** 2, {}
    for symbol, step in steps.items():  # the loss as a function of this value and those before it
        exact[symbol.name] = number(sympy.diff(loss, symbol))
        loss = loss.subs(symbol, step)
    exact |= {symbol.name: number(sympy.diff(loss, symbol)) for symbol in values}
    return exact | {"loss": number(loss)}


def main() -> int:
    """Print the table; return 1 if a number is not what SymPy says."""
    full = run("register_full_backward_hook")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        legacy = run("register_backward_hook")
    exact = derive()
    rows = [
        ("loss", full["loss"], legacy["loss"], "loss"),
        ("both hooks: grad_output = dL/dy", full["grad_output"], legacy["grad_output"], "y"),
        ("full hook: grad_input = dL/dx1", full["grad_input"], None, "x1"),
        ("legacy hook: grad_input = dL/ds", None, legacy["grad_input"], "s"),
        *((f"{name}.grad = dL/d{name}", full[name], legacy[name], name) for name in VALUES),
    ]
    print(f"The worked example ({', '.join(f'{k} = {v}' for k, v in VALUES.items())}):")
    print(f"  {'':34}{'full hook':>12}{'legacy hook':>13}{'SymPy':>12}")
    wrong = [] if {w.category for w in caught} == {FutureWarning} else ["the warning"]
    for label, one, other, name in rows:
        seen = ["" if each is None else f"{each:.6f}" for each in (one, other)]
        print(f"  {label:34}{seen[0]:>12}{seen[1]:>13}{exact[name]:>12.6f}")
        found = [each for each in (one, other) if each is not None]
        if not all(math.isclose(each, exact[name], rel_tol=TOLERANCE) for each in found):
            wrong.append(label)
    if wrong:
        print(f"These do not agree: {'; '.join(wrong)}")
        return 1
    print(f"  All agree (relative tolerance {TOLERANCE:g}), and the legacy hook gave its warning.")
    return 0
