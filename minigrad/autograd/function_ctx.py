"""Tell autograd about an operation of your own: what `ctx` offers in `forward` and `backward`."""

from __future__ import annotations

import warnings
from typing import Any

from minigrad.autograd.variable import Variable


class FunctionCtx:
    """What a custom `Function` may say about its tensors, through `ctx`.

    Attributes:
        needs_input_grad: For each argument of forward whether it needs a gradient.
        to_save: What `save_for_backward` was given, until forward is over.
        dirty_tensors: What `mark_dirty` was given, until forward is over.
        non_differentiable: What `mark_non_differentiable` was given, until forward is over.
    """

    needs_input_grad: tuple[bool, ...] | None = None
    saved_for_forward: tuple[Any, ...] | None = None
    dirty_tensors: tuple[Any, ...] | None = None
    non_differentiable: tuple[Any, ...] | None = None
    _to_save: tuple[Any, ...] = ()
    _materialize = True
    _materialize_all = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for backward, where `ctx.saved_tensors` gives them.

        What is no tensor is kept as an attribute: `ctx.factor = factor`. A second call replaces
        what the first one kept.

        Args:
            *tensors: Inputs, outputs or others; None is allowed.

        Raises:
            TypeError: When forward is over, if one of them is neither a tensor nor None.
        """
        self._to_save = tensors

    @property
    def to_save(self) -> tuple[Any, ...] | None:
        """What waits for the end of forward to be saved; None if nothing does."""
        return self._to_save or None

    @to_save.setter
    def to_save(self, tensors: tuple[Any, ...] | None) -> None:
        self._to_save = tensors or ()

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`. It is here so that code with a `jvp` runs; nothing calls `jvp`.

        Raises:
            AssertionError: If an argument is neither a tensor nor None.
        """
        for tensor in tensors:
            if not (isinstance(tensor, Variable) or tensor is None):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    "non-tensors as attributes on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs forward changed in place; forward must return them as well.

        Raises:
            RuntimeError: When forward is over, if one of them is no tensor, was not returned, or
                must not be changed (a leaf that requires a gradient).
        """
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient: they will not require one.

        Raises:
            RuntimeError: When forward is over, if one of them is no tensor.
        """
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing, with a warning: tensors that share memory are known without it."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically "
            "tracked. Note that calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether missing gradients arrive in backward as zeros (the default) or None.

        Raises:
            TypeError: If `value` is no bool.
        """
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but "
                f"expected (bool). Got {value!r}."
            )
        self._materialize = value

    materialize_grads = property(None, set_materialize_grads)

    def _set_materialize_non_diff_grads(self, value: bool) -> None:
        """Choose whether also outputs that have no gradient get zeros (the default) or None."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_non_diff_grads received an invalid combination of arguments - got "
                f"(), but expected (bool). Got {value!r}."
            )
        self._materialize_all = value

    _materialize_non_diff_grads = property(None, _set_materialize_non_diff_grads)
