"""Proofs of the rules of the operations on what numbers are made of."""

from __future__ import annotations

from .regions import matrix, pair

CASES = {
    "mantissa": [(matrix, (4,))],
    "angle": [(matrix, ()), ([("x",)], ())],
    "narrow_copy": [(matrix, (1, 0, 2))],
}

RESERVED: dict[str, str] = {
    "nextafter": "SymPy has no neighbors of numbers: it knows all of them",
}

ATTEMPTS = {"nextafter": (pair, ())}
