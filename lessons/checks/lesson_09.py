"""Check the exercises of lesson 09: new reports to answer, tools to write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import Choice, Hook, Numbers, Order
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import describe

from .models import layer

Answer = Callable[..., Any]

THREE = Numbers(
    id="09.1",
    asks="a tuple of three: the value of gradient, what x.grad is, and how many lines are printed",
    right="Nothing is broken: grad runs the tensor's hooks, returns its result, and "
    "accumulates nothing.",
    hints=(
        "What does each hook belong to: the tensor's gradient, or its accumulation into .grad?",
        "Take the slope of x**3 at 2, then the tensor hook. And does grad put its result into "
        ".grad, or return it?",
    ),
    mistakes="""
        = (None, 120, 0)
        ? {*answer} == {120, None, 0}
            The values are right, in another order: gradient, x.grad, and the number of lines.
        = (12, None, 0)
            That was true until 2022. Today a tensor hook runs under grad as well, and you get what
            it returns: look at case 4 again.
        = (120, 120, 1)
        = (12, 12, 1)
        ? answer[1] is not None and float(answer[1]) != 0
            You answered for backward(). What does grad do with a leaf's .grad? (And a tensor hook
            runs under grad as well.)
        = (120, 0, 0)
        ? answer[1] is not None
            An empty .grad is None, neither zero nor False, because nothing was ever put there.
        = (120, None, 1)
        ? answer[2] != 0
            The line is printed when something was accumulated. Was anything?
        = (80, None, 0)
            You multiplied the value of x**3. The hook is given the gradient, its slope.
        = (40, None, 0)
            The slope of a power has the exponent as a factor: look at x**3 again.
        = (1200, None, 0)
        ? answer[1:] == (None, 0)
            Work out the slope of x**3 at x = 2 first, then apply the hook, once.
    """,
)

UNCALLED = Choice(
    id="09.2",
    asks="why the hook is not called",
    right="Before you hook a module, make sure that it gets called.",
    model="Calling a module builds its gates and runs its hooks. The attention passes the weight "
    "of out_proj to a function and never calls out_proj, so no gate was ever built.",
    hints=(
        "Who builds the gates, and when? Lesson 06 says it.",
        "Register a forward hook on out_proj, and one on the attention. Which of them is called?",
    ),
    mistakes="""
        = "a"
            That doesn't stop a hook: all inputs of a call share one gate. And which module did you
            hook?
        = "b"
            The hook isn't on the attention. And a pair would have a gate: look at case 7.
        = "d"
            A hook has to be registered before the module is called. Read the lines from top to
            bottom: is it?
    """,
)

# --- 09.3

WEIGHTS = "the list of gradients of a layer that comes before"
KINDS = "the list of the kinds of what was found"


def watchers_run(watcher: Answer) -> dict[str, Any]:
    """Let a watcher collect at modules of several kinds, and after its removal."""
    rows, data = [[1.0, 0.5], [0.25, 3.0]], torch.tensor([[1.0, -2.0], [0.5, 1.5]])
    seen, weights, kinds = dict[str, Any](), list[Any](), list[str]()

    def plain() -> Any:
        return layer(rows, [0.0, 0.0])

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for words, watched, after, training in (
            ("before an in-place ReLU", plain(), nn.ReLU(inplace=True), True),
            ("in eval mode", plain(), nn.Tanh(), False),
            ("at an activation", nn.Tanh(), nn.Tanh(), True),
            ("at a module with two layers", nn.Sequential(plain(), nn.Tanh()), nn.Tanh(), True),
            ("at a module that returns its input", nn.Identity(), nn.ReLU(inplace=True), True),
        ):
            first, found = layer([[0.5, -1.0], [0.75, 0.5]], [0.0, 0.0]), list[Any]()
            model: Any = nn.Sequential(first, watched, after).train(training)
            handle = watcher(watched, found)
            if isinstance(handle, list | tuple | dict | set) or not hasattr(handle, "remove"):
                raise Objection(
                    f"It returned {describe(handle)}. You are asked for a handle: one object whose "
                    "method remove() ends the watching."
                )
            for factor in (5, 2):
                (factor * model(data)).sum().backward()
            seen[f"{words}, what was found in two passes"] = [*found]
            weights.append(first.weight.grad)
            kinds += ["tensor" if isinstance(g, Tensor) else type(g).__name__ for g in found]
            handle.remove()
            model(data).sum().backward()
            seen[f"{words}, with the handle removed, the number of gradients found"] = len(found)
    deprecated = [each for each in told if issubclass(each.category, FutureWarning)]
    return {**seen, WEIGHTS: weights, KINDS: kinds, "the number of warnings": len(deprecated)}


WATCH = Hook(
    id="09.3",
    asks="watch_output(module, found), which makes each backward pass append the gradient "
    "with respect to the module's output to found, and returns a handle",
    scenario=watchers_run,
    right="No gate and no view, so the output may even be changed in place.",
    hints=(
        "Which kind of hook is called with the module's output, before any other module gets it?",
        "In a forward hook, register a tensor hook on the output. The handle to return is "
        "the forward hook's.",
    ),
    mistakes="""
        = lambda module, found: module.register_full_backward_hook(lambda m, gi, go: found.append(go[0]))
        ! is a view
            A full hook builds a gate, and what leaves the gate is a view, which the ReLU may not
            overwrite: this is case 9 itself. Use a hook that builds no node.
        = lambda module, found: module.register_backward_hook(lambda m, gi, go: found.append(go[0]))
            The right numbers, but from a deprecated hook, which warns. And for a module that returns
            its input it hooks the wrong node.
        = lambda module, found: module.register_backward_hook(lambda m, gi, go: found.append(gi[0]))
        = lambda module, found: module.register_forward_hook(lambda m, a, y: y.grad_fn.register_hook(lambda gi, go: found.append(gi[0])) and None)
            That's the gradient that leaves the module's last operation. You are asked for the one
            that arrives at the output.
        ~ y.register_hook( => y.register_post_accumulate_grad_hook(
        ! non-leaf
            That hook is for leaves, such as parameters. An output was made by an operation. Which
            hook works on any tensor?
        ~ y.register_hook( => return y.register_hook(
        ! RemovableHandle
            A forward hook's result replaces the module's output. Register the tensor hook, and
            return nothing from the forward hook.
        ~ y.register_hook(lambda gradient: found.append(gradient)) => found.append(y)
            You collected the output itself. Its gradient is known only in the backward pass, so
            you need a hook on the tensor.
        ~ y.register_hook(lambda gradient: found.append(gradient)) => found.append(y.grad.clone())
        ~ y.register_hook(lambda gradient: found.append(gradient)) => found.append(y.grad)
        ! NoneType
        ? "NoneType" in seen[KINDS]
            A forward hook runs in the forward pass, where no gradient exists: .grad is None there.
            What can you register on the tensor, to be called in the backward pass?
        ~ found.append(gradient)) => found.append(gradient) or gradient / 2)
        ? not alike(seen[WEIGHTS], right[WEIGHTS])
        ! leaf Variable
            With your hook the model fails, or its gradients come out differently. A hook that only
            watches doesn't replace or detach anything.
        ~ found.append(gradient) => None if found else found.append(gradient)
        ~ found.append(gradient) => found.__setitem__(slice(None), [gradient])
            Only one of two passes is in the list. Each has to add its gradient.
        ~ y.register_hook => args[0].register_hook
            That is the gradient with respect to the module's input. You are asked for that of its
            output.
        ~ found.append(gradient) => None
        ? seen[KINDS] == []
            Nothing was ever found. Is the tensor hook registered on the output, and does it append
            to the list that it was given?
    """,
)

ORDER = Order(
    id="09.4",
    asks="the order in which the six hooks run",
    right="B has an input gate, because A's weight comes before it. A has none.",
    hints=(
        "Which of the two layers gets an input that requires a gradient?",
        "A layer without an input gate is left as soon as it is entered. When is its weight's turn?",
    ),
    mistakes="""
        = ["enter B", "weight B", "leave B", "enter A", "weight A", "leave A"]
            You have A nested like B. But A gets plain data: does it have a gate at its input?
        = ["enter B", "leave B", "weight B", "enter A", "leave A", "weight A"]
            You leave B at once. Its input depends on A's weight, so it requires a gradient: there
            is a gate at which the hook waits.
        = ["enter B", "leave B", "weight B", "enter A", "weight A", "leave A"]
            You swapped the two: one is left at once, and one waits for a gate at its input.
            Which of them gets plain data?
        = ["enter B", "weight B", "leave B", "enter A", "leave A", "leave A"]
        ? len({*answer}) < len(answer) and answer[0] != "enter"
            Each of the six runs once. One of yours appears twice.
        = ["enter", "weight", "leave", "enter", "leave", "weight"]
        ? {"enter", "leave", "weight"} >= {*answer}
            Of which layer? Write the names in full, as they are given.
        = ["enter A", "leave A", "weight A", "enter B", "leave B", "weight B"]
        ? answer[0].endswith("A")
            That is the order of the forward pass. The backward pass starts at B.
        = ["enter B", "weight B", "enter A", "weight A", "leave A", "leave B"]
        ? answer.index("leave B") > answer.index("enter A")
            A isn't inside B: the gradient reaches A after it has left B at B's input.
        = ["weight B", "enter B", "leave B", "enter A", "leave A", "weight A"]
        ? any(answer.index(f"weight {n}") < answer.index(f"enter {n}") for n in "AB")
            A weight is inside its layer, and the gradient enters at the output: which hook does it
            meet first?
        = ["enter B", "leave B", "enter A", "leave A", "weight B", "weight A"]
        ? answer.index("leave B") < answer.index("weight B")
            B's weight belongs to B's own multiplication, so it comes before the gate at B's input:
            look at the picture on the right in case 10, and at the text below it.
    """,
)

# --- 09.5


class Scaled(nn.Module):
    """Parameters of which neither the first nor the last that is registered is ready last."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.shift, self.gain = (
            nn.Parameter(torch.tensor(each)) for each in ([2.0, -1.0], [0.5, 1.0], [0.75, 3.0])
        )

    def forward(self, x: Tensor) -> Any:
        """Shift what comes, and scale the result twice."""
        return self.scale * (self.gain * (x + self.shift))


class _Calls(list[Any]):
    """A hook that notes which gradients its module has, asked for with a builder."""

    def __init__(self, module: Any, builder: Answer) -> None:
        super().__init__()
        self.module, self.forward = module, True
        builder(module, self)

    def __call__(self, module: Any) -> None:
        if module is not self.module:
            raise Objection(
                f"Your hook was called with {describe(module)}. You are asked for hook(module): it "
                "is given the module."
            )
        if self.forward:
            raise Objection(
                "The hook was called before the backward pass, where no gradient is known yet. "
                "Register something that calls it in the backward pass."
            )
        gradients = [p.grad for p in self.module.parameters()]
        self.append([None if g is None else g.tolist() for g in gradients])

    def in_a_pass(self, inputs: Any) -> list[Any]:
        """Run one pass, and give what was seen in it."""
        self.clear()
        self.forward = True
        result = self.module(inputs)
        self.forward = False
        (3 * result).sum().backward()
        return [*self]


KINDS_OF_MODULES = (
    "plain data",
    "data that require a gradient",
    "one parameter",
    "three parameters",
    "a frozen weight between other layers",
)
CASES = [
    f"with {words}, the list of gradients seen by the calls of three passes, the last after "
    "zero_grad,"
    for words in KINDS_OF_MODULES
]
NESTED = "with a model and its first layer both watched, in two passes, the list of calls"


def ready_run(builder: Answer) -> dict[str, Any]:
    """Put a `when_ready` to work: kinds of data and modules, passes, and two at a time."""
    data, more = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.5, -0.5]], requires_grad=True)
    one, inner = nn.Linear(2, 1, bias=False), layer([[1.0, -0.5], [0.25, 2.0]], [0.5, 0.5])
    with torch.no_grad():
        one.weight.copy_(torch.tensor([[2.0, 0.5]]))
    frozen = nn.Sequential(Scaled(), layer([[1.0, 0.5], [2.0, -1.0]], [0.5, 0.5]), Scaled())
    frozen[1].weight.requires_grad_(False)
    modules = [layer([[0.5, -1.0]], [0.25]), layer([[0.5, -1.0]], [0.25]), one, Scaled(), frozen]
    seen: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # full hooks without an input gate
        for name, module in zip(CASES, modules, strict=True):
            calls = _Calls(module, builder)
            inputs = more if module is modules[1] else data
            seen[name] = [calls.in_a_pass(inputs), calls.in_a_pass(inputs)]
            module.zero_grad()
            seen[name].append(calls.in_a_pass(inputs))
        outer: Any = nn.Sequential(inner, layer([[2.0, 0.75]], [0.0]))
        both = [_Calls(module, builder) for module in (outer, inner)]
        for each in both:
            each.forward = False
        for _ in range(2):
            outer(data).sum().backward()
    return {**seen, NESTED: [len(calls) for calls in both]}


READY = Hook(
    id="09.5",
    asks="when_ready(module, hook), which calls hook(module) once in each backward pass, when "
    "all parameters that require a gradient have it in .grad",
    scenario=ready_run,
    right="This is how large frameworks know when to send off a layer's gradients.",
    hints=(
        "Each parameter can tell that its own gradient is complete. Let them all tell, and count.",
        "Register one counting function as a post-accumulate hook on each parameter that "
        "requires a gradient. When the last has come, start the count again, and call hook.",
    ),
    mistakes="""
        = lambda module, hook: module.register_full_backward_hook(lambda m, *_: hook(m))
            That is case 10 itself: with plain data a full hook runs before any parameter has its
            gradient.
        ~ register_post_accumulate_grad_hook => register_hook
            When your hook runs, every gradient has been computed, and the last of them isn't in
            .grad yet. Which hook on a parameter comes after that?
        = lambda module, hook: module.register_forward_hook(lambda m, x, y: y.register_hook(lambda g: hook(m)) and None)
            The gradient of the output comes before those of the parameters. How can you notice that
            the last of them has arrived?
        ~ len(arrived) == len(waiting) => True
            It is called once for each parameter. You are asked for one call, when the last has
            come.
        ~ if p.requires_grad] => if p.requires_grad][:1]
        ~ if p.requires_grad] => if p.requires_grad][-1:]
        ~ == len(waiting): => == 2:
        ~ == len(waiting) => == len(waiting) - 1
        ~ in module.parameters() => in module.parameters(recurse=False)
            You wait for one parameter, for two, or not for those of the modules inside. There can
            be any number of them, in any order.
        ~ arrived.clear() => pass
        ~ arrived.clear() => pass
        | == len(waiting) => >= len(waiting)
            It works in the first pass only. Start the count again when it is full.
        ~ len(arrived) == len(waiting) => all(p.grad is not None for p in waiting)
            That a .grad is there doesn't mean that it is new: it may be left from the pass before.
            Count what comes.
        ~ if p.requires_grad] => ]
        ! doesn't require gradient
            A frozen parameter takes no hook, and never gets a gradient: leave it out, also when you
            count.
        ~ == len(waiting) => == len([*module.parameters()])
            You wait for the frozen parameter too, and its gradient never comes: leave it out when
            you count.
        ~ (module, hook): => (module, hook, arrived=[]):
        | arrived = [] => pass
            It works for one module. Two that share parameters disturb each other: what do you keep
            in one place for all of them? (A default such as done=[] is made only once.)
        ~ parameter.register_post_accumulate_grad_hook(count) => pass
        ? all(seen[name] == [[], [], []] for name in CASES)
            Nothing calls it in the backward pass. Is your hook registered on the parameters?
        ~ arrived.append(parameter) => arrived += [] if parameter in arrived else [parameter]
        | def count(parameter): => def count(parameter, arrived=arrived):
        ! ambiguous
            Comparing tensors gives a tensor of truth values, and list.remove() and `in` compare.
            Keep names, numbers or a set.
    """,
)

EXERCISES = [THREE, UNCALLED, WATCH, ORDER, READY]
