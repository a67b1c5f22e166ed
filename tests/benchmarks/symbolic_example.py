"""Measure how long the worked example takes on symbols, proofs included: run this file to see.

The loss, its five gradients, and what the full and the legacy backward hook see, each proved equal
to what `sympy.diff` gives. Everything is timed in a process of its own, from nothing known to the
last proof; importing is timed apart. The promise is at most 5 seconds; the exit code says whether
it was kept.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 5
BAR = 5.0
HOOKS = ("register_full_backward_hook", "register_backward_hook")


def prove() -> tuple[float, float, int]:
    """Run and prove the example once; give seconds to import and to prove, and how many proofs."""
    start = time.perf_counter()
    sys.path.insert(0, str(ROOT))
    import sympy

    from minigrad import nn
    from minigrad.symbolic import equal, symbolic_like, symbols

    imported = time.perf_counter()

    class Squared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.f = nn.Linear(1, 1)

        def forward(self, x):  # type: ignore[no-untyped-def]
            return self.f(x) ** 2

    X, W0, B0, W1, B1 = sympy.symbols("x w_0 b_0 w_1 b_1", real=True)
    x1 = sympy.Symbol("x_1", real=True)  # a place on the way, to differentiate by
    y = sympy.Symbol("y", real=True)
    loss_of_y = (y - 1) ** 2
    s = W1 * x1 + B1
    on_the_way = {x1: W0 * X + B0}
    by_y = sympy.diff(loss_of_y, y).subs(y, s**2)
    expected = {
        "grad_input": sympy.diff(loss_of_y.subs(y, s**2), x1).subs(on_the_way),
        "grad_output": by_y.subs(on_the_way),
        "legacy grad_input": (by_y * sympy.diff(y**2, y).subs(y, s)).subs(on_the_way),
        "legacy grad_output": by_y.subs(on_the_way),
    }
    whole = loss_of_y.subs(y, s**2).subs(on_the_way)
    proofs = 0
    for kind in HOOKS:
        model = nn.Sequential(nn.Linear(1, 1), Squared())
        seen = {}
        prefix = "" if "full" in kind else "legacy "

        def hook(module, grad_input, grad_output, seen=seen, prefix=prefix):  # type: ignore[no-untyped-def]
            seen[prefix + "grad_input"] = grad_input[-1]
            seen[prefix + "grad_output"] = grad_output[0]

        getattr(model[1], kind)(hook)
        symbolic, x = symbolic_like(model), symbols("x", 1, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of the legacy hook
            loss = (symbolic(x) - 1) ** 2
        loss.backward()
        pairs = [(loss, whole)]
        leaves = [x, *symbolic.parameters()]
        for leaf, symbol in zip(leaves, (X, W0, B0, W1, B1), strict=True):
            pairs.append((leaf.grad, sympy.diff(whole, symbol)))
        pairs += [(gradient, expected[name]) for name, gradient in seen.items()]
        proofs += sum(equal(found, due) for found, due in pairs)
    return imported - start, time.perf_counter() - imported, proofs


def main() -> int:
    """Time the example in fresh processes; print the medians."""
    if sys.argv[1:] == ["once"]:
        print(*prove())
        return 0
    command = [sys.executable, str(Path(__file__).resolve()), "once"]
    runs = []
    for _ in range(ROUNDS + 1):  # the first one compiles and fills the disk's cache
        answer = subprocess.run(
            command, capture_output=True, text=True, check=True, env=dict(os.environ)
        )
        runs.append([float(figure) for figure in answer.stdout.split()])
    imports, proofs, counts = (
        [run[column] for run in runs[1:]] for column in range(3)
    )  # fmt: skip
    seconds = statistics.median(proofs)
    print(
        f"{counts[0]:.0f} formulas proved in {seconds:.2f} s "
        f"({min(proofs):.2f} to {max(proofs):.2f}; at most {BAR}); "
        f"import of minigrad.symbolic {statistics.median(imports):.2f} s"
    )
    return 0 if seconds <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
