"""See images through grids of places: values, gradients and errors; nodes are minigrad's own."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


@family
def sampling(torch, log):
    """Values, and the gradients in image and places."""
    functional = torch.nn.functional
    image = leaf(torch, (2, 2, 3, 4), 1, dtype=torch.float64)
    grid = leaf(torch, (2, 2, 3, 2), 2, dtype=torch.float64)
    weights = leaf(torch, (2, 2, 2, 3), 3, dtype=torch.float64, requires_grad=False)
    for align in (True, False):
        seen = functional.grid_sample(image, grid, align_corners=align)
        gradients = torch.autograd.grad((seen * weights).sum(), (image, grid))
        log(f"aligned {align}", seen.detach() + 0.0, [g + 0.0 for g in gradients])


@family
def corners(torch, log):
    """Places at the very ends; and images of one pixel."""
    functional = torch.nn.functional
    grid = torch.tensor([[[[-1.0, -1.0], [1.0, 1.0], [0.0, 3.0]]]], requires_grad=True)
    for sizes in ((1, 1, 2, 3), (1, 1, 1, 1)):
        for align in (True, False):
            seen = functional.grid_sample(leaf(torch, sizes, 1), grid, align_corners=align)
            (gradient,) = torch.autograd.grad(seen.sum(), grid)
            log(f"{sizes} {align}", seen.detach() + 0.0, gradient + 0.0)


@family
def affine_maps(torch, log):
    """Grids made by matrices."""
    functional = torch.nn.functional
    theta = leaf(torch, (2, 2, 3), 1)
    for align in (True, False):
        for sizes in ((2, 1, 3, 4), (2, 5, 2, 2)):
            grid = functional.affine_grid(theta, sizes, align_corners=align)
            (gradient,) = torch.autograd.grad((grid * grid).sum(), theta)
            log(f"{sizes} {align}", grid.detach(), gradient)
    log("not said", functional.affine_grid(theta, torch.Size([2, 1, 1, 1])).detach())


@family
def what_does_not_fit(torch, log):
    """Wrong shapes, modes and types."""
    functional = torch.nn.functional
    image, grid = leaf(torch, (1, 1, 2, 2), 1), leaf(torch, (1, 1, 1, 2), 2)
    sample, affine = functional.grid_sample, functional.affine_grid
    log.raises("mode", lambda: sample(image, grid, "cubic"))
    log.raises("padding", lambda: sample(image, grid, padding_mode="none"))
    log.raises("dims", lambda: sample(image[0], grid, align_corners=True))
    log.raises("batch", lambda: sample(leaf(torch, (2, 1, 2, 2), 1), grid, align_corners=True))
    log("not said", sample(image, grid).detach())
    log.raises("one of two", lambda: sample(image, grid[0], align_corners=True))
    log.raises("places", lambda: sample(image, grid[..., :1], align_corners=True))
    log.raises("no tensor", lambda: sample(image, [0.0], align_corners=True))
    theta = leaf(torch, (1, 2, 3), 1)
    log.raises("one matrix", lambda: affine(theta[0], (1, 1, 2, 2), align_corners=True))
    log.raises("size", lambda: affine(theta, (1, 2, 2), align_corners=True))
    log.raises("type", lambda: affine(theta.long(), (1, 1, 2, 2), align_corners=True))
