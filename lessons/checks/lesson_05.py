"""Check the exercises of lesson 05, on modules and forward hooks: answers run in small models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import Choice, Hook, Order
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import describe

from .models import layer

Answer = Callable[..., Any]
BATCH = [[0.3, -1.2], [0.8, 0.5]]
MISFIT = "the outcome of a call with a batch that doesn't fit"
LEFT = "the number of your hooks that are left after that batch"


class Branched(nn.Module):
    """Two branches that are added up; after 'body.0' comes a module that works in place."""

    def __init__(self) -> None:
        super().__init__()
        self.head = layer([[1.5, -0.9], [0.3, 0.6]], [0.4, 0.0])
        self.body = nn.Sequential(
            layer([[0.5, -0.3], [-0.2, -0.8]], [0.1, -0.3]), nn.LeakyReLU(0.1, inplace=True)
        )
        self.side = layer([[0.7, 0.4], [-0.6, 0.9]], [0.2, -0.1])
        self.stem = layer([[0.9, 0.2], [-0.3, 1.1]], [0.0, 0.3])

    def forward(self, x: Tensor) -> Tensor:
        """Run the stem, add the branches up, and run the head."""
        x = self.stem(x)
        return self.head(self.body(x) + self.side(x))


def misfit(answer: Answer, *names: str) -> dict[str, Any]:
    """Hand an answer a batch that the model can't take: what comes out, which hooks stay?"""
    model = Branched()
    try:
        came = f"no error, and {describe(answer(model, *names, torch.ones(2, 5)))}"
    except Exception as error:
        came = type(error).__name__
    tables = [(*m._forward_hooks, *m._forward_pre_hooks) for m in model.modules()]
    return {MISFIT: came, LEFT: sum(map(len, tables))}


FIRES = Choice(
    id="05.1",
    asks="which of the four lines doesn't make the hook on model.body run",
    right="Hooks belong to the call of a module. If you run its forward directly, you bypass them.",
    model="Calling a module runs its hooks, before and after its forward. This line runs "
    "body's forward alone, so body itself is never called.",
    hints=(
        "Section 2 has the three steps of a call. Which of them does each line run for body?",
        "In three of the lines body is called, by you or by its parent's forward. In which isn't "
        "it?",
    ),
    mistakes="""
        = "a"
            That leaves out the hooks of model itself. How does its forward run body?
        = "b"
            no_grad decides what is recorded for the backward pass. Does a forward hook need that
            record?
        = "d"
            Anyone may call a module, not only its parent. Is this a call?
    """,
)

# --- 05.2


def transplant_run(answer: Answer) -> dict[str, Any]:
    """Let an answer transplant a branch and a module inside of it, from two donors."""
    model, seen = Branched(), dict[str, Any]()
    for module in model.modules():
        module.register_forward_hook(lambda *_: None)  # somebody else's
    for name, donor, batch, what in (
        ("body", [[0.9, -0.2], [0.1, 1.1]], [[-0.5, 0.4], [0.7, 0.3]], "the result for 'body'"),
        ("body.0", [[0.9, -0.2], [0.1, 1.1]], [[-0.5, 0.4], [0.7, 0.3]], "the result for 'body.0'"),
        ("body", [[-1.4, 0.6], [0.3, 0.8]], BATCH, "the result of a call with another donor"),
    ):
        seen[what] = answer(model, name, torch.tensor(donor), torch.tensor(batch))
        if not isinstance(seen[what], Tensor):
            raise Objection(
                f"It returned {describe(seen[what])}. It has to return the model's result, a "
                "tensor: that of the second run."
            )
    return seen


TRANSPLANT = Hook(
    id="05.2",
    asks="transplant(model, name, donor, batch), which returns the model's result on batch, "
    "with the output of the module called name taken from a run on donor",
    scenario=transplant_run,
    right="Two hooks, one that takes and one that gives. In research this is called activation "
    "patching.",
    hints=(
        "Two runs, and in each a hook on the same module. What does each of the two hooks do?",
        "In the run on donor a hook keeps the output, in memory of its own. In the run on "
        "batch a hook returns what was kept. A with block for each removes it.",
    ),
    mistakes=r"""
        ~ model.get_submodule(name) => getattr(model, name)
        ! `body.0`, attribute 'body.0', KeyError: 'body.0'
            A dotted name is a path through the tree, not an attribute: get_submodule follows it.
        ~ model(donor) => pass
        ! IndexError, KeyError, UnboundLocalError, NoneType
            There was nothing to put in: no output was kept before. Was the hook registered while
            the model ran on donor?
        = lambda model, name, donor, batch: model(donor)
            That's the whole run on the donor. This model has two branches, and only one of them
            should come from there.
        = lambda model, name, donor, batch: model(batch)
            That's the plain run on batch: nothing was replaced. In this run the hook has to return
            the donor's value.
        ~ hook(lambda m, args, output: organ[0]) => pre_hook(lambda m, args: organ[0])
        ~ hook(lambda m, args, output: organ[0]) => pre_hook(lambda m, args: organ[0])
        | output.clone() => output
            The donor's value went into the module. It should replace what comes out. A pre-hook
            changes the input.
        ~ model(donor) => place(donor)
            The donor went straight into the inner module. It has to go through the model, and
            through whatever comes before that module.
        ~ output.clone() => output
            After 'body.0' comes a module that works in place. It changed what you kept, before you
            put it in. It's the second trap of section 3.
        ~ model(donor) => model(batch)
        | return model(batch) => return model(donor)
            Donor and batch are swapped: the module's output was taken from batch.
        ~ return model(batch) => return organ[0]
        ~ return model(batch) => return organ[0]
        | output.clone() => output
            That's the output of the inner module itself. Return what the model makes of it.
    """,
)

# --- 05.3


class Picky(nn.Module):
    """Notes what kinds of arguments it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.5, dtype=torch.float64))
        self.got: list[str] = []

    def forward(
        self, x: Any, labels: Any, y: Any, rate: float, z: Any, *, shift: Any, mask: Any, half: Any
    ) -> Tensor:
        """Compute (x + shift) * rate * scale + y * z."""
        given = {"x": x, "labels": labels, "y": y, "rate": rate, "z": z}
        given |= {"shift": shift, "mask": mask, "half": half}
        self.got = [f"{name}: {_kind(value)}" for name, value in given.items()]
        result: Tensor = (x + shift) * rate * self.scale + y * z
        return result


def _kind(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.") if isinstance(value, Tensor) else repr(value)


GOT = "what forward got"


def to_double_run(hook: Answer) -> dict[str, Any]:
    """Let a pre-hook convert the arguments of `Picky`, and look at what came in."""
    module, types = Picky(), list[str]()
    module.register_forward_pre_hook(hook, with_kwargs=True)
    module.register_forward_hook(lambda module, args, output: types.append(type(args).__name__))
    x: Any = torch.tensor([1.5, -2.0], requires_grad=True)
    y, z, shift = (torch.tensor(v) for v in ([0.75, 0.1], [-0.5, 2.0], [0.25, 0.5]))
    whole, half = torch.tensor([3, 1]), torch.tensor([0.5, 2.0], dtype=torch.float16)
    named = {"shift": shift, "mask": None, "half": half}
    result = module(x, whole, y, 0.5, z, **named)
    result.sum().backward()
    seen = {GOT: module.got, "the result": result, "x.grad": x.grad}
    module(x=2 * x, labels=whole, rate=0.5, y=y, z=z, **named)
    return {
        **seen,
        "what forward got where everything came by keyword": module.got,
        "the type of args that later hooks see": types,
    }


DOUBLE = Hook(
    id="05.3",
    asks="to_double(module, args, kwargs), a pre-hook that turns every floating-point tensor "
    "among the arguments into float64",
    scenario=to_double_run,
    may_return=(tuple,),
    may_change=("entries",),  # kwargs is the call's own dict
    right="Position or keyword, one rule for both. Moving data to a device works the same way.",
    hints=(
        "Which values should change? And what does a hook with with_kwargs=True have to return?",
        "Write a function for one value: value.double() if it is a torch.Tensor and "
        "is_floating_point(), else the value. Use it on each entry of args and of kwargs, and "
        "return both: a new tuple and a new dict.",
    ),
    mistakes=r"""
        ~ , {key: convert(value) for key, value in kwargs.items()} =>
        ! must return None or a tuple of (new_args, new_kwargs), must be a mapping
            With with_kwargs=True a pre-hook returns both: a tuple and a dict, in this order.
        ~ tuple(map(convert, args)) => (args[0].double(), *args[1:])
        ! IndexError
            Everything may come by keyword, and then args is empty. Any argument may be a
            tensor: look at each.
        ~ fits = isinstance(value, torch.Tensor) and => fits =
        ! has no attribute
            Not every argument is a tensor: some are plain numbers or None. Check first.
        ~ return tuple => tuple
            Nothing was converted. A pre-hook changes the arguments only by what it returns.
        ~ {key: convert(value) for key, value in kwargs.items()} => kwargs
            A tensor that came by keyword is still float32.
        ~ tuple(map(convert, args)) => args
            A tensor that came by position is still float32.
        ~ value.is_floating_point() => value.dtype == torch.float32
            A tensor of float16 stayed as it was. It holds floating-point numbers, too.
        ~ and value.is_floating_point() =>
            Tensors of integers were converted too: labels and indices have to stay integers.
        ~ value.double() => value.detach().double()
            The values are right, but their history is lost: no gradient reaches the caller's
            tensor.
    """,
)

LETTERS = Order(
    id="05.4",
    asks="the letters A, B, C, D and E in the order in which they are printed",
    right="In at the root, through the children one by one, and out at the root.",
    hints=(
        "Which of the hooks run before their module, which after it? And when is net finished?",
        "Walk through the call: net begins, net[0] begins and ends, net[1] begins and ends, "
        "net ends. Write the letters next to it, and watch for prepend.",
    ),
    mistakes="""
        = "AEBDC"
            That's exactly the reverse. A call begins at the root, and ends there.
        = "CBDEA"
            The hook with prepend=True goes before those that its module already has.
        = "ABCDE"
            That's the order in which they were registered. But they sit on three modules: which of
            these begins first, and which ends last?
        = "CEDBA"
        ? answer.index("E") < max(answer.index("B"), answer.index("D"))
            A pre-hook runs when its own module is called. When is net[1] called?
        = "CDBAE"
        ? answer[0] == "C" and answer[-1] != "A" and len(answer) == 5
            A forward hook runs when its module is finished. Is net finished before its parts are?
        = "DBCEA"
        ? answer[0] in "BDE"
            The pre-hook of net runs before anything inside of net.
    """,
)

# --- 05.5

NAMES = "the sorted list of names"
GRAPH = "the number of activations that still belong to a graph"
ROOT = "the number of calls of the model itself"


def activations_run(answer: Answer) -> dict[str, Any]:
    """Let an answer capture the activations of a model with an in-place ReLU."""

    def activations(batch: Any) -> dict[str, Tensor]:
        found = answer(model, torch.tensor(batch))
        values = found.values() if isinstance(found, dict) else [None]
        if not all(isinstance(each, Tensor) for each in values) or not all(
            isinstance(k, str) for k in found
        ):
            raise Objection(
                f"It returned {describe(found)}. It has to return a dict: for the name of each "
                "module its output, a tensor."
            )
        return found

    def listed(found: dict[str, Tensor]) -> list[Any]:
        return [found[name].tolist() for name in sorted(found)]

    model, calls = Branched(), list[int]()
    model.register_forward_hook(lambda *_: calls.append(1))
    first = activations(BATCH)
    seen = {
        NAMES: sorted(first),
        "the list of activations, sorted by name,": listed(first),
        GRAPH: sum(value.requires_grad for value in first.values()),
        ROOT: len(calls),
    }
    second = activations([[-0.4, 0.9], [1.3, 0.2], [0.6, -0.7]])
    seen["the list of activations of a second batch"] = listed(second)
    return {**seen, "the first list, read after the second call,": listed(first), **misfit(answer)}


ACTIVATIONS = Hook(
    id="05.5",
    asks="activations(model, batch), which returns a dict from the name of each module to its "
    "output, in tensors of their own, and leaves no hooks, whatever happens",
    scenario=activations_run,
    right="A name each, no graph, memory of their own, and nothing left on the model.",
    hints=(
        "What does each run of the hook write? Under which name, which tensor, and who else "
        "can change that tensor? Then look at the model after the call.",
        "Bind the name with partial or with a function that makes the hook. Keep "
        "output.detach().clone(). Collect the handles, and remove each under finally.",
    ),
    mistakes=r"""
        ~ partial(hook, name) => lambda *args: hook(name, *args)
        ? len(seen[NAMES]) == 1 and seen[NAMES] != [""]
            All hooks wrote under one name. A hook that mentions name looks it up when it runs, and
            by then the loop is over.
        ~ partial(hook, name) => partial(hook, type(module).__name__)
        ? "Linear" in seen[NAMES]
            The keys are names of classes, so modules of one class overwrite one another.
        ~ model(batch) => model.forward(batch)
        ? seen[ROOT] == 0
            A hook that was on the model itself didn't run. Call the model: model.forward bypasses
            its hooks.
        ~ named_modules => named_children
        ~ handles.append( => if name: handles.append(
        ~ handles.append( => if not [*module.children()]: handles.append(
        ? {*seen[NAMES]} < {*right[NAMES]}
            Modules are missing. Were the hooks registered while it ran? named_modules() lists the model
            itself, with the empty name, its parts, and the parts of these.
        ~ output.detach => args[0].detach
        ~ module, args, output): => module, args):
        | output.detach => args[0].detach
        | register_forward_hook => register_forward_pre_hook
            Those are the modules' inputs. A hook gets input and output, and you need the output.
        ~ .detach() =>
        ? seen[GRAPH]
            The tensors still belong to their graph, and keep all of it in memory.
        ~ .clone() =>
            For 'body.0' the dict holds the output of the ReLU after it: the memory was still shared
            when the ReLU wrote into it.
        ~ (model, batch): => (model, batch, store={}):
        | store, handles = {}, [] => handles = []
            The second call wrote into the dict that the first one had returned. Make a new one in
            each call.
        ~ finally: => except RuntimeError:\n        pass\n    finally:
        ? seen[MISFIT].startswith("no error")
            The model's error was lost: for a batch that doesn't fit, the caller got a dict. The
            error has to come through.
        ~ try: => if True:
        | finally: => if True:
            When the model raises an error, your hooks stay on it. Section 8 shows how to avoid that.
    """,
)

# --- 05.6

RAN = "the list of parts that ran"
KEPT = "whether the result has its graph"
FOREIGN = "the list of the model's own errors that come through"


def stop_run(answer: Answer) -> dict[str, Any]:
    """Let an answer stop a forward pass at two places, and hand it models that fail."""
    seen, ran, through = dict[str, Any](), list[str](), list[str]()
    for name in ("body", "body.0"):
        model = Branched()
        for part, module in model.named_children():
            module.register_forward_pre_hook(lambda *_, part=part: ran.append(part))
        result = answer(model, name, torch.tensor(BATCH))
        if not isinstance(result, Tensor):
            raise Objection(
                f"It returned {describe(result)}. It has to return the output itself, a tensor: "
                "take it out of what carried it."
            )
        seen |= {f"the result for {name!r}": result.tolist()}
        seen[KEPT] = result.grad_fn is not None
    for kind in (ValueError, StopIteration, RuntimeError, KeyError, Exception):
        model, error = Branched(), kind("this stop is not yours")

        def fails(*_: Any, error: Exception = error) -> None:
            raise error

        model.stem.register_forward_pre_hook(fails)
        try:
            answer(model, "body", torch.tensor(BATCH))
        except Exception as came:
            through += [kind.__name__] if came is error else []
    return {**seen, **misfit(answer, "body"), RAN: ran, FOREIGN: through}


STOP = Hook(
    id="05.6",
    asks="stop_at(model, name, batch), which returns the output of the module called name, and "
    "does not run what comes after it",
    scenario=stop_run,
    right="An error gets you out of any depth, and your hook is gone afterwards.",
    hints=(
        "How can a hook end forward early? And how do you tell your own error from others?",
        "Define a class of error of your own, raise it in the hook with the output in it, and "
        "catch that class alone around model(batch), inside of the handle's with block.",
    ),
    mistakes=r"""
        ~ model.get_submodule(name) => getattr(model, name)
        ! `body.0`, attribute 'body.0', KeyError: 'body.0'
            A dotted name is a path through the tree, not an attribute: get_submodule follows it.
        = lambda model, name, batch: model.get_submodule(name)(batch)
        ? seen[RAN] == []
            The model was never called: the inner module got the batch itself. Usually other modules
            come first.
        ~ class Reached => kept = []\n\n    class Reached
        | raise Reached(output) => kept.append(output)
        | model(batch) => model(batch)\n            return kept[0]
        ? "head" in seen[RAN]
            The head ran as well, so nothing was saved. Does a hook end the forward pass, and is it
            on the module called name?
        ~ Reached(output) => Reached(args[0])
            That's what goes into the module. A hook gets input and output, and you need the output.
        ~ Reached(output) => Reached(output.detach())
        ? seen[KEPT] is False
            The output has lost its graph. This time you need it: no detach, no no_grad.
        ~ except Reached => except Exception
        ? seen[MISFIT].startswith("no error")
            A batch of the wrong size went in, and its error was swallowed. Catch your own class of
            error only.
        ~ with model.get_submodule(name).register_forward_hook(hook): => handle = model.get_submodule(name).register_forward_hook(hook)\n    if True:
        | return => handle.remove()\n            return
            When the model raises an error of its own, your hook stays on it. Remove it whatever
            happens: a with block, or finally.
        ~ class Reached(Exception): => Reached = ValueError\n    if True:
        ? seen[FOREIGN] != right[FOREIGN]
            The model may raise an error like yours, and you caught it. Define a class of your own,
            which nobody else raises.
    """,
)

EXERCISES = [FIRES, TRANSPLANT, DOUBLE, LETTERS, ACTIVATIONS, STOP]
