"""Build the modules of a program: layers of the library, and modules whose forward is a list of
statements.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from .module_values import assemble, constant, pick, tensors_in

ERRORS = {"ValueError": ValueError, "RuntimeError": RuntimeError, "KeyError": KeyError}


def turned(x: Any) -> Any:
    """Double a tensor that lies turned around in memory; see module_excluded.py on sizes of 1."""
    return x.view_as(x) if 1 in x.shape else (x.transpose(0, -1) * 2).transpose(0, -1)


UNARY = {
    "relu": lambda torch, x: torch.relu(x),
    "tanh": lambda torch, x: torch.tanh(x),
    "sigmoid": lambda torch, x: torch.sigmoid(x),
    "double": lambda torch, x: x * 2,
    "half": lambda torch, x: x / 2,
    "negate": lambda torch, x: -x,
    "less": lambda torch, x: 1 - x,
    "square": lambda torch, x: x**2,
    "itself": lambda torch, x: x * x,
    "clone": lambda torch, x: x.clone(),
    "detach": lambda torch, x: x.detach(),
    "view": lambda torch, x: x.view(-1).view(x.shape),
    "view_as": lambda torch, x: x.view_as(x),
    "turned": lambda torch, x: turned(x),
    "first": lambda torch, x: x[:1] + x,
    "last": lambda torch, x: x * x[-1],
    "chunk": lambda torch, x: torch.cat(x.chunk(2)[::-1]),
    "unbind": lambda torch, x: x.unbind(0)[-1] - x,
    "sum": lambda torch, x: x - x.sum() / 4,
    "mean": lambda torch, x: x.mean(-1, keepdim=True) + x,
    "exp": lambda torch, x: torch.exp(-x * x),
    # These change the shape.
    "piece": lambda torch, x: x.chunk(2)[0],
    "flat": lambda torch, x: x.reshape(-1),
}
INPLACE = {
    "add_": lambda x, y: x.add_(1),
    "mul_": lambda x, y: x.mul_(0.5),
    "relu_": lambda x, y: x.relu_(),
    "tanh_": lambda x, y: x.tanh_(),
    "zero_": lambda x, y: x.zero_(),
    "add_other_": lambda x, y: x.add_(y),
    "mul_other_": lambda x, y: x.mul_(y),
    "copy_": lambda x, y: x.copy_(y),
    "detach_": lambda x, y: x.detach_(),
    "fill_row": lambda x, y: x[:1].fill_(0.25),
}
BINARY = {
    "add": lambda torch, x, y: x + y,
    "sub": lambda torch, x, y: x - y,
    "mul": lambda torch, x, y: x * y,
    "bounded_div": lambda torch, x, y: x / (y * y + 1),
    "stack": lambda torch, x, y: torch.stack([x + y, x * y]).sum(0),
}


@functools.cache
def written_class(torch: ModuleType) -> Any:
    """Make the class of modules whose forward is a list of statements, for one library."""

    class Written(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, machine: Any, spec: dict[str, Any], parts: list[Any]) -> None:
            super().__init__()
            self.machine, self.spec = machine, spec
            self.parts = torch.nn.ModuleList(parts)
            for number, parameter in enumerate(spec["parameters"]):
                value = constant(torch, machine.shape[-1:], parameter["seed"], machine.dtype)
                setattr(self, f"p{number}", torch.nn.Parameter(value, parameter["grad"]))

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            registers = [*tensors_in(torch, args), *tensors_in(torch, kwargs)]
            if not registers:
                shape = self.machine.shape
                registers = [constant(torch, shape, 5, self.machine.dtype)]
            self._run(self.spec["body"], registers)
            result = self.spec["returns"]
            if result == "args":
                return args
            return assemble(result, registers)

        def _run(self, body: list[Any], registers: list[Any]) -> None:
            for statement in body:
                value = self._do(statement, registers)
                if isinstance(value, torch.Tensor):
                    registers.append(value)

        def _do(self, statement: list[Any], registers: list[Any]) -> Any:
            machine = self.machine
            kind, *rest = statement
            if kind == "unary":
                return UNARY[rest[0]](torch, pick(registers, rest[1]))
            if kind == "binary":
                x, y = pick(registers, rest[1]), pick(registers, rest[2])
                return BINARY[rest[0]](torch, x, y)
            if kind == "inplace":
                x, y = pick(registers, rest[1]), pick(registers, rest[2])
                return INPLACE[rest[0]](x, y)
            if kind == "parameter":
                parameter = pick(list(self._parameters.values()), rest[1])
                if parameter is None:
                    return None
                return BINARY[rest[0]](torch, pick(registers, rest[2]), parameter)
            if kind == "call":
                child, args, kwargs, which = rest
                called = pick(list(self.parts), child)
                if called is None:
                    return None
                given = [assemble(plan, registers) for plan in args]
                named = {name: assemble(plan, registers) for name, plan in kwargs.items()}
                return pick(tensors_in(torch, called(*given, **named)), which)
            if kind == "no_grad":
                with torch.no_grad():
                    self._run(rest[0], registers)
                return None
            if kind == "raise":
                raise ERRORS[rest[0]](f"raised in forward of {machine.name(self)}")
            machine.attempt(kind, lambda: self._watch(kind, pick(registers, rest[0]), rest))
            return None

        def _watch(self, kind: str, tensor: Any, rest: list[Any]) -> None:
            """Keep a tensor within forward, or hook it."""
            if kind == "hook":
                self.machine.register_spare(rest[1], tensor)
                return
            self.machine.kept.append(tensor)
            if kind == "retain_grad":
                tensor.retain_grad()

    return Written


def build(machine: Any, spec: dict[str, Any], built: list[Any]) -> Any:
    """Build one module; its parts are among those built before."""
    torch = machine.torch
    kind = spec["kind"]
    parts = [pick(built, number) for number in spec.get("parts", []) if built]
    if kind == "Linear":
        size = machine.shape[-1]
        layer = torch.nn.Linear(size, size, bias=spec["bias"], dtype=machine.dtype)
        with torch.no_grad():
            layer.weight.copy_(constant(torch, (size, size), spec["seed"], machine.dtype) / 2)
            if layer.bias is not None:
                layer.bias.copy_(constant(torch, (size,), spec["seed"] + 1, machine.dtype))
        for name in spec["frozen"]:
            if getattr(layer, name) is not None:
                getattr(layer, name).requires_grad_(False)
        return layer
    if kind == "Sequential":
        return torch.nn.Sequential(*parts)
    if kind == "Written":
        return written_class(torch)(machine, spec, parts)
    return getattr(torch.nn, kind)()
