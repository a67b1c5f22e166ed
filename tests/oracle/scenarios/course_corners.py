"""Small things that programs of courses meet: one draw with replacement, where of two numbers."""

from __future__ import annotations

from .tools import Family

family = Family()


@family
def one_draw_with_replacement(torch, log):
    """multinomial of one sample is the same draw with replacement and without."""
    for replacement in (True, False):
        generator = torch.Generator().manual_seed(5)
        weights = torch.rand(3, 9, generator=generator)
        for _ in range(3):
            log("rows", torch.multinomial(weights, 1, replacement, generator=generator))
            log("row", torch.multinomial(weights[0], 1, replacement, generator=generator))
        log("after", torch.rand(2, generator=generator))


@family
def histogram_without_bins(torch, log):
    """histogram takes 100 bins if it is not told how many."""
    counts, edges = torch.histogram(torch.linspace(0, 1, 7), density=True)
    log("densities", counts.shape, counts[:3], edges[:3], edges.shape)


@family
def where_of_numbers(torch, log):
    """where of two numbers gives the type that the two have together."""
    mask = torch.tensor([True, False])
    for first in (1, True, 2.5):
        for second in (0, False, 0.5):
            log(f"{first} {second}", torch.where(mask, first, second))
    for dtype in ("float16", "float64", "int32", "bool", "uint8"):
        ones = torch.ones(2, dtype=getattr(torch, dtype))
        for number in (1, 2.5, True):
            log(f"{dtype} {number}", torch.where(mask, ones, number))


@family
def nothing_is_deleted(torch, log):
    """`del x[0]` is an error."""
    x = torch.ones(2)

    def delete():
        del x[0]

    log.raises("del", delete)


@family
def steps_of_a_fraction(torch, log):
    """arange in steps that are no whole number, where rounding shows."""
    for bounds in ((-1, 1, 0.1), (-8.0, 8.0, 0.1), (0, 6.28, 0.01), (5, -5, -0.37), (0.3, 90, 0.7)):
        numbers = torch.arange(*bounds)
        log(f"{bounds}", numbers, (numbers <= 0).sum())
        log("doubled", torch.arange(*bounds, dtype=torch.float64))


@family
def weights_by_name(torch, log):
    """What a program that draws the weights of a recurrent layer anew asks for."""
    for layer in (torch.nn.GRU(2, 3, 2), torch.nn.LSTM(2, 3, bidirectional=True, bias=False)):
        log("names", layer._flat_weights_names)
        log(
            "same",
            [
                w is layer._parameters[n]
                for n, w in zip(layer._flat_weights_names, layer._flat_weights, strict=True)
            ],
        )


@family
def old_names_of_utilities(torch, log):
    """What few programs call: modules without a draw, prefixes of names, an old way to clip."""
    nn = torch.nn
    torch.manual_seed(3)
    log("skipped", repr(nn.utils.skip_init(nn.Linear, 2, out_features=3)), torch.rand(2))
    w = torch.ones(2, requires_grad=True)
    (w * 3).sum().backward()
    log("clipped", nn.utils.clip_grad_norm_([w], 1.0), w.grad)
    log("a list", torch.optim.AdamW([w], betas=[0.5, 0.9]).param_groups[0]["betas"])
    utils = nn.modules.utils
    state = nn.ModuleDict({"module": nn.Sequential(nn.Linear(1, 1))}).state_dict()
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    log("names", list(state), sorted(state._metadata))
