"""See interpolation, sums of products, and limits that are tensors."""

from __future__ import annotations

from .tools_operations import add_all, operation

V, M = (4,), (2, 3)

NUMBERS = ("float16", "float32", "float64", "uint8", "int32", "int64")

TABLE = {
    "lerp by a number": operation(
        lambda t, a, b: t.lerp(a, b, 0.25),
        M,
        (3,),
        wrong={
            "another type": lambda t, a, b: t.lerp(a, b.double(), 0.25),
            "shapes": lambda t, a, b: t.lerp(a, t.ones(2), 0.25),
        },
    ),
    "lerp far": operation(lambda t, a, b: a.lerp(b, 1.5), V, V, dtypes=()),
    "lerp by a tensor": operation(
        lambda t, a, b, w: t.lerp(a, b, w),
        M,
        (3,),
        (2, 1),
    ),
    "x.lerp_": operation(lambda t, a, b: (a * 1).lerp_(b, 0.75), V, V, dtypes=()),
    "x.lerp_ by a tensor": operation(lambda t, a, b, w: (a * 1).lerp_(b, w), V, V, V, dtypes=()),
    "clip": operation(lambda t, x: t.clip(x, -0.5, 0.5), V),
    "x.clip_": operation(lambda t, x: (x * 1).clip_(max=0.5), V, dtypes=()),
    "clamp_min": operation(lambda t, x: t.clamp_min(x, 0.5), V),
    "clamp_max": operation(lambda t, x: x.clamp_max(1), V),
    "x.clamp_min_": operation(lambda t, x: (x * 1).clamp_min_(0.5), V),
    "x.clamp_max_": operation(lambda t, x: (x * 1).clamp_max_(0.5), V, dtypes=()),
    "x.where": operation(lambda t, x, y: x.where(x > y, y), V, V),
    "x.where, a number": operation(lambda t, x: x.where(x > 0, 2), V, dtypes=("float64",)),
}

family = add_all(TABLE)


@family
def at_the_kinks(torch, log):
    """Ties, NaN and zeros."""
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.0, 1.0, 2.0, 3.0], requires_grad=True)
    low = torch.tensor([0.0, 2.0, 0.0, 4.0], requires_grad=True)
    high = torch.tensor([0.0, 3.0, 2.0, 1.0], requires_grad=True)
    for wanted, limits in (((x, low), (low, None)), ((x, high), (None, high))):
        z = torch.clamp(x, *limits)
        log("one limit", z.detach(), *torch.autograd.grad(z, wanted, torch.arange(1.0, 5.0)))
    z = torch.clamp(x * 1, low - 0.5, high[:1] + 1)
    log("broadcast", z.detach(), *torch.autograd.grad(z, (x, low, high), torch.arange(1.0, 5.0)))
    z = torch.clamp(x, low, high)
    log("clamp", z.detach(), *torch.autograd.grad(z, (x, low, high), torch.arange(1.0, 5.0)))
    x = torch.tensor([0.0, 1.0, 2.0, 3.0, nan])
    for limits in ((nan, None), (2.0, 1.0), (inf, None)):
        log("clamp", torch.clamp(x, *limits))


@family
def types(torch, log):
    """What meets in which type, and what is refused."""
    single, double = torch.tensor([1.5, -2.0]), torch.tensor([0.5, 1.0]).double()
    whole, half = torch.tensor([1, 2]), torch.tensor([1.0, 2.0]).half()
    log("addcmul", torch.addcmul(single, double, whole), torch.addcmul(whole, whole, whole))
    log("addcmul", torch.addcmul(half, half, single))
    log("addcdiv", torch.addcdiv(single, whole, double), torch.addcdiv(half, half, half))
    log("clamp", whole.clamp(single), whole.clamp(torch.tensor(1)), single.clamp(double, double))
    log("clamp", whole.clamp(torch.tensor(1.5)), single.clamp(whole), whole.clamp(max=whole))
    log("weight", torch.lerp(single, single + 1, torch.tensor(0.5).double()))

    for label, call in {
        "addcmul_": lambda: whole.addcmul_(single, single),
        "lerp": lambda: torch.lerp(whole, whole, 0.5),
        "lerp weights": lambda: torch.lerp(whole, whole, whole),
        "clamp_": lambda: whole.clamp_(single),
        "clamp_min_": lambda: whole.clamp_min_(1.5),
    }.items():
        log.raises(label, call)
