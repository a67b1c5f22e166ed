"""Give a hook its module without keeping the module alive."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any


class BoundHook:
    """A hook together with the module it was registered on.

    Hooks that are stored on a module and are called with that module would form a reference
    cycle if they held it. This one holds a weak reference; pickling and copying make a new weak
    reference to the copied module.

    Args:
        hook: The function to call.
        module: The module to pass as the first argument; None for a hook that takes no module.

    Raises:
        RuntimeError: When called after the module is gone.
    """

    def __init__(self, hook: Callable[..., Any], module: Any = None) -> None:
        self.hook = hook
        functools.update_wrapper(self, hook)
        self.with_module = module is not None
        if self.with_module:
            self.module: weakref.ref[Any] = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the hook, with the module in front if it wants it."""
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        """Put the module itself in place of the weak reference, which cannot be pickled."""
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refer weakly to the module of the copy."""
        self.hook = state["hook"]
        functools.update_wrapper(self, self.hook)
        self.with_module = state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])
