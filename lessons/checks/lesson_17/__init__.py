"""Check the checkpoints of lesson 17, the capstone: an autograd of one's own."""

from __future__ import annotations

from .engines import ENGINE, ENGINE_TROUBLES, HOOK_TROUBLES, HOOKS
from .kinds import Checkpoint, FunctionCheckpoint, mine, whose
from .modules import MODULE, MODULE_HOOKS
from .reference import mine as reference_to
from .shapes import MISTAKES, inputs
from .showing import beside_the_heart, own_lines, picture
from .values import RECORDED, VALUE

__all__ = ["EXERCISES", "beside_the_heart", "mine", "own_lines", "picture", "whose"]

EXERCISES = [
    Checkpoint(
        id="17.1",
        asks="Value, a class of numbers with +, * and backward()",
        probes=VALUE,
        methods={
            "__add__": "x + y",
            "__mul__": "x * y",
            "__radd__": "1 + x",
            "__rmul__": "2 * x",
            "backward": "x.backward()",
        },
        programs="scalars",
        right="150 random graphs agree with minigrad. What follows is the same idea with more in "
        "each number.",
        hints=(
            "A Value keeps pairs: an input, and the slope with respect to it. A sum has slopes 1 "
            "and 1; what are those of a product? backward needs an order in which each value comes "
            "before its inputs: visit the inputs first, then note the value, and read that list "
            "from its end.",
            "backward in four steps: list all values below this one, inputs before users; make a "
            "dict of what arrives in this pass, 1 for yourself and 0 for the others; go through "
            "the list from its end, and for each pair of a value add slope times what arrived at "
            "the value to what arrives at the input; add what arrived to each grad.",
        ),
    ),
    Checkpoint(
        id="17.2",
        asks="Recorded, a class of arrays whose operations note their inputs and a rule",
        probes=RECORDED,
        methods={
            "result": "result(data, inputs, rule)",
            "__add__": "a + b",
            "__radd__": "1 + a",
            "__mul__": "a * b",
            "__rmul__": "2 * a",
            "__sub__": "a - b",
            "__rsub__": "1 - a",
            "__neg__": "-a",
            "__pow__": "a ** n",
            "__matmul__": "a @ b",
            "sum": "a.sum()",
            "tanh": "a.tanh()",
            "relu": "a.relu()",
        },
        right="Every rule agrees with minigrad's. From here on nobody has to derive anything.",
        hints=(
            "Write result first, then a + b, and copy its form: compute with .data, name the "
            "inputs, and write the rule as a function of g that gives a tuple. A number becomes a "
            "Recorded first. Subtraction can be a sum with -1 times the other.",
            "The rules: a product gives each factor g times the other; n * x ** (n - 1) for a "
            "power; 1 - y ** 2 for tanh, with the result y; for a product of matrices look at the "
            "shapes; and for a sum g has to be spread over the input's shape, with "
            "np.expand_dims(g, axis) before it where the axis is gone.",
        ),
    ),
    FunctionCheckpoint(
        id="17.3",
        asks="unbroadcast(gradient, shape), which sums a gradient down to the shape of an input",
        inputs=inputs,
        reference=reference_to("17.3"),
        right="The sum over all copies, by shapes alone. One function, and everything broadcasts.",
        hints=(
            "Line the two shapes up from the right. Which axes of the gradient have nothing below "
            "them, and where does the shape have a 1?",
            "Collect the axes in a tuple: the first gradient.ndim - len(shape) ones, and of the "
            "others those where the shape says 1, counted from the gradient's left. Sum over them "
            "with keepdims=True, and reshape at the end.",
        ),
        mistakes=MISTAKES,
    ),
    Checkpoint(
        id="17.4",
        asks="Differentiable, a class on top of Broadcasting with complete(gradient) and "
        "backward(gradient=None)",
        probes=ENGINE,
        mistakes=ENGINE_TROUBLES,
        methods={"complete": "complete(gradient)", "backward": "backward()"},
        base=(
            "The class has no operations: build it on Broadcasting, as in "
            "class Differentiable(Broadcasting).",
            "result",
        ),
        programs="graphs",
        right="Ten thousand operations, forty diamonds and 150 random programs: it is an engine.",
        hints=(
            "Two walks. The first counts, with a list of tensors still to be looked at, how many "
            "edges lead to each tensor from this root. The second keeps what has arrived in a dict "
            "and the ready tensors on a heap.",
            "The second walk: take a ready tensor, hand what arrived to complete, hand what that "
            "gives to the rule, and for each input and its part: add the part to what has arrived "
            "(out of place), take one off the count, and at zero push it. On the heap a triple "
            "sorts by itself: (bool(t.inputs), -t.number, t).",
        ),
    ),
    Checkpoint(
        id="17.5",
        asks="Hookable, a class on top of yours with register_hook(hook)",
        probes=HOOKS,
        mistakes=HOOK_TROUBLES,
        methods={"register_hook": "register_hook(hook)", "complete": "complete(gradient)"},
        base=(
            "The class cannot run backward: build it on what the last checkpoint gave, as in "
            'class Hookable(mine("17.4")).',
            "backward",
        ),
        programs="hooks",
        right="Called once, with the sum, before .grad: 150 random programs call the same hooks "
        "with the same gradients as minigrad.",
        hints=(
            "complete gets exactly what a hook is to see. What has to happen before the complete "
            "of the class below, and what has to be handed to it?",
            "A dict in __init__, from a number to a hook; a handle that knows the dict and its "
            "number, and pops it; and in complete a loop over list(self.hooks.values()), in which "
            "an answer other than None becomes the gradient.",
        ),
    ),
    Checkpoint(
        id="17.6",
        asks="Module, with __call__, named_parameters and two kinds of forward hooks",
        probes=MODULE,
        methods={
            "__call__": "module(x)",
            "named_parameters": "named_parameters()",
            "register_forward_pre_hook": "register_forward_pre_hook(hook)",
            "register_forward_hook": "register_forward_hook(hook)",
        },
        right="A module is a function that knows its parameters and lets others look.",
        hints=(
            "vars(self) is the dict of all attributes, in the order in which they were assigned. "
            "For the order that is asked for, go through it twice: once for tensors, once for "
            "modules, each of which can list its own. And __call__ has three parts.",
            "To list each tensor once: a dict from tensor to name, filled with setdefault, and "
            "turned around in the end. __call__: a loop in which a pre-hook may replace args (a "
            "tensor alone becomes a tuple), self.forward(*args), and a loop in which a hook may "
            "replace the result.",
        ),
    ),
    Checkpoint(
        id="17.7",
        asks="HookedModule, a class on top of yours with full and legacy backward hooks",
        probes=MODULE_HOOKS,
        methods={
            "register_full_backward_hook": "register_full_backward_hook(hook)",
            "register_backward_hook": "register_backward_hook(hook)",
        },
        base=(
            "The class has no forward hooks: build it on what the last checkpoint gave, as in "
            'class HookedModule(mine("17.6")).',
            "register_forward_hook",
        ),
        right="The worked example of this course, from your own file: -0.40796 where the full hook "
        "sits, and -1.0199 where the old one did.",
        hints=(
            "An identity is x.result(x.data, (x,), lambda g: (g,)). Lead the argument through one "
            "before super().__call__, and the result through another behind it; each has a "
            "register_hook. For the legacy kind: what is result.rule, and what if another function "
            "stood there that calls it?",
            "The hook at the result comes first: it keeps its gradient in a list of this call. The "
            "one at the argument then has both, calls the module's hooks, and gives back the entry "
            "of the tuple. If the argument requires no gradient, the hook at the result calls them "
            "with None. The legacy rule calls the old rule, then the hooks with tuple(parts) and "
            "(g,).",
        ),
    ),
]
