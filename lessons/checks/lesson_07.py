"""Check the exercises of lesson 07: what a legacy hook sees, and how to do without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import Choice, Hook, Numbers

from .models import SLinear, layer

Answer = Callable[..., Any]

FACTORS = Numbers(
    id="07.1",
    asks="two tuples of five factors: for a full hook on the last layer, and for a legacy hook on it",
    right="The same code doubles all that leaves the layer as a full hook, and one bias as a legacy hook.",
    hints=(
        "What does grad_input[0] belong to under a full hook, and what under a legacy hook on a "
        "Linear that gets a batch?",
        "What is doubled goes on from there toward the input. What comes after the last "
        "layer's input in the backward pass, and what comes after its bias?",
    ),
    mistakes="""
        = ((1, 1, 1, 1, 2), (2, 2, 2, 1, 1))
            The first tuple is for the full hook, the second for the legacy hook. Yours are
            swapped.
        = ((2, 2, 2, 1, 1), (2, 2, 2, 2, 2))
            That's what a legacy hook does that doubles all three entries. This one doubles the
            first: whose is it?
        = ((2, 2, 2, 1, 1), (2, 2, 2, 1, 1))
            Under the legacy hook you doubled what goes to the layers before. Look at the shapes
            again: which of the three entries is that?
        = ((2, 2, 2, 1, 1), (1, 1, 1, 2, 1))
            Under the legacy hook you doubled the weight. The transposed weight is another entry.
        = ((2, 2, 2, 1, 1), (1, 1, 1, 2, 2))
            Under the legacy hook you doubled both parameters of the layer. One entry is doubled.
        = ((2, 2, 2, 1, 1), (0, 0, 0, 0, 2))
        ? any(factor < 1 for five in answer for factor in five)
            A factor is the new gradient divided by the old one: 1 for what stays as it was.
        = ((2, 2, 2, 2, 2), (1, 1, 1, 1, 2))
        ? any(factor != 1 for factor in answer[0][3:])
            Under the full hook you changed the layer's own parameters. Their paths branch off
            before the gradient leaves the layer.
        = ((2, 1, 1, 1, 1), (1, 1, 1, 1, 2))
            Under the full hook, what leaves the last layer goes on through the tanh to layer 0,
            which has parameters too.
        = ((1, 2, 2, 1, 1), (1, 1, 1, 1, 2))
        ? answer[0][0] == 1
            Under the full hook you left the model's input unchanged. Does the changed gradient
            ever get there?
        = ((2, 4, 4, 1, 1), (1, 1, 1, 1, 2))
        ? any(factor > 2 for five in answer for factor in five)
            There is one hook, and it is called once in the pass. Nothing is doubled twice.
    """,
)

# --- 07.2

CASES = ("a batch", "a single vector", "a layer without a bias", "a batch of one row")
FOUND = [f"for {case}, what was found in two passes" for case in CASES]
WENT_ON = "the list of gradients that the inputs got in the end"
HANDLE = "whether it returned a handle"
GONE = "with the handles removed, the number of gradients that are found in a third pass"


def collect_run(helper: Answer) -> dict[str, Any]:
    """Let a helper collect from four layers, whose inputs are used elsewhere too."""
    weight, data = [[0.5, -1.3, 0.8], [0.2, 1.1, -0.4]], [1.5, -0.7, 0.4]
    bare: Any = nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        bare.weight.copy_(torch.tensor(weight))
    layers = [layer(weight, [0.1, -0.7]), layer(weight, [1.2, 0.3]), bare, layer(weight, [0.6, 0])]
    inputs = [[data, [0.9, 1.8, -1.1]], data, [data, [0.3, -0.2, 1.4]] * 2, [data]]
    found: list[list[Any]] = [[] for _ in layers]
    handles = [helper(module, into) for module, into in zip(layers, found, strict=True)]

    def one_pass(factor: float) -> list[Any]:
        leaves = [(factor * torch.tensor(each)).requires_grad_() for each in inputs]
        for module, x in zip(layers, leaves, strict=True):
            ((module(x) ** 2).sum() + (3 * x).sum()).backward()
        return [x.grad for x in leaves]

    one_pass(1.0)
    went_on = one_pass(1.5)
    seen: dict[str, Any] = {name: [*into] for name, into in zip(FOUND, found, strict=True)}
    are_handles = all(hasattr(each, "remove") and not isinstance(each, list) for each in handles)
    for handle in handles if are_handles else ():
        handle.remove()
    many = sum(map(len, found))
    one_pass(1.0)
    gone = sum(map(len, found)) - many
    return {**seen, WENT_ON: went_on, HANDLE: are_handles, GONE: gone}


COLLECT = Hook(
    id="07.2",
    asks="collect(layer, found), which registers a hook that appends the gradient with "
    "respect to the layer's input to found, and returns the handle",
    scenario=collect_run,
    right="One positional argument, one entry: grad_input[0] is now the gradient of the input.",
    hints=(
        "What is the first input of addmm, the last operation of Linear?",
        "No fixed index works for the old hook: the entries differ between the cases. "
        "Which hook has one entry for each argument?",
    ),
    mistakes=r"""
        ~ register_full_backward_hook => register_backward_hook
            For a batch, this collects the gradient of the bias: the old hook's entries belong to
            the last operation, and addmm takes the bias first.
        ~ register_full_backward_hook => register_backward_hook
        | grad_input[0] => grad_input[-1]
        ? any(getattr(each, "shape", 0) == (1, 2) for each in seen[FOUND[1]])
            The old hook again. The number, order and shape of its entries depend on how the layer was
            computed. Look for a hook whose entries don't.
        ~ grad_input[0] => grad_input[1]
        ! IndexError
            grad_input has no entry with this index. How many the old hook has depends on how the layer
            was computed; a full hook has one for each argument of the call. Which hook, and which
            index?
        ~ append(grad_input[0]) => append(grad_output[0])
            That is what arrives at the layer's output. What leaves it toward the input is the other
            argument of the hook.
        ~ append(grad_input[0]) => append(grad_input)
            You collect the whole tuple. You are asked for the one gradient in it.
        = lambda layer, found: layer.register_forward_hook(lambda m, args, y: found.append(args[0]))
            That is the input itself, from the forward pass. You are asked for its gradient.
        = lambda layer, found: layer.register_forward_pre_hook(lambda m, args: args[0].register_hook(found.append) and None)
            The layer's input is used elsewhere too, and you collect the sum over all uses. You
            are asked for what comes out of the layer.
        ~ found.append(grad_input[0]) => found.append(grad_input[0])\n        return grad_input[0]
        ~ found.append(grad_input[0]) => found.append(grad_input[0])\n        return (2 * grad_input[0],)
        ! invalid number
        ? not alike(seen[WENT_ON], right[WENT_ON])
            Your hook returns something, and the module takes that for a new grad_input. Here it only
            has to collect.
        ~ found.append( => found or found.append(
        ~ found.append(grad_input[0]) => found[:] = [grad_input[0]]
            Only one of two passes is in the list. Every pass has to add its gradient, and what was
            found before has to stay.
        ~ found.append( => [].append(
        ? not any(seen[name] for name in FOUND)
            Nothing was found. Is the hook still registered when the layer is called, and does it
            append to the list that it was given?
        ~ return layer => layer
        ? seen[HANDLE] is False
            Nobody can remove this hook: return the handle.
    """,
)

# --- 07.3

OUTS: dict[str, Answer] = {
    "x * y + z": lambda x, y, z: x * y + z,
    "(x + y) * z": lambda x, y, z: (x + y) * z,
    "z - x * y": lambda x, y, z: z - x * y,
    "x * y + 5": lambda x, y, z: x * y + 5,
    "x * x": lambda x, y, z: x * x,
    "(x - y * z) ** 2": lambda x, y, z: (x - y * z) ** 2,
}
RESULTS = [f"for {formula}, what came" for formula in OUTS]


def outs_run(answer: Answer) -> dict[str, Any]:
    """Ask an answer for the last operation of some results, and look at their leaves."""
    seen: dict[str, Any] = {}
    for number, (formula, function) in enumerate(OUTS.items()):
        values = [0.7 + number, 1.9, -1.3] if number % 2 else [[0.7 + number], [1.9], [-1.3]]
        leaves = [torch.tensor(value, requires_grad=True) for value in values]
        seen[RESULTS[number]] = answer(function(*leaves))
        gradients = tuple(leaf.grad for leaf in leaves)
        seen[f"for {formula}, the .grad of x, y and z in the end"] = gradients
    x = torch.tensor([0.6, -2.1], requires_grad=True)
    return {**seen, "for (x * x).sum() of two entries, what came": answer((x * x).sum())}


LAST = Hook(
    id="07.3",
    asks="last_operation(out), which starts the backward pass at out and returns the tuple "
    "of gradients that leave out's node",
    scenario=outs_run,
    without=("register_full_backward_hook", "register_backward_hook"),
    right="That's what a legacy hook calls grad_input: what its one node sends on.",
    hints=(
        "The hook on a node is called with two tuples, grad_inputs first. Keep the first.",
        "Make an empty list, register a hook that appends to it, call out.backward(), and "
        "return what is in the list.",
    ),
    mistakes=r"""
        ~ seen.append(grad_input) => seen.append(grad_output)
        ? alike(seen[RESULTS[1]], (1.0,))
            That is the gradient that arrives at the node, grad_output. You are asked for what it
            sends on.
        ~ out.grad_fn.register => out.grad_fn.next_functions[0][0].register
            That is one node too far: the last operation is out.grad_fn itself.
        ~ seen[0] => seen
        | out.backward() =>
        ? all(seen[name] == [] for name in RESULTS)
            The list is still empty when you return it. Where does the backward pass start?
        ~ seen[0] => seen
            It returned a list of all calls. The hook is called once: take that one entry.
        ~ seen[0] => seen[0][0]
        ? len(seen[RESULTS[1]]) == 1
            That is one entry. You are asked for the tuple, with an entry for each input of the
            operation.
        ~ seen.append(grad_input) => seen.append(tuple(0 * grad_output[0] if g is None else g for g in grad_input))
        ? len(seen[RESULTS[3]]) == 1
            A number has no gradient, so a legacy hook sees None there. Keep it in its place.
        ~ out.backward() =>
        ! IndexError, KeyError, pop from empty, UnboundLocalError
            The hook had seen nothing when you looked. Register it before the backward pass, and
            read it after.
        ~ lambda grad_input, grad_output: => lambda grad_input:
        ! positional argument
            A hook on a node is called with two tuples: what it sends on, and what arrived.
        ~ out.backward() => out.backward(retain_graph=True)\n    out.backward()
        ? alike([seen[name] for name in RESULTS], [right[name] for name in RESULTS])
            The tuples are right, but x, y and z got other gradients than from one plain pass. Does
            your hook return something? Is there a second pass, or none?
    """,
)

PROPOSAL = Choice(
    id="07.4",
    asks="your judgment of the colleague's proposal",
    right="What helps is a node that belongs to this call only: that's the input gate.",
    model="At x.grad_fn the gradients of all uses of x have been added up, and the module's "
    "own share can't be separated from the rest.",
    hints=(
        "Draw two arrows that arrive at x.grad_fn: one from the module, one from elsewhere.",
        "Look at what the legacy hook on the Identity showed, 6, and at where the 5 came from.",
    ),
    mistakes="""
        = "a"
            Take a network in which x goes into this module and into a second one as well. What
            arrives at x.grad_fn?
        = "c"
            The backward pass goes from the output to the input. Which of the two nodes runs
            first?
        = "d"
            It can: a hook on a node gets what leaves the node and what arrived at it.
    """,
)

# --- 07.5

OWN = "the gradients of its parameters"
BEFORE = "the gradients of the layer before it"
GONE_TOO = "the handle removed"


def damp_run(answer: Answer) -> dict[str, Any]:
    """Let an answer slow down three modules, each with a layer before it and a path around it."""

    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.f = layer([[1.3]], [0.2])

        def forward(self, x: Tensor) -> tuple[Tensor, ...]:
            return self.f(x), torch.tanh(x) * self.f.weight

    modules = {"a Linear": layer([[0.7]], [0.1]), "f1": SLinear(), "two results": Two()}
    seen: dict[str, Any] = {}
    for (name, module), factor in zip(modules.items(), (0.25, 3.0, -0.5), strict=True):
        before = layer([[0.8]], [-0.2])

        def one_pass(used: slice, before: Any = before, module: Any = module) -> list[list[Any]]:
            parameters = [[*each.parameters()] for each in (module, before)]
            h = before(torch.tensor([[0.5], [-1.2], [0.9]]))
            around, y = 5 * h, module(h)
            for result in (y if isinstance(y, tuple) else (y,))[used]:
                ((result + around - 1) ** 2).sum().backward(retain_graph=True)
            found = [
                [p.grad if p.grad is None else p.grad.clone() for p in of] for of in parameters
            ]
            before.zero_grad()
            module.zero_grad()
            return found

        handle = answer(module, factor)
        for what, used in {"": slice(2), ", of which the last is used": slice(-1, None)}.items():
            own, earlier = one_pass(used)
            seen |= {f"with {name}{what}, {OWN}": own, f"with {name}{what}, {BEFORE}": earlier}
        has_handle = seen[f"with {name}, whether it returned a handle"] = hasattr(handle, "remove")
        if has_handle:
            handle.remove()
        own, earlier = one_pass(slice(2))
        seen |= {
            f"with {name}, {GONE_TOO}, {OWN}": own,
            f"with {name}, {GONE_TOO}, {BEFORE}": earlier,
        }
    return seen


DAMP = Hook(
    id="07.5",
    asks="damp(module, factor), which scales the gradients of the module's parameters and what it "
    "sends on, and returns the handle",
    scenario=damp_run,
    without=("register_backward_hook", "register_module_backward_hook"),
    right="What you change at the output gate reaches everything that comes after it.",
    hints=(
        "Where does a hook have to sit so that the module's own parameters come after it?",
        "register_full_backward_pre_hook takes hook(module, grad_output). Return a tuple with one "
        "entry for each entry of grad_output: None for None, else factor times it.",
    ),
    mistakes=r"""
        ~ hook(module, grad_output) => hook(module, grad_input, grad_output)
        | in grad_output => in grad_input
        | register_full_backward_pre_hook => register_full_backward_hook
            What the module sends on is scaled, but its own parameters learn as fast as before:
            your hook sits at the module's input.
        ~ None if g is None else factor * g => factor * g
        ! NoneType
            One of two results wasn't used, so a gradient is None. Keep it as it is.
        ~ factor * g for g in grad_output => factor * g for g in grad_output[:1]
        ! number of grad_output
            Return a tuple, with one entry for each entry of grad_output.
        ~ None if g is None else factor * g for g in grad_output) => g if i or g is None else factor * g for i, g in enumerate(grad_output))
            Only the first of several results is scaled, as in the old helper.
        ~ None if g is None else factor * g => None if g is None else g.mul_(factor)
            The gradient was changed in place, and the same tensor flows on other paths, too.
            Return new ones.
        ~ return module => module
        ? not all(seen[name] for name in seen if "whether" in name)
            Nobody can remove this hook: return the handle.
        ~ return tuple => tuple
        ? all(alike(seen[name], seen[name.replace(f", {GONE_TOO}", "")]) for name in seen if GONE_TOO in name)
            Nothing is scaled. Does your hook run, and does it return what it computes?
        ~ factor * g => g / factor
            Here it is divided by factor. A factor of 0.25 has to make it smaller.
        > def damp(module, factor):
        >     for parameter in module.parameters():
        >         handle = parameter.register_hook(lambda g: factor * g)
        >     return handle
            The module's parameters are scaled, but what it sends on isn't.
    """,
)

EXERCISES = [FACTORS, COLLECT, LAST, PROPOSAL, DAMP]
