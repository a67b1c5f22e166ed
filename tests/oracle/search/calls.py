"""Make random calls with a wrong argument."""

from __future__ import annotations

import ast
import random

from .programs import Draft, Holes
from .running import Program

WRONG = [
    "None",
    "'text'",
    "-7",
    "[]",
    "{}",
    "True",
    "float('nan')",
    "2.5",
    "object()",
    "torch.float32",
]
WRONG += [
    "torch.ones(4, 5)",
    "torch.tensor([], dtype=torch.int64)",
    "[1, 'text']",
    "(7, 8, 9)",
    "1j",
]
WRONG += ["torch.tensor([True])", "2**70", "torch", "a"]


def make_call(seed: int) -> Program:
    """Make two tensors, and a call with one or two of its arguments replaced by wrong ones."""
    rng = random.Random(f"call {seed}")
    draft = Draft(rng, rng.choice(["float32", "float64"]))
    while len(draft.program) < 3 or not draft.tensors(lambda x: x.requires_grad and x.ndim):
        draft.statement("leaf")
    text = Holes(draft).fill(
        draft.pick(rng.choice(["compute", "compute", "view", "write", "pass"]))
    )
    tree = ast.parse(text)
    places = [
        (node, place)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for place in range(len(node.args) + len(node.keywords))
    ]
    for node, place in rng.sample(places, min(len(places), rng.choice([1, 1, 2]))):
        wrong = ast.parse(rng.choice(WRONG), mode="eval").body
        if place < len(node.args):
            node.args[place] = wrong
        else:
            node.keywords[place - len(node.args)].value = wrong
    call = ast.unparse(ast.fix_missing_locations(tree))
    try:
        compile(call, "", "eval")
    except SyntaxError:
        return [*draft.program, call]
    return [*draft.program, f"log('result', {call})"]
