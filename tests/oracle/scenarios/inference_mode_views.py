"""See normal tensors in inference mode: changes in place, and views that are used outside."""

from __future__ import annotations

from .inference_mode import facts, made, tensors
from .tools import Family, leaf

family = Family()


@family
def changed_in_place_inside(torch, log):
    """Normal tensors are changed in place in the mode; they stay what they are, and count."""
    for kind, tensor in tensors(torch).items():
        with torch.inference_mode():
            tensor.add_(2)
            tensor[0] = 5.0
            tensor.view(3, 1).mul_(3)
            tensor += tensor.detach()
            tensor.zero_()
            log(kind, tensor.detach(), facts(tensor), facts(tensor.view(3, 1)))
        log("outside", facts(tensor))


@family
def stale_values(torch, log):
    """A change in the mode of what was saved outside is noticed by backward."""
    x = leaf(torch, (3,), 1)
    for name, change in (
        ("itself", lambda t: t.add_(1)),
        ("a view", lambda t: t.view(3, 1).mul_(2)),
        ("detached", lambda t: t.detach().mul_(2)),
        ("an entry", lambda t: t[0].zero_()),
    ):
        y = x * 1
        z = (y * y).sum()
        with torch.inference_mode():
            change(y)
        log.raises(name, lambda z=z: z.backward())


@family
def views_used_outside(torch, log):
    """A view made in the mode of a normal tensor: used outside, no gradient reaches its base."""
    for kind, base in list(tensors(torch).items())[:3]:
        with torch.inference_mode():
            view, entry = base.view(3, 1), base[0]
        log(kind, facts(view), facts(entry), view.detach())
        log("used", facts(view * 2), facts(view + base), facts(view[0]))
        log("detached", facts(view.detach()), facts(view.clone()))
        if view.requires_grad:
            (view * view).sum().backward()
            log("gradients", view.grad, base.grad if base.is_leaf else None)


@family
def views_changed_outside(torch, log):
    """Changing a view that was made in the mode, or its base, outside: refused where recorded."""

    def write(tensor):
        tensor[0] = 1.0

    for kind in ("leaf", "result", "plain"):
        for name, action in (
            ("add_", lambda t: t.add_(1)),
            ("a view of it", lambda t: t[0].add_(1)),
            ("another view of it", lambda t: t.t().mul_(2)),
            ("one of several", lambda t: t.unbind(0)[1].add_(1)),
            ("zero_", lambda t: t.zero_()),
            ("copy_", lambda t: t.copy_(torch.ones(3, 1))),
            ("entry", write),
        ):
            base = tensors(torch)[kind]
            with torch.inference_mode():
                view = base.view(3, 1)
            log.raises(f"{kind}: {name}", lambda action=action, view=view: action(view))
            with torch.no_grad():
                action(view)
            log("under no_grad", base.detach(), view.requires_grad, base._version, view._version)
            log.raises("then its grad_fn", lambda view=view: view.grad_fn)
            log.raises("then used", lambda view=view: view * 2)
            log("printed", repr(view))


@family
def views_whose_base_changes(torch, log):
    """A change of the base outside lets a view made in the mode refuse to be used."""
    for kind in ("result", "plain"):
        base = tensors(torch)[kind]
        with torch.inference_mode():
            view = base.view(3, 1)
            further = view[0]
        base.mul_(leaf(torch, (3,), 9))
        for name, tensor in (("view", view), ("further", further)):
            log(kind, name, tensor.requires_grad)
            log.raises("its grad_fn", lambda tensor=tensor: tensor.grad_fn)
            log.raises("used", lambda tensor=tensor: tensor + 1)
            log.raises("a view", lambda tensor=tensor: tensor.view(-1))
            log("detached", tensor.detach(), repr(tensor))
        x = leaf(torch, (3, 1), 8)
        base = tensors(torch)["plain"]
        with torch.inference_mode():
            view = base.view(3, 1)
        log.raises("changed by what requires a gradient", lambda view=view, x=x: view.mul_(x))
        log("unchanged", base, view.detach())


@family
def views_of_views_across_modes(torch, log):
    """Views of views made under no_grad, in inference mode and outside: whose word counts."""
    contexts = {
        "normal": torch.enable_grad,
        "no_grad": torch.no_grad,
        "inference": torch.inference_mode,
    }
    for first, outer in contexts.items():
        for second, inner in contexts.items():
            base = leaf(torch, (3,), 1) * 1
            with outer():
                view = base.view(3, 1)
            with inner():
                further = view[1]
            log(f"{first}, {second}", further.requires_grad)
            log.raises("changed", lambda further=further: further.add_(1))
            base.add_(1)
            log.raises("base changed", lambda further=further: further.grad_fn is None)


@family
def detached_in_place(torch, log):
    """detach_ does nothing in the mode, and nothing to inference tensors."""
    for kind, tensor in tensors(torch).items():
        with torch.inference_mode():
            tensor.detach_()
            tensor.view(3, 1).detach_()
        log(kind, facts(tensor))
    for requires_grad in (False, True):
        log("outside", facts(made(torch, requires_grad=requires_grad).detach_()))


@family
def out_of_the_mode_into_numpy(torch, log):
    """numpy and item of what requires a gradient are allowed in the mode, as under no_grad."""
    x = leaf(torch, (3,), 1)
    with torch.inference_mode():
        log("inside", x.numpy().tolist(), x[0].item(), float(x[1]))
        log("printed", repr(x), repr(x * 2), repr((x * 2).requires_grad_()))
        with torch.enable_grad():
            log.raises("enabled", lambda: x.numpy())
            log("with a warning", float(x[1]))
    log("made there", repr(made(torch)), repr(made(torch, requires_grad=True)))
