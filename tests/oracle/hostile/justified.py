"""Differences that are meant, each with its reason."""

from __future__ import annotations

import re
from typing import Any

_INFINITE = "infinities on the way; the reference tells"
# The kind, what the call matches, what minigrad's or PyTorch's words match, or where they differ
# without any, and the reason.
REASONS: tuple[tuple[str, str, str, str], ...] = (
    ("refusal|error", "", r"^NotImplementedError", "a limit that the reference tells"),
    ("silent", r"(kthvalue|median)\(", "", "which of equal entries is named, nobody promises"),
    # t, g and d make numbers that are not sorted
    ("silent", r"(searchsorted|bucketize)\(.*\b[tgd]\(", "values", "nobody sorted; it is told"),
    ("silent", r"RMSprop\(.*alpha=.*\b(0|False)\b.*centered", "values", "rounding; it is told"),
    (
        "silent",
        r"(var|std)\(.*(\(\)|\[\]|\[:0\])",
        "",
        "PyTorch's gradient takes no dimensions for one entry",
    ),
    ("silent", r"(var|std)_mean\(.*(inf|/0)", "", "the mean of infinities; the reference tells"),
    (
        "silent",
        r"^(?=.*(\bc\(|\dj|complex))(?=.*(inf|nan|/ 0)).*( [-+] |add|sub)",
        "values",
        f"{_INFINITE}, of sums",
    ),
    ("silent", r"(batch|instance|group)_norm\(.*(inf|/ 0)", "values", f"{_INFINITE}, of weights"),
    (
        "silent",
        r"scaled_dot_product_attention\(.*scale=.*(-|nan|0\)|False)",
        "values",
        f"{_INFINITE}, of scales",
    ),
    ("silent", r"(gelu|GELU|trapezoid)\(.*(inf|/ ?0)", "values", f"{_INFINITE}, of areas"),
    ("silent", r"softplus\(.*(\*\*|e\+)", "values of the gradients", f"{_INFINITE}, of powers"),
    ("silent", r"conv\dd\(.*(inf|/ 0)", "values of the gr", f"{_INFINITE}, of kernels"),
    ("silent", r"(max|min)\(.*(dim|axis)=(torch\.tensor|[iz]\()", "type", "a tensor; it is told"),
    ("silent", r"half\(\).*\dj", "dtype", "two halves make no complex number; it is told"),
    ("silent", r"(SGD|Adam\w*|ASGD)\(.*np\.u?int\d", "values", "PyTorch overflows; it is told"),
    ("silent", r"scaled_dot.*\[:0\]", "shape", "nothing has no partner; it is told"),
    ("bare", r"np\.(ones|zeros)\(-?\w\(", "", "NumPy takes sizes in tensors"),
    ("refusal", r"read_only", r"^ValueError.*read-only", "what is locked stays so; it is told"),
    ("silent", r"np\.complex64", "", "PyTorch drops the imaginary part; the reference tells"),
    ("silent", r"LazyLinear\(.*\(\w+\([^)]*\b0\)", "", "nobody wrote a bias for no inputs"),
    ("silent", r"pinv(erse)?\((.*[ (=])?(False|0|0\.0)\)$", "values", "rounding; it is told"),
    (
        "silent",
        r"(arange|_indices)\(.*2 ?\*\* ?6",
        "shape",
        "PyTorch counts too far; it is told",
    ),
    ("silent", r"pos_weight=(.*byte|u\()", "values of the gr", "its loss overflows; it is told"),
    ("silent", r"\bt\([^)]*\b0\b.*stride\(", "value", "steps between no entries; it is told"),
    ("silent", r"unique\(.*/ 0, dim=", "values", "rows with nan have no order; it is told"),
    ("silent", r"unique_consecutive\(.*, True", "", "PyTorch lists nothing; it is told"),
    ("silent", r"pinv(erse)?\(.*(rcond|rtol|atol)=-", "values", "rounding; it is told"),
    ("silent", r"(jacfwd|hessian)\(.*, \(?-\d", "values", "PyTorch gives 0; it is told"),
    ("bare", r"torch\.\w+\d\.numpy\(", "", "a dtype has NumPy's here, and PyTorch's has none"),
    ("silent|answer|error", r"^np\.", "", "an array on the left is known; the reference tells"),
    ("answer", r"sgn\(", "unallocated storage", "PyTorch cannot show its gradient of zeros"),
    ("error", "", r"\nAttributeError .*has no attribute", "PyTorch asks for what nothing has"),
)
LACKING = re.compile(r"AttributeError .* has no attribute '(\w+)'")


def justified(
    call: str, kind: str, where: str, ours: dict[str, Any], theirs: dict[str, Any]
) -> str:
    """Give the reason why a difference is meant, or nothing."""
    failed = ours if "error" in ours else ours.get("backward", {})
    words = f"{failed['error'][0]} {failed['says']}" if failed else ""
    lacking = LACKING.match(words)
    if lacking and f".{lacking[1]}" in call:
        return "minigrad does not have it"
    refused = theirs if "error" in theirs else theirs.get("backward", {})
    words += f"\n{refused['error'][0]} {refused['says']}" if refused else ""
    for kinds, calls, said, reason in REASONS:
        if kind in kinds.split("|") and re.search(calls, call) and re.search(said, words or where):
            return reason
    return ""
