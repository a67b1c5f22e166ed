"""Write the stubs that editors read before they are packed into a wheel."""

import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Stubs(BuildHookInterface[Any]):
    """What the build backend runs first."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write `minigrad/_functions.pyi`: into the wheel, or into the repository for its editors.

        Args:
            version: "standard" or "editable".
            build_data: how the build may be changed; it stays as it is.
        """
        command = [sys.executable, "lessons/_tools/signature_stubs.py"]
        # a repository that can't be written to does without
        subprocess.run(command, cwd=self.root, check=version == "standard")
