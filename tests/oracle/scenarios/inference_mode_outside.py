"""See what inference tensors do, and refuse, outside of inference mode."""

from __future__ import annotations

from .inference_mode import facts, made
from .tools import Family, leaf

family = Family()


@family
def used_outside(torch, log):
    """Outside results of inference tensors are normal; views of them are inference tensors."""
    x = leaf(torch, (3,), 1)
    inference = made(torch)
    with torch.inference_mode():
        view = inference.view(3, 1)
    for kind, tensor in (("made", inference), ("view", view)):
        for name, action in (
            ("itself", lambda t: t),
            ("times 2", lambda t: t * 2),
            ("exp", lambda t: t.exp()),
            ("compared", lambda t: t > 0),
            ("view", lambda t: t.view(1, 3)),
            ("entry", lambda t: t[0]),
            ("same type", lambda t: t.float()),
            ("one of several", lambda t: t.unbind(0)[1]),
        ):
            log(kind, name, facts(action(tensor)))
        log("clone", tensor.clone().is_inference(), tensor.clone().requires_grad_())
    log("detached", inference.detach().is_inference(), inference.data.is_inference())
    log("as the other shape", x.view_as(inference), inference.view_as(x).is_inference())


@family
def recorded_without_being_saved(torch, log):
    """Inference tensors take part in recorded operations that need not save them."""
    x = leaf(torch, (3,), 1)
    inference = made(torch)
    for name, action in (
        ("sum", lambda: x + inference),
        ("difference", lambda: inference - x),
        ("stacked", lambda: torch.stack([x, inference])),
        ("joined", lambda: torch.cat([inference, x])),
        ("chosen", lambda: torch.where(x > 0, x, inference)),
        ("filled up", lambda: (x * 2).copy_(inference)),
        ("added in place", lambda: (x * 2).add_(inference)),
    ):
        x.grad = None
        result = action()
        log(name, result)
        result.sum().backward()
        log("gradient", x.grad)


@family
def refused_to_be_saved(torch, log):
    """Inference tensors cannot be saved for backward; a clone can."""
    x = leaf(torch, (3,), 1)
    inference = made(torch)
    weight = leaf(torch, (2, 3), 2)
    with torch.inference_mode():
        condition = torch.tensor([True, False, True])
        wide = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    for name, action in (
        ("product", lambda: x * inference),
        ("quotient", lambda: x / inference),
        ("quotient of it", lambda: inference / x),
        ("product of another type", lambda: x * wide),
        ("power", lambda: x**inference),
        ("matrix product", lambda: weight @ inference),
        ("linear", lambda: torch.nn.functional.linear(inference, weight)),
        ("detached", lambda: x * inference.detach()),
        ("a view", lambda: x * inference.view(3)),
        ("in place", lambda: (x * 2).mul_(inference)),
        ("chosen by it", lambda: torch.where(condition, x, x * 2)),
    ):
        log.raises(name, action)
        with torch.no_grad():
            log("without recording", action().requires_grad)
    y = x * inference.clone()
    y.sum().backward()
    log("a clone", y, x.grad)
    log("no gradient needed", facts(inference * torch.ones(3)))


@family
def changed_in_place_outside(torch, log):
    """An inference tensor is not changed in place outside of the mode, recorded or not."""

    def write(tensor, index, value):
        tensor[index] = value

    ones = torch.ones(3)
    actions = (
        ("add_", lambda t: t.add_(1)),
        ("add_ of a tensor", lambda t: t.add_(ones)),
        ("sub_ with alpha", lambda t: t.sub_(ones, alpha=2)),
        ("mul_", lambda t: t.mul_(ones)),
        ("exp_", lambda t: t.exp_()),
        ("fill_", lambda t: t.fill_(2.0)),
        ("zero_", lambda t: t.zero_()),
        ("copy_", lambda t: t.copy_(ones)),
        ("clamp_", lambda t: t.clamp_(0, 1)),
        ("index", lambda t: write(t, 0, 1.0)),
        ("slice", lambda t: write(t, slice(1), ones[:1])),
        ("its view", lambda t: t.view(3, 1).add_(1)),
    )
    for name, action in actions:
        log.raises(name, lambda action=action: action(made(torch)))
        with torch.no_grad():
            log.raises("under no_grad", lambda action=action: action(made(torch)))
            log.raises(
                "a leaf under no_grad",
                lambda action=action: action(made(torch, requires_grad=True)),
            )
        inside = made(torch)
        with torch.inference_mode():
            action(inside)
        log("in the mode", inside)
    x = leaf(torch, (3,), 1)
    for name, action in (
        ("mul_ by what requires a gradient", lambda t: t.mul_(x)),
        ("add_ of what requires a gradient", lambda t: t.add_(x)),
        ("copy_ of what requires a gradient", lambda t: t.copy_(x)),
    ):
        log.raises(name, lambda action=action: action(made(torch)))
    log.raises("a leaf", lambda: made(torch, requires_grad=True).add_(1))


@family
def flags_outside(torch, log):
    """requires_grad of an inference tensor: set freely inside, only to False outside."""
    for start in (False, True):
        tensor = made(torch, requires_grad=start)
        log.raises("requires_grad_", lambda tensor=tensor: tensor.requires_grad_())
        log.raises(
            "requires_grad = True", lambda tensor=tensor: setattr(tensor, "requires_grad", True)
        )
        log.raises("requires_grad_(False)", lambda tensor=tensor: tensor.requires_grad_(False))
        log("now", facts(tensor))
        log.raises("a view", lambda tensor=tensor: tensor.view(3, 1).requires_grad_())
        log.raises("detached", lambda tensor=tensor: tensor.detach().requires_grad_())
        with torch.inference_mode():
            log("in the mode", facts(tensor.requires_grad_()), facts(tensor.requires_grad_(False)))
            log.raises("whole numbers", lambda: torch.arange(3).requires_grad_())
    log.raises("no version", lambda: made(torch)._version)


@family
def leaves_made_in_the_mode(torch, log):
    """An inference tensor that requires a gradient gets one where it need not be saved."""
    tensor = made(torch, requires_grad=True)
    x = leaf(torch, (3,), 1)
    tensor.register_hook(log.hook("hook"))
    tensor.register_post_accumulate_grad_hook(lambda t: log("after", t.grad, t is tensor))
    for _ in range(2):
        y = tensor + x
        log("sum", facts(y))
        y.backward(torch.tensor([1.0, -2.0, 3.0]))
        log("gradients", tensor.grad, x.grad, tensor.grad.is_inference())
    log("scaled", facts(tensor * 2))
    log.raises("product", lambda: tensor * x)
    log.raises("retain_grad", lambda: tensor.retain_grad())
    log.raises("hook without gradient", lambda: made(torch).register_hook(print))
    log.raises("numpy", lambda: tensor.numpy())
    log("numpy without gradient", made(torch).numpy().tolist())
