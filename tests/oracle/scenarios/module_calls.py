"""See how modules call the modules inside them: what hooks get by place and what by name."""

from __future__ import annotations

import warnings

from .parameter_utilities import fill
from .tools import Family, leaf

family = Family()


def watch(log, model):
    """Log what each submodule is called with, and how many gradients reach its inputs."""
    for name, module in model.named_modules():

        def before(module, args, kwargs, name=name):
            given = [None if each is None else list(each.shape) for each in args]
            log(f"call of {name}", given, list(kwargs))

        def after(module, args, kwargs, output, name=name):
            log(f"result of {name}", len(args), list(kwargs), type(output).__name__)

        def backward(module, grad_input, grad_output, name=name):
            log(f"backward of {name}", len(grad_input), len(grad_output))

        module.register_forward_pre_hook(before, with_kwargs=True)
        module.register_forward_hook(after, with_kwargs=True)
        module.register_full_backward_hook(backward)


def run(torch, log, model, *sizes):
    watch(log, fill(torch, model))
    inputs = [leaf(torch, size, seed) for seed, size in enumerate(sizes)]
    output = model(*inputs)
    (output[0] if isinstance(output, tuple) else output).sum().backward()


@family
def a_transformer(torch, log):
    """Encoder, decoder and both together, with one layer each."""
    nn, settings = torch.nn, (4, 2, 6, 0.0)
    encoder, decoder = nn.TransformerEncoderLayer(*settings), nn.TransformerDecoderLayer(*settings)
    with warnings.catch_warnings(action="ignore"):  # of a quicker way that PyTorch does not go
        stack = nn.TransformerEncoder(encoder, 1, nn.LayerNorm(4))
        both = nn.Transformer(4, 2, 1, 1, 6, 0.0)
    run(torch, log, stack, (3, 2, 4))
    run(torch, log, nn.TransformerDecoder(decoder, 1, nn.LayerNorm(4)), (3, 2, 4), (5, 2, 4))
    run(torch, log, both, (3, 2, 4), (5, 2, 4))


@family
def a_transformer_that_normalizes_first(torch, log):
    """The same layers with `norm_first`, and with masks."""
    nn, settings = torch.nn, (4, 2, 6, 0.0)
    run(torch, log, nn.TransformerEncoderLayer(*settings, norm_first=True), (3, 2, 4))
    layer = fill(torch, nn.TransformerDecoderLayer(*settings, norm_first=True))
    watch(log, layer)
    x, memory = leaf(torch, (3, 2, 4), 1), leaf(torch, (5, 2, 4), 2)
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    layer(x, memory, tgt_mask=mask, tgt_is_causal=True).sum().backward()


@family
def other_containers(torch, log):
    """Modules that hold modules: a chain, attention, recurrent layers."""
    nn = torch.nn
    run(torch, log, nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU())), (3, 2))
    run(torch, log, nn.MultiheadAttention(4, 2), (3, 2, 4), (3, 2, 4), (3, 2, 4))
    run(torch, log, nn.LSTM(2, 3), (4, 1, 2))
