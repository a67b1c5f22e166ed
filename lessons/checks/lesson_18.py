"""Check the exercises of lesson 18, on the heads of a transformer: answers run in a toy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import Choice, Function, Hook
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import describe

Answer = Callable[..., Any]


def entries(*shape: int, shift: float = 0.0) -> Tensor:
    """Make a tensor whose entries differ everywhere."""
    count = math.prod(shape)
    return torch.tensor([math.sin(shift + 2.3 * at + at * at) for at in range(count)]).reshape(
        shape
    )


def keep(store: dict[str, Tensor], name: str) -> Callable[..., None]:
    """Make a hook that keeps a copy of what a module returned, as in the lesson."""

    def hook(module: Any, args: Any, output: Tensor) -> None:
        store[name] = output.detach().clone()

    return hook


class Mix(nn.Module):
    """Add something to each position, of all positions so far."""

    def __init__(self, shift: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(entries(3, 3, shift=shift))

    def forward(self, x: Tensor) -> Tensor:
        """Mix the positions, and bend the result."""
        return x + torch.tanh(x.cumsum(1) @ self.weight)


class Toy(nn.Module):
    """Three layers that read a row of letters; it counts forward and backward passes."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(5, 3)
        self.start = nn.Identity()
        self.layers = nn.ModuleList([Mix(0.3), Mix(1.1)])
        self.scores = nn.Linear(3, 5)
        self.runs: list[str] = []
        with torch.no_grad():
            for at, parameter in enumerate((self.table.weight, *self.scores.parameters())):
                parameter.copy_(entries(*parameter.shape, shift=0.5 + at))
        for module in self.modules():
            module.register_forward_hook(lambda *_: None)  # somebody else's

    def forward(self, letters: Tensor) -> Tensor:
        """Run the layers one after the other."""
        self.runs.append("forward")
        x: Tensor = self.start(self.table(letters))
        for layer in self.layers:
            x = layer(x)
        scores: Tensor = self.scores(x)
        if scores.requires_grad:
            scores.register_hook(lambda grad: self.runs.append("backward"))
        return scores


CLEAN = [[0, 1, 2, 3], [4, 2, 0, 1], [3, 0, 4, 2]]
CORRUPTED = [[0, 4, 2, 3], [4, 3, 0, 1], [3, 1, 4, 2]]


def rated(scores: Tensor) -> Tensor:
    """Give a number for the scores, in which words and letters weigh differently."""
    return (scores[:, -1] * entries(3, 5, shift=0.9)).sum()


# --- 18.1


def read_patterns(rng: Random) -> list[tuple[Tensor, list[int]]]:
    """Make patterns of a regular text and of others; the last letter has come once before."""
    texts = [[0, 1, 2, 0, 1, 2]]
    for size in (6, 9, 10):
        text = rng.sample([*range(7), *range(7)], size)
        texts.append([*text, next(letter for letter in text if text.count(letter) == 1)])
    made = []
    for text in texts:
        match = torch.tensor([[rng.uniform(-2, 2) for _ in text] for _ in text])
        later = torch.ones(match.shape).triu(1) > 0
        made.append((match.masked_fill(later, -1e9).softmax(-1), text))
    return made


SCORE = Function(
    id="18.1",
    asks="induction_score(pattern, letters), the mean weight on the position right after the "
    "earlier copy, over all positions whose letter has come before",
    inputs=read_patterns,
    right="An induction head comes near 1. Try it on seen['L1H0'][0] and test[0].tolist(): position "
    "15, where nothing had to be predicted, brings it down a little.",
    hints=(
        "Go through the positions. At which of them has the letter come before, and where?",
        "The row is the position that looks, the column the one that is looked at: "
        "pattern[at, letters.index(letter) + 1], if letter is in letters[:at].",
    ),
    mistakes=r"""
        ~ .index(letter) + 1] => .index(letter)]
            That's the weight on the earlier copy itself. An induction head looks at what came
            after it.
        ~ [at, letters.index(letter) + 1] => [letters.index(letter) + 1, at]
            Rows look, columns are looked at. The position in the second round is the row.
        ~ / len(weights) => / len(letters)
        ~ letters[:at] => letters
            The mean is taken over all positions. Count only those whose letter has come before.
        ~ sum(weights) / len(weights) => sum(weights)
            That's the sum of the weights. Return their mean.
        ~ letters.index(letter) + 1 => at - 1
            That's the weight on the previous position, the score of a previous-token head.
        ~ letters.index(letter) + 1 => at - len(letters) // 2 + 1
            That's a fixed distance back. It fits words that are repeated as a whole, but not every
            text here is like that: look the letter up.
        ~ .item() => .round().item()
        ~ pattern[at, letters.index(letter) + 1].item() => float(pattern[at].argmax() == letters.index(letter) + 1)
            Return the mean of the weights themselves, not how often the head looks there most.
    """,
)

# --- 18.2


def averages(answer: Answer) -> dict[str, Any]:
    """Run modules with the hook, on batches of two sizes."""
    seen = {}
    for words, positions in ((3, 4), (2, 5)):
        module = nn.Tanh()
        with module.register_forward_hook(answer):
            seen[f"what comes out for {words} words"] = module(entries(words, positions, 2) * 1.0)
    return seen


AVERAGE = Hook(
    id="18.2",
    asks="average_out(module, args, output), which gives every word the mean over all words, "
    "position by position, in the same shape",
    scenario=averages,
    may_return=(Tensor,),
    right="The head still says what it says on average, but nothing about this word.",
    hints=(
        "Over which of the three dimensions do you take the mean? What shape does it have then?",
        "output.mean(dim=0, keepdim=True) has one row for all words. expand_as or repeat gives it "
        "back to each.",
    ),
    mistakes=r"""
        ~ return output.mean(dim=0, keepdim=True).expand_as(output) => output = output.mean(0)
            Nothing changed. What a hook computes counts only if the hook returns it.
        ~ .expand_as(output) =>
        ~ dim=0, keepdim=True).expand_as(output) => dim=0)
            The mean has the right values, but not the shape of the output any more: every word
            needs its own row. Here broadcasting would have hidden that, elsewhere it won't.
        ~ dim=0 => dim=1
            That's the mean over positions. Each position should keep its own mean, over the words.
        ~ dim=0 => dim=2
            That's the mean over the numbers of a vector. Take it over the words.
        ~ output.mean(dim=0, keepdim=True).expand_as(output) => output.mean().expand_as(output)
        ~ dim=0, => dim=(0, 1),
            That averages over too much: positions differ, even on average. Take the mean over the
            words only.
        ~ output.mean(dim=0, keepdim=True).expand_as(output) => torch.zeros_like(output)
            That's zero ablation, as in the text. Return the mean over the words.
        ~ output.mean(dim=0, keepdim=True).expand_as(output) => output - output.mean(dim=0)
            This takes the mean away, and keeps what is special about each word. You want the
            opposite.
        ~ output.mean(dim=0, => output.sum(dim=0,
            That's the sum over the words. Divide it by their number.
    """,
)

# --- 18.3

TELLING = Choice(
    id="18.3",
    asks="the experiment that could show that the colleague's heads aren't induction heads",
    right="We trained that network: it fails on words of six. With words of eight only, counting "
    "back is enough, so nothing made it look at letters.",
    model="With words of six letters an induction head has to look five back, and a head that "
    "counts positions still looks seven back. Words of eight can't tell the two apart.",
    hints=(
        "What else could a head do that looks seven positions back in words of eight letters?",
        "You need a text on which the two explanations lead to different pictures. Where does each "
        "kind of head look then?",
    ),
    mistakes="""
        = "a"
            The loss rises with either kind of head, because both carry the answer. So this shows
            that they matter, but not what they look for.
        = "b"
            In each of these words, the letter after the earlier copy stands seven back. However
            many you average, both explanations predict the same pattern.
        = "d"
            A sharper pattern is still the same pattern. What would an induction head do that a
            head with a fixed distance wouldn't?
    """,
)

# --- 18.4


def patching(answer: Answer) -> dict[str, Any]:
    """Let an answer patch one place, two, and two of one module."""
    model, seen = Toy(), dict[str, Any]()
    for what, places in {
        "the scores with one place": [("layers.0", 1)],
        "the scores with a second module": [("layers.1", 3), ("start", 0), ("layers.0", 2)],
        "the scores with one module twice": [("layers.0", 2), ("layers.0", 1)],
    }.items():
        words = (torch.tensor(text[len(places) - 1 :]) for text in (CLEAN, CORRUPTED))
        seen[what] = answer(model, places, *words)
        if not isinstance(seen[what], Tensor):
            raise Objection(
                f"It returned {describe(seen[what])}. It has to return the scores of the run on "
                "corrupted, a tensor."
            )
    return seen


PATCH = Hook(
    id="18.4",
    asks="patch(model, places, clean, corrupted), which returns the scores for corrupted, with the "
    "output of each place taken from the run on clean",
    scenario=patching,
    right="Two runs, with hooks that read in the first and write in the second. With this you can "
    "ask whether two places together bring back what neither does alone.",
    hints=(
        "First a run on clean, with a hook that keeps on each module that is named. Then a run on "
        "corrupted, with hooks that put in what was kept.",
        "The second hook clones its output, writes kept[name][:, position] into it for every "
        "position that goes with its name, and returns it.",
    ),
    mistakes=r"""
        = lambda model, places, clean, corrupted: model(clean)
        ~ output[:, position] = kept[name][:, position] => output = kept[name]
            Those are the scores of the run on clean: you ran that one, or replaced whole outputs.
            Only the positions that are named come from clean.
        ~ output[:, position] = kept[name][:, position] => output[position] = kept[name][position]
        ! IndexError, out of bounds, out of range
            The first dimension counts words, the second positions: output[:, position].
        ~ (clean, corrupted) => (corrupted, clean)
        | letters is clean => letters is corrupted
            Clean and corrupted are swapped. The scores you return are those of the run on
            corrupted.
        ~ return output => pass
        = lambda model, places, clean, corrupted: model(corrupted)
            That's the plain run on corrupted. Does the second hook return what it computes, and is
            what it puts in still from the run on clean?
        ~ for where, position in places: => for where, position in places[:1]:
        ? seen["the scores with one place"] is not None and alike(seen["the scores with one place"], right["the scores with one place"]) and not alike(seen["the scores with a second module"], right["the scores with a second module"])
            It's right for a single place. With several, each has to be patched in the same run,
            each with its own name and position.
        ~ for where, position in places: => for where, position in dict(places).items():
            One module may have several positions. A dict keyed by the name forgets all but one.
        ~ model.get_submodule(name) => getattr(model, name)
        ! attribute 'layers.0'
            A dotted name is a path through the tree: get_submodule follows it.
    """,
)

# --- 18.5


def attributions(answer: Answer) -> dict[str, Any]:
    """Ask for the estimates of three modules, and count passes."""
    model, names = Toy(), ["start", "layers.0", "layers.1"]
    found = answer(model, names, torch.tensor(CLEAN), torch.tensor(CORRUPTED), rated)
    if not isinstance(found, Mapping) or set(found) != set(names):
        raise Objection(
            f"It returned {describe(found)}. It has to return a dict with an entry for each name."
        )
    counts = {f"the number of {w} passes": model.runs.count(w) for w in ("forward", "backward")}
    return {**{f"the estimates of {name!r}": found[name] for name in names}, **counts}


ATTRIBUTION = Hook(
    id="18.5",
    asks="attribution(model, names, clean, corrupted, score), which returns for each name the "
    "estimates of all positions, from two forward passes and one backward pass",
    scenario=attributions,
    right="Three passes, however many places there are. That's why it works on large models.",
    hints=(
        "One run on clean and one on corrupted, each with hooks on all modules. In which of the "
        "two do you need the gradient?",
        "A full backward hook on each module notes grad_output[0]. After the backward pass of the "
        "corrupted run: ((clean - corrupted) * gradient).sum(dim=(0, 2)).",
    ),
    mistakes=r"""
        ~ score(scores).backward() => [score(model(corrupted)).backward() for name in names]
        ? seen["the number of forward passes"] > 2 or seen["the number of backward passes"] > 1
            You may run the model twice, and go backward once. Put the hooks on all modules
            together, then one pass serves all of them.
        ~ if letters is corrupted: => if letters is clean:
            That's the gradient in the clean run. The estimate starts from corrupted, so the slope
            is needed there.
        ~ (kept[0][n] - kept[1][n]) => (kept[1][n] - kept[0][n])
            Right size, wrong sign. The way leads from corrupted to clean: clean - corrupted.
        ~ = grad_output[0].detach() => = grad_input[0].detach()
        ! NoneType
            grad_input belongs to what went into the module. You patch what comes out of it, so you
            need grad_output.
        ~ .sum(dim=(0, 2)) => .sum(dim=2).mean(dim=0)
            That's a mean over the words. Sum over them: the score takes care of the rest.
        ~ .sum(dim=(0, 2)) =>
        ~ .sum(dim=(0, 2)) => .sum(dim=(0, 1))
        ? any("estimates" in name and seen[name].shape != right[name].shape for name in seen)
            Return one number for each position: sum over words (dimension 0) and over the numbers
            of a vector (dimension 2).
        ~ (kept[0][n] - kept[1][n]) * gradients[n] => gradients[n]
            That's the gradient alone: how far each activation moves is missing.
        ~ (kept[0][n] - kept[1][n]) * => kept[0][n] *
            The gradient has to be multiplied by the difference of the two activations.
        ~ gradients[n]).sum => gradients[n]).abs().sum
            Take no absolute values: what speaks for and what speaks against should cancel.
    """,
)

# --- 18.6


def ways(answer: Answer) -> dict[str, Any]:
    """Walk from corrupted to clean at two places, in several steps and in one."""
    model, seen = Toy(), {}
    for name, steps in (("start", 4), ("layers.0", 1), ("layers.0", 3)):
        letters = torch.tensor(CLEAN), torch.tensor(CORRUPTED)
        seen[f"{name!r} in {steps} steps"] = answer(model, name, *letters, rated, steps)
    return seen


ALONG = Hook(
    id="18.6",
    asks="along(model, name, clean, corrupted, score, steps), which returns the estimates of all "
    "positions, with the gradient averaged along the way from corrupted to clean",
    scenario=ways,
    digits=4,
    may_change=("grad",),
    right="Integrated gradients, on an activation instead of pixels. The sum over positions comes "
    "out right, at the cost of one more pass for each step.",
    hints=(
        "Keep the output on both inputs. Then one run for each step, in which a hook returns a "
        "point on the way. What has to require gradients?",
        "point = (start + (step + 0.5) / steps * way).requires_grad_(), returned by a forward hook "
        "in a run on corrupted; torch.autograd.grad(score(...), point)[0] is the slope there.",
    ),
    mistakes=r"""
        ~ (step + 0.5) / steps => (step + 1) / steps
            These are the ends of the steps. Take the slope in their middles.
        ~ (step + 0.5) / steps => step / steps
            These are the beginnings of the steps. Take the slope in their middles.
        ~ way * total / steps => way * total
            The slopes were summed. You need their mean: divide by the number of steps.
        ~ (step + 0.5) / steps * way => 0 * way
            All slopes come from the corrupted run. Walk along the way to the clean one.
        ~ (corrupted, clean): => (clean, corrupted):
            Right size, wrong sign. The way leads from corrupted to clean: clean - corrupted.
        ~ way * total => total
            Multiply the mean slope by the way, clean minus corrupted.
        ~ .requires_grad_() =>
        ! does not require grad, not have been used
            A point on the way requires no gradient yet. Make it a leaf that does, and let the hook
            return this very tensor.
        ~ .sum(dim=(0, 2)) => .sum(dim=2)
        ? any(seen[name].shape != right[name].shape for name in seen)
            Return one number for each position: sum over words and numbers.
    """,
)

EXERCISES = [SCORE, AVERAGE, TELLING, PATCH, ATTRIBUTION, ALONG]
