"""Small things that programs of courses meet: one draw with replacement, where of two numbers."""

from __future__ import annotations

from .tools import Family

family = Family()


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
def old_names_of_utilities(torch, log):
    """What few programs call: prefixes of names, an old way to clip."""
    nn = torch.nn
    torch.manual_seed(3)
    w = torch.ones(2, requires_grad=True)
    (w * 3).sum().backward()
    log("clipped", nn.utils.clip_grad_norm_([w], 1.0), w.grad)
    log("a list", torch.optim.AdamW([w], betas=[0.5, 0.9]).param_groups[0]["betas"])
    utils = nn.modules.utils
    state = nn.ModuleDict({"module": nn.Sequential(nn.Linear(1, 1))}).state_dict()
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    log("names", list(state), sorted(state._metadata))
