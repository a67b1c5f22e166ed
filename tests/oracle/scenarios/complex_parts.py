"""Complex numbers taken apart and put together: real, imag, conj, polar, view_as_real."""

from __future__ import annotations

from .tools import Family

family = Family()


@family
def rotary_positions(torch, log):
    """Rotate pairs of entries by angles that grow with the position, as in language models."""
    frequencies = torch.outer(torch.arange(3.0), 1.0 / 10.0 ** torch.arange(0.0, 2.0))
    turn = torch.polar(torch.ones_like(frequencies), frequencies)
    x = torch.arange(12.0).view(3, 4)
    log("turned", torch.view_as_real(torch.view_as_complex(x.view(3, 2, 2)) * turn).flatten(1))
