"""Run models among no other global hook, whatever was registered before: for lesson 08's checks."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.execution import as_usual
from minigrad.nn.modules import module as everywhere

Answer = Callable[..., Any]

_TABLES = ("forward_pre", "forward", "backward_pre", "backward")


@contextmanager
def clean_slate(strangers: bool = False) -> Iterator[None]:
    """Set all global hooks aside for a while, and the choice between full and old ones.

    So a hook that the learner forgot in an earlier cell does not disturb the check, and one that
    an answer forgets does not disturb the learner. Warnings are held back: data that need no
    gradient are part of the checks.

    Args:
        strangers: whether there are global hooks of somebody else meanwhile.
    """
    dtype = torch.get_default_dtype()
    with as_usual(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.set_default_dtype(dtype)
        if strangers:
            Stranger.register()
        yield


def hooks_left(*models: nn.Module) -> int:
    """Count the global hooks there are, and the hooks of these models' modules.

    Those of strangers do not count.
    """
    modules = [module for model in models for module in model.modules()]
    tables = [getattr(everywhere, f"_global_{name}_hooks") for name in _TABLES]
    tables += [getattr(module, f"_{name}_hooks") for module in modules for name in _TABLES]
    return sum(not isinstance(hook, Stranger) for table in tables for hook in table.values())


class Stranger:
    """A hook of somebody else, which does nothing, and has to be left where it is."""

    def __call__(self, *_: Any) -> None:
        """Do nothing."""

    @staticmethod
    def register() -> None:
        """Register one of each kind."""
        everywhere.register_module_forward_pre_hook(Stranger())
        everywhere.register_module_forward_hook(Stranger())
        everywhere.register_module_full_backward_pre_hook(Stranger())
        everywhere.register_module_full_backward_hook(Stranger())

    @staticmethod
    def register_on(model: nn.Module) -> None:
        """Register one of each kind on each module of a model."""
        for module in model.modules():
            module.register_forward_pre_hook(Stranger())
            module.register_forward_hook(Stranger())
            module.register_full_backward_pre_hook(Stranger())
            module.register_full_backward_hook(Stranger())

    @staticmethod
    def all_there() -> bool:
        """Tell whether one of each kind is still registered."""
        tables = [getattr(everywhere, f"_global_{name}_hooks") for name in _TABLES]
        return all(any(isinstance(hook, Stranger) for hook in t.values()) for t in tables)


def chain(**layers: nn.Module) -> nn.Sequential:
    """Put named layers behind one another."""
    return nn.Sequential(OrderedDict(layers))


def letters() -> list[str]:
    """Run the program of exercise 08.1, and note the letters."""
    noted: list[str] = []

    def note(letter: str) -> Answer:
        return lambda *_: noted.append(letter)

    with clean_slate():
        tanh = nn.Tanh()
        model = nn.Sequential(tanh)
        tanh.register_forward_hook(note("A"))
        everywhere.register_module_forward_hook(note("B"))
        tanh.register_full_backward_hook(note("C"), prepend=True)
        everywhere.register_module_full_backward_hook(note("D"))
        model.register_full_backward_pre_hook(note("E"))
        model(torch.tensor([0.3], requires_grad=True)).sum().backward()
    return noted


class Encoder(nn.Module):
    """The encoder of exercise 08.2: one cell, used three times."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(3, 3)
        self.squash = nn.ModuleList([nn.Tanh(), nn.Sigmoid(), nn.Tanh()])

    def forward(self, x: Tensor) -> Tensor:
        """Run the cell and a squashing function, three times."""
        for squash in self.squash:
            x = squash(self.cell(x))
        return x


def is_layer(module: nn.Module) -> bool:
    """Tell whether a module holds no others."""
    return not list(module.children())


def count_calls(count: Callable[[nn.Module], bool] = lambda module: True) -> int:
    """Count the calls of a global forward hook in exercise 08.2, of those modules that count."""
    called: list[nn.Module] = []
    with clean_slate():
        model = nn.Sequential(Encoder(), nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 1)))
        everywhere.register_module_forward_hook(lambda module, *_: called.append(module))
        nn.MSELoss()(model(torch.ones(2, 3)), torch.zeros(2, 1))
    return sum(count(module) for module in called)
