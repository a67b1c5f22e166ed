"""Describe random modules: layers, sequences, and modules whose forward is a list of statements."""

from __future__ import annotations

from random import Random
from typing import Any

from .module_bodies import BINARY, ERRORS, INPLACE, UNARY

SHAPES = [[2, 3], [2, 3], [2, 3], [2, 3], [3], [2, 2, 3], [1, 3], [3, 3]]
LAYERS = ["ReLU", "Tanh", "Sigmoid", "Identity"]
# Operations that make larger numbers, or another shape, come less often.
CALM = ["relu", "tanh", "sigmoid", "half", "negate", "less", "clone", "view", "view_as", "exp"]
GENTLE = ["add_", "mul_", "relu_", "tanh_", "add_other_", "mul_other_"]
SHAPING = ["piece", "flat"]


class ModuleMaker:
    """Makes the modules of a program.

    Args:
        random: The source of all choices.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        # Most programs are calm: few things in them go wrong, so that much happens.
        self.wildness = random.choice([0.0, 0.0, 0.15, 0.15, 0.5, 1.0])
        self.in_place = random.random() < 0.35
        self.shape: list[int] = random.choice(SHAPES)

    def chance(self, probability: float) -> bool:
        """Tell yes with a probability."""
        return self.random.random() < probability

    def wild(self, probability: float) -> bool:
        """Tell yes with a probability that wild programs have."""
        return self.chance(probability * self.wildness)

    def number(self, below: int = 8) -> int:
        """Give a number that stands for a place in some list."""
        return self.random.randrange(below)

    def modules(self) -> list[dict[str, Any]]:
        """Describe the modules; the last one is the root."""
        made: list[dict[str, Any]] = []
        self.made = made
        weights: list[int] = []
        for place in range(count := self.random.choice([1, 2, 3, 3, 4, 4, 5, 6])):
            spec, weight = self.module(place, weights, last=place == count - 1)
            made.append(spec)
            weights.append(weight)
        return made

    def module(self, place: int, weights: list[int], last: bool) -> tuple[dict[str, Any], int]:
        """Describe one module, and say how many calls one call of it makes."""
        made = self.made
        choice, chance = self.random.choice, self.chance
        kind = choice(["Linear", "layer", "Written", "Written", "Sequential"])
        if last and chance(0.7) and place:
            kind = choice(["Written", "Written", "Sequential"])
        if kind == "Linear":
            frozen = [name for name in ("weight", "bias") if chance(0.15)]
            spec = {"kind": kind, "bias": chance(0.8), "seed": 60 + place, "frozen": frozen}
            return spec, 1
        if kind == "layer" or (kind == "Sequential" and not place):
            return {"kind": choice(LAYERS)}, 1
        parts = self.parts(place, weights, last)
        if kind == "Sequential":
            # What stands before another part gives it one tensor, mostly.
            parts = [
                n
                for n in parts
                if n == parts[-1] or isinstance(made[n].get("returns", 0), int) or self.wild(0.3)
            ]
            return {"kind": kind, "parts": parts}, 1 + sum(weights[n] for n in parts)
        body: list[Any] = []
        weight = 1
        for part in range(len(parts)):
            for _ in range(choice([1, 1, 1, 2])):
                if weight + weights[parts[part]] <= 14:
                    weight += weights[parts[part]]
                    body.append(self.call(part, made=self.made[parts[part]]))
        for _ in range(choice([0, 1, 1, 2, 3, 4])):
            body.insert(self.random.randrange(len(body) + 1), self.statement(0))
        parameters = [
            {"seed": 80 + place + n, "grad": chance(0.8)} for n in range(choice([0, 0, 1, 2]))
        ]
        for number in range(len(parameters)):
            if chance(0.7):
                place_of = self.random.randrange(len(body) + 1)
                body.insert(place_of, ["parameter", choice(list(BINARY)), number, -1])
        spec = {
            "kind": "Written",
            "parts": parts,
            "parameters": parameters,
            "body": body,
            "returns": self.returns(),
        }
        return spec, weight

    def parts(self, place: int, weights: list[int], last: bool) -> list[int]:
        """Choose parts among the modules before; the root takes those that nobody has taken yet."""
        allowed = [n for n in range(place) if weights[n] <= 8]
        if not allowed:
            return []
        parts = [self.random.choice(allowed) for _ in range(self.random.choice([1, 1, 2, 2, 3]))]
        if last:
            taken = {n for spec in self.made for n in spec.get("parts", ())}
            parts = [n for n in allowed if n not in taken] + parts[1:]
        while len(parts) > 1 and sum(weights[n] for n in parts) > 14:
            parts.pop()
        return parts

    def source(self) -> int:
        """Choose a register: mostly the newest."""
        return self.random.choice([-1, -1, -1, -2, -2, 0, 0, 1, 2, 3])

    def call(self, part: int, made: dict[str, Any]) -> list[Any]:
        """Describe a call of a part."""
        if made["kind"] != "Written" and not self.wild(0.1):
            named = self.chance(0.04) and made["kind"] != "Sequential"
            given = self.source()
            return ["call", part, *([[], {"input": given}] if named else [[given], {}]), 0]
        args: list[Any] = [self.source()]
        while self.chance(0.25):
            args.append(self.source())
        if self.chance(0.12):
            kind = self.random.choice(["none", "number", "tuple", "list", "dict"])
            holds = [self.source()] if kind in ("tuple", "list", "dict") else []
            args.insert(self.random.randrange(len(args) + 1), [kind, *holds])
        if self.wild(0.1):
            args = []
        kwargs = {"extra": self.source()} if self.chance(0.12) else {}
        return ["call", part, args, kwargs, self.number(3)]

    def statement(self, depth: int) -> list[Any]:
        """Describe a statement of a forward."""
        choice, chance = self.random.choice, self.chance
        if self.wild(0.08):
            return ["raise", choice(list(ERRORS))]
        if depth == 0 and chance(0.06):
            return ["no_grad", [self.statement(1) for _ in range(choice([1, 2]))]]
        if self.in_place and chance(0.25):
            name = choice(GENTLE) if chance(0.7) else choice(list(INPLACE))
            return ["inplace", name, self.source(), self.source()]
        if chance(0.1):
            return ["hook", self.source(), self.number()]
        if chance(0.08):
            return [choice(["keep", "retain_grad"]), self.source()]
        if chance(0.35):
            return ["binary", choice(list(BINARY)), self.source(), self.source()]
        name = (
            choice(CALM) if chance(0.5) else choice([name for name in UNARY if name not in SHAPING])
        )
        if self.wild(0.1) and not self.in_place:
            name = choice(SHAPING)
        if name == "turned" and 1 in self.shape:
            name = "view"
        return ["unary", name, self.source()]

    def returns(self) -> Any:
        """Describe what a forward returns."""
        chance = self.chance
        if chance(0.6):
            return -1 if chance(0.85) else self.source()
        if chance(0.05):
            return "args"
        return self.structure(0)

    def structure(self, depth: int) -> Any:
        """Describe a container of results."""
        kind = self.random.choice(
            ["tuple", "tuple", "tuple", "named", "list", "dict", "none", "number"]
        )
        if kind in ("none", "number") and depth == 0:
            kind = "tuple"
        if kind in ("none", "number"):
            return [kind]
        parts: list[Any] = []
        for _ in range(2 if kind == "named" else self.random.choice([1, 2, 2, 3])):
            nested = self.chance(0.15 if depth == 0 else 0.05)
            plain = self.chance(0.15)
            if nested:
                parts.append(self.structure(depth + 1))
            else:
                parts.append([self.random.choice(["none", "number"])] if plain else self.source())
        return [kind, *parts]
