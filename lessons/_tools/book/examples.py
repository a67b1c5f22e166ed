"""Make an example for a function or a layer whose docstring has none, by calling it."""

from __future__ import annotations

import inspect
import re
import warnings
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
# Arguments where the names do not tell; "?" is no Python, so that nothing is called.
SPECIAL = {
    "dot": "x[0], x[1]", "outer": "x[0], x[1]", "mv": "x, x[0]", "addmm": "x, x, x",
    "bmm": "x.expand(3, 2, 2), x.expand(3, 2, 2)", "broadcast_to": "x, (2, 2, 2)",
    "squeeze": "x[None]", "nll_loss": "x, torch.tensor([0, 1])", "seed": "?",
    "dropout": "x, 0.5, True", "instance_norm": "x[None]", "lstsq": "x, x",
    "log_softmax": "x, dim=1", "softmin": "x, dim=1", "LogSoftmax": "dim=0", "Softmin": "dim=0",
    "adaptive_max_pool2d": "x[None], 1", "KLDivLoss": "reduction='batchmean'",
    "triplet_margin_loss": "x, x + 0.1, x - 0.3", "clamp_": "x, 0.5", "clip_": "x, 0.5",
    "as_strided_": "x, (2, 2), (1, 2)", "resize_as_": "x, x[0]", "xlogy_": "x, x + 1",
}  # fmt: skip
STARTS = (
    "x = torch.tensor([[-1.5, 0.5], [2.0, -0.2]], requires_grad=True)",
    "x = torch.tensor([[0.2, 0.4], [0.6, 0.8]], requires_grad=True)",
    "x = torch.tensor([[1.0, 1.5], [2.0, 4.0]], requires_grad=True)",
    "x = torch.tensor([[-1.5, 0.5], [2.0, -0.2]])",
    "x = torch.tensor([[6, 4], [3, 1]])",
    "x = torch.tensor([[True, False], [True, True]])",
    "x = torch.tensor([[0.2, 0.4], [0.6, 0.8]])",
)
INPUTS = (  # of a layer: one tensor, or those of a loss
    "torch.tensor([-1.0, 0.2, 3.0, 0.5])",
    "torch.tensor([[0.2, 0.8]]).log(), torch.tensor([1])",
    "torch.tensor([[0.2, 0.8]]).log(), torch.tensor([[0.5, 0.5]])",
    "torch.ones(1, 2), torch.zeros(1, 2), torch.ones(1, 2)",
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
        torch.manual_seed(0)
        try:
            with warnings.catch_warnings(action="error"):
                exec(start, known)
                result = eval(call, known)
        except Exception:
            continue
        if "requires_grad" in start and not re.search("grad_fn=|LR", f"{result!r}{name}"):
            continue  # the same without is clearer
        if hasattr(result, "get_last_lr"):
            call, result = f"{call}.get_last_lr()", result.get_last_lr()
        if isinstance(result, torch.Tensor) and (VARIES.search(name) or result.ndim > 2):
            call, result = f"{call}.shape", result.shape
        if result is not None and not re.search("nan| at 0x", repr(result)):
            return "\n".join([*(f">>> {line}" for line in (start, call) if line), repr(result)])
    return ""


def _calls(typed: str, value: Any) -> list[tuple[str, str]]:
    """List calls that may work, each with the line before it."""
    short = typed.rpartition(".")[2]
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    needed = [
        ARGUMENTS.get(each.name, "?")
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    dims = int(found[1]) if (found := re.search(r"([123])d$", short)) else 0
    image = f"torch.ones(1, 2{', 4' * dims})"
    arguments = SPECIAL.get(short, ", ".join(needed))
    if short.startswith("conv"):
        arguments = f"{image}, torch.ones({'2, 3' if 'tr' in short else '3, 2'}{', 2' * dims})"
    call = f"{typed}({'[0, 1]' if short.endswith('Tensor') else arguments})"
    if inspect.isclass(value) and issubclass(value, torch.nn.Module):
        return [("", f"{call}({each})") for each in ([image] if dims else INPUTS)]
    call = f"list({call})" if typed.startswith("torch.utils.data") else call
    return [(start if re.search(r"\bx\b", call) else "", call) for start in STARTS]
