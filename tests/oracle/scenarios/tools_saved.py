"""Walk through the operations whose saved values are compared one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.operations.running import TABLES, differentiable, evaluate

FAMILIES = ("elementwise", "matrices", "reductions", "shape")
# What minigrad makes of other nodes than PyTorch, keeps otherwise, or gives in several results;
# how indices are kept is shown by the few whose names are in `KEPT`.
OTHERWISE = re.compile(
    "addc|div_floor|div_trunc|clamp_between|lerp$|lerp 2|special|stacks 2|solve|det$|slogdet|lstsq|"
    "eig|svd|qr|cdist|pairwise|cosine|nansum|_dim$|dist|sort|topk|kthvalue|quantile|inner|diff|"
    "repeat_interleave|pad with|scatter|take|put|index|gather|broadcast_t|meshgrid|tensordot|var$|"
    "std$|unfold"
)
KEPT = {"max_dim", "index_select", "index", "index 8", "index 34", "gather", "sum_dim", "mean_dim"}


def called(operation: Any, torch: Any, *inputs: Any) -> Any:
    """Give the first result that has a gradient."""
    value = evaluate(operation, operation.calls[0], torch, inputs)
    return next(iter(differentiable(value, torch)), None)


def rows() -> Iterator[tuple[str, Any, tuple[tuple[int, ...], ...], bool]]:
    """Give the table's first calls: name, function, shapes of the inputs, whether positive."""
    import minigrad

    for family in FAMILIES:
        for name, operation in TABLES[family].items():
            if operation.is_of_the_book or (OTHERWISE.search(name) and name not in KEPT):
                continue
            inputs = [minigrad.ones(shape, requires_grad=True) for shape in operation.shapes]
            function = partial(called, operation)
            if function(minigrad, *inputs) is not None:
                yield name, function, operation.shapes, operation.positive
