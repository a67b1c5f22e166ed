"""See gradients of gradients: values, node names and graphs under create_graph."""

from __future__ import annotations

from .tools import Family, graph

family = Family()


def tower(torch, log, function, values, height=3):
    """Differentiate a function several times, writing down each derivative with its graph."""
    x = torch.tensor(values, requires_grad=True)
    y = function(x)
    log("0", y, graph(y))
    for order in range(1, height + 1):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=order < height)
        log(str(order), y, graph(y) if y.grad_fn is not None else "")
        if y.grad_fn is None and not y.requires_grad:
            break


FUNCTIONS = {
    "cube": lambda torch, x: x**3,
    "product": lambda torch, x: x * x * x,
    "exp": lambda torch, x: x.exp(),
    "log": lambda torch, x: (x + 3).log(),
    "tanh": lambda torch, x: torch.tanh(x),
    "sigmoid": lambda torch, x: torch.sigmoid(x),
    "sin": lambda torch, x: torch.sin(x),
    "cos": lambda torch, x: torch.cos(x),
    "sqrt": lambda torch, x: (x + 3).sqrt(),
    "reciprocal": lambda torch, x: 1 / (x + 3),
    "quotient": lambda torch, x: x / (x + 3),
    "power_of_two": lambda torch, x: 2**x,
    "tensor_power": lambda torch, x: (x + 3) ** x,
    "relu_of_square": lambda torch, x: torch.relu(x * x * x),
    "abs_of_cube": lambda torch, x: (x**3).abs(),
    "mean_of_squares": lambda torch, x: (x**2).mean() * x.sum() ** 2,
    "square_of_sum": lambda torch, x: x.sum() ** 3,
}


def add_tower(name, function):
    """Make one scenario out of a function."""

    def scenario(torch, log):
        tower(torch, log, lambda x: function(torch, x), [0.5, -1.25, 2.0])

    scenario.__doc__ = f"First to third derivative of {name.replace('_', ' ')}: values and graphs."
    family.add(name, scenario)


for _name, _function in FUNCTIONS.items():
    add_tower(_name, _function)


@family
def matrix_product(torch, log):
    """Second derivative through a matrix product, a transpose and a sum."""
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    w = torch.tensor([[2.0, 1.0], [-1.0, 0.25]], requires_grad=True)
    y = ((x @ w) ** 2).sum() + (x.t() @ x).sum()
    gx, gw = torch.autograd.grad(y, (x, w), create_graph=True)
    log("first", gx, gw, graph(gx), graph(gw))
    log("second", torch.autograd.grad((gx * gw).sum(), (x, w)))


@family
def linear_layer(torch, log):
    """Second derivative through a Linear, the way a gradient penalty takes it."""
    layer = torch.nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.5, -1.5]]))
        layer.bias.copy_(torch.tensor([0.25]))
    x = torch.tensor([[1.0, 2.0], [-0.5, 0.75]], requires_grad=True)
    out = torch.tanh(layer(x)).sum()
    (g,) = torch.autograd.grad(out, x, create_graph=True)
    log("first", g, graph(g))
    penalty = ((g**2).sum() - 1) ** 2
    penalty.backward()
    log("penalty", penalty, layer.weight.grad, layer.bias.grad, x.grad)


@family
def hessian_by_rows(torch, log):
    """The Hessian of a function of two variables, row by row over one kept graph."""
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y = x[0] ** 2 * x[1] ** 3 + x[0].exp()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    log("gradient", g, graph(g))
    log("hessian", [torch.autograd.grad(entry, x, retain_graph=True)[0] for entry in g])


@family
def broadcasting(torch, log):
    """Second derivative through a broadcast product."""
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    b = torch.tensor([2.0, -1.0], requires_grad=True)
    gx, gb = torch.autograd.grad((x * b * b).sum(), (x, b), create_graph=True)
    log("first", gx, gb, graph(gx), graph(gb))
    log("second", torch.autograd.grad((gx * 2).sum() + (gb**2).sum(), (x, b)))


@family
def grad_of_a_constant_gradient(torch, log):
    """The gradient of a linear function has no graph to differentiate."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((x * 3).sum(), x, create_graph=True)
    log("first", g, g.requires_grad)
    log.raises("second", lambda: torch.autograd.grad(g.sum(), x))


@family
def gradient_of_the_cotangent(torch, log):
    """Derivative of a gradient with respect to the incoming gradient."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([0.5, -1.0], requires_grad=True)
    (g,) = torch.autograd.grad(x**3, x, v, create_graph=True)
    log("first", g, graph(g))
    log("for v", torch.autograd.grad(g.sum(), v))


@family
def backward_with_create_graph(torch, log):
    """backward(create_graph=True) warns, and .grad has a graph."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x**3).sum().backward(create_graph=True)
    log("x.grad", x.grad, graph(x.grad))
    g = x.grad
    x.grad = None
    g.sum().backward()
    log("second", x.grad)
