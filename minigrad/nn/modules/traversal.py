"""Walk the tree of modules: list parameters, buffers and children, convert them, print them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

from minigrad.autograd.grad_mode import no_grad
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.nn.parameter import Parameter, forget_gradient


class Traversal:
    """The part of `Module` that reaches into its children."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]

    # Listing ------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """List this module and all modules below it with their dotted names, parents first.

        Args:
            memo: Modules to leave out; those that are listed are added to it.
            prefix: What every name begins with.
            remove_duplicate: List a module that occurs in several places once only.

        Returns:
            An iterator over pairs of name and module; the name of this module is the prefix.

        Example:
            >>> from minigrad import nn
            >>> [name for name, _ in nn.Sequential(nn.Sequential(nn.ReLU())).named_modules()]
            ['', '0', '0.0']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                path = prefix + ("." if prefix else "") + name
                yield from child.named_modules(memo, path, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """List this module and all modules below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """List the immediate children with their names, each module once."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Any]:
        """List the immediate children."""
        for _, child in self.named_children():
            yield child

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """List what a function finds in each module, with dotted names."""
        seen = set()
        modules: Iterable[tuple[str, Any]] = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield path + ("." if path else "") + name, member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """List the parameters with their dotted names.

        Args:
            prefix: What every name begins with.
            recurse: Whether to look into submodules.
            remove_duplicate: List a parameter that is used in several places once only.

        Returns:
            An iterator over pairs of name and parameter.

        Example:
            >>> from minigrad import nn
            >>> [name for name, _ in nn.Sequential(nn.Linear(2, 3)).named_parameters()]
            ['0.weight', '0.bias']
        """
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """List the parameters, for example to hand them to an optimizer."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """List the buffers with their dotted names; arguments as for `named_parameters`."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """List the buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # Finding ------------------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Any:
        """Find a module by its dotted name; the empty name is this module.

        Args:
            target: Names joined by dots, as `named_modules` gives them.

        Returns:
            The module.

        Raises:
            AttributeError: If there is no such attribute, or it isn't a module.
        """
        module: Any = self
        for name in () if target == "" else target.split("."):
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Traversal):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module where the one is with a dotted name, or where there is none yet.

        Args:
            target: Names joined by dots, as `named_modules` gives them.
            module: The new module.
            strict: Whether there must be one already.

        Raises:
            ValueError: If the name is empty, or what is given is no module.
            AttributeError: If the way there leads over something that is no module, or is missing.

        Example:
            >>> import minigrad as torch
            >>> model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU())
            >>> model.set_submodule("1", torch.nn.Tanh())
            >>> model[1]
            Tanh()
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Traversal):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            parent.get_submodule(name)
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Find a parameter by its dotted name.

        Raises:
            AttributeError: If there is no such attribute, or it is no `Parameter`.
        """
        name, parameter = _get_member(self, target)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """Find a buffer by its dotted name.

        Raises:
            AttributeError: If there is no such attribute, or it isn't a buffer.
        """
        path, _, _ = target.rpartition(".")
        name, buffer = _get_member(self, target)
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    # Acting on all of them ----------------------------------------------------------------------

    def apply(self, fn: Callable[[Any], None]) -> Self:
        """Call a function on every module of the tree, children before their parents.

        Args:
            fn: Called with each module.

        Returns:
            This module.
        """
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set this module and all below it to training mode, or to evaluation mode.

        Raises:
            ValueError: If the mode is no bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Set this module and all below it to evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether gradients are accumulated for the parameters (False freezes the module)."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of the parameters.

        Args:
            set_to_none: Set them to None; otherwise fill them with zeros, in place.
        """
        for parameter in self.parameters():
            forget_gradient(parameter, set_to_none)

    # Converting all of them ---------------------------------------------------------------------

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Put `fn(tensor)` instead of every parameter's, gradient's and buffer's numbers."""
        if recurse:
            for child in self.children():
                child._apply(fn)
        parameters: Iterable[Any] = self._parameters.values()
        for parameter in parameters:
            if parameter is None:
                continue
            with no_grad():
                parameter.data = fn(parameter)
                if parameter.grad is not None:
                    parameter.grad.data = fn(parameter.grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, tensor: Tensor | None = None, **kwargs: Any) -> Self:
        """Convert parameters and buffers to another floating point type, in place.

        Integer parameters and buffers stay as they are.

        Args:
            *args: What `Tensor.to` takes: a dtype, the CPU, or a tensor whose dtype is taken.
            tensor: A tensor whose dtype is taken, by name.
            **kwargs: `dtype`, `device` and `non_blocking` of `Tensor.to`.

        Returns:
            This module.

        Raises:
            RuntimeError: If another device is asked for.
            AssertionError: If the device is "cuda" or "xpu".
            TypeError: If the dtype is not floating point, or the arguments make no sense.
        """
        args = args if tensor is None else (tensor, *args)
        for each in (*args, kwargs.get("dtype")):
            dtype = each.dtype if isinstance(each, Tensor) else each
            if isinstance(dtype, dtypes.dtype) and not dtype.is_floating_point | dtype.is_complex:
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                    f"dtype={dtype}"
                )
        return self._apply(lambda t: t.to(*args, **kwargs) if t.is_floating_point() else t)

    def float(self) -> Self:
        """Convert floating point parameters and buffers to float32."""
        return self.to(dtypes.float32)

    def double(self) -> Self:
        """Convert floating point parameters and buffers to float64."""
        return self.to(dtypes.float64)

    def half(self) -> Self:
        """Convert floating point parameters and buffers to float16."""
        return self.to(dtypes.float16)

    def type(self, dst_type: dtypes.dtype) -> Self:
        """Convert all parameters and buffers to a dtype, integers too."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def cpu(self) -> Self:
        """Return this module: everything lives on the CPU."""
        return self

    def cuda(self, device: Any = None) -> Self:
        """Raise: there is no GPU to move to.

        Raises:
            AssertionError: If there is a parameter or a buffer to be moved.
        """
        return self._apply(lambda tensor: tensor.cuda(device))

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Look at the settings alone: nothing is compiled here."""
        sys.modules["minigrad"].compile(self, *args, **kwargs)

    # Printing -----------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Give what stands between the parentheses of the printed form; subclasses say what."""
        return ""

    def __repr__(self) -> str:
        """Print the tree, each child on a line of its own, indented by two spaces."""
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [
            f"({name}): " + repr(child).replace("\n", "\n  ")
            for name, child in self._modules.items()
        ]
        if not children and len(extra) <= 1:
            return f"{self._get_name()}({''.join(extra)})"
        return "\n  ".join([f"{self._get_name()}(", *extra, *children]) + "\n)"


def _get_member(root: Any, target: str) -> tuple[str, Any]:
    path, _, name = target.rpartition(".")
    module = root.get_submodule(path)
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return name, getattr(module, name)
