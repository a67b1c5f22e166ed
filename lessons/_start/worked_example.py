"""Check what each backward hook sees in the worked example, and every gradient, against SymPy."""

from __future__ import annotations

import sys
import warnings

import sympy

import minigrad as torch
from minigrad import nn

TOLERANCE = 1e-6  # relative; float32 rounds at 6e-8, and a handful of roundings meet in each number
VALUES = {"x": "0.3", "w0": "0.3", "b0": "0.1", "w1": "0.4", "b1": "0.2"}
X, W0, B0, W1, B1 = (sympy.Rational(digits) for digits in VALUES.values())


class SLinear(nn.Module):
    """The second layer and the square: s = w1 x1 + b1, y = s²."""

    def __init__(self) -> None:
        """Set w1 and b1."""
        super().__init__()
        self.f = nn.Linear(1, 1, bias=True)
        with torch.no_grad():
            self.f.weight[0, 0] = float(W1)
            self.f.bias[0] = float(B1)

    def forward(self, x1: torch.Tensor) -> torch.Tensor:
        """Compute y."""
        return self.f(x1) ** 2


class Net(nn.Module):
    """The whole network: x1 = w0 x + b0, then SLinear."""

    def __init__(self) -> None:
        """Set w0 and b0."""
        super().__init__()
        self.f0 = nn.Linear(1, 1, bias=True)
        with torch.no_grad():
            self.f0.weight[0, 0] = float(W0)
            self.f0.bias[0] = float(B0)
        self.f1 = SLinear()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Compute y."""
        return self.f1(self.f0(x))


def run(register: str) -> dict[str, float]:
    """Run the network forward and backward with one hook on `f1`, registered by this method."""
    found: dict[str, float] = {}

    def hook(
        module: nn.Module,
        grad_input: tuple[torch.Tensor | None, ...],
        grad_output: tuple[torch.Tensor | None, ...],
    ) -> None:
        found["grad_input"] = grad_input[0].item()
        found["grad_output"] = grad_output[0].item()

    net = Net()
    getattr(net.f1, register)(hook)
    x = torch.tensor([float(X)], requires_grad=True)
    loss = (net(x) - 1) ** 2
    loss.backward()
    leaves = {
        "x": x,
        "w0": net.f0.weight,
        "b0": net.f0.bias,
        "w1": net.f1.f.weight,
        "b1": net.f1.f.bias,
    }
    return {
        "loss": loss.item(),
        **found,
        **{name: leaf.grad.item() for name, leaf in leaves.items()},
    }


def derive() -> dict[str, float]:
    """Derive the same numbers with SymPy: exact rationals, made floats at the very end."""
    x, w0, b0, w1, b1, x1, s, y = sympy.symbols("x w0 b0 w1 b1 x1 s y")
    values = {x: X, w0: W0, b0: B0, w1: W1, b1: B1}
    steps = ((y, s**2), (s, w1 * x1 + b1), (x1, w0 * x + b0))
    whole = (y - 1) ** 2
    from_where: dict[sympy.Symbol, sympy.Expr] = {}
    for symbol, formula in steps:
        from_where[symbol] = (
            whole  # the loss as a function of this value and of what comes before it
        )
        whole = whole.subs(symbol, formula)
    for leaf in values:
        from_where[leaf] = whole

    def derivative(symbol: sympy.Symbol) -> float:
        result = sympy.diff(from_where[symbol], symbol)
        for inner, formula in steps:
            result = result.subs(inner, formula)
        return float(result.subs(values))

    return {"loss": float(whole.subs(values)), **{str(key): derivative(key) for key in from_where}}


def compare(
    full: dict[str, float], legacy: dict[str, float], exact: dict[str, float]
) -> tuple[list[str], list[str]]:
    """Make the table, and a list of what does not agree."""
    pairs = [
        ("loss", "loss", "loss"),
        ("both hooks: grad_output = dL/dy", "grad_output", "y"),
        ("full hook: grad_input = dL/dx1", "grad_input", "x1"),
        ("legacy hook: grad_input = dL/ds", "grad_input", "s"),
        *((f"{name}.grad = dL/d{name}", name, name) for name in VALUES),
    ]
    rows = [f"  {'':34}{'full hook':>12}{'legacy hook':>13}{'SymPy':>12}"]
    wrong = []
    for label, key, symbol in pairs:
        cells = []
        for kind, seen in (("full", full), ("legacy", legacy)):
            if label.startswith(("full", "legacy")) and not label.startswith(kind):
                cells.append("")
                continue
            cells.append(f"{seen[key]:.6f}")
            if not abs(seen[key] - exact[symbol]) <= TOLERANCE * abs(exact[symbol]):
                wrong.append(
                    f"{label}: minigrad with the {kind} hook {seen[key]!r}, SymPy {exact[symbol]!r}"
                )
        rows.append(f"  {label:34}{cells[0]:>12}{cells[1]:>13}{exact[symbol]:>12.6f}")
    return rows, wrong


def main() -> int:
    """Print the table; return 1 if a number is not what SymPy says."""
    full = run("register_full_backward_hook")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        legacy = run("register_backward_hook")
    rows, wrong = compare(full, legacy, derive())
    given = ", ".join(f"{name} = {float(value)}" for name, value in VALUES.items())
    print(f"The worked example ({given}):")
    print("\n".join(rows))
    kinds = sorted({warning.category.__name__ for warning in caught})
    if kinds != ["FutureWarning"]:
        wrong.append(
            f"the legacy hook should give one kind of warning, FutureWarning; it gave {kinds}"
        )
    if wrong:
        print("These do not agree:\n  " + "\n  ".join(wrong))
        return 1
    print(
        f"  All agree (relative tolerance {TOLERANCE:g}). "
        "The legacy hook gave its FutureWarning, as in PyTorch."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
