"""Check exercises 16.5 and 16.6: which gradients travel together, and how much of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom.behaviors import Function, Hook, Property, Trial
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike

from ..observations import Answer, observed


def buckets_of(
    sizes: Sequence[int],
    limit: int,
    *,
    turned: bool = True,
    full: Callable[[int, int], bool] = lambda held, limit: held >= limit,
    before: bool = False,
    rest: bool = True,
    empty: bool = False,
    gives: Callable[[int, int], int] = lambda place, size: place,
    resets: Callable[[int, int], int] = lambda held, limit: 0,
) -> list[list[int]]:
    """Fill buckets from the last parameter on; close each as soon as it holds the limit.

    Args:
        sizes: bytes of each parameter, in the order of registration.
        limit: bytes at which a bucket is closed.
        turned: whether to begin at the end.
        full: whether a bucket with so many bytes is closed.
        before: whether it is closed before it would come to hold more than the limit.
        rest: whether what is left makes a last bucket.
        empty: whether an empty last bucket is kept.
        gives: what stands for a parameter, of its place and its size.
        resets: where the count of bytes starts anew when a bucket is closed.
    """
    made: list[list[int]] = [[]]
    held = 0
    order = list(enumerate(sizes))
    for place, size in order[::-1] if turned else order:
        if before and made[-1] and held + size > limit:
            made.append([])
            held = 0
        made[-1].append(gives(place, size))
        held += size
        if not before and full(held, limit):
            made.append([])
            held = resets(held, limit)
    if (not made[-1] and not empty) or (made[-1] and not rest):
        made.pop()
    return made


def _reference(sizes: Sequence[int], limit: int) -> list[list[int]]:
    return buckets_of(sizes, limit)


def _sizes(rng: Random) -> list[tuple[list[int], int]]:
    drawn = [rng.randint(1, 30) for _ in range(9)]
    return [
        ([40, 4, 60, 6, 20, 2], 64),
        ([5, 6, 7], 1),
        ([5, 6, 7], 100),
        ([30, 10, 20, 12], 32),
        ([7, 3, 8], 8),
        (drawn, 32),
        ([9], 9),
        ([8, 4, 8, 4, 16, 8], 12),
    ]


def _by_their_lists(found: Sequence[Trial]) -> list[list[list[int]]]:
    return [[list(bucket) for bucket in trial.result] for trial in found]


def _of_places(size: int, sizes: Sequence[int]) -> list[list[int]]:
    places = list(range(len(sizes)))[::-1]
    return [places[at : at + size] for at in range(0, len(places), size)]


def _like(**changes: Any) -> Callable[..., Any]:
    return lambda sizes, limit: buckets_of(sizes, limit, **changes)


def _reversed_places(sizes: Sequence[int], limit: int) -> list[list[int]]:
    many = len(sizes)
    return [[many - 1 - place for place in bucket] for bucket in buckets_of(sizes, limit)]


def _by_index(sizes: Sequence[int], limit: int) -> list[list[int]]:
    return buckets_of(sizes, limit, gives=lambda place, size: sizes.index(size))


BUCKETS = Function(
    id="16.5",
    asks="buckets_of(sizes, limit), a list of buckets, each a list of places in sizes: filled from "
    "the last place on, closed as soon as it holds limit bytes or more",
    inputs=_sizes,
    reference=_reference,
    properties=[Property("no bucket without anything in it", lambda made, *_: all(map(len, made)))],
    right="PyTorch does it so, with a limit of 25 MB, and 1 MB for the first bucket, so that the "
    "first message leaves early.",
    hints=(
        "Go through the places backward. When is a bucket full: before the entry that fills it, "
        "or after?",
        "Append the place, add its size to a running count; if the count has come to the limit, "
        "put the bucket into the result and begin an empty one with a count of 0. At the end put "
        "in what is left, if there is something.",
    ),
    mistakes=[
        Mistake(
            "Those are generators or other things: give lists in a list.",
            when=lambda found: any(
                trial.result is not None and not isinstance(trial.result, list | tuple)
                for trial in found
            ),
        ),
        Mistake(
            "The buckets are filled from the first place on. Whose gradient is there first?",
            like=_like(turned=False),
        ),
        Mistake(
            "The entries are sizes. Asked for are the places, 0 for the first parameter.",
            like=_like(gives=lambda place, size: size),
        ),
        Mistake(
            "You count from the end: 0 is the parameter that was registered first.",
            like=_reversed_places,
        ),
        Mistake(
            "A bucket that holds exactly the limit is full. Yours goes on.",
            like=_like(full=lambda held, limit: held > limit),
        ),
        Mistake(
            "You close a bucket before it would exceed the limit. Here the entry that fills it "
            "goes in, and then it is closed.",
            like=_like(before=True),
        ),
        Mistake(
            "What is left at the end is lost: these parameters would never be averaged.",
            like=_like(rest=False),
        ),
        Mistake(
            "Entries of equal size get the same place: index finds the first of them. Count the "
            "places along.",
            like=_by_index,
        ),
        Mistake(
            "Buckets come out empty, or all the same: if one list is put in and then emptied, it "
            "is empty where it was put, too. Begin a new list for each.",
            when=lambda found: any([] in made[:-1] for made in _by_their_lists(found)),
        ),
        Mistake("An empty bucket stands at the end.", like=_like(empty=True)),
        Mistake(
            "After the first bucket is full, each that follows is closed at once: does the count "
            "of bytes start anew?",
            like=_like(resets=lambda held, limit: held),
        ),
        Mistake(
            "What a bucket holds beyond the limit is counted into the next. Its parameter stays "
            "where it is, with all its bytes: begin at 0.",
            like=_like(resets=lambda held, limit: held - limit),
        ),
        Mistake(
            "The buckets are right, and they come in the order of registration. The one that is "
            "full first comes first.",
            like=lambda sizes, limit: buckets_of(sizes, limit)[::-1],
        ),
        Mistake(
            "The buckets are right. Within each the places stand in the order of registration, and "
            "not in the order in which they went in.",
            like=lambda sizes, limit: [bucket[::-1] for bucket in buckets_of(sizes, limit)],
        ),
        Mistake(
            "The limit counts bytes, not parameters.",
            like=lambda sizes, limit: buckets_of([1] * len(sizes), limit),
        ),
        Mistake(
            "Each parameter has a bucket of its own. They should be filled up to the limit.",
            when=lambda found: all(
                [1] * len(trial.args[0]) == [*map(len, trial.result)] for trial in found
            ),
        ),
        Mistake(
            "There is one bucket with everything. Close it when it holds the limit.",
            when=lambda found: all(
                [len(trial.args[0])] == [*map(len, trial.result)] for trial in found
            ),
        ),
        Mistake(
            "Those are the places one after the other. Put each bucket into a list of its own.",
            when=lambda found: all(
                sorted(trial.result) == list(range(len(trial.args[0]))) for trial in found
            ),
        ),
        Mistake(
            "Each bucket has as many places as the next. What closes a bucket are the bytes in it.",
            when=lambda found: any(
                all(
                    made == _of_places(size, trial.args[0])
                    for trial, made in zip(found, _by_their_lists(found), strict=True)
                )
                for size in (2, 3, 4)
            ),
        ),
        Mistake(
            "What an earlier call gave is in it again. Begin with an empty list in each call.",
            when=lambda found: any(
                made[-len(both) :] == both
                for made, both in zip(
                    _by_their_lists(found)[1:],
                    (_reference(*a.args) + _reference(*b.args) for a, b in pairwise(found)),
                    strict=True,
                )
            ),
        ),
        Mistake(
            "Some places are missing, or there more than once. Each parameter belongs to one "
            "bucket.",
            when=lambda found: any(
                trial.args[0]
                and sorted(place for bucket in made for place in bucket)
                != list(range(len(trial.args[0])))
                for trial, made in zip(found, _by_their_lists(found), strict=True)
            ),
        ),
    ],
)


# ------------------------------------------------------------------ 16.6

ONE, TWO, THREE = (f"what is sent of 'a' in step {step}" for step in (1, 2, 3))
OTHER = "what is sent of 'b' in step 2"
MATRIX = "what is sent of a matrix"
AGAIN = "what is sent of the matrix in step 2"
ALL = "what is sent where keep is larger than the gradient"
FRESH = "what a second compressor sends at first"
TYPE = "the dtype of what is sent"
_STEPS = ([0.5, -2.0, 0.1, 0.9], [0.95, 0.3, 0.2, 0.85], [0.1, -0.2, 1.1, 0.07])


def compress_run(answer: Answer) -> dict[str, Any]:
    """Compress the gradients of several parameters over some steps."""

    def made(keep: int) -> Answer:
        compress = answer(keep)
        if not callable(compress):
            raise Objection("compressor has to return a function, compress(name, gradient).")

        def checked(name: str, gradient: Tensor) -> Any:
            before = gradient.clone()
            sent = compress(name, gradient)
            if not torch.equal(before, gradient):
                raise Objection(
                    "It changed the gradient that it was given: somebody else may need it. Work on "
                    "a new tensor."
                )
            if sent is None:
                raise Objection("compress gave back nothing: return the tensor that is sent.")
            if not isinstance(sent, Tensor):
                raise Objection(f"compress has to return a tensor, not a {type(sent).__name__}.")
            # handed over as it is sent: what compress changes later is not in it
            return sent.detach().clone()

        return checked

    compress = made(1)
    gradient = torch.tensor(_STEPS[0])
    first = compress("a", gradient)
    seen: dict[str, Any] = {ONE: first, TYPE: str(first.dtype)}
    other = compress("b", torch.tensor([0.3, 0.7, -0.4, 0.2]))
    seen[TWO] = compress("a", torch.tensor(_STEPS[1]))
    seen[OTHER] = compress("b", torch.tensor([0.45, 0.02, -0.15, 0.1]) + 0 * other)
    seen[THREE] = compress("a", torch.tensor(_STEPS[2]))
    matrix = made(2)
    seen[MATRIX] = matrix("w", torch.tensor([[0.4, -1.5, 0.2], [0.9, 0.05, -1.1]]))
    seen[AGAIN] = matrix("w", torch.tensor([[0.55, 0.1, 0.3], [0.35, 0.15, 0.25]]))
    seen[FRESH] = made(1)("a", torch.tensor([0.2, 0.1, 0.05, -0.3]))
    seen[ALL] = made(9)("c", torch.tensor([0.5, -0.25, 0.125]))
    return seen


def compressing(
    *,
    rests: str = "name",
    size: Callable[[Tensor], Tensor] = lambda flat: flat.abs(),
    remembers: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda whole, sent, gradient: (
        whole - sent
    ),
    uses: bool = True,
    chooses: bool = True,
    sends: Callable[[Tensor], Tensor] = lambda kept: kept,
) -> Answer:
    """Make a right `compressor`, or one with a typical mistake.

    Args:
        rests: where the rest is kept: one for each "name", or one for "all".
        size: by what the entries are ordered.
        remembers: what is kept for the next time, of the whole, what is sent, and the gradient.
        uses: whether the rest comes in.
        chooses: whether it takes part in the choice.
        sends: what becomes of the entries kept.
    """

    def compressor(keep: int) -> Answer:
        rest: dict[Any, Tensor] = {}

        def compress(name: str, gradient: Tensor) -> Tensor:
            key = name if rests == "name" else None
            whole = gradient + (rest.get(key, 0) if uses else 0)
            flat = whole.flatten()
            by = size(flat if chooses else gradient.flatten())
            best = by.topk(min(keep, flat.numel())).indices
            sent = torch.zeros_like(flat)
            sent[best] = flat[best]
            sent = sent.reshape(whole.shape)
            rest[key] = remembers(whole, sent, gradient)
            return sends(sent)

        return compress

    return compressor


def _differs(found: Sequence[Trial], *names: str) -> list[str]:
    right = compress_run(compressing())
    return [name for name in names if not alike(observed(found, name), right[name])]


COMPRESS = Hook(
    id="16.6",
    asks="compressor(keep), which returns compress(name, gradient): of the gradient and what was "
    "left over before it gives the `keep` entries of largest size, zeros elsewhere, and keeps the "
    "rest for the next call with that name",
    scenario=compress_run,
    reference=compressing(),
    right="Nothing is lost, it is only late: what was sent and what is left add up to all the "
    "gradients that came.",
    hints=(
        "What is to be remembered between two calls, and for whom?",
        "Keep a dict from name to rest. Add the rest to a new gradient, find the places with "
        "abs().flatten().topk(...), copy those entries into zeros, and remember the difference.",
    ),
    mistakes=[
        Mistake(
            "keep may be larger than the number of entries: then all of them are sent.",
            trouble=("out of range", "k not in range"),
        ),
        Mistake(
            "Gradients come in any shape. Flatten for the search, and give back the shape that "
            "came in.",
            trouble=("shape", "size of tensor", "index", "must match"),
        ),
        Mistake(
            "At the first call with a name nothing is left over yet.",
            trouble=("KeyError", "NoneType"),
        ),
        Mistake(
            "What is sent has another shape than the gradient. Zeros stand where nothing is sent.",
            when=lambda found: tuple(observed(found, ONE).shape) != (4,),
        ),
        Mistake(
            "A matrix comes back in another shape. Flatten for the search, and give back the shape "
            "that came in.",
            when=lambda found: tuple(observed(found, MATRIX).shape) != (2, 3),
        ),
        Mistake(
            "What is sent is what should be left over. Or are the two one tensor, so that what is "
            "done to one is done to both?",
            when=lambda found: alike(
                observed(found, ONE), torch.tensor(_STEPS[0]) - compress_run(compressing())[ONE]
            ),
        ),
        Mistake(
            "With keep=1 nothing is sent. Is the bound itself left out, by > for >=? Or are the "
            "entries emptied again, with those of the rest?",
            when=lambda found: not observed(found, ONE).any(),
        ),
        Mistake(
            "With keep=1 more than one entry is sent. `keep` is the number of entries.",
            when=lambda found: any(
                int((observed(found, name) != 0).sum()) > 1 for name in (ONE, TWO, THREE)
            ),
        ),
        Mistake(
            "The choice is made before the rest is added. Add first, then look for the largest.",
            like=compressing(chooses=False),
        ),
        Mistake(
            "The entries are chosen with their sign: a large negative one is large, too.",
            like=compressing(size=lambda flat: flat),
        ),
        Mistake(
            "The smallest entries are sent, and the largest are kept back.",
            like=compressing(size=lambda flat: -flat.abs()),
        ),
        Mistake(
            "The signs are gone: send the entries, not their sizes.",
            like=compressing(sends=lambda sent: sent.abs()),
        ),
        Mistake(
            "What is not sent is forgotten. It should be added to the next gradient.",
            like=compressing(uses=False),
        ),
        Mistake(
            "You keep the whole, with what was sent in it: that would be sent twice.",
            like=compressing(remembers=lambda whole, sent, gradient: whole),
        ),
        Mistake(
            "You keep what was sent. The rest is what was not.",
            like=compressing(remembers=lambda whole, sent, gradient: sent),
        ),
        Mistake(
            "The rest is taken from this step's gradient alone: what was left from earlier steps "
            "is lost when it is left over again.",
            like=compressing(remembers=lambda whole, sent, gradient: gradient - sent),
        ),
        Mistake(
            "The rest has the wrong sign: what is left is the whole without what was sent.",
            like=compressing(remembers=lambda whole, sent, gradient: sent - whole),
        ),
        Mistake(
            "One rest is kept for several names. 'b' has to have one of its own.",
            like=compressing(rests="all"),
        ),
        Mistake(
            "A second compressor begins with what the first had left over: make the memory inside "
            "of compressor.",
            when=lambda found: (
                _differs(found, ONE, TWO, THREE, OTHER, MATRIX, AGAIN, ALL, FRESH) == [FRESH]
            ),
        ),
        Mistake(
            "What is sent is the gradient's own entries. What was left over takes part in the "
            "choice, and has to be sent with them.",
            when=lambda found: (
                not _differs(found, ONE)
                and bool(_differs(found, TWO))
                and all(
                    _zero_or_own(observed(found, name), step)
                    for name, step in ((TWO, 1), (THREE, 2))
                )
            ),
        ),
        Mistake(
            "Of a matrix `keep` entries are sent altogether, not of each row.",
            when=lambda found: (
                not _differs(found, ONE, TWO, THREE) and bool(_differs(found, MATRIX))
            ),
        ),
        Mistake(
            "The first call is right, the second is not. What is left over of the first, and is it "
            "added to the second?",
            when=lambda found: not _differs(found, ONE) and bool(_differs(found, TWO)),
        ),
        Mistake(
            "The first two calls are right, the third is not: what was left over twice has to be "
            "in it, and once only.",
            when=lambda found: not _differs(found, ONE, TWO) and bool(_differs(found, THREE)),
        ),
    ],
)


def _zero_or_own(sent: Any, step: int) -> bool:
    return all(
        entry == 0 or abs(entry - own) < 1e-6
        for entry, own in zip(sent.tolist(), _STEPS[step], strict=True)
    )
