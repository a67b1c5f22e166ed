"""Give the heart's classes the members that other rooms hold."""

from __future__ import annotations

from collections.abc import Callable


def attach(kind: type) -> Callable[[type], type]:
    """Decorate a class whose members are to be members of `kind`: of `Tensor` or of `Node`.

    Example:
        >>> class Tensor: ...
        >>> @attach(Tensor)
        ... class Doubling:
        ...     __slots__ = ()
        ...
        ...     def doubled(self):
        ...         return 2
        >>> Tensor().doubled()
        2
    """

    def give(part: type) -> type:
        for name, member in vars(part).items():
            if name not in vars(_Empty):
                setattr(kind, name, member)
        return part

    return give


class _Empty:
    """What every class has."""

    __slots__: tuple[()] = ()
