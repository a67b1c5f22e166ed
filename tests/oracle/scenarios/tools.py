"""Name scenarios; what they make tensors and graphs with is in `making`."""

from __future__ import annotations

from ..log import Scenario
from ..making import each as each
from ..making import graph as graph
from ..making import leaf as leaf
from ..making import linear as linear
from ..making import look as look
from ..making import numbers as numbers


class Family(dict[str, Scenario]):
    """The scenarios of one file by name, in the order written; use it as a decorator to add one."""

    def __call__(self, scenario: Scenario) -> Scenario:
        """Add a scenario under its function's name."""
        return self.add(scenario.__name__, scenario)

    def add(self, name: str, scenario: Scenario) -> Scenario:
        """Add a scenario under a name."""
        if name in self:
            raise ValueError(f"two scenarios are called {name}")
        self[name] = scenario
        return scenario
