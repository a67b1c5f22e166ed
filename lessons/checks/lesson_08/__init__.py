"""Check the exercises of lesson 08, on global hooks: each answer runs on a clean slate."""

from __future__ import annotations

from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Choice, Mistake, Number, Order

from .blame import BLAME
from .runs import (
    CALLED,
    ERROR_LEFT,
    FLOW_LEFT,
    FLOW_OTHERS,
    LAYERS,
    NO_GRAD,
    OTHER,
    ROWS,
    flow,
    flow_run,
    names_in,
    rounded_off,
)
from .scale import SCALED
from .slate import count_calls, is_layer, letters

EXERCISES = [
    Order(
        id="08.1",
        asks='the letters that are noted, in order, as one text such as "ABC"',
        expected=letters,
        right="Brackets: the Sequential opens first and closes last, and global comes before own.",
        hints=(
            "Two modules are called, and B and D are meant for every module. In the forward pass, "
            "which of the two is done first?",
            "Write down the forward pass: the hooks of the Tanh, then those of the Sequential. "
            "Then the backward pass: who opens, what does the Tanh do in between, who closes?",
        ),
        mistakes=[
            Mistake(
                "The last line runs the backward pass as well, and three of the hooks belong to "
                "that.",
                when=lambda found: not {"C", "D", "E"} & {*found},
            ),
            Mistake(
                "B and D are registered before the model is called, and meant for every module.",
                when=lambda found: not {"B", "D"} & {*found},
            ),
            Mistake(
                "A, C and E belong to one module each, and it is called once.",
                when=lambda found: any(found.count(letter) > 1 for letter in "ACE"),
            ),
            Mistake(
                "Two modules are called, and no more: sum() and backward() are none, and call no "
                "hook of a module.",
                when=lambda found: found.count("B") > 2 or found.count("D") > 2,
            ),
            Mistake(
                "Each of the five hooks is called at least once.",
                when=lambda found: not {*"ABCDE"} <= {*found},
            ),
            Mistake(
                "A global hook is called by every module. B and D belong to the Tanh's call, and "
                "to the Sequential's.",
                when=lambda found: found.count("B") < 2 or found.count("D") < 2,
            ),
            Mistake(
                "Global hooks come before the module's own, whatever was registered first. "
                "prepend puts C in front of the Tanh's own hooks, and there are no others.",
                when=lambda found: (
                    found.index("A") < found.index("B") or found.index("C") < found.index("D")
                ),
            ),
            Mistake(
                "The forward pass comes first, and all of it: A and B are noted before any "
                "gradient flows.",
                when=lambda found: {*found[:3]} != {"A", "B"},
            ),
            Mistake(
                "A container's forward hook is called when the container is done, after the layer "
                "inside of it.",
                when=lambda found: found[:3] == ["B", "B", "A"],
            ),
            Mistake(
                "E is a pre-hook of the Sequential: it is called where the gradient enters, before "
                "anything inside.",
                when=lambda found: found.index("E") != 3,
            ),
            Mistake(
                "The Sequential's full hook waits for the gradient that leaves the Sequential: "
                "that is when the Tanh is done.",
                when=lambda found: found[-1] != "D",
            ),
        ],
    ),
    Number(
        id="08.2",
        asks="how often the line calls a global forward hook",
        expected=count_calls,
        right="Calls are counted, not modules: the cell three times, and the list of layers never.",
        hints=(
            "Go through the line as Python does, and make a mark for each module that is called. "
            "Is a ModuleList ever called? Is the loss a module?",
            "The Encoder's loop calls two modules in each of its rounds. Then come the Encoder "
            "itself, the small Sequential with its layers, the large one, and the loss.",
        ),
        mistakes=[
            Mistake(
                "Those are the modules of the model. Calls are asked for: how often is the cell "
                "called, is the ModuleList called, and what about the loss?",
                value=lambda: count_calls() - 2,
            ),
            Mistake(
                "One too few. Is every container counted, and the loss, which is a module as well?",
                value=lambda: count_calls() - 1,
            ),
            Mistake(
                "One too many. A ModuleList holds layers and is never called: it has no forward.",
                value=lambda: count_calls() + 1,
            ),
            Mistake(
                "Only the layers that compute something. Containers are modules as well, and "
                "call the hook when they are done.",
                value=lambda: count_calls(is_layer),
            ),
            Mistake(
                "Containers are missing, and so is the loss, which is a module.",
                value=lambda: count_calls(is_layer) - 1,
            ),
            Mistake(
                "Each call counts once: a forward hook is not called in the backward pass.",
                value=lambda: 2 * count_calls(),
            ),
            Mistake(
                "Only what the line itself calls. What is called inside of a module calls the "
                "hook as well.",
                when=lambda count: 0 < count <= 2,
            ),
            Mistake(
                "Too few. Follow the line as Python runs it: each round of the loop calls two "
                "modules, and every container that is called counts as well.",
                when=lambda count: 0 <= count < count_calls(),
            ),
            Mistake(
                "Too many. Follow the line as Python runs it, and count only what is called.",
                when=lambda count: count > count_calls(),
            ),
        ],
    ),
    BLAME,
    Hook(
        id="08.4",
        asks="gradient_flow(model, data, cotangent), which returns a dict from the name of each "
        "module to the norms of its grad_input[0] and grad_output[0]",
        scenario=flow_run,
        reference=flow(),
        right="Four mends: names for classes, a call for forward, None for None, and an end.",
        hints=(
            "What is the key of two Linear layers? What does model.forward leave out? What has no "
            "norm? And who removes the hook, also after an error?",
            "names = {module: name for name, module in model.named_modules()} gives the keys. Call "
            "model(data) in a with block, and write None where a gradient is None.",
        ),
        mistakes=[
            Mistake(
                "Return what the hook has noted.",
                trouble=("has to return a dict",),
            ),
            Mistake(
                "The keys are names of classes, so layers of one kind overwrite one another. "
                "Use the names of named_modules().",
                when=lambda found: "Linear" in names_in(found[ROWS]),
            ),
            Mistake(
                "The hook noted nothing. It has to be there before the model is called, since the "
                "gates are built in the forward pass.",
                when=lambda found: found[ROWS].result == [],
            ),
            Mistake(
                "All modules write under one name. Hooks that are made in a loop share its "
                "variable, and see the value that it has in the end.",
                when=lambda found: names_in(found[ROWS]) == ["spare"],
            ),
            Mistake(
                "The model itself is missing. Hooks are run by the call model(data), and forward "
                "is what the call runs inside.",
                when=lambda found: names_in(found[ROWS]) == CALLED[1:],
            ),
            Mistake(
                "Containers are missing, and the model with them. They are modules as well, and "
                "each call of one is asked for.",
                when=lambda found: names_in(found[ROWS]) == LAYERS,
            ),
            Mistake(
                "Layers deeper inside are missing: named_modules() goes all the way down, "
                "named_children() one level.",
                when=lambda found: (
                    found[ROWS].result != [] and not any("." in n for n in names_in(found[ROWS]))
                ),
            ),
            Mistake(
                "It keeps the entries of an earlier call: the other model has other modules. Start "
                "with an empty dict each time.",
                when=lambda found: (
                    {"", "only"} < {*names_in(found[OTHER])} or "only" in names_in(found[ROWS])
                ),
            ),
            Mistake(
                "A module that was never called has an entry. Note what the hook is told, and no "
                "more.",
                when=lambda found: "spare" in names_in(found[ROWS]),
            ),
            Mistake(
                "The model itself has the name '' in named_modules(): take that for its key.",
                when=lambda found: (
                    len(found[ROWS].result) == len(CALLED) and "" not in names_in(found[ROWS])
                ),
            ),
            Mistake(
                "For data that need no gradient, entries are missing. A module whose grad_input is "
                "None was called all the same: note the None.",
                when=lambda found: (
                    names_in(found[ROWS]) == CALLED
                    and {*names_in(found[NO_GRAD])} < {*names_in(found[ROWS])}
                ),
            ),
            Mistake(
                "It stumbled over a None. Where data need no gradient there is no grad_input, and "
                "a norm cannot be taken of nothing.",
                trouble=("NoneType",),
            ),
            Mistake(
                "`if g:` asks a tensor whether it is true. You want to know whether there is one: "
                "`if g is not None`.",
                trouble=("ambiguous",),
            ),
            Mistake(
                "What your hook returns is taken for a new grad_input: setdefault, for one, "
                "returns something. Here the hook only has to note, and to return None.",
                trouble=("invalid number", "None for all gradients"),
            ),
            Mistake(
                "A gradient that is None was noted as 0. That reads as if it had vanished: keep "
                "the None.",
                when=lambda found: any(value == 0 for row in found[1].result for value in row[1:]),
            ),
            Mistake(
                "Where the data need no gradient, there are norms and should be None: the pass ran "
                "on data that were made to need one. Take the data as they are.",
                when=lambda found: None not in [v for row in found[1].result for v in row],
            ),
            Mistake(
                "The two norms have changed places: grad_input first.",
                like=flow(swapped=True),
            ),
            Mistake(
                "The pass has to start from the cotangent. Yours starts from ones.",
                like=flow(ones=True),
            ),
            Mistake(
                "That is the largest entry. The norm is the root of the sum of the squares.",
                like=flow(measure=lambda g: g.abs().max().item()),
            ),
            Mistake(
                "That is the sum of the squares. The norm is its root.",
                like=flow(measure=lambda g: (g * g).sum().item()),
            ),
            Mistake(
                "That is the sum of the sizes. The norm is the root of the sum of the squares.",
                like=flow(measure=lambda g: g.abs().sum().item()),
            ),
            Mistake(
                "The norms are right, and the hook is still there, for every module to come. "
                "Remove it.",
                when=lambda found: found[FLOW_LEFT].result > 0,
            ),
            Mistake(
                "Hooks that somebody else had registered are gone. Remove your own by its handle, "
                "and leave the table alone.",
                when=lambda found: found[FLOW_OTHERS].result is False,
            ),
            Mistake(
                "The hook goes when all is well, and stays when the model raises: remove() was "
                "never reached. A with block or a finally is.",
                when=lambda found: found[ERROR_LEFT].result > 0,
            ),
            Mistake(
                "The norms are rounded. Keep all digits: whoever reads them can round.",
                when=rounded_off,
            ),
            Mistake(
                "A module of this model is not in the dictionary that you ask. Make one from the "
                "model that you are given.",
                trouble=("KeyError",),
            ),
        ],
    ),
    Choice(
        id="08.5",
        asks="how the library should watch the model that is trained",
        option="b",
        right="The narrowest hook that answers the question is the right one.",
        why_not={
            "a": "Then every call of every module in the process pays, and asks, from the import "
            "on, in programs too that never train.",
            "c": "It is tidy in time. But who else calls modules while the block is open, say in "
            "the other thread?",
            "d": "A NaN in the forward pass is in the values; and whom does a global hook reach?",
        },
        model="A global hook is called by every module in the process, also by those of the model "
        "in the other thread. Hooks on model.modules() are called by the model that is trained, "
        "and by nobody else.",
        hints=(
            "For each way: whose modules call the hook, and from when to when?",
            "Two models are trained side by side, and one of them is not meant. Which way can tell "
            "them apart without asking?",
        ),
    ),
    SCALED,
]
