"""Mix all features with each other, or look them up: linear layers and tables."""

from __future__ import annotations

from typing import Any, Self

from minigrad.autograd.grad_mode import no_grad
from minigrad.core.tensor import Tensor
from minigrad.creation.construction import empty
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.functional.embeddings import row_of_padding
from minigrad.nn.modules.layer import Layer, shown
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag", "Identity", "Linear"]


class Identity(Module):
    """Return the input, the very same object. Arguments are accepted and ignored.

    Example:
        >>> import minigrad as torch
        >>> x = torch.ones(2)
        >>> torch.nn.Identity()(x) is x
        True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Linear(Module):
    r"""The affine map $y = x W^\top + b$.

    Weight and bias start out uniformly distributed on $(-1/\sqrt{n}, 1/\sqrt{n})$ for $n$ input
    features.

    Args:
        in_features: The size of each input vector.
        out_features: The size of each output vector.
        bias: Whether to add $b$.
        device: Only the CPU is there.
        dtype: The element type of weight and bias; the default dtype if None.

    Shape:
        - input: (..., in_features)
        - output: (..., out_features)
        - weight: (out_features, in_features); bias: (out_features,)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(3, 2)
        >>> layer
        Linear(in_features=3, out_features=2, bias=True)
        >>> layer(torch.ones(4, 3)).shape
        torch.Size([4, 2])
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        row = Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", row)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias again."""
        init._start_linear(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Map the last dimension of the input."""
        own = self._parameters
        # `self.weight` takes longer to find it there; but a subclass may change what that is
        if type(self) is Linear and "weight" in own and "bias" in own:
            return F.linear(input, own["weight"], own["bias"])
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Give the sizes."""
        return shown(self, "in_features=, out_features=, bias!")


class _Table(Layer):
    """What both layers share: the table, and how its rows begin."""

    weight: Tensor

    def _keep(self, settings: dict[str, Any]) -> None:
        given, freeze = settings.pop("_weight"), settings.pop("_freeze", False)
        rows = settings["num_embeddings"]
        if settings["padding_idx"] is not None:
            settings["padding_idx"] = row_of_padding(settings["padding_idx"], rows)
        super()._keep(settings)
        sizes = (rows, self.embedding_dim)
        if given is not None and given.shape != sizes:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        made = {"device": settings["device"], "dtype": settings["dtype"]}
        table = empty(sizes, **made) if given is None else given
        self.weight = Parameter(table, requires_grad=not freeze)
        if given is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table again from the standard normal distribution; padding is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def extra_repr(self) -> str:
        """Give the settings that differ from the defaults."""
        text = super().extra_repr()
        return text.replace(f", norm_type={self.norm_type}", "") if self.norm_type == 2 else text

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **settings: Any) -> Self:
        """Make a table of given rows.

        Args:
            embeddings: The rows, of shape (num_embeddings, embedding_dim); shared, not copied.
            freeze: Whether they stay as they are in training.
            **settings: See the class.

        Raises:
            AssertionError: If `embeddings` has not two dimensions.

        Example:
            >>> import minigrad as torch
            >>> rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
            >>> torch.nn.Embedding.from_pretrained(rows)(torch.tensor([1]))
            tensor([[3., 4.]])
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        made = cls(*embeddings.shape, _weight=embeddings, **settings)
        made.weight.requires_grad = not freeze
        return made


_LENGTHS = "max_norm=None, norm_type=2.0, scale_grad_by_freq=False"


class Embedding(
    _Table,
    calls=F.embedding,
    settings=f"num_embeddings, embedding_dim, padding_idx=None, {_LENGTHS}, sparse=False, "
    "_weight=None, _freeze=False, device=None, dtype=None",
    shows="num_embeddings, embedding_dim, padding_idx?, max_norm?, norm_type=, "
    "scale_grad_by_freq?, sparse?",
):
    """A table of vectors that are looked up by number.

    They begin standard normally distributed.

    Args:
        num_embeddings: The number of rows V.
        embedding_dim: The size of each vector D.
        padding_idx: A row that begins with zeros and gets no gradient; negative ones count from
            the end.
        max_norm: Must be None for a forward pass: no vector is shortened.
        norm_type: Belongs to `max_norm`.
        scale_grad_by_freq: Must be False for a forward pass.
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


class EmbeddingBag(
    _Table,
    settings=f"num_embeddings, embedding_dim, {_LENGTHS}, mode='mean', sparse=False, "
    "_weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None",
    shows="num_embeddings, embedding_dim, max_norm?, norm_type=, scale_grad_by_freq?, mode=, "
    "padding_idx?",
):
    """A table of vectors that are looked up in bags, and joined to one vector for each bag.

    Args:
        num_embeddings: The number of rows V.
        embedding_dim: The size of each vector D.
        max_norm: Must be None for a forward pass: no vector is shortened.
        norm_type: Belongs to `max_norm`.
        scale_grad_by_freq: Must be False for a forward pass.
        mode: `"sum"` or `"mean"`.
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

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """Look up the vectors and join those of each bag."""
        how = (self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse)
        more = (per_sample_weights, self.include_last_offset, self.padding_idx)
        return F.embedding_bag(input, self.weight, offsets, *how, *more)
