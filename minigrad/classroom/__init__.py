"""Work through a lesson: predict, compare, check answers, ask for hints, print stable numbers."""

from minigrad.classroom.answers import Number, Numbers, Order
from minigrad.classroom.behaviors import Function, Hook, Property
from minigrad.classroom.desk import check, exercises_of, hint, judge, register
from minigrad.classroom.exercise import Exercise, Mistake, Verdict
from minigrad.classroom.predictions import compare, predict
from minigrad.classroom.reasons import Choice
from minigrad.classroom.showing import rounded, show, shown_warnings
from minigrad.classroom.tracebacks import shorten_in_notebooks as _shorten_in_notebooks

__all__ = [
    "Choice",
    "Exercise",
    "Function",
    "Hook",
    "Mistake",
    "Number",
    "Numbers",
    "Order",
    "Property",
    "Verdict",
    "check",
    "compare",
    "exercises_of",
    "hint",
    "judge",
    "predict",
    "register",
    "rounded",
    "show",
    "shown_warnings",
]

_shorten_in_notebooks()
