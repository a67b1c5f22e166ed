"""Make a random program of nested modules with hooks from a seed, as a plain description.

What programs leave out is listed in `module_excluded.py`.
"""

from __future__ import annotations

from random import Random
from typing import Any

from .module_bodies import ERRORS
from .module_hooks import ACCEPTED, CHANGES
from .module_making import ModuleMaker

GRADIENT_ANSWERS = ["short", "long", "nones", "list", "first", "tuple", "dict", "pair"]
WRONG = ["number", "text", "true", "zeros", "wrong_shape", "wrong_dtype", "integer"]


def program(seed: int) -> dict[str, Any]:
    """Make the program of a seed."""
    return _Maker(Random(seed)).program(seed)


class _Maker(ModuleMaker):
    def program(self, seed: int) -> dict[str, Any]:
        choice, chance = self.random.choice, self.chance
        modules = self.modules()
        single = modules[-1]["kind"] != "Written" and not self.wild(0.2)
        inputs = [{"seed": 40 + n, "grad": chance(0.9)} for n in range(choice([1, 1, 2, 2, 3]))]
        globally = chance(0.25)
        legacy = chance(0.3)
        hooks = [self.hook(globally, legacy) for _ in range(choice([2, 3, 4, 6, 8, 10]))]
        spare = [self.hook(globally, legacy, late=True) for _ in range(choice([1, 2, 3]))]
        return {
            "seed": seed,
            "shape": self.shape,
            "dtype": choice(["float32", "float32", "float64"]),
            "modules": modules,
            "inputs": inputs,
            "momentum": choice([0, 0.5]),
            "hooks": hooks,
            "spare": spare,
            "steps": self.steps(single),
        }

    # ------------------------------------------------------------------ hooks

    def hook(self, globally: bool, legacy: bool, late: bool = False) -> dict[str, Any]:
        choice, chance = self.random.choice, self.chance
        kinds = ["forward_pre", "forward", "full_pre", "full", "full"]
        if legacy:
            kinds += ["legacy", "legacy"]
            if not self.chance(0.3):
                kinds = [kind for kind in kinds if kind not in ("full", "full_pre")]
        group = self.random.random()
        if late and group < 0.6:
            kind = choice(["tensor", "tensor", "node_pre", "node_post", "retain_grad"])
            if chance(0.1):
                kind = "accumulated"
            where = "given"
        elif group < 0.62:
            kind = choice(kinds)
            where = "global" if globally and chance(0.4) else "module"
        elif group < 0.92:
            kind = choice(
                ["tensor", "tensor", "node_pre", "node_post", "accumulated", "retain_grad"]
            )
            where = choice(
                ["parameter", "input"] + (["output", "kept"] if late and not self.in_place else [])
            )
        else:
            kind = choice(["step_pre", "step_post"])
            where = choice(["optimizer", "global"])
        return {
            "kind": kind,
            "on": [where, self.number()],
            "options": [name for name in ACCEPTED.get(kind, ()) if chance(0.3)],
            "does": self.actions(kind),
            "returns": self.answer(kind),
            "once": chance(0.2),
        }

    def actions(self, kind: str) -> list[Any]:
        does: list[Any] = []
        if self.chance(0.12):
            does.append(["remove_self"])
        if self.chance(0.08):
            does.append(["remove", self.number()])
        if self.chance(0.15):
            does.append(["register", self.number(), self.number(3)])
        if self.chance(0.04):
            does.append(["backward", self.number(3)])
        if self.in_place and self.chance(0.06) and kind != "node_post":
            does.append(["in_place", self.number(3)])
        if self.chance(0.02):
            does.append(["grad_none"])
        if self.wild(0.08):
            does.append(["raise", self.random.choice(list(ERRORS))])
        return does

    def answer(self, kind: str) -> str:
        choice = self.random.choice
        if self.wild(0.25):
            wrong = [name for name in WRONG if name != "text" or not kind.startswith("forward")]
            return choice(wrong)
        if self.wild(0.25):
            # A pair from a forward-pre hook with keywords would be a tensor for the arguments.
            return choice(GRADIENT_ANSWERS[:-1] if kind == "forward_pre" else GRADIENT_ANSWERS)
        if self.chance(0.6):
            return "none"
        calm = [name for name in CHANGES if name not in WRONG]
        if not kind.startswith("forward"):
            calm.remove("leaf")
        return choice(["same", "scaled", "scaled", *calm])

    # ------------------------------------------------------------------ steps

    def steps(self, single: bool) -> list[Any]:
        choice, chance = self.random.choice, self.chance
        steps: list[Any] = []
        for _ in range(choice([1, 1, 1, 2])):
            steps.append(self.forward(single))
            if chance(0.35):
                steps.append(["register", self.number()])
            if self.in_place and chance(0.1):
                steps.append(["change", self.number(3)])
            for _ in range(choice([1, 1, 2, 2, 3])):
                steps.extend(self.differentiate())
                if chance(0.15):
                    steps.append(["register", self.number()])
                if chance(0.12):
                    steps.append(["remove", self.number()])
            if chance(0.35):
                steps.append(["step"])
            if chance(0.15):
                steps.append(["zero_grad", chance(0.5)])
            if chance(0.05):
                steps.append(["detached", self.number()])
        return steps

    def forward(self, single: bool) -> list[Any]:
        choice, chance = self.random.choice, self.chance
        if single:
            return ["forward", [self.number(3)], {}, "no_grad" if chance(0.03) else "grad"]
        args: list[Any] = [0]
        while chance(0.3):
            args.append(self.number(3))
        if chance(0.1):
            args.insert(self.random.randrange(len(args) + 1), [choice(["none", "number"])])
        if chance(0.04):
            args = [["tuple", *args]]
        kwargs = {"extra": self.number(3)} if chance(0.12) else {}
        if chance(0.03):
            args = []
        mode = "no_grad" if chance(0.03) else "grad"
        return ["forward", args, kwargs, mode]

    def differentiate(self) -> list[Any]:
        choice, chance = self.random.choice, self.chance
        retain, create = chance(0.6), chance(0.3)
        if chance(0.65):
            how = choice(["loss", "loss", "loss", "all", "all", "first"])
            inputs = self.targets() if chance(0.2) else None
            steps = [["backward", how, inputs, retain or create, create]]
            second = "kept"
        else:
            unused = choice([True, True, True, None, False])
            steps = [["grad", self.targets(), retain or create, create, unused, chance(0.1)]]
            second = "grad" if chance(0.5) else "backward"
        if create and chance(0.8):
            steps.append(["second", second])
        return steps

    def targets(self) -> list[Any]:
        places = ["input", "input", "parameter", "parameter", "kept", "output"]
        wanted = [
            [self.random.choice(places), self.number()]
            for _ in range(self.random.choice([1, 2, 3]))
        ]
        # Mostly only those of them that require a gradient are asked for.
        return [] if self.wild(0.02) else [*wanted, *([] if self.chance(0.2) else [["able", 0]])]
