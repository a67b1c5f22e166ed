"""Say what is wrong with what came of a call, or that nothing is."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from .justified import justified

# What NumPy and Python say of themselves, and names that nobody outside knows.
BARE = re.compile(
    r"operands could not be broadcast|unsupported operand|object has no attribute|\b_array\b|ufunc"
    r"|<locals>|not supported between|object of type|cannot be interpreted|is not subscriptable"
    r"|is not iterable|not callable|ndarray\.|setting an array|could not convert|_stub"
    r"|lambda(?! must)"
)
APART = re.compile(
    r"(torch|minigrad)\.|\b_?[A-Z]\w*\.(?=\w+\(\))|(?<=attribute )'[a-z]\w*'| at 0x\w+"
)
ADDRESS = re.compile(r" object at 0x\w+|(?<=Object of type: )(_TensorMeta|type)")
BINDING = re.compile(r"\(\) (missing \d|got (an unexpected|multiple|some)|takes )")
PUBLIC = re.compile(r"([A-Za-z]\w*\.)?(__(init|new)__|[A-Za-z]\w*)\(\)")
KINDS = {
    "silent": "another answer than PyTorch's",
    "answer": "an answer where PyTorch refuses",
    "refusal": "a refusal where PyTorch answers",
    "error": "another type of error",
    "bare": "a message from inside",
    "hang": "no end",
}
# Functions whose values are random, or what was in the memory.
BY_CHANCE = re.compile(
    r"\b(rand\w*|dropout\w*|alpha_dropout_?|feature_dropout_?|native_dropout|bernoulli_?|normal_?|empty\w*"
    r"|new|new_empty|resize_|multinomial|[A-Z]\w*Dropout\w*|Dropout\w*|RReLU|RandomSampler|random_split|uniform_|random_|invert_permutation|rrelu_?|kaiming_\w+|xavier_\w+|svd|qr|eig|eigh|eigvals)\("
)


def verdict(told: dict[str, Any]) -> tuple[str, str] | None:
    """Judge what came of a call.

    Args:
        told: What `running.outcomes` gives.

    Returns:
        The kind of what is wrong, and where; or None.
    """
    call = told["call"]
    if "died" in told:
        return ("hang", _function(call)) if told["died"] == "minigrad" else None
    ours, theirs = told["minigrad"], told["torch"]
    found = _judge(call, ours, theirs) or (
        ("backward" in ours or "backward" in theirs)
        and _judge(call, ours.get("backward", {}), theirs.get("backward", {}), "backward of ")
    )
    return found if found and not justified(call, *found, ours, theirs) else None


def _judge(
    call: str, ours: dict[str, Any], theirs: dict[str, Any], of: str = ""
) -> tuple[str, str] | None:
    name = of + _function(call)
    if "error" in ours and (bare := _bare(call, ours, theirs)):
        return "bare", f"{ours['place']} {bare}"
    if "error" in theirs:
        if "error" not in ours:
            return "answer", name
        return None if theirs["error"][0] in ours["error"] else ("error", name)
    if "error" in ours:
        return "refusal", name
    if not of:
        for part in ("result", "gradients"):
            if part in ours and part in theirs:
                half = (
                    "float16" in str(theirs["result"])
                    or re.search("half|float16", call) is not None
                )
                where = difference(ours[part], theirs[part], not BY_CHANCE.search(call), half)
                if where:
                    return "silent", f"{name}: {where} of the {part}"
    return None


def _bare(call: str, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Tell what is wrong with an error's words."""
    says, same = ours["says"], theirs.get("says", "")
    # a class may live elsewhere, or inherit from another one, and be asked for something else; an
    # attribute of Tensor itself is of another kind
    for there, here in (("_C._TensorMeta", "type"), ("getset_descriptor", "property")):
        says, same = says.replace(there, here), same.replace(there, here)
    first, other = (APART.sub("", each) for each in (says, same))
    if first.split("\n")[0] == other.split("\n")[0] and not says.startswith("_stub"):
        return ""
    if BINDING.search(says):
        told = "'self'" not in says or "needs an argument" in same  # a method of no tensor
        return "" if PUBLIC.match(says) and told else says[:60]
    if ours.get("inside"):
        return re.sub(r"[\d.]+", "0", says)[:60]
    if ours["place"].startswith("<the call>"):
        return ""  # Python's, of the expression that was written
    if "/hostile/" in ours["place"] or re.search(r"[a-z]\. [A-Z]", says):
        return ""  # as it was looked at; or what to do is told, too
    found = BARE.search(says)
    return found[0] if found and found[0] not in same and " attribute" not in found[0] else ""


def _function(call: str) -> str:
    """Name the function that a call calls last."""
    depth = 0
    for place in range(len(call) - 1, -1, -1):
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(call[place], 0)
        if depth == 0 and call[place] in "([":
            name = re.search(r"[\w.]*$", call[:place])
            told = name[0].removeprefix("torch.") if name else ""
            return told or call[place:]
    return call


def difference(ours: Any, theirs: Any, values: bool = True, half: bool = False) -> str:
    """Tell in what two descriptions differ, or nothing.

    Args:
        ours: The one.
        theirs: The other.
        values: Whether values count.
        half: Whether they came by way of half precision, which has eleven bits.
    """
    if isinstance(ours, list) or isinstance(theirs, list):
        pairs = zip(ours, theirs, strict=False)
        found = (difference(a, b, values, half) for a, b in pairs)
        return "number" if len(ours) != len(theirs) else next(filter(None, found), "")
    for key in ("type", "dtype", "shape", "requires_grad"):
        if ours.get(key) != theirs.get(key):
            return key
    if "parts" in ours:
        return difference(ours["parts"], theirs["parts"], values, half)
    if values and "values" in ours:
        # some in float64 come of float32, whose functions differ in the last bit
        tolerance = 2.5e-7 if theirs["dtype"].endswith("t64") else 2e-4
        if half or theirs["dtype"] in ("float16", "bfloat16"):
            tolerance = 1e-2
        a, b = ours["values"], theirs["values"]
        if isinstance(a, str):
            return "values" if ADDRESS.sub("", a) != ADDRESS.sub("", b) else ""
        same = len(a) == len(b) and all(map(close, a, b, [tolerance] * len(a)))
        return "" if same else "values"
    if values and ours.get("value") != theirs.get("value"):
        a, b = (ADDRESS.sub("", each["value"]) for each in (ours, theirs))
        return "" if close(a, b, 1e-4) else "value"
    return ""


def close(a: str, b: str, tolerance: float) -> bool:
    """Tell whether two printed numbers are about the same."""
    if a == b:
        return True
    try:
        x, y = complex(a), complex(b)
    except ValueError:
        return False
    parts = ((x.real, y.real), (x.imag, y.imag))
    return all(
        (math.isnan(p) and math.isnan(q))
        or math.isclose(p, q, rel_tol=tolerance, abs_tol=tolerance * max(1.0, abs(y)))
        for p, q in parts
    )


def groups(all_told: Iterable[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Sort what is wrong by kind and place, the most frequent first."""
    found = defaultdict(list)
    for told in all_told:
        wrong = verdict(told)
        if wrong:
            found[wrong].append(told)
    order = [*KINDS]
    return dict(sorted(found.items(), key=lambda each: (order.index(each[0][0]), -len(each[1]))))
