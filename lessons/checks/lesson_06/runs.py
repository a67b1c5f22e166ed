"""Run the models of lesson 06's exercises: right hooks, and the wrong ones that learners write."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import as_number, describe

from ..models import SLinear, layer

Answer = Callable[..., Any]


def five_gradients(hook: Answer | None = None, pre_hook: Answer | None = None) -> tuple[float, ...]:
    """Run the worked example: gradients of x, f0.weight, f0.bias, f1.f.weight, f1.f.bias."""
    f0, f1 = layer([[0.3]], [0.1]), SLinear()
    if hook is not None:
        f1.register_full_backward_hook(hook)
    if pre_hook is not None:
        f1.register_full_backward_pre_hook(pre_hook)
    x = torch.tensor([0.3], requires_grad=True)
    ((f1(f0(x)) - 1) ** 2).backward()
    tensors: tuple[Any, ...] = (x, f0.weight, f0.bias, f1.f.weight, f1.f.bias)
    return tuple(tensor.grad.item() for tensor in tensors)


def ones_at_the_input(module: Any, grad_input: Any, grad_output: Any) -> tuple[Tensor, ...]:
    """Replace grad_input by ones."""
    return (torch.ones_like(grad_input[0]),)


class Mix(nn.Module):
    """Three positional inputs, the second of which is no tensor."""

    def forward(self, a: Tensor, factor: float, b: Tensor) -> Tensor:
        """Compute a * factor + b * 3."""
        return a * factor + b * 3


class Scaled(nn.Module):
    """Two positional inputs, the first of which is no tensor."""

    def forward(self, factor: float, x: Tensor) -> Tensor:
        """Compute factor * x."""
        return factor * x


def clipped_run(hook: Answer) -> dict[str, Any]:
    """Let a hook clip what leaves two modules, and look at the gradients and at what it returns."""

    def watched(module: Any, grad_input: Any, grad_output: Any) -> Any:
        result = hook(module, grad_input, grad_output)
        if isinstance(result, tuple):
            _look_at(result, grad_input, grad_output)
        return result

    mix, scaled = Mix(), Scaled()
    mix.register_full_backward_hook(watched)
    scaled.register_full_backward_hook(watched)
    a, b = (torch.tensor([1.0, 2.0, 3.0], requires_grad=True) for _ in range(2))
    mix(a * 1, 4.0, b * 1).backward(torch.tensor([2.0, -0.6, 0.1]))
    seen = {"the gradient of the first input": a.grad, "the gradient of the third input": b.grad}
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    scaled(2.5, x * 1).backward(torch.tensor([[0.3, -0.7], [1.9, 0.0]]))
    single = torch.tensor(1.5, requires_grad=True)
    scaled(2.5, single * 1).backward(torch.tensor(-0.3))
    return {
        **seen,
        "the gradient of a module's second input, where the first is no tensor,": x.grad,
        "the gradient of a single number": single.grad,
    }


def _look_at(result: tuple[Any, ...], grad_input: Any, grad_output: Any) -> None:
    """Object to a tuple that cannot take the place of grad_input."""
    many = len(result)
    if many == 1 and isinstance(result[0], tuple | list):
        raise Objection("It returned a tuple within a tuple. The entries themselves are wanted.")
    for entry in result:
        if entry is not None and not isinstance(entry, Tensor):
            raise Objection(
                f"An entry of its tuple is {describe(entry)}. Each has to be a tensor, or None."
            )
    wanted = len(grad_input)
    if many != wanted:
        if many > wanted and _equal(result[-wanted:], clip(None, grad_input, None)):
            raise Objection(
                "It returned the entries of an earlier call as well. What does it keep from one "
                "call to the next?"
            )
        if _equal(result, clip(None, grad_output, None)):
            raise Objection("Those are the entries of grad_output. The other gradient is meant.")
        entries = "one entry" if many == 1 else f"{many} entries"
        raise Objection(
            f"It returned {entries}, and grad_input has {wanted}: one for each "
            "positional argument, also for those that are no tensors."
        )


def _equal(some: Sequence[Tensor | None], others: Sequence[Tensor | None]) -> bool:
    """Compare gradients, or None, one by one."""
    return len(some) == len(others) and all(
        a is b or (a is not None and b is not None and torch.equal(a, b))
        for a, b in zip(some, others, strict=True)
    )


def clip_with(change: Callable[[Tensor], Tensor]) -> Answer:
    """Make a hook that changes each gradient in some way, None staying None."""

    def hook(module: Any, grad_input: Any, grad_output: Any) -> tuple[Tensor | None, ...]:
        return tuple(None if g is None else change(g) for g in grad_input)

    return hook


def clip(module: Any, grad_input: Any, grad_output: Any) -> tuple[Tensor | None, ...]:
    """Clip each gradient, None staying None."""
    return tuple(None if g is None else g.clamp(-1, 1) for g in grad_input)


class Deep(nn.Module):
    """Three linear layers, one of them further inside, with squashing between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = layer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.1]], [0.1, 0.0, -0.2])
        self.body = nn.Sequential(nn.Tanh(), layer([[0.7, -0.4, 0.3]] * 2, [0.0, 0.3]), nn.Tanh())
        self.last = layer([[1.5, -0.9]], [0.4])

    def forward(self, x: Tensor) -> Tensor:
        """Run the three layers."""
        return self.last(self.body(self.first(x)))


NORMS = "the list of norms, sorted by the layers' names,"
LAYERS = {"first", "body.1", "last"}


def hooks_on(model: nn.Module) -> set[int]:
    """Name the backward hooks and pre-hooks that a model and its modules have."""
    tables = ((m._backward_hooks, m._backward_pre_hooks) for m in model.modules())
    return {key for pair in tables for table in pair for key in table}


def norms_run(answer: Answer) -> dict[str, Any]:
    """Let an answer measure two models, and look at what it says and at what it leaves behind."""
    model = Deep()
    model.last.register_full_backward_hook(lambda *_: None)  # somebody else's
    theirs = hooks_on(model)
    data, cotangent = torch.tensor([[0.3, -1.2], [0.8, 0.5]]), torch.tensor([[1.3], [-0.4]])
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        norms = _norms_of(answer, model, data, cotangent)
        silent = list(warnings.filters) != filters
    seen = {
        "the list of names": sorted(norms),
        NORMS: [norms[n] for n in sorted(norms)],
        "the number of your hooks left on the model": len(hooks_on(model) - theirs),
        "the number of warnings": len(warned),
        "whether warnings are off now": silent,
        "data.requires_grad": data.requires_grad,
    }
    second = _norms_of(answer, model, data[:1] * 2, torch.tensor([[0.7]]))
    alone = layer([[0.5, -0.3]], [0.1])
    single = _norms_of(answer, alone, torch.tensor([[1.0, 2.0]]), torch.tensor([[-0.9]]))
    return {
        **seen,
        "the list of norms of a second call": [second[name] for name in sorted(second)],
        "what came for a model that is a single Linear": single,
    }


def _norms_of(answer: Answer, model: nn.Module, data: Tensor, cotangent: Tensor) -> dict[str, Any]:
    norms = answer(model, data, cotangent)
    wanted = "It has to return a dict: for the name of each linear layer one number."
    if not isinstance(norms, dict):
        raise Objection(f"It returned {describe(norms)}. {wanted}")
    for name, norm in norms.items():
        if not isinstance(name, str):
            raise Objection(f"A key of its dict is {describe(name)}. {wanted}")
        if as_number(norm) is None:
            raise Objection(f"Under {name!r} its dict holds {describe(norm)}. {wanted}")
    return {name: as_number(norm) for name, norm in norms.items()}


def norms(
    which: int = 1,
    measure: Callable[[Tensor], Any] = lambda gradient: gradient.norm(),
    ones: bool = False,
) -> Answer:
    """Make a right `layer_norms`, or one with a typical mistake."""

    def layer_norms(model: nn.Module, data: Tensor, cotangent: Tensor) -> dict[str, Any]:
        norms: dict[str, Any] = {}
        handles = []
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear):

                def hook(_: Any, *both: Any, name: str = name) -> None:
                    norms[name] = measure(both[which][0])

                handles.append(module.register_full_backward_hook(hook))
        output = model(data.detach().requires_grad_())
        output.backward(torch.ones_like(cotangent) if ones else cotangent)
        for handle in handles:
            handle.remove()
        return norms

    return layer_norms


def weight_norms(model: nn.Module, data: Tensor, cotangent: Tensor) -> dict[str, Any]:
    """Measure the gradients of the weights, which are other ones."""
    model.zero_grad()
    model(data.detach().requires_grad_()).backward(cotangent)
    layers = {name: m for name, m in model.named_modules() if isinstance(m, nn.Linear)}
    return {name: m.weight.grad.norm() for name, m in layers.items() if m.weight.grad is not None}


WATCHES, DOUBLES = "the hook that only watches", "the hook that doubles"


def first_pass(what: str) -> list[str]:
    """Name what is observed of a first backward pass, with one of the two hooks."""
    return [
        f"the number of calls of {what}",
        f"grad_input, seen by {what},",
        f"grad_output, seen by {what},",
        f"x.grad with {what}",
        f"weight.grad with {what}",
    ]


def hooked_run(hooked: Answer) -> dict[str, Any]:
    """Run a home-made full hook, once with a hook that watches and once with one that doubles."""
    seen: dict[str, Any] = {}
    given: list[tuple[Tensor, list[Any]]] = []
    for what, values, factor in (
        (WATCHES, [0.4, -0.7], None),
        (DOUBLES, [[0.4, -0.7], [1.1, 0.2], [-0.3, 0.6]], 2),
    ):
        module = nn.Sequential(layer([[0.5, -0.3], [0.2, 0.8]], [0.1, 0.0]), nn.Tanh())
        x = torch.tensor(values, requires_grad=True)
        calls: list[tuple[Any, Any]] = []

        def hook(
            given_module: Any,
            grad_input: Any,
            grad_output: Any,
            calls: list[Any] = calls,
            factor: int | None = factor,
        ) -> Any:
            if not isinstance(given_module, nn.Module):
                raise Objection("The hook's first argument has to be the module.")
            for name, gradient in (("grad_input", grad_input), ("grad_output", grad_output)):
                _one_in_a_tuple(name, gradient)
                given.append((gradient[0], gradient[0].tolist()))
            calls.append((grad_input[0].tolist(), grad_output[0].tolist()))
            return None if factor is None else (factor * grad_input[0],)

        y = hooked(module, x, hook)
        if not isinstance(y, Tensor):
            raise Objection(f"hooked returned {describe(y)}. It has to return what module returns.")
        (y * torch.tensor([1.5, -0.7]) + x * 5).sum().backward(retain_graph=True)
        observations = (
            len(calls),
            [pair[0] for pair in calls],
            [pair[1] for pair in calls],
            x.grad.tolist() if x.grad is not None else None,
            module[0].weight.grad.tolist(),
        )
        seen |= dict(zip(first_pass(what), observations, strict=True))
        calls.clear()
        (y * torch.tensor([-0.2, 0.9])).sum().backward()
        seen[f"grad_output, seen by {what} in a second pass,"] = [pair[1] for pair in calls]
    same = all(tensor.tolist() == before for tensor, before in given)
    return {**seen, "whether the gradients that the hook was given are as they were": same}


def _one_in_a_tuple(name: str, gradient: Any) -> None:
    if not isinstance(gradient, tuple) or len(gradient) != 1 or not isinstance(gradient[0], Tensor):
        raise Objection(
            f"The hook was given {describe(gradient)} for {name}: a tuple with one "
            "tensor is what it expects."
        )


def home_made(
    gate: Callable[[Tensor], Tensor] = lambda x: x.view_as(x),
    obeys: Callable[[Tensor, Tensor], Tensor | None] = lambda gradient, replaced: replaced,
    taken: Callable[[list[Tensor]], Any] = lambda noted: noted[-1],
    exchanged: bool = False,
) -> Answer:
    """Make a right `hooked`, or one with a typical mistake."""

    def hooked(module: nn.Module, x: Tensor, hook: Answer) -> Tensor:
        entry = gate(x)
        noted: list[Tensor] = []
        y = module(entry)

        def at_the_input(gradient: Tensor) -> Tensor | None:
            both = (gradient,), (taken(noted),)
            replaced = hook(module, *(reversed(both) if exchanged else both))
            return None if replaced is None else obeys(gradient, replaced[0])

        entry.register_hook(at_the_input)
        y.register_hook(noted.append)
        return y

    return hooked
