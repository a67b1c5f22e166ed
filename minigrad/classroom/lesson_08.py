"""Check the exercises of lesson 08, on global hooks: each answer runs on a clean slate."""

from __future__ import annotations

from minigrad.classroom.answers import Choice, Number, Order
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.runs_06 import stumbled
from minigrad.classroom.runs_08 import (
    blame,
    blame_run,
    flow,
    flow_run,
    scale_in_place,
    scale_own,
    scale_run,
)
from minigrad.classroom.slate_08 import count_calls, is_layer, letters

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
                "A global hook is called by every module, and there are two: the Sequential is one "
                "as well.",
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
    Hook(
        id="08.3",
        asks="blame(model, data, cotangent), which returns the name of the module that made the "
        "first NaN or infinity of the backward pass, or None",
        scenario=blame_run,
        reference=blame(),
        right="Clean in, bad out, and the first to say so: this works for models you never saw.",
        hints=(
            "What does the culprit receive, and what does it send on? Which hook sees both? And "
            "what does the first layer need, to be seen at all?",
            "Register a global full hook in a with block. It notes names[module] where grad_input "
            "is bad and grad_output is not. Run the model on data.detach().requires_grad_(), and "
            "return the first name noted.",
        ),
        mistakes=[
            Mistake(
                "A hook stayed behind, and would speak in the next run of any model. Register it "
                "in a with block.",
                when=lambda found: found[-2].result and found[-2].result > 0,
            ),
            Mistake(
                "The data require a gradient now, and did not before: the caller's tensor was "
                "changed. Work on data.detach().",
                when=lambda found: found[-1].result is True,
            ),
            Mistake(
                "Nothing was returned, or None throughout, and there are culprits. A forward hook "
                "does not see them: the values are fine, the gradients are not.",
                when=lambda found: all(t.result is None and not t.trouble for t in found[:-2]),
            ),
            Mistake(
                "That is the victim: the module at which the NaN arrives. Who sent it?",
                like=blame(victim=True),
            ),
            Mistake(
                "A container that holds the culprit is guilty, too, and speaks later. The first "
                "one noted counts.",
                like=blame(which=-1),
            ),
            Mistake(
                "An infinity was missed. isfinite() asks for both at once.",
                like=blame(judge=lambda gs: any(g is not None and g.isnan().any() for g in gs)),
            ),
            Mistake(
                "A NaN was missed: isinf() is false for it. isfinite() asks for both at once.",
                like=blame(judge=lambda gs: any(g is not None and g.isinf().any() for g in gs)),
            ),
            Mistake(
                "That is the name of the class. Several layers may share it: named_modules() has "
                "the module's own name.",
                like=blame(label=lambda module, name: type(module).__name__),
            ),
            Mistake(
                "That is the module. Its name is asked for: turn named_modules() around.",
                when=lambda found: hasattr(found[1].result, "named_modules"),
            ),
            Mistake(
                "The culprit in the first layer was not found. Data that need no gradient leave it "
                "nothing to send: what is None is neither good nor bad.",
                when=lambda found: found[1].result == "length" and found[4].result in (None, ""),
            ),
            Mistake(
                "A gradient may be None. Ask for that before you ask whether it is finite.",
                when=stumbled("NoneType"),
            ),
            Mistake(
                "Nobody is guilty in a healthy model: there the list of culprits is empty. Return "
                "None then.",
                when=stumbled("list index"),
            ),
        ],
    ),
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
                "It did not return a dict. Return what the hook has noted.",
                when=stumbled("has to return a dict"),
            ),
            Mistake(
                "The keys are names of classes, so layers of one kind overwrite one another. "
                "Use the names of named_modules().",
                when=lambda found: any(name == "Linear" for name, *_ in found[0].result),
            ),
            Mistake(
                "The model itself is missing. Hooks are run by the call model(data), and forward "
                "is what the call runs inside.",
                when=lambda found: found[0].result[0][0] != "" and len(found[0].result) == 5,
            ),
            Mistake(
                "Layers deeper inside are missing: named_modules() goes all the way down, "
                "named_children() one level.",
                when=lambda found: 0 < len(found[0].result) <= 4,
            ),
            Mistake(
                "It stumbled over a None. Where data need no gradient there is no grad_input, and "
                "a norm cannot be taken of nothing.",
                when=stumbled("NoneType"),
            ),
            Mistake(
                "A gradient that is None was noted as 0. That reads as if it had vanished: keep "
                "the None.",
                when=lambda found: any(value == 0 for row in found[1].result for value in row[1:]),
            ),
            Mistake(
                "The two norms have changed places: grad_input first.",
                like=flow(swapped=True),
            ),
            Mistake(
                "The norms are right, and the hook is still there, for every module to come. "
                "Remove it.",
                when=lambda found: found[2].result > 0,
            ),
            Mistake(
                "The hook goes when all is well, and stays when the model raises: remove() was "
                "never reached. A with block or a finally is.",
                like=flow(removes="at the end"),
            ),
            Mistake(
                "The hook noted nothing. It has to be there before the model is called, since the "
                "gates are built in the forward pass.",
                when=lambda found: found[0].result == [],
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
        mentions={
            "which modules are reached": (
                "only",
                "other",
                "own",
                "this model",
                "that model",
                "the model",
                "their model",
                "its modules",
                "process",
                "every",
                "else",
                "thread",
                "narrow",
            )
        },
        hints=(
            "For each way: whose modules call the hook, and from when to when?",
            "Two models are trained side by side, and one of them is not meant. Which way can tell "
            "them apart without asking?",
        ),
    ),
    Hook(
        id="08.6",
        asks="scale_own(kind, factor), which scales the gradients of the parameters of all modules "
        "of a class, and nothing else, and returns a list of handles",
        scenario=scale_run,
        reference=scale_own(),
        right="Scaled where gradients come in, scaled back where they go out: nobody else notices.",
        hints=(
            "At which gate does a factor reach the module's own parameters? What else does it "
            "reach, and at which gate could that be undone?",
            "A global pre-hook multiplies grad_output by the factor, a global full hook divides "
            "grad_input by it; both ask isinstance(module, kind) first, and keep each None.",
        ),
        mistakes=[
            Mistake(
                "It did not return a list of handles. Each register function gives one: put them "
                "into a list.",
                when=stumbled("list of handles"),
            ),
            Mistake(
                "The gradients that go on upstream are scaled too, and scaled again at each layer. "
                "Undo it where they leave the module.",
                like=scale_own(full=False),
            ),
            Mistake(
                "grad_input is what leaves the module, when its parameters have had theirs. So "
                "others are scaled, and not the layer itself.",
                like=scale_own(pre=False),
            ),
            Mistake(
                "All modules are scaled, containers too. Ask isinstance(module, kind) first.",
                like=scale_own(only_kind=False),
            ),
            Mistake(
                "It wrote into the gradient it was given, and others may hold the same tensor. "
                "Make new tensors, and return them in a tuple.",
                like=scale_in_place,
            ),
            Mistake(
                "Nothing was scaled. What a hook computes counts only if it is returned.",
                like=scale_own(pre=False, full=False),
            ),
            Mistake(
                "It stumbled over a None: data that need no gradient have none in grad_input. Keep "
                "None where None is.",
                when=stumbled("NoneType"),
            ),
            Mistake(
                "Where no input needs a gradient PyTorch asks for a tuple: return tuple(...), not "
                "a list.",
                when=stumbled("None for all gradients"),
            ),
            Mistake(
                "Return a tuple with one entry for each gradient, even if there is one only.",
                when=stumbled("invalid number", "shape"),
            ),
        ],
    ),
]
