"""Put the learner's Module (17.6) and HookedModule (17.7) to work, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minigrad.classroom.exercises import Mistake, Objection

from .kinds import Probe, listed, mine


def tensor(data: Any, requires_grad: bool = False) -> Any:
    """Make a tensor of the class that the learner goes on with."""
    return mine("17.5")(np.array(data, float), requires_grad=requires_grad)


def chain(base: Any) -> Any:
    """Make the worked example's network on a class of modules: f0, and f1 with its f."""

    class Linear(base):
        def __init__(self, weight: float, bias: float) -> None:
            super().__init__()
            self.weight, self.bias = tensor([[weight]], True), tensor([bias], True)

        def forward(self, x: Any) -> Any:
            return x @ self.weight + self.bias

    class SLinear(base):
        def __init__(self) -> None:
            super().__init__()
            self.f = Linear(0.4, 0.2)

        def forward(self, x1: Any) -> Any:
            return self.f(x1) ** 2

    class Net(base):
        def __init__(self) -> None:
            super().__init__()
            self.f0, self.f1 = Linear(0.3, 0.1), SLinear()

        def forward(self, x: Any) -> Any:
            return self.f1(self.f0(x))

    return Net()


def _module(made: Any, forward: Callable[..., Any]) -> Any:
    return type("Made", (made,), {"forward": lambda self, *args: forward(*args)})()


# ------------------------------------------------------------------ 17.6


def _called(made: Any) -> Any:
    return listed(_module(made, lambda x, y: x * y + 1)(tensor([2.0]), tensor([3.0])).data)


def _pairs(found: Any) -> list[tuple[str, Any]]:
    if found is None:
        raise Objection(
            "named_parameters gives None. Return the pairs, or hand them out with yield."
        )
    if isinstance(found, dict):
        raise Objection(
            "named_parameters gives a dict, and who loops over that gets the names alone. Give the "
            "pairs: a list of them, or one after the other with yield."
        )
    if not isinstance(found, Iterable):
        raise Objection(f"named_parameters gives a {type(found).__name__}, not a list of pairs.")
    pairs = list(found)
    if not all(isinstance(p, tuple | list) and len(p) == 2 for p in pairs):
        raise Objection("named_parameters has to give pairs, each of a name and a tensor.")
    if not all(isinstance(name, str) for name, _ in pairs):
        raise Objection("In each pair the name comes first, a text, and then the tensor.")
    return [(name, value) for name, value in pairs]


def _names(module: Any) -> list[str]:
    return [str(name) for name, _ in _pairs(module.named_parameters())]


def _own_tensors(made: Any) -> list[Any]:
    module = _module(made, lambda x: x)
    module.b, module._a = tensor([1.0], True), tensor([2.0], True)
    module.number, module.words = 3.0, ["a list"]
    module.constant = tensor([3.0])
    pairs = _pairs(module.named_parameters())
    return [[name for name, _ in pairs], [value is module.b for _, value in pairs]]


def _not_kept(made: Any) -> list[str]:
    module = _module(made, lambda x: x)
    module.weight = tensor([1.0], True)
    module.last = module.weight * 2
    return _names(module)


def _tree(made: Any) -> list[str]:
    net = chain(made)
    net.scale, net.f1.gain = tensor(1.0, True), tensor(1.0, True)
    net.f0.f = _module(made, lambda x: x)
    net.f0.f.offset, net.f1.f.shift = tensor([3.0], True), tensor([2.0], True)
    return _names(net)


def _by_assignment(made: Any) -> list[str]:
    outer = _module(made, lambda x: x)
    outer.second, outer.first = _module(made, lambda x: x), _module(made, lambda x: x)
    outer.first.weight, outer.second.weight = tensor([1.0], True), tensor([1.0], True)
    return _names(outer)


def _shared(made: Any) -> list[str]:
    outer, inner = _module(made, lambda x: x), _module(made, lambda x: x)
    inner.weight = tensor([1.0], True)
    outer.first = outer.second = inner
    outer.tied = inner.weight
    return _names(outer)


def _later(made: Any) -> list[Any]:
    module = _module(made, lambda x: x)
    module.weight = tensor([1.0], True)
    first = [_names(module), _names(module)]
    module.weight = tensor([2.0], True)
    again = [listed(value.data) for _, value in _pairs(module.named_parameters())]
    return [first, again, _names(_module(made, lambda x: x))]


def _pre_looks(made: Any) -> list[Any]:
    module, calls = _module(made, lambda x: x * 2), list[Any]()

    def hook(which: Any, args: Any) -> None:
        _is_tuple(args, "args")
        calls.append([which is module, [listed(a.data) for a in args]])

    module.register_forward_pre_hook(hook)
    return [listed(module(tensor([3.0])).data), calls]


def _is_tuple(value: Any, name: str) -> None:
    if not isinstance(value, tuple):
        raise Objection(
            f"A hook got a bare {type(value).__name__} for {name}. It is a tuple, also where there "
            "is one only."
        )


def _pre_replaces(made: Any) -> list[Any]:
    found = []
    for give in (lambda args: (args[0] * 10,), lambda args: args[0] * 10):
        module = _module(made, lambda x: x * 2)
        module.register_forward_pre_hook(lambda _, args, give=give: give(args))
        module.register_forward_pre_hook(lambda _, args: (args[0] + 1,))
        found.append(listed(module(tensor([3.0])).data))
    return found


def _pre_turns(made: Any) -> Any:
    module = _module(made, lambda x, y: x * 2 + y)
    module.register_forward_pre_hook(lambda _, args: (args[1], args[0]))
    return listed(module(tensor([1.0]), tensor([10.0])).data)


def _post_looks(made: Any) -> list[Any]:
    module, calls = _module(made, lambda x: x * 2), list[Any]()

    def hook(which: Any, args: Any, result: Any) -> None:
        _is_tuple(args, "args")
        calls.append([which is module, listed(args[0].data), listed(result.data)])

    module.register_forward_hook(hook)
    return [listed(module(tensor([3.0])).data), calls]


def _post_replaces(made: Any) -> Any:
    module = _module(made, lambda x: x * 2)
    module.register_forward_hook(lambda _, args, result: result * 10)
    module.register_forward_hook(lambda _, args, result: result + 1)
    return listed(module(tensor([3.0])).data)


def _args_that_forward_got(made: Any) -> Any:
    module, calls = _module(made, lambda x: x * 2), list[Any]()
    module.register_forward_pre_hook(lambda _, args: (args[0] * 10,))
    module.register_forward_hook(lambda _, args, result: calls.append(listed(args[0].data)))
    module(tensor([3.0]))
    return calls


def _inner_call(made: Any) -> list[str]:
    net, calls = chain(made), list[str]()
    named = {"net": net, "f0": net.f0, "f1": net.f1, "f": net.f1.f}
    for name, module in named.items():
        module.register_forward_pre_hook(lambda _, args, name=name: calls.append(f"into {name}"))
        module.register_forward_hook(lambda _, args, y, name=name: calls.append(f"out of {name}"))
    net(tensor([[0.3]]))
    return calls


def _removed(made: Any) -> list[int]:
    module, calls = _module(made, lambda x: x * 2), list[str]()
    first = module.register_forward_pre_hook(lambda _, args: calls.append("before"))
    second = module.register_forward_hook(lambda _, args, y: calls.append("after"))
    if not all(callable(getattr(handle, "remove", None)) for handle in (first, second)):
        raise Objection("Registering has to give a handle: something with a method remove.")
    counts = []
    for action in (None, first.remove, first.remove, second.remove, second.remove):
        if action:
            action()
        calls.clear()
        module(tensor([3.0]))
        counts.append(len(calls))
    return counts


def _self_removing(made: Any) -> list[str]:
    module, calls = _module(made, lambda x: x * 2), list[str]()
    handles: dict[str, Any] = {}

    def once(*_: Any) -> None:
        calls.append("once")
        handles["once"].remove()

    handles["once"] = module.register_forward_hook(once)
    module.register_forward_hook(lambda *_: calls.append("always"))
    for _ in range(2):
        module(tensor([3.0]))
    return calls


def _others(made: Any) -> int:
    one, other, calls = _module(made, lambda x: x), _module(made, lambda x: x), list[str]()
    one.register_forward_hook(lambda *_: calls.append("called"))
    one.register_forward_pre_hook(lambda *_: calls.append("called"))
    other(tensor([1.0]))
    return len(calls)


def _forward_itself(made: Any) -> list[str]:
    module, calls = _module(made, lambda x: x * 2), list[str]()
    module.register_forward_pre_hook(lambda *_: calls.append("before"))
    module.register_forward_hook(lambda *_: calls.append("after"))
    module.forward(tensor([3.0]))
    return calls


def _later_ones(register: str) -> Callable[[Any], list[list[str]]]:
    def run(made: Any) -> list[list[str]]:
        module, calls = _module(made, lambda x: x * 2), list[str]()

        def named(name: str) -> Callable[..., None]:
            return lambda *_: calls.append(name)

        def called() -> list[str]:
            calls.clear()
            module(tensor([3.0], True)).backward()
            return list(calls)

        twice = named("twice")
        handles = [getattr(module, register)(h) for h in (named("first"), twice, twice)]
        found = [called()]
        handles[0].remove()
        getattr(module, register)(named("last"))
        found.append(called())
        handles[1].remove()
        return [*found, called()]

    return run


_LATER = [
    Mistake(
        "By the function itself as a key, what is registered twice is there once. Give each "
        "registration a number of its own.",
        when=lambda seen: seen[0] == ["first", "twice"],
    ),
    Mistake(
        "The last one took the place of another. The number of hooks that there are now is no name "
        "for a hook: when one has gone, the next gets a name that is taken. Count all that were "
        "ever registered.",
        when=lambda seen: len(seen[1]) == 2,
    ),
    Mistake(
        "A handle took off something else than its own registration.",
        when=lambda seen: seen[0] == ["first", "twice", "twice"],
    ),
]


def _handles(register: str) -> Probe:
    return Probe(
        f"{register}: who is called, with one function registered first and another twice; when "
        "the first is removed, and a last one registered; and when one of the two is removed",
        _later_ones(register),
        [["first", "twice", "twice"], ["twice", "twice", "last"], ["twice", "last"]],
        "A handle stands for its own registration, however many come and go before and after it.",
        _LATER,
    )


def _gradients_flow(made: Any) -> Any:
    net = chain(made)
    ((net(tensor([[0.3]])) - 1) ** 2).backward()
    return [listed(p.grad) for _, p in _pairs(net.named_parameters())]


_PRE = (
    "A forward pre-hook gets the module and a tuple of the arguments. What it gives back takes "
    "their place: a tuple, or one tensor alone; None leaves them."
)
_POST = (
    "A forward hook gets the module, the tuple of arguments, and the result. What it gives back "
    "takes the result's place; None leaves it."
)
_TABLE = "Each module has tables of hooks of its own, made in __init__."

MODULE = [
    Probe(
        "A module with forward(x, y), called with two tensors",
        _called,
        [7.0],
        "module(...) comes to __call__, which hands all arguments to forward and gives back what "
        "comes of it.",
    ),
    Probe(
        "named_parameters of a module with tensors b and _a, a constant, a number and a list: the "
        "names, and which of the tensors is b",
        _own_tensors,
        [["b", "_a"], [True, False]],
        "Parameters are the attributes that are leaves and require a gradient, in the order in "
        "which they were assigned; vars(self) has them all.",
        [
            Mistake(
                "The constant was taken for a parameter, too: look at requires_grad.",
                when=lambda seen: "constant" in seen[0],
            ),
            Mistake(
                "Nothing was found. Look when named_parameters is called: in Module's own __init__ "
                "nothing has been assigned yet. If you ask whether an attribute is a Tensor: run "
                "the cell of this answer again, for Tensor may be the class of before.",
                value=[[], []],
            ),
            Mistake(
                "They are sorted by name. Order is that of assignment, as vars(self) has it.",
                when=lambda seen: seen[0] == ["_a", "b"],
            ),
            Mistake(
                "A parameter is listed whatever its name, also with an underscore in front.",
                when=lambda seen: seen[0] == ["b"],
            ),
            Mistake(
                "Not every attribute is a tensor: ask before you look at requires_grad.",
                trouble=("no attribute 'requires_grad'", "no attribute 'inputs'"),
            ),
        ],
    ),
    Probe(
        "named_parameters of a module that has kept a result, self.last = self.weight * 2",
        _not_kept,
        ["weight"],
        "What an operation made requires a gradient, and is no parameter: an optimizer has nothing "
        "to do with it. It has inputs, and a leaf has none.",
    ),
    Probe(
        "named_parameters of a net with f0, f1 and a number scale; f0 has an f with an offset; f1 "
        "has a number gain and an f with weight, bias and shift",
        _tree,
        [
            "scale",
            "f0.weight",
            "f0.bias",
            "f0.f.offset",
            "f1.gain",
            "f1.f.weight",
            "f1.f.bias",
            "f1.f.shift",
        ],
        "A module's own come first, then those of its modules in the order of assignment, with the "
        "module's name and a dot in front.",
        [
            Mistake(
                "Only the module's own tensors are there. Its modules have parameters as well, and "
                "so have theirs.",
                value=["scale"],
            ),
            Mistake(
                "All are there, and the names are not: the module's name and a dot stand in front, "
                "on each level.",
                when=lambda seen: len(seen) == 8 and "f1.f.weight" not in seen,
            ),
            Mistake(
                "f1.f.weight is missing, where f0.weight has been listed. They are two tensors: "
                "what is listed once is the tensor, not its name.",
                when=lambda seen: "f1.f.shift" in seen and "f1.f.weight" not in seen,
            ),
            Mistake(
                "f0.f is listed, and f1.f is not. They are two modules, whatever they are called.",
                when=lambda seen: "f0.f.offset" in seen and "f1.f.weight" not in seen,
            ),
            Mistake(
                "scale and gain are missing: a parameter may be a single number, of shape ().",
                when=lambda seen: len(seen) == 6 and not {"scale", "f1.gain"} & {*seen},
            ),
            Mistake(
                "One level down it ends. A module's modules have modules, too: let each list its "
                "own.",
                when=lambda seen: "f1.gain" in seen and "f1.f.weight" not in seen,
            ),
            Mistake(
                "Two tensors that hold the same number, scale and gain, were taken for one. Ask "
                "whether they are the same object.",
                when=lambda seen: "scale" in seen and len(seen) == 7 and "f1.gain" not in seen,
            ),
            Mistake(
                "The names are right, the order is not: a module's own first, then its modules'.",
                when=lambda seen: (
                    sorted(seen)
                    == [
                        *("f0.bias", "f0.f.offset", "f0.weight", "f1.f.bias", "f1.f.shift"),
                        *("f1.f.weight", "f1.gain", "scale"),
                    ]
                ),
            ),
        ],
    ),
    Probe(
        "named_parameters of a module to which a module second was assigned, and then first",
        _by_assignment,
        ["second.weight", "first.weight"],
        "Modules come in the order in which they were assigned, as vars(self) has it.",
    ),
    Probe(
        "named_parameters of a module with one module under two names, and one tensor under a "
        "third",
        _shared,
        ["tied"],
        "Each tensor is listed once, under the name that comes first: an optimizer must not step "
        "it twice.",
    ),
    Probe(
        "named_parameters, twice; again, after another tensor was assigned; and of a module "
        "without any",
        _later,
        [[["weight"], ["weight"]], [[2.0]], []],
        "It tells what is there at the moment: look anew in each call.",
    ),
    Probe("The calls of hooks on another module", _others, 0, _TABLE),
    Probe(
        "A forward pre-hook that looks, on a module that doubles 3: the result, whether it got the "
        "module, and the arguments",
        _pre_looks,
        [[6.0], [[True, [[3.0]]]]],
        _PRE,
        [
            Mistake("It was never called.", when=lambda seen: seen[1] == []),
            Mistake(
                "It was called twice in one call of the module: does super().__call__ call hooks "
                "that you have called already?",
                when=lambda seen: len(seen[1]) > 1,
            ),
            Mistake(_PRE, trouble=("NoneType", "argument")),
        ],
    ),
    Probe(
        "Two forward pre-hooks, one times ten and one plus one, on a module that doubles 3; the "
        "first gives a tuple, then a tensor alone",
        _pre_replaces,
        [[62.0], [62.0]],
        _PRE,
        [
            Mistake(
                "What they give back is not used: forward got the old arguments.",
                when=lambda seen: seen == [[6.0], [6.0]],
            ),
            Mistake(
                "The second hook did not get what the first gave back, or they are called in the "
                "opposite order.",
                when=lambda seen: seen[0] in ([8.0], [80.0]),
            ),
            Mistake(
                "A pre-hook may give one tensor alone: make a tuple of it.",
                trouble=("after *", "not iterable", "argument", "subscriptable"),
            ),
        ],
    ),
    Probe(
        "A forward pre-hook that turns the two arguments of x * 2 + y around, 1 and 10",
        _pre_turns,
        [21.0],
        "Where a pre-hook gives a tuple, all of it takes the place of the arguments.",
    ),
    Probe(
        "A forward hook that looks, on a module that doubles 3: the result; whether it got the "
        "module, the argument, the result",
        _post_looks,
        [[6.0], [[True, [3.0], [6.0]]]],
        _POST,
        [
            Mistake("It was never called.", when=lambda seen: seen[1] == []),
            Mistake(
                "Its None became the module's result. None means: leave it as it is.",
                trouble=("NoneType",),
            ),
        ],
    ),
    Probe(
        "Two forward hooks, one times ten and one plus one, on a module that doubles 3",
        _post_replaces,
        [61.0],
        _POST,
        [
            Mistake("What they give back is not used.", value=[6.0]),
            Mistake(
                "They are called in the opposite order: first registered, first called.",
                value=[70.0],
            ),
            Mistake(
                "The second hook did not get what the first gave back, or the first is not there "
                "any more: a module may have several.",
                value=[7.0],
            ),
        ],
    ),
    Probe(
        "The argument that a forward hook gets, where a pre-hook has replaced it by ten times it",
        _args_that_forward_got,
        [[30.0]],
        "A forward hook gets the arguments that forward got.",
    ),
    Probe(
        "Who is called in net(x), with both kinds of hooks on all four modules of the worked "
        "example",
        _inner_call,
        [
            "into net",
            "into f0",
            "out of f0",
            "into f1",
            "into f",
            "out of f",
            "out of f1",
            "out of net",
        ],
        "Modules inside are called as functions as well, and have their hooks: pre-hooks, forward, "
        "hooks, for each.",
    ),
    Probe(
        "The calls with one hook of each kind; after the first handle's remove, once more, after "
        "the second one's, and once more",
        _removed,
        [2, 1, 1, 0, 0],
        "A handle takes off its own hook, and doing so again is harmless.",
        [Mistake("A second remove should do nothing.", trouble=("KeyError", "ValueError"))],
    ),
    Probe(
        "A forward hook that removes itself, with another one behind it, in two calls",
        _self_removing,
        ["once", "always", "always"],
        "Hooks may be removed while hooks are being called. Go through a copy of the table.",
        [
            Mistake(
                "The table changed while you went through it: go through a copy, list(...).",
                trouble=("changed size", "mutated"),
            ),
        ],
    ),
    Probe(
        "Who is called when module.forward(x) is called by itself",
        _forward_itself,
        [],
        "Hooks belong to the call of the module. forward is the bare computation: whoever calls it "
        "by itself gets no hooks.",
    ),
    _handles("register_forward_pre_hook"),
    _handles("register_forward_hook"),
    Probe(
        "The gradients of all parameters of the worked example",
        _gradients_flow,
        lambda: _on_minigrad(),
        "What a module computes is a graph like any other.",
    ),
]


def _on_minigrad() -> list[Any]:
    import minigrad as torch

    x, w0, b0, w1, b1 = (
        torch.tensor(v, dtype=torch.float64, requires_grad=True)
        for v in ([[0.3]], [[0.3]], [0.1], [[0.4]], [0.2])
    )
    (((((x @ w0 + b0) @ w1 + b1) ** 2) - 1) ** 2).backward()
    return [listed(p.grad) for p in (w0, b0, w1, b1)]


# ------------------------------------------------------------------ 17.7

FULL, LEGACY = "register_full_backward_hook", "register_backward_hook"


class Pupil:
    """A hook that notes what it is given, and gives back a multiple of grad_input, or nothing."""

    def __init__(self, factor: float | None = None) -> None:
        self.calls: list[Any] = []
        self.modules: list[Any] = []
        self.factor = factor

    def __call__(self, module: Any, grad_input: Any, grad_output: Any) -> Any:
        """Note."""
        for name, value in (("grad_input", grad_input), ("grad_output", grad_output)):
            _is_tuple(value, name)
        self.modules.append(module)
        self.calls.append([[listed(g) for g in grad_input], [listed(g) for g in grad_output]])
        if self.factor is None:
            return None
        return tuple(None if g is None else self.factor * g for g in grad_input)


def gradients(net: Any, x: float = 0.3, needs: bool = True) -> list[Any]:
    """Run the worked example, and give the gradients of x and of the four parameters."""
    leaf = tensor([[x]], needs)
    parameters = [p for _, p in _pairs(net.named_parameters())]
    for each in parameters:
        each.grad = None
    ((net(leaf) - 1) ** 2).backward()
    return [listed(each.grad) for each in (leaf, *parameters)]


def _example(register: str) -> Callable[[Any], list[Any]]:
    def run(made: Any) -> list[Any]:
        net, pupil = chain(made), Pupil()
        getattr(net.f1, register)(pupil)
        gradients(net)
        if any(module in (net, net.f0, net.f1.f) for module in pupil.modules):
            raise Objection(
                "A hook on f1 was called for another module. Each module has tables of hooks of "
                "its own, made in __init__, and a hook's first argument is the module on which it "
                "is."
            )
        if any(module is not net.f1 for module in pupil.modules):
            raise Objection("The first argument of a hook is the module on which it is.")
        return pupil.calls

    return run


def _unhooked(made: Any) -> list[Any]:
    return gradients(chain(made))


def _with_hook(
    register: str, factor: float | None, where: str = "f1"
) -> Callable[[Any], list[Any]]:
    def run(made: Any) -> list[Any]:
        net = chain(made)
        getattr(getattr(net, where), register)(Pupil(factor))
        return gradients(net)

    return run


def _on_package(register: str, factor: float | None = None, where: str = "f1") -> Callable[[], Any]:
    """Run the worked example on minigrad itself: the calls, or with a factor the gradients."""

    def run() -> Any:
        import warnings

        import minigrad as torch
        from minigrad import nn

        def linear(weight: float, bias: float) -> Any:
            layer: Any = nn.Linear(1, 1, dtype=torch.float64)
            with torch.no_grad():
                layer.weight.fill_(weight)
                layer.bias.fill_(bias)
            return layer

        class Squared(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.f = linear(0.4, 0.2)

            def forward(self, x: Any) -> Any:
                return self.f(x) ** 2

        net = nn.Sequential(linear(0.3, 0.1), Squared())
        pupil = Pupil(factor)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(net[1] if where == "f1" else net[0], register)(pupil)
            x = torch.tensor([[0.3]], dtype=torch.float64, requires_grad=True)
            ((net(x) - 1) ** 2).backward()
        if factor is None:
            return pupil.calls
        return [listed(each.grad) for each in (x, *net.parameters())]

    return run


def _twice(made: Any) -> list[Any]:
    net, pupil = chain(made), Pupil()
    net.f0.register_full_backward_hook(pupil)
    x = tensor([[0.3]], True)
    net.f0(net.f0(x)).sum().backward()
    return pupil.calls


def _calls_itself(made: Any) -> list[Any]:
    class Again(made):
        depth = 0

        def forward(self, x: Any) -> Any:
            self.depth += 1
            return self(x * 2) * 10 if self.depth == 1 else x * 3

    module, pupil = Again(), Pupil()
    module.register_full_backward_hook(pupil)
    module(tensor([3.0], True)).backward()
    return pupil.calls


def _used_aside(made: Any) -> list[Any]:
    module, pupil = _module(made, lambda x: x * 2 + 1), Pupil()
    module.register_full_backward_hook(pupil)
    x = tensor([3.0], True)
    product = x * 2
    (module(product) + 5 * product).backward()
    return [pupil.calls, listed(x.grad)]


def _handed_through(made: Any) -> list[Any]:
    module, pupil = _module(made, lambda x: x), Pupil(10.0)
    module.register_full_backward_hook(pupil)
    x = tensor([3.0], True)
    product = x * 2
    (module(product) * 3 + 5 * product).backward()
    return [pupil.calls, listed(x.grad)]


def _kept_result(made: Any) -> list[Any]:
    kept: list[Any] = []

    def forward(x: Any) -> Any:
        kept.append(x * 2)
        return kept[-1]

    module, pupil = _module(made, forward), Pupil()
    module.register_full_backward_hook(pupil)
    result: Any = module(tensor([3.0], True)) + 5 * kept[0]
    result.backward()
    return pupil.calls


def _on_data(made: Any) -> list[Any]:
    net, pupil = chain(made), Pupil()
    net.f0.register_full_backward_hook(pupil)
    gradients(net, needs=False)
    return pupil.calls


def _data_alone(made: Any) -> list[Any]:
    module, net, pupil = _module(made, lambda x: x * 2), chain(made), Pupil()
    module.register_full_backward_hook(pupil)
    ((net(module(tensor([[0.15]]))) - 1) ** 2).backward()
    bias = dict(_pairs(net.named_parameters()))["f0.bias"]
    return [pupil.calls, listed(bias.grad)]


def _answer_on_data(made: Any) -> list[Any]:
    net = chain(made)
    net.f0.register_full_backward_hook(
        lambda module, grad_input, grad_output: (10.0 + grad_output[0],)
    )
    return gradients(net, needs=False)


def _registered_late(register: str) -> Callable[[Any], list[str]]:
    def run(made: Any) -> list[str]:
        net, calls = chain(made), list[str]()

        def named(name: str) -> Callable[..., None]:
            return lambda *_: calls.append(name)

        getattr(net.f1, register)(named("before"))
        loss = (net(tensor([[0.3]], True)) - 1) ** 2
        getattr(net.f1, register)(named("after"))
        loss.backward()
        return calls

    return run


def _several(register: str) -> Callable[[Any], list[Any]]:
    def run(made: Any) -> list[Any]:
        net, first, second = chain(made), Pupil(10.0), Pupil()
        getattr(net.f1, register)(first)
        getattr(net.f1, register)(second)
        gradients(net)
        return [first.calls, second.calls]

    return run


def _two_passes(register: str) -> Callable[[Any], list[Any]]:
    def run(made: Any) -> list[Any]:
        net, pupil = chain(made), Pupil()
        getattr(net.f1, register)(pupil)
        found = []
        for x in (0.3, 0.7):
            gradients(net, x)
            found.append(len(pupil.calls))
        loss = (net(tensor([[0.3]], True)) - 1) ** 2
        loss.backward()
        loss.backward()
        return [*found, len(pupil.calls), pupil.calls[-1] == pupil.calls[0]]

    return run


def _without_again(register: str) -> Callable[[Any], list[Any]]:
    def run(made: Any) -> list[Any]:
        net, pupil = chain(made), Pupil(2.0)
        handle = getattr(net.f1, register)(pupil)
        if not callable(getattr(handle, "remove", None)):
            raise Objection("Registering has to give a handle: something with a method remove.")
        gradients(net)
        handle.remove()
        handle.remove()
        return [len(pupil.calls), gradients(net)]

    return run


def _nested(made: Any) -> list[Any]:
    net, inner, outer = chain(made), Pupil(), Pupil()
    net.f1.f.register_full_backward_hook(inner)
    net.f1.register_full_backward_hook(outer)
    gradients(net)
    return [inner.calls, outer.calls]


def _last_of_sum(made: Any) -> list[Any]:
    module, pupil = _module(made, lambda x: x * 2 + x * 3), Pupil()
    module.register_backward_hook(pupil)
    module(tensor([3.0], True)).backward(np.array([10.0]))
    return pupil.calls


def _given_twice(register: str) -> Callable[[Any], list[Any]]:
    def run(made: Any) -> list[Any]:
        module, pupil = _module(made, lambda x: x * 2), Pupil()
        getattr(module, register)(pupil)
        result = module(tensor([3.0], True))
        for each in (1.0, 10.0):
            result.backward(np.array([each]))
        return [[[pair[0][0]], pair[1]] for pair in pupil.calls]

    return run


def _leaf_through(made: Any) -> list[Any]:
    module, x, pupil = _module(made, lambda x: x), tensor([3.0], True), Pupil(2.0)
    module.register_backward_hook(pupil)
    (module(x) * 3).backward()
    return [pupil.calls, listed(x.grad)]


def _doubled_sum(made: Any) -> Any:
    module, x = _module(made, lambda x: x * 2 + x * 3), tensor([3.0], True)
    module.register_backward_hook(Pupil(2.0))
    module(x).backward()
    return listed(x.grad)


def _forward_hooks_too(made: Any) -> list[str]:
    net, calls = chain(made), list[str]()
    net.f1.register_forward_pre_hook(lambda *_: calls.append("before"))
    net.f1.register_forward_hook(lambda *_: calls.append("after"))
    net.f1.register_full_backward_hook(lambda *_: calls.append("backward"))
    gradients(net)
    return calls


_S, _X1 = [[-1.847648 * 0.552]], [[-1.847648 * 0.552 * 0.4]]
_FULL = (
    "A full hook gets what leaves the module at its argument, and what arrives at its result. Each "
    "needs a node of this call's own: an identity in front of forward, and one behind it."
)
_LEGACY = (
    "A legacy hook sits on the operation that made the result: it gets what this one operation "
    "makes of the gradient that arrives, and this gradient."
)
_SWAPPED = (
    "grad_input and grad_output have changed places: what arrives at the result is grad_output."
)


_TUPLE = (
    "A module's hook gives back a tuple, and a tensor's hook an array: take it out of the tuple."
)


_CHAINED = (
    "First registered, first called, and each hook gets the grad_input that the one before it gave "
    "back."
)
_ALONE = Mistake(
    "The first hook is never called: only the last one is left. A module may have several.",
    when=lambda seen: seen[0] == [] and len(seen[1]) == 1,
)
_LATE = Mistake(
    "The first hook is never called, and the second one more than once. Does a function that is "
    "made in a loop use the loop's variable? It looks it up when it runs, and finds the last one.",
    when=lambda seen: seen[0] == [] and len(seen[1]) > 1,
)


def _calls_are(*pair: Any) -> Callable[[Any], bool]:
    return lambda seen: (
        len(seen) == 1
        and all(
            np.shape(a[0]) == np.shape(b) and np.allclose(a[0], b)
            for a, b in zip(seen[0], pair, strict=True)
        )
    )


def _late(register: str) -> Probe:
    return Probe(
        f"{register}: who is called, with one hook registered before the module was called, and "
        "one after that",
        _registered_late(register),
        ["before"],
        "Those hooks count that are there when the module is called: note them then, in a list.",
    )


MODULE_HOOKS = [
    Probe(
        "The gradients of the worked example without any hook",
        _unhooked,
        lambda: [g for g in _plain()],
        "Where no hook is registered, the module does what it did before.",
        [
            Mistake(
                "Does __init__ begin with super().__init__()? The class below makes its tables "
                "there.",
                trouble=("has no attribute",),
            ),
        ],
    ),
    Probe(
        "A full hook on f1 of the worked example: grad_input and grad_output of each call",
        _example(FULL),
        _on_package(FULL),
        _FULL,
        [
            Mistake("It was never called.", value=[]),
            Mistake(
                "That is what a legacy hook sees: the gradient inside, in front of the last "
                "operation. What leaves the module is known at its argument only.",
                when=_calls_are(_S, [[-1.847648]]),
            ),
            Mistake(
                "grad_input is None, and the argument requires a gradient. Wait until it is there.",
                when=lambda seen: len(seen) == 1 and seen[0][0] == [None],
            ),
            Mistake(_SWAPPED, when=_calls_are([[-1.847648]], _X1)),
            Mistake(
                "Both are what arrives at the result. grad_input is what leaves the module at the "
                "other end, when all of it has run.",
                when=_calls_are([[-1.847648]], [[-1.847648]]),
            ),
            Mistake(
                "It is called more than once in a pass: once for each call of the module, when "
                "both gradients are there.",
                when=lambda seen: len(seen) > 1,
            ),
            Mistake(_TUPLE, trouble=("'tuple'", "sequence", "inhomogeneous")),
            Mistake(
                "A hook that gives None back leaves grad_input as it is: ask `is None` before you "
                "use what it gave. And if it was not that: when the hook was called, one of the "
                "two gradients had not arrived yet. The one at the result comes first.",
                trouble=("NoneType",),
            ),
            Mistake(
                "When the hook was called, one of the two gradients had not arrived yet. The one "
                "at the result comes first: keep it until the other comes.",
                trouble=("KeyError", "UnboundLocal", "IndexError"),
            ),
            Mistake(
                "The rule of an identity gives a tuple, too, with one gradient, (g,); and a "
                "gradient has the shape of its tensor.",
                trouble=("'axis'", "zip()", "not iterable", "AxisError"),
            ),
            Mistake(
                "A hook is called with three things: hook(module, grad_input, grad_output).",
                trouble=("positional argument",),
            ),
        ],
    ),
    Probe(
        "The gradients with a full hook on f1 that doubles grad_input: x, f0's two, f1.f's two",
        _with_hook(FULL, 2.0),
        _on_package(FULL, 2.0),
        "What a full hook gives back replaces what leaves the module: all from there toward the "
        "inputs is doubled, and the module's own parameters are not.",
        [
            Mistake("What the hook gives back is not used.", value=lambda: _plain()),
            Mistake(
                "Nothing arrived beyond f1: at its argument the graph is cut. The identity "
                "has to be a result, x.result(...), that keeps the argument as its input.",
                when=lambda seen: None in seen[:3],
            ),
            Mistake(
                "f1's own parameters are doubled, too: that is what a legacy hook does. Replace "
                "the gradient at the argument, behind all of the module.",
                value=_on_package(LEGACY, 2.0),
            ),
            Mistake(_TUPLE, trouble=("tuple", "ValueError", "TypeError", "sequence")),
        ],
    ),
    Probe(
        "A full hook on a module whose argument is used elsewhere too: the pair, and x.grad",
        _used_aside,
        [[[[[2.0]], [[1.0]]]], [14.0]],
        "A hook on the argument itself sees all its uses, also those that go past the module. Lead "
        "the argument through a node that belongs to this call.",
    ),
    Probe(
        "A full hook that gives ten times grad_input, on a module that returns its argument",
        _handed_through,
        [[[[[3.0]], [[3.0]]]], [70.0]],
        "Such a module has no node of its own: the result, too, has to be led through one.",
    ),
    Probe(
        "A full hook on a module that keeps its result in self.last, where the loss uses both, the "
        "result and 5 times the last",
        _kept_result,
        [[[[12.0]], [[1.0]]]],
        "grad_output is what arrives at the result that was handed out, and nothing that goes past "
        "it: lead the result through a node of this call, too.",
    ),
    Probe(
        "A full hook on a module that is called twice, f0(f0(x))",
        _twice,
        [[[[[0.3]]], [[[1.0]]]], [[[[0.09]]], [[[0.3]]]]],
        "Each call has its own pair: what was kept for one must not be found by the other.",
    ),
    Probe(
        "A full hook on a module that calls itself once: forward is 10 times itself of 2 * x, and "
        "inside 3 * x",
        _calls_itself,
        [[[[30.0]], [[10.0]]], [[[60.0]], [[1.0]]]],
        "One call lies inside of the other here, and what arrives at the outer one has to wait "
        "until the inner one is through: keep it for each call by itself, in a variable of "
        "__call__, and not on the module or in one place for all.",
    ),
    Probe(
        "A full hook on f0 where the data need no gradient",
        _on_data,
        lambda: [[[None], [_plain_at_x1()]]],
        "At the argument nothing will ever arrive. So the hook is called at the result, with None "
        "for grad_input.",
        [
            Mistake(
                "It was never called. Where the argument needs no gradient, call the hook when the "
                "one at the result is there.",
                value=[],
            ),
        ],
    ),
    Probe(
        "The gradients with a full hook on f0 that gives ten more than grad_output, where the data "
        "need none: x, f0's two, f1.f's two",
        _answer_on_data,
        lambda: [None, *_plain()[1:]],
        "What a hook gives back takes the place of grad_input. Where the argument needs no "
        "gradient, nobody is there to get it; what arrives at the result goes to the parameters "
        "as it is.",
    ),
    Probe(
        "A full hook on a module without parameters, between data and the net: its calls, and the "
        "gradient of f0.bias",
        _data_alone,
        lambda: [[], _plain()[2]],
        "Neither the argument nor the result requires a gradient, so nothing arrives, and nothing "
        "is to be done.",
    ),
    _late(FULL),
    Probe(
        "Full hooks on f1 and on the layer inside of it: the inner one's pairs, the outer one's",
        _nested,
        lambda: [[[[_X1], [_S]]], [[[_X1], [[[-1.847648]]]]]],
        "Each module keeps what arrives in a place of its own.",
    ),
    Probe(
        "Two full hooks on f1, the first gives ten times what it got: what each of them gets",
        _several(FULL),
        lambda: [_on_package(FULL)(), [[[[[10 * _X1[0][0]]]], [[[-1.847648]]]]]],
        _CHAINED,
        [_LATE, _ALONE],
    ),
    Probe(
        "The number of calls after one pass and after two, after two more through one graph, and "
        "whether these got the same as the first",
        _two_passes(FULL),
        [1, 2, 4, True],
        "A hook is called in each pass with what has arrived in this pass.",
    ),
    Probe(
        "What a full hook on x * 2 gets in two passes through one graph, with 1 and 10 given",
        _given_twice(FULL),
        [[[[2.0]], [[1.0]]], [[[20.0]], [[10.0]]]],
        "What was kept from the first pass must not be found by the second: each pass has its own "
        "pair.",
    ),
    Probe(
        "The calls of a full hook that is removed after one pass, and the gradients after that",
        _without_again(FULL),
        lambda: [1, _plain()],
        "Whoever was removed is not called by the next forward, and its gates are not needed.",
    ),
    _handles(FULL),
    Probe(
        "A legacy hook on f1 of the worked example: grad_input and grad_output of each call",
        _example(LEGACY),
        _on_package(LEGACY),
        _LEGACY,
        [
            Mistake("It was never called.", value=[]),
            Mistake(
                "That is what a full hook sees. The legacy kind knows nothing of the module's "
                "argument: it sits on the last operation.",
                when=_calls_are(_X1, [[-1.847648]]),
            ),
            Mistake(
                "It is called more than once: once in a pass, when the operation's rule runs.",
                when=lambda seen: len(seen) > 1,
            ),
            Mistake(_SWAPPED, when=_calls_are([[-1.847648]], _S)),
            Mistake(
                "Both are what arrives. grad_input is what the operation's rule makes of it.",
                when=_calls_are([[-1.847648]], [[-1.847648]]),
            ),
        ],
    ),
    Probe(
        "The gradients with a legacy hook on f1 that doubles grad_input: x, f0's two, f1.f's two",
        _with_hook(LEGACY, 2.0),
        _on_package(LEGACY, 2.0),
        "What a legacy hook gives back goes on from the last operation, to everything below it: "
        "f1's own parameters are among that.",
        [
            Mistake("What the hook gives back is not used.", value=lambda: _plain()),
            Mistake(
                "Only what lies between f1 and the inputs is doubled, as by a full hook. What the "
                "last operation sends goes to f1's own parameters, too.",
                value=_on_package(FULL, 2.0),
            ),
        ],
    ),
    Probe(
        "A legacy hook on x * 2 + x * 3, with 10 arriving: the pair",
        _last_of_sum,
        [[[[10.0], [10.0]], [[10.0]]]],
        "The last operation is the sum. It has two inputs, so grad_input has two entries, whatever "
        "the module's arguments are.",
    ),
    Probe(
        "A legacy hook on a module that returns its argument, a leaf: its calls, and x.grad of "
        "3 times the result",
        _leaf_through,
        [[], [3.0]],
        "No operation has made this result, so there is nothing to hook: the module does what it "
        "did before.",
    ),
    Probe(
        "x.grad with a legacy hook that doubles, on x * 2 + x * 3",
        _doubled_sum,
        [10.0],
        "What the hook gives back takes the place of all that the operation sends: here two "
        "entries, for x * 2 and for x * 3.",
    ),
    Probe(
        "Two legacy hooks on f1, the first gives ten times what it got: what each of them gets",
        _several(LEGACY),
        lambda: [_on_package(LEGACY)(), [[[[[10 * _S[0][0]]]], [[[-1.847648]]]]]],
        _CHAINED,
        [_LATE, _ALONE],
    ),
    _late(LEGACY),
    Probe(
        "What a legacy hook on x * 2 gets in two passes through one graph, with 1 and 10 given",
        _given_twice(LEGACY),
        [[[[2.0]], [[1.0]]], [[[20.0]], [[10.0]]]],
        "Each pass shows what has arrived in this pass.",
    ),
    Probe(
        "Legacy: the number of calls after one pass and after two, after two more through one "
        "graph, and whether these got the same as the first",
        _two_passes(LEGACY),
        [1, 2, 4, True],
        "It is called once for each pass through what its module has computed.",
    ),
    Probe(
        "The calls of a legacy hook that is removed after one pass, and the gradients after that",
        _without_again(LEGACY),
        lambda: [1, _plain()],
        "Whoever was removed is not put on the next forward's last operation.",
    ),
    _handles(LEGACY),
    Probe(
        "The order of a forward pre-hook, a forward hook and a full hook on f1",
        _forward_hooks_too,
        ["before", "after", "backward"],
        "Forward hooks go on working: build on super().__call__, which calls them.",
        [
            Mistake(
                "The forward hooks are not called any more: forward was called by itself, past "
                "__call__ of the class below.",
                when=lambda seen: "before" not in seen or "after" not in seen,
            ),
        ],
    ),
]


def _plain() -> list[Any]:
    found: list[Any] = _on_package(FULL, 1.0)()
    return found


def _plain_at_x1() -> Any:
    return _X1
