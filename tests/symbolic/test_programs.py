"""Programs run on symbols: indexing, models made of others, derivatives as functions, refusals."""

import pytest

import minigrad as torch
from minigrad import autograd, nn
from minigrad.symbolic import (
    equal,
    symbols,
)

from .sameness import agree, close, inputs

MASK = torch.tensor([[True, False, True], [False, True, False]])
PLACES = torch.tensor([[2, 0], [1, 1]])
M, V, S = (2, 3), (3,), ()

# what a program may do with tensors, and the shapes of those it gets
PROGRAMS = {
    "arithmetic": (lambda x, y: (x * 2 - y / 3 + 1) ** 2 - 0.1 * x * y, M, V),
    "scalars": (lambda x, y: x * y.sum() + 1 / (1 + y**2), M, S),
    "in place": (lambda x, y: x.clone().mul_(2).add_(y).sub_(0.5).pow_(2), M, V),
    "where": (lambda x, y: torch.where(x > y, x * y, x - y), M, V),
    "maximum": (lambda x, y: torch.maximum(x, y) + torch.minimum(x, y * y), M, V),
    "clamp": (lambda x: x.clamp(-0.5, 0.5) + x.clamp(min=0), M),
    "abs": (lambda x: x.abs().sqrt() * x.sign(), M),
    "max": (lambda x: x.max() * x.min() + x.amax(1).sum(), M),
    "mask": (lambda x: x[MASK] ** 2, M),
    "masked_fill": (lambda x: x.masked_fill(MASK, float("-inf")).softmax(1), M),
    "index": (lambda x: x[:, [0, 0, 2]] * x[1, ::2].sum(), M),
    "set": (lambda x, y: _set(x, y), M, V),
    "gather": (lambda x: x.gather(1, PLACES) ** 2, M),
    "scatter": (lambda x: torch.zeros(2, 4, dtype=x.dtype).scatter_add(1, PLACES, x[:, :2]), M),
    "einsum": (lambda x, y: torch.einsum("ij,kj->ik", x, y), M, M),
    "einsum of three": (lambda x, y, z: torch.einsum("ij,j,jk->ik", x, y, z), M, V, (3, 2)),
    "matmul": (lambda x, y: (x @ y).tanh() @ y.T, M, (3, 2)),
    "batches": (lambda x, y: torch.bmm(x, y) + torch.bmm(x, y).exp(), (2, 1, 2), (2, 2, 1)),
    "stack": (lambda x, y: torch.stack([x[0], y]).cumsum(0) * torch.cat([x, x]).mean(), M, V),
    "shapes": (lambda x: x.reshape(3, 2).T.flatten().unsqueeze(0).expand(2, 6).flip(1), M),
    "split": (lambda x: [part**2 for part in x.split([1, 2], dim=1)], M),
    "var": (lambda x: x.var() + x.std(1) + x.mean(1, keepdim=True).squeeze(), M),
    "norm": (lambda x: x.norm() + x.norm(p=1, dim=0).sum() + torch.linalg.vector_norm(x, 3), M),
    "logsumexp": (lambda x: x.logsumexp(1) - x.log_softmax(1)[:, 0], M),
    "prod": (lambda x: x.prod(1) + x.cumprod(1)[:, 1], M),
    "triangles": (lambda x: x.tril() + x.triu(1) * 2, (2, 2)),
    "trigonometry": (lambda x: x.sin() * x.cos() + x.atan() - x.tan(), M),
    "logarithms": (lambda x: (x**2).log1p() + x.exp().log() + x.expm1(), M),

    "linear algebra": (
        lambda x: torch.linalg.inv(x) * torch.linalg.det(x) + torch.linalg.solve(x, x.T),
        (2, 2),
    ),
    "attention": (
        lambda x, y, z: nn.functional.scaled_dot_product_attention(x, y, z, is_causal=True),
        (1, 2, 2), (1, 2, 2), (1, 2, 1),
    ),
    "no_grad": (lambda x: x * _without_gradient(x), M),
    "detach": (lambda x: x * x.detach(), M),
    "one_hot": (lambda x: x * nn.functional.one_hot(torch.tensor([2, 0]), 3), M),
    "numbers of float32": (lambda x: x * torch.tensor([0.1, 0.2, 0.3]).double(), M),
}  # fmt: skip


def _set(x, y):
    x = x * 1
    x[0] = y
    x[:, 1] += 2
    return x


def _without_gradient(x):
    with torch.no_grad():
        return x.exp()


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_on_symbols_and_agree_with_numbers(name):
    program, *shapes = PROGRAMS[name]
    agree(program, *shapes)


def test_functions_with_a_region():
    x = symbols("x", (1, 1, 3), positive=True)
    rising = x.cumsum(2).requires_grad_()  # so it is known which is the largest
    for pool in (nn.AdaptiveMaxPool1d(1), nn.MaxPool1d(3)):
        pooled = pool(rising)
        assert equal(pooled.reshape(1), rising[0, 0, 2:])
    assert rising.argmax().item() == 2
    assert rising.sort(descending=True).indices.tolist() == [[[2, 1, 0]]]


# ---------------------------------------------------------------------- models made of others


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2, bias=False)])
        self.blocks[1].weight = self.blocks[0].weight
        self.named = nn.ModuleDict({"out": nn.Linear(2, 1)})
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in range(2)])
        self.shifts = nn.ParameterDict({"a": nn.Parameter(torch.ones(()))})

    def forward(self, x):
        for block, scale in zip(self.blocks, self.scales, strict=True):
            x = block(x).tanh() * scale
        return self.named["out"](x) + self.shifts["a"]


MODELS = {
    "containers": (Tied, (1, 2)),
    "spectral_norm": (lambda: nn.utils.spectral_norm(nn.Linear(2, 2)).eval(), (1, 2)),
}


# ---------------------------------------------------------------------- derivatives as functions


def _cost(x, y):
    return (x.tanh() * y).sum() + (x**2 * y**2).sum()


TRANSFORMS = {
    "func.grad": lambda x, y: torch.func.grad(_cost, argnums=(0, 1))(x, y),
    "func.grad_and_value": lambda x, y: torch.func.grad_and_value(_cost)(x, y),
    "func.jacrev": lambda x, y: torch.func.jacrev(lambda x: x.tanh() * y.sum())(x),
    "func.jacfwd": lambda x, y: torch.func.jacfwd(lambda x: x.tanh() * y.sum())(x),
    "func.hessian": lambda x, y: torch.func.hessian(_cost)(x, y),
    "func.vmap": lambda x, y: torch.func.vmap(lambda a: a * y.sum())(x),
    "jacobian": lambda x, y: autograd.functional.jacobian(lambda x: x.softmax(0) * y, x),
    "hessian": lambda x, y: autograd.functional.hessian(_cost, (x, y)),
    "vhp": lambda x, y: autograd.functional.vhp(lambda x: _cost(x, y), x, y),
    "hvp": lambda x, y: autograd.functional.hvp(lambda x: _cost(x, y), x, y),
    "autograd.grad": lambda x, y: autograd.grad(_cost(x, y), (x, y), create_graph=True),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_derivatives_as_functions(name):
    formulas, data = inputs([(2,), (2,)])
    found, expected = TRANSFORMS[name](*formulas), TRANSFORMS[name](*data)
    values = dict(zip(formulas, data, strict=True))

    def compare(formula, number):
        if isinstance(number, torch.Tensor):
            return close(formula, number, values, name)
        assert len(formula) == len(number)
        return [compare(*pair) for pair in zip(formula, number, strict=True)]

    compare(found, expected)


# ---------------------------------------------------------------------- where symbols cannot go


x = symbols("x", 3)
REFUSED = {
    "if": lambda: 1 if x[0] > 0 else 2,
    "while": lambda: bool((x * x).sum() < 10),
    "argmax": lambda: x.argmax(),
    "sort": lambda: x.sort(),
    "topk": lambda: x.topk(2),
    "nonzero": lambda: x.nonzero(),
    "dtype": lambda: x.double().numpy(),
    "into numbers": lambda: torch.zeros(3).copy_(symbols("x", 3, requires_grad=True)),
    "indices of pooling": lambda: nn.MaxPool1d(3, return_indices=True)(x.reshape(1, 1, 3)),
    "adaptive pooling": lambda: nn.AdaptiveMaxPool1d(1)(x.reshape(1, 1, 3)),
    "svd": lambda: torch.linalg.svd(x.reshape(1, 3)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_where_symbols_cannot_go_the_message_says_why_and_what_to_do(name):
    with pytest.raises(TypeError) as raised:
        REFUSED[name]()
    message = str(raised.value)
    assert "symbol" in message
    assert "minigrad.symbolic." in message, message
