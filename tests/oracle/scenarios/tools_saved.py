"""Walk through the operations whose saved values are compared one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import (
    operations_arithmetic,
    operations_elementwise,
    operations_indexing,
    operations_linear_algebra,
    operations_nn,
    operations_powers,
    operations_reduction,
    operations_shape,
)
from .tools_operations import Operation

TABLES = (
    operations_arithmetic,
    operations_elementwise,
    operations_indexing,
    operations_linear_algebra,
    operations_nn,
    operations_powers,
    operations_reduction,
    operations_shape,
)


def rows() -> Iterator[tuple[str, Any, list[tuple[int, ...]], bool]]:
    """Give name, function, shapes of the inputs, and whether they must be positive."""
    for table in TABLES:
        for name, row in table.TABLE.items():
            if not isinstance(row, Operation):
                function, *shapes = row
                yield name, function, shapes, table is operations_powers
