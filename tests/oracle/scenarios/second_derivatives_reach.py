"""See which inputs the graph of a first derivative reaches: None, or a gradient that may be 0."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()

TABLE = {
    "conv1d": (lambda F, x, w, b: F.conv1d(x, w, b), (1, 2, 6), (3, 2, 3), (3,)),
    "conv2d": (lambda F, x, w, b: F.conv2d(x, w, b), (1, 2, 4, 4), (3, 2, 2, 2), (3,)),
    "conv2d without bias": (lambda F, x, w: F.conv2d(x, w), (1, 2, 4, 4), (3, 2, 2, 2)),
    "conv_transpose2d": (
        lambda F, x, w, b: F.conv_transpose2d(x, w, b),
        (1, 2, 3, 3),
        (2, 3, 2, 2),
        (3,),
    ),
    "linear": (lambda F, x, w, b: F.linear(x, w, b), (5, 3), (4, 3), (4,)),
    "layer_norm": (lambda F, x, w, b: F.layer_norm(x, (3,), w, b), (5, 3), (3,), (3,)),
    "batch_norm": (
        lambda F, x, w, b: F.batch_norm(x, None, None, w, b, True),
        (5, 3),
        (3,),
        (3,),
    ),
    "mse_loss": (lambda F, x, y: F.mse_loss(x, y), (4,), (4,)),
    "product": (lambda F, x, y: x * y, (4,), (4,)),
    "quotient": (lambda F, x, y: x / y, (4,), (4,)),
    "product of matrices": (lambda F, x, y: x @ y, (3, 4), (4, 2)),
    "maximum": (lambda F, x, y: x.maximum(y), (4,), (4,)),
    "lerp": (lambda F, x, y, w: x.lerp(y, w), (4,), (4,), (4,)),
    "softplus": (lambda F, x: F.softplus(x), (4,)),
}


def _scenario(name):
    call, *shapes = TABLE[name]

    def scenario(torch, log):
        """Differentiate each first derivative again, for each input and for the cotangent."""
        inputs = [leaf(torch, shape, seed) for seed, shape in enumerate(shapes)]
        y = call(torch.nn.functional, *inputs)
        cotangent = leaf(torch, tuple(y.shape), 7)
        settings = {"create_graph": True, "allow_unused": True}
        for number, first in enumerate(torch.autograd.grad(y, inputs, cotangent, **settings)):
            vector = leaf(torch, tuple(first.shape), 8 + number).detach()
            sources = [*inputs, cotangent]
            settings["create_graph"] = False
            log(
                number,
                *torch.autograd.grad(first, sources, vector, retain_graph=True, **settings),
            )
            for source in sources:
                try:
                    torch.autograd.grad(first, source, vector, retain_graph=True)
                except RuntimeError as error:
                    log(number, str(error).partition(".")[0])

    return scenario


for _name in TABLE:
    family.add(_name, _scenario(_name))
