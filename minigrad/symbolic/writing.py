"""Write formulas, derivatives and numbers as plain text and as LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import groupby
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

# How tightly a piece of writing holds together: what stands in a product must not be a sum.
SUM, PRODUCT, ATOM = range(3)


@dataclass(frozen=True)
class Written:
    """A piece of writing, in both ways; `binding` says whether it needs brackets in a product."""

    text: str
    latex: str
    binding: int = ATOM


# ---------------------------------------------------------------------- formulas


def _in_order(printer: Any, expr: Any, order: Any = None) -> list[Any]:
    """Order the terms of a sum as one writes them: w x + b, y - 1, and 1 - y."""
    terms = list(expr.as_ordered_terms(order="grlex"))
    first = next((t for t in terms if not t.could_extract_minus_sign()), None)
    if first is not None and terms[0].could_extract_minus_sign():
        terms.remove(first)
        terms.insert(0, first)
    return terms


class _Text(StrPrinter):
    """Writes a formula as text, with numbers instead of some symbols, without computing."""

    _as_ordered_terms = _in_order

    def __init__(self, writer: Writer, values: Mapping[Any, Any]) -> None:
        super().__init__()
        self.writer, self.values = writer, values

    def _print_Rational(self, expr: Any) -> str:
        long = expr.q > 1000
        return self.writer.number(expr).text if long else str(super()._print_Rational(expr))

    def _print_Relational(self, expr: Any) -> str:
        sign = "=" if expr.rel_op == "==" else expr.rel_op
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"

    def _print_Piecewise(self, expr: Any) -> str:
        """Write 1 where a condition holds, and else 0, as that condition in brackets."""
        return f"[{self._print(expr.args[0][1])}]" if _is_bracket(expr) else f"({self.cases(expr)})"

    def cases(self, expr: Any) -> str:
        """Write cases in a row."""
        return ", ".join(
            f"{self._print(value)} " + ("otherwise" if case == True else f"if {self._print(case)}")  # noqa: E712 - SymPy's true
            for value, case in expr.args
        )

    def _print_Symbol(self, expr: Any) -> str:
        known = expr in self.values
        return self.writer.number(self.values[expr]).text if known else super()._print_Symbol(expr)

    def parenthesize(self, item: Any, level: int, strict: bool = False) -> str:
        """Put brackets around negative numbers too."""
        written = str(super().parenthesize(item, level, strict))
        return f"({written})" if written.startswith("-") and item.is_Symbol else written


def _is_bracket(expr: Any) -> bool:
    (first, _), *others = expr.args
    return bool(first == 1 and others == [(0, True)])


class _Latex(LatexPrinter):
    _as_ordered_terms = _in_order

    def __init__(self, writer: Writer) -> None:
        super().__init__({"symbol_names": writer.latex_names})
        self.writer = writer

    def _print_Rational(self, expr: Any) -> str:
        long = expr.q > 1000
        return self.writer.number(expr).latex if long else str(super()._print_Rational(expr))


class Writer:
    """Writes for one derivation, in which some symbols stand for derivatives.

    Args:
        digits: How many decimals numbers are given with.

    Attributes:
        latex_names: For each such symbol how it is written in LaTeX.
    """

    def __init__(self, digits: int = 6) -> None:
        self.digits = digits
        self.latex_names: dict[Any, str] = {}

    def formula(self, formula: Any) -> Written:
        """Write a formula."""
        expr, text = sympy.sympify(formula), _Text(self, {})
        latex = _simple_brackets(str(_Latex(self).doprint(expr)))
        if isinstance(expr, sympy.Piecewise) and not _is_bracket(expr):
            return Written(text.cases(expr), latex, SUM)
        binding = PRODUCT if isinstance(expr, sympy.Mul) else ATOM
        if isinstance(expr, (sympy.Add, sympy.Piecewise)) or expr.could_extract_minus_sign():
            binding = SUM
        return Written(text.doprint(expr), latex, binding)

    def with_numbers(self, expr: Any, values: Mapping[Any, Any]) -> Written:
        """Write a formula with numbers instead of symbols."""
        text = re.sub(r"\(\((-[\d.]+)\)\)", r"(\1)", _Text(self, values).doprint(expr))
        return Written(text, _times(text), SUM)

    def number(self, value: Any) -> Written:
        """Write a number with its decimals, without zeros at the end."""
        text = decimal(float(value), self.digits)
        mantissa, e, exponent = text.partition("e")
        return Written(text, rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else text)


@lru_cache(maxsize=5_000)
def named(name: str) -> Written:
    """Write the name of a value."""
    plain = re.fullmatch(r"[A-Za-z]+(_\w+|_\{[^}]*\})?", name)
    return Written(name, sympy.latex(sympy.Symbol(name)) if plain else _in_roman(name))


def partial(of: str, wrt: str) -> Written:
    """Write a derivative."""
    latex = rf"\frac{{\partial {named(of).latex}}}{{\partial {named(wrt).latex}}}"
    return Written(f"d{of}/d{wrt}", latex)


def decimal(value: float, digits: int) -> str:
    """Give a number as text with at most so many decimals; very small and large ones with 1e5.

    Example:
        >>> decimal(-0.40796067840, 6), decimal(0.4, 6), decimal(1.5e-7, 6), decimal(-0.0, 6)
        ('-0.407961', '0.4', '1.5e-07', '0')
    """
    if not math.isfinite(value):
        return str(value)
    if value and not 10.0 ** (1 - digits) <= abs(value) < 1e9:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        return f"{_without_zeros(mantissa)}e{exponent}"
    shown = _without_zeros(f"{value:.{digits}f}")
    return "0" if shown == "-0" else shown


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def product(parts: Sequence[Written]) -> Written:
    """Write a product of pieces; those that are sums get brackets."""
    number = re.fullmatch(r"-?[\d.]+(e[+-]\d+)?", parts[0].text)
    return _joined(parts, [p.binding == SUM and (k > 0 or not number) for k, p in enumerate(parts)])


def numbers_product(parts: Sequence[Written]) -> Written:
    """Write a product of numbers as the seed of this course does: -1.847648 * 0.552 * 0.4."""
    return _joined(parts, [k > 0 and p.text.startswith("-") for k, p in enumerate(parts)])


def _joined(parts: Sequence[Written], brackets: Sequence[bool]) -> Written:
    if len(parts) == 1:
        return parts[0]
    pairs = list(zip(parts, brackets, strict=True))
    texts = [f"({part.text})" if bracket else part.text for part, bracket in pairs]
    formulas = [f"({part.latex})" if bracket else part.latex for part, bracket in pairs]
    return Written(" * ".join(texts), r" \cdot ".join(formulas), PRODUCT)


def total(parts: Sequence[Written]) -> Written:
    """Write a sum of pieces."""
    return reduce(_plus, parts)


def _plus(one: Written, other: Written) -> Written:
    minus = other.text.startswith("-") and other.binding != SUM
    sign, start = (" - ", 1) if minus else (" + ", 0)
    text, latex = other.text[start:], other.latex[start:]
    return Written(one.text + sign + text, one.latex + sign + latex, SUM)


def applied(function: str, argument: Written) -> Written:
    """Write a function, such as a hook, applied to a piece."""
    latex = rf"{_in_roman(function)}\left({argument.latex}\right)"
    return Written(f"{function}({argument.text})", latex)


def _in_roman(name: str) -> str:
    escaped = name.replace("_", r"\_")
    return rf"\operatorname{{{escaped}}}"


def _times(text: str) -> str:
    """Turn a computation in text into LaTeX."""
    text = re.sub(r"\*\*(\d+|\([^()]*\))", r"^{\1}", text)
    text = re.sub(r"e([+-]\d+)", lambda m: rf" \cdot 10^{{{int(m.group(1))}}}", text)
    text = re.sub(r"\b([a-zA-Z]{2,})\(", r"\\operatorname{\1}(", text)
    return text.replace("*", r" \cdot ")


def _simple_brackets(latex: str) -> str:
    """Take away the stretching of brackets where nothing high is inside."""
    if any(high in latex for high in (r"\frac", r"\begin", r"\sum", r"\sqrt")):
        return latex
    return re.sub(r"\s*\\right\)", ")", latex.replace(r"\left(", "("))


@dataclass
class Row:
    """A line of equations, `left = right[0] = right[1] = ...`, and a remark.

    What would be the same twice in a row is written once.
    """

    left: Written
    right: Iterable[Written]
    remark: str = ""

    def __post_init__(self) -> None:
        self.right = [next(same) for _, same in groupby(self.right, lambda piece: piece.text)]


@dataclass
class Section:
    """A heading and the lines under it; `words` are lines that are no equations."""

    heading: str
    rows: Iterable[Row]
    words: Iterable[str] = ()

    def __post_init__(self) -> None:
        self.rows, self.words = list(self.rows), list(self.words)


_MARGIN = 90  # remarks of longer lines are not aligned
_WIDEST = 44  # a cell that is wider does not move the cells of the other lines


def _columns(table: Sequence[Sequence[str]], remarks: Sequence[str]) -> list[str]:
    """Lay cells under each other; the last cell of a line is followed by its remark."""
    count = max(map(len, table), default=0)
    widths = [
        max((len(r[k]) for r in table if k + 1 < len(r) and len(r[k]) <= _WIDEST), default=0)
        for k in range(count)
    ]
    lines = [
        "  " + " ".join([*(f"{c:<{w}}" for c, w in zip(r[:-1], widths, strict=False)), r[-1]])
        for r in table
    ]
    noted = [len(line) for line, remark in zip(lines, remarks, strict=True) if remark]
    margin = max((length for length in noted if length <= _MARGIN), default=0)
    return [
        f"{line:<{margin}}   {remark}" if remark else line
        for line, remark in zip(lines, remarks, strict=True)
    ]


def _escaped(words: str) -> str:
    return re.sub(r"([_%#&{}])", r"\\\1", words)


class Paper:
    """Something written in sections: printed it is text, in a notebook it shows itself as LaTeX."""

    def __init__(self, sections: Iterable[Section]) -> None:
        self._sections = [section for section in sections if section.rows or section.words]

    def __str__(self) -> str:
        pages = []
        for section in self._sections:
            rows = section.rows
            table = [[row.left.text, *(f"= {each.text}" for each in row.right)] for row in rows]
            lines = _columns(table, [row.remark for row in rows])
            words = [f"  {each}" for each in section.words]
            pages.append("\n".join([section.heading, *lines, *words]))
        return "\n\n".join(pages)

    __repr__ = __str__

    def latex(self) -> str:
        """Give the page as LaTeX: headings, and the equations of each section in `aligned`."""
        parts = []
        for section in self._sections:
            lines = []
            for row in section.rows:
                line = rf"{row.left.latex} &= " + " = ".join(piece.latex for piece in row.right)
                remark = rf" & \qquad \text{{{_escaped(row.remark)}}}" if row.remark else ""
                lines.append(line + remark)
            body = " \\\\\n".join(lines)
            aligned = [f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"] if lines else []
            parts += [section.heading, *aligned, *map(_escaped, section.words)]
        return "\n\n".join(parts)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/latex": self.latex()}
