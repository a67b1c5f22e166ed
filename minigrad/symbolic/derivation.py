"""Write the chain rule as the engine took it, on symbols or numbers, and prove each step."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from minigrad.core.engine import AccumulateGrad
from minigrad.core.tensor import Tensor, wrap
from minigrad.symbolic import equality, writing
from minigrad.symbolic.array import SymbolicArray, entries, entrywise, needs_of
from minigrad.symbolic.chain_rule import VJP, ChainRule, HookEffect, HookEffects, Step
from minigrad.symbolic.equality import Refuted, Undecided, symbols_in
from minigrad.symbolic.formulas import derivative, expression
from minigrad.symbolic.naming import given_names
from minigrad.symbolic.passes import Value
from minigrad.symbolic.regions import KINKS, Need, Region, condition_of, in_words, reduced, sign_of
from minigrad.symbolic.writing import Paper, Row, Section, Written, applied, named, partial

LONG = 100  # letters in a formula that is still written out
_LONGER = Written("...", r"\dots")


@functools.lru_cache(maxsize=5_000)
def tidy(expr: Any) -> Any:
    """Give a formula as one would write it: with common factors in front."""
    if not expr.is_Add or expr.count_ops() > LONG:
        return expr
    return min(expr, sympy.factor_terms(expr), key=lambda e: (e.count_ops(), len(str(e))))


@functools.lru_cache(maxsize=5_000)
def is_short(expr: Any) -> bool:
    """Tell whether a formula is short enough to be written out."""
    return bool(expr.count_ops() <= LONG and len(str(expr)) <= LONG)


def short(found: Any) -> Any:
    """Give the formula in an array, tidied; None if there is none, or if it is long."""
    formula = None if found is None else tidy(found.item())
    return formula if formula is not None and is_short(formula) else None


class Layout:
    """Writes the parts of which the pages of a derivation and of an explanation are made.

    Args:
        chain: The backward pass.
        digits: How many decimals are shown.

    Attributes:
        order: The named values, in the order in which they are written.
    """

    def __init__(self, chain: ChainRule, digits: int = 6) -> None:
        self.chain, self.order, self.naming = chain, chain.in_order(), chain.naming
        self.names, self.root, self.loss = self.naming.names, self.naming.root, self.naming.loss
        self.writer = writing.Writer(digits)

    def acted(
        self, effects: HookEffects, written: Written, product: Any = writing.product
    ) -> Written:
        """Write hooks in front of what they acted on: as a factor, or as a function."""
        for effect in effects:
            if effect.factor is None:
                written = applied(effect.name, written)
            else:
                written = product([self.writer.formula(effect.factor), written])
        return written

    def hooks_in(self, step: Step) -> str:
        """Name the hooks in a line."""
        remarks = []
        for effect in step.all_effects():
            number = effect.factor is not None
            factor = f"{self.writer.formula(effect.factor).text}: " if number else ""
            remarks.append(f"{factor}{effect.kind} {effect.name}")
        return ", ".join(remarks)

    def silences(self) -> Sequence[str]:
        """Say which leaves got no gradient, and which hooks gave None."""
        hooks = ", ".join(self.chain.hooks_with_none)
        by = f": {hooks} gave None" if hooks else ""
        nothing = map(self.naming.called, self.chain.without_gradient)
        return [f"no gradient came to {leaf}{by}" for leaf in nothing]


def _by_name(effect: HookEffect, gradient: Any) -> Any:
    """Let a hook that isn't a factor stand in formulas by its name."""
    if effect.factor is not None:
        return effect.apply(gradient)
    function = sympy.Function(effect.name, real=True)
    return SymbolicArray(function(gradient.item())).reshape(gradient.shape)


class DerivationLayout(Layout):
    """Writes a derivation."""

    def sections(self) -> list[Section]:
        """Lay out a derivation in sections."""
        self.totals = self.chain.composed(apply=_by_name)
        return [
            Section("Forward", self._forward()),
            Section("Backward", self._backward()),
            Section("Hooks", self._hooks()),
            Section("According to the chain rule", self._chain(), self.silences()),
        ]

    def _forward(self) -> Iterator[Row]:
        """Write each place through those before it."""
        for value in reversed(self.order):
            definition = self.naming.definition(value) if value[0].next_functions else None
            if definition is not None and is_short(definition.item()):
                yield Row(named(self.names[value]), [self.writer.formula(tidy(definition.item()))])

    def _backward(self) -> Iterator[Row]:
        """Write the local derivatives."""
        for later in self.order:
            for value in self.order:
                step = self.chain.gradients[value]
                if later == self.root and not self._only_local(step):
                    continue  # the chain rule writes it out: dL/dy alone would not be all of it
                for place, vjp in step.all_vjps():
                    if place == later and vjp.formula is not None:
                        formula = tidy(vjp.formula.item())
                        short = is_short(formula)
                        right = self.writer.formula(formula) if short else _LONGER
                        remark = "" if short else "too long to be written out"
                        yield Row(partial(self.names[later], self.names[value]), [right], remark)

    def _only_local(self, step: Step) -> bool:
        """Tell whether a gradient is nothing but a local derivative of the loss."""
        return not step.hooked and list(step.vjps) == [self.root]

    def _hooks(self) -> Iterator[Row]:
        """Write the functions that hooks are, where they are more than factors."""
        for effect in {e.name: e for e in self.chain.effects if e.function is not None}.values():
            left = applied(effect.name, self.writer.formula(effect.entry))
            yield Row(left, [self.writer.formula(effect.function)], effect.kind)

    def _chain(self) -> Iterator[Row]:
        """Write how the local derivatives multiply: dL/dy * dy/ds."""
        for value in self.order:
            step, total = self.chain.gradients[value], self.totals[value]
            if value == self.root or self._only_local(step):
                continue
            expand = bool(value[0].next_functions) and sum(1 for _ in step.all_vjps()) == 1
            one = functools.partial(self._contribution, self.names[value], expand)
            right = [step.combined(one, self.acted, writing.total)]
            if (formula := short(total)) is not None:
                right.append(self.writer.formula(formula))
            yield Row(partial(self.loss, self.names[value]), right, self.hooks_in(step))

    def _contribution(self, name: str, expand: bool, place: Value, vjp: VJP) -> Written:
        """Write a contribution to a gradient."""
        if place == self.root and vjp.formula is not None:
            return self.writer.formula(tidy(vjp.formula.item()))
        return writing.product([*self._leading(place, expand), partial(self.names[place], name)])

    def _leading(self, place: Value, expand: bool) -> list[Written]:
        """Write the gradient of a place: as such, or as the product that it is."""
        if place == self.root:
            return []
        step = self.chain.gradients[place]
        whole = [partial(self.loss, self.names[place])]
        if not expand or step.hooked or len(step.vjps) != 1 or self.root in step.vjps:
            return whole
        (before,) = step.vjps
        leading = self._leading(before, expand)
        last = partial(self.names[before], self.names[place])
        return whole if len(leading) > 2 else [*leading, last]


class NumbersLayout(Layout):
    """Writes an explanation: each value and each gradient as formula, numbers put in, and result.

    Args:
        chain: The backward pass.
        digits: How many decimals are shown.
    """

    def __init__(self, chain: ChainRule, digits: int) -> None:
        super().__init__(chain, digits)
        self.gradients = chain.engine
        self.values = {value: self.naming.array(value) for value in self.order}
        known = {self.naming.symbol(v).item(): a for v, a in self.values.items() if a is not None}
        known |= {sympy.Symbol(n, real=True): a for n, a in self.naming.used_constants()}
        self.known = {symbol: sympy.Float(float(a.item()), 20) for symbol, a in known.items()}

    def sections(self) -> list[Section]:
        """Lay out forward and backward."""
        backward = Section("Backward", self._backward(), self.silences())
        return [Section("Forward", self._forward()), backward]

    def _forward(self) -> Iterator[Row]:
        """Write each value: formula, numbers put in, result."""
        leaves = [value for value in self.order if not value[0].next_functions]
        given = self.naming.used_constants()
        given += [(self.names[value], self.naming.known[value]) for value in leaves]
        for value in self.chain.without_gradient:
            given.append((self.naming.called(value), value[0].variable._array))
        for name, array in given:
            yield Row(named(name), [self.writer.number(array.item())])
        for value in reversed(self.order):
            if value[0].next_functions:
                array, formula = self.values[value], short(self.naming.definition(value))
                right = [] if formula is None else [self.writer.formula(formula)]
                right += [] if formula is None or formula.is_Symbol else self._put_in(formula)
                right += [] if array is None else [self.writer.number(array.item())]
                yield Row(named(self.names[value]), right)

    def _backward(self) -> Iterator[Row]:
        """Write each gradient: formula, numbers put in, result."""
        acted_on_number = functools.partial(self.acted, product=writing.numbers_product)
        for value in self.order:
            step = self.chain.gradients[value]
            if value != self.root or step.hooked:
                formula = functools.partial(self._formula, self.names[value])
                right = [
                    step.combined(formula, self.acted, writing.total),
                    step.combined(self._number, acted_on_number, writing.total),
                ]
                right = [each for each in right if each]
                right.append(self.writer.number(self.gradients[value].item()))
                yield Row(partial(self.loss, self.names[value]), right, self.hooks_in(step))

    def _formula(self, name: str, place: Value, vjp: VJP) -> Written:
        formula = short(vjp.formula)
        whole = partial(self.names[place], name)
        last = whole if formula is None else self.writer.formula(formula)
        if place == self.root:
            return last
        return writing.product([partial(self.loss, self.names[place]), last])

    def _number(self, place: Value, vjp: VJP) -> Written | None:
        formula = short(vjp.formula)
        if formula is not None and place == self.root:
            return next(iter(self._put_in(formula)), None)
        if vjp.number is None:
            return None
        local = self.writer.number(vjp.number.item())
        if place == self.root:
            return local
        return writing.numbers_product([self.writer.number(self.gradients[place].item()), local])

    def _put_in(self, formula: Any) -> list[Written]:
        if formula.free_symbols - self.known.keys():
            return []
        return [self.writer.with_numbers(formula, self.known)]


TOO_LONG = 1500  # operations in two formulas; SymPy would take minutes for more


# ---------------------------------------------------------------------- pages


class Derivation(Paper):
    """The chain rule of one loss, as a backward pass took it; made by `derive`.

    Printed, it is text; in a notebook it shows itself as LaTeX.

    Attributes:
        gradients: For each place and leaf by its name the gradient in the symbols of the leaves, as
            the engine had it when all hooks there had fired. Entries are as from `expression`.

    Example:
        >>> from minigrad.symbolic import derive, symbols
        >>> x, w = symbols("x w", requires_grad=True)
        >>> derivation = derive((w * x - 1) ** 2)
        >>> derivation.gradients["w"]
        2*x*(w*x - 1)
        >>> print(derivation.check())
        proved: the steps multiply to the engine's gradient, for L, v_2, v_1, w and x
        proved: the engine's gradient is sympy.diff's, for w and x
    """

    def __init__(self, chain: ChainRule) -> None:
        self._chain, layout = chain, DerivationLayout(chain)
        engine = chain.engine
        self.gradients = {layout.names[v]: expression(wrap(engine[v])) for v in layout.order}
        super().__init__(layout.sections())

    def check(self) -> Checked:
        """Prove that the steps multiply to the engine's gradients, and these to be right.

        What the engine gave is compared with `sympy.diff` of the loss where no hook changed a
        gradient; where one did, it is not the derivative any more, and only the steps are proved.
        The result says so, with the hook's name.
        Where a formula has a kink (`abs`, `relu`, a hook that clips) both of its sides are proved.

        Returns:
            What was proved for which gradients, and what SymPy could not decide.

        Raises:
            Refuted: If a gradient differs; with the entry, both formulas and a counterexample.
        """
        return _checked(self._chain)


def derive(loss: Tensor, *, names: Any = None) -> Derivation:
    r"""Write the chain rule of a loss as the engine took it, step by step, with all hooks.

    It follows single numbers: every tensor on the way has one entry.

    One backward pass is made. It keeps the graph and changes no `.grad`; every hook on the way
    fires once, as in `autograd.grad`: all but those of the nodes that add to `.grad`, and those
    after that. Each node's local derivative comes from its own rule, run on symbols instead
    of the values that it saved.

    Args:
        loss: A symbolic tensor with one entry.
        names: Names for tensors, as in `viz.draw`: a dict such as `{"x_1": x1, "y": y}`, a module,
            or a list of both. Named inner tensors are what the derivation speaks of,
            and nodes between two of them are one step. Without any, the result of every node is
            a place $v_1, v_2, \dots$ Leaves have the names of their symbols.

    Returns:
        The derivation. `print` it, show it in a notebook, or ask its `check()` for a proof. It says
        which leaves got no gradient, and which hooks gave None.

    Raises:
        TypeError: If the loss is not symbolic.
        RuntimeError: If it has several entries, no graph, or a graph that a backward has freed.
        ValueError: If a tensor has several entries, if two would have the same name, or one that of
            a symbol.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> x, w = symbols("x w", requires_grad=True)
        >>> y = w * x
        >>> print(derive((y - 1) ** 2, names={"y": y}))
        Forward
          y = w*x
          L = (y - 1)**2
        <BLANKLINE>
        Backward
          dL/dy = 2*(y - 1)
          dy/dw = x
          dy/dx = w
        <BLANKLINE>
        According to the chain rule
          dL/dw = dL/dy * dy/dw = 2*x*(y - 1)
          dL/dx = dL/dy * dy/dx = 2*w*(y - 1)
    """
    if not isinstance(loss, Tensor) or not isinstance(loss._array, SymbolicArray):
        raise TypeError("derive() takes a loss of symbols. For one of numbers, see explain()")
    return _followed(Derivation, loss, names)


def _followed(kind: type[Any], loss: Tensor, names: Any, *settings: Any) -> Any:
    """Run a backward pass, and make a derivation or an explanation of it.

    Raises:
        RuntimeError: If the loss has several entries, no graph, or a graph that was freed.
    """
    if loss.grad_fn is None:
        raise RuntimeError(
            "the loss has no graph: it was computed from tensors that require no grad, or without "
            "recording"
        )
    pairs = given_names(names)
    if isinstance(loss, Tensor):
        return kind(ChainRule(loss, pairs), *settings)
    from minigrad.symbolic.pytorch import chain_rule

    return kind(chain_rule(loss, pairs), *settings)


class Explanation(Paper):
    """A backward pass on numbers, step by step; made by `explain`.

    Printed, it is a table of text; in a notebook it shows itself as LaTeX.

    Attributes:
        gradients: For each place and leaf by its name the gradient as the engine had it when all
            hooks there had fired, an array.
        values: For each place and leaf by its name its value, an array, where it is known.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.symbolic import explain
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> explanation = explain(x * x, names={"x": x})
        >>> float(explanation.values["x"]), float(explanation.gradients["x"])
        (3.0, 6.0)
    """

    def __init__(self, chain: ChainRule, digits: int) -> None:
        self._layout = NumbersLayout(chain, digits)
        names, values = chain.naming.names, self._layout.values
        self.gradients = {names[value]: chain.engine[value] for value in values}
        self.values = {names[v]: array for v, array in values.items() if array is not None}
        super().__init__(self._layout.sections())


def explain(tensor: Tensor, *, names: Any = None, digits: int = 6) -> Explanation:
    r"""Write for a run on numbers how each gradient comes about: formula and number, step by step.

    It follows single numbers: every tensor on the way has one entry.

    One backward pass is made. It keeps the graph and changes no `.grad`; every hook on the way
    fires once, as in `autograd.grad`: all but those of the nodes that add to `.grad`, and those
    after that. The numbers of the local derivatives come from the nodes' own rules on what they
    saved, and the formulas from the same rules, run on symbols. (The backward of a custom
    `Function` therefore runs again.)

    The loss may be PyTorch's. Then its own engine runs the pass, with its hooks, and the formulas
    come from minigrad's nodes of the same names, with what PyTorch's nodes saved. Each number is
    computed again by minigrad, and nothing is shown where one differs.

    Args:
        tensor: The loss, a tensor with one entry, of minigrad's or of PyTorch's.
        names: Names for tensors, as in `derive`: a dict, a module, or a list of both. The
            parameters of a module are called as by `symbolic_like`: `f0.weight` is `w_0`. Leaves
            without a name are `a_1`, `a_2`, ...
        digits: How many decimals are shown.

    Returns:
        The explanation. `print` it, or show it in a notebook.

    Raises:
        TypeError: If the tensor is symbolic.
        RuntimeError: If it has several entries, no graph, or a graph that a backward has freed; if
            minigrad computes other numbers than PyTorch has.
        NotImplementedError: If minigrad has no such node as PyTorch's graph; the error names it.
        ValueError: If a tensor has several entries, or if two would have the same name.

    Example:
        >>> import minigrad as torch  # or: import torch
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> print(explain((y - 1) ** 2, names={"x": x, "y": y}))
        Forward
          x = 3
          y = x**2       = 3**2       = 9
          L = (y - 1)**2 = (9 - 1)**2 = 64
        <BLANKLINE>
        Backward
          dL/dy = 2*(y - 1)   = 2*(9 - 1) = 16
          dL/dx = dL/dy * 2*x = 16 * 6    = 96
    """
    held = getattr(tensor, "_array", None)  # PyTorch's tensors have none
    if isinstance(held, SymbolicArray) or not hasattr(tensor, "grad_fn"):
        raise TypeError("explain() takes a tensor that holds numbers; for formulas, see derive()")
    return _followed(Explanation, tensor, names, digits)


# ---------------------------------------------------------------------- proofs


@dataclass(frozen=True)
class Checked:
    """What `Derivation.check` proved.

    Attributes:
        steps: For which gradients: the steps multiply to what the engine gave.
        sympy: For which gradients: the engine gave what `sympy.diff` gives.
        apart_from: Expressions that are 0 where a formula has a kink; there nothing is proved.
        open: What was not proved, and why.
        hooks: The hooks that changed a gradient; then nothing is compared with `sympy.diff`.
        domain: Conditions under which the program can run: the loss, each step to it and each
            step back is real and finite. What is proved is proved there.
    """

    steps: tuple[str, ...]
    sympy: tuple[str, ...]
    apart_from: tuple[Any, ...] = ()
    open: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    domain: tuple[Any, ...] = ()

    def __str__(self) -> str:
        lines = []
        if self.steps:
            what = "the steps multiply to the engine's gradient"
            lines.append(f"proved: {what}, for {_and(self.steps)}")
        if self.sympy:
            lines.append(f"proved: the engine's gradient is sympy.diff's, for {_and(self.sympy)}")
        if self.domain:
            lines.append(f"  where {_and(tuple(map(in_words, self.domain)))}")
        if self.apart_from:
            lines.append(f"  apart from where {_and(tuple(f'{k} = 0' for k in self.apart_from))}")
        lines += [f"not proved: {each}" for each in self.open]
        if self.hooks:
            lines.append(
                f"left out: the comparison with sympy.diff, because {_and(self.hooks)} changed "
                "the gradient (it is no derivative of the loss any more)"
            )
        return "\n".join(lines)

    __repr__ = __str__


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _checked(chain: ChainRule) -> Checked:
    """Prove that the steps multiply to the engine's gradients, and these to be right."""
    naming, engine, order = chain.naming, chain.engine, chain.in_order()
    loss, in_leaves = naming.known[naming.root], naming.in_leaves()
    changed = [f"{effect.kind} {effect.name}" for effect in chain.effects]
    hooks = tuple(dict.fromkeys(changed + chain.hooks_with_none))
    # the engine's gradients of leaves of symbols; where none came, it counts as 0
    leaves = {
        value: engine.get(value, value[0].variable._array * 0)
        for value in ([] if hooks else [*order, *chain.without_gradient])
        if type(value[0]) is AccumulateGrad
        and isinstance(value[0].variable._array, SymbolicArray)
        and all(entry.is_Symbol for entry in entries(value[0].variable).flat)
    }

    def region(needs: Sequence[Need]) -> Region:
        smooth = [n for n in needs if n.relation == ">" and not n.of.has(*KINKS)]
        return Region(assumed={need.of: 1 for need in smooth})

    needs = reduced(needs_of(loss), sign_of)
    of_loss = region(needs)
    more = [n for n in reduced(needs_of(leaves.values()), of_loss.sign) if n not in needs]
    # what fails in more than single points, where the loss has a value
    unmet = [n for n in more if n.relation == ">" and not n.of.is_nonnegative]
    needs += more
    domain = region(needs)
    kinks: dict[Any, None] = {}
    left_open = [
        f"sympy.diff: a step of the backward needs {in_words(condition_of(need.of, 1))}, and the "
        "loss does not"
        for need in unmet
    ]
    left_open += ["sympy.diff: the loss has no value"] if of_loss.is_empty else []

    def is_proved(what: str, found: Any, due: Callable[[], Any], of: str = "") -> bool:
        try:
            one, other = entries(found).item(), entries(due()).item()
            if one.count_ops() + other.count_ops() > TOO_LONG:
                raise Undecided(because="the formulas are too long for SymPy")
            decision, met = equality.decide_in_parts(one, other, domain)
        except Undecided as error:
            left_open.append(f"{what}: {error}")
            return False
        except equality.TROUBLE as error:
            left_open.append(f"{what}: {equality.undecided(error)}")
            return False
        if isinstance(decision, dict):
            if all(need.holds(need.of.subs(decision)) is not False for need in needs):
                raise Refuted((), one, other, decision, of)
            decision = one - other  # the program has no value there
        if decision is not None:
            left_open.append(f"{what}: {Undecided((), one, other, decision)}")
            return False
        kinks.update(dict.fromkeys(met))
        return True

    totals = chain.composed(
        inside=lambda each: entrywise(lambda entry: entry.xreplace(in_leaves), each)
    )
    known = symbols_in(entry for array in engine.values() for entry in entries(array).flat)
    steps: list[str] = []
    for value in order:
        name, total = naming.names[value], totals[value]
        if total is None or symbols_in(total.flat) - known:
            left_open.append(
                f"{name}, as a step has no formula, or a value in between is not known"
            )
        elif is_proved(f"the steps, for {name}", total, functools.partial(engine.get, value)):
            steps.append(name)
    by_sympy: list[str] = []
    for leaf, gradient in leaves.items():
        name, due = naming.called(leaf), functools.partial(derivative, loss, leaf[0].variable)
        proved = is_proved(f"sympy.diff, for {name}", gradient, due, f"the gradient of {name}")
        if proved and not (unmet or of_loss.is_empty):
            by_sympy.append(name)
    conditions = tuple(
        condition_of(need.of, None if need.relation == "!=" else 1)
        for need in (needs if by_sympy else ())
    )
    return Checked(tuple(steps), tuple(by_sympy), tuple(kinks), tuple(left_open), hooks, conditions)
