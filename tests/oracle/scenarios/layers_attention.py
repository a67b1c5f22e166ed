"""See attention with several heads and transformers: how they start, masks, values, derivatives."""

from __future__ import annotations

from .tools import Family, leaf, numbers

family = Family()

MODULES = {
    "plain": "4, 2",
    "batch first": "4, 2, batch_first=True",
    "no bias": "4, 2, bias=False, batch_first=True",
    "one head": "4, 1, dtype=torch.float64",
}


def fill(torch, layer):
    """Give a layer small numbers that do not come from a random generator."""
    with torch.no_grad():
        for seed, parameter in enumerate(layer.parameters()):
            values = numbers(tuple(parameter.shape), seed + 5)
            parameter.copy_(torch.tensor(values) / 2)
    return layer


def rounded(tensors):
    """Round off the last digits, which depend on the order of additions."""
    return [None if each is None else (each * 2**30).round() / 2**30 + 0.0 for each in tensors]


def masks(torch, length, places, batch, dtype):
    """Give masks of each kind, as arguments."""
    causal = torch.ones(length, places).triu(1) > 0
    padding = torch.zeros(batch, places) > 0
    padding[0, -1] = True
    added = leaf(torch, (length, places), 3, requires_grad=False, dtype=dtype)
    each = leaf(torch, (batch * 2, length, places), 4, requires_grad=False, dtype=dtype)
    hidden = torch.zeros(batch, places, dtype=dtype).masked_fill(padding, -float("inf"))
    return {
        "causal": {"attn_mask": causal},
        "padding": {"key_padding_mask": padding},
        "both": {"attn_mask": causal, "key_padding_mask": padding},
        "added": {"attn_mask": added},
        "for each head": {"attn_mask": each},
        "added to both": {"attn_mask": added, "key_padding_mask": hidden},
    }


def add(name, text):
    def scenario(torch, log):
        module = eval(f"torch.nn.MultiheadAttention({text})", {"torch": torch})
        fill(torch, module.double())
        log("form", repr(module))
        log("state", [(key, list(value.shape)) for key, value in module.state_dict().items()])
        dtype = module.out_proj.weight.dtype
        first = module.batch_first

        def sequence(length, seed):
            shape = (2, length, 4) if first else (length, 2, 4)
            return leaf(torch, shape, seed, dtype=dtype)

        query, key = sequence(2, 1), sequence(3, 2)
        value = key
        sources = [query, key, value, *module.parameters()]
        for weights in (True, False):
            output, found = module(query, key, value, need_weights=weights)
            log(f"weights {weights}", output, found, type(output.grad_fn).__name__)
            log("strides", output.stride())
            loss = (output**2).sum() + (0 if found is None else (found**2).sum())
            log("gradients", *rounded(torch.autograd.grad(loss, sources, allow_unused=True)))
        output, found = module(query, key, value, average_attn_weights=False)
        log("each head", found)
        for kind, options in masks(torch, 2, 3, 2, dtype).items():
            if kind == "for each head" and module.num_heads == 1:
                continue
            for weights in (True, False):
                results = module(query, key, value, need_weights=weights, **options)
                log(f"{kind} {weights}", *results)
        if first:
            query, key, value = (each.detach()[0] for each in (query, key, value))
        else:
            query, key, value = (each.detach()[:, 0] for each in (query, key, value))
        log("alone", *module(query, key, value))
        for weights in (True, False):
            log(f"self {weights}", *module(query, query, query, need_weights=weights))

    scenario.__doc__ = f"State, values, masks and gradients of nn.MultiheadAttention({text})."
    family.add(f"attention, {name}", scenario)


for _name, _text in MODULES.items():
    add(_name, _text)


@family
def start(torch, log):
    """The numbers that a seed gives."""
    for text in MODULES.values():
        torch.manual_seed(3)
        module = eval(f"torch.nn.MultiheadAttention({text})", {"torch": torch})
        log(text, *(parameter.sum() for parameter in module.parameters()))
    torch.manual_seed(3)
    model = torch.nn.TransformerDecoderLayer(2, 1, 2, batch_first=True, norm_first=True)
    log("decoder", *model.parameters())


@family
def causal(torch, log):
    """The causal mask as a hint."""
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
    log("mask", mask, torch.nn.Transformer.generate_square_subsequent_mask(2, dtype=torch.float64))
    for batch_first in (False, True):
        module = fill(torch, torch.nn.MultiheadAttention(4, 2, batch_first=batch_first))
        x = leaf(torch, (3, 3, 4), 1)
        for weights in (True, False):
            log("hint", *module(x, x, x, attn_mask=mask, is_causal=True, need_weights=weights))
            log("mask", *module(x, x, x, attn_mask=mask, need_weights=weights))
        log.raises("no mask", lambda m=module, x=x: m(x, x, x, is_causal=True))


@family
def wrong_attention(torch, log):
    """Settings and inputs that do not fit."""
    nn, zeros = torch.nn, torch.zeros
    log.raises("no heads", lambda: nn.MultiheadAttention(4, 0))
    log.raises("heads", lambda: nn.MultiheadAttention(5, 2))
    x = zeros(2, 2, 4)
    for first in (False, True):
        module = nn.MultiheadAttention(4, 2, batch_first=first)
        for name, call in {
            "dimensions": lambda m=module: m(zeros(1, 2, 2, 4), x, x),
            "flat keys": lambda m=module: m(x, x[0], x[0]),
            "keys and values": lambda m=module: m(x, x, zeros(3, 2, 4)),
            "size": lambda m=module: m(zeros(2, 2, 3), zeros(2, 2, 3), zeros(2, 2, 3)),
            "mask": lambda m=module: m(x, x, x, attn_mask=zeros(3, 3), need_weights=False),
            "masks": lambda m=module: m(x, x, x, attn_mask=zeros(3, 2, 2)),
            "integers": lambda m=module: m(x, x, x, attn_mask=zeros(2, 2, dtype=torch.int64)),
        }.items():
            log.raises(name, call)


STACKS = {
    "encoder layer": "TransformerEncoderLayer(4, 2, 3, 0.0)",
    "encoder layer, norm first": "TransformerEncoderLayer(4, 2, 3, 0.0, 'gelu', norm_first=True)",
    "decoder layer": "TransformerDecoderLayer(4, 2, 3, 0.0, batch_first=True)",
    "decoder layer, norm first": "TransformerDecoderLayer(4, 2, 3, 0.0, norm_first=True)",
    "no bias": "TransformerEncoderLayer(4, 1, 3, 0.0, bias=False, layer_norm_eps=0.01)",
    "transformer": "Transformer(4, 2, 1, 2, 3, 0.0, batch_first=True)",
}


def add_stack(name, text):
    def scenario(torch, log):
        # in float64, for gradients through normalizations lose many digits
        model = fill(torch, eval(f"torch.nn.{text}", {"torch": torch}).double())
        log("form", repr(model))
        log("state", list(model.state_dict()))
        x = leaf(torch, (2, 2, 4), 1, dtype=torch.float64)
        shape = (2, 3, 4) if "batch_first" in text else (3, 2, 4)
        memory = leaf(torch, shape, 2, dtype=torch.float64)
        inputs = [x] if "Encoder" in text else [x, memory]
        sources = [*inputs, *model.parameters()]
        output = model(*inputs)
        log("value", output, type(output.grad_fn).__name__)
        gradients = torch.autograd.grad((output**2).sum(), sources)
        log("gradients", *rounded([each.sum() for each in gradients]))
        which = "tgt" if "Decoder" in text else "src"
        mask = model_mask(torch, 2, torch.float64)
        padding = torch.tensor([[False, True], [False, False]])
        log("causal", model(*inputs, **{f"{which}_mask": mask}))
        log("padding", model(*inputs, **{f"{which}_key_padding_mask": padding}))
        log("alone", model(*(each[:, 0] if "batch" not in text else each[0] for each in inputs)))

    scenario.__doc__ = f"Form, values and gradients of nn.{text}."
    family.add(name, scenario)


def model_mask(torch, size, dtype=None):
    return torch.nn.Transformer.generate_square_subsequent_mask(size, dtype=dtype)


for _name, _text in STACKS.items():
    add_stack(_name, _text)


@family
def stacks(torch, log):
    """Stacks of layers, with a norm at the end; what is padded is zero in evaluation."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(4, 2, 3, batch_first=True)
    encoder = fill(torch, nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(4))).eval()
    log("form", repr(encoder))
    x = leaf(torch, (2, 3, 4), 1, requires_grad=False)
    log("value", encoder(x), encoder(x, mask=model_mask(torch, 3)))
    decoder = fill(torch, nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 3), 2)).eval()
    log("form", repr(decoder))
    log("value", decoder(x, x, tgt_mask=model_mask(torch, 2)))


@family
def wrong_stacks(torch, log):
    """Settings and inputs that do not fit."""
    nn, zeros = torch.nn, torch.zeros
    log.raises("activation", lambda: nn.TransformerEncoderLayer(4, 2, activation="sin"))
    model = nn.Transformer(4, 2, 1, 1, 2, batch_first=True)
    log.raises("batch", lambda: model(zeros(1, 2, 4), zeros(2, 2, 4)))
    log.raises("size", lambda: model(zeros(1, 2, 3), zeros(1, 2, 4)))
