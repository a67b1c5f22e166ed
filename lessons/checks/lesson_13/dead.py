"""Check exercise 13.4, which counts the units that never say anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike, as_number

from ..models import layer
from ..observations import partly
from .traces import Answer, chain, hooks_on, quietly

_EYE = [[float(i == j) for j in range(6)] for i in range(6)]

# What comes to the first ReLU, a row for each image. Unit 0 is always awake, 1 and 3 never, 2 in
# each batch but not for each image, 4 for the first image only, 5 hardly, for the last only.
_BATCHES = [
    [[1.0, -1.0, -0.1, 0.0, 2.0, -3.0], [0.5, -2.0, 0.3, 0.0, -1.0, -0.2]],
    [
        [2.0, -0.3, -1.0, 0.0, -0.4, -1.0],
        [1.5, -0.7, 0.8, 0.0, -0.6, -2.0],
        [0.7, -0.9, -1.2, 0.0, -0.1, -0.5],
    ],
    [[0.6, -0.8, -0.7, 0.0, -0.9, -0.3], [0.9, -1.1, 0.6, 0.0, -1.3, 0.004]],
]
# Five units of the second ReLU: awake, never (its weights are negative), for the first image of the
# second batch only, awake at first and never again, never.
_INNER = [
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-1.0, -0.5, -1.0, -1.0, -0.5, -2.0],
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    [-0.3, 0.0, -0.2, 0.0, -0.1, 0.0],
]
_INNER_BIAS = [0.1, 0.0, -1.7, 0.0, 0.0]


class Reversed(nn.Sequential):
    """A chain that runs its last layer first."""

    def forward(self, x: Tensor) -> Tensor:
        """Run the layers backward."""
        for module in reversed(list(self)):
            x = module(x)
        return x


def _model() -> nn.Module:
    body = chain(inner=layer(_INNER, _INNER_BIAS), squash=nn.Tanh(), act=nn.ReLU())
    return chain(
        first=layer(_EYE, [0.0] * 6),
        relu=nn.ReLU(),
        body=body,
        leaky=nn.LeakyReLU(),
        last=layer([[0.5, -0.2, 0.1, 0.3, 0.9]], [0.2]),
    )


def _batches() -> list[Tensor]:
    return [torch.tensor(batch) for batch in _BATCHES]


def _awake() -> tuple[nn.Module, list[Tensor]]:
    return chain(only=layer([[1.0], [2.0]], [0.1, 0.3]), act=nn.ReLU()), [torch.tensor([[1.0]])]


def _without() -> tuple[nn.Module, list[Tensor]]:
    return chain(only=layer([[1.0]], [0.1]), act=nn.Tanh()), [torch.tensor([[1.0], [2.0]])]


MAIN = "the dict, sorted by name,"
TURNED = "with the batches in the opposite order, the dict"
ALIVE = "for a model without dead units, the dict"
NONE = "for a model without a ReLU, the dict"
BACKWARD = "for a model that runs its last layer first, the dict"
LEFT = "the number of hooks left behind"
_MAIN, _TURNED, _ALIVE, _NONE, _BACKWARD, _LEFT = range(6)


def dead_run(answer: Answer) -> dict[str, Any]:
    """Let an answer count in several models."""
    with quietly():
        model, (alive, one), (without, two) = _model(), _awake(), _without()
        turned_around = Reversed(
            nn.ReLU(), layer([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0.0] * 3), nn.ReLU()
        )
        three = [torch.tensor([[0.4, -1.0], [0.2, -0.5]])]
        seen = {
            MAIN: _counts(answer(model, _batches())),
            TURNED: _counts(answer(model, _batches()[::-1])),
            ALIVE: _counts(answer(alive, one)),
            NONE: _counts(answer(without, two)),
            BACKWARD: _counts(answer(turned_around, three)),
        }
        return seen | {LEFT: hooks_on(model, alive, without, turned_around)}


def _counts(found: Any) -> Any:
    """Take what can be read as a number for each name; object to what is no dict of numbers."""
    if found is None:
        return None
    if not isinstance(found, dict):
        raise Objection("dead_units has to return a dict, from the name of each ReLU to a number.")
    if not all(isinstance(name, str) for name in found):
        raise Objection("A key is no name: names are text, and named_modules() gives them.")
    counts = {name: as_number(count) for name, count in found.items()}
    if None in counts.values():
        raise Objection(
            "An entry of the dict is not one number. How many units are dead, all in all?"
        )
    return dict(sorted(counts.items()))


def _any_row(output: Tensor) -> Any:
    return output.ne(0).any(0)


def dead(
    awake: Callable[[Tensor], Any] = _any_row,
    join: Callable[[Any, Any], Any] = lambda before, now: before | now,
    give: Callable[[Any], Any] = lambda awake: int((~awake).sum()),
    which: Callable[[nn.Module], bool] = lambda module: isinstance(module, nn.ReLU),
    label: Callable[[str, nn.Module], str] = lambda name, module: name,
    some: Callable[[Sequence[Tensor]], Sequence[Tensor]] = list,
) -> Answer:
    """Make a right `dead_units`, or one with a typical mistake.

    Args:
        awake: tells of one output which units are awake.
        join: puts two batches together.
        give: counts.
        which: which modules are watched.
        label: gives the key of a module.
        some: which batches are looked at.
    """

    def dead_units(model: nn.Module, batches: Sequence[Tensor]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        handles = []
        for name, module in model.named_modules():
            if which(module):

                def note(m: Any, args: Any, output: Any, name: str = label(name, module)) -> None:
                    now = awake(output)
                    seen[name] = join(seen[name], now) if name in seen else now

                handles.append(module.register_forward_hook(note))
        with torch.no_grad():
            for batch in some(batches):
                model(batch)
        for handle in handles:
            handle.remove()
        return {name: give(units) for name, units in seen.items()}

    return dead_units


def _added(before: Any, now: Any) -> Any:
    return before + now


def _main(found: Any) -> dict[str, float]:
    return found[_MAIN].result


def _grows(found: Any) -> bool:
    right = dead_run(dead())
    return alike(_main(found), right[MAIN]) and "relu" in found[_ALIVE].result


def _counts_each_batch(join: Callable[[Any, Any], Any], parts: int = 1) -> Answer:
    """Make an answer that counts in each batch by itself, and puts the counts together."""
    return dead(
        awake=lambda o: int((~_any_row(o)).sum()), join=join, give=lambda count: count / parts
    )


def _mean_or_extreme(found: Any) -> bool:
    """Tell whether the counts of the batches were averaged, or the least or largest taken."""
    ways = ((_added, len(_BATCHES)), (min, 1), (max, 1))
    return any(partly(dead_run, _counts_each_batch(*way), MAIN, TURNED)(found) for way in ways)


_ACTIVATIONS = (nn.ReLU, nn.LeakyReLU, nn.Tanh)

DEAD = Hook(
    id="13.4",
    asks="dead_units(model, batches), which returns a dict from the name of each nn.ReLU to the "
    "number of its units that are zero for all the data",
    scenario=dead_run,
    reference=dead(),
    right="Now you can tell in a minute whether half of your network is asleep.",
    hints=(
        "Say it the other way round: a unit is alive if it was awake once. What has to be "
        "remembered from batch to batch, and for each ReLU by itself?",
        "A forward hook on each nn.ReLU takes (output != 0).any(0), a True or False for each unit, "
        "and joins it with what it noted before, by |. In the end count those that are still "
        "False, and remove the hooks.",
    ),
    mistakes=[
        Mistake(
            "Two notes of different lengths were joined. Does each ReLU have a note of its own? "
            "(Functions that are made in a loop share its variable.) And does a note have an entry "
            "for each unit, however many images the batch holds?",
            trouble=("must match", "broadcast"),
        ),
        Mistake(
            "What your hook returns takes the output's place: let it return None.",
            trouble=("must be Tensor, not", "mat1 and mat2", "linear(): argument"),
        ),
        Mistake(
            "A unit counts once for each batch in which it is silent. Dead means silent in all of "
            "them: join the batches before you count.",
            when=partly(dead_run, _counts_each_batch(_added), MAIN, TURNED),
        ),
        Mistake(
            "Only the last batch counts. A unit that was awake in an earlier one is not dead: join "
            "what you note.",
            when=partly(dead_run, dead(join=lambda before, now: now), MAIN, TURNED),
        ),
        Mistake(
            "Only the first batch counts. The data are all batches together.",
            when=partly(dead_run, dead(some=lambda batches: batches[:1]), MAIN, TURNED),
        ),
        Mistake(
            "You count units that are silent in at least one batch. Dead means silent in all of "
            "them.",
            when=partly(dead_run, dead(join=lambda before, now: before & now), MAIN, TURNED),
        ),
        Mistake(
            "Only units that are awake for every image count as alive there. Once is enough: mind "
            "any and all.",
            when=partly(
                dead_run,
                dead(awake=lambda o: o.ne(0).all(0), join=lambda before, now: before & now),
                MAIN,
                TURNED,
            ),
        ),
        Mistake(
            "Within a batch, a unit counts as dead as soon as one image leaves it silent. It is "
            "alive if any image wakes it: mind any and all.",
            when=partly(dead_run, dead(awake=lambda o: o.ne(0).all(0)), MAIN, TURNED),
        ),
        Mistake(
            "Those are zeros, one for each unit and each image. Asked for are units, each of which "
            "counts once.",
            when=partly(
                dead_run,
                dead(awake=lambda o: int(o.eq(0).sum()), join=_added, give=int),
                MAIN,
                TURNED,
            ),
        ),
        Mistake(
            "No unit counts as dead. Which dimension did you go along? Rows are images, columns "
            "are units. And with what does your note of a unit begin: can it become dead, and stay "
            "so?",
            when=lambda found: len(_main(found)) > 1 and not any(_main(found).values()),
        ),
        Mistake(
            "You went along the wrong dimension: those are images, and units are asked for. Rows "
            "are images, columns are units.",
            when=partly(
                dead_run,
                dead(awake=lambda o: int((~o.ne(0).any(1)).sum()), join=_added, give=int),
                MAIN,
                TURNED,
            ),
        ),
        Mistake(
            "Only one image of each batch is looked at. A unit is alive if any image wakes it.",
            when=partly(dead_run, dead(awake=lambda o: o[0].ne(0)), MAIN, TURNED),
        ),
        Mistake(
            "A unit that is hardly ever awake counts as dead there. One image that wakes it is "
            "enough, and dead is exactly zero.",
            when=partly(dead_run, dead(awake=lambda o: o.gt(0.01).any(0)), MAIN, TURNED),
        ),
        Mistake(
            "Each batch was counted by itself, and one number made of the counts. Dead means that "
            "one and the same unit is silent in all of them: join the batches before you count.",
            when=_mean_or_extreme,
        ),
        Mistake(
            "Those are the units that are alive. The dead ones are asked for.",
            when=partly(dead_run, dead(give=lambda awake: int(awake.sum())), MAIN, TURNED),
        ),
        Mistake(
            "That is the share of dead units. Their number is asked for.",
            when=partly(
                dead_run, dead(give=lambda awake: (~awake).double().mean().item()), MAIN, TURNED
            ),
        ),
        Mistake(
            "That is the share in percent. The number of units is asked for.",
            when=partly(
                dead_run,
                dead(give=lambda awake: 100 * (~awake).double().mean().item()),
                MAIN,
                TURNED,
            ),
        ),
        Mistake(
            "The keys are names of classes, so the ReLUs overwrite one another. named_modules() "
            "has a name for each.",
            when=lambda found: "ReLU" in _main(found),
        ),
        Mistake(
            "The ReLU inside of body is missing, or has half of its name: named_modules() goes all "
            "the way down.",
            when=lambda found: "relu" in _main(found) and "body.act" not in _main(found),
        ),
        Mistake(
            "A unit whose input is exactly 0 puts out 0 as well, and says nothing: look at the "
            "output, or ask for <= 0.",
            when=lambda found: _main(found) == {"relu": 1, "body.act": 2},
        ),
        Mistake(
            "Everything was noted under one name. Functions that are made in a loop share its "
            "variable, and see the value that it has in the end.",
            when=lambda found: len(_main(found)) == 1,
        ),
        Mistake(
            "A module that is no nn.ReLU has an entry.",
            when=lambda found: len(_main(found)) > 2 and "relu" in _main(found),
        ),
        Mistake(
            "A layer before the ReLU was asked, and not the ReLU: a value below zero is not zero "
            "yet.",
            when=lambda found: "first" in _main(found),
        ),
        Mistake(
            "The dict is empty. Were the hooks there when the model was called, and was it called "
            "as model(batch)?",
            when=lambda found: _main(found) == {},
        ),
        Mistake(
            "A ReLU without dead units is missing from the dict. Its number is 0.",
            when=lambda found: found[_ALIVE].result == {},
        ),
        Mistake(
            "Entries of an earlier model are still in the dict. Begin with an empty one each time.",
            when=_grows,
        ),
        Mistake(
            "For a model without a ReLU the dict is empty, and still a dict.",
            when=lambda found: found[_NONE].result is None and found[_MAIN].result is not None,
        ),
        Mistake(
            "Those keys are not the names that named_modules() gives.",
            when=lambda found: not {*_main(found)} <= {"relu", "body.act"},
        ),
        Mistake(
            "The counts are right, and your hooks are still there. Keep the handles, and remove "
            "them.",
            when=lambda found: found[_LEFT].result > 0,
        ),
    ],
)
