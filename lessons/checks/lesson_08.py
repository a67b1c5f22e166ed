"""Check the exercises of lesson 08, on global hooks, while others have hooks registered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import Choice, Hook, Number, Order
from minigrad.classroom.exercises import Objection
from minigrad.nn.modules import module as everywhere

from .models import layer

Answer = Callable[..., Any]


def chain(**layers: nn.Module) -> nn.Sequential:
    """Put named layers one after another."""
    return nn.Sequential(OrderedDict(layers))


def global_hooks() -> list[Any]:
    """List the global hooks there are."""
    kinds = ("forward_pre", "forward", "backward_pre", "backward")
    tables = [getattr(everywhere, f"_global_{kind}_hooks") for kind in kinds]
    return [hook for table in tables for hook in table.values()]


def among_strangers(answer: Answer, model: nn.Module, *arguments: Any) -> Any:
    """Call an answer while others have hooks registered: theirs have to stay, its own to go."""
    model.register_full_backward_hook(lambda *_: None)
    with everywhere.register_module_full_backward_hook(lambda *_: None):
        before = global_hooks()
        result = answer(model, *arguments)
        if global_hooks() != before:
            raise Objection(
                "The global hooks aren't those from before: yours is still there, or somebody "
                "else's is gone. Remove your own through its handle, ideally with a with block, "
                "and leave the table alone."
            )
        return result


LETTERS = Order(
    id="08.1",
    asks='the letters that are noted, in order, as one text such as "ABC"',
    right="The Sequential opens first and closes last, and global hooks come before a module's own.",
    hints=(
        "Two modules are called, and every module calls B and D. In the forward pass, "
        "which of the two is done first?",
        "Write down the forward pass: the hooks of the Tanh, then those of the Sequential. "
        "Then the backward pass: what comes first, what does the Tanh call, what comes last?",
    ),
    mistakes="""
        = "BAB"
        ? not {*"CDE"} & {*answer}
            The last line runs the backward pass as well, and three of the hooks belong to that.
        = "AEC"
        ? not {*"BD"} & {*answer}
            B and D are registered before the model is called, so every module calls them.
        = "BABEDCDC"
        ? any(answer.count(letter) > 1 for letter in "ACE")
            A, C and E belong to one module each, and it is called once.
        = "BABBEDCD"
        ? answer.count("B") > 2 or answer.count("D") > 2
            Two modules are called, no more: sum() and backward() aren't modules, and call no hook.
        = "BABEDD"
        ? not {*"ABCDE"} <= {*answer}
            Each of the five hooks is called at least once.
        = "BAEDC"
        ? answer.count("B") < 2 or answer.count("D") < 2
            Every module calls a global hook, so B and D are noted for the Tanh and for the
            Sequential.
        = "BABECDD"
        ? answer.index("A") < answer.index("B") or answer.index("C") < answer.index("D")
            Global hooks come before the module's own, whatever was registered first. prepend puts C
            before the Tanh's own hooks, and there are no others.
        = "EBABDCD"
        ? {*answer[:3]} != {*"AB"}
            The forward pass comes first, and all of it: A and B are noted before any gradient
            flows.
        = "BBAEDCD"
        ? [*answer[:2]] == ["B", "B"]
            A container's forward hook is called when the container is done, after the layer inside.
        = "BABDCED"
        ? answer.index("E") != 3
            E is a pre-hook of the Sequential: it is called where the gradient enters, before
            anything inside.
        = "BABEDDC"
            The Sequential's full hook waits for the gradient that leaves the Sequential: that is
            when the Tanh is done.
    """,
)

COUNT = Number(
    id="08.2",
    asks="how often the line calls a global forward hook",
    right="Calls count, not modules: the cell is called three times, and the ModuleList never.",
    hints=(
        "Go through the line as Python does, and make a mark for each module that is called. "
        "Is a ModuleList ever called? Is the loss a module?",
        "The Encoder's loop calls two modules in each of its rounds. Then come the Encoder "
        "itself, the small Sequential with its layers, the large one, and the loss.",
    ),
    mistakes="""
        = 10
            Those are the modules of the model. You are asked for calls: how often is the cell
            called, is the ModuleList called, and what about the loss?
        = 11
            One too few. Did you count every container, and the loss, which is a module as well?
        = 13
            One too many. A ModuleList holds layers and is never called: it has no forward.
        = 9
        = 8
            Only the layers that compute something. Containers are modules as well, and call the
            hook when they are done; and the loss is a module, too.
        = 24
            Each call counts once: a forward hook isn't called in the backward pass.
        = 2
        ? 0 < answer <= 2
            You counted only what the line itself calls. What is called inside a module calls the
            hook as well.
        = 5
        ? 0 <= answer < 12
            Too few. Follow the line as Python runs it: each round of the loop calls two modules,
            and every container that is called counts as well.
        = 20
        ? answer > 12
            Too many. Follow the line as Python runs it, and count only what is called.
    """,
)

# --- 08.3


class Step(nn.Module):
    """A function of twice the input, where the 2 is a parameter."""

    def __init__(self, function: Answer = lambda x: x) -> None:
        super().__init__()
        self.function, self.factor = function, nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Tensor) -> Any:
        """Compute it."""
        return self.function(self.factor * x)


class Between(nn.Module):
    """A module with a square root between its two children."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = Step(), Step()

    def forward(self, x: Tensor) -> Any:
        """Run both, with the root between them."""
        return self.after(self.before(x).sqrt())


def length() -> Step:
    """Make a module with a slope that isn't a number where a row is zero."""
    return Step(lambda x: (x * x).sum(-1, keepdim=True).sqrt())


def huge() -> Step:
    """Make a module in which a gradient of 4 overflows, and one of 1 doesn't."""
    return Step(lambda x: x * (torch.finfo(x.dtype).max / 4))


def bad(gradients: Any) -> bool:
    """Tell whether one of the gradients isn't finite."""
    return any(g is not None and not bool(g.isfinite().all()) for g in gradients)


MIDDLE = "who is blamed with a culprit in the middle"
ROOT = "who is blamed with a root in the model's own forward"


def blame_run(answer: Answer) -> dict[str, Any]:
    """Let an answer look for the culprit in models with and without one."""
    rows, zero, one = [[3.0, 4.0], [0.0, 0.0]], [[4.0], [0.0]], [[1.0], [1.0]]
    body, bad_start = chain(twice=Step(), length=length()), [[float("nan")], [float("inf")]]
    suspects: dict[str, tuple[nn.Module, Any, Any]] = {
        "a healthy model": (chain(a=Step(), b=nn.Tanh()), rows, [[1.0, 1.0]] * 2),
        "a culprit in the middle": (chain(a=Step(), length=length(), b=Step()), rows, one),
        "a culprit inside of a container": (chain(a=Step(), body=body, b=nn.Tanh()), rows, one),
        "a culprit in the first layer": (chain(length=length(), last=Step()), rows, one),
        "a root between two children": (chain(start=Step(), block=Between()), zero, one),
        "a root in the model's own forward": (Between(), zero, one),
        "an overflow that this cotangent causes": (chain(a=Step(), b=huge()), [[1e-30]], [[4.0]]),
        "a cotangent that was bad from the start": (chain(a=Step(), b=Step()), zero, bad_start),
    }
    seen = {}
    for name, (model, values, cotangent) in suspects.items():
        data, start = torch.tensor(values), torch.tensor(cotangent)
        seen[f"who is blamed with {name}"] = among_strangers(answer, model, data, start)
    data = torch.tensor(rows, requires_grad=True)
    among_strangers(answer, chain(length=length()), data, torch.tensor(one))
    return {**seen, "data.grad, where data require a gradient,": data.grad}


BLAME = Hook(
    id="08.3",
    asks="blame(model, data, cotangent), which returns the name of the module that made the "
    "first NaN or infinity of the backward pass, or None",
    scenario=blame_run,
    right="Finite in, not finite out: this finds the culprit in models you've never seen.",
    hints=(
        "What does the culprit receive, and what does it send on? Which hook sees both? And "
        "what does the first layer need, to be seen at all?",
        "Register a global full hook in a with block. It notes names[module] where grad_input "
        "is bad and grad_output is not. Run the model on data.detach().requires_grad_(), and "
        "return the first name noted.",
    ),
    mistakes=r"""
        ~ bad(grad_input) and not bad(grad_output) => bad(grad_output)
        | (module, grad_input, grad_output) => (module, grad_output)
        | full_backward_hook => full_backward_pre_hook
        ~ bad(grad_input) and not bad(grad_output) => bad(grad_output)
            That's the victim: the module at which the NaN arrives. Which one sent it?
        ~ bad(grad_input) and not bad(grad_output) => bad(grad_input)
            Every module that sends something bad is named, also one that got it bad already. Look
            at both ends.
        ~ culprits[0] => culprits[-1]
            A container that holds the culprit is named too, only later. The first one in time
            counts, not the first in named_modules().
        ~ names = { => bad = lambda ts: any(t is not None and t.isnan().any() for t in ts)\n    names = {
        ~ names = { => bad = lambda ts: any(t is not None and not t.isfinite().any() for t in ts)\n    names = {
            One NaN, or one infinity, among good entries is enough to call a gradient bad.
            isfinite() asks for both at once; mind any() and all().
        ~ if bad => if not [*module.children()] and bad
        ~ if bad => if module in [*model.children()] and bad
            Leave no module out: a container has code of its own between its children, and modules
            deeper inside or the model itself can be the culprit too.
        ~ data.detach().requires_grad_() => data
            The culprit in the first layer wasn't found. Data that need no gradient leave it nothing
            to send: what is None is neither good nor bad.
        ~ culprits[0] if culprits else None => (culprits and culprits[0]) or None
            In one run the model itself was the culprit, and you didn't find it. Its name in
            named_modules() is the empty text, which counts as false: ask `is None`.
        ~ backward(cotangent) => backward(torch.ones_like(cotangent))
            The pass has to start from the cotangent. Yours starts from ones, and doesn't see what
            the cotangent causes.
        ~ else None => else ""
            A healthy model has no culprit: return None. The empty text is the name of the model
            itself.
        ~ names[module]) => names[module] or "model")
        ~ names[module] => type(module).__name__
        ~ names[module] => module
        ~ return culprits[0] if culprits else None => return culprits or None
        ? not isinstance(seen[MIDDLE], str | None)
        ? seen[ROOT] not in ("", "before", "after", None) and seen[MIDDLE] == right[MIDDLE]
            You are asked for one name, that of the first culprit, as named_modules() gives it: ''
            is the model's own.
        ~ return culprits => culprits
        ~ bad(grad_input) and not bad(grad_output) => bad(grad_output) and not bad(grad_input)
            None throughout, and there are culprits. Is something returned, was a hook there when
            the model was called, and does it look for what gets good and sends bad gradients? (A
            forward hook sees nothing bad: the values are fine.)
        ~ append(names[module]) => append([*names.values()][-1])
            Whichever the culprit is, you name the last module. Hooks made in a loop share its
            variable, and see the value it has at the end.
        ~ names = { => bad = lambda ts: not all(t.isfinite().all() for t in ts)\n    names = {
        | data.detach().requires_grad_() => data
        ! NoneType
            A gradient may be None. Ask for that before you ask whether it is finite.
        ~ data.detach().requires_grad_() => data.clone().requires_grad_()
            Gradients of your pass arrived in data.grad: what you ran the model on is still
            connected to data. Work on data.detach().
        ~ culprits[0] if culprits else None => culprits[0]
        ! list index, StopIteration, pop from
            A healthy model has no culprit, so the list is empty. Return None then.
    """,
)

# --- 08.4


class Spare(nn.Sequential):
    """A chain with a layer at its end that is never called."""

    def forward(self, x: Tensor) -> Tensor:
        """Run all but the last."""
        for module in list(self)[:-1]:
            x = module(x)
        return x


FLOW = "the list of (name, grad_input, grad_output), sorted by name,"
NO_GRAD = "for data that need no gradient, the same list"
LEFT = "the number of your hooks that are left after a model has raised an error"


def flow_run(answer: Answer) -> dict[str, Any]:
    """Let an answer collect from two models, and from one that raises an error."""

    def flow(model: nn.Module, needs_one: bool = True) -> list[tuple[Any, ...]]:
        data = torch.tensor([[0.3, -1.2], [0.8, 0.5]], requires_grad=needs_one)
        found = among_strangers(answer, model, data, torch.tensor([[1.3], [-0.4]]))
        pairs = found.items() if isinstance(found, dict) else [(None, None)]
        if not all(isinstance(k, str) and isinstance(v, list | tuple) for k, v in pairs):
            raise Objection("gradient_flow has to return a dict from names to pairs of norms.")
        return [(name, *pair) for name, pair in sorted(pairs)]

    body = chain(squash=nn.Tanh(), inner=layer([[0.7, -0.4]] * 2, [0.0, 0.3]))
    first, last = layer([[0.5, -0.3], [0.2, 0.8]], [0.1, 0.0]), layer([[1.5, -0.9]], [0.4])
    layers = {"first": first, "body": body, "last": last, "spare": nn.Linear(1, 1)}
    model = Spare(OrderedDict(layers))
    seen: dict[str, Any] = {FLOW: flow(model), NO_GRAD: flow(model, needs_one=False)}
    seen["for another model, the same list"] = flow(chain(only=layer([[0.6, 1.1]], [0.2])))

    def fails(*_: Any) -> None:
        raise ValueError("this model is broken")

    def hooks() -> int:
        own = [(*m._backward_hooks, *m._backward_pre_hooks) for m in model.modules()]
        return len(global_hooks()) + sum(map(len, own))

    last.register_forward_hook(fails)
    before = hooks()
    came_out = False
    try:
        answer(model, torch.tensor([[0.3, -1.2]]), torch.tensor([[1.3]]))
    except ValueError:
        came_out = True
    return {**seen, LEFT: hooks() - before, "whether the model's own error comes out": came_out}


def names_in(rows: list[Any]) -> set[str]:
    """Give the names that an answer collected."""
    return {name for name, *_ in rows}


GRADIENT_FLOW = Hook(
    id="08.4",
    asks="gradient_flow(model, data, cotangent), which returns a dict from the name of each "
    "module to the norms of its grad_input[0] and grad_output[0]",
    scenario=flow_run,
    right="Four repairs: keys by name, a call of the model, None where it's None, no hook left.",
    hints=(
        "What is the key of two Linear layers? What does model.forward leave out? What has no "
        "norm? And who removes the hook, also after an error?",
        "names = {module: name for name, module in model.named_modules()} gives the keys. Call "
        "model(data) in a with block, and write None where a gradient is None.",
    ),
    mistakes=r"""
        ~ names[module] => type(module).__name__
        ? "Linear" in names_in(seen[FLOW])
            The keys are names of classes, so layers of one kind overwrite one another. Use the
            names of named_modules().
        ~ gradients = {} => gradients, out = {}, model(data)
        | model(data).backward => out.backward
        ? seen[FLOW] == []
            The hook noted nothing. It has to be there before the model is called, because the gates
            are built in the forward pass.
        ~ model(data) => model.forward(data)
            The model itself is missing. It has an entry too, and its hook runs only if you call
            model(data), not model.forward(data).
        ~ gradients[names => if not [*module.children()]: gradients[names
        ~ gradients[names => if "." not in names[module]: gradients[names
        ? names_in(seen[FLOW]) < names_in(right[FLOW])
            Some modules are missing. Each that is called has an entry: the model, containers, and
            the layers deeper inside.
        ~ (model, data, cotangent): => (model, data, cotangent, gradients={}):
        | gradients = {} => pass
        ? {"", "only"} < names_in(seen["for another model, the same list"])
            It keeps the entries of an earlier call: the other model has other modules. Start with
            an empty dict each time.
        ~ gradients = {} => gradients = dict.fromkeys(names.values(), (None, None))
        ? "spare" in names_in(seen[FLOW])
            A module that was never called has an entry. Note only what the hook is called with.
        ~ gradients[names => if grad_input[0] is not None: gradients[names
        ? names_in(seen[NO_GRAD]) < names_in(seen[FLOW])
            For data that need no gradient, entries are missing. A module whose grad_input is None
            was still called: note the None.
        ~ None if g is None else g.norm().item() => g.norm().item()
        ! NoneType
            It met a None. Where the data need no gradient, grad_input holds None, and you can't
            take a norm of that.
        ~ None if g is None else g.norm().item() => g.norm().item() if g else None
        ! ambiguous
            `if g:` asks a tensor whether it is true. You want to know whether there is one: `if g
            is not None`.
        ~ gradients[names[module]] = tuple(None if g is None else g.norm().item() for g in both) => return gradients.setdefault(names[module], both)
        ! invalid number, None for all gradients, KeyError: 0
            What your hook returns is taken for a new grad_input. (setdefault, for example, returns
            something.) This hook has to return None.
        ~ None if g is None => 0 if g is None
            A gradient that is None was noted as 0. That reads as if it had vanished: keep the None.
        ~ backward(cotangent) => sum().backward()
            The pass has to start from the cotangent. Yours starts from ones.
        ~ model(data) => model(data.detach().requires_grad_())
            Where the data need no gradient, there are norms and should be None: the pass ran on
            data that were made to need one. Take the data as they are.
        ~ grad_input[0], grad_output[0] => grad_output[0], grad_input[0]
            The two norms are swapped: grad_input comes first.
        ~ .norm() => .abs().max()
        ~ .norm() => .square().sum()
        ~ .norm() => .abs().sum()
        ~ .norm().item() =>
            What you measure isn't the norm, which is the root of the sum of the squares.
        ~ with everywhere.register_module_full_backward_hook(hook): => handle = everywhere.register_module_full_backward_hook(hook)\n    if True:
        | return gradients => handle.remove()\n    return gradients
            If the model raises an error, your hook stays, because remove() is never reached. Use a with block or finally.
    """,
)

LIBRARY = Choice(
    id="08.5",
    asks="how the library should watch the model that is trained",
    right="The narrowest hook that answers the question is the right one.",
    model="A global hook is called by every module in the process, also by those of the model "
    "in the other thread. Hooks on model.modules() are called by the model that is trained, "
    "and by no others.",
    hints=(
        "For each way: whose modules call the hook, and from when to when?",
        "Two models are trained side by side, and only one is to be watched. Which way reaches "
        "only that one?",
    ),
    mistakes="""
        = "a"
            Then every call of every module pays for it from the import on, even in programs that
            never train.
        = "c"
            It's limited in time. But what else calls modules while the block is open, say in the
            other thread?
        = "d"
            A NaN in the forward pass is in the values; and which modules does a global hook reach?
    """,
)

# --- 08.6


class Weigh(nn.Module):
    """A layer with two inputs, each times a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.tensor([0.7, -1.1, 0.5]))
        self.b = nn.Parameter(torch.tensor([1.3, 0.4, -0.8]))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Weigh both."""
        return self.a * x + self.b * y


class Around(nn.Module):
    """A linear layer that is used twice, and two paths around it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = layer([[0.4, 0.1, -0.7], [-0.2, 0.6, 0.3], [0.9, -0.5, 0.2]], [0.1, -0.3, 0.2])
        self.weigh = Weigh()

    def forward(self, x: Tensor) -> Any:
        """Add and weigh the layer's results and what came in."""
        return self.weigh(x.tanh() + self.inner(self.inner(x)), x)


KINDS = ((nn.Linear, 4.0), (nn.LayerNorm, 0.5), (Weigh, -2.0))  # nothing that has to be rounded


def scale_run(answer: Answer) -> dict[str, Any]:
    """Scale the layers of a model in the answer's way, and look at all gradients."""
    first = layer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.4]], [0.1, 0.0, -0.2])
    last = layer([[1.5, -0.9, 0.7]], [0.4])
    model = chain(first=first, around=Around(), norm=nn.LayerNorm(3), last=last)

    def gradients(needs_one: bool) -> dict[str, Any]:
        model.zero_grad()
        data = torch.tensor([[0.3, -1.2], [0.8, 0.5]], requires_grad=needs_one)
        model(data).backward(torch.tensor([[1.3], [-0.4]]))
        found = {name: p.grad for name, p in model.named_parameters()}
        return {"the input": data.grad} | found

    seen: dict[str, Any] = {}
    for kind, factor in KINDS:
        handles = answer(kind, factor)
        if not isinstance(handles, list | tuple) or not all(hasattr(h, "remove") for h in handles):
            raise Objection("scale_own has to return a list of handles.")
        if not global_hooks():
            raise Objection(
                "When scale_own returns, none of its hooks is registered. A with block removes its "
                "hooks at its end: here the caller removes them, by the handles."
            )
        for needs_one, data in ((True, ""), (False, ", and data that need no gradient")):
            for name, gradient in gradients(needs_one).items():
                said = f"with {kind.__name__} times {factor:g}{data}, the gradient of {name}"
                seen[said] = gradient
        for handle in handles:
            handle.remove()
        if global_hooks():
            raise Objection(
                "The handles that you returned are removed, and a hook of yours is still there. "
                "Return the handles of all your hooks."
            )
        seen["with all handles removed, the list of gradients"] = [*gradients(True).values()]
    return seen


SCALED = Hook(
    id="08.6",
    asks="scale_own(kind, factor), which scales the gradients of the parameters of all layers "
    "of a class, and nothing else, and returns a list of handles",
    scenario=scale_run,
    right="Scaled where gradients come in, scaled back where they go out: nothing else changes. "
    "(It wouldn't work with a class of containers: their layers lie between the two places.)",
    hints=(
        "At which gate does a factor reach the module's own parameters? What else does it "
        "reach, and at which gate could that be undone?",
        "A global pre-hook multiplies grad_output by the factor, a global full hook divides "
        "grad_input by it; both ask isinstance(module, kind) first, and keep each None.",
    ),
    mistakes="""
        ~ scaled(m, gi, 1 / factor) => None
            The gradients that go on toward the inputs are scaled too, and scaled again at each
            layer. Undo it where they leave the module.
        ~ scaled(m, go, factor) => None
        | 1 / factor => factor
        ~ scaled(m, go, factor) => None
            grad_input is what leaves the module, so this scales what comes after the layer, and not
            the layer itself.
        ~ scaled(m, go, factor) => scaled(m, go, 1 / factor)
        | scaled(m, gi, 1 / factor) => scaled(m, gi, factor)
            The two places are swapped: you divide where gradients come in, and multiply where
            they go out.
        ~ 1 / factor => factor
            You multiply at both gates, so the factor isn't undone where the gradient leaves.
        ~ isinstance(module, kind) => True
            All modules are scaled, containers too. Ask isinstance(module, kind) first.
        ~ if isinstance(module, kind) => if by == 1 / factor or isinstance(module, kind)
        ~ if isinstance(module, kind) => if by == factor or isinstance(module, kind)
            At one of the two gates you change the gradients of every module. Ask
            isinstance(module, kind) there, too.
        > def scale_own(kind, factor):
        >     def leave(module, grad_input, grad_output):
        >         for p in module.parameters() if isinstance(module, kind) else ():
        >             p.grad = None if p.grad is None else p.grad * factor
        >     return [everywhere.register_module_full_backward_hook(leave)]
        ! 'NoneType' object has no attribute
            You scale what is in .grad when a module's hook is called. For data that need no
            gradient, nothing has arrived there by then, and what an earlier pass left is scaled
            again. Change what comes in instead.
        ~ isinstance(module, kind) => isinstance(module, nn.Linear)
        ~ (kind, factor): => (kind, given, factor=0.5):
            Both arguments count: kind isn't always Linear, and factor isn't always 0.5.
        ~ return tuple => tuple
            Nothing was scaled. Does the hook ask the right question of the module, and does it
            return what it computes?
        ~ else g * by => else g.mul_(by)
            You wrote into the gradients that the hook was given. Other paths may use them too:
            return new ones.
        ~ None if g is None else g * by => g * by
        ! NoneType
            It met a None: for data that need no gradient, that's what grad_input holds. Keep it.
        ~ tuple(None if g is None else g * by for g in gradients) => [None if g is None else g * by for g in gradients]
        ! None for all gradients
            Where no input needs a gradient PyTorch asks for a tuple: return tuple(...), not a list.
        ~ for g in gradients => for g in gradients[:1]
        ! invalid number, shape, changed the size
            Return a tuple with one entry for each gradient that you were given, of the same shape.
            A layer may have two inputs.
    """,
)

EXERCISES = [LETTERS, COUNT, BLAME, GRADIENT_FLOW, LIBRARY, SCALED]
