"""Cases for linear algebra: triangles, solutions, determinants, distances."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as torch

from .cases import Case, M, V, case

SQUARE, BATCH = (3, 3), (2, 2, 2)


def _well(x: Any) -> Any:
    """Add to the diagonal, so that a matrix is far from singular."""
    eye = np.eye(x.shape[-1])
    return x + (torch.tensor(3 * eye, dtype=x.dtype) if isinstance(x, torch.Tensor) else 3 * eye)


def _of(reference: Any, prepare: Any, *shapes: Any, then: Any = ()) -> Case:
    """Make a case whose first input is prepared."""
    return Case(
        shapes,
        lambda x, *others: reference(prepare(x), *others),
        lambda op, x, *others: op(prepare(x), *others, *then),
    )


def _distances(p: float) -> Any:
    def reference(a: Any, b: Any) -> Any:
        sizes = np.abs(a[..., :, None, :] - b[..., None, :, :])
        if p == np.inf:
            return sizes.max(-1)
        return (sizes**p).sum(-1) ** (1 / p)

    return reference


CASES: dict[str, list[Case]] = {
    "tril": [case(lambda x: np.tril(x, 1), SQUARE, then=(1,)), case(np.tril, BATCH, then=(0,))],
    "triu": [case(lambda x: np.triu(x, -1), SQUARE, then=(-1,)), case(np.triu, BATCH, then=(0,))],
    "trace": [case(np.trace, SQUARE), case(np.trace, M)],
    "diagonal": [
        case(lambda x: x.diagonal(1, 0, 2), (2, 3, 3), then=(1, 0, 2)),
        case(np.diagonal, M, then=(0, 0, 1)),
    ],
    "diagonal_copy": [case(lambda x: x.diagonal(-1), SQUARE, then=(-1, 0, 1))],
    "diagonal_backward": [case(lambda g: np.diag(g, 1), (2,), then=(SQUARE, 1, 0, 1))],
    "diag_embed": [
        case(lambda x: np.diag(x, -1), V, then=(-1, 0, 1)),
        case(lambda x: x[..., None] * np.eye(3), M, then=(0, 1, 2)),
    ],
    "inv": [_of(np.linalg.inv, _well, SQUARE), _of(np.linalg.inv, _well, BATCH)],
    "solve": [
        _of(np.linalg.solve, _well, SQUARE, (3, 2)),
        _of(np.linalg.solve, _well, BATCH, (2, 3)),
    ],
    "pinv": [case(np.linalg.pinv, shape, then=(1e-12,)) for shape in ((3, 2), (2, 3), BATCH)],
    "det": [_of(np.linalg.det, _well, SQUARE), _of(np.linalg.det, _well, BATCH)],
}
