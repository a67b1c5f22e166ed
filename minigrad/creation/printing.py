"""Write any array the way PyTorch prints a tensor, and choose precision, width and summary.

The form is that of PyTorch 2.13.0, character for character. The entries that will be shown decide
together how floats are written, so that columns line up:

* scientific, if the largest magnitude is over 1000 times the smallest, or above 1e8, or the
  smallest is below 1e-4;
* else whole, `3.`, if every entry is an integer (the point tells floats from integers);
* else fixed, with `precision` digits after the point.

Zeros, infinities and NaNs have no say in the choice, nor in the column's width.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["set_printoptions"]

PARAMETER_HEADING = "Parameter containing:\n"
"""The line that stands above the printed form of a `Parameter`."""


class PrintOptions(NamedTuple):
    """The choices that `set_printoptions` offers.

    Args:
        precision: Digits after the point in fixed and scientific notation.
        threshold: An array with more entries than this is summarized with dots.
        edgeitems: Entries kept at either end of each dimension of a summary.
        linewidth: Columns of a line. A row that needs more is broken.
        sci_mode: True forces scientific notation, False forbids it, None: the entries decide.
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


# The first four of these options.
_PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}

_current = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors are printed from now on.

    What is None keeps its value, except that `sci_mode` goes back to None unless it is given again
    (PyTorch's rule).

    Args:
        precision: Digits after the point (4 at first).
        threshold: Number of entries above which a tensor is summarized (1000 at first).
        edgeitems: Entries kept at either end of each dimension of a summary (3 at first).
        linewidth: Columns of a line (80 at first).
        profile: `"default"`, `"short"` or `"full"` sets the four above together; those given beside
            it count more. Any other name changes nothing, as in PyTorch.
        sci_mode: True or False for scientific notation always or never; None: the entries decide.

    Example:
        >>> thirds = np.array([1 / 3, 2 / 3], dtype=np.float32)
        >>> set_printoptions(precision=2)
        >>> print(format_tensor(thirds))
        tensor([0.33, 0.67])
        >>> set_printoptions(profile="default")
        >>> print(format_tensor(thirds))
        tensor([0.3333, 0.6667])
    """
    global _current
    usual = _PROFILES.get(profile or "", _current[:4])
    given = zip((precision, threshold, edgeitems, linewidth), usual, strict=True)
    chosen = [old if new is None else new for new, old in given]
    _current = PrintOptions._make([*chosen, sci_mode])


def format_tensor(
    array: np.ndarray,
    *,
    requires_grad: bool = False,
    grad_fn: str | None = None,
    default_dtype: Any = np.float32,
    prefix: str = "tensor(",
    options: PrintOptions | None = None,
) -> str:
    """Write an array as PyTorch prints a tensor that holds it.

    After the entries follow, where they apply: the size (of an empty tensor that is not a vector),
    the dtype (where the entries alone would suggest another), and the tensor's place in the graph.
    An array of Python objects, such as SymPy expressions, is laid out like one of integers, by the
    `str` of each entry, and shows no dtype.

    Args:
        array: The entries.
        requires_grad: Whether the tensor requires a gradient. Shown only if there is no `grad_fn`.
        grad_fn: Name of the node that computed the tensor, such as `"MulBackward0"`.
        default_dtype: The dtype that goes unsaid, as do int64, bool and its complex partner.
        prefix: What opens the text. Its length is the indentation of all further lines.
        options: Choices to use instead of those of `set_printoptions`.

    Returns:
        The text, without a final newline.

    Shape:
        array: any, from `()` on.

    Example:
        >>> matrix = np.array([[1.5, -2.0], [0.0, 10.25]], dtype=np.float32)
        >>> print(format_tensor(matrix, grad_fn="MulBackward0"))
        tensor([[ 1.5000, -2.0000],
                [ 0.0000, 10.2500]], grad_fn=<MulBackward0>)
        >>> print(format_tensor(np.arange(3.0), requires_grad=True))
        tensor([0., 1., 2.], dtype=torch.float64, requires_grad=True)
        >>> print(format_tensor(np.zeros((0, 3), dtype=np.float32)))
        tensor([], size=(0, 3))
        >>> print(format_tensor(np.arange(2000)))
        tensor([   0,    1,    2,  ..., 1997, 1998, 1999])
    """
    options = _current if options is None else options
    array = np.asarray(array)
    remarks = _dtype_and_size(array, np.dtype(default_dtype), options)
    if grad_fn is not None:
        remarks.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        remarks.append("requires_grad=True")
    indent = len(prefix)
    return _append_remarks(prefix + _entries(array, indent, options), remarks, indent, options)


def _dtype_and_size(array: np.ndarray, default: np.dtype, options: PrintOptions) -> list[str]:
    """List what the entries do not tell: the size, then the dtype."""
    size = f"size={tuple(array.shape)}"
    name = array.dtype.name  # says nothing of the byte order
    dtype = f"dtype=torch.{name}"
    if array.size == 0:
        unstated_size = array.ndim != 1
        unstated_dtype = name not in (default.name, "object")  # no entry suggests int64 or bool
    else:
        partner = "complex128" if default.name == "float64" else "complex64"
        unstated_size = options.edgeitems == 0
        unstated_dtype = name not in (default.name, partner, "int64", "bool", "object")
    return [size] * unstated_size + [dtype] * unstated_dtype


def _append_remarks(text: str, remarks: list[str], indent: int, options: PrintOptions) -> str:
    """Add each remark on the last line if it fits there, else on a new one, and the parenthesis."""
    column = len(text) - text.rfind("\n") + 1  # two more than the line has: PyTorch's count
    for remark in remarks:
        if column + len(", ") + len(remark) > options.linewidth:
            text += ",\n" + " " * indent + remark
            column = indent + len(remark)
        else:
            text += ", " + remark
            column += len(", ") + len(remark)
    return text + ")"


def _entries(array: np.ndarray, indent: int, options: PrintOptions) -> str:
    """Write the entries in nested brackets, of many only the ends of each long dimension."""
    if array.size == 0:
        return "[]"
    edge = options.edgeitems
    summarized = array.size > options.threshold
    shortened = [summarized and length > 2 * edge for length in array.shape]
    for axis, short in enumerate(shortened):
        if short:
            length = array.shape[axis]
            array = array.take([*range(edge), *range(length - edge, length)], axis=axis)
    return _brackets(array, shortened, indent, _style(array, options), options)


class _Style(NamedTuple):
    """How one entry is written, and how many columns it is meant to take."""

    write: Callable[[Any], str]
    width: int


def _brackets(
    shown: np.ndarray, shortened: list[bool], indent: int, style: _Style, options: PrintOptions
) -> str:
    """Write one level of brackets and, by calling itself, those within."""
    if shown.ndim == 0:
        return style.write(shown.item())
    if shown.ndim == 1:
        parts = [style.write(entry) for entry in shown.tolist()]
        dots = " ..." if options.edgeitems else "..."
    else:
        parts = [_brackets(part, shortened[1:], indent + 1, style, options) for part in shown]
        dots = "..."
    if shortened[0]:
        parts.insert(options.edgeitems, dots)
    margin = " " * (indent + 1)
    if shown.ndim > 1:
        return "[" + (",\n" + "\n" * (shown.ndim - 2) + margin).join(parts) + "]"
    per_line = max(1, math.floor((options.linewidth - indent) / (style.width + len(", "))))
    if per_line == 1 and shown.dtype == object:
        parts = [part.lstrip() for part in parts]  # long formulas, a line each: no columns to align
    lines = [", ".join(parts[i : i + per_line]) for i in range(0, len(parts), per_line)]
    return "[" + (",\n" + margin).join(lines) + "]"


def _style(shown: np.ndarray, options: PrintOptions) -> _Style:
    """Choose how to write the entries of an array by looking at all that are shown."""
    if np.issubdtype(shown.dtype, np.complexfloating):
        return _complex_style(shown, options)
    if np.issubdtype(shown.dtype, np.floating):
        return _float_style(shown, options)
    width = max((len(str(entry)) for entry in shown.ravel().tolist()), default=1)
    return _Style(lambda entry: str(entry).rjust(width), width)


def _float_style(shown: np.ndarray, options: PrintOptions) -> _Style:
    """Choose between scientific, whole and fixed notation."""
    values = shown.ravel().tolist()  # Python floats: double precision, as where PyTorch decides
    telling = [value for value in values if math.isfinite(value) and value != 0]
    whole = all(value.is_integer() for value in telling)
    scientific = False
    if telling and options.sci_mode is None:
        largest, smallest = max(map(abs, telling)), min(map(abs, telling))
        scientific = largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4
    elif telling:
        scientific = bool(options.sci_mode)

    def text(value: float) -> str:
        if scientific:
            return f"{value:.{options.precision}e}"
        if whole:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{options.precision}f}"

    width = max((len(text(value)) for value in telling), default=1)
    return _Style(lambda value: text(value).rjust(width), width)


def _complex_style(shown: np.ndarray, options: PrintOptions) -> _Style:
    """Choose a notation for the real parts and one for the imaginary parts, and join the two."""
    real, imaginary = _float_style(shown.real, options), _float_style(shown.imag, options)

    def write(value: complex) -> str:
        second = imaginary.write(value.imag).lstrip()
        sign = "" if second.startswith("-") else "+"
        return real.write(value.real) + sign + second + "j"

    return _Style(write, real.width + imaginary.width + len("j"))
