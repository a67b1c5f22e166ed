"""Check the exercises of lesson 07: what a legacy hook sees, and how to do without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import Choice, Hook, Numbers
from minigrad.classroom.execution import Belongings
from minigrad.classroom.exercises import Objection

from .models import SLinear, layer

Answer = Callable[..., Any]

FACTORS = Numbers(
    id="07.1",
    asks="two tuples of five factors: for a full hook on f0, and for a legacy hook on f0",
    right="A hook changes what comes after it in the pass, and f1 comes before both.",
    hints=(
        "The gradients of f1's parameters are finished before the pass comes to f0.",
        "Put one finger on f0's input and one on f0's output. Which leaves can you reach "
        "going down?",
    ),
    mistakes="""
        = ((2, 2, 2, 1, 1), (2, 1, 1, 1, 1))
            The first tuple is for the full hook, the second for the legacy hook. Yours are the
            other way round.
        = ((2, 2, 2, 1, 1), (2, 2, 2, 2, 2))
            Those are the factors for a hook on f1. Here it sits on f0, one module lower.
        = ((-0.2448, -0.1224, -0.4080, 1, 1), (2, 2, 2, 1, 1))
        ? any(factor < 0 for five in answer for factor in five)
            These are gradients. You are asked for factors: 1 where nothing changes.
        = ((2, 0, 0, 0, 0), (2, 2, 2, 0, 0))
        ? any(0 <= factor < 1 for five in answer for factor in five)
            A factor is the new gradient divided by the old one: 1 for what stays as it was, and
            more for what grows.
        = ((2, 1, 1, 1, 1), (4, 2, 2, 1, 1))
        ? any(factor > 2 for five in answer for factor in five)
            There is one hook, and it is called once in the pass. Nothing is doubled twice.
        = ((2, 2, 2, 1, 1), (2, 2, 2, 1, 1))
            Under the full hook you doubled f0's own parameters. Their paths branch off before the
            gradient leaves f0.
        = ((2, 1, 1, 1, 1), (2, 1, 1, 1, 1))
            Under the legacy hook you left f0's own parameters alone. Where in f0 is its last
            operation, above or below its parameters?
        = ((2, 1, 1, 2, 2), (2, 2, 2, 1, 1))
        ? any(factor != 1 for five in answer for factor in five[3:])
            You changed gradients of f1. The backward pass has left f1 before it meets a hook on f0.
        = ((2, 1, 1, 1, 1), (1, 1, 2, 1, 1))
            Under the legacy hook you changed the bias alone, as if the hook's one entry were the
            bias's. What the hook returns is divided up further down: follow all paths that lead on
            from f0's last operation.
        = ((1, 1, 1, 1, 1), (2, 2, 2, 1, 1))
        ? any(five[0] == 1 for five in answer)
            You left x alone. On its way to x the gradient passes f0, and with it the hook.
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
    right="One positional argument, one entry: grad_input[0] now means what it says.",
    hints=(
        "What is the first input of addmm, the last operation of Linear?",
        "No fixed index can save the old hook: the entries differ between the cases. "
        "Which hook has one entry for each argument?",
    ),
    mistakes=r"""
        ~ register_full_backward_hook => register_backward_hook
            For a batch, this collects the gradient of the bias: the old hook's entries belong to
            the last operation, and addmm takes the bias first.
        ~ register_full_backward_hook => register_backward_hook
        | grad_input[0] => grad_input[-1]
            The old hook again. Number, order and shape of its entries depend on how the layer was
            computed. Look for a hook whose entries don't.
        ~ grad_input[0] => grad_input[1]
        ! IndexError
            There is no entry with this index. How many the old hook has depends on how the layer
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
            The layer's input is used elsewhere too, and you collect what all uses send back. You
            are asked for what comes out of the layer.
        ~ found.append(grad_input[0]) => found.append(grad_input[0])\n        return grad_input[0]
        ~ found.append(grad_input[0]) => found.append(grad_input[0])\n        return (2 * grad_input[0],)
        ! invalid number
        ? not alike(seen[WENT_ON], right[WENT_ON])
            Your hook returns something, and that is taken for a new grad_input. Here it only has to
            collect.
        = lambda layer, found: nn.modules.module.register_module_full_backward_hook(lambda m, gi, go: found.append(gi[0]))
            This hook is called by every layer in the process. You are asked for the gradient of one
            layer.
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
            Nobody can take this hook off again: return the handle.
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
    right="That is all a legacy hook ever knew: what its one node sends on.",
    hints=(
        "The hook on a node is called with two tuples, grad_inputs first. Keep the first.",
        "Make an empty list, register a hook that appends to it, call out.backward(), and "
        "return what is in the list.",
    ),
    mistakes=r"""
        ~ seen.append(grad_input) => seen.append(grad_output)
            That is the gradient that arrives at the node, grad_output. You are asked for what it
            sends on.
        ~ out.grad_fn.register => out.grad_fn.next_functions[0][0].register
            That is one node too far: the last operation is out.grad_fn itself.
        ~ seen[0] => seen
        | out.backward() =>
        ? all(seen[name] == [] for name in RESULTS)
            The list is still empty when you return it: who starts the backward pass?
        ~ seen[0] => seen
            It returned a list of all calls. The hook is called once: take that one entry.
        ~ out.grad_fn.register_hook(lambda grad_input, grad_output: seen.append(grad_input)) => out.register_hook(seen.append)
            You hooked the tensor out. Such a hook sees one gradient, the one that arrives. A hook
            on the node sees what the node sends on.
        ~ seen[0] => seen[0][0]
            That is one entry. You are asked for the tuple, with an entry for each input of the
            operation.
        ~ seen.append(grad_input) => seen.append(tuple(0 * grad_output[0] if g is None else g for g in grad_input))
            A number has no gradient, and a legacy hook sees None there. You put zeros in its place.
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
            your hook return something, is there no pass, or a second one?
    """,
)

PROPOSAL = Choice(
    id="07.4",
    asks="your judgment of the colleague's proposal",
    right="A node of its own that serves this one call only: that is the identity node.",
    model="At x.grad_fn the gradients of all uses of x have been added up, and the module's "
    "own share can no longer be told from the rest.",
    hints=(
        "Draw two arrows that arrive at x.grad_fn: one from the module, one from elsewhere.",
        "Look at what the legacy hook on Probe reported, 6, and at where the 5 came from.",
    ),
    mistakes="""
        = "a"
            Take a network in which x goes into this module and into a second one as well. What
            arrives at x.grad_fn?
        = "c"
            The backward pass goes from the output to the input. So which of the two nodes runs
            first?
        = "d"
            It can: a hook on a node gets what leaves the node and what arrived at it.
    """,
)

# --- 07.5

FIVE = "on f1, with a hook that returns None, the list of all five gradients"
CALLS = "the number of calls in one backward pass"
PAIR = "on f1, the pair of grad_input and grad_output"
AGAIN = "in a second pass, with x = 0.7, the same pair"
KEPT = "what the hook was given when it doubled, looked at after the pass,"
TWICE = "the list of pairs of two passes over one graph, with an argument that is used elsewhere,"
ARGUMENT = "what has changed about this argument"


class _Pupil:
    """The hook that an answer has to call: notes its calls, and returns what it is told to."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.factor = 1

    def __call__(self, module: Any, grad_input: Any, grad_output: Any) -> Any:
        if not all(isinstance(each, tuple | list) for each in (grad_input, grad_output)):
            raise Objection(
                "Your hook was called with bare tensors. grad_input and grad_output are tuples, "
                "also with one entry."
            )
        self.calls.append((module, grad_input, grad_output))
        return None if self.factor == 1 else (self.factor * grad_input[0],)

    def pairs(self) -> list[Any]:
        """Give the pairs of grad_input and grad_output since the last time."""
        found, self.calls = [call[1:] for call in self.calls], []
        return found


def full_run(builder: Answer) -> dict[str, Any]:
    """Put a hook that was built by the learner to work, on four modules."""

    def forward(module: nn.Module, x: Any, pupil: _Pupil) -> Any:
        y = module(x)
        if pupil.calls:
            raise Objection("Your hook was called in the forward pass, with no gradients yet.")
        if not isinstance(y, Tensor):
            raise Objection(
                "With your hooks, the module returns no tensor. What a forward hook returns "
                "replaces the output: is it that of your hook on the tensor?"
            )
        return y

    def gradients(at: float = 0.3) -> list[Any]:
        net.zero_grad()
        leaves: list[Any] = [torch.tensor([at], requires_grad=True), *net.parameters()]
        ((forward(net, leaves[0], pupil) - 1) ** 2).backward()
        return [leaf.grad if leaf.grad is None else leaf.grad.item() for leaf in leaves]

    net, pupil = nn.Sequential(layer([[0.3]], [0.1]), SLinear()), _Pupil()
    builder(net[1], pupil)
    seen: dict[str, Any] = {FIVE: gradients(), CALLS: len(pupil.calls)}
    seen["whether the hook was given f1 as its module"] = all(c[0] is net[1] for c in pupil.calls)
    seen |= {PAIR: pupil.pairs(), "after that, with x = 0.7, the list": gradients(0.7)}
    seen[AGAIN] = pupil.pairs()
    pupil.factor = 2
    seen["on f1, with a hook that doubles, the list of all five gradients"] = gradients()
    seen[KEPT] = pupil.pairs()
    probe, pupil = nn.Identity(), _Pupil()
    builder(probe, pupil)
    product: Any = torch.tensor([3.0], requires_grad=True) * 2
    noted = Belongings([product])
    total = forward(probe, product, pupil) + 5 * product
    for start in (1.0, -3.0):
        total.backward(torch.tensor([start]), retain_graph=True)
    changes = noted.changes() - {"grad", "graph"}  # those of x, which comes before it
    seen |= {TWICE: pupil.pairs(), ARGUMENT: [*sorted(changes), product.retains_grad]}
    inner, outer = _Pupil(), _Pupil()
    model = nn.Sequential(layer([[0.8]], [-0.2]), nn.Tanh())
    builder(model[0], inner)
    builder(model, outer)
    batch = torch.tensor([[0.5], [-1.2], [0.9]], requires_grad=True)
    (forward(model, batch, outer) ** 2).sum().backward()
    return {
        **seen,
        "on a layer inside of a module that has a hook, the pair for a batch": inner.pairs(),
        "on a module with another hook inside, the pair for a batch": outer.pairs(),
    }


FULL = Hook(
    id="07.5",
    asks="full_hook(module, hook), which makes the module call hook as a full backward hook",
    scenario=full_run,
    without=(
        "register_full_backward_hook",
        "register_backward_hook",
        "register_module_full_backward_hook",
        "register_module_backward_hook",
        "BackwardHook",
    ),
    right="Two nodes of your own, one note in between: you have built the identity nodes.",
    hints=(
        "Before forward: lead the argument through view_as and hook the result. After "
        "forward: do the same with the output. Both of your functions return the view.",
        "The output's gradient comes first: put it in a list. The input's comes later: "
        "take it from there, and call the hook with both, each in a tuple.",
    ),
    mistakes=r"""
        = lambda module, hook: module.register_forward_hook(lambda m, args, y: y.grad_fn.register_hook(lambda gi, go: hook(m, gi, go)) and None)
            That is the old hook again: it sits on the module's last operation. What leaves the
            module is known only at its input.
        ~ x = args[0].view_as(args[0]) => x = args[0]
        ? alike(seen[TWICE][0][0], [[6.0]])
            Right as long as nobody else uses the argument. A hook on the argument itself sees the
            sum over all its uses: lead it through a node of your own.
        ~ (gradient,), waiting.pop() => waiting.pop(), (gradient,)
            grad_input and grad_output have changed places: what arrives at the output is
            grad_output.
        ~ args[0].view_as(args[0]) => args[0].detach().requires_grad_()
        ? None in seen[FIVE]
            Nothing gets past the module: a detached argument cuts the way. A view keeps it.
        ~ return (x,) => return None
        ? seen[CALLS] == 0
            A pre-hook's or forward hook's result replaces the argument or the output. If it returns
            None, your view isn't used, and the hook on it never runs.
        ~ waiting.pop() => waiting[0]
        ? alike(seen[AGAIN][0][1], seen[PAIR][0][1])
        ? alike(seen[TWICE], [[[[1.0]], [[1.0]]], [[[-3.0]], [[1.0]]]])
            In a second backward pass the hook was given a grad_output of the first one. Note what
            arrives in each pass, and take it away in the same pass.
        ~ x.register_hook(leave) => args[0].retain_grad()\n        x.register_hook(leave)
        ? seen[ARGUMENT] != [False]
            The module's argument isn't as it was. Lead it through a view, and leave the tensor
            itself alone: others have it, too.
        ~ else returned[0] => else gradient.copy_(returned[0])
        ? alike(seen[KEPT][0][0], 2 * seen[PAIR][0][0][0])
            You wrote into the gradient that you were given, and others may hold the same tensor.
            Return a new one instead.
        ~ return None if returned => None if returned
            What the hook returns goes nowhere: a hook on a tensor has to return the replacement.
        ~ else returned[0] => else returned
        ! returned 'tuple'
            The hook's answer is a tuple, or None. A tensor's hook has to return a tensor: take it
            out of the tuple.
        ~ return None if returned is None else returned[0] => return returned[0]
        ! 'NoneType' object is not
            A hook that only watches returns None. Ask for that before you take an entry of what it
            returned.
        ~ y = y.view_as(y) => pass
        ! pop from empty, KeyError, IndexError, UnboundLocalError
            When the hook at the input ran, the one at the output had noted nothing yet. A module
            like Probe returns its input: then both sit on one tensor, unless the output goes
            through a node of its own as well.
    """,
)

EXERCISES = [FACTORS, COLLECT, LAST, PROPOSAL, FULL]
