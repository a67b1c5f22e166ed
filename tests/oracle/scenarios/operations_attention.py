"""See scaled dot-product attention."""

from __future__ import annotations

from .tools import leaf
from .tools_operations import add_all, operation

Q4, K4 = (2, 2, 3, 4), (2, 2, 5, 4)
Q3, K3 = (2, 3, 4), (2, 5, 4)
FLOATS = ("float32", "float64")


def _attend(**options):
    return lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, **options)


def _masked(kind, **options):
    """Attend with a mask: of booleans, with a row where nothing is allowed, or of numbers."""

    def call(t, q, k, v):
        mask = leaf(t, (q.shape[-2], k.shape[-2]), 77, requires_grad=False)
        if kind == "bool":
            mask = mask > -1
            mask[0] = False
        return t.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, **options)

    return call


TABLE = {
    "stacks": operation(
        _attend(),
        Q3,
        K3,
        K3,
        dtypes=FLOATS,
        wrong={
            "dtypes": lambda t, q, k, v: _attend()(t, q, k.double(), v),
            "mask of float64": lambda t, q, k, v: _attend(attn_mask=t.zeros(3, 5, dtype=t.float64))(
                t, q, k, v
            ),
        },
    ),
    "matrices": operation(_attend(scale=0.3), (3, 4), (5, 4), (5, 4), dtypes=()),
    "causal stacks": operation(_attend(is_causal=True), Q3, K3, K3, dtypes=()),
    "stacks, some masked": operation(_masked("bool"), Q3, K3, K3, dtypes=()),
    "stacks, numbers added": operation(_masked("float"), Q3, K3, K3, dtypes=()),
    "values of another width": operation(_attend(), Q4, K4, (2, 2, 5, 3), dtypes=()),
}

family = add_all(TABLE)

# What is one node in PyTorch is made of products and a softmax in minigrad.
ONE_NODE = {
    "heads": (_attend(), Q4, K4, K4),
    "scaled": (_attend(scale=0.3), Q4, K4, K4),
    "causal": (_attend(is_causal=True), Q4, Q4, Q4),
    "causal, more keys": (_attend(is_causal=True), Q4, K4, K4),
    "some masked": (_masked("bool"), Q4, K4, K4),
    "numbers added": (_masked("float"), Q4, K4, K4),
    "masked and causal": (_masked("bool", is_causal=True), Q4, K4, K4),
}


def _add(name, call, shapes):
    def scenario(torch, log):
        for dtype in (torch.float32, torch.float64):
            leaves = [leaf(torch, s, i + 1, dtype=dtype) for i, s in enumerate(shapes)]
            value = call(torch, *leaves)
            log("value", value.detach())
            cotangent = leaf(torch, tuple(value.shape), 91, dtype=dtype, requires_grad=False)
            log("gradients", *torch.autograd.grad(value, leaves, cotangent))
        leaves[0].requires_grad_(False)
        value = call(torch, *leaves)
        log("not the query", torch.autograd.grad(value, leaves[1:], cotangent))

    scenario.__doc__ = f"Value and gradients of attention with heads, {name}."
    family.add(name, scenario)


for _name, (_call, *_shapes) in ONE_NODE.items():
    _add(_name, _call, _shapes)
