"""See that float16 computes in float32: counts, sums and factors beyond what a half can hold."""

from __future__ import annotations

import math

from .tools import Family

family = Family()

ENTRIES = 70_000

ONE = {
    "mean": lambda torch, x: x.mean(),
    "mean of rows": lambda torch, x: x.view(2, -1).mean(1),
    "max": lambda torch, x: x.max(),
    "amin": lambda torch, x: x.amin(),
    "amax of rows": lambda torch, x: x.view(2, -1).amax(1),
    "median": lambda torch, x: x.median(),
    "infinite norm": lambda torch, x: x.norm(math.inf),
    "norm": lambda torch, x: x.norm(),
    "sum of columns": lambda torch, x: x.view(-1, 2).sum(0) / 2,
    "variance": lambda torch, x: x.var(),
    "softmax": lambda torch, x: x.softmax(0),
    "quotient": lambda torch, x: x / ENTRIES,
    "product": lambda torch, x: x * 1e5,
    "quotient by a tensor": lambda torch, x: x / torch.tensor(70_000),
    "broadcast": lambda torch, x: (x.view(-1, 2) + x[:2]).view(-1),
    "smooth_l1_loss": lambda torch, x: torch.nn.functional.smooth_l1_loss(x, 2 * x.detach()),
    "from scores": lambda torch, x: torch.nn.functional.binary_cross_entropy_with_logits(
        x, x.detach()
    ),
    "linear": lambda torch, x: torch.nn.functional.linear(x.view(-1, 2), x[:4].view(2, 2), x[:2]),
}


def _scenario(name):
    def scenario(torch, log):
        """Log a result, and its gradient computed and recorded, for equal entries."""
        x = torch.ones(ENTRIES, dtype=torch.float16, requires_grad=True)
        for create_graph in (False, True):
            y = ONE[name](torch, x)
            cotangent = (torch.arange(y.numel()) % 3 + 2).half().view(y.shape)
            (gradient,) = torch.autograd.grad(y, x, cotangent, create_graph=create_graph)
            log(name, y.dtype, y.grad_fn.name(), gradient.dtype)
            values = (y.detach().reshape(-1), gradient.detach())
            log("first", *(1000 * each[:3].float() for each in values))
            log("last", *(1000 * each[-1:].float() for each in values))

    return scenario


for _name in ONE:
    family.add(_name, _scenario(_name))


@family
def large_gradients_overflow_as_in_pytorch(torch, log):
    """A rule takes steps, and each step rounds to a half."""
    x = torch.tensor([60000.0, 300.0, 2.0], dtype=torch.float16, requires_grad=True)
    cotangent = torch.tensor([1.5, -2.0, 3.0], dtype=torch.float16)
    for name, call in (
        ("square", lambda: x**2),
        ("cube", lambda: x**3),
        ("norm", lambda: x.norm(3) * torch.ones(3, dtype=torch.float16)),
        ("std", lambda: x.std() * torch.ones(3, dtype=torch.float16)),
        ("reciprocal", lambda: 1 / x),
    ):
        y = call()
        (gradient,) = torch.autograd.grad(y, x, cotangent)
        log(name, y.detach().float(), gradient.float())


@family
def recorded_gradients_of_normalizations(torch, log):
    """A gradient is the same whether it is recorded or not, also where its squares overflow."""
    F = torch.nn.functional
    x = (torch.arange(24.0) ** 2 * 80 - 9000).half().view(6, 4).requires_grad_()
    cotangent = (torch.arange(24) % 5 - 1.5).half().view(6, 4)
    for name, call in (
        ("layer_norm", lambda: F.layer_norm(x, (4,))),
        ("batch_norm", lambda: F.batch_norm(x, None, None, training=True)),
    ):
        for create_graph in (False, True):
            (gradient,) = torch.autograd.grad(call(), x, cotangent, create_graph=create_graph)
            log(name, gradient.dtype, torch.round(gradient.detach().float() * 2e4))
