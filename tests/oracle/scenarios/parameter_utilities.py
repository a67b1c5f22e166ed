"""See what works on parameters: clipping, vectors, norms, containers of parameters."""

from __future__ import annotations

import importlib

from .tools import Family, leaf, numbers

family = Family()


def fill(torch, layer):
    """Give a layer small numbers that do not come from a random generator."""
    with torch.no_grad():
        for seed, parameter in enumerate(layer.parameters()):
            parameter.copy_(torch.tensor(numbers(tuple(parameter.shape), seed + 5)) / 2)
    return layer


def linear(torch, *sizes):
    return fill(torch, torch.nn.Linear(*sizes or (3, 2)))


def with_gradients(torch):
    layer = linear(torch)
    (layer(leaf(torch, (3,), 1, requires_grad=False)) ** 2).sum().backward()
    return layer


@family
def clipping(torch, log):
    """Norms and values of gradients are clipped."""
    utils = torch.nn.utils
    for norm_type in (1, 2, 3.5, float("inf")):
        layer = with_gradients(torch)
        gradients = [parameter.grad for parameter in layer.parameters()]
        log(
            f"clipped {norm_type}",
            utils.clip_grad_norm_(layer.parameters(), 0.5, norm_type),
            *gradients,
        )
    layer = with_gradients(torch)
    log("value", utils.clip_grad_value_(layer.parameters(), 0.5), layer.weight.grad)
    layer = with_gradients(torch)
    log("one", utils.clip_grad_norm_(layer.weight, 100.0, foreach=False), layer.weight.grad)
    log("none", utils.clip_grad_norm_([], 1.0), utils.clip_grad_norm_(linear(torch).weight, 1.0))
    layer.weight.grad[0, 0] = float("nan")
    log("nan", utils.clip_grad_norm_(layer.parameters(), 1.0))
    log.raises(
        "error", lambda: utils.clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)
    )
    log.raises("empty", lambda: utils.clip_grad_norm_((p for p in ()), 1.0))


@family
def submodules_replaced(torch, log):
    """A module replaces another one, by its dotted name."""
    nn = torch.nn
    net = nn.Sequential(nn.Sequential(nn.Linear(1, 1), nn.ReLU()), nn.Tanh())
    log("deep", net.set_submodule("0.1", nn.Sigmoid()), repr(net))
    log("shallow", net.set_submodule("1", nn.ReLU(), strict=True), repr(net))
    log("new", net.set_submodule("0.more", nn.Identity()), repr(net))
    for name, module, strict in (
        ("", nn.ReLU(), False),
        ("0.other", nn.ReLU(), True),
        ("2.other", nn.ReLU(), False),
        ("0.0.weight", nn.ReLU(), False),
        ("0.0.weight.more", nn.ReLU(), False),
        ("0.0", 3, False),
    ):
        log.raises(name, lambda n=name, m=module, s=strict: net.set_submodule(n, m, s))


@family
def vectors(torch, log):
    """Parameters become a vector, and a vector becomes parameters."""
    utils, layer = torch.nn.utils, linear(torch)
    log("vector", utils.parameters_to_vector(layer.parameters()))
    vector = torch.arange(8.0)
    utils.vector_to_parameters(vector, layer.parameters())
    vector[0] = 9
    log("parameters", layer.weight, layer.bias)


def normed(torch, log, layer, x):
    """Log what a layer whose weight is computed is and does."""
    log("form", repr(layer), type(layer).__name__)
    log("state", *[value for item in layer.state_dict().items() for value in item])
    y = layer(x)
    log("value", y, layer.weight.detach())
    log("gradients", *torch.autograd.grad((y**2).sum(), list(layer.parameters())))


@family
def spectral_norm(torch, log):
    """The largest singular value of weights."""
    utils = torch.nn.utils
    torch.manual_seed(2)
    layer = utils.spectral_norm(linear(torch))
    normed(torch, log, layer, leaf(torch, (3,), 1))
    log("again", layer(leaf(torch, (3,), 2)), layer.eval()(leaf(torch, (3,), 2)))
    torch.manual_seed(2)
    transposed = fill(torch, torch.nn.ConvTranspose2d(1, 2, 2))
    other = utils.spectral_norm(transposed, n_power_iterations=2)
    log("convolution", other(leaf(torch, (1, 1, 1, 2), 2)))
    log.raises("iterations", lambda: utils.spectral_norm(linear(torch), n_power_iterations=0))
    untouched = linear(torch)
    log.raises("of nothing", lambda: utils.spectral_norm(untouched, "nothing"))
    log("untouched", untouched(leaf(torch, (3,), 1)))
    log("removed", repr(utils.remove_spectral_norm(layer)), layer.weight)
    log.raises("not there", lambda: utils.remove_spectral_norm(layer))


@family
def functional_call(torch, log):
    """Modules as functions of their parameters."""
    call = importlib.import_module(f"{torch.__name__}.func").functional_call
    model = torch.nn.Sequential(linear(torch, 2, 2), torch.nn.BatchNorm1d(2))
    x, w = leaf(torch, (3, 2), 1, requires_grad=False), leaf(torch, (2, 2), 2)
    y = call(model, {"0.weight": w}, x)
    log("value", y, *torch.autograd.grad((y * x).sum(), [w]))
    log("the same", model[0].weight, call(model, ({"0.weight": w}, {"0.bias": w[0]}), (x,)))
    given = {"1.running_mean": torch.zeros(2)}
    call(model, given, x)
    log("buffers", given["1.running_mean"], model[1].running_mean)
    log.raises("strict", lambda: call(model, {"abc": w}, x, strict=True))
    model = torch.nn.Sequential(linear(torch, 2, 2), linear(torch, 2, 2))
    model[1].weight = model[0].weight
    log("tied", call(model, {"0.weight": w}, x), call(model, {"0.weight": w}, x, tie_weights=False))


@family
def parameter_containers(torch, log):
    """Lists and dictionaries of parameters."""
    nn = torch.nn
    parameters = nn.ParameterList([torch.zeros(2), nn.Parameter(torch.ones(2, 3)), "text"])
    parameters += [torch.ones(())]
    log("list", repr(parameters), len(parameters), repr(parameters[1:]), parameters[-1])
    log("names", [name for name, _ in parameters.named_parameters()])
    parameters[0] = torch.ones(1)
    log("set", repr(parameters.append(torch.ones(3))), list(parameters.state_dict()))
    for name, call in {
        "index": lambda: parameters[9],
        "tensor": lambda: parameters.extend(torch.ones(2)),
        "number": lambda: parameters.extend(3),
    }.items():
        log.raises(name, call)
    named = nn.ParameterDict({"b": torch.zeros(2), "a": nn.Parameter(torch.ones(2, 3)), "n": 3})
    log("dictionary", repr(named), list(named), "a" in named)
    log("values", named.get("abc", 5))
    log("left", named.pop("b"), repr(named), list(named.state_dict()))
    for name, call in {
        "key": lambda: named[1],
        "missing": lambda: named["abc"],
        "update": lambda: named.update(3),
        "element": lambda: named.update([3]),
        "three": lambda: named.update([(1, 2, 3)]),
    }.items():
        log.raises(name, call)
