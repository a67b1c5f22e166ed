"""Random numbers instead of a tensor: PyTorch's for the same seed, and no gradient passes."""

from __future__ import annotations

from .table import V, op

WHY = "it is random"

TABLE = [
    op(name, V, *calls, dtypes=(), proof=WHY, faults=faults)
    for name, calls, faults in (
        ("uniform_draw", ("(x * 1).uniform_()", "(x * 1).uniform_(-1, 2)"), ["x.uniform_()"]),
        ("normal_draw", ("(x * 1).normal_()", "(x * 1).normal_(1.0, 2.0)"), ["x.normal_()"]),
        ("random_draw", ("(x * 1).random_(5)",), ["x.random_(5)"]),
        ("bernoulli_draw", ("(x * 1).bernoulli_(0.5)",), ["x.bernoulli_(0.5)"]),
        (
            "bernoulli",
            ("torch.bernoulli(x.sigmoid())", "x.sigmoid().bernoulli()"),
            ["torch.bernoulli(x * 9)"],
        ),
    )
] + [
    op("bernoulli_chances", (V, V), "(x * 1).bernoulli_(y.sigmoid())", dtypes=(), proof=WHY),
    op("normal_of_two", (V, V), "torch.normal(x, y.exp())", dtypes=(), checked=False, proof=WHY),
    op("normal_of_two", (V, V), "op(x, y, np.array([0.0, 1.0, 1.0, 0.0]))", proof=WHY),
]
