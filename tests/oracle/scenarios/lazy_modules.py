"""See lazy layers get their shapes from the first input, and scripts ask for devices and speed."""

from __future__ import annotations

import copy

from .tools import Family, leaf, linear

family = Family()


def kind_of_error(call) -> str:
    """Give only the type of an error: PyTorch's text names a C function."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing raised"


def kinds(module) -> dict[str, str]:
    """Give the type of each parameter and buffer."""
    return {name: type(value).__name__ for name, value in module.state_dict().items()}


@family
def before_the_first_call(torch, log):
    """What is there before there are shapes."""
    layer = torch.nn.LazyLinear(3)
    log("printed", repr(layer), repr(layer.weight), str(layer.bias), kinds(layer))
    log("asked", layer.has_uninitialized_params(), layer.weight.requires_grad, layer.weight.dtype)
    log("is a parameter", isinstance(layer.weight, torch.nn.Parameter), layer.weight.grad)
    log("shape", kind_of_error(lambda: layer.weight.shape))
    log("numel", kind_of_error(lambda: layer.weight.numel()))
    log("add", kind_of_error(lambda: layer.weight + 1))
    log("zeros_", kind_of_error(lambda: torch.nn.init.zeros_(layer.weight)))
    log("zero_grad", layer.zero_grad(), layer.reset_parameters())
    log("copied", repr(copy.deepcopy(layer)), copy.deepcopy(layer).weight is layer.weight)
    log("no input", kind_of_error(layer))
    full = linear(torch, [[1.0]], None)
    log("into a full one", kind_of_error(lambda: full.load_state_dict(kept(layer))))


def kept(layer):
    """Give the weight alone."""
    return {"weight": layer.state_dict()["weight"]}


@family
def loading_into_a_lazy_layer(torch, log):
    """A state dict brings the shapes; the layer becomes an ordinary one when it is called."""
    layer = torch.nn.LazyLinear(2)
    log("keys", layer.load_state_dict(linear(torch, [[1.0, 2], [3, 4]], [5.0, 6]).state_dict()))
    log("loaded", repr(layer), layer.weight, layer.bias, layer.has_uninitialized_params())
    log("called", layer(leaf(torch, (1, 2), 1)), repr(layer))
    norm = torch.nn.LazyBatchNorm1d()
    log("buffers", norm.load_state_dict(torch.nn.BatchNorm1d(3).state_dict()), norm.running_var)
    log("called", norm(leaf(torch, (2, 3), 1)).shape, repr(norm))


@family
def layers_of_all_kinds(torch, log):
    """Convolutions and normalizations."""
    nn = torch.nn
    for make, dims in (
        (lambda: nn.LazyConv1d(4, 3), 1),
        (lambda: nn.LazyConv2d(4, 3, 2, 1, bias=False), 2),
        (lambda: nn.LazyConv2d(6, 3, groups=3, padding="same"), 2),
        (lambda: nn.LazyConv3d(2, (1, 2, 3)), 3),
        (lambda: nn.LazyConvTranspose1d(4, 3), 1),
        (lambda: nn.LazyConvTranspose2d(6, 2, 2, 1, 1, 3, True), 2),
        (lambda: nn.LazyConvTranspose3d(2, 2, dilation=2), 3),
        (nn.LazyBatchNorm1d, 1),
        (lambda: nn.LazyBatchNorm2d(affine=False), 2),
        (lambda: nn.LazyBatchNorm2d(track_running_stats=False), 2),
        (nn.LazyBatchNorm3d, 3),
        (nn.LazyInstanceNorm1d, 1),
        (lambda: nn.LazyInstanceNorm2d(affine=False, track_running_stats=False), 2),
        (nn.LazyInstanceNorm3d, 3),
    ):
        layer = make()
        log("before", repr(layer), kinds(layer))
        y = layer(leaf(torch, (2, 3, *(5,) * dims), 1))
        log("after", repr(layer), kinds(layer), y.shape)
        log("shapes", [tuple(p.shape) for p in layer.parameters()])
    log("dimensions", kind_of_error(lambda: nn.LazyConv2d(4, 3)(leaf(torch, (3,), 1))))
    grouped = nn.LazyConv2d(4, 3, groups=4)
    log("groups", kind_of_error(lambda: grouped(leaf(torch, (1, 3, 5, 5), 1))))
    log.raises("dimensions", lambda: nn.LazyBatchNorm2d()(leaf(torch, (3, 3), 1)))


@family
def settings_of_scripts(torch, log):
    """Constants, and the settings that scripts begin with."""
    log("constants", torch.pi, torch.e, torch.inf, -torch.inf, torch.nan, torch.newaxis)
    log("deterministic", torch.use_deterministic_algorithms(False))
