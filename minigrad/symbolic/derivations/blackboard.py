"""Write formulas, derivatives and numbers as on a blackboard, as plain text and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

# How tightly a piece of writing holds together: what stands in a product must not be a sum.
SUM, PRODUCT, ATOM = range(3)


@dataclass(frozen=True)
class Written:
    """A piece of writing, in both ways; `binding` tells whether it needs brackets in a product."""

    text: str
    latex: str
    binding: int = ATOM


# ---------------------------------------------------------------------- formulas


def _in_order(expr: Any) -> list[Any]:
    """Order the terms of a sum as one writes them: w x + b, y - 1, and 1 - y."""
    terms = list(expr.as_ordered_terms(order="grlex"))
    first = next((t for t in terms if not t.could_extract_minus_sign()), None)
    if first is not None and terms[0].could_extract_minus_sign():
        terms.remove(first)
        terms.insert(0, first)
    return terms


class _Text(StrPrinter):
    def __init__(self, board: Blackboard) -> None:
        super().__init__()
        self.board = board

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return _in_order(expr)

    def _print_Rational(self, expr: Any) -> str:
        return self.board.number(expr).text if expr.q > 1000 else str(super()._print_Rational(expr))

    def _print_Relational(self, expr: Any) -> str:
        sign = {"==": "=", "!=": "!="}.get(expr.rel_op, expr.rel_op)
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"

    def _print_Piecewise(self, expr: Any) -> str:
        """Write 1 where a condition holds, and else 0, as that condition in brackets."""
        return f"[{self._print(expr.args[0][1])}]" if _is_bracket(expr) else f"({self.cases(expr)})"

    def cases(self, expr: Any) -> str:
        """Write cases in a row."""
        told = [
            f"{self._print(value)} " + ("otherwise" if case == True else f"if {self._print(case)}")  # noqa: E712 - SymPy's true
            for value, case in expr.args
        ]
        return ", ".join(told)


def _is_bracket(expr: Any) -> bool:
    (first, _), *others = expr.args
    return bool(first == 1 and others == [(0, True)])


class _Latex(LatexPrinter):
    def __init__(self, board: Blackboard) -> None:
        super().__init__({"symbol_names": board.latex_names})
        self.board = board

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return _in_order(expr)

    def _print_Rational(self, expr: Any) -> str:
        if expr.q > 1000:
            return self.board.number(expr).latex
        return str(super()._print_Rational(expr))


class _Numbers(_Text):
    """Writes a formula with the numbers in the place of its symbols, without computing."""

    def __init__(self, board: Blackboard, values: Mapping[Any, Any]) -> None:
        super().__init__(board)
        self.values = values

    def _print_Symbol(self, expr: Any) -> str:
        if expr not in self.values:
            return str(super()._print_Symbol(expr))
        return self.board.number(self.values[expr]).text

    def parenthesize(self, item: Any, level: int, strict: bool = False) -> str:
        """Put brackets around negative numbers too."""
        written = str(super().parenthesize(item, level, strict))
        return f"({written})" if written.startswith("-") and item.is_Symbol else written


class Blackboard:
    """Writes for one derivation, in which some symbols stand for derivatives.

    Args:
        digits: How many decimals numbers are given with.

    Attributes:
        latex_names: For each such symbol how it is written in LaTeX.
    """

    def __init__(self, digits: int = 6) -> None:
        self.digits = digits
        self.latex_names: dict[Any, str] = {}

    def name(self, name: str) -> Written:
        """Write the name of a value."""
        return _named(name)

    def partial(self, of: str, wrt: str) -> Written:
        """Write a derivative."""
        top, bottom = self.name(of), self.name(wrt)
        latex = rf"\frac{{\partial {top.latex}}}{{\partial {bottom.latex}}}"
        return Written(f"d{of}/d{wrt}", latex)

    def formula(self, expr: Any) -> Written:
        """Write a formula."""
        latex = _simple_brackets(str(_Latex(self).doprint(expr)))
        if isinstance(expr, sympy.Piecewise) and not _is_bracket(expr):
            return Written(_Text(self).cases(expr), latex, SUM)
        binding = ATOM
        if isinstance(expr, (sympy.Add, sympy.Piecewise)):
            binding = SUM
        elif isinstance(expr, sympy.Mul) or expr.could_extract_minus_sign():
            binding = SUM if expr.could_extract_minus_sign() else PRODUCT
        return Written(_Text(self).doprint(expr), latex, binding)

    def with_numbers(self, expr: Any, values: Mapping[Any, Any]) -> Written:
        """Write a formula with numbers in the place of symbols."""
        text = re.sub(r"\(\((-[\d.]+)\)\)", r"(\1)", _Numbers(self, values).doprint(expr))
        return Written(text, _times(text), SUM)

    def number(self, value: Any) -> Written:
        """Write a number with the wanted decimals, without zeros at the end."""
        text = decimal(float(value), self.digits)
        mantissa, e, exponent = text.partition("e")
        latex = rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else text
        return Written(text, latex, ATOM)


@lru_cache(maxsize=5_000)
def _named(name: str) -> Written:
    plain = re.fullmatch(r"[A-Za-z]+(_\w+|_\{[^}]*\})?", name)
    return Written(name, sympy.latex(sympy.Symbol(name)) if plain else _in_roman(name))


def decimal(value: float, digits: int) -> str:
    """Give a number as text with at most so many decimals; very small and large ones with 1e5.

    Example:
        >>> decimal(-0.40796067840, 6), decimal(0.4, 6), decimal(1.5e-7, 6), decimal(-0.0, 6)
        ('-0.407961', '0.4', '1.5e-07', '0')
    """
    if value != value or value in (float("inf"), -float("inf")):
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
    return _joined(
        parts,
        [p.binding == SUM and not (k == 0 and _is_number(p.text)) for k, p in enumerate(parts)],
    )


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
    if len(parts) == 1:
        return parts[0]
    text, latex = parts[0].text, parts[0].latex
    for part in parts[1:]:
        minus = part.text.startswith("-") and part.binding != SUM
        text += f" - {part.text[1:]}" if minus else f" + {part.text}"
        latex += f" - {part.latex[1:]}" if minus else f" + {part.latex}"
    return Written(text, latex, SUM)


def applied(function: str, argument: Written) -> Written:
    """Write a function, such as a hook, applied to a piece."""
    latex = rf"{_in_roman(function)}\left({argument.latex}\right)"
    return Written(f"{function}({argument.text})", latex)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[\d.]+(e[+-]\d+)?", text) is not None


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
    return re.sub(r"\s*\\right\)", ")", re.sub(r"\\left\(", "(", latex)).replace("{(", "{(")


@dataclass(frozen=True)
class Row:
    """A line of equations, `left = right[0] = right[1] = ...`, and a remark.

    What would say the same twice in a row is said once.
    """

    left: Written
    right: tuple[Written, ...]
    remark: str = ""

    def __post_init__(self) -> None:
        told = [
            piece
            for place, piece in enumerate(self.right)
            if not place or piece.text != self.right[place - 1].text
        ]
        object.__setattr__(self, "right", tuple(told))


@dataclass(frozen=True)
class Section:
    """A heading and the lines under it; `words` are lines that are no equations."""

    heading: str
    rows: tuple[Row, ...]
    words: tuple[str, ...] = ()


def as_text(sections: Sequence[Section]) -> str:
    """Write sections as plain text, the equations of each in columns."""
    pages = []
    for section in sections:
        lines = [section.heading] if section.heading else []
        table = [
            [row.left.text, *(f"= {piece.text}" for piece in row.right)] for row in section.rows
        ]
        lines += _columns(table, [row.remark for row in section.rows])
        pages.append("\n".join([*lines, *(f"  {each}" for each in section.words)]))
    return "\n\n".join(pages)


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


def as_latex(sections: Sequence[Section]) -> str:
    """Write sections as LaTeX, the equations of each in one `aligned`."""
    pages = []
    for section in sections:
        parts = [section.heading] if section.heading else []
        lines = []
        for row in section.rows:
            line = rf"{row.left.latex} &= " + " = ".join(piece.latex for piece in row.right)
            if row.remark:
                line += rf" & \qquad \text{{{_escaped(row.remark)}}}"
            lines.append(line)
        if lines:
            body = " \\\\\n".join(lines)
            parts.append(f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$")
        parts += map(_escaped, section.words)
        pages.append("\n\n".join(parts))
    return "\n\n".join(pages)


def _escaped(words: str) -> str:
    return re.sub(r"([_%#&{}])", r"\\\1", words)


class Paper:
    """Something told in sections: printed it is text, in a notebook it shows itself as LaTeX."""

    _sections: Sequence[Section]

    def __str__(self) -> str:
        return as_text(self._sections)

    __repr__ = __str__

    def latex(self) -> str:
        """Give the page as LaTeX: headings, and equations in `aligned`."""
        return as_latex(self._sections)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/latex": self.latex()}
