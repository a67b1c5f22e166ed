"""Tell a recorded backward pass in steps: who is at work, what arrived there, what went where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from minigrad.autograd import events
from minigrad.autograd.events import Event, GradientSent, HookFired, Log, NodeLabel, RuleApplied
from minigrad.viz.text import format_shape, format_values

MOST_ENTRIES = 4  # entries of a gradient that are shown; of others the shape and the norm

# For a node, the number of one of its inputs and the shape of its result: the formula of the local
# derivative, if known.
Formulas = Callable[[Any, int, tuple[int, ...]], str | None]


@dataclass(frozen=True)
class Sent:
    """One gradient on its way: from which input of which node to which output of which node."""

    source: NodeLabel
    input_nr: int
    target: NodeLabel
    output_nr: int
    value: str


@dataclass(frozen=True)
class Step:
    """One step of the player.

    Attributes:
        node: The node that is at work.
        title: What happens, in a few words.
        lines: What there is to say, with the numbers.
        hook: If a hook fired: its kind and its name.
        sent: The gradients that leave the node in this step.
        held: What arrived at a leaf and is in its `.grad` now, as text.
    """

    node: NodeLabel
    title: str
    lines: tuple[str, ...]
    hook: tuple[str, str] | None = None
    sent: tuple[Sent, ...] = ()
    held: str | None = None


@dataclass
class _Visit:
    """What the log tells of one node in one pass, from its start to what it sent."""

    label: NodeLabel
    arrived: tuple[Any, ...]
    came: int = 0
    before: list[HookFired] = field(default_factory=list)
    rule: RuleApplied | None = None
    after: list[HookFired] = field(default_factory=list)
    sent: list[GradientSent] = field(default_factory=list)
    others: list[Event] = field(default_factory=list)

    @property
    def summed(self) -> str:
        """What to say of gradients that were added up before they came."""
        return f", the sum of {self.came} gradients" if self.came > 1 else ""


def steps_of(log: Log, formulas: Formulas | None = None, digits: int = 4) -> list[Step]:
    """Tell the passes of a log in steps.

    Args:
        log: What `record()` gave.
        formulas: Gives the formula of a local derivative, or None.
        digits: Decimals of numbers.

    Raises:
        ValueError: If the log is empty.
    """
    if not len(log):
        raise ValueError(
            "this log has no events, so there is nothing to play. Run backward() inside of the "
            "block: with record() as log: loss.backward()"
        )
    teller = _Teller(formulas, digits)
    return [step for visit in _visits(log) for step in teller.steps(visit)]


def _visits(log: Log) -> Iterable[_Visit]:
    """Collect the events node by node. A pass that a hook starts comes before that hook's end."""
    running: list[_Visit] = []
    done: list[_Visit] = []
    came: dict[int, int] = {}
    for event in log:
        if isinstance(event, events.NodeStarted):
            while running and running[-1].sent:
                running.pop()
            visit = _Visit(event.node, event.gradients, came.pop(event.node.number, 0))
            running.append(visit)
            done.append(visit)
            continue
        at_work = [visit for visit in running if visit.label is event.node]
        if not at_work:
            continue  # a pass starts, or a hook fired at a root that does not run
        visit = at_work[-1]
        if isinstance(event, HookFired):
            (visit.before if visit.rule is None and not visit.others else visit.after).append(event)
        elif isinstance(event, RuleApplied):
            visit.rule = event
        elif isinstance(event, GradientSent):
            visit.sent.append(event)
            came[event.target.number] = came.get(event.target.number, 0) + 1
        elif not isinstance(event, events.PassStarted):
            visit.others.append(event)
    return done


class _Teller:
    def __init__(self, formulas: Formulas | None, digits: int) -> None:
        self.formulas, self.digits = formulas, digits

    def steps(self, visit: _Visit) -> Iterable[Step]:
        """Tell one node: the hooks before its rule, the rule, the hooks after it."""
        node = visit.label
        yield from map(self._hook, visit.before)
        for event in visit.others:
            if isinstance(event, events.GradientCaptured):
                value = self.value(event.gradient)
                yield Step(node, f"{what(visit.label)}: kept for grad()", (f"{value} is returned",))
        last = len(visit.after) - 1
        if visit.rule is not None:
            lines, sent = self._rule(visit, visit.rule)
            held_back = () if visit.after else sent
            yield Step(node, f"{what(visit.label)} applies its rule", tuple(lines), sent=held_back)
            for at, hook in enumerate(visit.after):
                yield self._hook(hook, sent if at == last else ())
            return
        for event in visit.others:
            if isinstance(event, events.GradientAccumulated):
                got, total = self.value(event.gradient), self.value(event.total)
                name = next(iter(visit.label.called.values()), "leaf")
                lines = [self._arrives(visit, (event.gradient,)), f"{name}.grad is now {total}"]
                if got == total:
                    lines = [f"{got} arrives and becomes {name}.grad{visit.summed}"]
                yield Step(node, f"{what(visit.label)} adds to .grad", tuple(lines), held=total)
        yield from map(self._hook, visit.after)

    def _rule(self, visit: _Visit, rule: RuleApplied) -> tuple[list[str], tuple[Sent, ...]]:
        lines = [self._arrives(visit, rule.grad_outputs)]
        sent = []
        for event in visit.sent:
            value = self.value(event.gradient)
            sent.append(Sent(visit.label, event.input_nr, event.target, event.output_nr, value))
            computed = rule.grad_inputs[event.input_nr]
            factor = self._factor(visit.label, event.input_nr, rule.grad_outputs, computed)
            lines.append(f"{factor}{self.value(computed)} for {what(event.target)}")
        return lines, tuple(sent)

    def _factor(self, node: NodeLabel, input_nr: int, given: tuple[Any, ...], computed: Any) -> str:
        """Write `times 2*s = 0.5520 gives`, as far as the local derivative is known."""
        known: list[str | None] = []
        single = len(given) == 1 and given[0] is not None and given[0].numel() == 1
        if single and computed is not None and computed.numel() == 1:
            if self.formulas is not None and node.node is not None:
                known.append(self.formulas(node.node, input_nr, tuple(given[0].shape)))
            first = given[0].item()
            if isinstance(first, float) and first:
                known.append(format_values(computed.item() / first, self.digits))
        both = " = ".join(each for each in known if each)
        return f"times {both} gives " if both else "gives "

    def _arrives(self, visit: _Visit, gradients: tuple[Any, ...]) -> str:
        shown = [self.value(each) for each in gradients]
        text = shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
        return f"{text} arrives{visit.summed}"

    def _hook(self, event: HookFired, sent: tuple[Sent, ...] = ()) -> Step:
        saw = [self.nested(each) for each in event.seen]
        lines = [f"it sees {' and '.join(saw)}"]
        if len(saw) == 2:
            lines = [f"grad_input is {saw[0]}", f"grad_output is {saw[1]}"]
        if event.raised is not None:
            lines.append(f"it raises {event.raised}")
        elif event.returned is not None:
            replaced = {"full backward pre": " grad_output", "tensor pre-hook": " it"}
            what_goes = replaced.get(event.kind, " grad_input" if len(saw) == 2 else " them")
            lines.append(f"it returns {self.nested(event.returned)}, which replaces{what_goes}")
        else:
            lines.append("it writes into it" if event.in_place else "it changes nothing")
        label = events.HOOKS.get(event.kind, event.kind)
        title = f"{label} {event.name} at {what(event.node)}"
        return Step(event.node, title, tuple(lines), (event.kind, event.name), sent)

    def nested(self, value: Any) -> str:
        """Write what a hook saw or returned: a gradient, or a tuple of them."""
        if not isinstance(value, tuple):
            return self.value(value)
        return f"({', '.join(map(self.nested, value))}{',' if len(value) == 1 else ''})"

    def value(self, gradient: Any) -> str:
        """Write one gradient."""
        if gradient is None or not hasattr(gradient, "tolist"):
            return str(gradient)
        if gradient.numel() <= MOST_ENTRIES:
            return format_values(gradient.tolist(), self.digits)
        norm = format_values(float((gradient * gradient).sum()) ** 0.5, self.digits)
        return f"{format_shape(gradient.shape)} of norm {norm}"


def what(label: NodeLabel) -> str:
    """Name a node for people: a leaf by its name, another node by its own and its tensor's."""
    called = next(iter(label.called.values()), None)
    if label.name == "AccumulateGrad":
        return called or "a leaf"
    return f"{label.name} ({called})" if called else label.name
