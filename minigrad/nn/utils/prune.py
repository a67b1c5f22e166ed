"""Set a part of a layer's weights to zero: a hook before each forward puts a mask over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

from minigrad.core.tensor import Tensor
from minigrad.creation.factories import ones_like, rand, rand_like, zeros
from minigrad.nn.modules.module import Module
from minigrad.nn.utils.convert_parameters import parameters_to_vector


class BasePruningMethod:
    """A hook that puts a mask over a weight; kinds of pruning say which mask, in `compute_mask`.

    The layer has the whole weight as parameter `weight_orig`, the mask as buffer `weight_mask`,
    and as `weight` their product, which is made anew before each forward.

    Attributes:
        PRUNING_TYPE: What a further pruning looks at: "unstructured", the entries that are left;
            "structured", the channels along `dim` that are left; "global", everything.
    """

    PRUNING_TYPE: str
    _tensor_name: Any = None

    def __call__(self, module: Module, inputs: Any) -> None:
        """Make the weight anew."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Give a mask for what is as important as `t` says, where the old mask is not zero."""
        return default_mask

    def apply_mask(self, module: Module) -> Tensor:
        """Give the whole weight times the mask."""
        whole = getattr(module, f"{self._tensor_name}_orig")
        return getattr(module, f"{self._tensor_name}_mask").to(whole.dtype) * whole

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a weight, or prune it further.

        Args:
            module: The layer.
            name: The name of its weight.
            *args: What the kind of pruning takes.
            importance_scores: How important each entry is, if not as its value says.
            **kwargs: What the kind of pruning takes.

        Returns:
            The hook.

        Raises:
            AssertionError: If the scores have another shape than the weight.
        """
        hook: BasePruningMethod = cls(*args, **kwargs)
        hook._tensor_name, weight = name, getattr(module, name)
        scores, mask = weight if importance_scores is None else importance_scores, ones_like(weight)
        if scores.shape != weight.shape:
            shapes = f"{name} of {module}, got {scores.shape} vs {weight.shape}"
            text = f"importance_scores should have the same shape as parameter {shapes}"
            raise AssertionError(text)
        key, old = next(_hooks(module, name), (None, None))
        if old is not None:
            mask = getattr(module, f"{name}_mask")
            olds = old._pruning_methods if isinstance(old, PruningContainer) else (old,)
            hook = PruningContainer(*olds, hook)
        mask = hook.compute_mask(scores, default_mask=mask)
        if old is None:
            module.register_parameter(f"{name}_orig", weight)
            del module._parameters[name]
        else:
            del module._forward_pre_hooks[key]
        module.register_buffer(f"{name}_mask", mask)
        hook(module, None)
        module.register_forward_pre_hook(hook)
        return hook

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Any = None
    ) -> Tensor:
        """Give a tensor with zeros where it is pruned."""
        scores = t if importance_scores is None else importance_scores
        mask = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again, with its zeros."""
        weight = self.apply_mask(module)
        delattr(module, self._tensor_name)
        whole = module._parameters.pop(f"{self._tensor_name}_orig")
        whole.data = weight.data  # type: ignore[union-attr]
        del module._buffers[f"{self._tensor_name}_mask"]
        setattr(module, self._tensor_name, whole)


class PruningContainer(BasePruningMethod):
    """The hooks of a weight that was pruned several times; the last one makes the mask.

    Args:
        *args: The hooks.
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._tensor_name = args[0]._tensor_name if args else None
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Add a hook of the same weight.

        Raises:
            ValueError: If it is of another weight.
        """
        if method._tensor_name != self._tensor_name:
            ours = f"the parameter named '{self._tensor_name}' to PruningContainer {self}"
            found = f"Found '{method._tensor_name}'"
            raise ValueError(f"Can only add pruning methods acting on {ours}. {found}")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Give the mask with the last pruning's zeros among what was left."""
        last, mask = self._pruning_methods[-1], default_mask.clone()
        left: Any = (slice(None),) * t.ndim
        if last.PRUNING_TYPE == "unstructured":
            left = default_mask == 1
        elif last.PRUNING_TYPE == "structured":
            dim = last.dim % t.ndim  # type: ignore[attr-defined]
            kept = default_mask.sum([axis for axis in range(t.ndim) if axis != dim]) != 0
            left = (*left[:dim], kept)
        mask[left] = last.compute_mask(t[left], default_mask=default_mask[left]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prune nothing, but give the layer the mask."""

    PRUNING_TYPE = "unstructured"


class CustomFromMask(BasePruningMethod):
    """Prune where a mask is zero.

    Args:
        mask: The mask.
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Give the product of the masks."""
        if default_mask.shape != self.mask.shape:
            shapes = f"{default_mask.shape} must match self.mask shape {self.mask.shape}"
            raise AssertionError(f"default_mask shape {shapes}")
        return default_mask * self.mask.to(default_mask.dtype)


class RandomUnstructured(BasePruningMethod):
    """Prune entries by chance.

    Args:
        amount: How many, or which part of them.

    Raises:
        TypeError: If the amount is not a real number.
        ValueError: If it is negative, or a part above 1.
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        whole = isinstance(amount, Integral)
        if not isinstance(amount, Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if amount < 0 or not (whole or amount <= 1):
            kinds = "a float in the range [0, 1] or a non-negative integer"
            raise ValueError(f"amount={amount} should either be {kinds}")
        self.amount: Any = amount
        self._whole = whole

    def _count(self, size: int) -> int:
        """Tell how many of so many to prune."""
        count: int = self.amount if self._whole else round(self.amount * size)
        if count > size:
            most = f"the number of parameters to prune={size}"
            raise ValueError(f"amount={count} should be smaller than {most}")
        return count

    def _first(self, t: Tensor, count: int) -> Tensor:
        """Give the places of the entries that go first."""
        return rand_like(t).view(-1).topk(count).indices

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Give the old mask with more zeros."""
        count, mask = self._count(t.numel()), default_mask.clone().contiguous()
        if count:
            mask.view(-1)[self._first(t, count)] = 0
        return mask


class L1Unstructured(RandomUnstructured):
    """Prune the entries of the smallest absolute value.

    Args:
        amount: How many, or which part of them.
    """

    def _first(self, t: Tensor, count: int) -> Tensor:
        return t.abs().reshape(-1).topk(count, largest=False).indices


class RandomStructured(RandomUnstructured):
    """Prune channels by chance.

    Args:
        amount: How many, or which part of them.
        dim: The dimension that counts the channels.
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _importance(self, t: Tensor) -> Tensor:
        return rand(t.shape[self.dim])

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Give the old mask with zeros in whole channels.

        Raises:
            IndexError: If there is no such dimension.
            ValueError: If there are no channels, or too few.
        """
        if t.ndim < 2:
            found = f"Found tensor of shape {t.shape} with {t.ndim} dims"
            where = "can only be applied to multidimensional tensors"
            raise ValueError(f"Structured pruning {where}. {found}")
        if self.dim >= t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count(size)
        if not count:
            return default_mask
        kept = zeros(size, dtype=t.dtype)
        kept[self._importance(t).topk(size - count).indices] = 1
        dim = self.dim % t.ndim
        return default_mask * kept.view([-1 if axis == dim else 1 for axis in range(t.ndim)])


class LnStructured(RandomStructured):
    """Prune the channels of the smallest norm.

    Args:
        amount: How many, or which part of them.
        n: The order of the norm.
        dim: The dimension that counts the channels.
    """

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _importance(self, t: Tensor) -> Tensor:
        return t.norm(self.n, [axis for axis in range(t.ndim) if axis != self.dim % t.ndim])


def _pruning(kind: type[BasePruningMethod], name: str, settings: str = "") -> Callable[..., Any]:
    """Make the function that prunes a layer in one way, with settings of these names."""
    names = (*settings.split(), "importance_scores")

    def prune(module: Module, name: str, *args: Any, **kwargs: Any) -> Module:
        kind.apply(module, name, **dict(zip(names, args, strict=False)), **kwargs)
        return module

    prune.__name__ = prune.__qualname__ = name
    prune.__doc__ = f"Apply `{kind.__name__}` to a layer's weight, and give the layer."
    return prune


identity = _pruning(Identity, "identity")
custom_from_mask = _pruning(CustomFromMask, "custom_from_mask", "mask")
random_unstructured = _pruning(RandomUnstructured, "random_unstructured", "amount")
l1_unstructured = _pruning(L1Unstructured, "l1_unstructured", "amount")
random_structured = _pruning(RandomStructured, "random_structured", "amount dim")
ln_structured = _pruning(LnStructured, "ln_structured", "amount n dim")


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several layers together: the entries are compared across them.

    Args:
        parameters: Pairs of a layer and the name of its weight.
        pruning_method: The kind of pruning, such as `L1Unstructured`.
        importance_scores: How important the entries are, by the pair, if not as their values say.
        **kwargs: What the kind of pruning takes.

    Raises:
        TypeError: If the kind is not an unstructured one.
    """
    pairs, method = list(parameters), pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        found = f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        text = 'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`'
        raise TypeError(f"{text}. {found}")
    weights = [getattr(*pair) for pair in pairs]
    each = list(zip(pairs, weights, strict=True))
    scores = [(importance_scores or {}).get(*pair) for pair in each]
    masks = [getattr(module, f"{name}_mask", ones_like(w)) for (module, name), w in each]
    mask = PruningContainer(method).compute_mask(*map(parameters_to_vector, (scores, masks)))
    parts = mask.split([weight.numel() for weight in weights])
    for ((module, name), weight), part in zip(each, parts, strict=True):
        custom_from_mask(module, name, mask=part.view_as(weight))


def remove(module: Module, name: str) -> Module:
    """Make a pruned weight a parameter again; its zeros stay.

    Raises:
        ValueError: If it is not pruned.
    """
    for key, hook in _hooks(module, name):
        hook.remove(module)
        del module._forward_pre_hooks[key]
        return module
    before = "has to be pruned before pruning can be removed"
    raise ValueError(f"Parameter '{name}' of module {module} {before}")


def is_pruned(module: Module) -> bool:
    """Tell whether a weight of a module, or of one within it, is pruned."""
    return any(any(_hooks(each)) for each in module.modules())


def _hooks(module: Module, name: str | None = None) -> Any:
    """Give a layer's pruning hooks, of one weight or all, with their keys."""
    return (
        (key, hook)
        for key, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and name in (None, hook._tensor_name)
    )
