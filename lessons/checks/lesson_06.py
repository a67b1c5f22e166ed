"""Check the exercises of lesson 06, on full backward hooks: each answer runs in a real network."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import Choice, Hook, Numbers, Order
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import as_number, describe

from .models import layer

Answer = Callable[..., Any]

# --- 06.1


def five_gradients(hook: Answer | None = None, pre_hook: Answer | None = None) -> tuple[float, ...]:
    """Run f twice and g once: gradients of x, f.weight, f.bias, g.weight, g.bias."""
    f, g = layer([[3.0]], [1.0]), layer([[10.0]], [0.0])
    if hook is not None:
        f.register_full_backward_hook(hook)
    if pre_hook is not None:
        f.register_full_backward_pre_hook(pre_hook)
    x = torch.tensor([2.0], requires_grad=True)
    g(f(f(x))).backward()
    tensors: tuple[Any, ...] = (x, f.weight, f.bias, g.weight, g.bias)
    return tuple(tensor.grad.item() for tensor in tensors)


def ones(module: Any, gradients: Any, *_: Any) -> tuple[Tensor, ...]:
    """Replace the gradient by ones."""
    return (torch.ones_like(gradients[0]),)


FIVE = Numbers(
    id="06.1",
    asks="the gradients of x, f.weight, f.bias, g.weight and g.bias, in this order",
    expected=lambda: five_gradients(ones),
    right="What arrives at the first use of f is the 1 that the hook returned at the second use.",
    hints=(
        "The pass comes to g first, then to the second use of f, then to the first use. The hook "
        "is called at the end of each use of f.",
        "At the second use 10 arrives, and f's input there is h_1. What arrives at the first use? "
        "f.weight and f.bias add up what both uses give them.",
    ),
    mistakes="""
        = five_gradients()
            Those are the gradients without the hook. What arrives at the first use of f now?
        = five_gradients(pre_hook=ones)
            That is what a pre-hook with ones would do: it replaces grad_output. This hook replaces
            grad_input, at the other gate.
        ~ (1, 72, 11 => (1, 130, 40
            You gave f's own gradients as they are without the hook. That fits its second use. At its
            first use, what arrives has been replaced.
        ~ (1, => (3,
        ? answer[0] in (3, 9)
            The hook is called at each use of f, so also at the first one, whose input is x.
        ~ (1, 72, 11 => (1, 70, 10
        ~ (1, 72, 11 => (1, 2, 1
            f is used twice, and its parameters add up what both uses give them.
        ~ 72 => 27
            You swapped the two uses: 10 arrives at the second use, whose input is h_1.
        ~ 72 => 222
            The second use of f turns h_1 into h_2: its weight is multiplied by what goes in.
        ~ 11, 22 => 11, 10
            For g.weight you gave its value. You need its gradient: how much does y change if the
            weight changes a little?
        = (94, 132, 41, 22, 1)
            The ones were added to the gradient. What a hook returns takes its place.
        = (72, 11, 22, 1, 1)
        ? answer[4] == 1 and sorted(answer) == [1, 1, 11, 22, 72]
            The right numbers in the wrong order. x comes first, then f, then g, the weight before
            the bias.
    """,
)

# --- 06.2


def clipped_run(hook: Answer) -> dict[str, Any]:
    """Let a hook clip what leaves three modules, and look at the gradients."""

    def watched(module: Any, grad_input: Any, grad_output: Any) -> Any:
        result = hook(module, grad_input, grad_output)
        if isinstance(result, tuple) and len(result) != len(grad_input):
            raise Objection(
                f"Its tuple has length {len(result)}, and grad_input has length {len(grad_input)}: "
                "one entry for each positional argument, also for those that aren't tensors."
            )
        for entry in result if isinstance(result, tuple) else ():
            if entry is not None and not isinstance(entry, Tensor):
                raise Objection(
                    f"An entry of its tuple is {describe(entry)}. Each has to be a tensor, or None."
                )
        return result

    def run(forward: Answer, *values: Any, gradient: Any) -> list[Any]:
        module = type("Made", (nn.Module,), {"forward": lambda self, *args: forward(*args)})()
        module.register_full_backward_hook(watched)
        leaves = [torch.tensor(v, requires_grad=True) if isinstance(v, list) else v for v in values]
        given = [each * 1 if isinstance(each, Tensor) else each for each in leaves]
        module(*given).backward(torch.tensor(gradient))
        return [leaf.grad for leaf in leaves if isinstance(leaf, Tensor)]

    a, b = [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]
    first, third = run(lambda a, f, b: a * f + b * 3, a, 4.0, b, gradient=[2.0, -0.6, 0.1])
    matrix, gradient = [[1.0, 2.0], [3.0, 4.0]], [[0.3, -0.7], [1.9, 0.0]]
    (second,) = run(lambda factor, x: factor * x, 2.5, matrix, gradient=gradient)
    weight = torch.tensor([0.5, -2.0], requires_grad=True)
    with warnings.catch_warnings(action="ignore"):
        run(lambda x: x * weight, torch.tensor([1.0, 3.0]), gradient=[2.0, -0.6])
    return {
        "the gradient of the first input": first,
        "the gradient of the third input": third,
        "the gradient of a module's second input, where the first isn't a tensor,": second,
        "the gradient of a weight, where no input needs one,": weight.grad,
    }


CLIP = Hook(
    id="06.2",
    asks="clip(module, grad_input, grad_output), which replaces each gradient in grad_input by "
    "one clipped to the range from -1 to 1",
    scenario=clipped_run,
    may_return=(tuple,),
    right="You return a new tuple of new tensors and keep each None, so it works for every module.",
    hints=(
        "What is in grad_input for an argument that isn't a tensor? And who else may use the "
        "tensors that you are given?",
        "Build a new tuple with one entry for each entry of grad_input: None for None, else "
        "gradient.clamp(-1, 1), without the underscore.",
    ),
    mistakes="""
        ~ None if g is None else g.clamp(-1, 1) => g.clamp(-1, 1)
        ! NoneType
            It met a None. One argument of this module isn't a tensor: what has to stand in its
            place in the result?
        ~ None if g is None else g.clamp(-1, 1) => g.clamp(-1, 1) if g else None
        ! ambiguous
            Whether there is a gradient and whether it is zero are two questions. Ask the first.
        ~ g.clamp( => g.clamp_(
        ? "values" in trials[0].changed
            It wrote into the tensors it was given. Other paths may use them too: make new ones.
        ~ in grad_input) => in grad_input if g is not None)
        ~ else g.clamp(-1, 1) => else g.clamp(-1, 1).tolist()
        ! It returned, Its tuple, An entry of its tuple
            A module takes the tuple as its new grad_input, so it has to look like the old one.
        ~ g.clamp(-1, 1) => g.clamp(max=1)
        ~ g.clamp(-1, 1) => g.clamp(min=-1)
            It clips at one end only. Values above 1 have to be clipped, and values below -1.
        ~ g.clamp(-1, 1) => g.clamp(0, 1)
            Every negative gradient is zero now. The range begins further down.
        ~ g.clamp(-1, 1) => g / g.norm().clamp(min=1)
            It scales the gradient as a whole. Clip each number by itself.
        ~ g.clamp(-1, 1) => g * (g.abs() <= 1)
            What was outside the range is zero now. Clipping moves it to the limit.
        ~ g.clamp(-1, 1) => g.sign()
            That keeps only the signs. What is inside the range has to stay.
        ~ return tuple => tuple
            Nothing was clipped. What you compute counts only if it is what you return.
        ~ g.clamp(-1, 1) => None
            Every gradient is None now, so nothing flows on. Give None only for what was None.
        ~ in grad_input) => in grad_input[::-1])
            The right entries in the opposite order: the first belongs to the first input.
        ~ else g.clamp => else grad_output[0].clamp
            Those are the entries of grad_output. You need those of grad_input.
        = lambda m, i, o: (*(g if g is None else g.clamp(-1, 1) for g in i[:1]), *i[1:])
            It clips the first entry only.
    """,
)

# --- 06.3 and 06.4

LETTERS = Order(
    id="06.3",
    asks="the letters A, B, C and D in the order in which they are printed",
    right="Modules come in the order of the backward pass, and the hooks of one module in the order "
    "of registration, except for prepend.",
    hints=(
        "Which module does the gradient reach first, f0 or f1?",
        "Order the two hooks of that module, with prepend in mind; then those of the other.",
    ),
    mistakes="""
        = "ACBD"
            The hook with prepend=True goes before those that its module already has.
        = "BDCA"
        = "BDAC"
            That is the order of the forward pass: f0 first. Where does the gradient start?
        = "ABCD"
            That is the order in which they were registered. Two modules are at work here.
        = "CADB"
            Hooks of one module run in the order of registration, unless prepend says otherwise.
            Look again at f0.
        = "CA"
        ? len(answer) < 4 and {*answer} < {*"ABCD"}
            The backward pass goes through both modules, and each calls all of its hooks.
        = "CABDCABD"
        ? len(answer) > 4 and {*answer} == {*"ABCD"}
            These hooks run in the backward pass only, and there is one such pass.
        = "DCBA"
        = "CDBA"
            Hooks don't run last in, first out: one that is registered later runs later, unless
            prepend says otherwise.
        = "ABDC"
        ? sorted(answer[:2]) == ["A", "B"] or answer[:2] == ["A", "C"]
            prepend puts a hook before all others of its module, never after them.
        = "CBAD"
        ? answer[0] == "C" and answer[1] in "BD" and len(answer) == 4
            prepend puts a hook before those on the same module only, and all hooks of one module
            run before those of the next.
    """,
)

TRIPLES = Choice(
    id="06.4",
    asks="which single hook triples what belongs to f and what f sends on, and nothing else",
    right="What is changed at f's output gate reaches all that comes after it, and only that.",
    model="The pre-hook acts at f's output gate, before anything of f has been computed, so f's "
    "parameters and grad_input are computed from the tripled grad_output. The skip path goes around.",
    hints=(
        "For each of the four, find the gate where the hook acts.",
        "The way to f's parameters branches off between f's two gates. The skip path branches off "
        "above both, inside the Residual.",
    ),
    mistakes="""
        = "a"
            It acts where the gradient leaves f. Will that change the gradients of f's parameters?
        = "b"
            When this hook runs, f has used grad_output already. Section 4 shows what it changes
            instead.
        = "d"
            It acts where the gradient enters the Residual. Which two paths branch off below that?
    """,
)

# --- 06.5


def hooks_on(model: nn.Module) -> set[int]:
    """Name the backward hooks and pre-hooks that a model and its modules have."""
    tables = ((m._backward_hooks, m._backward_pre_hooks) for m in model.modules())
    return {key for pair in tables for table in pair for key in table}


def norms_run(answer: Answer) -> dict[str, Any]:
    """Let an answer measure two models, and look at what it says and at what it leaves changed."""

    def norms(model: nn.Module, data: Tensor, cotangent: Tensor) -> dict[str, Any]:
        found = answer(model, data, cotangent)
        if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
            raise Objection(
                f"It returned {describe(found)}. It has to be a dict, with names in it."
            )
        for name, norm in found.items():
            if as_number(norm) is None:
                raise Objection(f"Under {name!r} it holds {describe(norm)}, and not one number.")
        return {name: as_number(norm) for name, norm in sorted(found.items())}

    body = nn.Sequential(nn.Tanh(), layer([[0.7, -0.4, 0.3]] * 2, [0.0, 0.3]), nn.Tanh())
    first = layer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.1]], [0.1, 0.0, -0.2])
    model = nn.Sequential()
    model.first, model.body, model.last = first, body, layer([[1.5, -0.9]], [0.4])
    model.last.register_full_backward_hook(lambda *_: None)  # somebody else's
    theirs = hooks_on(model)
    data, cotangent = torch.tensor([[0.3, -1.2], [0.8, 0.5]]), torch.tensor([[1.3], [-0.4]])
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        found = norms(model, data, cotangent)
        silent = list(warnings.filters) != filters
    alone = layer([[0.5, -0.3]], [0.1])
    return {
        "the list of names": list(found),
        "the list of norms, sorted by the layers' names,": list(found.values()),
        "hooks": len(hooks_on(model) - theirs),
        "warnings": len(warned),
        "silent": silent,
        "data.requires_grad": data.requires_grad,
        "whether data.grad is None": data.grad is None,
        "the dict of a second call": norms(model, data[:1] * 2, torch.tensor([[0.7]])),
        "what came for a model that is a single Linear": norms(
            alone, torch.tensor([[1.0, 2.0]]), torch.tensor([[-0.9]])
        ),
    }


NORMS = Hook(
    id="06.5",
    asks="layer_norms(model, data, cotangent), which returns a dict from the name of each "
    "nn.Linear to the norm of its grad_output, and takes its hooks off again",
    scenario=norms_run,
    right="No warning, and nothing left behind: that's how to look into a model that isn't yours.",
    hints=(
        "Section 9 says what to give the first layer so that its hook runs without a warning. "
        "How do you do that without changing the caller's tensor?",
        "Run the model on data.detach().requires_grad_(). For each name and module of "
        "model.named_modules() that is an nn.Linear, register a hook that knows its name, and "
        "keep the handle in a list.",
    ),
    mistakes="""
        ~ grad_output[0].norm().item() => grad_input[0].norm().item()
        | data.detach().requires_grad_() => data
        ! NoneType
            The first layer's grad_input holds None, because data needs no gradient. You are asked
            for grad_output.
        ~ norms[name] = grad_output[0].norm().item() => return grad_output[0].norm().item()
        ! has no len, invalid number
            Your hook returned a number, and the module takes it for a new grad_input. A hook that
            watches returns nothing.
        ~ .backward(cotangent) =>
        ? seen["the list of names"] == []
            No hook noted anything. Register them before the forward pass, and keep them until the
            backward pass is over.
        ~ isinstance(module, nn.Linear) => name
        ? {*seen["the list of names"]} > {*right["the list of names"]}
            It hooked more than the linear layers. isinstance(module, nn.Linear) picks the right ones.
        ~ named_modules => named_children
        ? seen["the list of names"] == ["first", "last"]
            The layer inside model.body is missing: named_children() goes one level deep,
            named_modules() all the way.
        ~ hook(remember(name)) => hook(lambda m, i, o: norms.update({name: o[0].norm()}))
        ? len(seen["the list of names"]) == 1
            One name for all: a hook made in a loop looks its name up when it runs, after the loop
            is over. Make each hook in a function of its own.
        ~ norms[name] => norms["layer " + name]
        ? seen["the list of names"] != right["the list of names"]
            Those aren't the names that named_modules() gives.
        ~ norms, handles = {}, [] => norms, handles = {}, [__import__("warnings").simplefilter("ignore")][:0]
        ? seen["silent"]
            It changed which warnings are shown, for everybody and for good. Section 9 says how to
            get none.
        ~ data.detach() => data
        ? seen["data.requires_grad"]
            The data requires a gradient now, and didn't before: the caller's tensor was changed.
            Work on a copy, or on data.detach().
        ~ grad_output[0] => grad_input[0]
            Those are the norms of grad_input, at each layer's input. You are asked for the other
            gradient.
        ~ .norm() => .square().sum()
            Those are squares. The norm is the root of the sum of squares.
        ~ .norm() => .abs().sum()
            Those are sums of sizes. The norm is the root of the sum of squares.
        ~ grad_output[0] => grad_output[0][0]
            That is the norm of the first row of each gradient. All rows count.
        ~ backward(cotangent) => backward(torch.ones_like(cotangent))
            The backward pass began with ones. It has to begin with cotangent.
        ~ return norms => return {n: m.weight.grad.norm() for n, m in model.named_modules() if n in norms}
            Those are the norms of the weights' gradients. You are asked for what arrives at the
            output of each layer.
        ~ data.detach().requires_grad_() => data
        ? seen["warnings"]
            The data needs no gradient, so the first layer's hook ran with a warning. Section 9
            says what helps.
        ~ handle.remove() => pass
        ? seen["hooks"]
            A hook of yours stayed on the model. Keep every handle, and remove each when you are
            done.
        ~ model(data => model.forward(data
        ? trials[-1].result == {}
            A model may be an nn.Linear itself. named_modules() lists it, with the empty name, and
            model.forward goes around its hook.
    """,
)

# --- 06.6

WATCHES, DOUBLES = "the hook that only watches", "the hook that doubles"


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
            _: Any, i: Any, o: Any, calls: list[Any] = calls, factor: int | None = factor
        ) -> Any:
            for name, gradient in (("grad_input", i), ("grad_output", o)):
                if not isinstance(gradient, tuple) or not isinstance(gradient[0], Tensor):
                    raise Objection(
                        f"The hook was given {describe(gradient)} for {name}: a tuple with one "
                        "tensor is what it expects."
                    )
                given.append((gradient[0], gradient[0].tolist()))
            calls.append((i[0].tolist(), o[0].tolist()))
            return None if factor is None else (factor * i[0],)

        y = hooked(module, x, hook)
        if not isinstance(y, Tensor):
            raise Objection(f"hooked returned {describe(y)}. It has to return what module returns.")
        (y * torch.tensor([1.5, -0.7]) + x * 5).sum().backward(retain_graph=True)
        seen |= {
            f"the number of calls of {what}": len(calls),
            f"grad_input, seen by {what},": [i for i, _ in calls],
            f"grad_output, seen by {what},": [o for _, o in calls],
            f"x.grad with {what}": None if x.grad is None else x.grad.tolist(),
            f"weight.grad with {what}": getattr(module[0].weight.grad, "tolist", list)(),
        }
        calls.clear()
        (y * torch.tensor([-0.2, 0.9])).sum().backward()
        seen[f"grad_output, seen by {what} in a second pass,"] = [o for _, o in calls]
    same = all(tensor.tolist() == before for tensor, before in given)
    return {**seen, "whether the gradients that the hook was given are as they were": same}


HOOKED = Hook(
    id="06.6",
    asks="hooked(module, x, hook), which returns module(x) and calls the hook in the backward "
    "pass with grad_input and grad_output",
    scenario=hooked_run,
    without=(
        "register_full_backward_hook",
        "register_full_backward_pre_hook",
        "register_backward_hook",
        "register_module_full_backward_hook",
        "register_module_full_backward_pre_hook",
    ),
    right="That's a full backward hook: two gates, and the returned gradient replaces the old one.",
    hints=(
        "Which tensor plays the output gate, and which the input gate? Is x itself a gate, if "
        "x is used elsewhere too?",
        "Give the module x.view_as(x). A hook on y notes its gradient in a list; a hook on the "
        "view calls hook(...) with both, and returns what is inside of the result, or None.",
    ),
    mistakes="""
        ~ else replaced[0] => else replaced
        ! 'tuple', got tuple
            The hook's answer is a tuple, or None. A tensor's hook has to return a tensor: take it
            out of the tuple.
        ~ None if replaced is None else replaced[0] => replaced[0]
        ! NoneType
            This hook returned None, which means: keep the gradient. Ask for that case first.
        ~ return y => return y.view_as(y)
        | y.register_hook(noted.append) => y.view_as(y).register_hook(noted.append)
        ! KeyError, IndexError, NameError, UnboundLocalError
            When the gradient came to the input gate, nothing had been noted at the output gate. Is
            it your gate that you return, and does its hook run first?
        ~ gate.register_hook(at_the_input) =>
        ? [each for name, each in seen.items() if "number of calls" in name][0] == 0
            The hook was never called. Does the backward pass go through the tensor that you hooked,
            and is its hook still on?
        ~ (gradient,), (noted.pop(),) => (noted.pop(),), (gradient,)
            grad_input and grad_output have changed places.
        ~ x.view_as(x) => x
            The hook sat on x itself, so it also saw and changed what comes by the other path.
            The module needs a gate of its own.
        ~ x.view_as(x) => x.detach().requires_grad_()
            The path back to x is cut: the module's grad_input doesn't arrive there.
        ~ return None if replaced is None else replaced[0] => None if replaced is None else gradient.copy_(replaced[0])
        ? trials[-1].result is False
            It wrote into the gradient that the hook was given. Other paths may use it: return a new
            one.
        ~ return None if replaced => None if replaced
            The hook is called with the right gradients, and what it returns is dropped.
        ~ else replaced[0] => else gradient * replaced[0]
            What the hook returned was multiplied by the gradient. It should replace it.
        ~ else replaced[0] => else gradient + replaced[0]
            What the hook returned was added to the gradient. It should replace it.
        > def hooked(module, x, hook):
        >     gate = x.view_as(x)
        >     y = module(gate)
        >     out = y.view_as(y)
        >     def at_the_output(gradient):
        >         (inner,) = torch.autograd.grad(y, gate, gradient, retain_graph=True)
        >         replaced = hook(module, (inner,), (gradient,))
        >         return None if replaced is None else replaced[0]
        >     out.register_hook(at_the_output)
        >     return out
            The gradients of the module's own parameters changed too: yours acts at the output gate.
        ~ noted.pop() => noted[0]
            In a second backward pass the hook is still shown grad_output of the first.
        ~ noted.pop() => sum(noted)
            In a second backward pass the hook is shown the sum over both passes.
        ~ replaced = hook(module, => handle.remove(); replaced = hook(module,
        | gate.register_hook(at_the_input) => handle = gate.register_hook(at_the_input)
        ? trials[5].result == []
            In a second backward pass the hook has to be called again.
    """,
)

EXERCISES = [FIVE, CLIP, LETTERS, TRIPLES, NORMS, HOOKED]
