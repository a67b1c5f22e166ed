"""Run a program, a plain description, on torch or on minigrad, and write down all that happens."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..log import Log, run
from ..scenarios.tools import graph
from .module_bodies import build
from .module_hooks import register
from .module_values import assemble, constant, pick, tensors_in

Program = dict[str, Any]


class Machine:
    """The state of one run: modules, inputs, hooks and what they have made so far."""

    def __init__(self, torch: ModuleType, log: Log, program: Program) -> None:
        self.torch, self.log, self.program = torch, log, program
        self.shape = tuple(program["shape"])
        self.dtype = getattr(torch, program["dtype"])
        self.handles: list[Any] = []
        self.kept: list[Any] = []
        self.nodes: list[Any] = []
        self.nested = False
        self.output: Any = None
        self.loss: Any = None
        self.found: list[Any] = []
        self.modules: list[Any] = []
        for spec in program["modules"]:
            self.modules.append(build(self, spec, self.modules))
        self.names = {id(module): f"m{n}" for n, module in enumerate(self.modules)}
        self.root = self.modules[-1]
        self.parameters = list(self.root.parameters())
        self.inputs = [
            constant(torch, self.shape, spec["seed"], self.dtype, spec["grad"])
            for spec in program["inputs"]
        ]
        # See module_excluded.py: leaves whose hooks see their gradient after the fact.
        watched = [*program["hooks"], *program["spare"]]
        alone = any(spec["kind"] == "node_post" for spec in watched)
        self.pass_within = [constant(torch, (2,), 8, self.dtype, True)] if alone else self.inputs
        trained = self.parameters or [constant(torch, (1,), 9, self.dtype, True)]
        momentum = program["momentum"]
        self.optimizer = torch.optim.SGD(trained, lr=0.125, momentum=momentum)

    def name(self, module: Any) -> str:
        """Name a module by its place in the program."""
        return self.names.get(id(module), type(module).__name__)

    def shown(self, value: Any) -> Any:
        """Give what a log can show of a hook's argument."""
        if isinstance(value, self.torch.nn.Module):
            return self.name(value)
        if isinstance(value, self.torch.optim.Optimizer):
            return type(value).__name__
        if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
            return type(value)(self.shown(item) for item in value)
        return value

    def remove(self, number: int) -> None:
        """Remove a hook registered before."""
        handle = pick(self.handles, number)
        if handle is not None:
            handle.remove()

    def register_spare(self, number: int, tensor: Any) -> None:
        """Register one of the hooks that the program keeps for later."""
        spec = pick(self.program["spare"], number)
        if spec is not None:
            register(self, spec, tensor)

    def targets(self, plan: list[list[Any]]) -> list[Any]:
        """Look up the tensors that a pass is asked for."""
        tables = {
            "input": self.inputs,
            "parameter": self.parameters,
            "kept": self.kept,
            "output": tensors_in(self.torch, self.output),
        }
        found = [pick(tables.get(where, []), which) for where, which in plan]
        able = ["able", 0] in plan
        found = [t for t in found if t is not None and (t.requires_grad or not able)]
        if not found and able:
            found = [t for t in [*self.parameters, *self.inputs] if t.requires_grad][:1]
        return found

    def run(self) -> None:
        """Register the hooks, take the steps, and write down the state at the end."""
        for spec in self.program["hooks"]:
            self.attempt("registering", lambda spec=spec: register(self, spec))
        for step in self.program["steps"]:
            self.attempt(step[0], lambda step=step: getattr(self, f"_{step[0]}")(*step[1:]))
        self.attempt("end", self._show)

    def attempt(self, label: str, action: Any) -> None:
        """Do something whose error is written down and ends nothing else."""
        try:
            action()
        except Exception as error:
            self.log.error(f"{label} raised", error)
            # Python names functions by their module, which is another one here.
            said = self.log.events[-1][1]
            said["message"] = said["message"].replace("minigrad.nn.", "torch.nn.")

    def _forward(self, args: list[Any], kwargs: dict[str, Any], mode: str) -> None:
        self.output = self.loss = None
        given = [assemble(plan, self.inputs) for plan in args]
        named = {name: assemble(plan, self.inputs) for name, plan in kwargs.items()}
        with self.torch.set_grad_enabled(mode != "no_grad"):
            self.output = self.root(*given, **named)
        self.log("output", self.output)
        for tensor in tensors_in(self.torch, self.output):
            if tensor.grad_fn is not None:
                self.log("graph", graph(tensor))

    def _results(self) -> list[Any]:
        found = tensors_in(self.torch, self.output)
        return [tensor for tensor in found if tensor.requires_grad] or found[:1]

    def _total(self) -> Any:
        """Make one number of the outputs, each entry with a weight of its own."""
        if self.loss is None:
            for number, tensor in enumerate(self._results()):
                weights = constant(self.torch, tensor.shape, 20 + number, self.dtype)
                part = (tensor * weights).sum()
                self.loss = part if self.loss is None else self.loss + part
        return self.loss

    def _backward(self, how: str, inputs: Any, retain: bool, create: bool) -> None:
        torch = self.torch
        options: dict[str, Any] = {"retain_graph": retain, "create_graph": create}
        if inputs is not None:
            options["inputs"] = self.targets(inputs)
        if not self._results():
            return
        if how == "loss":
            self._total().backward(**options)
        else:
            results = self._results()[:1] if how == "first" else self._results()
            weights = [
                constant(torch, tensor.shape, 20 + number, self.dtype)
                for number, tensor in enumerate(results)
            ]
            torch.autograd.backward(results, weights, **options)

    def _grad(self, inputs: Any, retain: bool, create: bool, unused: Any, zeros: bool) -> None:
        if not self._results():
            return
        options = {"retain_graph": retain, "create_graph": create}
        if unused is not None:
            options["allow_unused"] = unused
        if zeros:
            options["materialize_grads"] = True
        self.found = list(self.torch.autograd.grad(self._total(), self.targets(inputs), **options))
        self.log("found", self.found)

    def _second(self, how: str) -> None:
        """Differentiate what a recorded pass left: results of grad, or the gradients kept."""
        found = [gradient for gradient in self.found if gradient is not None]
        if how == "kept":
            leaves = [*self.inputs, *self.parameters]
            found = [leaf.grad for leaf in leaves if leaf.grad is not None]
        found = [gradient for gradient in found if gradient.requires_grad]
        if not found:
            return
        self.log("second derivative", how, graph(found[0]))
        total = sum((gradient * gradient).sum() for gradient in found)
        if how == "grad":
            wanted = [leaf for leaf in [*self.inputs, *self.parameters] if leaf.requires_grad]
            self.log("second", self.torch.autograd.grad(total, wanted, allow_unused=True))
        else:
            total.backward()

    def _step(self) -> None:
        self.optimizer.step()
        self.log("stepped", *self.parameters)

    def _zero_grad(self, to_none: bool) -> None:
        self.optimizer.zero_grad(set_to_none=to_none)

    def _remove(self, number: int) -> None:
        self.remove(number)

    def _register(self, number: int) -> None:
        self.register_spare(number, None)

    def _change(self, number: int) -> None:
        """Change an output in place."""
        tensor = pick(tensors_in(self.torch, self.output), number)
        if tensor is not None:
            tensor.mul_(2)
            self.log("changed", tensor)

    def _detached(self, number: int) -> None:
        """Turn requires_grad of a parameter around."""
        parameter = pick(self.parameters, number)
        if parameter is not None:
            parameter.requires_grad_(not parameter.requires_grad)

    def _show(self) -> None:
        """Write down all gradients."""
        self.log("inputs", *((tensor, tensor.grad) for tensor in self.inputs))
        self.log("parameters", *((tensor, tensor.grad) for tensor in self.parameters))
        for tensor in self.kept:
            self.attempt("kept", lambda tensor=tensor: self.log("kept", tensor, tensor.grad))


def events(torch: ModuleType, program: Program) -> list[Any]:
    """Run a program and give its log; nothing global is left behind."""
    machines: list[Machine] = []

    def scenario(torch: ModuleType, log: Log) -> None:
        machine = Machine(torch, log, program)
        machines.append(machine)
        machine.run()

    try:
        return [event for event in run(scenario, torch) if not _of_numpy(event)]
    finally:
        for machine in machines:
            for handle in machine.handles:
                if handle is not None:
                    handle.remove()


def _of_numpy(event: list[Any]) -> bool:
    """Tell whether an event is NumPy's warning of an overflow: see module_excluded.py."""
    head = event[0]
    return isinstance(head, dict) and head.get("warning") == "RuntimeWarning"
