"""Play several MPI processes in one, for exercise 16.3: messages that arrive when waited for."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.classroom.exercises import Objection


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
        self.done = False

    def Wait(self, status: Any = None) -> bool:
        """Wait for the message to arrive."""
        if self.process.in_backward:
            raise Objection(
                "It waits inside backward, for each gradient, so nothing overlaps. Start in the "
                "hook, wait in finish."
            )
        if self.done and self not in self.process.requests:
            raise Objection(
                "finish waits once more for the messages of an earlier step. Clear the list when they "
                "have come, or it grows with every step."
            )
        if not self.done:
            if not np.array_equal(self.send, self.began, equal_nan=True):
                raise Objection(
                    "What is sent was changed before Wait, while MPI may still be reading it. "
                    "Don't change it until then."
                )
            self.receive[...] = self.process.total(self.number).reshape(self.receive.shape)
            self.done = True
        return True

    wait = Wait


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

    def Iallreduce(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> Request:
        """Begin to add up what all processes send."""
        receive = self._array(recvbuf)
        inplace = type(sendbuf).__name__ == "InPlaceType"
        send = receive if inplace else self._array(sendbuf)
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
                    "of its own until it has been waited for."
                )
        request = Request(self, send, receive)
        self.requests.append(request)
        self.early += self.in_backward
        return request

    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> None:
        """Add up what all processes send, and wait for it."""
        self.Iallreduce(sendbuf, recvbuf, op).Wait()

    def total(self, number: int) -> Any:
        """Add up what all sent in the message with this number: MPI pairs them by their order."""
        if number not in self.totals:
            sent = [
                each.requests[number].send for each in self.world if number < len(each.requests)
            ]
            if len(sent) < self.size or len({each.size for each in sent}) > 1:
                raise Objection(
                    "The processes have not all started the same messages in their backward pass. "
                    "Start one in every hook, on every process."
                )
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
