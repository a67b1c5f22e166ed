"""Windows of signals, and the places along each dimension that numbers stand for."""

from __future__ import annotations

from .tools import Family

family = Family()


@family
def windows(torch, log):
    """hann_window, hamming_window, blackman_window and bartlett_window of several lengths."""
    functions = (
        torch.hann_window,
        torch.hamming_window,
        torch.blackman_window,
        torch.bartlett_window,
    )
    for function in functions:
        name = function.__name__
        for length in (0, 1, 2, 5, 8):
            log(f"{name} {length}", function(length), function(length, periodic=False))
        log("float64", function(5, False, dtype=torch.float64))
        log("gradient", function(3, requires_grad=True).requires_grad)
        log.raises("length", lambda function=function: function(-1))
    log("alpha", torch.hamming_window(4, True, 0.6), torch.hamming_window(4, True, 0.6, 0.3))


@family
def places(torch, log):
    """unravel_index."""
    x = torch.arange(12.0).view(3, 4)
    listed = torch.tensor([3, 8])
    log("argmax", torch.unravel_index(x.argmax(), x.shape))
    log("several", torch.unravel_index(listed, (3, 4)), torch.unravel_index(listed, 4))
    log("outside", torch.unravel_index(torch.tensor(13), (3, 4)))
    log("negative", torch.unravel_index(torch.tensor(-1), (3, 4)))
    log.raises("floats", lambda: torch.unravel_index(listed.float(), (3, 4)))
    log.raises("shape", lambda: torch.unravel_index(listed, (-1, 4)))
