"""Activations and normalizations in NumPy, forward and backward, as one would write them by hand.

What the backward pass can use is kept from the forward pass, and arrays are written over where they
are not needed again. NumPy has no error function: minigrad's is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.ops.special_functions import erf

EPS = 1e-5
Arrays = list[Any]


def gelu(x: Any, g: Any) -> Arrays:
    """Give the gradient of x times the normal distribution function."""
    likely = erf.forward(x * np.float32(math.sqrt(0.5)))
    likely += 1
    likely *= 0.5
    x * likely
    d = x * x
    d *= -0.5
    np.exp(d, out=d)
    d *= 1 / math.sqrt(2 * math.pi)
    d *= x
    d += likely
    d *= g
    return [d]


def layer_norm(x: Any, w: Any, b: Any, g: Any) -> Arrays:
    """Normalize the rows."""
    count = x.shape[1]
    scaled = x - x.mean(1, keepdims=True)
    rstd = 1 / np.sqrt(np.vecdot(scaled, scaled)[:, None] / count + EPS)
    scaled *= rstd
    y = scaled * w
    y += b
    product = g * scaled
    of_w, slope, shift = product.sum(0), (product @ w)[:, None], (g @ w)[:, None]
    d = g * w
    d -= shift / count
    d -= np.multiply(scaled, slope / count, out=product)
    d *= rstd
    return [d, of_w, g.sum(0)]


def batch_norm(x: Any, w: Any, b: Any, g: Any) -> Arrays:
    """Normalize the columns."""
    count = len(x)
    scaled = x - x.mean(0)
    rstd = 1 / np.sqrt(np.einsum("ij,ij->j", scaled, scaled) / count + EPS)
    scaled *= rstd
    y = scaled * w
    y += b
    of_b, of_w = g.sum(0), np.einsum("ij,ij->j", g, scaled)
    d = g - of_b / count
    d -= np.multiply(scaled, of_w / count, out=scaled)
    d *= rstd * w
    return [d, of_w, of_b]


def group_norm(x: Any, w: Any, b: Any, g: Any) -> Arrays:
    """Normalize two groups of channels."""
    samples, channels = x.shape[:2]
    half, weights = channels // 2, w[:, None]
    whole = (samples, 2, -1)
    rows = x.reshape(whole)
    count = rows.shape[2]
    scaled = rows - rows.mean(2, keepdims=True)
    rstd = 1 / np.sqrt(np.vecdot(scaled, scaled)[..., None] / count + EPS)
    scaled *= rstd
    each, g = scaled.reshape(samples, channels, -1), g.reshape(samples, channels, -1)
    y = each * weights
    y += b[:, None]
    of_b, of_w = g.sum(2), np.vecdot(g, each)
    shift = (of_b * w).reshape(samples, 2, half).sum(2)[..., None] / count
    slope = (of_w * w).reshape(samples, 2, half).sum(2)[..., None] / count
    d = (g * weights).reshape(whole)
    d -= shift
    d -= np.multiply(scaled, slope, out=scaled)
    d *= rstd
    return [d.reshape(x.shape), of_w.sum(0), of_b.sum(0)]


BY_HAND: dict[str, Callable[..., Arrays]] = {
    "gelu": gelu,
    "layer_norm": layer_norm,
    "batch_norm": batch_norm,
    "group_norm": group_norm,
}
