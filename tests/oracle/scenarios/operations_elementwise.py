"""See functions of one number applied to every entry, and maximum, minimum, clamp."""

from __future__ import annotations

from .tools_operations import add_all, add_operation

V, M, S = (3,), (2, 3), ()

TABLE = {
    "exp": (lambda t, x: x.exp(), V),
    "torch.exp": (lambda t, x: t.exp(x), M),
    "tanh": (lambda t, x: x.tanh(), V),
    "torch.tanh": (lambda t, x: t.tanh(x), M),
    "sigmoid": (lambda t, x: x.sigmoid(), V),
    "torch.sigmoid": (lambda t, x: t.sigmoid(x), S),
    "relu": (lambda t, x: x.relu(), (5,)),
    "torch.relu": (lambda t, x: t.relu(x), M),
    "F.relu": (lambda t, x: t.nn.functional.relu(x), M),
    "abs": (lambda t, x: x.abs(), (5,)),
    "built-in abs": (lambda t, x: abs(x), (5,)),
    "sin": (lambda t, x: x.sin(), V),
    "cos": (lambda t, x: t.cos(x), V),
    "clone": (lambda t, x: x.clone(), V),
    "clamp both": (lambda t, x: x.clamp(-0.5, 0.75), (6,)),
    "clamp min": (lambda t, x: t.clamp(x, min=0.25), (6,)),
    "clamp max": (lambda t, x: x.clamp(max=0.25), (6,)),
    "maximum": (lambda t, x, y: t.maximum(x, y), (6,), (6,)),
    "minimum": (lambda t, x, y: t.minimum(x, y), (2, 3), (3,)),
    "maximum with itself": (lambda t, x: t.maximum(x, x), V),
    "where": (lambda t, x, y: t.where(x > 0, x, y), (6,), (6,)),
    "a chain": (lambda t, x: ((x * 2).tanh() + x.exp()).sigmoid(), V),
    "sin of sum of squares": (lambda t, x: (x**2).sum().sin(), M),
}

family = add_all(TABLE)

for _name in ("exp", "tanh", "sigmoid", "sin"):
    _function, *_shapes = TABLE[_name]
    add_operation(family, f"{_name}, float64", _function, *_shapes, dtype="float64")


def at_the_kinks(torch, log):
    """Gradients of relu, abs, clamp, maximum exactly where they have a kink."""
    for name, function in (
        ("relu", lambda x: x.relu()),
        ("abs", lambda x: x.abs()),
        ("clamp", lambda x: x.clamp(0.0, 1.0)),
        ("maximum", lambda x: torch.maximum(x, torch.tensor([0.0, 0.0, 1.0]))),
        ("minimum", lambda x: torch.minimum(x, torch.tensor([0.0, 0.0, 1.0]))),
        ("sqrt", lambda x: x.sqrt()),
        ("log", lambda x: x.log()),
        ("square", lambda x: x**2),
        ("power zero", lambda x: x**0),
        ("reciprocal", lambda x: 1 / x),
        ("rsqrt", lambda x: x.rsqrt()),
    ):
        x = torch.tensor([0.0, -0.0, 1.0], requires_grad=True)
        value = function(x)
        log(name, value, torch.autograd.grad(value, x, torch.tensor([2.0, 3.0, 5.0])))


def both_need_grad_at_a_tie(torch, log):
    """Where two inputs of maximum are equal each gets half."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([1.0, 3.0], requires_grad=True)
    log("maximum", torch.autograd.grad(torch.maximum(x, y), (x, y), torch.tensor([10.0, 20.0])))
    log("minimum", torch.autograd.grad(torch.minimum(x, y), (x, y), torch.tensor([10.0, 20.0])))


def far_out(torch, log):
    """Very large and very small inputs: infinities and NaN where PyTorch has them."""
    x = torch.tensor([80.0, -80.0, float("inf"), float("-inf"), float("nan")], requires_grad=True)
    for name in ("exp", "tanh", "sigmoid", "relu", "abs", "log", "sqrt"):
        value = getattr(x, name)()
        log(name, value, repr(value), torch.autograd.grad(value.sum(), x))


for _scenario in (at_the_kinks, both_need_grad_at_a_tie, far_out):
    family(_scenario)
