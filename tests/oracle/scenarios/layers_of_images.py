"""See the layers that convolve, pool, normalize and resize: settings, state, forms, values."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()

MADE = {
    "Conv1d": "Conv1d(2, 4, 3, padding='valid')",
    "Conv2d": "Conv2d(2, 4, (3, 2), stride=2, padding=1, dilation=2, groups=2)",
    "Conv2d same": "Conv2d(3, 4, 3, padding='same', bias=False)",
    "Conv2d reflect": "Conv2d(1, 2, 3, padding=(1, 2), padding_mode='reflect')",
    "Conv2d replicate": "Conv2d(1, 2, 3, padding='same', padding_mode='replicate')",
    "Conv3d": "Conv3d(1, 2, 2)",
    "ConvTranspose1d": "ConvTranspose1d(2, 2, 3)",
    "ConvTranspose2d": "ConvTranspose2d(2, 4, 3, stride=2, padding=1, output_padding=1, groups=2)",
    "ConvTranspose3d": "ConvTranspose3d(1, 2, 2, bias=False)",
    "Unfold": "Unfold((2, 3), padding=1)",
    "Fold": "Fold((3, 4), 2)",
    "MaxPool1d": "MaxPool1d(2)",
    "MaxPool2d": "MaxPool2d((3, 2), 2, 1, 1, ceil_mode=True)",
    "MaxPool3d": "MaxPool3d(2)",
    "AvgPool1d": "AvgPool1d(2, padding=1)",
    "AvgPool2d": "AvgPool2d(2, 1, 1, True, False)",
    "AvgPool3d": "AvgPool3d(2, divisor_override=3)",
    "AdaptiveAvgPool1d": "AdaptiveAvgPool1d(2)",
    "AdaptiveAvgPool2d": "AdaptiveAvgPool2d((2, None))",
    "AdaptiveAvgPool3d": "AdaptiveAvgPool3d(2)",
    "AdaptiveMaxPool1d": "AdaptiveMaxPool1d(2)",
    "AdaptiveMaxPool2d": "AdaptiveMaxPool2d(2)",
    "BatchNorm1d": "BatchNorm1d(2)",
    "BatchNorm2d": "BatchNorm2d(2, eps=0.01, momentum=None)",
    "BatchNorm2d of nothing learned": "BatchNorm2d(2, affine=False)",
    "BatchNorm2d without a bias": "BatchNorm2d(2, bias=False)",
    "BatchNorm3d": "BatchNorm3d(1, track_running_stats=False)",
    "LayerNorm": "LayerNorm(4)",
    "LayerNorm over two": "LayerNorm((3, 4), elementwise_affine=False)",
    "LayerNorm without a bias": "LayerNorm([4], bias=False, dtype=torch.float64)",
    "GroupNorm": "GroupNorm(2, 4)",
    "GroupNorm of nothing learned": "GroupNorm(1, 2, affine=False)",
    "InstanceNorm1d": "InstanceNorm1d(2)",
    "InstanceNorm2d": "InstanceNorm2d(2, affine=True, track_running_stats=True)",
    "InstanceNorm3d": "InstanceNorm3d(1)",
    "RMSNorm": "RMSNorm(4)",
    "RMSNorm of nothing learned": "RMSNorm((3, 4), 0.5, False)",
    "Upsample": "Upsample(scale_factor=2)",
    "Upsample bilinear": "Upsample((3, 5), mode='bilinear', align_corners=True)",
    "PixelShuffle": "PixelShuffle(2)",
}
LINE, PLANE, VOLUME = (2, 2, 6), (2, 2, 4, 4), (1, 1, 3, 3, 3)
INPUTS = {
    "Conv2d same": (1, 3, 3, 4),
    "Conv2d reflect": (1, 1, 4, 3),
    "Conv2d replicate": (1, 1, 3, 3),
    "ConvTranspose2d": (1, 2, 2, 3),
    "Fold": (1, 4, 6),
    "LayerNorm": (2, 3, 4),
    "LayerNorm over two": (2, 3, 4),
    "LayerNorm without a bias": (2, 3, 4),
    "GroupNorm": (2, 4, 3),
    "BatchNorm1d": (4, 2),
    "RMSNorm": (2, 3, 4),
    "RMSNorm of nothing learned": (2, 3, 4),
    "PixelShuffle": (1, 4, 1, 2),
}


def shape_for(name):
    shapes = {"1d": LINE, "3d": VOLUME}
    return INPUTS.get(name) or shapes.get(name.split()[0][-2:], PLANE)


def make(torch, name):
    """Make a layer, and give it numbers that do not come from a random generator."""
    layer = eval(f"nn.{MADE[name]}", {"nn": torch.nn, "torch": torch})
    with torch.no_grad():
        for seed, parameter in enumerate(layer.parameters()):
            values = leaf(torch, tuple(parameter.shape), seed + 5, requires_grad=False)
            parameter.copy_(values)
    return layer


def add(name):
    def scenario(torch, log):
        layer = make(torch, name)
        log("form", repr(layer))
        log("state", [(key, value.dtype) for key, value in layer.state_dict().items()])
        settings = vars(layer).items()
        log("settings", [f"{k}={v}" for k, v in settings if not k.startswith(("_", "name"))])
        dtype = next((p.dtype for p in layer.parameters()), torch.float32)
        x = leaf(torch, shape_for(name), 1, dtype=dtype)
        for _ in range(2):  # what it remembers counts the second time
            y = layer(x)
        log("value", y.detach())
        y.backward(leaf(torch, tuple(y.shape), 9, dtype=dtype, requires_grad=False))
        log("gradients", x.grad, *(p.grad for p in layer.parameters()))
        log("buffers", *layer.buffers())
        log("evaluated", layer.eval()(x).detach())

    scenario.__doc__ = f"Form, state, value and gradients of nn.{MADE[name]}."
    family.add(name, scenario)


for _name in MADE:
    add(_name)


@family
def wrong_settings(torch, log):
    """Settings that do not fit."""
    nn = torch.nn
    for name, make in {
        "groups": lambda: nn.Conv2d(3, 4, 3, groups=2),
        "groups of outputs": lambda: nn.Conv2d(4, 3, 3, groups=2),
        "no groups": lambda: nn.Conv2d(4, 4, 3, groups=0),
        "same, strided": lambda: nn.Conv2d(3, 4, 3, padding="same", stride=2),
        "transposed padding_mode": lambda: nn.ConvTranspose2d(3, 4, 3, padding_mode="reflect"),
        "GroupNorm": lambda: nn.GroupNorm(3, 4),
    }.items():
        log.raises(name, make)


@family
def wrong_inputs(torch, log):
    """Inputs that do not fit."""
    nn, zeros = torch.nn, torch.zeros
    for name, call in {
        "BatchNorm1d": lambda: nn.BatchNorm1d(3)(zeros(3)),
        "BatchNorm1d, one value": lambda: nn.BatchNorm1d(3)(zeros(1, 3)),
        "BatchNorm1d, features": lambda: nn.BatchNorm1d(3)(zeros(2, 4)),
        "BatchNorm1d, dtype": lambda: nn.BatchNorm1d(3)(zeros(2, 3, dtype=torch.float64)),
        "BatchNorm1d, integers": lambda: nn.BatchNorm1d(3)(zeros(2, 3, dtype=torch.int64)),
        "BatchNorm2d": lambda: nn.BatchNorm2d(3)(zeros(2, 3)),
        "BatchNorm3d": lambda: nn.BatchNorm3d(3)(zeros(2, 3)),
        "InstanceNorm2d": lambda: nn.InstanceNorm2d(3)(zeros(2, 3)),
        "InstanceNorm1d": lambda: nn.InstanceNorm1d(3, affine=True)(zeros(2, 4, 3)),
        "output size": lambda: nn.ConvTranspose2d(1, 1, 3, 2)(zeros(1, 1, 4, 4), (11, 10)),
        "output sizes": lambda: nn.ConvTranspose2d(1, 1, 3, 2)(zeros(1, 1, 4, 4), (1, 2, 3)),
    }.items():
        log.raises(name, call)


@family
def a_chosen_output_size(torch, log):
    """A stride larger than 1 leaves several sizes possible."""
    layer = torch.nn.ConvTranspose2d(1, 1, 3, stride=2)
    log("sizes", layer(torch.zeros(1, 1, 4, 4), output_size=(10, 9)).shape)
    log("sizes", layer(torch.zeros(1, 4, 4), output_size=[1, 9, 10]).shape)


@family
def batch_norm_in_a_network(torch, log):
    """Training, evaluation, frozen statistics, resetting."""
    norm = torch.nn.BatchNorm1d(2)
    x = leaf(torch, (3, 2), 1, requires_grad=False)
    norm(x), norm(x)
    log("tracked", norm.num_batches_tracked, norm.running_mean, norm.running_var)
    log("versions", norm.num_batches_tracked._version, norm.running_mean._version)
    copy = torch.nn.BatchNorm1d(2)
    log("loaded", str(copy.load_state_dict(norm.state_dict())), copy.running_var)
    norm.reset_running_stats()
    log("reset", norm.num_batches_tracked, norm.running_mean, norm.running_var)
    norm.momentum = None
    for shift in (0.0, 1.0, 5.0):
        norm(x + shift)
    log("mean of all", norm.running_mean, norm.running_var)
    norm.eval()
    norm(x)
    log("evaluated", norm.num_batches_tracked, norm.running_mean)


@family
def where_parameters_start(torch, log):
    """Drawn from the same generator in the same order, with the same bounds."""
    for kind, *settings in (("Conv2d", 2, 4, 3), ("ConvTranspose2d", 2, 4, 3), ("Conv1d", 3, 2, 5)):
        layer = getattr(torch.nn, kind)(*settings)
        fan = layer.weight[0].numel()
        bound = 1 / fan**0.5
        log(
            kind, bool((layer.weight.abs() <= bound).all()), bool((layer.bias.abs() <= bound).all())
        )
        log("spread", bool(layer.weight.abs().max() > 0.8 * bound), layer.weight.shape)
