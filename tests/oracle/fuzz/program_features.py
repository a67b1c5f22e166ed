"""Count what random tensor programs do: which statements they have, and how these end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from .programs import Statement

# The first pattern that is found in a statement says what it is.
_KINDS = {
    "second derivative": r"create_graph=True",
    "grad": r"autograd\.grad\(",
    "backward of several": r"autograd\.backward\(",
    "backward with inputs": r"\.backward\(.*inputs=",
    "backward": r"\.backward\(",
    "hook on a tensor": r"hook_on\(",
    "hook after accumulation": r"hook_after\(",
    "node pre-hook": r"register_prehook\(",
    "node hook": r"register_hook\(",
    "hook removed": r"\.remove\(\)",
    "retain_grad": r"retain_grad",
    "requires_grad_": r"requires_grad_",
    "detach_": r"detach_",
    "detach, data": r"\.detach\(\)$|\.data$",
    "data assigned": r"\.data = ",
    "grad assigned": r"\.grad = ",
    "grad mode": r"set_grad_enabled",
    "random numbers": r"manual_seed",
    "leaf": r"^\w+ = T\(",
    "custom Function": r"\.apply\(",
    "part written": r"\] [+*]?= ",
    "in place": r"\w_\(| [-+*]= ",
    "forgotten": r"^del ",
    "several views": r"^\w+, \w+.* = \w+\.(?:unbind|split|chunk)",
    "index array, mask": r"\[\w+ > 0\]|\[\[",
    "view": r"\.(?:view|reshape|t|transpose|permute|squeeze|unsqueeze|expand|flatten|view_as)\(|"
    r"\.T\b|\[[-.:\w, ]+\]$|\.(?:unbind|split|chunk)\(",
    "copy": r"clone|contiguous|flip|repeat|cat\(|stack\(|gather|\.to\(",
    "reduction": r"\.(?:sum|mean|amax|amin|max|min|norm|softmax|log_softmax|logsumexp)\(",
    "product": r" @ |matmul",
    "where, masked_fill, clamp": r"where|masked_fill|clamp",
    "comparison": r" (?:[<>]=?|[=!]=) ",
    "function": r"\.\w+\(\)$|= torch\.\w+\(",
    "gradient taken": r"\.grad$",
    "arithmetic": r" [-+*/]+ |add\(|sub\(",
    "look": r"^pass$",
    "out": r"out=\w",
    "other operation": r"= (?:torch|F)\.|^F\.|= .*\.\w+(?:\(|$)| (?://|%|\*\*)=? |\[.*\]$|= \+",
}


def kind(statement: Statement) -> str:
    """Say what a statement does."""
    text = statement.text.partition("_grad(): ")[2] or statement.text
    return next((name for name, found in _KINDS.items() if re.search(found, text)), "other")


def count(program: Sequence[Statement], events: Sequence[Any], counter: Counter[str]) -> None:
    """Add up the statements of a program, its errors, and the hooks that ran."""
    texts = {statement.text: statement for statement in program}
    for event in events:
        label = event[0]
        if not isinstance(label, str):
            counter["warning"] += 1
        elif label in texts:
            counter[kind(texts[label])] += 1
            if label.startswith("with "):
                counter["under no_grad or enable_grad"] += 1
            if len(event) > 1 and isinstance(event[1], dict) and "error" in event[1]:
                counter["error"] += 1
                counter[f"error: {error_name(event[1])}"] += 1
        elif label.startswith("hook "):
            counter["hook ran"] += 1


def error_name(error: dict[str, str]) -> str:
    """Name an error by the beginning of its message, without what differs from case to case."""
    message = re.sub(r"'[^']*'|\[[^]]*\]|-?\d+", "_", error["message"])
    return f"{error['error']} {message[:60]}"
