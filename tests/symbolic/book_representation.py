"""Proofs of the rules of the operations on what numbers are made of."""

from __future__ import annotations

from .regions import matrix

CASES = {
    "mantissa": [(matrix, (4,))],
    "narrow_copy": [(matrix, (1, 0, 2))],
}

RESERVED: dict[str, str] = {
    "angle": "constant on both sides of 0: the rule gives zeros, and SymPy has no array of angles",
    "nextafter": "SymPy has no neighbors of numbers: it knows all of them",
}
