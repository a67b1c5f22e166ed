"""Turn the numbers of classes into vectors with a single 1."""

from __future__ import annotations

import numpy as np

from minigrad.ops.calling.arguments import check_tensor
from minigrad.tensor import Tensor, wrap

__all__ = ["one_hot"]


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Give for each class number a vector with 1 in its place and 0 elsewhere.

    Args:
        input: The numbers of the classes, of type int64.
        num_classes: How many classes there are; by default one more than the largest number.

    Returns:
        A tensor of type int64 with one dimension more.

    Raises:
        RuntimeError: If a number is negative or too large, or the tensor is of another type.

    Shape:
        - input: (...)
        - output: (..., num_classes)

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    check_tensor("one_hot", input)
    classes = input._array
    if classes.dtype.name != "int64":
        raise RuntimeError(
            "one_hot is only applicable to index tensor of type LongTensor. Convert with long()."
        )
    if not classes.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return wrap(np.zeros((*classes.shape, num_classes), np.int64))
    if classes.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(classes.max()) + 1
    elif classes.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    result = np.zeros((*classes.shape, num_classes), np.int64)
    np.put_along_axis(result, classes[..., None], 1, -1)
    hot = wrap(result)
    for _ in range(2):
        hot._bump_version()  # as in PyTorch, which fills zeros in place
    return hot
