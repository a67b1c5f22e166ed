"""Prove that a backward rule gives the derivative of its forward, wherever the program can run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minigrad.nn import Module
from minigrad.symbolic.array import entries
from minigrad.symbolic.equality import shaped
from minigrad.symbolic.models import symbolic_like
from minigrad.symbolic.proving.borrowing import borrowed
from minigrad.symbolic.proving.evidence import Proof
from minigrad.symbolic.proving.hearing import Hearing
from minigrad.symbolic.proving.operations import assumptions_of, made, name_of, operation_of
from minigrad.symbolic.regions import EVERYWHERE, region_of
from minigrad.tensor import Tensor


def prove(
    operation: Callable[..., Any] | str,
    *inputs: Any,
    regions: Sequence[Any] | None = None,
    settings: Sequence[Any] = (),
    constants: Sequence[Any] = (),
    **assumptions: bool,
) -> Proof:
    r"""Prove that the engine's gradient of an operation is the derivative of its forward.

    The operation runs on symbols, backward from a gradient of symbols $g$. What arrives at each
    input is compared with $\sum_k g_k\, \partial r_k / \partial x_i$, for which SymPy
    differentiates the result's formula itself. Where formulas have kinks (relu, max, abs), space
    is cut at them, and each part is proved on its own; the kinks themselves are left out.

    A proof holds where the program can run: where the forward and every step of it is real and
    finite. This domain is found along the run, and told. Before anything is said, the rule itself
    runs on numbers, in float64, at some two hundred points spread over all regions, and is compared
    with difference quotients of the forward: some thousand runs of the operation.

    Args:
        operation: A function of tensors, such as `torch.mul`, a lambda, the `apply` of a custom
            function, or a module, whose parameters are differentiated too; or the name of an
            operation in minigrad's book of derivatives, such as "mul". What it prints is not shown.
        *inputs: Shapes, each an integer or a tuple, for which symbols x, y, z, ... are made; or
            tensors of symbols, of which those that require a gradient are differentiated.
        regions: For functions with kinks, the parts of space to prove it in: substitutions such
            as `{x: d}` and `{x: -d}` with a positive `d`, or conditions such as `x > 0`. They are
            found where none are given.
        settings: What the operation takes after the tensors, such as a dimension.
        constants: Exact numbers, such as `sympy.log(2)`, that are meant where the rule has the
            float next to them.
        **assumptions: What SymPy may assume of the symbols that are made, such as
            `positive=True`. Without any: `real=True`.

    Returns:
        The evidence, which can be printed.

    Raises:
        Refuted: If the rule is wrong; it names the entry, both formulas and a counterexample, at
            which the rule was run.
        Undecided: If SymPy finds neither a proof nor a counterexample.
        ValueError: If no input requires a gradient, or the book has no such operation.

    Example:
        >>> import minigrad as torch
        >>> prove(torch.tanh, ()).gradients
        (g*(1 - tanh(x)**2),)
        >>> prove(torch.relu, ()).where
        'region by region: x > 0; x < 0'
        >>> prove(torch.log, ()).where
        'for all values of the symbols with x > 0'
    """
    function = operation_of(operation)
    if isinstance(function, Module):
        function = symbolic_like(function)
    tensors = made(inputs, assumptions)
    wanted = [each for each in tensors if isinstance(each, Tensor) and each.requires_grad]
    if isinstance(function, Module):
        wanted += [each for each in function.parameters() if each.requires_grad]
    if not wanted:
        raise ValueError("prove() needs an input that requires a gradient")
    given = [EVERYWHERE] if regions is None else [region_of(_of_symbols(each)) for each in regions]
    with borrowed(function, tensors, wanted) as names:
        hearing = Hearing(function, tensors, settings, wanted, constants, names, given)
        verdict = hearing.verdict()
        show, run = names.show, hearing.runs[0]
        return Proof(
            shaped([show(each) for each in run.result.flat], run.result.shape),
            shaped([show(each) for each in run.cotangent.flat], run.cotangent.shape),
            tuple(shaped([show(e) for e in g.flat], g.shape) for g in run.gradients),
            tuple({str(r): r for each in verdict.evidence for r in each.regions}.values())
            or (EVERYWHERE,),
            name_of(operation),
            tuple((names.label(k), tuple(each.shape)) for k, each in enumerate(wanted)),
            tuple(verdict.evidence),
            tuple(constants),
            tuple(map(assumptions_of, wanted)),
            verdict.domain,
            verdict.holes,
            verdict.witness,
        )


def _of_symbols(region: Any) -> Any:
    """Let tensors stand for the only symbol in them."""
    if isinstance(region, tuple):
        return tuple(map(_of_symbols, region))
    if not isinstance(region, Mapping):
        return entries(region).item() if isinstance(region, Tensor) else region
    pairs = [[entries(each).item() for each in pair] for pair in region.items()]
    return dict(pairs)
