"""Ask a trained network which pixels mattered: saliency and Grad-CAM, taken by hooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad import Tensor, autograd, enable_grad, nn, tensor
from minigrad.nn import functional as F


def saliency(
    model: nn.Module, image: Tensor, target: Any = None, *, signed: bool = False
) -> Tensor:
    r"""Compute how much the score of a class changes with each pixel.

    $$M_{ij} = \max_c \left|\frac{\partial s_t}{\partial x_{cij}}\right|$$

    with the score $s_t$ that the model gives class $t$, before any softmax (K. Simonyan,
    A. Vedaldi and A. Zisserman, 2013, *Deep inside convolutional networks*). The gradient is taken
    by a hook on the image; no `.grad` of the model changes. The model runs in the mode it is in:
    call `model.eval()` before.

    Args:
        model: Gives scores (N, classes) for images (N, C, H, W).
        image: One image (C, H, W), or a batch of them.
        target: The class, or one for each image; by default the one with the highest score.
        signed: Give the gradient itself, summed over the channels, instead of its size.

    Returns:
        The map (H, W), or maps (N, H, W).

    Raises:
        ValueError: If the shapes are others.

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(2, 1, bias=False))
        >>> model[1].weight = torch.nn.Parameter(torch.tensor([[3.0, -4.0]]))
        >>> saliency(model, torch.ones(1, 1, 2), target=0)
        tensor([[3., 4.]])
    """
    batch = _batch(image)
    seen: list[Tensor] = []
    with enable_grad():
        batch.register_hook(seen.append)
        autograd.grad(_score(model, batch, target), batch, allow_unused=True)
    if not seen:
        raise ValueError("the score does not depend on the image")
    gradient = seen[0].detach()
    found = gradient.sum(1) if signed else gradient.abs().amax(1)
    return found if image.dim() == 4 else found[0]


def grad_cam(
    model: nn.Module,
    layer: nn.Module | str,
    image: Tensor,
    target: Any = None,
    *,
    enlarge: bool = True,
) -> Tensor:
    r"""Compute where a convolutional layer saw what speaks for a class (Grad-CAM).

    $$M = \max\left(0, \sum_k \alpha_k A_k\right), \qquad
    \alpha_k = \frac{1}{HW} \sum_{ij} \frac{\partial s_t}{\partial A_{kij}}$$

    with the maps $A_k$ that the layer returns and the score $s_t$ that the model gives class $t$
    (R. Selvaraju et al., 2017, *Grad-CAM*). A forward hook takes the maps, a hook on them their
    gradient; no `.grad` of the model changes. The model runs in the mode it is in.

    Args:
        model: Gives scores (N, classes) for images (N, C, H, W).
        layer: One of its layers, or the layer's name. It returns maps (N, K, h, w).
        image: One image (C, H, W), or a batch of them.
        target: The class, or one for each image; by default the one with the highest score.
        enlarge: Bring the map to the size of the image, by bilinear interpolation.

    Returns:
        The map (H, W), or maps (N, H, W); (h, w) or (N, h, w) if not enlarged.

    Raises:
        ValueError: If the shapes are others, or the score does not depend on the layer.

    Example:
        >>> import minigrad as torch
        >>> conv = torch.nn.Conv2d(1, 1, 1, bias=False)
        >>> conv.weight = torch.nn.Parameter(torch.full((1, 1, 1, 1), 2.0))
        >>> model = torch.nn.Sequential(conv, torch.nn.Flatten())
        >>> grad_cam(model, "0", torch.tensor([[[1.0, 3.0]]]), target=0)
        tensor([[1., 3.]])
    """
    module = model.get_submodule(layer) if isinstance(layer, str) else layer
    if not any(module is each for each in model.modules()):
        raise ValueError("the layer is not one of the model's")
    batch = _batch(image)
    maps: list[Tensor] = []
    gradients: list[Tensor] = []

    def keep_maps(module: Any, args: Any, result: Any) -> None:
        maps.append(result.detach().clone())  # a layer behind may write into it
        result.register_hook(gradients.append)

    with enable_grad(), module.register_forward_hook(keep_maps):
        score = _score(model, batch, target)
        if maps:
            autograd.grad(score, batch, allow_unused=True)
    if not gradients:
        raise ValueError("the score does not depend on what the layer returns")
    if maps[-1].dim() != 4:
        raise ValueError(
            f"the layer has to return maps (N, K, h, w), but it returned {tuple(maps[-1].shape)}"
        )
    # Gradients come in the reverse order of the calls: the first belongs to the last.
    weights = gradients[0].detach().mean((2, 3), keepdim=True)
    found = (weights * maps[-1]).sum(1, keepdim=True).relu()
    if enlarge:
        found = F.interpolate(found, size=tuple(batch.shape[2:]), mode="bilinear")
    found = found.squeeze(1)
    return found if image.dim() == 4 else found[0]


def _batch(image: Tensor) -> Tensor:
    """Copy one or several images into a batch that asks for its gradient."""
    if image.dim() not in (3, 4):
        raise ValueError(
            f"expected an image (C, H, W) or images (N, C, H, W), but got {tuple(image.shape)}"
        )
    images = image if image.dim() == 4 else image.unsqueeze(0)
    return images.detach().clone().requires_grad_()


def _score(model: nn.Module, batch: Tensor, target: Any) -> Tensor:
    """Add up the scores of the classes asked for; each depends on its own image only."""
    scores = model(batch)
    if scores.dim() != 2 or len(scores) != len(batch):
        raise ValueError(
            f"the model has to return scores (N, classes), but it returned {tuple(scores.shape)}"
        )
    if target is None:
        classes = scores.argmax(1)
    elif isinstance(target, Tensor):
        classes = target.reshape(-1).expand(len(batch))
    else:
        given = target if isinstance(target, Sequence) else [target]
        classes = tensor(given).expand(len(batch))
    return scores.gather(1, classes.unsqueeze(1)).sum()
