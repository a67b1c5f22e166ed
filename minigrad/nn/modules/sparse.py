"""Look up vectors in a table that is learned: one by one, or in bags that are joined into one."""

from __future__ import annotations

from typing import Any, Self

from minigrad.autograd.modes import no_grad
from minigrad.creation import empty
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """What both layers share: the table, and how its rows begin."""

    weight: Tensor
    padding_idx: int | None

    def _make_weight(
        self, rows: int, columns: int, weight: Tensor | None, freeze: bool, device: Any, dtype: Any
    ) -> None:
        if weight is None:
            table = empty((rows, columns), device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not freeze)
            self.reset_parameters()
        else:
            if list(weight.shape) != [rows, columns]:
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim"
                )
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew from the standard normal distribution; padding is zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


def _padding(padding_idx: int | None, rows: int, name: str) -> int | None:
    """Give the number of the row of padding, counted from the front."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"{name} must be within num_embeddings")
    return padding_idx % rows


class Embedding(_Table):
    """A table of vectors that are looked up by number.

    They begin standard normally distributed.

    Args:
        num_embeddings: The number of rows V.
        embedding_dim: The size of each vector D.
        padding_idx: A row that begins with zeros and gets no gradient; negative ones count from
            the end.
        max_norm: Vectors that are looked up and longer than this are shortened first.
        norm_type: The order of the norm that tells how long they are.
        scale_grad_by_freq: Divide each row's gradient by how often it was looked up.
        sparse: Must be False for a forward pass: there are no sparse tensors here.
        _weight: A table to begin with.
        _freeze: Whether it is not learned.
        device: Only the CPU is there.
        dtype: The element type of the table; the default dtype if None.

    Shape:
        - input: any shape (*) of integers
        - output: (*, D)
        - weight: (V, D)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Embedding(10, 3, padding_idx=0)
        >>> layer
        Embedding(10, 3, padding_idx=0)
        >>> layer(torch.tensor([[0, 4]])).shape
        torch.Size([1, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _padding(padding_idx, num_embeddings, "Padding_idx")
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_weight(num_embeddings, embedding_dim, _weight, _freeze, device, dtype)
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        """Look up the vectors."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """Give the settings that differ from the defaults."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text + (", sparse=True" if self.sparse is not False else "")

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """Make the layer of a table that is there already.

        Args:
            embeddings: The table.
            freeze: Whether it is not learned any more.
            padding_idx: As for the layer; the row is left as it is.
            max_norm: As for the layer.
            norm_type: As for the layer.
            scale_grad_by_freq: As for the layer.
            sparse: As for the layer.

        Example:
            >>> import minigrad as torch
            >>> layer = torch.nn.Embedding.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
            >>> layer(torch.tensor(1))
            tensor([3., 4.])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(_Table):
    """A table of vectors that are looked up in bags, and joined to one vector for each bag.

    Args:
        num_embeddings: The number of rows V.
        embedding_dim: The size of each vector D.
        max_norm: Vectors that are looked up and longer than this are shortened first.
        norm_type: The order of the norm that tells how long they are.
        scale_grad_by_freq: Divide each row's gradient by how often it was looked up.
        mode: `"sum"`, `"mean"` or `"max"`.
        sparse: Must be False for a forward pass: there are no sparse tensors here.
        _weight: A table to begin with.
        include_last_offset: Whether the last offset is the end of the last bag.
        padding_idx: A row that begins with zeros and does not count.
        device: Only the CPU is there.
        dtype: The element type of the table; the default dtype if None.

    Shape:
        - input: (B, N), or (N,) with offsets (B,)
        - output: (B, D)

    Example:
        >>> import minigrad as torch
        >>> bags = torch.nn.EmbeddingBag(10, 3, mode="sum")
        >>> bags(torch.tensor([1, 2, 4, 5]), torch.tensor([0, 3])).shape
        torch.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = _padding(padding_idx, num_embeddings, "padding_idx")
        self._make_weight(num_embeddings, embedding_dim, _weight, False, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """Look up the vectors and join those of each bag."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """Give the settings that differ from the defaults."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        text += f", mode={self.mode!r}"
        return text + (f", padding_idx={self.padding_idx}" if self.padding_idx is not None else "")

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """Make the layer of a table that is there already; arguments as for the layer.

        Args:
            embeddings: The table.
            freeze: Whether it is not learned any more.
            max_norm: As for the layer.
            norm_type: As for the layer.
            scale_grad_by_freq: As for the layer.
            mode: As for the layer.
            sparse: As for the layer.
            include_last_offset: As for the layer.
            padding_idx: As for the layer; the row is left as it is.
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        made = cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        made.weight.requires_grad = not freeze
        return made
