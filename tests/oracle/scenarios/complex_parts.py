"""Complex numbers taken apart and put together: real, imag, conj, polar, view_as_real."""

from __future__ import annotations

from .tools import Family

family = Family()


def numbers_of(torch):
    """Give complex, real and whole numbers."""
    return (
        torch.tensor([[1 + 2j, -3.5 - 1j]]),
        torch.tensor([1.0, -2.0]),
        torch.tensor([1, -2]),
    )


@family
def parts(torch, log):
    """The parts as real tensors."""
    z, x, whole = numbers_of(torch)
    log("real", z.real, torch.real(z), z.to(torch.complex128).real, z.real.stride())
    log("imag", z.imag, torch.imag(z))
    log("real of a real tensor", x.real is x, torch.real(whole))
    log("pairs", torch.view_as_real(z), torch.view_as_real(z).stride())

    log.raises("imag of a real tensor", lambda: x.imag)
    log.raises("pairs of a real tensor", lambda: torch.view_as_real(x))


@family
def put_together(torch, log):
    """Complex tensors of real ones, told by their parts."""
    z, x, whole = numbers_of(torch)
    for name, made in {
        "pairs": torch.view_as_complex(torch.arange(8.0).view(2, 2, 2)),
        "polar": torch.polar(x, x),
        "polar, broadcast": torch.polar(torch.ones(1), torch.ones(2)),
        "conj": z.conj().resolve_conj(),
        "resolved": z.resolve_conj(),
    }.items():
        log(name, str(made.dtype), torch.view_as_real(made), repr(made))
    log("of a real tensor", x.conj() is x, x.resolve_conj() is x)
    log("functions", torch.view_as_real(torch.resolve_conj(torch.conj(z))))
    log("logistic", torch.view_as_real(z.sigmoid()))

    log.raises("no pairs", lambda: torch.view_as_complex(torch.ones(3)))
    log.raises("no dimension", lambda: torch.view_as_complex(torch.tensor(1.0)))
    log.raises("whole numbers", lambda: torch.view_as_complex(whole))
    log.raises("apart", lambda: torch.view_as_complex(torch.ones(2, 4)[:, ::2]))


@family
def shared_memory(torch, log):
    """The parts lie in the memory of the whole, and count its versions."""
    z, x, _ = numbers_of(torch)
    z.real[0, 0] = 9
    z.imag.zero_()
    log("written through the parts", torch.view_as_real(z), z._version)
    torch.view_as_real(z)[0, 0, 1] = 5
    log("written through the pairs", torch.view_as_real(z), z._version)
    z.real = torch.ones(1, 2)
    z.imag = x
    log("assigned", torch.view_as_real(z))
    pairs = torch.zeros(2, 2)
    made = torch.view_as_complex(pairs)
    pairs[0, 0] = 7
    log("the other way", torch.view_as_real(made), made._base is pairs)


@family
def rotary_positions(torch, log):
    """Rotate pairs of entries by angles that grow with the position, as in language models."""
    frequencies = torch.outer(torch.arange(3.0), 1.0 / 10.0 ** torch.arange(0.0, 2.0))
    turn = torch.polar(torch.ones_like(frequencies), frequencies)
    x = torch.arange(12.0).view(3, 4)
    log("turned", torch.view_as_real(torch.view_as_complex(x.view(3, 2, 2)) * turn).flatten(1))
