"""Check the exercises of lesson 16, on what frameworks build on hooks; draw its figures."""

from __future__ import annotations

from minigrad.classroom.reasons import Choice

from . import meters, pictures, ranks
from .grouping import BUCKETS, COMPRESS
from .halves import HALVES
from .messages import MESSAGES
from .steps import STEPS

__all__ = ["EXERCISES", "meters", "pictures", "ranks"]

_TOGETHER = Choice(
    id="16.4",
    asks="which gradients should travel together, and why",
    option="c",
    right="Few messages, and the first of them leaves while most of backward is still to come.",
    why_not={
        "a": "Each message has a price of its own, however short it is. How many biases has a "
        "network of a hundred layers?",
        "b": "It pays the price of a message only once. But what do all processors do while that "
        "one message travels?",
        "d": "When is the gradient of the first layer there? A bucket that begins with it has to "
        "wait for it.",
    },
    ideas={
        "what many small messages cost": (
            "messag|send|call|transfer|request|communicat|all-reduc|allreduc cost|price|overhead|"
            "latenc|startup|expens|fix|slow",
            "latenc",
            "overhead",
            "bandwidth",
            "start up|cost|price",
            "startup",
            "setup",
            "set up",
            "less|fewer often|times",
            "fix cost|time|price",
            "too|so many|few messag|small|call|send",
            "fewer messag|call|send|transfer|request|all-reduc|allreduc|communicat",
            "cost of each|every|per messag|call|send",
            "small|tiny|short messag|gradient|tensor|bias inefficien|wast|slow|expens|cost",
        ),
        "what happens in the meantime": (
            "overlap",
            "while|during|still|meanwhile|rest|before backward|comput|pass",
            "hide|hidden|hides",
            "parallel comput|backward|communicat|pass",
            # "while" parts clauses: what stands behind it is read by itself
            "backward|comput|pass goes|go|going on",
            "backward|pass continu|proceed",
            "backward|pass is|be runn|comput|work|busy",
            "backward|comput|pass still",
            "same time|simultan|concurren|at once",
            "not wait|idle|start|begin|leav|go until|for|before backward|end|all",
            "wait for end|all|whole|last",
            "begin|start|leav|sent|send|go|travel early|earlier|soon|before|while|already",
            "idle",
        ),
        "whose gradients are there first": (
            "last|late|deep|end|output|loss|final first|early|earlier|before|soon|ready",
            "revers",
            "backward begin|start|goes|run|comes|walk last|end|output|loss|revers",
            "first layer last|late|end",
            "order gradient|ready|backward|arriv|come",
            "ready|complete|full|available first|early|earlier|soon",
        ),
    },
    misled={
        (
            "is use|need|take|save less|fewer|small memory",
            "is save memory",
        ): "Memory is not what it is about: a bucket is a copy, and costs some. What is gained in "
        "time?",
        (
            "is less|fewer data|byte|number sent|send|travel|transfer",
            "is reduce amount|data|byte|volume",
            "is less|fewer data|byte",
        ): "The same numbers travel in either way. What else does a message cost, and what can "
        "happen while it travels?",
        (
            "is more exact|precis|accura",
            "is round|accura|precis|exact better|less|small",
        ): "The sums are the same in either way. It is about time.",
    },
    model="Each message has a fixed cost, so a few large ones are cheaper than many small ones; "
    "and those of the last layers are ready first, so they can travel while backward goes on.",
    hints=(
        "A message has a price that does not depend on its length. And when could each leave at "
        "the earliest?",
        "Say what speaks against many small messages, and what against a single one that waits for "
        "the end.",
    ),
)

EXERCISES = [STEPS, HALVES, MESSAGES, _TOGETHER, BUCKETS, COMPRESS]
