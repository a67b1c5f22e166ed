"""See inference mode: which tensors are made in it, and what they refuse outside of it."""

from __future__ import annotations

import copy
import pickle

from .tools import Family, leaf, linear, numbers

family = Family()


def facts(tensor):
    """Tell what a tensor says of itself, in words."""

    def ask(question):
        try:
            return question()
        except RuntimeError as error:
            return str(error)[:60]

    return {
        "inference": tensor.is_inference(),
        "requires_grad": tensor.requires_grad,
        "leaf": ask(lambda: tensor.is_leaf),
        "grad_fn": ask(lambda: None if tensor.grad_fn is None else tensor.grad_fn.name()),
        "version": ask(lambda: tensor._version),
        "view": tensor._is_view(),
        "base": tensor._base is not None,
    }


def tensors(torch):
    """Give a leaf, a result, a tensor without gradient and two inference tensors, by name."""
    x = leaf(torch, (3,), 1)
    with torch.inference_mode():
        made = torch.tensor(numbers((3,), 2))
        requiring = torch.tensor(numbers((3,), 3), requires_grad=True)
    return {
        "leaf": x,
        "result": x * 2,
        "plain": torch.tensor(numbers((3,), 4)),
        "inference": made,
        "inference leaf": requiring,
    }


def made(torch, *, requires_grad=False):
    """Give an inference tensor."""
    with torch.inference_mode():
        return torch.tensor(numbers((3,), 5), requires_grad=requires_grad)


@family
def creation(torch, log):
    """What creation functions give in inference mode, with and without requires_grad."""
    array = torch.ones(3).numpy()
    given = torch.ones(3)
    with torch.inference_mode():
        for name, result in (
            ("tensor", torch.tensor([1.0])),
            ("requiring", torch.tensor([1.0], requires_grad=True)),
            ("zeros", torch.zeros(2, requires_grad=True)),
            ("ones_like", torch.ones_like(given)),
            ("full", torch.full((2,), 3.0)),
            ("arange", torch.arange(3)),
            ("linspace", torch.linspace(0, 1, 3)),
            ("eye", torch.eye(2)),
            ("empty", torch.empty(2)),
            ("rand", torch.rand(2)),
            ("randperm", torch.randperm(2)),
            ("from_numpy", torch.from_numpy(array)),
            ("as_tensor of a list", torch.as_tensor([1.0])),
            ("as_tensor of an array", torch.as_tensor(array)),
            ("as_tensor of a tensor", torch.as_tensor(given)),
            ("Tensor", torch.Tensor([1.0])),
        ):
            log(name, facts(result))


@family
def results_and_views(torch, log):
    """Results of operations are inference tensors; views are what they are views of."""
    actions = {
        "itself": lambda t: t,
        "times 2": lambda t: t * 2,
        "plus itself": lambda t: t + t,
        "exp": lambda t: t.exp(),
        "sum": lambda t: t.sum(),
        "view": lambda t: t.view(3, 1),
        "entry": lambda t: t[0],
        "slice": lambda t: t[1:],
        "view of a view": lambda t: t.view(3, 1)[0],
        "transposed": lambda t: t.view(3, 1).t(),
        "reshaped": lambda t: t.reshape(3, 1),
        "expanded": lambda t: t.expand(2, 3),
        "one of several": lambda t: t.unbind(0)[1],
        "picked": lambda t: t[[0, 2]],
        "detached": lambda t: t.detach(),
        "data": lambda t: t.data,
        "cloned": lambda t: t.clone(),
        "contiguous": lambda t: t.contiguous(),
        "same type": lambda t: t.float(),
        "other type": lambda t: t.double(),
        "flag set": lambda t: t.detach().requires_grad_(),
        "clone's flag set": lambda t: t.clone().requires_grad_(),
    }
    for kind, tensor in tensors(torch).items():
        with torch.inference_mode():
            for name, action in actions.items():
                log(kind, name, facts(action(tensor)))


@family
def operations_of_many_kinds(torch, log):
    """Comparisons, choices, reductions, products, joined tensors: all are inference tensors."""
    a = torch.tensor(numbers((3, 3), 6))
    whole = torch.tensor([0, 2])
    with torch.inference_mode():
        for name, result in (
            ("compared", a > 0),
            ("equal", a == a),
            ("not", ~(a > 0)),
            ("all", (a > 0).all()),
            ("isnan", a.isnan()),
            ("argmax", a.argmax()),
            ("max", a.max(0)[0]),
            ("max's places", a.max(0)[1]),
            ("where", torch.where(a > 0, a, a)),
            ("stacked", torch.stack([a, a])),
            ("joined", torch.cat([a, a])),
            ("mean", a.mean()),
            ("softmax", a.softmax(0)),
            ("product", a @ a),
            ("indexed", a[whole]),
            ("whole numbers", a.long()),
            ("mixed types", a + whole[0]),
        ):
            log(name, result.is_inference(), result.requires_grad, result._is_view())


@family
def numbers_met_in_the_mode(torch, log):
    """A Python number that met a tensor in inference mode may meet recorded ones later."""
    x = leaf(torch, (2,), 7)
    with torch.inference_mode():
        log("inside", (x * 3.25).is_inference())
    y = x * 3.25
    y.sum().backward()
    log("outside", facts(y), x.grad)


@family
def parameters_and_modules(torch, log):
    """Parameters and modules that are made in the mode, used and changed outside."""
    with torch.inference_mode():
        log("of an inference tensor", facts(torch.nn.Parameter(torch.ones(2))))
        layer = linear(torch, [[1.0, 2.0]], [3.0])
        log("in the mode", facts(layer.weight), layer(torch.ones(1, 2)))
    plain = torch.ones(2)
    with torch.inference_mode():
        log("of a plain tensor", facts(torch.nn.Parameter(plain)))
    log("weight", facts(layer.weight))
    log.raises("used outside", lambda: layer(torch.ones(1, 2, requires_grad=True)))
    log.raises("changed outside", lambda: torch.nn.init.zeros_(layer.weight))
    log.raises("a parameter outside", lambda: torch.nn.Parameter(made(torch)))
    still = torch.nn.Parameter(made(torch), requires_grad=False)
    log("without gradient", still.is_inference(), still.requires_grad)
    copied = copy.deepcopy(layer)
    log("copied", copied.weight.is_inference(), copied.weight.requires_grad)
    copied(torch.ones(1, 2)).backward()
    log("trained", copied.weight.grad)


@family
def copies_and_pickles(torch, log):
    """Copies and pickles are what the mode makes of them when they are made."""
    plain = torch.ones(2, requires_grad=True)
    inference = made(torch)
    with torch.inference_mode():
        log("in the mode", [facts(each(plain))["inference"] for each in (_copied, _pickled)])
        log("a copy's flag", _copied(plain).requires_grad, _pickled(plain).requires_grad)
    log("outside", [facts(each(inference))["inference"] for each in (_copied, _pickled)])
    log("usable", (_pickled(inference) * plain.sum()).requires_grad)


def _copied(tensor):
    return copy.deepcopy(tensor)


def _pickled(tensor):
    return pickle.loads(pickle.dumps(tensor))


# ------------------------------------------------------------------ nested modes


@family
def modes_within_the_mode(torch, log):
    """no_grad, enable_grad and inference_mode(False) inside: what is recorded, what is made."""
    x = leaf(torch, (3,), 1)
    requiring = made(torch, requires_grad=True)

    def look(name):
        log(name, torch.is_grad_enabled(), torch.is_inference_mode_enabled())
        log("results", facts(x * 2), facts(x.view(3, 1)), facts(torch.ones(2)))
        log("of inference", facts(requiring[1:]), facts(requiring + x))

    with torch.inference_mode():
        look("in the mode")
        with torch.enable_grad():
            look("enabled")
        with torch.no_grad():
            look("disabled")
            with torch.inference_mode(False):
                look("left within no_grad")
            look("back")
        with torch.inference_mode(False):
            look("left")
            with torch.no_grad():
                look("disabled outside")
            with torch.inference_mode():
                look("entered again")
        look("back")
    with torch.no_grad(), torch.inference_mode(False):
        look("no_grad undone")
    look("after")


@family
def restored_after_errors(torch, log):
    """An error leaves the mode."""
    for mode in (True, False):
        with torch.no_grad():
            try:
                with torch.inference_mode(mode):
                    raise LookupError("planted")
            except LookupError:
                log("left", torch.is_grad_enabled(), torch.is_inference_mode_enabled())
    log("after", torch.is_grad_enabled(), torch.is_inference_mode_enabled())


@family
def asked_of_what_is_no_tensor(torch, log):
    """torch.is_inference takes a tensor."""
    log("tensors", torch.is_inference(made(torch)), torch.is_inference(torch.ones(2)))
    log.raises("a number", lambda: torch.is_inference(3))
