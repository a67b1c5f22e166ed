"""Check the exercises of lesson 15, on hooks that change gradients."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn, optim
from minigrad.classroom import Function, Hook, Numbers
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import describe

from .models import layer

Answer = Callable[..., Any]


def tensor_of(found: Any, name: str) -> Tensor:
    """Take what an answer returned, which has to be a tensor."""
    if not isinstance(found, Tensor):
        raise Objection(f"{name} returned {describe(found)}. It has to return a tensor, always.")
    return found


def gradient(output: Tensor, arriving: Tensor, x: Tensor) -> Tensor | None:
    """Send a gradient back from an output to x; None where no way leads there."""
    if not output.requires_grad:
        return None
    (found,) = torch.autograd.grad((output * arriving).sum(), x, allow_unused=True)
    return found


# --- 15.1

THROUGH = "the gradient of h, when 2, -3, 5 arrive at turn(h, 0.5),"
STRONG = "the gradient of h, when 2, -3, 5 arrive at turn(h, 4.0),"
SHARED = "the gradient of h, when 2, -3, 5 arrive at h + turn(h, 0.5),"
VALUES = "what turn(h, 0.5) returns for h = [1, -2, 3]"


def turn_run(answer: Answer) -> dict[str, Any]:
    """Send gradients back through what an answer returns, and around it."""
    numbers, arriving = [1.0, -2.0, 3.0], torch.tensor([2.0, -3.0, 5.0])

    def turned(h: Tensor, strength: float) -> Tensor:
        return tensor_of(answer(h, strength), "turn")

    def back(use: Answer) -> Tensor | None:
        h = torch.tensor(numbers, requires_grad=True) * 1.0
        return gradient(use(h), arriving, h)

    leaf = torch.tensor(numbers, requires_grad=True)
    (10 * leaf + turned(leaf, 0.25)).backward(arriving.clone())
    seen: dict[str, Any] = {
        VALUES: turned(leaf * 1.0, 0.5).detach(),
        THROUGH: back(lambda h: turned(h, 0.5)),
        STRONG: back(lambda h: turned(h, 4.0)),
        SHARED: back(lambda h: h + turned(h, 0.5)),
        "the gradient of h, when 2, -3, 5 arrive at h and turn(h, 0.5) isn't used,": back(
            lambda h: [h * 1.0, turned(h, 0.5)][0]
        ),
        "h.grad, where h is a leaf and 2, -3, 5 arrive at 10 * h + turn(h, 0.25),": leaf.grad,
        "the gradient of h, when 2, -3, 5 arrive at turn(h, 0.5) + turn(h, 4.0),": back(
            lambda h: turned(h, 0.5) + turned(h, 4.0)
        ),
        "what turn(h, 0.5) returns for an h that needs no gradient": turned(leaf.detach(), 0.5),
        "whether what it returns for such an h requires a gradient": turned(
            leaf.detach(), 0.5
        ).requires_grad,
    }
    h = leaf * 1.0
    with torch.no_grad():
        seen["what turn(h, 0.5) returns inside of no_grad"] = turned(h, 0.5)
    return seen


def factors(found: Tensor) -> set[float]:
    """Give what each entry of the arriving gradient was multiplied by."""
    return {round(float(g) / came, 3) for g, came in zip(found, (2.0, -3.0, 5.0), strict=True)}


TURN = Hook(
    id="15.1",
    asks="turn(h, strength), a tensor with the values of h, through which gradients come back "
    "times -strength",
    scenario=turn_run,
    right="The hook gets a copy of its own, because others use h too.",
    hints=(
        "If the hook sits on h itself, which other gradients does it change? And what can't have "
        "a hook at all?",
        "Make a copy that belongs to the graph, such as h.view_as(h) or h * 1. If it requires a "
        "gradient, register the hook on the copy. Return the copy.",
    ),
    mistakes=r"""
        ~ if copy.requires_grad => if True
        ! doesn't require gradient, does not require grad
            A tensor that needs no gradient refuses a hook. That happens after detach(), and where
            nothing is recorded. Ask copy.requires_grad first.
        ~ -strength * gradient => -strength
        ! expected a Tensor, hook returned, returned by hook, expected Variable
            A hook has to return the new gradient: a tensor, of the shape of the old one.
        ~ lambda gradient: => lambda gradient, strength:
        ! missing 1 required positional
            A hook gets the gradient and nothing else. It knows strength from the function around
            it.
        ~ return copy => return -strength * copy
        ? not alike(seen[VALUES], right[VALUES])
            Nothing should happen in the forward pass: the values are those of h. Only what comes
            back is multiplied.
        ~ h.view_as(h) => h.detach().requires_grad_()
        ? seen[THROUGH] is None
            No gradient comes back at all: what you return is cut off from h. A detached copy has
            no way back. Which copy has one?
        ~ h.view_as(h) => h
            The hook sits on h itself, so it changes the sum of all gradients that arrive at h, and
            not only what comes through your copy.
        ~ -strength * gradient => None
            The gradient comes back as if there were no hook. Does the hook return what it computed?
            Is it registered on the tensor that you return?
        ~ -strength * gradient => gradient.mul_(-strength)
        ? alike(seen[SHARED], 2 * right[THROUGH])
            The hook writes into its argument, and others who get the same gradient see that.
            Compute a new tensor and return it.
        ~ -strength * gradient => -gradient
        ? len(factors(seen[THROUGH])) == 1 and not alike(seen[STRONG], right[STRONG])
            What arrives is multiplied by one number, as it should be, but that number isn't
            -strength. Which one is it for 0.5, and for 4.0?
        ~ -strength * gradient => gradient - strength
        ? len(factors(seen[THROUGH])) > 1
            What comes back isn't a multiple of what arrived. Each entry that arrives has to be
            multiplied by the same number, and nothing else happens to it.
        ~ copy = h.view_as(h) => copy = h.view_as(h)\n    turn.last = strength
        | lambda gradient: -strength => lambda gradient: -turn.last
            It works for one tensor at a time. With two of them, the later strength replaces the
            earlier one. Keep the strength inside the call.
    """,
)

# --- 15.2

POINTS = [-1.713, -1.1, -0.951, -0.4, 0.204, 0.6, 0.93, 1.05, 1.45, 3.0]
QUARTERS = f"what quantize returns for {POINTS}"
SLOPES = "the gradient of these numbers, when 1, 2, ... 10 arrive,"


def quantize_run(answer: Answer) -> dict[str, Any]:
    """Quantize numbers inside and outside of the range, and send gradients back."""

    def run(numbers: Any, arriving: Tensor) -> tuple[Tensor, Tensor | None]:
        x = torch.tensor(numbers, requires_grad=True)
        found = tensor_of(answer(x * 1.0), "quantize")
        return found.detach(), gradient(found, arriving, x) if found.shape == x.shape else None

    numbers, of_numbers = run(POINTS, torch.arange(1.0, 11.0))
    table, of_table = run([[0.3, -2.0], [0.7, 0.05]], torch.tensor([[0.5, 3.0], [-1.5, 0.0]]))
    constant = answer(torch.tensor([0.3, 2.0, -0.6]))
    return {
        QUARTERS: numbers,
        SLOPES: of_numbers,
        "what quantize returns for [[0.3, -2.0], [0.7, 0.05]]": table,
        "the gradient of this table, when [[0.5, 3.0], [-1.5, 0.0]] arrives,": of_table,
        "what quantize returns for numbers that need no gradient": constant,
    }


QUANTIZE = Hook(
    id="15.2",
    asks="quantize(x), the nearest multiples of 0.25 between -1 and 1, through which the gradient "
    "goes straight where x is in the range, and not at all where it isn't",
    scenario=quantize_run,
    right="You pretend only about the rounding. Outside of the range the gradient is the true one.",
    hints=(
        "Which operation has just this gradient, 1 inside of the range and 0 outside, without any "
        "trick? Do that first, and apply the trick to its result.",
        "With c = x.clamp(-1, 1) the rounded value is (4 * c).round() / 4. The result is c plus "
        "the difference from c to the rounded value, detached.",
    ),
    mistakes=r"""
        ~ (4 * inside).round() / 4 => inside
        ~ inside + ((4 * inside).round() / 4 - inside).detach() => x
            The values aren't rounded at all. Only the difference between the rounded value and x
            has to be hidden from the engine: detach that, and nothing else.
        ~ (4 * inside).round() / 4 => inside.round()
        ~ (4 * inside).round() / 4 => (4 * inside).round()
        ~ (4 * inside).round() / 4 => (2 * inside).round() / 2
            Your steps have another width. One step is 0.25 wide: how do you round to quarters?
        ~ (4 * inside).round() => (4 * inside).floor()
        ~ (4 * inside).round() => (4 * inside).trunc()
            That's a neighboring multiple, but not always the nearest one.
        ~ (4 * inside).round() / 4 => (4 * x).round() / 4
        ~ x.clamp(-1, 1) => 1 * x
        ~ (4 * inside).round() / 4 => (4 * x.clamp(max=1)).round() / 4
            Right inside of the range. What lies outside goes to the nearer end: -1 or 1.
        ~ - inside).detach() => - x).detach()
        ~ return inside => return x
            You add one thing and take away another, so they don't cancel. Only the rounded value
            should be left.
        ~ return inside => return inside.detach()
        ? seen[SLOPES] is None and alike(seen[QUARTERS], right[QUARTERS])
            The values are right, and no gradient comes back, because everything is detached. Leave
            something that the engine can follow.
        ~ inside + ((4 * inside).round() / 4 - inside).detach() => (4 * inside).round() / 4
            The values are right, and the gradient is the true one: zero everywhere. Hide the
            rounding from the engine.
        ~ inside + ((4 * inside).round() / 4 - inside).detach() => x + ((4 * inside).round() / 4 - x).detach()
        ~ inside + ((4 * inside).round() / 4 - inside).detach() => x.clamp(max=1) + ((4 * inside).round() / 4 - x.clamp(max=1)).detach()
        ~ return inside => outside = x * (x.abs() > 1)\n    return outside
        | - inside).detach() => - outside).detach()
            The gradient goes straight through outside of the range, at one end or at both. The
            value stays the same there, so nothing should come back.
        ~ return inside + ((4 * inside).round() / 4 - inside).detach() => return (x + ((4 * x).round() / 4 - x).detach()).clamp(-1, 1)
            You ask whether the rounded value is in the range. 1.05 is rounded to 1 and lies
            outside. Ask x itself.
        ~ return inside => inside = 4 * inside\n    return inside
        | (4 * inside).round() => inside.round()
            The gradient is off by the width of a step. Multiply by 4 and divide by 4 on the same
            side of the trick.
        ~ return inside => inside.requires_grad and inside.register_hook(torch.ones_like)\n    return inside
        ? [*map(abs, seen[SLOPES].tolist())] in ([1] * 10, [0, 0] + [1] * 5 + [0] * 3)
            What comes back is 1 or 0, whatever arrives. It has to be a factor of what arrives.
    """,
)

# --- 15.3

LONG = "how far the weights move, when their unscaled gradients are (6, 8) and (24), limit 7,"
LONG_SCALE = "the scale returned after a good step with 1024"
SHORT = "how far they move, when their unscaled gradients are (0.3, 0.4) and (0), limit 1e6,"
OVERFLOW = "how far the weights move, with momentum, when there is Inf in the last gradient,"
AFTER = "how far they move in the step after an overflow"


class Weights:
    """Three parameters, the middle one of which never has a gradient, and their optimizer."""

    def __init__(self, answer: Answer, momentum: float = 0.5) -> None:
        self.answer = answer
        self.parameters = [nn.Parameter(torch.tensor(v)) for v in ([1.0, 2.0], [4.0], [3.0])]
        self.optimizer = optim.SGD(self.parameters, lr=1.0, momentum=momentum)
        if momentum:
            self.give([[0.5, 0.25], [0.125]], 1.0)
            self.optimizer.step()

    def give(self, gradients: Any, scale: float) -> None:
        """Leave scaled gradients, as a backward pass does."""
        for p, gradient in zip(self.parameters[::2], gradients, strict=True):
            p.grad = torch.tensor(gradient) * scale

    def moved(self, gradients: Any, scale: float, limit: float = 9.0) -> tuple[list[float], float]:
        """Let the answer make a step, and tell how far it went, and with which scale."""
        self.give(gradients, scale)
        before = [p.detach().clone() for p in self.parameters]
        new = self.answer(self.optimizer, self.parameters, scale, limit)
        if isinstance(new, bool) or not hasattr(new, "__float__"):
            raise Objection(f"It returned {describe(new)}. It has to return the scale, always.")
        pairs = zip(before, self.parameters, strict=True)
        return torch.cat([old - p.detach() for old, p in pairs]).tolist(), float(new)


def step_run(answer: Answer) -> dict[str, Any]:
    """Let an answer make steps with good gradients and with overflows."""
    seen: dict[str, Any] = {}
    seen[LONG], seen[LONG_SCALE] = Weights(answer, 0).moved([[6.0, 8.0], [24.0]], 1024.0, 7.0)
    seen[SHORT], seen["the scale returned after a good step with 64"] = Weights(answer, 0).moved(
        [[0.3, 0.4], [0.0]], 64.0, 1e6
    )
    inf = math.inf
    for name, bad, scale in (
        (OVERFLOW, [[1.0, 2.0], [inf]], 1024.0),
        ("how far they move, when there is NaN in the first gradient,", [[math.nan, 2], [1.0]], 1),
        ("how far they move, when there is -Inf in the first gradient,", [[1.0, -inf], [1.0]], 32),
        ("how far they move, with Inf and -Inf in both gradients,", [[inf, -inf], [-inf]], 2),
    ):
        weights = Weights(answer)
        seen[name], seen[f"the scale returned after an overflow with {scale:g}"] = weights.moved(
            bad, float(scale)
        )
        if name == OVERFLOW:
            seen[AFTER], _ = weights.moved([[1.0, 2.0], [0.0]], 1024.0, 1.5)
    return seen


def moves(seen: Any) -> list[bool]:
    """Tell for each of the four overflows whether the weights moved."""
    far = [each for name, each in seen.items() if name.startswith("how far") and name != AFTER]
    return [any(each) for each in far[2:]]


STEP = Hook(
    id="15.3",
    asks="mended_step(optimizer, parameters, scale, limit), which unscales, clips and steps, or "
    "skips the step after an overflow, and returns the next scale",
    scenario=step_run,
    may_change=("grad", "values", "graph"),
    right="Unscale, look, clip, step, in this order. With momentum, a bad step spoils later ones "
    "too, so skip it altogether.",
    hints=(
        "Is the limit meant for scaled or for unscaled gradients? What does an optimizer with "
        "momentum do with a single Inf? And who lowers the scale?",
        "Divide each gradient by scale. If any isn't finite, return scale / 2 at once. Otherwise "
        "clip, step and return scale.",
    ),
    mistakes=r"""
        ~ if p.grad is not None: => if True:
        ! NoneType
            One of the parameters has no gradient: its .grad is None. Leave it out.
        ~ return scale / 2 => raise OverflowError(norm)
        ! OverflowError, FloatingPointError, non-finite
            An overflow isn't an error here: it's expected now and then. Return half of the scale.
        ~ norm.isfinite() => all(p.grad.isfinite() for p in parameters if p.grad is not None)
        ! Boolean value of Tensor, truth value
            A gradient has many entries, so the condition has many truth values. Are all of them
            finite?
        ~ for p in parameters: => norm = nn.utils.clip_grad_norm_(parameters, limit)\n    for p in parameters:
        | norm = nn.utils.clip_grad_norm_(parameters, limit)\n    if not => if not
            The limit is meant for unscaled gradients. You clip before you unscale, so the step is
            shorter by the scale than it should be.
        ~ p.grad /= scale => p.grad /= 1
        ~ p.grad /= scale => p.grad *= scale
        ~ p.grad /= scale => p.grad /= scale**2
            The gradients aren't unscaled correctly. The loss was multiplied by the scale, once: what
            undoes that?
        ~ nn.utils.clip_grad_norm_(parameters, limit) => nn.utils.clip_grad_norm_(parameters, 1e30)
            Nothing is clipped by the time of the step. The norm of the unscaled gradients was above
            the limit.
        ~ norm = nn.utils.clip_grad_norm_(parameters, limit) => norm = sum(nn.utils.clip_grad_norm_([p], limit) for p in parameters)
        ~ norm = nn.utils.clip_grad_norm_(parameters, limit) => norm = nn.utils.clip_grad_norm_(parameters, 1e30)\n    nn.utils.clip_grad_value_(parameters, limit)
            Each gradient, or each entry, is clipped by itself. The limit is for the norm of all
            gradients together.
        ~ parameters, limit)\n    if => parameters, limit)\n    for p in parameters:\n        if p.grad is not None:\n            p.grad *= limit / norm.clamp(max=limit)\n    if
        ? max(map(abs, seen[SHORT])) > 100 and alike(seen[LONG], right[LONG])
            Clipping makes long gradients shorter. Here short ones get longer, too.
        ~ optimizer.step() => optimizer
        ? not any(seen[LONG] + seen[SHORT])
            With good gradients nothing moves. Where is the step, and does your code get there? Are
            the gradients still there then?
        ~ return scale / 2 => optimizer.step()\n        return scale / 2
        ? all(moves(seen)) and not math.isfinite(seen[OVERFLOW][-1])
            After an overflow the step is made anyway, and the weights are spoiled for good. Look at
            the gradients first, and then don't call step.
        ~ return scale / 2 => [p.grad.zero_() for p in parameters if p.grad is not None]\n        optimizer.step()\n        return scale / 2
        ? any(seen[OVERFLOW]) and all(map(math.isfinite, seen[OVERFLOW]))
            After an overflow nothing should move. With zeros, or with the finite part of the
            gradients, momentum still moves the weights. Don't call step.
        ~ not norm.isfinite() => norm.isinf()
        ? len({*moves(seen)}) == 2 and alike(seen[LONG], right[LONG])
            You notice some overflows, and not others. One Inf, -Inf or NaN is enough, in any entry
            of any gradient.
        ~ return scale / 2 => before = [p.detach().clone() for p in parameters]\n        optimizer.step()\n        for p, old in zip(parameters, before):\n            p.data.copy_(old)\n        return scale / 2
        ? not any(moves(seen)) and not all(map(math.isfinite, seen[AFTER]))
            The weights stay, but the optimizer has seen the Inf. Its momentum keeps it, and spoils
            the next step. Don't call step at all.
        ~ return scale / 2 => return scale
        ~ step()\n    return scale => step()\n    return scale * 2
        ? all(alike(seen[name], right[name]) for name in seen if "scale returned" not in name)
            The weights are right, and the scale isn't. It has two cases: after an overflow, and
            after a good step. Each depends on the scale that was given, however small that is.
    """,
)

# --- 15.4

WEIGHTS = "the tensor of weight gradients of 3 samples"
BIASES = "the tensor of bias gradients of 3 samples"
ROWS = "the tensor of weight gradients of 3 samples, each a row of 2 vectors,"
RUNS = "the number of calls of run()"


def samples_run(answer: Answer) -> dict[str, Any]:
    """Ask for the gradients of single samples, of two layers and with two kinds of samples."""
    first = layer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.4]], [0.1, 0.0, -0.2])
    last = layer([[1.5, -0.9, 0.7], [0.3, 0.6, -1.1]], [0.4, -0.1])
    model = nn.Sequential(first, nn.Tanh(), last)
    three = torch.tensor([[0.3, -1.2], [0.8, 0.5], [-1.5, 0.7]])
    rows = torch.tensor([[[0.3, -1.2], [0.8, 0.5]], [[1.1, 0.2], [-0.7, 0.9]], [[0.4, 2.0]] * 2])
    calls: list[int] = []

    def asked(of: Any, x: Tensor) -> list[Tensor]:
        def run() -> None:
            calls.append(1)
            with torch.enable_grad():
                (model(x) ** 3).sum().backward()

        model.zero_grad()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # hooks on a first layer
            found = answer(of, run)
        if isinstance(found, Tensor) or not isinstance(found, list | tuple) or len(found) != 2:
            raise Objection(
                f"It returned {describe(found)}. It has to return two tensors: the gradients of "
                "the weight, and those of the bias."
            )
        stacked = (
            torch.stack([*each]) if isinstance(each, list | tuple) else each for each in found
        )
        return [tensor_of(each, "A part of what per_sample").detach() for each in stacked]

    first.register_forward_hook(lambda *_: None)  # somebody else's
    last.register_full_backward_hook(lambda *_: None)
    weights, biases = asked(last, three)
    own = last.weight.grad
    of_first, of_first_biases = asked(first, three[:2])
    of_rows, of_rows_biases = asked(last, rows)
    return {
        WEIGHTS: weights,
        BIASES: biases,
        "weight.grad, after one pass,": own,
        RUNS: len(calls),
        "the tensor of weight gradients of the first layer and 2 samples": of_first,
        "the tensor of its bias gradients": of_first_biases,
        ROWS: of_rows,
        "the tensor of bias gradients of these": of_rows_biases,
    }


SAMPLES = Hook(
    id="15.4",
    asks="per_sample(layer, run), which returns the gradients of the layer's weight and bias, one "
    "for each sample, from one call of run()",
    scenario=samples_run,
    may_change=("grad",),
    right="The optimizer sees only the sum over the samples, but the pass computed each of them.",
    hints=(
        "Which two tensors make the gradient of one sample, and which hook sees each of them? "
        "With two vectors a sample, what do you sum over, and what not?",
        "Note args[0] in a forward hook, and register a hook on the output there that notes its "
        "gradient. Bring both to the shape (n, t, features), and let einsum sum over t.",
    ),
    mistakes=r"""
        ~ with layer.register_forward_hook(note):\n        run() => run()
        ! KeyError, IndexError, UnboundLocalError, NameError
            Something wasn't noted. Do you register the hook before you call run()? Do you call
            run() at all?
        ~ args[0].detach() => args
        ! 'tuple' object, got tuple, not tuple
            A hook gets tuples: args[0] is the layer's input, grad_output[0] the gradient of its
            output.
        ~ with layer.register_forward_hook(note): => with layer.register_full_backward_hook(lambda m, i, o: noted.update(a=o[0], delta=i[0])):
        ! NoneType, doesn't require gradient
            Something here has no gradient: the layer's input may not require one, and .grad stays
            None where there is no leaf. A hook can get the gradient that arrives at the output.
        ~ noted.update(a=args[0].detach(), delta=delta) => [noted.update(a=args[0].detach(), delta=delta)]
        ! must be Tensor, attribute 'tanh', unsupported operand, hook returned, returned by hook, changed the size
            What a hook returns replaces what it was shown: the layer's output, or a gradient. Does
            your lambda return what append, setdefault or update gives?
        ~ (t.reshape(len(t), -1, t.shape[-1]) for t in (noted["a"], noted["delta"])) => (noted["a"], noted["delta"])
        ! einsum, must match, size of tensor, shapes cannot be
            The shapes don't go together. There are axes of samples, of outputs and of inputs, and
            in some calls one more between samples and features. Print the shapes.
        ~ return torch.einsum("nto,nti->noi", delta, a), delta.sum(1) => return layer.weight.grad, layer.bias.grad
        ? tuple(seen[WEIGHTS].shape) in ((2, 3), (1, 2, 3)) or tuple(seen[BIASES].shape) in ((2,), (1, 2))
            That's a sum over the samples, as in .grad, of the weight, the bias or both. Keep the
            axis of the samples.
        ~ noted = {} => noted = per_sample.__dict__
        | noted.update( => None if noted else noted.update(
        ? alike(seen[ROWS], seen[WEIGHTS])
            A later call returns what an earlier one noted. Start each call with a new list or dict.
            A default argument is made only once, and kept.
        ~ "nto,nti->noi" => "nto,nti->nio"
        ? seen[WEIGHTS].shape != right[WEIGHTS].shape or seen[BIASES].shape != right[BIASES].shape
            The shapes are wrong. First the weight, (n, outputs, inputs), then the bias, (n,
            outputs): for each sample the shape of the parameter of the layer that you were given.
        ~ delta=delta => delta=out.detach()
            You keep what came out of the layer. Its gradient comes later, in the backward pass, to
            a hook on it.
        ~ noted.update(a=args[0].detach(), delta=delta) => noted.update(a=args[0].detach(), delta=delta / len(delta))
            The loss is a sum already, so you don't have to divide or multiply by the number of
            samples.
        ~ return torch.einsum("nto,nti->noi", delta, a), delta.sum(1) => return [layer.weight.grad] * len(a), [layer.bias.grad] * len(a)
        ? any(alike(seen[name][0], seen[name][1]) for name in (WEIGHTS, BIASES))
            Each sample has the same gradient: you repeat a sum or a mean over all of them.
        ~ return torch => run()\n    return torch
        ? seen[RUNS] != 3
            run() does one pass with all samples. Call it once.
        ~ a, delta = (t => a, delta = (t.sum(1, keepdim=True) if t.dim() == 3 else t
        ~ delta.sum(1) => delta.mean(1)
        ~ delta, a), delta.sum(1) => delta, a) / a.shape[1], delta.sum(1)
        ? all(alike(seen[name], right[name]) for name in (WEIGHTS, BIASES, RUNS)) and not alike([*seen.values()][-2:], [*right.values()][-2:])
            Right for plain samples. Where a sample is a row of vectors, each vector has a term of
            its own, and the sample's gradient is their sum.
    """,
)

# --- 15.5


def stands(weight_decay: float, momentum: float) -> float:
    """Run three steps of SGD with a masked gradient, after one that left 5 in the buffer."""
    w = nn.Parameter(torch.tensor(0.0, dtype=torch.float64))
    optimizer = optim.SGD([w], lr=0.1, weight_decay=weight_decay, momentum=momentum)
    for at in range(4):
        if at == 1:
            w.data.zero_()
            w.register_hook(torch.zeros_like)
        optimizer.zero_grad()
        (5 * w).backward()
        optimizer.step()
    return float(w.item())


def by_hand(
    added: float = 0, steps: int = 3, rate: float = 0.1, apart: float = 0, keeps: float = 0.8
) -> float:
    """Go by a rule: multiples of the weight are added to the buffer, or taken off apart from it."""
    w, b = 0.0, 5.0
    for _ in range(steps):
        b = keeps * b + added * w
        w -= rate * b + apart * w
    return w


def begins(answer: Any, *values: float) -> bool:
    """Tell whether it has three numbers, and these first."""
    return len(answer) == 3 and all(abs(a - b) < 1e-3 for a, b in zip(answer, values, strict=False))


DECAY = Numbers(
    id="15.5",
    asks="where the pruned weight stands after three steps: with decay, with momentum, with both",
    expected=lambda: (stands(0.5, 0), stands(0, 0.8), stands(0.5, 0.8)),
    right="Compare with your sentence: decay is a multiple of the weight, and that is 0. Momentum "
    "holds gradients from before the mask. Once the weight has left 0, decay pulls it back.",
    hints=(
        "Masked means that g is 0. Start from w = 0, and with momentum from b = 5. What does decay "
        "add to the gradient in the first step?",
        "Write a row for each step: w before it, 0.5 w, the new b, the new w. In the first row "
        "0.5 w is 0, with momentum or without, and b becomes 0.8 times 5.",
    ),
    mistakes="""
        = (by_hand(), 0, by_hand(0.5))
        ? begins(sorted(answer), by_hand(), by_hand(0.5), 0)
            The numbers are right, their order isn't: decay alone, momentum alone, both.
        = ("stays", "moves", "moves")
        ? any(isinstance(each, str) for each in answer)
            You are asked for numbers: where the weight stands, not what it does.
        = (-0.15, by_hand(), by_hand(0.5))
        ? len(answer) == 3 and abs(answer[0]) in (0.05, 0.1, 0.15, 0.5, 1, 1.5)
            Decay alone: you take off a fixed amount. It should be a multiple of the weight.
        = (by_hand(0.5), by_hand(), by_hand(0.5))
        ? len(answer) == 3 and answer[0]
            Decay alone: there is no buffer, and 0.5 w is added. Where does the weight stand?
        = (0, 0, 0)
        ? begins(answer, 0, 0)
            The hook masks the gradient. Does it reach the optimizer's buffer?
        = (0, -by_hand(), -by_hand(0.5))
        ? begins(answer, 0, -by_hand())
            Check the sign: the weight moves against the buffer, which is positive.
        = (0, by_hand(rate=1), by_hand(0.5, rate=1))
        ? any(begins(answer, 0, s * by_hand(rate=r)) for s in (1, -1) for r in (1, 0.5, 0.01)) or begins([*map(abs, answer)], 0, 2.56)
            With momentum alone, that's a buffer, or their sum, or another share: the weight moves
            by 0.1 of the buffer.
        = (0, -1.22, -1.098)
        = (0, by_hand(keeps=0.9), by_hand(0.5, keeps=0.9))
        ? any(begins(answer, 0, each) for each in (-1.22, -1.5, -1.2, -1.3, by_hand(keeps=0.9)))
            The buffer shrinks in each step, before the weight moves, and by the 0.8 given here.
        = (0, by_hand(steps=2), by_hand(0.5, steps=2))
        ? any(begins(answer, 0, by_hand(steps=n)) for n in (1, 2, 4, 99)) or begins(answer, 0, -0.256)
            With momentum alone, that's another number of steps, or one step by itself. You are
            asked where the weight stands after three.
        = (0, by_hand(), by_hand())
            With both: after the first step the weight isn't at 0, and no hook sees the decay.
        = (0, by_hand(), by_hand(apart=0.05))
        = (0, by_hand(), by_hand(apart=0.5))
            With both, you take decay off the weight itself, as AdamW does. In SGD it goes into the
            buffer, which keeps 0.8 of it for the next step.
        = (0, by_hand(), by_hand(0.4))
        = (0, by_hand(), by_hand(0.1))
            With both: only the old buffer shrinks. Decay is added in full: 0.5 w.
        = (0, by_hand(), by_hand(-0.5))
            With both: decay pulls toward 0, not away from it.
    """,
)

# --- 15.6


def noted_inputs(rng: Random) -> list[tuple[Any, ...]]:
    """Draw what was noted of one layer and of two; in one case a sample has no gradient."""

    def table(n: int, k: int, size: float) -> Tensor:
        return torch.tensor([[rng.uniform(-size, size) for _ in range(k)] for _ in range(n)])

    def layers(n: int, *widths: int, size: float = 1.0) -> list[tuple[Tensor, Tensor]]:
        return [(table(n, i, size), table(n, o, size)) for i, o in pairwise(widths)]

    mask = torch.tensor([[1.0], [0.0], [1.0]])
    return [
        (layers(5, 3, 2, 4), 1.0),
        (layers(4, 2, 3), 0.5),
        (layers(6, 2, 3, 2, size=2.0), 2.5),
        ([(a, d * mask) for a, d in layers(3, 2, 2, 1, size=2.0)], 0.75),
        (layers(1, 3, 2), 100.0),
        (layers(1, 2, 3, 2), 0.25),
    ]


def share(squares: Tensor, limit: float) -> Tensor:
    """Give the factors that bring lengths, given by their squares, down to a limit."""
    return (limit / squares.sqrt().clamp(min=1e-12)).clamp(max=1)[:, None]


PRIVATE = Function(
    id="15.6",
    asks="private(noted, limit), a list with a pair for each layer: the sums over the samples of "
    "the gradients of weight and bias, each sample's clipped to the limit, all layers together",
    inputs=noted_inputs,
    returns=list,
    digits=4,
    right="The length of an outer product is length times length. So the clipped sum costs about "
    "as much as an ordinary one.",
    hints=(
        "Each sample has one length, over all layers, weights and biases together, and so one "
        "factor. Where is it easiest to multiply by that factor?",
        "The squared norm of a sample is the sum over layers of |delta|^2 (|a|^2 + 1): the 1 is "
        "for the bias. The factor is limit / norm, at most 1. Multiply delta by it, and use the "
        "formulas of section 6.",
    ),
    mistakes=r"""
        ~ [:, None] =>
        ! must match, size of tensor, broadcast
            The factor has one entry for each sample, and the tables have a row for each: it needs a
            second axis, [:, None].
        ~ (factor * d).T @ a, (factor * d).sum(0) => torch.einsum("no,ni->noi", d, a), d
        ? seen[0][0][0].dim() == 3
            Sum over the samples: a weight's gradient has the weight's shape, without an axis for
            the samples.
        ~ (factor * d).T @ a, => a.T @ (factor * d),
        ? not alike([[x.shape for x in pair] for pair in seen[0]], [[x.shape for x in pair] for pair in right[0]])
            The shapes are wrong. The layers come in the order of noted, in each pair first the
            weight, (outputs, inputs), then the bias, (outputs,).
        ~ .clamp(max=1) => .clamp(min=1, max=1)
            Nothing is clipped: those are the ordinary sums.
        ~ return [ => sums = [(d.T @ a, d.sum(0)) for a, d in noted]\n    f = share(sum(x.square().sum() for pair in sums for x in pair).reshape(1), limit)[0]\n    return [(f * w, f * b) for w, b in sums] or [
            You add up first and clip the sum. One loud sample still outweighs all others there:
            clip each, then add.
        ~ factor * d => share((d**2).sum(1) * ((a**2).sum(1) + 1), limit) * d
        ~ (factor * d).T => (share((d**2).sum(1) * (a**2).sum(1), limit) * d).T
        | (factor * d).sum(0) => (share((d**2).sum(1), limit) * d).sum(0)
        ~ (factor * d).T => (share(sum((e**2).sum(1) * (c**2).sum(1) for c, e in noted), limit) * d).T
        | (factor * d).sum(0) => (share(sum((e**2).sum(1) for _, e in noted), limit) * d).sum(0)
            Layers, or weights and biases, are clipped separately. A sample has one length, over
            everything.
        ~ + 1) => )
            The length leaves out the bias, whose gradient is a part of the sample's.
        ~ .clamp(max=1) =>
        ~ squares.sqrt().clamp(min=1e-12)).clamp(max=1) => squares.sqrt())
        ~ .clamp(max=1) => .clamp(min=1)
            Short gradients get longer. The factor should be at most 1.
        ~ (limit / squares.sqrt().clamp(min=1e-12)).clamp(max=1) => (squares.sqrt() / limit).clamp(max=1)
            The factor is upside down: long gradients have to get shorter.
        ~ for a, d in noted] => for a, d in [(a, d / len(d)) for a, d in noted]]
            That's the mean over the samples. You are asked for the sum.
        ~ squares.sqrt() => squares
            You compare the square of the length with the limit. Take the root.
        ~ ((d**2).sum(1) * ((a**2).sum(1) + 1) for => (((d**2).sum(1) * ((a**2).sum(1) + 1)).sqrt() for
        | squares.sqrt() => squares
        ~ (d**2).sum(1) * ((a**2).sum(1) + 1) => (d**2).sum(1) * ((a**2).sum(1).sqrt() + 1) ** 2
            You add lengths, of layers or of weight and bias. Add their squares, and take the root
            at the end.
        ~ * ((a**2).sum(1) + 1) => * (a**2).sum(1) + 1
        ~ (d**2).sum(1) * ((a**2).sum(1) + 1) => ((d**2).sum(1) + 1) * (a**2).sum(1)
            The length of a sample's gradient is wrong. In each layer it depends on the length of
            delta, times that of the input. A bias is like a weight whose input is 1.
        ~ (factor * d).sum(0) => d.sum(0)
        ~ (factor * d).T => d.T
            One of weight and bias isn't clipped. A sample's factor applies to its whole gradient.
        ~ squares.sqrt().clamp => squares.sqrt().max().expand(len(squares)).clamp
        ~ (factor * d).T @ a, (factor * d).sum(0) => torch.einsum("no,ni->noi", d, a).clamp(-limit, limit).sum(0), d.clamp(-limit, limit).sum(0)
            There's one factor for the whole batch, or each entry is clipped by itself. Each sample
            has its own length and its own factor.
        ~ (factor * d).T @ a, => torch.outer((factor * d).sum(0), a.sum(0)),
            The biases are right, and so are the factors. In the weight, each sample's delta goes
            with its own input: multiply first, then add up.
        ~ limit / squares.sqrt().clamp(min=1e-12) => limit * squares / squares**1.5
        ? any(x.isnan().any() for pairs in seen for pair in pairs for x in pair)
            A sample whose gradient is zero has the length zero, and you divide by it.
        ~ for a, d in noted)\n    factor => for a, d in noted[:1])\n    factor
            Right for one layer. With more of them a sample still has one length: add the squares of
            all layers.
    """,
)

EXERCISES = [TURN, QUANTIZE, STEP, SAMPLES, DECAY, PRIVATE]
