"""Attention with several heads: projections, masks, and the way from one to the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.factories import zeros
from minigrad.faces import functional
from minigrad.faces.arguments import check_tensor
from minigrad.faces.face import in_functional
from minigrad.ops.attention import scaled_dot_product_attention
from minigrad.ops.joining import joined
from minigrad.ops.linear import linear
from minigrad.ops.linear_algebra import baddbmm
from minigrad.ops.padding import pad
from minigrad.ops.softmax import softmax_of


@functional
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    r"""Project queries, keys and values, attend in each head, and project what the heads found.

    Source: Vaswani et al., *Attention is all you need*, 2017.

    Args:
        query: What each place asks for.
        key: What each place offers to be found by.
        value: What each place has to say.
        embed_dim_to_check: The size that the query must have.
        num_heads: The number of heads, into which the size is divided.
        in_proj_weight: The weights of the three projections, one below the other.
        in_proj_bias: The biases of the three projections, or None.
        bias_k: A key that is added to the others, of shape (1, 1, E), or None.
        bias_v: The value that goes with it, or None.
        add_zero_attn: Whether a key and a value of zeros are added.
        dropout_p: The probability to drop weights in training.
        out_proj_weight: The weight of the projection of the results.
        out_proj_bias: Its bias, or None.
        training: Whether weights are dropped.
        key_padding_mask: True (or minus infinity) at keys that nobody shall look at.
        need_weights: Whether to give the weights, too.
        attn_mask: True (or minus infinity) where a query shall not look, or numbers to add.
        use_separate_proj_weight: Whether the three weights come one by one.
        q_proj_weight: The weight of the projection of queries, if so.
        k_proj_weight: That of keys, whose size may be another one.
        v_proj_weight: That of values, whose size may be another one.
        static_k: Must be None: keys come from the projections.
        static_v: Must be None: values come from the projections.
        average_attn_weights: Whether to average the weights over the heads.
        is_causal: A hint that `attn_mask` is the causal mask.

    Returns:
        The result, and the weights or None.

    Raises:
        AssertionError: If sizes do not fit.
        NotImplementedError: If there are static keys or values.
        RuntimeError: If the mask does not fit, or `is_causal` is set without a mask.

    Shape:
        - query: (L, N, E) or (L, E); key: (S, N, Ek) or (S, Ek); value: (S, N, Ev) or (S, Ev)
        - key_padding_mask: (N, S) or (S); attn_mask: (L, S) or (N * heads, L, S)
        - result: (L, N, E) or (L, E); weights: (N, L, S), with heads (N, heads, L, S), or both
          without N
    """
    if static_k is not None or static_v is not None:
        raise NotImplementedError(
            "multi_head_attention_forward has no static keys and values here. Give them to "
            "scaled_dot_product_attention."
        )
    batched = _check_dimensions(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (each.unsqueeze(1) for each in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    places = key.shape[0]
    key_padding_mask = canonical_mask(
        key_padding_mask, "key_padding_mask", none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # attention has a way of its own for this one
    else:
        attn_mask = canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        if key_padding_mask is not None:
            is_causal = False
    if width != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}"
        )
    depth = width // num_heads
    if depth * num_heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    weights = {"in": in_proj_weight}
    if use_separate_proj_weight:
        weights = {"q": q_proj_weight, "k": k_proj_weight, "v": v_proj_weight}
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's "
                f"{value.shape[:2]}"
            )
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    for name, weight in weights.items():
        if weight is None:
            separate = f"use_separate_proj_weight is {use_separate_proj_weight}"
            raise AssertionError(f"{separate} but {name}_proj_weight is None")
    q, k, v = _project(query, key, value, [*weights.values()], in_proj_bias)
    if attn_mask is not None:
        attn_mask = _fit_mask(attn_mask, length, places, batch * num_heads)
    if bias_k is not None and bias_v is not None:
        k, v = joined([k, bias_k.repeat(1, batch, 1)]), joined([v, bias_v.repeat(1, batch, 1)])
    elif bias_k is not bias_v:
        known, missing = "vk" if bias_k is None else "kv"
        raise AssertionError(f"bias_{known} is set but bias_{missing} is None")
    q = q.view(length, batch * num_heads, depth).transpose(0, 1)
    k, v = (each.view(each.shape[0], batch * num_heads, depth).transpose(0, 1) for each in (k, v))
    if add_zero_attn:
        nothing = zeros(batch * num_heads, 1, depth, dtype=k.dtype)
        k, v = joined([k, nothing], 1), joined([v, nothing], 1)
    if k.shape[1] > places:  # no mask hides what was added
        attn_mask, key_padding_mask = (
            each if each is None else pad(each, (0, k.shape[1] - places))
            for each in (attn_mask, key_padding_mask)
        )
        places = k.shape[1]
    attn_mask = _merge_masks(attn_mask, key_padding_mask, batch, num_heads, places)
    if not training:
        dropout_p = 0.0
    attended = None
    if need_weights:
        q = q * math.sqrt(1.0 / depth)
        turned = k.transpose(-2, -1)
        scores = q.bmm(turned) if attn_mask is None else baddbmm(attn_mask, q, turned)
        attended = softmax_of(scores, -1, 3, None)
        if dropout_p > 0.0:
            attended = in_functional["dropout"](attended, p=dropout_p)
        found = attended.bmm(v).transpose(0, 1)
    else:
        if attn_mask is not None:
            single = attn_mask.shape[0] == 1 and attn_mask.ndim == 3
            sizes = (batch, num_heads, -1, places)
            attn_mask = attn_mask.unsqueeze(0) if single else attn_mask.view(sizes)
        q = q.view(batch, num_heads, length, depth)
        k, v = (each.view(batch, num_heads, places, depth) for each in (k, v))
        heads = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
        found = heads.permute(2, 0, 1, 3)
    output = linear(found.reshape(length * batch, width), out_proj_weight, out_proj_bias)
    output = output.view(length, batch, output.shape[1])
    if attended is None:
        return (output if batched else output.squeeze(1)), None
    attended = attended.view(batch, num_heads, length, places)
    if average_attn_weights:
        attended = attended.mean(dim=1)
    return (output, attended) if batched else (output.squeeze(1), attended.squeeze(0))


def _fit_mask(mask: Tensor, length: int, places: int, heads: int) -> Tensor:
    """Give the mask with three dimensions, or raise if it does not fit."""
    expected = (length, places) if mask.ndim == 2 else (heads, length, places)
    if mask.shape != expected:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {expected}."
        )
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def _merge_masks(
    attn_mask: Tensor | None, key_padding_mask: Any, batch: int, heads: int, places: int
) -> Tensor | None:
    """Add the mask of keys to the mask of pairs."""
    if key_padding_mask is None:
        return attn_mask
    for dim, expected in ((0, batch), (1, places)):
        if key_padding_mask.shape[dim] != expected:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{dim}] to be {expected}, but got "
                f"{key_padding_mask.shape[dim]}"
            )
    wide = key_padding_mask.view(batch, 1, 1, places).expand(-1, heads, -1, -1)
    wide = wide.reshape(batch * heads, 1, places)
    return wide if attn_mask is None else attn_mask + wide


def _check_dimensions(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Any, attn_mask: Any, num_heads: int
) -> bool:
    """Tell whether there is a batch, or raise if the dimensions do not go together."""
    if query.ndim not in (2, 3):
        raise AssertionError(
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{query.ndim}-D query tensor"
        )
    batched = query.ndim == 3
    kind = "batched (3-D)" if batched else "unbatched (2-D)"
    if key.ndim != query.ndim or value.ndim != query.ndim:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {query.ndim}-D but found "
            f"{key.ndim}-D and {value.ndim}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.ndim != query.ndim - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {query.ndim - 1}-D "
            f"but found {key_padding_mask.ndim}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.ndim not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{attn_mask.ndim}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.ndim == 3 and not batched:
        expected = (num_heads, query.shape[0], key.shape[0])
        if attn_mask.shape != expected:
            raise AssertionError(
                f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}"
            )
    return batched


# Projections ------------------------------------------------------------------------------------


def _project(
    query: Tensor, key: Tensor, value: Tensor, weights: Any, bias: Tensor | None
) -> tuple[Tensor, ...]:
    """Project with three weights, or those in one; then tensors that are the same at once."""
    if len(weights) == 1 and key is value:
        (weight,), width = weights, query.shape[-1]
        if query is key:
            return _thirds(linear(query, weight, bias), 3)
        weights = weight.split([width, 2 * width])
        biases = (None, None) if bias is None else bias.split([width, 2 * width])
        both = linear(key, weights[1], biases[1])
        return linear(query, weights[0], biases[0]), *_thirds(both, 2)
    if len(weights) == 1:
        weights = weights[0].chunk(3)
    else:
        for name, given, weight in zip(
            ("query", "key", "value"), (query, key, value), weights, strict=True
        ):
            expected = (query.shape[-1], given.shape[-1])
            if weight.shape != expected:
                raise AssertionError(
                    f"expecting {name} weights shape of {expected}, but got {weight.shape}"
                )
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(map(linear, (query, key, value), weights, biases))


def _thirds(projected: Tensor, count: int) -> tuple[Tensor, ...]:
    """Take apart what was projected at once; each part lies in memory by itself."""
    *outer, width = projected.shape
    parts = projected.view(*outer, count, width // count).unsqueeze(0)
    apart = parts.transpose(0, -2).squeeze(-2).contiguous()
    return tuple(apart[i] for i in range(count))


# Masks ------------------------------------------------------------------------------------------


def canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: Any,
    other_name: str,
    target_type: Any,
    check_other: bool = True,
) -> Tensor | None:
    """Give a mask as numbers to add: minus infinity where it is True, else 0.

    Args:
        mask: Of booleans, or of numbers, which are left as they are; or None.
        mask_name: What to call it in messages.
        other_type: The dtype of another mask, or None.
        other_name: What to call the other one.
        target_type: The dtype of the result, if the mask is of booleans.
        check_other: Whether to warn if the masks are of different dtypes.

    Raises:
        AssertionError: If the mask is of integers.
    """
    if mask is None:
        return None
    check_tensor("is_floating_point", mask)
    kind = mask._array.dtype.kind
    if kind not in "bf":
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. "
            "Use same type for both instead."
        )
    if kind == "f":
        return mask
    return wrap(np.where(mask._array, -np.inf, 0).astype(target_type.numpy))


def none_or_dtype(input: Tensor | None) -> Any:
    """Give the dtype of a mask, or None.

    Raises:
        RuntimeError: If it is neither a tensor nor None.
    """
    if input is None:
        return None
    if isinstance(input, Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
