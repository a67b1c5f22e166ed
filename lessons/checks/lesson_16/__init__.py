"""Check the exercises of lesson 16, on what frameworks build on hooks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import Function, Hook, Numbers
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import same

from ..models import layer
from . import meters, pictures, ranks
from .processes import Process

__all__ = ["EXERCISES", "meters", "pictures", "ranks"]

Answer = Callable[..., Any]

# --- 16.1: step inside backward, once for several micro-batches

_FIRST = [[0.5, -0.3], [0.2, 0.8]], [0.1, -0.2]
_LAST = {"": ([[1.5, -0.9]], [0.4]), "same": ([[0.7, 0.4], [-0.6, 0.9]], [0.3, 0.1])}


def steps_run(answer: Answer) -> dict[str, Any]:
    """Train small models in the answer's way, in micro-batches."""
    rows = [[0.3, -1.2], [0.8, 0.5], [-0.7, 0.9], [1.1, 0.2], [-0.4, -0.6], [0.6, 1.3]]
    x, y = torch.tensor(rows), torch.tensor([[0.9], [-0.5], [0.3], [1.2], [-1.0], [0.4]])
    most: list[int] = []

    def backward(model: Any, at: int) -> list[Any]:
        ((model(x[at : at + 1]) - y[at : at + 1]) ** 2).mean().backward()
        return [p.detach().tolist() for p in model.parameters()]

    def start(every: int, kind: str = "", optimizer: str = "SGD", **options: Any) -> Any:
        def make(parameters: Sequence[Tensor]) -> Any:
            parameters = list(parameters)
            most.append(len(parameters))
            return getattr(torch.optim, optimizer)(parameters, lr=0.05, **options)

        first = layer(*_FIRST)
        last = first if kind == "tied" else layer(*_LAST.get(kind, _LAST[""]))
        model = nn.Sequential(first, nn.Tanh(), last)
        first.weight.requires_grad_(kind != "frozen")
        handles = answer(model, make, every)
        if not isinstance(handles, list | tuple) or not all(hasattr(h, "remove") for h in handles):
            raise Objection("steps_every has to return the handles, so that all can be undone.")
        return model, handles

    def trained(many: int, *how: Any, **options: Any) -> list[Any]:
        model, _ = start(*how, **options)
        return [backward(model, at) for at in range(many)][-1]

    after = "the list of parameters after"
    model, handles = start(2)
    seen: dict[str, Any] = {
        f"with every=2, {after} {at + 1} micro-batches": backward(model, at) for at in range(4)
    }
    seen |= {
        f"with every=1, {after} two batches": trained(2, 1),
        f"with every=3 and momentum, {after} six micro-batches": trained(6, 3, momentum=0.9),
        f"with Adam and every=2, {after} four micro-batches": trained(4, 2, optimizer="Adam"),
        f"with one layer used twice and every=2, {after} two micro-batches": trained(2, 2, "tied"),
        f"with two layers of one shape, {after} two micro-batches": trained(2, 2, "same"),
        f"with a frozen weight and every=2, {after} two micro-batches": trained(2, 2, "frozen"),
        "the largest number of parameters that were given to one optimizer": max(most),
    }
    for handle in handles:
        handle.remove()
    start_at = [p.detach().tolist() for p in model.parameters()]
    moved = [backward(model, at) for at in range(4)][-1]
    count = sum(a != b for a, b in zip(start_at, moved, strict=True))
    return seen | {"with all handles removed, the number of parameters that still move": count}


STEPS = Hook(
    id="16.1",
    asks="steps_every(model, make, every), which steps each parameter inside backward, once for "
    "`every` micro-batches and by the mean of their gradients, and returns the handles",
    scenario=steps_run,
    digits=4,
    right="Each parameter keeps its own count. But the gradients wait for the last micro-batch now, so "
    "no memory is saved any more: the two tricks don't go together.",
    hints=(
        "The hook is called once for each parameter in each pass. Whose calls should be counted? "
        "And what is in .grad after two backward passes?",
        "Keep a dict with a number for each parameter. When the number is a multiple of `every`, "
        "divide p.grad by every, step with the optimizer of p, and empty p.grad.",
    ),
    mistakes=r"""
        ~ if p.requires_grad] => if True]
        ! require gradient, requires grad
            A frozen parameter can't have a hook: leave out those that require no gradient.
        ~ register_post_accumulate_grad_hook(step) => register_hook(lambda g, p=p: step(p))
        ~ register_post_accumulate_grad_hook(step) => register_hook(lambda g, p=p: step(p) if p.grad is not None else None)
        ! NoneType
            A tensor hook is called before the gradient is added to .grad, so it steps with what the
            last pass left there, or with nothing.
        ~ return [p.register => [p.register
        ! return the handles
            Without them you can't remove your hooks.
        ~ fromkeys(trained, 0) => fromkeys([0], 0)
        | calls[p] => calls[0]
        ~ fromkeys(trained, 0) => fromkeys([0], 0)
        | calls[p] => calls[0]
        | p.grad /= every => pass
            It still counts the calls of all parameters together, so some of them step in each
            micro-batch and others never do.
        ~ p.grad /= every => pass
            The counting is right now. The second bug is still there: .grad holds the sum over the
            micro-batches, and the whole batch's gradient is the mean.
        ~ \n            p.grad /= every =>
        | calls[p] += 1 => calls[p] += 1\n        p.grad /= every
            The gradient is divided in each pass, so what came in earlier passes is divided again.
            Divide once, before the step.
        ~ p.grad /= every => p.grad /= calls[p]
            You divide by a count that goes on growing. A step has `every` micro-batches.
        ~ calls[p] % every == 0 => calls[p] == every
            Each parameter steps once, and never again: the count goes on beyond `every`. Ask for a
            multiple, or start the count again after each step.
        ~ calls[p] % every == 0 => calls[p] >= every
            Once the number has reached `every` it steps in each micro-batch. A step is due at each
            multiple.
        ~ if calls[p] % every == 0: => if True:
        ~ if calls[p] % every == 0: => if True:
        | p.grad /= every => pass
            It steps in every micro-batch. `every` says how many belong together.
        ~ \n            p.grad = None =>
        ~ \n            p.grad = None =>
        | p.grad /= every => pass
            It steps, but doesn't empty .grad: the old gradient goes into the next step.
        ~ \n            p.grad = None => \n        p.grad = None
        ~ \n            p.grad = None => \n        p.grad = None
        | p.grad /= every => pass
            It throws away the gradients of the first micro-batches. Each has to stay until the
            step, so that the next is added to it.
        ~ dict.fromkeys(trained, 0) => {p.shape: 0 for p in trained}
        | calls[p] => calls[p.shape]
            Where two parameters have the same shape they share a count or an optimizer: what do you
            look them up by?
        ~ {p: make([p]) for p in trained} => dict.fromkeys(trained, make(trained))
        ? seen["the largest number of parameters that were given to one optimizer"] > 1
            make([p]) is for one parameter. Make an optimizer for each.
        ~ optimizers[p].step() => make([p]).step()
            A new optimizer for each step has no memory of the steps before. Make each once.
        > def steps_every(model, make, every):
        >     handles, calls = [], {}
        >     for p in model.parameters():
        >         if p.requires_grad:
        >             optimizer = make([p])
        >             def step(p):
        >                 calls[p] = calls.get(p, 0) + 1
        >                 if calls[p] % every == 0:
        >                     p.grad /= every
        >                     optimizer.step()
        >                     p.grad = None
        >             handles.append(p.register_post_accumulate_grad_hook(step))
        >     return handles
        ? alike(seen["with every=1, the list of parameters after two batches"][:3], [*_FIRST, _LAST[""][0]])
            Only the last of the parameters moves. A function that's defined in a loop sees the
            loop's variable as it is at the end.
    """,
)

# --- 16.2: large floats in half precision

LARGEST = 65504  # of float16
_FLOATS = [0.1, -0.7, 1.3, 2.71828, -3.3333, 0.0123]
_GIVEN: dict[str, tuple[list[Any], str]] = {
    "a float32 tensor of 6 numbers": (_FLOATS, "float32"),
    "a float32 tensor of shape (2, 3)": ([_FLOATS[:3], _FLOATS[3:]], "float32"),
    "a float32 tensor of 3 numbers": (_FLOATS[:3], "float32"),
    "a float32 tensor of 4 numbers": (_FLOATS[:4], "float32"),
    "an int64 tensor of 6 numbers": ([3, 70001, -2, 5, 1, 9], "int64"),
    "a bool tensor of 6 entries": ([True, False, True, True, False, False], "bool"),
    "a float16 tensor of 6 numbers": (_FLOATS, "float16"),
    **{
        f"a float32 tensor that holds {number}": ([0.1, 1.3, float(number), -0.7, 0.3], "float32")
        for number in (LARGEST, -LARGEST, 65510, 70001, -70001)
    },
    "a float32 tensor that holds 48000 twice": ([48000.0, 0.5, -48000.0, 1.5], "float32"),
    "a float64 tensor of 6 numbers": (_FLOATS, "float64"),
}


def _bytes(thing: Any, depth: int = 0) -> int:
    """Count the bytes of arrays that something holds on to."""
    if isinstance(thing, Tensor | np.ndarray):
        return int(thing.nbytes)
    if depth > 4:
        return 0
    if inspect.isfunction(thing):
        held = [cell.cell_contents for cell in thing.__closure__ or ()]
        return _bytes([*held, *(thing.__defaults__ or ())], depth + 1)
    if not isinstance(thing, list | tuple):
        thing = list(
            (thing if isinstance(thing, dict) else getattr(thing, "__dict__", {})).values()
        )
    return sum(_bytes(each, depth + 1) for each in thing)


def halves_run(answer: Answer) -> dict[str, Any]:
    """Pack and unpack tensors of all kinds, by themselves and within a network."""

    def pair(fewest: int) -> tuple[Answer, Answer]:
        found = answer(fewest)
        if not isinstance(found, tuple | list) or [*map(callable, found)] != [True, True]:
            raise Objection("half_hooks has to return two functions: (pack, unpack).")
        return found[0], found[1]

    pack, unpack = pair(4)
    given = {
        name: torch.tensor(numbers, dtype=getattr(torch, dtype))
        for name, (numbers, dtype) in _GIVEN.items()
    }
    packed = {name: pack(tensor) for name, tensor in given.items()}  # all before the first unpack
    seen: dict[str, Any] = {
        "the list of tensors that pack has changed": [
            name for name, tensor in given.items()
            if not torch.equal(tensor, torch.tensor(_GIVEN[name][0], dtype=tensor.dtype))
        ]
    }  # fmt: skip
    for name in given:
        back = unpack(packed[name])
        if not isinstance(back, Tensor):
            kind = type(back).__name__
            raise Objection(f"unpack has to give back a tensor; of {name} it gives a {kind}.")
        seen[f"the dtype that unpack gives for {name}"] = str(back.dtype)
        seen[f"what unpack gives for {name}"] = back.tolist()
        seen[f"the number of bytes that pack keeps of {name}"] = _bytes(packed[name])
    other, _ = pair(100)
    six = torch.tensor(_FLOATS, dtype=torch.float32)
    seen["the number of bytes that pack keeps of 6 numbers where fewest is 100"] = _bytes(
        other(six)
    )
    x = torch.tensor([[0.3, -1.2, 0.8], [0.5, 0.7, -0.4]], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        loss = nn.functional.cross_entropy((x * 2).tanh(), torch.tensor([2, 0]))
        loss = loss + x[:, torch.tensor([0, 2])].exp().sum()
    (first,) = torch.autograd.grad(loss, x, retain_graph=True)
    return seen | {
        "the gradient of a network that saves integers, too,": first,
        "the gradient of a second pass through the same graph": torch.autograd.grad(loss, x)[0],
    }


HALVES = Hook(
    id="16.2",
    asks="half_hooks(fewest), which returns (pack, unpack): large float tensors are kept in "
    "float16 and come back in their own dtype, all others stay as they are",
    scenario=halves_run,
    right="Half the memory where it pays, and nothing spoiled where it doesn't.",
    hints=(
        "What does unpack have to know besides the numbers? pack may return anything, a tuple too.",
        "Ask three questions in pack: is it float32 or float64, does it have enough entries, is "
        "its largest entry in size within 65,504? Return the dtype together with the half.",
    ),
    mistakes=r"""
        ~ return tensor.dtype, => if fits: return tensor.dtype,
        ! 'NoneType' object, NoneType object
            Did unpack get None? Then pack has to return something for every tensor, even for one
            that it leaves as it is.
        ~ packed[1].to(packed[0]) => packed.float()
        ! unpack has, to unpack, not iterable, 'tuple' object, 'Tensor' object is not
            unpack gets exactly what pack returned: both have to agree on what that is.
        ~ return tensor.dtype, tensor.half() if fits else tensor => half_hooks.kept[id(tensor)] = tensor.dtype, tensor.half() if fits else tensor\n        return id(tensor)
        | packed[1].to(packed[0]) => (lambda kept: kept[1].to(kept[0]))(half_hooks.kept.pop(packed))
        | return pack, => half_hooks.kept = {}\n    return pack,
        ! KeyError, IndexError, pop
            A graph that is retained is walked twice, so unpack may be called a second time for the
            same thing.
        ~ return tensor.dtype, => return tensor,
        | packed[1].to(packed[0]) => packed[1].to(packed[0].dtype)
        ? seen["the number of bytes that pack keeps of a float32 tensor of 6 numbers"] > 24
            pack keeps the half and the whole, so nothing is saved. Keep the dtype, not the tensor.
        ~ return tensor.dtype, => half_hooks.dtype = tensor.dtype\n        return tensor.dtype,
        | packed[1].to(packed[0]) => packed[1].to(half_hooks.dtype)
        ? "64" in seen["the dtype that unpack gives for a float32 tensor of 6 numbers"]
            If pack leaves its note in one place for all, the tensor that is packed last decides:
            put the note into what pack returns.
        ~ floats and tensor.numel() => tensor.numel()
        ! Long, int64, index, not implemented for, Bool
        ? any(seen[name] != right[name] for name in seen if "an int64" in name or "a bool" in name)
            Leave everything alone that isn't a float: integers that were saved for an index or a
            class have to come back as they were.
        ~ tensor.half() if fits else tensor => tensor
            Nothing is packed: pack keeps as many bytes as came in.
        ~ packed[1].to(packed[0]) => packed[1]
            The numbers come back in float16. unpack has to give the dtype that came in.
        ~ packed[1].to(packed[0]) => packed[1].float() if packed[1].dtype == torch.float16 else packed[1]
            What was float64 or float16 comes back as float32: pack has to note the dtype.
        ~ and tensor.abs().max() <= 65504 =>
            A number beyond 65,504 came back as infinity. Look at the largest entry first, and leave
            such a tensor as it is.
        ~ tensor.abs().max() => tensor.max()
            The largest number is within bounds, but the most negative one isn't: look at the sizes.
        ~ and tensor.abs().max() <= 65504 =>
        | tensor.half() => tensor.clamp(-65504, 65504).half()
            You cut the numbers off at the bound, which changes them. Leave the whole tensor alone
            if it has a large entry.
        ~ tensor.abs().max() <= 65504 => not tensor.half().isinf().any()
            float16 rounds 65,510 down to its largest number, without a warning. Compare the
            entries themselves with the bound, before they're converted.
        ~ abs().max() => abs().sum()
        ~ abs().max() => norm()
            You add the sizes up, as in a sum or a norm. What counts is the largest.
        ~ <= 65504 => < 65504
            65,504 itself still fits into float16. Your bound leaves it out.
        ~ and tensor.numel() >= fewest =>
            Small tensors are packed too: what does `fewest` say?
        ~ numel() >= fewest => numel() > fewest
            A tensor with just `fewest` entries is one of the large ones.
        ~ tensor.numel() >= => len(tensor) >=
        ~ tensor.numel() >= => tensor.nbytes >=
            `fewest` counts entries: not the rows of a matrix, and not bytes.
        ~ (torch.float32, torch.float64) => (torch.float32,)
            float64 is left as it is. It can be packed as well.
    """,
)

# --- 16.3: average gradients between processes while backward is running


def messages_run(answer: Answer) -> dict[str, Any]:
    """Run several processes for a step or two, and look at the gradients of one of them."""
    square, shapes = [[0.4, -0.7], [0.9, 0.3]], {
        "": ([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.4]], [0.1, 0.0, -0.2]),
        "last": ([[1.5, -0.9, 0.7], [0.3, 0.6, -1.1]], [0.4, -0.5]),
    }  # fmt: skip

    def start(size: int, kind: str = "") -> list[tuple[Process, nn.Sequential, Any]]:
        world: list[Process] = []
        for rank in range(size):
            Process(world, rank)
        started = []
        for process in world:
            first = layer(*shapes[""]) if kind in ("", "frozen") else layer(square, [0.2, -0.1])
            last = {"tied": first, "same": layer(square, [0.3, 0.1])}.get(kind)
            model = nn.Sequential(first, nn.Tanh(), last or layer(*shapes["last"]))
            first.weight.requires_grad_(kind != "frozen")
            finish = answer(model, process)
            if not callable(finish):
                raise Objection("It has to return a function, to be called after backward.")
            started.append((process, model, finish))
        return started

    def step(started: list[tuple[Process, nn.Sequential, Any]], number: int) -> Any:
        for process, model, _ in started:
            process.begin()
            model.zero_grad()
            x = torch.tensor([[0.3, -1.2], [0.8, 0.5]]) * (1 + 0.3 * process.rank) + 0.2 * number
            loss = ((model(x) - 0.5 * number) ** 2).mean()
            process.in_backward = True
            loss.backward()
            process.in_backward = False
        if not any(process.early for process, _, _ in started):
            raise Objection(
                "When backward ended, no message had been started. Start each in a hook, as "
                "soon as its gradient is there, and leave the hooks on."
            )
        for _, _, finish in started:
            finish()
        model = started[len(started) // 2][1]  # of four neither the first nor the last
        return [None if p.grad is None else p.grad.tolist() for p in model.parameters()]

    started = start(2)
    process = started[1][0]
    return {
        "the list of gradients after the first step": step(started, 0),
        "the number of messages started while backward was running": process.early,
        "the list of the sizes of all messages in a step, sorted,": sorted(
            request.send.size for request in process.requests
        ),
        "unwaited": sum(not request.done for request in process.requests),
        "the list of gradients after the second step": step(started, 1),
        "the list of gradients with four processes": step(start(4), 1),
        "the list of gradients of a layer that is used twice": step(start(2, "tied"), 1),
        "the list of gradients where two layers have one shape": step(start(2, "same"), 1),
        "the list of gradients where a weight is frozen": step(start(2, "frozen"), 1),
    }


MESSAGES = Hook(
    id="16.3",
    asks="average_in_backward(model, comm), which registers hooks that start a message for each "
    "gradient while backward runs, and returns finish(), which waits and leaves the mean over the "
    "processes in .grad",
    scenario=messages_run,
    digits=4,
    right="Backward never waits, and after finish every process holds the same gradients.",
    hints=(
        "The hook starts a message and notes what finish will need: which parameter, which "
        "request, and the array that receives.",
        "In the hook: receive in np.empty_like(p.grad.numpy()), and append (p, request, total) to "
        "a list. In finish: for each entry wait, divide the total by comm.Get_size(), copy it into "
        "p.grad; at the end clear the list.",
    ),
    mistakes=r"""
        ~ comm.Iallreduce(p.grad.numpy(), => comm.Iallreduce(p.grad,
        ! expecting buffer
            MPI sends NumPy arrays. p.grad.numpy() is the gradient's memory as one.
        ~ filter(lambda p: p.requires_grad, model.parameters()) => model.parameters()
        ! require gradient
            A frozen parameter can't have a hook: leave out those that require no gradient.
        ~ register_post_accumulate_grad_hook(start) => register_hook(lambda g, p=p: start(p))
        ! NoneType
            When this hook ran, the .grad it looked at was empty. A tensor hook is called before
            the gradient is stored. And a function that's defined in a loop may look at another
            parameter than the one it's called for.
        ~ register_post_accumulate_grad_hook(start) => register_post_accumulate_grad_hook(lambda _: p.grad is None or start(p))
        ! sent from one memory
            A function that's defined in a loop sees the loop's variable as it is at the end, so
            one parameter is sent several times. Use what the hook gets.
        ~ in running: => in [(q, *job[1:]) for q, job in zip(filter(lambda q: q.requires_grad, model.parameters()), running)]:
        ! assign a gradient of size, broadcast, must match, shape
            Gradients come in the order of backward, not of registration: note with each request
            which parameter it belongs to.
        ~ \n        running.clear() =>
        ! of an earlier step
            A list that is never emptied is walked from its start in each step.
        ~ request.Wait() => pass
        ? seen["unwaited"]
            You never wait for some of the messages, so their sums may not be there yet.
        ~ p.grad.numpy(), total), total)) => p.grad.numpy(), total), total.copy()))
        ? "nan" in str(seen["the list of gradients after the first step"])
            The array that receives was read before Wait, when the sum was not in it yet.
        ~ total / comm.Get_size() => total
            The gradients are the sum over the processes. You are asked for the mean.
        ~ p.grad.copy_(torch.from_numpy(total / comm.Get_size())) => pass
            The messages come and go, and .grad still holds this process's own gradient. Put the
            mean into it.
        ~ p.grad.copy_ => p.grad.add_
            The mean is added to this process's own gradient. It should replace it.
        ~ total = np.empty_like(p.grad.numpy()) => total = p.grad.numpy()
        ! same memory
            total and what is sent have to be two arrays.
        ~ comm.Iallreduce(p.grad.numpy(), total) => comm.Allreduce(p.grad.numpy(), total)
        ! inside backward
            Allreduce waits too.
        ~ return finish => return finish()
        ! return a function
            finish() calls it at once, before any message has started. Return finish itself.
        ~ p.register_post_accumulate_grad_hook(start) => pass
        ! no message had been started
            Is the hook registered on each parameter?
    """,
)

# --- 16.4: by hand, when the last message ends

_DOWN = [6, 5, 4, 3, 2, 1]
_WAYS = {
    "a": [[each] for each in _DOWN],
    "b": [_DOWN],
    "c": [[6, 5], [4, 3], [2, 1]],
    "d": [[1, 2], [3, 4], [5, 6]],
}


def over(
    there: Callable[[list[int]], int] = min, start: int = 7, each: int = 3, waits: bool = True
) -> list[int]:
    """Let the messages of each way go, in their order, and tell when the last one is over.

    Args:
        there: the layer whose gradient a message waits for, of its layers.
        start: what a message takes by itself.
        each: what it takes more for each layer in it.
        waits: whether it waits for the message before it.
    """
    found = []
    for groups in _WAYS.values():
        line, ends = 0, []
        for layers in groups:
            line = max(4 * (7 - there(layers)), line if waits else 0) + start + each * len(layers)
            ends.append(line)
        found.append(max(ends))
    return found


def follows(answer: Any, wrong: Sequence[int]) -> bool:
    """Tell whether the first wrong number of an answer is that of a wrong rule."""
    trios = zip(answer, over(), wrong, strict=True)
    return next(same(a, c, 4) for a, b, c in trios if not same(a, b, 4))


TIMING = Numbers(
    id="16.4",
    asks="when the last message ends: (a) one for each layer, (b) one for all, (c) in pairs "
    "from layer 6 on, (d) in pairs from layer 1 on",
    expected=over,
    right="Compare with your sentence: (a) pays six times for a message's start; (b) leaves the "
    "line idle until backward ends, and so does (d), because its first pair is complete last. "
    "(c) pays three times, and starts while most of backward is still to come.",
    hints=(
        "Draw two lines of time, one below the other: on the upper one when each gradient is "
        "there, on the lower one the messages.",
        "For each message take the later of two times: its last gradient is there, the message "
        "before has ended. Add 7, and 3 for each layer in it. The first one of (a) goes from 4 "
        "to 14.",
    ),
    mistakes="""
        = [over()[at] for at in (0, 1, 3, 2)]
            (c) and (d) are swapped: whose gradient comes first in backward?
        = sorted(over())
        ? sorted(answer) == sorted(over())
            The numbers fit, their order doesn't: (a), (b), (c), (d).
        = [*over()[:3], over()[2]]
            (d): the pair of layers 1 and 2 goes first, and the others wait for it. When are its
            gradients there?
        = over(start=0)
        ? follows(answer, over(start=0))
            A message takes 7 ms of its own, however short it is.
        = over(each=0, start=10)
        ? follows(answer, over(each=0)) or follows(answer, over(each=0, start=10))
            A message takes 3 ms more for each layer in it.
        = over(each=10, start=0)
        ? follows(answer, over(each=10, start=0))
            The 7 ms come once for a message, however many layers are in it.
        = over(waits=False)
        ? follows(answer, over(waits=False))
            The line is busy until the message before has ended. Does yours wait for it?
        = over(there=lambda layers: 1)
        ? follows(answer, over(there=lambda layers: 1))
            Messages don't wait until backward ends, and backward doesn't wait for them.
        = over(there=max)
        ? follows(answer, over(there=max))
            A message starts when all of its gradients are there, not at the first of them.
        = [each - 24 for each in over()]
        ? follows(answer, [each - 24 for each in over()])
            Count from where backward begins, not from its end.
        = [54, 24, 34, 50]
        ? follows(answer, [54, 24, 34, 50])
            That's when the last message starts. When does it end?
    """,
)

# --- 16.5: which gradients travel together

BUCKETS = Function(
    id="16.5",
    asks="buckets_of(sizes, limit), a list of buckets, each a list of places in sizes: filled from "
    "the last place on, closed as soon as it holds limit bytes or more",
    inputs=lambda rng: [
        ([40, 4, 60, 6, 20, 2], 64),
        ([5, 6, 7], 1),
        ([5, 6, 7], 100),
        ([30, 10, 20, 12], 32),
        ([7, 3, 8], 8),
        ([rng.randint(1, 30) for _ in range(9)], 32),
        ([9], 9),
        ([8, 4, 8, 4, 16, 8], 12),
    ],
    right="PyTorch does the same, with a limit of 25 MB, and 1 MB for the first bucket, so that "
    "the first message leaves early.",
    hints=(
        "Go through the places from the last one. When is a bucket full: before the entry that "
        "fills it, or after?",
        "Append the place, add its size to a running count; if the count has come to the limit, "
        "put the bucket into the result and begin an empty one with a count of 0. At the end put "
        "in what is left, if there is something.",
    ),
    mistakes=r"""
        ~ reversed(range(len(sizes))) => range(len(sizes))
            The buckets are filled from the first place on. Whose gradient comes first?
        ~ reversed(range(len(sizes))) => range(len(sizes) - 1, 0, -1)
            Place 0 is in no bucket. Where does the countdown end?
        ~ append(place) => append(sizes[place])
            The entries are sizes. You are asked for the places, 0 for the first parameter.
        ~ append(place) => append(len(sizes) - 1 - place)
            You count from the end: 0 is the parameter that was registered first.
        ~ held >= limit => held > limit
        | = [], limit => = [], limit + 1
            A bucket that holds exactly the limit is full. Yours goes on.
        ~ held >= limit => not buckets or held + sizes[place] > limit
            You close a bucket before it would exceed the limit. Here the entry that fills it goes
            in, and then it is closed.
        ~ return buckets => return buckets if held >= limit else buckets[:-1]
            What is left at the end is lost: these parameters would never be averaged.
        ~ append(place) => append(sizes.index(sizes[place]))
            Entries of equal size get the same place: index finds the first of them. Go through the
            places instead.
        ~ return buckets => return [[] for _ in buckets]
        ? any([] in made[:-1] for made in seen)
            Buckets come out empty: if you put one list in and then empty it, it's empty where you
            put it, too. Begin a new list for each.
        ~ [*buckets, []], 0 => [*buckets, []], held - limit
            What a bucket holds beyond the limit is counted into the next one. Its parameter stays
            where it is, with all its bytes: begin at 0.
        ~ return buckets => return buckets[::-1]
        ~ return buckets => return [bucket[::-1] for bucket in buckets]
            The buckets are right, but they or the places in them are in the order of registration.
            The gradient that arrives first comes first.
        ~ held += sizes[place] => held += 1
            The limit counts bytes, not parameters.
        ~ buckets_of(sizes, limit): => buckets_of(sizes, limit, buckets=[]):
        | buckets, held = [], limit => held = limit
        | buckets, held = [*buckets, []], 0 => held = buckets.append([]) or 0
        ? any([] != before == now[: len(before)] != now for before, now in zip(seen, seen[1:]))
            It contains what an earlier call returned. Begin with an empty list in each call.
    """,
)

# --- 16.6: send only what is large

_STEPS = ([0.5, -2.0, 0.1, 0.9], [0.95, 0.3, 0.2, 0.85], [0.1, -0.2, 1.1, 0.07])


def compress_run(answer: Answer) -> dict[str, Any]:
    """Compress the gradients of several parameters over some steps."""

    def made(keep: int) -> Answer:
        compress = answer(keep)
        if not callable(compress):
            raise Objection("compressor has to return a function, compress(name, gradient).")

        def checked(name: str, numbers: list[Any]) -> Any:
            gradient = torch.tensor(numbers)
            sent = compress(name, gradient)
            if gradient.tolist() != torch.tensor(numbers).tolist():
                raise Objection("It changed the gradient that it was given. Make a new tensor.")
            if not isinstance(sent, Tensor):
                raise Objection(f"compress has to return a tensor, not a {type(sent).__name__}.")
            return sent.detach().clone()  # as it is sent: what changes later is not in it

        return checked

    one, matrix = made(1), made(2)
    first = one("a", _STEPS[0])
    other = one("b", [0.3, 0.7, -0.4, 0.2])
    return {
        "what is sent of 'a' in step 1": first,
        "what is sent of 'b' in step 1": other,
        "what is sent of 'a' in step 2": one("a", _STEPS[1]),
        "what is sent of 'b' in step 2": one("b", [0.45, 0.02, -0.15, 0.1]),
        "what is sent of 'a' in step 3": one("a", _STEPS[2]),
        "what is sent of a matrix": matrix("w", [[0.4, -1.5, 0.2], [0.9, 0.05, -1.1]]),
        "what is sent of the matrix in step 2": matrix("w", [[0.55, 0.1, 0.3], [0.35, 0.15, 0.2]]),
        "what a second compressor sends at first": made(1)("a", [0.2, 0.1, 0.05, -0.3]),
        "what is sent where keep is larger than the gradient": made(9)("c", [0.5, -0.25, 0.125]),
        "the dtype of what is sent": str(first.dtype),
    }


COMPRESS = Hook(
    id="16.6",
    asks="compressor(keep), which returns compress(name, gradient): of the gradient and what was "
    "left over before it gives the `keep` entries of largest size, zeros elsewhere, and keeps the "
    "rest for the next call with that name",
    scenario=compress_run,
    right="Nothing is lost, it only comes late: what was sent and what is left add up to all the "
    "gradients that came.",
    hints=(
        "What should be remembered between two calls, and under which name?",
        "Keep a dict from name to rest. Add the rest to a new gradient, find the places with "
        "abs().flatten().topk(...), copy those entries into zeros, and remember the difference.",
    ),
    mistakes=r"""
        ~ min(keep, len(sizes)) => keep
        ! out of range, k not in range
            keep may be larger than the number of entries: then all of them are sent.
        ~ rest.get(name, 0) => rest[name]
        ! KeyError, 'NoneType'
            At the first call with a name nothing is left over yet.
        ~ return whole - rest[name] => return (whole - rest[name]).flatten()
        ? any(seen[name].shape != right[name].shape for name in right if "dtype" not in name)
            What you send has another shape than the gradient. Put zeros where nothing is sent.
        ~ .values[-1] => .values[-1] / 2
        ? any(int((seen[f"what is sent of 'a' in step {k}"] != 0).sum()) > 1 for k in (1, 2, 3))
            With keep=1 more than one entry is sent. `keep` is the number of entries.
        ~ sizes = whole => sizes = gradient
        | (whole.abs() < least) => (gradient.abs() < least)
            The choice is made before the rest is added. Add first, then look for the largest.
        ~ .abs() =>
            The entries are chosen with their sign: a large negative one is large, too.
        ~ return whole - rest[name] => return (whole - rest[name]).abs()
            The signs are lost: send the entries, not their sizes.
        ~ gradient + rest.get(name, 0) => gradient
            What isn't sent is forgotten. It should be added to the next gradient.
        ~ return whole - rest[name] => sent, rest[name] = whole - rest[name], whole\n        return sent
            You keep the whole, including what was sent: that part would be sent twice.
        ~ return whole - rest[name] => rest[name] = whole - rest[name]\n        return rest[name]
            You keep what was sent. The rest is what wasn't.
        ~ return whole - rest[name] => sent, rest[name] = whole - rest[name], gradient - whole + rest[name]\n        return sent
            The rest is taken from this step's gradient alone: what was left from earlier steps is
            lost if it's left over again.
        ~ rest.get(name => rest.get(0
        | rest[name] => rest[0]
            One rest is kept for several names. 'b' has to have one of its own.
        ~ rest = {} => rest = compressor.__dict__
            A second compressor begins with what the first had left over: make the memory inside of
            compressor.
        ~ return whole - rest[name] => return gradient * (whole.abs() >= least)
            You send the gradient's own entries. What was left over takes part in the choice, and
            has to be sent with them.
    """,
)

EXERCISES = [STEPS, HALVES, MESSAGES, TIMING, BUCKETS, COMPRESS]
