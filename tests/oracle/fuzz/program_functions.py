"""The custom Functions that random programs apply, made for the module in use."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def functions(torch: ModuleType) -> dict[str, Any]:
    """Give the Functions by name."""
    Function = torch.autograd.Function

    class Square(Function):  # type: ignore[name-defined,misc]
        """Saves its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * 2 * x

    class Exp(Function):  # type: ignore[name-defined,misc]
        """Saves its result."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.saved_tensors[0]

    class Scale(Function):  # type: ignore[name-defined,misc]
        """Has an input that is no tensor."""

        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.factor, None

    class SumAndDifference(Function):  # type: ignore[name-defined,misc]
        """Has two inputs and two results."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y, x - y

        @staticmethod
        def backward(ctx: Any, grad_sum: Any, grad_difference: Any) -> Any:
            x = grad_sum + grad_difference if ctx.needs_input_grad[0] else None
            y = grad_sum - grad_difference if ctx.needs_input_grad[1] else None
            return x, y

    class PassOn(Function):  # type: ignore[name-defined,misc]
        """Returns its input as it is."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    class Doubled_(Function):  # type: ignore[name-defined,misc]
        """Changes its input in place."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    class NoGradient(Function):  # type: ignore[name-defined,misc]
        """Gives None for the gradient of its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return None

    all_of_them = (Square, Exp, Scale, SumAndDifference, PassOn, Doubled_, NoGradient)
    return {function.__name__: function for function in all_of_them}
