"""Check the checkpoints of lesson 17, the capstone, and show what a learner has built there.

Line numbers are computed, and shown to a person only: they move with every change of the heart.
"""

from __future__ import annotations

import importlib
import inspect
import linecache
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.autograd.messages import hook_name
from minigrad.classroom import tables
from minigrad.classroom.watching import watched
from minigrad.viz import Picture, draw
from minigrad.viz.graph import Hook

from .arrays import RECORDED, UNBROADCAST, VALUE
from .engines import ENGINE, HOOKS, MODULE, MODULE_HOOKS
from .kinds import CHECKPOINTS, mine, whose

__all__ = ["EXERCISES", "beside_the_heart", "mine", "own_lines", "picture", "whose"]

EXERCISES = [VALUE, RECORDED, UNBROADCAST, ENGINE, HOOKS, MODULE, MODULE_HOOKS]

# --- pictures


class _Node:
    """A learner's tensor, in the form of a node that `draw` can walk through."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        if not tensor.inputs:
            self.variable = _Card(tensor, None)
        self.next_functions: tuple[tuple[_Node | None, int], ...] = ()

    def name(self) -> str:
        """Name the operation by the function that holds its rule."""
        if not self.tensor.inputs:
            return "AccumulateGrad"
        rule = inspect.unwrap(self.tensor.rule)
        path = str(getattr(rule, "__qualname__", type(rule).__name__)).split(".<locals>")[0]
        return path.rpartition(".")[2].strip("_")


class _Card:
    """A learner's tensor, with what `draw` shows of one."""

    output_nr, retains_grad = 0, False

    def __init__(self, tensor: Any, node: _Node | None) -> None:
        self.grad_fn, self.is_leaf = node, node is None
        self.requires_grad = tensor.requires_grad
        self.shape = np.shape(tensor.data)
        self.grad = None if tensor.grad is None else np.asarray(tensor.grad)
        self.tolist = tensor.data.tolist


def picture(tensor: Any, names: Mapping[str, Any], **settings: Any) -> Picture:
    """Draw the graph of a tensor of the learner's own class.

    Args:
        tensor: where the graph ends.
        names: of tensors in it.
        **settings: what `minigrad.viz.draw` takes besides.
    """
    nodes = {id(tensor): _Node(tensor)}
    todo = [tensor]
    while todo:
        for source in todo.pop().inputs:
            if source.requires_grad and id(source) not in nodes:
                nodes[id(source)] = _Node(source)
                todo.append(source)
    for node in nodes.values():
        node.next_functions = tuple((nodes.get(id(x)), 0) for x in node.tensor.inputs)
    cards = {
        name: _Card(x, nodes[id(x)]) if x.inputs else nodes[id(x)].variable
        for name, x in names.items()
        if id(x) in nodes
    }
    root = _Card(tensor, nodes[id(tensor)])
    return draw(root, names=cards, hooks=_hooks_of, **settings)


def _hooks_of(node: _Node) -> list[Hook]:
    hooks = getattr(node.tensor, "hooks", None)
    found = hooks.values() if isinstance(hooks, Mapping) else ()
    return [Hook("tensor pre-hook", hook_name(each)) for each in found]


# --- the heart beside it

_PARTS = [
    ("17.2", "result", "operation", "interpret", "makes the function that computes and records"),
    ("17.2", "the rules", "operation", "operation", "turns forward and rules into an operation"),
    ("17.3", "unbroadcast", "node", "sum_to_shape", "sums over what was added or stretched"),
    ("17.3", "Broadcasting", "node", "reduce_gradient", "is called after a rule, where needed"),
    ("17.4", "number, inputs", "node", "Node", "knows its edges and its place in the order"),
    ("17.4", "complete, for a leaf", "engine", "AccumulateGrad._run", "adds to .grad"),
    ("17.4", "the first walk", "engine", "count_uses", "counts how many parts each node waits for"),
    ("17.4", "the second walk", "engine", "GraphTask.run", "runs what is ready"),
    ("17.4", "backward", "engine", "run_backward", "starts a pass, and ends it"),
    ("17.5", "Handle", "hooks", "RemovableHandle", "removes one hook again"),
    ("17.5", "register_hook", "tensor", "Tensor.register_hook", "puts a hook into a table"),
    ("17.5", "complete, with hooks", "hooks", "NodeHooks.run_tensor_hooks", "calls them in order"),
    ("17.7", "identity", "module_hooks", "_through_identity", "leads values through one node"),
    ("17.7", "between_gates", "module_hooks", "FullBackwardHooks", "keeps one end for later"),
    ("17.7", "the wrapped rule", "module_hooks", "attach_legacy_hooks", "hooks the last node"),
]


class Beside:
    """A table: which part of the heart does what a part of the learner's does."""

    def __init__(self) -> None:
        self.rows = [
            (checkpoint, own, module, name, does, *_place(module, name))
            for checkpoint, own, module, name, does in _PARTS
        ]

    def __repr__(self) -> str:
        rows = [
            (checkpoint, own, f"core/{module}.py, {name}{lines}", does)
            for checkpoint, own, module, name, does, _, lines in self.rows
        ]
        widths = [*(max(map(len, column)) for column in list(zip(*rows, strict=True))[:3]), 0]
        return "\n".join("  ".join(map(str.ljust, row, widths)) for row in rows)

    def _repr_html_(self) -> str:
        body = "".join(
            _row("td", checkpoint, own, f"{_linked(link, module, name)}{lines}", does)
            for checkpoint, own, module, name, does, link, lines in self.rows
        )
        head = _row("th", "checkpoint", "yours", "in minigrad/core", "what it does")
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _linked(link: str, module: str, name: str) -> str:
    return f'<a href="{link}">{module}.py</a>: <code>{name}</code>'


def _row(kind: str, *cells: str) -> str:
    written = (f'<{kind} style="text-align: left">{cell}</{kind}>' for cell in cells)
    return f"<tr>{''.join(written)}</tr>"


def _place(module: str, name: str) -> tuple[str, str]:
    """Find a part of the heart: a link that leads to its file from a lesson, and its lines."""
    thing: Any = importlib.import_module(f"minigrad.core.{module}")
    for part in name.split("."):
        thing = getattr(thing, part)
    lines, first = inspect.getsourcelines(thing)
    shown = f", lines {first} to {first + len(lines) - 1}" if watched() else ""
    here = Path.cwd().parts
    if "lessons" in here:  # as the notebook lies in the repository, wherever that is
        up = here[::-1].index("lessons") + 1
        return "../" * up + f"minigrad/core/{module}.py", shown
    return Path(inspect.getsourcefile(thing) or "").as_uri(), shown


def beside_the_heart() -> Beside:
    """Give the table; its links lead to the files."""
    return Beside()


# --- how much it is


def own_lines() -> int:
    """Count the lines of the answers that the learner goes on with, without blanks and comments."""
    return sum(_lines_of(checkpoint) for checkpoint in CHECKPOINTS)


def _lines_of(checkpoint: str) -> int:
    answer, program = mine(checkpoint), tables.solution(checkpoint)
    lines = program.source.split("\n") if program else []
    if answer is mine(
        checkpoint, use_reference=True
    ):  # of the solved notebook, from its first definition on
        while not lines[0].startswith(("class ", "def ")):
            lines = lines[1:]
    else:
        functions = [answer] if inspect.isfunction(answer) else vars(answer).values()
        code = next(each.__code__ for each in functions if inspect.isfunction(each))
        lines = linecache.getlines(code.co_filename)
    return sum(1 for line in lines if line.strip() and not line.strip().startswith("#"))
