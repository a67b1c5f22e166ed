"""Models and functions whose backward passes are explained: the worked example, and many others."""

import minigrad as torch
from minigrad import nn
from minigrad.symbolic import symbolic_like, symbols

F = nn.functional
VALUES = {"x": 0.3, "w_0": 0.3, "b_0": 0.1, "w_1": 0.4, "b_1": 0.2}


class SLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(1, 1)

    def forward(self, x):
        self.s = self.f(x)
        return self.s**2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f0 = nn.Linear(1, 1)
        self.f1 = SLinear()

    def forward(self, x):
        self.x1 = self.f0(x)
        self.y = self.f1(self.x1)
        return (self.y - 1) ** 2


def worked_example(prepare=lambda model: None):
    """Run it on symbols; give the loss and names for its places."""
    model = symbolic_like(Net())
    prepare(model)
    loss = model(symbols("x", 1, requires_grad=True))
    loss.model = model  # legacy hooks want it alive
    return loss, {"y": model.y, "s": model.f1.s, "x_1": model.x1}


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class ProductAndSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y

    @staticmethod
    def backward(ctx, grad_product, grad_sum):
        x, y = ctx.saved_tensors
        return grad_product * y + grad_sum, grad_product * x + grad_sum


def on_leaves(function, *shapes):
    """Run a function on symbols of some shapes."""
    pairs = zip("xyz", shapes, strict=False)
    return function(*(symbols(name, shape, requires_grad=True) for name, shape in pairs))


def through(model, *shapes):
    return on_leaves(lambda *inputs: (symbolic_like(model)(*inputs) ** 2).sum(), *shapes)


def diamond(x):
    a = x * x
    return a * a.exp() + a


def written_in_place(x):
    y = x * 2
    y.mul_(3)
    return y * y


FUNCTIONS = {
    "sigmoid": lambda: on_leaves(lambda x: torch.sigmoid(x) ** 2, ()),
    "tanh of a product": lambda: on_leaves(lambda x, y: torch.tanh(x * y + 1), (), ()),
    "diamond": lambda: on_leaves(diamond, ()),
    "quotient": lambda: on_leaves(lambda x: (1 - x) ** 2 / (2 - x), ()),
    "in place": lambda: on_leaves(written_in_place, ()),
    "custom": lambda: on_leaves(lambda x: Cube.apply(x * 2) + x, ()),
    "custom with two results": lambda: on_leaves(
        lambda x, y: torch.mul(*ProductAndSum.apply(x * x, y)), (), ()
    ),
    "network": lambda: through(nn.Sequential(nn.Linear(1, 1), nn.Tanh(), nn.Linear(1, 1)), (1, 1)),
    "convolution": lambda: through(nn.Conv2d(1, 1, 1), (1, 1, 1, 1)),
    "squared error": lambda: on_leaves(F.mse_loss, (1,), (1,)),
    # with kinks, on both sides of which it is proved
    "norm": lambda: on_leaves(lambda x: (x * x).sum().sqrt(), 1),
    "relu": lambda: on_leaves(lambda x, y: torch.relu(x * y), (), ()),
    "where": lambda: on_leaves(lambda x: torch.where(x > 0, x * x, -x), ()),
}
KINKS = {"norm", "relu", "where"}
