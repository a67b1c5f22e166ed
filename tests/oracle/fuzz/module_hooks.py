"""Register the hooks of a program: each writes down all it is given, then acts and answers as its
description says.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .module_bodies import ERRORS
from .module_values import assemble, constant, each_tensor, pick, tensors_in

# Which of its arguments a hook of a kind may replace.
SUBJECT = {"forward": -1, "tensor": 0, "node_pre": 0, "node_post": 0, "accumulated": 0, "step": 1}
MODULE_KINDS = ("forward_pre", "forward", "full_pre", "full", "legacy")
ACCEPTED = {
    "forward_pre": ("with_kwargs", "prepend"),
    "forward": ("with_kwargs", "always_call", "prepend"),
    "full_pre": ("prepend",),
    "full": ("prepend",),
    "legacy": (),
}
METHODS = {
    "forward_pre": "register_forward_pre_hook",
    "forward": "register_forward_hook",
    "full_pre": "register_full_backward_pre_hook",
    "full": "register_full_backward_hook",
    "legacy": "register_backward_hook",
}
GLOBALS = {
    "forward_pre": "register_module_forward_pre_hook",
    "forward": "register_module_forward_hook",
    "full_pre": "register_module_full_backward_pre_hook",
    "full": "register_module_full_backward_hook",
    "legacy": "register_module_backward_hook",
}


def make_hook(machine: Any, spec: dict[str, Any], label: str, number: int) -> Callable[..., Any]:
    """Make the function that is registered."""
    kind = spec["kind"]
    calls = 0

    def hook(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        shown = [machine.shown(value) for value in given]
        if kind == "accumulated":
            shown.append(given[0].grad)
        if machine.torch.is_grad_enabled() and kind not in ("forward", "forward_pre"):
            shown.append("recording")
        machine.log(label, *shown)
        for action in spec["does"]:
            act(machine, action, given, number)
        if spec.get("once") and calls > 1:
            return None
        subject = given[SUBJECT.get(kind, 1)] if given else None
        if kind == "forward_pre" and len(given) == 3:
            subject = given[1:]
        if kind in ("step_pre", "step_post"):
            return None
        return answer(machine, spec["returns"], subject)

    return hook


def act(machine: Any, action: list[Any], given: tuple[Any, ...], number: int) -> None:
    """Do one thing that a hook does besides writing down."""
    torch = machine.torch
    kind, *rest = action
    if kind == "raise":
        raise ERRORS[rest[0]](f"raised in hook {number}")
    if kind == "remove_self":
        machine.remove(number)
    elif kind == "remove":
        machine.remove(rest[0])
    elif kind == "register":
        tensor = pick(tensors_in(torch, given), rest[1])
        machine.attempt("register in hook", lambda: machine.register_spare(rest[0], tensor))
    elif kind == "in_place":
        tensor = pick(tensors_in(torch, given[1:] or given), rest[0])
        if tensor is not None:
            tensor.mul_(2)
    elif kind == "backward" and not machine.nested:
        machine.nested = True
        try:
            with torch.enable_grad():
                tensor = pick(machine.pass_within, rest[0])
                (tensor * tensor).sum().backward()
        finally:
            machine.nested = False
    elif kind == "grad_none":
        for tensor in tensors_in(torch, given):
            if tensor.is_leaf:
                tensor.grad = None


def answer(machine: Any, how: str, subject: Any) -> Any:
    """Give what a hook returns: in the place of its subject, or something wrong."""
    torch = machine.torch
    first = pick(tensors_in(torch, subject), 0)
    if how == "none":
        return None
    if how == "same":
        return subject
    if how in CHANGES:
        return each_tensor(torch, lambda tensor: CHANGES[how](torch, tensor), subject)
    if isinstance(subject, dict):
        subject = subject.values()
    if how == "short":
        return tuple(subject)[:-1]
    if how == "long":
        return (*tuple(subject), None)
    if how == "nones":
        return tuple(None for _ in subject)
    if how == "list":
        return list(subject)
    if how == "first":
        return first
    if how == "tuple":
        return (first,)
    if how == "pair":
        return (first, first)
    if how == "dict":
        return {"only": first}
    if how == "named":
        return assemble(["named", 0, 0], [first])
    return {"number": 3, "text": "text", "true": True, "zeros": 0}[how]


CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "scaled": lambda torch, tensor: tensor * 2,
    "fresh": lambda torch, tensor: constant(torch, tensor.shape, 11, tensor.dtype),
    "leaf": lambda torch, tensor: constant(torch, tensor.shape, 12, tensor.dtype, True),
    "detached": lambda torch, tensor: tensor.detach(),
    "viewed": lambda torch, tensor: tensor.view_as(tensor),
    "wrong_shape": lambda torch, tensor: torch.cat([tensor.reshape(-1), tensor.reshape(-1)]),
    "wrong_dtype": lambda torch, tensor: tensor.to(
        torch.float64 if tensor.dtype == torch.float32 else torch.float32
    ),
    "integer": lambda torch, tensor: tensor.to(torch.int64),
}


def register(machine: Any, spec: dict[str, Any], tensor: Any = None) -> None:
    """Register one hook where its description says, or on the tensor given."""
    if len(machine.handles) >= 40:
        return
    torch = machine.torch
    number = len(machine.handles)
    machine.handles.append(None)
    kind = spec["kind"]
    where, which = spec["on"]
    options = {name: True for name in ACCEPTED.get(kind, ()) if name in spec["options"]}
    label = f"h{number} {kind}"
    if kind in MODULE_KINDS:
        if where == "global":
            options.pop("prepend", None)
            if kind == "forward_pre":
                options.pop("with_kwargs", None)
            enter = getattr(torch.nn.modules.module, GLOBALS[kind])
            label = f"{label} global"
        else:
            module = pick(machine.modules, which)
            enter = getattr(module, METHODS[kind])
            label = f"{label} on {machine.name(module)}"
        hook = make_hook(machine, spec, label, number)
        machine.handles[number] = enter(hook, **options)
        return
    hook = make_hook(machine, spec, label, number)
    if kind in ("step_pre", "step_post"):
        machine.handles[number] = register_around_step(machine, spec, hook)
        return
    if where == "parameter":
        tensor = pick(machine.parameters, which)
    elif where == "input":
        tensor = pick(machine.inputs, which)
    elif where == "output":
        tensor = pick(tensors_in(torch, machine.output), which)
    elif where == "kept":
        tensor = pick(machine.kept, which)
    if tensor is None:
        return
    if kind == "retain_grad":
        tensor.retain_grad()
        machine.kept.append(tensor)
    elif kind == "tensor":
        machine.handles[number] = tensor.register_hook(hook)
    elif kind == "accumulated":
        machine.handles[number] = tensor.register_post_accumulate_grad_hook(hook)
    else:
        node = tensor.grad_fn
        if node is None:
            if not tensor.requires_grad:
                return
            node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
        machine.nodes.append(node)
        enter = node.register_prehook if kind == "node_pre" else node.register_hook
        machine.handles[number] = enter(hook)


def register_around_step(machine: Any, spec: dict[str, Any], hook: Callable[..., Any]) -> Any:
    """Register a hook before or behind the steps of the optimizer, or of every optimizer."""
    before = spec["kind"] == "step_pre"
    if spec["on"][0] == "global":
        optimizers = import_module(f"{machine.torch.__name__}.optim.optimizer")
        if before:
            return optimizers.register_optimizer_step_pre_hook(hook)
        return optimizers.register_optimizer_step_post_hook(hook)
    if before:
        return machine.optimizer.register_step_pre_hook(hook)
    return machine.optimizer.register_step_post_hook(hook)
