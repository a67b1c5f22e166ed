"""Check exercise 16.3: average gradients between processes while backward is running."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike

from ..models import layer
from ..observations import Answer, observed

FIRST, SECOND = (f"the list of gradients after the {which} step" for which in ("first", "second"))
FOUR = "the list of gradients with four processes"
SAME = "the list of gradients where two layers have one shape"
TIED = "the list of gradients of a layer that is used twice"
EARLY = "the number of messages started while backward was running"
SIZES = "the list of the sizes of all messages in a step, sorted,"
OPEN = "the number of messages that nobody waited for"
FROZEN = "the number of messages where one parameter is frozen"


class Request:
    """A message under way: it arrives when it is waited for, with what is in the buffers then.

    Until then nobody may rely on what is in `receive`, so it is filled with NaN.

    Args:
        process: who started it.
        send: what is sent.
        receive: where the sum goes.
    """

    def __init__(self, process: Process, send: Any, receive: Any) -> None:
        self.process, self.send, self.receive = process, send, receive
        self.began = send.copy()
        if send is not receive:
            receive.fill(np.nan)
        self.number = len(process.requests)
        self.done, self.asked = False, 0

    def Wait(self, status: Any = None) -> bool:
        """Wait for the message to arrive."""
        if self.process.in_backward:
            raise Objection(
                "It waits inside of backward, for each gradient: nothing overlaps. Start in the "
                "hook, wait in finish."
            )
        if self.done and self not in self.process.requests:
            raise Objection(
                "finish waits once more for the messages of an earlier step. Forget them when they "
                "have come, or there are more with every step."
            )
        if not self.done:
            if not np.array_equal(self.send, self.began, equal_nan=True):
                raise Objection(
                    "What is sent was changed before Wait, while MPI may still be reading it. "
                    "Leave it as it is until then."
                )
            self.receive[...] = self.process.total(self.number).reshape(self.receive.shape)
            self.done = True
        return True

    def Test(self, status: Any = None) -> bool:
        """Tell whether it has arrived: in backward not yet."""
        self.asked += 1
        return False if self.process.in_backward and self.asked < 100 else self.Wait()

    wait, test = Wait, Test


class Process:
    """A communicator as one of several processes sees it; all are played here, one after another.

    Args:
        world: all of them, this one among them.
        rank: its number.
    """

    def __init__(self, world: list[Process], rank: int) -> None:
        self.world, self.rank = world, rank
        self.in_backward = False
        self.early = 0
        self.requests: list[Request] = []
        self.totals: dict[int, Any] = {}
        world.append(self)

    @property
    def size(self) -> int:
        """The number of processes."""
        return len(self.world)

    def Get_size(self) -> int:
        """Give the number of processes."""
        return len(self.world)

    def Get_rank(self) -> int:
        """Give the number of this process."""
        return self.rank

    def Barrier(self) -> None:
        """Wait for all; nobody is late here."""

    def Iallreduce(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> Request:
        """Begin to add up what all processes send."""
        receive = self._array(recvbuf)
        inplace = type(sendbuf).__name__ == "InPlaceType"
        send = receive if inplace else self._array(sendbuf)
        if send.size != receive.size or send.dtype != receive.dtype:
            raise Objection("What is sent and what is received differ in size or dtype.")
        if not inplace and np.shares_memory(send, receive):
            raise Objection(
                "Both buffers are the same memory, which MPI forbids. Receive in an array of its "
                "own."
            )
        for other in (each for each in self.requests if not each.done):
            if np.shares_memory(receive, other.receive):
                raise Objection(
                    "Two messages that are under way receive in the same memory. Each needs an "
                    "array of its own."
                )
            if np.shares_memory(send, other.send):
                raise Objection(
                    "Two messages that are under way are sent from one memory. Each needs an array "
                    "of its own until it has been waited for. If it is one gradient, sent twice: a "
                    "function that is written in a loop sees the loop's variable as it stands in "
                    "the end. Take what the hook is given."
                )
        request = Request(self, send, receive)
        self.requests.append(request)
        self.early += self.in_backward
        return request

    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> None:
        """Add up what all processes send, and wait for it."""
        self.Iallreduce(sendbuf, recvbuf, op).Wait()

    def allreduce(self, sendobj: Any, op: Any = None) -> Any:
        """Do the same with any object."""
        total = np.empty_like(np.asarray(sendobj))
        self.Allreduce(np.asarray(sendobj).copy(), total)
        return total

    def total(self, number: int) -> Any:
        """Add up what all sent in the message with this number: MPI pairs them by their order."""
        if number not in self.totals:
            if any(number >= len(each.requests) for each in self.world):
                raise Objection(
                    "It waits for a message that other processes have not started in their "
                    "backward pass. Start every message in a hook."
                )
            sent = [each.requests[number].send for each in self.world]
            if len({each.size for each in sent}) > 1:
                raise Objection("The processes send messages of different sizes.")
            total = np.sum([each.ravel() for each in sent], axis=0)
            for each in self.world:
                each.totals[number] = total
        return self.totals[number]

    def begin(self) -> None:
        """Begin a step."""
        self.requests, self.totals, self.early = [], {}, 0

    def _array(self, buffer: Any) -> Any:
        if isinstance(buffer, list | tuple) and buffer:
            buffer = buffer[0]
        if not isinstance(buffer, np.ndarray):
            raise TypeError(f"message: expecting buffer, not a {type(buffer).__name__}")
        if not buffer.flags.c_contiguous:
            raise ValueError("ndarray is not contiguous")
        return buffer


def _model(tied: bool = False, same: bool = False) -> nn.Sequential:
    if same:
        first = layer([[0.4, -0.7], [0.9, 0.3]], [0.2, -0.1])
        return nn.Sequential(first, nn.Tanh(), layer([[0.8, 0.5], [-0.2, 0.6]], [0.3, 0.1]))
    if tied:
        both = layer([[0.4, -0.7], [0.9, 0.3]], [0.2, -0.1])
        return nn.Sequential(both, nn.Tanh(), both)
    return nn.Sequential(
        layer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.4]], [0.1, 0.0, -0.2]),
        nn.Tanh(),
        layer(
            [[1.5, -0.9, 0.7], [0.3, 0.6, -1.1], [-0.4, 0.2, 0.8], [0.9, -0.7, 0.1]],
            [0.4, -0.5, 0.3, 0.6],
        ),
    )


def _loss(model: nn.Module, rank: int, step: int) -> Tensor:
    x = torch.tensor([[0.3, -1.2], [0.8, 0.5]]) * (1 + 0.3 * rank) + 0.2 * step
    return ((model(x) - 0.5 * step) ** 2).mean()


def messages_run(answer: Answer) -> dict[str, Any]:
    """Run several processes for a step or two, and look at the gradients of one of them."""
    seen: dict[str, Any] = {}

    def start(size: int, **kind: Any) -> list[tuple[Process, nn.Sequential, Any]]:
        world: list[Process] = []
        for rank in range(size):
            Process(world, rank)
        started = []
        for process in world:
            model = _model(kind.get("tied", False), kind.get("same", False))
            if kind.get("frozen"):
                model[0].weight.requires_grad_(False)
            finish = answer(model, process)
            if finish is None:
                raise Objection("Nothing came back: return the function that waits.")
            if not callable(finish):
                raise Objection(
                    "average_in_backward has to return a function, to be called after backward."
                )
            started.append((process, model, finish))
        return started

    def step(started: list[tuple[Process, nn.Sequential, Any]], number: int) -> Any:
        watched, its_model, _ = started[len(started) // 2]  # of four neither the first nor the last
        before = len(watched.requests)
        for process, model, _ in started:
            process.begin()
            model.zero_grad()
            loss = _loss(model, process.rank, number)
            process.in_backward = True
            loss.backward()
            process.in_backward = False
        if not watched.early:
            raise Objection(
                "In the first step messages were started, in the next one none. The hooks have to "
                "stay, and to start one in every backward pass."
                if before
                else "When backward was over no message had been started. Start each in a hook, as "
                "soon as its gradient is there."
            )
        for _, _, finish in started:
            finish()
        parameters = [p for p in its_model.parameters() if p.requires_grad]
        return [None if p.grad is None else p.grad.detach().tolist() for p in parameters]

    started = start(2)
    process = started[1][0]
    seen[FIRST] = step(started, 0)
    seen[EARLY] = process.early
    seen[SIZES] = sorted(request.send.size for request in process.requests)
    seen[OPEN] = sum(not request.done for request in process.requests)
    seen[SECOND] = step(started, 1)
    seen[FOUR] = step(start(4), 1)
    seen[TIED] = step(start(2, tied=True), 1)
    seen[SAME] = step(start(2, same=True), 1)
    frozen = start(2, frozen=True)
    step(frozen, 1)
    return seen | {FROZEN: len(frozen[1][0].requests)}


def averaging(
    *,
    divides: Callable[[Any], float] = lambda comm: comm.Get_size(),
    puts: Callable[[Any, Any, Any], Any] = lambda own, total, by: total / by,
    sends: Callable[[Any], Any] = lambda p: p.grad.numpy(),
) -> Answer:
    """Make a right `average_in_backward`, or one with a typical mistake.

    Args:
        divides: by what the sum is divided.
        puts: what is put into .grad, of what is in there, the total, and what it is divided by.
        sends: what is sent of a parameter.
    """

    def average_in_backward(model: nn.Module, comm: Any) -> Answer:
        running: list[Any] = []
        parameters = [p for p in model.parameters() if p.requires_grad]

        def start(p: Any) -> None:
            mine = sends(p)
            total = np.zeros_like(mine)
            running.append((p, comm.Iallreduce(mine, total), mine, total))

        def finish() -> None:
            for p, request, _, total in running:
                request.Wait()
                came = puts(p.grad.numpy(), total.reshape(p.shape), divides(comm))
                p.grad.copy_(torch.from_numpy(np.asarray(came)))
            running.clear()

        for p in parameters:
            p.register_post_accumulate_grad_hook(start)
        return finish

    return average_in_backward


def _alone() -> list[Any]:
    model = _model()
    _loss(model, 1, 0).backward()
    return [p.grad.tolist() for p in model.parameters() if p.grad is not None]


def _right() -> dict[str, Any]:
    return messages_run(averaging())


MESSAGES = Hook(
    id="16.3",
    asks="average_in_backward(model, comm), which registers hooks that start a message for each "
    "gradient while backward runs, and returns finish(), which waits and leaves the mean over the "
    "processes in .grad",
    scenario=messages_run,
    reference=averaging(),
    digits=4,
    right="Backward never stands still, and when finish has waited every process holds the same "
    "gradients.",
    hints=(
        "The hook starts a message and writes down what finish will need: which parameter, which "
        "request, and the array that receives.",
        "In the hook: receive in np.empty_like(p.grad.numpy()), and append (p, request, total) to "
        "a list. In finish: for each entry wait, divide the total by comm.Get_size(), copy it into "
        "p.grad; at the end clear the list.",
    ),
    mistakes=[
        Mistake(
            "MPI sends NumPy arrays. p.grad.numpy() is the gradient's memory as one.",
            trouble=("expecting buffer",),
        ),
        Mistake(
            "A frozen parameter takes no hook: leave those out that require no gradient.",
            trouble=("doesn't require gradient", "does not require gradient"),
        ),
        Mistake(
            "When this hook ran, the .grad that it looked at was empty. Either it is of a kind "
            "that comes before the gradient is stored; or a function that is written in a loop "
            "looks at another parameter than the one that it is called for.",
            trouble=("NoneType",),
        ),
        Mistake(
            "Gradients come in the order of backward, not in that of registration: note with each "
            "request which parameter it belongs to.",
            trouble=("assign a gradient of size", "broadcast", "must match", "shape"),
        ),
        Mistake(
            "A hook of this kind has to return nothing.",
            trouble=("should return None", "hook returned"),
        ),
        Mistake(
            "mpi4py's names begin with a capital where arrays are sent: Iallreduce, Wait.",
            trouble=("'Process' object has no attribute",),
        ),
        Mistake(
            "One parameter was sent more than once, and another not at all. A function that is "
            "written in a loop sees the loop's variable as it stands in the end: take what the "
            "hook is given.",
            when=lambda found: len(set(observed(found, SIZES))) < len(observed(found, SIZES)),
        ),
        Mistake(
            "Not each gradient has a message of its own that is started in backward.",
            when=lambda found: (
                observed(found, SIZES) != _right()[SIZES]
                or observed(found, EARLY) != _right()[EARLY]
            ),
        ),
        Mistake(
            "Some messages are never waited for, so what they bring may not be there yet.",
            when=lambda found: observed(found, OPEN) > 0,
        ),
        Mistake(
            "The gradients are the sum over the processes. The mean is asked for.",
            like=averaging(divides=lambda comm: 1),
        ),
        *(
            Mistake(
                "It divides by the number that this process has, not by how many there are.",
                like=averaging(divides=by),
            )
            for by in (lambda comm: comm.Get_rank() or 1, lambda comm: comm.Get_rank() + 1)
        ),
        Mistake(
            "It divides twice: before the message and behind it.",
            like=averaging(divides=lambda comm: comm.Get_size() ** 2),
        ),
        Mistake(
            "It divides by 2. Ask comm how many processes there are.",
            like=averaging(divides=lambda comm: 2),
        ),
        Mistake(
            "It divides by the number of messages. Each sum is one over the processes.",
            like=averaging(divides=lambda comm: len(comm.requests)),
        ),
        Mistake(
            "The array that receives was read before Wait, when the sum was not yet in it.",
            when=lambda found: "nan" in str(observed(found, FIRST)),
        ),
        Mistake(
            "The messages come and go, and .grad still holds what this process has found by "
            "itself. Put the mean into it.",
            when=lambda found: alike(observed(found, FIRST), _alone(), 4),
        ),
        Mistake(
            "What is divided is this process's own gradient, not the total.",
            like=averaging(puts=lambda own, total, by: own / by),
        ),
        Mistake(
            "The mean is added to what this process had found by itself. It should take its place.",
            like=averaging(puts=lambda own, total, by: own + total / by),
        ),
        Mistake(
            "What is sent are the parameters. The gradients are in p.grad.",
            like=averaging(sends=lambda p: p.detach().numpy()),
        ),
    ],
)
