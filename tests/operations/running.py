"""Call the operations of the table on either library, and write down what they do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from minigrad.core.operation import registry
from minigrad.nn.functional.pooling import Chosen
from tests.oracle.log import Log, entries
from tests.oracle.making import graph, leaf, numbers

from . import layers
from .table import Layer, Operation

HERE = Path(__file__).parent
NO_TABLES = {"__init__", "table", "running", "record", "layers", "proofs"}
FAMILIES = [
    path.stem
    for path in sorted(HERE.glob("*.py"))
    if path.stem not in NO_TABLES and not path.stem.startswith("test_")
]
EDGES = [-float("inf"), -80.0, -1.0, -0.0, 0.0, 0.5, 1.0, 80.0, float("inf"), float("nan")]
LETTERS = "xyzw"
# Where minigrad has other nodes than PyTorch, or keeps less, or other strides, `record` leaves out
# what PyTorch says: that is then not compared.
OPEN = ("graph", "saved", "strides", "their graph", "settings")


@cache
def compiled(call: str) -> CodeType:
    """Compile an expression once."""
    return compile(call, f"<{call}>", "eval")


def put(tensor: Any, part: Callable[[Any], Any], value: Any) -> Any:
    """Write a value to a part of a tensor: `put(x, lambda a: a[0], 1)` is `x[0] = 1`."""

    class Key:
        def __getitem__(self, key: Any) -> Any:
            return key

    tensor[part(Key())] = value
    return tensor


def evaluate(operation: Operation, call: str, torch: ModuleType, inputs: Any) -> Any:
    """Call an operation; what is random begins with the same seed each time."""
    torch.manual_seed(0)
    first = inputs[0]
    floating = hasattr(first.dtype, "is_floating_point") and first.dtype.is_floating_point

    def n(*values: Any) -> Any:
        """Make a tensor of the type of the first input, or of fractions for symbols."""
        return torch.tensor(list(values), **({"dtype": first.dtype} if floating else {}))

    def back(*results: Any) -> Any:
        """Give results in the type of the first input: LAPACK's digits differ in float32."""
        return tuple(each.to(first.dtype) for each in results)

    given: dict[str, Any] = {
        "torch": torch, "F": torch.nn.functional, "nn": torch.nn, "np": np, "n": n, "put": put,
        "inf": float("inf"), "nan": float("nan"), "given": inputs, "back": back,
        "rnn": torch.nn.utils.rnn, "Chosen": Chosen,
        "op": registry.get(operation.name), "i": torch.tensor([0, 2]),
        "classes": torch.tensor([2, 0]), "places": torch.tensor([[0, 2], [1, 1]]),
        "mask": torch.tensor([[True, False, True], [False, False, True]]),
        "bag": torch.tensor([0, 2, 2, 1]), "starts": torch.tensor([0, 0, 3]),
    }  # fmt: skip
    return eval(compiled(call), given | dict(zip(LETTERS, inputs, strict=False)))


def tensors_of(value: Any, torch: ModuleType) -> list[Any]:
    """Give the tensors of a result, of a tuple or of a list of results."""
    if isinstance(value, (tuple, list)):  # a packed sequence is a tuple, too
        return [each for part in value for each in tensors_of(part, torch)]
    return [value] if isinstance(value, torch.Tensor) else []


def differentiable(value: Any, torch: ModuleType) -> list[Any]:
    """Give the tensors of a result that have a gradient."""
    return [each for each in tensors_of(value, torch) if each.requires_grad]


def inputs_of(operation: Operation, torch: ModuleType, dtype: str = "float32") -> list[Any]:
    """Make the inputs that both libraries get: leaves, if their dtype has gradients."""
    if dtype == "float32":
        return [
            leaf(torch, shape, seed + 1, positive=operation.positive)
            for seed, shape in enumerate(operation.shapes)
        ]
    floats = [
        torch.tensor(numbers(shape, seed + 1, operation.positive))
        for seed, shape in enumerate(operation.shapes)
    ]
    of_type = getattr(torch, dtype)
    if of_type.is_floating_point:
        return [each.to(of_type) for each in floats]
    if dtype == "bool":
        return [each > (1 if operation.positive else 0) for each in floats]
    doubled = [each * 2 for each in floats]
    doubled = [each.abs() for each in doubled] if dtype == "uint8" else doubled
    return [each.to(of_type) + operation.positive for each in doubled]


def weights_for(results: list[Any], torch: ModuleType, requires_grad: bool = False) -> list[Any]:
    """Make a cotangent for each result, none of them all ones."""
    return [weight(torch, r, 91 + k).requires_grad_(requires_grad) for k, r in enumerate(results)]


def weight(torch: ModuleType, like: Any, seed: int) -> Any:
    """Make a tensor like another one, of numbers that do not come from a random generator."""
    if not like.numel():
        return torch.ones(tuple(like.shape), dtype=like.dtype)
    return torch.tensor(numbers(tuple(like.shape), seed), dtype=like.dtype)


def steps(tensor: Any) -> list[int]:
    """Give the strides of those dimensions that have any."""
    pairs = zip(tensor.stride(), tensor.shape, strict=True)
    return [step for step, size in pairs if size > 1 and tensor.numel()]


def saved(node: Any) -> list[str]:
    """Give the names of what a node says that it saved."""
    return [name for name in dir(node) if name.startswith("_saved_")]


def scenario_of(operation: Operation) -> Callable[[ModuleType, Log], None]:
    """Make the program that is run on both libraries and written down."""

    def scenario(torch: ModuleType, log: Log) -> None:
        for call in operation.calls:
            write_call(operation, call, torch, log)
        for dtype in operation.dtypes:
            inputs = inputs_of(operation, torch, dtype)
            label = f"{operation.calls[0]} of {dtype}"
            try:
                value = evaluate(operation, operation.calls[0], torch, inputs)
            except Exception as error:
                log.events.append([label, {"error": type(error).__name__, "message": ""}])
            else:
                log(label, *tensors_of(value, torch))
        for fault in operation.faults:
            try:
                value = evaluate(operation, fault, torch, inputs_of(operation, torch))
            except Exception as error:
                log.events.append([fault, {"error": type(error).__name__, "message": ""}])
            else:
                log(fault, "no error")
        if operation.edges and operation.shapes == ((8,),):
            write_edges(operation, torch, log)

    return scenario


def write_call(operation: Operation, call: str, torch: ModuleType, log: Log) -> None:
    """Write down value, nodes, what they save, strides, gradients and second derivatives."""
    inputs = inputs_of(operation, torch)
    value = evaluate(operation, call, torch, inputs)
    tensors = tensors_of(value, torch)
    log(call, *(each.detach() for each in tensors) if tensors else (value,))
    results = differentiable(value, torch)
    if not results:
        return
    log("graph", *map(graph, results))
    log("saved", *(saved(each.grad_fn) for each in results))
    cotangents = weights_for(results, torch, operation.twice)
    found = torch.autograd.grad(
        results, inputs, cotangents, create_graph=operation.twice, allow_unused=True
    )
    log("gradients", *(None if each is None else each.detach() for each in found))
    log("strides", *(None if each is None else steps(each) for each in (*results, *found)))
    bent = [each for each in found if each is not None and each.requires_grad]
    if operation.twice and bent:
        log("their graph", *map(graph, bent))
        # a weight of its own for each gradient: with one for all, those of x - y would cancel
        weights = [weight(torch, each, 55 + k) for k, each in enumerate(bent)]
        given = [*inputs, *cotangents]
        # a rule of straight pieces gives zeros, whether its node has a place for the input or not
        log("second", *torch.autograd.grad(bent, given, weights, materialize_grads=True))


def write_edges(operation: Operation, torch: ModuleType, log: Log) -> None:
    """Write down values and slopes at infinities, zeros of both signs, and far out."""
    x = torch.tensor(EDGES, requires_grad=True)
    value = evaluate(operation, operation.calls[0], torch, [x])
    log("edges", entries(value))
    if value.requires_grad:
        (slope,) = torch.autograd.grad(value, x, torch.full_like(value, 2.0))
        log("slopes", entries(slope))


def scenario_of_layer(described: Layer) -> Callable[[ModuleType, Log], None]:
    """Make the program that shows a layer: as it starts, then with numbers that no seed gives."""

    def scenario(torch: ModuleType, log: Log) -> None:
        torch.manual_seed(3)
        module = run_layer(f"nn.{described.name}", torch)
        log(described.name, repr(module))
        state = module.state_dict()
        log("state", [(key, each.dtype, list(each.shape)) for key, each in state.items()])
        settings = [f"{key}={each}" for key, each in vars(module).items() if key[0] != "_"]
        log("settings", sorted(each for each in settings if not each.startswith("name")))
        log("starts with", *(each.detach().flatten()[:4] for each in module.parameters()))
        module.double()
        with torch.no_grad():
            for seed, parameter in enumerate(module.parameters()):
                values = numbers(tuple(parameter.shape), seed + 5)
                parameter.copy_(torch.tensor(values) / 2)
        for call in described.calls:
            write_layer_call(described, module, call, torch, log)
        module.eval()
        value = run_layer(described.calls[0], torch, module, layer_inputs(described, torch))
        log("evaluated", *singles(tensors_of(value, torch)))
        for fault in described.faults:
            try:
                run_layer(fault, torch, module, layer_inputs(described, torch))
            except Exception as error:
                log.events.append([fault, {"error": type(error).__name__, "message": ""}])
            else:
                log(fault, "no error")

    return scenario


def write_layer_call(described: Layer, module: Any, call: str, torch: ModuleType, log: Log) -> None:
    """Write down what a layer gives, its gradients, and what it remembers."""
    inputs = layer_inputs(described, torch)
    value = run_layer(call, torch, module, inputs)
    value = run_layer(call, torch, module, inputs)  # what it remembers counts the second time
    tensors = tensors_of(value, torch)
    log(call, *singles(tensors))
    results = [each for each in tensors if each.requires_grad]
    log("graph", *map(graph, results[:1]))
    sources = [*inputs, *(each for each in module.parameters() if each.requires_grad)]
    cotangents = weights_for(results, torch)
    if results and sources:
        found = torch.autograd.grad(results, sources, cotangents, allow_unused=True)
        log("gradients", *singles(found))
    log("buffers", *singles(module.buffers()))


def singles(tensors: Any) -> list[Any]:
    """Give tensors in float32, so that few digits tell them; `+ 0.0` takes the sign from zeros."""
    return [
        each if each is None or not each.is_floating_point() else each.detach().float() + 0.0
        for each in tensors
    ]


def layer_inputs(described: Layer, torch: ModuleType) -> list[Any]:
    """Make the inputs of a layer, in float64: gradients through norms lose many digits."""
    return [
        leaf(torch, shape, seed + 1, dtype=torch.float64)
        for seed, shape in enumerate(described.shapes)
    ]


def run_layer(call: str, torch: ModuleType, module: Any = None, inputs: Any = ()) -> Any:
    """Make a layer or call it; what is random begins with the same seed each time."""
    if module is not None:
        torch.manual_seed(5)
    given: dict[str, Any] = {
        "torch": torch, "nn": torch.nn, "m": module, "rnn": torch.nn.utils.rnn,
        "classes": torch.tensor([2, 0]), "bag": torch.tensor([0, 2, 2, 1]),
        "starts": torch.tensor([0, 0, 3]),
    }  # fmt: skip
    if hasattr(module, "hidden_size"):
        cell = "Cell" in type(module).__name__
        shape = (*(() if cell else (1 + module.bidirectional,)), 2, module.hidden_size)
        h = torch.ones(shape, dtype=torch.float64) / 4
        given["h"] = (h, h / 2) if "LSTM" in type(module).__name__ else h
    return eval(compiled(call), given | dict(zip(LETTERS, inputs, strict=False)))


def named(operations: list[Any]) -> dict[str, Any]:
    """Give operations by name; those that come again are counted."""
    found: dict[str, Any] = {}
    for operation in operations:
        count, name = 2, operation.name
        while name in found:
            name, count = f"{operation.name} {count}", count + 1
        found[name] = operation
    return found


TABLES: dict[str, dict[str, Operation]] = {
    family: named(import_module(f"{__package__}.{family}").TABLE) for family in FAMILIES
}
LAYERS: dict[str, Layer] = named(layers.LAYERS)
SCENARIOS = {
    family: {n: scenario_of(o) for n, o in table.items() if not o.is_of_the_book}
    for family, table in TABLES.items()
} | {"layers": {name: scenario_of_layer(each) for name, each in LAYERS.items()}}
OPERATIONS: dict[str, Operation] = named([o for table in TABLES.values() for o in table.values()])


def entrywise() -> list[str]:
    """Give the calls of `x` alone whose result has the shape of `x`: what fuzzers may draw from."""
    return [
        operation.calls[0]
        for operation in OPERATIONS.values()
        if operation.shapes == ((8,),) and not operation.is_of_the_book
    ]
