"""Make an example for a function or a layer whose docstring has none, by calling it."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from typing import Any

import minigrad as torch

# What is put in for a parameter that has no default, by its name.
ARGUMENTS = {
    "input": "x", "self": "x", "tensor": "x", "tensors": "[x, x.T]", "other": "x.T", "mat2": "x",
    "tensor1": "x", "tensor2": "x.T", "mat1": "x", "condition": "x > 0.5", "exponent": "2",
    "vec": "x[0]", "dim": "0", "dim0": "0", "dim1": "1", "axis0": "0", "axis1": "1",
    "dims": "(1, 0)", "shape": "(4,)", "size": "(2, 2)", "fill_value": "7.0", "chunks": "2",
    "q": "0.5", "max": "0.5", "min": "0.5", "split_size_or_sections": "1",
    "split_sizes": "[1, 1]", "index": "torch.tensor([0, 3])", "vec2": "x[1]", "obj": "x",
    "A": "x", "B": "x", "gain": "1.0", "val": "0.5", "in_channels": "2", "out_channels": "3",
    "num_features": "2", "kernel_size": "2", "num_groups": "1", "output_size": "2",
    "padding": "1", "value": "0.5", "threshold": "0.5", "weight": "x", "data_source": "range(4)",
    "indices": "[2, 0]", "dataset": "range(4)", "datasets": "[range(2), range(3)]",
    "optimizer": "torch.optim.SGD([x], lr=0.1)", "gamma": "0.5", "step_size": "2",
    "milestones": "[2, 4]",
}  # fmt: skip
# Arguments where the names do not tell; nothing where a call would change or need something else.
SPECIAL = {
    "dot": "x[0], x[1]", "outer": "x[0], x[1]", "mv": "x, x[0]", "addmm": "x, x, x",
    "bmm": "x.expand(3, 2, 2), x.expand(3, 2, 2)", "broadcast_to": "x, (2, 2, 2)",
    "squeeze": "x[None]", "nll_loss": "x, torch.tensor([0, 1])", "seed": "", "is_storage": "",
    "dropout": "x, 0.5, True", "instance_norm": "x[None]", "lstsq": "x, x",
    "log_softmax": "x, dim=1", "softmin": "x, dim=1", "LogSoftmax": "dim=0", "Softmin": "dim=0",
    "triplet_margin_loss": "x, x + 0.1, x - 0.3",
}  # fmt: skip
STARTS = (
    "x = torch.tensor([[-1.5, 0.5], [2.0, -0.2]], requires_grad=True)",
    "x = torch.tensor([[0.2, 0.4], [0.6, 0.8]], requires_grad=True)",
    "x = torch.tensor([[1.0, 1.5], [2.0, 4.0]], requires_grad=True)",
    "x = torch.tensor([[-1.5, 0.5], [2.0, -0.2]])",
    "x = torch.tensor([[6, 4], [3, 1]])",
    "x = torch.tensor([[True, False], [True, True]])",
)
VARIES = re.compile("rand|dropout|empty|_(normal|uniform|orthogonal)_")


def example(name: str, value: Any) -> str:
    """Give a call and its result as an interpreter shows them, or nothing where no call works.

    Args:
        name: in full, such as "minigrad.exp".
        value: what has this name.

    Example:
        >>> example("minigrad.numel", torch.numel).splitlines()[1:]
        ['>>> torch.numel(x)', '4']
    """
    typed = name.replace("minigrad", "torch", 1)
    for start, call in _calls(typed, value):
        known: dict[str, Any] = {"torch": torch}
        state = torch.get_rng_state()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(start, known)
                result = eval(call, known)
        except Exception:
            continue
        finally:
            torch.set_rng_state(state)
        if "requires_grad" in start and not re.search("grad_fn=|LR", f"{result!r}{name}"):
            continue  # the same without is clearer
        if "nan" in repr(result):
            continue
        if hasattr(result, "get_last_lr"):
            call, result = f"{call}.get_last_lr()", result.get_last_lr()
        if isinstance(result, torch.Tensor) and (VARIES.search(name) or result.ndim > 2):
            call, result = f"{call}.shape", result.shape
        shown = repr(result)
        if result is not None and " at 0x" not in shown:
            return "\n".join(f">>> {line}" for line in filter(None, (start, call))) + f"\n{shown}"
    return ""


def _calls(typed: str, value: Any) -> Iterator[tuple[str, str]]:
    """List calls that may work, each with the line before it."""
    short = typed.rpartition(".")[2]
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return
    needed = [
        each.name
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    if typed == f"torch.{short}" and short.endswith("Tensor"):
        needed, arguments = [], "[0, 1]"
    elif short.startswith("conv"):
        dims, across = int(short[-2]), "2, 3" if "transpose" in short else "3, 2"
        arguments = f"torch.ones(1, 2{', 4' * dims}), torch.ones({across}{', 2' * dims})"
    elif short in SPECIAL:
        arguments = SPECIAL[short]
        if not arguments:
            return
    elif set(needed) <= set(ARGUMENTS):
        arguments = ", ".join(ARGUMENTS[each] for each in needed)
    else:
        return
    if inspect.isclass(value) and issubclass(value, torch.nn.Module):
        dims = int(found[1]) if (found := re.search(r"([123])d$", short)) else 0
        inputs = (
            f"torch.ones(1, 2{', 4' * dims})" if dims else "torch.tensor([-1.0, 0.2, 3.0, 0.5])"
        )
        yield "", f"{typed}({arguments})({inputs})"
        pair = "torch.tensor([[0.2, 0.8]]).log(), torch.tensor({})"
        for target in ("[1]", "[[0.5, 0.5]]"):
            yield "", f"{typed}({arguments})({pair.format(target)})"
        three = "torch.ones(1, 2), torch.zeros(1, 2), torch.ones(1, 2)"
        yield "", f"{typed}({arguments})({three})"
    else:
        call = f"{typed}({arguments})"
        for start in STARTS:
            yield (
                start if re.search(r"\bx\b", arguments) else "",
                (f"list({call})" if typed.startswith("torch.utils.data") else call),
            )
